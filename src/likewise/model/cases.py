"""Cases: what is asked of the pairs of a model of n >= 1 scores, one case at a time.

A property is broken by a pair of one of its cases. Two labels, or a number, are one score and one case; several classes have more:

    decision      x is of class i and x' of class j, i < j (or i the class of interest); for votes, a cube of each
    score         f_c(x) - f_c(x') > delta, for one class c
    prediction    exp(f(x)) - exp(f(x')) > delta, of the only score
    probability   the same (link identity), or P_c(x) - P_c(x') > delta with P_c = exp(f_c) / sum_k exp(f_k)

A *signal* is the number that a case is about, at x and at x': (signal, signal') is in the case's witness set W (`witness_set`) exactly where the pair
is a witness. Of a `ScoreCase` it is a score, as it is. A `DecisionCase` holds where all its *conditions* do: forms of the scores at x and at x' that must
be > margin (>= where not strict). Each condition F of x with each condition G' of x' is a question about two numbers, F(x) > m and -G'(x') < -m, which a line
can answer with no; taken together they are their minimum, which no line sees, but a search for pairs does. Of a `SoftmaxCase` it is z, P_c = sigma(z).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from flint import ctx

from likewise.model.conditions import (
    Condition,
    Enclosures,
    all_hold,
    class_lead,
    enclose_form,
    has_class,
    least_form,
)
from likewise.model.head import Head, ball, log_odds, lower_end, sigma, softmax_ball
from likewise.model.witness_set import DecisionSet, GapSet, WitnessSet
from likewise.spec.enclosure import MOST_BITS, Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Kind = Literal["decision", "score", "probability", "prediction"]
Conditions = tuple[Condition, ...]
Rivals = tuple[int, int]


class Case(Protocol):
    """One case of a question, about ordered pairs: scores come as enclosures, n of them, or as floats, (rows,) of one score, else (rows, n)."""

    @property
    def line(self) -> WitnessSet:
        """W, of the two signals: what a line is to separate from."""

    @property
    def of(self) -> int | None:
        """The class that it is about, of several and where it is one."""

    @property
    def classes(self) -> tuple[int, int] | None:
        """Those of x and of x', of a decision between several."""

    @property
    def conditions(self) -> tuple[Conditions, Conditions]:
        """Those of x and of x', where it has some."""

    @property
    def by_lines(self) -> bool:
        """Whether its bounds are those of lines; else of a difference of probabilities itself."""

    def seen(self, rivals: Rivals | None) -> WitnessSet:
        """W, or in a case of several conditions the set of one condition at x and one at x'."""

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """Whether the pair is a witness, the way round that it stands; None where the enclosures do not tell."""

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        """By how much the pair is apart on the scale of the property: a lower bound."""

    def pair_clearance(self, first: Enclosures, second: Enclosures) -> Fraction:
        """How far all scores of a pair that is no witness may move without making it one; a lower bound."""

    def sides(self, scores: Floats) -> tuple[Floats, Floats]:
        """Signals of individuals as x, and as x', in float64."""

    def signal(self, scores: Enclosures) -> Enclosure:
        """The number of an individual that people are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCase:
    """(f_c(x), f_c(x')) is in W, for one of the scores: `of` is its class, None of the only score."""

    kind: Kind
    line: WitnessSet
    head: Head
    of: int | None = None

    @property
    def classes(self) -> tuple[int, int] | None:
        return None

    @property
    def conditions(self) -> tuple[Conditions, Conditions]:
        return (), ()

    @property
    def by_lines(self) -> bool:
        return True

    def seen(self, rivals: Rivals | None) -> WitnessSet:  # noqa: ARG002 (no conditions)
        return self.line

    def eased(self, by: Fraction) -> ScoreCase:
        """The same where scores may be further apart by so much; of gaps of scores only."""
        return (
            replace(self, line=GapSet(delta=self.line.delta + by)) if isinstance(self.line, GapSet) else self
        )

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """Every W is monotone: raising s or lowering s' keeps (s, s') inside, so the ends of both enclosures tell."""
        here, there = self.signal(first), self.signal(second)
        if self.line.holds(here.lo, there.hi):
            return True
        return None if self.line.holds(here.hi, there.lo) else False

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        """Exact of exact scores, or for probabilities within 2^-100."""
        here, there = self.signal(first).lo, self.signal(second).hi
        if self.kind == "decision":
            return min(here, -there)
        if self.kind == "score" or self.head.link == "identity":
            return here - there
        if here == there:
            return Fraction(0)
        if self.kind == "prediction":
            return _apart(here, there)
        with ctx.workprec(128):
            linked = [sigma(abs(self.head.slope) * score + self.head.offset) for score in (here, there)]
            return lower_end(linked[0] - linked[1])

    def pair_clearance(self, first: Enclosures, second: Enclosures) -> Fraction:
        """Of several scores nothing is stated of rounding."""
        if self.of is not None:
            return Fraction(0)
        return self.line.clearance(first[0].hi, second[0].lo)

    def sides(self, scores: Floats) -> tuple[Floats, Floats]:
        signals = scores if self.of is None else scores[:, self.of]
        return signals, signals

    def signal(self, scores: Enclosures) -> Enclosure:
        return scores[self.of or 0]


def _apart(here: Fraction, there: Fraction) -> Fraction:
    """exp(here) - exp(there): a lower bound within 2^-100 of it."""
    bits = 128 + 2 * math.ceil(1 + abs(here) + abs(there))
    with ctx.workprec(min(bits, MOST_BITS)):
        return lower_end(ball(here).exp() - ball(there).exp())


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCase:
    """x of class i, x' of class j, by the conditions of both."""

    line: DecisionSet
    head: Head
    classes: tuple[int, int]
    conditions: tuple[Conditions, Conditions] = ((), ())

    @property
    def of(self) -> int | None:
        return None

    @property
    def by_lines(self) -> bool:
        return True

    def seen(self, rivals: Rivals | None) -> WitnessSet:
        if rivals is None:
            return self.line
        here, there = (conditions[r] for conditions, r in zip(self.conditions, rivals, strict=True))
        return DecisionSet(level=self.line.level, strict=(here.strict, there.strict))

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """For votes the classes are asked for, not the cubes: some pair of cubes is the one."""
        pair = (first, second)
        if self.head.rule == "votes":
            sides = zip(pair, self.classes, strict=True)
            return all_hold(*(has_class(self.head, scores, i, self.line.level) for scores, i in sides))
        return all_hold(*(c.decided(scores, self.line.level) for c, scores in self._each(pair)))

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        """By how much all conditions hold: below 0 where the two do not get these classes."""
        forms = (enclose_form(c.alpha, scores).lo for c, scores in self._each((first, second)))
        return min(forms, default=Fraction(0))

    def _each(self, pair: tuple[Enclosures, Enclosures]) -> list[tuple[Condition, Enclosures]]:
        return [(c, scores) for of, scores in zip(self.conditions, pair, strict=True) for c in of]

    def pair_clearance(self, first: Enclosures, second: Enclosures) -> Fraction:  # noqa: ARG002
        """Nothing is stated of rounding."""
        return Fraction(0)

    def sides(self, scores: Floats) -> tuple[Floats, Floats]:
        here, there = self.conditions
        return least_form(here, scores), -least_form(there, scores)

    def signal(self, scores: Enclosures) -> Enclosure:
        """By how much the class of an individual leads; of votes, how many it has."""
        return class_lead(self.head, scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftmaxCase:
    """P_c(x) - P_c(x') > delta. `by_lines`, bounds are of lines in the plane of two z; else of the difference itself."""

    line: WitnessSet
    delta: Fraction
    of: int
    by_lines: bool

    @property
    def classes(self) -> tuple[int, int] | None:
        return None

    @property
    def conditions(self) -> tuple[Conditions, Conditions]:
        return (), ()

    def seen(self, rivals: Rivals | None) -> WitnessSet:  # noqa: ARG002 (no conditions)
        return self.line

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """By balls of growing precision. Equal probabilities are never told from each other that way: equal differences of
        scores are no witness, and of anything else that is not decided nothing is said."""
        if self._differences(first) == self._differences(second):
            return False
        bits = 128
        while bits <= MOST_BITS:
            with ctx.workprec(bits):
                side = softmax_ball(first, self.of) - softmax_ball(second, self.of) - ball(self.delta)
                if side > 0:
                    return True
                if side < 0:
                    return False
            bits *= 4
        return None

    def _differences(self, scores: Enclosures) -> list[Fraction]:
        return [score.lo - scores[self.of].lo for score in scores]

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        if self._differences(first) == self._differences(second):
            return Fraction(0)
        with ctx.workprec(128):
            return lower_end(softmax_ball(first, self.of) - softmax_ball(second, self.of))

    def pair_clearance(self, first: Enclosures, second: Enclosures) -> Fraction:  # noqa: ARG002
        """Nothing is stated of rounding."""
        return Fraction(0)

    def sides(self, scores: Floats) -> tuple[Floats, Floats]:
        z = log_odds(scores, self.of)
        return z, z

    def signal(self, scores: Enclosures) -> Enclosure:
        return scores[self.of]


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A pair of individuals that breaks a property: codes of both, all of their scores, and the case that they break; `first` and `second` are the numbers of the two that
    people are shown (`Case.signal`): the score, of a model of one."""

    x: tuple[float, ...]
    other: tuple[float, ...]
    scores: tuple[Enclosures, Enclosures]
    case: Case

    @property
    def first(self) -> Enclosure:
        return self.case.signal(self.scores[0])

    @property
    def second(self) -> Enclosure:
        return self.case.signal(self.scores[1])
