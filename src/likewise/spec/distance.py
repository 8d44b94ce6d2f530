"""Distance: how far two individuals may be apart in several features together, over codes; what the words of a metric come down to.

    d(x, x')  =  sum over features of cost_k(x_k, x'_k)^power  +  sum over forms of weight_j (sum_k alpha_jk(x'_k) - alpha_jk(x_k))^2     <=  bound

A cost of a number, or of steps between ordered levels, is so much for each 1 that codes are apart; of levels one number, or a table with a cost for each two of them.
All of it is rational. A distance only takes pairs away from those that the relations of single features allow, so whatever is proved without it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from likewise.spec.terms import Term

Table = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a difference of one feature costs: `each` for every 1 of difference, `unequal` for any, or by a symmetric `table` with zeros on its diagonal."""

    each: Fraction | None = None
    unequal: Fraction | None = None
    table: Table | None = None

    def at(self, code: Fraction, other: Fraction) -> Fraction:
        """The cost of two codes. Exact."""
        if code == other:
            return Fraction(0)
        if self.each is not None:
            return self.each * abs(code - other)
        if self.table is not None:
            return self.table[int(code)][int(other)]
        return self.unequal or Fraction(0)

    def between(self, positions: int) -> Table:
        """The costs of all positions of a feature with levels."""
        places = [Fraction(i) for i in range(positions)]
        return tuple(tuple(self.at(i, j) for j in places) for i in places)


@dataclass(frozen=True, slots=True, kw_only=True)
class SquaredForm:
    """weight times the square of a difference of sums: `terms` has one term a feature, linear or a table."""

    weight: Fraction
    terms: tuple[Term, ...]

    def at(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        """What it adds to the distance. Exact."""
        z = sum((t.exact(b) - t.exact(a) for t, a, b in zip(self.terms, x, other, strict=True)), Fraction(0))
        return self.weight * z * z


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """A sum of costs, one a feature (None: it costs nothing), and of squared forms, that pairs keep below the bound."""

    power: int  # of costs: 1, or 2
    costs: tuple[Cost | None, ...]
    bound: Fraction
    forms: tuple[SquaredForm, ...] = ()

    @property
    def features(self) -> tuple[int, ...]:
        """Those that count, by their numbers."""
        counted = {k for k, cost in enumerate(self.costs) if cost is not None}
        counted |= {k for form in self.forms for k, term in enumerate(form.terms) if not term.constant}
        return tuple(sorted(counted))

    @property
    def numbers(self) -> int:
        """How many numbers a leaf may have about it: a multiplier, and one a form."""
        return 1 + len(self.forms)

    def exact(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        """d(x, x'), in rationals."""
        parts = [
            cost.at(a, b) ** self.power
            for cost, a, b in zip(self.costs, x, other, strict=True)
            if cost is not None
        ]
        return sum((*parts, *(form.at(x, other) for form in self.forms)), Fraction(0))

    def allows(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
        """Whether two individuals are near enough. Exact."""
        return self.exact(x, other) <= self.bound
