"""Lines over pairs within a distance, for separable scores: the bound of a cell less a multiple of the distance, feature by feature, with costs or with tangents of squared forms (`near_bounds` finds the multiple)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.feature_maxima import best_band
from likewise.cells.form_nearness import TANGENT_GRID
from likewise.families.affine.near_bounds import LineMaximum, bound_near, exact_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.form_nearness import FormNearness
    from likewise.cells.nearness import Nearness
    from likewise.families.affine.bounder import SeparableBounder
    from likewise.families.oracle import Bounds

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NearLines:
    """A bounder's lines less multiples of the distance; `noise` is the rounding of a sum, relative to its size."""

    lines: SeparableBounder
    nearness: Nearness
    noise: float

    def bound(self, found: Bounds, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        """The bounds made better where a line is not below its threshold, and only pairs that are too far apart attain it."""
        nearness = self.nearness
        cells = np.flatnonzero(
            (found.upper > threshold)
            & np.isfinite(found.upper)
            & (nearness.at(found.points) > nearness.bound)
        )
        constraints = (Fraction(0),) * (2 * len(self.lines.pairs.constraints))
        multipliers: list[tuple[Fraction, ...]] = [()] * len(lo)
        if not len(cells):
            return replace(found, multipliers=multipliers)

        def maximum(some: NDArray[np.intp], weight: Floats) -> LineMaximum:
            return self._less_distance(lo[some], hi[some], lean[some], weight)

        best = bound_near(nearness, maximum, cells, found.upper[cells], found.points[cells])
        weights = exact_weights(best.weight, [self._turning_weights(at) for at in lean[cells].tolist()])
        for i, weight, tangents in zip(cells.tolist(), weights, best.tangents.tolist(), strict=True):
            multipliers[i] = (*constraints, weight, *map(Fraction, tangents)) if weight else ()
        upper, points, noise = found.upper.copy(), found.points.copy(), found.noise.copy()
        upper[cells], points[cells] = best.upper, best.points
        noise[cells] += self.noise * best.size
        first, second = found.first.copy(), found.second.copy()
        first[cells], second[cells] = (
            self._scores_at(best.points[:, list(owner)]) for owner in (self.lines.first, self.lines.second)
        )
        return replace(
            found,
            upper=upper,
            points=points,
            noise=noise,
            first=first,
            second=second,
            multipliers=multipliers,
        )

    def _scores_at(self, codes: Floats) -> Floats:
        total = np.full(len(codes), self.lines.bias)
        for k in range(len(self.lines.score.terms)):
            total += self.lines.term_values(k, codes[:, k])
        return total

    def _less_distance(self, lo: Floats, hi: Floats, lean: Floats, weight: Floats) -> LineMaximum:
        """The line's maximum over each cell less a multiple of the distance."""
        if self.nearness.forms is not None:
            return self._less_forms(self.nearness.forms, lo, hi, lean, weight)
        total, points = (2 * lean - 1) * self.lines.bias, lo.copy()
        size = np.abs(total)
        for k in range(len(self.lines.score.terms)):
            value, x, y = self._costly_feature(k, lo, hi, lean, weight)
            total = total + value
            size += np.where(np.isfinite(value), np.abs(value), 0)
            points[:, self.lines.first[k]], points[:, self.lines.second[k]] = x, y
        return LineMaximum(value=total, points=points, size=size)

    def _costly_feature(
        self, k: int, lo: Floats, hi: Floats, lean: Floats, weight: Floats
    ) -> tuple[Floats, Floats, Floats]:
        nearness = self.nearness
        if k not in nearness.costly:
            return self.lines.best_codes(k, lo, hi, lean)
        if (table := self.lines.values[k]) is not None:
            i, j = self.lines.first[k], self.lines.second[k]
            here, there = (lo[:, i], hi[:, i]), (lo[:, j], hi[:, j])
            return nearness.best_levels(
                k, np.outer(lean, table), np.outer(lean - 1, table), weight, here, there
            )
        if self.lines.marks[k] is not None:
            value, x, y = self.lines.best_codes(k, lo, hi, lean)
            nothing = np.zeros(len(lo))
            return value + nearness.best_apart(k, nothing, nothing, weight, lo, hi)[0], x, y
        slope = float(self.lines.score.terms[k].slope)
        return nearness.best_apart(k, lean * slope, (lean - 1) * slope, weight, lo, hi)

    def _less_forms(
        self, forms: FormNearness, lo: Floats, hi: Floats, lean: Floats, weight: Floats
    ) -> LineMaximum:
        """The same of a distance of squared forms, by their tangents where line and distance are in balance."""
        pull: dict[int, Floats] = {
            k: -float(self.lines.score.terms[k].slope) / 2 * np.ones(len(lo)) for k in forms.slopes
        }
        for k in forms.steps:
            table, (x, y) = self.lines.values[k], forms.places[k].T
            values = np.zeros(int(forms.places[k].max()) + 1) if table is None else table
            pull[k] = np.outer(lean, values[x]) + np.outer(lean - 1, values[y])
        z, apart, chosen = forms.settle(lo, hi, pull, weight)
        tangents = np.round(z * TANGENT_GRID) / TANGENT_GRID
        total, points = (2 * lean - 1) * self.lines.bias + weight * (tangents**2 @ forms.weights), lo.copy()
        size = np.abs(total)
        for k in range(len(self.lines.score.terms)):
            if k not in forms.features:
                value, x, y = self.lines.best_codes(k, lo, hi, lean)
                points[:, self.lines.first[k]], points[:, self.lines.second[k]] = x, y
            else:
                value = self._less_tangents(
                    k, forms, lo, hi, lean, 2 * weight[:, None] * tangents * forms.weights
                )
            total = total + value
            size += np.where(np.isfinite(value), np.abs(value), 0)
        forms.placed(points, lo, hi, apart, chosen, self.nearness.discrete)
        return LineMaximum(value=total, points=points, size=size, tangents=tangents)

    def _less_tangents(
        self, k: int, forms: FormNearness, lo: Floats, hi: Floats, lean: Floats, factors: Floats
    ) -> Floats:
        """One feature's maximum with what tangents of forms, times these factors, add to it."""
        i, j = self.lines.first[k], self.lines.second[k]
        here, there = (lo[:, i], hi[:, i]), (lo[:, j], hi[:, j])
        if k in forms.steps:
            table, (x, y) = self.lines.values[k], forms.places[k].T
            values = np.zeros(int(forms.places[k].max()) + 1) if table is None else table
            sums = np.outer(lean, values[x]) + np.outer(lean - 1, values[y]) - factors @ forms.steps[k].T
            best: Floats = np.where(forms.barred(k, lo, hi), -np.inf, sums).max(axis=1)
            return best
        if self.lines.marks[k] is not None:
            return np.full(len(lo), np.inf)
        slope, more = float(self.lines.score.terms[k].slope), factors @ forms.slopes[k]
        u, v, relation = lean * slope + more, (lean - 1) * slope - more, self.lines.pairs.relations[k]
        if relation.kind == "free":
            return np.maximum(u * here[0], u * here[1]) + np.maximum(v * there[0], v * there[1])
        return best_band(u, v, relation.reach, here, there)[0]

    def _turning_weights(self, lean: float) -> list[Fraction]:
        """The weights at which differences of numbers begin to pay, where costs are linear."""
        distance = self.lines.pairs.distance
        if distance is None or distance.power != 1:
            return []
        sides = [Fraction(lean), 1 - Fraction(lean)]
        costs = zip(self.lines.score.terms, distance.costs, strict=True)
        return [
            side * abs(term.slope) / cost.each
            for term, cost in costs
            if cost is not None and cost.each and term.slope
            for side in sides
        ]
