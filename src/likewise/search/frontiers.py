"""Frontiers: those of all cases of a question, on one budget.

They are closed when all of them are, and have a witness as soon as one has. They take turns, each for a while longer every time, so that an easy
witness is not kept waiting by a hard proof. What takes longer than a second is divided among worker processes, where there are any (`parted_search`). Of two cases that mirror each other
one is searched, and the other one follows (`mirrored`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.enumerated import is_independent
from likewise.clock import check_clock
from likewise.errors import InternalError
from likewise.search.frontier import Frontier
from likewise.search.mirrored import follow, hold, mirror_room, start_anew
from likewise.search.parted_search import run_in_parts
from likewise.search.parts import resume
from likewise.search.proof import Proof, ProofStart, Split, begin_proof
from likewise.spec.numbers import double_above

if TYPE_CHECKING:
    from likewise.cells.leaf import Clearance, Leaf
    from likewise.families.oracle import Node
    from likewise.model.cases import Witness
    from likewise.model.gauge import Gauge
    from likewise.model.question import Question
    from likewise.search.budget import Budget
    from likewise.search.frontier import SearchEnd
    from likewise.search.parts import FrontierState
    from likewise.search.task import SearchTask
    from likewise.search.workers import Workers

FIRST_TURN = 512  # nodes of a frontier in its first turn
TURN_GROWTH = 2
REPORT_ROOM = 1e-9  # relative, added to float64 bounds that are reported without a proof


@dataclass(slots=True, kw_only=True)
class Frontiers:
    """The frontiers of the cases, in their order."""

    all: list[Frontier]
    witness: Witness | None = None
    turn: float = field(default=FIRST_TURN)
    workers: Workers | None = None
    alone: float = 0.0  # seconds that were searched before workers were called for
    by_mirror: bool = False  # a case that waits for its mirror image need not be proved itself: what is shown has room for it

    @property
    def only(self) -> Frontier:
        """That of a question of one case."""
        if len(self.all) != 1:
            raise InternalError(f"{len(self.all)} cases were taken for one")
        return self.all[0]

    def run(
        self,
        *,
        most: float = math.inf,
        improve: Callable[[Witness], SearchEnd | None] | None = None,
        follows: bool = True,
    ) -> SearchEnd:
        """Until all are closed, a witness is found or the budget (or `most` more nodes) is over: as `Frontier.run` says it. Where workers take part,
        `improve` is told a witness, asks for a better one and says None, or how the search ends. Without `follows` cases that wait go on waiting."""
        most += self.cells
        end = self._run(most, improve)
        while end == "closed" and follows:
            known = self.cells
            if not any(follow(frontier) for frontier in self.all):
                break
            most += self.cells - known
            end = self._run(most, improve)
        return end

    def _run(self, most: float, improve: Callable[[Witness], SearchEnd | None] | None) -> SearchEnd:
        workers = self.workers
        if workers is None or workers.gone:
            return self.run_here(most=most)
        began, end = self.budget.elapsed, self.run_here(most=most, seconds=workers.patience(self.alone))
        self.alone += self.budget.elapsed - began
        if end != "budget" or self.late or self.cells > most:
            return end
        return run_in_parts(self, workers, most=most, improve=improve)

    def run_here(self, *, most: float, seconds: float = math.inf) -> SearchEnd:
        """The same in this process, until there are more than `most` nodes or for so many seconds, with the nodes that are not away."""
        ends: dict[int, SearchEnd] = dict.fromkeys(range(len(self.all)), "budget")
        stop, cells = self.budget.elapsed + seconds, self.cells
        while True:
            for n, frontier in enumerate(self.all):
                if ends[n] != "budget":
                    continue
                if frontier.batches == 0 and n and self.budget.over:  # one at least is looked at
                    return "budget"
                left, known = max(stop - self.budget.elapsed, 0.0), len(frontier.proof.nodes)
                ends[n] = frontier.run_here(most=min(self.turn, most - cells), seconds=left)
                cells += len(frontier.proof.nodes) - known
                if ends[n] == "witness":
                    self.witness = frontier.witness
                    return "witness"
            if "budget" not in ends.values():
                return "stuck" if "stuck" in ends.values() else "closed"
            if self.late or cells > most or self.budget.elapsed >= stop:
                return "budget"
            self.turn *= TURN_GROWTH

    @property
    def budget(self) -> Budget:
        """That of all of them."""
        return self.all[0].task.budget

    def ask(self, question: Question, wanted: Question | None = None) -> None:
        """The same at another level; `wanted` is what a pair has to answer with yes, if that is less."""
        asked = question.divided()
        sought = [None] * len(asked) if wanted is None else wanted.divided()
        for n, frontier in enumerate(self.all):  # all cases of one part of the pairs, then those of the next
            frontier.ask(asked[n % len(asked)], sought[n % len(asked)])
            frontier.witness = None

    def spend(self, budget: Budget, *, settles: bool = False) -> None:
        """Go on with this budget; with `settles` stop while it still lasts for looking at all open nodes once more."""
        due = [frontier for frontier in self.all if frontier.follows is None or not self.by_mirror]
        for frontier in self.all:
            frontier.task.budget = budget
            frontier.settles = due if settles else ()

    def take_back_cuts(self) -> None:
        """Have nodes that are to be closed at the level of their bounds in the place of their parts, where nothing is known of these."""
        for frontier in self.all:
            frontier.take_back_cuts()

    def propose_ties(self) -> None:
        """Leave nodes that are nearly closed to the checker."""
        for frontier in self.all:
            frontier.proposes_ties = True

    @property
    def late(self) -> bool:
        """Whether it is time to stop."""
        return any(frontier.late for frontier in self.all)

    def reopen_stuck(self) -> None:
        """Open nodes again that could neither be closed nor cut, or were parked: at another level they may be closed."""
        for frontier in self.all:
            frontier.reopen_stuck()

    @contextmanager
    def parking(self) -> Iterator[None]:
        """Meanwhile nodes that could be closed at the level that is asked for are left open, with what is known of them, and count as stuck: a lower level is asked for next."""
        for frontier in self.all:
            frontier.parks = True
        try:
            yield
        finally:
            for frontier in self.all:
                frontier.parks = False

    def reopen(self, places: Sequence[tuple[int, int]]) -> bool:
        """Cut nodes, by their case and number, whose leaves were refused; True where one turns out to hold a witness."""
        found = False
        for n, frontier in enumerate(self.all):
            refused = {number for case, number in places if case == n}
            if refused and frontier.reopen(refused, split=True):
                found, self.witness = True, frontier.witness
        return found

    def reopen_unproved(self, *, split: bool = True) -> None:
        """Cut the leaves that do not hold at the level that is asked for, or (without `split`) open them again; frontiers that follow begin anew with their leader."""
        for frontier in self.all:
            frontier.reopen(_unproved_leaves(frontier), split=split)
            if frontier.follows is not None and (frontier.open or frontier.follows.open):
                start_anew(frontier)

    def wait_for_mirrors(self) -> None:
        """Have cases that are not closed wait again for those that they mirror, where these are enough."""
        for frontier in self.all if self.by_mirror else ():
            if not frontier.proof.complete:
                start_anew(frontier)

    def holds(self) -> bool:
        """Whether all leaves hold at the level that is asked for."""
        return not any(frontier.waiting or _unproved_leaves(frontier) for frontier in self.all)

    @property
    def mirror_room(self) -> Fraction:
        """By how much cases that wait may exceed those that they mirror."""
        return max((frontier.room for frontier in self.all if frontier.waiting), default=Fraction(0))

    @property
    def nodes(self) -> list[list[Split | Leaf | None]]:
        """The nodes of all proofs as they are now, to go back to."""
        return [list(frontier.proof.nodes) for frontier in self.all]

    @property
    def nodes_with_parked(self) -> list[list[Split | Leaf | None]] | None:
        """The same with the leaves of nodes that are parked, which are proofs at the level that is asked for, but for cases that wait; None where something else is open."""
        found = self.nodes
        for frontier, nodes in zip(self.all, found, strict=True):
            stuck = {node.number for node in frontier.stuck}
            if frontier.open or frontier.away or stuck != frontier.parked.keys():
                return None
            for number, leaf in frontier.parked.items():
                nodes[number] = leaf
        return found

    def restore(self, nodes: list[list[Split | Leaf | None]]) -> None:
        """Go back to proofs that were complete; a case that was waiting for the one that it mirrors waits again."""
        for frontier, known in zip(self.all, nodes, strict=True):
            frontier.restore(Proof(known))
            frontier.closed = frontier.proof.leaves
            if not frontier.proof.complete:
                start_anew(frontier)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        return tuple(frontier.proof for frontier in self.all)

    def clearance(self) -> Clearance:
        """The smallest clearance of all leaves at the level that is asked for, which may be lower than when they were closed."""
        return min(
            (
                Fraction(0) if clearance is None else clearance
                for frontier in self.all
                for _, clearance in frontier.leaves()
            ),
            default=math.inf,
        )

    @property
    def clearance_so_far(self) -> Clearance:
        """The smallest clearance of all leaves as they were closed."""
        return min(frontier.clearance for frontier in self.all)

    @property
    def exact(self) -> bool:
        """Whether leaves are proved as nodes are closed, in all cases."""
        return all(frontier.oracle.exact for frontier in self.all)

    @property
    def cells(self) -> int:
        return sum(len(frontier.proof.nodes) for frontier in self.all)

    @property
    def closed(self) -> int:
        return sum(frontier.closed for frontier in self.all)

    @property
    def left(self) -> int:
        """How many nodes are `open`."""
        return sum(len(part) for one in self.all for part in (one.open, one.stuck, one.away))

    @property
    def open(self) -> list[Node]:
        """What is left of all cases, also what is away."""
        return [
            node
            for frontier in self.all
            for node in (*frontier.open, *frontier.stuck, *(away.node for away in frontier.away.values()))
        ]


def make_frontiers(task: SearchTask) -> Frontiers:
    """The frontiers of all cases of a problem's question. The only case of one score need not take turns."""
    starts: dict[int, ProofStart] = {}
    frontiers = []
    for part in by_cases(task):
        check_clock()
        if (
            id(part.pairs) not in starts
        ):  # those of the parts of the task, which has them as long as this takes
            starts[id(part.pairs)] = begin_proof(part.pairs)
        frontiers.append(Frontier(task=part, begin=starts[id(part.pairs)]))
    found = _of_cases(task, frontiers)
    room = mirror_room(task)
    if room is not None:
        leader, follower = found.all
        hold(follower, leader, room)
    return found


def resume_all(task: SearchTask, states: Sequence[FrontierState], *, checked: bool = False) -> Frontiers:
    """The frontiers of all cases, taken up again from their states (`parts.resume`)."""
    parts = zip(by_cases(task), states, strict=True)
    return _of_cases(task, [resume(part, state, checked=checked) for part, state in parts])


def _of_cases(task: SearchTask, frontiers: list[Frontier]) -> Frontiers:
    turn = FIRST_TURN if task.question.several or task.parts else math.inf
    return Frontiers(all=frontiers, turn=turn, workers=task.workers)


def by_cases(task: SearchTask) -> list[SearchTask]:
    """The task for each case of its question alone, and for each part of its pairs that needs a proof of its own."""
    asked = task.question.divided()
    sought = [None] * len(asked) if task.wanted is None else task.wanted.divided()
    return [
        replace(part, question=case, wanted=one)
        for part in moving_parts(task)
        for case, one in zip(asked, sought, strict=True)
    ]


def moving_parts(task: SearchTask) -> list[SearchTask]:
    """The parts of a task's pairs that a search has to close: of a claim at level 0 not those in which no score differs, which is all that is to be said of them."""
    parts = task.each()
    if not task.parts or task.wanted is not None or task.question.level:
        return list(parts)
    return [part for part in parts if not is_independent(part.pairs, part.oracles.score)]


def _unproved_leaves(frontier: Frontier) -> set[int]:
    """The leaves that do not hold."""
    return {number for number, clearance in frontier.leaves() if clearance is None}


def highest_allowed(frontiers: Frontiers, gauge: Gauge, level: float) -> float:
    """The highest value that the open nodes' bounds allow, in float64 and not proved, or the level that the closed ones were asked for; where a case waits for the one that it mirrors, it may be
    higher by the room between the two."""
    nodes = frontiers.open
    caps = gauge.cap(np.array([n.lean for n in nodes]), np.array([n.upper for n in nodes]))
    highest = max(level, float(caps.max(initial=-math.inf)))
    room = frontiers.mirror_room
    return double_above(Fraction(highest) + room) if room and math.isfinite(highest) else highest


def reported_upper(frontiers: Frontiers, gauge: Gauge, level: float) -> float:
    """The same with room for rounding, for a report; where nothing is open nothing is known."""
    highest = highest_allowed(frontiers, gauge, -math.inf)
    if not math.isfinite(highest):
        return math.inf
    return max(
        double_above(Fraction(level) + frontiers.mirror_room), highest + REPORT_ROOM * (1 + abs(highest))
    )
