"""Affine body: bias + sum_c weight_c * column_c."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from likewise.families.affine.score import AffineScore
from likewise.model.embedding import Column, added_up
from likewise.spec.features import Continuous

if TYPE_CHECKING:
    from likewise.families.family import Kept, Mapped
    from likewise.spec.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """bias + sum of weight * column; the parameters are the stored doubles taken exactly."""

    family: ClassVar[str] = "affine"

    weights: tuple[Fraction, ...]
    bias: Fraction

    def exact(self, columns: Sequence[Fraction]) -> Fraction:
        return self.bias + sum((w * c for w, c in zip(self.weights, columns, strict=True)), Fraction(0))

    def score(self, embedding: tuple[Column, ...], n_features: int) -> AffineScore:
        summed = added_up(self.weights, self.bias, embedding, n_features)
        return AffineScore(bias=summed.bias, terms=summed.terms)

    def rescaled(self, by: Mapped, kind: str) -> Affine:
        return Affine(
            weights=tuple(by.slope * w for w in self.weights), bias=by.slope * self.bias + by.offset
        )

    def reads(self, feature: int) -> bool:
        return False

    def restricted(self, kept: Kept) -> Affine:
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
