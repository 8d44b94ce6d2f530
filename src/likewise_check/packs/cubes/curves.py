"""Columns in pieces on a cube (section 23): a polynomial on each piece, as an affine function of axes.

On an interval [m - w, m + w] a polynomial is sum_i c_i s^i, |s| <= w. An even power s^i is w^i / 2 plus or minus as much, an odd one is between -w^i and w^i.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from likewise_check.core.cells import Interval
from likewise_check.core.fields import Rejected, anything, array_of, record
from likewise_check.core.numbers import Exact, number

MOST_CUTS = 10_000
MOST_COEFFICIENTS = 6

Part: TypeAlias = tuple[int, Exact, Exact]  # a piece, and from where to where it counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The cuts and one polynomial c_0, c_1, ... more; of whole numbers only, or of all."""

    cuts: tuple[Fraction, ...]
    polys: tuple[tuple[Fraction, ...], ...]
    whole: bool

    def at(self, code: Exact) -> Fraction:
        """The value at a code: at a cut, that of the piece on its left."""
        return _shifted(self.polys[bisect_left(self.cuts, code)], Fraction(code))[0]

    @property
    def steady(self) -> bool:
        """Whether the value is the same everywhere."""
        return all(self.flat(i) for i in range(len(self.polys))) and len({p[0] for p in self.polys}) == 1

    def flat(self, i: int) -> bool:
        """Whether piece i is a constant."""
        return not any(self.polys[i][1:])

    def parts(self, lo: Exact, hi: Exact) -> list[Part]:
        """The pieces that [lo, hi] meets, from left to right (section 4)."""
        found: list[Part] = []
        for i in range(bisect_left(self.cuts, lo), bisect_left(self.cuts, hi) + 1):
            start, end = lo, hi
            if i > 0:
                start = max(lo, self.cuts[i - 1] // 1 + 1 if self.whole else self.cuts[i - 1])
            if i < len(self.cuts):
                end = min(hi, self.cuts[i] // 1 if self.whole else self.cuts[i])
            if start <= end:
                found.append((i, start, end))
        return found

    def expanded(self, part: Part) -> tuple[list[Fraction], Fraction]:
        """The polynomial of a part about its middle, and half its width."""
        i, lo, hi = part
        return _shifted(self.polys[i], Fraction(lo + hi) / 2), Fraction(hi - lo) / 2


def read_curve(item: object, what: str, *, whole: bool) -> Curve:
    """A column in pieces without weight."""
    _, cuts, polys = record(
        item, what, feature=anything, cuts=array_of(number), pieces=array_of(array_of(number))
    )
    if len(cuts) > MOST_CUTS or any(late <= early for early, late in pairwise(cuts)):
        raise Rejected(f"{what} must have at most {MOST_CUTS} cuts, strictly increasing")
    if len(polys) != len(cuts) + 1 or not all(1 <= len(poly) <= MOST_COEFFICIENTS for poly in polys):
        raise Rejected(f"{what} must have one piece more than cuts, of 1 to {MOST_COEFFICIENTS} coefficients")
    return Curve(cuts=tuple(cuts), polys=tuple(map(tuple, polys)), whole=whole)


def line_on(curve: Curve, part: Part) -> tuple[Fraction, Fraction, Fraction]:
    """Value at the middle, slope and reach of the one part that an interval has: the curve is value + slope (x - middle) + reach y, |y| <= 1."""
    c, w = curve.expanded(part)
    value, reach = c[0], Fraction(0)
    for i in range(2, len(c)):
        amount = c[i] * w**i
        if i % 2:
            reach += abs(amount)
        else:
            value += amount / 2
            reach += abs(amount) / 2
    return value, c[1] if len(c) > 1 else Fraction(0), reach


def range_on(curve: Curve, parts: Sequence[Part]) -> tuple[Fraction, Fraction]:
    """Two numbers that the curve is between on all of these parts."""
    ends: list[Fraction] = []
    for part in parts:
        c, w = curve.expanded(part)
        spread = sum((abs(c[i]) * w**i for i in range(1, len(c))), Fraction(0))
        ends += [c[0] - spread, c[0] + spread]
    return min(ends), max(ends)


def meeting_codes(curves: Sequence[Curve], interval: Interval) -> list[Exact]:
    """One code in each piece, of the cuts of all together, that an interval meets; from left to right."""
    joint = Curve(
        cuts=tuple(sorted({cut for curve in curves for cut in curve.cuts})),
        polys=((Fraction(0),),) * (1 + len({cut for curve in curves for cut in curve.cuts})),
        whole=curves[0].whole,
    )
    return [end for _, _, end in joint.parts(*interval)]


def _shifted(poly: Sequence[Fraction], middle: Fraction) -> list[Fraction]:
    """The coefficients in s = x - middle."""
    rest, found = list(poly), list[Fraction]()
    while rest:
        for i in reversed(range(len(rest) - 1)):
            rest[i] += middle * rest[i + 1]
        found.append(rest.pop(0))
    return found
