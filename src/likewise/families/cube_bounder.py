"""Cells as cubes: what bounders have in common that see a cell of pair space as a box of coordinates (`coordinates`), both copies at once.

No feature needs to be fixed before a cell can be bounded: what may differ only adds coordinates.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.families.coordinates import MOST_PLACES, Coordinate, EmbeddedScore, make_coordinates
from likewise.families.oracle import Bounder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

FIRST_RANK = 1e300  # rank of levels that may differ: each pair of them is a function of its own
FEW_CODES = 8  # codes of an integer that is free, so that it is treated like levels


class Boxes(NamedTuple):
    """Cells in the t's of the coordinates, and the places of their groups (count 0: none)."""

    middle: Floats
    half: Floats
    place_from: Indices
    place_count: Indices
    empty: NDArray[np.bool_]  # no pair is left, because nobody is similar


class CubeBounder(Bounder):
    """The geometry of cells; a family adds its bounds."""

    def __init__(self, score: EmbeddedScore, pairs: PairSpace) -> None:
        self.pairs = pairs
        self.first = np.array(pairs.first, dtype=np.intp)
        self.second = np.array(pairs.second, dtype=np.intp)
        self.discrete = np.array([v.discrete for v in pairs.variables])
        self.coordinates = make_coordinates(score, pairs)
        self.extremes = [_RangeExtremes(c) if c.kind == "level" else None for c in self.coordinates.all]
        self.ahead = np.array(sorted(self._variables_to_fix()), dtype=np.intp)

    def _variables_to_fix(self) -> set[int]:
        """The variables to fix first, so that a cell is about two values: levels and few codes that may differ."""
        return {
            c.variables[0]
            for c in self.coordinates.all
            if (c.kind == "level" and self.pairs.relations[c.feature].kind != "same")
            or (c.kind == "number" and c.discrete and self._is_free_with_few_codes(c))
        }

    def _is_free_with_few_codes(self, c: Coordinate) -> bool:
        v = self.pairs.variables[c.variables[0]]
        return self.pairs.relations[c.feature].kind == "free" and v.hi - v.lo < FEW_CODES

    def _is_contradictory(self, lo: Floats, hi: Floats) -> bool:
        """Whether no two codes of a cell have a difference that its own variable allows: exactly what a checker looks at first."""
        low, high = ([Fraction(c) for c in limits.tolist()] for limits in (lo, hi))
        differences = ((k, d) for k, d in enumerate(self.pairs.difference) if d is not None)
        codes = ((self.pairs.first[k], self.pairs.second[k], d) for k, d in differences)
        return any(max(low[d], low[j] - high[i]) > min(high[d], high[j] - low[i]) for i, j, d in codes)

    def boxes(self, lo: Floats, hi: Floats) -> Boxes:
        """Cells as boxes of t's."""
        cells, count = len(lo), len(self.coordinates.all)
        low, high = np.zeros((cells, count)), np.zeros((cells, count))
        place_from = np.zeros((cells, self.coordinates.groups), dtype=np.int64)
        place_count = np.zeros((cells, self.coordinates.groups), dtype=np.int64)
        for n, coordinate in enumerate(self.coordinates.all):
            v = coordinate.variables[0]
            extremes = self.extremes[n]
            if extremes is not None:
                low[:, n], high[:, n] = extremes.between(lo[:, v], hi[:, v])
                place_from[:, coordinate.group] = lo[:, v]
                place_count[:, coordinate.group] = hi[:, v] - lo[:, v] + 1
                continue
            start, end = coordinate.interval(lo.T, hi.T)
            low[:, n], high[:, n] = (
                (z - float(coordinate.middle)) / float(coordinate.reach) for z in (start, end)
            )
            if coordinate.discrete:
                codes = hi[:, v] - lo[:, v] + 1
                place_count[:, coordinate.group] = np.where(codes <= MOST_PLACES, codes, 0)
        empty: NDArray[np.bool_] = np.any(low > high, axis=1)
        high = np.maximum(low, high)
        return Boxes((low + high) / 2, (high - low) / 2, place_from, place_count, empty)

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        boxes = self.boxes(lo, hi)
        return self._points(lo, hi, boxes.middle, boxes.place_count // 2)

    def branch(
        self,
        lo: Floats,
        hi: Floats,
        loss: Floats | None = None,
        cuts: Floats | None = None,  # noqa: ARG002 (cells are halved)
    ) -> tuple[NDArray[np.intp], Floats]:
        width = hi - lo
        middle = np.where(self.discrete, np.minimum(np.floor((lo + hi) / 2), hi - 1), lo + width / 2)
        can_split = np.where(self.discrete, width >= 1, (middle > lo) & (middle < hi))
        boxes = self.boxes(lo, hi)
        spread = self._losses(lo, hi, boxes.half)
        gain = spread if loss is None else loss + np.where(loss.max(axis=1, keepdims=True) > 0, 0, spread)
        gain[:, self.ahead] += FIRST_RANK
        rank = np.where(can_split, 1e-300 + np.nan_to_num(gain), 0)
        variable = rank.argmax(axis=1)
        rows = np.arange(len(lo))
        return np.where(rank[rows, variable] > 0, variable, -1), middle[rows, variable]

    def _nearest(self, lo: Floats, hi: Floats, t: Floats) -> Indices:
        """For every group of levels the place nearest to these t's, counted from the cell's first; -1 for numbers."""
        distances: dict[int, Floats] = {}
        for n, c in enumerate(self.coordinates.all):
            if c.kind == "level":
                start, end = int(lo[c.variables[0]]), int(hi[c.variables[0]])
                values = np.array([float((v - c.middle) / c.reach) for v in c.table[start : end + 1]])
                distances[c.group] = distances.get(c.group, np.zeros(len(values))) + (values - t[n]) ** 2
        return np.array(
            [distances[g].argmin() if g in distances else -1 for g in range(self.coordinates.groups)]
        )

    def _hints(self, lo: Floats, hi: Floats, e: Indices) -> tuple[int, ...]:
        """Hints of the coordinates that are axes of the cell, in order."""
        axes = self.coordinates.is_axis(lo.tolist(), hi.tolist())
        return tuple(int(hint) for hint, is_axis in zip(e, axes, strict=True) if is_axis)

    def _losses(self, lo: Floats, hi: Floats, masses: Floats) -> Floats:
        """What coordinates lose, by the variables to cut: u is shared out to x and x' by their widths, d goes to
        the difference where it is a variable."""
        loss = np.zeros_like(lo)
        for n, c in enumerate(self.coordinates.all):
            if c.kind in ("number", "level"):
                loss[:, c.variables[0]] += masses[:, n]
            elif c.kind == "half difference" and len(c.variables) == 3:
                loss[:, c.variables[2]] += masses[:, n]
            else:
                i, j = c.variables[:2]
                here, there = hi[:, i] - lo[:, i], hi[:, j] - lo[:, j]
                share = here / np.maximum(here + there, 1e-300)
                loss[:, i] += share * masses[:, n]
                loss[:, j] += (1 - share) * masses[:, n]
        return loss

    def _points(self, lo: Floats, hi: Floats, t: Floats, at: Indices) -> Floats:
        """Points of cells at these t's, or at these places of their groups; whole where they have to be."""
        points = lo + (hi - lo) / 2  # of variables that no coordinate depends on
        for n, c in enumerate(self.coordinates.all):
            v = c.variables[0]
            z = float(c.middle) + float(c.reach) * t[:, n]
            if c.kind == "number":
                points[:, v] = (
                    np.where(at[:, c.group] >= 0, lo[:, v] + at[:, c.group], z) if c.discrete else z
                )
            elif c.kind == "level":
                points[:, v] = lo[:, v] + at[:, c.group]
            elif c.kind == "middle":
                half = self.coordinates.all[n + 1]
                d = float(half.middle) + float(half.reach) * t[:, n + 1]
                self._place_pair(points, lo, hi, c, z, d)
        ordinary = [v for v in range(lo.shape[1]) if self.pairs.variables[v].side != "difference"]
        points[:, ordinary] = np.clip(points, lo, hi)[:, ordinary]
        return np.where(self.discrete, np.round(points), points)

    def _place_pair(
        self, points: Floats, lo: Floats, hi: Floats, c: Coordinate, u: Floats, d: Floats
    ) -> None:
        """x and x' of a paired number near u - d and u + d, within the tolerance as far as the cell allows it."""
        i, j = c.variables[:2]
        least, most = map(float, c.apart or (0, 0))
        x = np.clip(u - d, lo[:, i], hi[:, i])
        x = np.round(x) if self.discrete[i] else x
        other = np.clip(np.clip(u + d, x + least, x + most), lo[:, j], hi[:, j])
        points[:, i], points[:, j] = x, np.round(other) if self.discrete[j] else other
        if len(c.variables) == 3:
            points[:, c.variables[2]] = points[:, j] - points[:, i]


class _RangeExtremes:
    """Least and largest t of a levels column over ranges of positions: ranges of 2^k of them are looked up."""

    def __init__(self, coordinate: Coordinate) -> None:
        values = np.array([float((v - coordinate.middle) / coordinate.reach) for v in coordinate.table])
        self.least, self.most = [values], [values]
        while (step := 1 << (len(self.least) - 1)) * 2 <= len(values):
            self.least.append(np.minimum(self.least[-1][:-step], self.least[-1][step:]))
            self.most.append(np.maximum(self.most[-1][:-step], self.most[-1][step:]))

    def between(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """Over the positions lo to hi of many cells."""
        low, high = np.empty(len(lo)), np.empty(len(lo))
        start, end = lo.astype(np.intp), hi.astype(np.intp)
        size = np.frexp(end - start + 1)[1] - 1  # 2^size <= number of positions < 2^(size + 1)
        for k in range(len(self.least)):
            some = size == k
            left, right = start[some], end[some] - (1 << k) + 1
            low[some] = np.minimum(self.least[k][left], self.least[k][right])
            high[some] = np.maximum(self.most[k][left], self.most[k][right])
        return low, high
