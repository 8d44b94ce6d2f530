"""Softmax tree bounder: log odds of one class of an ensemble of several scores, by the lines of `softmax_lines`.

The forms of a cell's lines are its own, so elements have no order that parts of the cell could take over: what is handed down is
the list of the elements that meet it. Each maximum of a form is one pass over them; for a proposal or a cut they are sorted by the cell's
own line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.leaf import Clearance, Leaf, Rule
from likewise.errors import InternalError
from likewise.families.oracle import Proposal
from likewise.families.trees.body import TreeScore
from likewise.families.trees.cells import TreeCells
from likewise.families.trees.common_pair import ATTAINED, CONFLICT, find_common_pair
from likewise.families.trees.cuts import find_cut
from likewise.families.trees.ensemble_elements import EnsembleElements
from likewise.families.trees.exact import ExactValues
from likewise.families.trees.ranking import Ranking, collect_elements, largest_sum
from likewise.families.trees.softmax_lines import (
    ProposedLines,
    Row,
    UpperLines,
    entropy,
    prove_by_lines,
    round_to_grid,
    softmax_on_grid,
    trivial_lines,
    upper_lines,
)
from likewise.model.head import log_odds
from likewise.model.witness_set import snap_lean
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.leaf import SoftLines
    from likewise.model.witness_set import WitnessSet

    Floats = NDArray[np.float64]
    Box = NDArray[np.int32]

RELATIVE_NOISE = 1e-12  # relative: what rounding may change about a bound
LEAST_RANGE = 1e-9  # range of an argument below which its line is as good as the function
MOST_BENT = 1.0  # of the excess: what the lines may be too high before the ranges of their arguments are cut
ONE = Fraction(1)


@dataclass(slots=True, eq=False)
class SoftMemory:
    """What is known of a cell: its elements (those of an ancestor until they are `own`), d at one of its pairs, the lines at x', and the weights
    that were best at each lean."""

    box: Box | None
    elements: Ranking
    own: bool = False
    here: Floats | None = None
    upper: UpperLines | None = None
    soft: dict[Fraction, ProposedLines] = field(default_factory=dict)
    slack: float = 0.0  # by how much the lines are above the log odds of the pair that was proposed last


class TreeSoftmaxBounder(TreeCells[SoftMemory]):
    """Bounder of the log odds of the class `of`; `score` is any score of the ensemble."""

    rule: Rule = "softmax"

    def __init__(self, score: TreeScore, of: int, pairs: PairSpace, ground: EnsembleElements) -> None:
        super().__init__(score, pairs, None, ground)
        count = len(score.body.bias)
        self.rivals = [k for k in range(count) if k != of]
        self.of, self.count = of, len(self.rivals)
        self.leaves = score.table[:, self.rivals] - score.table[:, [of]]  # (nodes, m): d_1, ..., d_m
        bias = np.array([nearest_double(b) for b in score.body.bias])
        self.start = bias[self.rivals] - bias[of]
        self.size = float(np.abs(self.start).max()) + self.values.size[0] + self.values.size[1]
        self.elements = self.elements._replace(a=self.elements.a.copy(), b=self.elements.b.copy())

    # -- cells ------------------------------------------------------------------------------------------------

    def _of(self, score: TreeScore) -> TreeSoftmaxBounder:
        return TreeSoftmaxBounder(score, self.of, self.pairs, EnsembleElements(score, self.pairs))

    def memory(self, lo: Sequence[float], hi: Sequence[float], *, even: bool = False) -> SoftMemory:  # noqa: ARG002
        return SoftMemory(self._box(lo, hi), self.whole)

    def inherit(self, memory: SoftMemory, variable: int, lo: float, hi: float) -> SoftMemory:
        box = self._narrow_box(memory.box, variable, lo, hi)
        return SoftMemory(box, memory.elements, here=memory.here)

    def _find_elements(self, memory: SoftMemory) -> bool:
        """Find the cell's elements; whether it has pairs."""
        if memory.box is not None and not memory.own:
            order, start = collect_elements(self.elements, self.axes, memory.elements, memory.box)
            memory.elements, memory.own = Ranking(order, start, 0.0, 0.0), True
            if len(start) <= len(self.score.body.trees):
                memory.box = None
        return memory.box is not None

    # -- bounds -----------------------------------------------------------------------------------------------

    def noise(self, lean: float) -> float:  # noqa: ARG002
        return RELATIVE_NOISE * (1 + self.size)

    def bound_anywhere(self, memory: SoftMemory, lean: float) -> tuple[float, float, float]:
        return self.bound_memory(memory, lean)

    def bound_memory(self, memory: SoftMemory, lean: float) -> tuple[float, float, float]:
        """By the better one of two weights at x: those of the form at x', which let cancel what both individuals share, and those of
        the pair that is worst for them."""
        if not self._find_elements(memory):
            return -math.inf, 0.0, 0.0
        upper = self._lines(memory)
        weights, found = round_to_grid(upper.form), (math.inf, 0.0, 0.0)
        for _ in range(2):
            total, here, there = self._largest(memory, -lean * weights[0], (1 - lean) * upper.form[0])
            first = -float(weights[0] @ here) - float(entropy(weights)[0])
            second = -float(upper.form[0] @ there) - float(upper.constant[0])
            value = total - lean * float(entropy(weights)[0]) + (1 - lean) * float(upper.constant[0])
            if value < found[0]:
                found, memory.here = (value, first, second), here
                steps = tuple(row[0] for row in upper.weights)
                memory.soft[snap_lean(lean)] = ProposedLines(weights[0], upper.slopes[0], steps)
            weights = softmax_on_grid(here[None])
        return found

    def _lines(self, memory: SoftMemory) -> UpperLines:
        """The lines at x', which do not depend on the lean."""
        if memory.upper is None:
            nothing = np.zeros(self.count)
            there = self._largest(memory, nothing, np.full(self.count, 1 / self.count))[2]
            memory.upper = upper_lines(
                there[None], lambda beta: np.array([self._largest(memory, nothing, beta[0])[0]])
            )
        return memory.upper

    def _largest(self, memory: SoftMemory, alpha: Floats, beta: Floats) -> tuple[float, Floats, Floats]:
        """The bound of alpha . d(x) + beta . d(x') by elements, and both d at its maximisers."""
        order, start = memory.elements.order, memory.elements.start
        tops = np.empty(len(start) - 1, dtype=np.int64)
        total = largest_sum(self.elements, order, start, self.leaves @ alpha, self.leaves @ beta, tops)
        best = order[tops]
        here = self.start + self.leaves[self.elements.leaf[best]].sum(axis=0)
        there = self.start + self.leaves[self.elements.other[best]].sum(axis=0)
        return total + float((alpha + beta) @ self.start), here, there

    # -- pairs and cuts -----------------------------------------------------------------------------------------

    def _sort_elements(self, memory: SoftMemory, alpha: Floats, beta: Floats) -> Ranking:
        """The cell's elements by the values of a line, which become those of the elements."""
        order, start = memory.elements.order, memory.elements.start
        values, others = self.leaves @ alpha, self.leaves @ beta
        self.elements.a[order] = values[self.elements.leaf[order]]
        self.elements.b[order] = -others[self.elements.other[order]]
        value = self.elements.a[order] - self.elements.b[order]
        return Ranking(order[np.lexsort((-value, self.elements.tree[order]))], start, 0.0, 0.0)

    def _line(self, memory: SoftMemory, lean: float) -> Ranking:
        weights, upper = memory.soft[snap_lean(lean)].weights, self._lines(memory)
        return self._sort_elements(memory, -lean * weights, (1 - lean) * upper.form[0])

    def propose(self, memory: SoftMemory, lean: float) -> Proposal | None:
        if memory.box is None:
            return None
        ranking = self._line(memory, lean)
        state, here, there = find_common_pair(
            self.elements,
            self.axes,
            ranking,
            memory.box,
            1.0,
            1.0,
            ranking.start[:-1],
            self._shared,
            self._allowed,
        )
        if state == CONFLICT:
            return None
        point = self.pair()
        sides = point[[list(self.pairs.first), list(self.pairs.second)]]
        first, second = log_odds(self.score.all_scores(sides), self.of).tolist()
        memory.slack = self._offset(memory, lean) + here - there - (lean * first - (1 - lean) * second)
        return Proposal(first=first, second=second, attains=state == ATTAINED)

    def _offset(self, memory: SoftMemory, lean: float) -> float:
        """What the lines of a cell have besides the values of leaves."""
        weights, upper = memory.soft[snap_lean(lean)].weights, self._lines(memory)
        form = (1 - lean) * upper.form[0] - lean * weights
        constant = (1 - lean) * float(upper.constant[0]) - lean * float(entropy(weights[None])[0])
        return constant + float(form @ self.start)

    def cut_memory(self, memory: SoftMemory, lean: float, excess: float) -> tuple[int, float, float, float]:
        """As for one score, by the line at hand; where that cannot be cut, or the lines themselves are too high by much of the excess, so
        that the ranges of their arguments are too wide, by these."""
        if memory.box is None:
            return -1, 0.0, 0.0, 0.0
        variable, at, left, right = -1, 0, 0.0, 0.0
        if memory.slack > MOST_BENT * excess:
            variable, at = self._narrowing_cut(memory)
        if variable < 0:
            variable, at, left, right = self._cut(memory, self._line(memory, lean), excess)
        if variable < 0:
            variable, at = self._narrowing_cut(memory)
        if variable < 0:
            return -1, 0.0, 0.0, 0.0
        return variable, self.features[self.axes.feature[variable]].last[at], left, right

    def _cut(self, memory: SoftMemory, ranking: Ranking, excess: float) -> tuple[int, int, float, float]:
        return find_cut(  # type: ignore[no-any-return]
            self.elements, self.axes, ranking, memory.box, 1.0, 1.0, ranking.start[:-1], excess,
            self.offset, self._left, self._right, self.ground.spans[:0],
        )  # fmt: skip

    def _narrowing_cut(self, memory: SoftMemory) -> tuple[int, int]:
        """The cut that lowers the top of an argument of softplus, or raises its bottom, where the line above it is highest."""
        upper, nothing, ranges = self._lines(memory), np.zeros(self.count), []
        for r, bend in enumerate(upper.bends[0].tolist()):
            form = np.zeros(self.count)
            form[r + 1], form[: r + 1] = 1.0, -upper.weights[r][0]
            width = self._largest(memory, nothing, form)[0] + self._largest(memory, nothing, -form)[0]
            ranges.append((bend * width**2, width, form))
        for _, width, form in sorted(ranges, key=lambda found: -found[0]):
            for way in (form, -form) if width > LEAST_RANGE else ():
                variable, at, _, _ = self._cut(memory, self._sort_elements(memory, nothing, way), width / 2)
                if variable >= 0:
                    return variable, at
        return -1, 0

    # -- proofs -----------------------------------------------------------------------------------------------

    def line(self, memory: SoftMemory, lean: Fraction, *, together: bool = False) -> Leaf:  # noqa: ARG002
        return Leaf(rule=self.rule, lean=lean, soft=self._soft(memory, lean))

    def _soft(self, memory: SoftMemory, lean: Fraction) -> SoftLines | None:
        """The lines that a leaf of this lean is about: any, where the cell has no pair."""
        if not self._find_elements(memory):
            return trivial_lines(self.count)
        return memory.soft[lean].exact() if lean in memory.soft else None

    def prove_memory(self, memory: SoftMemory, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        if leaf.lean is None or not question.admits(leaf.lean):
            return None
        if not self._find_elements(memory):
            return math.inf
        if leaf.soft is None:
            return None
        way = question.direction(leaf.lean)
        for exactly in (False, True):
            largest = partial(self._above, memory, exactly=exactly)
            clearance = prove_by_lines(leaf.soft, self.count, way, largest)
            if clearance is not None:
                return clearance
        return None

    def _above(self, memory: SoftMemory, here: Row | None, there: Row, *, exactly: bool) -> Fraction | None:
        """An upper bound of the largest value of two forms: the exact one, or by float64 with room for its rounding."""
        first = self._form([Fraction(0)] * self.count if here is None else here)
        second = self._form([-t for t in there])
        values = ExactValues.of(first, second)
        if exactly:
            if memory.box is None:
                raise InternalError("a cell without pairs has no bound")
            return values.bound(self.elements, self.axes, memory.elements, memory.box, ONE, ONE)
        order, start = memory.elements.order, memory.elements.start
        tops = np.empty(len(start) - 1, dtype=np.int64)
        total = largest_sum(self.elements, order, start, first.values, -second.values, tops)
        return Fraction(total + 2 * values.rounding_limit(1.0, 1.0)) + first.bias - second.bias

    def _form(self, row: Row) -> TreeScore:
        """The form of d as one of the scores."""
        alpha = [Fraction(0)] * (self.count + 1)
        for k, value in zip(self.rivals, row, strict=True):
            alpha[k] = value
        alpha[self.of] = -sum(row, Fraction(0))
        return self.score.form(tuple(alpha))
