"""Functions of one number in pieces: between cuts, each piece is a polynomial c_0 + c_1 x + c_2 x^2 + ...

A number belongs to the piece of as many cuts as lie below it: at a cut, to the left one. All in exact rationals;
`values` is the float64 evaluation of many codes, around the middle of each piece so that little cancels.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, zip_longest
from math import comb
from typing import TYPE_CHECKING, Any

from likewise.spec.numbers import double_below

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Polynomial = tuple[Fraction, ...]  # c_0, c_1, ...: the last one is not 0
PieceRange = tuple[int, Fraction, Fraction]  # a piece, and from where to where it counts
MOST_CUTS = 10_000  # in a column of a certificate
MOST_COEFFICIENTS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class PiecewisePolynomial:
    """The cuts, strictly increasing, and one polynomial more."""

    cuts: tuple[Fraction, ...]
    polynomials: tuple[Polynomial, ...]
    _floats: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def exact(self, code: Fraction) -> Fraction:
        return evaluate_polynomial(self.polynomials[bisect_left(self.cuts, code)], code)

    @property
    def constant(self) -> bool:
        """Whether the value is the same everywhere: exact."""
        return len(set(self.polynomials)) == 1 and len(self.polynomials[0]) <= 1

    def parts(self, lo: Fraction, hi: Fraction, *, whole: bool) -> list[PieceRange]:
        """The pieces that [lo, hi] meets, each from the cut before it to the cut after it, ends included; for
        whole numbers from the smallest above the one to the largest up to the other, if there are any."""
        first, last = bisect_left(self.cuts, lo), bisect_left(self.cuts, hi)
        found, start = [], lo
        for i in range(first, last + 1):
            end = hi if i == last else self.cuts[i]
            end = Fraction(math.floor(end)) if whole else end
            if start <= end:
                found.append((i, start, end))
            start = end + 1 if whole else end
        return found

    def extent(self, lo: Fraction, hi: Fraction, *, whole: bool) -> Fraction:
        """The largest sum of |c_i x^i| that a piece can have on its part."""
        parts = self.parts(lo, hi, whole=whole)
        return max(magnitude_on(self.polynomials[i], start, end) for i, start, end in parts)

    def denominator(self, *, whole: bool) -> int:
        """D such that the value at every code, a whole number or a double, is a multiple of 1 / D."""
        unit = 1 if whole else 2**1074  # doubles are multiples of 1/2^1074
        terms = ((c, i) for p in self.polynomials for i, c in enumerate(p) if c)
        return math.lcm(1, *(c.denominator * unit**i for c, i in terms))

    def moved(self, factor: Fraction, slope: Fraction) -> PiecewisePolynomial:
        """factor times this, plus slope * x, with the same cuts."""
        polynomials = (
            add_polynomials([factor * c for c in p], (Fraction(0), slope)) for p in self.polynomials
        )
        return PiecewisePolynomial(cuts=self.cuts, polynomials=tuple(polynomials))

    def cut_at(self, more: Iterable[Fraction]) -> PiecewisePolynomial:
        """The same function with more cuts."""
        cuts = sorted({*self.cuts, *more})
        places = [bisect_left(self.cuts, cut) for cut in cuts]
        return PiecewisePolynomial(
            cuts=tuple(cuts), polynomials=tuple(self.polynomials[i] for i in (*places, len(self.cuts)))
        )

    def values(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of many codes in float64, for proposing; never for deciding."""
        ends, *_ = self.floats()
        return self.piece_values(ends.searchsorted(codes, side="left"), codes)

    def piece_values(self, piece: NDArray[np.intp], codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same, of pieces that are given."""
        _, centres, coefficients = self.floats()
        off = codes - centres[piece]
        total: NDArray[np.float64] = coefficients[-1][piece].copy()
        for column in coefficients[-2::-1]:
            total = total * off + column[piece]
        return total

    def floats(self) -> tuple[Any, Any, Any]:
        """The last double of each piece but the last; middles of pieces, and coefficients around them, by degree."""
        if not self._floats:
            self._floats.extend(_float_tables(self))
        ends, centres, coefficients = self._floats
        return ends, centres, coefficients


def make_piecewise(
    cuts: Iterable[Fraction], polynomials: Iterable[Sequence[Fraction]]
) -> PiecewisePolynomial:
    """The function, without cuts at which nothing changes."""
    first, *rest = (trim_zeros(p) for p in polynomials)
    kept: list[Fraction] = []
    found = [first]
    for cut, polynomial in zip(cuts, rest, strict=True):
        if polynomial != found[-1]:
            kept.append(cut)
            found.append(polynomial)
    return PiecewisePolynomial(cuts=tuple(kept), polynomials=tuple(found))


def sum_pieces(parts: Iterable[tuple[Fraction, PiecewisePolynomial]], slope: Fraction) -> PiecewisePolynomial:
    """slope * x plus the sum of weight * pieces, with the cuts of all of them at which it changes."""
    current: Polynomial = (Fraction(0), slope)
    changes: dict[Fraction, Polynomial] = {}
    for weight, pieces in parts:
        current = add_polynomials(current, [weight * c for c in pieces.polynomials[0]])
        for cut, (left, right) in zip(pieces.cuts, pairwise(pieces.polynomials), strict=True):
            step = add_polynomials([weight * c for c in right], [-weight * c for c in left])
            changes[cut] = add_polynomials(changes.get(cut, ()), step)
    cuts = sorted(changes)
    polynomials = [current]
    for cut in cuts:
        polynomials.append(add_polynomials(polynomials[-1], changes[cut]))
    return make_piecewise(cuts, polynomials)


def evaluate_polynomial(polynomial: Sequence[Fraction], x: Fraction) -> Fraction:
    """c_0 + c_1 x + c_2 x^2 + ..."""
    total = Fraction(0)
    for c in reversed(polynomial):
        total = total * x + c
    return total


def magnitude_on(polynomial: Polynomial, lo: Fraction, hi: Fraction) -> Fraction:
    """|c_0| + |c_1| m + |c_2| m^2 + ..., m the larger one of |lo| and |hi|."""
    return evaluate_polynomial([abs(c) for c in polynomial], max(abs(lo), abs(hi)))


def add_polynomials(first: Sequence[Fraction], second: Sequence[Fraction]) -> Polynomial:
    """The sum of two polynomials."""
    return trim_zeros(a + b for a, b in zip_longest(first, second, fillvalue=Fraction(0)))


def multiply_polynomials(first: Sequence[Fraction], second: Sequence[Fraction]) -> Polynomial:
    """The product of two polynomials."""
    found = [Fraction(0)] * max(len(first) + len(second) - 1, 0)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            found[i + j] += a * b
    return trim_zeros(found)


def trim_zeros(polynomial: Iterable[Fraction]) -> Polynomial:
    """The same polynomial without coefficients that are 0 at its end."""
    coefficients = list(polynomial)
    while coefficients and coefficients[-1] == 0:
        coefficients.pop()
    return tuple(coefficients)


def compose_affine(polynomial: Sequence[Fraction], offset: Fraction, slope: Fraction) -> Polynomial:
    """The polynomial of offset + slope * x, as one of x."""
    found = [Fraction(0)] * len(polynomial)
    for i, c in enumerate(polynomial):
        for j in range(i + 1):
            found[j] += c * comb(i, j) * offset ** (i - j) * slope**j
    return trim_zeros(found)


def _float_tables(pieces: PiecewisePolynomial) -> tuple[Any, Any, Any]:
    import numpy as np

    cuts = pieces.cuts
    ends = np.array([double_below(cut) for cut in cuts], dtype=np.float64)
    middles = [(a + b) / 2 for a, b in pairwise(cuts)]
    exact = [cuts[0], *middles, cuts[-1]] if cuts else [Fraction(0)]
    centres = [Fraction(float(c)) for c in exact]
    count = max(1, *map(len, pieces.polynomials))
    coefficients = np.zeros((count, len(centres)))
    for i, (polynomial, centre) in enumerate(zip(pieces.polynomials, centres, strict=True)):
        around = compose_affine(polynomial, centre, Fraction(1))
        coefficients[: len(around), i] = [_nearest_double(c) for c in around]
    return ends, np.array([float(c) for c in centres]), coefficients


def _nearest_double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
