"""Rounding of sums of bumps of mixed columns (the bound: `program_rounding`). The program has its columns, mixes them by sums of known sizes, and takes distances from differences, or `expanded` as |z|^2 - 2 z.s + |s|^2."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InternalError
from likewise.families.mixed.body import MixedSum
from likewise.families.program_rounding import (
    DENORMAL_LOSS,
    DOUBLE_BITS,
    EXTRA_ROUNDINGS,
    OUTWARD_FACTOR,
    ErrorBound,
    UnstatedRounding,
    round_outward,
    rounding_growth,
)
from likewise.model.embedding import embed_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap
    from likewise.families.scored_model import Model
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixedRounding(UnstatedRounding):
    """`sizes` and `constants` are of the terms of each sum, `inner` the roundings of one, `more` sizes of what is added to the score afterwards."""

    expanded: bool
    sizes: Floats  # (sums, columns)
    constants: Floats
    inner: int
    more: float = 0.0
    bits: int = 53

    def errors(self, model: Model, codes: Floats) -> list[Fraction]:
        body = _bumps(model)
        return [Fraction(self._error(body, row)) for row in embed_rows(model.embedding, codes)]

    def _error(self, body: MixedSum, columns: Floats) -> float:
        """About how far two programs may be apart at a row, with room."""
        roundings = self.inner + max((k for k, _ in self.columns), default=0)
        slack = np.array([s for _, s in self.columns]) if self.columns else np.zeros(len(columns))
        mixed = self.sizes @ (np.abs(columns) + slack) + self.constants
        lost = 1.0
        if self.expanded:
            lost += body.gamma * (float((mixed**2).sum()) + float((body.centres**2).sum(axis=1).max()))
        size, terms = float(np.abs(body.coefficients).sum()), len(body.coefficients)
        moved = self._steepest(body) * roundings * float(mixed.sum())
        program = size * (terms + (len(mixed) + 4) * lost + moved) + abs(body.bias) + terms * self.more
        return 16 * 2.0 ** (1 - self.bits) * program

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        if not self.described or self.bits != DOUBLE_BITS:
            return None
        body = _bumps(model)
        roundings, reach = self.reach(model, space)
        mixed = (self.sizes @ reach + self.constants) * OUTWARD_FACTOR
        sizes, terms, width = np.abs(body.coefficients), len(body.coefficients), len(mixed)
        moved = self._steepest(body) * rounding_growth(roundings + self.inner) * float(mixed.sum())
        off = np.full(
            terms, moved + 2 * rounding_growth(width + EXTRA_ROUNDINGS) + DENORMAL_LOSS * body.gamma
        )
        if self.expanded and terms:
            lengths = float(np.sqrt((mixed**2).sum())) + np.sqrt((body.centres**2).sum(axis=1))
            growth = body.gamma * rounding_growth(width + EXTRA_ROUNDINGS) * lengths**2
            off = off + np.minimum(1.0, np.expm1(growth * OUTWARD_FACTOR))
        size = 2 * float(sizes.sum()) + abs(body.bias) + 2 * self.more
        return round_outward(float(sizes @ off) + rounding_growth(terms + EXTRA_ROUNDINGS) * size, size)

    def _steepest(self, body: MixedSum) -> float:
        """How much a bump changes for each unit that a sum moves, at most."""
        return body.gamma if body.shape == "laplacian" else math.sqrt(2 * body.gamma / math.e)

    def rescaled(self, by: AffineMap) -> MixedRounding:
        return replace(self, more=abs(float(by.slope) * self.more) + float(by.size))


def _bumps(model: Model) -> MixedSum:
    if not isinstance(model.body, MixedSum):
        raise InternalError("the rounding of a sum of bumps for another body")
    return model.body


def mixed_rounding(rounding: object) -> MixedRounding | None:
    """The rounding, if it is that of bumps of mixed columns."""
    return rounding if isinstance(rounding, MixedRounding) else None
