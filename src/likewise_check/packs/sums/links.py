"""Links (section 17): the increasing function that a part of a sum goes through, and lines above it. Chains of two of them are in `chains`.

A link is null (the score itself), `["logistic", slope, offset]`, sigma(slope t + offset), or `["table", [[t, below, at, above], ...]]`, linear between its
knots t, constant outside of them, with three values at each.

A line above a link on [low, high] has the slope alpha >= 0 in r, r = slope t + offset (t itself for tables): `beta` is a number with lambda <= alpha r + beta there. `rise` is a number that C lambda(t + D) - E lambda(t) does not exceed there, for C, E > 0. Neither need be the smallest.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import TypeAlias

from likewise_check.core.body import Ends
from likewise_check.core.cells import LeafRefused
from likewise_check.core.fields import Rejected, anything, array_of, choice
from likewise_check.core.logarithm import sigma_bounds
from likewise_check.core.numbers import number

BITS = 128  # of sigma, in lines
MOST_KNOTS = 100_000
FARTHEST = 40  # from 0 that a tangent is taken: further out sigma is too flat for its bits

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)

Limit: TypeAlias = Fraction | None  # None: there is none on this side
Knot: TypeAlias = tuple[Fraction, Fraction, Fraction, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Logistic:
    """sigma(slope t + offset), slope > 0."""

    slope: Fraction
    offset: Fraction

    whole = Fraction(1)  # lambda and what is `turned` add up to it
    rational = False

    def at(self, score: Ends, bits: int) -> Ends:
        """lambda, from an enclosure of the score."""
        low, high = (sigma_bounds(self.slope * end + self.offset, bits) for end in score)
        return low[0], high[1]

    def turned(self) -> "Logistic":
        """1 - lambda(-t)."""
        return Logistic(slope=self.slope, offset=-self.offset)

    def moved(self, by: Fraction) -> "Logistic":
        """lambda(t + by)."""
        return Logistic(slope=self.slope, offset=self.offset + self.slope * by)

    def value_below(self, t: Fraction) -> Fraction:
        """A number that lambda(t) is not below."""
        return sigma_bounds(self.slope * t + self.offset, BITS)[0]

    def value_above(self, t: Fraction) -> Fraction:
        """A number that lambda(t) is not above."""
        return sigma_bounds(self.slope * t + self.offset, BITS)[1]

    def steepness(self) -> int:
        """lambda rises by at most this where t rises by 1."""
        return ceil(self.slope)

    def slopes(self, _ends: Ends, values: Ends) -> Ends:
        """The smallest and the largest slope where lambda has these values."""
        least, most = bell(*values)
        return self.slope * least, self.slope * most

    def beta(self, alpha: Fraction, tangent: Fraction, low: Limit, high: Limit) -> Fraction:
        """sigma(r) <= alpha r + beta between the limits, low <= high: left of 0, sigma - alpha r is convex and largest at the ends; right of it, sigma is below its tangents."""
        left, right = (None if end is None else self.slope * end + self.offset for end in (low, high))
        if alpha == 0:
            return Fraction(1) if right is None else sigma_bounds(right, BITS)[1]
        if left is None:
            raise LeafRefused("sum: a line with a slope above a link without a lower limit")
        found = []
        if left <= 0:
            middle = Fraction(0) if right is None else min(right, Fraction(0))
            found += [sigma_bounds(r, BITS)[1] - alpha * r for r in (left, middle)]
        if right is None or right > 0:
            least, most = sigma_bounds(tangent, BITS)
            slopes = least * (1 - most), most * (1 - least)
            if right is None and slopes[1] > alpha:
                raise LeafRefused("sum: a line above a link without an upper limit is too flat")
            ends = [max(left, Fraction(0))] + ([] if right is None else [right])
            found += [most + max(s * (r - tangent) for s in slopes) - alpha * r for r in ends]
        return max(found)

    def rise(self, factors: Ends, distance: Fraction, low: Limit, high: Limit, place: Fraction) -> Fraction:
        """As a function of y = sigma(r), sigma(r + e) is convex for e <= 0, and largest at the ends; for e > 0 it is concave, and below its tangent at sigma(place)."""
        (c, d), e = factors, self.slope * distance
        left, right = (None if end is None else self.slope * end + self.offset for end in (low, high))
        ends = (
            (ZERO, ZERO) if left is None else sigma_bounds(left, BITS),
            (ONE, ONE) if right is None else sigma_bounds(right, BITS),
        )
        if e <= 0:
            tops = (
                ZERO if left is None else sigma_bounds(left + e, BITS)[1],
                (ONE if right is None else sigma_bounds(right + e, BITS)[1]),
            )
            return max(c * top - d * y for top, (y, _) in zip(tops, ends, strict=True))
        if abs(place) > FARTHEST:
            raise LeafRefused("sum: a tangent is taken too far out")
        start, top = sigma_bounds(place, BITS), sigma_bounds(place + e, BITS)
        slopes = (
            c * top[0] * (1 - top[1]) / (start[1] * (1 - start[0])) - d,
            c * top[1] * (1 - top[0]) / (start[0] * (1 - start[1])) - d,
        )
        steps = [y - origin for origin in start for end in ends for y in end]
        return c * top[1] - d * start[0] + max(slope * step for slope in slopes for step in steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Linear between knots."""

    knots: tuple[Knot, ...]

    slope, offset, whole = Fraction(1), Fraction(0), Fraction(0)
    rational = True

    def at(self, score: Ends, _bits: int) -> Ends:
        """lambda, from an enclosure of the score."""
        return self._value(score[0], 2), self._value(score[1], 2)

    def _value(self, t: Fraction, which: int) -> Fraction:
        """lambda(t), at knots by the value from below (1), at it (2) or from above (3)."""
        before = bisect_right(self.knots, t, key=_place)
        if not before:
            return self.knots[0][1]
        last = self.knots[before - 1]
        if last[0] == t:
            return last[which]
        if before == len(self.knots):
            return last[3]
        after = self.knots[before]
        return last[3] + (after[1] - last[3]) * (t - last[0]) / (after[0] - last[0])

    def turned(self) -> "Table":
        """-lambda(-t)."""
        return Table(knots=tuple((-t, -above, -at, -below) for t, below, at, above in reversed(self.knots)))

    def moved(self, by: Fraction) -> "Table":
        """lambda(t + by)."""
        return Table(knots=tuple((t - by, below, at, above) for t, below, at, above in self.knots))

    def value_below(self, t: Fraction) -> Fraction:
        """lambda(t), or lambda from below."""
        return self._value(t, 1)

    def value_above(self, t: Fraction) -> Fraction:
        """lambda(t), or lambda from above."""
        return self._value(t, 3)

    def steepness(self) -> int:
        """lambda rises by at most this where t rises by 1, but for jumps."""
        return ceil(max(((b[1] - a[3]) / (b[0] - a[0]) for a, b in pairwise(self.knots)), default=ZERO))

    def slopes(self, ends: Ends, _values: Ends) -> Ends | None:
        """The smallest and the largest slope between two places; None where it jumps there."""
        first = bisect_left(self.knots, ends[0], key=_place)
        last = bisect_right(self.knots, ends[1], key=_place)
        if any(below != above for _, below, _, above in self.knots[first:last]):
            return None
        around = self.knots[max(first - 1, 0) : last + 1]
        found = [(b[1] - a[3]) / (b[0] - a[0]) for a, b in pairwise(around)]
        if first == 0 or last == len(self.knots):
            found.append(ZERO)
        return min(found), max(found)

    def beta(self, alpha: Fraction, _tangent: Fraction, low: Limit, high: Limit) -> Fraction:
        """lambda(t) <= alpha t + beta between the limits: lambda - alpha t is largest at one of them, or at a knot."""
        if low is None and alpha > 0:
            raise LeafRefused("sum: a line with a slope above a link without a lower limit")
        found = [self._value(t, 3) - alpha * t for t in (low, high) if t is not None]
        found += [
            knot[3] - alpha * knot[0]
            for knot in self.knots
            if (low is None or low <= knot[0]) and (high is None or knot[0] <= high)
        ]
        if low is None:
            found.append(self.knots[0][1])
        if high is None:
            found.append(
                self.knots[-1][3] - alpha * max(self.knots[-1][0], self.knots[-1][0] if low is None else low)
            )
        return max(found)

    def rise(self, factors: Ends, distance: Fraction, low: Limit, high: Limit, _place: Fraction) -> Fraction:
        """Between two places where t or t + D is a knot both are linear; at each of them lambda counts from above, and from below where it is taken off."""
        c, d = factors
        places = [at for knot in self.knots for at in (knot[0], knot[0] - distance)]
        places = [t for t in places if (low is None or low <= t) and (high is None or t <= high)]
        places += [t for t in (low, high) if t is not None]
        found = [c * self._value(t + distance, 3) - d * self._value(t, 1) for t in places]
        if low is None:
            found.append((c - d) * self.knots[0][1])
        if high is None:
            found.append((c - d) * self.knots[-1][3])
        return max(found)


def _place(knot: Knot) -> Fraction:
    return knot[0]


def bell(low: Fraction, high: Fraction) -> Ends:
    """The smallest and the largest y (1 - y) for y from low to high, 0 <= low <= high <= 1."""
    ends = low * (1 - low), high * (1 - high)
    return min(ends), HALF * HALF if low <= HALF <= high else max(ends)


def read_plain_link(item: object, what: str) -> Logistic | Table | None:
    """A link that is no chain; None is the score itself."""
    if item is None:
        return None
    if type(item) is not list or not item:
        raise Rejected(f"{what} must be null or an array")
    if choice("logistic", "table")(item[0], what) == "logistic":
        _, slope, offset = array_of(anything, 3)(item, what)
        found = Logistic(slope=number(slope, f"{what}, slope"), offset=number(offset, f"{what}, offset"))
        if found.slope <= 0:
            raise Rejected(f"{what} must have a slope above 0")
        return found
    _, items = array_of(anything, 2)(item, what)
    knots = array_of(array_of(number, 4))(items, f"{what}, knots")
    if not 1 <= len(knots) <= MOST_KNOTS:
        raise Rejected(f"{what} must have from 1 to {MOST_KNOTS} knots")
    if any(not below <= at <= above for _, below, at, above in knots) or any(
        a[0] >= b[0] or a[3] > b[1] for a, b in pairwise(knots)
    ):
        raise Rejected(f"{what} must rise from knot to knot, and never fall")
    return Table(knots=tuple((t, below, at, above) for t, below, at, above in knots))
