"""From the dual values of a semidefinite program to the content of a leaf: whole numbers, nothing to be trusted.

A block's dual value is a matrix Q; with its eigenvectors q_k and eigenvalues w_k the sum of squares is
sum_k (sqrt(w_k) q_k . monomials)^2. The polynomials sqrt(w_k) q_k are rounded to multiples of 2^-bits: what is rounded
are the squares themselves, so nobody has to show that a matrix is positive semidefinite. Negative eigenvalues
(there are, in an iterate that is not a solution) and negligible ones are left out.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.polynomial.sos.exact import Block, SquareCoefficients
from likewise.families.polynomial.sos.moments import Programme
from likewise.families.polynomial.sos.relaxations import Relaxation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Eigenvalues below this part of the largest of all blocks are dropped: they are the solver's noise.
NEGLIGIBLE = 1e-13
MOST_BITS = 200


def choose_bits(bits: int, size: int) -> int:
    """Binary places that leave so many bits to squares of polynomials with coefficients of about 4^size."""
    return min(max(bits - size, 0), MOST_BITS)


def round_blocks(relaxed: Relaxation, posed: Programme, z: Floats, size: int, bits: int) -> tuple[Block, ...]:
    """The content's blocks: dual values, times 4^size, in units of 2^-bits (squares) and 2^-(2 bits) (mu)."""
    unit = Fraction(4) ** (size + bits)
    mu = z[posed.forms : posed.forms + len(posed.scales)] / posed.scales
    blocks = [
        Block(generator=generator, mu=amount, squares=())
        for generator, value in zip(relaxed.multipliers, mu, strict=True)
        if (amount := round(Fraction(float(value)) * unit)) > 0
    ]
    spectra = []
    start = posed.linear
    for width in posed.sizes:
        length = width * (width + 1) // 2
        spectra.append(np.linalg.eigh(symmetric_matrix(z[start : start + length], width)))
        start += length
    least = NEGLIGIBLE * max((values.max() for values, _ in spectra), default=0.0)
    for (generator, _), (values, vectors) in zip(relaxed.blocks, spectra, strict=True):
        kept = values > least
        columns = vectors[:, kept] * np.sqrt(values[kept])
        squares = tuple(square for column in columns.T if (square := _round_column(column, size + bits)))
        if squares:
            blocks.append(Block(generator=generator, mu=0, squares=squares))
    return tuple(blocks)


def symmetric_matrix(triangle: Floats, size: int) -> Floats:
    """The matrix of an upper triangle by columns, what is off the diagonal times the root of 2."""
    matrix = np.zeros((size, size))
    column, row = np.tril_indices(size)
    matrix[row, column] = matrix[column, row] = np.where(row == column, triangle, triangle / sqrt(2.0))
    return matrix


def _round_column(column: Floats, bits: int) -> SquareCoefficients:
    """Coefficients in units of 2^-bits, without zeros at the end."""
    unit = Fraction(2) ** bits
    whole = [round(Fraction(value) * unit) for value in column.tolist()]
    while whole and not whole[-1]:
        whole.pop()
    return tuple(whole)


def round_way(theta: Floats, bits: int) -> Fraction | tuple[Fraction, ...]:
    """(1 + theta)/2 with abs(theta_0) + sum abs(theta_i) <= 1 exactly: a number, or an array for a linear theta.

    Theta is shrunk where it is too long, then rounded towards zero to multiples of 2^-bits.
    """
    length = float(np.abs(theta).sum())
    if len(theta) > 1 and length > 1.0:
        theta = theta / (length * (1.0 + 1e-12))
    theta = np.clip(theta, -1.0, 1.0)
    unit = 2**bits
    numbers = [Fraction(int(Fraction(float(value)) * unit), 2 * unit) for value in theta]
    lean = Fraction(1, 2) + numbers[0]
    return lean if len(theta) == 1 else (lean, *numbers[1:])
