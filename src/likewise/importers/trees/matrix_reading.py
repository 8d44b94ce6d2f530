"""Taken: what a library makes of the matrix that a pipeline hands to it, where that is not simply its numbers.

    absent_missing   XGBoost takes an entry that a sparse matrix does not store for missing, not for zero
    whole_single     LightGBM casts arrays of whole numbers to float32; frames and all others are taken as doubles

Whether an array is one of whole numbers may depend on whether a value in it is missing, so large ones are refused, not cast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_EXACT_FLOAT32 = 2**24  # whole numbers up to this are float32 numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixReading:
    """How a library reads matrices."""

    absent_missing: bool = False
    whole_single: bool = False

    def casts(self, matrix: Any) -> bool:
        """Whether a matrix is cast to float32 before it is looked at."""
        return self.whole_single and isinstance(matrix, np.ndarray) and matrix.dtype.kind in "iu"

    def numbers(self, matrix: Any) -> Any:
        """The matrix as the trees see it: a plain array, NaN where a value is missing."""
        if is_sparse(matrix):
            return _stored_entries(matrix) if self.absent_missing else matrix.toarray()
        if self.casts(matrix) and (np.abs(matrix) > LARGEST_EXACT_FLOAT32).any():
            raise UnsupportedModel(
                f"the preprocessing gives the whole number {int(matrix[np.abs(matrix) > LARGEST_EXACT_FLOAT32][0])}, which is cast to float32",
                hint="let it give doubles, or frames: set_output(transform='pandas')",
            )
        return np.asarray(matrix)


PLAIN_READING = MatrixReading()


def is_sparse(matrix: Any) -> bool:
    """Whether a matrix stores some of its entries only."""
    return hasattr(matrix, "toarray")


def _stored_entries(matrix: Any) -> NDArray[np.float64]:
    entries = matrix.tocoo()
    made = np.full(matrix.shape, np.nan)
    made[entries.row, entries.col] = entries.data
    return made
