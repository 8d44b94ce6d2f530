"""Columns in pieces of the body `affine` (section 2): functions of one number; between cuts, each piece is a polynomial c_0 + c_1 x + c_2 x^2 + ...

A number belongs to the piece of as many cuts as lie below it: at a cut, to the left one. Piece i, met by an interval [lo, hi], counts from max(lo, cut_i)
to min(hi, cut_(i+1)), both ends included; for whole numbers from the smallest above cut_i to the largest up to cut_(i+1).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise

from likewise_check.core.affine import Slopes
from likewise_check.core.body import Form
from likewise_check.core.cells import Box
from likewise_check.core.fields import Reader, Rejected, anything, array_of, record
from likewise_check.core.numbers import Exact, int_if_whole, number
from likewise_check.core.space import Relation
from likewise_check.packs.pieces.curves import Curves, Part
from likewise_check.packs.pieces.maximum import Poly, evaluate_polynomial, magnitude_on, trim_zeros

MOST_CUTS = 10_000
MOST_COEFFICIENTS = 6
# Of a curve in a description of how the program rounds (section 6).
LARGEST_CODE = 1 << 34
LARGEST_FACTOR = 1 << 100


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
        return evaluate_polynomial(self.polys[bisect_left(self.cuts, code)], code)

    def times(self, factor: Exact) -> "Pieces":
        """The same, multiplied by a factor other than 0."""
        polys = (tuple(int_if_whole(factor * c) for c in poly) for poly in self.polys)
        return Pieces(cuts=self.cuts, polys=tuple(polys), whole=self.whole)

    def refined(self, cuts: Sequence[Exact]) -> "Pieces":
        """The same function with these cuts, its own among them."""
        polys = [self.polys[0], *(self.polys[bisect_right(self.cuts, cut)] for cut in cuts)]
        return Pieces(cuts=tuple(cuts), polys=tuple(polys), whole=self.whole)

    def parts(self, lo: Exact, hi: Exact) -> Iterator[Part]:
        """The pieces that [lo, hi] meets, from left to right."""
        for i in range(bisect_left(self.cuts, lo), bisect_left(self.cuts, hi) + 1):
            start, end = lo, hi
            if i > 0:
                cut = self.cuts[i - 1]
                start = max(start, cut // 1 + 1 if self.whole else cut)
            if i < len(self.cuts):
                cut = self.cuts[i]
                end = min(end, cut // 1 if self.whole else cut)
            if start <= end:
                yield i, start, end

    def numbers(self) -> Iterator[Exact]:
        """All coefficients."""
        return chain.from_iterable(self.polys)

    def blend(self, alpha: Form, curves: Sequence["Pieces"]) -> "Pieces":
        """The sum of alpha_c times curve c, with the cuts of all of them."""
        cuts = sorted({cut for curve in curves for cut in curve.cuts})
        refined = [curve.refined(cuts) for curve in curves]
        polys = []
        for i in range(len(cuts) + 1):
            total: list[Exact] = [0] * MOST_COEFFICIENTS
            for c, factor in alpha:
                _add(total, factor, refined[c].polys[i])
            polys.append(trim_zeros(total))
        return Pieces(cuts=tuple(cuts), polys=tuple(polys), whole=self.whole)

    def beside(
        self, other: "Pieces", relation: Relation, first: Slopes, second: Slopes
    ) -> Callable[[Box], Exact | None]:
        """The maximum over a box of u(x) + v(x'), as section 4 has it."""
        curves = Curves(self, first, second, other)
        return lambda box: curves.maximum(box, relation)

    def add_up(self, columns: Sequence[tuple[Fraction, "Pieces"]], slope: Fraction) -> "Pieces":
        """The sum of weight * column(x) + slope * x."""
        return sum_columns(columns, slope, whole=self.whole)

    def tame(self, lo: Exact, hi: Exact) -> bool:
        """Whether powers and coefficients are not so large that what a program loses of small ones would count."""
        codes = all(-LARGEST_CODE < end < LARGEST_CODE for end in (lo, hi))
        return codes and all(-LARGEST_FACTOR < c < LARGEST_FACTOR for c in self.numbers())

    def extent(self, lo: Exact, hi: Exact) -> Exact:
        """The largest size of a piece on its part: nowhere is the value larger."""
        return max(magnitude_on(self.polys[i], start, end) for i, start, end in self.parts(lo, hi))


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
        cuts=tuple(map(int_if_whole, cuts)),
        polys=tuple(trim_zeros(map(int_if_whole, poly)) for poly in polys),
        whole=whole,
    )


def sum_columns(columns: Iterable[tuple[Fraction, Pieces]], slope: Fraction, *, whole: bool) -> Pieces:
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
    polys = [trim_zeros(current)]
    for cut in cuts:
        _add(current, Fraction(1), tuple(changes[cut]))
        polys.append(trim_zeros(current))
    return Pieces(cuts=tuple(cuts), polys=tuple(polys), whole=whole)


def _add(total: list[Exact], weight: Fraction, poly: Poly) -> None:
    for i, c in enumerate(poly):
        total[i] = int_if_whole(total[i] + weight * c)
