"""Affine body: bias + sum_c weight_c * column_c. Its score over codes is a sum of one function a feature, as every column is of one feature. Rational, so exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from likewise.clock import check_clock
from likewise.model.embedding import Column, sum_by_feature
from likewise.spec.features import Continuous
from likewise.spec.terms import Separable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, KeptLevels
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """bias + sum of weight * column; the parameters are the stored doubles taken exactly."""

    family: ClassVar[str] = "affine"

    weights: tuple[Fraction, ...]
    bias: Fraction

    def exact(self, columns: Sequence[Fraction]) -> Fraction:
        return self.bias + sum((w * c for w, c in zip(self.weights, columns, strict=True)), Fraction(0))

    def score(self, embedding: tuple[Column, ...], n_features: int) -> AffineScore:
        summed = sum_by_feature(self.weights, self.bias, embedding, n_features)
        return AffineScore(bias=summed.bias, terms=summed.terms)

    def rescaled(self, by: AffineMap, kind: str) -> Affine:
        return Affine(
            weights=tuple(by.slope * w for w in self.weights), bias=by.slope * self.bias + by.offset
        )

    def reads(self, feature: int) -> bool:
        return False

    def restricted(self, kept: KeptLevels) -> Affine:
        return self

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> int:
        score = self.score(embedding, len(space))
        found = score.bias.denominator
        for name, term in zip(space.names, score.terms, strict=True):
            parts = (term.slope,) if term.table is None else term.table
            continuous = isinstance(space[name], Continuous)
            unit = 2**1074 if term.slope and continuous else 1  # doubles are multiples of 1/2^1074
            found = math.lcm(found, *(part.denominator * unit for part in parts))
            if term.pieces is not None:
                found = math.lcm(found, term.pieces.denominator(whole=not continuous))
        return found


def affine_body(body: object) -> Affine | None:
    """The body, if it is an affine one."""
    return body if isinstance(body, Affine) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineScore(Separable):
    """The score of an affine body over codes."""

    family: ClassVar[str] = "affine"
    rational: ClassVar[bool] = True
    enclosing_work: ClassVar[int] = 0

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """Many rows, exactly."""
        values = []
        for row in codes.tolist():
            check_clock()
            values.append(self.exact([Fraction(c) for c in row]))
        return values

    def landmarks(self, space: Space) -> Floats:
        """None: linear programs find what is worth looking at."""
        import numpy as np

        return np.empty((0, len(space)))
