"""Branch and bound for oracles that keep something about each cell (`families.oracle.Remembering`).

The search is the same: a cell is closed, gives a witness, or is split. But a cell starts from what was found out about the one it was cut
from, splits come with the bounds of both parts, which order the cells still to be looked at, and what is proved of a
closed cell is kept, so that it need not be proved again for a weaker claim.

Under constraints a bound may be attained by nobody but pairs that they exclude. Such a cell is put to a linear program (`meeting`), first the part of it
in which all pairs have the scores of the maximum: that has a pair, which is a witness, or none, and then it is cut off, or with it the whole cell.

For questions that more than one lean can answer, the excess over the threshold is convex in the lean: each cell tries its parent's lean,
the end that the slope points to, and then where the tangents at the two leans around the minimum cross.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from likewise import clock
from likewise.cells.enumerated import pair_count
from likewise.cells.leaf import Clearance, Leaf
from likewise.clock import look_at_clock
from likewise.families.oracle import Proposal, Remembering
from likewise.model.question import EVEN, snap
from likewise.search.branch_and_bound import FEW_PAIRS, FRONTIER, NEARLY, Cell, Search
from likewise.search.leaning import touching
from likewise.search.meeting import Meeting
from likewise.search.problem import exact_witness
from likewise.search.proof import children

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.question import Question
    from likewise.search.problem import Problem

    Floats = NDArray[np.float64]

LEANS = 4  # tried for a cell
REFINEMENTS = 3  # leans between those of the grid
BATCH = 16  # cells between two looks at the clock
# Of a cell's excess: more than what cuts count for ties among its losses (`Remembering.cut_memory`).
OVERSTATED = 2e-6
SETTLED = 1e-3  # of its parent's excess: parts that are lower by nearly all of it are looked at next, as they can be closed


class Trial(NamedTuple):
    """A cell's bound at a lean, by how much it exceeds the threshold, and how that changes with the lean."""

    lean: float
    upper: float
    excess: float
    slope: float


class Ceiling(NamedTuple):
    """a s - b s' <= bound at every pair of a cell."""

    a: Fraction
    b: Fraction
    bound: Fraction


@dataclass(slots=True, kw_only=True)
class RememberingSearch(Search):
    """A search that hands memories down from cell to cell; `memories` of open cells and what was proved of closed ones by number."""

    memories: dict[int, Any] = field(default_factory=dict)
    ceilings: dict[int, Ceiling] = field(default_factory=dict)
    meeting: Meeting = field(init=False)

    def __post_init__(self) -> None:
        Search.__post_init__(self)
        self.meeting = Meeting(self.problem)

    def forget(self) -> None:
        self.memories.clear()
        self.ceilings.clear()

    def _oracle(self) -> Remembering:
        return cast(Remembering, self.problem.oracle)

    def _batch_size(self, size: int) -> int:
        return min(size, BATCH)

    def _starts(self) -> bool:
        return False  # the first cell's proposal is as good

    def _memory(self, cell: Cell) -> Any:
        if cell.number not in self.memories:
            even = self.problem.question.leans() == (float(EVEN),)
            self.memories[cell.number] = self._oracle().memory(cell.lo.tolist(), cell.hi.tolist(), even=even)
        return self.memories[cell.number]

    def _work(self, batch: list[Cell]) -> bool:
        for i, cell in enumerate(batch):
            look_at_clock()
            if self._work_on(cell):
                self._put_back(batch[i:])
                return True
        return False

    def _work_on(self, cell: Cell) -> bool:
        """Close or split one cell; True on a witness."""
        trial = self._separated(cell)
        if trial is None or (self.problem.pairs.constraints and self._excluded(cell)):
            return False
        oracle, memory = self._oracle(), self._memory(cell)
        if len(self.problem.question.leans()) > 1:
            trial = self._at(memory, trial.lean)  # what is proposed and cut is what was bounded last
        proposal = oracle.proposal(memory, trial.lean)
        if proposal is not None and self._tempting(proposal):
            x, other = self.problem.pairs.split(oracle.pair().tolist())
            self.witness = self.problem.referee(x, other)
            if self.witness is None and self.problem.pairs.constraints:
                self.witness = self.meeting.witness(*oracle.agreed(cell.lo, cell.hi))
            if self.witness is not None:
                return True
            if oracle.constant(cell.lo.tolist(), cell.hi.tolist()) and exact_witness(self.problem, x, other):
                self.stuck.append(cell)  # the program shows this pair no more than any other of the cell
                return False
        if proposal is not None and proposal.attains and self.problem.pairs.constraints:
            return self._divide_stubborn(cell, trial)
        return self._divide(cell, trial)

    def _separated(self, cell: Cell) -> Trial | None:
        """The cell at its best lean; None where that closes it."""
        trial = self._leaned(self._memory(cell), cell.lean)
        cell.lean, cell.upper, cell.rank = trial.lean, trial.upper, -trial.excess
        return None if self._enough(trial) and self._close(cell, self._line(cell, trial)) else trial

    def _line(self, cell: Cell, trial: Trial) -> Leaf:  # noqa: ARG002
        """The leaf that closes a cell by its bound."""
        return Leaf(rule=self._oracle().rule, lean=snap(trial.lean))

    def _asked(self) -> Question:
        """What is asked of the scores that are bounded."""
        return self.problem.question

    def _tempting(self, proposal: Proposal) -> bool:
        """Whether the proposed pair looks like a witness in float64."""
        return self._deep(proposal.first, proposal.second)

    def _deep(self, first: float, second: float) -> bool:
        depth = float(self.problem.sought.margin(np.array([first]), np.array([second]))[0])
        return depth >= -NEARLY * (1 + abs(first) + abs(second))

    def _excluded(self, cell: Cell) -> bool:
        relaxed = self.problem.oracle.relax(cell.lo, cell.hi, self.problem.question)
        return relaxed is not None and self._close(cell, relaxed.leaf)

    def _divide_stubborn(self, cell: Cell, trial: Trial) -> bool:
        """A cell whose bound is attained by somebody whom constraints exclude: it has no pair at all, or is cut where the constraints are."""
        found = self.meeting.looked_at(cell.lo, cell.hi)
        if found is not None and self._close(cell, found.leaf):
            return False
        place = self._oracle().halved(cell.lo.tolist(), cell.hi.tolist(), self._constrained())
        if found is not None and found.fractional is not None:
            place = found.fractional
        return self._divide(cell, trial, place)

    def _divide(self, cell: Cell, trial: Trial, place: tuple[int, float] = (-1, 0.0)) -> bool:
        """Split a cell, at the `place` that is known or where its bounds say, or look through it; True on a witness."""
        problem, oracle = self.problem, self._oracle()
        lo, hi = cell.lo.tolist(), cell.hi.tolist()
        if pair_count(problem.pairs, lo, hi) <= max(1, FEW_PAIRS // problem.cost):
            return self._look_through(cell)
        (variable, at), left, right = place, 0.0, 0.0
        if variable < 0:
            variable, at, left, right = oracle.cut_memory(
                self._memory(cell), trial.lean, max(trial.excess, 1e-300)
            )
        if variable < 0:
            variable, at = oracle.halved(lo, hi)
        if variable < 0:
            self.stuck.append(cell)
        else:
            self._split_into(cell, variable, at, (left, right))
        return False

    def _constrained(self) -> list[int]:
        """The variables that constraints bind."""
        pairs = self.problem.pairs
        features = [
            k for k in range(len(pairs.first)) if any(not c.terms[k].constant for c in pairs.constraints)
        ]
        return sorted({v for k in features for v in (pairs.first[k], pairs.second[k])})

    def _split(self, cell: Cell, variable: int, at: float) -> None:
        self._split_into(cell, variable, at, (0.0, 0.0))

    def _split_into(self, cell: Cell, variable: int, at: float, lost: tuple[float, float]) -> None:
        """Cut the cell; its parts are ranked by what their bounds will be, those that will be closed first of all."""
        split = self._cut(cell, variable, at)
        excess, oracle, memory = -cell.rank, self._oracle(), self.memories.pop(cell.number, None)
        parts = children(self.problem.pairs, cell.lo, cell.hi, split)
        for number, (lo, hi), loss in zip((split.left, split.right), parts, lost, strict=True):
            rank = loss - excess
            if rank >= -SETTLED * excess:
                rank = -math.inf
            elif len(self.open) >= FRONTIER:
                rank = -1e300 - cell.number
            if memory is not None:
                ends = float(lo[variable]), float(hi[variable])
                self.memories[number] = oracle.inherited(memory, variable, *ends)
            upper = cell.upper - max(loss - OVERSTATED * excess, 0.0)
            part = Cell(rank, number, lo, hi, cell.lean, upper, view=cell.view)
            heapq.heappush(self.open, part)

    # -- leans ------------------------------------------------------------------------------------------------

    def _leaned(self, memory: Any, lean: float) -> Trial:
        """The best of a few leans, starting from this one; the first that closes the cell ends it."""
        best = trial = self._at(memory, lean)
        question = self.problem.question
        if question.leans() == (float(EVEN),):
            return trial
        left: Trial | None = None
        right: Trial | None = None
        known = {trial.lean}
        for _ in range(LEANS - 1):
            if self._enough(best):
                return best
            left, right = (left, trial) if trial.slope > 0 else (trial, right)
            lean = self._next_lean(left, right)
            if lean in known:
                break
            known.add(lean)
            trial = self._at(memory, lean)
            best = min(best, trial, key=self._preference)
        if self._attained(best.lean) and abs(best.excess) <= self._oracle().noise(best.lean):
            best = min(best, self._at(memory, float(EVEN)), key=self._preference)
        if question.lean_at(0.0) is not None and not self._enough(best):
            best = self._refined(memory, best, left, right)
        return best

    def _preference(self, trial: Trial) -> tuple[float, bool]:
        """Lower is better; among equals, those where a witness does not lie on the line: a tie closes the cell there."""
        return trial.excess, self._attained(trial.lean)

    def _enough(self, trial: Trial) -> bool:
        """Whether a cell should be closed, as far as float64 can tell; at lean 0 a witness may lie on the line itself."""
        noise = self._oracle().noise(trial.lean)
        return trial.excess <= (-noise if self._attained(trial.lean) else noise)

    def _attained(self, lean: float) -> bool:
        """Whether a witness may lie on the line itself."""
        return not lean

    def _refined(self, memory: Any, best: Trial, left: Trial | None, right: Trial | None) -> Trial:
        """Under a curved W, leans between those of the grid: again and again the best one for the maximisers at hand."""
        low, high = 0.0 if left is None else left.lean, 1.0 if right is None else right.lean
        trial = best
        for _ in range(REFINEMENTS):
            target = trial.slope + float(self.problem.question.balance(np.array([trial.lean]))[0])
            lean = float(
                touching(self.problem.question, np.array([low]), np.array([high]), np.array([target]))[0]
            )
            trial = self._trial(lean, *self._oracle().bound_anywhere(memory, float(snap(lean))))
            if trial.excess < best.excess:
                best = trial
            if self._enough(best):
                break
            low, high = (low, trial.lean) if trial.slope > 0 else (trial.lean, high)
        return best

    def _next_lean(self, left: Trial | None, right: Trial | None) -> float:
        """Where the tangents left and right of the minimum cross, or the end where there is none yet."""
        if left is None:
            return 0.0
        if right is None:
            return 1.0
        fall = right.slope - left.slope
        if fall <= 0:
            return left.lean
        cross = (left.excess - right.excess + right.slope * right.lean - left.slope * left.lean) / fall
        return self._oracle().on_grid(min(max(cross, left.lean), right.lean))

    def _at(self, memory: Any, lean: float) -> Trial:
        oracle = self._oracle()
        lean = oracle.on_grid(lean)
        return self._trial(lean, *oracle.bound_memory(memory, lean))

    def _trial(self, lean: float, upper: float, first: float, second: float) -> Trial:
        question, one = self.problem.question, np.array([lean])
        threshold, balance = float(question.threshold(one)[0]), float(question.balance(one)[0])
        return Trial(lean, upper, upper - threshold, first + second - balance)

    # -- proofs -----------------------------------------------------------------------------------------------

    def _close(self, cell: Cell, leaf: Leaf) -> bool:
        started = clock.now()
        question = self._asked()
        if leaf.rule == self.problem.oracle.rule:
            clearance = self._oracle().prove_memory(self._memory(cell), leaf, question)
        else:
            clearance = self.problem.oracle.prove(cell.lo, cell.hi, leaf, self.problem.question)
        self.proving += clock.now() - started
        self.proofs += 1
        if clearance is None:
            return False
        if (
            leaf.rule == self.problem.oracle.rule
            and leaf.lean is not None
            and not isinstance(clearance, float)
        ):
            line = question.direction(leaf.lean)
            self.ceilings[cell.number] = Ceiling(
                line.a, line.b, line.threshold - clearance * (line.a + line.b)
            )
        self.memories.pop(cell.number, None)
        self.clearance = min(self.clearance, clearance)
        self.proof.close(cell.number, leaf)
        self.closed += 1
        return True

    def prove(self, number: int, lo: Floats, hi: Floats, leaf: Leaf, question: Question) -> Clearance | None:
        """Whether a leaf closes a cell: by what was proved of it before, if that is enough, or by what is remembered of it."""
        ceiling = self.ceilings.get(number)
        if leaf.rule != self.problem.oracle.rule or leaf.lean is None or not question.admits(leaf.lean):
            return self.problem.oracle.prove(lo, hi, leaf, question)
        if ceiling is not None:
            line = question.direction(leaf.lean)
            if line.a * ceiling.b == line.b * ceiling.a:
                known = ceiling.bound * (line.a + line.b) / (ceiling.a + ceiling.b)
                clearance = line.clearance(known)
                if clearance is not None:
                    return clearance
        memory = self.memories.get(number)
        if memory is None:
            return self.problem.oracle.prove(lo, hi, leaf, question)
        return self._oracle().prove_memory(memory, leaf, question)


def search_of(problem: Problem) -> Search:
    """The branch and bound that fits the problem's oracle."""
    if isinstance(problem.oracle, Remembering):
        return RememberingSearch(problem=problem)
    return Search(problem=problem)
