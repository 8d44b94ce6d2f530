"""Singly: a search of its own for each individual, where its similar ones are too many to be looked at.

The pairs of one individual x are a cell of pair space: x on one side, its window on the other. As a case is about ordered pairs, x is put on the
first side and on the second; of decisions its own score, or its class, rules most of that out. BIASED is a witness that the referee took; FAIR is that all
searches closed, `proved` if their oracles' leaves are exact (else they are floating point, as no certificate is written). Of one score the largest gap is climbed to in the
same way; of several it is the largest one that was seen. Combined scores have no bounds: what is not biased is left undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.climbing import Unasked
from likewise.clock import OutOfTime, look_at_clock
from likewise.model.cases import DecisionCase
from likewise.model.enclosure import FIRST_BITS
from likewise.model.question import DecisionQuestion, round_down, round_up
from likewise.progress import silent
from likewise.search.budget import Part
from likewise.search.class_counterparts import ClassAsked
from likewise.search.counterparts import Asked
from likewise.search.extremes import windows
from likewise.search.frontier import Frontier
from likewise.search.judgement import BIASED, FAIR, NO_PRECISION, UNDECIDED, Judgement
from likewise.search.neighbours import options
from likewise.search.treatments import NOBODY, compared, exact_class
from likewise.spec.terms import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.gauge import Gauge
    from likewise.model.question import Case
    from likewise.model.witness import Witness
    from likewise.search.budget import Budget
    from likewise.search.task import SearchTask
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


def judged_singly(
    posed: PosedProblem,
    asked: Asked | ClassAsked,
    rows: Floats,
    budget: Budget,
    told: Callable[[int], None] | None = None,
) -> Judgement:
    """All rows, one after another, as far as the budget goes."""
    found = Judgement.open(len(rows), rows.shape[1])
    for i, row in enumerate(rows):
        if budget.over:
            found.reasons |= dict.fromkeys(range(i, len(rows)), budget.reason)
            break
        part = Part(budget, max(LEAST_SECONDS, PATIENCE * budget.left / (len(rows) - i)))
        try:
            with part.watched():
                Single(posed, asked, row, part).into(found, i)
        except OutOfTime:
            found.reasons[i] = part.reason
        if told is not None:
            told(i + 1)
    return found


class Single:
    """One individual beside all who are similar to it, by one score or by all of several."""

    def __init__(self, posed: PosedProblem, asked: Asked | ClassAsked, row: Floats, budget: Budget) -> None:
        self.posed, self.pairs, self.row, self.budget = posed, asked.pairs, row, budget
        self.by: ByOneScore | ByAllScores = (
            ByAllScores(self, asked) if isinstance(asked, ClassAsked) else ByOneScore(self, asked)
        )
        self.reason: str | None = None
        self.proved = True

    def into(self, found: Judgement, i: int) -> None:
        """Decide, and write down what came out."""
        self.by.look_around()
        verdict, witness = self._verdict()
        found.verdict[i], found.proved[i] = verdict, verdict != FAIR or self.proved
        if verdict == UNDECIDED and self.reason is not None:
            found.reasons[i] = self.reason
        self.by.write_down(found, i, witness)

    def _verdict(self) -> tuple[int, Floats | None]:
        self.reason, verdict = self.by.unproved, FAIR
        closes = self.reason is None
        for case, first in self.by.cases():
            look_at_clock()  # a search looks at its root at least
            task = self.task(case, first=first)
            witness, end = self.by.at_hand(task, first=first), "stuck"
            if witness is None and closes:
                search = Frontier(problem=task)
                end, witness = search.run(), search.witness
                self.proved &= search.oracle.proves
            if witness is not None:
                return BIASED, np.array(witness.other if first else witness.x)
            if end != "closed":
                verdict = UNDECIDED
                self.reason = self.reason or (self.budget.reason if end == "budget" else "rounding")
        return (UNDECIDED if self.reason == NO_PRECISION else verdict), None

    def task(self, case: Case, *, first: bool) -> SearchTask:
        """The search for a pair that breaks a case, with the individual on one side."""
        return replace(
            self.posed.task,
            pairs=narrowed(self.pairs, self.row, first=first),
            question=case,
            wanted=None,
            rows=self.row[None],
            budget=self.budget,
            products=None,
            unreplayed=[],
            listener=silent,
        )


class ByOneScore:
    """By one score: of those who are tried, the lowest and the highest matter; the largest gap is climbed to."""

    def __init__(self, single: Single, asked: Asked) -> None:
        self.single, self.asked, self.row = single, asked, single.row
        self.own: Enclosure = asked.judge.enclose([Fraction(c) for c in single.row.tolist()], FIRST_BITS)
        # The largest gap so far, and whether it is all but the tolerance.
        self.lower, self.closed, self.tolerance = Fraction(0), True, AT_LEAST
        self.best: Floats | None = None  # who has it
        self.tried: Floats = single.row[None][:0]  # the lowest and the highest variant

    @property
    def unproved(self) -> str | None:
        """Why no search is tried, where that is so."""
        return self.single.posed.task.oracles.unbounded

    def cases(self) -> Iterator[tuple[Case, bool]]:
        """The case in both orders, but for what the individual's own score rules out."""
        case = self.single.posed.task.case
        for first in (True, False):
            ruled_out = isinstance(case, DecisionQuestion) and (
                self.own.hi <= case.level if first else self.own.lo > -case.level
            )
            if not ruled_out:
                yield case, first

    def at_hand(self, task: SearchTask, *, first: bool) -> Witness | None:
        """Of those with the largest gap, the lowest and the highest score."""
        for other in [] if self.best is None else [self.best, *self.tried]:
            pair = (self.row.tolist(), other.tolist())
            witness = task.referee(*(pair if first else pair[::-1]))
            if witness is not None:
                return witness
        return None

    def look_around(self) -> None:
        """Ends of windows, levels and random values: their scores in float64, the extreme ones exactly; then the climb."""
        task = self.single.posed.task
        rows = variants(task, self.asked.pairs, self.asked.moving, self.row)
        allowed = np.ones(len(rows), dtype=bool)
        for constraint in self.asked.pairs.constraints:
            allowed &= constraint.scores(rows) <= 0
        rows = rows[allowed]
        if len(rows):
            scores = task.scores(rows)
            self.tried = rows[[int(scores.argmin()), int(scores.argmax())]]
            for row in self.tried:
                self._take(row)
        gap = Part(self.single.budget, FOR_THE_GAP * self.single.budget.left)
        try:
            with gap.watched():
                self._climb(gap)
        except OutOfTime:
            self.closed = False

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
        gauge, self.closed = self.asked.gauge, self.unproved is None
        for first in (True, False) if self.closed else ():
            look_at_clock()
            task = self.single.task(gauge.question(self.lower), first=first)
            task.replay, task.budget = Unasked(), budget
            search = Frontier(problem=task)
            while True:
                self.tolerance = max(AT_LEAST, CLOSELY * self.lower)
                if gauge.of == "probability" and self.lower + self.tolerance >= 1:
                    break
                task.question = gauge.question(self.lower + self.tolerance)
                task.wanted = gauge.question(self.lower + self.tolerance / GAIN)
                end = search.run(most=CELLS)
                if end != "witness" or search.witness is None:
                    self.closed = self.closed and end == "closed"
                    break
                before = self.lower
                self._take(np.array(search.witness.other if first else search.witness.x))
                if self.lower <= before:
                    self.closed = False
                    break

    def write_down(self, found: Judgement, i: int, witness: Floats | None) -> None:
        """The gap, the counterpart and the own score."""
        other = self.best if witness is None else witness
        exact = self.single.posed.task.oracles.exact
        found.gap[i] = round_down(self.lower)
        found.gap_error[i] = round_up(self.tolerance) if self.closed and exact else math.inf
        found.score.value[i] = nearest(self.own.middle)
        if other is not None:
            found.counterpart[i] = other


class ByAllScores:
    """By all scores of several: the own class rules most cases of a decision out; the gap is the largest one that was seen."""

    def __init__(self, single: Single, asked: ClassAsked) -> None:
        self.single, self.asked, self.row = single, asked, single.row
        self.tried: Floats = single.row[None][:0]

    @property
    def unproved(self) -> str | None:
        """Why no search is tried, where that is so."""
        return self.single.posed.task.oracles.unproved(self.asked.question)

    def cases(self) -> Iterator[tuple[Case, bool]]:
        """Cases that the individual can be part of, and whether as the first of the two."""
        question = self.asked.question
        if question.kind != "decision":
            yield from ((case, first) for case in question.cases() for first in (True, False))
            return
        exact = [Fraction(c) for c in self.row.tolist()]
        own = exact_class(question.head, question.level, self.asked.judge.enclose, exact)
        if own is None:
            self.single.reason = NO_PRECISION
        for case in question.cases() if own not in (None, NOBODY) else ():
            if isinstance(case, DecisionCase) and own in case.classes:
                yield case, own == case.classes[0]

    def at_hand(self, task: SearchTask, *, first: bool) -> Witness | None:
        """A witness among those that were tried, by their signals in float64 first."""
        ((line, as_first, as_second),) = task.signals(np.concatenate([self.row[None], self.tried]))
        mine, others = (as_first[:1], as_second[1:]) if first else (as_second[:1], as_first[1:])
        mine = np.broadcast_to(mine, others.shape)
        depth = line.margin(mine, others) if first else line.margin(others, mine)
        if not len(self.tried) or not depth.max() >= 0:
            return None
        pair = (self.row.tolist(), self.tried[int(depth.argmax())].tolist())
        return task.referee(*(pair if first else pair[::-1]))

    def look_around(self) -> None:
        """Similar individuals at ends of windows, and random ones."""
        rows = variants(self.single.posed.task, self.asked.pairs, self.asked.moving, self.row)
        own = [Fraction(c) for c in self.row.tolist()]
        valid = [self.asked.pairs.valid(own, [Fraction(c) for c in row]) for row in rows.tolist()]
        self.tried = rows[np.array(valid, dtype=bool)]

    def write_down(self, found: Judgement, i: int, witness: Floats | None) -> None:
        """The gap and the counterpart."""
        others = self.tried if witness is None else np.concatenate([witness[None], self.tried])
        gaps = self._gaps(others)
        found.gap[i], found.gap_error[i] = gaps.max(initial=0.0), math.inf
        if len(others):
            found.counterpart[i] = others[0 if witness is not None else int(gaps.argmax())]

    def _gaps(self, others: Floats) -> Floats:
        """About how far each of these is from the individual: float64 that is off by less than a digit shown."""
        rows = np.concatenate([self.row[None], others])
        scores = self.asked.judge.cross(rows, (), np.empty((1, 0)))
        numbers = compared(self.asked.question, scores).values[:, 0]
        gaps: Floats = np.abs(numbers[1:] - numbers[0]).max(axis=1, initial=0.0)
        return gaps


def variants(task: SearchTask, pairs: PairSpace, moving: Sequence[int], row: Floats) -> Floats:
    """Individuals around a row, at ends of windows and random ones: similar to it, constraints left aside, but for rounding."""
    random = task.random
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
    return rows if task.settle is None else task.settle(rows)


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
