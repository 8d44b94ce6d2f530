"""Cases: what is asked of the pairs of a model of several classes, one case at a time.

A property is broken by a pair of one of its cases:

    decision      x is of class i and x' of class j, i < j (or i the class of interest); for votes, a cube of each
    score         f_c(x) - f_c(x') > delta, for one class c
    probability   the same (link identity), or P_c(x) - P_c(x') > delta with P_c = exp(f_c) / sum_k exp(f_k)

A decision case holds where all its *conditions* do: forms of the scores at x and at x' that must be > margin (>= where not strict).
Each condition F of x with each condition G' of x' is a question about two numbers, F(x) > m and -G'(x') < -m, which a line can
answer with no, as for two classes. A *signal* is the number that a case is about, at x and at x': (signal, signal') is in the case's W
exactly where the pair is a witness; conditions are taken together by their minimum, which no line sees, but a search for pairs does.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx, fmpq

from likewise.model.conditions import Condition, Enclosures, both, form_of, has_class, lead, least_of
from likewise.model.head import Head
from likewise.model.question import DecisionQuestion, Direction, WitnessSet, lower_end
from likewise.spec.enclosure import MOST_BITS, Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalQuestion(DecisionQuestion):
    """F(x) > m and -G(x') > m, either of them >= where it is not strict."""

    strict: tuple[bool, bool] = (True, False)

    def attained(self, lean: float) -> bool:
        return not ((lean > 0 and self.strict[0]) or (lean < 1 and self.strict[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCase:
    """One case of a property of several classes; `line` is the set of two numbers that its lines separate from: what it does not say itself,
    `line` says."""

    line: WitnessSet
    head: Head

    def seen(self, rivals: tuple[int, int] | None) -> WitnessSet:  # noqa: ARG002 (no conditions)
        return self.line

    def threshold(self, lean: Floats) -> Floats:
        return self.line.threshold(lean)

    def balance(self, lean: Floats) -> Floats:
        return self.line.balance(lean)

    def direction(self, lean: Fraction) -> Direction:
        return self.line.direction(lean)

    def admits(self, lean: Fraction) -> bool:
        return self.line.admits(lean)

    def leans(self) -> tuple[float, ...]:
        return self.line.leans()

    def lean_at(self, second: float) -> float | None:
        return self.line.lean_at(second)

    def margin(self, first: Floats, second: Floats) -> Floats:
        """How deep in W two signals are; > 0 inside."""
        return self.line.margin(first, second)

    def holds(self, first: Fraction, second: Fraction) -> bool:
        return self.line.holds(first, second)

    def clearance(self, first: Fraction, second: Fraction) -> Fraction:
        return self.line.clearance(first, second)

    def unproved(self) -> str | None:
        return None

    def cleared(self, first: Enclosures, second: Enclosures) -> Fraction:  # noqa: ARG002
        """Nothing is stated of rounding."""
        return Fraction(0)

    def attained(self, lean: float) -> bool:
        return self.line.attained(lean)

    def cases(self) -> tuple[ClassCase, ...]:
        """Itself: a case may be asked where all of them may be."""
        return (self,)

    def broken(self, first: Enclosures, second: Enclosures) -> tuple[ClassCase, bool] | None:
        """Itself, where the pair breaks it, the way round that it stands."""
        return (self, False) if self.decided(first, second) else None

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """Whether the pair is a witness of this case; None where the enclosures do not tell."""
        raise NotImplementedError

    def signals(self, scores: Floats) -> list[tuple[WitnessSet, Floats, Floats]]:
        """Itself with its sides."""
        return [(self, *self.sides(scores))]

    def sides(self, scores: Floats) -> tuple[Floats, Floats]:
        """Signals of individuals as x, and as x', from their scores (rows, n), in float64."""
        raise NotImplementedError

    def signal(self, scores: Enclosures) -> Enclosure:
        """The score that people are shown."""
        raise NotImplementedError

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        """By how much the pair is apart on the scale of the property: a lower bound."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCase(ClassCase):
    """x of class i, x' of class j; `first` and `second` are the conditions."""

    level: Fraction
    classes: tuple[int, int]
    first: tuple[Condition, ...]
    second: tuple[Condition, ...]

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """For votes the classes are asked for, not the cubes: some pair of cubes is the one."""
        if self.head.rule == "votes":
            sides = (first, self.classes[0]), (second, self.classes[1])
            return both(*(has_class(self.head, scores, i, self.level) for scores, i in sides))
        conditions_of = (self.first, first), (self.second, second)
        return both(
            *(c.decided(scores, self.level) for conditions, scores in conditions_of for c in conditions)
        )

    def sides(self, scores: Floats) -> tuple[Floats, Floats]:
        return least_of(self.first, scores), -least_of(self.second, scores)

    def signal(self, scores: Enclosures) -> Enclosure:
        """By how much the class of an individual leads; of votes, how many it has."""
        return lead(self.head, scores)

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        """By how much all conditions hold: below 0 where the two do not get these classes."""
        sides = (self.first, first), (self.second, second)
        return min(
            (form_of(c.alpha, of).lo for conditions, of in sides for c in conditions), default=Fraction(0)
        )

    def seen(self, rivals: tuple[int, int] | None) -> WitnessSet:
        """The set of one condition at x and one at x'."""
        if rivals is None:
            return self.line
        r, other = rivals
        return RivalQuestion(level=self.level, strict=(self.first[r].strict, self.second[other].strict))

    @property
    def combinations(self) -> list[tuple[int, int]]:
        return [(r, other) for r in range(len(self.first)) for other in range(len(self.second))]


@dataclass(frozen=True, slots=True, kw_only=True)
class GapCase(ClassCase):
    """f_c(x) - f_c(x') > delta."""

    delta: Fraction
    of: int

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        here, there = first[self.of], second[self.of]
        if here.lo - there.hi > self.delta:
            return True
        return None if here.hi - there.lo > self.delta else False

    def sides(self, scores: Floats) -> tuple[Floats, Floats]:
        return scores[:, self.of], scores[:, self.of]

    def signal(self, scores: Enclosures) -> Enclosure:
        return scores[self.of]

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        return first[self.of].lo - second[self.of].hi


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftmaxCase(ClassCase):
    """P_c(x) - P_c(x') > delta, P_c = sigma(z), z = -log sum over k != c of exp(f_k - f_c). `by_lines`, bounds are of lines in the plane
    of two z; else of the difference itself, with delta as the threshold, and `line` only tells how deep in W two z are."""

    delta: Fraction
    of: int
    by_lines: bool = False

    def seen(self, rivals: tuple[int, int] | None) -> WitnessSet:  # noqa: ARG002 (no conditions)
        return self.line if self.by_lines else self

    def threshold(self, lean: Floats) -> Floats:
        return self.line.threshold(lean) if self.by_lines else np.full_like(lean, float(self.delta))

    def balance(self, lean: Floats) -> Floats:
        return self.line.balance(lean) if self.by_lines else np.zeros_like(lean)

    def leans(self) -> tuple[float, ...]:
        return self.line.leans() if self.by_lines else (0.5,)

    def lean_at(self, second: float) -> float | None:
        return self.line.lean_at(second) if self.by_lines else None

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """By balls of growing precision. Equal probabilities are never told from each other that way: equal differences of
        scores are no witness, and of anything else that is not decided nothing is said."""
        if self._differences(first) == self._differences(second):
            return False
        bits = 128
        while bits <= MOST_BITS:
            with ctx.workprec(bits):
                side = softmax_ball(first, self.of) - softmax_ball(second, self.of) - _ball(self.delta)
                if side > 0:
                    return True
                if side < 0:
                    return False
            bits *= 4
        return None

    def _differences(self, scores: Enclosures) -> list[Fraction]:
        return [score.lo - scores[self.of].lo for score in scores]

    def sides(self, scores: Floats) -> tuple[Floats, Floats]:
        z = log_odds(scores, self.of)
        return z, z

    def signal(self, scores: Enclosures) -> Enclosure:
        return scores[self.of]

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        if self._differences(first) == self._differences(second):
            return Fraction(0)
        with ctx.workprec(128):
            return lower_end(softmax_ball(first, self.of) - softmax_ball(second, self.of))


def log_odds(scores: Floats, of: int) -> Floats:
    """z of rows of scores: P_c = sigma(z)."""
    apart = np.delete(scores, of, axis=1) - scores[:, of : of + 1]
    largest = apart.max(axis=1)
    z: Floats = -(largest + np.log(np.exp(apart - largest[:, None]).sum(axis=1)))
    return z


def softmax_ball(scores: Enclosures, of: int) -> arb:
    """P_c of exact scores as a ball at the current precision; the largest is taken out, so that nothing overflows."""
    largest = max(score.lo for score in scores)
    powers = [_ball(score.lo - largest).exp() for score in scores]
    total = arb(0)
    for power in powers:
        total += power
    return powers[of] / total


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
