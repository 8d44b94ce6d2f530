"""Several: n scores of many individuals in float64, each with a proved error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Several:
    """|value - true| <= error of its row: shapes (rows, settings, n) and (rows, n)."""

    values: Floats
    error: Floats

    def only(self, place: int | None) -> Several:
        """One of the n, where only that is of interest."""
        if place is None:
            return self
        return Several(values=self.values[..., place : place + 1], error=self.error[:, place : place + 1])
