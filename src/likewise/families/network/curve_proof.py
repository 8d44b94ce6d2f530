"""Curves in whole numbers: what the certificate's rule `network` says of a neuron whose activation is tanh, logistic or elu (spec/certificate-v1.md, section 15, "Smooth activations").

Whole numbers are multiples of 2^-60. Values and slopes are enclosed by balls and rounded outwards; where a concave function is flat is proposed in float64, since a tangent at any place is above it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from flint import arb, ctx, fmpq

from likewise.errors import InternalError
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from likewise.families.network.activation import Activation

GRID = 60  # limits are multiples of 2^-60
UNIT = 1 << GRID
BITS = 160  # of balls
KEPT = 1 << 15  # values that are kept
BEYOND = 1e6  # no limit that matters is as large

Ends = tuple[int, int]


class Curve:
    """An activation between whole numbers."""

    fine = 1

    def __init__(self, activation: Activation) -> None:
        self.activation, self.kind = activation, activation.kind
        self.alpha = activation.parameters[0] if activation.parameters else Fraction(0)
        self.known = lru_cache(KEPT)(self._known)

    def _known(self, y: int) -> tuple[int, int, int, int]:
        """Around the value and around the slope at y."""
        with ctx.workprec(BITS):
            at = arb(fmpq(y, UNIT))
            value = self.activation.enclosed(at)
            if self.kind == "tanh":
                slope = 1 - value * value
            elif self.kind == "logistic":
                slope = value * (1 - value)
            else:
                own = arb(fmpq(self.alpha.numerator, self.alpha.denominator))
                slope = arb(1) if y > 0 else own * at.exp()
            return (*_ends(value), *_ends(slope))

    def image(self, ends: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The smallest and the largest value at x, at x', and of their difference, from the six limits of the argument."""
        lo, hi, low, high, least, most = ends
        (one, two), (three, four) = self._values(lo, hi), self._values(low, high)
        flat, steep = self._slopes(min(lo, low), max(hi, high))
        products = flat * least, steep * least, flat * most, steep * most
        down, up = min(products) >> GRID, -(-max(products) >> GRID)
        return (one, three, max(down, three - two)), (two, four, min(up, four - one))

    def maximum(self, A: int, C: int, a: int, c: int, ends: tuple[int, ...]) -> int:
        """Not below A act(y) + C act(y') - a y - c y' over the limits: the least of three bounds."""
        lo, hi, low, high, least, most = ends
        slopes = self._slopes(min(lo, low), max(hi, high))
        downs, ups = self.image(ends)
        apart = (least, most, slopes, (downs[2], ups[2]))
        return min(
            self._largest(A, a, lo, hi) + self._largest(C, c, low, high),
            self._largest(A + C, a + c, lo, hi) + _largest_apart(C, c, *apart),
            self._largest(A + C, a + c, low, high) + _largest_apart(-A, -a, *apart),
        )

    def _values(self, low: int, high: int) -> Ends:
        some = [self.known(y)[:2] for y in (low, high, *((0,) if low < 0 < high else ()))]
        return min(s[0] for s in some), max(s[1] for s in some)

    def _slopes(self, low: int, high: int) -> Ends:
        some = [self.known(y)[2:] for y in (low, high, *((0,) if low <= 0 <= high else ()))]
        if self.kind == "elu" and low <= 0 <= high:
            some.append((UNIT, UNIT))
        return min(s[0] for s in some), max(s[1] for s in some)

    def _largest(self, A: int, a: int, lo: int, hi: int) -> int:
        """M of the rule."""
        if A == 0:
            return max(-a * lo, -a * hi)
        ends = [lo, hi, *((0,) if lo < 0 < hi else ())]
        found = [self._value(A, a, y) for y in ends]
        for left in (True, False):
            low, high = (lo, min(hi, 0)) if left else (max(lo, 0), hi)
            concave = left and A * self.alpha < 0 if self.kind == "elu" else (A < 0) == left
            if low < high and concave:
                found.append(self._tangent(A, a, low, high, left))
        return max(found)

    def _value(self, A: int, a: int, y: int) -> int:
        low, high, _, _ = self.known(y)
        return max(A * low, A * high) - a * y

    def _tangent(self, A: int, a: int, low: int, high: int, left: bool) -> int:
        place = self._flat(nearest_double(Fraction(a, A)), left)
        at = min(max(math.floor(Fraction(place) * UNIT), low), high)
        _, _, least, most = self.known(at)
        rises = A * least - a * UNIT, A * most - a * UNIT
        above = max(max(rises) * (high - at), min(rises) * (low - at), 0)
        return self._value(A, a, at) - (-above >> GRID)

    def _flat(self, slope: float, left: bool) -> float:
        """About where the activation has this slope."""
        sign = -1.0 if left else 1.0
        if self.kind == "elu":
            ratio = slope / nearest_double(self.alpha)
            return math.log(ratio) if ratio > 0 else -BEYOND
        part = 1 - slope * (1 if self.kind == "tanh" else 4)
        if part <= 0:
            return 0.0
        root = math.sqrt(min(part, 1.0))
        if part >= 1 or root >= 1:
            return sign * BEYOND
        return sign * math.atanh(root) * (1 if self.kind == "tanh" else 2)


def _largest_apart(c: int, g: int, least: int, most: int, slopes: Ends, ends: Ends) -> int:
    """D of the rule."""
    end = ends[1] if c > 0 else ends[0]
    found = []
    for d in {least, most, min(max(0, least), most)}:
        products = [slope * d for slope in slopes]
        f = min(-(-max(products) >> GRID), end) if c > 0 else max(min(products) >> GRID, end)
        found.append(c * f - g * d)
    for slope in slopes:
        if slope != 0:
            below = (end << GRID) // slope
            found += [c * end - g * d for d in (below, below + 1) if least <= d <= most]
    return max(found)


def _ends(ball: arb) -> Ends:
    """Around a ball, in units of 2^-60."""
    scaled = ball * UNIT
    low, high = scaled.lower().floor().unique_fmpz(), scaled.upper().ceil().unique_fmpz()
    if low is None or high is None:
        raise InternalError("an end of a ball is no number")
    return int(low), int(high)
