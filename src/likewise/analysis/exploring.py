"""Exploring: a partition of the space into boxes that look fair, biased or neither, by branch and bound.

Boxes are over what an individual has: features that are `free` are never cut, since whoever is in a box may be changed in them and
stays in it. The largest box is taken first and gets the first kind that fits:

    empty      a constraint excludes it as a whole
    biased     two *counterparts*: ways to change everybody in it into somebody similar, such that one of them gets the upper decision
               throughout and the other one the lower; so whoever is in the box differs from one of them
    fair       a short search over the pairs of everybody similar to somebody in it ends with all cells closed
    undecided  none of that, and it can be cut no further; else it is cut where its scores move most

Biased boxes lie in a thin layer along the border of the decision, and are small: no order by size comes to them. `seeded` takes boxes
that were grown there (`seeding`) out of the open ones, by cuts along their sides.

All of this only proposes: `settling` proves what is reported.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.analysis.counterparts import Counterpart, excluded
from likewise.analysis.cutting import Cut, Cutter
from likewise.analysis.ground import Ground
from likewise.analysis.seeding import Grown, Seeder
from likewise.clock import OutOfTime, look_at_clock
from likewise.progress import Listener, Snapshot
from likewise.search.portfolio import independence
from likewise.spec.boxes import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.budget import Budget

    Floats = NDArray[np.float64]

Kind = Literal["fair", "biased", "undecided", "empty"]

LEAST_MEASURE = 1e-9  # smaller boxes are not cut any further
SEEDS = 96  # around which boxes are grown, before the largest of them are taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A box of the partition with its share of the space, and the counterparts that make it biased: upper, lower."""

    kind: Kind
    box: Box
    share: Fraction
    counterparts: tuple[Counterpart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """A box that is to be judged."""

    lo: Floats
    hi: Floats
    share: Fraction


class Frontier:
    """The open boxes, the largest first."""

    def __init__(self) -> None:
        self.boxes: dict[int, Open] = {}
        self.by_size: list[tuple[float, int]] = []
        self.count = 0

    def push(self, box: Open) -> None:
        self.count += 1
        self.boxes[self.count] = box
        heapq.heappush(self.by_size, (-float(box.share), self.count))

    def pop(self) -> Open:
        while True:
            number = heapq.heappop(self.by_size)[-1]
            if number in self.boxes:
                return self.boxes.pop(number)

    def holding(self, rows: Floats) -> list[int | None]:
        """For each of some individuals the number of an open box that it lies in."""
        numbers = list(self.boxes)
        lo, hi = (np.stack([getattr(box, end) for box in self.boxes.values()]) for end in ("lo", "hi"))
        inside = [np.flatnonzero(((lo <= row) & (row <= hi)).all(axis=1)) for row in rows]
        return [numbers[int(places[0])] if len(places) else None for places in inside]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a box is; where it is to be cut, if it is undecided."""

    kind: Kind
    counterparts: tuple[Counterpart, ...] = ()
    cut: Cut | None = None


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
        if not self.turn and self._independent(budget):
            node = frontier.pop()
            return [_found(ground, node, "fair")]
        while frontier.boxes and not budget.over and len(found) < most:
            self.turn += 1
            node = frontier.pop()
            try:
                with budget.watched():
                    judged = _judged(ground, node, budget)
            except OutOfTime:
                frontier.push(node)
                break
            if judged.cut is None:
                found.append(_found(ground, node, judged.kind, judged.counterparts))
                self.settled += node.share
            else:
                for child in _children(ground, node, judged.cut):
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

    def _independent(self, budget: Budget) -> bool:
        with suppress(OutOfTime), budget.watched():
            return independence(self.ground.problem) is not None
        return False

    def seeded(self, budget: Budget, *, most: int) -> list[Found]:
        """At most so many biased boxes, the largest of those that are grown in open boxes within the budget."""
        ground, frontier, seeder = self.ground, self.frontier, Seeder(self.ground)
        if not ground.asks_decisions or most <= 0 or not frontier.boxes or budget.over:
            return []
        grown: dict[int, list[tuple[float, Grown]]] = {}
        with suppress(OutOfTime), budget.watched():
            seeds = seeder.seeds()[: min(SEEDS, 4 * most)]
            for seed, number in zip(seeds, frontier.holding(seeds), strict=True):
                if number is None:
                    continue
                look_at_clock()
                node = frontier.boxes[number]
                box = seeder.grown(seed, node.lo, node.hi, budget)
                if box is not None:
                    grown.setdefault(number, []).append((float(ground.user.box(box.lo, box.hi).share), box))
        best = {number: max(boxes, key=lambda one: one[0]) for number, boxes in grown.items()}
        found = []
        for number in sorted(best, key=lambda number: -best[number][0])[:most]:
            box = best[number][1]
            inside, around = _taken_out(ground, frontier.boxes.pop(number), box)
            found.append(_found(ground, inside, "biased", box.counterparts))
            self.settled += inside.share
            for one in around:
                frontier.push(one)
        return found

    @property
    def rest(self) -> list[Found]:
        """What is still to be judged, as undecided."""
        return [_found(self.ground, node, "undecided") for node in self.frontier.boxes.values()]


def _found(ground: Ground, node: Open, kind: Kind, counterparts: tuple[Counterpart, ...] = ()) -> Found:
    return Found(
        kind=kind, box=ground.user.box(node.lo, node.hi), share=node.share, counterparts=counterparts
    )


def _judged(ground: Ground, node: Open, budget: Budget) -> Judged:
    """Where some of those who are looked at are treated differently and some are not, there is nothing to prove."""
    lo, hi = node.lo, node.hi
    if ground.space.constraints and excluded(ground.user.box(lo, hi)):
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
    return Judged(kind="undecided", cut=cut)


def _children(ground: Ground, node: Open, cut: Cut) -> Iterator[Open]:
    shares = Cutter(ground).parts(cut, node.lo, node.hi)
    for (lo, hi), share in zip(cut.children(node.lo, node.hi), shares, strict=True):
        yield Open(lo=lo, hi=hi, share=node.share * share)


def _taken_out(ground: Ground, node: Open, grown: Grown) -> tuple[Open, list[Open]]:
    """The grown box and what surrounds it in an open one: the cut that takes off most comes first."""
    cuts, around = list(grown.cuts), []
    while cuts:
        parted = [sorted(_children(ground, node, cut), key=partial(_outside, grown)) for cut in cuts]
        most = max(range(len(cuts)), key=lambda i: parted[i][1].share)
        node, outside = parted[most]
        around.append(outside)
        del cuts[most]
    return node, around


def _outside(grown: Grown, box: Open) -> bool:
    """Whether the grown box, which lies on one side of every cut of its own, is not in this one."""
    return bool((grown.lo < box.lo).any() or (grown.hi > box.hi).any())
