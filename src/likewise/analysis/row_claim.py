"""Judging: a claim made ready to be put to many individuals, and the way that suits it.

Similar individuals that can all be looked at (or had feature by feature) are judged for many rows at once; otherwise each row gets a search of
its own, in as many processes as are given. Decisions between two classes are about one score, also where the model has
one a class; what else models of several classes are asked is about all their scores.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.decision_labels import label_rows
from likewise.analysis.row_search import judge_rows_singly
from likewise.errors import UnsupportedModel
from likewise.families.judge import Judge
from likewise.problem import Claim, Problem, prepare
from likewise.progress import Snapshot
from likewise.run import Run
from likewise.search.budget import Budget, interruptible
from likewise.search.counterparts import judge_rows
from likewise.search.inquiry import Inquiry
from likewise.search.judgement import Judgement
from likewise.search.pace import warm_up
from likewise.search.workers import LOSSES
from likewise.spec.pairs import pin_features
from likewise.verifying.posed_problem import PosedProblem, pose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.recoding import Recoding
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

STARTING_SECONDS = 1.0  # of a process, before it reads the model
LEAST_PROCESS_WORK = 4.0  # times as long as that a process should have


@dataclass(frozen=True, slots=True, kw_only=True)
class RowClaim:
    """A posed problem and what is asked of each individual, in a run."""

    posed: PosedProblem
    inquiry: Inquiry
    source: Problem
    run: Run

    @property
    def budget(self) -> Budget:
        return self.posed.task.budget

    @property
    def pairs(self) -> PairSpace:
        return self.inquiry.pairs

    @property
    def random(self) -> np.random.Generator:
        return self.posed.task.random

    @property
    def rows(self) -> Floats:
        return self.posed.imported.rows

    @property
    def missing(self) -> Flags:
        """Which features (rows, features) the rows of the data miss."""
        return self.source.missing

    @property
    def recoding(self) -> Recoding:
        return self.posed.imported.recoding

    @property
    def proves(self) -> bool:
        """Whether there are bounds of cells of one score, and a search that closes is a proof by itself."""
        oracles = self.posed.task.oracles
        return not self.posed.several and oracles.exact and oracles.unbounded is None

    @property
    def gap_scale(self) -> str:
        """What gaps are differences of."""
        return "probability" if self.posed.gauge.of == "probability" else "score"

    def tell(self, stage: str, share: float | None = None, **more: Any) -> None:
        """Report to whoever listens."""
        snapshot = Snapshot(stage=stage, seconds=self.budget.elapsed, share=share, **more)
        self.posed.task.listener(snapshot)

    def judge_together(
        self, rows: Floats, told: Callable[[int], None] | None = None, *, replayed: bool = False
    ) -> Judgement | None:
        """Many rows at once; None where that is not possible. With `replayed`, who is biased is so for the original as well."""
        confirm = self.confirmed if replayed else None
        return judge_rows(self.inquiry, rows, self.budget, told, confirm)

    def judge_singly(self, rows: Floats, told: Callable[[int], None] | None = None) -> Judgement:
        """One row after another."""
        return judge_rows_singly(self.posed, self.inquiry, rows, self.budget, told)

    def confirmed(self, own: Floats, other: Floats) -> Flags:
        """Which pairs break the property for the original, in its own floating point."""
        found: Flags = self.posed.imported.replay.confirm_either_way(own, other, self.inquiry.question)
        return found

    def pinned(self, features: Sequence[int]) -> RowClaim:
        """The same for individuals of whom nobody is similar who differs in these features."""
        return replace(self, inquiry=replace(self.inquiry, pairs=pin_features(self.pairs, features)))

    def decisions(self, rows: Floats, found: Judgement) -> tuple[list[Any], list[Any]] | None:
        """Of all rows and of their counterparts, as far as there is time; None for a regressor."""
        return label_rows(self.posed, self.inquiry, rows, found, self.budget)


def prepare_row_claim(problem: Problem, run: Run) -> RowClaim:
    """Everything up to the judging."""
    posed, recoding = pose(problem, run, by_lead=True), problem.imported.recoding
    judge = Judge(posed.task.oracles.parts)
    if posed.task.question.softmax and not judge.rational:
        raise UnsupportedModel(
            f"softmax probabilities of {problem.imported.model.family} are not known exactly: its scores are irrational",
            hint="ask for SameDecision or ScoreGap",
        )
    inquiry = Inquiry(
        pairs=posed.pairs,
        judge=judge,
        question=posed.task.question,
        snap_codes=recoding.settled_part if recoding.bent else None,
    )
    warm_up(judge, posed.pairs, run.budget)
    return RowClaim(posed=posed, inquiry=inquiry, source=problem, run=run)


def judge_data(judging: RowClaim) -> Judgement:
    """All rows of the data; those that are biased are so on the model's own predictions as well. Who misses a number that is within a tolerance is similar to
    nobody who has one, even where the model puts a number in its place: such rows are judged apart from the others."""
    rows, imputed = judging.rows, imputed_tolerance_features(judging)
    if not imputed:
        return _judge_distinct_rows(judging, rows)
    missing = judging.missing[:, imputed]
    found = Judgement.open(len(rows), rows.shape[1])
    for pattern in np.unique(missing, axis=0):
        some = np.flatnonzero((missing == pattern).all(axis=1))
        features = [k for k, gone in zip(imputed, pattern, strict=True) if gone]
        found.put(some, _judge_distinct_rows(judging, rows[some], pinned=tuple(features)))
    return found


def _judge_distinct_rows(judging: RowClaim, rows: Floats, *, pinned: tuple[int, ...] = ()) -> Judgement:
    """Rows that are the same are judged once, in the order in which they first occur."""
    _, first, back = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    found = judge_all_rows(judging, rows[first[order]], pinned=pinned, replayed=True)
    return found.repeated(place[back.ravel()])


def imputed_tolerance_features(judging: RowClaim) -> list[int]:
    """Features that are within a tolerance and that the model imputes."""
    parts, relations = judging.recoding.parts, judging.source.relations
    return [k for k, part in parts.items() if part.gap is not None and relations[k].kind == "within"]


def judge_all_rows(
    judging: RowClaim,
    rows: Floats,
    *,
    pinned: tuple[int, ...] = (),
    replayed: bool = False,
    seconds_a_row: float | None = None,
) -> Judgement:
    """All rows, together where that is possible; of whom nobody is similar who differs in the `pinned` features. Searches find only what the
    original shows as well; with `replayed` it is asked about rows that are judged together, too. `seconds_a_row` are those of a search in this process,
    where that is known."""
    count, executor = judging.run.jobs, judging.run.executor
    asked = judging.pinned(pinned) if pinned else judging

    def told(done: int) -> None:
        judging.tell(f"{done:,} of {len(rows):,} rows", share=done / len(rows))

    found = asked.judge_together(rows, told, replayed=replayed)
    if found is not None:
        return found
    if len(rows) < 2 or (
        executor is None and (count == 1 or not _worth_processes(judging, seconds_a_row, len(rows)))
    ):
        return asked.judge_singly(rows, told)
    if executor is not None:
        return _judge_in_processes(judging, rows, pinned, max(count, 2), executor)
    pool = ProcessPoolExecutor(count)
    try:
        return _judge_in_processes(judging, rows, pinned, count, pool)
    finally:
        pool.shutdown(wait=judging.budget.checking_seconds > 0, cancel_futures=True)


def _worth_processes(judging: RowClaim, seconds_a_row: float | None, rows: int) -> bool:
    """Whether there is time, and work, for processes of their own: each has to start and to read the model again."""
    budget = judging.budget
    work = math.inf if seconds_a_row is None else seconds_a_row * rows
    return min(budget.left, work) >= LEAST_PROCESS_WORK * (
        STARTING_SECONDS + float(budget.stats["import_seconds"])
    )


def _judge_in_processes(
    judging: RowClaim, rows: Floats, pinned: tuple[int, ...], jobs: int, executor: Executor
) -> Judgement:
    """Every process takes each so-many-th row, for what is left of the budget when it has read the model; what has not come back in time is undecided."""
    budget = judging.budget
    left = max(budget.left - float(budget.stats["import_seconds"]), 0.0)
    places = [np.arange(start, len(rows), jobs) for start in range(min(jobs, len(rows)))]
    parts = [executor.submit(_judge_part, judging.source.claim, rows[some], pinned, left) for some in places]
    found = Judgement.open(len(rows), rows.shape[1])
    for some, part in zip(places, parts, strict=True):
        with suppress(TimeoutError, *LOSSES):  # whose rows stay open
            found.put(some, part.result(timeout=min(budget.checking_seconds, threading.TIMEOUT_MAX)))
        part.cancel()
        judging.tell(f"{len(rows):,} rows in {jobs} processes")
    found.close(budget.reason)
    return found


def _judge_part(claim: Claim, rows: Floats, pinned: tuple[int, ...], budget: float) -> Judgement:
    run = Run(budget=Budget(budget))
    judging = prepare_row_claim(prepare(claim, run), run)
    with interruptible(judging.budget):
        return judging.pinned(pinned).judge_singly(rows)
