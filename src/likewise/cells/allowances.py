"""What an allowance lets scores of pairs be apart by, over many points and cells in float64. Only proposes; `spec.allowance` and the checker decide."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.form_nearness import FormNearness
from likewise.cells.nearness import Nearness, SpaceKey
from likewise.spec.distance import Distance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.allowance import Allowance
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

CAUTION = 1e-12  # relative: what a sum of costs may be off by


class Allowances:
    """The allowance of a pair space."""

    def __init__(self, pairs: PairSpace, allowance: Allowance) -> None:
        self.pairs, self.allowance, self.constant = pairs, allowance, float(allowance.constant)
        costs = Distance(power=1, costs=allowance.costs, bound=allowance.constant)
        self.nearness = Nearness(replace(pairs, distance=costs, allowance=None))
        self.forms: FormNearness | None = None
        if allowance.forms:
            formed = Distance(
                power=2, costs=(None,) * len(allowance.costs), bound=allowance.constant, forms=allowance.forms
            )
            self.forms = FormNearness(replace(pairs, distance=formed, allowance=None))

    def at(self, points: Floats) -> Floats:
        """L e of each pair."""
        return self.constant * self.distance_at(points)

    def distance_at(self, points: Floats) -> Floats:
        """e of each pair."""
        costs = [self.nearness.cost_at(k, points) for k in self.nearness.costly]
        squares = np.zeros(len(points)) if self.forms is None else self.forms.at(points)
        return self._combined(costs, squares)

    def least(self, lo: Floats, hi: Floats) -> Floats:
        """What L e is not below in each cell, up to rounding, which is taken off."""
        costs = [np.minimum(self.nearness.nearest_codes(k, lo, hi)[0], 1e300) for k in self.nearness.costly]
        squares = np.zeros(len(lo)) if self.forms is None else self._least_squares(lo, hi)
        return self.constant * self._combined(costs, squares) * (1 - CAUTION)

    def nearest(self, lo: Floats, hi: Floats) -> Floats:
        """The nearest pair of each cell by costs."""
        return self.nearness.nearest(lo, hi)

    def _combined(self, costs: list[Floats], squares: Floats) -> Floats:
        if self.allowance.norm == 2:
            total: Floats = np.sqrt(sum((cost * cost for cost in costs), squares))
            return total
        stacked = np.stack([np.zeros(len(squares)), *costs])
        found: Floats = stacked.sum(axis=0) if self.allowance.norm == 1 else stacked.max(axis=0)
        return found

    def _least_squares(self, lo: Floats, hi: Floats) -> Floats:
        if self.forms is None:
            return np.zeros(len(lo))
        count = len(self.forms.weights)
        low, high = np.zeros((len(lo), count)), np.zeros((len(lo), count))
        for k, slopes in self.forms.slopes.items():
            least, most = self._apart(k, lo, hi)
            ends = np.stack([least[:, None] * slopes, most[:, None] * slopes])
            low += ends.min(axis=0)
            high += ends.max(axis=0)
        for k, steps in self.forms.steps.items():
            barred = self.forms.barred(k, lo, hi)
            low += np.where(barred[:, :, None], np.inf, steps[None]).min(axis=1)
            high += np.where(barred[:, :, None], -np.inf, steps[None]).max(axis=1)
        nearest = np.clip(np.maximum(low, -high), 0, 1e150)
        squares: Floats = (nearest * nearest) @ self.forms.weights
        return squares

    def _apart(self, k: int, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        i, j, relation = self.pairs.first[k], self.pairs.second[k], self.pairs.relations[k]
        least, most = lo[:, j] - hi[:, i], hi[:, j] - lo[:, i]
        if relation.tolerance is not None:
            low, high = relation.reach
            least, most = np.maximum(least, low), np.minimum(most, high)
        place = self.pairs.difference[k] if self.pairs.difference else None
        if place is not None:
            least, most = np.maximum(least, lo[:, place]), np.minimum(most, hi[:, place])
        return least, most


@lru_cache(maxsize=32)
def _made_once(key: SpaceKey) -> Allowances | None:
    return None if key.pairs.allowance is None else Allowances(key.pairs, key.pairs.allowance)


def allowances_of(pairs: PairSpace) -> Allowances | None:
    """The allowance of a pair space over its cells, made once; None where there is none."""
    return None if pairs.allowance is None else _made_once(SpaceKey(pairs))
