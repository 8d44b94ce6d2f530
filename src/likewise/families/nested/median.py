"""The lower weighted median of several numbers: the smallest of them up to which there is half of all weight, times a slope, plus an offset.

In float64 for many rows, exactly for one. Where limits of the numbers are known at x and at x', both medians lie between medians of limits, and are those of the numbers clipped to
where medians can be: they differ by no more than one of these does (specification, section 24).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.spec.numbers import format_number
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap

    Floats = NDArray[np.float64]

COST = 2  # of one number, in kernel values


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Median:
    """offset + slope M(z), the weights of M above 0."""

    weights: tuple[Fraction, ...]
    slope: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def scaled(self, by: Fraction) -> Median:
        """A multiple of it."""
        return replace(self, slope=by * self.slope, offset=by * self.offset)

    def rescaled(self, by: AffineMap, kind: str) -> Median:  # noqa: ARG002
        """slope times this plus offset."""
        made = self.scaled(by.slope)
        return replace(made, offset=made.offset + by.offset)

    def negated(self) -> Median:
        return self.scaled(Fraction(-1))

    def depends(self, place: int) -> bool:
        """Whether it can change with one of the numbers."""
        return self.weights[place] > 0

    @property
    def cost(self) -> int:
        return COST * len(self.weights)

    # -- values ---------------------------------------------------------------------------------------------------

    def exact(self, values: Sequence[Fraction]) -> Fraction:
        """Of one row."""
        half, weight = sum(self.weights, Fraction(0)) / 2, Fraction(0)
        order = sorted(range(len(values)), key=values.__getitem__)
        found = values[order[-1]]
        for k in order:
            weight += self.weights[k]
            if weight >= half:
                found = values[k]
                break
        return self.offset + self.slope * found

    def medians(self, values: Floats) -> Floats:
        """M of many rows."""
        weights = np.array([nearest_double(w) for w in self.weights])
        order = np.argsort(values, axis=1, kind="stable")
        reached = np.cumsum(weights[order], axis=1)
        place = (reached >= reached[:, -1:] / 2).argmax(axis=1)
        rows = np.arange(len(values))
        found: Floats = values[rows, order[rows, place]]
        return found

    def scores(self, values: Floats) -> Floats:
        """Of many rows in float64."""
        return nearest_double(self.offset) + nearest_double(self.slope) * self.medians(values)

    # -- bounds ---------------------------------------------------------------------------------------------------

    def bound(
        self, limits: Sequence[Floats], fall: Floats, rise: Floats, lean: Floats
    ) -> tuple[Floats, Floats]:
        """For many cells the most that lean s(x) - (1 - lean) s(x') can be, and by how much each of the numbers can fall (rise, if the slope is below 0). Limits are
        (cells, numbers): at x from below and above, at x' from below and above."""
        low, high, other_low, other_high = limits
        a, b, slope = lean, 1 - lean, nearest_double(self.slope)
        if slope < 0:
            a, b, slope = b, a, -slope
            low, high, other_low, other_high, fall = other_low, other_high, low, high, rise
        with np.errstate(invalid="ignore"):  # limits of cells without pairs are infinite, on the wrong side
            top, bottom = self.medians(high), self.medians(other_low)
            least = np.minimum(self.medians(low), bottom)[:, None]
            most = np.maximum(top, self.medians(other_high))[:, None]
            falls = np.clip(high, least, most) - np.clip(other_low, least, most)
            falls = np.minimum(falls, np.maximum(fall, 0.0))
            both = np.minimum(a, b)
            gap = np.minimum(top - bottom, falls.max(axis=1))
            largest = both * gap + (a - both) * top - (b - both) * bottom
            upper: Floats = (2 * lean - 1) * nearest_double(self.offset) + slope * largest
        return upper, falls

    def line(self) -> dict[str, Any]:
        """As a certificate has it."""
        return {
            "kind": "median",
            "weights": [format_number(weight) for weight in self.weights],
            "slope": format_number(self.slope),
            "offset": format_number(self.offset),
        }
