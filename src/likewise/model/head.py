"""Head: from a score to what people see: a decision, a probability, or the number itself.

A binary decision is the *upper* label where the score is above zero and the *lower* label where it is
below. The score zero belongs to the lower label in scikit-learn's linear models (`decision_function > 0`)
and to the upper one in libsvm's (`SVC.predict` asks whether the score is below zero): `zero_is_upper`.

The probability of the upper label is sigma(slope f + offset), f the score. Where an estimator decides by that probability and not by
the sign of f (a calibrated kernel model, whose calibration cannot be worked into the score exactly), it is `undecided`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

Link = Literal["logistic"] | None
Rule = Literal["argmax", "votes"]
ClassLink = Literal["identity", "softmax"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """`labels` is (lower, upper) for a classifier and None for a regressor; `link` maps score to probability,
    and `unlinked` tells why there is none where the estimator does give probabilities; `undecided` tells why no claim
    about its decisions can be made."""

    labels: tuple[object, object] | None
    link: Link = None
    zero_is_upper: bool = False
    unlinked: str | None = None
    slope: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    undecided: str | None = None

    def linked(self, score: Fraction) -> Fraction:
        """What sigma is taken of."""
        return self.slope * score + self.offset

    def deciding(self, score: Fraction) -> Fraction:
        """The number whose sign decides."""
        return score if self.undecided is None else self.linked(score)

    def decide(self, score: Fraction) -> object:
        if self.labels is None:
            return score
        value = self.deciding(score)
        upper = value > 0 or (self.zero_is_upper and value == 0)
        return self.labels[1] if upper else self.labels[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassHead:
    """`labels` of all classes in order; `link` is how scores become probabilities, `unlinked` tells why there is none
    where the estimator does give probabilities."""

    labels: tuple[object, ...]
    rule: Rule
    link: ClassLink | None = None
    unlinked: str | None = None

    @property
    def n_scores(self) -> int:
        count = len(self.labels)
        return count if self.rule == "argmax" else count * (count - 1) // 2

    def decide(self, scores: Sequence[Fraction]) -> int:
        """The class of an individual with these scores."""
        return argmax(scores) if self.rule == "argmax" else winner(votes(len(self.labels), scores))


def argmax(scores: Sequence[Fraction]) -> int:
    """The smallest index of a largest score."""
    return max(range(len(scores)), key=lambda i: (scores[i], -i))


def duels(classes: int) -> list[tuple[int, int]]:
    """The pairs of classes that scores of `votes` belong to, in order."""
    return list(combinations(range(classes), 2))


def votes(classes: int, scores: Sequence[Fraction]) -> list[int]:
    """How many votes each class gets."""
    count = [0] * classes
    for (first, second), score in zip(duels(classes), scores, strict=True):
        count[first if score > 0 else second] += 1
    return count


def winner(count: Sequence[int]) -> int:
    """The smallest class among those with the most votes."""
    return max(range(len(count)), key=lambda i: (count[i], -i))
