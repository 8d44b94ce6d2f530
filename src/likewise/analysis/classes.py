"""measure for models of several classes: one bracket over all cases, closed in on from both sides as in `climbing`.

Every better pair, of whatever case, raises the level that all cases are asked for; cells closed before stay closed. The value of a decision
case is by how much all its conditions hold, the smallest of them: below 0 where no pair gets different decisions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.bounds.enumerated import independent
from likewise.errors import InternalError
from likewise.model.enclosure import FIRST_BITS
from likewise.model.question import round_up
from likewise.progress import Snapshot
from likewise.search.budget import Budget
from likewise.search.cases import ClassSearch, class_search, climbed_from_starts
from likewise.search.falsification import climbed, deepest
from likewise.search.feasible import some_individual
from likewise.search.problem import Witness
from likewise.verifying.classes import open_upper

if TYPE_CHECKING:
    from likewise.bounds.cases import CaseOracle
    from likewise.verifying.classes import PreparedClasses

GAIN = 16  # a pair is better if it gains this part of the tolerance
SHARE = 0.8  # of the budget that climbing may take: the rest is for proving what the open cells allow
RAISE = 1e-6  # relative, of what the open cells allow, before it is put to the proof
FINE = Fraction(1, 10**12)  # what a margin stays away from the best one known
FINISH = 4_000  # cells spent on making lower and upper equal once they are within the tolerance
CLOSEST = Fraction(1, 2**40)  # what a level of probability stays below 1


class ClassClimb:
    """One measurement: the lower end with its pair, the upper end with the searches that prove it."""

    def __init__(self, prepared: PreparedClasses, tolerance: Fraction) -> None:
        self.problem, self.question = prepared.problem, prepared.question
        # A pair may lie on the border of a decision: right there it would be found again and again.
        least = FINE if self.question.kind == "decision" else Fraction(0)
        self.prepared, self.tolerance = prepared, max(tolerance, least)
        self.proposing = prepared.oracles.propose(self.question)
        self.problem.replay = _Unasked()  # a disparity is about the real numbers
        self.history: list[tuple[float, float, float]] = []
        self.search: ClassSearch | None = None
        self.independent = False
        self.upper, self.proved, self.closed = math.inf, False, False
        self.reason: str | None = None
        self.witness = nobody_else(prepared)
        self.lower = self._value(self.witness)
        self._ask()

    def run(self) -> None:
        """Close in until the tolerance is met or the budget is over."""
        if self.question.kind != "decision" and independent(self.problem.pairs, self.prepared.oracles.score):
            self.independent, self.upper, self.proved, self.closed = True, 0.0, True, True
            return
        if not self.proposing:
            self._take(deepest(self.problem))
        if self.topped:
            return
        budget = self.problem.budget
        self.problem.budget = Budget(SHARE * budget.seconds)
        self.problem.budget.started = budget.started
        self.search = class_search(self.problem, self.question, self.prepared.oracles)
        self._ask()
        self._take(climbed_from_starts(self.problem, self.search))
        if self.topped:
            return
        end = self._climb()
        if end == "topped":
            return
        self.closed = end == "closed"
        if self.closed:
            self.upper = round_up(self.lower + self.tolerance)
            self.proved = proves(self.search.searches[0].oracle)
            if self.prepared.oracles.finite(self.search.searches[0].oracle.case):
                self._finish()
        else:
            self.problem.budget.interrupted |= budget.interrupted
            self._settle(budget)
            self.reason = budget.reason if end == "budget" else "rounding"

    def _climb(self, most: float = math.inf) -> str:
        search = self._searched()
        while (end := search.run(most=most)) == "witness":
            found = search.witness
            self._take(found)
            if found is not None and not self.topped and not self.proposing:
                self._take(climbed(self.problem, np.array([found.x, found.other])))
            if self.topped:
                return "topped"
            for part in search.searches:
                part.witness = None
        return end

    def _finish(self) -> None:
        """Ask next to the lower end itself, for a limited number of cells; where bounds are sums of leaves, that closes."""
        search, upper, nodes = self._searched(), self.upper, [list(p.nodes) for p in self._searched().proofs]
        self.tolerance = FINE if self.question.kind == "decision" else Fraction(0)
        self._ask()
        search.reopen_unproved(split=False)
        if self._climb(FINISH) != "closed":
            search.restore(nodes)
            self.upper = upper
            return
        self.upper = min(upper, round_up(self.lower + self.tolerance))
        lowest = round_up(self.lower)
        for level in (lowest, math.nextafter(lowest, math.inf)):
            search.ask(self.question.at(Fraction(level)))
            if level < self.upper and search.holds():
                self.upper = level

    def _settle(self, budget: Budget) -> None:
        """What the open cells allow, in float64, and whether it can be proved in what is left of the budget."""
        search = self._searched()
        cap = open_upper(search, self.question)
        self.upper = max(cap, round_up(self.lower + self.tolerance))
        level = Fraction(self.upper + RAISE * (1 + abs(self.upper))) if math.isfinite(self.upper) else None
        if level is None or (self.question.kind == "probability" and level >= 1 - CLOSEST):
            return
        for part in search.searches:
            part.problem.budget = budget
            part.open += part.stuck
            part.stuck.clear()
        search.ask(self.question.at(level))
        search.turn = math.inf
        self.closed = search.run() == "closed"
        if self.closed:
            self.upper = round_up(level)
            self.proved = proves(search.searches[0].oracle)

    def _take(self, witness: Witness | None) -> None:
        """Take a better pair and ask for one that is better still."""
        if witness is None:
            return
        value = self._value(witness)
        if value <= self.lower:
            return
        self.witness, self.lower = witness, value
        if not self.topped:
            self._ask()
        self._note()

    def _ask(self) -> None:
        self.question = self.question.at(self.lower + self.tolerance)
        wanted = self.question.at(self.lower + self.tolerance / GAIN)
        self.problem.question, self.problem.wanted = self.question, wanted  # type: ignore[assignment]
        if self.search is not None:
            self.search.ask(self.question, wanted)

    def _value(self, witness: Witness) -> Fraction:
        if witness.scores is None:
            raise InternalError("a pair of several classes has all scores")
        if witness.case is not None and self.history:
            return witness.case.value(*witness.scores)
        return self.question.value(*witness.scores)

    @property
    def topped(self) -> bool:
        """Whether there is nothing left to ask: no two probabilities are as far as 1 apart."""
        if self.question.kind != "probability" or self.lower + self.tolerance < 1 - CLOSEST:
            return False
        self.upper = 1.0
        return True

    def _note(self) -> None:
        """Keep the bracket's history."""
        upper = math.inf if self.search is None else open_upper(self.search, self.question)
        self.history.append((self.problem.budget.elapsed, float(self.lower), upper))
        self.problem.listener(
            Snapshot(
                stage="measuring",
                seconds=self.problem.budget.elapsed,
                closed=0 if self.search is None else sum(s.closed for s in self.search.searches),
                open=0 if self.search is None else len(self.search.open),
                lower=float(self.lower),
                upper=upper,
            )
        )

    def _searched(self) -> ClassSearch:
        if self.search is None:
            raise InternalError("no search was run")
        return self.search


def nobody_else(prepared: PreparedClasses) -> Witness:
    """An individual paired with itself: the pair to start from."""
    space = prepared.pairs.space
    if space.constraints:
        lowest = [float(c) for c in some_individual(space)]
    else:
        lowest = [float(prepared.pairs.variables[v].lo) for v in prepared.pairs.first]
    codes = [Fraction(c) for c in prepared.imported.recoding.settled(np.array([lowest]))[0].tolist()]
    scores, point = prepared.oracles.enclose(codes, FIRST_BITS), tuple(float(c) for c in codes)
    case = prepared.question.cases()[0]
    signal = case.signal(scores)
    return Witness(x=point, other=point, first=signal, second=signal, scores=(scores, scores), case=case)


class _Unasked:
    """No replay."""

    def confirms(self, *_: object) -> bool:
        return True


def proves(oracle: CaseOracle) -> bool:
    """Whether a case that closes is a proof by itself: boxes of odds are halved in float64, which only the checker makes one."""
    return oracle.exact and oracle.rule != "odds"
