"""Nearness by squared forms: distances  sum_j w_j z_j^2,  z_j = sum_k alpha_jk(x'_k) - alpha_jk(x_k),  over cells of pairs in float64. Only proposes; `penalty` decides.

Features are moved one after another to where the sum is least, less a line if one is given: for numbers that comes to rest at the least value of the cell. Its z are then good places y for the tangents
2 y z - y^2 <= z^2, in which the distance is a sum over features: what that is at least over the cell no pair of it is nearer than.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

SWEEPS = 24  # over all features that are moved
PULLS = 40  # halvings of the share that differences of numbers keep
TANGENT_GRID = 2**30  # places of tangents are rounded to it: any are sound


class FormNearness:
    """The forms of a distance, and the features that they move with."""

    def __init__(self, pairs: PairSpace) -> None:
        forms = () if pairs.distance is None else pairs.distance.forms
        self.pairs = pairs
        self.weights = np.array([nearest_double(form.weight) for form in forms])
        moving = [k for k, r in enumerate(pairs.relations) if r.kind != "same"]
        self.slopes: dict[int, Floats] = {}  # by number: what each form gains with 1
        self.steps: dict[
            int, Floats
        ] = {}  # by levels: (pairs of positions, forms), what it gains from one to the other
        self.places: dict[int, NDArray[np.intp]] = {}  # the two positions of each
        for k in moving:
            terms = [form.terms[k] for form in forms]
            if all(term.constant for term in terms):
                continue
            if any(term.table is not None for term in terms):
                size = len(next(term.table for term in terms if term.table is not None))
                table = np.array(
                    [[nearest_double(v) for v in t.table or [Fraction(0)] * size] for t in terms]
                )
                relation = pairs.relations[k]
                allowed = [(i, j) for i in range(size) for j in range(size) if relation.allows(i, j)]
                self.places[k] = np.array(allowed, dtype=np.intp)
                self.steps[k] = (table[:, self.places[k][:, 1]] - table[:, self.places[k][:, 0]]).T
            else:
                self.slopes[k] = np.array([nearest_double(term.slope) for term in terms])
        self.features = [*self.slopes, *self.steps]

    def differences(self, points: Floats) -> Floats:
        """z of each pair, (pairs, forms)."""
        z = np.zeros((len(points), len(self.weights)))
        for k, slopes in self.slopes.items():
            z += np.outer(points[:, self.pairs.second[k]] - points[:, self.pairs.first[k]], slopes)
        for k in self.steps:
            x, y = points[:, self.pairs.first[k]], points[:, self.pairs.second[k]]
            size = int(self.places[k].max()) + 1
            row = np.full((size, size), -1, dtype=np.intp)
            row[self.places[k][:, 0], self.places[k][:, 1]] = np.arange(len(self.places[k]))
            z += self.steps[k][row[x.astype(np.intp), y.astype(np.intp)]]
        return z

    def at(self, points: Floats) -> Floats:
        """The distance of each pair."""
        found: Floats = self.differences(points) ** 2 @ self.weights
        return found

    def limits(self, k: int, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """From what to what a number's difference goes in each cell."""
        i, j = self.pairs.first[k], self.pairs.second[k]
        least, most = lo[:, j] - hi[:, i], hi[:, j] - lo[:, i]
        relation = self.pairs.relations[k]
        if relation.tolerance is not None:
            low, high = relation.reach
            least, most = np.maximum(least, low), np.minimum(most, high)
        return least, np.maximum(least, most)

    def settle(
        self, lo: Floats, hi: Floats, pull: dict[int, Floats] | None = None, weight: Floats | None = None
    ) -> tuple[Floats, dict[int, Floats], dict[int, NDArray[np.intp]]]:
        """z where weight * distance - sum_k pull_k(difference) is least: for numbers `pull` is a slope a cell, for levels one number a pair of positions; with the differences and the pairs of positions."""
        count = len(lo)
        z = np.zeros((count, len(self.weights)))
        scale = np.ones(count) if weight is None else np.maximum(weight, np.finfo(np.float64).tiny)
        apart = {k: np.zeros(count) for k in self.slopes}
        chosen: dict[int, NDArray[np.intp]] = {}
        barred = {k: self.barred(k, lo, hi) for k in self.steps}
        for k in self.steps:
            alike = self.places[k][:, 0] == self.places[k][:, 1]
            chosen[k] = np.where(barred[k], 2, np.where(alike, 0, 1)).argmin(axis=1)
            z += self.steps[k][chosen[k]]
        for _ in range(SWEEPS):
            for k, slopes in self.slopes.items():
                rest = z - np.outer(apart[k], slopes)
                steep = float(slopes**2 @ self.weights)
                towards = 0.0 if pull is None else pull[k] / (2 * scale)
                d = (towards - rest @ (self.weights * slopes)) / steep
                apart[k] = np.clip(d, *self.limits(k, lo, hi))
                z = rest + np.outer(apart[k], slopes)
            for k, steps in self.steps.items():
                rest = z - steps[chosen[k]]
                value = ((rest[:, None, :] + steps[None]) ** 2 @ self.weights) * scale[:, None]
                if pull is not None:
                    value = value - pull[k]
                chosen[k] = np.where(barred[k], np.inf, value).argmin(axis=1)
                z = rest + steps[chosen[k]]
        return z, apart, chosen

    def barred(self, k: int, lo: Floats, hi: Floats) -> NDArray[np.bool_]:
        """Which pairs of positions a cell does not have."""
        i, j = self.pairs.first[k], self.pairs.second[k]
        x, y = self.places[k].T
        inside = (x >= lo[:, i, None]) & (x <= hi[:, i, None]) & (y >= lo[:, j, None]) & (y <= hi[:, j, None])
        barred: NDArray[np.bool_] = ~inside
        return barred

    def least(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """What no pair of a cell is nearer than, and the places of tangents that show it."""
        y = np.round(self.settle(lo, hi)[0] * TANGENT_GRID) / TANGENT_GRID
        total = -(y**2 @ self.weights)
        for k, slopes in self.slopes.items():
            slope = 2 * y @ (self.weights * slopes)
            least, most = self.limits(k, lo, hi)
            total += np.minimum(slope * least, slope * most)
        for k, steps in self.steps.items():
            value = 2 * (y * self.weights) @ steps.T
            total += np.where(self.barred(k, lo, hi), np.inf, value).min(axis=1)
        return total, y

    def placed(
        self,
        points: Floats,
        lo: Floats,
        hi: Floats,
        apart: dict[int, Floats],
        chosen: dict[int, NDArray[np.intp]],
        discrete: NDArray[np.bool_],
    ) -> None:
        """Put pairs with these differences into points, as near their first individual as they have it."""
        for k, d in apart.items():
            i, j = self.pairs.first[k], self.pairs.second[k]
            whole = np.clip(np.round(d), *self.limits(k, lo, hi)) if discrete[i] else d
            low, high = np.maximum(lo[:, i], lo[:, j] - whole), np.minimum(hi[:, i], hi[:, j] - whole)
            points[:, i] = np.clip(points[:, i], low, np.maximum(low, high))
            points[:, j] = np.clip(points[:, i] + whole, lo[:, j], hi[:, j])
        for k, place in chosen.items():
            points[:, self.pairs.first[k]] = self.places[k][place, 0]
            points[:, self.pairs.second[k]] = self.places[k][place, 1]

    def pulled(self, points: Floats, bound: float, discrete: NDArray[np.bool_]) -> Floats:
        """Pairs with differences of numbers made smaller in proportion until they are near; levels are made equal where that is not enough."""
        found = points.copy()
        far = self.at(self._shrunk(found, np.zeros(len(found)), discrete)) > bound
        for k in self.steps:
            found[far, self.pairs.second[k]] = found[far, self.pairs.first[k]]
        low, high = np.zeros(len(found)), np.ones(len(found))
        for _ in range(PULLS):
            middle = low / 2 + high / 2
            close = self.at(self._shrunk(found, middle, discrete)) <= bound
            low, high = np.where(close, middle, low), np.where(close, high, middle)
        return self._shrunk(found, low, discrete)

    def _shrunk(self, points: Floats, share: Floats, discrete: NDArray[np.bool_]) -> Floats:
        found = points.copy()
        for k in self.slopes:
            i, j = self.pairs.first[k], self.pairs.second[k]
            d = (points[:, j] - points[:, i]) * share
            found[:, j] = points[:, i] + (np.trunc(d) if discrete[i] else d)
        return found
