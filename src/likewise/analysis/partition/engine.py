"""The partition: boxes of individuals, the heaviest first, that are judged, and cut in two where they are not decided.

A box is an interval of codes in every feature; those in which similar individuals may differ freely are never cut, since whoever is in a box
may be changed in them and stays in it. It has a *mass* under each of some measures. A cut divides them among its two parts, and they add up to
exactly the mass of the box: so those of all boxes add up to one, whatever is cut. Who is on a cut belongs to the left part.

`judge` says of a box:

    empty   constraints exclude everybody in it
    fair    nobody in it is in a pair that breaks the property
    biased  everybody in it has a similar one who is treated differently: two changes (`changes`) of everybody lead to different decisions
    counted its individuals were looked at one by one
    open    none of these, with the cut to go on with; without one nothing more can be said of it

What that rests on is the judge's own: `regions` takes proposals of float64 and proves what it reports by certificates, merged boxes at a time;
`share_bracket` counts a mass only where it is proved at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from likewise.clock import OutOfTime
from likewise.search.checkpoint import SavedArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.partition.changes import Change
    from likewise.search.budget import Budget

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

BoxKind = Literal["empty", "fair", "biased", "counted", "open"]


@dataclass(frozen=True, slots=True)
class Cut:
    """Of one feature: the left part ends at `at`, the right one starts at `after`, or at `at` as well."""

    feature: int
    at: float
    after: float | None = None

    def children(self, lo: Floats, hi: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Both parts of an interval of codes."""
        left_hi, right_lo = hi.copy(), lo.copy()
        left_hi[self.feature] = self.at
        right_lo[self.feature] = self.at if self.after is None else self.after
        return (lo, left_hi), (right_lo, hi)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxCount:
    """Masses, under the first measure, of individuals of a box who are known to be biased and to be fair, and the feature to cut to know more."""

    biased: Fraction
    fair: Fraction
    feature: int | None = None

    @property
    def mass(self) -> Fraction:
        """Of all who are known."""
        return self.biased + self.fair


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodeBox:
    """A box of individuals: codes from `lo` to `hi`, the left end belonging to a neighbour where it is `open_left`; its mass under each
    measure, and the numbers of the data's rows in it. `fair` where that is proved already, and it is cut on to learn who is in it; `count` where
    some of them are known to be biased or fair, but not who."""

    lo: Floats
    hi: Floats
    open_left: Flags
    masses: tuple[Fraction, ...]
    rows: NDArray[np.intp]
    fair: bool = False
    count: BoxCount | None = None

    @property
    def mass(self) -> Fraction:
        """Under the first measure."""
        return self.masses[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedBox:
    """A box as a checkpoint has it: the same in plain values."""

    lo: SavedArray
    hi: SavedArray
    open_left: SavedArray
    masses: tuple[Fraction, ...]
    rows: SavedArray
    fair: bool
    count: BoxCount | None

    @classmethod
    def of(cls, box: CodeBox) -> SavedBox:
        arrays = {name: SavedArray.of(getattr(box, name)) for name in ("lo", "hi", "open_left", "rows")}
        return cls(**arrays, masses=box.masses, fair=box.fair, count=box.count)

    @property
    def box(self) -> CodeBox:
        return CodeBox(
            lo=self.lo.array,
            hi=self.hi.array,
            open_left=self.open_left.array,
            masses=self.masses,
            rows=self.rows.array,
            fair=self.fair,
            count=self.count,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxVerdict:
    """What is said of a box; the changes of a biased one lead to the upper and to the lower decision. Of a counted box the masses, under the first
    measure, of its biased and of its fair individuals, and of those whom constraints exclude."""

    kind: BoxKind
    changes: tuple[Change, ...] = ()
    cut: Cut | None = None
    parts: tuple[CodeBox, ...] | None = None  # of the cut that are left to be judged, where that is known
    counted: tuple[Fraction, Fraction, Fraction] = (Fraction(0), Fraction(0), Fraction(0))
    proved_fair: bool = False  # of an open one, for all that come out of it


class BoxMeasure(Protocol):
    """A measure of individuals, as boxes are cut."""

    def left(self, box: CodeBox, cut: Cut) -> Fraction:
        """The part of a box's mass that is left of a cut, between 0 and 1."""


class Judge(Protocol):
    """What a use of the partition has to say of boxes, one after another."""

    def __call__(self, boxes: Sequence[CodeBox]) -> Iterator[BoxVerdict]:
        """A verdict a box, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much a box matters: a sum of its masses, each with its weight. None is 0, so that no box is forgotten."""

    measures: tuple[BoxMeasure, ...]
    weights: tuple[float, ...]

    def of(self, box: CodeBox) -> float:
        """Of a box; who is counted already does not matter."""
        whole = sum(w * float(mass) for w, mass in zip(self.weights, box.masses, strict=True))
        return whole if box.count is None else whole - self.weights[0] * float(box.count.mass)

    def left(self, box: CodeBox, cuts: Sequence[Cut]) -> Floats:
        """The part of a box's weight that is left of each cut."""
        whole = self.of(box)
        if not whole:
            return np.full(len(cuts), 0.5)
        found = np.zeros(len(cuts))
        for w, measure, mass in zip(self.weights, self.measures, box.masses, strict=True):
            if mass:
                found += w * float(mass) * np.array([float(measure.left(box, cut)) for cut in cuts])
        return found / whole


class Partition:
    """The open boxes of a partition, the heaviest first."""

    def __init__(self, lo: Floats, hi: Floats, weights: Weights, rows: Floats) -> None:
        """`rows` are the data's, in codes."""
        self.weights, self.rows = weights, rows
        self.boxes: dict[int, CodeBox] = {}
        self._queue: list[tuple[float, int]] = []
        self._count = 0
        self.push(
            CodeBox(
                lo=lo.copy(),
                hi=hi.copy(),
                open_left=np.zeros(len(lo), dtype=bool),
                masses=tuple(Fraction(1) for _ in weights.measures),
                rows=np.arange(len(rows)),
            )
        )

    def push(self, box: CodeBox) -> None:
        """Leave a box to be judged."""
        self._count += 1
        self.boxes[self._count] = box
        heapq.heappush(self._queue, (-self.weights.of(box), self._count))

    def pop(self) -> CodeBox:
        """Take out the heaviest box."""
        while True:
            number = heapq.heappop(self._queue)[-1]
            if number in self.boxes:
                return self.boxes.pop(number)

    def divided(self, box: CodeBox, cut: Cut) -> tuple[CodeBox, CodeBox]:
        """Both parts of a box."""
        k = cut.feature
        (_, left_hi), (right_lo, _) = cut.children(box.lo, box.hi)
        lefts = tuple(
            mass * measure.left(box, cut) if mass else mass
            for mass, measure in zip(box.masses, self.weights.measures, strict=True)
        )
        rights = tuple(mass - left for mass, left in zip(box.masses, lefts, strict=True))
        right_open = box.open_left.copy()
        right_open[k] = cut.after is None
        there = self.rows[box.rows, k] <= cut.at
        return (
            replace(box, hi=left_hi, masses=lefts, rows=box.rows[there]),
            replace(box, lo=right_lo, open_left=right_open, masses=rights, rows=box.rows[~there]),
        )

    def step(self, judge: Judge, budget: Budget, count: int = 1) -> list[tuple[CodeBox, BoxVerdict]]:
        """Judge the heaviest boxes: those that are not cut, with what is said of them. What there is no time for stays open."""
        batch = [self.pop() for _ in range(min(count, len(self.boxes)))]
        decided, done = [], 0
        with suppress(OutOfTime), budget.watched():
            for box, verdict in zip(batch, judge(batch), strict=True):
                done += 1
                if verdict.cut is None:
                    decided.append((box, verdict))
                    continue
                parts = verdict.parts
                if parts is None:
                    parts = self.divided(replace(box, fair=box.fair or verdict.proved_fair), verdict.cut)
                for part in parts:
                    if any(part.masses):
                        self.push(part)
        for box in batch[done:]:
            self.push(box)
        return decided

    def restore(self, boxes: Sequence[SavedBox]) -> None:
        """Go on from these boxes instead."""
        self.boxes.clear()
        self._queue.clear()
        for box in boxes:
            self.push(box.box)

    def boxes_holding(self, rows: Floats) -> list[int | None]:
        """For each of some individuals the number of an open box that it lies in."""
        numbers = list(self.boxes)
        lo = np.stack([box.lo for box in self.boxes.values()])
        hi = np.stack([box.hi for box in self.boxes.values()])
        inside = [np.flatnonzero(((lo <= row) & (row <= hi)).all(axis=1)) for row in rows]
        return [numbers[int(places[0])] if len(places) else None for places in inside]
