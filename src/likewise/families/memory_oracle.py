"""Looking at nodes one by one, by a family that keeps something about each cell (`families.oracle.MemoryBounder`).

A node starts from what was found out about the one it was cut from, cuts come with the bounds of both parts, which order the nodes still to be looked
at, and what is proved of a closed node is kept, so that it need not be proved again for a weaker claim.

A node of a case with several views is looked at from the view that was best for the one it was cut from, then, if that does not close it, from those that
may do better (`Views.others`), and it is cut by the best of them. Each view has a memory and leans of its own.

Under constraints a bound may be attained by nobody but pairs that they exclude. Such a node is put to a linear program (`pair_finder`), first the part of it
in which all pairs have the scores of the maximum: that has a pair, which is a witness, or none, and then it is cut off, or with it the whole node.

A `ViewedNode` is one node as seen from one view, with the lean that suits it best. For questions that more than one lean can answer, the excess over the threshold is convex in the lean: each node tries its parent's lean,
the end that the slope points to, and then where the tangents at the two leans around the minimum cross.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likewise.cells.eased_cases import case_in_cell
from likewise.cells.leaf import Clearance, Leaf
from likewise.clock import check_clock
from likewise.errors import InternalError
from likewise.families.case_oracle import WITNESS_DOUBT, CaseOracle
from likewise.families.leans import find_touching_lean, line_at
from likewise.families.oracle import Ceiling, Child, Closed, Cut, MemoryBounder, Pair, Stuck
from likewise.families.pair_finder import PairFinder
from likewise.model.witness_set import EVEN_LEAN, snap_lean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.enumerated import FeatureDependent
    from likewise.cells.leaf import Leaf
    from likewise.families.case_oracle import Encloser
    from likewise.families.oracle import Answer, Node, OracleContext, Proposal
    from likewise.families.views import Views
    from likewise.model.cases import Case, Witness
    from likewise.model.witness_set import WitnessSet

    Floats = NDArray[np.float64]

MOST_LEANS = 4  # tried for a node
MOST_REFINEMENTS = 3  # leans between those of the grid


class NodeTrial(NamedTuple):
    """A node's bound at a lean, by how much it exceeds the threshold, and how that changes with the lean; `saved` is what it is lower by thanks to more effort (`MemoryBounder.save_together`)."""

    lean: float
    upper: float
    excess: float
    slope: float
    saved: float = 0.0

    def less(self, saved: float) -> NodeTrial:
        """The same with a lower bound."""
        return self._replace(upper=self.upper - saved, excess=self.excess - saved, saved=self.saved + saved)


@dataclass(frozen=True, slots=True)
class ViewedNode:
    """The node's memory of the view, and what the view's line is to separate from (`witnesses`)."""

    bounder: MemoryBounder
    memory: Any
    witnesses: WitnessSet

    def at(self, lean: float) -> NodeTrial:
        """The bound at the nearest lean of the grid."""
        lean = self.bounder.on_grid(lean)
        return self._trial(lean, *self.bounder.bound_memory(self.memory, lean))

    def find_best_lean(self, lean: float) -> NodeTrial:
        """The best of a few leans, starting from this one; the first that closes the node ends it."""
        best = trial = self.at(lean)
        if len(self.witnesses.leans()) == 1:
            return trial
        left: NodeTrial | None = None
        right: NodeTrial | None = None
        known = {trial.lean}
        for _ in range(MOST_LEANS - 1):
            if self.separates(best):
                return best
            left, right = (left, trial) if trial.slope > 0 else (trial, right)
            lean = self._next_lean(left, right)
            if lean in known:
                break
            known.add(lean)
            trial = self.at(lean)
            best = min(best, trial, key=self._preference)
        if self.witnesses.attained(best.lean) and abs(best.excess) <= self.bounder.noise(best.lean):
            best = min(best, self.at(float(EVEN_LEAN)), key=self._preference)
        if self.witnesses.lean_at(0.0) is not None and not self.separates(best):
            best = self._refine_lean(best, left, right)
        return best

    def separates(self, trial: NodeTrial) -> bool:
        """Whether a node should be closed, as far as float64 can tell; where a witness may lie on the line itself, the bound has to stay below it."""
        noise = self.bounder.noise(trial.lean)
        return trial.excess <= (-noise if self.witnesses.attained(trial.lean) else noise)

    def line(self, trial: NodeTrial) -> Leaf:
        """The leaf that closes the node by its bound."""
        return self.bounder.line(self.memory, snap_lean(trial.lean), together=trial.saved > 0)

    def tightened(self, trial: NodeTrial) -> NodeTrial:
        """The trial with more effort, if its lean is on the grid."""
        if trial.lean != self.bounder.on_grid(trial.lean):
            return trial
        if len(self.witnesses.leans()) > 1:
            trial = self.at(trial.lean)  # the bound that is made better is the one that was asked for last
        return trial.less(self.bounder.save_together(self.memory, trial.lean, trial.excess))

    def _preference(self, trial: NodeTrial) -> tuple[float, bool]:
        """Lower is better; among equals, those where a witness does not lie on the line: a tie closes the node there."""
        return trial.excess, self.witnesses.attained(trial.lean)

    def _refine_lean(self, best: NodeTrial, left: NodeTrial | None, right: NodeTrial | None) -> NodeTrial:
        """Under a curved W, leans between those of the grid: again and again the best one for the maximisers at hand."""
        low, high = 0.0 if left is None else left.lean, 1.0 if right is None else right.lean
        trial = best
        for _ in range(MOST_REFINEMENTS):
            target = trial.slope + line_at(self.witnesses, trial.lean)[1]
            lean = float(
                find_touching_lean(self.witnesses, np.array([low]), np.array([high]), np.array([target]))[0]
            )
            trial = self._trial(lean, *self.bounder.bound_anywhere(self.memory, float(snap_lean(lean))))
            if trial.excess < best.excess:
                best = trial
            if self.separates(best):
                break
            low, high = (low, trial.lean) if trial.slope > 0 else (trial.lean, high)
        return best

    def _next_lean(self, left: NodeTrial | None, right: NodeTrial | None) -> float:
        """Where the tangents left and right of the minimum cross, or the end where there is none yet."""
        if left is None:
            return 0.0
        if right is None:
            return 1.0
        fall = right.slope - left.slope
        if fall <= 0:
            return left.lean
        cross = (left.excess - right.excess + right.slope * right.lean - left.slope * left.lean) / fall
        return self.bounder.on_grid(min(max(cross, left.lean), right.lean))

    def _trial(self, lean: float, upper: float, first: float, second: float) -> NodeTrial:
        threshold, balance = line_at(self.witnesses, lean)
        return NodeTrial(lean, upper, upper - threshold, first + second - balance)


BATCH = 16  # nodes between two looks at the budget
# Of a node's excess: more than what cuts count for ties among its losses (`Remembering.cut_memory`).
OVERSTATED_SHARE = 2e-6
NEARLY_CLOSED = 1e-3  # of its parent's excess: parts that are lower by nearly all of it are looked at next, as they can be closed
NO_CUT = -1, 0.0


class MemoryOracle(CaseOracle):
    """The oracle of a case whose nodes have memories, one for each view that they were looked at from."""

    def __init__(self, views: Views, enclose: Encloser, score: FeatureDependent) -> None:
        CaseOracle.__init__(self, views, enclose, score)
        self.batch = BATCH
        self.bounders = [view.bounder for view in views.all if isinstance(view.bounder, MemoryBounder)]
        if len(self.bounders) < len(views):
            raise InternalError("of the views of a case some remember and others do not")
        self.meeting: PairFinder | None = None

    def begin(self, asked: OracleContext) -> Witness | None:  # noqa: ARG002
        """The first node's proposal is as good."""
        return None

    def look(self, nodes: Sequence[Node], asked: OracleContext) -> Iterator[Answer]:
        for node in nodes:
            check_clock()
            yield self.look_at(node, asked)

    def look_at(self, node: Node, asked: OracleContext) -> Answer:
        """Close or cut one node, or find a pair in it."""
        trial = self._best_trial(node, asked)
        if isinstance(trial, Closed):
            return trial
        constrained = bool(asked.pairs.constraints or asked.pairs.distance or self.allowances)
        excluded = self._close_excluded(node, asked) if constrained else None
        if excluded is not None:
            return excluded
        sight = self.view_node(node, node.view, asked.case)
        if len(asked.case.line.leans()) > 1:
            trial = sight.at(trial.lean).less(
                trial.saved
            )  # what is proposed and cut is what was bounded last
        proposal = sight.bounder.propose(sight.memory, trial.lean)
        if proposal is not None and self._looks_promising(proposal, node, sight, asked):
            found = self._referee_proposal(node, sight, asked)
            if found is not None:
                return found
        if proposal is not None and proposal.attains and constrained:
            return self._cut_constrained(node, sight, trial, asked)
        return self._cut(node, sight, trial, asked)

    def look_again(self, node: Node, asked: OracleContext) -> Answer:
        relaxed = self._relax(node, asked)
        closed = None if relaxed is None else self._close(node, relaxed.leaf, asked)
        if closed is not None:
            return closed
        sight = self.view_node(node, node.view, asked.case)
        return self._cut(node, sight, sight.at(node.lean), asked)

    def recall(self, node: Node, leaf: Leaf, asked: OracleContext) -> None:  # noqa: ARG002
        node.view = self.views.place(leaf)
        bounder = self.bounders[node.view]
        memory = bounder.memory(node.lo.tolist(), node.hi.tolist())
        node.upper = bounder.bound_memory(memory, bounder.on_grid(node.lean))[0]

    def view_node(self, node: Node, view: int, case: Case) -> ViewedNode:
        """The node as seen from a view."""
        bounder = self.bounders[view]
        if node.memory is None:
            node.memory = {}
        if view not in node.memory:
            even = case.line.leans() == (float(EVEN_LEAN),)
            node.memory[view] = bounder.memory(node.lo.tolist(), node.hi.tolist(), even=even)
        if self.allowances is not None:
            case = case_in_cell(self.pairs, case, node.lo.tolist(), node.hi.tolist())
        return ViewedNode(bounder, node.memory[view], self.views[view].seen(case))

    # -- lines --------------------------------------------------------------------------------------------------

    def _best_trial(self, node: Node, asked: OracleContext) -> NodeTrial | Closed:
        """The node at the best lean of the best view, or closed by one."""
        best = self._try_view(node, node.view, node.lean, asked)
        if isinstance(best, Closed):
            return best
        for view in self._others(node, best, asked) if len(self.views) > 1 else ():
            lean = float(self.views.leans(node.lo[None], node.hi[None], view)[0])
            trial = self._try_view(node, view, lean, asked)
            if isinstance(trial, Closed):
                return trial
            if trial.excess < best.excess:
                best, node.view = trial, view
        node.lean, node.upper, node.rank = best.lean, best.upper, -best.excess
        return best

    def _try_view(self, node: Node, view: int, lean: float, asked: OracleContext) -> NodeTrial | Closed:
        """The node at the best lean of a view, or closed by it."""
        sight = self.view_node(node, view, asked.case)
        trial = sight.find_best_lean(lean)
        if not sight.separates(trial):
            trial = sight.tightened(trial)
        if not sight.separates(trial):
            return trial
        node.lean, node.upper, node.rank, node.view = trial.lean, trial.upper, -trial.excess, view
        leaf, rivals = sight.line(trial), self.views[view].rivals
        if rivals is not None:
            leaf = replace(leaf, rivals=rivals)
        return self._close(node, leaf, asked) or trial

    def _others(self, node: Node, trial: NodeTrial, asked: OracleContext) -> list[int]:
        sight = self.view_node(node, node.view, asked.case)
        sight.at(trial.lean)  # what is proposed is what was bounded last
        proposed = sight.bounder.propose(sight.memory, trial.lean) is not None
        return self.views.others(node.view, sight.bounder.pair()[None] if proposed else node.lo[:0])

    def _clearance(self, node: Node, leaf: Leaf, asked: OracleContext) -> Clearance | None:
        if leaf.rule != self.rule:
            return CaseOracle._clearance(self, node, leaf, asked)
        sight = self.view_node(node, self.views.place(leaf), asked.case)
        return sight.bounder.prove_memory(sight.memory, leaf, sight.witnesses)

    def _close(self, node: Node, leaf: Leaf, asked: OracleContext) -> Closed | None:
        closed = CaseOracle._close(self, node, leaf, asked)
        if (
            closed is None
            or leaf.rule != self.rule
            or leaf.lean is None
            or isinstance(closed.clearance, float)
            or self.allowances is not None
        ):
            return closed
        line = self.views[self.views.place(leaf)].seen(asked.case).direction(leaf.lean)
        proved = line.threshold - closed.clearance * (line.a + line.b)
        return Closed(leaf=closed.leaf, clearance=closed.clearance, ceiling=Ceiling(line.a, line.b, proved))

    # -- pairs --------------------------------------------------------------------------------------------------

    def _looks_promising(
        self, proposal: Proposal, node: Node, sight: ViewedNode, asked: OracleContext
    ) -> bool:
        """Whether the proposed pair looks like a witness in float64: by all conditions, where the view's own two are not all, as no pair is deeper in
        the case than in one of its views."""
        if self.allowances is not None:
            lo, hi = sight.bounder.agreed(node.lo, node.hi)
            first, second = asked.sides(self.allowances.nearest(lo[None], hi[None]))
            return _looks_like_witness(float(first[0]), float(second[0]), asked.sought.line)
        alone = len(self.views) == 1
        if not _looks_like_witness(proposal.first, proposal.second, asked.sought.line) or alone:
            return _looks_like_witness(proposal.first, proposal.second, asked.sought.line)
        first, second = asked.sides(sight.bounder.pair()[None])
        return _looks_like_witness(float(first[0]), float(second[0]), asked.sought.line)

    def _referee_proposal(self, node: Node, sight: ViewedNode, asked: OracleContext) -> Pair | Stuck | None:
        """What the referee says of the proposed pair; None: it is no witness."""
        x, other = asked.pairs.split(sight.bounder.pair().tolist())
        witness = asked.referee(x, other)
        if witness is None and (asked.pairs.constraints or self.nearness is not None or self.allowances):
            witness = self._witness_in(*sight.bounder.agreed(node.lo, node.hi), asked)
        if witness is not None:
            return Pair(witness=witness)
        if sight.bounder.constant(node.lo.tolist(), node.hi.tolist()) and asked.breaks(x, other):
            return Stuck()  # the program shows this pair no more than any other of the node
        return None

    def _witness_in(self, lo: Floats, hi: Floats, asked: OracleContext) -> Witness | None:
        """A witness of a cell in which all have the same scores: its nearest pair, or one that satisfies the constraints."""
        witness = None
        near = self.nearness if self.allowances is None else self.allowances
        if near is not None:
            point = near.nearest(lo[None], hi[None])[0]
            witness = asked.referee(*asked.pairs.split(point.tolist()))
        if witness is None and asked.pairs.constraints:
            witness = self._get_pair_finder(asked).witness(lo, hi, asked)
        return witness

    def _get_pair_finder(self, asked: OracleContext) -> PairFinder:
        if self.meeting is None or self.meeting.pairs is not asked.pairs:
            self.meeting = PairFinder(asked.pairs)
        return self.meeting

    # -- nodes that no line closes ----------------------------------------------------------------------------------

    def _close_excluded(self, node: Node, asked: OracleContext) -> Closed | None:
        relaxed = self._relax(node, asked)
        return None if relaxed is None else self._close(node, relaxed.leaf, asked)

    def _cut_constrained(
        self, node: Node, sight: ViewedNode, trial: NodeTrial, asked: OracleContext
    ) -> Answer:
        """A node whose bound is attained by somebody whom constraints exclude, or a distance: it has no pair at all, or is cut where these are."""
        near = self.nearness if self.allowances is None else self.allowances.nearness
        if near is not None:
            place = near.cut_around(node.lo, node.hi, *sight.bounder.agreed(node.lo, node.hi))
            if place[0] >= 0:
                return self._cut(node, sight, trial, asked, place)
        if not asked.pairs.constraints:
            return self._cut(node, sight, trial, asked)
        found = self._get_pair_finder(asked).solve_cell(node.lo, node.hi)
        closed = None if found is None else self._close(node, found.leaf, asked)
        if closed is not None:
            return closed
        place = sight.bounder.choose_halving(
            node.lo.tolist(), node.hi.tolist(), _constrained_variables(asked)
        )
        if found is not None and found.fractional is not None:
            place = found.fractional
        return self._cut(node, sight, trial, asked, place)

    def _cut(
        self,
        node: Node,
        sight: ViewedNode,
        trial: NodeTrial,
        asked: OracleContext,
        place: tuple[int, float] = NO_CUT,
    ) -> Answer:
        """Cut a node, at the `place` that is known or where its bounds say, or look through it."""
        if self._has_few_pairs(node, asked):
            return self._enumerate_pairs(node, asked)
        (variable, at), lost, bounder = place, (0.0, 0.0), sight.bounder
        if variable < 0:
            excess = max(trial.excess, 1e-300)
            variable, at, *falls = bounder.cut_memory(sight.memory, trial.lean, excess)
            lost = falls[0], falls[1]
        if variable < 0:
            variable, at = bounder.choose_halving(node.lo.tolist(), node.hi.tolist())
        if variable < 0:
            return Stuck()
        after = self.views.after(variable, at)
        ends = asked.pairs.parts(variable, float(node.lo[variable]), float(node.hi[variable]), at, after)
        left, right = (
            self._child(node, variable, end, loss, trial.saved) for end, loss in zip(ends, lost, strict=True)
        )
        return Cut(variable=variable, at=at, after=after, children=(left, right))

    def _child(
        self, node: Node, variable: int, ends: tuple[float, float], loss: float, saved: float
    ) -> Child:
        """A part, ranked by what its bound will be; what will be closed goes first of all. What more effort `saved` of the node's bound may be lost again."""
        excess = -node.rank
        rank = loss - excess
        memory = {
            view: self.bounders[view].inherit(part, variable, *ends) for view, part in node.memory.items()
        }
        return Child(
            rank=rank,
            upper=node.upper - max(loss - saved - OVERSTATED_SHARE * excess, 0.0),
            memory=memory,
            urgent=rank >= -NEARLY_CLOSED * excess,
        )


def _looks_like_witness(first: float, second: float, sought: WitnessSet) -> bool:
    depth = float(sought.margin(np.array([first]), np.array([second]))[0])
    return depth >= -WITNESS_DOUBT * (1 + abs(first) + abs(second))


def _constrained_variables(asked: OracleContext) -> list[int]:
    """The variables that constraints bind."""
    pairs = asked.pairs
    features = [k for k in range(len(pairs.first)) if any(not c.terms[k].constant for c in pairs.constraints)]
    return sorted({v for k in features for v in (pairs.first[k], pairs.second[k])})
