"""What float64 scores with a proved error say about a question, for many pairs at once.

A pair (s, s') of true scores lies within (errors) of the computed one. It is certainly a witness if every pair that near is one, and
possibly if some pair is. `COMPARISON_SLACK` covers the few roundings of the comparison itself, 2^-53 of what is compared each.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.exponential import exp_minus
from likewise.families.score_judge import are_ordinary, rounding_growth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.head import Head
    from likewise.model.question import Question

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

COMPARISON_SLACK = 2.0**-49
EXP_ERROR = 2.0**-49  # 4 u of the exponential, and a quotient, with room
LARGEST_EXPONENT = 600.0
FEWEST_DIGITS = 0.125  # an error of a score beyond which nothing is said of its exponential
SIGMA_ERROR = 2.0**-50  # 4 u of the exponential, a sum and a quotient: at most 8 u


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreEstimate:
    """Numbers, each within `error` of a true score."""

    value: Floats
    error: Floats

    @staticmethod
    def unknown(count: int) -> ScoreEstimate:
        return ScoreEstimate(value=np.full(count, np.nan), error=np.full(count, np.inf))

    def take(self, some: NDArray[np.intp] | slice, known: ScoreEstimate) -> None:
        """Fill in what is known of some."""
        self.value[some], self.error[some] = known.value, known.error


def answer_pairs(question: Question, first: ScoreEstimate, second: ScoreEstimate) -> tuple[Flags, Flags]:
    """Which pairs, by one score and in this order, certainly break the property, and which possibly; NaN is nobody, so neither."""
    level = float(question.level)
    with np.errstate(invalid="ignore", over="ignore"):
        if question.kind == "decision":
            return _both_hold(
                _exceeds(first.value - level, first, level), _exceeds(-second.value - level, second, level)
            )
        if _by_sigma(question) and question.level > 0:  # a gap above 0 is one of scores
            here, there = probability(question.head, first), probability(question.head, second)
            return certain_and_possible(
                here.value - there.value - level, here.error + there.error + COMPARISON_SLACK
            )
        if question.kind == "prediction" and question.level > 0:
            first, second = predicted(first), predicted(second)
        room = first.error + second.error
        room = room + COMPARISON_SLACK * (np.abs(first.value) + np.abs(second.value) + level)
        return certain_and_possible(first.value - second.value - level, room)


def answer_either_way(question: Question, one: ScoreEstimate, other: ScoreEstimate) -> tuple[Flags, Flags]:
    """The same for pairs in either order."""
    (sure, may), (sure2, may2) = answer_pairs(question, one, other), answer_pairs(question, other, one)
    return sure | sure2, may | may2


def certain_and_possible(excess: Floats, room: Floats) -> tuple[Flags, Flags]:
    """What is above 0 certainly, and possibly, if it is off by at most `room`. Infinite room says nothing: certainly nobody, possibly everybody."""
    return excess > room, excess >= -room


def probability(head: Head, score: ScoreEstimate) -> ScoreEstimate:
    """That of one label by the only score, rising with it: the score is turned round where it falls (`Question.mirrored`)."""
    return link_scores(score, abs(head.slope), head.offset)


def link_scores(score: ScoreEstimate, slope: Fraction, offset: Fraction) -> ScoreEstimate:
    """sigma(slope s + offset): sigma has slope 1/4 at most. NaN, which is nobody's score, stays NaN."""
    by, to = float(slope), float(offset)
    argument = by * score.value + to
    size = np.abs(by * score.value) + abs(to)
    moved = abs(by) * score.error * 1.001 + rounding_growth(4) * size
    nobody = np.isnan(argument)
    small = exp_minus(np.where(nobody, 0.0, np.abs(argument)))
    value = np.where(nobody, np.nan, np.where(argument >= 0, 1.0, small) / (1 + small))
    error = moved / 4 + SIGMA_ERROR if are_ordinary((slope, offset)) else np.full_like(moved, np.inf)
    return ScoreEstimate(value=value, error=error)


def differences(question: Question, one: ScoreEstimate, other: ScoreEstimate) -> tuple[Floats, Floats]:
    """How far the first is above the second by one score, on its scale or on that of probabilities, and the error of that."""
    if _by_sigma(question):
        one, other = probability(question.head, one), probability(question.head, other)
    if question.kind == "prediction":
        one, other = predicted(one), predicted(other)
    apart: Floats = one.value - other.value
    return apart, one.error + other.error + COMPARISON_SLACK * (np.abs(one.value) + np.abs(other.value))


def predicted(score: ScoreEstimate) -> ScoreEstimate:
    """exp(s). An error e of a score makes a factor of at most exp(e), and exp(e) - 1 <= 1.1 e up to e = 1/8; where more is unknown, or exp is no ordinary number, nothing is said."""
    nobody = np.isnan(score.value)
    known = (np.abs(score.value) <= LARGEST_EXPONENT) & (score.error <= FEWEST_DIGITS)
    argument = np.where(known, score.value, 0.0)
    small = exp_minus(np.abs(argument))
    value = np.where(argument >= 0, 1 / small, small)
    error = value * (1.2 * np.where(known, score.error, 0.0) + EXP_ERROR)
    return ScoreEstimate(value=np.where(nobody, np.nan, value), error=np.where(known | nobody, error, np.inf))


def _by_sigma(question: Question) -> bool:
    """Whether it is about probabilities that are sigma of the only score."""
    return question.kind == "probability" and question.head.link == "logistic"


def _exceeds(excess: Floats, score: ScoreEstimate, level: float) -> tuple[Flags, Flags]:
    return certain_and_possible(excess, score.error + COMPARISON_SLACK * (np.abs(score.value) + level))


def _both_hold(first: tuple[Flags, Flags], second: tuple[Flags, Flags]) -> tuple[Flags, Flags]:
    return first[0] & second[0], first[1] & second[1]
