"""Everybody: the share over a discrete space by looking at each individual, in blocks that hold all similar ones of their members.

Scores of a block are those of a judge, with a proved error; the lowest and highest score of the similar individuals are filters over
the block (`search.lattice`). Individuals that the error leaves open are decided again one by one. Under weights, masses are sums of non-negative
doubles: their relative error, a rounding an addition and a few a weight, is added to both ends.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.families.score_judge import rounding_growth
from likewise.search.certainty import ScoreEstimate, answer_pairs
from likewise.search.counterparts import judged_together
from likewise.search.judgement import BIASED, FAIR, UNDECIDED
from likewise.search.lattice import (
    BLOCK_SCORES,
    MOST_GROUP_VALUES,
    ROWS_AT_A_TIME,
    Block,
    constraint_excess,
    count_individuals,
    integer_tables,
    make_lattice,
)
from likewise.search.neighbours import MOST_SETTINGS, count_settings
from likewise.search.pace import Pace
from likewise.search.validity import Validity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from likewise.analysis.measures import Measure
    from likewise.analysis.row_claim import RowClaim
    from likewise.search.budget import Budget
    from likewise.search.inquiry import Inquiry
    from likewise.search.lattice import Lattice

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

INDIVIDUALS_A_SECOND = 8e6  # filters and comparisons
COMPARISON_COST = 4  # comparing an individual with a similar one, score by score
BLOCK_SIZE = 131_072  # individuals of several classes
BUDGET_SHARE = 0.7
FIRST_BLOCK_SECONDS = 0.01  # of scoring, by the judge's own word, before anything is known of its pace


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumeratedMass:
    """Masses of individuals that have a counterpart for certain, at most, and of all that were looked at, `people` in number.

    `everybody` is the mass of the whole space: unknown (None) where constraints refuse some that were not looked at.
    """

    biased: float
    at_most: float
    total: float
    everybody: float | None
    people: int
    redone: int
    complete: bool
    error: float  # relative, of each of the masses


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedEnumeration:
    """How far it came, as a checkpoint has it: places of the lattice (features in their `order`, with so many values) that were seen, the masses of those who have a counterpart for certain, at most, and of all."""

    order: tuple[int, ...]
    sizes: tuple[int, ...]
    seen: int
    masses: tuple[float, float, float]
    people: int
    redone: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockVerdict:
    """A block of individuals from place `start` on: who has a counterpart for certain, at most, and who is valid; `redone` exactly."""

    start: int
    certain: Flags
    at_most: Flags
    valid: Flags
    redone: int


def _by_filters(inquiry: Inquiry) -> bool:
    """Whether those who are similar are windows around everybody, of which only the lowest and the highest score matter."""
    return inquiry.by_extremes and not inquiry.pairs.branches


def can_enumerate(judging: RowClaim) -> bool:
    """Whether everybody can be looked at within the budget."""
    people = count_individuals(judging.pairs)
    if people is None or _find_lattice(judging) is None:
        return False
    each, inquiry = 1.0, judging.inquiry
    if not _by_filters(inquiry):
        each = COMPARISON_COST * _settings_around(inquiry) * inquiry.judge.n_scores
    seconds = people / inquiry.judge.pace + people * each / INDIVIDUALS_A_SECOND
    budget = judging.budget
    return seconds <= BUDGET_SHARE * (budget.seconds - budget.elapsed)


def enumerate_everybody(
    judging: RowClaim,
    measure: Measure | None,
    begun: SavedEnumeration | None = None,
    keep: Callable[[SavedEnumeration], None] | None = None,
) -> EnumeratedMass | None:
    """Everybody, each alike or with the weights of a measure; None where the space is not a lattice. It goes on from where it was `begun`, and `keep` is told how far it is."""
    lattice = _find_lattice(judging)
    if lattice is None:
        return None
    weigh = _UniformWeight() if measure is None else _ProductWeight(lattice, measure)
    order, sizes = tuple(map(int, lattice.order)), tuple(map(int, lattice.sizes))
    sums, people, redone, seen = np.zeros(3), 0, 0, 0
    if begun is not None and (begun.order, begun.sizes) == (order, sizes):
        sums, people, redone, seen = np.array(begun.masses), begun.people, begun.redone, begun.seen
    blocks = (_judge_by_extremes if _by_filters(judging.inquiry) else _judge_beside_everybody)(
        judging, lattice, seen
    )
    with suppress(OutOfTime), judging.budget.watched():
        for looked in blocks:
            sums += [weigh(looked.start, part) for part in (looked.certain, looked.at_most, looked.valid)]
            people, redone = people + int(looked.valid.sum()), redone + looked.redone
            seen = looked.start + looked.valid.size
            judging.tell(f"{people:,} individuals", share=seen / _lattice_size(lattice))
            if keep is not None:
                biased, at_most, total = sums.tolist()
                keep(
                    SavedEnumeration(
                        order=order,
                        sizes=sizes,
                        seen=seen,
                        masses=(biased, at_most, total),
                        people=people,
                        redone=redone,
                    )
                )
    complete = seen == _lattice_size(lattice)
    return EnumeratedMass(
        biased=float(sums[0]),
        at_most=float(sums[1]),
        total=float(sums[2]),
        everybody=_total_mass(judging, lattice, measure) if not complete else float(sums[2]),
        people=people,
        redone=redone,
        complete=complete,
        error=0.0 if measure is None else rounding_growth(_lattice_size(lattice) + 8 * len(lattice.sizes)),
    )


def _judge_by_extremes(judging: RowClaim, lattice: Lattice, first: int) -> Iterator[BlockVerdict]:
    """Blocks from a place on, as long as there is time, by the lowest and highest score of those who are similar."""
    for block, near in _iterate_blocks(judging.inquiry, lattice, judging.budget, first):
        certain, open_ = _decide_block(judging.inquiry, block, near)
        at_most, places, redone = certain | open_, np.flatnonzero(open_), 0
        again = judging.judge_together(block.codes(places)) if len(places) else None
        if again is not None:
            redone = len(places)
            certain.ravel()[places] = again.verdict == BIASED
            at_most.ravel()[places] = (again.verdict == BIASED) | (again.verdict == UNDECIDED)
        yield BlockVerdict(
            start=block.start, certain=certain, at_most=at_most, valid=~np.isnan(block.scores), redone=redone
        )


def _judge_beside_everybody(judging: RowClaim, lattice: Lattice, first: int) -> Iterator[BlockVerdict]:
    """Blocks from a place on, as long as there is time, each individual beside everybody who is similar to it."""
    valid_of, across = Validity.of_all(judging.pairs), lattice.count((*lattice.moving, *lattice.right))
    step = max(1, BLOCK_SIZE // across) * across
    for start in range(first, _lattice_size(lattice), step):
        check_clock()
        rows = lattice.codes(np.arange(start, min(start + step, _lattice_size(lattice))))
        valid = valid_of.individuals(rows)
        certain, at_most = np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
        found = judging.judge_together(rows[valid])
        if found is None:
            return
        certain[valid] = found.verdict == BIASED
        at_most[valid] = found.verdict != FAIR
        yield BlockVerdict(start=start, certain=certain, at_most=at_most, valid=valid, redone=found.redone)


def _total_mass(judging: RowClaim, lattice: Lattice, measure: Measure | None) -> float | None:
    if judging.pairs.constraints:
        return None
    return float(_lattice_size(lattice)) if measure is None else 1.0


def _lattice_size(lattice: Lattice) -> int:
    return lattice.count(lattice.order)


def _find_lattice(judging: RowClaim) -> Lattice | None:
    if count_individuals(judging.pairs) is None:
        return None
    pairs, judge = judging.pairs, judging.inquiry.judge
    if _by_filters(judging.inquiry):
        return make_lattice(pairs, rows=max(1, min(ROWS_AT_A_TIME, MOST_GROUP_VALUES // judge.cost)))
    if pairs.branches:  # nobody is looked up in a block: that of the part in which fewest may differ does
        whole = judged_together(judging.inquiry)
        return make_lattice(pairs.branches[0], rows=ROWS_AT_A_TIME) if whole else None
    few = _settings_around(judging.inquiry) <= MOST_SETTINGS
    return make_lattice(pairs, rows=ROWS_AT_A_TIME) if few else None


def _settings_around(inquiry: Inquiry) -> float:
    """At most how many similar individuals anybody is put beside."""
    return sum(count_settings(part.pairs, part.judge, part.moving) for part in inquiry.parts())


def _iterate_blocks(
    inquiry: Inquiry, lattice: Lattice, budget: Budget, begin: int
) -> Iterator[tuple[Block, ScoreEstimate]]:
    judge, pairs = inquiry.judge, inquiry.pairs
    inner = (*lattice.moving, *lattice.right)
    across, shape = lattice.count(inner), tuple(lattice.sizes[k] for k in lattice.moving)
    beside = lattice.codes(np.arange(across))[:, list(inner)]
    tables = [integer_tables(lattice, constraint) for constraint in pairs.constraints]
    total, start = lattice.count(lattice.left), begin // across
    first, most = (
        max(1, int(scores) // across) for scores in (judge.pace * FIRST_BLOCK_SECONDS, BLOCK_SCORES)
    )
    pace = Pace(budget, first=first, most=most)
    while start < total and pace.fits(1):
        some = np.arange(start, min(start + pace.size, total))
        scored = judge.cross(lattice.codes(some * across), inner, beside)
        values = scored.values[..., 0]
        for table in tables:
            values.reshape(-1)[constraint_excess(lattice, table, start * across, values.size) > 0] = np.nan
        values = values.reshape(len(some), *shape, lattice.count(lattice.right))
        error = scored.error.reshape(len(some), *([1] * (values.ndim - 1)))
        yield (
            Block(lattice=lattice, start=start * across, scores=values),
            ScoreEstimate(value=values, error=error),
        )
        pace.done(len(some))
        start += len(some)


def _decide_block(inquiry: Inquiry, block: Block, near: ScoreEstimate) -> tuple[Flags, Flags]:
    """Who certainly has a counterpart, and of whom float64 does not tell."""
    nobody = np.isnan(block.scores)
    lowest = block.lowest(np.where(nobody, np.inf, block.scores))
    highest = block.highest(np.where(nobody, -np.inf, block.scores))
    low, high = (
        ScoreEstimate(value=np.where(np.isinf(end), np.nan, end), error=near.error)
        for end in (lowest, highest)
    )
    certain, possible = answer_pairs(inquiry.question, near, low)
    sure, may = answer_pairs(inquiry.question, high, near)
    certain |= sure
    possible |= may
    return certain, possible & ~certain


class _UniformWeight:
    """Everybody counts once."""

    def __call__(self, start: int, flags: Flags) -> float:  # noqa: ARG002 (as `_ProductWeight`)
        return float(flags.sum())


class _ProductWeight:
    """The product of the weights of all features' values."""

    def __init__(self, lattice: Lattice, measure: Measure) -> None:
        self.lattice, self.weights = lattice, [measure.weights(k) for k in range(len(lattice.sizes))]
        self.across = lattice.count((*lattice.moving, *lattice.right))
        self.beside = self._of((*lattice.moving, *lattice.right), np.arange(self.across))
        self.left = self._of(lattice.left, np.arange(lattice.count(lattice.left)))

    def __call__(self, start: int, flags: Flags) -> float:
        first = start // self.across
        rows = flags.reshape(-1, self.across)
        return float(self.left[first : first + len(rows)] @ (rows @ self.beside))

    def _of(self, features: tuple[int, ...], flat: NDArray[np.intp]) -> Floats:
        weights = np.ones(len(flat))
        for k, at in zip(features, self.lattice.places(features, flat), strict=True):
            weights *= self.weights[k][at]
        return weights
