"""Nearness: how near each other the pairs of a cell can be, and which are nearest, over many cells in float64. Only proposes; `penalty` decides.

Costs of single features do not know of each other: each is least by itself, where codes are equal or as near as the cell has them. `best_apart` is where one feature's
u x + v x' is largest less a multiple of its cost; with that multiple a line is bounded by what pairs of a distance can reach, not by what their features could one by one.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.form_nearness import FormNearness
from likewise.spec.features import Categorical, Ordinal
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Interval = tuple[Floats, Floats]

ROUNDING = 1e-12  # relative: what a sum of costs may be off by
LEVEL_PAIRS = 4_000_000  # of levels and cells that are looked at at a time


class Nearness:
    """The distance of a pair space over its cells."""

    def __init__(self, pairs: PairSpace) -> None:
        if pairs.distance is None:
            raise ValueError("there is no distance")
        self.pairs, self.distance = pairs, pairs.distance
        self.bound = nearest_double(self.distance.bound)
        self.power = self.distance.power
        costs = enumerate(self.distance.costs)
        self.costly = [k for k, cost in costs if cost is not None and pairs.relations[k].kind != "same"]
        self.each: dict[int, float] = {}  # by feature: what a difference of 1 costs, to the power
        self.tables: dict[int, Floats] = {}  # or what two positions do, infinite where they are not similar
        for k in self.costly:
            cost, feature = self.distance.costs[k], pairs.space[pairs.space.names[k]]
            if cost is None:
                continue
            if isinstance(feature, (Categorical, Ordinal)):
                relation = pairs.relations[k]
                table = [[nearest_double(c**self.power) for c in row] for row in cost.between(feature.size)]
                allowed = [[relation.allows(i, j) for j in range(feature.size)] for i in range(feature.size)]
                self.tables[k] = np.where(allowed, np.array(table), np.inf)
            else:
                self.each[k] = nearest_double((cost.each or Fraction(0)) ** self.power)
        self.discrete = np.array([v.discrete for v in pairs.variables])
        self.forms = FormNearness(pairs) if self.distance.forms else None

    def far_multipliers(self, lo: Floats, hi: Floats) -> tuple[Fraction, ...]:
        """The numbers of a leaf that a cell has no pair within the distance."""
        numbers = [Fraction(0)] * (2 * len(self.pairs.constraints)) + [Fraction(1)]
        if self.forms is not None:
            numbers += [Fraction(y) for y in self.forms.least(lo[None], hi[None])[1][0].tolist()]
        return tuple(numbers)

    def least(self, lo: Floats, hi: Floats) -> Floats:
        """A number of each cell that no pair of it is nearer than, up to rounding."""
        total = np.zeros(len(lo))
        for k in self.costly:
            total += self.nearest_codes(k, lo, hi)[0]
        if self.forms is not None:
            total += np.maximum(self.forms.least(lo, hi)[0], 0)
        return total * (1 + ROUNDING)

    def nearest(self, lo: Floats, hi: Floats) -> Floats:
        """The nearest pair of each cell; what costs nothing is as near the middle as codes are."""
        pairs, points = self.pairs, _middle(lo, hi, self.discrete)
        for k, (i, j) in enumerate(zip(pairs.first, pairs.second, strict=True)):
            if i != j and k not in self.costly:
                points[:, j] = np.clip(points[:, i], lo[:, j], hi[:, j])
                points[:, i] = np.clip(points[:, j], lo[:, i], hi[:, i])
        for k in self.costly:
            _, x, y = self.nearest_codes(k, lo, hi)
            points[:, pairs.first[k]], points[:, pairs.second[k]] = x, y
        if self.forms is not None:
            _, apart, chosen = self.forms.settle(lo, hi)
            self.forms.placed(points, lo, hi, apart, chosen, self.discrete)
        return points

    def at(self, points: Floats) -> Floats:
        """The distance of each pair."""
        total = np.zeros(len(points))
        for k in self.costly:
            total += self.cost_at(k, points)
        return total if self.forms is None else total + self.forms.at(points)

    def cost_at(self, k: int, points: Floats) -> Floats:
        """What a feature adds to the distance of each pair."""
        x, y = points[:, self.pairs.first[k]], points[:, self.pairs.second[k]]
        found: Floats
        if k in self.tables:
            found = self.tables[k][x.astype(np.intp), y.astype(np.intp)]
        else:
            found = self.each[k] * np.abs(y - x) ** self.power
        return found

    def pulled(self, points: Floats) -> Floats:
        """The pairs pulled together where they are too far apart: what costs most for its levels is made equal first, then all numbers go back in proportion."""
        if self.forms is not None:
            return self.forms.pulled(points, self.bound, self.discrete)
        found = points.copy()
        dear = {k: float(np.where(np.isfinite(table), table, 0).max()) for k, table in self.tables.items()}
        for k in sorted(dear, key=lambda k: -dear[k]):
            far = self.at(found) - self._of_numbers(found) > self.bound
            found[far, self.pairs.second[k]] = found[far, self.pairs.first[k]]
        left = np.maximum(self.bound - (self.at(found) - self._of_numbers(found)), 0)
        spent = self._of_numbers(found)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(spent > left, (left / spent) ** (1 / self.power), 1.0)
        for k in self.each:
            i, j = self.pairs.first[k], self.pairs.second[k]
            d = (found[:, j] - found[:, i]) * share
            found[:, j] = found[:, i] + (np.trunc(d) if self.discrete[i] else d)
        return found

    def cut_around(self, lo: Floats, hi: Floats, inner_lo: Floats, inner_hi: Floats) -> tuple[int, float]:
        """Where to cut a cell so that a part of it, all of whose pairs are too far apart, comes to stand by itself: beside the codes of the feature that keeps its pairs apart
        most, on the side of the other individual first; -1 where the part has no limits of its own."""
        costs = {k: float(self.nearest_codes(k, inner_lo[None], inner_hi[None])[0][0]) for k in self.costly}
        if self.forms is not None:
            costs |= dict.fromkeys(self.forms.features, 0.0)
        for k in sorted(costs, key=lambda k: -costs[k]):
            i, j = self.pairs.first[k], self.pairs.second[k]
            left, right = (i, j) if inner_hi[i] <= inner_lo[j] else (j, i)
            for v, upper in ((left, True), (right, False), (left, False), (right, True)):
                if upper and inner_hi[v] < hi[v]:
                    return v, float(inner_hi[v])
                if not upper and inner_lo[v] > lo[v]:
                    at = inner_lo[v] - 1 if self.discrete[v] else np.nextafter(inner_lo[v], -np.inf)
                    return v, float(at)
        return -1, 0.0

    def _of_numbers(self, points: Floats) -> Floats:
        total = np.zeros(len(points))
        for k, each in self.each.items():
            apart = points[:, self.pairs.second[k]] - points[:, self.pairs.first[k]]
            total += each * np.abs(apart) ** self.power
        return total

    def nearest_codes(self, k: int, lo: Floats, hi: Floats) -> tuple[Floats, Floats, Floats]:
        """The least cost of a feature in each cell, and codes that have it."""
        here, there = self._intervals(k, lo, hi)
        nothing = np.zeros(len(lo))
        if k in self.tables:
            zeros = np.zeros((len(lo), len(self.tables[k])))
            value, x, y = self.best_levels(k, zeros, zeros, np.ones(len(lo)), here, there)
        else:
            value, x, y = self.best_apart(k, nothing, nothing, np.ones(len(lo)), lo, hi)
        return -value, x, y

    def _intervals(self, k: int, lo: Floats, hi: Floats) -> tuple[Interval, Interval]:
        i, j = self.pairs.first[k], self.pairs.second[k]
        return (lo[:, i], hi[:, i]), (lo[:, j], hi[:, j])

    # -- one feature less a multiple of its cost -------------------------------------------------------------------

    def best_apart(
        self, k: int, u: Floats, v: Floats, weight: Floats, lo: Floats, hi: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Maximise u x + v x' less weight times the cost, of numbers, over each cell; minus infinity where no codes are similar."""
        here, there = self._intervals(k, lo, hi)
        least, most = there[0] - here[1], there[1] - here[0]
        relation, price = self.pairs.relations[k], weight * self.each[k]
        if relation.tolerance is not None:
            low, high = relation.reach
            least, most = np.maximum(least, low), np.minimum(most, high)
        place = self.pairs.difference[k] if self.pairs.difference else None
        if place is not None:
            least, most = np.maximum(least, lo[:, place]), np.minimum(most, hi[:, place])
        places = [least, most, there[1] - here[1], there[0] - here[0], np.zeros_like(u)]
        if self.power == 2:
            half = np.maximum(2 * price, np.finfo(np.float64).tiny)
            places += [v / half, -u / half]
        values, xs, ds = [], [], []
        for d in places:
            d = np.minimum(np.maximum(d, least), most)
            for x in (np.maximum(here[0], there[0] - d), np.minimum(here[1], there[1] - d)):
                values.append(u * x + v * (x + d) - price * np.abs(d) ** self.power)
                xs.append(x)
                ds.append(d)
        best, rows = np.argmax(values, axis=0), np.arange(len(u))
        value, x, d = np.array(values)[best, rows], np.array(xs)[best, rows], np.array(ds)[best, rows]
        if self.discrete[self.pairs.first[k]]:
            x, d = np.round(x), np.trunc(d)
        y = np.clip(x + d, there[0], there[1])
        return np.where(least > most, -np.inf, value), x, y

    def best_levels(
        self, k: int, u: Floats, v: Floats, weight: Floats, here: Interval, there: Interval
    ) -> tuple[Floats, Floats, Floats]:
        """The same of levels, (cells, levels) each."""
        table, count = self.tables[k], len(self.tables[k])
        positions = np.arange(count)
        inside = (positions >= here[0][:, None]) & (positions <= here[1][:, None])
        beside = (positions >= there[0][:, None]) & (positions <= there[1][:, None])
        value, x, y = np.empty(len(u)), np.empty(len(u)), np.empty(len(u))
        some = max(1, LEVEL_PAIRS // (count * count))
        barred = np.isinf(table)
        for first in range(0, len(u), some):
            part = slice(first, first + some)
            sums = u[part, :, None] + v[part, None, :] - weight[part, None, None] * np.where(barred, 0, table)
            allowed = inside[part, :, None] & beside[part, None, :] & ~barred
            flat = np.where(allowed, sums, -np.inf).reshape(len(sums), -1)
            best = flat.argmax(axis=1)
            value[part] = flat[np.arange(len(flat)), best]
            x[part], y[part] = best // count, best % count
        return value, x, y


def _middle(lo: Floats, hi: Floats, discrete: NDArray[np.bool_]) -> Floats:
    count = len(discrete)
    low, high = lo[:, :count], hi[:, :count]
    middle = low / 2 + high / 2
    return np.where(discrete, np.floor(middle), middle)


class SpaceKey:
    """A pair space by its identity: what is kept of it need not be compared."""

    def __init__(self, pairs: PairSpace) -> None:
        self.pairs = pairs

    def __hash__(self) -> int:
        return id(self.pairs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpaceKey) and other.pairs is self.pairs


@lru_cache(maxsize=32)
def _made_once(key: SpaceKey) -> Nearness:
    return Nearness(key.pairs)


def nearness_of(pairs: PairSpace) -> Nearness | None:
    """What is known of the distance of a pair space, made once; None where there is none."""
    return None if pairs.distance is None else _made_once(SpaceKey(pairs))
