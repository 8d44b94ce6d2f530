"""Odds bounder: probabilities P_c = 1 / (1 + sum_r exp(d_r)), d_r = f_k - f_c the separable scores of the other classes.

Of a cell it takes M_r, the largest d_r(x') - d_r(x) of its pairs, in which all that both share cancels, and a polytope that d(x) lies in: its extent in a number of
directions. P_c(x) - P_c(x') is at most what `polytope` finds over the polytope (spec/certificate-v1.md, section 10, `odds`). M_r are of different pairs where several features
differ, or one with more than two levels: so cells are cut there first. `bound` is float64; `prove` takes M_r and extents in rationals, and `polytope` with room for its rounding.

Pairs are proposed near the largest difference (`find_individuals_near`). The differences d of separable scores are wanted at a point that is a mean of what some corners of the cell have: so the mean of these corners has it too, as far as
features are numbers that d is linear in. Levels cannot be averaged; each corner's are tried, and numbers are moved until d is right again. Only proposes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

from likewise.cells.forms import Forms, widest_cut
from likewise.cells.leaf import Clearance, Leaf, Rule
from likewise.cells.separable import ExactBound, exact_bound
from likewise.families.affine.bounder import ROUNDING_UNIT
from likewise.families.affine.polytope import Peak, Polytope, choose_directions, largest_gap
from likewise.families.oracle import Bounder, Bounds
from likewise.model.head import log_odds
from likewise.model.witness_set import DifferenceSet, Direction
from likewise.spec.numbers import double_above
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import Separable, weighted_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.witness_set import WitnessSet

    Floats = NDArray[np.float64]

CHECKER_ROOM = 2.0**-28  # left for the checker, which may need 2^-30, and for the rounding of float64 here
SPREAD_WEIGHT = 0.01  # weight of how far scores move in choosing where to cut
ONE = Direction(a=Fraction(1), b=Fraction(1), threshold=Fraction(0), attained=False)


class OddsBounder(Bounder):
    """Oracle of the probability of class c of several separable scores."""

    rule: Rule = "odds"
    exact = True
    proves = False  # boxes of odds are halved in float64, which only the checker makes a proof
    batch = 16  # cells are bounded one by one, some of them slowly

    def __init__(self, scores: Sequence[Separable], of: int, pairs: PairSpace) -> None:
        self.pairs = pairs
        self.first, self.second = np.array(pairs.first, dtype=np.intp), np.array(pairs.second, dtype=np.intp)
        self.discrete = np.array([v.discrete for v in pairs.variables])
        self.apart = np.array([r.kind != "same" for r in pairs.relations])
        rivals = [k for k in range(len(scores)) if k != of]
        alphas = [[Fraction((n == k) - (n == of)) for n in range(len(scores))] for k in rivals]
        self.differences = [weighted_sum(scores, alpha) for alpha in alphas]  # d_1, ..., d_m
        self.forms, self.count = Forms(self.differences, pairs), len(rivals)
        ends = [[float(getattr(pairs.variables[v], end)) for v in pairs.first] for end in ("lo", "hi")]
        self.directions = choose_directions(self.forms, *np.array(ends))
        units = np.concatenate([np.eye(self.count), -np.eye(self.count)])
        self.all = np.concatenate([units, np.array(self.directions, dtype=float).reshape(-1, self.count)])
        self.known: dict[tuple[tuple[int, ...], bool], ExactBound] = {}

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:  # noqa: ARG002
        """The largest difference of probabilities: `upper` and `threshold` are such, whatever the lean."""
        cells, m = len(lo), self.count
        unit = np.tile(np.eye(m), (cells, 1))
        moved = self.forms.maximum(-unit, unit, np.repeat(lo, m, axis=0), np.repeat(hi, m, axis=0))
        moves, movers = moved.upper.reshape(cells, m), moved.points.reshape(cells, m, -1)
        extent = np.tile(self.all, (cells, 1))
        j = len(self.all)
        reached = self.forms.maximum(
            extent, np.zeros_like(extent), np.repeat(lo, j, axis=0), np.repeat(hi, j, axis=0)
        )
        limits, corners = reached.upper.reshape(cells, j), reached.points.reshape(cells, j, -1)
        noise = ROUNDING_UNIT * (len(self.first) + 2) * (moved.size.reshape(cells, m).max(axis=1) + 1)
        upper, points, loss = np.full(cells, -np.inf), movers[:, 0].copy(), np.zeros_like(lo)
        for i in np.flatnonzero(np.isfinite(moves).all(axis=1)):
            peak = largest_gap(moves[i], self._region(limits[i]), float(threshold[i]) - 2 * CHECKER_ROOM)
            upper[i] = peak.upper
            if peak.upper <= threshold[i] - CHECKER_ROOM:
                continue
            points[i] = self._best_pair_near(peak.at, corners[i], movers[i], lo[i], hi[i])
            loss[i] = self._loss(peak, moves[i], movers[i], lo[i], hi[i])
        nothing_moves = moves.max(axis=1) <= noise
        return Bounds(
            upper=np.where(nothing_moves, np.minimum(upper, 0), upper),
            first=self._log_odds(points[:, self.first]),
            second=self._log_odds(points[:, self.second]),
            points=points,
            noise=np.zeros(cells),
            closes=(upper <= threshold - CHECKER_ROOM) | nothing_moves,
            loss=loss,
        )

    def _region(self, limits: Floats) -> Polytope:
        """The polytope of these extents in all directions."""
        m = self.count
        return Polytope(
            lo=-limits[m : 2 * m], hi=limits[:m], directions=self.all[2 * m :], limits=limits[2 * m :]
        )

    def _best_pair_near(self, d: Floats, corners: Floats, movers: Floats, lo: Floats, hi: Floats) -> Floats:
        """The best of some pairs whose x is about where d is, and whose differing features are those that move one d_r most."""
        first = self.first
        found = find_individuals_near(self.forms, d, corners[:, first], lo[first], hi[first])
        found = np.where(self.discrete[first], np.round(found), found)
        tried = np.tile(movers, (len(found), 1))
        x = np.repeat(found, len(movers), axis=0)
        for k, relation in enumerate(self.pairs.relations):
            i, j = self.first[k], self.second[k]
            if relation.kind == "same":
                tried[:, i] = x[:, k]
            elif relation.tolerance is not None and self.forms.tables[k] is None:
                tried[:, j] = np.clip(x[:, k] + tried[:, j] - tried[:, i], lo[j], hi[j])
                tried[:, i] = x[:, k]
        gap = [self._log_odds(tried[:, side]) for side in (self.second, self.first)]
        best: Floats = tried[int((np.tanh(gap[0] / 2) - np.tanh(gap[1] / 2)).argmin())]
        return best

    def _loss(self, peak: Peak, moves: Floats, movers: Floats, lo: Floats, hi: Floats) -> Floats:
        """How much cutting a variable may gain: features that different d_r are moved most by in different ways, as far as they
        move these; and a little how far a variable moves d at all."""
        m = self.count
        share = np.exp(peak.at + moves - (peak.at + moves).max())
        weights = np.diag(share / share.sum())
        loss: Floats = SPREAD_WEIGHT * self.forms.spread(np.eye(m), lo[None], hi[None])[0]
        moved = self.forms.spread(weights, lo[None], hi[None])[0]
        for k in np.flatnonzero(self.apart):
            both = [self.first[k], self.second[k]]
            if (movers[:, both] != movers[:1, both]).any():
                loss[both] += moved[both]
        return loss

    def _log_odds(self, codes: Floats) -> Floats:
        return log_odds(np.concatenate([np.zeros((len(codes), 1)), self.forms.at(codes)], axis=1), 0)

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        middle = lo + np.where(self.discrete, np.floor((hi - lo) / 2), (hi - lo) / 2)
        for k, relation in enumerate(self.pairs.relations):
            i, j = self.first[k], self.second[k]
            if relation.tolerance is not None:
                low, high = relation.reach
                middle[:, j] = np.clip(middle[:, j], middle[:, i] + low, middle[:, i] + high)
        return middle

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        """A pair near the largest difference that the whole space allows."""
        return self.bound(lo[None], hi[None], np.full(1, 0.5), np.zeros(1)).points

    def branch(
        self,
        lo: Floats,
        hi: Floats,
        loss: Floats | None = None,
        cuts: Floats | None = None,  # noqa: ARG002
    ) -> tuple[NDArray[np.intp], Floats]:
        spread = self.forms.spread(np.eye(self.count), lo, hi)
        if loss is not None:
            spread = np.where(loss.max(axis=1, keepdims=True) > 0, loss, spread)
        return widest_cut(self.forms, self.discrete, spread, lo, hi)

    def after(self, variable: int, at: float) -> float | None:
        return self.forms.after(variable, at)

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        if leaf.rule != "odds" or not isinstance(question, DifferenceSet):
            return None
        ends, m = (lo.tolist(), hi.tolist()), self.count
        units = [tuple(int(n == r) for n in range(m)) for r in range(m)]
        moves = [self._exact(unit, moves=True).bound(*ends) for unit in units]
        rows = [*units, *(tuple(-e for e in unit) for unit in units), *leaf.directions]
        limits = [self._exact(row, moves=False).bound(*ends) for row in rows]
        found = [value for value in (*moves, *limits) if value is not None]
        if len(found) < len(moves) + len(limits):
            return float("inf")
        if max(found[:m]) <= 0:
            return Fraction(0)
        values = np.array([double_above(value) for value in found])
        region = Polytope(
            lo=-values[2 * m : 3 * m],
            hi=values[m : 2 * m],
            directions=np.array(leaf.directions, dtype=float).reshape(-1, m),
            limits=values[3 * m :],
        )
        level = float(question.delta) - CHECKER_ROOM
        return (
            Fraction(0)
            if largest_gap(values[:m] + CHECKER_ROOM, region.raised(CHECKER_ROOM), level).upper <= level
            else None
        )

    def _exact(self, row: tuple[int, ...], *, moves: bool) -> ExactBound:
        """max over cells of row . d at x' less the same at x (`moves`), or of row . d at x."""
        if (row, moves) not in self.known:
            here = [Fraction(-e if moves else e) for e in row]
            there = [Fraction(-e if moves else 0) for e in row]
            self.known[row, moves] = exact_bound(
                weighted_sum(self.differences, here),
                self.pairs,
                ONE,
                (),
                weighted_sum(self.differences, there),
            )
        return self.known[row, moves]


MOST_STEPS = 12  # least squares solved, with the numbers that have not reached an end
SUM_PENALTY = 1e3  # how much more it counts that weights add up to 1 than that the mean is right
LEAST_WEIGHT = 1e-6  # weight of a corner that is tried


def find_individuals_near(forms: Forms, d: Floats, corners: Floats, lo: Floats, hi: Floats) -> Floats:
    """Codes of a few individuals of the box whose scores are about d; corners (n, features)."""
    heavy = SUM_PENALTY * (1 + np.abs(d).max())
    reached = forms.at(corners)
    system = np.concatenate([reached.T, np.full((1, len(reached)), heavy)])
    weights, _ = nnls(system, np.append(d, heavy))
    mean = np.clip(weights @ corners / max(float(weights.sum()), LEAST_WEIGHT), lo, hi)
    levels = np.array([table is not None for table in forms.tables])
    linear = np.array(
        [not level and curve is None for level, curve in zip(levels, forms.curves, strict=True)]
    )
    slopes = np.array(
        [slope if line else 0 * slope for slope, line in zip(forms.slopes, linear, strict=True)]
    )
    found = []
    for corner in corners[weights > LEAST_WEIGHT]:
        x = np.where(levels, corner, mean)
        found.append(_move_numbers(forms, x, d, slopes * (hi - lo)[:, None], lo, hi))
    return np.array(found or [mean])


def _move_numbers(forms: Forms, x: Floats, d: Floats, slopes: Floats, lo: Floats, hi: Floats) -> Floats:
    """x with its numbers moved, as little as need be for the widths of their intervals, until the scores are d or all are at an end."""
    free = np.abs(slopes).max(axis=1) > 0
    for _ in range(MOST_STEPS):
        missing = d - forms.at(x[None])[0]
        if not free.any() or np.abs(missing).max() < LEAST_WEIGHT:
            break
        step = np.zeros(len(x))
        step[free] = np.linalg.lstsq(slopes[free].T, missing, rcond=None)[0] * (hi - lo)[free]
        wanted = x + step
        x = np.clip(wanted, lo, hi)
        free = free & (x == wanted)
    return x
