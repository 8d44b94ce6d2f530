"""Kernel body: bias + sum_t coefficient_t * exp(-gamma |columns - centre_t|^2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
