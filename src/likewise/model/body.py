"""Body: encoded columns to a score. Each family of models is one frozen value with exact parameters.

Affine      bias + sum_c weight_c * column_c
RbfSum      bias + sum_t coefficient_t * exp(-gamma |columns - centre_t|^2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """bias + sum of weight * column; the parameters are the stored doubles taken exactly."""

    weights: tuple[Fraction, ...]
    bias: Fraction

    def exact(self, columns: Sequence[Fraction]) -> Fraction:
        return self.bias + sum((w * c for w, c in zip(self.weights, columns, strict=True)), Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RbfSum:
    """A sum of Gaussians; the doubles of the arrays are the parameters, exactly."""

    gamma: float
    bias: float
    coefficients: NDArray[np.float64]  # (terms,)
    centres: NDArray[np.float64]  # (terms, columns)

    def negated(self) -> RbfSum:
        """The same sum with the opposite sign."""
        return RbfSum(
            gamma=self.gamma, bias=-self.bias, coefficients=-self.coefficients, centres=self.centres
        )
