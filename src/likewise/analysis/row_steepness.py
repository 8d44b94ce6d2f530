"""Steep singly: a search of its own for each row of a Lipschitz claim, where those who are similar are too many to be listed.

Is there an x' with |f(x) - f(x')| > L e(x, x') + slack? Pairs are tried first: along single features, towards the row, and the way that the score rises most for what it costs. Sums of one-feature
terms under a sum of costs are told by each feature's largest excess (`search.steep_rows`). Otherwise the pairs of x are cut as those of any row are (`row_search`), but for a box around x in which nobody
breaks the claim: one in which the score does not change at all (between the thresholds of trees), or changes no faster than L e, by intervals of its derivatives in float64 (`search.slope_tree`; then FAIR is not `proved`).
Without such a box cells next to x, in which e is as small as one likes, are never closed.

A gap is an excess here: |f(x) - f(x')| - L e(x, x'), at least 0.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.row_search import (
    LEAST_SECONDS,
    MOST_EVEN_SHARES,
    RowBudget,
    RowSearch,
    pairs_with_row,
    similar_variants,
)
from likewise.cells.allowances import allowances_of
from likewise.clock import OutOfTime, check_clock
from likewise.search.frontier import Frontier
from likewise.search.judgement import BIASED, FAIR, UNDECIDED, Judgement
from likewise.search.neighbours import cuts_of, partner_codes
from likewise.search.slope_tree import SlopeTree
from likewise.search.steep_rows import SteepSums
from likewise.spec.numbers import double_above, double_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.slopes import Slopes
    from likewise.model.cases import Witness
    from likewise.search.budget import Budget
    from likewise.search.inquiry import Inquiry
    from likewise.search.task import SearchTask
    from likewise.spec.pairs import Variable
    from likewise.verifying.posed_problem import PosedProblem

    Floats = NDArray[np.float64]

SCALES = (1.0, 0.1, 1e-2, 1e-4)  # of the way from a row to others, and of ranges
MOST_LEVELS = 32  # of a feature, that are tried
REFEREED = 8  # steepest pairs that are put to the exact test
DIFFERENCE = 1e-5  # of a range, of which derivatives are made
HALVINGS = 24  # of the box around a row
FIRST_BOXES, MORE_BOXES = 512, 32  # that the whole window, and each smaller box, is cut into


def judge_steep_rows_singly(
    posed: PosedProblem,
    inquiry: Inquiry,
    rows: Floats,
    budget: Budget,
    told: Callable[[int], None] | None = None,
    *,
    seed: int = 0,
    waiting: int = 0,
) -> Judgement:
    """All rows, one after another, as far as the budget goes, of which as many rows as are `waiting` have to be judged afterwards."""
    found, sums = Judgement.open(len(rows), rows.shape[1]), SteepSums.of(inquiry)
    for i, row in enumerate(rows):
        if budget.over:
            found.reasons |= dict.fromkeys(range(i, len(rows)), budget.reason)
            break
        seconds = MOST_EVEN_SHARES * budget.left / (len(rows) - i + waiting)
        part = RowBudget(budget, max(LEAST_SECONDS, seconds))
        try:
            with part.watched():
                random = np.random.default_rng([seed, zlib.crc32(row.tobytes())])
                own = replace(posed, task=replace(posed.task, random=random))
                SteepRow(own, inquiry, row, part, sums).judge(found, i)
        except OutOfTime:
            found.reasons[i] = part.reason
        if told is not None:
            told(i + 1)
    return found


class SteepRow:
    """One individual beside all who are similar to it."""

    def __init__(
        self, posed: PosedProblem, inquiry: Inquiry, row: Floats, budget: Budget, sums: SteepSums | None
    ) -> None:
        self.single = RowSearch(posed, inquiry, row, budget)
        self.posed, self.inquiry, self.row, self.budget, self.sums = posed, inquiry, row, budget, sums
        self.pairs, self.codes = inquiry.pairs, self.single.codes
        self.slack, self.lower = inquiry.question.level, Fraction(0)
        self.best: Floats | None = None  # who has the largest excess so far
        self.proved, self.reason = True, self.single.unproved

    def judge(self, found: Judgement, i: int) -> None:
        """Decide, and write down what came out."""
        verdict = self._verdict()
        found.verdict[i], found.proved[i] = verdict, verdict != FAIR or self.proved
        if verdict == UNDECIDED:
            found.reasons[i] = self.reason or "rounding"
        if self.best is not None:
            found.counterpart[i] = self.best
        found.gap[i] = double_below(self.lower)
        found.gap_error[i] = double_above(self.slack - self.lower) if verdict == FAIR else math.inf

    def _verdict(self) -> int:
        if self._broken_among(self._tried()):
            return BIASED
        if self.sums is not None and self.reason is None:
            ends = [self.sums.end(self.codes, sign) for sign in (-1, 1)]
            if self._broken_among(np.array([end.codes for end in ends])):
                return BIASED
            if all(end.most <= self.slack for end in ends):
                return FAIR
        if self.reason is not None:
            return UNDECIDED
        return self._search()

    # -- pairs that are tried -------------------------------------------------------------------------------------

    def _broken_among(self, others: Floats) -> bool:
        """Whether one of some others breaks the claim with the row, the largest excess by float64 first; the largest one that is similar is kept."""
        others = others[(others != self.row).any(axis=1)]
        if not len(others):
            return False
        excess = self._excess(others)
        order = np.argsort(-excess, kind="stable")[:REFEREED].tolist()
        for at in order:
            check_clock()
            witness = self._witness(others[at]) if excess[at] >= float(self.slack) * (1 - 1e-9) else None
            if witness is not None:
                return True
        for at in order:
            self._take(others[at])
        return False

    def _excess(self, others: Floats) -> Floats:
        """In float64."""
        scores = self.posed.task.scored(np.concatenate([self.row[None], others])).reshape(len(others) + 1, -1)
        of = self.inquiry.question.of
        apart = np.abs(scores[1:] - scores[:1])
        widest = apart.max(axis=1) if of is None or apart.shape[1] == 1 else apart[:, of]
        points = np.zeros((len(others), len(self.pairs.variables)))
        points[:, list(self.pairs.first)] = self.row
        points[:, list(self.pairs.second)] = others
        for k, v in enumerate(self.pairs.difference):
            if v is not None:
                points[:, v] = others[:, k] - self.row[k]
        allowances = allowances_of(self.pairs)
        excess: Floats = widest if allowances is None else widest - allowances.at(points)
        return np.where(np.isnan(excess), -np.inf, excess)

    def _witness(self, other: Floats) -> Witness | None:
        """The pair, whichever comes first, if the referee takes it."""
        task, sides = self.posed.task, (self.row.tolist(), other.tolist())
        task = replace(task, budget=self.budget, unreplayed=[])
        for x, second in (sides, sides[::-1]):
            witness = task.referee(x, second)
            if witness is not None:
                moved = witness.other if x is sides[0] else witness.x
                if (witness.x if x is sides[0] else witness.other) != tuple(self.row.tolist()):
                    continue  # nudged: another individual's pair
                self.best, self.lower = np.array(moved), max(self.slack, self._exact_excess(moved))
                return witness
        return None

    def _take(self, other: Floats) -> None:
        """Keep a similar individual with the largest excess."""
        if not self.pairs.valid(self.codes, [Fraction(c) for c in other.tolist()]):
            return
        excess = self._exact_excess(other.tolist())
        if self.best is None or excess > self.lower:
            self.best, self.lower = other, max(excess, Fraction(0))

    def _exact_excess(self, other: list[float] | tuple[float, ...]) -> Fraction:
        """A number that the excess of a pair is not below."""
        codes, allowance = [Fraction(c) for c in other], self.pairs.allowance
        scores, of = self.inquiry.judge.enclose(codes, 128), self.inquiry.question.of
        own = self.inquiry.judge.enclose(self.codes, 128)
        places = range(len(own)) if of is None or len(own) == 1 else (of,)
        apart = max(max(own[i].lo - scores[i].hi, scores[i].lo - own[i].hi) for i in places)
        return apart if allowance is None else apart - allowance.ends(self.codes, codes)[1]

    def _tried(self) -> Floats:
        """Others around the row: at ends of windows and random ones, nearer and nearer; along each feature; and where the score rises and falls most for what it costs."""
        moving, row = self.inquiry.moving, self.row
        variants = similar_variants(self.posed.task, self.pairs, moving, row)
        numbers = [k for k in moving if self._is_number(k)]
        found = [variants]
        for scale in SCALES[1:]:
            nearer = np.repeat(row[None], len(variants), axis=0)
            for k in numbers:
                nearer[:, k] = self._moved(k, scale * (variants[:, k] - row[k]))
            found.append(nearer)
        for k in moving:
            codes = self._along(k)
            alone = np.repeat(row[None], len(codes), axis=0)
            alone[:, k] = codes
            found.append(alone)
        found.append(self._steepest(numbers))
        snapped = self.posed.task.snap_codes
        tried = np.concatenate(found)
        return tried if snapped is None else snapped(tried)

    def _is_number(self, k: int) -> bool:
        levels = self.pairs.space[self.pairs.space.names[k]].kind in ("categorical", "ordinal")
        return not levels and self.pairs.relations[k].kind != "pairs"

    def _moved(self, k: int, by: Floats) -> Floats:
        """Codes of a number so far from the row's own, within its range; whole numbers move by one at least."""
        variable = self.pairs.variables[self.pairs.first[k]]
        if variable.discrete:
            by = np.where(by < 0, np.floor(by), np.ceil(by))
        codes: Floats = np.clip(self.row[k] + by, variable.lo, variable.last)
        return codes

    def _along(self, k: int) -> Floats:
        """Other codes of one feature."""
        variable = self.pairs.variables[self.pairs.first[k]]
        if not self._is_number(k):
            return np.array(partner_codes(self.pairs, k, float(self.row[k]))[:MOST_LEVELS])
        width = float(variable.last) - float(variable.lo)
        steps = np.array([way * scale * width for scale in SCALES for way in (-1, 1)])
        cuts = None if variable.discrete else cuts_of(self.pairs, self.inquiry.judge, k)
        codes = self._moved(k, steps)
        if cuts is None:
            return codes
        at = int(np.searchsorted(cuts, self.row[k]))
        beyond = [*cuts[max(at - 1, 0) : at], *np.nextafter(cuts[at : at + 1], np.inf)]
        return np.concatenate([codes, np.clip(beyond, variable.lo, variable.last)])

    def _steepest(self, numbers: list[int]) -> Floats:
        """The ways in which one score rises, and falls, most for what it costs, by differences."""
        allowance, task = self.pairs.allowance, self.posed.task
        costs = {} if allowance is None else {k: allowance.costs[k] for k in numbers}
        priced = {k: float(cost.each) for k, cost in costs.items() if cost is not None and cost.each}
        if allowance is None or not priced or self.inquiry.judge.n_scores > 1:
            return self.row[None][:0]
        widths = {k: float(self._variable(k).last) - float(self._variable(k).lo) for k in priced}
        around = np.repeat(self.row[None], len(priced), axis=0)
        for n, k in enumerate(priced):
            step = max(DIFFERENCE * widths[k], 1.0 if self._variable(k).discrete else 0.0)
            around[n, k] += -step if around[n, k] + step > self._variable(k).last else step
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            rises = task.scored(np.concatenate([self.row[None], around])).ravel()
            apart = np.array([around[n, k] - self.row[k] for n, k in enumerate(priced)])
            rise = np.nan_to_num((rises[1:] - rises[0]) / apart)
        each = np.array(list(priced.values()))
        share = np.sign(rise)
        if allowance.norm == 2:
            share = rise / each / max(float(np.sqrt(((rise / each) ** 2).sum())), np.finfo(np.float64).tiny)
        elif allowance.norm == 1:
            share = np.where(np.abs(rise) / each >= (np.abs(rise) / each).max(), share, 0.0)
        length = min(width * cost for width, cost in zip(widths.values(), priced.values(), strict=True))
        found = []
        for scale in SCALES:
            for way in (-1, 1):
                other = self.row.copy()
                for n, k in enumerate(priced):
                    other[k] = self._moved(k, np.array([way * scale * share[n] * length / each[n]]))[0]
                found.append(other)
        return np.array(found)

    def _variable(self, k: int) -> Variable:
        return self.pairs.variables[self.pairs.first[k]]

    # -- the search -----------------------------------------------------------------------------------------------

    def _search(self) -> int:
        """Every cell of the row's pairs, but for a box around the row in which nobody breaks the claim."""
        box = self._quiet_box()
        verdict = FAIR
        for question in self.inquiry.question.divided():
            for first in (True, False):
                for task in self._tasks(self.single.task(question, first=first), box, first=first):
                    check_clock()
                    search = Frontier(task=task)
                    end = search.run()
                    self.proved &= search.oracle.proves
                    if search.witness is not None and self._confirm(search.witness, first=first):
                        return BIASED
                    if end != "closed":
                        verdict = UNDECIDED
                        self.reason = self.reason or (self.budget.reason if end == "budget" else "rounding")
        return verdict

    def _confirm(self, witness: Witness, *, first: bool) -> bool:
        own, other = (witness.x, witness.other) if first else (witness.other, witness.x)
        if own != tuple(self.row.tolist()):
            return False
        self.best, self.lower = np.array(other), max(self.slack, self._exact_excess(other))
        return True

    def _tasks(self, task: SearchTask, box: tuple[Floats, Floats], *, first: bool) -> Iterator[SearchTask]:
        """The task of each of some boxes that cover all others but those of the box: a feature below or above it, those before in it."""
        pairs, (lo, hi) = task.pairs, box
        side = pairs.second if first else pairs.first
        inside = list(pairs.variables)
        for k in self.inquiry.moving:
            v, variable = side[k], inside[side[k]]
            last, first_above = (
                (lo[k] - 1, hi[k] + 1)
                if variable.discrete
                else (math.nextafter(lo[k], -math.inf), math.nextafter(hi[k], math.inf))
            )
            for low, high in ((variable.lo, last), (first_above, variable.hi)):
                if low <= high:
                    variables = list(inside)
                    variables[v] = replace(variable, lo=low, hi=high)
                    yield replace(task, pairs=replace(pairs, variables=tuple(variables)), unreplayed=[])
            inside[v] = replace(variable, lo=max(variable.lo, lo[k]), hi=min(variable.hi, hi[k]))

    def _quiet_box(self) -> tuple[Floats, Floats]:
        """A box of others none of whom breaks the claim; the row alone where no other one is known."""
        alone = self.row.copy(), self.row.copy()
        return self._constant_box() or self._gentle_box() or alone

    def _constant_box(self) -> tuple[Floats, Floats] | None:
        """Where no score changes: numbers between two thresholds, levels as they are."""
        lo, hi = self.row.copy(), self.row.copy()
        for k in self.inquiry.moving:
            variable = self.pairs.variables[self.pairs.first[k]]
            if variable.discrete:
                continue
            cuts = cuts_of(self.pairs, self.inquiry.judge, k)
            if cuts is None or variable.missing is not None:
                return None
            at = int(np.searchsorted(cuts, self.row[k]))
            lo[k] = np.nextafter(cuts[at - 1], np.inf) if at else variable.lo
            hi[k] = cuts[at] if at < len(cuts) else variable.hi
        return lo, hi

    def _gentle_box(self) -> tuple[Floats, Floats] | None:
        """Where the score changes no faster than is allowed, by its derivatives in float64; None where it has none."""
        slopes, allowance = self.posed.task.slopes, self.pairs.allowance
        if slopes is None or allowance is None or any(v.missing is not None for v in self.pairs.variables):
            return None
        window = pairs_with_row(self.pairs, self.row, first=True)
        numbers = [k for k in self.inquiry.moving if self._is_number(k)]
        part = 1.0
        for halving in range(HALVINGS):
            check_clock()
            lo, hi = self.row.copy(), self.row.copy()
            for k in numbers:
                variable = window.variables[window.second[k]]
                down, up = self.row[k] - variable.lo, variable.hi - self.row[k]
                lo[k], hi[k] = self.row[k] - part * down, self.row[k] + part * up
                if part == 1:
                    lo[k], hi[k] = variable.lo, variable.hi
                if variable.discrete:
                    lo[k], hi[k] = math.ceil(lo[k]), math.floor(hi[k])
            if self._is_gentle(slopes, lo, hi, MORE_BOXES if halving else FIRST_BOXES):
                self.proved = False
                return lo, hi
            part /= 2
        return None

    def _is_gentle(self, slopes: Slopes, lo: Floats, hi: Floats, most: int) -> bool:
        """Whether boxes of the box show that."""
        pairs, allowance = self.pairs, self.pairs.allowance
        low, high = (np.zeros(len(pairs.variables)) for _ in range(2))
        for side in (pairs.first, pairs.second):
            low[list(side)], high[list(side)] = lo, hi
        tree = SlopeTree(pairs, slopes, low, high)
        if allowance is None or not tree.apt:
            return False
        with suppress(OutOfTime):
            return tree.refine(float(allowance.constant), self.budget, math.inf, most)
        return False
