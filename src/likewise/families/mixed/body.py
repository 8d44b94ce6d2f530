"""Mixed body: f(x) = bias + sum_t a_t exp(-gamma dist_t), dist_t of the sums z_j = constant_j + sum_c factor_jc column_c(x) from centre s_t: squares of differences added up (gaussian), or their absolute values (laplacian).

Columns may be in pieces (bins, splines, what stands for missing), which sums of Gaussians over plain columns (`kernel`) do not take; their bounds are better where they do.
Coefficients, centres, bias and gamma are the stored doubles, exactly; constants and factors are rationals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from flint import arb, ctx, fmpq

from likewise.clock import check_clock
from likewise.errors import InternalError, UnsupportedModel
from likewise.model.embedding import Column, embed_rows
from likewise.model.head import lower_end
from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, KeptLevels
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

Shape = Literal["gaussian", "laplacian"]
ColumnSum = tuple[Fraction, tuple[tuple[int, Fraction], ...]]  # a constant, columns and their factors

GUARD_BITS = 64
CENTRES_AT_A_TIME = 256  # between two looks at the clock
BLOCK_VALUES = 2_000_000  # differences at a time: memory stays at some ten megabytes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixedSum:
    """A sum of bumps; the doubles of the arrays are the parameters, exactly."""

    family: ClassVar[str] = "mixed"

    shape: Shape
    gamma: float
    bias: float
    coefficients: NDArray[np.float64]  # (terms,)
    centres: NDArray[np.float64]  # (terms, sums)
    sums: tuple[ColumnSum, ...]

    def with_coefficients(self, coefficients: Floats, bias: float) -> MixedSum:
        """The same bumps with other coefficients."""
        return MixedSum(
            shape=self.shape,
            gamma=self.gamma,
            bias=bias,
            coefficients=coefficients,
            centres=self.centres,
            sums=self.sums,
        )

    def negated(self) -> MixedSum:
        """The same sum with the opposite sign."""
        return self.with_coefficients(-self.coefficients, -self.bias)

    def score(self, embedding: tuple[Column, ...], n_features: int) -> MixedScore:
        from likewise.families.mixed.body import MixedScore

        return MixedScore(body=self, embedding=embedding)

    def rescaled(self, by: AffineMap, kind: str) -> MixedSum:
        coefficients = [_require_double(by.slope * Fraction(a), kind) for a in self.coefficients.tolist()]
        bias = _require_double(by.slope * Fraction(self.bias) + by.offset, kind)
        return self.with_coefficients(np.array(coefficients), bias)

    def reads(self, feature: int) -> bool:
        return False

    def restricted(self, kept: KeptLevels) -> MixedSum:
        return self

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> None:
        return None


def _require_double(value: Fraction, kind: str) -> float:
    """Parameters are doubles; a product that is none would have to be rounded."""
    double = float(value)
    if Fraction(double) != value:
        raise UnsupportedModel(
            f"{kind} rescales or shifts the score of a kernel model to numbers that are no doubles, "
            "so that it cannot be taken exactly",
            hint="verify the model inside of it, or use a linear one",
        )
    return double


def sum_matrix(sums: Sequence[ColumnSum], columns: int) -> tuple[Floats, Floats]:
    """Constants and factors (sums, columns) in float64."""
    factors = np.zeros((len(sums), columns))
    for j, (_, pairs) in enumerate(sums):
        for c, factor in pairs:
            factors[j, c] = float(factor)
    return np.array([float(constant) for constant, _ in sums]), factors


@dataclass(frozen=True, kw_only=True)
class MixedScore:
    """The score of a mixed body over codes."""

    family: ClassVar[str] = "mixed"
    rational: ClassVar[bool] = False

    body: MixedSum
    embedding: tuple[Column, ...]

    @cached_property
    def matrix(self) -> tuple[Floats, Floats]:
        """Constants and factors of the sums in float64."""
        return sum_matrix(self.body.sums, len(self.embedding))

    def sums(self, codes: Floats) -> Floats:
        """z of many rows in float64."""
        constants, factors = self.matrix
        z: Floats = embed_rows(self.embedding, codes) @ factors.T + constants
        return z

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, for proposing; never for deciding."""
        z, body = self.sums(codes), self.body
        total = np.empty(len(codes))
        step = max(1, BLOCK_VALUES // max(1, body.centres.size))
        for start in range(0, len(codes), step):
            apart = z[start : start + step, None, :] - body.centres
            far = np.abs(apart).sum(axis=2) if body.shape == "laplacian" else (apart**2).sum(axis=2)
            total[start : start + step] = np.exp(-body.gamma * far) @ body.coefficients
        return total + body.bias

    def scorer(self) -> Callable[[Floats], Floats]:
        return self.scores

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        raise InternalError("the scores of sums of bumps are not rational")

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """In float64, from differences."""
        return [Fraction(float(value)) for value in self.scores(codes)]

    @property
    def enclosing_work(self) -> int:
        """Sums of centres."""
        return self.body.centres.size

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """One score in ball arithmetic: the result is rigorous whatever the precision."""
        values = [column.exact(codes[column.feature]) for column in self.embedding]
        point = [c + sum((f * values[i] for i, f in pairs), Fraction(0)) for c, pairs in self.body.sums]
        squared = self.body.shape == "gaussian"
        with ctx.workprec(bits + GUARD_BITS):
            z = [arb(fmpq(v.numerator, v.denominator)) for v in point]
            gamma, total = arb(self.body.gamma), arb(self.body.bias)
            rows = zip(self.body.coefficients.tolist(), self.body.centres.tolist(), strict=True)
            for t, (coefficient, centre) in enumerate(rows):
                if t % CENTRES_AT_A_TIME == 0:
                    check_clock()
                gaps = [here - there for here, there in zip(z, centre, strict=True)]
                far = sum((gap * gap if squared else abs(gap) for gap in gaps), arb(0))
                total += coefficient * (-gamma * far).exp()
            return Enclosure(lower_end(total), -lower_end(-total))

    def depends(self, feature: int) -> bool:
        """Whether the score can change with a feature: False only if no sum has a column that moves with it."""
        used = {c for _, pairs in self.body.sums for c, factor in pairs if factor}
        return any(self.embedding[c].feature == feature and not self.embedding[c].constant for c in used)

    def landmarks(self, space: Space) -> Floats:
        """None: nobody need have the sums of a centre."""
        return np.empty((0, len(space)))

    def negated(self) -> MixedScore:
        return MixedScore(body=self.body.negated(), embedding=self.embedding)

    @property
    def cost(self) -> int:
        """Kernel values a score takes: what a search has to pay for a row."""
        return len(self.body.coefficients)


def mixed_body(body: object) -> MixedSum | None:
    """The body, if it is one of mixed columns."""
    return body if isinstance(body, MixedSum) else None
