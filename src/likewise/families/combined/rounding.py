"""Rounding of programs that score several models, or one model in several settings, and combine what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError
from likewise.families.program_rounding import EXTRA_ROUNDINGS, ErrorBound, round_outward, rounding_growth
from likewise.families.scored_model import only_score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, ComputedColumn
    from likewise.families.scored_model import Model
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CombinedRounding:
    """The original program scores these models and combines what they say: it is off by no more than the one that is off most, and by
    the rounding of the mean. No certificate states it."""

    parts: tuple[Model, ...]

    def errors(self, model: Model, codes: Floats) -> list[Fraction]:
        """The largest error of a part, and the rounding of a mean of their scores."""
        each = [part.rounding.errors(part, codes) for part in self.parts if part.rounding is not None]
        if len(each) < len(self.parts):
            raise InternalError("no rounding is known of a part")
        errors = [max(row) for row in zip(*each, strict=True)]
        width = codes.shape[1]
        sizes = np.max([np.abs(only_score(part, width).scores(codes)) for part in self.parts], axis=0)
        most = 8 * float(np.finfo(np.float64).eps) * (len(self.parts) + 8)
        return [error + Fraction(most * size) for error, size in zip(errors, sizes.tolist(), strict=True)]

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        known = []
        for part in self.parts:
            found = None if part.rounding is None else part.rounding.bound(part, space)
            if found is None:
                return None
            known.append(found)
        size = max(part.size for part in known)
        return round_outward(
            max(part.error for part in known) + rounding_growth(len(known) + EXTRA_ROUNDINGS) * size, size
        )

    def certified_error(self, model: Model, space: Space) -> None:
        return None

    def line(self) -> dict[str, Any] | None:
        return None

    def rescaled(self, by: AffineMap) -> CombinedRounding:
        """As every part is."""
        return CombinedRounding(parts=tuple(_rescale_part(part, by) for part in self.parts))

    def undescribed(self) -> CombinedRounding:
        return self  # nothing is stated of it anyway

    def of_single_columns(
        self, model: Model, space: Space, columns: Sequence[ComputedColumn], *, described: bool
    ) -> None:
        return None

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> CombinedRounding:
        raise InternalError("columns are described before scores are combined")


def _rescale_part(part: Model, by: AffineMap) -> Model:
    rounding = None if part.rounding is None else part.rounding.rescaled(by)
    return replace(part, bodies=(part.body.rescaled(by, part.family),), rounding=rounding)
