"""Branch and bound over the cases of a property of several classes: a tree of cells a case.

In a decision case every cell tries several views (`families.cases`), each with leans of its own, and hands the best one on to its children.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.enumerated import independent
from likewise.cells.leaf import Leaf, Relaxed
from likewise.clock import OutOfTime, look_at_clock
from likewise.errors import InternalError
from likewise.families.cases import CaseOracle, Oracles
from likewise.families.combined.oracle import NO_BOUNDS
from likewise.families.combined.score import CombinedScore
from likewise.families.remembered import RememberingCaseOracle
from likewise.model.cases import SoftmaxCase
from likewise.model.cubes import MOST_CLASSES
from likewise.search.branch_and_bound import FOR_THE_ROOT, Cell, Search
from likewise.search.falsification import climbed, falsify
from likewise.search.leaning import Trial
from likewise.search.portfolio import why_stuck
from likewise.search.problem import Problem, Witness
from likewise.search.proof import Proof
from likewise.search.remembering_cases import RememberingCaseSearch
from likewise.search.together import Searches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Case
    from likewise.model.classquestion import ClassQuestion
    from likewise.model.question import Question

    Floats = NDArray[np.float64]

SLOW_BATCH = 16


@dataclass(slots=True, kw_only=True)
class CaseSearch(Search):
    """The branch and bound of one case."""

    @property
    def oracle(self) -> CaseOracle:
        oracle = self.problem.oracle
        if not isinstance(oracle, CaseOracle):
            raise InternalError("a case is searched by its own oracle")
        return oracle

    def ask(self, question: Question, wanted: Question | None = None) -> None:
        Search.ask(self, question, wanted)
        self.oracle.ask(question)  # type: ignore[arg-type]

    def _tried(self, batch: list[Cell], lo: Floats, hi: Floats) -> Trial:
        known, lean = np.array([c.view for c in batch]), np.array([c.lean for c in batch])
        step, parts = np.array([c.step for c in batch]), []
        for view, chosen in enumerate(self.oracle.plans(lo, hi, known)):
            some = np.flatnonzero(chosen)
            if not len(some):
                continue
            self._turn_to(view)
            start = np.where(known[some] == view, lean[some], self.oracle.leans(lo[some], hi[some], view))
            found = self._separate(lo[some], hi[some], start, step[some])
            parts.append(replace(found, cell=some[found.cell]))
        return Trial.joined(parts)

    def _batch_size(self, size: int) -> int:
        """Cells of odds are bounded one by one, some of them slowly."""
        return min(size, SLOW_BATCH) if self.oracle.rule == "odds" else Search._batch_size(self, size)

    def _turn_to(self, view: int) -> None:
        self.view = self.oracle.view = view

    def _look_from(self, leaf: Leaf) -> None:
        self._turn_to(self.oracle.place(leaf))

    def _leaf(self, trial: Trial, i: int) -> Leaf:
        leaf, rivals = Search._leaf(self, trial, i), self.oracle.views[int(trial.view[i])].rivals
        return replace(leaf, rivals=rivals, directions=self.oracle.directions)

    def _relaxed(self, cell: Cell) -> Relaxed | None:
        self._turn_to(cell.view)
        relaxed = self.oracle.relax(cell.lo, cell.hi, self.problem.question)
        if relaxed is None or relaxed.leaf.lean is None:
            return relaxed
        leaf = replace(relaxed.leaf, rivals=self.oracle.views[cell.view].rivals)
        return replace(relaxed, leaf=leaf)

    def _scored(self, points: Floats) -> tuple[Floats, Floats, Floats]:
        """Points with both signals of the case."""
        pairs, case = self.problem.pairs, self.problem.signals
        ((_, first, _),) = case(points[:, list(pairs.first)])
        ((_, _, second),) = case(points[:, list(pairs.second)])
        return points, first, second

    def _look(self, points: Floats, first: Floats, second: Floats) -> bool:  # noqa: ARG002
        """Bounds know the scores of their own view only: the signals are asked for again."""
        return Search._look(self, *self._scored(points))


ClassSearch = Searches[CaseSearch | RememberingCaseSearch]  # of all cases


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassOutcome:
    """A witness, or complete proofs of all cases (or the one leaf `independent`), or neither with the reason."""

    engine: str
    witness: Witness | None = None
    proofs: list[Proof] | None = None
    independent: bool = False
    reason: str | None = None
    search: ClassSearch | None = None


def climbed_from_starts(problem: Problem, search: ClassSearch) -> Witness | None:
    """The best pair, if it is a witness, that coordinate ascent leads to from where the oracles of softmax cases would start: there several
    features hold each other in balance, which no ascent from random rows finds soon."""
    starts = []
    with suppress(OutOfTime), problem.budget.watched():
        for part in search.searches:
            if isinstance(part.problem.question, SoftmaxCase) and not part.problem.question.by_lines:
                look_at_clock()
                starts.append(part.oracle.starts(*part.start)[:, list(problem.pairs.first)])
    return climbed(problem, np.concatenate(starts)) if starts else None


def decide_classes(problem: Problem, question: ClassQuestion, oracles: Oracles) -> ClassOutcome:
    """Run the engines until one of them decides or the budget is over."""
    if independent(problem.pairs, oracles.score):
        return ClassOutcome(engine="independence", independent=True)
    witness = falsify(problem)
    if witness is not None:
        return ClassOutcome(engine="falsification", witness=witness)
    refusal = unproved(question, oracles)
    if refusal is not None:
        return ClassOutcome(engine="falsification", reason=refusal)
    try:
        with problem.budget.later(FOR_THE_ROOT).watched():
            search = class_search(problem, question, oracles)
    except OutOfTime:
        return ClassOutcome(engine="branch and bound", reason=problem.budget.reason)
    witness = climbed_from_starts(problem, search)
    if witness is not None:
        return ClassOutcome(engine="falsification", witness=witness)
    return conclude_classes(problem, search)


def class_search(problem: Problem, question: ClassQuestion, oracles: Oracles) -> ClassSearch:
    """The searches of all cases of a question."""
    return ClassSearch(searches=[case_search(problem, case, oracles) for case in question.cases()])


def case_search(problem: Problem, case: Case, oracles: Oracles) -> CaseSearch | RememberingCaseSearch:
    """The branch and bound that fits the oracles."""
    if oracles.remember():
        oracle: CaseOracle = RememberingCaseOracle(case, oracles)
        return RememberingCaseSearch(
            problem=replace(problem, oracle=oracle, question=case, wanted=None)  # type: ignore[arg-type]
        )
    oracle = CaseOracle(case, oracles)
    return CaseSearch(problem=replace(problem, oracle=oracle, question=case, wanted=None))  # type: ignore[arg-type]


def conclude_classes(problem: Problem, search: ClassSearch) -> ClassOutcome:
    """Run the searches to their end and say what came out."""
    for part in search.searches:
        part.proposes_ties = True
    end, engine = search.run(), "branch and bound"
    if end == "witness":
        return ClassOutcome(engine=engine, witness=search.witness, search=search)
    if end == "closed":
        return ClassOutcome(engine=engine, proofs=search.proofs, search=search)
    exact = all(part.problem.oracle.exact for part in search.searches)
    reason = problem.budget.reason if end == "budget" else why_stuck(problem, exact=exact)
    return ClassOutcome(engine=engine, reason=reason, search=search)


def unproved(question: ClassQuestion, oracles: Oracles) -> str | None:
    """Why no proof is tried: votes of many classes have too many cases, combined scores no bounds."""
    if isinstance(oracles.score.parts[0], CombinedScore):
        return f"no proof is known: {NO_BOUNDS}"
    count = len(question.head.classes)
    if question.head.rule == "votes" and count > MOST_CLASSES:
        return f"votes of {count} classes: proofs are written for at most {MOST_CLASSES}"
    return None
