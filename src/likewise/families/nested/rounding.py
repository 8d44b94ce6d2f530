"""Rounding of programs that compute several scores and put them to trees, or take their median.

Trees jump: a score that is rounded to the other side of a test changes what the program says by a whole leaf. So nothing bounds the program's error over a space, and of single
rows it is bounded where no inner score is near a test. Of a median it is that of its numbers, where weights do not add up to half but for rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError
from likewise.families.nested.body import Nested
from likewise.families.nested.median import Median
from likewise.families.scored_model import only_score
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, ComputedColumn, Rounding
    from likewise.families.scored_model import Model
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NestedRounding:
    """The program computes these scores, and then the outer function; `outer` is the rounding of its sum of leaves, `size` by how much one score can change at most."""

    inner: tuple[Model, ...]
    outer: Rounding | None
    size: Fraction

    def errors(self, model: Model, codes: Floats) -> list[Fraction]:
        """About how far two programs may be apart at each row."""
        width = codes.shape[1]
        body = model.bodies[0]
        if not isinstance(body, Nested):
            raise InternalError(f"{model.family} is not nested")
        off = np.zeros((len(codes), len(self.inner)))
        values = np.zeros_like(off)
        for k, one in enumerate(self.inner):
            if one.rounding is None:
                raise InternalError(f"no rounding is known of {one.family}")
            off[:, k] = [2 * nearest_double(error) for error in one.rounding.errors(one, codes)]
            values[:, k] = only_score(one, width).scores(codes)
        if isinstance(body.outer, Median):
            slope = abs(body.outer.slope)
            return [slope * Fraction(float(error)) for error in off.max(axis=1)]
        unsure = np.zeros(len(codes), dtype=bool)
        for k in range(len(self.inner)):
            tests = body.outer.ensemble.thresholds(k)
            if len(tests):
                first = np.searchsorted(tests, values[:, k] - off[:, k], side="left")
                unsure |= first != np.searchsorted(tests, values[:, k] + off[:, k], side="right")
        plain = [Fraction(0)] * len(codes) if self.outer is None else self.outer.errors(model, codes)
        return [self.size if beside else error for error, beside in zip(plain, unsure, strict=True)]

    def bound(self, model: Model, space: Space) -> None:
        return None

    def certified_error(self, model: Model, space: Space) -> None:
        return None

    def line(self) -> dict[str, Any] | None:
        return None

    def rescaled(self, by: AffineMap) -> NestedRounding:
        outer = None if self.outer is None else self.outer.rescaled(by)
        return replace(self, outer=outer, size=abs(by.slope) * self.size)

    def of_lead(self, share: Fraction) -> NestedRounding:
        """Of the program that computes two such scores, of a share of their difference."""
        return replace(self, outer=None, size=4 * share * self.size)

    def undescribed(self) -> NestedRounding:
        return self  # nothing is stated of it anyway

    def of_single_columns(
        self, model: Model, space: Space, columns: Sequence[ComputedColumn], *, described: bool
    ) -> None:
        return None

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> NestedRounding:
        raise InternalError("columns are described before scores are nested")
