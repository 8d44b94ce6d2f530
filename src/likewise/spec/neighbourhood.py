"""Neighbourhoods: everybody who is at most so far from a row of the data.

The distance of two individuals is that of the feature in which they are furthest apart: a number or an ordered level counts by the share of its range in the space that lies between
the two, any other level 0 or 1. So everybody is within 1 of everybody; nearer than 1 means the same levels; and whoever is within a distance of a row lies in a box around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DataError, SpecError
from likewise.spec.boxes import Box, full_part
from likewise.spec.features import Categorical, Continuous, Integer
from likewise.spec.numbers import double_above, double_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.boxes import FeaturePart
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

ROUNDING = 1e-9  # rows that float64 finds as near as this to the nearest are compared exactly


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Neighbourhood:
    """Everybody of a space within a distance of one of some rows.

    Attributes
    ----------
    space : Space
        Of which it is a part.
    rows : array
        The different rows by their codes.
    distance : Fraction
        From 0, the rows alone, to 1, everybody.
    counted : tuple of int
        The features that count.
    """

    space: Space
    rows: Floats
    distance: Fraction
    counted: tuple[int, ...]

    @classmethod
    def around(cls, space: Space, codes: Floats, distance: float | Fraction) -> Neighbourhood:
        """Of rows by their codes, all features counted."""
        if not len(codes):
            raise DataError("there are no rows to be near to")
        for name in space.names:
            if space[name].missing:
                raise SpecError(
                    f"{name!r} may be missing, and nobody who misses a value is near to anybody",
                    hint="declare the feature without missing values",
                )
        checked = check_distance(distance)
        return cls(
            space=space,
            rows=np.unique(codes, axis=0),
            distance=checked,
            counted=tuple(range(len(space.names))),
        )

    def within(self, distance: Fraction) -> Neighbourhood:
        """The same around the same rows, nearer or further."""
        return replace(self, distance=distance)

    def leaving_out(self, places: Sequence[int]) -> Neighbourhood:
        """The same, some features not counted: nobody is far from anybody because of them."""
        kept = tuple(k for k in self.counted if k not in places)
        rows = self.rows.copy()
        rows[:, list(places)] = self.rows[0, list(places)]
        return replace(self, rows=np.unique(rows, axis=0), counted=kept)

    def contains(self, frame: Any) -> list[bool]:
        """For each row of a frame whether it is in it, decided exactly."""
        codes = self.space.encode(frame, allow_extra=True)
        return [self.nearest(one)[1] <= self.distance for one in codes]

    def nearest(self, codes: Floats) -> tuple[int, Fraction]:
        """The row that is nearest to an individual, by its place among `rows`, and how far it is; exactly."""
        spans = [self._span(k) for k in self.counted]
        apart = np.zeros(len(self.rows))
        for k, span in zip(self.counted, spans, strict=True):
            difference = np.abs(self.rows[:, k] - codes[k])
            apart = np.maximum(apart, difference > 0 if span is None else difference / float(span))
        close = np.flatnonzero(apart <= apart.min() + ROUNDING).tolist()
        exact = [(self._exact_distance(codes, self.rows[i], spans), i) for i in close]
        distance, place = min(exact)
        return place, distance

    def _exact_distance(self, one: Floats, other: Floats, spans: Sequence[Fraction | None]) -> Fraction:
        parts = [Fraction(0)]
        for k, span in zip(self.counted, spans, strict=True):
            difference = abs(Fraction(float(one[k])) - Fraction(float(other[k])))
            parts.append(Fraction(difference != 0) if span is None else difference / span)
        return max(parts)

    def _span(self, k: int) -> Fraction | None:
        """The range of a number, the steps between ordered levels; None for levels without an order."""
        feature = self.space[self.space.names[k]]
        if isinstance(feature, Categorical):
            return None
        ends = (
            (feature.lo, feature.hi) if isinstance(feature, Continuous | Integer) else (0, feature.size - 1)
        )
        return (Fraction(ends[1]) - Fraction(ends[0])) or Fraction(1)

    def spreads(self, rows: Floats) -> list[float]:
        """How far some rows are apart in each feature that counts, from 0 to 1."""
        found = []
        for k in self.counted:
            span, apart = self._span(k), float(rows[:, k].max() - rows[:, k].min())
            found.append(float(apart > 0) if span is None else apart / float(span))
        return found

    def hull(self, places: Sequence[int] | slice = slice(None)) -> Box:
        """A box that holds everybody within the distance of these rows, by their places: around one row nobody else. Numbers are doubles, so that ends are the last doubles within the distance."""
        rows = self.rows[places]
        parts = [
            self._part(k, rows[:, k]) if k in self.counted else full_part(self.space[name])
            for k, name in enumerate(self.space.names)
        ]
        return Box(self.space, tuple(parts))

    def _part(self, k: int, codes: Floats) -> FeaturePart:
        feature, span = self.space[self.space.names[k]], self._span(k)
        if self.distance >= 1:
            return full_part(feature)
        if span is None:
            return tuple(sorted({int(code) for code in codes}))
        reach = self.distance * span
        low, high = Fraction(float(codes.min())) - reach, Fraction(float(codes.max())) + reach
        if isinstance(feature, Continuous):
            return (max(double_above(low), feature.lo), min(double_below(high), feature.hi))
        if isinstance(feature, Integer):
            return (max(_ceiling(low), feature.lo), min(high.__floor__(), feature.hi))
        return tuple(range(max(_ceiling(low), 0), min(high.__floor__(), feature.size - 1) + 1))


def check_distance(distance: object) -> Fraction:
    """A distance, exactly; refused where it is none."""
    if (
        isinstance(distance, bool)
        or not isinstance(distance, int | float | Fraction)
        or not 0 <= distance <= 1
    ):
        raise SpecError(
            f"a distance is a number from 0 to 1, not {distance!r}",
            hint="0.1: numbers within a tenth of their ranges, and the same levels",
        )
    return Fraction(distance)


def _ceiling(value: Fraction) -> int:
    return -((-value).__floor__())
