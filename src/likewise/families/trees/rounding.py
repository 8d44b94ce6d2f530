"""Rounding of sums of leaves: section 9 of spec/certificate-v1.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from likewise.errors import InternalError
from likewise.families.program_rounding import ErrorBound, double_beyond
from likewise.families.settings import EXTRA_OPERATIONS
from likewise.spec.numbers import format_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, ComputedColumn
    from likewise.families.scored_model import Model
    from likewise.families.trees.body import TreeSum
    from likewise.spec.space import Space

DOUBLE_BITS = 53  # bits
# What an operation is off by at most whose result is denormal, by bits; in certificates, with room for factors that multiply it later.
UNDERFLOW_ERROR = {24: Fraction(1, 2**149), 53: Fraction(1, 2**1074)}
STATED_UNDERFLOW = {24: Fraction(1, 2**100), 53: Fraction(1, 2**700)}
LARGEST_NUMBER = {24: 2**120, 53: 2**1000}  # that sums may come to, with room
BEYOND_ANY_SCORE = Fraction(2**4096)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRounding:
    """What bounds the rounding error of a program that adds up leaves: at most `operations` additions, with `bits` bits
    (24 for float32, 53 for float64), of numbers whose absolute values add up to at most `constant`."""

    constant: Fraction
    operations: int
    bits: int = 53

    def error(self, lost: Mapping[int, Fraction] = MappingProxyType(UNDERFLOW_ERROR)) -> Fraction:
        """The bound, at every individual."""
        growth = (1 + Fraction(1, 2**self.bits)) ** self.operations - 1
        return growth * self.constant + self.operations * lost[self.bits]

    def errors(self, model: Model, codes: NDArray[np.float64]) -> list[Fraction]:
        return [self.error()] * len(codes)

    def bound(self, model: Model, space: Space) -> ErrorBound:
        return ErrorBound(double_beyond(self.error()), double_beyond(self.constant))

    def certified_error(self, model: Model, space: Space) -> Fraction:
        fits = 2 * (self.operations + 1) * self.constant < LARGEST_NUMBER[self.bits]
        return self.error(STATED_UNDERFLOW) if fits else BEYOND_ANY_SCORE

    def line(self) -> dict[str, Any]:
        return {"constant": format_number(self.constant), "operations": self.operations, "bits": self.bits}

    def rescaled(self, by: AffineMap) -> TreeRounding:
        return replace(
            self,
            constant=abs(by.slope) * self.constant + by.size,
            operations=self.operations + by.operations,
        )

    def of_lead(self, share: Fraction) -> TreeRounding:
        """Of the program that computes two such scores, of a share of their difference."""
        return replace(self, constant=2 * share * self.constant, operations=2 * self.operations)

    def undescribed(self) -> None:
        return None

    def of_single_columns(
        self, model: Model, space: Space, columns: Sequence[ComputedColumn], *, described: bool
    ) -> None:
        return None

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> TreeRounding:
        raise InternalError("trees test codes, they have no columns")


def tree_rounding(rounding: object) -> TreeRounding | None:
    """The rounding, if it is that of a sum of leaves."""
    return rounding if isinstance(rounding, TreeRounding) else None


def rounding_of_mean(rounding: TreeRounding, mean: TreeSum, settings: int) -> TreeRounding:
    """The program scores every setting, off by no more than before as no sum of leaves is larger, and takes the mean in float64: so many additions,
    and a few products. (1 + 2^-53)^k <= 1 + 2^-24 for k up to 2^28: of what is added up in float32, they cost one operation more.
    A certificate states as many operations as it has trees, or more."""
    more = settings + EXTRA_OPERATIONS
    if rounding.bits < DOUBLE_BITS:
        more = -(-more // 2**28)
    return replace(rounding, operations=max(rounding.operations + more, len(mean.trees)))
