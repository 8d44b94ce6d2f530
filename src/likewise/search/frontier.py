"""Frontier: the branch and bound of one case. It closes every cell of pair space, or finds a witness.

The frontier owns the open nodes, their order, the incumbent, the budget and the proof tree; the oracle (`families.oracle`) looks at nodes and says of each whether it
is closed by a leaf, holds a pair, or is to be cut. What can neither be closed nor cut is left `stuck`. It can be run, looked at, asked for another
level and run on; `parts` has how it is divided, and how its state is written down and taken up again.

Claims, disparities, single rows (fewer pairs) and boxes in which everybody is decided alike (`one_sided_frontier`) are the same search with another question.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Container, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise import clock
from likewise.cells.allowances import allowances_of
from likewise.cells.leaf import Clearance, Leaf
from likewise.clock import OutOfTime, check_clock, time_limit
from likewise.errors import InternalError
from likewise.families.oracle import Ceiling, Closed, Cut, LookTimes, Node, Pair
from likewise.model.cases import ScoreCase, Witness
from likewise.model.witness_set import OneSidedSet
from likewise.progress import Snapshot, announcing, ignore_progress
from likewise.search.proof import Proof, ProofStart, Split, begin_proof, check_cut, child_cells, walk_proof
from likewise.search.task import exact_witness
from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.oracle import Answer, Child, Oracle
    from likewise.model.cases import Case
    from likewise.model.question import Question
    from likewise.search.task import SearchTask
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

MOST_OPEN = 200_000  # open nodes before the search turns depth-first to bound its memory
UPPER, LOWER = 0, 1  # the leans of leaves that say so of everybody (`one_sided_frontier`)
ROOT_GRACE_SHARE = 0.5  # of the grace, for the first look at the whole space
SETTLING_SHARE = 0.3  # of a look: what a look and a proof take of a node whose bound is inherited, if all are closed by it and most cuts are taken back before
FOLLOWING_SHARE = (
    0.9  # of a look of its leader: what a look at a node takes that is closed by it, starting from nothing
)

SearchEnd = Literal["closed", "witness", "budget", "stuck"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AwayNode:
    """A node that a part has, as it was when it left, and what the part is asked."""

    node: Node
    case: Case


@dataclass(slots=True, kw_only=True)
class Frontier:
    """The open nodes of the only case of a problem's question, and the proof of what is closed."""

    task: SearchTask
    proposes_ties: bool = False  # nodes that are nearly closed are left to the checker
    parks: bool = False  # nodes that could be closed are stuck instead, and keep what is known of them,
    parked: dict[int, Leaf] = field(default_factory=dict)  # by number, with the leaves that would close them
    lines_only: bool = False  # nothing but a line may close a node, and float64 is enough to find somebody (`one_sided_frontier`)
    begin: ProofStart | None = None  # of the proof, where it is known; cases of the same pairs share it
    proof: Proof = field(init=False)
    open: list[Node] = field(default_factory=list)
    stuck: list[Node] = field(default_factory=list)
    witness: Witness | None = None
    closed: int = 0
    batches: int = 0
    clearance: Clearance = math.inf  # the smallest of all closed nodes
    ceilings: dict[int, Ceiling] = field(
        default_factory=dict
    )  # proved of closed nodes, where oracles keep it
    settles: Sequence[Frontier] = ()  # whose open nodes are to be looked at once more before the budget ends
    pace: LookTimes = field(default_factory=LookTimes)
    start: tuple[Floats, Floats] = field(init=False)  # the first cell
    warmed_up: bool = False
    begun: Case | None = None  # what was sought when `Oracle.begin` last had no witness
    away: dict[int, AwayNode] = field(default_factory=dict)  # nodes that parts of the frontier have (`parts`)
    whole: bool = True  # whether the proof is that of all pairs, not of what a part has
    follows: Frontier | None = None  # whose mirror image this one is (`mirrored`),
    waiting: list[Node] = field(default_factory=list)  # and what is open as soon as that one is closed
    room: Fraction = Fraction(0)  # by which a gap of this case may exceed its mirror image
    _oracle: Oracle | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        start = begin_proof(self.task.pairs) if self.begin is None else self.begin
        self.proof = Proof(list(start.proof.nodes))
        self.closed = start.proof.leaves
        self.start = start.lo, start.hi
        if start.number is not None:
            leans = self.case.line.leans()
            lean = leans[0] if len(leans) == 1 else 0.5
            self.open.append(Node(-np.inf, start.number, start.lo, start.hi, lean))

    @property
    def oracle(self) -> Oracle:
        """What looks at nodes; made when it is asked first, as a question may have thousands of cases."""
        if self._oracle is None:
            self._oracle = self.task.oracles.of(self.case)
        return self._oracle

    @oracle.setter
    def oracle(self, oracle: Oracle) -> None:
        self._oracle = oracle

    # -- what oracles ask -----------------------------------------------------------------------------------------

    @property
    def case(self) -> Case:
        return self.task.case

    @property
    def sought(self) -> Case:
        return self.task.sought_case

    @property
    def pairs(self) -> PairSpace:
        return self.task.pairs

    @property
    def cost(self) -> int:
        return self.task.cost

    def sides(self, points: Floats) -> tuple[Floats, Floats]:
        scored, case = self.task.scored, self.sought
        first = case.sides(scored(points[:, list(self.pairs.first)]))[0]
        allowances = allowances_of(self.pairs)
        if allowances is not None:
            first = first - allowances.at(points)
        return first, case.sides(scored(points[:, list(self.pairs.second)]))[1]

    def referee(self, x: Sequence[float], other: Sequence[float]) -> Witness | None:
        return self._seen(x, other) if self.lines_only else self.task.referee(x, other)

    def breaks(self, x: Sequence[float], other: Sequence[float]) -> bool:
        return not self.lines_only and exact_witness(self.task, x, other) is not None

    def _seen(self, x: Sequence[float], other: Sequence[float]) -> Witness | None:
        """A pair that is one by float64."""
        scores = self.task.scores(np.array([x, other]))
        if not np.isfinite(scores).all():
            return None
        first, second = ((Enclosure.of(Fraction(s)),) for s in scores.tolist())
        found = Witness(x=tuple(x), other=tuple(other), scores=(first, second), case=self.sought)
        return found if self.sought.decided(first, second) else None

    # -- the search -----------------------------------------------------------------------------------------------

    def run(self, *, most: float = math.inf, seconds: float = math.inf) -> SearchEnd:
        """Until every node is closed, a witness is found, or the budget (or `most` more nodes, or so many `seconds` and one look at least) is used up."""
        if self.away:
            raise InternalError(f"{len(self.away)} nodes are away in parts that were not absorbed")
        return self.run_here(most=most, seconds=seconds)

    def run_here(
        self, *, most: float = math.inf, seconds: float = math.inf, begins: bool = True
    ) -> SearchEnd:
        """The same with what is here, while other nodes may be away: "closed" is said of the nodes here. A whole search `begins` with one node, and looks at more and more together."""
        task, size = self.task, 1 if self.whole and begins else self.oracle.batch
        most += len(self.proof.nodes)
        try:
            self._warm_up()
            stop, looked = task.budget.elapsed + seconds, False
            if self.whole and not self.lines_only and self._begins():
                return "witness"
            while self.open:
                if self.batches and (self.late or len(self.proof.nodes) > most):
                    return "budget"
                if looked and task.budget.elapsed >= stop:
                    return "budget"
                if self._look(min(size, len(self.open), self._looks_in(seconds))):
                    return "witness"
                looked, size = True, min(2 * size, self.oracle.batch)
                task.listener(
                    Snapshot(
                        stage="branch and bound",
                        seconds=task.budget.elapsed,
                        closed=self.closed,
                        open=len(self.open),
                    )
                )
        except OutOfTime:
            return "budget"
        return "stuck" if self.stuck else "closed"

    def _warm_up(self) -> None:
        if not self.warmed_up:
            self.warmed_up = True
            self._tell("preparing the bounds")
            # Ctrl-C leaves what is being compiled (OutOfTime); no clock does.
            with self.task.budget.stopped(), time_limit(lambda: math.inf), announcing(self._tell):
                self.oracle.warm_up()

    def _tell(self, stage: str) -> None:
        self.task.listener(Snapshot(stage=stage, seconds=self.task.budget.elapsed))

    def _begins(self) -> bool:
        """Whether there is a witness among the pairs that the oracle would start from; they are the same as long as the same is sought."""
        if self.begun == self.sought:
            return False
        with self._time_limit(), np.errstate(over="ignore", invalid="ignore"):
            self.witness = self.oracle.begin(self)
        if self.witness is None:
            self.begun = self.sought
        return self.witness is not None

    def _looks_in(self, seconds: float) -> int:
        """As many nodes as half of the seconds last for, one at least."""
        pace = self.pace.seconds_per_look
        return self.oracle.batch if not pace or math.isinf(seconds) else max(1, int(seconds / (2 * pace)))

    def _time_limit(self) -> AbstractContextManager[None]:
        """The limit of the work: the root at least is looked at, if need be in the grace, so that there is a bound to report."""
        budget = self.task.budget
        return (budget if self.batches else budget.later(ROOT_GRACE_SHARE)).watched()

    def _look(self, size: int) -> bool:
        """Look at the most promising nodes; True on a witness. Nodes that were not answered for stay open."""
        watched, started = self._time_limit(), clock.now()
        self.batches += 1
        batch = [heapq.heappop(self.open) for _ in range(size)]
        done = 0
        try:
            # What overflows is not closed, so it is cut.
            with watched, np.errstate(over="ignore", invalid="ignore"):
                for answer in self.oracle.look(batch, self):
                    if self._take(batch[done], answer):
                        return True
                    done += 1
            return False
        finally:
            self.pace.look_seconds += clock.now() - started
            self.pace.looks += len(batch)
            for node in batch[done:]:
                heapq.heappush(self.open, node)

    def _take(self, node: Node, answer: Answer) -> bool:
        """Do with a node as the oracle says; True on a witness."""
        if isinstance(answer, Pair):
            self.witness = answer.witness
            return True
        if isinstance(answer, Closed) and self.parks and answer.leaf.rule != "empty":
            self.stuck.append(node)
            self.parked[node.number] = answer.leaf
        elif isinstance(answer, Closed):
            self.clearance = min(self.clearance, answer.clearance)
            self.proof.close(node.number, answer.leaf)
            self.closed += 1
            if answer.ceiling is not None:
                self.ceilings[node.number] = answer.ceiling
        elif isinstance(answer, Cut):
            self.cut(node, answer)
        else:
            self.stuck.append(node)
        return False

    def cut(self, node: Node, cut: Cut) -> None:
        """Write a cut down and open both parts; refuses one that would lose a part of the cell."""
        check_cut(self.pairs, node.lo, node.hi, cut.variable, cut.at, cut.after)
        split = self.proof.split(node.number, cut.variable, cut.at, cut.after)
        # Beyond a number of nodes newer ones go first, so that the search dives and memory is bounded.
        dives = -1e300 - node.number if len(self.open) >= MOST_OPEN else None
        parts = child_cells(self.pairs, node.lo, node.hi, split)
        for number, (lo, hi), child in zip((split.left, split.right), parts, cut.children, strict=True):
            rank = _node_rank(child, dives)
            heapq.heappush(
                self.open,
                Node(rank, number, lo, hi, node.lean, child.upper, node.step, node.view, child.memory),
            )

    # -- other levels -----------------------------------------------------------------------------------------------

    def ask(self, question: Question, wanted: Question | None = None) -> None:
        """Go on with another level of the case; what is closed under an easier question stays closed, also what is away."""
        if self.away and question.level < self.task.question.level:
            raise InternalError("a lower level was asked for while nodes are away")
        self.task.question, self.task.wanted = question, wanted

    def prove(self, number: int, lo: Floats, hi: Floats, leaf: Leaf) -> Clearance | None:
        """Whether a leaf closes a cell at the level that is asked for: by what was proved of it before, if that is enough."""
        ceiling = self.ceilings.get(number)
        if ceiling is not None and leaf.rule == self.oracle.rule and leaf.lean is not None:
            separated = self.case.seen(leaf.rivals)
            if separated.admits(leaf.lean):
                line = separated.direction(leaf.lean)
                known = ceiling.along(line)
                clearance = None if known is None else line.clearance(known)
                if clearance is not None:
                    return clearance
        return self.oracle.prove(lo, hi, leaf, self.case)

    def leaves(self) -> Iterator[tuple[int, Clearance | None]]:
        """All leaves with their clearances at the level that is asked for; None where one does not hold."""
        for number, node, lo, hi in self._walk():
            if isinstance(node, Leaf):
                check_clock()
                yield number, self.prove(number, lo, hi, node)

    def _walk(self) -> Iterator[tuple[int, Split | Leaf | None, Floats, Floats]]:
        if not self.whole:
            raise InternalError("the nodes of a part of a frontier are no proof by themselves")
        return walk_proof(self.proof, self.pairs)

    def reopen(self, numbers: Container[int], *, split: bool) -> bool:
        """Open closed nodes again: closed in another way or cut in two (`split`) where their leaf was refused, else as
        they are. True where one turns out to hold a witness."""
        found = False
        for number, leaf, lo, hi in list(self._walk()):
            if number not in numbers or not isinstance(leaf, Leaf):
                continue
            self.closed -= 1
            self.proof.reopen(number)
            self.ceilings.pop(number, None)
            node = Node(0.0, number, lo, hi, 0.5 if leaf.lean is None else float(leaf.lean))
            self.oracle.recall(node, leaf, self)
            if split and not found:
                found = self._take(node, self.oracle.look_again(node, self))
            if not split or found:
                heapq.heappush(self.open, node)
        return found

    def restore(self, proof: Proof) -> None:
        """Go back to a proof that was complete."""
        self.proof, self.witness = proof, None
        self.open.clear()
        self.stuck.clear()
        self.parked.clear()
        self.waiting.clear()
        self.forget()

    def forget(self) -> None:
        """Drop what is known of nodes besides the proof."""
        self.ceilings.clear()
        for node in (*self.open, *self.stuck):
            node.memory = None

    def reopen_stuck(self) -> None:
        """Open nodes again that could neither be closed nor cut: at another level they may be closed."""
        self.open += self.stuck
        self.stuck.clear()
        self.parked.clear()
        heapq.heapify(self.open)

    def take_back_cuts(self) -> None:
        """Open cells again, in the place of both of their parts, that were cut and of whose parts nothing is known but what is known of them: to be closed at the level of their bounds, they are half as many."""
        if not self.oracle.inherits:
            return
        unseen = {node.number: node for node in self.open if node.memory is not None}
        merged: dict[int, Node] = {}
        for number, split in enumerate(self.proof.nodes):
            if not isinstance(split, Split) or split.left not in unseen or split.right not in unseen:
                continue
            left, right = unseen[split.left], unseen[split.right]
            if left.memory is right.memory and left.upper == right.upper:
                del unseen[split.left], unseen[split.right]
                merged[number] = replace(left, number=number, hi=right.hi)
                self.proof.reopen(number)
        if merged:
            gone = {node.number for node in self.open if node.memory is not None} - unseen.keys()
            places = self.proof.drop(gone)
            kept = [node for node in self.open if node.number not in gone]
            for node in (*kept, *self.stuck, *merged.values()):
                node.number = places[node.number]
            self.open = [*kept, *merged.values()]
            heapq.heapify(self.open)
            self.ceilings = {places[number]: ceiling for number, ceiling in self.ceilings.items()}

    # -- time -------------------------------------------------------------------------------------------------------

    @property
    def late(self) -> bool:
        """Whether to stop: the budget is over, or what is left of it is needed for the open nodes."""
        budget = self.task.budget
        needed = sum(frontier.seconds_needed for frontier in self.settles)
        return budget.over or budget.elapsed + needed / self.task.speed > budget.seconds

    @property
    def seconds_needed(self) -> float:
        """Seconds that a look at every open node would take, if all were closed by it, in one process; also of those that are to be taken over."""
        each = (
            SETTLING_SHARE * self.pace.seconds_per_look
            if self.oracle.inherits
            else self.pace.seconds_per_closing_look(remembered=self.task.oracles.remembers)
        )
        if self.follows is not None and self.waiting:
            leader = self.follows
            return (
                (leader.closed + len(leader.open) + len(leader.away))
                * FOLLOWING_SHARE
                * leader.pace.seconds_per_look
            )
        return (len(self.open) + len(self.stuck) + len(self.away)) * each


def _node_rank(child: Child, dives: float | None) -> float:
    if child.urgent:
        return -math.inf
    return child.rank if dives is None else dives


def one_sided_frontier(task: SearchTask, lean: int) -> Frontier:
    """Is everybody of a box decided alike, as `lean` says? A frontier with ONE line for all cells.

    The pairs are individuals beside themselves (every feature is `same`), and what is asked is whether somebody is decided the other way. A leaf of lean 1
    says  max s <= 0  over its cell: everybody gets the lower decision; a leaf of lean 0 says  max -s < 0: everybody gets the upper
    one. The claim of such a certificate, that nobody gets two decisions, is true of any model; what counts is that all leaves of the proof
    have the same lean, which the checker finds out by itself (spec/certificate-v1.md, section 14). So no other rule closes a cell here.
    """
    case = ScoreCase(kind="decision", line=OneSidedSet(lean=lean), head=task.question.head)
    asked = task.question.about(case)
    return Frontier(
        task=replace(task, question=asked, wanted=None, listener=ignore_progress), lines_only=True
    )
