"""Kernel body: f(x) = bias + sum_t a_t exp(-gamma |phi(x) - s_t|^2), phi the embedding, s_t the centres.

Its score over codes is had in float64 for many rows (differences are taken about the centres' mean, so that squared distances lose no
digits to a common offset), and in balls of any precision for one. Parameters are the stored doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from likewise.clock import check_clock
from likewise.errors import InternalError, UnsupportedModel
from likewise.model.embedding import Column, embed_rows
from likewise.model.head import lower_end
from likewise.spec.enclosure import Enclosure
from likewise.spec.features import Continuous, Integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, KeptLevels
    from likewise.model.embedding import Column
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RbfSum:
    """A sum of Gaussians; the doubles of the arrays are the parameters, exactly."""

    family: ClassVar[str] = "kernel"

    gamma: float
    bias: float
    coefficients: NDArray[np.float64]  # (terms,)
    centres: NDArray[np.float64]  # (terms, columns)

    def negated(self) -> RbfSum:
        """The same sum with the opposite sign."""
        return RbfSum(
            gamma=self.gamma, bias=-self.bias, coefficients=-self.coefficients, centres=self.centres
        )

    def score(self, embedding: tuple[Column, ...], n_features: int) -> KernelScore:
        from likewise.families.kernel.body import KernelScore

        return KernelScore(body=self, embedding=embedding)

    def rescaled(self, by: AffineMap, kind: str) -> RbfSum:
        coefficients = [_require_double(by.slope * Fraction(a), kind) for a in self.coefficients.tolist()]
        return RbfSum(
            gamma=self.gamma,
            bias=_require_double(by.slope * Fraction(self.bias) + by.offset, kind),
            coefficients=np.array(coefficients),
            centres=self.centres,
        )

    def reads(self, feature: int) -> bool:
        return False

    def restricted(self, kept: KeptLevels) -> RbfSum:
        return self

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> None:
        return None


def _require_double(value: Fraction, kind: str) -> float:
    """Kernel models have doubles for parameters; a product that is none would have to be rounded."""
    double = float(value)
    if Fraction(double) != value:
        raise UnsupportedModel(
            f"{kind} rescales or shifts the score of a kernel model to numbers that are no doubles, "
            "so that it cannot be taken exactly",
            hint="verify the model inside of it, or use a linear one",
        )
    return double


GUARD_BITS = 64  # bits more, for what the difference of squares loses where centres are far from 0
EXACT_BITS = 4_300  # bits that hold every sum of squares of doubles
CENTRES_AT_A_TIME = 256  # at a time: some milliseconds between two looks at the clock
BLOCK_VALUES = 4_000_000  # kernel values computed at a time: memory stays at some ten megabytes


class CentreBalls:
    """Some of the centres in balls, made when first asked for: |x - s|^2 is |x|^2 - 2 x.s + |s|^2, and x.s of all of them is one product of matrices."""

    def __init__(self, body: RbfSum, some: slice) -> None:
        self.coefficients: list[float] = body.coefficients[some].tolist()
        self._rows = body.centres[some]

    @cached_property
    def centres(self) -> arb_mat:
        terms, columns = self._rows.shape
        return arb_mat(terms, columns, self._rows.ravel().tolist())

    @cached_property
    def squares(self) -> list[arb]:
        """Exact: a square of a double has 106 bits."""
        with ctx.workprec(EXACT_BITS):
            return [sum((arb(v) ** 2 for v in row if v), arb(0)) for row in self._rows.tolist()]


@dataclass(frozen=True, kw_only=True)
class KernelScore:
    """The score of an RBF body over codes."""

    family: ClassVar[str] = "kernel"
    rational: ClassVar[bool] = False

    body: RbfSum
    embedding: tuple[Column, ...]

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, for proposing; never for deciding."""
        columns = self.columns(codes)
        middle = self.body.centres.mean(axis=0)
        centres = self.body.centres - middle
        squares = (centres**2).sum(axis=1)
        total = np.empty(len(codes))
        step = max(1, BLOCK_VALUES // len(centres))
        for start in range(0, len(codes), step):
            part = columns[start : start + step] - middle
            distances = (part**2).sum(axis=1)[:, None] - 2 * (part @ centres.T) + squares
            kernel = np.exp(-self.body.gamma * np.maximum(distances, 0))
            total[start : start + step] = kernel @ self.body.coefficients
        return total + self.body.bias

    def scorer(self) -> Callable[[Floats], Floats]:
        return self.scores

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        raise InternalError("the scores of sums of Gaussians are not rational")

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """In float64, from differences."""
        return [Fraction(float(value)) for value in self.scores_by_differences(codes)]

    @property
    def enclosing_work(self) -> int:
        """Columns of centres."""
        return self.body.centres.size

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
                tables = np.array([self.embedding[c].entries for c in owned])  # (columns, levels)
                middle = tables.mean(axis=1)
                tables, centres = tables - middle[:, None], self.body.centres[:, owned] - middle
                codes[:, k] = ((tables**2).sum(axis=0) - 2 * (centres @ tables)).argmin(axis=1)
        return codes

    def columns(self, codes: Floats) -> Floats:
        """The embedding of many rows, in float64."""
        return embed_rows(self.embedding, codes)

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """One score in ball arithmetic: the result is rigorous whatever the precision."""
        values = [column.exact(codes[column.feature]) for column in self.embedding]
        with ctx.workprec(bits + GUARD_BITS):
            point = [arb(fmpq(v.numerator, v.denominator)) for v in values]
            square = sum((here**2 for here in point), arb(0))
            column = arb_mat(len(point), 1, point)
            gamma, total = arb(self.body.gamma), arb(self.body.bias)
            for part in self._parts:
                check_clock()
                products = part.centres * column
                for i, coefficient in enumerate(part.coefficients):
                    distance = square - 2 * products[i, 0] + part.squares[i]
                    total += coefficient * (-gamma * distance).exp()
            return Enclosure(lower_end(total), -lower_end(-total))

    @cached_property
    def _parts(self) -> list[CentreBalls]:
        """The centres, some at a time, as matrices of balls, which hold doubles exactly."""
        return [
            CentreBalls(self.body, slice(start, start + CENTRES_AT_A_TIME))
            for start in range(0, len(self.body.centres), CENTRES_AT_A_TIME)
        ]

    def depends(self, feature: int) -> bool:
        """Whether the score can change with a feature: False only if no column moves with it."""
        return any(column.feature == feature and not column.constant for column in self.embedding)

    def negated(self) -> KernelScore:
        return KernelScore(body=self.body.negated(), embedding=self.embedding)

    @property
    def cost(self) -> int:
        """Kernel values a score takes: what a search has to pay for a row."""
        return len(self.body.coefficients)


def kernel_body(body: object) -> RbfSum | None:
    """The body, if it is a sum of Gaussians."""
    return body if isinstance(body, RbfSum) else None
