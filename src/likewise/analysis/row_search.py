"""Singly: a search of its own for each individual, where its similar ones are too many to be looked at.

The pairs of one individual x are a cell of pair space: x on one side, its window on the other. As a case is about ordered pairs, x is put on the
first side and on the second; of decisions its own score, or its class, rules most of that out. BIASED is a witness that the referee took; FAIR is that all
searches closed (of ordered pairs those with x on the side that is asked about), `proved` if their oracles' leaves are exact (else they are floating point, as no certificate is written). Of one score the largest gap is climbed to in the
same way; of several it is the largest one that was seen. Within a distance, sums of one-feature terms are first asked how far they can rise and fall (`search.reach`), which decides nearly all rows without a search. Combined scores have no bounds: what is not biased is left undecided.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.disparity_search import NoReplay
from likewise.clock import OutOfTime, check_clock
from likewise.model.gauge import Gauge
from likewise.progress import ignore_progress
from likewise.search.budget import BudgetPart
from likewise.search.extremes import similar_windows
from likewise.search.frontier import Frontier
from likewise.search.judgement import BIASED, FAIR, NO_PRECISION, UNDECIDED, Judgement
from likewise.search.neighbours import partner_codes
from likewise.search.part_rows import is_alone
from likewise.search.reach import SumReach
from likewise.search.replay_queue import ReplayQueue
from likewise.search.treatments import NO_CLASS, compared_values, decide_class
from likewise.spec.enclosure import FIRST_BITS
from likewise.spec.numbers import double_above, double_below
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Witness
    from likewise.model.question import Question
    from likewise.search.budget import Budget
    from likewise.search.inquiry import Inquiry
    from likewise.search.task import SearchTask
    from likewise.spec.pairs import PairSpace
    from likewise.verifying.posed_problem import PosedProblem

    Floats = NDArray[np.float64]

MOST_VARIANTS = 64  # similar individuals of a row that are tried before any search
MOST_EVEN_SHARES = 8.0  # times its even share of the budget that one row may take
LEAST_SECONDS = 0.02
ROW_SHARE_OVER = "a row's share of the budget was not enough"
GAP_SHARE = 0.5  # of what a row may take, before its verdict
RELATIVE_GAP_TOLERANCE = Fraction(1, 1000)  # the largest gap is climbed to within this part of it
LEAST_GAP_TOLERANCE = Fraction(1, 10**6)
LEAST_GAIN = 16  # a pair is better if it gains this part of the tolerance
MOST_WITNESSES_TRIED = 3  # of those that were tried, the most that are put to the referee before a search
GAP_CELLS = 2_000  # spent on the largest gap of a row, in each order


def judge_rows_singly(
    posed: PosedProblem,
    inquiry: Inquiry,
    rows: Floats,
    budget: Budget,
    told: Callable[[int], None] | None = None,
    *,
    seed: int = 0,
    waiting: int = 0,
) -> Judgement:
    """All rows, one after another, as far as the budget goes, of which as many rows as are `waiting` have to be judged afterwards. What is random about a row depends on the seed and on the row alone."""
    found = Judgement.open(len(rows), rows.shape[1])
    settle_by_reach(posed, inquiry, rows, budget, found)
    left = np.flatnonzero(found.verdict == UNDECIDED).tolist()
    for done, i in enumerate(left):
        row = rows[i]
        if budget.over:
            found.reasons |= dict.fromkeys(left[done:], budget.reason)
            break
        part = RowBudget(
            budget, max(LEAST_SECONDS, MOST_EVEN_SHARES * budget.left / (len(left) - done + waiting))
        )
        try:
            with part.watched():
                random = np.random.default_rng([seed, zlib.crc32(row.tobytes())])
                own = replace(posed, task=replace(posed.task, random=random))
                RowSearch(own, inquiry, row, part).judge(found, i)
        except OutOfTime:
            found.reasons[i] = part.reason
        if told is not None:
            told(len(rows) - len(left) + done + 1)
    return found


def settle_by_reach(
    posed: PosedProblem, inquiry: Inquiry, rows: Floats, budget: Budget, found: Judgement
) -> None:
    """Rows that are told by how far their score can rise and fall."""
    reach = SumReach.of(inquiry)
    if reach is None or posed.task.question.unproved() is not None:
        return
    confirm = partial(posed.imported.replay.confirm_either_way, question=inquiry.question)
    confirming = ReplayQueue(confirm, rows, found, budget)
    with suppress(OutOfTime), budget.watched():
        for i, row in enumerate(rows):
            check_clock()
            RowSearch(posed, inquiry, row, budget).settle(reach, found, i)
            confirming.add(np.array([i]))
    confirming.finish()


class RowBudget(BudgetPart):
    """The part of a budget that one of many rows may take."""

    @property
    def reason(self) -> str:
        return self.whole.reason if self.whole.over else ROW_SHARE_OVER


class RowSearch:
    """One individual beside all who are similar to it."""

    def __init__(self, posed: PosedProblem, inquiry: Inquiry, row: Floats, budget: Budget) -> None:
        self.posed, self.inquiry, self.row, self.budget = posed, inquiry, row, budget
        self.pairs, self.codes = inquiry.pairs, [Fraction(c) for c in row.tolist()]
        self.own = inquiry.judge.enclose(self.codes, FIRST_BITS)
        self.tried: Floats = row[None][
            :0
        ]  # similar individuals that were looked at, the one with the largest gap first
        self.lower, self.off = 0.0, math.inf  # the largest gap so far, and by how much it may be larger
        self.unproved = posed.task.oracles.unbounded or posed.task.question.unproved()
        self.reason: str | None = None
        self.proved = True

    def judge(self, found: Judgement, i: int) -> None:
        """Decide, and write down what came out."""
        if has_nobody_beside(self.pairs, self.row):
            found.verdict[i], found.gap[i], found.gap_error[i] = FAIR, 0.0, 0.0
            return
        self._try_variants()
        verdict, witness = self._verdict()
        found.verdict[i], found.proved[i] = verdict, verdict != FAIR or self.proved
        if verdict == UNDECIDED and self.reason is not None:
            found.reasons[i] = self.reason
        if witness is not None:
            found.counterpart[i] = witness
        elif len(self.tried):
            found.counterpart[i] = self.tried[0]
        found.gap[i], found.gap_error[i] = self.lower, self.off
        if self.inquiry.by_extremes:
            found.score.value[i] = nearest_double(self.own[0].middle)
        elif witness is not None:
            found.gap[i] = max(self.lower, self._estimate_gaps(witness[None]).max())

    def settle(self, reach: SumReach, found: Judgement, i: int) -> None:
        """Write down what the reach of the score tells; nothing where that leaves the verdict open. Whom it finds the original is still to be asked about."""
        score = reach.sums.score.exact
        own, (down, up) = score(self.codes), (reach.reached(self.codes, sign) for sign in (-1, 1))
        ends, climb = (own, own - down.most, own + up.most), RowGapSearch(self)
        broken = None
        for other in (np.array(end.codes) for end in (down, up)):
            codes = [Fraction(c) for c in other.tolist()]
            climb.take(other)
            if self.pairs.valid(self.codes, codes) and self.inquiry.breaks(own, score(codes), score(codes)):
                broken = other
        if broken is None and self.inquiry.breaks(*ends):
            return
        counterpart = climb.best if broken is None else broken
        found.verdict[i] = FAIR if broken is None else BIASED
        found.score.value[i] = nearest_double(own)
        found.gap[i], found.gap_error[i] = climb.bracket(ends)
        if counterpart is not None:
            found.counterpart[i] = counterpart

    def task(self, question: Question, *, first: bool) -> SearchTask:
        """The search for a pair that breaks a question about one case, with the individual on one side."""
        pairs = self.inquiry.pairs_beside(first=first)
        return replace(
            self.posed.task_of(pairs),
            pairs=pairs_with_row(pairs, self.row, first=first),
            question=question,
            wanted=None,
            rows=self.row[None],
            budget=self.budget,
            random=self.posed.task.random,
            products=None,
            unreplayed=[],
            listener=ignore_progress,
        )

    # -- who is similar, and how far away --------------------------------------------------------------------------

    def _try_variants(self) -> None:
        """Similar individuals at ends of windows, and random ones; then the largest gap."""
        rows = similar_variants(self.posed.task, self.pairs, self.inquiry.moving, self.row)
        if self.inquiry.by_extremes:
            RowGapSearch(self).run(rows)
            return
        valid = [self.pairs.valid(self.codes, [Fraction(c) for c in row]) for row in rows.tolist()]
        self.tried = rows[np.array(valid, dtype=bool)]
        gaps = self._estimate_gaps(self.tried)
        if len(gaps):
            self.lower, order = gaps.max(), np.argsort(-gaps, kind="stable")
            self.tried = self.tried[order]

    def _estimate_gaps(self, others: Floats) -> Floats:
        """About how far each of these is from the individual: float64 that is off by less than a digit shown."""
        rows = np.concatenate([self.row[None], others])
        scores = self.inquiry.judge.cross(rows, (), np.empty((1, 0)))
        numbers = compared_values(self.inquiry.question, scores).values[:, 0]
        apart = np.subtract(*self.inquiry.in_order(numbers[0], numbers[1:]))
        gaps: Floats = self.inquiry.sizes(apart).max(axis=1, initial=0.0)
        return gaps

    # -- the verdict -----------------------------------------------------------------------------------------------

    def _verdict(self) -> tuple[int, Floats | None]:
        self.reason, verdict = self.unproved, FAIR
        closes = self.reason is None
        for question, first in self._questions():
            if self.inquiry.side not in ("either", "first" if first else "second"):
                continue
            check_clock()  # a search looks at its root at least
            task = self.task(question, first=first)
            witness, end = self._known_witness(task, first=first), "stuck"
            if witness is None and closes:
                search = Frontier(task=task)
                end, witness = search.run(), search.witness
                self.proved &= search.oracle.proves
            if witness is not None:
                return BIASED, np.array(witness.other if first else witness.x)
            if end != "closed":
                verdict = UNDECIDED
                self.reason = self.reason or (self.budget.reason if end == "budget" else "rounding")
        return (UNDECIDED if self.reason == NO_PRECISION else verdict), None

    def _questions(self) -> Iterator[tuple[Question, bool]]:
        """The question about each case that the individual can be part of, and whether as the first of the two."""
        question = self.inquiry.question
        if question.kind != "decision":
            yield from ((case, first) for case in question.divided() for first in (True, False))
        elif self.inquiry.by_extremes:
            (own,), (case,) = self.own, question.divided()
            if own.hi > question.level:
                yield case, True
            if own.lo <= -question.level:
                yield case, False
        else:
            own_class = decide_class(question.head, question.level, self.inquiry.judge.enclose, self.codes)
            if own_class is None:
                self.reason = NO_PRECISION
            for one in question.cases() if own_class not in (None, NO_CLASS) else ():
                if one.classes is not None and own_class in one.classes:
                    yield question.about(one), own_class == one.classes[0]

    def _known_witness(self, task: SearchTask, *, first: bool) -> Witness | None:
        """A witness among those that were tried, the deepest by float64 first."""
        if not len(self.tried):
            return None
        ((line, as_first, as_second),) = task.signals(np.concatenate([self.row[None], self.tried]))
        mine, others = (as_first[:1], as_second[1:]) if first else (as_second[:1], as_first[1:])
        mine = np.broadcast_to(mine, others.shape)
        depth = line.margin(mine, others) if first else line.margin(others, mine)
        for at in np.argsort(-depth, kind="stable")[:MOST_WITNESSES_TRIED].tolist():
            pair = (self.row.tolist(), self.tried[at].tolist())
            witness = task.referee(*(pair if first else pair[::-1])) if depth[at] >= 0 else None
            if witness is not None:
                return witness
        return None


class RowGapSearch:
    """The largest gap of one score, between the individual and those who are similar: the lowest and the highest of some, then
    a search with a rising question, as far as half of the time allows."""

    def __init__(self, single: RowSearch) -> None:
        self.single, (self.own,) = single, single.own
        self.gauge = gap_gauge(single.inquiry.question)
        self.lower, self.tolerance = Fraction(0), LEAST_GAP_TOLERANCE
        self.best: Floats | None = None  # who has the largest gap

    def run(self, variants: Floats) -> None:
        """Climb from some who are similar, constraints left aside."""
        single, task = self.single, self.single.posed.task
        allowed = np.ones(len(variants), dtype=bool)
        for constraint in single.pairs.constraints:
            allowed &= constraint.scores(variants) <= 0
        tried = variants[allowed]
        if len(tried):
            scores = task.scores(tried)
            tried = tried[[int(scores.argmin()), int(scores.argmax())]]
            for row in tried:
                self.take(row)
        budget, closed = BudgetPart(single.budget, GAP_SHARE * single.budget.left), False
        with suppress(OutOfTime), budget.watched():
            closed = self._climb(budget)
        if self.best is not None:
            single.tried = np.concatenate([self.best[None], tried])
        single.lower = double_below(self.lower)
        if closed and task.oracles.exact:
            single.off = double_above(self.tolerance)

    def bracket(self, ends: tuple[Fraction, Fraction, Fraction]) -> tuple[float, float]:
        """The largest gap so far, and by how much it may be larger, where the scores of the individual and of the lowest and highest similar one are not beyond these."""
        own, low, high = ends
        if self.gauge.asked.kind == "score":
            off = max(high - own, own - low) - self.lower
            return double_below(self.lower), double_above(max(off, LEAST_GAP_TOLERANCE))
        off = max(LEAST_GAP_TOLERANCE, RELATIVE_GAP_TOLERANCE * self.lower)
        while off < 1:
            (case,) = self._alone(self.lower + off).cases()
            if not (case.line.holds(own, low) or case.line.holds(high, own)):
                return double_below(self.lower), double_above(off)
            off *= 2
        return double_below(self.lower), math.inf

    def take(self, other: Floats) -> None:
        """Raise the largest gap, if this is a similar individual with a larger one."""
        single, codes = self.single, [Fraction(c) for c in other.tolist()]
        if not single.pairs.valid(single.codes, codes):
            return
        (score,) = single.inquiry.judge.enclose(codes, FIRST_BITS)
        gap = self.gauge.largest(*single.inquiry.in_order((self.own,), (score,)))
        if gap > self.lower or self.best is None:
            self.lower, self.best = gap, other

    def _climb(self, budget: Budget) -> bool:
        """Whether the largest gap is at most `tolerance` larger than the one that was found."""
        if self.single.unproved is not None:
            return False
        sides = {"first": (True,), "second": (False,)}.get(self.single.inquiry.side, (True, False))
        closed = [self._climb_on_side(budget, first=first) for first in sides]
        return all(closed)

    def _climb_on_side(self, budget: Budget, *, first: bool) -> bool:
        """The same of pairs with the individual on one side."""
        check_clock()
        task = self.single.task(self._alone(self.lower), first=first)
        task.replay, task.budget = NoReplay(), budget
        search = Frontier(task=task)
        while True:
            self.tolerance = max(LEAST_GAP_TOLERANCE, RELATIVE_GAP_TOLERANCE * self.lower)
            if self.gauge.of == "probability" and self.lower + self.tolerance >= 1:
                return True
            task.question = self._alone(self.lower + self.tolerance)
            task.wanted = self._alone(self.lower + self.tolerance / LEAST_GAIN)
            end = search.run(most=GAP_CELLS)
            if end != "witness" or search.witness is None:
                return end == "closed"
            before = self.lower
            self.take(np.array(search.witness.other if first else search.witness.x))
            if self.lower <= before:
                return False

    def _alone(self, level: Fraction) -> Question:
        """Whether there is a gap above a level, of pairs as they stand."""
        (question,) = self.gauge.question(level).divided()
        return question


def has_nobody_beside(pairs: PairSpace, row: Floats) -> bool:
    """Whether nobody comes after a row, of ordered pairs: it has as much as anybody has; or nobody is beside it in a part."""
    differing = (k for k, relation in enumerate(pairs.relations) if relation.apart_always)
    return any(is_alone(pairs, k, Fraction(float(row[k]))) for k in differing)


def similar_variants(task: SearchTask, pairs: PairSpace, moving: Sequence[int], row: Floats) -> Floats:
    """Individuals around a row, at ends of windows and random ones: similar to it, constraints left aside, but for rounding."""
    random = task.random
    rows = np.repeat(row[None], MOST_VARIANTS, axis=0)
    for k in moving:
        variable = pairs.variables[pairs.first[k]]
        bottom, top = (float(end[0]) for end in similar_windows(pairs, k, row[k : k + 1]))
        if pairs.relations[k].kind == "pairs":
            rows[:, k] = random.choice(partner_codes(pairs, k, float(row[k])), MOST_VARIANTS)
        elif variable.discrete:
            rows[:, k] = random.integers(int(bottom), int(top) + 1, MOST_VARIANTS)
        else:
            part = random.uniform(0, 1, MOST_VARIANTS)
            rows[:, k] = np.clip(bottom * (1 - part) + top * part, bottom, top)
        if pairs.relations[k].kind != "pairs":
            at_end = random.uniform(0, 1, MOST_VARIANTS) < 0.5
            rows[at_end, k] = random.choice([bottom, top], int(at_end.sum()))
    return rows if task.snap_codes is None else task.snap_codes(rows)


def pairs_with_row(pairs: PairSpace, row: Floats, *, first: bool) -> PairSpace:
    """The pairs that have this individual on one side; windows of continuous features are rounded outwards."""
    fixed = set(pairs.first if first else pairs.second)
    difference = {v for v in pairs.difference if v is not None}
    variables = list(pairs.variables)
    for v, variable in enumerate(variables):
        relation, code = pairs.relations[variable.feature], float(row[variable.feature])
        low, high = relation.apart if first else relation.turned().apart
        gone = relation.missing is not None and code == relation.missing
        if v in difference:
            continue
        if v in fixed or variable.side == "both" or gone:
            variables[v] = replace(variable, lo=code, hi=code)
        elif relation.tolerance is not None:
            lo, hi = Fraction(code) + low, Fraction(code) + high
            outward = double_below(lo), double_above(hi)
            last = variable.hi if relation.missing is None else variable.last
            variables[v] = replace(variable, lo=max(variable.lo, outward[0]), hi=min(last, outward[1]))
    return replace(pairs, variables=tuple(variables))


def gap_gauge(question: Question) -> Gauge:
    """The scale of a row's gap: scores, but for claims about probabilities."""
    asked = question if question.kind in ("probability", "prediction") else replace(question, kind="score")
    return Gauge(asked=asked)
