"""Maxima of one feature whose columns are in pieces (section 4): u_k(x) + v_k(x'), both polynomials on each piece.

`same`: u + v on each piece met. `free`: u and v by themselves. `within` t: over the pairs of pieces at most t apart, at the corners of the polygon where both are
linear, and else the maximum of u plus that of v, each on its part cut off at distance t from the other: that is never less, as x within t of x' lies there.

A polynomial of degree n >= 2 on [lo, hi] lies below the largest of its control points (Bernstein coefficients)

    b_j = sum_i c_i * sum_r C(j, r) C(n-j, i-r) / C(n, i) * hi^r lo^(i-r),        j = 0 ... n,

is b_0 at lo and b_n at hi, and halves of the interval have control points made of means of neighbouring ones. As the inner sums are means of products of lo and hi,
|b_j| <= size = sum |c_i| max(|lo|, |hi|)^i. Control points are ints here, in units of size / 2^BITS, each rounded up; a polynomial with larger ones is nowhere smaller. An interval is halved
while its largest control point exceeds the largest value found (at an end of an interval) by more than ROOM. Differences of neighbours halve each time, up to n + 1 units, so that
happens at most 65 times one after the other; each time adds at most n <= 5 units, all together less than 2^-85 size, and ROOM is 2^-61 size.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, zip_longest
from math import comb

from likewise_check.core.cells import Box, LeafRefused
from likewise_check.core.maxima import corners
from likewise_check.core.numbers import Exact, exact
from likewise_check.core.space import Relation
from likewise_check.packs.pieces.columns import Part, Pieces, Poly, size_on, trimmed, value_at

MOST_PAIRS = 1 << 20
BITS = 96
ROOM = 1 << 35


class Curves:
    """u and v of one feature, each factor * pieces + slope * x; v may have other pieces, with the same cuts."""

    def __init__(
        self,
        pieces: Pieces,
        first: tuple[Exact, Exact],
        second: tuple[Exact, Exact],
        others: Pieces | None = None,
    ) -> None:
        self._pieces = pieces
        self._u, self._v = (
            [_plus([factor * c for c in poly], [0, slope]) for poly in own.polys]
            for own, (factor, slope) in ((pieces, first), (others or pieces, second))
        )

    def maximum(self, box: Box, relation: Relation) -> Exact | None:
        """max of u + v, or a little more; None if no codes satisfy the relation."""
        parts = [list(self._pieces.parts(*interval)) for interval in box.intervals]
        if relation.kind == "same":
            return max(poly_maximum(_plus(self._u[i], self._v[i]), lo, hi) for i, lo, hi in parts[0])
        tops = [
            [poly_maximum(side[i], lo, hi) for i, lo, hi in met]
            for side, met in zip((self._u, self._v), parts, strict=True)
        ]
        if relation.tolerance is None:
            return sum(map(max, tops))
        tolerance = exact(relation.tolerance)
        best: Exact | None = None
        for m, n in _near(parts[0], parts[1], tolerance):
            if best is None or tops[0][m] + tops[1][n] > best:  # else these two parts cannot raise it
                found = self._together(parts[0][m], parts[1][n], tolerance)
                best = found if best is None else max(best, found)
        return best

    def _together(self, first: Part, second: Part, tolerance: Exact) -> Exact:
        """max of u + v over two parts that are at most the tolerance apart."""
        (i, lo, hi), (j, low, high) = first, second
        u, v = self._u[i], self._v[j]
        if len(u) <= 2 and len(v) <= 2:
            points = corners((lo, hi), (low, high), tolerance)
            return max(value_at(u, x) + value_at(v, other) for x, other in points)
        at_u = poly_maximum(u, max(lo, low - tolerance), min(hi, high + tolerance))
        return at_u + poly_maximum(v, max(low, lo - tolerance), min(high, hi + tolerance))


def _plus(u: Sequence[Exact], v: Sequence[Exact]) -> Poly:
    return trimmed(exact(a + b) for a, b in zip_longest(u, v, fillvalue=0))


def _near(first: list[Part], second: list[Part], tolerance: Exact) -> Iterator[tuple[int, int]]:
    """Which pairs of parts are at most the tolerance apart; parts come from left to right."""
    start = count = 0
    for m, (_, lo, hi) in enumerate(first):
        while start < len(second) and second[start][2] < lo - tolerance:
            start += 1
        for n in range(start, len(second)):
            if second[n][1] > hi + tolerance:
                break
            count += 1
            if count > MOST_PAIRS:
                raise LeafRefused(f"separable: more than {MOST_PAIRS} pairs of pieces")
            yield m, n


def poly_maximum(poly: Poly, lo: Exact, hi: Exact) -> Exact:
    """A number >= the polynomial on [lo, hi]: its maximum if it is linear, or more by at most 2^-60 of its size."""
    if len(poly) <= 2 or lo == hi:
        return max(value_at(poly, lo), value_at(poly, hi))
    unit = Fraction(size_on(poly, lo, hi)) / (1 << BITS)
    points = [int(-(-point // unit)) for point in _control_points(poly, lo, hi)]
    best = top = max(points[0], points[-1])
    waiting = [points]
    while waiting:
        points = waiting.pop()
        best = max(best, points[0], points[-1])
        if max(points) > best + ROOM:
            waiting.extend(_halves(points))
        else:
            top = max(top, *points)
    return exact(top * unit)


def _control_points(poly: Poly, lo: Exact, hi: Exact) -> list[Fraction]:
    n = len(poly) - 1
    return [
        sum(
            (
                Fraction(c * comb(j, r) * comb(n - j, i - r) * hi**r * lo ** (i - r)) / comb(n, i)
                for i, c in enumerate(poly)
                for r in range(i + 1)
            ),
            Fraction(0),
        )
        for j in range(n + 1)
    ]


def _halves(points: list[int]) -> tuple[list[int], list[int]]:
    """The control points of both halves of the interval, rounded up."""
    left, right = [points[0]], [points[-1]]
    while len(points) > 1:
        points = [a + b + 1 >> 1 for a, b in pairwise(points)]
        left.append(points[0])
        right.append(points[-1])
    return left, right[::-1]
