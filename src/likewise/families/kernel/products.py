"""Products: scores of a kernel model on a grid of discrete features, by one matrix product.

A Gaussian is a product of one factor a feature, so that

    f(x) = bias + sum_t a_t prod_k F_k(x_k, t),      F_k(v, t) = exp(-gamma (feature k's part of the squared distance)).

Split the features into two groups: with the products of each group as rows (one a setting, one column a term), the
scores of all combinations are (left * a) @ right.T + bias. No exponential is taken but those in the tables F_k.

The tables are rounded from enclosures, so `error` is rigorous: what u = 2^-53 per rounding can do to the sum, in
whatever order a matrix product adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx, fmpq

from likewise.errors import InternalError
from likewise.spec.numbers import double_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.kernel.body import KernelScore
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

PRECISION_BITS = 128
FACTOR_BITS = (
    60  # bits to which a factor is known before it is made a double: within 3 roundings of 2^-53 after that
)
UNDERFLOW_LOSS = Fraction(1, 2**1000)  # what underflow, or a factor below this, may lose at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProductSum:
    """bias + sum over terms of coefficient times one factor a feature; `error` bounds the rounding of `scores`."""

    bias: float
    coefficients: Floats  # (terms,)
    factors: tuple[Floats, ...]  # a feature: (values, terms)
    error: float

    def rows(self, features: Sequence[int], places: Sequence[Places]) -> Floats:
        """Products of the factors of some features, one row a setting: places[i] are those of features[i]."""
        if not features:
            return np.ones((1, len(self.coefficients)))
        product: Floats = self.factors[features[0]][places[0]]
        for k, at in zip(features[1:], places[1:], strict=True):
            product *= self.factors[k][at]
        return product

    def scores(self, left: Floats, right: Floats) -> Floats:
        """All combinations of the rows of two groups: (left rows, right rows)."""
        total: Floats = (left * self.coefficients) @ right.T
        total += self.bias
        return total


def kernel_products(score: KernelScore, pairs: PairSpace) -> ProductSum:
    """The factors of a kernel model on a discrete space."""
    factors = []
    for k, v in enumerate(pairs.first):
        variable = pairs.variables[v]
        codes = [Fraction(variable.lo) + i for i in range(int(variable.hi - variable.lo) + 1)]
        factors.append(_feature_factors(score, k, codes))
    body = score.body
    return ProductSum(
        bias=body.bias,
        coefficients=body.coefficients,
        factors=tuple(factors),
        error=product_error(body.coefficients, body.bias, len(factors)),
    )


def product_error(coefficients: Floats, bias: float, features: int) -> float:
    """How far `ProductSum.scores` may be off: factors are at most 1, so sum |a_t| + |bias| is what gets rounded.

    A term passes 3 roundings a factor (its table), one a product, one for the coefficient; the sum as many as
    there are terms, the bias one.
    """
    operations = 4 * features + 2 + len(coefficients)
    size = sum((abs(Fraction(c)) for c in coefficients.tolist()), abs(Fraction(bias)))
    growth = (1 + Fraction(1, 2**53)) ** operations - 1
    return double_above(growth * size + operations * len(coefficients) * (1 + size) * UNDERFLOW_LOSS)


def _feature_factors(score: KernelScore, k: int, codes: list[Fraction]) -> Floats:
    """F_k: computed once for every distinct centre of the feature's columns."""
    owned = [c for c, column in enumerate(score.embedding) if column.feature == k]
    centres, where = np.unique(score.body.centres[:, owned], axis=0, return_inverse=True)
    table = np.empty((len(codes), len(centres)))
    with ctx.workprec(PRECISION_BITS):
        there = [[arb(value) for value in centre] for centre in centres.tolist()]
        for i, code in enumerate(codes):
            values = [score.embedding[c].exact(code) for c in owned]
            here = [arb(fmpq(value.numerator, value.denominator)) for value in values]
            for j, centre in enumerate(there):
                table[i, j] = _gaussian_factor(score.body.gamma, here, centre)
    return np.ascontiguousarray(table[:, where.ravel()])


def _gaussian_factor(gamma: float, here: list[arb], there: list[arb]) -> float:
    """exp(-gamma |here - there|^2) to within an ulp and the ball's own radius."""
    distance = sum(((a - b) ** 2 for a, b in zip(here, there, strict=True)), arb(0))
    factor = (-gamma * distance).exp()
    if factor.rel_accuracy_bits() < FACTOR_BITS and not factor < 2.0**-1000:
        raise InternalError(f"a kernel factor is not known closely enough: {factor}")
    return min(float(factor), 1.0)
