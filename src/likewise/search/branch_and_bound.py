"""Branch and bound over cells of pair space: close every cell, or find a witness.

A cell is closed as soon as ONE line separates its score pairs from the witness set (`model.question`).
`leaning` has how its direction is found. Cells that stay open are put to the linear relaxation where there are constraints, then split.

Float bounds only steer: a leaf counts once `oracle.prove` has accepted it in exact arithmetic, and a
point once the referee has. What can neither be closed nor split is left `stuck`.

Where the checker has the last word, leaves within rounding of closing are proposed to it (`proposes_ties`): at a tie the bound is exactly
the threshold, which float64 cannot tell from one that is above it. What it refuses is put to every other rule, and cut.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise import clock
from likewise.cells.enumerated import pair_count, witnesses
from likewise.cells.leaf import Clearance, Leaf
from likewise.cells.obeying import across, moved_into
from likewise.clock import OutOfTime, look_at_clock
from likewise.errors import InternalError
from likewise.families.oracle import Bounds
from likewise.model.question import snap
from likewise.progress import Snapshot
from likewise.search.leaning import FIRST_STEP, Trial, next_step, separated
from likewise.search.proof import Proof, Split, begin, children, walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.leaf import Relaxed
    from likewise.model.question import Question
    from likewise.search.problem import Problem, Witness

    Floats = NDArray[np.float64]

BATCH = 256  # cells bounded together: enough to hide Python's cost, few enough to stay best-first
FRONTIER = 200_000  # open cells before the search turns depth-first to bound its memory
MOVED = 16  # points of a batch that are moved into the constraints, best first
TRIES = 4  # points of a batch put to the referee, best first
NEARLY = 1e-9  # relative depth below zero at which float64 may be wrong about a witness
CLOSING = 0.5  # of the time that looking at a cell has taken so far: what it takes if it need not be split
BETWEEN_LOOKS = 0.1  # seconds of bounds between two looks at the clock
A_PROOF = 1e-3  # seconds that an exact proof is taken to need before there was one
FOR_THE_ROOT = 0.5  # of the grace, for the first look at the whole space
FEW_PAIRS = 64  # cells with at most so many pairs are looked through instead of split
UNCUT_PAIRS = 2**14  # the same of cells that no bound knows how to cut

EXPLAINED = 0.1  # of the excess of a cell, from which on its losses tell where to cut it

End = Literal["closed", "witness", "budget", "stuck"]


@dataclass(slots=True, order=True)
class Cell:
    """An open cell; most promising (largest excess) first."""

    rank: float
    number: int
    lo: Floats = field(compare=False)
    hi: Floats = field(compare=False)
    lean: float = field(compare=False)
    upper: float = field(compare=False, default=np.inf)  # of the score in the direction of `lean`
    step: float = field(compare=False, default=FIRST_STEP)  # by which another lean is tried
    view: int = field(compare=False, default=0)  # of several (`search.cases`) the one that `lean` belongs to


@dataclass(slots=True, kw_only=True)
class Search:
    """A branch and bound that can be run, looked at and run on."""

    problem: Problem
    proof: Proof = field(default_factory=Proof)
    open: list[Cell] = field(default_factory=list)
    stuck: list[Cell] = field(default_factory=list)
    witness: Witness | None = None
    closed: int = 0
    batches: int = 0
    clearance: Clearance = math.inf  # the smallest of all closed cells
    settles: Sequence[Search] = ()  # whose open cells are to be looked at once more before the budget ends
    looking: float = 0.0  # seconds spent on cells, and how many were looked at
    looked: int = 0
    proving: float = 0.0  # seconds spent on exact proofs, and how many there were
    proofs: int = 0
    view: int = 0  # the one that bounds are asked of
    proposes_ties: bool = False  # cells that are nearly closed are left to the checker
    start: tuple[Floats, Floats] = field(init=False)  # the first cell

    def __post_init__(self) -> None:
        start = begin(self.problem.pairs)
        self.proof = start.proof
        self.closed = start.proof.leaves
        self.start = start.lo, start.hi
        if start.number is not None:
            self.open.append(Cell(-np.inf, start.number, start.lo, start.hi, 0.5))

    def run(self, *, most: float = math.inf) -> End:
        """Until every cell is closed, a witness is found, or the budget (or `most` more nodes) is used up."""
        problem, size = self.problem, 1
        if not self.batches:
            problem.listener(Snapshot(stage="preparing the bounds", seconds=problem.budget.elapsed))
            with problem.budget.stopped():
                problem.oracle.warm_up()
        most += len(self.proof.nodes)
        # The root at least is looked at, if need be in the grace, so that there is a bound to report.
        budget = problem.budget if self.batches else problem.budget.later(FOR_THE_ROOT)
        try:
            with budget.watched(), np.errstate(over="ignore", invalid="ignore"):
                if self._starts():
                    return "witness"
        except OutOfTime:
            return "budget"
        while self.open:
            if self.batches and (self.late or len(self.proof.nodes) > most):
                return "budget"
            budget = problem.budget if self.batches else problem.budget.later(FOR_THE_ROOT)
            self.batches += 1
            batch = [heapq.heappop(self.open) for _ in range(min(size, len(self.open)))]
            size = self._batch_size(2 * size)
            try:
                with budget.watched():
                    if self._timed_work(batch):
                        return "witness"
            except OutOfTime:
                self._put_back([cell for cell in batch if self._undone(cell)])
                return "budget"
            problem.listener(
                Snapshot(
                    stage="branch and bound",
                    seconds=problem.budget.elapsed,
                    closed=self.closed,
                    open=len(self.open),
                )
            )
        return "stuck" if self.stuck else "closed"

    def ask(self, question: Question, wanted: Question | None = None) -> None:
        """Go on with another question; what is closed under an easier one stays closed."""
        self.problem.question, self.problem.wanted = question, wanted

    def _timed_work(self, batch: list[Cell]) -> bool:
        started = clock.now()
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not closed, so it is split
                return self._work(batch)
        finally:
            self.looking += clock.now() - started
            self.looked += len(batch)

    def _batch_size(self, size: int) -> int:
        return min(size, BATCH)

    def _starts(self) -> bool:
        """Look at what the oracle would start from; True on a witness."""
        return self._look(*self._scored(self.problem.oracle.starts(*self.start)))

    def prove(self, number: int, lo: Floats, hi: Floats, leaf: Leaf, question: Question) -> Clearance | None:  # noqa: ARG002
        """Whether a leaf closes the cell of this number, exactly; searches may know that from before."""
        return self.problem.oracle.prove(lo, hi, leaf, question)

    def reopen(self, numbers: Container[int], *, split: bool) -> bool:
        """Open closed cells again: closed in another way or cut in two (`split`) where their leaf was refused, else as
        they are. True where one turns out to hold a witness."""
        found = False
        for number, node, lo, hi in list(walk(self.proof, self.problem.pairs)):
            if number not in numbers or not isinstance(node, Leaf):
                continue
            self.closed -= 1
            self.proof.reopen(number)
            lean = 0.5 if node.lean is None else float(node.lean)
            self._look_from(node)
            tried = self._try(lo[None], hi[None], np.array([lean]))
            cell = Cell(0.0, number, lo, hi, lean, float(tried.bounds.upper[0]), view=self.view)
            if not split:
                heapq.heappush(self.open, cell)
                continue
            variable, at = self.problem.oracle.branch(
                lo[None], hi[None], tried.bounds.loss, tried.bounds.cuts
            )
            found = found or self._finish(cell, int(variable[0]), float(at[0]))
            if found:
                heapq.heappush(self.open, cell)
        return found

    def forget(self) -> None:
        """Drop what is known of cells besides the proof: nothing."""

    def _look_from(self, leaf: Leaf) -> None:
        """Ask for bounds in the way that closed a leaf: there is only one."""

    def _work(self, batch: list[Cell]) -> bool:
        """Close or split every cell of the batch; on a witness (True) put back what is not done."""
        lo, hi = np.stack([c.lo for c in batch]), np.stack([c.hi for c in batch])
        tried = self._tried(batch, lo, hi)
        bounded = tried.bounds.points, tried.bounds.first, tried.bounds.second
        candidates = self._scored(self.problem.oracle.candidates(lo, hi))
        if self._look(*(np.concatenate(parts) for parts in zip(bounded, candidates, strict=True))):
            self._put_back(batch)
            return True
        trial = tried.best()
        variable, at = self.problem.oracle.branch(lo, hi, self._losses(trial), trial.bounds.cuts)
        if self.problem.pairs.constraints:
            self._cut_across(lo, hi, self._scored(trial.bounds.points), variable, at)
        for i, cell in enumerate(batch):
            helped = cell.lean != trial.lean[i]
            cell.step = next_step(cell.step, helped=helped)
            cell.lean, cell.upper = float(trial.lean[i]), float(trial.bounds.upper[i])
            cell.view = int(trial.view[i])
            cell.rank = -float(trial.excess[i])
            look_at_clock()
            if trial.closes[i] and self._close(cell, self._leaf(trial, i)):
                continue
            tie = self._leaf(trial, i) if self.proposes_ties and trial.nearly[i] else None
            if self._finish(cell, int(variable[i]), float(at[i]), tie):
                self._put_back(batch[i:])
                return True
        return False

    def _cut_across(
        self,
        lo: Floats,
        hi: Floats,
        highest: tuple[Floats, Floats, Floats],
        variable: NDArray[np.intp],
        at: Floats,
    ) -> None:
        """Cut cells whose highest point is excluded by a constraint, but would be a witness, along that constraint: no tighter bound closes them."""
        points, first, second = highest
        for i in np.flatnonzero(self.problem.question.margin(first, second) >= 0):
            place = across(self.problem.pairs, lo[i], hi[i], points[i])
            if place[0] >= 0:
                variable[i], at[i] = place

    def _tried(self, batch: list[Cell], lo: Floats, hi: Floats) -> Trial:
        """Bounds of all cells of a batch, at one lean or more."""
        return self._separate(lo, hi, np.array([c.lean for c in batch]), np.array([c.step for c in batch]))

    def _losses(self, trial: Trial) -> Floats | None:
        """What the bounds lost, by variable. Under a curved W, a cell stays open also because no one line separates
        scores of such a range: where the losses explain little of the excess they say nothing about where to cut."""
        loss = trial.bounds.loss
        if loss is None or self.problem.question.lean_at(0.0) is None:
            return loss
        explained = np.maximum(loss, 0).sum(axis=1) >= EXPLAINED * trial.excess
        return np.where(explained[:, None], loss, 0.0)

    def _leaf(self, trial: Trial, i: int) -> Leaf:
        hints = () if trial.bounds.hints is None else trial.bounds.hints[i]
        return Leaf(rule=self.problem.oracle.rule, lean=snap(float(trial.lean[i])), hints=hints)

    def _undone(self, cell: Cell) -> bool:
        """Whether a cell was neither closed nor cut nor given up when its batch was left."""
        return self.proof.nodes[cell.number] is None and all(cell is not one for one in self.stuck)

    def _put_back(self, cells: list[Cell]) -> None:
        for cell in cells:
            heapq.heappush(self.open, cell)

    def _try(self, lo: Floats, hi: Floats, lean: Floats, some: NDArray[np.intp] | None = None) -> Trial:
        """Bound the cells, or `some` of them, at these leans."""
        cell = np.arange(len(lo)) if some is None else some
        threshold = self.problem.question.threshold(lean)
        bounds = self._bounded(lo[cell], hi[cell], lean, threshold)
        view = np.full(len(cell), self.view)
        return Trial(cell=cell, lean=lean, excess=bounds.upper - threshold, bounds=bounds, view=view)

    def _bounded(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        """As many cells at a time as fit between two looks at the clock, by what cells have taken so far."""
        pace = self.looking / max(self.looked, 1)
        some = len(lo) if pace * len(lo) <= BETWEEN_LOOKS else max(1, int(BETWEEN_LOOKS / pace))
        parts = []
        for first in range(0, len(lo), some):
            look_at_clock()
            part = slice(first, first + some)
            parts.append(self.problem.oracle.bound(lo[part], hi[part], lean[part], threshold[part]))
        return parts[0] if len(parts) == 1 else Bounds.joined(parts)

    def _separate(self, lo: Floats, hi: Floats, lean: Floats, step: Floats) -> Trial:
        """Each cell at its parent's lean, and at others where that does not close it and others may."""
        attempt = partial(self._try, lo, hi)
        return separated(attempt, self.problem.question, lean, step, exact=self.problem.oracle.exact)

    def _scored(self, points: Floats) -> tuple[Floats, Floats, Floats]:
        """Points with both scores."""
        pairs, scores = self.problem.pairs, self.problem.scored
        return points, scores(points[:, list(pairs.first)]), scores(points[:, list(pairs.second)])

    def _look(self, points: Floats, first: Floats, second: Floats) -> bool:
        """Put the points that look like witnesses in float64 to the referee, moved into the constraints if there are any."""
        pairs = self.problem.pairs
        if pairs.constraints:
            deep = self._deepest(first, second, MOVED)
            if not deep:
                return False
            points, first, second = self._scored(moved_into(pairs, *self.start, points[deep]))
        for i in self._deepest(first, second, TRIES):
            look_at_clock()
            x, other = pairs.split([float(c) for c in points[i]])
            self.witness = self.problem.referee(x, other)
            if self.witness is not None:
                return True
        return False

    def _deepest(self, first: Floats, second: Floats, most: int) -> list[int]:
        """The places of those who look like witnesses, deepest first."""
        depth = self.problem.sought.margin(first, second)
        slack = NEARLY * (1 + np.abs(first) + np.abs(second))
        return [i for i in np.argsort(-depth)[:most].tolist() if depth[i] >= -slack[i]]

    @property
    def late(self) -> bool:
        """Whether to stop: the budget is over, or what is left of it is needed for the open cells."""
        budget = self.problem.budget
        needed = sum(search.needed for search in self.settles)
        return budget.over or budget.elapsed + needed > budget.seconds

    @property
    def needed(self) -> float:
        """Seconds that a look at every open cell would take, if all were closed by it."""
        looking = self.looking / max(self.looked, 1)
        proving = self.proving / self.proofs if self.proofs else A_PROOF
        return len(self.open) * (CLOSING * looking + proving)

    def _close(self, cell: Cell, leaf: Leaf) -> bool:
        if leaf.rule == self.problem.oracle.rule and not self.problem.oracle.exact:
            self.clearance = min(self.clearance, Fraction(0))  # the checker will look at it
            self.proof.close(cell.number, leaf)
            self.closed += 1
            return True
        started = clock.now()
        clearance = self.problem.oracle.prove(cell.lo, cell.hi, leaf, self.problem.question)
        self.proving += clock.now() - started
        self.proofs += 1
        if clearance is None:
            return False
        self.clearance = min(self.clearance, clearance)
        self.proof.close(cell.number, leaf)
        self.closed += 1
        return True

    def _finish(self, cell: Cell, variable: int, at: float, tie: Leaf | None = None) -> bool:
        """Close a cell by the relaxation, by looking through it or by a leaf that may hold exactly (`tie`), else split it; True on
        a witness."""
        problem = self.problem
        relaxed = self._relaxed(cell)
        if relaxed is not None:
            if self._close(cell, relaxed.leaf):
                return False
            if self._look(*self._scored(relaxed.point[None, :])):
                return True
            if relaxed.fractional is not None:
                variable, at = relaxed.fractional
        pairs = pair_count(problem.pairs, cell.lo.tolist(), cell.hi.tolist())
        if pairs <= (max(1, FEW_PAIRS // problem.cost) if variable >= 0 else UNCUT_PAIRS):
            return self._look_through(cell)
        if tie is not None and self._close(cell, tie):
            return False
        if variable < 0:
            self.stuck.append(cell)
        else:
            self._split(cell, variable, at)
        return False

    def _relaxed(self, cell: Cell) -> Relaxed | None:
        return self.problem.oracle.relax(cell.lo, cell.hi, self.problem.question)

    def _look_through(self, cell: Cell) -> bool:
        """Decide a cell of few pairs one by one; a witness that does not replay leaves it stuck."""
        problem, lo, hi = self.problem, cell.lo.tolist(), cell.hi.tolist()
        found = False
        for x, other in witnesses(problem.pairs, problem.oracle.enclose, lo, hi, problem.question):
            found = True
            self.witness = problem.referee([float(c) for c in x], [float(c) for c in other])
            if self.witness is not None:
                return True
        if found or not self._close(cell, Leaf(rule="enumerated")):
            self.stuck.append(cell)
        return False

    def _cut(self, cell: Cell, variable: int, at: float) -> Split:
        """Write a split down; refuses one that would lose a part of the cell."""
        if not cell.lo[variable] <= at <= cell.hi[variable] or (
            self.problem.pairs.variables[variable].discrete and not at.is_integer()
        ):
            raise InternalError(f"cutting variable {variable} at {at} would lose a part of the cell")
        after = self.problem.oracle.after(variable, at)
        if after is not None and (after != math.nextafter(at, math.inf) or after > cell.hi[variable]):
            raise InternalError(f"cutting variable {variable} between {at} and {after} would lose codes")
        return self.proof.split(cell.number, variable, at, after)

    def _split(self, cell: Cell, variable: int, at: float) -> None:
        split = self._cut(cell, variable, at)
        # Beyond the frontier's size newer cells go first, so that the search dives and memory is bounded.
        rank = cell.rank if len(self.open) < FRONTIER else -1e300 - cell.number
        for number, (lo, hi) in zip(
            (split.left, split.right), children(self.problem.pairs, cell.lo, cell.hi, split), strict=True
        ):
            heapq.heappush(self.open, Cell(rank, number, lo, hi, cell.lean, cell.upper, cell.step, cell.view))
