"""Cells in which levels that may differ, or that no axis is known for, are not fixed: bounds by chords and tangents (spec/certificate-v1.md, section 25), cell by cell.

Where all that may differ is fixed, both individuals are one sum of Gaussians; else there are twice as many terms, those of x and those of x', each with a line of its own (`rbf.coarse` has the lines).
What the lines come to is a sum of one function a feature: of its code, or of the codes of x and x', over those that satisfy its relation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.families.kernel.distances import NumberDistance
from likewise.families.kernel.rbf.coarse import CHORD_ROOM, WIDEST_TANGENT, WIDTH_ROOM, peak_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from likewise.families.kernel.bands import Band
    from likewise.families.kernel.body import KernelScore
    from likewise.families.kernel.distances import Distance
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

NEVER = -1.0  # as the widest tangent: constants only
FEWEST_APART = 1e-300


class ChordBound(NamedTuple):
    """An upper bound, the room that a leaf has to leave, and the hint that it is for."""

    upper: float
    room: float
    width: int


class _Terms(NamedTuple):
    """Terms of one sum or of one side: c_t, the smallest and the largest Q_t."""

    coefficients: Floats
    least: Floats
    most: Floats


class OpenCells:
    """Bounds of a score, or of two with the same Gaussians, over any cells of pairs."""

    def __init__(
        self,
        score: KernelScore,
        other: KernelScore,
        pairs: PairSpace,
        distances: Sequence[Distance],
        bands: Sequence[Band],
    ) -> None:
        self.score, self.other, self.pairs, self.distances = score, other, pairs, distances
        self.gamma = score.body.gamma
        self.bands = {band.feature: band for band in bands}
        self.same = [k for k, relation in enumerate(pairs.relations) if relation.kind == "same"]
        self.differing = [k for k in range(len(pairs.relations)) if k not in self.same]
        self.every = list(range(len(pairs.relations)))
        self.allowed = {k: self._allowed_pairs(k) for k in self.differing if self._has_levels(k)}

    def bound(self, lo: Floats, hi: Floats, lean: float) -> ChordBound:
        """The smaller one of the bounds with tangents and without; minus infinity if no codes of a feature satisfy its relation."""
        pairs = self.pairs
        movable = [v for k in self.differing for v in (pairs.first[k], pairs.second[k])]
        fixed = all(lo[v] == hi[v] for v in movable)
        sides = self._folded(lo, hi, lean) if fixed else self._two_copies(lo, hi, lean)
        features = self.same if fixed else self.every
        size = 1.0 + sum(float(np.abs(side.coefficients).sum()) for side in sides)
        wide = sum(float((side.most - side.least)[side.coefficients > 0].sum()) for side in sides)
        found = [
            ChordBound(
                self._bound_at(lo, hi, sides, features, widest),
                CHORD_ROOM * size * (1 + hint) + WIDTH_ROOM * wide,
                hint,
            )
            for widest, hint in ((float(WIDEST_TANGENT), WIDEST_TANGENT), (NEVER, 0))
        ]
        return min(found)

    # -- terms ----------------------------------------------------------------------------------------------------

    def _folded(self, lo: Floats, hi: Floats, lean: float) -> list[_Terms]:
        pairs, body = self.pairs, self.score.body
        here, there = np.zeros(len(body.coefficients)), np.zeros(len(body.coefficients))
        for k in self.differing:
            here += self.distances[k].at(float(lo[pairs.first[k]]))
            there += self.distances[k].at(float(lo[pairs.second[k]]))
        weights = lean * body.coefficients * np.exp(-self.gamma * here)
        weights -= (1 - lean) * self.other.body.coefficients * np.exp(-self.gamma * there)
        return [self._ranged(weights, [(k, lo[v], hi[v]) for k, v in self._variables(self.same, 0)])]

    def _two_copies(self, lo: Floats, hi: Floats, lean: float) -> list[_Terms]:
        weights = lean * self.score.body.coefficients, -(1 - lean) * self.other.body.coefficients
        return [
            self._ranged(weights[side], [(k, *self._codes(lo, hi, k, side)) for k in self.every])
            for side in (0, 1)
        ]

    def _variables(self, features: Sequence[int], side: int) -> list[tuple[int, int]]:
        owner = (self.pairs.first, self.pairs.second)[side]
        return [(k, owner[k]) for k in features]

    def _codes(self, lo: Floats, hi: Floats, k: int, side: int) -> tuple[float, float]:
        """The codes of x (side 0) or x', as far as the other and the difference leave them."""
        if k in self.bands:
            limits = self.bands[k].limits(lo[None], hi[None])
            ends = (limits.lo, limits.hi) if side == 0 else (limits.second_lo, limits.second_hi)
            return float(ends[0][0]), float(ends[1][0])
        v = (self.pairs.first, self.pairs.second)[side][k]
        return float(lo[v]), float(hi[v])

    def _ranged(self, weights: Floats, intervals: Sequence[tuple[int, float, float]]) -> _Terms:
        least, most = np.zeros(len(weights)), np.zeros(len(weights))
        for k, lo, hi in intervals:
            near, far = self._range_on(k, lo, hi)
            least += self.gamma * near
            most += self.gamma * far
        return _Terms(weights, least, most)

    def _range_on(self, k: int, lo: float, hi: float) -> tuple[Floats, Floats]:
        """The smallest and the largest D_tk."""
        distance = self.distances[k]
        if not isinstance(distance, NumberDistance):
            return distance.extremes(lo, hi)
        ends = np.stack([distance.at(lo), distance.at(hi)])
        steep = float((distance.slopes**2).sum())
        if steep == 0 or hi <= lo:
            return ends.min(axis=0), ends.max(axis=0)
        turn = (distance.centres - distance.offsets) @ distance.slopes / steep
        at_turn = (
            distance.offsets + np.clip(turn, lo, hi)[:, None] * distance.slopes - distance.centres
        ) ** 2
        return at_turn.sum(axis=1), ends.max(axis=0)

    # -- lines ------------------------------------------------------------------------------------------------------

    def _bound_at(
        self, lo: Floats, hi: Floats, sides: Sequence[_Terms], features: Sequence[int], widest: float
    ) -> float:
        total, slopes = 0.0, []
        for side in sides:
            level, slope = _lines(side, widest)
            total += level
            slopes.append(slope)
        for k in features:
            total += self._largest(lo, hi, k, slopes)
        return total

    def _largest(self, lo: Floats, hi: Floats, k: int, slopes: Sequence[Floats]) -> float:
        """The largest value of what the lines say of one feature."""
        first, second, distance = self.pairs.first[k], self.pairs.second[k], self.distances[k]
        if k not in self.allowed and not isinstance(distance, NumberDistance):  # levels that both share
            table = self.gamma * (sum(slopes) @ distance.by_level)
            return float(table[int(lo[first]) : int(hi[first]) + 1].max())
        if k in self.allowed:
            if isinstance(distance, NumberDistance):
                raise TypeError("a number has no levels")
            u, v = (self.gamma * (slope @ distance.by_level) for slope in slopes)
            rows, columns = (
                slice(int(lo[first]), int(hi[first]) + 1),
                slice(int(lo[second]), int(hi[second]) + 1),
            )
            both = np.where(self.allowed[k], u[:, None] + v[None], -np.inf)[rows, columns]
            return float(both.max())
        if not isinstance(distance, NumberDistance):
            raise TypeError("what has no levels is a number")
        return self._largest_of_number(lo, hi, k, distance, slopes)

    def _largest_of_number(
        self, lo: Floats, hi: Floats, k: int, distance: NumberDistance, slopes: Sequence[Floats]
    ) -> float:
        first, second = self.pairs.first[k], self.pairs.second[k]
        middle = (float(lo[first]) + float(hi[first])) / 2
        parabolas = np.array([self._parabola(distance, middle, slope) for slope in slopes])
        if len(parabolas) == 1 or first == second:
            ends = np.array([lo[first] - middle, hi[first] - middle] * 2 + [0.0, 0.0, abs(middle)])
            nothing = np.zeros(3)
            if ends[1] <= ends[0]:
                return float(parabolas[:, 0].sum())
            return float(peak_apart(np.ascontiguousarray(parabolas.sum(axis=0)), nothing, ends)[0])
        x, other = self._codes(lo, hi, k, 0), self._codes(lo, hi, k, 1)
        apart = other[0] - x[1], other[1] - x[0]
        if k in self.bands:
            limits = self.bands[k].limits(lo[None], hi[None])
            apart = float(limits.low[0]), float(limits.high[0])
        if apart[0] > apart[1]:
            return -np.inf
        ends = np.array([*(np.array([*x, *other]) - middle), *apart, abs(middle)])
        return float(peak_apart(parabolas[0].copy(), parabolas[1].copy(), ends)[0])

    def _parabola(
        self, distance: NumberDistance, middle: float, slopes: Floats
    ) -> tuple[float, float, float]:
        """sum_t slope_t gamma D_t as level + tilt y + bend y^2, y = code - middle."""
        away = distance.offsets + distance.slopes * middle - distance.centres
        level = slopes @ (away**2).sum(axis=1)
        tilt = 2 * slopes @ (away @ distance.slopes)
        bend = slopes.sum() * (distance.slopes**2).sum()
        return self.gamma * float(level), self.gamma * float(tilt), self.gamma * float(bend)

    def _has_levels(self, k: int) -> bool:
        return not isinstance(self.distances[k], NumberDistance)

    def _allowed_pairs(self, k: int) -> NDArray[np.bool_]:
        """Which positions of x and x' satisfy the relation."""
        levels = int(self.pairs.variables[self.pairs.first[k]].hi) + 1
        relation = self.pairs.relations[k]
        return np.array([[relation.allows(i, j) for j in range(levels)] for i in range(levels)])


def _lines(terms: _Terms, widest: float) -> tuple[float, Floats]:
    """The sum of the lines at Q = 0, and c_t times their slopes."""
    c, least, most = terms
    apart = most - least
    some = np.maximum(apart, FEWEST_APART)
    chord = np.exp(-least) * np.where(apart > 0, np.expm1(-apart) / some, -1.0)
    touch = least + 6 * apart / (12 + apart)
    tangent = apart <= widest
    slope = np.where(c > 0, chord, np.where(tangent, -np.exp(-touch), 0.0))
    place = np.where(c > 0, least, np.where(tangent, touch, most))
    return float((c * (np.exp(-place) - slope * place)).sum()), c * slope
