"""Tree bounder: bounds of a line of one score, or of two forms, over cells of trees (`cells`), with what is remembered of each.

A cell's `CellMemory` is its box and, for each lean tried so far, a ranking of elements made for it or for a cell around it; its children
start from that. Leans are taken from a grid, so that few rankings of all elements are needed.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.leaf import Clearance, Leaf, Rule
from likewise.clock import check_clock
from likewise.families.oracle import Proposal
from likewise.families.trees.body import TreeScore
from likewise.families.trees.cells import LEAN_STEPS, TreeCells
from likewise.families.trees.common_pair import ATTAINED, CONFLICT, find_common_pair
from likewise.families.trees.cuts import find_cut
from likewise.families.trees.ensemble_elements import EnsembleElements
from likewise.families.trees.ranking import Ranking, bound_by_ranking, bound_unordered, filter_ranking
from likewise.families.trees.tree_pairs import ALONE, bound_in_pairs, pair_trees
from likewise.spec.pairs import PairSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.witness_set import WitnessSet

    Floats = NDArray[np.float64]
    Box = NDArray[np.int32]

EVEN_KEY = -1  # the key of rankings by differences
MOST_RANKING_BYTES = 2**28
WORTH_PAIRING = 0.7  # of the excess, that pairs of trees saved around a cell: more may be found in it
PAIRED_AGAIN = 0.8  # of the excess at which pairs were looked for last: below it they are looked for again
MOST_SKIPPED = 0.25  # share of a ranking that may be passed by before it is made anew


@dataclass(slots=True, eq=False)
class CellMemory:
    """What is known of a cell; `rankings` by lean, those of an ancestor until they are sifted; `box` None: there is no pair. Where only
    differences of scores count, the lean is 1/2 (`even`) and rankings are shorter."""

    box: Box | None
    rankings: dict[int, Ranking]
    even: bool
    tops: NDArray[np.int64] | None = None  # places of the maximisers in the ranking last looked at
    sifted: int | None = None  # the key of the ranking that has nothing but elements that meet the box
    source: int | None = (
        None  # the key of the one that has nothing but elements that meet the box of the cell that this one is a part of,
    )
    cut: int = -1  # which had other limits of this variable
    partner: NDArray[np.int32] | None = (
        None  # by tree the one that it is looked at together with, if any; shared with parts of the cell
    )
    saved: float = math.inf  # what that lowered the bound by, of this cell or of one around it
    paired_at: float = math.inf  # the excess over the threshold when pairs were looked for last

    def key(self, lean: float) -> int:
        return EVEN_KEY if self.even else round(lean * LEAN_STEPS)


class RankingRoom:
    """How much memory rankings of cells take: beyond a limit none is kept besides those that there are."""

    def __init__(self) -> None:
        self.taken = 0

    def take(self, order: NDArray[np.int32]) -> bool:
        """Whether there is room for one more, until it is dropped."""
        if self.taken + order.nbytes > MOST_RANKING_BYTES:
            return False
        self.taken += order.nbytes
        weakref.finalize(order, self._give_back, order.nbytes)
        return True

    def _give_back(self, size: int) -> None:
        self.taken -= size


class TreeBounder(TreeCells[CellMemory]):
    """Bounds lines of a tree ensemble, or of two forms of one."""

    rule: Rule = "trees"

    def __init__(
        self,
        score: TreeScore,
        pairs: PairSpace,
        other: TreeScore | None = None,
        ground: EnsembleElements | None = None,
    ) -> None:
        super().__init__(score, pairs, other, ground)
        self._tops = np.zeros(len(score.body.trees) + 1, dtype=np.int64)
        self._place = np.zeros(len(score.body.trees), dtype=np.int64)
        self._rankings: dict[int, Ranking] = {}
        self.room = RankingRoom()

    # -- cells ------------------------------------------------------------------------------------------------

    def memory(self, lo: Sequence[float], hi: Sequence[float], *, even: bool = False) -> CellMemory:
        """What is known of a cell by its limits alone; `even` where nothing but the difference of scores will be asked for."""
        return CellMemory(self._box(lo, hi), self._rankings, even)

    def inherit(self, memory: CellMemory, variable: int, lo: float, hi: float) -> CellMemory:
        """What is known of a part of a cell, in which one variable has new limits."""
        if memory.box is None:
            return memory
        return CellMemory(
            self._narrow_box(memory.box, variable, lo, hi),
            memory.rankings,
            memory.even,
            source=memory.sifted,
            cut=variable,
            partner=memory.partner,
            saved=memory.saved,
            paired_at=memory.paired_at,
        )

    # -- bounds -----------------------------------------------------------------------------------------------

    def ranking(self, key: int) -> Ranking:
        """All elements by their value in a direction of the grid."""
        if key not in self._rankings:
            order, lean = self.whole.order, 0.5 if key == EVEN_KEY else key / LEAN_STEPS
            if lean != 0.5 or self.elements is not self.ground.elements:
                order = self.ground.ordered(lean * self.elements.a - (1 - lean) * self.elements.b)
            plain = Ranking(order, self.whole.start, 0.0, 0.0)
            check_clock(self.ground.ordering_seconds)
            self._rankings[key] = self._filter_ranking(plain, self.root_box, even=key == EVEN_KEY)
        return self._rankings[key]

    def _filter_ranking(self, ranking: Ranking, box: Box, *, even: bool, only: int = -1) -> Ranking:
        return Ranking(*filter_ranking(self.elements, self.axes, ranking, box, even, only, self.ground.spans))

    def bound_memory(self, memory: CellMemory, lean: float) -> tuple[float, float, float]:
        """Bound of the cell in the direction of a lean of the grid, and both scores of its maximisers (not of any one pair)."""
        if memory.box is None:
            return -math.inf, 0.0, 0.0
        key, a, b = memory.key(lean), lean, 1 - lean
        ranking = memory.rankings.get(key)
        if ranking is None:
            ranking = self.ranking(key)
        memory.tops = tops = np.empty(len(ranking.start), dtype=np.int64)
        upper, first, second, passed = bound_by_ranking(
            self.elements, self.axes, ranking, memory.box, a, b, tops
        )
        if passed > MOST_SKIPPED * len(ranking.order) and upper > -math.inf:
            self._sift(memory, memory.box, key, ranking)
        elif key not in memory.rankings:
            memory.rankings = {**memory.rankings, key: ranking}
        return upper + a * self.bias[0] - b * self.bias[1], first + self.bias[0], second + self.bias[1]

    def _sift(self, memory: CellMemory, box: Box, key: int, ranking: Ranking) -> None:
        """Rank nothing but the elements that meet the cell, for its parts as well, as long as there is room for that."""
        axes, only = self.axes, -1
        if memory.source == key and self.ground.spans.size and not len(axes.joined):
            plain = not axes.sets[memory.cut] and axes.missing[memory.cut] < 0
            only = memory.cut if plain else -1
        ranking = self._filter_ranking(ranking, box, even=memory.even, only=only)
        if self.room.take(ranking.order):
            memory.tops, memory.sifted = ranking.start[:-1], key
            memory.rankings = {**memory.rankings, key: ranking}

    def _bound(self, memory: CellMemory, a: float, b: float) -> tuple[float, float, float]:
        """Bound of a s - b s' over a cell with pairs, and both sums at its maximisers, biases left aside; in any direction."""
        lean = a / (a + b)
        key = EVEN_KEY if memory.even and a == b else round(lean * LEAN_STEPS)
        ranking = memory.rankings.get(key) or self.ranking(key)
        if lean * LEAN_STEPS == round(lean * LEAN_STEPS):
            return bound_by_ranking(self.elements, self.axes, ranking, memory.box, a, b, self._tops)[:3]  # type: ignore[no-any-return]
        return bound_unordered(self.elements, self.axes, ranking, memory.box, a, b)  # type: ignore[no-any-return]

    def bound_anywhere(self, memory: CellMemory, lean: float) -> tuple[float, float, float]:
        """As `bound_memory`, for a lean that need not be on the grid."""
        if memory.box is None:
            return -math.inf, 0.0, 0.0
        upper, first, second = self._bound(memory, lean, 1 - lean)
        return (
            upper + lean * self.bias[0] - (1 - lean) * self.bias[1],
            first + self.bias[0],
            second + self.bias[1],
        )

    def save_together(self, memory: CellMemory, lean: float, excess: float) -> float:
        """What the bound that was asked for last, at this lean, falls by where trees are looked at in pairs. Pairs of a cell around this one are kept where others would not save the excess either."""
        if memory.box is None or memory.tops is None or len(self._place) < 2:
            return 0.0
        key = memory.key(lean)
        if memory.sifted != key:
            self._sift(memory, memory.box, key, memory.rankings[key])
        if memory.sifted != key:  # there is no room
            return 0.0
        ranking, a, b = memory.rankings[key], lean, 1 - lean
        state = self.elements, self.axes, ranking, memory.box, a, b, memory.tops
        if memory.partner is not None and excess > PAIRED_AGAIN * memory.paired_at:
            memory.saved = self._saved_by(memory, ranking, a, b)
            if memory.saved < WORTH_PAIRING * excess:
                return memory.saved
        partner = (
            np.full(len(self._place), ALONE, dtype=np.int32)
            if memory.partner is None
            else memory.partner.copy()
        )
        memory.saved = float(pair_trees(*state, excess + 2 * self.noise(lean), partner, self._place))
        memory.partner, memory.paired_at = partner, excess
        return memory.saved

    def _saved_by(self, memory: CellMemory, ranking: Ranking, a: float, b: float) -> float:
        """What the pairs of trees that are known save."""
        alone = np.full(len(self._place), ALONE, dtype=np.int32)
        bounds = [
            float(
                bound_in_pairs(
                    self.elements, self.axes, ranking, memory.box, a, b, memory.tops, partner, self._place
                )
            )
            for partner in (alone, memory.partner)
        ]
        return max(0.0, bounds[0] - bounds[1])

    def noise(self, lean: float) -> float:
        """What rounding may change about a bound."""
        return 2 * self.values.rounding_limit(lean, 1 - lean)

    def propose(self, memory: CellMemory, lean: float) -> Proposal | None:
        """A pair near the maximum of the cell that was bounded last at this lean, by its scores; see `pair`."""
        if memory.box is None or memory.tops is None:
            return None
        key = memory.key(lean)
        ranking = memory.rankings[key]
        if (
            memory.sifted != key and self.ground.spans.size
        ):  # what stays open is looked at more than once, and so are its parts
            self._sift(memory, memory.box, key, ranking)
            ranking = memory.rankings[key]
        state, first, second = find_common_pair(
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

    def cut_memory(self, memory: CellMemory, lean: float, excess: float) -> tuple[int, float, float, float]:
        """Where to split the cell that was bounded last at this lean: variable (-1: nowhere), code, and by how much the bounds of both
        parts are lower, as far as that matters."""
        if memory.box is None or memory.tops is None:
            return -1, 0.0, 0.0, 0.0
        ranking = memory.rankings[memory.key(lean)]
        variable, at, left, right = find_cut(
            self.elements, self.axes, ranking, memory.box, lean, 1 - lean, memory.tops, excess,
            self.offset, self._left, self._right, self._spans(memory, lean),
        )  # fmt: skip
        if variable < 0:
            return -1, 0.0, 0.0, 0.0
        return variable, self.features[self.axes.feature[variable]].last[at], left, right

    def _spans(self, memory: CellMemory, lean: float) -> NDArray[np.int16]:
        """What is looked up where the ranking has nothing but elements that meet the cell."""
        return self.ground.spans if memory.sifted == memory.key(lean) else self.ground.spans[:0]

    def prove_memory(self, memory: CellMemory, leaf: Leaf, question: WitnessSet) -> Clearance | None:
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
        if leaf.hints:
            upper = min(upper, self._bound_in_pairs(memory, memory.box, a, b, leaf.hints))
        limit = upper + 2 * self.values.rounding_limit(a, b)
        exact_bias = direction.a * self.score.bias - direction.b * self.other.bias
        clearance = direction.clearance(Fraction(limit) + exact_bias)
        if clearance is not None:
            return clearance
        state = self.elements, self.axes, self.whole, memory.box, direction.a, direction.b
        if leaf.hints:
            exact = self.values.bound_in_pairs(*state, leaf.hints)
            return None if exact is None else direction.clearance(exact)
        exact = self.values.bound(*state)
        return math.inf if exact is None else direction.clearance(exact)

    def _bound_in_pairs(
        self, memory: CellMemory, box: Box, a: float, b: float, pairs: tuple[int, ...]
    ) -> float:
        """The bound of a s - b s' with pairs of trees, one after another; no better than without where the direction is not on the grid."""
        lean = a / (a + b)
        key = EVEN_KEY if memory.even and a == b else round(lean * LEAN_STEPS)
        if lean * LEAN_STEPS != round(lean * LEAN_STEPS):
            return math.inf
        ranking = memory.rankings.get(key) or self.ranking(key)
        if memory.sifted != key:
            ranking = self._filter_ranking(ranking, box, even=key == EVEN_KEY)
        tops = ranking.start[:-1]  # nothing but elements that meet the cell
        partner = np.full(len(self._place), ALONE, dtype=np.int32)
        partner[list(pairs[::2])], partner[list(pairs[1::2])] = pairs[1::2], pairs[::2]
        return float(bound_in_pairs(self.elements, self.axes, ranking, box, a, b, tops, partner, self._place))

    def line(self, memory: CellMemory, lean: Fraction, *, together: bool = False) -> Leaf:
        """A lean says it all, but for which trees were looked at together, two at a time."""
        pairs: tuple[int, ...] = ()
        if together and memory.partner is not None:
            pairs = tuple(t for one in enumerate(memory.partner.tolist()) if one[0] < one[1] for t in one)
        return Leaf(rule=self.rule, lean=lean, hints=pairs)

    def _of(self, score: TreeScore) -> TreeBounder:
        return TreeBounder(score, self.pairs)
