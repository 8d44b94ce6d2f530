"""Branch and bound over the cases of a property of several classes: a tree of cells a case, all of them on one budget.

Cases take turns, each for a while longer every time, so that an easy witness is not kept waiting by a hard proof. In a decision case
every cell tries several views (`bounds.cases`), each with leans of its own, and hands the best one on to its children.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.bounds.cases import CaseOracle, Oracles
from likewise.bounds.combined import NO_BOUNDS
from likewise.bounds.enumerated import independent
from likewise.bounds.oracle import Clearance, Leaf, Relaxed
from likewise.bounds.remembered import RememberingCaseOracle
from likewise.errors import InternalError
from likewise.model.cases import SoftmaxCase
from likewise.model.combined import CombinedScore
from likewise.model.cubes import MOST_CLASSES
from likewise.search.branch_and_bound import Cell, Search, Trial
from likewise.search.falsification import climbed, falsify
from likewise.search.portfolio import why_stuck
from likewise.search.problem import Problem, Witness
from likewise.search.proof import Proof, Split, root_cell, walk
from likewise.search.remembering_cases import RememberingCaseSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Case
    from likewise.model.classquestion import ClassQuestion

    Floats = NDArray[np.float64]

TURN = 512  # cells of a case in its first turn
LONGER = 2
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


@dataclass(slots=True, kw_only=True)
class ClassSearch:
    """The searches of all cases."""

    searches: list[CaseSearch | RememberingCaseSearch]
    witness: Witness | None = None
    turn: float = field(default=TURN)

    def run(self, *, most: float = math.inf) -> str:
        """Until every case is closed, a witness is found or the budget (or `most` more nodes) is over: as `Search.run` says it."""
        ends = dict.fromkeys(range(len(self.searches)), "budget")
        most += self.cells
        while True:
            for n, search in enumerate(self.searches):
                if ends[n] != "budget":
                    continue
                ends[n] = search.run(most=self.turn)
                if ends[n] == "witness":
                    self.witness = search.witness
                    return "witness"
            if "budget" not in ends.values():
                return "stuck" if "stuck" in ends.values() else "closed"
            if self.searches[0].problem.budget.over or self.cells > most:
                return "budget"
            self.turn *= LONGER

    def ask(self, question: ClassQuestion, wanted: ClassQuestion | None = None) -> None:
        """The same cases at another level; `wanted` is what a pair has to break."""
        cases = zip(self.searches, question.cases(), (wanted or question).cases(), strict=True)
        for search, case, sought in cases:
            search.oracle.ask(case)
            search.problem.question = case
            search.problem.wanted = None if wanted is None else sought

    def reopen_unproved(self, *, split: bool = True) -> None:
        """Cut the leaves that do not hold at the level that is asked for, or (without `split`) open them again."""
        for search in self.searches:
            search.reopen(_unproved(search), split=split)

    def holds(self) -> bool:
        """Whether all leaves hold at the level that is asked for."""
        return not any(_unproved(search) for search in self.searches)

    def restore(self, nodes: list[list[Split | Leaf | None]]) -> None:
        """Go back to proofs that were complete."""
        for search, known in zip(self.searches, nodes, strict=True):
            search.proof, search.witness = Proof(known), None
            search.open.clear()
            search.stuck.clear()
            search.forget()

    @property
    def proofs(self) -> list[Proof]:
        return [search.proof for search in self.searches]

    def clearance(self) -> Clearance:
        """The smallest clearance of all leaves at the level that is asked for, which may be lower than when they were closed."""
        return min(
            (
                Fraction(0) if clearance is None else clearance
                for search in self.searches
                for _, clearance in _cleared(search)
            ),
            default=math.inf,
        )

    @property
    def cells(self) -> int:
        return sum(len(search.proof.nodes) for search in self.searches)

    @property
    def open(self) -> list[tuple[Case, Cell]]:
        """What is left, by case."""
        return [
            (search.problem.question, cell)  # type: ignore[misc]
            for search in self.searches
            for cell in (*search.open, *search.stuck)
        ]


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
    starts = [
        part.oracle.starts(*root_cell(problem.pairs))[:, list(problem.pairs.first)]
        for part in search.searches
        if isinstance(part.problem.question, SoftmaxCase) and not part.problem.question.by_lines
    ]
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
    search = class_search(problem, question, oracles)
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


def _unproved(search: CaseSearch | RememberingCaseSearch) -> set[int]:
    """The leaves that do not hold."""
    return {number for number, clearance in _cleared(search) if clearance is None}


def _cleared(search: CaseSearch | RememberingCaseSearch) -> Iterator[tuple[int, Clearance | None]]:
    """All leaves with their clearances; None where one does not hold."""
    for number, node, lo, hi in walk(search.proof, search.problem.pairs):
        if isinstance(node, Leaf):
            yield number, search.prove(number, lo, hi, node, search.problem.question)


def conclude_classes(problem: Problem, search: ClassSearch) -> ClassOutcome:
    """Run the searches to their end and say what came out."""
    end, engine = search.run(), "branch and bound"
    if end == "witness":
        return ClassOutcome(engine=engine, witness=search.witness, search=search)
    if end == "closed":
        return ClassOutcome(engine=engine, proofs=search.proofs, search=search)
    reason = problem.budget.reason if end == "budget" else why_stuck(problem)
    return ClassOutcome(engine=engine, reason=reason, search=search)


def unproved(question: ClassQuestion, oracles: Oracles) -> str | None:
    """Why no proof is tried: votes of many classes have too many cases, combined scores no bounds."""
    if isinstance(oracles.score.parts[0], CombinedScore):
        return f"no proof is known: {NO_BOUNDS}"
    count = len(question.head.labels)
    if question.head.rule == "votes" and count > MOST_CLASSES:
        return f"votes of {count} classes: proofs are written for at most {MOST_CLASSES}"
    return None
