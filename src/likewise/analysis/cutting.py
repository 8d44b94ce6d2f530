"""Cutting: where a box that is not decided should be cut in two.

First choice: so that one part, or both, are decided at once, by one bound each; the more of the box the better. Else so that the individuals
who were looked at are told apart by how they are treated, as a decision tree would. Else in the middle of the feature that moves the
score most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.ground import DIFFERENTLY, MANY_VALUES, Ground, Looked
from likewise.families.affine.oracle import SeparableOracle
from likewise.search.sided import LOWER, UPPER
from likewise.spec.features import Categorical, Ordinal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.counterparts import Change

    Floats = NDArray[np.float64]

LEAST_GAIN = 0.005  # of purity, for a cut to be better than one in two
BASES = 4  # individuals of a box at which its features are moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Tries:
    """How many cuts are tried: of so many features that move the score most, at so many places each."""

    features: int
    places: int


MANY_TRIES = Tries(features=64, places=7)  # where a bound is a sum
SOME_TRIES = Tries(features=4, places=4)  # of trees
FEW_TRIES = Tries(features=2, places=3)  # where bounds take time


@dataclass(frozen=True, slots=True)
class Cut:
    """Of one feature: the left part ends at `at`, the right one starts at `after`, or at `at` as well."""

    feature: int
    at: float
    after: float | None = None

    def children(self, lo: Floats, hi: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        left_hi, right_lo = hi.copy(), lo.copy()
        left_hi[self.feature] = self.at
        right_lo[self.feature] = self.at if self.after is None else self.after
        return (lo, left_hi), (right_lo, hi)


def told_apart(looked: Looked, cuts: list[Cut]) -> Floats:
    """By how much each cut lowers the impurity (Gini's) of how those who are looked at are treated."""
    kinds = np.eye(DIFFERENTLY + 1)[looked.treated]
    features = [cut.feature for cut in cuts]
    left = (looked.rows[:, features] <= np.array([cut.at for cut in cuts])).astype(float)
    counts = left.T @ kinds
    others = kinds.sum(axis=0) - counts
    gained: Floats = _purity(counts) + _purity(others) - _purity(kinds.sum(axis=0)[None])
    return gained / max(len(kinds), 1)


def _purity(counts: Floats) -> Floats:
    """Of groups by the counts of their kinds, weighted with their sizes."""
    total = counts.sum(axis=1)
    purity: Floats = (counts**2).sum(axis=1) / np.maximum(total, 1)
    return purity


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts boxes of one ground."""

    ground: Ground

    def spreads(self, lo: Floats, hi: Floats) -> Floats:
        """For each feature how much scores move with it, at a few individuals of the box."""
        bases = [self.ground.middle(lo, hi)]
        for _ in range(BASES - 1):
            point = lo + self.ground.random.random(len(lo)) * (hi - lo)
            bases.append(np.clip(np.where(self.ground.discrete, np.round(point), point), lo, hi))
        moved = [(k, self._grid(k, lo, hi)) for k in self.ground.cut if lo[k] < hi[k]]
        spread = np.zeros(len(lo))
        if not moved:
            return spread
        blocks = []
        for k, values in moved:
            rows = np.repeat(np.stack(bases), len(values), axis=0)
            rows[:, k] = np.tile(values, len(bases))
            blocks.append(rows)
        scores, start = self.ground.problem.scored(np.concatenate(blocks)), 0
        for k, values in moved:
            block = scores[start : start + len(bases) * len(values)].reshape(len(bases), len(values))
            spread[k] = float((block.max(axis=1) - block.min(axis=1)).mean())
            start += block.size
        return spread

    def _grid(self, k: int, lo: Floats, hi: Floats) -> Floats:
        if self.ground.discrete[k] and hi[k] - lo[k] < MANY_VALUES:
            return np.arange(lo[k], hi[k] + 1, dtype=np.float64)
        points: Floats = np.linspace(lo[k], hi[k], 5)
        return np.round(points) if self.ground.discrete[k] else points

    def place(self, lo: Floats, hi: Floats, looked: Looked) -> Cut | None:
        """Where to cut: so that much is decided at once, by bounds; else so that those who are looked at are told apart; else
        in two. None for a single point."""
        can = np.where(self.ground.discrete, hi > lo, self._halfway(lo, hi))
        can &= np.isin(np.arange(len(lo)), self.ground.cut)
        if not can.any():
            return None
        width = (hi - lo) / np.maximum(self.ground.hi - self.ground.lo, 1e-300)
        rank = np.where(can, 1e-12 * (1 + width) + self.spreads(lo, hi), -1.0)
        order = [int(k) for k in np.argsort(-rank, kind="stable") if can[k]]
        effort = self._effort
        cuts = [cut for k in order[: effort.features] for cut in self._cuts(k, lo, hi, effort.places)]
        gains = self._gains(lo, hi, cuts)
        if gains.max(initial=0.0) > 0:
            return cuts[int(gains.argmax())]
        cuts = [cut for k in order for cut in self._cuts(k, lo, hi, MANY_TRIES.places)]
        apart = told_apart(looked, cuts)
        if apart.max(initial=0.0) > LEAST_GAIN:
            return cuts[int(apart.argmax())]
        return self._in_two(order[0], lo, hi)

    @property
    def _effort(self) -> Tries:
        oracle = self.ground.sides.oracle
        if isinstance(oracle, SeparableOracle):
            return MANY_TRIES
        return SOME_TRIES if oracle.exact else FEW_TRIES

    def _cuts(self, k: int, lo: Floats, hi: Floats, places: int) -> list[Cut]:
        """Evenly spaced cuts of feature k, and cuts at some codes where its score is known to jump."""
        jumps = self._jumps(k, lo, hi, places)
        if not self.ground.discrete[k]:
            evenly = [
                self.ground.user.short(
                    k, float(lo[k] + (hi[k] - lo[k]) * i / (places + 1)), float(hi[k] - lo[k])
                )
                for i in range(1, places + 1)
            ]
            return [self.sharp(Cut(k, at), hi) for at in (*jumps, *evenly) if lo[k] < at < hi[k]]
        count = int(hi[k] - lo[k])
        steps = (
            {round(count * i / (places + 1)) for i in range(1, places + 1)}
            if count > places
            else {*range(count)}
        )
        steps |= {int(np.floor(at - lo[k])) for at in jumps}
        return [
            Cut(k, float(lo[k]) + step, float(lo[k]) + step + 1) for step in sorted(steps) if step < count
        ]

    def _jumps(self, k: int, lo: Floats, hi: Floats, most: int) -> list[float]:
        """Codes of the box that the oracle has marked for feature k."""
        marks = self.ground.problem.marks.get(k)
        if marks is None:
            return []
        inside = marks[(marks > lo[k]) & (marks < hi[k])]
        return [float(mark) for mark in inside[:: max(1, len(inside) // most)]]

    def sharp(self, cut: Cut, hi: Floats) -> Cut:
        """A cut of a continuous number, between two doubles where the score jumps. Not of one that the model sees through a function: there
        are numbers between those that two neighbouring values belong to."""
        if cut.feature in self.ground.user.bent:
            return cut
        after = self.ground.sides.oracle.after(cut.feature, cut.at)
        return cut if after is None or after > hi[cut.feature] else replace(cut, after=after)

    def _in_two(self, k: int, lo: Floats, hi: Floats) -> Cut:
        """The cut of feature k that the oracle would make; levels where their scores are furthest apart."""
        if isinstance(self.ground.over[self.ground.over.names[k]], (Categorical, Ordinal)):
            at = self._gap(k, lo, hi)
            return Cut(k, at, at + 1)
        loss = np.zeros((1, len(lo)))
        loss[0, k] = 1.0
        variable, cut = self.ground.sides.oracle.branch(lo[None], hi[None], loss, None)
        at = float(cut[0]) if int(variable[0]) == k else float(self.ground.middle(lo, hi)[k])
        if self.ground.discrete[k]:
            at = min(at, float(hi[k]) - 1)
            return Cut(k, at, at + 1)
        sharp, short = self.sharp(Cut(k, at), hi), self.ground.user.short(k, at, float(hi[k] - lo[k]))
        return Cut(k, short) if sharp.after is None and lo[k] < short < hi[k] else sharp

    def _gains(self, lo: Floats, hi: Floats, cuts: list[Cut]) -> Floats:
        """For each cut the share of the box that its parts decide at once, by bounds."""
        if not cuts:
            return np.zeros(0)
        children = [child for cut in cuts for child in cut.children(lo, hi)]
        decided = self._uniform(children)
        best = self.ground.best_changes(lo, hi) if self.ground.asks_decisions else None
        if best is not None:
            decided |= self._biased(children, best)
        width = hi - lo + self.ground.discrete
        features = np.repeat([cut.feature for cut in cuts], 2)
        parts = np.array([high - low + self.ground.discrete for low, high in children])
        volume = (parts / np.where(width > 0, width, 1))[np.arange(len(children)), features]
        gains: Floats = (decided * volume).reshape(len(cuts), 2).sum(axis=1)
        return gains

    def _uniform(self, boxes: list[tuple[Floats, Floats]]) -> NDArray[np.bool_]:
        """Whether everybody similar to somebody in a box gets one decision: fair, whatever the pairs."""
        if not self.ground.asks_decisions:
            return np.zeros(len(boxes), dtype=bool)
        reached = [self.ground.reached(lo, hi) for lo, hi in boxes]
        return self._sure(reached, UPPER) | self._sure(reached, LOWER)

    def _biased(self, boxes: list[tuple[Floats, Floats]], best: tuple[Change, Change]) -> NDArray[np.bool_]:
        up, down = ([change.applied(lo, hi, self.ground.discrete) for lo, hi in boxes] for change in best)
        return self._sure(up, UPPER) & self._sure(down, LOWER)

    def _sure(self, boxes: list[tuple[Floats, Floats]], lean: int) -> NDArray[np.bool_]:
        """Whether everybody in a box gets the decision of `lean`, by one bound each."""
        lo, hi = np.stack([lo for lo, _ in boxes]), np.stack([hi for _, hi in boxes])
        leans = np.full(len(lo), float(lean))
        bounds = self.ground.sides.oracle.bound(lo, hi, leans, np.zeros(len(lo)))
        sure: NDArray[np.bool_] = bounds.upper < -bounds.noise if bounds.closes is None else bounds.closes
        return sure

    def parts(self, cut: Cut, lo: Floats, hi: Floats) -> tuple[Fraction, Fraction]:
        """The shares of a box that the parts of a cut have: they add up to one, whatever lies between its two sides."""
        k, ground = cut.feature, self.ground
        if ground.discrete[k]:
            low, high = int(lo[k]), int(hi[k])
            left = Fraction(int(cut.at) - low + 1, high - low + 1)
        else:
            first, at, last = (
                Fraction(ground.user.number(k, float(code))) for code in (lo[k], cut.at, hi[k])
            )
            left = (at - first) / (last - first) if first != last else Fraction(0)
        return left, 1 - left

    def _halfway(self, lo: Floats, hi: Floats) -> NDArray[np.bool_]:
        middle = lo + (hi - lo) / 2
        inside: NDArray[np.bool_] = (middle > lo) & (middle < hi)
        return inside

    def _gap(self, k: int, lo: Floats, hi: Floats) -> float:
        """Between the two levels, in their order, whose scores are furthest apart."""
        values = np.arange(lo[k], hi[k] + 1)
        rows = np.repeat(self.ground.middle(lo, hi)[None], len(values), axis=0)
        rows[:, k] = values
        return float(values[int(np.abs(np.diff(self.ground.problem.scored(rows))).argmax())])
