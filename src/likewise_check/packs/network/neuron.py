"""One neuron of two copies of a network (section 15): closed limits of its sums y and y', what its activation makes of them, and the N of the rule.

Limits are ints, in units of 2^-60. N is attained at one of a few places, because the function is piecewise linear in y' for given y, and its maximum over y' is so in y.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import NamedTuple, TypeAlias

from likewise_check.core.cells import Limits
from likewise_check.packs.network.activation import Activation

GRID = 60  # limits are multiples of 2^-60
_TWO = 2

Ends: TypeAlias = tuple[int, int]


class Polygon(NamedTuple):
    """lo <= y <= hi, lo' <= y' <= hi', p <= y' - y <= q."""

    lo: int
    hi: int
    other_lo: int
    other_hi: int
    p: int
    q: int

    def closed(self) -> "Polygon | None":
        """Each limit sharpened by the others; None if nothing satisfies all of them. Then for every y from lo to hi there is a y'."""
        lo, hi, other_lo, other_hi, p, q = self
        p, q = max(p, other_lo - hi), min(q, other_hi - lo)
        other_lo, other_hi = max(other_lo, lo + p), min(other_hi, hi + q)
        lo, hi = max(lo, other_lo - q), min(hi, other_hi - p)
        return None if lo > hi or other_lo > other_hi or p > q else Polygon(lo, hi, other_lo, other_hi, p, q)

    def met(self, limits: tuple[Limits | None, ...]) -> "Polygon | None":
        """What a cell says of y, y' and y' - y as well, then closed."""
        ends = list(self)
        for copy, limit in enumerate(limits):
            if limit is not None:
                low, high = limit
                if low is not None:
                    ends[2 * copy] = max(ends[2 * copy], round_down(low * (1 << GRID)))
                if high is not None:
                    ends[2 * copy + 1] = min(ends[2 * copy + 1], round_up(high * (1 << GRID)))
        return Polygon(*ends).closed()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bend:
    """A piecewise linear activation in ints: `breaks` in units of 2^-60 / fine, `slopes` before, between and after, in units of 1 / fine."""

    breaks: tuple[int, ...]
    slopes: tuple[int, ...]
    start: int  # the value at the first break, in units of 2^-60 / fine^2
    fine: int

    @classmethod
    def of(cls, activation: Activation) -> "Bend":
        """Of one of the rational kinds."""
        fine = lcm(*(number.denominator for number in activation.numbers))
        if activation.kind == "clip":
            low, high = (int(limit * fine) << GRID for limit in activation.numbers)
            return cls(breaks=(low, high), slopes=(0, fine, 0), start=low * fine, fine=fine)
        before = int(activation.numbers[0] * fine) if activation.kind == "leaky_relu" else 0
        return cls(breaks=(0,), slopes=(before, fine), start=0, fine=fine)

    def at(self, y: int) -> int:
        """The value at y, a multiple of 2^-60 / fine, in units of 2^-60 / fine^2."""
        first, last = self.breaks[0], self.breaks[-1]
        if y <= first:
            return self.start + self.slopes[0] * (y - first)
        if len(self.breaks) < _TWO or y <= last:
            return self.start + self.slopes[1] * (y - first)
        return self.start + self.slopes[1] * (last - first) + self.slopes[2] * (y - last)

    def values(self, lo: int, hi: int) -> Ends:
        """The smallest and the largest value between two limits, rounded outwards to limits."""
        lo, hi = lo * self.fine, hi * self.fine
        found = [self.at(y) for y in (lo, hi, *(t for t in self.breaks if lo < t < hi))]
        unit = self.fine * self.fine
        return min(found) // unit, -(-max(found) // unit)

    def steepness(self, lo: int, hi: int) -> Ends:
        """The smallest and the largest slope among the pieces that have more than one point in common with the interval; of all, if none has."""
        lo, hi = lo * self.fine, hi * self.fine
        some = [self.slopes[0]] if lo < self.breaks[0] else []
        if len(self.breaks) < _TWO:
            some += [self.slopes[1]] if hi > self.breaks[0] else []
        else:
            first, last = self.breaks
            some += [self.slopes[1]] if max(lo, first) < min(hi, last) else []
            some += [self.slopes[2]] if hi > last else []
        if lo >= hi:
            some = []
        return min(some or self.slopes), max(some or self.slopes)

    def passed(self, polygon: Polygon) -> tuple[Ends, Ends, Ends]:
        """What limits of y, y' and y' - y leave of the activation's values and of their difference."""
        lo, hi, other_lo, other_hi, p, q = polygon
        one, other = self.values(lo, hi), self.values(other_lo, other_hi)
        flat, steep = self.steepness(min(lo, other_lo), max(hi, other_hi))
        products = flat * p, steep * p, flat * q, steep * q
        low, high = min(products) // self.fine, -(-max(products) // self.fine)
        return one, other, (max(low, other[0] - one[1]), min(high, other[1] - one[0]))

    def maximum(self, A: int, C: int, alpha: int, gamma: int, polygon: Polygon) -> int:
        """N: the largest A act(y) + C act(y') - alpha y - gamma y' over a closed polygon, in units of 2^-60 / fine^2 times that of the factors."""
        lo, hi, other_lo, other_hi, p, q = (end * self.fine for end in polygon) if self.fine > 1 else polygon
        alpha, gamma = alpha * self.fine, gamma * self.fine
        if len(self.breaks) < _TWO:
            return self._at_one_break(A, C, alpha, gamma, (lo, hi, other_lo, other_hi, p, q))
        places = {lo, hi, other_lo - p, other_hi - q}
        for t in self.breaks:
            places |= {t, t - p, t - q}
        found = []
        for y in places:
            if lo <= y <= hi:
                left, right = max(other_lo, y + p), min(other_hi, y + q)
                inside = (t for t in self.breaks if left < t < right)
                above = max(C * self.at(z) - gamma * z for z in (left, right, *inside))
                found.append(A * self.at(y) - alpha * y + above)
        return max(found)

    def _at_one_break(self, A: int, C: int, alpha: int, gamma: int, ends: tuple[int, ...]) -> int:
        """The same of relu and leaky_relu, which are 0 at their break, 0: two slopes a copy."""
        lo, hi, other_lo, other_hi, p, q = ends
        before, after = A * self.slopes[0] - alpha, A * self.slopes[1] - alpha
        other_before, other_after = C * self.slopes[0] - gamma, C * self.slopes[1] - gamma
        found = []
        for y in {lo, hi, other_lo - p, other_hi - q, 0, -p, -q}:
            if lo <= y <= hi:
                left, right = max(other_lo, y + p), min(other_hi, y + q)
                above = left * (other_after if left > 0 else other_before)
                end = right * (other_after if right > 0 else other_before)
                above = max(above, end, 0) if left < 0 < right else max(above, end)
                found.append(above + y * (after if y > 0 else before))
        return max(found)


def round_down(value: int | Fraction) -> int:
    """The largest int that is not above."""
    return value.numerator // value.denominator


def round_up(value: int | Fraction) -> int:
    """The smallest int that is not below."""
    return -(-value.numerator // value.denominator)
