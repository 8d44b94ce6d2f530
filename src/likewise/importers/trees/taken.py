"""Taken: what a library makes of the matrix that a pipeline hands to it, where that is not simply its numbers.

absent_missing   XGBoost takes an entry that a sparse matrix does not store for missing, not for zero
whole_single     LightGBM casts arrays of whole numbers to float32; frames and all others are taken as doubles
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """How a library reads matrices."""

    absent_missing: bool = False
    whole_single: bool = False

    def numbers(self, matrix: Any) -> Any:
        """The matrix as the trees see it: a plain array, NaN where a value is missing."""
        if is_sparse(matrix):
            return _stored_only(matrix) if self.absent_missing else matrix.toarray()
        if self.whole_single and isinstance(matrix, np.ndarray) and matrix.dtype.kind in "biu":
            return matrix.astype(np.float32).astype(np.float64)
        return np.asarray(matrix)


PLAIN = Taken()


def is_sparse(matrix: Any) -> bool:
    """Whether a matrix stores some of its entries only."""
    return hasattr(matrix, "toarray")


def _stored_only(matrix: Any) -> NDArray[np.float64]:
    entries = matrix.tocoo()
    made = np.full(matrix.shape, np.nan)
    made[entries.row, entries.col] = entries.data
    return made
