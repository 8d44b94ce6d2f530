"""The largest value of a parabola over an interval, and of two of them over the codes x and x' of one feature (section 25).

A parabola (a, b, c) stands for a z^2 + b z + c. Over an interval it is largest at an end, or at -b / (2 a) where it is concave and turns inside.

u(x) + v(x') over the polygon lo <= x <= hi, lo' <= x' <= hi', p <= x' - x <= q: at a maximum inside the polygon both derivatives are 0 and neither function is convex; if one of them is constant, or linear without a slope,
the same value is attained on the border. So the largest value is that of a point inside where both turn and are concave, or that of an edge: x or x' is at an end, or x' = x + p, or x' = x + q, along which the sum is a parabola.
"""

from fractions import Fraction
from typing import NamedTuple

from likewise_check.core.cells import Interval
from likewise_check.core.numbers import Exact


class Parabola(NamedTuple):
    """a z^2 + b z + c."""

    a: Exact
    b: Exact
    c: Exact

    def at(self, z: Exact) -> Exact:
        return (self.a * z + self.b) * z + self.c

    @property
    def top(self) -> Fraction | None:
        """Where it is largest of all, if it is concave."""
        return Fraction(-self.b) / (2 * self.a) if self.a < 0 else None

    def largest(self, lo: Exact, hi: Exact) -> Exact:
        """The largest value from lo to hi."""
        top, ends = self.top, max(self.at(lo), self.at(hi))
        return max(ends, self.at(top)) if top is not None and lo < top < hi else ends

    def plus(self, other: "Parabola", shift: Exact = 0) -> "Parabola":
        """The sum with another one, taken at z + shift."""
        a, b, _ = other
        return Parabola(self.a + a, self.b + b + 2 * a * shift, self.c + other.at(shift))


def largest_apart(u: Parabola, v: Parabola, first: Interval, second: Interval, apart: Interval) -> Exact:
    """The largest u(x) + v(x'), x and x' in two intervals and x' - x in a third one that holds a difference of theirs."""
    (lo, hi), (low, high), (p, q) = first, second, apart
    found: list[Exact] = []
    tops = [z for z in (u.top, v.top) if z is not None]
    if len(tops) == 2 and lo <= tops[0] <= hi and low <= tops[1] <= high and p <= tops[1] - tops[0] <= q:
        found.append(u.at(tops[0]) + v.at(tops[1]))
    for x in (lo, hi):
        start, end = max(low, x + p), min(high, x + q)
        if start <= end:
            found.append(u.at(x) + v.largest(start, end))
    for other in (low, high):
        start, end = max(lo, other - q), min(hi, other - p)
        if start <= end:
            found.append(u.largest(start, end) + v.at(other))
    for d in (p, q):
        start, end = max(lo, low - d), min(hi, high - d)
        if start <= end:
            found.append(u.plus(v, d).largest(start, end))
    return max(found)
