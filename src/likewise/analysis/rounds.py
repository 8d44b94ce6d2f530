"""Rounds: a partition is explored, biased boxes are grown, what was found is merged and proved; again and again until the time is over.

Merged pieces are proved largest first, biased ones in turn with the others. What is not proved, or comes after there are enough boxes of
its kind, is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import zip_longest

import numpy as np

from likewise.analysis.absorbing import absorbed
from likewise.analysis.cutting import Cutter
from likewise.analysis.exploring import Exploration, Kind
from likewise.analysis.ground import Ground
from likewise.analysis.merging import Piece, merged, pieces_of
from likewise.analysis.region_result import Region, Regions, region_of
from likewise.analysis.settling import Settler, slice_of
from likewise.clock import OutOfTime
from likewise.progress import Listener, Snapshot

EXPLORING = 0.25  # of the time that is left, in every round
GROWING = 0.1  # the same of biased boxes; the rest is for proofs
MOST_GROWN = 24  # boxes that are grown around individuals who are treated differently
LAST = 0.05  # of the budget: less is not worth another round
MOST_BOXES = 20_000


class Partition:
    """A partition in the making: rounds of exploring, growing and proving, until the budget is over or there are enough boxes."""

    def __init__(self, ground: Ground, settler: Settler, listener: Listener, max_boxes: int | None) -> None:
        self.ground, self.settler, self.listener = ground, settler, listener
        self.most = math.inf if max_boxes is None else max_boxes
        self.exploration = Exploration(ground)
        self.order = list(range(len(ground.lo)))
        with suppress(OutOfTime), settler.budget.watched():
            spreads = Cutter(ground).spreads(ground.lo, ground.hi)
            self.order = [int(k) for k in np.argsort(spreads, kind="stable")]
        self.proved: dict[Kind, list[Region]] = {"fair": [], "biased": []}
        self.empty: list[Piece] = []
        self.left: list[Piece] = []
        self.boxes = self.grown = 0

    def run(self) -> Regions:
        """All rounds."""
        budget = self.settler.budget
        while self._goes_on:
            remaining = budget.seconds - budget.elapsed
            found = self.exploration.run(
                slice_of(budget, EXPLORING * remaining),
                self.listener,
                most=int(min(4 * self.most, MOST_BOXES)),
            )
            grown = self.exploration.seeded(
                slice_of(budget, GROWING * remaining), most=int(min(self.most, MOST_GROWN)) - self.grown
            )
            self.boxes += len(found) + len(grown)
            self.grown += len(grown)
            for piece in taking_turns(few_of(pieces_of([*found, *grown]), self.order)):
                self._take(piece)
        self.left += pieces_of(self.exploration.rest)
        return Regions(
            fair=sorted(self.proved["fair"], key=_largest_first),
            biased=sorted(self.proved["biased"], key=_largest_first),
            undecided=[region_of(piece, ()) for piece in few_of(self.left, self.order)],
            empty=[region_of(piece, ()) for piece in few_of(self.empty, self.order)],
            reason=self._reason(),
            stats={
                **budget.stats,
                "boxes": self.boxes + len(self.exploration.frontier.boxes),
            },
        )

    @property
    def _goes_on(self) -> bool:
        budget = self.settler.budget
        return (
            bool(self.exploration.frontier.boxes)
            and budget.seconds - budget.elapsed > LAST * budget.seconds
            and not budget.over
            and len(self.proved["fair"]) < self.most
        )

    def _take(self, piece: Piece) -> None:
        """Put what can be proved of a piece with the regions that are, and the rest with what is left."""
        if piece.kind not in self.proved:
            (self.empty if piece.kind == "empty" else self.left).append(piece)
            return
        proved = self.proved[piece.kind]
        if len(proved) >= self.most:
            self.left.append(undecided(piece))
            return
        for part, certificates in self.settler.settled(piece):
            if certificates and len(proved) < self.most:
                proved.append(region_of(part, certificates))
            else:
                self.left.append(undecided(part))
        self.listener(
            Snapshot(
                stage="proving regions",
                seconds=self.settler.budget.elapsed,
                closed=sum(map(len, self.proved.values())),
                open=len(self.left),
            )
        )

    def _reason(self) -> str | None:
        """Why the partition is not what it could be."""
        budget = self.settler.budget
        if budget.over:
            return budget.reason
        if any(len(proved) >= self.most for proved in self.proved.values()) and self.left:
            return f"there are no more than {self.most} boxes of a kind (max_boxes)"
        return f"the budget of {budget.seconds:g} s is used up" if self.exploration.frontier.boxes else None


def few_of(pieces: Sequence[Piece], order: Sequence[int]) -> list[Piece]:
    """Fewer, larger pieces, the largest first: merged, and small ones divided among others, as long as there get fewer."""
    current = merged(pieces, order)
    while True:
        fewer = merged(absorbed(current), order)
        if len(fewer) == len(current):
            return fewer
        current = fewer


def taking_turns(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """A biased one after each of the others: biased boxes are small, and would never have their turn."""
    biased = [piece for piece in pieces if piece.kind == "biased"]
    others = [piece for piece in pieces if piece.kind != "biased"]
    for pair in zip_longest(others, biased):
        yield from (piece for piece in pair if piece is not None)


def undecided(piece: Piece) -> Piece:
    """The piece, of which nothing is said."""
    return Piece(kind="undecided", box=piece.box, share=piece.share)


def _largest_first(region: Region) -> tuple[Fraction, str]:
    return -region.measure, region.rule
