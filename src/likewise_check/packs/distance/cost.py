"""What a difference of one feature costs, to the power of the distance, and the largest u(x) + v(x') less a multiple of that over a box (section 19).

Numbers, with x' = x + d. Power 1: on either side of d = 0 the cost is linear, and so is the function. Power 2: for a given d the better end of x is the right one if
u + v >= 0, else the left one (`maxima`); with it the function is concave in d, linear less a square on either side of one d. So it is largest at an end of d, where the sides meet, or where
the derivative of a side is 0: v - 2 w d, or v - (u + v) - 2 w d, w the multiple of d^2.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from likewise_check.core.cells import Box, Interval, LeafRefused
from likewise_check.core.maxima import linear_apart, table_maximum
from likewise_check.core.numbers import Exact, int_if_whole, readable_number
from likewise_check.core.space import Relation

MOST_PAIRS = 1 << 20  # of positions of levels that a leaf looks at


class Cost(ABC):
    """A cost of one feature; all numbers are to the power of the distance."""

    @abstractmethod
    def in_words(self, name: str) -> str:
        """What it is, for people."""

    @abstractmethod
    def powered(self, code: Fraction, other: Fraction) -> Exact:
        """The cost of two codes."""

    @abstractmethod
    def times(self, factor: Exact) -> "Cost":
        """The cost times a factor of at least 0."""

    @abstractmethod
    def largest(
        self, u: Sequence[Exact], v: Sequence[Exact], weight: Exact, box: Box, relation: Relation
    ) -> Exact | None:
        """The maximum of u + v less weight times the cost over a box in which the codes may differ; None if no codes satisfy the relation."""


@dataclass(frozen=True, slots=True)
class Each(Cost):
    """each * abs(x' - x)^power: of numbers, or of steps between levels."""

    each: Exact
    power: int
    levels: bool

    def in_words(self, name: str) -> str:
        square = " squared" if self.power == 2 else ""
        return f"{readable_number(Fraction(self.each))} times the difference{square} in {name}"

    def powered(self, code: Fraction, other: Fraction) -> Exact:
        return self.each * abs(code - other) ** self.power

    def times(self, factor: Exact) -> Cost:
        return Each(int_if_whole(self.each * factor), self.power, self.levels)

    def largest(
        self, u: Sequence[Exact], v: Sequence[Exact], weight: Exact, box: Box, relation: Relation
    ) -> Exact | None:
        if self.levels:
            return _largest_of_levels(self, u, v, weight, box, relation)
        apart = limits_of_difference(box, relation)
        if self.power == 1:
            return _largest_beside_line(u[0], v[0], weight * self.each, box, apart)
        return _largest_less_square(u[0], v[0], weight * self.each, box, apart)


@dataclass(frozen=True, slots=True)
class Unequal(Cost):
    """One cost for any two different levels."""

    cost: Exact

    def in_words(self, name: str) -> str:
        return f"{readable_number(Fraction(self.cost))} if {name} differs"

    def powered(self, code: Fraction, other: Fraction) -> Exact:
        return 0 if code == other else self.cost

    def times(self, factor: Exact) -> Cost:
        return Unequal(int_if_whole(self.cost * factor))

    def largest(
        self, u: Sequence[Exact], v: Sequence[Exact], weight: Exact, box: Box, relation: Relation
    ) -> Exact | None:
        (lo, hi), (low, high) = box.intervals
        both = range(int(max(lo, low)), int(min(hi, high)) + 1)
        alike = [u[i] + v[i] for i in both if relation.allows(i, i)]
        # Of equal codes as well, where these are allowed: that is less than above.
        either = table_maximum(u, v, box, relation)
        found = alike if either is None else [*alike, either - weight * self.cost]
        return max(found, default=None)


@dataclass(frozen=True, slots=True)
class Table(Cost):
    """A cost for each two levels: row i - 1 has those of level i beside the levels before it."""

    rows: tuple[tuple[Exact, ...], ...]

    def in_words(self, name: str) -> str:
        costs = [cost for row in self.rows for cost in row] or [0]  # a single level has no rows
        ends = [readable_number(Fraction(end(costs))) for end in (min, max)]
        return f"{ends[0]} to {ends[1]}, by a table, if {name} differs"

    def powered(self, code: Fraction, other: Fraction) -> Exact:
        if code == other:
            return 0
        return self.rows[int(max(code, other)) - 1][int(min(code, other))]

    def times(self, factor: Exact) -> Cost:
        return Table(tuple(tuple(int_if_whole(entry * factor) for entry in row) for row in self.rows))

    def largest(
        self, u: Sequence[Exact], v: Sequence[Exact], weight: Exact, box: Box, relation: Relation
    ) -> Exact | None:
        return _largest_of_levels(self, u, v, weight, box, relation)


def limits_of_difference(box: Box, relation: Relation) -> Interval:
    """From what to what x' - x goes, by the codes, the tolerance and the variable of the difference."""
    (lo, hi), (low, high) = box.intervals
    least, most = low - hi, high - lo
    for start, end in (*([relation.apart] if relation.apart else []), *box.difference):
        least, most = max(least, start), min(most, end)
    return least, most


def _largest_beside_line(u: Exact, v: Exact, weight: Exact, box: Box, apart: Interval) -> Exact | None:
    """Of u x + v x' - weight abs(x' - x)."""
    first, second = box.intervals
    least, most = apart
    found = []
    if most >= 0:
        found.append(linear_apart(u + weight, v - weight, first, second, (max(least, 0), most)))
    if least <= 0:
        found.append(linear_apart(u - weight, v + weight, first, second, (least, min(most, 0))))
    return max((value for value in found if value is not None), default=None)


def _largest_less_square(u: Exact, v: Exact, weight: Exact, box: Box, apart: Interval) -> Exact | None:
    """Of u x + v x' - weight (x' - x)^2."""
    (lo, hi), (low, high) = box.intervals
    least, most = apart
    if least > most:
        return None
    slope = u + v

    def at(d: Exact) -> Exact:
        return slope * (min(hi, high - d) if slope >= 0 else max(lo, low - d)) + v * d - weight * d * d

    places = [least, most, high - hi if slope >= 0 else low - lo]
    if weight:
        places += [Fraction(v) / (2 * weight), Fraction(-u) / (2 * weight)]
    return max(at(min(max(d, least), most)) for d in places)


def _largest_of_levels(
    cost: Cost, u: Sequence[Exact], v: Sequence[Exact], weight: Exact, box: Box, relation: Relation
) -> Exact | None:
    first, second = (range(int(lo), int(hi) + 1) for lo, hi in box.intervals)
    if len(first) * len(second) > MOST_PAIRS:
        raise LeafRefused(f"distance: more than {MOST_PAIRS} pairs of levels")
    sums = (
        u[i] + v[j] - weight * cost.powered(Fraction(i), Fraction(j))
        for i in first
        for j in second
        if relation.allows(i, j)
    )
    return max(sums, default=None)
