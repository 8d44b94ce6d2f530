"""The branch and bound of one case by oracles that remember: as `remembering`, from several views.

A cell is looked at from the view that was best for the one it was cut from, then, if that does not close it, from those that may do better
(`RememberingCaseOracle.other_views`), and it is cut by the best of them. Each view has a memory and leans of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.cells.leaf import Clearance, Leaf
from likewise.errors import InternalError
from likewise.families.oracle import Proposal
from likewise.families.remembered import RememberingCaseOracle
from likewise.model.cases import RivalQuestion
from likewise.model.question import EVEN
from likewise.search.branch_and_bound import Cell
from likewise.search.remembering import RememberingSearch, Trial

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.question import Question

    Floats = NDArray[np.float64]


@dataclass(slots=True, kw_only=True)
class RememberingCaseSearch(RememberingSearch):
    """The search of a case; a cell's memory has a part for each view."""

    @property
    def oracle(self) -> RememberingCaseOracle:
        oracle = self.problem.oracle
        if not isinstance(oracle, RememberingCaseOracle):
            raise InternalError("a case is searched by its own oracle")
        return oracle

    def ask(self, question: Question, wanted: Question | None = None) -> None:
        RememberingSearch.ask(self, question, wanted)
        self.oracle.ask(question)  # type: ignore[arg-type]

    def _memory(self, cell: Cell) -> Any:
        known = self.memories.setdefault(cell.number, {})
        if self.view not in known:
            even = self.problem.question.leans() == (float(EVEN),)
            known.update(self.oracle.memory(cell.lo.tolist(), cell.hi.tolist(), even=even))
        return known

    def _turn_to(self, view: int) -> None:
        self.view = self.oracle.view = view

    def _look_from(self, leaf: Leaf) -> None:
        self._turn_to(self.oracle.place(leaf))

    def _asked(self) -> Question:
        view = self.oracle.views[self.view]
        return self.problem.question if view.rivals is None else view.question

    def _attained(self, lean: float) -> bool:
        question = self._asked()
        if not isinstance(question, RivalQuestion):
            return not lean
        return not ((lean > 0 and question.strict[0]) or (lean < 1 and question.strict[1]))

    def _line(self, cell: Cell, trial: Trial) -> Leaf:
        leaf = RememberingSearch._line(self, cell, trial)
        soft = self.oracle.soft(self._memory(cell), leaf.lean)
        return replace(leaf, rivals=self.oracle.views[self.view].rivals, soft=soft)

    def _separated(self, cell: Cell) -> Trial | None:
        """The cell at the best lean of the best view; None where one closes it."""
        self._turn_to(cell.view)
        best = self._viewed(cell, cell.lean)
        if best is None:
            return None
        for view in self._others(cell, best):
            self._turn_to(view)
            trial = self._viewed(cell, float(self.oracle.leans(cell.lo[None], cell.hi[None], view)[0]))
            if trial is None:
                return None
            if trial.excess < best.excess:
                best, cell.view = trial, view
        self._turn_to(cell.view)
        cell.lean, cell.upper, cell.rank = best.lean, best.upper, -best.excess
        return best

    def _viewed(self, cell: Cell, lean: float) -> Trial | None:
        """The cell at the best lean of the view at hand; None where that closes it."""
        trial = self._leaned(self._memory(cell), lean)
        return None if self._enough(trial) and self._close(cell, self._line(cell, trial)) else trial

    def _others(self, cell: Cell, trial: Trial) -> list[int]:
        if len(self.oracle.views) == 1:
            return []
        memory = self._memory(cell)
        self._at(memory, trial.lean)  # what is proposed is what was bounded last
        point = (
            self.oracle.pair()[None] if self.oracle.proposal(memory, trial.lean) is not None else cell.lo[:0]
        )
        return self.oracle.other_views(point)

    def _tempting(self, proposal: Proposal) -> bool:
        """By all conditions, where the view's own two are not all: no pair is deeper in the case than in one of its views."""
        if not self._deep(proposal.first, proposal.second):
            return False
        if len(self.oracle.views) == 1:
            return True
        pairs, point = self.problem.pairs, self.oracle.pair()[None]
        ((_, first, _),) = self.problem.signals(point[:, list(pairs.first)])
        ((_, _, second),) = self.problem.signals(point[:, list(pairs.second)])
        return self._deep(float(first[0]), float(second[0]))

    def prove(self, number: int, lo: Floats, hi: Floats, leaf: Leaf, question: Question) -> Clearance | None:
        if leaf.rule != self.oracle.rule:
            return self.oracle.prove(lo, hi, leaf, question)
        self._look_from(leaf)
        memories = self.memories.get(number)
        if memories is not None and self.view not in memories:
            return self.oracle.prove(lo, hi, leaf, question)
        asked = question if leaf.rivals is None else self._asked()
        return RememberingSearch.prove(self, number, lo, hi, leaf, asked)
