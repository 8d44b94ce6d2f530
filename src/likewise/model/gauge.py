"""Gauge: how much a pair (or a bound) amounts to, on the scale of a property.

    score        s - s'                        the question at level v: is a gap above v possible?
    margin       min(s, -s')                   by how much the two decisions are on opposite sides
    probability  sigma(g) - sigma(g')          g = slope s + offset, slope > 0

Each is a ladder of questions, one a level: the witness sets shrink as the level rises. A bound B of
lean s - (1 - lean) s' over a cell caps the value at the level whose line has T(lean) = B.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
from flint import ctx

from likewise.model.question import (
    DecisionQuestion,
    GapQuestion,
    ProbabilityQuestion,
    Question,
    lower_end,
    probability_threshold,
    sigma,
)
from likewise.spec.properties import ProbabilityGap, Property, SameDecision

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Scale = Literal["score", "margin", "probability"]
BISECTIONS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """One of the three scales; slope and offset are those of the link of probabilities."""

    of: Scale
    slope: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def question(self, level: Fraction) -> Question:
        """Is there a pair whose value is above this level?"""
        if self.of == "score":
            return GapQuestion(delta=level)
        if self.of == "margin":
            return DecisionQuestion(level=level)
        if level <= 0:
            return GapQuestion(delta=Fraction(0))
        return ProbabilityQuestion(delta=level, slope=self.slope, offset=self.offset)

    def value(self, first: Fraction, second: Fraction) -> Fraction:
        """The value of a pair: exact, or for probabilities a proved lower bound within 2^-100 of it."""
        if self.of == "score":
            return first - second
        if self.of == "margin":
            return min(first, -second)
        if first == second:
            return Fraction(0)
        with ctx.workprec(128):
            linked = [sigma(self.slope * score + self.offset) for score in (first, second)]
            return lower_end(linked[0] - linked[1])

    def cap(self, lean: Floats, bound: Floats) -> Floats:
        """The value that a bound in this direction allows at most, in float64."""
        if self.of == "score":
            return np.where(lean == 0.5, 2 * bound, np.inf)
        if self.of == "margin":
            return bound
        bound = float(self.slope) * bound + (2 * lean - 1) * float(self.offset)
        low, high = np.zeros_like(bound), np.ones_like(bound)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            below = probability_threshold(lean, middle) < bound
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return high


def gauge_of(property: Property) -> Gauge:
    """The scale on which a property's witnesses are measured."""
    if isinstance(property, SameDecision):
        return Gauge(of="margin")
    return Gauge(of="probability" if isinstance(property, ProbabilityGap) else "score")
