"""Body: encoded columns to a score. Each family of models is one frozen value with exact parameters.

Affine          bias + sum_c weight_c * column_c
RbfSum          bias + sum_t coefficient_t * exp(-gamma |columns - centre_t|^2)
PolynomialSum   sum_t coefficient_t * product of the columns of t
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """bias + sum of weight * column; the parameters are the stored doubles taken exactly."""

    weights: tuple[Fraction, ...]
    bias: Fraction

    def exact(self, columns: Sequence[Fraction]) -> Fraction:
        return self.bias + sum((w * c for w, c in zip(self.weights, columns, strict=True)), Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RbfSum:
    """A sum of Gaussians; the doubles of the arrays are the parameters, exactly."""

    gamma: float
    bias: float
    coefficients: NDArray[np.float64]  # (terms,)
    centres: NDArray[np.float64]  # (terms, columns)

    def negated(self) -> RbfSum:
        """The same sum with the opposite sign."""
        return RbfSum(
            gamma=self.gamma, bias=-self.bias, coefficients=-self.coefficients, centres=self.centres
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialSum:
    """A sum of products of columns, as indices in order, repeated for powers; no product occurs twice."""

    coefficients: tuple[Fraction, ...]
    products: tuple[tuple[int, ...], ...]
    numerators: tuple[int, ...] = field(init=False, repr=False)  # of the coefficients over one `denominator`
    denominator: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        common = math.lcm(*(c.denominator for c in self.coefficients))
        scaled = tuple(c.numerator * (common // c.denominator) for c in self.coefficients)
        object.__setattr__(self, "denominator", common)
        object.__setattr__(self, "numerators", scaled)

    @property
    def degree(self) -> int:
        return max(map(len, self.products))

    def exact(self, columns: Sequence[Fraction]) -> Fraction:
        """The value, in whole numbers over a common denominator: one division at the end."""
        common = math.lcm(*(c.denominator for c in columns))
        whole = [c.numerator * (common // c.denominator) for c in columns]
        degree = self.degree
        by_degree = [0] * (degree + 1)
        for value, product in zip(self.numerators, self.products, strict=True):
            for c in product:
                value *= whole[c]
            by_degree[len(product)] += value
        total = sum(part * common ** (degree - d) for d, part in enumerate(by_degree))
        return Fraction(total, self.denominator * common**degree)

    def negated(self) -> PolynomialSum:
        """The same sum with the opposite sign."""
        return PolynomialSum(coefficients=tuple(-c for c in self.coefficients), products=self.products)

    def mapped(self, slope: Fraction, offset: Fraction) -> PolynomialSum:
        """slope times the sum, plus offset."""
        terms = {
            product: slope * value for value, product in zip(self.coefficients, self.products, strict=True)
        }
        terms[()] = terms.get((), Fraction(0)) + offset
        kept = {product: value for product, value in terms.items() if value or not product}
        return PolynomialSum(coefficients=tuple(kept.values()), products=tuple(kept))
