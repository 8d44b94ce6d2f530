"""Allowance: how far scores may be apart because two individuals are, L times a distance e of them; what the words of a Lipschitz claim come down to.

    norm 1     e  =  sum of cost_k                                  norm "max"   e  =  the largest cost_k
    norm 2     e  =  root of  sum of cost_k^2 + sum_j w_j z_j^2     z_j = sum_k alpha_jk(x'_k) - alpha_jk(x_k)

All of it is rational but the root, which is enclosed. `least` is a number that L e is not below at any pair of a cell: each feature's cost is least by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Literal

from likewise.spec.distance import Cost, SquaredForm
from likewise.spec.features import Categorical, Ordinal

if TYPE_CHECKING:
    from likewise.spec.pairs import PairSpace
    from likewise.spec.relations import Relation

Norm = Literal[1, 2, "max"]
Ends = tuple[Fraction, Fraction]
ROOT_BITS = 160  # of a root that is irrational


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """L, the norm, what features cost (None: nothing), and forms, with norm 2 only."""

    constant: Fraction
    norm: Norm
    costs: tuple[Cost | None, ...]
    forms: tuple[SquaredForm, ...] = ()

    @property
    def features(self) -> tuple[int, ...]:
        """Those that count, by their numbers."""
        counted = {k for k, cost in enumerate(self.costs) if cost is not None}
        counted |= {k for form in self.forms for k, term in enumerate(form.terms) if not term.constant}
        return tuple(sorted(counted))

    def square(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        """e^2 of two individuals. Exact."""
        codes = zip(self.costs, x, other, strict=True)
        costs = [cost.at(a, b) for cost, a, b in codes if cost is not None]
        return self._combined(costs, [form.at(x, other) for form in self.forms])

    def _combined(self, costs: Sequence[Fraction], squares: Sequence[Fraction]) -> Fraction:
        if self.norm == 1:
            return sum(costs, Fraction(0)) ** 2
        if self.norm == "max":
            return max(costs, default=Fraction(0)) ** 2
        return sum((cost * cost for cost in costs), Fraction(0)) + sum(squares, Fraction(0))

    def ends(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> Ends:
        """L e of two individuals, enclosed; exact where it is rational."""
        return root_ends(self.constant**2 * self.square(x, other))

    def least(self, pairs: PairSpace, lo: Sequence[float], hi: Sequence[float]) -> Fraction | None:
        """A number that L e is not below at any pair of a cell; None if the cell holds none."""
        costs: list[Fraction] = []
        for k, cost in enumerate(self.costs):
            if cost is None or pairs.relations[k].kind == "same":
                continue
            found = _least_cost(pairs, k, cost, lo, hi)
            if found is None:
                return None
            costs.append(found)
        squares = []
        for form in self.forms:
            low = high = Fraction(0)
            for k, term in enumerate(form.terms):
                if term.constant or pairs.relations[k].kind == "same":
                    continue
                ends = _form_range(pairs, k, term.table, term.slope, lo, hi)
                if ends is None:
                    return None
                low, high = low + ends[0], high + ends[1]
            squares.append(form.weight * max(low, -high, Fraction(0)) ** 2)
        return root_ends(self.constant**2 * self._combined(costs, squares))[0]


def root_ends(square: Fraction) -> Ends:
    """Two numbers around the root, one and the same where it is rational."""
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom), Fraction(top, bottom)
    below = isqrt((square.numerator << 2 * ROOT_BITS) // square.denominator)
    return Fraction(below, 1 << ROOT_BITS), Fraction(below + 1, 1 << ROOT_BITS)


def _least_cost(
    pairs: PairSpace, k: int, cost: Cost, lo: Sequence[float], hi: Sequence[float]
) -> Fraction | None:
    if isinstance(pairs.space[pairs.space.names[k]], Categorical | Ordinal):
        found = [cost.at(Fraction(a), Fraction(b)) for a, b in _positions(pairs, k, lo, hi)]
        return min(found, default=None)
    apart = _apart(pairs, k, lo, hi)
    if apart is None or cost.each is None:
        return None
    return cost.each * max(apart[0], -apart[1], Fraction(0))


def _positions(pairs: PairSpace, k: int, lo: Sequence[float], hi: Sequence[float]) -> list[tuple[int, int]]:
    """Positions of both that satisfy the relation."""
    i, j, relation = pairs.first[k], pairs.second[k], pairs.relations[k]
    here, there = (range(int(lo[v]), int(hi[v]) + 1) for v in (i, j))
    return [(a, b) for a in here for b in there if relation.allows(a, b)]


def _apart(pairs: PairSpace, k: int, lo: Sequence[float], hi: Sequence[float]) -> Ends | None:
    """From what to what x' - x goes, by codes, tolerance and the variable of the difference."""
    i, j, relation = pairs.first[k], pairs.second[k], pairs.relations[k]
    least, most = Fraction(lo[j]) - Fraction(hi[i]), Fraction(hi[j]) - Fraction(lo[i])
    for low, high in _limits(pairs, k, relation, lo, hi):
        least, most = max(least, low), min(most, high)
    return (least, most) if least <= most else None


def _limits(
    pairs: PairSpace, k: int, relation: Relation, lo: Sequence[float], hi: Sequence[float]
) -> list[Ends]:
    place = pairs.difference[k] if pairs.difference else None
    found = [] if relation.tolerance is None else [relation.apart]
    return found if place is None else [*found, (Fraction(lo[place]), Fraction(hi[place]))]


def _form_range(
    pairs: PairSpace,
    k: int,
    table: Sequence[Fraction] | None,
    slope: Fraction,
    lo: Sequence[float],
    hi: Sequence[float],
) -> Ends | None:
    """The least and the largest alpha_k(x') - alpha_k(x)."""
    if table is not None:
        found = [table[b] - table[a] for a, b in _positions(pairs, k, lo, hi)]
        return (min(found), max(found)) if found else None
    apart = _apart(pairs, k, lo, hi)
    if apart is None:
        return None
    ends = slope * apart[0], slope * apart[1]
    return min(ends), max(ends)
