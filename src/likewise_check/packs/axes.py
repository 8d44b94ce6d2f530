"""What packs have in common (sections 7, 8 and 15): columns without weights, the coordinates of two codes, the maximum over one axis.

*Coordinates* of a continuous or integer feature that may differ (section 7): u = (x + x')/2 and d = (x' - x)/2, so x = u - d and x' = u + d.

With lo <= x <= hi, lo' <= x' <= hi' and p <= x' - x <= q, where p >= lo' - hi and q <= hi' - lo, d is in [p/2, q/2], and from x = u - d and x' = u + d

    max((lo + lo')/2, lo + p/2, lo' - q/2)  <=  u  <=  min((hi + hi')/2, hi + q/2, hi' - p/2).

If p <= q some pair of codes has x' - x = p, so that neither interval is empty; if p > q there is no pair.

*Cubics* on an axis. p(y) = n1 y + n2 y^2 + n3 y^3 on [-1, 1] is largest at an end or at its local maximum y* = -(n2 + s) / (3 n3), s = sqrt(D),
D = n2^2 - 3 n1 n3 > 0 (there p'' = -2 s), if |n2 + s| <= 3 |n3|, which is decided exactly by squaring. There p(y*) = (2 n2^3 - 9 n1 n2 n3 + 2 s^3) / (27 n3^2),
rounded up with s^3 <= isqrt(D^3) + 1. For n3 = 0 > n2 and |n1| <= -2 n2 it is n1^2 / (-4 n2).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from likewise_check.core.cells import Box, Interval
from likewise_check.core.fields import anything, array_of, record, whole
from likewise_check.core.logarithm import ceil_div
from likewise_check.core.numbers import Exact, number
from likewise_check.core.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """offset + slope * code, or table[code] (then slope and offset are unused); and a kernel body's centres, one a term."""

    slope: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    table: tuple[Fraction, ...] | None = None
    centres: tuple[Fraction, ...] = ()

    def at(self, code: Exact) -> Fraction:
        """The column's value at a code."""
        return self.offset + self.slope * code if self.table is None else self.table[int(code)]

    def range_on(self, low: Exact, high: Exact) -> tuple[Fraction, Fraction]:
        """The smallest and the largest value at codes from one to another."""
        ends = (self.at(low), self.at(high)) if self.table is None else self.table[int(low) : int(high) + 1]
        return min(ends), max(ends)

    @property
    def steady(self) -> bool:
        """Whether the value is the same at all codes."""
        return self.slope == 0 if self.table is None else len(set(self.table)) == 1


def read_column(
    item: object, what: str, space: Space, centres: tuple[Fraction, ...] = ()
) -> tuple[int, Column]:
    """The feature of a column that has no weight, and the column."""
    place = item.get("feature") if type(item) is dict else None
    k: int = whole(0, len(space.features) - 1)(place, f"{what}, feature")
    if levels := space.features[k].levels:
        _, entries = record(item, what, feature=anything, table=array_of(number, levels))
        return k, Column(table=tuple(entries), centres=centres)
    _, slope, offset = record(item, what, feature=anything, slope=number, offset=number)
    return k, Column(slope=slope, offset=offset, centres=centres)


def differences(box: Box) -> tuple[Exact, Exact]:
    """p and q: the smallest and the largest x' - x of the box; p > q if it holds no pair of codes."""
    (lo, hi), (low, high) = box.intervals
    return max([low - hi, *(p for p, _ in box.difference)]), min([high - lo, *(q for _, q in box.difference)])


def coordinates(box: Box) -> tuple[Interval, Interval]:
    """The intervals of u and d in a box that holds a pair of codes."""
    (lo, hi), (low, high) = box.intervals
    p, q = differences(box)
    first, last = max(lo + low, 2 * lo + p, 2 * low - q), min(hi + high, 2 * hi + q, 2 * high - p)
    return (Fraction(first, 2), Fraction(last, 2)), (Fraction(p, 2), Fraction(q, 2))


def cubic_maximum(n1: int, n2: int, n3: int) -> int:
    """An int >= n1 y + n2 y^2 + n3 y^3 for all |y| <= 1, above the maximum by less than 2."""
    at_ends = n2 + abs(n1 + n3)
    if n3 == 0:
        return max(at_ends, ceil_div(n1 * n1, -4 * n2)) if n2 < 0 and abs(n1) <= -2 * n2 else at_ends
    square, reach = n2 * n2 - 3 * n1 * n3, 3 * abs(n3)
    # y* is inside if -reach <= n2 + s <= reach.
    if square <= 0 or reach < n2 or square > (reach - n2) ** 2:
        return at_ends
    if -reach > n2 and square < (reach + n2) ** 2:
        return at_ends
    above = 2 * n2**3 - 9 * n1 * n2 * n3 + 2 * (isqrt(square**3) + 1)
    return max(at_ends, ceil_div(above, 27 * n3 * n3))
