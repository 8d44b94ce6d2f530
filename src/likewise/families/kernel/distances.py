"""Distances: one feature's part of the squared distances to all centres of a kernel model.

    number   sum over its columns of (offset + slope * code - centre)^2
    levels   a table by level and centre

`axis` is the same in the form that the cell bounds of `rbf` take, None where they know no such sort: a
number, a level that stands for a number, levels that are all equally far apart (one-hot), or grouped ones (`grouping`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.kernel.grouping import grouped_axis
from likewise.families.kernel.rbf.terms import Axis, OneHotAxis, SlopedAxis, TableAxis
from likewise.spec.features import Continuous, Integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.kernel.body import KernelScore, RbfSum
    from likewise.model.embedding import Column
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]


NO_PLACE = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NumberDistance:
    """Of a continuous or integer feature."""

    slopes: Floats
    offsets: Floats
    centres: Floats  # (terms, columns)
    whole: bool

    @property
    def axis(self) -> Axis | None:
        return SlopedAxis(slopes=self.slopes, offsets=self.offsets, centres=self.centres, whole=self.whole)

    def at(self, code: float) -> Floats:
        """The part at one code, for every centre."""
        part: Floats = ((self.offsets + self.slopes * code - self.centres) ** 2).sum(axis=1)
        return part

    def extremes(self, lo: float, hi: float) -> tuple[Floats, Floats]:
        """Smallest and largest part over an interval of codes, column by column."""
        ends = np.stack([self.offsets + self.slopes * lo, self.offsets + self.slopes * hi])
        low, high = ends.min(axis=0), ends.max(axis=0)
        least = ((np.clip(self.centres, low, high) - self.centres) ** 2).sum(axis=1)
        most = np.maximum((low - self.centres) ** 2, (high - self.centres) ** 2).sum(axis=1)
        return least, most

    def spread(self, lo: Floats, hi: Floats) -> Floats:
        """How far the embedding moves over intervals of codes: what splitting them can gain."""
        moved: Floats = (hi - lo) * float(np.sqrt((self.slopes**2).sum()))
        return moved


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LevelDistance:
    """Of a categorical or ordinal feature."""

    tables: Floats  # (columns, levels)
    centres: Floats  # (terms, columns)
    by_level: Floats  # (terms, levels)
    columns: tuple[Column, ...]

    @property
    def axis(self) -> Axis | None:
        if len(self.tables) == 1:
            return TableAxis(values=self.tables[0], centres=self.centres[:, 0])
        if not len(self.tables):
            return TableAxis(values=np.zeros(self.by_level.shape[1]), centres=np.zeros(len(self.centres)))
        # A term may have no place: its own level is not among those of the space.
        places = np.where(self.by_level.min(axis=1) == 0, self.by_level.argmin(axis=1), NO_PLACE)
        apart = self.by_level[np.arange(self.by_level.shape[1]) != places[:, None]]
        if len(apart) and (apart[0] == 0 or (apart != apart[0]).any()):
            return grouped_axis(self.columns, self.centres)
        return OneHotAxis(distance=float(apart[0]) if len(apart) else 0.0, places=places)

    def at(self, code: float) -> Floats:
        """The part at one position, for every centre."""
        return self.by_level[:, int(code)]

    def extremes(self, lo: float, hi: float) -> tuple[Floats, Floats]:
        """Smallest and largest part over an interval of positions."""
        allowed = self.by_level[:, int(lo) : int(hi) + 1]
        return allowed.min(axis=1), allowed.max(axis=1)

    def spread(self, lo: Floats, hi: Floats) -> Floats:
        """As for numbers: the widest distance, while more than one level is left."""
        return np.where(hi > lo, float(np.sqrt(np.ptp(self.by_level, axis=1).max())), 0.0)


Distance = NumberDistance | LevelDistance


def feature_distance(score: KernelScore, pairs: PairSpace, k: int) -> Distance:
    """The part of feature k."""
    feature = pairs.space[pairs.space.names[k]]
    if not isinstance(feature, (Continuous, Integer)):
        return level_distance(score.body, score.embedding, k, levels=len(feature.levels))
    owned = [c for c, column in enumerate(score.embedding) if column.feature == k]
    return NumberDistance(
        slopes=np.array([float(score.embedding[c].slope) for c in owned]),
        offsets=np.array([float(score.embedding[c].offset) for c in owned]),
        centres=score.body.centres[:, owned],
        whole=isinstance(feature, Integer),
    )


def level_distance(
    body: RbfSum, embedding: tuple[Column, ...], k: int, *, levels: int | None = None
) -> LevelDistance:
    """The part of feature k, whose columns are tables; how many levels it has must be said where there may be none."""
    owned = [c for c, column in enumerate(embedding) if column.feature == k]
    centres, columns = body.centres[:, owned], tuple(embedding[c] for c in owned)
    tables = np.array([column.entries for column in columns])
    tables = tables.reshape(len(owned), levels if levels is not None else tables.shape[1])
    distinct, back = np.unique(centres, axis=0, return_inverse=True)  # as many as there are levels, mostly
    by_level = ((distinct[:, :, None] - tables[None]) ** 2).sum(axis=1)[back.ravel()]
    return LevelDistance(tables=tables, centres=centres, by_level=by_level, columns=columns)
