"""Kernel score: f(x) = bias + sum_t a_t exp(-gamma |phi(x) - s_t|^2), phi the embedding, s_t the centres.

In float64 for many rows (differences are taken about the centres' mean, so that squared distances lose no
digits to a common offset), and in balls of any precision for one. Parameters are the stored doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx, fmpq

from likewise.model.body import RbfSum
from likewise.model.embedding import Column, embedded
from likewise.model.question import lower_end
from likewise.spec.enclosure import Enclosure
from likewise.spec.features import Continuous, Integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

BLOCK = 4_000_000  # kernel values computed at a time: memory stays at some ten megabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelScore:
    """The score of an RBF body over codes."""

    body: RbfSum
    embedding: tuple[Column, ...]

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, for proposing; never for deciding."""
        columns = self.columns(codes)
        middle = self.body.centres.mean(axis=0)
        centres = self.body.centres - middle
        squares = (centres**2).sum(axis=1)
        total = np.empty(len(codes))
        step = max(1, BLOCK // len(centres))
        for start in range(0, len(codes), step):
            part = columns[start : start + step] - middle
            distances = (part**2).sum(axis=1)[:, None] - 2 * (part @ centres.T) + squares
            kernel = np.exp(-self.body.gamma * np.maximum(distances, 0))
            total[start : start + step] = kernel @ self.body.coefficients
        return total + self.body.bias

    def scores_by_differences(self, codes: Floats) -> Floats:
        """The same from differences, column by column: slower, and as exact as float64 can be."""
        columns, centres = self.columns(codes), self.body.centres
        total = np.empty(len(codes))
        for i, row in enumerate(columns):
            distances = ((row - centres) ** 2).sum(axis=1)
            total[i] = self.body.coefficients @ np.exp(-self.body.gamma * distances) + self.body.bias
        return total

    def landmarks(self, space: Space) -> Floats:
        """The centres as individuals of the space, as near as it allows: where the score is not flat."""
        codes = np.zeros((len(self.body.centres), len(space)))
        for k, name in enumerate(space.names):
            feature = space[name]
            owned = [c for c, column in enumerate(self.embedding) if column.feature == k]
            if isinstance(feature, (Continuous, Integer)):
                codes[:, k] = feature.lo
                if owned and self.embedding[owned[0]].slope:
                    column = self.embedding[owned[0]]
                    values = (self.body.centres[:, owned[0]] - float(column.offset)) / float(column.slope)
                    codes[:, k] = np.clip(values, float(feature.lo), float(feature.hi))
                if isinstance(feature, Integer):
                    codes[:, k] = np.round(codes[:, k])
            elif owned:
                tables = np.array([[float(v) for v in self.embedding[c].table or ()] for c in owned])
                distances = ((self.body.centres[:, owned, None] - tables[None]) ** 2).sum(axis=1)
                codes[:, k] = distances.argmin(axis=1)
        return codes

    def columns(self, codes: Floats) -> Floats:
        """The embedding of many rows, in float64."""
        return embedded(self.embedding, codes)

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """One score in ball arithmetic: the result is rigorous whatever the precision."""
        values = [column.exact(codes[column.feature]) for column in self.embedding]
        with ctx.workprec(bits):
            point = [arb(fmpq(v.numerator, v.denominator)) for v in values]
            gamma, total = arb(self.body.gamma), arb(self.body.bias)
            for coefficient, centre in zip(
                self.body.coefficients.tolist(), self.body.centres.tolist(), strict=True
            ):
                distance = arb(0)
                for here, there in zip(point, centre, strict=True):
                    distance += (here - there) ** 2
                total += coefficient * (-gamma * distance).exp()
            return Enclosure(lower_end(total), -lower_end(-total))

    def depends(self, feature: int) -> bool:
        """Whether the score can change with a feature: False only if no column moves with it."""
        return any(column.feature == feature and not column.constant for column in self.embedding)

    def negated(self) -> KernelScore:
        return KernelScore(body=self.body.negated(), embedding=self.embedding)

    @property
    def cost(self) -> int:
        """Kernel values a score takes: what a search has to pay for a row."""
        return len(self.body.coefficients)
