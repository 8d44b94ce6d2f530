"""Known rows first: the rows at hand beside those who are similar to them, by the judges that an audit asks, before the whole space is searched.

A forest of hundreds of deep trees treats the rows that it was grown on like nobody else: no search of the space comes near its largest gaps as soon as a look at the
rows does. The look takes a small share of the budget, rows in no order, so that of more rows than there is time for it sees some of every kind. Whatever looks
like a witness is put to the referee, the deepest first.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.families.judge import Judge
from likewise.progress import Snapshot
from likewise.search.counterparts import compare_rows
from likewise.search.inquiry import Inquiry
from likewise.search.pace import warm_up
from likewise.search.part_rows import rows_beside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Witness
    from likewise.search.comparison import RowComparison
    from likewise.search.task import SearchTask

    Floats = NDArray[np.float64]

SHARE = 0.1  # of what is left of the budget
KEPT = 64  # rows of a piece, with the largest gaps, whose depth is looked at
CLIMBERS = 8  # rows that an ascent starts from
REFEREED = 8  # deepest pairs that are put to the exact test
ORDER_SEED = 1  # the order in which rows are looked at is always the same


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPairs:
    """The deepest witness that a known row is part of, and rows with deep pairs, the deepest first: where to climb from."""

    witness: Witness | None
    rows: Floats


def pairs_of_rows(problem: SearchTask, *, parts: int = 1) -> RowPairs:
    """The known rows beside those who are similar, as far as there is time; that there is no witness says nothing. `parts`: the pairs are those of one of so many parts, each of which is looked at."""
    if problem.question.one_way:
        return RowPairs(witness=None, rows=problem.rows[:0])
    x, other, depth = _deepest_of_part(problem, parts)
    order = np.argsort(-depth, kind="stable")
    witness = None
    with suppress(OutOfTime), problem.budget.watched():
        for i in order[:REFEREED].tolist():
            check_clock()
            witness = problem.referee(x[i].tolist(), other[i].tolist()) if depth[i] > 0 else None
            if witness is not None:
                break
    return RowPairs(witness=witness, rows=x[order[:CLIMBERS]])


def deepest_of_all(problem: SearchTask) -> tuple[Floats, Floats, Floats]:
    """Pairs of rows and their counterparts that may be witnesses, and how deep they are; of all parts of the pairs."""
    parts = problem.each()
    found = [_deepest_of_part(part, len(parts)) for part in parts]
    x, other, depth = (np.concatenate(part) for part in zip(*found, strict=True))
    return x, other, depth


def _deepest_of_part(problem: SearchTask, parts: int) -> tuple[Floats, Floats, Floats]:
    """The same of one of so many parts."""
    inquiry, nobody = _inquiry(problem), problem.rows[:0]
    found: list[tuple[Floats, Floats, Floats]] = [(nobody, nobody, np.empty(0))]
    if inquiry is None or not len(problem.rows) or not inquiry.moving:
        return found[0]
    problem.listener(Snapshot(stage="looking at the rows", seconds=problem.budget.elapsed))
    warm_up(inquiry.judge, problem.pairs, problem.budget)
    rows = _rows_in_no_order(problem)
    rows = rows[rows_beside(problem.pairs, rows)[1]]
    budget = problem.budget.part(SHARE / parts)
    with suppress(OutOfTime), budget.watched():
        # What came before the time was over stays in the list.
        found.extend(
            _deepest_pairs(problem, inquiry, piece) for piece in compare_rows(inquiry, rows, budget) or ()
        )
    x, other, depth = (np.concatenate(part) for part in zip(*found, strict=True))
    return x, other, depth


def _inquiry(problem: SearchTask) -> Inquiry | None:
    """What is sought, asked of many rows; None where no judge can tell."""
    judge, question, snapped = Judge(problem.oracles.parts), problem.sought, problem.snap_codes
    if question.softmax and not judge.rational:
        return None

    def snap_feature(k: int, codes: Floats) -> Floats:
        if snapped is None or not len(codes):
            return codes
        rows = np.repeat(problem.rows[:1], len(codes), axis=0)
        rows[:, k] = np.where(np.isnan(codes), rows[:, k], codes)
        return np.where(np.isnan(codes), codes, snapped(rows)[:, k])

    return Inquiry(
        pairs=problem.pairs,
        judge=judge,
        question=question,
        snap_codes=None if snapped is None else snap_feature,
    )


def _rows_in_no_order(problem: SearchTask) -> Floats:
    """The different rows that satisfy the constraints."""
    rows = different_rows(problem.rows)
    allowed = np.ones(len(rows), dtype=bool)
    for constraint in problem.pairs.constraints:
        allowed &= constraint.scores(rows) <= 0
    kept: Floats = rows[allowed]
    return kept[np.random.default_rng(ORDER_SEED).permutation(len(kept))]


def different_rows(rows: Floats) -> Floats:
    """Each row once, sorted by one number of each row, which is much faster than by all of them; rows that share one and are not next to each other may come twice."""
    mixed = rows @ np.random.default_rng(ORDER_SEED).uniform(1.0, 2.0, rows.shape[1])
    ordered = rows[np.argsort(mixed, kind="stable")]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[first]


def _deepest_pairs(
    problem: SearchTask, inquiry: Inquiry, piece: RowComparison
) -> tuple[Floats, Floats, Floats]:
    """Of some rows those that may break what is sought, with their counterparts, and how deep each pair is in float64, whichever comes first."""
    some = np.flatnonzero(piece.may & ~np.isnan(piece.counterpart).any(axis=1))
    if inquiry.question.kind != "decision":  # of decisions the widest gap need not be the largest margin
        some = some[np.argsort(-piece.gap[some], kind="stable")[:KEPT]]
    x, other = piece.rows[some], piece.counterpart[some]
    turned, depth = pair_depths(problem, x, other)
    if any(relation.one_way or relation.fixed for relation in problem.pairs.relations):
        turned[:] = False  # a pair of this part as it stands; which of the two comes first is for the referee
    return np.where(turned[:, None], other, x), np.where(turned[:, None], x, other), depth


def pair_depths(problem: SearchTask, x: Floats, other: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Of many pairs whether the second individual comes first in what is sought, and how deep they are then, in float64: above 0 for witnesses."""
    ahead, behind = problem.signals(x), problem.signals(other)
    here, there = np.full(len(x), -np.inf), np.full(len(x), -np.inf)
    for (witnesses, first, second), (_, first_of_other, second_of_other) in zip(ahead, behind, strict=True):
        for best, deep in (
            (here, witnesses.margin(first, second_of_other)),
            (there, witnesses.margin(first_of_other, second)),
        ):
            np.maximum(best, np.where(np.isnan(deep), -np.inf, deep), out=best)
    return there > here, np.maximum(here, there)
