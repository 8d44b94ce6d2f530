"""One neuron of two copies whose activation is smooth (section 15, "Smooth activations"): tanh, logistic or elu between two ints, its slopes, and the N of the rule.

Ints are in units of 2^-60. Every number is enclosed; lower ends are rounded down and upper ones up, so that N is never below what it stands for.
"""

from fractions import Fraction
from functools import lru_cache
from math import isqrt

from likewise_check.core.logarithm import log_bounds
from likewise_check.packs.network.activation import Activation
from likewise_check.packs.network.neuron import GRID, Ends, Polygon, round_down, round_up

UNIT = 1 << GRID
KEPT = 1 << 16  # values that are kept; dropped beyond, which changes nothing but time


class Curve:
    """An activation, with the interface of a `Bend`."""

    fine = 1

    def __init__(self, activation: Activation) -> None:
        self.activation = activation
        self.kind = activation.kind
        self.at = lru_cache(KEPT)(self._at)
        self.slope = lru_cache(KEPT)(self._slope)

    def _at(self, y: int) -> Ends:
        """Around the value at y."""
        return self.activation.between(y, y, GRID)

    def _slope(self, y: int) -> Ends:
        """Around the slope at y; at 0 that of y < 0."""
        low, high = self.at(y)
        if self.kind == "tanh":  # 1 - s^2
            squares = low * low, high * high
            least = 0 if low <= 0 <= high else min(squares)
            return (UNIT * UNIT - max(squares)) // UNIT, -((least - UNIT * UNIT) // UNIT)
        if self.kind == "logistic":  # s (1 - s), which is largest, 1/4, at s = 1/2
            products = low * (UNIT - low), high * (UNIT - high)
            most = UNIT * UNIT // 4 if 2 * low <= UNIT <= 2 * high else max(products)
            return min(products) // UNIT, -(-most // UNIT)
        if y > 0:
            return UNIT, UNIT
        (alpha,) = self.activation.numbers  # alpha e^y = s + alpha
        return low + round_down(alpha * UNIT), high + round_up(alpha * UNIT)

    def values(self, lo: int, hi: int) -> Ends:
        """Around all values between two limits."""
        ends = [self.at(lo), self.at(hi), *([self.at(0)] if lo < 0 < hi else ())]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def steepness(self, lo: int, hi: int) -> Ends:
        """Around all slopes between two limits: they rise to y = 0 and fall after it; those of elu are monotone on y < 0, and 1 on y > 0."""
        some = [self.slope(lo), self.slope(hi)]
        if lo <= 0 <= hi:
            some.append(self.slope(0))
            if self.kind == "elu":
                some.append((UNIT, UNIT))
        return min(low for low, _ in some), max(high for _, high in some)

    def passed(self, polygon: Polygon) -> tuple[Ends, Ends, Ends]:
        """What limits of y, y' and y' - y leave of the activation's values and of their difference."""
        lo, hi, other_lo, other_hi, p, q = polygon
        one, other = self.values(lo, hi), self.values(other_lo, other_hi)
        flat, steep = self.steepness(min(lo, other_lo), max(hi, other_hi))
        products = flat * p, steep * p, flat * q, steep * q
        low, high = min(products) >> GRID, -(-max(products) >> GRID)
        return one, other, (max(low, other[0] - one[1]), min(high, other[1] - one[0]))

    def maximum(self, A: int, C: int, alpha: int, gamma: int, polygon: Polygon) -> int:
        """N: the least of three bounds of A act(y) + C act(y') - alpha y - gamma y' over a closed polygon."""
        lo, hi, other_lo, other_hi, p, q = polygon
        apart = self.steepness(min(lo, other_lo), max(hi, other_hi)), self.passed(polygon)[2]
        both, sums = A + C, alpha + gamma
        return min(
            self.largest(A, alpha, lo, hi) + self.largest(C, gamma, other_lo, other_hi),
            self.largest(both, sums, lo, hi) + _largest_apart(C, gamma, p, q, *apart),
            self.largest(both, sums, other_lo, other_hi) + _largest_apart(-A, -alpha, p, q, *apart),
        )

    def largest(self, A: int, alpha: int, lo: int, hi: int) -> int:
        """M: not below the largest A act(y) - alpha y between two limits, and hardly above it."""
        if A == 0:
            return max(-alpha * lo, -alpha * hi)
        if lo < 0 < hi:
            return max(self.largest(A, alpha, lo, 0), self.largest(A, alpha, 0, hi))
        ends = max(self._value(A, alpha, lo), self._value(A, alpha, hi))
        return max(ends, self._top(A, alpha, lo, hi)) if self._concave(A, lo) else ends

    def _concave(self, A: int, lo: int) -> bool:
        """Whether A act bends downwards right of lo, lo < 0 or not; where it does not, it is largest at an end."""
        if self.kind == "elu":
            return lo < 0 and A * self.activation.numbers[0] < 0
        return A > 0 if lo >= 0 else A < 0

    def _value(self, A: int, alpha: int, y: int) -> int:
        low, high = self.at(y)
        return (A * high if A > 0 else A * low) - alpha * y

    def _rise(self, A: int, alpha: int, y: int) -> Ends:
        """Around the slope of A act(y) - alpha y, times 2^60."""
        low, high = self.slope(y)
        return min(A * low, A * high) - alpha * UNIT, max(A * low, A * high) - alpha * UNIT

    def _top(self, A: int, alpha: int, lo: int, hi: int) -> int:
        """Not below the maximum of a concave one: the larger end of a tangent, taken where the slope is about 0, or at an end."""
        at = min(max(self._flat(Fraction(alpha, A), lo), lo), hi)
        low, high = self._rise(A, alpha, at)
        above = max(high * (hi - at), low * (lo - at), 0)
        return self._value(A, alpha, at) - (-above >> GRID)

    def _flat(self, slope: Fraction, lo: int) -> int:
        """About where act has this slope, left of 0 or right of it as lo is; beyond all limits where it has it nowhere. Any place is sound."""
        sign, far = (1 if lo >= 0 else -1), 1 << 2 * GRID
        if self.kind == "elu":
            ratio = slope / self.activation.numbers[0]
            return -far if ratio <= 0 else round_down(log_bounds(ratio)[0] * UNIT)
        part = 1 - slope * (1 if self.kind == "tanh" else 4)
        if part <= 0 or part >= 1:  # steeper than it is anywhere, or falling
            return 0 if part <= 0 else sign * far
        root = isqrt(round_down(part * UNIT * UNIT))
        if root >= UNIT - 1:
            return sign * far
        found = round_down(log_bounds(Fraction(UNIT + root, UNIT - root))[0] * UNIT)
        return sign * (found // 2 if self.kind == "tanh" else found)


def _largest_apart(c: int, g: int, p: int, q: int, slopes: Ends, ends: Ends) -> int:
    """D: not below the largest c f - g d over p <= d <= q, f between r d and R d and between two ends."""
    end = ends[1] if c > 0 else ends[0]
    found = []
    for d in (p, q, 0):
        if p <= d <= q:
            products = [slope * d for slope in slopes]
            f = min(-(-max(products) >> GRID), end) if c > 0 else max(min(products) >> GRID, end)
            found.append(c * f - g * d)
    for slope in slopes:  # where f reaches its end
        if slope:
            d = (end << GRID) // slope
            found += [c * end - g * place for place in (d, d + 1) if p <= place <= q]
    return max(found)
