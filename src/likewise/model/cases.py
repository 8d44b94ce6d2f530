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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
from flint import arb, ctx, fmpq

from likewise.model.classes import ClassHead, votes
from likewise.model.cubes import MOST_CLASSES, Cube, cubes
from likewise.model.enclosure import MOST_BITS
from likewise.model.question import (
    DecisionQuestion,
    Direction,
    GapQuestion,
    ProbabilityQuestion,
    Question,
    lower_end,
)
from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Kind = Literal["decision", "score", "probability"]
Enclosures = tuple[Enclosure, ...]
Alpha = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """alpha . f > level, or >= level where not strict."""

    alpha: Alpha
    strict: bool

    def decided(self, scores: Enclosures, level: Fraction) -> bool | None:
        """Whether the condition holds; None where the enclosures do not tell."""
        value = form_of(self.alpha, scores)
        if value.lo > level or (not self.strict and value.lo == level):
            return True
        return False if value.hi < level or (self.strict and value.hi == level) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalQuestion(DecisionQuestion):
    """F(x) > m and -G(x') > m, either of them >= where it is not strict."""

    strict: tuple[bool, bool] = (True, False)

    def direction(self, lean: Fraction) -> Direction:
        attained = not ((lean > 0 and self.strict[0]) or (lean < 1 and self.strict[1]))
        return Direction(a=lean, b=1 - lean, threshold=self.level, attained=attained)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case of a property; `line` is the question about two numbers that its lines answer. It stands in a search for a question:
    what it does not say itself, `line` says."""

    line: Question
    head: ClassHead

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

    def clearance(self, first: object, second: object) -> Fraction:  # noqa: ARG002
        """Nothing is stated of rounding."""
        return Fraction(0)

    def cases(self) -> tuple[Case, ...]:
        """Itself: a case may be asked where all of them may be."""
        return (self,)

    def broken(self, first: Enclosures, second: Enclosures) -> tuple[Case, bool] | None:
        """Itself, where the pair breaks it, the way round that it stands."""
        return (self, False) if self.decided(first, second) else None

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """Whether the pair is a witness of this case; None where the enclosures do not tell."""
        raise NotImplementedError

    def signals(self, scores: Floats) -> list[tuple[Question, Floats, Floats]]:
        """Itself with its sides, as `ClassQuestion` says it of all cases."""
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
class DecisionCase(Case):
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
        return _least(self.first, scores), -_least(self.second, scores)

    def signal(self, scores: Enclosures) -> Enclosure:
        """By how much the class of an individual leads; of votes, how many it has."""
        return lead(self.head, scores)

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        """By how much all conditions hold: below 0 where the two do not get these classes."""
        sides = (self.first, first), (self.second, second)
        return min(
            (form_of(c.alpha, of).lo for conditions, of in sides for c in conditions), default=Fraction(0)
        )

    def rivals(self, r: int, other: int) -> RivalQuestion:
        """The question about one condition at x and one at x'."""
        return RivalQuestion(level=self.level, strict=(self.first[r].strict, self.second[other].strict))

    @property
    def combinations(self) -> list[tuple[int, int]]:
        return [(r, other) for r in range(len(self.first)) for other in range(len(self.second))]


@dataclass(frozen=True, slots=True, kw_only=True)
class GapCase(Case):
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
class SoftmaxCase(Case):
    """P_c(x) - P_c(x') > delta, P_c = sigma(z), z = -log sum over k != c of exp(f_k - f_c)."""

    delta: Fraction
    of: int

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassQuestion:
    """A property of a model of several classes: its kind, its margin or delta, the class of interest (None: every one)."""

    kind: Kind
    level: Fraction
    of: int | None
    head: ClassHead

    def at(self, level: Fraction) -> ClassQuestion:
        """The same question at another level."""
        return replace(self, level=level)

    def cases(self) -> tuple[Case, ...]:
        """All cases, in the order of a certificate."""
        if self.kind == "decision":
            return tuple(_votes_cases(self) if self.head.rule == "votes" else _argmax_cases(self))
        classes = range(len(self.head.labels)) if self.of is None else (self.of,)
        if self.kind == "probability" and self.head.link == "softmax":
            line: Question = GapQuestion(delta=Fraction(0))
            if self.level:
                line = ProbabilityQuestion(delta=self.level)
            return tuple(SoftmaxCase(line=line, head=self.head, delta=self.level, of=c) for c in classes)
        line = GapQuestion(delta=self.level, of_probabilities=self.kind == "probability")
        return tuple(GapCase(line=line, head=self.head, delta=self.level, of=c) for c in classes)

    def signals(self, scores: Floats) -> list[tuple[Question, Floats, Floats]]:
        """For each case, those of votes by their classes, the question and the signals of individuals as x and as x'."""
        if self.kind != "decision":
            return [(case, *case.sides(scores)) for case in self.cases()]
        line, ahead = DecisionQuestion(level=self.level), leads(self.head, scores)
        return [(line, ahead[:, i], -ahead[:, j]) for i, j in class_pairs(len(self.head.labels), self.of)]

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """Whether the pair breaks the property, whichever way round it stands."""
        ways = ((first, second), (second, first))
        if self.kind != "decision":
            return not_neither(*(case.decided(*pair) for case in self.cases() for pair in ways))
        count = len(self.head.labels)
        here, there = (
            [has_class(self.head, scores, i, self.level) for i in range(count)] for scores in (first, second)
        )
        pairs = class_pairs(count, self.of)
        return not_neither(*(both(here[a], there[b]) for i, j in pairs for a, b in ((i, j), (j, i))))

    def broken(self, first: Enclosures, second: Enclosures) -> tuple[Case, bool] | None:
        """The case that the pair breaks most, and whether the other way round; of votes without cubes."""
        cases = self.cases() if self.kind != "decision" else self._pair_cases()
        ways = ((False, (first, second)), (True, (second, first)))
        found = [(case, swapped, pair) for case in cases for swapped, pair in ways if case.decided(*pair)]
        if not found:
            return None
        case, swapped, _ = max(found, key=lambda way: way[0].value(*way[2]))
        return case, swapped

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        """The largest value of the pair over all cases, whichever way round."""
        cases = self.cases() if self.kind != "decision" else self._pair_cases()
        return max(case.value(*pair) for case in cases for pair in ((first, second), (second, first)))

    def _pair_cases(self) -> list[Case]:
        """Decision cases by their classes alone."""
        if self.head.rule == "argmax":
            return _argmax_cases(self)
        line = DecisionQuestion(level=self.level)
        return [
            DecisionCase(line=line, head=self.head, level=self.level, classes=classes, first=(), second=())
            for classes in class_pairs(len(self.head.labels), self.of)
        ]


def class_pairs(count: int, of: int | None) -> list[tuple[int, int]]:
    """The (i, j) of decision cases."""
    if of is None:
        return [(i, j) for i in range(count) for j in range(i + 1, count)]
    return [(of, j) for j in range(count) if j != of]


def _argmax_cases(question: ClassQuestion) -> list[Case]:
    count, line = len(question.head.labels), DecisionQuestion(level=question.level)
    conditions = [_leads(i, count) for i in range(count)]
    return [
        DecisionCase(
            line=line,
            head=question.head,
            level=question.level,
            classes=(i, j),
            first=conditions[i],
            second=conditions[j],
        )
        for i, j in class_pairs(count, question.of)
    ]


def _leads(i: int, count: int) -> tuple[Condition, ...]:
    """f_i - f_k > m for k < i, >= m for k > i: of two that are level the smaller one is the class."""
    return tuple(
        Condition(alpha=tuple(Fraction((n == i) - (n == k)) for n in range(count)), strict=k < i)
        for k in range(count)
        if k != i
    )


def _votes_cases(question: ClassQuestion) -> list[Case]:
    count, line = len(question.head.labels), DecisionQuestion(level=question.level)
    known = cubes(count)
    return [
        DecisionCase(
            line=line,
            head=question.head,
            level=question.level,
            classes=(i, j),
            first=_votes(first, question.head.n_scores),
            second=_votes(second, question.head.n_scores),
        )
        for i, j in class_pairs(count, question.of)
        for first in known[i]
        for second in known[j]
    ]


def _votes(cube: Cube, n_scores: int) -> tuple[Condition, ...]:
    return tuple(
        Condition(alpha=tuple(Fraction((n == s) * (1 if up else -1)) for n in range(n_scores)), strict=up)
        for s, up in cube
    )


def has_class(head: ClassHead, scores: Enclosures, i: int, level: Fraction) -> bool | None:
    """Whether an individual is of class i, by the margin; None where the enclosures leave it open."""
    if head.rule == "argmax":
        return both(*(condition.decided(scores, level) for condition in _leads(i, len(scores))))
    settled = {head.decide(way) for way in _ends(scores)}
    return None if i in settled and len(settled) > 1 else settled == {i}


def lead(head: ClassHead, scores: Enclosures) -> Enclosure:
    """By how much the class of an individual is ahead of every other one; of votes, how many it has."""
    middle = [score.middle for score in scores]
    i = head.decide(middle)
    if head.rule == "votes":
        return Enclosure.of(Fraction(votes(len(head.labels), middle)[i]))
    rivals = [form_of(condition.alpha, scores) for condition in _leads(i, len(scores))]
    return Enclosure(min(r.lo for r in rivals), min(r.hi for r in rivals))


def leads(head: ClassHead, scores: Floats) -> Floats:
    """By how much each class is ahead of every other one, negative where it is not the class; (rows, classes), in float64. Of
    votes: by how much the least of the scores that make it win does, if they do."""
    count = len(head.labels)
    if head.rule == "argmax":
        others = [np.delete(scores, i, axis=1).max(axis=1) for i in range(count)]
        ahead: Floats = scores - np.stack(others, axis=1)
        return ahead
    if count > MOST_CLASSES:
        least = np.abs(scores).min(axis=1)
        won = np.array([head.decide([Fraction(s) for s in row]) for row in scores.tolist()])
        voted: Floats = np.where(won[:, None] == np.arange(count), least[:, None], -least[:, None])
        return voted
    known = cubes(count)
    columns = [
        np.max([_least(_votes(cube, head.n_scores), scores) for cube in known[i]], axis=0)
        for i in range(count)
    ]
    found: Floats = np.stack(columns, axis=1)
    return found


def _ends(scores: Enclosures) -> list[list[Fraction]]:
    """All ways of giving the votes that enclosures leave open."""
    ways: list[list[Fraction]] = [[]]
    for score in scores:
        ends = [score.lo, score.hi] if score.lo <= 0 < score.hi else [score.lo]
        ways = [[*way, end] for way in ways for end in ends]
    return ways


def form_of(alpha: Alpha, scores: Enclosures) -> Enclosure:
    """alpha . f by interval arithmetic; exact where the scores are."""
    lo = hi = Fraction(0)
    for a, score in zip(alpha, scores, strict=True):
        lo += a * (score.lo if a > 0 else score.hi)
        hi += a * (score.hi if a > 0 else score.lo)
    return Enclosure(lo, hi)


def both(*answers: bool | None) -> bool | None:
    """Whether all hold: False as soon as one does not."""
    if False in answers:
        return False
    return None if None in answers else True


def not_neither(*answers: bool | None) -> bool | None:
    """Whether one holds."""
    if True in answers:
        return True
    return None if None in answers else False


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


def _least(conditions: Sequence[Condition], scores: Floats) -> Floats:
    matrix = np.array([[float(a) for a in c.alpha] for c in conditions])
    least: Floats = (scores @ matrix.T).min(axis=1)
    return least
