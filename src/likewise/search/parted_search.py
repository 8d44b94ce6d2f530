"""Parted search: one search in many processes. The coordinator, here, has the frontiers; workers run parts of them.

A worker gets some of the most promising open nodes, runs them as a frontier of its own for a second or two (`PartRequest`), and hands back the proof trees below them, what is
still open, and the pair if it found one. The coordinator grafts the trees onto the proof (`parts.absorb`, which checks that they cover what was sent), so that
the end is one proof and one certificate; what came back open is dealt out again. So a worker that runs dry has new work as soon as another one comes back, which is
sooner the less work there is. Until the first worker is there, which may take seconds if it has to start, the coordinator searches itself. Among processes of one machine it goes on to, with what it
has not dealt out, and takes in between what came back; it serves a cluster and does nothing else.

The threshold is shared by what is asked: a better pair raises the level (`improve`), parts sent from then on are asked the higher one, and what parts closed at a lower level
is closed at the higher one as well. A part that does not come back, or not for a long time, is called back and dealt out again; when time is up those that are still away are
open as they were when they left.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.families.oracle import LookTimes
from likewise.families.oracles import Oracles
from likewise.progress import Snapshot
from likewise.search.blas_threads import one_blas_thread
from likewise.search.budget import Budget
from likewise.search.parts import (
    FrontierPart,
    absorb,
    call_back,
    finished_part,
    resume_part,
    send_away,
    take_best,
)
from likewise.search.task import SearchTask
from likewise.search.workers import UNSENDABLE, Parcel, unpack

if TYPE_CHECKING:
    from likewise.families.family import Score
    from likewise.families.scored_model import Scores
    from likewise.model.cases import Case, Witness
    from likewise.model.question import Question
    from likewise.search.frontier import Frontier, SearchEnd
    from likewise.search.frontiers import Frontiers
    from likewise.search.task import Replay
    from likewise.search.workers import Workers
    from likewise.spec.pairs import PairSpace

    Improve = Callable[[Witness], SearchEnd | None]

LEAST_SECONDS, MOST_SECONDS = (
    0.2,
    2.0,
)  # of a part: longer ones lose less on the way, shorter ones come back sooner to be dealt out
POLL_SECONDS = 0.05  # between two looks at the clock while workers work
HERE_SECONDS = 0.1  # of searching here between two looks at what came back,
PLENTY_SECONDS = 0.25  # or so many where nobody waits for it: more nodes are looked at together
GATHER_SECONDS = 0.25  # that parts may come later than they were told
GATHER_SHARE = 0.25  # of the time left for what is due at the end, which may be spent on waiting for them
SILENT_SECONDS = (
    60.0  # after which a part that is due counts as lost: nobody is there any more who would send it
)
SILENT_FACTOR = 10.0  # or so many times as long as any part took, if that is longer
LEAST_PACE = 1e-6  # seconds a look, before there was one
PLENTY = 8  # open nodes a worker, from which on there is one part more than workers, so that none waits
WAITING_SECONDS = (
    2 * MOST_SECONDS
)  # before the end of the budget, from when on there is none: it would be under way when time is up, and lost


# -- what a worker does -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TravellingTask:
    """What of a search task travels: all that bounds are made of, and what the referee asks. No rows, no clock, nobody who listens."""

    score: Score | Scores
    pairs: PairSpace
    replay: Replay
    snap_codes: Any
    branches: tuple[PairSpace, ...] = ()  # other pairs that parts may be about, where they fall into several

    @classmethod
    def of(cls, task: SearchTask, branches: tuple[PairSpace, ...] = ()) -> TravellingTask:
        """That of a task, whatever it is asked."""
        return cls(
            score=task.oracles.score,
            pairs=task.pairs,
            replay=task.replay,
            snap_codes=task.snap_codes,
            branches=branches,
        )

    def arrive(self) -> ArrivedTask:
        """The same with bounds of its own."""
        return ArrivedTask(sent=self, oracles=Oracles.of_scores(self.score, self.pairs))


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivedTask:
    """What a worker keeps of a model."""

    sent: TravellingTask
    oracles: Oracles
    others: dict[int, Oracles] = field(default_factory=dict)  # of branches that parts were about

    def ask(
        self, question: Question, wanted: Question | None, budget: Budget, branch: int | None = None
    ) -> SearchTask:
        """The task of one request."""
        sent, oracles = self.sent, self.oracles
        if branch is not None:
            if branch not in self.others:
                self.others[branch] = Oracles.of_scores(sent.score, sent.branches[branch])
            oracles = self.others[branch]
        return SearchTask(
            pairs=oracles.pairs,
            oracles=oracles,
            question=question,
            wanted=wanted,
            scores=sent.score.scorer(),
            replay=sent.replay,
            budget=budget,
            random=np.random.default_rng(0),
            rows=np.empty((0, len(sent.pairs.first))),
            cost=sent.score.cost,
            snap_codes=sent.snap_codes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRequest:
    """A part to be run for so many `seconds`, and what it is asked. What is under way when the `limit` is over is left."""

    model: str  # the name of the parcel
    content: bytes | None
    question: Question
    wanted: Question | None
    part: FrontierPart
    proposes_ties: bool
    parks: bool
    times: LookTimes
    seconds: float
    limit: float
    branch: int | None = None  # of the pairs, where they fall into several


@dataclass(frozen=True, slots=True, kw_only=True)
class PartAnswer:
    """What came of a part, and what it took. `unreplayed` are pairs that the model's own prediction did not show."""

    part: FrontierPart
    times: LookTimes
    unreplayed: tuple[Witness, ...]


def greet(model: str, content: bytes, case: Case) -> None:
    """Make ready for parts, in a worker."""
    arrived = unpack(model, content, TravellingTask.arrive)
    if arrived is not None:
        arrived.oracles.of(case).warm_up()


def run_part(asked: PartRequest) -> PartAnswer | None:
    """Run a part, in a worker; None where the model is not known there."""
    arrived = unpack(asked.model, asked.content, TravellingTask.arrive)
    if arrived is None:
        return None
    task = arrived.ask(asked.question, asked.wanted, Budget(asked.limit), asked.branch)
    frontier = resume_part(task, asked.part)
    frontier.proposes_ties, frontier.parks = asked.proposes_ties, asked.parks
    frontier.pace = replace(asked.times)
    with one_blas_thread():
        frontier.run(seconds=asked.seconds)
    return PartAnswer(
        part=finished_part(frontier, asked.part.roots),
        times=frontier.pace.since(asked.times),
        unreplayed=tuple(task.unreplayed),
    )


# -- the coordinator --------------------------------------------------------------------------------------------------


def run_in_parts(
    frontiers: Frontiers, workers: Workers, *, most: float, improve: Improve | None
) -> SearchEnd:
    """Go on in workers until all frontiers are closed, there is a witness that `improve` does not take, the budget is over or there are more than `most` nodes."""
    try:
        parcel = Parcel(TravellingTask.of(frontiers.all[0].task, branches_of(frontiers)))
    except UNSENDABLE as error:
        workers.refuse(f"the model cannot be sent to other processes ({error}): one searches alone")
        return frontiers.run_here(most=most)
    while True:
        while not workers.welcome(parcel, greet, frontiers.all[0].case):
            end = frontiers.run_here(most=most, seconds=POLL_SECONDS)
            if end != "budget" or frontiers.late or frontiers.cells > most:
                return end
        found = _PartedSearch(frontiers, workers, parcel, most, improve).run()
        if found is not None:
            return found


def branches_of(frontiers: Frontiers) -> tuple[PairSpace, ...]:
    """The pairs of all frontiers in their order, where they are not all about the same."""
    pairs = tuple(frontier.pairs for frontier in frontiers.all)
    return pairs if any(one is not pairs[0] for one in pairs) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _SentPart:
    frontier: Frontier
    part: FrontierPart
    sent: float  # on the clock of the budget
    due: float


class _PartedSearch:
    """One run of the frontiers in parts."""

    def __init__(
        self, frontiers: Frontiers, workers: Workers, parcel: Parcel, most: float, improve: Improve | None
    ) -> None:
        self.frontiers, self.workers, self.parcel = frontiers, workers, parcel
        self.most, self.improve, self.budget = most, improve, frontiers.budget
        self.sent: dict[Future[PartAnswer | None], _SentPart] = {}
        self.helps = not workers.given  # whether it searches as well
        self.turn = 0  # of the frontiers, whose is next to be searched here
        self.broken = False
        self.slowest = 0.0  # seconds from sending a part to its coming back

    def run(self) -> SearchEnd | None:
        """How it ends; None where the pool broke, and is to be started anew."""
        end: SearchEnd | None = None
        try:
            while end is None and not self.broken:
                end = self._go_on()
            return end
        finally:
            self._call_all_back()

    def _go_on(self) -> SearchEnd | None:
        """Deal out, take what came back; how it ends, if it does."""
        frontiers = self.frontiers
        if frontiers.late or frontiers.cells > self.most:
            return self._gather()
        self._deal()
        busy = self.helps and any(frontier.open for frontier in frontiers.all)
        if not self.sent and not busy:
            return self._end_without_workers()
        end = self._search_here() if busy else None
        if end is not None:
            return end
        patience = 0.0 if busy else POLL_SECONDS
        for future in wait(self.sent, timeout=patience, return_when=FIRST_COMPLETED).done:
            end = self._receive(future)
            if end is not None or self.broken:
                return end
        self._give_up_silent()
        self._report()
        return None

    def _end_without_workers(self) -> SearchEnd:
        """Nothing is away, and nobody takes or searches what is open, if there is anything."""
        frontiers = self.frontiers
        if any(frontier.open for frontier in frontiers.all):
            self.budget.give_up("the executor takes no more work")
            return "budget"
        return "stuck" if any(frontier.stuck for frontier in frontiers.all) else "closed"

    def _search_here(self) -> SearchEnd | None:
        """Search for a moment what nobody else has, of one case after another."""
        frontiers = self.frontiers
        waiting = [n for n, frontier in enumerate(frontiers.all) if frontier.open]
        self.turn = min(waiting, key=lambda n: (n <= self.turn, n))
        frontier = frontiers.all[self.turn]
        most = self.most - frontiers.cells
        seconds = PLENTY_SECONDS if len(self.sent) > self.workers.others else HERE_SECONDS
        end = frontier.run_here(most=most, seconds=seconds, begins=False)
        return self._take_witness(frontier.witness) if end == "witness" else None

    # -- out ------------------------------------------------------------------------------------------------------

    def _deal(self) -> None:
        """Send the most promising nodes to workers that have nothing to do, and one part more where there is plenty; something is left to whoever searches here."""
        frontiers, count = self.frontiers.all, self.workers.count
        total = sum(len(frontier.open) for frontier in frontiers)
        plenty = total > PLENTY * count and self.budget.left > WAITING_SECONDS
        free = self.workers.others + plenty - len(self.sent)
        if free <= 0 or total <= self.helps or self.workers.gone:
            return
        pace = sum(frontier.pace.look_seconds for frontier in frontiers) / max(
            sum(frontier.pace.looks for frontier in frontiers), 1
        )
        seconds = min(max(total * pace / count, LEAST_SECONDS), MOST_SECONDS, max(self.budget.left, 0.0))
        looks = max(1, int(seconds / max(pace, LEAST_PACE)))
        size = max(1, min(max(total // (2 * count), looks // 8), -(-total // count), looks // 2))
        for frontier in sorted(frontiers, key=lambda one: len(one.away)):
            parts = min(free, -(-len(frontier.open) // size))
            nodes = take_best(frontier, size * parts)
            for n in range(parts):
                self._send(frontier, send_away(frontier, nodes[n::parts]), seconds)
            free -= parts

    def _branch(self, frontier: Frontier) -> int | None:
        """Which of several branches of the pairs a frontier is about; None where all are about the same."""
        branches = branches_of(self.frontiers)
        return next((n for n, pairs in enumerate(branches) if pairs is frontier.pairs), None)

    def _send(self, frontier: Frontier, part: FrontierPart, seconds: float) -> None:
        task = frontier.task
        request = PartRequest(
            model=self.parcel.name,
            content=self.workers.content(self.parcel),
            question=task.question,
            wanted=task.wanted,
            part=part,
            branch=self._branch(frontier),
            proposes_ties=frontier.proposes_ties,
            parks=frontier.parks,
            times=frontier.pace,
            seconds=seconds,
            limit=self.budget.left,
        )
        future = self.workers.submit(run_part, request)
        if future is None:
            call_back(frontier, part)
            return
        now = self.budget.elapsed
        self.sent[future] = _SentPart(frontier=frontier, part=part, sent=now, due=now + seconds)

    # -- back -----------------------------------------------------------------------------------------------------

    def _receive(self, future: Future[PartAnswer | None]) -> SearchEnd | None:
        sent = self.sent.pop(future)
        frontier = sent.frontier
        if self.workers.lost(future):
            call_back(frontier, sent.part)
            self.broken = not self.workers.given  # with the pool all of its work is lost
            return None
        self.slowest = max(self.slowest, self.budget.elapsed - sent.sent)
        answer = future.result()
        if answer is None:
            self.workers.tell_again(self.parcel)
            call_back(frontier, sent.part)
            return None
        frontier.witness = None
        absorb(frontier, answer.part)
        frontier.pace.add(answer.times)
        for pair in answer.unreplayed:
            frontier.witness = frontier.witness or frontier.referee(pair.x, pair.other)
        return None if frontier.witness is None else self._take_witness(frontier.witness)

    def _give_up_silent(self) -> None:
        """Call back what should have come long ago: machines may go without a word. A pool of processes tells."""
        if not self.workers.given:
            return
        latest = self.budget.elapsed - max(SILENT_SECONDS, SILENT_FACTOR * self.slowest)
        for future in [future for future, sent in self.sent.items() if sent.due < latest]:
            future.cancel()
            sent = self.sent.pop(future)
            call_back(sent.frontier, sent.part)
            self.workers.lose()

    def _take_witness(self, witness: Witness | None) -> SearchEnd | None:
        self.frontiers.witness = witness
        return "witness" if witness is None or self.improve is None else self.improve(witness)

    def _gather(self) -> SearchEnd:
        """Take what comes back when it is due, and no later: time is up."""
        if self.sent:
            last = max(sent.due for sent in self.sent.values()) - self.budget.elapsed
            due = (
                0.0 if self.budget.over else max(last, 0.0)
            )  # over: by its end, when all are due, or by Ctrl-C
            patience = min(due + GATHER_SECONDS, GATHER_SHARE * self.budget.checking_seconds)
            for future in wait(self.sent, timeout=patience).done:
                if self._receive(future) == "witness":
                    return "witness"
        return "budget"

    def _call_all_back(self) -> None:
        for future, sent in self.sent.items():
            future.cancel()
            call_back(sent.frontier, sent.part)
        self.sent.clear()

    def _report(self) -> None:
        frontiers = self.frontiers
        frontiers.all[0].task.listener(
            Snapshot(
                stage=f"branch and bound in {self.workers.count} processes",
                seconds=self.budget.elapsed,
                closed=frontiers.closed,
                open=frontiers.left,
            )
        )
