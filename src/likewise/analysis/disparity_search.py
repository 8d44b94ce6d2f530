"""Climbing: the search of `verify` asked again and again, to close in on the disparity D* from both sides.

"Is there a pair above lower + tolerance?" Each better pair, also one that gains only a part of the tolerance,
raises the lower end and the question with it, after coordinate ascent has made the most of it; cells
closed under an easier question stay closed, because the witness sets shrink as the level rises. When nothing
is open, D* <= lower + tolerance is proved. Then comes the finish: leaves that allow more than `lower` are
opened again and the question is asked next to `lower` itself, for a limited number of cells; where that closes
too, lower and upper are equal but for rounding.

Where cells are cut by how far they exceed what is asked for (trees), a search for what is next to `lower` cuts large cells badly. It comes down to it in *stages*: asked for less and less, cells that do not exceed
a stage wait for the next one.

The search stops while there is time left for *settling*: asking for no more than what the open cells allow, so that a look at each closes it. Where
that takes longer after all, a shorter search is settled in the grace of the budget, and at last the first cell alone. The upper
end is a double that every leaf proves, in exact arithmetic where the subject's bounds are; where there is no time for that, what the bounds say, not proved.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.clock import OutOfTime
from likewise.errors import InternalError
from likewise.progress import Snapshot
from likewise.search.budget import Budget, BudgetUntil
from likewise.search.falsification import find_deepest
from likewise.search.frontier import ROOT_GRACE_SHARE
from likewise.search.portfolio import ask_anew
from likewise.spec.numbers import double_above, double_below

if TYPE_CHECKING:
    from likewise.analysis.disparity_problem import DisparityProblem
    from likewise.cells.leaf import Leaf
    from likewise.model.cases import Witness
    from likewise.search.frontier import SearchEnd
    from likewise.search.frontiers import Frontiers
    from likewise.search.proof import Split
    from likewise.search.task import SearchTask

LEAST_GAIN = 16  # a pair is better if it gains this part of the tolerance: smaller steps might never end
# Cells spent on making lower and upper equal once they are within the tolerance: so many, or so many times those that it took to get there, and never more than that.
LEAST_FINISH, FINISH_GROWTH, FINISH_CELLS = 1_000, 4, 4_000
# After so many more cells each time, better pairs are looked for by more than single steps, in a share of the search's time.
RIDGE_CELLS, RIDGE_SHARE = tuple(64 * 4**n for n in range(8)), 0.1
STAGE_CELLS = 500  # cells that a search may have before it is taken for one that needs stages
STAGE_SHARE = 0.9  # of the way from the lower end to what cells allow, where the next stage is
LEAST_STAGE = Fraction(
    1, 16
)  # of the way from the lower end to the first stage: nearer to it, what is left closes sooner without stages
MOST_RAISES = (
    64  # better pairs taken while doing so: each raises the lower end by a part of the fine tolerance
)
HISTORY_GROWTH, HISTORY_SECONDS = (
    1.1,
    0.1,
)  # the history's entries: some fifty in a minute, while nothing else happens
FLOAT_SLACK = 1e-9  # relative, added to float64 bounds that nothing has proved
SLACKS = (1e-12, 1e-9, 1e-6, 1e-3)  # relative, added to what open cells allow before it is put to the proof
MENDING_CELLS = 500  # cells that one such attempt may add, where bounds turn out to be worse than they looked
BELOW_ONE = Fraction(1, 2**40)  # what a level of probability stays below 1

SEARCH_SHARE = (
    0.4  # of the budget that the search has where a certificate is wanted: checking takes longer than finding
)
SETTLE_SHARE = 0.8  # of the grace, after which nothing is proved any more: the rest is for telling the pair
RETRY_SHARE = (
    1 / 3
)  # of what is left of the grace: a shorter search, where settling the first one took too long


class DisparitySearch:
    """One measurement: lower end with its witness, upper end with the searches that prove it (`closed`), history."""

    def __init__(self, subject: DisparityProblem, tolerance: Fraction, *, certifies: bool = False) -> None:
        self.subject, self.tolerance, self.certifies = subject, tolerance, certifies
        self.problem: SearchTask = subject.problem
        self.budget: Budget = self.problem.budget
        self.problem.replay = NoReplay()
        self.history: list[tuple[float, float, float]] = []
        self._listener, self.problem.listener = self.problem.listener, self._relay_report
        self.search: Frontiers | None = None
        self.upper, self.closed, self.independent = math.inf, False, False
        self.reason: str | None = None
        self.stage: Fraction | None = None  # the level that is asked for meanwhile, above lower + tolerance
        # The last one that nothing exceeds, and its proofs.
        self.proved_stage: tuple[Fraction, list[list[Split | Leaf | None]]] | None = None
        self.witness, self.lower = subject.start()
        self._ask()

    @property
    def proved(self) -> bool:
        """Whether the upper end is proved by the search alone."""
        if self.problem.oracles.family.opaque:
            return False
        certain = self.subject.of_probability and self.upper == 1
        return self.independent or certain or (self.closed and self.subject.exact)

    def run(self) -> None:
        """Close in until the tolerance is met or the budget is over."""
        if self._independent():
            self.upper, self.closed, self.independent = 0.0, True, True
            return
        self._ask()
        if self.problem.checkpoint is not None:
            self._take(self.problem.checkpoint.known_pair(self.problem))
        for witness in self.subject.starting_pairs():
            self._take(witness)
            if self.at_maximum:
                return
        if self.problem.oracles.searched_only(self.problem.question):
            self._ask_on()
            return
        if not self._begins(BudgetUntil(self.budget, self._search_deadline())):
            self.upper, self.reason = 1.0 if self.subject.of_probability else math.inf, self.budget.reason
            return
        for witness in self.subject.frontier_pairs(self._searched()):
            self._take(witness)
        end = self._descend() or self._climb_ridges() or self._climb()
        if self.problem.checkpoint is not None:  # what is asked from now on is another level
            self.problem.checkpoint.end()
            self.problem.checkpoint = None
        self.reason = None if end in ("closed", "topped") else self._end_reason(end)
        if end == "closed":
            self.closed, self.upper = True, double_above(self.lower + self.tolerance)
            if self.subject.closes:
                self._finish()
        elif end != "topped":
            self._settle()
        self._spend(self.budget, settles=False)

    def _ask_on(self) -> None:
        """The lower end alone, of a model that can only be asked or whose probabilities nothing bounds:
        from new individuals until the budget is over."""
        for witness in ask_anew(self.problem, find_deepest):
            self._take(witness)
        self.upper = 1.0 if self.subject.of_probability else math.inf
        self.reason = self.problem.oracles.unproved(self.problem.question)

    def _independent(self) -> bool:
        with suppress(OutOfTime), self.budget.later(ROOT_GRACE_SHARE).watched():
            return self.subject.independent()
        return False

    # -- the lower end ----------------------------------------------------------------------------------------

    def _take(self, witness: Witness | None) -> None:
        """Take a better pair and ask for one that is better still."""
        if witness is None or (value := self.subject.value(witness)) <= self.lower:
            return
        self.witness, self.lower = witness, value
        if self.problem.checkpoint is not None:
            self.problem.checkpoint.pair = witness.x, witness.other
        if not self.at_maximum:
            self._ask()

    def _ask(self) -> None:
        """Prove that nothing is above lower + tolerance, or look for what is above a stage on the way to it; take whatever is noticeably above lower."""
        level = self.lower + self.tolerance
        self._ask_at(
            level if self.stage is None else max(level, self.stage), self.lower + self.tolerance / LEAST_GAIN
        )

    def _ask_at(self, level: Fraction, wanted: Fraction | None = None) -> None:
        question = self.subject.question(level)
        sought = None if wanted is None else self.subject.question(wanted)
        self.problem.question, self.problem.wanted = question, sought
        if self.search is not None:
            self.search.ask(question, sought)

    @property
    def at_maximum(self) -> bool:
        """Whether there is nothing left to ask: no two probabilities are as far as 1 apart."""
        if not self.subject.of_probability or self.lower + self.tolerance < 1 - BELOW_ONE:
            return False
        self.upper, self.closed = 1.0, False
        return True

    def _descend(self) -> str | None:
        """Bring what cells allow down to the lower end, stage by stage; how the search ends, if it does before that."""
        search = self._searched()
        if not self.problem.oracles.remembers or self.problem.checkpoint is not None:
            return None
        end: str | None = self._climb(STAGE_CELLS)
        if end != "budget" or search.late:
            return end
        least = self.lower + LEAST_STAGE * (self._next_stage() - self.lower)
        with search.parking():
            end = None
            while end is None and (stage := self._next_stage()) > max(least, self.lower + self.tolerance):
                self.stage = stage
                self._ask()
                search.reopen_stuck()
                end = self._climb()
                if end == "stuck" and self._allowed() <= double_above(stage):
                    end = None
                    self._record_bracket()
                    nodes = search.nodes_with_parked
                    if nodes is not None:
                        self.proved_stage = max(stage, self.lower + self.tolerance), nodes
        self.stage = None
        self._ask()
        search.reopen_stuck()
        return end

    def _climb_ridges(self) -> str | None:
        """Now and then look for pairs that single steps do not lead to, for no more than a share of the
        search's time: a better
        lower end may be all that is missing. How the search ends, if it does before the last look."""
        search, searched, looked = self._searched(), 0.0, 0.0
        if self.problem.oracles.remembers:
            return None
        for cells in RIDGE_CELLS:
            began = self.budget.elapsed
            end = self._climb(cells)
            searched += self.budget.elapsed - began
            if end != "budget" or search.late:
                return end
            began = self.budget.elapsed
            for witness in self.subject.ridge_pairs(RIDGE_SHARE * searched - looked):
                self._take(witness)
            looked += self.budget.elapsed - began
        return None

    def _next_stage(self) -> Fraction:
        """A level between the lower end and what cells allow; the lower end where nothing is known of that."""
        highest = self._allowed()
        if math.isinf(highest):
            return self.lower
        return self.lower + Fraction(STAGE_SHARE) * (Fraction(highest) - self.lower)

    def _allowed(self) -> float:
        """The highest value that the bounds of cells allow, in float64."""
        return self.subject.allowed(self._searched(), double_above(self.lower + self.tolerance))

    def _climb(self, most: float = math.inf) -> str:
        search, raises = self._searched(), 0

        def improve(found: Witness) -> SearchEnd | None:
            """Take a better pair and ask for one that is better still; how the search ends, if it does."""
            nonlocal raises
            before = self.lower
            self._take(found)
            if self.lower == before:  # better by less than can be told
                return "stuck"
            if not self.at_maximum:
                self._take(self.subject.climb(found))
            self._record_bracket()
            raises += 1
            return "budget" if self.at_maximum or (raises > MOST_RAISES and math.isfinite(most)) else None

        end: SearchEnd | None = None
        while end is None and not self.at_maximum:
            end = search.run(most=most, improve=improve)
            if end == "witness":
                if search.witness is None:
                    raise InternalError("the search ended with a witness and has none")
                end = improve(search.witness)
        return "topped" if end is None or (end == "budget" and self.at_maximum) else end

    # -- the upper end ----------------------------------------------------------------------------------------

    def _finish(self) -> None:
        """Ask closer to the lower end: open what allows more, for a limited number of cells."""
        search, enough, nodes = self._searched(), self.upper, self._searched().nodes
        try:
            with self.problem.budget.watched():
                improved = self._closes_further(enough)
        except OutOfTime:
            improved = False
        if not improved:
            search.restore(nodes)  # the cells opened again came out worse: back to what was proved
            self.upper, self.closed = enough, True

    def _closes_further(self, enough: float) -> bool:
        """Whether cells opened again close further down."""
        search = self._searched()
        self.tolerance = self.subject.finest(self.lower, self.tolerance)
        self._ask()
        search.reopen_unproved(split=False)
        end = self._climb(min(max(LEAST_FINISH, FINISH_GROWTH * search.cells), FINISH_CELLS))
        if end == "topped":
            return True
        if end == "closed":
            self._lower_upper_end(double_above(self.lower + self.tolerance))
            return True
        return self._close_at_allowed(enough)

    def _lower_upper_end(self, level: float) -> None:
        """The smallest of a few doubles that all leaves hold at; a decision's witness may lie on the border itself."""
        lowest = double_above(self.lower)
        with suppress(OutOfTime):
            for candidate in (lowest, math.nextafter(lowest, math.inf)):
                self._ask_at(Fraction(candidate))
                if candidate < level and self._searched().holds():
                    level = candidate
        self.upper, self.closed = level, True

    def _settle(self) -> None:
        """Prove what the open cells allow; where there is no time for that, what those of a shorter search allow."""
        proposed = self._proposed()
        if math.isinf(proposed):  # there was no time for a look at the first cell, and there is less now
            self.upper, self.closed = proposed, False
            return
        if self.subject.exact or self.certifies:
            self._spend(BudgetUntil(self.budget, self._settle_deadline(), settling=True), settles=False)
            self._searched().take_back_cuts()
            if self._close_at_allowed(by_mirror=True, below=self._stage_upper()):
                return
            if self._return_to_stage():
                return
        if self.subject.exact:
            for share in (RETRY_SHARE, 0.0):
                if not self.budget.later(SETTLE_SHARE).over and self._settle_anew(share):
                    return
        self.upper, self.closed = proposed, False

    def _stage_upper(self) -> float:
        """The upper end that the last stage has proved, if any has."""
        return math.inf if self.proved_stage is None else double_above(self.proved_stage[0])

    def _return_to_stage(self) -> bool:
        """Go back to the last stage that nothing exceeds, if there is one; whether that is proved: of two cases that mirror each other the second one may not be."""
        if self.proved_stage is None:
            return False
        (level, nodes), search = self.proved_stage, self._searched()
        search.restore(nodes)
        self._ask_at(level)
        if search.run(most=MENDING_CELLS, follows=not search.by_mirror) != "closed":
            return False
        self.upper, self.closed = double_above(level + search.mirror_room), True
        return True

    def _settle_anew(self, share: float) -> bool:
        """A search from the beginning, for a share of the time left, and what it leaves open settled in the rest."""
        self._ask()
        stop = self.budget.elapsed + share * self.budget.checking_seconds
        if not self._begins(BudgetUntil(self.budget, stop, settling=True)):
            return False
        if self._climb(math.inf if share else 0) == "topped":
            return True
        self._spend(self.budget.later(SETTLE_SHARE), settles=False)
        self._searched().take_back_cuts()
        return self._close_at_allowed(by_mirror=True)

    def _close_at_allowed(self, below: float = math.inf, *, by_mirror: bool = False) -> bool:
        """Ask for no more than the open cells allow by their bounds in float64, with more and more room for rounding. Of two cases that mirror each other one is enough (`by_mirror`), unless
        a certificate is wanted: the other one's gaps are larger by no more than is proved."""
        search = self._searched()
        if by_mirror:
            search.wait_for_mirrors()
        for room in SLACKS:
            highest = self._allowed()
            level = highest + room * (1 + abs(highest))
            if not level < below or (self.subject.of_probability and level >= 1 - BELOW_ONE):
                return False
            search.reopen_stuck()
            self._ask_at(Fraction(level))
            end = search.run(most=MENDING_CELLS, follows=not (by_mirror and search.by_mirror))
            if end == "closed":
                self.upper, self.closed = double_above(Fraction(level) + search.mirror_room), True
                return True
            if end == "witness":
                self._take(search.witness)
            if end == "budget" and search.late:
                return False
        return False

    def _proposed(self) -> float:
        """The upper end by the bounds alone: not proved."""
        closed = float(self.lower + self.tolerance)
        highest = min(self.subject.allowed(self._searched(), closed), self._least_upper())
        highest = max(highest, closed)  # open cells may hold nobody
        highest = max(highest + FLOAT_SLACK * (1 + abs(highest)), double_above(self.lower + self.tolerance))
        return min(highest, 1.0) if self.subject.of_probability else highest

    # -- time -------------------------------------------------------------------------------------------------

    def _begins(self, budget: Budget) -> bool:
        """Begin anew, with this budget; whether there is time for that."""
        with suppress(OutOfTime), self.budget.later(ROOT_GRACE_SHARE).watched():
            self.search = self.subject.frontiers()
            self.search.by_mirror = not self.certifies
            self._ask()
            self._spend(budget, settles=self.subject.exact or self.certifies)
            return True
        return False

    def _spend(self, budget: Budget, *, settles: bool) -> None:
        self.problem.budget = budget
        self._searched().spend(budget, settles=settles)

    def _search_deadline(self) -> float:
        """When the search ends, the settling of its open cells included as far as it can be foreseen."""
        return (SEARCH_SHARE if self.certifies else 1.0) * self.budget.seconds

    def _settle_deadline(self) -> float:
        """When the open cells are given up: somewhat later, at most halfway through the grace."""
        grace = (self.budget.grace_end - self.budget.end) / 2
        return min(self.budget.end, max(self._search_deadline(), self.budget.elapsed)) + grace

    def _end_reason(self, end: str) -> str:
        return self.budget.reason if end == "budget" else "rounding"

    # -- history ----------------------------------------------------------------------------------------------

    def _relay_report(self, snapshot: Snapshot) -> None:
        """Pass the search's reports on, with the bracket from time to time."""
        last = self.history[-1][0] if self.history else 0.0
        searching = self.search is not None and any(frontier.batches for frontier in self.search.all)
        if searching and snapshot.seconds >= HISTORY_GROWTH * last + HISTORY_SECONDS:
            self._record_bracket()
        else:
            self._listener(snapshot)

    def _record_bracket(self) -> None:
        """Keep the bracket's history, with what the open cells still allow; what was once proved stays so."""
        search, seconds, lower = self._searched(), self.budget.elapsed, double_below(self.lower)
        highest = self._allowed()
        upper = min(highest, self._least_upper(), 1.0 if self.subject.of_probability else math.inf)
        self.history.append((seconds, lower, upper))
        self._listener(
            Snapshot(
                stage="measuring",
                seconds=seconds,
                closed=search.closed,
                open=len(search.open),
                lower=lower,
                upper=upper,
            )
        )

    def _least_upper(self) -> float:
        """The lowest upper end so far: cells cut anew may have worse bounds than the one they came from."""
        return min((upper for _, _, upper in self.history), default=math.inf)

    def _searched(self) -> Frontiers:
        if self.search is None:
            raise InternalError("no search was run")
        return self.search


class NoReplay:
    """A disparity is about the real-number semantics: no replay."""

    def confirms(self, *_: Any) -> bool:
        return True
