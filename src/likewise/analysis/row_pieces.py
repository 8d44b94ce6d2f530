"""Pieces: many rows judged some at a time, here or by workers, which are told the problem once, its model as it was read.

They are called for where there is work for several (`search.spreading`). A piece that comes too late, or that
nobody does before the budget ends, is judged here, where the clock says by then that there is no time: its rows are undecided, and say why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from likewise.analysis.row_claim import RowClaim, prepare_row_claim
from likewise.problem import Problem
from likewise.run import Run
from likewise.search.blas_threads import one_blas_thread
from likewise.search.budget import Budget
from likewise.search.counterparts import judged_together
from likewise.search.judgement import FAIR
from likewise.search.spreading import PieceWork, do_pieces
from likewise.search.workers import unpack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ROWS_TOGETHER = 65_536  # of a piece
LEAST_ROWS_TOGETHER = 4_096  # of one of rows that take long: what they share is computed once
PIECE_SECONDS = 0.5  # of such a piece, so that the last ones end together
PIECES_A_WORKER = 8  # where rows are searched one by one: so many that the last ones end together
MOST_SINGLE_ROWS = 256
STARTING_SECONDS = 1.0  # of a process, before it judges anybody
LATE_SECONDS = 1.0  # that pieces may come after the end of the budget, or after Ctrl-C
LEAST_PROCESS_WORK = 4.0  # times as long as that a process should have

Found = TypeVar("Found", covariant=True)
Told = Callable[[int, int], None]  # how many rows are done, and in how many processes


class Piece(Protocol[Found]):
    """Some of the rows, and what is to be found out about them."""

    def judged(self, judging: RowClaim) -> Found:
        """What is known of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _SentPiece:
    piece: Piece[Any]
    seconds: float  # that are left of the budget


@dataclass(frozen=True, slots=True, kw_only=True)
class _TravellingClaim:
    """What travels of a row claim: the problem without its rows."""

    problem: Problem
    seed: int
    holds: bool

    @classmethod
    def of(cls, judging: RowClaim) -> _TravellingClaim:
        problem = judging.source
        nobody = np.empty((0, len(problem.claim.space)))
        claim = replace(problem.claim, X=None, codes=nobody, numbers=None)
        imported = replace(problem.imported, rows=np.empty((0, problem.imported.rows.shape[1])))
        return cls(
            problem=replace(problem, claim=claim, imported=imported), seed=judging.seed, holds=judging.holds
        )

    def arrive(self) -> RowClaim:
        """The same, ready to judge."""
        judging = prepare_row_claim(self.problem, Run(budget=Budget(math.inf)))
        return replace(judging, seed=self.seed, holds=self.holds)


def _judge_elsewhere(name: str, content: bytes | None, sent: _SentPiece) -> Any:
    """A piece, in a worker; None where the claim is not known there."""
    judging = unpack(name, content, _TravellingClaim.arrive)
    if judging is None:
        return None
    with one_blas_thread():
        return sent.piece.judged(judging.within(Budget(sent.seconds)))


def _greet(name: str, content: bytes) -> None:
    """Read the model, in a worker."""
    unpack(name, content, _TravellingClaim.arrive)


def piece_size(judging: RowClaim, rows: int, seconds_a_row: float | None = None) -> int:
    """How many rows a piece has: the same number however many workers there are, where rows are judged together; fewer where these take long."""
    if judged_together(judging.inquiry):
        if seconds_a_row is None:
            return ROWS_TOGETHER
        return int(min(max(PIECE_SECONDS / seconds_a_row, LEAST_ROWS_TOGETHER), ROWS_TOGETHER))
    workers = judging.run.workers
    count = 1 if workers is None else workers.count
    return max(1, min(MOST_SINGLE_ROWS, rows // (PIECES_A_WORKER * count)))


def judge_pieces(
    judging: RowClaim,
    pieces: Sequence[tuple[int, Callable[[], Piece[Found]]]],
    seconds_a_row: float | None = None,
    told: Told | None = None,
) -> Iterator[Found]:
    """What is known of each piece, in their order; of each its number of rows and what makes it. `seconds_a_row` are those of this process, where that is known; `told` hears how many rows are
    done and in how many processes, and tells it of rows where it is not given."""
    budget, workers, total = judging.budget, judging.run.workers, sum(rows for rows, _ in pieces)

    def told_of_rows(done: int, processes: int) -> None:
        where = f" in {processes} processes" if processes > 1 else ""
        judging.tell(f"{done:,} of {total:,} rows{where}", share=done / total)

    def sent(make: Callable[[], Piece[Found]]) -> Callable[[], _SentPiece]:
        return lambda: _SentPiece(piece=make(), seconds=math.inf if workers is None else budget.left)

    how: PieceWork[_SentPiece, Found] = PieceWork(
        value=lambda: _TravellingClaim.of(judging),
        greet=_greet,
        work=_judge_elsewhere,
        here=lambda sent: sent.piece.judged(judging),
        elapsed=lambda: budget.elapsed,
        worth=lambda pace, rows: _worth_processes(judging, pace, rows),
        patience=lambda: budget.end + LATE_SECONDS - budget.elapsed if budget.over else math.inf,
        told=told_of_rows if told is None else told,
    )
    yield from do_pieces(how, workers, [(rows, sent(make)) for rows, make in pieces], seconds_a_row)


def _worth_processes(judging: RowClaim, pace: float | None, rows: int) -> bool:
    """Whether there is time, and work, for processes of their own: each has to start."""
    budget = judging.budget
    if judging.run.workers is not None and judging.run.workers.given:
        return True
    return is_worth_starting(0.0 if pace is None else min(budget.left, pace * rows))


def is_worth_starting(seconds: float) -> bool:
    """Whether so much work is worth the start of a process."""
    return seconds >= LEAST_PROCESS_WORK * STARTING_SECONDS


# -- individuals that were drawn --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnVerdicts:
    """Who of some individuals has a counterpart, and whether that is proved of all who have none."""

    verdict: NDArray[np.int8]
    proved: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _DrawnPiece:
    """Individuals by codes of the model's space; as many others are `waiting`."""

    rows: Floats
    waiting: int

    def judged(self, judging: RowClaim) -> DrawnVerdicts:
        found = judging.judge_together(self.rows)
        if found is None:
            found = judging.judge_singly(self.rows, waiting=self.waiting)
        return DrawnVerdicts(verdict=found.verdict, proved=bool(found.proved[found.verdict == FAIR].all()))


def judge_drawn(
    judging: RowClaim,
    counts: Sequence[int],
    draw: Callable[[int], Floats],
    *,
    seconds_a_row: float | None = None,
    told: Told | None = None,
) -> Iterator[DrawnVerdicts]:
    """All individuals of batches that are drawn one after another, so many each, in pieces: those of several batches may be under way at a time. `seconds_a_row` are those of this process, where that is known."""
    total = left = sum(counts)
    size = piece_size(judging, total, seconds_a_row)
    pieces: list[tuple[int, Callable[[], Piece[DrawnVerdicts]]]] = []
    drawn: dict[int, Floats] = {}  # by batch: drawn with its first piece, forgotten with its last

    def piece(batch: int, start: int, waiting: int) -> Callable[[], Piece[DrawnVerdicts]]:
        def make() -> Piece[DrawnVerdicts]:
            if not start:
                drawn[batch] = draw(counts[batch])
            rows = drawn[batch] if start + size < counts[batch] else drawn.pop(batch)
            return _DrawnPiece(rows=rows[start : start + size], waiting=waiting)

        return make

    for batch, count in enumerate(counts):
        for start in range(0, count, size):
            rows = min(size, count - start)
            left -= rows
            pieces.append((rows, piece(batch, start, left)))
    yield from judge_pieces(judging, pieces, seconds_a_row, told)
