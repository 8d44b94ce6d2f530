"""Looking at many nodes at once: float64 bounds of all of them, then each one closed, cut or looked through.

A node is closed as soon as ONE line separates its score pairs from the witness set (`model.witness_set`); `leans` has how its direction is found. In a
decision case of several classes every node tries several views, each with leans of its own, and hands the best one on to its children. Nodes that stay
open are put to the linear relaxation where there are constraints, then cut.

Where the checker has the last word, leaves within rounding of closing are proposed to it (`Inquiry.proposes_ties`): at a tie the bound is exactly
the threshold, which float64 cannot tell from one that is above it. What it refuses is put to every other rule, and cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.cells.leaf import Clearance, Leaf, RelaxationResult
from likewise.cells.projection import cut_along_constraint, project_points
from likewise.clock import check_clock
from likewise.families.case_oracle import WITNESS_DOUBT, CaseOracle
from likewise.families.leans import BatchTrial, find_separating_leans, next_step
from likewise.families.oracle import Answer, Bounds, Child, Closed, Cut, Pair, Stuck
from likewise.model.witness_set import snap_lean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.nearness import Nearness
    from likewise.families.oracle import Node, OracleContext
    from likewise.model.cases import Witness
    from likewise.model.witness_set import WitnessSet

    Floats = NDArray[np.float64]

PULLED_POINTS = 64  # points of a batch that are pulled together, best first
MOVED_POINTS = 16  # points of a batch that are moved into the constraints, best first
REFEREED_POINTS = 4  # points of a batch put to the referee, best first
CLOCK_INTERVAL = 0.1  # seconds of bounds between two looks at the clock
EXPLAINED_SHARE = 0.1  # of the excess of a node, from which on its losses tell where to cut it


class BatchOracle(CaseOracle):
    """The oracle of a case whose nodes are bounded together."""

    def begin(self, asked: OracleContext) -> Witness | None:
        points = self.starts(*asked.start)
        return self._witness_among(points, *asked.sides(points), asked)

    def look(self, nodes: Sequence[Node], asked: OracleContext) -> Iterator[Answer]:
        lo, hi = np.stack([n.lo for n in nodes]), np.stack([n.hi for n in nodes])
        tried = self._tried(nodes, lo, hi, asked)
        candidates = self.views.first.candidates(lo, hi)
        if self.nearness is not None:
            candidates = np.concatenate([candidates, self.nearness.nearest(lo, hi)])
        if self.allowances is not None:
            candidates = np.concatenate([candidates, self.allowances.nearest(lo, hi)])
        witness = self._witness_of(tried, candidates, asked)
        if witness is not None:
            yield Pair(witness=witness)
            return
        trial = tried.best()
        variable, at = self.views.branch(lo, hi, _explained_losses(trial, asked.case.line), trial.bounds.cuts)
        if asked.pairs.constraints:
            self._cut_along_constraints(lo, hi, trial.bounds.points, variable, at, asked)
        lines = [self._line(trial, i) if closes else None for i, closes in enumerate(trial.closes)]
        proofs = self._prove_lines(lo, hi, lines, trial.view, asked)
        for i, (node, line) in enumerate(zip(nodes, lines, strict=True)):
            node.step = next_step(node.step, helped=node.lean != trial.lean[i])
            node.lean, node.upper = float(trial.lean[i]), float(trial.bounds.upper[i])
            node.view, node.rank = int(trial.view[i]), -float(trial.excess[i])
            node.memory = None if trial.bounds.memories is None else trial.bounds.memories[i]
            check_clock()
            clearance = None if line is None else self._timed(proofs[node.view].__next__, asked)
            if line is not None and clearance is not None:
                yield Closed(leaf=line, clearance=clearance)
                continue
            tie = self._line(trial, i) if asked.proposes_ties and trial.nearly[i] else None
            yield self._finish(node, int(variable[i]), float(at[i]), asked, tie)

    def look_again(self, node: Node, asked: OracleContext) -> Answer:
        lo, hi = node.lo[None], node.hi[None]
        bounds = self._bound_at_leans(node.view, lo, hi, asked, [node.memory], np.array([node.lean])).bounds
        variable, at = self.views.branch(lo, hi, bounds.loss, bounds.cuts)
        return self._finish(node, int(variable[0]), float(at[0]), asked)

    def recall(self, node: Node, leaf: Leaf, asked: OracleContext) -> None:
        node.view = self.views.place(leaf)
        tried = self._bound_at_leans(
            node.view, node.lo[None], node.hi[None], asked, [None], np.array([node.lean])
        )
        node.upper = float(tried.bounds.upper[0])

    # -- bounds ---------------------------------------------------------------------------------------------------

    def _tried(self, nodes: Sequence[Node], lo: Floats, hi: Floats, asked: OracleContext) -> BatchTrial:
        """Bounds of all nodes, from one view or more, at one lean or more."""
        lean, step = np.array([n.lean for n in nodes]), np.array([n.step for n in nodes])
        memories = [n.memory for n in nodes]
        if len(self.views) == 1:
            return self._separate(0, lo, hi, asked, memories, lean, step)
        known, parts = np.array([n.view for n in nodes]), []
        for view, chosen in enumerate(self.views.choose_views(lo, hi, known)):
            some = np.flatnonzero(chosen)
            if not len(some):
                continue
            start = np.where(known[some] == view, lean[some], self.views.leans(lo[some], hi[some], view))
            own = [memories[i] if known[i] == view else None for i in some]
            found = self._separate(view, lo[some], hi[some], asked, own, start, step[some])
            parts.append(replace(found, cell=some[found.cell]))
        return BatchTrial.joined(parts)

    def _separate(
        self,
        view: int,
        lo: Floats,
        hi: Floats,
        asked: OracleContext,
        memories: list[Any],
        lean: Floats,
        step: Floats,
    ) -> BatchTrial:
        """Each cell at its parent's lean, and at others where that does not close it and others may."""
        attempt = partial(self._bound_at_leans, view, lo, hi, asked, memories)
        # Bounds that start from a parent's are best near its lean.
        exact = self.exact and not self.views.first.inherits
        return find_separating_leans(attempt, asked.case.line, lean, step, exact=exact)

    def _bound_at_leans(
        self,
        view: int,
        lo: Floats,
        hi: Floats,
        asked: OracleContext,
        memories: list[Any],
        lean: Floats,
        some: NDArray[np.intp] | None = None,
    ) -> BatchTrial:
        """Bound the cells, or `some` of them, at these leans; what is learned of a cell is put into its place among the memories."""
        cell = np.arange(len(lo)) if some is None else some
        threshold = asked.case.line.threshold(lean)
        if self.allowances is not None:
            threshold = threshold + self.allowances.least(lo[cell], hi[cell]) / 2
        own, pace = [memories[i] for i in cell], asked.pace.seconds_per_look
        bounds = self._bound_in_pieces(view, lo[cell], hi[cell], lean, threshold, own, pace)
        for i, memory in zip(cell, bounds.memories or (), strict=False):
            memories[i] = memory
        return BatchTrial(
            cell=cell,
            lean=lean,
            excess=bounds.upper - threshold,
            bounds=bounds,
            view=np.full(len(cell), view),
        )

    def _bound_in_pieces(
        self,
        view: int,
        lo: Floats,
        hi: Floats,
        lean: Floats,
        threshold: Floats,
        memories: list[Any],
        pace: float,
    ) -> Bounds:
        """As many cells at a time as fit between two looks at the clock, by what cells have taken so far."""
        some = len(lo) if pace * len(lo) <= CLOCK_INTERVAL else max(1, int(CLOCK_INTERVAL / pace))
        bounder, parts = self.views[view].bounder, []
        for first in range(0, len(lo), some):
            check_clock()
            part = slice(first, first + some)
            cells = lo[part], hi[part], lean[part], threshold[part]
            parts.append(
                bounder.bound_heirs(*cells, memories[part]) if bounder.inherits else bounder.bound(*cells)
            )
        return parts[0] if len(parts) == 1 else Bounds.joined(parts)

    def _line(self, trial: BatchTrial, i: int) -> Leaf:
        """The leaf that closes a node by its bound."""
        return Leaf(
            rule=self.rule if trial.bounds.rules is None else trial.bounds.rules[i],
            lean=snap_lean(float(trial.lean[i])),
            hints=() if trial.bounds.hints is None else trial.bounds.hints[i],
            rivals=self.views[int(trial.view[i])].rivals,
            directions=self.views.first.directions,
            multipliers=() if trial.bounds.multipliers is None else trial.bounds.multipliers[i],
            parts=() if trial.bounds.parts is None else trial.bounds.parts[i],
        )

    def _prove_lines(
        self,
        lo: Floats,
        hi: Floats,
        lines: Sequence[Leaf | None],
        views: NDArray[np.intp],
        asked: OracleContext,
    ) -> dict[int, Iterator[Clearance | None]]:
        """What the lines of cells leave clear, those of each view in the order of the cells; the checker looks at what only proposes."""
        proofs: dict[int, Iterator[Clearance | None]] = {}
        has_line = np.array([line is not None for line in lines])
        for n in np.unique(views[has_line]).tolist():
            if not self.exact:
                proofs[n] = repeat(Fraction(0))
                continue
            some, view = np.flatnonzero(has_line & (views == n)), self.views[n]
            own = [line for line in (lines[i] for i in some.tolist()) if line is not None]
            if self.allowances is not None:
                cells = zip(lo[some], hi[some], own, strict=True)
                proofs[n] = (self.prove(*cell, asked.case) for cell in cells)
                continue
            proofs[n] = view.bounder.prove_all(lo[some], hi[some], own, view.seen(asked.case))
        return proofs

    # -- pairs ----------------------------------------------------------------------------------------------------

    def _witness_of(self, tried: BatchTrial, candidates: Floats, asked: OracleContext) -> Witness | None:
        """A witness among the points of bounds and the candidates. Bounds know the scores of their own view only."""
        points = np.concatenate([tried.bounds.points, candidates])
        if not self.views.whole:
            return self._witness_among(points, *asked.sides(points), asked)
        first, second = asked.sides(candidates)
        bounds = tried.bounds
        scores = np.concatenate([bounds.first, first]), np.concatenate([bounds.second, second])
        return self._witness_among(points, *scores, asked)

    def _witness_among(
        self, points: Floats, first: Floats, second: Floats, asked: OracleContext
    ) -> Witness | None:
        """Put the points that look like witnesses in float64 to the referee, moved into the constraints if there are any."""
        if asked.pairs.constraints:
            deep = _deepest_places(first, second, MOVED_POINTS, asked.sought.line)
            if not deep:
                return None
            points = project_points(asked.pairs, *asked.start, points[deep])
            first, second = asked.sides(points)
        if self.nearness is not None:
            points, first, second = self._brought_near(self.nearness, points, first, second, asked)
        for i in _deepest_places(first, second, REFEREED_POINTS, asked.sought.line):
            check_clock()
            witness = asked.referee(*asked.pairs.split([float(c) for c in points[i]]))
            if witness is not None:
                return witness
        return None

    def _brought_near(
        self, nearness: Nearness, points: Floats, first: Floats, second: Floats, asked: OracleContext
    ) -> tuple[Floats, Floats, Floats]:
        """Those of the points that look like witnesses, pulled together where they are too far apart, with their scores."""
        deep = _deepest_places(first, second, len(first), asked.sought.line)
        chosen, far = points[deep], nearness.at(points[deep]) > nearness.bound
        if not far.any():
            return chosen, first[deep], second[deep]
        pulled = np.concatenate([chosen[~far], nearness.pulled(chosen[far][:PULLED_POINTS])])
        return pulled, *asked.sides(pulled)

    # -- nodes that no line closes ----------------------------------------------------------------------------------

    def _cut_along_constraints(
        self,
        lo: Floats,
        hi: Floats,
        points: Floats,
        variable: NDArray[np.intp],
        at: Floats,
        asked: OracleContext,
    ) -> None:
        """Cut cells whose highest point is excluded by a constraint, but would be a witness, along that constraint: no tighter bound closes them."""
        for i in np.flatnonzero(asked.case.line.margin(*asked.sides(points)) >= 0):
            place = cut_along_constraint(asked.pairs, lo[i], hi[i], points[i])
            if place[0] >= 0:
                variable[i], at[i] = place

    def _finish(
        self, node: Node, variable: int, at: float, asked: OracleContext, tie: Leaf | None = None
    ) -> Answer:
        """Close a node by the relaxation, by looking through it or by a leaf that may hold exactly (`tie`), else cut it."""
        relaxed = self._relax(node, asked)
        if relaxed is not None:
            closed = self._close(node, relaxed.leaf, asked)
            if closed is not None:
                return closed
            points = relaxed.point[None, :]
            witness = self._witness_among(points, *asked.sides(points), asked)
            if witness is not None:
                return Pair(witness=witness)
            if relaxed.fractional is not None:
                variable, at = relaxed.fractional
        if self._has_few_pairs(node, asked, uncut=variable < 0):
            return self._enumerate_pairs(node, asked)
        closed = None if tie is None else self._close(node, tie, asked)
        if closed is not None:
            return closed
        if variable < 0:
            return Stuck()
        part = Child(rank=node.rank, upper=node.upper, memory=node.memory)
        return Cut(variable=variable, at=at, after=self.views.after(variable, at), children=(part, part))

    def _relax(self, node: Node, asked: OracleContext) -> RelaxationResult | None:
        found = CaseOracle._relax(self, node, asked)
        if found is None or found.leaf.lean is None:
            return found
        return replace(found, leaf=replace(found.leaf, rivals=self.views[node.view].rivals))


def _deepest_places(first: Floats, second: Floats, most: int, sought: WitnessSet) -> list[int]:
    """The places of those who look like witnesses, deepest first."""
    depth = sought.margin(first, second)
    slack = WITNESS_DOUBT * (1 + np.abs(first) + np.abs(second))
    return [i for i in np.argsort(-depth)[:most].tolist() if depth[i] >= -slack[i]]


def _explained_losses(trial: BatchTrial, witnesses: WitnessSet) -> Floats | None:
    """What the bounds lost, by variable. Under a curved W, a cell stays open also because no one line separates
    scores of such a range: where the losses explain little of the excess they say nothing about where to cut."""
    loss = trial.bounds.loss
    if loss is None or witnesses.lean_at(0.0) is None:
        return loss
    explained = np.maximum(loss, 0).sum(axis=1) >= EXPLAINED_SHARE * trial.excess
    return np.where(explained[:, None], loss, 0.0)
