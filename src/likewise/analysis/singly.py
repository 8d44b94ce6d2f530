"""Singly: a search of its own for each individual, where its similar ones are too many to be looked at.

The pairs of one individual x are a cell of pair space: x on one side, its window on the other. As a question is about ordered pairs, x is put on the
first side and on the second. BIASED is a witness that the referee took; FAIR is a search that closed, `proved` if its oracle's
leaves are exact (else they are floating point, as no certificate is written). The largest gap is climbed to in the same way. Combined scores have no bounds: what
is not biased is left undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from likewise.analysis.climbing import Unasked
from likewise.clock import OutOfTime, look_at_clock
from likewise.model.enclosure import FIRST_BITS
from likewise.model.question import DecisionQuestion, round_down, round_up
from likewise.progress import silent
from likewise.search.budget import Part
from likewise.search.counterparts import Asked
from likewise.search.extremes import windows
from likewise.search.frontier import Frontier
from likewise.search.judgement import BIASED, FAIR, UNDECIDED, Judgement
from likewise.search.neighbours import options
from likewise.spec.terms import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.gauge import Gauge
    from likewise.model.question import Question
    from likewise.model.witness import Witness
    from likewise.search.budget import Budget
    from likewise.search.problem import Problem
    from likewise.spec.enclosure import Enclosure
    from likewise.spec.pairs import PairSpace
    from likewise.verifying.posing import PosedProblem

    Floats = NDArray[np.float64]

VARIANTS = 64  # similar individuals of a row that are tried before any search
PATIENCE = 8.0  # times its even share of the budget that one row may take
LEAST_SECONDS = 0.02
FOR_THE_GAP = 0.5  # of what a row may take, before its verdict
CLOSELY = Fraction(1, 1000)  # the largest gap is climbed to within this part of it
AT_LEAST = Fraction(1, 10**6)
GAIN = 16  # a pair is better if it gains this part of the tolerance
CELLS = 2_000  # spent on the largest gap of a row, in each order


class JudgesOne(Protocol):
    """What judges one row."""

    def into(self, found: Judgement, i: int) -> None:
        """Put what is found into the place of the row."""


def judged_singly(
    prepared: PosedProblem,
    asked: Asked,
    rows: Floats,
    budget: Budget,
    told: Callable[[int], None] | None = None,
) -> Judgement:
    """All rows, one after another, as far as the budget goes."""
    return one_by_one(lambda row, part: Single(prepared, asked, row, part), rows, budget, told)


def one_by_one(
    single: Callable[[Floats, Budget], JudgesOne],
    rows: Floats,
    budget: Budget,
    told: Callable[[int], None] | None,
) -> Judgement:
    """All rows as far as the budget goes; `single` is given a row and its part of the budget."""
    found = Judgement.open(len(rows), rows.shape[1])
    for i, row in enumerate(rows):
        if budget.over:
            found.reasons |= dict.fromkeys(range(i, len(rows)), budget.reason)
            break
        part = Part(budget, max(LEAST_SECONDS, PATIENCE * budget.left / (len(rows) - i)))
        try:
            with part.watched():
                single(row, part).into(found, i)
        except OutOfTime:
            found.reasons[i] = part.reason
        if told is not None:
            told(i + 1)
    return found


class Single:
    """One individual."""

    def __init__(self, prepared: PosedProblem, asked: Asked, row: Floats, budget: Budget) -> None:
        self.prepared, self.asked, self.row, self.budget = prepared, asked, row, budget
        self.own: Enclosure = asked.judge.enclose([Fraction(c) for c in row.tolist()], FIRST_BITS)
        self.reason: str | None = None
        self.lower, self.closed = (
            Fraction(0),
            True,
        )  # the largest gap so far, and whether it is all but the tolerance
        self.tolerance = AT_LEAST
        self.best: Floats | None = None  # who has it
        self.tried: Floats = row[None][:0]  # the lowest and the highest variant
        self.exact = prepared.task.oracles.exact
        self.unbounded = prepared.task.oracles.unbounded
        self.bounded = self.unbounded is None

    def into(self, found: Judgement, i: int) -> None:
        """Decide, and write down what came out."""
        self._try_variants()
        gap = Part(self.budget, FOR_THE_GAP * self.budget.left)
        try:
            with gap.watched():
                self._climb(gap)
        except OutOfTime:
            self.closed = False
        verdict, witness = self._verdict()
        other = witness if witness is not None else self.best
        found.verdict[i] = verdict
        found.proved[i] = verdict != FAIR or self.exact
        found.gap[i] = round_down(self.lower)
        found.gap_error[i] = round_up(self.tolerance) if self.closed and self.exact else math.inf
        found.score.value[i] = nearest(self.own.middle)
        if other is not None:
            found.counterpart[i] = other
        if self.reason is not None:
            found.reasons[i] = self.reason

    # -- the largest gap ------------------------------------------------------------------------------------

    def _try_variants(self) -> None:
        """Ends of windows, levels and random values: their scores in float64, the extreme ones exactly."""
        problem = self.prepared.task
        rows = variants(problem, self.asked.pairs, self.asked.moving, self.row)
        allowed = np.ones(len(rows), dtype=bool)
        for constraint in self.asked.pairs.constraints:
            allowed &= constraint.scores(rows) <= 0
        rows = rows[allowed]
        if not len(rows):
            return
        scores = problem.scores(rows)
        self.tried = rows[[int(scores.argmin()), int(scores.argmax())]]
        for row in self.tried:
            self._take(row)

    def _take(self, other: Floats) -> None:
        """Raise the largest gap, if this is a similar individual with a larger one."""
        exact = [[Fraction(c) for c in codes.tolist()] for codes in (self.row, other)]
        if not self.asked.pairs.valid(*exact):
            return
        score = self.asked.judge.enclose(exact[1], FIRST_BITS)
        gauge = self.asked.gauge
        gap = max(gauge.value(self.own.lo, score.hi), gauge.value(score.lo, self.own.hi))
        if gap > self.lower or self.best is None:
            self.lower, self.best = max(gap, Fraction(0)), other

    def _climb(self, budget: Budget) -> None:
        gauge, self.closed = self.asked.gauge, self.bounded
        for first in (True, False) if self.bounded else ():
            look_at_clock()
            problem = self._problem(gauge.question(self.lower), first=first)
            problem.replay, problem.budget = Unasked(), budget
            search = Frontier(problem=problem)
            while True:
                self.tolerance = max(AT_LEAST, CLOSELY * self.lower)
                if gauge.of == "probability" and self.lower + self.tolerance >= 1:
                    break
                problem.question = gauge.question(self.lower + self.tolerance)
                problem.wanted = gauge.question(self.lower + self.tolerance / GAIN)
                end = search.run(most=CELLS)
                if end != "witness" or search.witness is None:
                    self.closed = self.closed and end == "closed"
                    break
                before = self.lower
                self._take(np.array(search.witness.other if first else search.witness.x))
                if self.lower <= before:
                    self.closed = False
                    break

    # -- the verdict ----------------------------------------------------------------------------------------

    def _verdict(self) -> tuple[int, Floats | None]:
        question = self.prepared.task.question
        verdict: int = FAIR
        for first in (True, False):
            if self._cannot(question, first=first):
                continue
            look_at_clock()  # a search looks at its root at least
            problem = self._problem(question, first=first)
            witness = self._witness_at_hand(problem, first=first)
            end = "witness" if witness is not None else "no bounds"
            if witness is None and self.bounded:
                search = Frontier(problem=problem)
                end, witness = search.run(), search.witness
            if end == "witness" and witness is not None:
                return BIASED, np.array(witness.other if first else witness.x)
            if end != "closed":
                verdict = UNDECIDED
                self.reason = {"budget": self.budget.reason, "no bounds": self.unbounded}.get(end, "rounding")
        return verdict, None

    def _witness_at_hand(self, problem: Problem, *, first: bool) -> Witness | None:
        """Of those with the largest gap, the lowest and the highest score."""
        others = [] if self.best is None else [self.best, *self.tried]
        for other in others:
            pair = (self.row.tolist(), other.tolist())
            witness = problem.referee(*(pair if first else pair[::-1]))
            if witness is not None:
                return witness
        return None

    def _cannot(self, question: Question, *, first: bool) -> bool:
        """Whether the individual's own score rules this order out."""
        if not isinstance(question, DecisionQuestion):
            return False
        return self.own.hi <= question.level if first else self.own.lo > -question.level

    def _problem(self, question: Question, *, first: bool) -> Problem:
        return replace(
            self.prepared.task,
            pairs=narrowed(self.asked.pairs, self.row, first=first),
            question=question,
            wanted=None,
            rows=self.row[None],
            budget=self.budget,
            products=None,
            unreplayed=[],
            listener=silent,
        )


def variants(problem: Problem, pairs: PairSpace, moving: Sequence[int], row: Floats) -> Floats:
    """Individuals around a row, at ends of windows and random ones: similar to it, constraints left aside, but for rounding."""
    random = problem.random
    rows = np.repeat(row[None], VARIANTS, axis=0)
    for k in moving:
        variable = pairs.variables[pairs.first[k]]
        bottom, top = (float(end[0]) for end in windows(pairs, k, row[k : k + 1]))
        if pairs.relations[k].kind == "pairs":
            rows[:, k] = random.choice(options(pairs, k, float(row[k])), VARIANTS)
        elif variable.discrete:
            rows[:, k] = random.integers(int(bottom), int(top) + 1, VARIANTS)
        else:
            part = random.uniform(0, 1, VARIANTS)
            rows[:, k] = np.clip(bottom * (1 - part) + top * part, bottom, top)
        if pairs.relations[k].kind != "pairs":
            at_end = random.uniform(0, 1, VARIANTS) < 0.5
            rows[at_end, k] = random.choice([bottom, top], int(at_end.sum()))
    return rows if problem.settle is None else problem.settle(rows)


def narrowed(pairs: PairSpace, row: Floats, *, first: bool) -> PairSpace:
    """The pairs that have this individual on one side; windows of continuous features are rounded outwards."""
    fixed = set(pairs.first if first else pairs.second)
    difference = {v for v in pairs.difference if v is not None}
    variables = list(pairs.variables)
    for v, variable in enumerate(variables):
        relation, code = pairs.relations[variable.feature], float(row[variable.feature])
        reach, gone = relation.tolerance, relation.missing is not None and code == relation.missing
        if v in difference:
            continue
        if v in fixed or variable.side == "both" or gone:
            variables[v] = replace(variable, lo=code, hi=code)
        elif reach is not None:
            lo, hi = Fraction(code) - reach, Fraction(code) + reach
            outward = round_down(lo), round_up(hi)
            last = variable.hi if relation.missing is None else variable.last
            variables[v] = replace(variable, lo=max(variable.lo, outward[0]), hi=min(last, outward[1]))
    return replace(pairs, variables=tuple(variables))


def gauge_of_gaps(gauge: Gauge) -> Gauge:
    """The scale of a row's gap: scores, but for claims about probabilities."""
    return replace(gauge, of="probability" if gauge.of == "probability" else "score")
