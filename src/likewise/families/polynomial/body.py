"""Polynomial body: sum_t coefficient_t * product of the columns of t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from likewise.families.family import Kept, Mapped
    from likewise.families.polynomial.score import PolynomialScore
    from likewise.model.embedding import Column
    from likewise.spec.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialSum:
    """A sum of products of columns, as indices in order, repeated for powers; no product occurs twice."""

    family: ClassVar[str] = "polynomial"

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

    def score(self, embedding: tuple[Column, ...], n_features: int) -> PolynomialScore:
        from likewise.families.polynomial.score import PolynomialScore

        return PolynomialScore(body=self, embedding=embedding)

    def rescaled(self, by: Mapped, kind: str) -> PolynomialSum:
        return self.mapped(by.slope, by.offset)

    def reads(self, feature: int) -> bool:
        return False

    def restricted(self, kept: Kept) -> PolynomialSum:
        return self

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> None:
        return None  # products of doubles have no common one of reasonable length
