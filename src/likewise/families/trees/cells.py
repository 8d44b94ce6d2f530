"""Cells of trees: those of the search as boxes of indices, whatever is remembered of each (`bounder`, `softmax`).

Elements, boxes and cuts are the same for a line of one score and for log odds; what is kept about a cell, and how it is bounded by that, is not. A pair in a box is one that satisfies the relations, and the constraints where it is easy.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from likewise.cells.leaf import Clearance, Leaf
from likewise.cells.projection import project_point
from likewise.families.oracle import Bounds, MemoryBounder, Proposal
from likewise.families.trees.axes import BY_REACH, Axes, Axis
from likewise.families.trees.body import TreeScore, stump
from likewise.families.trees.elements import Elements
from likewise.families.trees.ensemble_elements import EnsembleElements
from likewise.families.trees.exact import ExactValues
from likewise.families.trees.overlap import CLOSED, HIGH, LOW, MISSING, tighten
from likewise.families.trees.ranking import Ranking
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.witness_set import WitnessSet
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Range = tuple[float, float]
    Box = NDArray[np.int32]


def pick_pair(
    pairs: PairSpace, features: list[Axis], axes: Axes, box: NDArray[np.int32], allowed: NDArray[np.bool_]
) -> Floats:
    """A point of pair space in the box; `allowed` positions bind variables with sets."""
    ranges = [_code_range(features[axes.feature[v]], axes, box, allowed, v) for v in range(box.shape[1])]
    point = np.array([float(v.lo) for v in pairs.variables])
    for v, codes in enumerate(ranges):
        point[v] = codes[0]
    for v in axes.joined.tolist():
        w = int(axes.partner[v])
        if axes.way[v] == BY_REACH:
            least, most = pairs.relations[axes.feature[v]].reach
            point[v], point[w] = _nearest_codes(ranges[v], ranges[w], min(max(0.0, least), most))
        else:
            point[v], point[w] = _related_positions(axes, box, allowed, v, w)
    if pairs.constraints:
        project_point(pairs, ranges, point)
    return point


def box_limits(
    features: list[Axis], axes: Axes, box: NDArray[np.int32], allowed: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """First and last codes of all variables in the box; of a variable with sets one position."""
    ranges = [_code_range(features[axes.feature[v]], axes, box, allowed, v) for v in range(box.shape[1])]
    return np.array([first for first, _ in ranges]), np.array([last for _, last in ranges])


def _code_range(axis: Axis, axes: Axes, box: NDArray[np.int32], allowed: NDArray[np.bool_], v: int) -> Range:
    """First and last code of a variable in the box."""
    low, high = int(box[LOW, v]), int(box[HIGH, v])
    if axes.sets[v]:
        inside = [p for p in range(low, high + 1) if allowed[v, p]]
        return float(inside[0]), float(inside[0])
    if low > high:
        return axis.first[axis.missing], axis.last[axis.missing]
    return axis.first[low], axis.last[high]


def _nearest_codes(here: Range, there: Range, apart: float) -> Range:
    """Codes of two ranges whose difference is as near to a number as it can be."""
    if here[1] + apart < there[0]:
        return here[1], there[0]
    if there[1] < here[0] + apart:
        return here[0], there[1]
    if here[0] + apart >= there[0]:
        return here[0], min(here[0] + apart, there[1])
    return max(here[0], min(there[0] - apart, here[1])), there[0]


def _related_positions(
    axes: Axes, box: NDArray[np.int32], allowed: NDArray[np.bool_], v: int, w: int
) -> Range:
    """Positions that may stand beside each other."""
    size, at = int(axes.size[v]), int(axes.offset[v])
    for p in range(box[LOW, v], box[HIGH, v] + 1):
        for q in range(box[LOW, w], box[HIGH, w] + 1):
            open_to_both = (not axes.sets[v] or allowed[v, p]) and (not axes.sets[w] or allowed[w, q])
            if open_to_both and axes.beside[at + p * size + q]:
                return float(p), float(q)
    return float(box[LOW, v]), float(box[LOW, w])


LEAN_STEPS = 64  # the grid of leans
Known = TypeVar("Known")  # what is kept about a cell


class TreeCells(MemoryBounder, Generic[Known]):
    """Cells of the pairs of a space as an ensemble sees them; `other` is the score of x' where it is not that of x."""

    exact = True

    def __init__(
        self,
        score: TreeScore,
        pairs: PairSpace,
        other: TreeScore | None = None,
        ground: EnsembleElements | None = None,
    ) -> None:
        self.score, self.other, self.pairs = score, score if other is None else other, pairs
        self.ground = EnsembleElements(score, pairs, other) if ground is None else ground
        self.features, self.axes = self.ground.features, self.ground.axes
        self.values = ExactValues.of(self.score, self.other)
        self.bias = nearest_double(self.score.bias), nearest_double(self.other.bias)
        self.offset = np.concatenate([[0], np.cumsum(self.axes.size)]).astype(np.int64)
        n, widest = len(self.axes.size), int(self.axes.size.max())
        self._left, self._right = np.zeros(self.offset[-1]), np.zeros(self.offset[-1])
        self._shared = np.zeros((4, n), dtype=np.int32)
        self._allowed = np.ones((n, widest if self.axes.sets.any() else 1), dtype=np.bool_)

    @cached_property
    def elements(self) -> Elements:
        """With the values of the two scores."""
        return self.ground.with_values(self.score, self.other)

    @property
    def whole(self) -> Ranking:
        return self.ground.whole

    # -- what is kept about a cell ------------------------------------------------------------------------------

    @abstractmethod
    def memory(self, lo: Sequence[float], hi: Sequence[float], *, even: bool = False) -> Known: ...

    @abstractmethod
    def inherit(self, memory: Known, variable: int, lo: float, hi: float) -> Known: ...

    @abstractmethod
    def bound_memory(self, memory: Known, lean: float) -> tuple[float, float, float]: ...

    @abstractmethod
    def bound_anywhere(self, memory: Known, lean: float) -> tuple[float, float, float]: ...

    @abstractmethod
    def propose(self, memory: Known, lean: float) -> Proposal | None: ...

    @abstractmethod
    def cut_memory(self, memory: Known, lean: float, excess: float) -> tuple[int, float, float, float]: ...

    @abstractmethod
    def prove_memory(self, memory: Known, leaf: Leaf, question: WitnessSet) -> Clearance | None: ...

    @abstractmethod
    def line(self, memory: Known, lean: Fraction, *, together: bool = False) -> Leaf: ...

    @abstractmethod
    def _of(self, score: TreeScore) -> TreeCells[Any]:
        """The same of another ensemble on the same pairs."""

    # -- boxes --------------------------------------------------------------------------------------------------

    def _box(self, lo: Sequence[float], hi: Sequence[float]) -> Box | None:
        """The box of a cell; None where it has no pair."""
        box = np.ones((4, len(self.axes.size)), dtype=np.int32)
        for v, k in enumerate(self.axes.feature.tolist()):
            self._limit(box, v, self.features[k].index(lo[v]), self.features[k].index(hi[v]))
        return box if tighten(self.axes, box) else None

    def _narrow_box(self, known: Box | None, variable: int, lo: float, hi: float) -> Box | None:
        """A box with new limits of one variable; None where no pair is left."""
        if known is None:
            return None
        axis, box = self.features[self.axes.feature[variable]], known.copy()
        low, high = axis.index(lo), axis.index(hi)
        if low >= box[LOW, variable]:
            box[CLOSED, variable] = 1
        was_missing = bool(box[MISSING, variable])
        low, high = (
            max(low, int(box[LOW, variable])),
            min(high, axis.missing if was_missing else int(box[HIGH, variable])),
        )
        self._limit(box, variable, low, high)
        return box if not len(self.axes.joined) or tighten(self.axes, box) else None

    def _limit(self, box: Box, v: int, low: int, high: int) -> None:
        missing = self.features[self.axes.feature[v]].missing
        box[LOW, v], box[MISSING, v] = low, high == missing
        box[HIGH, v] = high - 1 if high == missing else high

    @property
    def root_box(self) -> Box:
        """The box of all pairs, tolerances left aside."""
        box = np.ones((4, len(self.axes.size)), dtype=np.int32)
        for v, k in enumerate(self.axes.feature.tolist()):
            self._limit(box, v, 0, self.features[k].size - 1)
        return box

    def codes_to_try(self) -> dict[int, Floats]:
        """One code of every index of numbers."""
        return self.ground.codes_to_try()

    def on_grid(self, lean: float) -> float:
        """The nearest lean that bounds are known for."""
        return round(lean * LEAN_STEPS) / LEAN_STEPS

    def pair(self) -> Floats:
        """The point of pair space that the last proposal was about."""
        return pick_pair(self.pairs, self.features, self.axes, self._shared, self._allowed)

    def agreed(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """What a cell has in common with the box of the last proposal: all of its pairs have the scores of the proposal."""
        first, last = box_limits(self.features, self.axes, self._shared, self._allowed)
        return np.maximum(lo, first), np.minimum(hi, last)

    # -- cells of which nothing is remembered --------------------------------------------------------------------

    def warm_up(self) -> None:
        """Have the loops compiled: some seconds once, then kept on disk. One test will do: finding elements counts as work."""
        one = replace(self.score.body, trees=tuple(map(stump, self.score.body.trees[:1])))
        self._of(TreeScore(body=one, alpha=self.score.alpha))._call_loops()

    def _call_loops(self) -> None:
        """Call every compiled loop."""
        root = self.pairs.variables
        memory = self.memory([float(v.lo) for v in root], [float(v.hi) for v in root])
        self.bound_memory(memory, 0.5)
        self.propose(memory, 0.5)
        self.save_together(memory, 0.5, 1.0)
        self.cut_memory(memory, 0.5, 1.0)
        self.bound_anywhere(memory, 0.3)

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:  # noqa: ARG002
        lean = np.array([self.on_grid(one) for one in lean.tolist()])
        memories = [self.memory(low, high) for low, high in zip(lo.tolist(), hi.tolist(), strict=True)]
        found = np.array([self.bound_memory(m, one) for m, one in zip(memories, lean.tolist(), strict=True)])
        found = found.reshape(len(lo), 3)
        return Bounds(
            upper=found[:, 0],
            first=found[:, 1],
            second=found[:, 2],
            points=lo.copy(),
            noise=np.array([self.noise(one) for one in lean.tolist()]),
        )

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        found = [lo[:0]]
        for low, high in zip(lo.tolist(), hi.tolist(), strict=True):
            memory = self.memory(low, high)
            self.bound_memory(memory, 0.5)
            if self.propose(memory, 0.5) is not None:
                found.append(self.pair()[None])
        return np.concatenate(found)

    def branch(
        self,
        lo: Floats,
        hi: Floats,
        loss: Floats | None = None,  # noqa: ARG002 (a cut is found from the bounds themselves)
        cuts: Floats | None = None,  # noqa: ARG002
    ) -> tuple[NDArray[np.intp], Floats]:
        variables, places = np.full(len(lo), -1, dtype=np.intp), np.zeros(len(lo))
        for i, (low, high) in enumerate(zip(lo.tolist(), hi.tolist(), strict=True)):
            memory = self.memory(low, high)
            if self.bound_memory(memory, 0.5)[0] > -math.inf:
                variables[i], places[i], _, _ = self.cut_memory(memory, 0.5, 1.0)
            self.bound_anywhere(memory, 0.3)
            if variables[i] < 0:
                variables[i], places[i] = self.choose_halving(low, high)
        return variables, places

    def choose_halving(
        self, lo: Sequence[float], hi: Sequence[float], among: Sequence[int] | None = None
    ) -> tuple[int, float]:
        """The variable with most indices left, or else with a range of codes that constraints or relations may cut, and its
        middle; -1 where nothing is left to cut. Continuous codes of one index are not cut under constraints: scores are the same all
        over them, so a linear program tells whether one of them has a pair. Without constraints they are cut where two codes of a feature go together."""
        best, variable, at = 0.0, -1, 0.0
        for v in range(len(self.axes.size)) if among is None else among:
            axis = self.features[self.axes.feature[v]]
            first, last = axis.index(lo[v]), axis.index(hi[v])
            middle = (
                axis.last[(first + last) // 2]
                if last > first
                else _middle_code(lo[v], hi[v], whole=axis.whole)
            )
            inside = axis.whole if self.pairs.constraints else self.axes.partner[v] >= 0
            width = last - first + (0.5 if inside and hi[v] > lo[v] else 0.0)
            if width > best and middle < hi[v]:
                best, variable, at = width, v, middle
        return variable, at

    def constant(self, lo: Sequence[float], hi: Sequence[float]) -> bool:
        """Whether every tree answers alike all over the cell."""
        axes = (self.features[feature] for feature in self.axes.feature.tolist())
        return all(axis.index(low) == axis.index(high) for axis, low, high in zip(axes, lo, hi, strict=True))

    def after(self, variable: int, at: float) -> float | None:
        """Tests are between doubles: a cut belongs to the left."""
        whole = self.features[self.axes.feature[variable]].whole
        return None if whole else math.nextafter(at, math.inf)

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        return (
            self.prove_memory(self.memory(lo.tolist(), hi.tolist()), leaf, question)
            if leaf.rule == self.rule
            else None
        )


def _middle_code(lo: float, hi: float, *, whole: bool) -> float:
    middle = lo / 2 + hi / 2
    return float(math.floor(middle)) if whole else min(max(middle, lo), math.nextafter(hi, -math.inf))
