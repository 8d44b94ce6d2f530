"""Exploring: a partition of the space into boxes that look fair, biased or neither, by branch and bound.

Boxes are over what an individual has: features that are `free` are never cut, since whoever is in a box may be changed in them and
stays in it. The largest box is taken first and gets the first kind that fits:

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
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from likewise.analysis.counterparts import Counterpart, excluded
from likewise.analysis.cutting import Cut, Cutter
from likewise.analysis.ground import Ground
from likewise.progress import Listener, Snapshot
from likewise.search.portfolio import independence
from likewise.spec.boxes import Box

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.search.budget import Budget

    Floats = NDArray[np.float64]

Kind = Literal["fair", "biased", "undecided", "empty"]

LEAST_MEASURE = 1e-7  # smaller boxes are not cut any further


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A box of the partition with its share of the space, and the counterparts that make it biased: upper, lower."""

    kind: Kind
    box: Box
    share: Fraction
    counterparts: tuple[Counterpart, ...] = ()


@dataclass(order=True, slots=True)
class _Open:
    rank: float
    number: int
    lo: Floats = field(compare=False)
    hi: Floats = field(compare=False)
    share: Fraction = field(compare=False)


def explore(ground: Ground, budget: Budget, listener: Listener, *, most: int) -> list[Found]:
    """The partition reached within the budget, or with `most` boxes that are settled."""
    if independence(ground.problem) is not None:
        return [Found(kind="fair", box=ground.box(ground.lo, ground.hi), share=Fraction(1))]
    found: list[Found] = []
    waiting = [_Open(-1.0, 0, ground.lo.copy(), ground.hi.copy(), Fraction(1))]
    number, settled = 1, Fraction(0)
    while waiting and not budget.over and len(found) < most:
        node = heapq.heappop(waiting)
        kind, counterparts, cut = _judged(ground, node, budget)
        if cut is None:
            found.append(
                Found(
                    kind=kind, box=ground.box(node.lo, node.hi), share=node.share, counterparts=counterparts
                )
            )
            settled += node.share
        else:
            for child in _children(ground, node, cut, number):
                heapq.heappush(waiting, child)
            number += 2
        listener(
            Snapshot(
                stage="looking for regions",
                seconds=budget.elapsed,
                closed=len(found),
                open=len(waiting),
                share=float(settled),
            )
        )
    found += [Found(kind="undecided", box=ground.box(node.lo, node.hi), share=node.share) for node in waiting]
    return found


def _judged(ground: Ground, node: _Open, budget: Budget) -> tuple[Kind, tuple[Counterpart, ...], Cut | None]:
    """What a box is, and where to cut it if it is undecided. Where some of those who are looked at are treated differently and some are
    not, there is nothing to prove."""
    lo, hi = node.lo, node.hi
    if ground.space.constraints and excluded(ground.box(lo, hi)):
        return "empty", (), None
    looked = ground.looked_at(lo, hi)
    if len(looked.rows) and looked.differently.all():
        found = ground.counterparts(lo, hi, budget)
        if found:
            return "biased", found, None
        if not ground.asks_decisions:
            return "undecided", (), None
    if not looked.differently.any() and ground.looks_fair(lo, hi, looked, budget):
        return "fair", (), None
    return "undecided", (), Cutter(ground).place(lo, hi, looked) if node.share > LEAST_MEASURE else None


def _children(ground: Ground, node: _Open, cut: Cut, number: int) -> Iterator[_Open]:
    shares = Cutter(ground).parts(cut, node.lo, node.hi)
    for n, ((lo, hi), share) in enumerate(zip(cut.children(node.lo, node.hi), shares, strict=True)):
        measure = node.share * share
        yield _Open(-float(measure), number + n, lo, hi, measure)
