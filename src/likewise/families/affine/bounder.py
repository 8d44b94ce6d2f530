"""Affine bounder: a score that is a sum of one-feature terms, bounded feature by feature.

In a direction (lean, 1 - lean) the pair's combined score is

    (2 lean - 1) bias + sum_k  lean phi_k(x_k) - (1 - lean) phi_k(x'_k),

whose maximum over a cell is the sum of one-feature maxima (see `exact`, of which this is the batched
float64 twin). That is exact for each direction, so a cell that cannot be separated holds a witness unless
its discrete features or the constraints stand in the way: the former are branched on, the latter are left
to the linear relaxation. Features in pieces (`highest`, `curves`) are cut between a cut and the double after it,
before other continuous ones.

`candidates` looks for that witness: the widest gap first, then the shared features are set one by one,
coarse steps first and continuous ones last, so that s + s' comes to rest at zero (a greedy subset sum).

Two scores, lean F(x) - (1 - lean) G(x'), stand for conditions of two classes (`model.cases`). The bound of one direction is exact, as for one score (`separable`). But a case of classes has several conditions, and one line sees
only two of them: so cells are cut along continuous features as readily as along others, until for each of them two are enough.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.feature_maxima import (
    best_band,
    best_levels,
    best_marks,
    feature_marks,
    positions_inside,
    term_table,
)
from likewise.cells.forms import Forms, widest_cut
from likewise.cells.leaf import Clearance, Leaf, RelaxationResult, Rule
from likewise.cells.nearness import nearness_of
from likewise.cells.penalty import admissible
from likewise.cells.separable import ExactBound, exact_bound
from likewise.families.affine.closest_sums import MovableFeature, closest_sums, thin_out
from likewise.families.affine.cost_shares import line_less_costs
from likewise.families.affine.near_lines import NearLines
from likewise.families.oracle import Bounder, Bounds
from likewise.model.witness_set import Direction
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import Separable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.feature_maxima import Marks
    from likewise.cells.relaxation import LinearRelaxation
    from likewise.model.witness_set import WitnessSet

    Floats = NDArray[np.float64]

# Rounding of a sum of n products is below (n + 1) half ulps of the sum of absolute values; 4 covers both
# copies, the multipliers and the final additions with room to spare. Only steers: the exact check decides.
MOST_EVALUATORS = 256  # leaves with multipliers of their own would otherwise fill the memory
TIE_BREAK = 1e-6  # of a variable's full width, against what the score moves
ROUNDING_UNIT = 4 * np.finfo(np.float64).eps


class SeparableBounder(Bounder):
    """Oracle of an affine body on the pairs of a space."""

    rule: Rule = "separable"
    exact = True
    sees_constraints = True
    other: Separable | None = None  # the score of x', where that is another one (`RivalBounder`)

    def __init__(self, score: Separable, pairs: PairSpace) -> None:
        self.score = score
        self.pairs = pairs
        self.first = np.array(pairs.first, dtype=np.intp)
        self.second = np.array(pairs.second, dtype=np.intp)
        self.discrete = np.array([v.discrete for v in pairs.variables])
        self.bias = float(score.bias)
        self.values = [term_table(pairs, k, term) for k, term in enumerate(score.terms)]
        self.marks = [feature_marks(pairs, k, term) for k, term in enumerate(score.terms)]
        self.widths = np.array([float(v.hi) - float(v.lo) for v in pairs.variables])
        self.lossy = {k for k, marks in enumerate(self.marks) if marks is not None and marks.loses}
        self.evaluators: dict[tuple[Leaf, WitnessSet], tuple[Direction, ExactBound]] = {}
        self.relaxation: LinearRelaxation | None = None
        nearness = nearness_of(pairs)
        self.near = (
            None if nearness is None else NearLines(self, nearness, ROUNDING_UNIT * (len(score.terms) + 2))
        )
        if pairs.constraints:
            from likewise.cells.relaxation import LinearRelaxation

            self.relaxation = LinearRelaxation(score, pairs)

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        found = self._bound_features(lo, hi, lean)
        return found if self.near is None else self.near.bound(found, lo, hi, lean, threshold)

    def _bound_features(self, lo: Floats, hi: Floats, lean: Floats) -> Bounds:
        upper = (2 * lean - 1) * self.bias
        size = np.abs(upper)
        points = lo.copy()
        score1, score2 = np.full(len(lo), self.bias), np.full(len(lo), self.bias)
        loss = np.zeros_like(lo) if self.lossy else None
        for k in range(len(self.score.terms)):
            value, x, y = self.best_codes(k, lo, hi, lean)
            if loss is not None:
                self._charge_loss(k, lo, hi, lean, value, (x, y), loss)
            upper += value
            size += np.where(np.isfinite(value), np.abs(value), 0)
            points[:, self.first[k]] = x
            points[:, self.second[k]] = y
            score1 += self.term_values(k, x)
            score2 += self.term_values(k, y)
        noise = ROUNDING_UNIT * (len(self.score.terms) + 2) * (size + np.abs(score1) + np.abs(score2))
        return Bounds(upper=upper, first=score1, second=score2, points=points, noise=noise, loss=loss)

    def _charge_loss(
        self,
        k: int,
        lo: Floats,
        hi: Floats,
        lean: Floats,
        value: Floats,
        pair: tuple[Floats, Floats],
        loss: Floats,
    ) -> None:
        """What splitting feature k may gain: of curves within a tolerance what their bound gives away; of others how
        much the score moves with them, but nothing where only the difference of two scores counts."""
        i, j = self.first[k], self.second[k]
        if k not in self.lossy:
            for v in {int(i), int(j)}:
                loss[:, v] = np.where(lean == 0.5, 0, self._spread(k, lo[:, v], hi[:, v]))
            return
        attained = lean * self.term_values(k, pair[0]) - (1 - lean) * self.term_values(k, pair[1])
        given_away = np.where(np.isfinite(value), np.maximum(value - attained, 0), 0)
        for v in (i, j):
            width = hi[:, v] - lo[:, v]
            whole = np.maximum(hi[:, i] - lo[:, i] + hi[:, j] - lo[:, j], np.finfo(np.float64).tiny)
            loss[:, v] = given_away * width / whole

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        found = self.bound(lo, hi, np.full(len(lo), 0.5), np.zeros(len(lo)))
        points, missing = found.points.copy(), -(found.first + found.second)
        for k in self._greedy_order():
            missing -= self._shift_feature(k, lo, hi, points, missing)
        return points

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        """Widest gap, then s + s' brought to zero by a meet in the middle (or by a continuous feature)."""
        moving = self._greedy_order()
        if not moving or not all(self.discrete[self.first[k]] for k in moving):
            return self.candidates(lo[None], hi[None])
        found = self.bound(lo[None], hi[None], np.array([0.5]), np.zeros(1))
        moves = {k: self._feature_moves(k, lo, hi, found.points[0]) for k in moving}
        if not all(len(steps) for steps, _ in moves.values()):  # a cell that holds no pair
            return found.points
        features = [MovableFeature(feature=k, gains=gains) for k, (_, gains) in moves.items()]
        sums = closest_sums(features, -float(found.first[0] + found.second[0]))
        points = np.repeat(found.points, len(sums), axis=0)
        for row, choices in enumerate(sums):
            for k, choice in choices.items():
                for v in {int(self.first[k]), int(self.second[k])}:
                    points[row, v] += moves[k][0][choice]
        return points

    def _feature_moves(self, k: int, lo: Floats, hi: Floats, point: Floats) -> tuple[Floats, Floats]:
        """How far feature k can be moved, both individuals alike, and what each move adds to s + s'."""
        ends = {int(self.first[k]), int(self.second[k])}
        down = int(max(lo[v] - point[v] for v in ends))
        up = int(min(hi[v] - point[v] for v in ends))
        steps = (down + thin_out(up - down + 1)).astype(float)
        gains = np.zeros(len(steps))
        for v in (self.first[k], self.second[k]):
            gains += self.term_values(k, point[v] + steps) - self.term_values(k, point[v : v + 1])
        return steps, gains

    def branch(
        self,
        lo: Floats,
        hi: Floats,
        loss: Floats | None = None,
        cuts: Floats | None = None,  # noqa: ARG002
    ) -> tuple[NDArray[np.intp], Floats]:
        width = hi - lo
        spread = np.zeros_like(lo)
        for k in range(len(self.score.terms)):
            for v in {int(self.first[k]), int(self.second[k])}:
                spread[:, v] = self._spread(k, lo[:, v], hi[:, v])
        if loss is not None:
            spread = np.where(loss.max(axis=1, keepdims=True) > 0, loss, spread)
        # Near 2^53 the sum of two whole numbers rounds, possibly up to hi: then the left child would be the cell.
        whole = np.minimum(np.floor((lo + hi) / 2), hi - 1)
        middle = np.where(self.discrete, whole, lo + width / 2)
        can_split = np.where(self.discrete, width >= 1, (middle > lo) & (middle < hi))
        stepped, moves = np.broadcast_to(self.discrete, lo.shape), spread > 0
        if any(marks is not None for marks in self.marks):
            cut = self._cuts_inside(lo, hi)
            has_cut = np.isfinite(cut)
            middle, can_split = np.where(has_cut, cut, middle), can_split | has_cut
            stepped = stepped | has_cut
            # Where nothing else tells two variables apart, the wider one: else one of them might be cut for ever.
            spread = spread + TIE_BREAK * width / np.maximum(self.widths, np.finfo(np.float64).tiny)
        # Continuous variables last, then variables the score does not depend on (constraints may).
        rank = np.where(can_split, 1 + spread, 0) + np.where(can_split & stepped & moves, 1e300, 0)
        variable = rank.argmax(axis=1)
        rows = np.arange(len(lo))
        variable = np.where(rank[rows, variable] > 0, variable, -1)
        return variable, middle[rows, variable]

    def _cuts_inside(self, lo: Floats, hi: Floats) -> Floats:
        """For every cell and variable a cut of its feature that lies inside; nan where there is none."""
        found = np.full(lo.shape, np.nan)
        for k, marks in enumerate(self.marks):
            if marks is not None:
                for v in {int(self.first[k]), int(self.second[k])}:
                    found[:, v] = marks.cut_inside(lo[:, v], hi[:, v])
        return found

    def codes_to_try(self) -> dict[int, Floats]:
        """For each feature in pieces the codes at its cuts, one double after them, and where it turns."""
        return {k: marks.codes for k, marks in enumerate(self.marks) if marks is not None}

    def after(self, variable: int, at: float) -> float | None:
        marks = self.marks[self.pairs.variables[variable].feature]
        return None if marks is None or self.discrete[variable] else marks.after(at)

    def relax(self, lo: Floats, hi: Floats, question: WitnessSet) -> RelaxationResult | None:
        return None if self.relaxation is None else self.relaxation.solve(lo, hi, question)

    def leaf_by_costs(self, lo: Floats, hi: Floats, slack: Fraction) -> Leaf | None:
        return None if self.other is not None else line_less_costs(self.score, self.pairs, lo, hi, slack)

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        if leaf.rule != self.rule or leaf.lean is None or not question.admits(leaf.lean):
            return None
        if not admissible(self.pairs, leaf.multipliers):
            return None  # weak duality needs non-negative weights: with any others the bound means nothing
        way, evaluator = self._evaluator(leaf, leaf.lean, question)
        bound = evaluator.bound(lo.tolist(), hi.tolist())
        return math.inf if bound is None else way.clearance(bound)

    def _evaluator(self, leaf: Leaf, lean: Fraction, question: WitnessSet) -> tuple[Direction, ExactBound]:
        key = (leaf, question)
        if key not in self.evaluators:
            if len(self.evaluators) >= MOST_EVALUATORS:
                self.evaluators.clear()
            way = question.direction(lean)
            self.evaluators[key] = way, exact_bound(self.score, self.pairs, way, leaf.multipliers, self.other)
        return self.evaluators[key]

    def best_codes(self, k: int, lo: Floats, hi: Floats, lean: Floats) -> tuple[Floats, Floats, Floats]:
        """max of u_k(x) + v_k(x') over each cell, and where it is attained."""
        i, j = self.first[k], self.second[k]
        here, there = (lo[:, i], hi[:, i]), (lo[:, j], hi[:, j])
        relation = self.pairs.relations[k]
        table = self.values[k]
        if table is not None:
            u, v = np.outer(lean, table), np.outer(lean - 1, table)
            return best_levels(u, v, relation, here, there)
        if (marks := self.marks[k]) is not None:
            return best_marks(marks, lean, relation.kind, here, there)
        slope = float(self.score.terms[k].slope)
        u, v = lean * slope, (lean - 1) * slope
        if relation.kind == "same":
            x = np.where(u + v > 0, here[1], here[0])
            return (u + v) * x, x, x
        x, y = np.where(u > 0, here[1], here[0]), np.where(v > 0, there[1], there[0])
        if relation.kind == "free":
            return u * x + v * y, x, y
        return best_band(u, v, relation.reach, here, there)

    def term_values(self, k: int, codes: Floats) -> Floats:
        """What a feature adds to the score at these codes."""
        table = self.values[k]
        if table is not None:
            looked_up: Floats = table[codes.astype(np.intp)]
            return looked_up
        if (marks := self.marks[k]) is not None:
            return marks.values_at(codes)
        return float(self.score.terms[k].slope) * codes

    def _spread(self, k: int, lo: Floats, hi: Floats) -> Floats:
        """How much the score moves over an interval of one variable."""
        if (marks := self.marks[k]) is not None:
            return marks.spread(lo, hi)
        table = self.values[k]
        if table is None:
            return abs(float(self.score.terms[k].slope)) * (hi - lo)
        inside = positions_inside(len(table), lo, hi)
        most = np.where(inside, table, -np.inf).max(axis=1)
        spread: Floats = most - np.where(inside, table, np.inf).min(axis=1)
        return spread

    def _greedy_order(self) -> list[int]:
        """Features that move both scores alike, in the order in which the greedy sum sets them."""

        def step(k: int) -> tuple[bool, float]:
            table, continuous = self.values[k], not self.discrete[self.first[k]]
            if (marks := self.marks[k]) is not None:
                return continuous, -float(np.ptp(marks.values))
            size = abs(float(self.score.terms[k].slope)) if table is None else float(np.ptp(table))
            return continuous, -size

        movable = [k for k, r in enumerate(self.pairs.relations) if r.kind in ("same", "within")]
        return sorted((k for k in movable if not self.score.terms[k].constant), key=step)

    def _shift_feature(self, k: int, lo: Floats, hi: Floats, points: Floats, missing: Floats) -> Floats:
        """Move feature k (both individuals alike) so that s + s' grows by at most `missing`; by how much."""
        i, j = self.first[k], self.second[k]
        table = self.values[k]
        if table is not None:
            if i != j:
                return np.zeros(len(lo))
            gain = 2 * (table[None, :] - self.term_values(k, points[:, i])[:, None])
            best = _closest_gain(gain, missing, positions_inside(len(table), lo[:, i], hi[:, i]))
            points[:, i] = best
            chosen: Floats = gain[np.arange(len(lo)), best]
            return chosen
        if (marks := self.marks[k]) is not None:
            return self._shift_to_marks(k, marks, lo, hi, points, missing)
        slope = float(self.score.terms[k].slope)
        down = np.maximum(lo[:, i] - points[:, i], lo[:, j] - points[:, j])
        up = np.minimum(hi[:, i] - points[:, i], hi[:, j] - points[:, j])
        move = np.clip(missing / (2 * slope), down, np.maximum(down, up))
        if self.discrete[i]:
            move = np.trunc(move)
        points[:, i] += move
        if i != j:
            points[:, j] += move
        return 2 * slope * move

    def _shift_to_marks(
        self, k: int, marks: Marks, lo: Floats, hi: Floats, points: Floats, missing: Floats
    ) -> Floats:
        """The same for a feature in pieces: to one of its marks, or to where it is."""
        i = self.first[k]
        if i != self.second[k]:
            return np.zeros(len(lo))
        rows, now = np.arange(len(lo)), points[:, i].copy()
        inside = (marks.codes >= lo[:, i, None]) & (marks.codes <= hi[:, i, None])
        gain = 2 * (marks.values[None, :] - marks.values_at(now)[:, None])
        gain = np.concatenate([np.zeros((len(lo), 1)), gain], axis=1)
        best = _closest_gain(
            gain, missing, np.concatenate([np.ones((len(lo), 1), dtype=bool), inside], axis=1)
        )
        points[:, i] = np.where(best > 0, marks.codes[best - 1], now)
        chosen: Floats = gain[rows, best]
        return chosen


def _closest_gain(gain: Floats, missing: Floats, allowed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Towards zero but not past it, so that finer features can still fill in; staying is allowed."""
    room = missing[:, None]
    allowed = allowed & (gain * room >= 0) & (np.abs(gain) <= np.abs(room))
    best: NDArray[np.intp] = np.where(allowed, np.abs(room - gain), np.inf).argmin(axis=1)
    return best


class RivalBounder(SeparableBounder):
    """Oracle of F at x and G at x'."""

    def __init__(self, score: Separable, second: Separable, pairs: PairSpace) -> None:
        super().__init__(score, pairs)
        self.other = second
        self.forms = Forms((score, second), pairs)
        self.relaxation: LinearRelaxation | None = None
        if pairs.constraints:
            from likewise.cells.relaxation import LinearRelaxation

            self.relaxation = LinearRelaxation(score, pairs, second)

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:  # noqa: ARG002
        nothing = np.zeros_like(lean)
        found = self.forms.maximum(
            np.stack([lean, nothing], axis=1), np.stack([nothing, lean - 1], axis=1), lo, hi
        )
        first = self.forms.at(found.points[:, self.first])[:, 0]
        second = self.forms.at(found.points[:, self.second])[:, 1]
        terms = len(self.score.terms) + 2
        noise = ROUNDING_UNIT * terms * (found.size + np.abs(first) + np.abs(second))
        return Bounds(upper=found.upper, first=first, second=second, points=found.points, noise=noise)

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        return self.bound(lo, hi, np.full(len(lo), 0.5), np.zeros(len(lo))).points

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        return Bounder.starts(self, lo, hi)

    def branch(
        self,
        lo: Floats,
        hi: Floats,
        loss: Floats | None = None,
        cuts: Floats | None = None,  # noqa: ARG002
    ) -> tuple[NDArray[np.intp], Floats]:
        spread = self.forms.spread(np.eye(2), lo, hi) if loss is None else loss
        return widest_cut(self.forms, self.discrete, spread, lo, hi)

    def after(self, variable: int, at: float) -> float | None:
        return self.forms.after(variable, at)
