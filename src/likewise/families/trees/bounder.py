"""Tree bounder: cells of the search as boxes of indices, with what is remembered of each.

A cell's `Memory` is its box and, for each lean tried so far, a ranking of elements made for it or for a cell around it; its children
start from that. Leans are taken from a grid, so that few rankings of all elements are needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.leaf import Clearance, Leaf, Rule
from likewise.clock import look_at_clock
from likewise.families.oracle import Bounds, Proposal, Remembering
from likewise.families.trees.agreeing import ATTAINED, CONFLICT, common
from likewise.families.trees.body import TreeScore, stump
from likewise.families.trees.cutting import cut
from likewise.families.trees.elements import Elements
from likewise.families.trees.exact import ExactValues
from likewise.families.trees.ground import Ground
from likewise.families.trees.meeting import CLOSED, HIGH, LOW, MISSING, tighten
from likewise.families.trees.points import limits_in, pair_in
from likewise.families.trees.scanning import Ranking, bound, largest, sifted
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.question import WitnessSet

    Floats = NDArray[np.float64]
    Box = NDArray[np.int32]

LEANS = 64  # the grid of leans
EVEN_ONLY = -1  # the key of rankings by differences
SIFTING = 0.25  # share of a ranking that may be passed by before it is made anew


@dataclass(slots=True, eq=False)
class Memory:
    """What is known of a cell; `rankings` by lean, those of an ancestor until they are sifted; `box` None: there is no pair. Where only
    differences of scores count, the lean is 1/2 (`even`) and rankings are shorter."""

    box: Box | None
    rankings: dict[int, Ranking]
    even: bool
    tops: NDArray[np.int64] | None = None  # places of the maximisers in the ranking last looked at

    def key(self, lean: float) -> int:
        return EVEN_ONLY if self.even else round(lean * LEANS)


class TreeBounder(Remembering):
    """Oracle of a tree ensemble on the pairs of a space; `other` is the score of x' where it is not that of x."""

    rule: Rule = "trees"
    exact = True

    def __init__(
        self,
        score: TreeScore,
        pairs: PairSpace,
        other: TreeScore | None = None,
        ground: Ground | None = None,
    ) -> None:
        self.score, self.other, self.pairs = score, score if other is None else other, pairs
        self.ground = Ground(score, pairs, other) if ground is None else ground
        self.features, self.axes = self.ground.features, self.ground.axes
        self.values = ExactValues.of(self.score, self.other)
        self.bias = nearest(self.score.bias), nearest(self.other.bias)
        self.offset = np.concatenate([[0], np.cumsum(self.axes.size)]).astype(np.int64)
        n, widest = len(self.axes.size), int(self.axes.size.max())
        self._left, self._right = np.zeros(self.offset[-1]), np.zeros(self.offset[-1])
        self._shared = np.zeros((4, n), dtype=np.int32)
        self._allowed = np.ones((n, widest if self.axes.sets.any() else 1), dtype=np.bool_)
        self._tops = np.zeros(len(score.body.trees) + 1, dtype=np.int64)
        self._rankings: dict[int, Ranking] = {}

    @cached_property
    def elements(self) -> Elements:
        """With the values of the two scores."""
        return self.ground.valued(self.score, self.other)

    @property
    def whole(self) -> Ranking:
        return self.ground.whole

    # -- cells ------------------------------------------------------------------------------------------------

    def memory(self, lo: Sequence[float], hi: Sequence[float], *, even: bool = False) -> Memory:
        """What is known of a cell by its limits alone; `even` where nothing but the difference of scores will be asked for."""
        box = np.ones((4, len(self.axes.size)), dtype=np.int32)
        for v, k in enumerate(self.axes.feature.tolist()):
            self._limit(box, v, self.features[k].index(lo[v]), self.features[k].index(hi[v]))
        return Memory(box if tighten(self.axes, box) else None, self._rankings, even)

    def inherited(self, memory: Memory, variable: int, lo: float, hi: float) -> Memory:
        """What is known of a part of a cell, in which one variable has new limits."""
        if memory.box is None:
            return memory
        return Memory(self._narrowed(memory.box, variable, lo, hi), memory.rankings, memory.even)

    def _narrowed(self, known: Box | None, variable: int, lo: float, hi: float) -> Box | None:
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

    # -- bounds -----------------------------------------------------------------------------------------------

    def ranking(self, key: int) -> Ranking:
        """All elements by their value in a direction of the grid."""
        if key not in self._rankings:
            order, lean = self.whole.order, 0.5 if key == EVEN_ONLY else key / LEANS
            if lean != 0.5 or self.elements is not self.ground.elements:
                order = self.ground.ordered(lean * self.elements.a - (1 - lean) * self.elements.b)
            plain = Ranking(order, self.whole.start, 0.0, 0.0)
            look_at_clock(self.ground.for_an_order)
            self._rankings[key] = self._sifted(plain, self.root_box, even=key == EVEN_ONLY)
        return self._rankings[key]

    def _sifted(self, ranking: Ranking, box: Box, *, even: bool) -> Ranking:
        return Ranking(*sifted(self.elements, self.axes, ranking, box, even))

    @property
    def root_box(self) -> Box:
        """The box of all pairs, tolerances left aside."""
        box = np.ones((4, len(self.axes.size)), dtype=np.int32)
        for v, k in enumerate(self.axes.feature.tolist()):
            self._limit(box, v, 0, self.features[k].size - 1)
        return box

    def marked(self) -> dict[int, Floats]:
        """One code of every index of numbers."""
        return self.ground.marked()

    def on_grid(self, lean: float) -> float:
        """The nearest lean that bounds are known for."""
        return round(lean * LEANS) / LEANS

    def bound_memory(self, memory: Memory, lean: float) -> tuple[float, float, float]:
        """Bound of the cell in the direction of a lean of the grid, and both scores of its maximisers (not of any one pair)."""
        if memory.box is None:
            return -math.inf, 0.0, 0.0
        key, a, b = memory.key(lean), lean, 1 - lean
        ranking = memory.rankings.get(key)
        if ranking is None:
            ranking = self.ranking(key)
        memory.tops = tops = np.empty(len(ranking.start), dtype=np.int64)
        upper, first, second, passed = bound(self.elements, self.axes, ranking, memory.box, a, b, tops)
        if passed > SIFTING * len(ranking.order) and upper > -math.inf:
            ranking = self._sifted(ranking, memory.box, even=memory.even)
            memory.tops = ranking.start[:-1]
            memory.rankings = {**memory.rankings, key: ranking}
        elif key not in memory.rankings:
            memory.rankings = {**memory.rankings, key: ranking}
        return upper + a * self.bias[0] - b * self.bias[1], first + self.bias[0], second + self.bias[1]

    def _bound(self, memory: Memory, a: float, b: float) -> tuple[float, float, float]:
        """Bound of a s - b s' over a cell with pairs, and both sums at its maximisers, biases left aside; in any direction."""
        lean = a / (a + b)
        key = EVEN_ONLY if memory.even and a == b else round(lean * LEANS)
        ranking = memory.rankings.get(key) or self.ranking(key)
        if lean * LEANS == round(lean * LEANS):
            return bound(self.elements, self.axes, ranking, memory.box, a, b, self._tops)[:3]  # type: ignore[no-any-return]
        return largest(self.elements, self.axes, ranking, memory.box, a, b)  # type: ignore[no-any-return]

    def bound_anywhere(self, memory: Memory, lean: float) -> tuple[float, float, float]:
        """As `bound_memory`, for a lean that need not be on the grid."""
        if memory.box is None:
            return -math.inf, 0.0, 0.0
        upper, first, second = self._bound(memory, lean, 1 - lean)
        return (
            upper + lean * self.bias[0] - (1 - lean) * self.bias[1],
            first + self.bias[0],
            second + self.bias[1],
        )

    def noise(self, lean: float) -> float:
        """What rounding may change about a bound."""
        return 2 * self.values.rounding_limit(lean, 1 - lean)

    def proposal(self, memory: Memory, lean: float) -> Proposal | None:
        """A pair near the maximum of the cell that was bounded last at this lean, by its scores; see `pair`."""
        if memory.box is None or memory.tops is None:
            return None
        ranking = memory.rankings[memory.key(lean)]
        state, first, second = common(
            self.elements,
            self.axes,
            ranking,
            memory.box,
            lean,
            1 - lean,
            memory.tops,
            self._shared,
            self._allowed,
        )
        if state == CONFLICT:
            return None
        return Proposal(first=first + self.bias[0], second=second + self.bias[1], attains=state == ATTAINED)

    def pair(self) -> Floats:
        """The point of pair space that the last proposal was about."""
        return pair_in(self.pairs, self.features, self.axes, self._shared, self._allowed)

    def agreed(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """What a cell has in common with the box of the last proposal: all of its pairs have the scores of the proposal."""
        first, last = limits_in(self.features, self.axes, self._shared, self._allowed)
        return np.maximum(lo, first), np.minimum(hi, last)

    def cut_memory(self, memory: Memory, lean: float, excess: float) -> tuple[int, float, float, float]:
        """Where to split the cell that was bounded last at this lean: variable (-1: nowhere), code, and by how much the bounds of both
        parts are lower, as far as that matters."""
        if memory.box is None or memory.tops is None:
            return -1, 0.0, 0.0, 0.0
        ranking = memory.rankings[memory.key(lean)]
        variable, at, left, right = cut(
            self.elements, self.axes, ranking, memory.box, lean, 1 - lean, memory.tops, excess,
            self.offset, self._left, self._right,
        )  # fmt: skip
        if variable < 0:
            return -1, 0.0, 0.0, 0.0
        return variable, self.features[self.axes.feature[variable]].last[at], left, right

    def prove_memory(self, memory: Memory, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        """Whether a leaf of the rule `trees` closes the cell, exactly."""
        if leaf.lean is None or not question.admits(leaf.lean):
            return None
        if memory.box is None:
            return math.inf
        direction = question.direction(leaf.lean)
        a, b = float(direction.a), float(direction.b)
        upper, _, _ = self._bound(memory, a, b)
        if upper == -math.inf:
            return math.inf
        limit = upper + 2 * self.values.rounding_limit(a, b)
        exact_bias = direction.a * self.score.bias - direction.b * self.other.bias
        clearance = direction.clearance(Fraction(limit) + exact_bias)
        if clearance is not None:
            return clearance
        exact = self.values.bound(self.elements, self.axes, self.whole, memory.box, direction.a, direction.b)
        return math.inf if exact is None else direction.clearance(exact)

    def line(self, memory: Memory, lean: Fraction) -> Leaf:  # noqa: ARG002 (a lean says it all)
        return Leaf(rule=self.rule, lean=lean)

    # -- cells of which nothing is remembered --------------------------------------------------------------------

    def warm_up(self) -> None:
        """Have the loops compiled: some seconds once, then kept on disk. One test will do: finding elements counts as work."""
        one = replace(self.score.body, trees=tuple(map(stump, self.score.body.trees[:1])))
        self._of(TreeScore(body=one, alpha=self.score.alpha))._run_through()

    def _of(self, score: TreeScore) -> TreeBounder:
        """The bounder of this kind of another ensemble on the same pairs."""
        return TreeBounder(score, self.pairs)

    def _run_through(self) -> None:
        """Call every compiled loop."""
        root = self.pairs.variables
        memory = self.memory([float(v.lo) for v in root], [float(v.hi) for v in root])
        self.bound_memory(memory, 0.5)
        if memory.box is not None:
            self.proposal(memory, 0.5)
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
            if self.proposal(memory, 0.5) is not None:
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
                variables[i], places[i] = self.halved(low, high)
        return variables, places

    def halved(
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
                axis.last[(first + last) // 2] if last > first else _middle(lo[v], hi[v], whole=axis.whole)
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


def _middle(lo: float, hi: float, *, whole: bool) -> float:
    middle = lo / 2 + hi / 2
    return float(math.floor(middle)) if whole else min(max(middle, lo), math.nextafter(hi, -math.inf))
