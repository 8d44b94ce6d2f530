"""Affine score: a sum of one function a feature, which is what an affine body over columns of one feature each comes to. Rational, so exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from likewise.clock import look_at_clock
from likewise.spec.terms import Separable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineScore(Separable):
    """The score of an affine body over codes."""

    family: ClassVar[str] = "affine"
    rational: ClassVar[bool] = True
    enclosing_work: ClassVar[int] = 0

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """Many rows, exactly."""
        values = []
        for row in codes.tolist():
            look_at_clock()
            values.append(self.exact([Fraction(c) for c in row]))
        return values

    def landmarks(self, space: Space) -> Floats:
        """None: linear programs find what is worth looking at."""
        import numpy as np

        return np.empty((0, len(space)))
