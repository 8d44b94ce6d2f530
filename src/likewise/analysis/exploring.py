"""Exploring: a partition of the space into boxes that look fair, biased or neither, by branch and bound.

Boxes are over what an individual has: features that are `free` are never cut, since whoever is in a box may be changed in them and
stays in it. The largest box is mostly taken first and gets the first kind that fits:

    empty      a constraint excludes it as a whole
    biased     two *counterparts*: ways to change everybody in it into somebody similar, such that one of them gets the upper decision
               throughout and the other one the lower; so whoever is in the box differs from one of them
    fair       a short search over the pairs of everybody similar to somebody in it ends with all cells closed
    undecided  none of that, and it can be cut no further; else it is cut where its scores move most

All of this only proposes: `settling` proves what is reported.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from likewise.analysis.counterparts import Counterpart, excluded
from likewise.analysis.cutting import Cut, Cutter
from likewise.analysis.ground import Ground, Looked
from likewise.progress import Listener, Snapshot
from likewise.search.portfolio import independence
from likewise.spec.boxes import Box

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.search.budget import Budget

    Floats = NDArray[np.float64]

Kind = Literal["fair", "biased", "undecided", "empty"]

LEAST_MEASURE = 1e-9  # smaller boxes are not cut any further
DIVING = 4  # every fourth box is one with many who are treated differently


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A box of the partition with its share of the space, and the counterparts that make it biased: upper, lower."""

    kind: Kind
    box: Box
    share: Fraction
    counterparts: tuple[Counterpart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """A box that is to be judged, and how many of those looked at in it, of its parent, were treated differently."""

    lo: Floats
    hi: Floats
    share: Fraction
    differently: float = 0.0


class Frontier:
    """The open boxes: the largest first, and from time to time the one with the most who are treated differently. Biased boxes
    lie in a thin layer along the border of the decision, and are small: no order by size would come to them."""

    def __init__(self) -> None:
        self.boxes: dict[int, Open] = {}
        self.by_size: list[tuple[float, int]] = []
        self.by_treatment: list[tuple[float, float, int]] = []
        self.count = 0

    def push(self, box: Open) -> None:
        self.count += 1
        self.boxes[self.count] = box
        heapq.heappush(self.by_size, (-float(box.share), self.count))
        if box.differently > 0:
            heapq.heappush(self.by_treatment, (-box.differently, -float(box.share), self.count))

    def pop(self, turn: int) -> Open:
        heap: list[Any] = self.by_treatment if turn % DIVING == 0 and self.by_treatment else self.by_size
        while True:
            number = heapq.heappop(heap)[-1]
            if number in self.boxes:
                return self.boxes.pop(number)
            if not heap:
                heap = self.by_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a box is; where it is to be cut, if it is undecided, after a look at some of its individuals."""

    kind: Kind
    counterparts: tuple[Counterpart, ...] = ()
    cut: Cut | None = None
    looked: Looked | None = None


class Exploration:
    """A branch and bound over boxes that can be run on."""

    def __init__(self, ground: Ground) -> None:
        self.ground, self.frontier = ground, Frontier()
        self.turn, self.settled = 0, Fraction(0)
        self.frontier.push(Open(lo=ground.lo.copy(), hi=ground.hi.copy(), share=Fraction(1)))

    def run(self, budget: Budget, listener: Listener, *, most: int) -> list[Found]:
        """What is found within the budget, or `most` boxes: what they are, or that they can be cut no further."""
        ground, frontier = self.ground, self.frontier
        found: list[Found] = []
        if not self.turn and independence(ground.problem) is not None:
            node = frontier.pop(1)
            return [_found(ground, node, "fair")]
        while frontier.boxes and not budget.over and len(found) < most:
            self.turn += 1
            node = frontier.pop(self.turn)
            judged = _judged(ground, node, budget)
            if judged.cut is None:
                found.append(_found(ground, node, judged.kind, judged.counterparts))
                self.settled += node.share
            else:
                for child in _children(ground, node, judged.cut, judged.looked):
                    frontier.push(child)
            listener(
                Snapshot(
                    stage="looking for regions",
                    seconds=budget.elapsed,
                    closed=len(found),
                    open=len(frontier.boxes),
                    share=float(self.settled),
                )
            )
        return found

    @property
    def rest(self) -> list[Found]:
        """What is still to be judged, as undecided."""
        return [_found(self.ground, node, "undecided") for node in self.frontier.boxes.values()]


def _found(ground: Ground, node: Open, kind: Kind, counterparts: tuple[Counterpart, ...] = ()) -> Found:
    return Found(kind=kind, box=ground.box(node.lo, node.hi), share=node.share, counterparts=counterparts)


def _judged(ground: Ground, node: Open, budget: Budget) -> Judged:
    """Where some of those who are looked at are treated differently and some are not, there is nothing to prove."""
    lo, hi = node.lo, node.hi
    if ground.space.constraints and excluded(ground.box(lo, hi)):
        return Judged(kind="empty")
    looked = ground.looked_at(lo, hi)
    if len(looked.rows) and looked.differently.all():
        if not ground.asks_decisions:
            return Judged(kind="undecided")
        found = ground.counterparts(lo, hi, budget)
        if found:
            return Judged(kind="biased", counterparts=found)
    if not looked.differently.any() and ground.looks_fair(lo, hi, looked, budget):
        return Judged(kind="fair")
    cut = Cutter(ground).place(lo, hi, looked) if node.share > LEAST_MEASURE else None
    return Judged(kind="undecided", cut=cut, looked=looked)


def _children(ground: Ground, node: Open, cut: Cut, looked: Looked | None) -> Iterator[Open]:
    shares = Cutter(ground).parts(cut, node.lo, node.hi)
    for (lo, hi), share in zip(cut.children(node.lo, node.hi), shares, strict=True):
        among = 0.0 if looked is None else looked.differently_between(cut.feature, lo, hi)
        yield Open(lo=lo, hi=hi, share=node.share * share, differently=among)
