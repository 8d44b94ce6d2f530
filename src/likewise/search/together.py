"""Searches that belong together: a branch and bound for each case of a question, or the one of a single score, all of them on one budget.

They are closed when all of them are, and have a witness as soon as one has. They take turns, each for a while longer every time, so that an easy
witness is not kept waiting by a hard proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from likewise.cells.leaf import Clearance, Leaf
from likewise.clock import look_at_clock
from likewise.search.branch_and_bound import Cell, Search
from likewise.search.proof import Proof, Split, walk

if TYPE_CHECKING:
    from likewise.model.gauge import Gauge
    from likewise.model.question import Question
    from likewise.search.branch_and_bound import End
    from likewise.search.budget import Budget
    from likewise.search.problem import Witness

TURN = 512  # cells of a search in its first turn
LONGER = 2
ROOM = 1e-9  # relative, added to float64 bounds that are reported without a proof

Part = TypeVar("Part", bound=Search)


@dataclass(slots=True, kw_only=True)
class Searches(Generic[Part]):
    """The searches; whoever asks them does so in their order."""

    searches: list[Part]
    witness: Witness | None = None
    turn: float = field(default=TURN)

    def run(self, *, most: float = math.inf) -> End:
        """Until all are closed, a witness is found or the budget (or `most` more nodes) is over: as `Search.run` says it."""
        ends: dict[int, End] = dict.fromkeys(range(len(self.searches)), "budget")
        most += self.cells
        while True:
            for n, search in enumerate(self.searches):
                if ends[n] != "budget":
                    continue
                ends[n] = search.run(most=min(self.turn, most - self.cells))
                if ends[n] == "witness":
                    self.witness = search.witness
                    return "witness"
            if "budget" not in ends.values():
                return "stuck" if "stuck" in ends.values() else "closed"
            if self.late or self.cells > most:
                return "budget"
            self.turn *= LONGER

    def ask(self, questions: Sequence[Question], wanted: Sequence[Question] | None = None) -> None:
        """The same at another level; `wanted` is what a pair has to answer with yes, if that is less."""
        sought = [None] * len(questions) if wanted is None else wanted
        for search, question, one in zip(self.searches, questions, sought, strict=True):
            search.ask(question, one)
            search.witness = None

    def spend(self, budget: Budget, *, settles: bool = False) -> None:
        """Go on with this budget; with `settles` stop while it still lasts for looking at all open cells once more."""
        for search in self.searches:
            search.problem.budget = budget
            search.settles = self.searches if settles else ()

    @property
    def late(self) -> bool:
        """Whether it is time to stop."""
        return any(search.late for search in self.searches)

    def unstick(self) -> None:
        """Open cells again that could neither be closed nor split: at another level they may be closed."""
        for search in self.searches:
            search.open += search.stuck
            search.stuck.clear()

    def reopen_unproved(self, *, split: bool = True) -> None:
        """Cut the leaves that do not hold at the level that is asked for, or (without `split`) open them again."""
        for search in self.searches:
            search.reopen(_unproved(search), split=split)

    def holds(self) -> bool:
        """Whether all leaves hold at the level that is asked for."""
        return not any(_unproved(search) for search in self.searches)

    @property
    def nodes(self) -> list[list[Split | Leaf | None]]:
        """The nodes of all proofs as they are now, to go back to."""
        return [list(search.proof.nodes) for search in self.searches]

    def restore(self, nodes: list[list[Split | Leaf | None]]) -> None:
        """Go back to proofs that were complete."""
        for search, known in zip(self.searches, nodes, strict=True):
            search.proof, search.witness = Proof(known), None
            search.open.clear()
            search.stuck.clear()
            search.forget()

    @property
    def proofs(self) -> list[Proof]:
        return [search.proof for search in self.searches]

    def clearance(self) -> Clearance:
        """The smallest clearance of all leaves at the level that is asked for, which may be lower than when they were closed."""
        return min(
            (
                Fraction(0) if clearance is None else clearance
                for search in self.searches
                for _, clearance in _cleared(search)
            ),
            default=math.inf,
        )

    @property
    def cells(self) -> int:
        return sum(len(search.proof.nodes) for search in self.searches)

    @property
    def closed(self) -> int:
        return sum(search.closed for search in self.searches)

    @property
    def open(self) -> list[Cell]:
        """What is left of all searches."""
        return [cell for search in self.searches for cell in (*search.open, *search.stuck)]


def _unproved(search: Search) -> set[int]:
    """The leaves that do not hold."""
    return {number for number, clearance in _cleared(search) if clearance is None}


def _cleared(search: Search) -> Iterator[tuple[int, Clearance | None]]:
    """All leaves with their clearances; None where one does not hold."""
    for number, node, lo, hi in walk(search.proof, search.problem.pairs):
        if isinstance(node, Leaf):
            look_at_clock()
            yield number, search.prove(number, lo, hi, node, search.problem.question)


def allowed(cells: Sequence[Cell], gauge: Gauge) -> float:
    """The highest value that the bounds of some cells allow, in float64 and not proved; -infinity of none."""
    caps = gauge.cap(np.array([c.lean for c in cells]), np.array([c.upper for c in cells]))
    return float(caps.max(initial=-math.inf))


def still_allowed(cells: Sequence[Cell], gauge: Gauge, level: float) -> float:
    """The same with room for rounding, for a report: closed cells allow no more than the level that was asked for."""
    highest = allowed(cells, gauge)
    return max(level, highest + ROOM * (1 + abs(highest))) if math.isfinite(highest) else math.inf
