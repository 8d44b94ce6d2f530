"""Dyadic arrays: whole numbers over one power of two, which is what stored weights are, exactly, and what products and sums of them are again."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb_mat, fmpz_mat

from likewise.clock import check_clock
from likewise.errors import InternalError
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Wholes = NDArray[np.object_]  # of Python's ints

MANTISSA = 53  # bits of a double
MANY_PRODUCTS = 10_000  # from so many on, flint multiplies matrices sooner than NumPy


@dataclass(frozen=True, kw_only=True, eq=False)
class Dyadic:
    """numerators / 2**exponent, a vector or a matrix; exponent >= 0."""

    numerators: Wholes
    exponent: int

    @staticmethod
    def of(values: Any) -> Dyadic:
        """Finite floats of single or double precision, exactly."""
        floats = np.asarray(values, dtype=np.float64)
        if not np.isfinite(floats).all():
            raise InternalError("a weight that is no finite number was to be taken exactly")
        mantissas, exponents = np.frexp(floats)
        whole = np.ldexp(mantissas, MANTISSA).astype(np.int64)
        odd = np.maximum(whole & -whole, 1)  # the lowest bit of each, which the power of two takes
        whole //= odd
        shifts = exponents.astype(np.int64) - MANTISSA + np.log2(odd).astype(np.int64)
        lowest = int(shifts[whole != 0].min(initial=0))
        moved = [n << (shift - lowest) if n else 0 for n, shift in _both(whole, shifts)]
        return Dyadic(numerators=_wholes(moved, whole.shape), exponent=-lowest)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numerators.shape

    @cached_property
    def floats(self) -> Floats:
        """The nearest doubles."""
        return quotients(self.numerators, 1 << self.exponent)

    @cached_property
    def transposed(self) -> fmpz_mat:
        """The numerators of a matrix as one of flint's, transposed: rows of inputs are multiplied with it."""
        rows, columns = self.shape
        return fmpz_mat(columns, rows, self.numerators.T.ravel().tolist())

    @cached_property
    def balls(self) -> arb_mat:
        """The numerators of a matrix as balls, which hold them exactly."""
        return arb_mat(_flint(self))

    @property
    def longest(self) -> int:
        """The bits of the longest numerator."""
        return max((n.bit_length() for n in self.numerators.ravel().tolist()), default=0)

    @property
    def fractions(self) -> list[Fraction]:
        """The entries of a vector."""
        unit = 1 << self.exponent
        return [Fraction(n, unit) for n in self.numerators.tolist()]

    def texts(self) -> list[str]:
        """The entries of a vector, as certificates write numbers."""
        return [_text(n, self.exponent) for n in self.numerators.tolist()]

    def times(self, other: Dyadic) -> Dyadic:
        """The product of a matrix with another one, or with a vector."""
        check_clock()
        if len(other.shape) == 1 or self.numerators.size * other.shape[1] < MANY_PRODUCTS:
            product = np.asarray(self.numerators.dot(other.numerators), dtype=object)
        else:
            product = _wholes(
                list(map(int, (_flint(self) * _flint(other)).entries())), (self.shape[0], other.shape[1])
            )
        return Dyadic(numerators=product, exponent=self.exponent + other.exponent)

    def plus(self, other: Dyadic) -> Dyadic:
        """The sum of two of the same shape."""
        exponent = max(self.exponent, other.exponent)
        return Dyadic(numerators=self.over(exponent) + other.over(exponent), exponent=exponent)

    def over(self, exponent: int) -> Wholes:
        """The numerators over a larger power of two."""
        moved: Wholes = self.numerators * (1 << (exponent - self.exponent))
        return moved

    def sizes(self) -> Dyadic:
        """The absolute values."""
        return Dyadic(numerators=np.abs(self.numerators), exponent=self.exponent)

    def equals(self, other: Dyadic) -> bool:
        """Whether all entries are the same."""
        if self is other:
            return True
        exponent = max(self.exponent, other.exponent)
        return self.shape == other.shape and bool((self.over(exponent) == other.over(exponent)).all())


def quotients(numerators: Wholes, denominator: int) -> Floats:
    """The doubles nearest to whole numbers over one."""
    flat = numerators.ravel().tolist()
    try:
        found = [n / denominator for n in flat]  # correctly rounded
    except OverflowError:
        found = [nearest_double(Fraction(n, denominator)) for n in flat]
    return np.array(found, dtype=np.float64).reshape(numerators.shape)


def joined(parts: Sequence[Dyadic]) -> Dyadic:
    """Vectors one after the other, or matrices of one width one below the other."""
    exponent = max(part.exponent for part in parts)
    return Dyadic(numerators=np.concatenate([part.over(exponent) for part in parts]), exponent=exponent)


def block_diagonal(parts: Sequence[Dyadic]) -> Dyadic:
    """Matrices corner to corner, with zeros beside them."""
    exponent = max(part.exponent for part in parts)
    total = np.zeros(np.sum([part.shape for part in parts], axis=0), dtype=object)
    row = column = 0
    for part in parts:
        rows, columns = part.shape
        total[row : row + rows, column : column + columns] = part.over(exponent)
        row, column = row + rows, column + columns
    return Dyadic(numerators=total, exponent=exponent)


def spread(matrix: Dyadic, places: Sequence[int], width: int) -> Dyadic:
    """A matrix over `width` columns, its own at their places; those at one place are added up."""
    total = np.zeros((matrix.shape[0], width), dtype=object)
    for own, place in enumerate(places):
        total[:, place] += matrix.numerators[:, own]
    return Dyadic(numerators=total, exponent=matrix.exponent)


def _both(whole: NDArray[np.int64], shifts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    return zip(whole.ravel().tolist(), shifts.ravel().tolist(), strict=True)


def _wholes(numbers: list[int], shape: tuple[int, ...]) -> Wholes:
    """An array of ints of any length."""
    found = np.empty(len(numbers), dtype=object)
    found[:] = numbers
    return found.reshape(shape)


def _flint(matrix: Dyadic) -> fmpz_mat:
    """The numerators of a matrix."""
    rows, columns = matrix.shape
    return fmpz_mat(rows, columns, matrix.numerators.ravel().tolist())


def _text(n: int, exponent: int) -> str:
    """n / 2**exponent in lowest terms: a whole number in decimal, any other in hexadecimal."""
    shift = min((n & -n).bit_length() - 1, exponent) if n else exponent
    n, exponent = n >> shift, exponent - shift
    return f"{'-' if n < 0 else ''}0x{abs(n):x}p-{exponent}" if exponent else str(n)
