"""Functions of one number in pieces (section 2): between cuts, each piece is a polynomial c_0 + c_1 x + c_2 x^2 + ...

A number belongs to the piece of as many cuts as lie below it: at a cut, to the left one. Piece i, met by an interval [lo, hi], counts from max(lo, cut_i)
to min(hi, cut_(i+1)), both ends included; for whole numbers from the smallest above cut_i to the largest up to cut_(i+1).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from likewise_check.core.fields import Reader, Rejected, anything, array_of, record
from likewise_check.core.numbers import Exact, exact, number

MOST_CUTS = 10_000
MOST_COEFFICIENTS = 6

Poly: TypeAlias = tuple[Exact, ...]  # c_0, c_1, ...: the last one is not 0
Part: TypeAlias = tuple[int, Exact, Exact]  # a piece, and from where to where it counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """The cuts, strictly increasing, and one piece more; of whole numbers only, or of all."""

    cuts: tuple[Exact, ...]
    polys: tuple[Poly, ...]
    whole: bool

    @property
    def steady(self) -> bool:
        """Whether the value is the same everywhere."""
        return len(set(self.polys)) == 1 and len(self.polys[0]) <= 1

    def at(self, code: Exact) -> Exact:
        """The value at a code."""
        return value_at(self.polys[bisect_left(self.cuts, code)], code)

    def times(self, factor: Exact) -> "Pieces":
        """The same, multiplied by a factor other than 0."""
        polys = (tuple(exact(factor * c) for c in poly) for poly in self.polys)
        return Pieces(cuts=self.cuts, polys=tuple(polys), whole=self.whole)

    def refined(self, cuts: Sequence[Exact]) -> "Pieces":
        """The same function with these cuts, its own among them."""
        polys = [self.polys[0], *(self.polys[bisect_right(self.cuts, cut)] for cut in cuts)]
        return Pieces(cuts=tuple(cuts), polys=tuple(polys), whole=self.whole)

    def parts(self, lo: Exact, hi: Exact) -> Iterator[Part]:
        """The pieces that [lo, hi] meets, from left to right."""
        first, last = bisect_left(self.cuts, lo), bisect_left(self.cuts, hi)
        start = lo
        for i in range(first, last + 1):
            end = hi if i == last else self.cuts[i]
            if self.whole:
                end = int(end // 1)
            if start <= end:
                yield i, start, end
            start = end + 1 if self.whole else end

    def extent(self, lo: Exact, hi: Exact) -> Exact:
        """The largest size of a piece on its part: nowhere is the value larger."""
        return max(size_on(self.polys[i], start, end) for i, start, end in self.parts(lo, hi))


def value_at(poly: Poly, x: Exact) -> Exact:
    """c_0 + c_1 x + c_2 x^2 + ..."""
    total: Exact = 0
    for c in reversed(poly):
        total = total * x + c
    return total


def size_on(poly: Poly, lo: Exact, hi: Exact) -> Exact:
    """|c_0| + |c_1| m + |c_2| m^2 + ..., m the larger one of |lo| and |hi|."""
    return value_at(tuple(max(c, -c) for c in poly), max(hi, -lo))


def trimmed(poly: Iterable[Exact]) -> Poly:
    """The same polynomial without coefficients that are 0 at its end."""
    coefficients = list(poly)
    while coefficients and coefficients[-1] == 0:
        coefficients.pop()
    return tuple(coefficients)


def read_pieces(column: object, what: str, coefficient: Reader, *, whole: bool) -> tuple[Fraction, Pieces]:
    """The weight and the function of a column in pieces."""
    _, weight, cuts, polys = record(
        column,
        what,
        feature=anything,
        weight=coefficient,
        cuts=array_of(number),
        pieces=array_of(array_of(number)),
    )
    if len(cuts) > MOST_CUTS or any(late <= early for early, late in pairwise(cuts)):
        raise Rejected(f"{what} must have at most {MOST_CUTS} cuts, strictly increasing")
    if len(polys) != len(cuts) + 1 or not all(1 <= len(poly) <= MOST_COEFFICIENTS for poly in polys):
        raise Rejected(f"{what} must have one piece more than cuts, of 1 to {MOST_COEFFICIENTS} coefficients")
    return weight, Pieces(
        cuts=tuple(map(exact, cuts)), polys=tuple(trimmed(map(exact, poly)) for poly in polys), whole=whole
    )


def summed(columns: Iterable[tuple[Fraction, Pieces]], slope: Fraction, *, whole: bool) -> Pieces:
    """slope * x + the sum of weight * column(x), with the cuts of all columns at which it changes."""
    current: list[Exact] = [0, slope, *[0] * (MOST_COEFFICIENTS - 2)]
    changes: dict[Exact, list[Exact]] = {}
    for weight, pieces in columns:
        _add(current, weight, pieces.polys[0])
        for cut, (left, right) in zip(pieces.cuts, pairwise(pieces.polys), strict=True):
            change = changes.setdefault(cut, [0] * MOST_COEFFICIENTS)
            _add(change, weight, right)
            _add(change, -weight, left)
    cuts = [cut for cut in sorted(changes) if any(changes[cut])]
    polys = [trimmed(current)]
    for cut in cuts:
        _add(current, Fraction(1), tuple(changes[cut]))
        polys.append(trimmed(current))
    return Pieces(cuts=tuple(cuts), polys=tuple(polys), whole=whole)


def _add(total: list[Exact], weight: Fraction, poly: Poly) -> None:
    for i, c in enumerate(poly):
        total[i] = exact(total[i] + weight * c)
