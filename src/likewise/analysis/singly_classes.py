"""Singly, for models of several classes: a search of its own for each individual, case by case.

The individual's own class rules most cases of a decision out: what is left has it on the side of its class. Of gaps, every class is a
case, in both orders. BIASED is a witness that the referee took; FAIR is that all cases closed, `proved` if their leaves are exact. The gap is the largest one that was
seen on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.singly import narrowed, one_by_one, variants
from likewise.model.cases import DecisionCase
from likewise.progress import silent
from likewise.search.frontier import Frontier
from likewise.search.judgement import BIASED, FAIR, NO_PRECISION, UNDECIDED, Judgement
from likewise.search.treatments import NOBODY, compared, exact_class

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.question import Case
    from likewise.model.witness import Witness
    from likewise.search.budget import Budget
    from likewise.search.class_counterparts import ClassAsked
    from likewise.search.problem import Problem
    from likewise.verifying.posing import PosedProblem

    Floats = NDArray[np.float64]


def judged_classes_singly(
    prepared: PosedProblem,
    asked: ClassAsked,
    rows: Floats,
    budget: Budget,
    told: Callable[[int], None] | None = None,
) -> Judgement:
    """All rows, one after another, as far as the budget goes."""
    return one_by_one(lambda row, part: ClassSingle(prepared, asked, row, part), rows, budget, told)


class ClassSingle:
    """One individual."""

    def __init__(self, prepared: PosedProblem, asked: ClassAsked, row: Floats, budget: Budget) -> None:
        self.prepared, self.asked, self.row, self.budget = prepared, asked, row, budget
        self.proved = True
        self.reason: str | None = None

    def into(self, found: Judgement, i: int) -> None:
        """Decide, and write down what came out."""
        tried = self._variants()
        verdict, witness = self._verdict(tried)
        others = tried if witness is None else np.concatenate([witness[None], tried])
        found.verdict[i], found.proved[i] = verdict, verdict != FAIR or self.proved
        gaps = self._gaps(others)
        found.gap[i], found.gap_error[i] = gaps.max(initial=0.0), math.inf
        if len(others):
            found.counterpart[i] = others[0 if witness is not None else int(gaps.argmax())]
        if verdict == UNDECIDED and self.reason is not None:
            found.reasons[i] = self.reason

    def _variants(self) -> Floats:
        """Similar individuals at ends of windows, and random ones."""
        rows = variants(self.prepared.task, self.asked.pairs, self.asked.moving, self.row)
        own = [Fraction(c) for c in self.row.tolist()]
        valid = [self.asked.pairs.valid(own, [Fraction(c) for c in row]) for row in rows.tolist()]
        similar: Floats = rows[np.array(valid, dtype=bool)]
        return similar

    def _gaps(self, others: Floats) -> Floats:
        """About how far each of these is from the individual: float64 that is off by less than a digit shown."""
        rows = np.concatenate([self.row[None], others])
        numbers = compared(self.asked.question, self.asked.judge.cross(rows, (), np.empty((1, 0)))).values[
            :, 0
        ]
        gaps: Floats = np.abs(numbers[1:] - numbers[0]).max(axis=1, initial=0.0)
        return gaps

    def _verdict(self, tried: Floats) -> tuple[int, Floats | None]:
        self.reason = self.prepared.task.oracles.unproved(self.asked.question)
        closes, verdict = self.reason is None, FAIR
        for case, first in self._cases():
            search = Frontier(problem=self._problem(case, first=first))
            witness, end = self._at_hand(search.problem, tried, first=first), "stuck"
            if witness is None and closes:
                end = search.run()
                witness = search.witness
                self.proved &= search.oracle.proves
            if witness is not None:
                return BIASED, np.array(witness.other if first else witness.x)
            if end != "closed":
                verdict = UNDECIDED
                self.reason = self.reason or (self.budget.reason if end == "budget" else "rounding")
        return (UNDECIDED if self.reason == NO_PRECISION else verdict), None

    def _cases(self) -> Iterator[tuple[Case, bool]]:
        """Cases that the individual can be part of, and whether as the first of the two."""
        question = self.asked.question
        if question.kind != "decision":
            yield from ((case, first) for case in question.cases() for first in (True, False))
            return
        exact = [Fraction(c) for c in self.row.tolist()]
        own = exact_class(question.head, question.level, self.asked.judge.enclose, exact)
        if own is None:
            self.reason = NO_PRECISION
        for case in question.cases() if own not in (None, NOBODY) else ():
            if isinstance(case, DecisionCase) and own in case.classes:
                yield case, own == case.classes[0]

    def _at_hand(self, problem: Problem, tried: Floats, *, first: bool) -> Witness | None:
        """A witness among those that were tried, by their signals in float64 first."""
        ((question, as_first, as_second),) = problem.signals(np.concatenate([self.row[None], tried]))
        mine, others = (as_first[:1], as_second[1:]) if first else (as_second[:1], as_first[1:])
        mine = np.broadcast_to(mine, others.shape)
        depth = question.margin(mine, others) if first else question.margin(others, mine)
        if not len(tried) or not depth.max() >= 0:
            return None
        pair = (self.row.tolist(), tried[int(depth.argmax())].tolist())
        return problem.referee(*(pair if first else pair[::-1]))

    def _problem(self, case: Case, *, first: bool) -> Problem:
        return replace(
            self.prepared.task,
            pairs=narrowed(self.asked.pairs, self.row, first=first),
            question=case,
            wanted=None,
            rows=self.row[None],
            budget=self.budget,
            unreplayed=[],
            listener=silent,
        )
