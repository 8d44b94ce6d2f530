"""Penalty: what a bound loses because pairs are within a distance, exactly, feature by feature (spec/certificate-v1.md, section 19).

With a multiplier weight >= 0 and one number y_j a form, every pair of a cell has

    weight ( sum_k cost_k^power + sum_j w_j (2 y_j z_j - y_j^2) - bound )  <=  weight (d - bound)  <=  0,

which may be taken from any line. What is left is a constant and functions of single features: forms are linear in what they add up, and go to the terms; a cost stays with its feature, whose
maximum of u x + v x' - w |x' - x|^power is that of a concave function of the difference d = x' - x: at an end of d, where x comes to an end of its interval, at 0, or where a derivative is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from likewise.spec.distance import Cost, Distance
from likewise.spec.pairs import PairSpace
from likewise.spec.similarity import Relation
from likewise.spec.terms import Term

Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class DistancePenalty:
    """A distance with the numbers of one leaf."""

    distance: Distance
    weight: Fraction
    tangents: tuple[Fraction, ...]  # one a form

    @property
    def constant(self) -> Fraction:
        """What is added to a line."""
        squares = (form.weight * y * y for form, y in zip(self.distance.forms, self.tangents, strict=True))
        return self.weight * (self.distance.bound + sum(squares, Fraction(0)))

    def moved(self, terms: Sequence[Term], sign: int) -> tuple[Term, ...]:
        """The terms of x (sign 1) or of x' (-1) with what forms add to them."""
        moved = list(terms)
        for form, y in zip(self.distance.forms, self.tangents, strict=True):
            factor = sign * 2 * self.weight * form.weight * y
            if factor:
                moved = [_add_terms(old, factor, more) for old, more in zip(moved, form.terms, strict=True)]
        return tuple(moved)

    def cost(self, k: int) -> Cost | None:
        """What feature k costs, if that counts."""
        return self.distance.costs[k] if self.weight else None


def penalty_of(pairs: PairSpace, multipliers: Sequence[Fraction]) -> DistancePenalty | None:
    """What the numbers of a leaf after those of the constraints take from it; None for nothing."""
    numbers = multipliers[2 * len(pairs.constraints) :]
    if pairs.distance is None or not numbers:
        return None
    return DistancePenalty(distance=pairs.distance, weight=numbers[0], tangents=tuple(numbers[1:]))


def admissible(pairs: PairSpace, multipliers: Sequence[Fraction]) -> bool:
    """Whether numbers of a leaf are as many as they may be, and none is negative that must not be: with others a bound means nothing."""
    count = 2 * len(pairs.constraints)
    more = len(multipliers) - count
    allowed = (0,) if pairs.distance is None else (0, pairs.distance.numbers)
    return (not multipliers or more in allowed) and all(m >= 0 for m in multipliers[: count + 1])


def difference_limits(
    relation: Relation, here: Ends, there: Ends, difference: Ends | None
) -> tuple[Fraction, Fraction]:
    """From what to what x' - x goes, by codes, tolerance and the variable of the difference; nothing is between where the first is above the second."""
    least, most = there[0] - here[1], there[1] - here[0]
    for limits in (None if relation.tolerance is None else relation.apart, difference):
        if limits is not None:
            least, most = max(least, limits[0]), min(most, limits[1])
    return least, most


def number_maximum(
    u: Fraction, v: Fraction, weight: Fraction, power: int, here: Ends, there: Ends, apart: Ends
) -> Fraction | None:
    """The largest u x + v x' - weight |x' - x|^power, x' - x being in `apart`; None where nothing is."""
    least, most = apart
    if least > most:
        return None
    places = [least, most, there[1] - here[1], there[0] - here[0], Fraction(0)]
    if power == 2 and weight:
        places += [v / (2 * weight), -u / (2 * weight)]
    best: Fraction | None = None
    for place in places:
        d = min(max(place, least), most)
        for x in (max(here[0], there[0] - d), min(here[1], there[1] - d)):
            value = u * x + v * (x + d) - weight * abs(d) ** power
            best = value if best is None or value > best else best
    return best


def level_maximum(
    u: Sequence[Fraction],
    v: Sequence[Fraction],
    weight: Fraction,
    cost: Cost,
    power: int,
    relation: Relation,
    xs: range,
    ys: range,
) -> Fraction | None:
    """The largest u[i] + v[j] - weight cost^power over positions that satisfy the relation; None where none do."""
    sums = (
        u[i] + v[j] - weight * cost.at(Fraction(i), Fraction(j)) ** power
        for i in xs
        for j in ys
        if relation.allows(i, j)
    )
    return max(sums, default=None)


def _add_terms(old: Term, factor: Fraction, more: Term) -> Term:
    if more.table is not None:
        known = old.table or (Fraction(0),) * len(more.table)
        return Term(table=tuple(a + factor * b for a, b in zip(known, more.table, strict=True)))
    if not more.slope:
        return old
    if old.pieces is not None:
        return Term(pieces=old.pieces.moved(Fraction(1), factor * more.slope))
    return Term(slope=old.slope + factor * more.slope)
