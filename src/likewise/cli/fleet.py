"""Fleets: many claims side by side, each in a process of its own at a time, the longest first.

Claims that are over in a moment are decided here, before any process is started. What is left is dealt out to processes, each of which verifies one claim after the other. A claim
that crashes, also by the end of its process, is reported and the others go on. Where there are fewer claims than processes, each has several for itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from likewise import clock
from likewise.cli.claim_process import ClaimProcess, ClaimRequest, Crash
from likewise.errors import LikewiseError
from likewise.progress import Snapshot
from likewise.search.workers import UNSENDABLE, pack

if TYPE_CHECKING:
    from likewise.cli.fleet_table import FleetTable
    from likewise.cli.options import SearchFlags
    from likewise.cli.outcomes import ClaimOutcome
    from likewise.problem import Problem
    from likewise.search.budget import Budget

ALONE_SECONDS = (
    1.5  # that claims are decided here before processes are started: as long as one takes to start
)
LEAST_SECONDS = 0.1  # of that, for one claim
POLL_SECONDS = 0.1  # between two looks at whether the user wants an end


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPlan:
    """How claims are searched: with how many processes in all and how long each; `keep` says where the state of a claim is written, `here` searches one in this process."""

    look: SearchFlags
    jobs: int
    keep: Callable[[str | None], str | None]
    resume: bool
    here: Callable[[ClaimOutcome, SearchFlags], ClaimOutcome]

    @property
    def keeps_states(self) -> bool:
        return self.keep(None) is not None


class Fleet:
    """The claims of a run: those that wait, those that are searched, and what became of the others."""

    def __init__(
        self, outcomes: Sequence[ClaimOutcome], plan: FleetPlan, table: FleetTable, whole: Budget
    ) -> None:
        self.decided, self.plan, self.table, self.whole = list(outcomes), plan, table, whole
        self.waiting = sorted(
            range(len(outcomes)), key=lambda place: _expected_length(outcomes[place]), reverse=True
        )
        self.idle: list[ClaimProcess] = []
        self.busy: dict[ClaimProcess, int] = {}
        self.stopped = False

    def decide(self, why_stopped: Callable[[Sequence[ClaimOutcome]], str | None]) -> list[ClaimOutcome]:
        """What became of all of them; those that are waiting when `why_stopped` tells a reason are not searched."""
        if not self.plan.keeps_states:  # which are to be taken up and written, however short a search is
            self._decide_short_ones(why_stopped)
        try:
            while self.waiting or self.busy:
                reason = why_stopped(self.decided) if self.waiting else None
                if reason is not None or self.whole.interrupted:
                    self._leave_waiting(reason)
                if self.whole.interrupted and not self.stopped:
                    self._stop()
                self._deal()
                self._receive()
        finally:
            for process in (*self.idle, *self.busy):
                process.close()
        return self.decided

    # -- here -------------------------------------------------------------------------------------------------

    def _decide_short_ones(self, why_stopped: Callable[[Sequence[ClaimOutcome]], str | None]) -> None:
        """Those that end in a moment, the shortest first: what they leave undecided is searched again, in a process."""
        until, look = clock.now() + ALONE_SECONDS, replace(self.plan.look, jobs=1)
        for place in reversed(self.waiting[:]):
            seconds = until - clock.now()
            if seconds < LEAST_SECONDS or self.whole.interrupted or why_stopped(self.decided) is not None:
                return
            self.table.show(place, Snapshot(stage="searching", seconds=0.0))
            found = self.plan.here(
                self.decided[place], look if look.budget <= seconds else replace(look, budget=seconds)
            )
            if (
                found.verdict != "UNKNOWN"
                or found.result is None
                or look.budget <= seconds
                or self.whole.interrupted
            ):
                self._settle(place, found)
                self.waiting.remove(place)
            else:
                self.table.wait(place)

    def _search_here(self, place: int) -> None:
        """One whose model cannot be sent to a process."""
        self.table.show(place, Snapshot(stage="searching", seconds=0.0))
        self._settle(place, self.plan.here(self.decided[place], replace(self.plan.look, jobs=1)))

    # -- in processes -----------------------------------------------------------------------------------------

    def _deal(self) -> None:
        """Give every process that has nothing to do the longest claim that waits."""
        while self.waiting and len(self.busy) < self.plan.jobs:
            unfinished = len(self.waiting) + len(self.busy)
            place = self.waiting.pop(0)
            try:
                request = self._request(place, jobs=max(1, self.plan.jobs // unfinished))
            except UNSENDABLE:
                self._search_here(place)
                continue
            process = self.idle.pop() if self.idle else ClaimProcess()
            self.busy[process] = place
            self.table.show(place, Snapshot(stage="starting", seconds=0.0))
            process.ask(request)

    def _request(self, place: int, jobs: int) -> bytes:
        outcome, plan = self.decided[place], self.plan
        return pack(
            ClaimRequest(
                problem=outcome.problem,
                flags=outcome.flags,
                look=replace(plan.look, jobs=jobs),
                import_seconds=outcome.import_seconds,
                reading_seconds=outcome.reading_seconds,
                checkpoint=plan.keep(outcome.flags.spec),
                resume=plan.resume,
            )
        )

    def _receive(self) -> None:
        """Take what processes say within a moment."""
        from multiprocessing.connection import wait

        ready = wait([process.connection for process in self.busy], timeout=POLL_SECONDS) if self.busy else ()
        for process in [process for process in self.busy if process.connection in ready]:
            self._take(process)
        self.table.refresh()

    def _take(self, process: ClaimProcess) -> None:
        place, said = self.busy[process], process.answer()
        if isinstance(said, Snapshot):
            self.table.show(place, said)
            return
        del self.busy[process]
        outcome = self.decided[place]
        if isinstance(said, Crash):
            outcome = replace(outcome, crash=said)
        elif isinstance(said, LikewiseError):
            outcome = replace(outcome, error=said, loaded=None)
        else:
            outcome = replace(outcome, result=said)
        self._settle(place, outcome)
        if isinstance(said, Crash) and not said.defect:
            process.close()
        else:
            self.idle.append(process)

    def _settle(self, place: int, outcome: ClaimOutcome) -> None:
        self.decided[place] = outcome
        self.table.settle(place, outcome)

    def _leave_waiting(self, reason: str | None) -> None:
        for place in self.waiting:
            self._settle(place, replace(self.decided[place], not_asked=reason))
        self.waiting.clear()

    def _stop(self) -> None:
        """Ctrl-C: the searches that are running answer with their bounds."""
        self.stopped = True
        for process in self.busy:
            process.stop()


def _expected_length(outcome: ClaimOutcome) -> float:
    """About how long a search takes, by what one score costs and how many variables pairs have; of use for an order only."""
    from likewise.families.scored_model import scores_of

    problem: Problem = outcome.problem
    model, size = problem.imported.model, len(problem.imported.space)
    try:
        variables = size + sum(relation.kind != "same" for relation in problem.relations)
        return float(scores_of(model, size, mirrored=False).cost * variables)
    except LikewiseError:  # it will be refused: the sooner the better
        return math.inf


def search_side_by_side(
    outcomes: Sequence[ClaimOutcome],
    plan: FleetPlan,
    whole: Budget,
    why_stopped: Callable[[Sequence[ClaimOutcome]], str | None],
    *,
    progress: bool,
) -> list[ClaimOutcome]:
    """What becomes of claims, in `plan.jobs` processes."""
    from likewise.cli.fleet_table import open_table

    names = [outcome.name for outcome in outcomes]
    with open_table(names, shown=progress) as table:
        return Fleet(outcomes, plan, table, whole).decide(why_stopped)
