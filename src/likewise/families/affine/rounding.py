"""Rounding of sums of weighted columns: section 6 of spec/certificate-v1.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.families.program_rounding import ErrorBound, double_beyond
from likewise.model.embedding import column_extents
from likewise.spec.numbers import format_number, format_numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, ComputedColumn
    from likewise.families.scored_model import Model
    from likewise.spec.space import Space

# Beyond any score: a sum of products of three doubles or their inverses.
BEYOND_ANY_SCORE = Fraction(2**4096)
UNDERFLOW_ERROR = Fraction(1, 2**1074)  # an operation whose result is denormal is off by at most this
# Slack is rounded up to this grid, to keep certificates free of numbers with a thousand digits.
SLACK_GRID = 2**100


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineRounding:
    """What bounds the rounding error of the original program's score, in whatever order it adds.

    A value computed by `operations` successive roundings of terms t is off by at most
    ((1 + u)^operations - 1) * sum |t|, u = 2^-53. `sizes` weigh the columns' absolute values in sum |t|:
    |weight| for a plain dot product, more where the program goes through support vectors. Where the program
    computes column c itself and has it with an error of at most ((1 + u)^k - 1) (|c| + slack), k operations more
    and size * slack in the constant cover that, as (1 + g_n) (1 + g_k) = 1 + g_(n+k) for g_n = (1 + u)^n - 1.

    A program whose rounding is not `described` (it goes through logarithms, say) is only compared with, as if
    it did no more than this; what a proof states of it covers no rounding at all. Its score is still `bounded` by this where only what
    it makes of the score (a probability that is compared) is not described; `crude` says that this is far beyond what happens.
    """

    sizes: tuple[Fraction, ...]
    constant: Fraction
    operations: int
    described: bool = True
    bounded: bool = True
    crude: bool = False

    def error(self, columns: Sequence[Fraction]) -> Fraction:
        """The bound for columns whose absolute values are at most these."""
        size = self.constant + sum(
            (s * abs(c) for s, c in zip(self.sizes, columns, strict=True)), Fraction(0)
        )
        growth = (1 + Fraction(1, 2**53)) ** self.operations - 1
        return growth * size + self.operations * UNDERFLOW_ERROR

    def as_stated(self) -> AffineRounding:
        """What a certificate says: this, or an error that no clearance exceeds."""
        if self.described:
            return self
        return AffineRounding(sizes=(Fraction(0),) * len(self.sizes), constant=BEYOND_ANY_SCORE, operations=1)

    def errors(self, model: Model, codes: NDArray[np.float64]) -> list[Fraction]:
        rows = [[Fraction(c) for c in row] for row in codes.tolist()]
        return [self.error([c.exact(row[c.feature]) for c in model.embedding]) for row in rows]

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        if not self.bounded:
            return None
        largest = column_extents(model.embedding, space)
        sizes = zip(self.sizes, largest, strict=True)
        size = self.constant + sum((size * extent for size, extent in sizes), Fraction(0))
        return ErrorBound(double_beyond(self.error(largest)), double_beyond(size), self.crude)

    def certified_error(self, model: Model, space: Space) -> Fraction:
        return self.as_stated().error(column_extents(model.embedding, space))

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
            constant=abs(by.slope) * self.constant + by.size,
            operations=self.operations + by.operations,
        )

    def undescribed(self) -> AffineRounding:
        return replace(self, described=False)

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> AffineRounding:
        slack = sum((size * one.slack for size, one in zip(self.sizes, columns, strict=True)), Fraction(0))
        return replace(
            self,
            constant=self.constant + Fraction(math.ceil(slack * SLACK_GRID), SLACK_GRID),
            operations=self.operations + max(one.roundings for one in columns),
            described=self.described and described,
            bounded=self.bounded and described,
        )
