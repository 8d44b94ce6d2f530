"""Gauge: how much a pair (or a bound) amounts to, on the scale of a property.

    score        s - s'                        the question at level v: is a gap above v possible?
    margin       min(s, -s')                   by how much the two decisions are on opposite sides
    score        exp(s) - exp(s'), of a regressor that predicts that
    probability  sigma(g) - sigma(g')          g = slope s + offset, slope > 0; or a difference of two softmax probabilities

of the only score, or the largest of these over all cases of several; the value of a decision between several classes is by how much all conditions of a case
hold. Each is a ladder of questions, one a level: the witness sets shrink as the level rises. A bound B of lean s - (1 - lean) s' over a cell caps the
value at the level whose line has T(lean) = B.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.model.witness_set import prediction_offset, probability_threshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Witness
    from likewise.model.conditions import Enclosures
    from likewise.model.question import Question
    from likewise.spec.properties import Property

    Floats = NDArray[np.float64]

Scale = Literal["score", "margin", "probability"]
BISECTIONS = 60
RELATIVE_FINENESS = Fraction(
    1, 10**12
)  # what lower and upper may stay apart, relatively, when they are made equal


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """The questions that one asks at other levels."""

    asked: Question

    @property
    def of(self) -> Scale:
        if self.asked.kind == "prediction":
            return "score"
        return "margin" if self.asked.kind == "decision" else self.asked.kind

    def question(self, level: Fraction) -> Question:
        """Is there a pair whose value is above this level?"""
        return self.asked.at(level)

    def value_of(self, witness: Witness) -> Fraction:
        """What a witness amounts to at least, in the case that it breaks."""
        return self._at_least(witness.case.value(*witness.scores))

    def largest(self, first: Enclosures, second: Enclosures) -> Fraction:
        """What two individuals amount to at least, in any case and whichever way round."""
        return self._at_least(self.asked.value(first, second))

    def _at_least(self, value: Fraction) -> Fraction:
        """A gap is that of anybody and themselves at least, however wide the enclosures."""
        return value if self.of == "margin" else max(value, Fraction(0))

    def finest(self, lower: Fraction, tolerance: Fraction) -> Fraction:
        """What is left between lower and upper where they are made equal. A pair of several scores may lie on the border of a decision: right there it
        would be found again and again."""
        if not self.asked.several:
            return min(tolerance, RELATIVE_FINENESS * (1 + abs(lower)))
        return RELATIVE_FINENESS if self.of == "margin" else Fraction(0)

    def cap(self, lean: Floats, bound: Floats) -> Floats:
        """The value that a bound in this direction allows at most, in float64. Margins, and differences of softmax probabilities that are bounded as
        such, are their own bounds; bounds of votes say nothing about a margin."""
        asked, head = self.asked, self.asked.head
        if asked.kind == "decision":
            return np.full_like(bound, np.inf) if head.rule == "votes" else bound
        if asked.kind == "score" or head.link == "identity":
            return np.where(lean == 0.5, 2 * bound, np.inf)
        if asked.kind == "prediction":
            return _cap_prediction(lean, bound)
        if asked.softmax and not asked.by_lines:
            return bound
        bound = float(abs(head.slope)) * bound + (2 * lean - 1) * float(head.offset)
        low, high = np.zeros_like(bound), np.ones_like(bound)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            below = probability_threshold(lean, middle) < bound
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return high


def _cap_prediction(lean: Floats, bound: Floats) -> Floats:
    """delta with T(lean) = bound, as T is (2 lean - 1) log delta and a number more; at the lean 1/2 a bound of 0 says that nobody is apart."""
    with np.errstate(all="ignore"):
        value = np.exp((bound - prediction_offset(lean)) / (2 * lean - 1))
    return np.where(lean > 0.5, value, np.where((lean == 0.5) & (bound <= 0), 0.0, np.inf))


def scale_of(property: Property) -> Scale:
    """The scale on which a property's witnesses are measured."""
    if property.kind == "lipschitz":
        return "score"
    return "margin" if property.kind == "decision" else property.kind
