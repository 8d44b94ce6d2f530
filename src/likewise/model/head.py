"""Head: from n >= 1 scores to what people see: a decision, probabilities, or the number itself.

    number   one score, which is the answer itself (a regressor)
    sign     one score: a decision between two labels by its sign
    argmax   a score a class; the class is the smallest i with f_i >= f_k for all k
    votes    a score for each pair of classes (0,1), (0,2), ..., (1,2), ...: it votes for the first one if it is > 0,
             else for the second one; the class is the smallest one among those with the most votes (libsvm)

A decision by sign is the *upper* label where the score is above zero and the *lower* label where it is
below. The score zero belongs to the lower label in scikit-learn's linear models (`decision_function > 0`)
and to the upper one in libsvm's (`SVC.predict` asks whether the score is below zero): `zero_is_upper`.

A number may be exp(f) (link exponential), up to a constant that cancels in gaps: then claims about gaps of scores are about gaps of that.
Probabilities are sigma(slope f + offset) of the upper label by `sign` (link logistic), or f + offset
(identity), where a threshold was taken off them; with a score a class the scores themselves (identity), or
exp(f_c) / sum_k exp(f_k) (softmax). Where an estimator decides by that probability and not by
the sign of f (a calibrated kernel model, whose calibration cannot be worked into the score exactly), it is `undecided`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
from flint import arb, fmpq

from likewise.errors import InternalError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.enclosure import Enclosure

    Floats = NDArray[np.float64]
    Enclosures = tuple[Enclosure, ...]

Rule = Literal["number", "sign", "argmax", "votes"]
Link = Literal["logistic", "identity", "softmax", "exponential"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """`labels` of all classes in order, (lower, upper) by sign, None for a regressor; `link` is how scores become probabilities, and `unlinked`
    tells why there is none where the estimator does give probabilities; `undecided` tells why no claim about its decisions can be made."""

    labels: tuple[object, ...] | None
    rule: Rule = "sign"
    link: Link | None = None
    zero_is_upper: bool = False
    unlinked: str | None = None
    slope: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    undecided: str | None = None

    def __post_init__(self) -> None:
        if (self.labels is None) != (self.rule == "number") or (
            self.rule == "sign" and len(self.classes) != 2
        ):
            raise InternalError(f"a head of the rule {self.rule!r} cannot have the labels {self.labels!r}")

    @property
    def classes(self) -> tuple[object, ...]:
        """The labels; none of a regressor."""
        return self.labels or ()

    @property
    def n_scores(self) -> int:
        """How many scores it decides from."""
        count = len(self.classes)
        return {"argmax": count, "votes": count * (count - 1) // 2}.get(self.rule, 1)

    def link_argument(self, score: Fraction) -> Fraction:
        """What sigma is taken of, of one score."""
        return self.slope * score + self.offset

    def decision_score(self, score: Fraction) -> Fraction:
        """The number whose sign decides, of one score."""
        return score if self.undecided is None else self.link_argument(score)

    def place(self, scores: Sequence[Fraction]) -> int:
        """Which of the classes an individual with these scores gets."""
        if self.rule == "argmax":
            return argmax(scores)
        if self.rule == "votes":
            return most_voted(count_votes(len(self.classes), scores))
        (score,) = scores
        value = self.decision_score(score)
        return int(value > 0 or (self.zero_is_upper and value == 0))

    @property
    def probable(self) -> bool:
        """Whether there are probabilities."""
        return self.link is not None and self.labels is not None

    @property
    def shifted(self) -> bool:
        """Whether the only score is the probability of the upper label, less a threshold."""
        return self.rule == "sign" and self.link == "identity"

    def decide(self, scores: Sequence[Fraction]) -> object:
        """The label of an individual with these scores, or the number itself."""
        return scores[0] if self.labels is None else self.labels[self.place(scores)]


NUMBER_HEAD = Head(labels=None, rule="number")
SMALLEST_EXPONENT = 4096  # of ends of balls, in bits


def argmax(scores: Sequence[Fraction]) -> int:
    """The smallest index of a largest score."""
    return max(range(len(scores)), key=lambda i: (scores[i], -i))


def vote_pairs(classes: int) -> list[tuple[int, int]]:
    """The pairs of classes that scores of `count_votes` belong to, in order."""
    return list(combinations(range(classes), 2))


def count_votes(classes: int, scores: Sequence[Fraction]) -> list[int]:
    """How many votes each class gets."""
    count = [0] * classes
    for (first, second), score in zip(vote_pairs(classes), scores, strict=True):
        count[first if score > 0 else second] += 1
    return count


def most_voted(count: Sequence[int]) -> int:
    """The smallest class among those with the most votes."""
    return max(range(len(count)), key=lambda i: (count[i], -i))


# -- links: from scores to probabilities ---------------------------------------------------------------------
# logistic   sigma(s) = 1 / (1 + exp(-s))
# softmax    P_c = exp(f_c) / sum_k exp(f_k) = sigma(z),  z = -log sum over k != c of exp(f_k - f_c)


def logistic(score: Floats) -> Floats:
    """sigma without overflow, with all digits also where it is close to 0."""
    small = np.exp(-np.abs(score))
    value: Floats = np.where(score >= 0, 1.0, small) / (1 + small)
    return value


def logit(p: Floats) -> Floats:
    """What sigma is p of."""
    value: Floats = np.log(p) - np.log1p(-p)
    return value


def log_odds(scores: Floats, of: int) -> Floats:
    """z of a class, of rows of scores."""
    apart = np.delete(scores, of, axis=1) - scores[:, of : of + 1]
    largest = apart.max(axis=1)
    z: Floats = -(largest + np.log(np.exp(apart - largest[:, None]).sum(axis=1)))
    return z


# -- as balls, at the current precision ---------------------------------------------------------------------


def sigma(score: Fraction) -> arb:
    """sigma of an exact score."""
    # exp of a negative number only: exp(1e300) overflows even a ball.
    small = (-ball(abs(score))).exp()
    return 1 / (1 + small) if score >= 0 else small / (1 + small)


def softmax_ball(scores: Enclosures, of: int) -> arb:
    """P_c of exact scores; the largest is taken out, so that nothing overflows."""
    largest = max(score.lo for score in scores)
    powers = [ball(score.lo - largest).exp() for score in scores]
    total = arb(0)
    for power in powers:
        total += power
    return powers[of] / total


def ball(value: Fraction) -> arb:
    """A rational as a ball."""
    return arb(fmpq(value.numerator, value.denominator))


def lower_end(ball: arb) -> Fraction:
    """The lower end of a ball as an exact rational; of one that is closer to 0 than any double a rational below it, so that exp of what is far away takes no time."""
    mantissa, exponent = (int(part) for part in ball.lower().man_exp())
    if mantissa.bit_length() + exponent < -SMALLEST_EXPONENT:
        return Fraction(0) if mantissa >= 0 else -Fraction(1, 2**SMALLEST_EXPONENT)
    return Fraction(mantissa) * Fraction(2) ** exponent
