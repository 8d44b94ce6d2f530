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

from likewise.errors import InternalError
from likewise.model.cases import ClassCase
from likewise.model.question import (
    Case,
    DecisionQuestion,
    GapQuestion,
    ProbabilityQuestion,
    lower_end,
    probability_threshold,
    sigma,
)
from likewise.spec.properties import ProbabilityGap, Property, SameDecision

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.classquestion import ClassQuestion
    from likewise.model.conditions import Enclosures
    from likewise.model.witness import Witness

    Floats = NDArray[np.float64]

Scale = Literal["score", "margin", "probability"]
BISECTIONS = 60
FINE = Fraction(1, 10**12)  # what lower and upper may stay apart, relatively, when they are made equal


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """One of the three scales; slope and offset are those of the link of probabilities."""

    of: Scale
    slope: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def question(self, level: Fraction) -> Case:
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

    @property
    def of_probability(self) -> bool:
        return self.of == "probability"

    def value_of(self, witness: Witness) -> Fraction:
        """What a witness amounts to at least."""
        return self.largest(*witness.scores)

    def largest(self, first: Enclosures, second: Enclosures) -> Fraction:
        """What two individuals amount to at least. A gap is that of anybody and themselves at least, however wide the enclosure."""
        value = self.value(first[0].lo, second[0].hi)
        return value if self.of == "margin" else max(value, Fraction(0))

    def finest(self, lower: Fraction, tolerance: Fraction) -> Fraction:
        """What is left between lower and upper where they are made equal."""
        return min(tolerance, FINE * (1 + abs(lower)))

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassGauge:
    """The same for several classes: the largest value over all cases. The value of a decision case is by how much all its conditions hold,
    the smallest of them: below 0 where no pair gets different decisions."""

    asked: ClassQuestion

    @property
    def of(self) -> Scale:
        return "margin" if self.asked.kind == "decision" else self.asked.kind

    @property
    def of_probability(self) -> bool:
        return self.asked.kind == "probability"

    def question(self, level: Fraction) -> ClassQuestion:
        """Is there a pair whose value is above this level?"""
        return self.asked.at(level)

    def value_of(self, witness: Witness) -> Fraction:
        """What a witness amounts to in the case that it breaks."""
        if not isinstance(witness.case, ClassCase):
            raise InternalError("a pair of several classes breaks a case of these")
        return witness.case.value(*witness.scores)

    def largest(self, first: Enclosures, second: Enclosures) -> Fraction:
        """What two individuals amount to at least, in any case and whichever way round."""
        return self.asked.value(first, second)

    def finest(self, lower: Fraction, tolerance: Fraction) -> Fraction:  # noqa: ARG002
        """A pair may lie on the border of a decision: right there it would be found again and again."""
        return FINE if self.asked.kind == "decision" else Fraction(0)

    def cap(self, lean: Floats, bound: Floats) -> Floats:
        """The value that a bound allows at most, in float64. Margins, and differences of softmax probabilities, are bounded as such; bounds of
        votes say nothing about a margin."""
        if self.asked.kind == "decision" and self.asked.head.rule == "votes":
            return np.full_like(bound, np.inf)
        softmax = self.asked.head.link == "softmax" and self.asked.kind == "probability"
        if softmax and self.asked.by_lines:
            return Gauge(of="probability").cap(lean, bound)
        return Gauge(of="margin" if self.asked.kind == "decision" or softmax else "score").cap(lean, bound)


AnyGauge = Gauge | ClassGauge


def gauge_of(property: Property) -> Gauge:
    """The scale on which a property's witnesses are measured."""
    if isinstance(property, SameDecision):
        return Gauge(of="margin")
    return Gauge(of="probability" if isinstance(property, ProbabilityGap) else "score")
