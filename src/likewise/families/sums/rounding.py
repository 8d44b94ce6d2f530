"""Rounding of programs that score several models and add up what they say, some of it through a link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError
from likewise.families.program_rounding import EXTRA_ROUNDINGS, ErrorBound, round_outward, rounding_growth
from likewise.families.scored_model import only_score
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, ComputedColumn
    from likewise.families.scored_model import Model
    from likewise.families.sums.chains import Chain
    from likewise.families.sums.links import Link
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

SINGLE_ROUNDING = 2.0**-24  # of programs that answer in float32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SumRounding:
    """The original program scores these models, sends what they say through the links and adds it up. `slack` is what else the sum as mathematics may be off by: of
    shares of trees that do not add up to 1 exactly. No certificate states it."""

    parts: tuple[Model, ...]
    links: tuple[Link | Chain, ...]
    weights: tuple[Fraction, ...]
    bias: Fraction
    slack: Fraction = Fraction(0)
    bits: int = 53
    bounded: bool = True  # False: the program does more than this with its numbers

    def errors(self, model: Model, codes: Floats) -> list[Fraction]:
        """About how far two programs may be apart at each row."""
        width = codes.shape[1]
        total, size = (
            np.full(len(codes), float(self.slack)),
            np.full(len(codes), abs(nearest_double(self.bias))),
        )
        for part, link, weight in zip(self.parts, self.links, self.weights, strict=True):
            if not weight:
                continue
            if part.rounding is None:
                raise InternalError(f"no rounding is known of {part.family}")
            off = np.array([nearest_double(error) for error in part.rounding.errors(part, codes)])
            rounding = 8 * 2.0 ** (1 - self._bits_of(part))
            values, moved = link.judged(only_score(part, width).scores(codes), 2 * off, rounding)
            moved = moved + (rounding if link.kind == "chain" else 0.0)
            total += abs(nearest_double(weight)) * moved
            size += abs(nearest_double(weight)) * np.abs(values)
        most = 8 * 2.0 ** (1 - self.bits) * (len(self.parts) + 8)
        return [Fraction(float(one)) for one in total + most * size]

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        if not self.bounded:
            return None
        error, size = float(self.slack), abs(nearest_double(self.bias))
        for part, link, weight in zip(self.parts, self.links, self.weights, strict=True):
            if not weight:
                continue
            largest = link.largest()
            found = None if part.rounding is None else part.rounding.bound(part, space)
            bits = self._bits_of(part) if link.kind == "chain" else self.bits
            moved = (
                None if found is None else link.carried(found.error, rounding_growth(EXTRA_ROUNDINGS, bits))
            )
            if found is None or moved is None:
                return None
            factor = abs(nearest_double(weight))
            error += factor * moved
            size += factor * (found.size if largest is None else largest)
        growth = rounding_growth(len(self.parts) + EXTRA_ROUNDINGS, self.bits)
        return round_outward(error + growth * size, size)

    def _bits_of(self, part: Model) -> int:
        """In which a program makes a probability of a part's score, and a calibration of that."""
        return min(self.bits, getattr(part.rounding, "bits", self.bits))

    def certified_error(self, model: Model, space: Space) -> None:
        return None

    def line(self) -> dict[str, Any] | None:
        return None

    def rescaled(self, by: AffineMap) -> SumRounding:
        return replace(
            self,
            weights=tuple(by.slope * weight for weight in self.weights),
            bias=abs(by.slope * self.bias) + abs(by.offset) + by.size,
            slack=abs(by.slope) * self.slack,
        )

    def undescribed(self) -> SumRounding:
        return self  # nothing is stated of it anyway

    def of_single_columns(
        self, model: Model, space: Space, columns: Sequence[ComputedColumn], *, described: bool
    ) -> None:
        return None

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> SumRounding:
        """Of parts that are all over these columns."""
        parts = []
        for part in self.parts:
            if part.rounding is None:
                raise InternalError(f"no rounding is known of {part.family}")
            parts.append(replace(part, rounding=part.rounding.of_columns(columns, described=described)))
        return replace(self, parts=tuple(parts))


def sum_rounding(rounding: object) -> SumRounding | None:
    """The rounding, if it is that of a sum."""
    return rounding if isinstance(rounding, SumRounding) else None
