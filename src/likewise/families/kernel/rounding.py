"""Rounding of sums of Gaussians (the bound: `program_rounding`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InternalError
from likewise.families.kernel.body import RbfSum
from likewise.families.program_rounding import (
    DENORMAL_LOSS,
    DOUBLE_BITS,
    EXTRA_ROUNDINGS,
    OUTWARD_FACTOR,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRounding(UnstatedRounding):
    """How the original program computes squared distances: from differences, or `expanded` as
    |x|^2 - 2 x.s + |s|^2, which loses the digits that the squares have in common. `error` is good for comparing two
    programs; what bounds the program's error over a space is in `program_rounding`, and no certificate states it."""

    expanded: bool
    more: float = 0.0  # sizes of what is added to the sum afterwards
    bits: int = 53  # of the program; with fewer its error is good for comparing only

    def error(self, body: RbfSum, columns: Sequence[float]) -> float:
        """About how far two programs may be apart at a row, by first-order rounding analysis, with room."""
        size, terms, width = float(np.abs(body.coefficients).sum()), len(body.coefficients), len(columns)
        lost = 1.0
        if self.expanded:
            lost += body.gamma * (
                float(np.square(columns).sum()) + float((body.centres**2).sum(axis=1).max())
            )
        epsilon = 2.0 ** (1 - self.bits)
        # exp(-gamma |x - s|^2) changes by at most sqrt(2 gamma / e) for each unit that x moves.
        moved = sum(k * (abs(c) + slack) for c, (k, slack) in zip(columns, self.columns, strict=False))
        steepest = math.sqrt(2 * body.gamma / math.e)
        added = abs(body.bias) + terms * self.more
        return 8 * epsilon * (size * (terms + (width + 4) * lost + steepest * moved) + added)

    def errors(self, model: Model, codes: Floats) -> list[Fraction]:
        body = _gaussians(model)
        return [Fraction(self.error(body, row.tolist())) for row in embed_rows(model.embedding, codes)]

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        if not self.described or self.bits != DOUBLE_BITS:
            return None
        body = _gaussians(model)
        roundings, reach = self.reach(model, space)
        width, terms = len(reach), len(body.coefficients)
        sizes = np.abs(body.coefficients)
        moved = math.sqrt(2 * body.gamma / math.e) * rounding_growth(roundings) * float(reach.sum())
        off = np.full(
            terms, moved + 2 * rounding_growth(width + EXTRA_ROUNDINGS) + DENORMAL_LOSS * body.gamma
        )
        if self.expanded and terms:
            lengths = float(np.sqrt((reach**2).sum())) + np.sqrt((body.centres**2).sum(axis=1))
            off = off + np.minimum(
                1.0,
                np.expm1(body.gamma * rounding_growth(width + EXTRA_ROUNDINGS) * lengths**2 * OUTWARD_FACTOR),
            )
        size = 2 * float(sizes.sum()) + abs(body.bias) + 2 * self.more  # |slope bias| <= |new bias| + more
        return round_outward(float(sizes @ off) + rounding_growth(terms + EXTRA_ROUNDINGS) * size, size)

    def of_single_columns(
        self,
        model: Model,
        space: Space,
        columns: Sequence[ComputedColumn],
        *,
        described: bool,
    ) -> KernelRounding | None:
        """Good for comparing only; None of kernels of columns that are scaled or rotated before."""
        if type(self) is not KernelRounding:
            return None
        return replace(self, bits=SINGLE_BITS).of_columns(in_single_roundings(columns), described=False)

    def rescaled(self, by: AffineMap) -> KernelRounding:
        return replace(self, more=abs(float(by.slope) * self.more) + float(by.size))


def _gaussians(model: Model) -> RbfSum:
    if not isinstance(model.body, RbfSum):
        raise InternalError("the rounding of a sum of Gaussians for another body")
    return model.body


def kernel_rounding(rounding: object) -> KernelRounding | None:
    """The rounding, if it is that of Gaussians of the columns as they are."""
    return rounding if type(rounding) is KernelRounding else None
