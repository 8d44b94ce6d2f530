"""Affine body: bias + sum_c weight_c * column_c."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """bias + sum of weight * column; the parameters are the stored doubles taken exactly."""

    weights: tuple[Fraction, ...]
    bias: Fraction

    def exact(self, columns: Sequence[Fraction]) -> Fraction:
        return self.bias + sum((w * c for w, c in zip(self.weights, columns, strict=True)), Fraction(0))
