"""Steep rows: individuals beside those who are similar, where scores may be apart by L times how far two are (`spec.allowance`).

What counts of a pair is its excess, |f(x) - f(x')| - L e(x, x'): the pair breaks the claim if that is above the slack. Two ways have everybody who matters:

- all settings of what may differ are listed, where these are few (`neighbours`). Between two thresholds of a tree the code that is nearest to the row's own stands for all: nobody else there has the same score and is as near;
- of a sum of one-feature terms under a sum of costs, each feature has its largest excess by itself: linear terms at an end of their window or at the row itself.

Float64 has a proved error; enclosures and rationals decide the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.search.certainty import COMPARISON_SLACK, certain_and_possible
from likewise.search.comparison import RowComparison, any_along, largest_gap_first
from likewise.search.extremes import is_separable
from likewise.search.reach import FeatureReach, ListedTerm, NumberTerm, representable
from likewise.search.treatments import compared_values
from likewise.spec.distance import Distance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from likewise.families.separable import SeparableJudge
    from likewise.search.inquiry import Inquiry
    from likewise.search.neighbours import Neighbours
    from likewise.spec.allowance import Allowance
    from likewise.spec.distance import Cost
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

ROUNDING = 2.0**-53


def lists_costs(pairs: PairSpace, moving: Sequence[int]) -> bool:
    """Whether listed settings have everybody who matters: costs grow with every difference by itself, or numbers of several features together are listed one by one."""
    if pairs.allowance is None or not pairs.allowance.forms:
        return True
    counted = pairs.allowance.features
    return all(pairs.variables[pairs.first[k]].discrete for k in moving if k in counted)


def compare_steepness(inquiry: Inquiry, near: Neighbours) -> RowComparison:
    """Rows beside everybody who is similar to them, by all scores, each pair at its own level."""
    question, back, everyone = inquiry.question, near.back, np.arange(len(near.rows))
    allowance = inquiry.pairs.allowance
    scores = inquiry.judge.cross(near.rows[near.distinct], near.moving, near.settings)
    numbers = compared_values(question, scores)
    there = numbers.values[back]
    here = there[everyone, near.own]
    apart = np.abs(here[:, None] - there)
    error = 2 * numbers.error[back][:, None] + COMPARISON_SLACK * (np.abs(there) + np.abs(here)[:, None])
    allowed, off = np.zeros(apart.shape[:2]), np.zeros(apart.shape[:2])
    if allowance is not None:
        allowed, off = allowed_of_settings(allowance, near)
    level = float(question.level)
    excess = apart - allowed[..., None]
    room = error + (off + COMPARISON_SLACK * (allowed + level))[..., None]
    sure, may = (any_along(flags, 2) for flags in certain_and_possible(excess - level, room))
    sure, may = sure & near.counterparts, may & near.counterparts
    gap = np.where(near.counterparts, np.maximum(excess.max(axis=2), 0.0), -np.inf)
    biased, largest = any_along(sure, 1), gap.max(axis=1)
    nobody = largest == -np.inf
    chosen = np.where(biased[:, None], np.where(sure, gap, -np.inf), gap).argmax(axis=1)
    counterpart = near.with_settings(chosen)
    counterpart[nobody] = np.nan
    widest = np.where(near.counterparts, room.max(axis=2), 0.0).max(axis=1)
    return RowComparison(
        some=near.some,
        rows=near.rows,
        sure=biased,
        may=any_along(may, 1),
        counterpart=counterpart,
        gap=np.where(nobody, 0.0, largest),
        gap_error=np.where(nobody, 0.0, widest),
        open_counterparts=lambda i: largest_gap_first(near, i, may[i], gap[i]),
        beyond=lambda _: False,
    )


def allowed_of_settings(allowance: Allowance, near: Neighbours) -> tuple[Floats, Floats]:
    """L e of rows and settings, and by how much that may be off."""
    shape, constant = (len(near.rows), len(near.settings)), float(allowance.constant)
    places = {k: j for j, k in enumerate(near.moving)}
    total, squares = np.zeros(shape), np.zeros(shape)
    for k, cost in enumerate(allowance.costs):
        if cost is None or k not in places:
            continue
        own, other = near.rows[:, k], near.settings[:, places[k]]
        part = _costs(cost, own, other)
        if allowance.norm == "max":
            np.maximum(total, part, out=total)
        else:
            total += part**allowance.norm
    for form in allowance.forms:
        moved, size = np.zeros(shape), np.zeros(shape)
        for k, term in enumerate(form.terms):
            if term.constant or k not in places:
                continue
            own, other = (_term_values(term, v) for v in (near.rows[:, k], near.settings[:, places[k]]))
            moved += other[None] - own[:, None]
            size += np.abs(other)[None] + np.abs(own)[:, None]
        weight = float(form.weight)
        total += weight * moved**2
        squares += weight * size**2
    growth = ROUNDING * (4 * len(allowance.costs) + 16)
    if allowance.norm == 2:
        total, squares = np.sqrt(total), np.sqrt(squares)
    # A root of a weighted sum of squares moves by no more than the root of the squares of what its parts move by.
    return constant * total, constant * growth * (total + squares)


def _costs(cost: Cost, own: Floats, other: Floats) -> Floats:
    """(rows, settings)."""
    if cost.table is not None:
        table = np.array([[float(entry) for entry in row] for row in cost.table])
        found: Floats = table[own.astype(np.intp)[:, None], other.astype(np.intp)[None]]
        return found
    apart = np.abs(other[None] - own[:, None])
    if cost.each is not None:
        return float(cost.each) * apart
    return np.where(apart > 0, float(cost.unequal or 0), 0.0)


def _term_values(term: object, codes: Floats) -> Floats:
    table = getattr(term, "table", None)
    if table is not None:
        found: Floats = np.array([float(entry) for entry in table])[codes.astype(np.intp)]
        return found
    return float(getattr(term, "slope", 0)) * codes


# -- sums -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SteepEnd:
    """The largest excess in one direction, and somebody who has nearly that."""

    most: Fraction
    codes: list[float]


class SteepSums:
    """The largest excess of any individual, for sums whose differing features no constraint speaks of, under a sum of costs."""

    def __init__(self, pairs: PairSpace, sums: SeparableJudge, moving: tuple[int, ...], constant: Fraction):
        costs = () if pairs.allowance is None else pairs.allowance.costs
        distance = Distance(power=1, costs=costs, bound=Fraction(0))
        self.reach, self.moving = FeatureReach(pairs, sums, distance), moving
        self.sums, self.constant = sums, constant

    @classmethod
    def of(cls, inquiry: Inquiry) -> SteepSums | None:
        """None where the score is no such sum, or costs do not add up."""
        pairs, sums, moving = inquiry.pairs, inquiry.judge.separable, inquiry.moving
        allowance = pairs.allowance
        if allowance is None or sums is None or allowance.forms or pairs.distance is not None:
            return None
        costly = [k for k in moving if allowance.costs[k] is not None]
        if allowance.norm != 1 and len(costly) > 1:
            return None
        if inquiry.snap_codes is not None or not is_separable(pairs, sums, moving):
            return None
        return cls(pairs, sums, moving, allowance.constant)

    def end(self, codes: list[Fraction], sign: int) -> SteepEnd:
        """That of an individual whose counterparts rise (`sign` 1) or fall (-1)."""
        most, found = Fraction(0), [float(code) for code in codes]
        for k in self.moving:
            part = self.reach.part(k, codes[k], sign)
            if isinstance(part, NumberTerm):
                most += part.best(self.constant, 1)
                if part.gain > self.constant * part.each:
                    found[k] = representable(codes[k] + part.way * part.most, codes[k])
            elif isinstance(part, ListedTerm):
                worth = [g - self.constant * c for g, c in zip(part.gains, part.costs, strict=True)]
                most += max(worth)
                found[k] = representable(part.codes[worth.index(max(worth))], codes[k])
        return SteepEnd(most=most, codes=found)
