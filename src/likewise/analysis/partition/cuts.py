"""Cuts: where a box that is not decided should be cut in two.

First choice: so that one part, or both, are decided at once, by one bound each; the more of the box's weight the better. Else so that the
individuals who were looked at are told apart by how they are treated, as a decision tree would. Else in the middle of the feature that moves
the score most. Places are tried where the rows of the box are divided evenly, where its codes are, and where scores are known to jump.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.partition.engine import Cut
from likewise.analysis.partition.judge import MANY_VALUES, TREATED_DIFFERENTLY
from likewise.search.frontier import LOWER, UPPER
from likewise.spec.features import Categorical, Ordinal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.partition.changes import Change
    from likewise.analysis.partition.engine import CodeBox, Weights
    from likewise.analysis.partition.judge import BoxJudge, Sample
    from likewise.analysis.partition.translator import Translator

    Floats = NDArray[np.float64]

LEAST_GAIN = 0.005  # of purity, for a cut to be better than one in two
NOT_SEEN = -2
BASE_ROWS = 4  # individuals of a box at which its features are moved


@dataclass(frozen=True, slots=True, kw_only=True)
class CutTrials:
    """How many cuts are tried: of so many features that move the score most, at so many places each."""

    features: int
    places: int


MANY_TRIES = CutTrials(features=64, places=7)  # where a bound is a sum
SOME_TRIES = CutTrials(features=4, places=4)  # of trees
FEW_TRIES = CutTrials(features=2, places=3)  # where bounds take time


def impurity_decrease(sample: Sample, cuts: list[Cut]) -> Floats:
    """By how much each cut lowers the impurity (Gini's) of how those who are looked at are treated."""
    names, places = np.unique(sample.treated, return_inverse=True)
    kinds = np.eye(len(names))[places]
    features = [cut.feature for cut in cuts]
    left = (sample.rows[:, features] <= np.array([cut.at for cut in cuts])).astype(float)
    counts = left.T @ kinds
    others = kinds.sum(axis=0) - counts
    gained: Floats = (
        _weighted_purity(counts) + _weighted_purity(others) - _weighted_purity(kinds.sum(axis=0)[None])
    )
    return gained / max(len(kinds), 1)


def _weighted_purity(counts: Floats) -> Floats:
    """Of groups by the counts of their kinds, weighted with their sizes."""
    total = counts.sum(axis=1)
    purity: Floats = (counts**2).sum(axis=1) / np.maximum(total, 1)
    return purity


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts boxes about one claim, at numbers that are short for the user."""

    judge: BoxJudge
    user: Translator
    weights: Weights

    def spreads(self, lo: Floats, hi: Floats, people: Floats | None = None) -> Floats:
        """For each feature how much scores move with it, at a few individuals of the box."""
        bases = self.judge.drawn(lo, hi, BASE_ROWS)
        if people is not None and len(people):
            bases[-(BASE_ROWS // 2) :] = people[-(BASE_ROWS // 2) :]
        moved = [(k, self._grid(k, lo, hi)) for k in self.judge.cut if lo[k] < hi[k]]
        spread = np.zeros(len(lo))
        if not moved:
            return spread
        blocks = []
        for k, values in moved:
            rows = np.repeat(bases, len(values), axis=0)
            rows[:, k] = np.tile(values, len(bases))
            blocks.append(rows)
        scores, start = self.judge.problem.scored(np.concatenate(blocks)), 0
        for k, values in moved:
            count = len(bases) * len(values)
            block = scores[start : start + count].reshape(len(bases), len(values), -1)
            spread[k] = float((block.max(axis=1) - block.min(axis=1)).max(axis=1).mean())
            start += count
        return spread

    def _grid(self, k: int, lo: Floats, hi: Floats) -> Floats:
        if self.judge.discrete[k] and hi[k] - lo[k] < MANY_VALUES:
            return np.arange(lo[k], hi[k] + 1, dtype=np.float64)
        points: Floats = np.linspace(lo[k], hi[k], 5)
        return np.round(points) if self.judge.discrete[k] else points

    def place(self, box: CodeBox, sample: Sample, *, near: bool = True) -> Cut | None:
        """Where to cut: so that much is decided at once, by bounds, if the box is `near` to that; else so that those who are looked at are told
        apart; else in two. None for a single point."""
        lo, hi = box.lo, box.hi
        can = np.where(self.judge.discrete, hi > lo, self._halfway(lo, hi))
        can &= np.isin(np.arange(len(lo)), self.judge.cut)
        if not can.any():
            return None
        width = (hi - lo) / np.maximum(self.judge.hi - self.judge.lo, 1e-300)
        rank = np.where(can, 1e-12 * (1 + width) + self.spreads(lo, hi, sample.rows), -1.0)
        order = [int(k) for k in np.argsort(-rank, kind="stable") if can[k]]
        effort = self._effort
        if near and len(sample.rows):
            cuts = [
                cut
                for k in order[: effort.features]
                for cut in self._candidate_cuts(k, box, sample, effort.places)
            ]
            gains = self._gains(box, cuts, sample)
            if gains.max(initial=0.0) > 0:
                return cuts[int(gains.argmax())]
        cuts = [cut for k in order for cut in self._candidate_cuts(k, box, sample, MANY_TRIES.places)]
        apart = impurity_decrease(sample, cuts)
        if apart.max(initial=0.0) > LEAST_GAIN:
            return cuts[int(apart.argmax())]
        return self._oracle_cut(order[0], lo, hi)

    @property
    def _effort(self) -> CutTrials:
        if self.judge.sums:
            return MANY_TRIES
        return SOME_TRIES if self.judge.sides.bounder.exact else FEW_TRIES

    def _candidate_cuts(self, k: int, box: CodeBox, sample: Sample, places: int) -> list[Cut]:
        """Cuts of feature k: evenly spaced, at some codes where its score is known to jump, and between those who are looked at."""
        low, high = float(box.lo[k]), float(box.hi[k])
        between = (
            np.quantile(sample.rows[:, k], np.arange(1, places + 1) / (places + 1))
            if len(sample.rows)
            else ()
        )
        at = {*self._jumps(k, low, high, places), *map(float, between)}
        if not self.judge.discrete[k]:
            evenly = (low + (high - low) * i / (places + 1) for i in range(1, places + 1))
            at = {*(self.user.short(k, place, high - low) for place in evenly), *at}
            return [self.sharpen(Cut(k, place), box.hi) for place in sorted(at) if low < place < high]
        count = int(high - low)
        steps = (
            {round(count * i / (places + 1)) for i in range(1, places + 1)}
            if count > places
            else {*range(count)}
        )
        steps |= {int(np.floor(place - low)) for place in at}
        return [Cut(k, low + step, low + step + 1) for step in sorted(steps) if 0 <= step < count]

    def _jumps(self, k: int, low: float, high: float, most: int) -> list[float]:
        """Codes of the box that the oracle has marked for feature k."""
        marks = self.judge.problem.marks.get(k)
        if marks is None:
            return []
        inside = marks[(marks > low) & (marks < high)]
        return [float(mark) for mark in inside[:: max(1, len(inside) // most)]]

    def sharpen(self, cut: Cut, hi: Floats) -> Cut:
        """A cut of a continuous number, between two doubles where the score jumps. Not of one that the model sees through a function: there
        are numbers between those that two neighbouring values belong to."""
        if cut.feature in self.user.bent:
            return cut
        after = self.judge.sides.bounder.after(cut.feature, cut.at)
        return cut if after is None or after > hi[cut.feature] else replace(cut, after=after)

    def _oracle_cut(self, k: int, lo: Floats, hi: Floats) -> Cut:
        """The cut of feature k that the oracle would make; levels where their scores are furthest apart."""
        if isinstance(self.judge.over[self.judge.over.names[k]], (Categorical, Ordinal)):
            at = self._gap(k, lo, hi)
            return Cut(k, at, at + 1)
        loss = np.zeros((1, len(lo)))
        loss[0, k] = 1.0
        variable, cut = self.judge.sides.bounder.branch(lo[None], hi[None], loss, None)
        at = float(cut[0]) if int(variable[0]) == k else float(self.judge.middle(lo, hi)[k])
        if self.judge.discrete[k]:
            at = min(at, float(hi[k]) - 1)
            return Cut(k, at, at + 1)
        sharp, short = self.sharpen(Cut(k, at), hi), self.user.short(k, at, float(hi[k] - lo[k]))
        return Cut(k, short) if sharp.after is None and lo[k] < short < hi[k] else sharp

    def _gains(self, box: CodeBox, cuts: Sequence[Cut], sample: Sample) -> Floats:
        """For each cut the part of the box's weight that its parts decide at once, by bounds. A part is put to the bound that decides those who
        are looked at in it, if that is one."""
        if not cuts or not self.judge.asks_decisions:
            return np.zeros(len(cuts))
        children = [child for cut in cuts for child in cut.children(box.lo, box.hi)]
        seen = self._seen(children, sample)
        decided = np.zeros(len(children), dtype=bool)
        for kind, lean in ((1, UPPER), (0, LOWER)):
            some = np.flatnonzero(seen == kind)
            if len(some):
                reached = [self.judge.reached(*children[i]) for i in some]
                decided[some] = self.judge.bound_decisions(reached, lean)[0]
        some = np.flatnonzero(seen == TREATED_DIFFERENTLY)
        best = self.judge.best_changes(box.lo, box.hi) if len(some) else None
        if best is not None:
            decided[some] = self._are_biased([children[i] for i in some], best)
        left = self.weights.left(box, cuts)
        gains: Floats = (decided.reshape(len(cuts), 2) * np.stack([left, 1 - left], axis=1)).sum(axis=1)
        return gains

    def _seen(self, boxes: Sequence[tuple[Floats, Floats]], sample: Sample) -> NDArray[np.intp]:
        """For each box how all those of the sample who are in it are treated; NOT_SEEN where there are several kinds, or nobody."""
        lo, hi = np.stack([lo for lo, _ in boxes]), np.stack([hi for _, hi in boxes])
        inside: NDArray[np.bool_] = np.all(
            (lo[:, None] <= sample.rows) & (sample.rows <= hi[:, None]), axis=2
        )
        kinds = np.unique(sample.treated)
        there = np.stack([inside[:, sample.treated == kind].any(axis=1) for kind in kinds], axis=1)
        alone = there.sum(axis=1) == 1
        return np.where(alone, kinds[there.argmax(axis=1)], NOT_SEEN)

    def _are_biased(
        self, boxes: list[tuple[Floats, Floats]], best: tuple[Change, Change]
    ) -> NDArray[np.bool_]:
        up, down = ([change.applied(lo, hi, self.judge.discrete) for lo, hi in boxes] for change in best)
        return self.judge.bound_decisions(up, UPPER)[0] & self.judge.bound_decisions(down, LOWER)[0]

    def _halfway(self, lo: Floats, hi: Floats) -> NDArray[np.bool_]:
        middle = lo + (hi - lo) / 2
        inside: NDArray[np.bool_] = (middle > lo) & (middle < hi)
        return inside

    def _gap(self, k: int, lo: Floats, hi: Floats) -> float:
        """Between the two levels, in their order, whose scores are furthest apart."""
        values = np.arange(lo[k], hi[k] + 1)
        rows = np.repeat(self.judge.middle(lo, hi)[None], len(values), axis=0)
        rows[:, k] = values
        apart = np.abs(np.diff(self.judge.problem.scored(rows).reshape(len(rows), -1), axis=0))
        return float(values[int(apart.max(axis=1).argmax())])
