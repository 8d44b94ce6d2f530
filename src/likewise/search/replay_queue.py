"""Confirming: rows that are biased in exact arithmetic are put to the model's own program as well, together with their counterparts.

The program is asked about many rows at a time, as each question has its price, and while rows are judged, not afterwards: what is left of the budget must be enough
for those that wait. Where the program does not show the difference nothing is claimed, nor of rows that there was no time to ask about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from likewise.search.judgement import BIASED, NOT_REPLAYED, UNDECIDED
from likewise.search.pace import Pace, closing_budget

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.budget import Budget
    from likewise.search.judgement import Judgement

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Confirm = Callable[[Floats, Floats], Flags]

FIRST_PAIRS, MOST_PAIRS = 64, 65_536  # pairs that the program is asked about at a time
TIME_RESERVE = 2.0  # times what those that wait would take has to be left


class ReplayQueue:
    """Asks `confirm` (own rows, counterparts) about the biased rows of a judgement."""

    def __init__(self, confirm: Confirm, rows: Floats, found: Judgement, budget: Budget) -> None:
        self.confirm, self.rows, self.found, self.budget = confirm, rows, found, budget
        self.pace = Pace(budget, first=FIRST_PAIRS, most=MOST_PAIRS)
        self.waiting: list[int] = []

    def add(self, some: NDArray[np.intp]) -> None:
        """Rows that were judged; the biased ones wait, and are asked about if they have become many."""
        self.waiting += some[self.found.verdict[some] == BIASED].tolist()
        needed = TIME_RESERVE * self.pace.seconds(len(self.waiting))
        while self.waiting and (len(self.waiting) >= self.pace.size or needed >= self.pace.left):
            if not self._ask(self.pace):
                break

    def finish(self) -> None:
        """Ask about those that still wait; of those for whom there is no time nothing is claimed."""
        pace = self.pace.until(closing_budget(self.budget))
        while self.waiting and self._ask(pace):
            pass
        for i in self.waiting:
            self.found.verdict[i] = UNDECIDED
        self.waiting = []

    def _ask(self, pace: Pace) -> bool:
        """About as many as fit; False where there is no time."""
        count = min(pace.size, len(self.waiting))
        if not pace.fits(count):
            return False
        some, self.waiting = np.array(self.waiting[:count], dtype=np.intp), self.waiting[count:]
        pace.begin()
        shown = self.confirm(self.rows[some], self.found.counterpart[some])
        pace.done(count)
        for i in some[~shown].tolist():
            self.found.verdict[i], self.found.reasons[i] = UNDECIDED, NOT_REPLAYED
        return True
