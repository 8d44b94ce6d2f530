"""Rounding of polynomials: as sums of powers of inner values, or of products of columns (the bounds: `program_rounding`)."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.families.program_rounding import (
    ROOM,
    Bound,
    double_above,
    growth,
    outward,
    reach_of,
    slacks_of,
)
from likewise.model.embedding import embedded, extents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import ComputedColumn, Mapped
    from likewise.families.scored import Model
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PolynomialRounding:
    """How the original program computes b + sum_t a_t (gamma <s_t, x> + coef0)^degree. Good for comparing two
    programs only, like the rounding of sums of Gaussians."""

    coefficients: NDArray[np.float64]  # a_t
    slopes: NDArray[np.float64]  # gamma s_t
    coef0: float
    bias: float
    degree: int
    columns: tuple[
        tuple[int, float], ...
    ] = ()  # (k, slack) of each that the program computes: off by about k u (|column| + slack)
    described: bool = True

    def error(self, columns: Sequence[float]) -> float:
        """About how far two programs may be apart at a row, by first-order rounding analysis, with room.

        With B_t = |coef0| + sum_c |gamma s_tc x_c| the inner value is off by (width + 3) roundings of B_t at
        most, its power by degree times as many of B_t^degree and the power's own, and then the sum is taken.
        Where the columns are computed, they move the inner value by gamma |s_tc| times their own errors.
        """
        inner = np.abs(self.slopes) @ np.abs(columns) + abs(self.coef0)
        roundings = self.degree * (len(columns) + 4) + len(self.coefficients) + 2
        total = roundings * (float(np.abs(self.coefficients) @ inner**self.degree) + abs(self.bias))
        if self.columns and self.degree:
            errors = [k * (abs(c) + slack) for c, (k, slack) in zip(columns, self.columns, strict=True)]
            moved = np.abs(self.slopes) @ np.array(errors)
            total += float(np.abs(self.coefficients) @ (self.degree * inner ** (self.degree - 1) * moved))
        return 8 * float(np.finfo(np.float64).eps) * total

    def errors(self, model: Model, codes: Floats) -> list[Fraction]:
        off = [self.error(row.tolist()) for row in embedded(model.embedding, codes)]
        return [Fraction(min(value, sys.float_info.max)) for value in off]

    def bound(self, model: Model, space: Space) -> Bound | None:
        if not self.described:
            return None
        largest = np.array([double_above(value) for value in extents(model.embedding, space)])
        roundings, reach = reach_of(self.columns, largest)
        inner = np.abs(self.slopes) @ reach + abs(self.coef0)
        size = float(np.abs(self.coefficients) @ inner**self.degree) + abs(self.bias)
        count = self.degree * (len(largest) + roundings + ROOM) + len(self.coefficients) + ROOM
        return outward(growth(count) * size, size)

    def certified(self, model: Model, space: Space) -> None:
        return None

    def line(self) -> dict[str, Any] | None:
        return None

    def rescaled(self, by: Mapped) -> PolynomialRounding:
        return replace(
            self,
            coefficients=float(by.slope) * self.coefficients,
            bias=abs(float(by.slope) * self.bias) + float(by.size),
        )

    def undescribed(self) -> PolynomialRounding:
        return self  # nothing is stated of it anyway

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> PolynomialRounding:
        return replace(self, columns=slacks_of(columns), described=described)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProductRounding:
    """How the original program computes b + sum_f w_f product_f of its columns. Good for comparing two programs
    only, like the rounding of sums of Gaussians."""

    coefficients: NDArray[np.float64]  # w_f
    products: tuple[tuple[int, ...], ...]
    bias: float
    columns: tuple[
        tuple[int, float], ...
    ] = ()  # (k, slack) of each that the program computes: off by about k u (|column| + slack)
    after: int = 0  # roundings of what scales the products
    described: bool = True

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
        return (
            8 * float(np.finfo(np.float64).eps) * (len(self.products) + degree * (roundings + 2) + 8) * total
        )

    def errors(self, model: Model, codes: Floats) -> list[Fraction]:
        off = [self.error(row.tolist()) for row in embedded(model.embedding, codes)]
        return [Fraction(min(value, sys.float_info.max)) for value in off]

    def bound(self, model: Model, space: Space) -> Bound | None:
        if not self.described:
            return None
        largest = np.array([double_above(value) for value in extents(model.embedding, space)])
        roundings, reach = reach_of(self.columns, largest)
        size = abs(self.bias)
        for weight, product in zip(np.abs(self.coefficients).tolist(), self.products, strict=True):
            size += weight * math.prod(reach[c] for c in product)
        degree = max(map(len, self.products), default=0)
        count = degree * (roundings + ROOM) + self.after + 2 * len(self.products) + ROOM
        return outward(growth(count) * size, size)

    def certified(self, model: Model, space: Space) -> None:
        return None

    def line(self) -> dict[str, Any] | None:
        return None

    def rescaled(self, by: Mapped) -> ProductRounding:
        return replace(
            self,
            coefficients=float(by.slope) * self.coefficients,
            bias=abs(float(by.slope) * self.bias) + float(by.size),
        )

    def undescribed(self) -> ProductRounding:
        return self  # nothing is stated of it anyway

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> ProductRounding:
        return replace(self, columns=slacks_of(columns), described=described)
