"""Kernel body: bias + sum_t coefficient_t * exp(-gamma |columns - centre_t|^2)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from likewise.errors import UnsupportedModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import Kept, Mapped
    from likewise.families.kernel.score import KernelScore
    from likewise.model.embedding import Column
    from likewise.spec.space import Space


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
        from likewise.families.kernel.score import KernelScore

        return KernelScore(body=self, embedding=embedding)

    def rescaled(self, by: Mapped, kind: str) -> RbfSum:
        coefficients = [_as_double(by.slope * Fraction(a), kind) for a in self.coefficients.tolist()]
        return RbfSum(
            gamma=self.gamma,
            bias=_as_double(by.slope * Fraction(self.bias) + by.offset, kind),
            coefficients=np.array(coefficients),
            centres=self.centres,
        )

    def reads(self, feature: int) -> bool:
        return False

    def restricted(self, kept: Kept) -> RbfSum:
        return self

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> None:
        return None


def _as_double(value: Fraction, kind: str) -> float:
    """Kernel models have doubles for parameters; a product that is none would have to be rounded."""
    double = float(value)
    if Fraction(double) != value:
        raise UnsupportedModel(
            f"{kind} rescales or shifts the score of a kernel model to numbers that are no doubles, "
            "so that it cannot be taken exactly",
            hint="verify the model inside of it, or use a linear one",
        )
    return double
