"""Rounding of sums of weighted columns: section 6 of spec/certificate-v1.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.families.affine.body import affine_body
from likewise.families.program_rounding import (
    DOUBLE_BITS,
    LARGEST_SINGLE,
    OUTWARD_FACTOR,
    SINGLE_AS_DOUBLE,
    SINGLE_BITS,
    SINGLE_SLACK,
    ErrorBound,
    double_beyond,
)
from likewise.model.embedding import column_extents
from likewise.spec.features import Continuous, Integer
from likewise.spec.numbers import format_number, format_numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, ComputedColumn
    from likewise.families.scored_model import Model
    from likewise.model.embedding import Column
    from likewise.spec.space import Space

# Beyond any score: a sum of products of three doubles or their inverses.
BEYOND_ANY_SCORE = Fraction(2**4096)
# An operation whose result is denormal is off by at most this, which the sizes of columns may multiply; certificates have room for scales before them as well.
UNDERFLOW_ERROR, STATED_UNDERFLOW = Fraction(1, 2**1074), Fraction(1, 2**700)
LARGEST_NUMBER = 2**1000  # that a program's numbers may come to, with room for what it computes of them
LARGEST_CODE, LARGEST_FACTOR = 2**34, 2**100  # of polynomials in pieces
# Slack is rounded up to this grid, to keep certificates free of numbers with a thousand digits.
SLACK_GRID = 2**100
SINGLE_OPERATIONS = 8  # more of a program in single precision: it may round stored doubles first
MOST_COUNTED = 2**43  # roundings n, for which (1 + u)^n - 1 <= n u (1 + n u), where n u <= 2^-10
COUNTED_FACTOR = 1 + Fraction(1, 1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineRounding:
    """What bounds the rounding error of the original program's score, in whatever order it adds.

    A value computed by `operations` successive roundings of terms t is off by at most
    ((1 + u)^operations - 1) * sum |t|, u = 2^-53, and what is lost to underflow. `sizes` weigh the columns' absolute values in sum |t|:
    |weight| for a plain dot product, more where the program goes through support vectors. Where the program
    computes column c itself and has it with an error of at most ((1 + u)^k - 1) (|c| + slack), k operations more
    and size * slack in the constant cover that, as (1 + g_n) (1 + g_k) = 1 + g_(n+k) for g_n = (1 + u)^n - 1.

    A program whose rounding is not `described` (it goes through logarithms, say) is only compared with, as if
    it did no more than this; what a proof states of it covers no rounding at all. Its score is still `bounded` by this where only what
    it makes of the score (a probability that is compared) is not described; `crude` says that this is far beyond what happens.

    Of a program in single precision each of the operations is as many roundings as `unit` says (`program_rounding`), by which sizes and constant are multiplied already:
    n u F >= (1 + u)^(n + m) - 1 for F = (n + m) (1 + 2^-10) / n, so that n operations of sizes F times as large are n + m of the sizes themselves.
    """

    sizes: tuple[Fraction, ...]
    constant: Fraction
    operations: int
    described: bool = True
    bounded: bool = True
    crude: bool = False
    unit: int = 1

    @property
    def bits(self) -> int:
        """The precision that the program calculates in."""
        return DOUBLE_BITS if self.unit == 1 else SINGLE_BITS

    def in_single_precision(self) -> AffineRounding:
        """Of the same program, where it calculates in single precision all along."""
        lost = Fraction(SINGLE_SLACK) * (1 + sum(self.sizes))
        operations = self.operations + SINGLE_OPERATIONS
        longer = replace(self, constant=self.constant + lost, operations=operations)
        counted = longer.with_roundings(operations * SINGLE_AS_DOUBLE)
        return replace(counted, unit=math.ceil(counted.constant / longer.constant))

    def with_roundings(self, more: int) -> AffineRounding:
        """Of a program that rounds so many times more, to double precision: where that are many, its sizes grow instead of its operations."""
        if self.unit > 1:
            return replace(self, operations=self.operations - (-more // SINGLE_AS_DOUBLE))
        if more < SINGLE_AS_DOUBLE:
            return replace(self, operations=self.operations + more)
        operations = max(self.operations, 1)
        total = operations + more
        factor = math.ceil(COUNTED_FACTOR * Fraction(total, operations))
        known = total <= MOST_COUNTED
        return replace(
            self,
            sizes=tuple(factor * size for size in self.sizes),
            constant=factor * self.constant,
            operations=operations,
            described=self.described and known,
            bounded=self.bounded and known,
            crude=True,
        )

    def error(self, columns: Sequence[Fraction], lost: Fraction = UNDERFLOW_ERROR) -> Fraction:
        """The bound for columns whose absolute values are at most these."""
        size = self.constant + sum(
            (s * abs(c) for s, c in zip(self.sizes, columns, strict=True)), Fraction(0)
        )
        growth, loss = self._growth_and_loss(lost)
        return growth * size + loss

    def _growth_and_loss(self, lost: Fraction) -> tuple[Fraction, Fraction]:
        """What is rounded of each unit of size, and what is lost to underflow."""
        growth = (1 + Fraction(1, 2**53)) ** self.operations - 1
        return growth, self.operations * (1 + sum(self.sizes)) * lost

    def as_stated(self) -> AffineRounding:
        """What a certificate says: this, or an error that no clearance exceeds."""
        if self.described:
            return self
        return AffineRounding(sizes=(Fraction(0),) * len(self.sizes), constant=BEYOND_ANY_SCORE, operations=1)

    def errors(self, model: Model, codes: NDArray[np.float64]) -> list[Fraction]:
        """Sizes are added up in float64, with room; exactly where that is too small for them."""
        rows = [[Fraction(c) for c in row] for row in codes.tolist()]
        columns = [[c.exact(row[c.feature]) for c in model.embedding] for row in rows]
        growth, loss = self._growth_and_loss(UNDERFLOW_ERROR)
        found = []
        for row in columns:
            size = self._float_size(row)
            found.append(self.error(row) if math.isinf(size) else growth * Fraction(size) + loss)
        return found

    def _float_size(self, columns: Sequence[Fraction]) -> float:
        """At least what is rounded; infinite where it is beyond float64."""
        try:
            terms = (float(s) * abs(float(c)) for s, c in zip(self.sizes, columns, strict=True))
            return OUTWARD_FACTOR * (float(self.constant) + sum(terms))
        except OverflowError:
            return math.inf

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        if not self.bounded:
            return None
        largest = column_extents(model.embedding, space)
        sizes = zip(self.sizes, largest, strict=True)
        size = self.constant + sum((size * extent for size, extent in sizes), Fraction(0))
        return ErrorBound(double_beyond(self.error(largest)), double_beyond(size), self.crude)

    def certified_error(self, model: Model, space: Space) -> Fraction:
        stated, extents = self.as_stated(), column_extents(model.embedding, space)
        return (
            stated.error(extents, STATED_UNDERFLOW)
            if stated.fits(model, space, extents)
            else BEYOND_ANY_SCORE
        )

    def fits(self, model: Model, space: Space, extents: Sequence[Fraction]) -> bool:
        """Whether a checker takes this for a description of the model's program: of all weights, and without a number that is too large."""
        body = affine_body(model.body)
        if body is None or self.constant < abs(body.bias) or self.operations < len(self.sizes):
            return False
        if any(size < abs(weight) for size, weight in zip(self.sizes, body.weights, strict=True)):
            return False
        total = self.constant + sum((s * c for s, c in zip(self.sizes, extents, strict=True)), Fraction(0))
        numbers = [f for name in space.names if isinstance(f := space[name], (Continuous, Integer))]
        ends = [abs(Fraction(end)) for feature in numbers for end in (feature.lo, feature.hi)]
        if max([*extents, *ends, 2 * (self.operations + 1) * total]) >= LARGEST_NUMBER:
            return False
        return all(_is_tame(column, space) for column in model.embedding if column.pieces is not None)

    def line(self) -> dict[str, Any]:
        stated = self.as_stated()
        return {
            "sizes": format_numbers(stated.sizes),
            "constant": format_number(stated.constant),
            "operations": stated.operations,
        }

    def rescaled(self, by: AffineMap) -> AffineRounding:
        return replace(
            self,
            sizes=tuple(abs(by.slope) * size for size in self.sizes),
            constant=abs(by.slope) * self.constant + self.unit * by.size,
            operations=self.operations + (by.operations if self.unit == 1 else 4 * by.operations),
            described=self.described and self.unit == 1,  # numbers beyond single precision are not looked for
        )

    def undescribed(self) -> AffineRounding:
        return replace(self, described=False)

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> AffineRounding:
        slack = sum((size * one.slack for size, one in zip(self.sizes, columns, strict=True)), Fraction(0))
        whole = replace(
            self,
            constant=self.constant + Fraction(math.ceil(slack * SLACK_GRID), SLACK_GRID),
            described=self.described and described,
            bounded=self.bounded and described,
        )
        return whole.with_roundings(max(one.roundings for one in columns))

    def of_single_columns(
        self, model: Model, space: Space, columns: Sequence[ComputedColumn], *, described: bool
    ) -> AffineRounding:
        """All of it in single precision; not described where a sum may be beyond that."""
        extents = column_extents(model.embedding, space)
        total = self.constant + sum((s * c for s, c in zip(self.sizes, extents, strict=True)), Fraction(0))
        fits = 2 * (self.operations + 1) * max([total, *extents, *self.sizes]) < LARGEST_SINGLE
        return self.in_single_precision().of_columns(columns, described=described and fits)


def _is_tame(column: Column, space: Space) -> bool:
    """Whether powers and coefficients of a column in pieces are not so large that what underflows would count."""
    feature = space[space.names[column.feature]]
    if column.pieces is None or not isinstance(feature, (Continuous, Integer)):
        return True
    coefficients = [abs(c) for polynomial in column.pieces.polynomials for c in polynomial]
    return (
        max(abs(feature.lo), abs(feature.hi)) < LARGEST_CODE and max(coefficients, default=0) < LARGEST_FACTOR
    )


def affine_rounding(rounding: object) -> AffineRounding | None:
    """The rounding, if it is that of a sum of weighted columns."""
    return rounding if isinstance(rounding, AffineRounding) else None
