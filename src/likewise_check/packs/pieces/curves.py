"""Maxima of one feature whose columns are in pieces (section 4): u_k(x) + v_k(x'), both polynomials on each piece.

`same`: u + v on each piece met. `free`: u and v by themselves. `within` t: over the pairs of pieces at most t apart; where both are linear, the maximum over the polygon
(`linear_apart`), and else the maximum of u plus that of v, each on its part cut off at distance t from the other: that is never less, as x within t of x' lies there. `between` in the same way.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

from likewise_check.core.bound import sum_maxima
from likewise_check.core.cells import Box, Interval, LeafRefused
from likewise_check.core.maxima import linear_apart
from likewise_check.core.numbers import Exact, int_if_whole
from likewise_check.core.space import Relation
from likewise_check.packs.pieces.maximum import Poly, evaluate_polynomial, poly_maximum, trim_zeros

if TYPE_CHECKING:
    from likewise_check.core.affine import Slopes
    from likewise_check.packs.pieces.columns import Pieces

MOST_PAIRS = 1 << 20

Part: TypeAlias = tuple[int, Exact, Exact]  # a piece, and from where to where it counts


class Curves:
    """u and v of one feature, each factor * pieces + slope * x; v may have other pieces, with the same cuts."""

    def __init__(
        self, pieces: "Pieces", first: "Slopes", second: "Slopes", others: "Pieces | None" = None
    ) -> None:
        self._pieces = pieces
        self._u, self._v = (
            [_add_polynomials([factor * c for c in poly], [0, slope]) for poly in own.polys]
            for own, (factor, slope) in ((pieces, first), (others or pieces, second))
        )

    def maximum(self, box: Box, relation: Relation) -> Exact | None:
        """max of u + v, or a little more; None if no codes satisfy the relation."""
        parts = [list(self._pieces.parts(*interval)) for interval in box.intervals]
        if relation.kind == "same":
            return max(
                poly_maximum(_add_polynomials(self._u[i], self._v[i]), lo, hi) for i, lo, hi in parts[0]
            )
        tops = [
            [poly_maximum(side[i], lo, hi) for i, lo, hi in met]
            for side, met in zip((self._u, self._v), parts, strict=True)
        ]
        apart = relation.apart
        if apart is None:
            return sum_maxima(0, map(max, tops))
        best: Exact | None = None
        for m, n in _near_parts(parts[0], parts[1], apart):
            if best is None or tops[0][m] + tops[1][n] > best:  # else these two parts cannot raise it
                found = self._together(parts[0][m], parts[1][n], apart)
                best = found if best is None or (found is not None and found > best) else best
        return best

    def _together(self, first: Part, second: Part, apart: Interval) -> Exact | None:
        """max of u + v over two parts, x' - x being in an interval that it can be in."""
        (i, lo, hi), (j, low, high) = first, second
        u, v = self._u[i], self._v[j]
        if len(u) <= 2 and len(v) <= 2:
            slopes = evaluate_polynomial(u[1:], 0), evaluate_polynomial(v[1:], 0)
            return sum_maxima(
                evaluate_polynomial(u, 0) + evaluate_polynomial(v, 0),
                [linear_apart(*slopes, (lo, hi), (low, high), apart)],
            )
        at_u = poly_maximum(u, max(lo, low - apart[1]), min(hi, high - apart[0]))
        return at_u + poly_maximum(v, max(low, lo + apart[0]), min(high, hi + apart[1]))


def _add_polynomials(u: Sequence[Exact], v: Sequence[Exact]) -> Poly:
    return trim_zeros(int_if_whole(a + b) for a, b in zip_longest(u, v, fillvalue=0))


def _near_parts(first: list[Part], second: list[Part], apart: Interval) -> Iterator[tuple[int, int]]:
    """Which pairs of parts may have x' - x in an interval; parts come from left to right, so both their starts and their ends rise."""
    starts, ends = [lo for _, lo, _ in second], [hi for _, _, hi in second]
    count = 0
    for m, (_, lo, hi) in enumerate(first):
        near = range(bisect_left(ends, lo + apart[0]), bisect_right(starts, hi + apart[1]))
        count += len(near)
        if count > MOST_PAIRS:
            raise LeafRefused(f"separable: more than {MOST_PAIRS} pairs of pieces")
        for n in near:
            yield m, n
