"""Subjects: whose disparity is climbed to (`climbing`), that of one score or that of several classes.

A subject knows its questions, one a level: "is there a pair above it?". It knows the value of a pair, where to look for a good one before the
search does, and the searches that answer a question, one a case. The value of a decision case is by how much all its conditions hold,
the smallest of them: below 0 where no pair gets different decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from likewise.cells.enumerated import independent
from likewise.errors import InternalError
from likewise.families.oracle import Remembering
from likewise.model.enclosure import FIRST_BITS
from likewise.search.cases import class_search, climbed_from_starts
from likewise.search.enumeration import enumerate_space
from likewise.search.falsification import climbed, deepest
from likewise.search.feasible import some_individual
from likewise.search.portfolio import independence
from likewise.search.problem import Witness
from likewise.search.remembering import search_of
from likewise.search.together import Searches, allowed
from likewise.verifying.classes import gauge_of_classes

if TYPE_CHECKING:
    from likewise.model.gauge import Gauge
    from likewise.model.question import Question
    from likewise.search.branch_and_bound import Cell
    from likewise.search.problem import Problem
    from likewise.verifying.classes import PreparedClasses
    from likewise.verifying.preparing import Prepared

QUICK = 1e10  # multiplications spent on an enumeration: less than a second, as cells may do without it
FINE = Fraction(1, 10**12)  # what lower and upper may stay apart, relatively, when they are made equal


class Subject(Protocol):
    """What a climb needs to know. `exact`: a search that closes is a proof. `closes`: lower and upper can be made equal."""

    problem: Problem
    of_probability: bool
    exact: bool
    closes: bool

    def question(self, level: Fraction) -> Question:
        """Is there a pair above this level?"""

    def parts(self, question: Question) -> Sequence[Question]:
        """The same for each of the searches."""

    def start(self) -> tuple[Witness, Fraction]:
        """An individual paired with itself, and the value of that."""

    def value(self, witness: Witness) -> Fraction:
        """What a pair amounts to: exact, or a lower bound."""

    def independent(self) -> bool:
        """Whether no difference that is allowed changes a score."""

    def good_pairs(self) -> Iterator[Witness | None]:
        """Pairs to start from, better ones last."""

    def searches(self) -> Searches[Any]:
        """New searches for the question that is asked."""

    def more_pairs(self, searches: Searches[Any]) -> Iterator[Witness | None]:
        """Pairs that come with the searches' own beginnings."""

    def climbed(self, witness: Witness) -> Witness | None:
        """The best that coordinate ascent makes of a pair, if it is better."""

    def allowed(self, cells: Sequence[Cell]) -> float:
        """The highest value that the bounds of open cells allow, in float64."""

    def finest(self, lower: Fraction, tolerance: Fraction) -> Fraction:
        """What is left between lower and upper where they are made equal."""


class OneScore:
    """The disparity of one score on a scale."""

    def __init__(self, prepared: Prepared, gauge: Gauge) -> None:
        self.prepared, self.gauge = prepared, gauge
        self.problem: Problem = prepared.problem
        self.of_probability = gauge.of == "probability"
        self.exact = self.closes = self.problem.oracle.exact
        self.remembers = isinstance(self.problem.oracle, Remembering)

    def question(self, level: Fraction) -> Question:
        return self.gauge.question(level)

    def parts(self, question: Question) -> Sequence[Question]:
        return (question,)

    def start(self) -> tuple[Witness, Fraction]:
        point, codes = nobody_else(self.prepared)
        score = self.problem.oracle.enclose(codes, FIRST_BITS)
        witness = Witness(x=point, other=point, first=score, second=score)
        return witness, self.value(witness)

    def value(self, witness: Witness) -> Fraction:
        value = self.gauge.value(witness.first.lo, witness.second.hi)
        # A gap is that of anybody and themselves at least, however wide the enclosure.
        return value if self.gauge.of == "margin" else max(value, Fraction(0))

    def independent(self) -> bool:
        if self.gauge.of == "margin":
            return False
        self.problem.question = self.gauge.question(Fraction(0))
        return independence(self.problem) is not None

    def good_pairs(self) -> Iterator[Witness | None]:
        """None where the search's own proposals come sooner."""
        if not self.remembers:
            yield deepest(self.problem)
            yield enumerate_space(self.problem, effort=QUICK)

    def searches(self) -> Searches[Any]:
        return Searches(searches=[search_of(self.problem)], turn=np.inf)

    def more_pairs(self, searches: Searches[Any]) -> Iterator[Witness | None]:  # noqa: ARG002
        return iter(())

    def climbed(self, witness: Witness) -> Witness | None:
        return None if self.remembers else climbed(self.problem, np.array([witness.x]))

    def allowed(self, cells: Sequence[Cell]) -> float:
        return allowed(cells, self.gauge)

    def finest(self, lower: Fraction, tolerance: Fraction) -> Fraction:
        return min(tolerance, FINE * (1 + abs(lower)))


class SeveralClasses:
    """The largest value over all cases of a question about several classes."""

    def __init__(self, prepared: PreparedClasses) -> None:
        self.prepared, self.asked = prepared, prepared.question
        self.problem: Problem = prepared.problem
        self.of_probability = self.asked.kind == "probability"
        self.proposes = prepared.oracles.propose(self.asked)
        self.closes = prepared.oracles.finite(self.asked.cases()[0])
        self.exact = False  # until the oracles of the cases are known

    def question(self, level: Fraction) -> Question:
        return self.asked.at(level)  # type: ignore[return-value]

    def parts(self, question: Question) -> Sequence[Question]:
        return question.cases()  # type: ignore[attr-defined, no-any-return]

    def start(self) -> tuple[Witness, Fraction]:
        point, codes = nobody_else(self.prepared)
        scores, case = self.prepared.oracles.enclose(codes, FIRST_BITS), self.asked.cases()[0]
        signal = case.signal(scores)
        witness = Witness(
            x=point, other=point, first=signal, second=signal, scores=(scores, scores), case=case
        )
        return witness, self.asked.value(scores, scores)

    def value(self, witness: Witness) -> Fraction:
        if witness.scores is None or witness.case is None:
            raise InternalError("a pair of several classes has all scores, and the case that it breaks")
        return witness.case.value(*witness.scores)

    def independent(self) -> bool:
        return self.asked.kind != "decision" and independent(self.problem.pairs, self.prepared.oracles.score)

    def good_pairs(self) -> Iterator[Witness | None]:
        if not self.proposes:
            yield deepest(self.problem)

    def searches(self) -> Searches[Any]:
        question: Any = self.problem.question
        found = class_search(self.problem, question, self.prepared.oracles)
        self.exact = found.searches[0].oracle.proves
        return found

    def more_pairs(self, searches: Searches[Any]) -> Iterator[Witness | None]:
        yield climbed_from_starts(self.problem, searches)

    def climbed(self, witness: Witness) -> Witness | None:
        return None if self.proposes else climbed(self.problem, np.array([witness.x, witness.other]))

    def allowed(self, cells: Sequence[Cell]) -> float:
        """Bounds of votes say nothing about a margin."""
        if self.asked.kind == "decision" and self.asked.head.rule == "votes":
            return np.inf if cells else -np.inf
        return allowed(cells, gauge_of_classes(self.asked))

    def finest(self, lower: Fraction, tolerance: Fraction) -> Fraction:  # noqa: ARG002
        """A pair may lie on the border of a decision: right there it would be found again and again."""
        return FINE if self.asked.kind == "decision" else Fraction(0)


def nobody_else(prepared: Prepared | PreparedClasses) -> tuple[tuple[float, ...], list[Fraction]]:
    """Somebody, in floats and exactly."""
    space = prepared.pairs.space
    if space.constraints:
        lowest = [float(c) for c in some_individual(space)]
    else:
        lowest = [float(prepared.pairs.variables[v].lo) for v in prepared.pairs.first]
    codes = [Fraction(c) for c in prepared.imported.recoding.settled(np.array([lowest]))[0].tolist()]
    return tuple(float(c) for c in codes), codes
