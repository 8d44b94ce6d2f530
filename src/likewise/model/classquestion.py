"""Class question: a property of a model of several classes, and the cases that it falls into."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from likewise.model.cases import ClassCase, DecisionCase, GapCase, SoftmaxCase
from likewise.model.conditions import Enclosures, both, has_class, leading, leads, not_neither, voting
from likewise.model.cubes import MOST_CLASSES, cubes
from likewise.model.head import Head
from likewise.model.question import DecisionQuestion, GapQuestion, ProbabilityQuestion, WitnessSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Kind = Literal["decision", "score", "probability"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassQuestion:
    """A property of a model of several classes: its kind, its margin or delta, the class of interest (None: every one); `by_lines`
    tells how softmax probabilities are bounded (`SoftmaxCase`)."""

    kind: Kind
    level: Fraction
    of: int | None
    head: Head
    by_lines: bool = False

    def at(self, level: Fraction) -> ClassQuestion:
        """The same question at another level."""
        return replace(self, level=level)

    def cases(self) -> tuple[ClassCase, ...]:
        """All cases, in the order of a certificate."""
        if self.kind == "decision":
            return tuple(_votes_cases(self) if self.head.rule == "votes" else _argmax_cases(self))
        classes = range(len(self.head.classes)) if self.of is None else (self.of,)
        if self.kind == "probability" and self.head.link == "softmax":
            line: WitnessSet = GapQuestion(delta=Fraction(0))
            if self.level:
                line = ProbabilityQuestion(delta=self.level)
            return tuple(
                SoftmaxCase(line=line, head=self.head, delta=self.level, of=c, by_lines=self.by_lines)
                for c in classes
            )
        line = GapQuestion(delta=self.level, of_probabilities=self.kind == "probability")
        return tuple(GapCase(line=line, head=self.head, delta=self.level, of=c) for c in classes)

    def signals(self, scores: Floats) -> list[tuple[WitnessSet, Floats, Floats]]:
        """For each case, those of votes by their classes, the question and the signals of individuals as x and as x'."""
        if self.kind != "decision":
            return [(case, *case.sides(scores)) for case in self.cases()]
        line, ahead = DecisionQuestion(level=self.level), leads(self.head, scores)
        return [(line, ahead[:, i], -ahead[:, j]) for i, j in class_pairs(len(self.head.classes), self.of)]

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """Whether the pair breaks the property, whichever way round it stands."""
        ways = ((first, second), (second, first))
        if self.kind != "decision":
            return not_neither(*(case.decided(*pair) for case in self.cases() for pair in ways))
        count = len(self.head.classes)
        here, there = (
            [has_class(self.head, scores, i, self.level) for i in range(count)] for scores in (first, second)
        )
        pairs = class_pairs(count, self.of)
        return not_neither(*(both(here[a], there[b]) for i, j in pairs for a, b in ((i, j), (j, i))))

    def broken(self, first: Enclosures, second: Enclosures) -> tuple[ClassCase, bool] | None:
        """The case that the pair breaks most, and whether the other way round; of votes without cubes."""
        cases = self.cases() if self.kind != "decision" else self._pair_cases()
        ways = ((False, (first, second)), (True, (second, first)))
        found = [(case, swapped, pair) for case in cases for swapped, pair in ways if case.decided(*pair)]
        if not found:
            return None
        case, swapped, _ = max(found, key=lambda way: way[0].value(*way[2]))
        return case, swapped

    def unproved(self) -> str | None:
        """Votes of many classes have too many cases."""
        count = len(self.head.classes)
        if self.head.rule != "votes" or count <= MOST_CLASSES:
            return None
        return f"votes of {count} classes: proofs are written for at most {MOST_CLASSES}"

    def cleared(self, first: Enclosures, second: Enclosures) -> Fraction:  # noqa: ARG002
        """Nothing is stated of rounding."""
        return Fraction(0)

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        """The largest value of the pair over all cases, whichever way round."""
        cases = self.cases() if self.kind != "decision" else self._pair_cases()
        return max(case.value(*pair) for case in cases for pair in ((first, second), (second, first)))

    def _pair_cases(self) -> list[ClassCase]:
        """Decision cases by their classes alone."""
        if self.head.rule == "argmax":
            return _argmax_cases(self)
        line = DecisionQuestion(level=self.level)
        return [
            DecisionCase(line=line, head=self.head, level=self.level, classes=classes, first=(), second=())
            for classes in class_pairs(len(self.head.classes), self.of)
        ]


def class_pairs(count: int, of: int | None) -> list[tuple[int, int]]:
    """The (i, j) of decision cases."""
    if of is None:
        return [(i, j) for i in range(count) for j in range(i + 1, count)]
    return [(of, j) for j in range(count) if j != of]


def _argmax_cases(question: ClassQuestion) -> list[ClassCase]:
    count, line = len(question.head.classes), DecisionQuestion(level=question.level)
    conditions = [leading(i, count) for i in range(count)]
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


def _votes_cases(question: ClassQuestion) -> list[ClassCase]:
    count, line = len(question.head.classes), DecisionQuestion(level=question.level)
    known = cubes(count)
    return [
        DecisionCase(
            line=line,
            head=question.head,
            level=question.level,
            classes=(i, j),
            first=voting(first, question.head.n_scores),
            second=voting(second, question.head.n_scores),
        )
        for i, j in class_pairs(count, question.of)
        for first in known[i]
        for second in known[j]
    ]
