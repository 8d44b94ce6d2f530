"""Chains of two links (section 17): outer(inner(t)), inner logistic, outer logistic or a table; and what a leaf says of any link, read and shown.

A line above a chain is one above its outer link, over the values that the inner one can have, of a line above the inner link. What a chain rises by over a distance D is looked at piece by piece: on each,
H(t) = C lambda(t + D) - E lambda(t) is at most what its ends come to, lambda never falling, and where its slopes are known at most the height where two lines meet, one down from either end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from likewise_check.core.body import Ends
from likewise_check.core.fields import Rejected, anything, array_of
from likewise_check.core.logarithm import sigma_bounds
from likewise_check.core.numbers import number
from likewise_check.packs.sums.links import BITS, ONE, ZERO, Limit, Logistic, Table, bell, read_plain_link

MOST_CUTS = 1000
UNIT = 1 << BITS

Outer: TypeAlias = Logistic | Table


@dataclass(frozen=True, slots=True)
class Point:
    """A place t of a chain, None for an infinite one: inner(t) enclosed, and numbers that outer of it is not below and not above."""

    place: Limit
    inner: Ends
    least: Fraction
    most: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """outer(inner(t))."""

    inner: Logistic
    outer: Outer

    rational = False

    @property
    def slope(self) -> Fraction:
        """r is that of the inner link."""
        return self.inner.slope

    @property
    def offset(self) -> Fraction:
        """r is that of the inner link."""
        return self.inner.offset

    @property
    def whole(self) -> Fraction:
        """lambda and what is `turned` add up to it."""
        return self.outer.whole

    def at(self, score: Ends, bits: int) -> Ends:
        """lambda, from an enclosure of the score; a steep outer link needs more of the inner one."""
        return self.outer.at(self.inner.at(score, bits + self.outer.steepness().bit_length()), bits)

    def turned(self) -> "Chain":
        """w - lambda(-t): 1 - inner(-t), and w - outer(1 - y) of that."""
        return Chain(inner=self.inner.turned(), outer=self.outer.turned().moved(-ONE))

    def values(self, low: Limit, high: Limit) -> Ends:
        """What the inner link lies between."""
        least = (
            ZERO
            if low is None
            else _rounded(sigma_bounds(self.inner.slope * low + self.inner.offset, BITS))[0]
        )
        most = (
            ONE
            if high is None
            else _rounded(sigma_bounds(self.inner.slope * high + self.inner.offset, BITS))[1]
        )
        return least, most

    def beta(
        self, alphas: Sequence[Fraction], tangents: Sequence[Fraction], low: Limit, high: Limit
    ) -> Fraction:
        """lambda <= alpha r + beta between the limits, alpha as in `steep`."""
        inner = self.inner.beta(alphas[0], tangents[0], low, high)
        outer = self.outer.beta(alphas[1], tangents[1], *self.values(low, high))
        return alphas[1] * (self.outer.slope * inner + self.outer.offset) + outer

    def steep(self, alphas: Sequence[Fraction]) -> Fraction:
        """The slope in r of the line that two slopes make."""
        return alphas[1] * self.outer.slope * alphas[0]

    def rise(
        self, factors: Ends, distance: Fraction, low: Limit, high: Limit, cuts: Sequence[Fraction]
    ) -> Fraction:
        """C lambda(t + D) - E lambda(t) is at most this between the limits."""
        between = [t for t in cuts if (low is None or low < t) and (high is None or t < high)]
        places: list[Limit] = [low, *between, high]
        ends = [(i == 0, t) for i, t in enumerate(places)]
        here = [self._point(t, first) for first, t in ends]
        there = [self._point(None if t is None else t + distance, first) for first, t in ends]
        pieces = zip(pairwise(here), pairwise(there), strict=True)
        return max(self._piece(factors, own, moved) for own, moved in pieces)

    def _point(self, t: Limit, first: bool) -> Point:
        if t is None:
            value = ZERO if first else ONE
            inner = value, value
        else:
            inner = _rounded(sigma_bounds(self.inner.slope * t + self.inner.offset, BITS))
        return Point(t, inner, self.outer.value_below(inner[0]), self.outer.value_above(inner[1]))

    def _piece(self, factors: Ends, own: tuple[Point, Point], moved: tuple[Point, Point]) -> Fraction:
        """The same on one piece: its two points, and these moved by D."""
        c, d = factors
        bound = c * moved[1].most - d * own[0].least
        (a, b), slopes, raised = (point.place for point in own), self._slopes(*own), self._slopes(*moved)
        if a is None or b is None or slopes is None or raised is None:
            return bound
        least, most = c * raised[0] - d * slopes[1], c * raised[1] - d * slopes[0]
        first, last = (c * end.most - d * start.least for start, end in zip(own, moved, strict=True))
        if most <= 0:
            return min(bound, first)
        if least >= 0:
            return min(bound, last)
        return min(bound, first + most * (last - first - least * (b - a)) / (most - least))

    def _slopes(self, first: Point, last: Point) -> Ends | None:
        """The smallest and the largest that lambda' can be from one point to another; None where lambda jumps."""
        low, high = first.inner[0], last.inner[1]
        outer = self.outer.slopes((low, high), (first.least, last.most))
        if outer is None:
            return None
        least, most = bell(low, high)
        return self.inner.slope * least * outer[0], self.inner.slope * most * outer[1]


Link: TypeAlias = Logistic | Table | Chain


def _rounded(ends: Ends) -> Ends:
    """Outwards, to short numbers."""
    low, high = ends
    return Fraction(low * UNIT // 1, UNIT), Fraction(-(-high * UNIT // 1), UNIT)


# -- what a leaf says of a link -----------------------------------------------------------------------------------------


def read_link(item: object, what: str) -> Link | None:
    """A link; None is the score itself."""
    if type(item) is not list or not item or item[0] != "chain":
        return read_plain_link(item, what)
    _, first, second = array_of(anything, 3)(item, what)
    inner, outer = read_plain_link(first, f"{what}, inner"), read_plain_link(second, f"{what}, outer")
    if not isinstance(inner, Logistic) or outer is None:
        raise Rejected(f"{what} must be a chain of a logistic link and another one")
    return Chain(inner=inner, outer=outer)


def line_above(link: Link, slope: object, tangent: object, low: Limit, high: Limit, *, below: bool) -> Ends:
    """alpha and beta of the line in r above the link between the limits that a leaf means; or of one below it."""
    used, ends = link, (low, high)
    if below:
        used, ends = link.turned(), (None if high is None else -high, None if low is None else -low)
    if isinstance(used, Chain):
        alphas, tangents = _line_numbers(slope, 2), _line_numbers(tangent, 2)
        alpha, beta = used.steep(alphas), used.beta(alphas, tangents, *ends)
    else:
        ((alpha,), (place,)) = _line_numbers([slope], 1), _line_numbers([tangent], 1)
        beta = used.beta(alpha, place, *ends)
    return alpha, link.whole - beta if below else beta


def _line_numbers(items: object, count: int) -> list[Fraction]:
    found: list[Fraction] = array_of(number, count)(items, "the slope of a line, or the place of a tangent")
    if min(found) < 0:
        raise Rejected("sum: a slope, or the place of a tangent, is negative")
    return found


def rise(link: Link, factors: Ends, distance: Fraction, low: Limit, high: Limit, place: object) -> Fraction:
    """A number that C lambda(t + D) - E lambda(t) does not exceed between the limits, by the place or the cuts that a leaf names."""
    if not isinstance(link, Chain):
        return link.rise(factors, distance, low, high, number(place, "the place of a tangent"))
    cuts: list[Fraction] = array_of(number)(place, "the cuts of a difference")
    if len(cuts) > MOST_CUTS or any(a >= b for a, b in pairwise(cuts)):
        raise Rejected(f"sum: the cuts of a difference must be at most {MOST_CUTS}, and rise")
    return link.rise(factors, distance, low, high, cuts)
