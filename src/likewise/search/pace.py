"""Pacing: work in pieces, each as large as the pieces before it say that a part of the time left allows.

A piece takes about a tenth of what is left of the budget, and at most half a second: so the clock is looked at often, and what is done when it ends is
kept. The first piece is small, as nothing is known yet, and none is many times as large as the one before. A piece that by all that is known
would end after the budget is not begun.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime
from likewise.search.budget import BudgetUntil

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.judge import Judge
    from likewise.families.score_judge import ScoreTable
    from likewise.search.budget import Budget
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

PIECE_SHARE = 0.1  # that one piece may take
MOST_SECONDS = 0.5
LEAST_SECONDS = 0.02  # smaller pieces would cost more than they do
MOST_GROWTH = 8  # times the units of the piece before
MEMORY_DECAY = 0.7  # of what is known, with each piece
EQUAL_PIECES = 1e-6  # pieces of nearly the same number of units tell no more than one
FIRST_ROWS, MOST_ROWS = 8, 65_536  # scored at a time
GRACE_SHARE = 0.25  # for what is due when the budget is over


class Pace:
    """How many units of work are done in one piece: at first `first`, never more than `most`.

    A piece takes seconds of its own and some for each unit, both as the last pieces tell (a line through them, older ones counting less). Where what a piece costs by
    itself is all that it may take, as much again goes to its units.
    """

    def __init__(self, budget: Budget, *, first: int, most: int) -> None:
        self.budget, self.most = budget, most
        self._largest = max(1, min(first, most))
        self._sums = np.zeros(5)  # weights, units, seconds, units squared, units times seconds
        self._began = budget.elapsed

    @property
    def left(self) -> float:
        """Seconds until the budget is over."""
        return self.budget.left

    @property
    def size(self) -> int:
        """Of how many units the next piece may be."""
        own, each = self._line()
        if not each:
            return self._largest
        seconds = max(LEAST_SECONDS, min(MOST_SECONDS, PIECE_SHARE * self.left))
        return max(1, min(self._largest, int(max(seconds - own, own) / each)))

    def fits(self, units: int) -> bool:
        """Whether a piece of so many units is to be begun: there is time, and as far as is known enough of it."""
        return not self.budget.over and self.seconds(units) <= self.left

    def seconds(self, units: int) -> float:
        """What a piece of so many units would take, as far as is known."""
        own, each = self._line()
        return own + units * each

    def begin(self) -> None:
        """A piece begins now; it does without this where it follows the one before."""
        self._began = self.budget.elapsed

    def done(self, units: int) -> None:
        """A piece of so many units is done."""
        now = self.budget.elapsed
        seconds = max(now - self._began, 0.0)
        self._sums = MEMORY_DECAY * self._sums + [1, units, seconds, units**2, units * seconds]
        self._largest = min(self.most, max(self._largest, MOST_GROWTH * units))
        self._began = now

    def until(self, budget: Budget) -> Pace:
        """The same pace on a budget with another end."""
        pace = Pace(budget, first=self._largest, most=self.most)
        pace._sums = self._sums
        return pace

    def _line(self) -> tuple[float, float]:
        """Seconds of a piece by itself, and of a unit; neither is negative."""
        weights, units, seconds, squares, products = self._sums.tolist()
        if not units:
            return 0.0, 0.0
        spread = squares * weights - units**2
        each = (
            (products * weights - units * seconds) / spread if spread > EQUAL_PIECES * units**2 else math.inf
        )
        each = min(max(each, 0.0), seconds / units)
        return max(seconds - each * units, 0.0) / weights, each


def closing_budget(budget: Budget) -> Budget:
    """What is left of a budget and a quarter of its grace: for what is due at the end."""
    end = budget.end
    grace = 0.0 if math.isinf(end) else budget.grace_end - end
    return BudgetUntil(budget, end + GRACE_SHARE * grace, settling=True)


def score_in_pieces(
    judge: Judge, codes: Floats, some: NDArray[np.intp], budget: Budget
) -> Iterator[tuple[NDArray[np.intp], ScoreTable]]:
    """Scores of some individuals as they are, piece by piece, as long as the budget lasts."""
    pace, start = Pace(budget, first=FIRST_ROWS, most=MOST_ROWS), 0
    while start < len(some) and pace.fits(1):
        part = some[start : start + pace.size]
        try:
            with budget.watched():
                found = judge.cross(codes[part], (), np.empty((1, 0)))
        except OutOfTime:
            return
        pace.done(len(part))
        start += len(part)
        yield part, found
        pace.begin()


def warm_up(judge: Judge, pairs: PairSpace, budget: Budget) -> None:
    """Score one individual, so that loops that are compiled on first use are: no part of any pace, nor of the budget."""
    corner = np.array([[float(pairs.variables[v].lo) for v in pairs.first]])
    with budget.stopped():
        judge.cross(corner, (), np.empty((1, 0)))
