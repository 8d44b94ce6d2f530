"""Rounding of polynomials: as sums of powers of inner values, or of products of columns (the bounds: `program_rounding`)."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from likewise.families.program_rounding import (
    DOUBLE_BITS,
    EXTRA_ROUNDINGS,
    SINGLE_BITS,
    ErrorBound,
    UnstatedRounding,
    in_single_roundings,
    round_outward,
    rounding_growth,
)
from likewise.model.embedding import embed_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, ComputedColumn
    from likewise.families.scored_model import Model
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SumRounding(UnstatedRounding, ABC):
    """How the original program adds up a bias and multiples of some numbers. Good for comparing two programs only, like the rounding of sums of Gaussians."""

    coefficients: NDArray[np.float64]
    bias: float
    bits: int = 53  # of the program; with fewer its error is good for comparing only

    @abstractmethod
    def error(self, columns: Sequence[float]) -> float:
        """About how far two programs may be apart at a row, by first-order rounding analysis, with room."""

    def errors(self, model: Model, codes: Floats) -> list[Fraction]:
        off = [self.error(row.tolist()) for row in embed_rows(model.embedding, codes)]
        return [Fraction(min(value, sys.float_info.max)) for value in off]

    def of_single_columns(
        self,
        model: Model,
        space: Space,
        columns: Sequence[ComputedColumn],
        *,
        described: bool,
    ) -> Self:
        return replace(self, bits=SINGLE_BITS).of_columns(in_single_roundings(columns), described=False)

    def rescaled(self, by: AffineMap) -> Self:
        return replace(
            self,
            coefficients=float(by.slope) * self.coefficients,
            bias=abs(float(by.slope) * self.bias) + float(by.size),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PolynomialRounding(SumRounding):
    """How the original program computes b + sum_t a_t (gamma <s_t, x> + coef0)^degree. The
    coefficients are a_t; there may be a coef0 a t."""

    slopes: NDArray[np.float64]  # gamma s_t
    coef0: float | NDArray[np.float64]
    degree: int
    inner_roundings: int = (
        0  # of columns that are mixed before: then slopes and coef0 are those of all products
    )

    def error(self, columns: Sequence[float]) -> float:
        """About how far two programs may be apart at a row, by first-order rounding analysis, with room.

        With B_t = |coef0| + sum_c |gamma s_tc x_c| the inner value is off by (width + 3) roundings of B_t at
        most, its power by degree times as many of B_t^degree and the power's own, and then the sum is taken.
        Where the columns are computed, they move the inner value by gamma |s_tc| times their own errors.
        """
        inner = np.abs(self.slopes) @ np.abs(columns) + np.abs(self.coef0)
        roundings = self.degree * (len(columns) + self.inner_roundings + 4) + len(self.coefficients) + 2
        total = roundings * (float(np.abs(self.coefficients) @ inner**self.degree) + abs(self.bias))
        if self.columns and self.degree:
            errors = [k * (abs(c) + slack) for c, (k, slack) in zip(columns, self.columns, strict=True)]
            moved = np.abs(self.slopes) @ np.array(errors)
            total += float(np.abs(self.coefficients) @ (self.degree * inner ** (self.degree - 1) * moved))
        return 8 * 2.0 ** (1 - self.bits) * total

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        if not self.described or self.bits != DOUBLE_BITS:
            return None
        roundings, reach = self.reach(model, space)
        inner = np.abs(self.slopes) @ reach + np.abs(self.coef0)
        size = float(np.abs(self.coefficients) @ inner**self.degree) + abs(self.bias)
        count = (
            self.degree * (len(reach) + self.inner_roundings + roundings + EXTRA_ROUNDINGS)
            + len(self.coefficients)
            + EXTRA_ROUNDINGS
        )
        return round_outward(rounding_growth(count) * size, size)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProductRounding(SumRounding):
    """How the original program computes b + sum_f w_f product_f of its columns. The coefficients are w_f."""

    products: tuple[tuple[int, ...], ...]
    after: int = 0  # roundings of what mixes columns before, scales products and adds them up

    def error(self, columns: Sequence[float]) -> float:
        """About how far two programs may be apart at a row, by first-order rounding analysis, with room: a product of
        d columns is off by at most the sum of their relative errors and d roundings, then the sum is taken."""
        sizes = [abs(c) + slack for c, (_, slack) in zip(columns, self.columns, strict=False)] or [
            *map(abs, columns)
        ]
        roundings = max((k for k, _ in self.columns), default=0)
        total = abs(self.bias)
        for weight, product in zip(np.abs(self.coefficients).tolist(), self.products, strict=True):
            total += weight * math.prod(sizes[c] for c in product)
        degree = max(map(len, self.products), default=0)
        count = len(self.products) + degree * (roundings + 2) + self.after + 8
        return 8 * 2.0 ** (1 - self.bits) * count * total

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        if not self.described or self.bits != DOUBLE_BITS:
            return None
        roundings, reach = self.reach(model, space)
        size = abs(self.bias)
        for weight, product in zip(np.abs(self.coefficients).tolist(), self.products, strict=True):
            size += weight * math.prod(reach[c] for c in product)
        degree = max(map(len, self.products), default=0)
        count = degree * (roundings + EXTRA_ROUNDINGS) + self.after + 2 * len(self.products) + EXTRA_ROUNDINGS
        return round_outward(rounding_growth(count) * size, size)


def polynomial_rounding(rounding: object) -> PolynomialRounding | None:
    """The rounding, if it is that of powers of sums of columns."""
    return rounding if isinstance(rounding, PolynomialRounding) else None
