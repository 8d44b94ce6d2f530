"""Coordinates: what the columns of both copies are affine functions of.

    same number      x                        shared by both copies
    number within    u = (x + x')/2, d = (x' - x)/2
    free number      x, then x'
    levels           one a column of the body; for each copy if the feature may differ, x before x'

Each is written z = middle + reach * t so that t is in [-1, 1] on the whole space. A cell of pair space becomes a
box of t's: its middles and half widths are those of the certificate's axes, and a coordinate whose width is
positive is an axis. *Groups* are coordinates that depend on one code: a number's by itself, all of one levels
feature and copy together; they are contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from likewise.spec.features import Categorical, Ordinal
from likewise.spec.pairs import PairSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.embedding import Column

    Floats = NDArray[np.float64]

Kind = Literal["number", "middle", "half difference", "level"]
Ends = tuple[Any, Any]  # of an interval: rationals, or arrays
MOST_PLACES = 1024  # codes of a number that are looked at one by one, by the certificate's rule


class EmbeddedScore(Protocol):
    """A score of columns."""

    @property
    def embedding(self) -> tuple[Column, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinate:
    """One coordinate z = middle + reach t. `variables` of pair space that it depends on: one, or x, x' and,
    where there is one, their difference; `apart` for those. `table` holds the values of a levels column."""

    feature: int
    group: int
    kind: Kind
    variables: tuple[int, ...]
    middle: Fraction
    reach: Fraction
    apart: tuple[Fraction, Fraction] | None = None
    table: tuple[Fraction, ...] = ()
    discrete: bool = False

    def interval(self, lo: Any, hi: Any) -> Ends:
        """Ends of z over a cell; `lo`, `hi` are indexed by variable: rationals, or arrays of many cells."""
        if self.kind == "number":
            return lo[self.variables[0]], hi[self.variables[0]]
        i, j = self.variables[:2]
        if len(self.variables) == 3:
            least, most = lo[self.variables[2]], hi[self.variables[2]]
        else:
            least, most = self.apart or (Fraction(0), Fraction(0))
            if not isinstance(lo[i], Fraction):
                least, most = float(least), float(most)
        middle, half = paired_interval(lo[i], hi[i], lo[j], hi[j], least, most)
        return middle if self.kind == "middle" else half

    def moves(self, lo: Sequence[float], hi: Sequence[float]) -> bool:
        """Whether z takes more than one value in a cell. Exact."""
        v = self.variables[0]
        if self.kind == "number":
            return lo[v] < hi[v]
        if self.kind == "level":
            return len(set(self.table[int(lo[v]) : int(hi[v]) + 1])) > 1
        start, end = self.interval(
            {w: Fraction(lo[w]) for w in self.variables}, {w: Fraction(hi[w]) for w in self.variables}
        )
        return bool(start < end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinates:
    """All coordinates of a model over a pair space. `maps[side][c]` is column c of that copy: a constant and
    (coordinate, factor of its t) parts; of a column in pieces nothing (0)."""

    all: tuple[Coordinate, ...]
    groups: int
    maps: tuple[tuple[ColumnMap, ...], tuple[ColumnMap, ...]]

    def is_axis(self, lo: Sequence[float], hi: Sequence[float]) -> list[bool]:
        """Which coordinates are axes of a cell: those whose width is positive, exactly."""
        return [coordinate.moves(lo, hi) for coordinate in self.all]


ColumnMap = tuple[Fraction, tuple[tuple[int, Fraction], ...]]
NO_MAP: ColumnMap = (Fraction(0), ())


def paired_interval(lo: Any, hi: Any, lo2: Any, hi2: Any, p: Any, q: Any) -> tuple[Ends, Ends]:
    """Intervals of u = (x + x')/2 and d = (x' - x)/2 for x in [lo, hi], x' in [lo2, hi2], x' - x in [p, q]."""
    p, q = np.maximum(p, lo2 - hi), np.minimum(q, hi2 - lo)
    low = np.maximum(np.maximum((lo + lo2) / 2, lo + p / 2), lo2 - q / 2)
    high = np.minimum(np.minimum((hi + hi2) / 2, hi + q / 2), hi2 - p / 2)
    return (low, high), (p / 2, q / 2)


def make_coordinates(score: EmbeddedScore, pairs: PairSpace) -> Coordinates:
    """The coordinates of both copies, feature by feature."""
    return _Builder(score, pairs).build()


class _Builder:
    def __init__(self, score: EmbeddedScore, pairs: PairSpace) -> None:
        self.score, self.pairs = score, pairs
        self.found: list[Coordinate] = []
        self.groups = 0
        self.maps: list[dict[int, ColumnMap]] = [{}, {}]
        self.differences = {
            v.feature: place for place, v in enumerate(pairs.variables) if v.side == "difference"
        }
        self.low = [Fraction(v.lo) for v in pairs.variables]
        self.high = [Fraction(v.hi) for v in pairs.variables]

    def build(self) -> Coordinates:
        for k, relation in enumerate(self.pairs.relations):
            feature = self.pairs.space[self.pairs.space.names[k]]
            i, j = self.pairs.first[k], self.pairs.second[k]
            sides = [(i, (0, 1))] if relation.kind == "same" else [(i, (0,)), (j, (1,))]
            if isinstance(feature, (Categorical, Ordinal)):
                for v, copies in sides:
                    self._levels(k, v, copies)
            elif relation.kind == "within":
                self._paired(k, relation.apart)
            else:
                for v, copies in sides:
                    self._number(k, v, copies)
        count = range(len(self.score.embedding))
        return Coordinates(
            all=tuple(self.found),
            groups=self.groups,
            maps=(
                tuple(self.maps[0].get(c, NO_MAP) for c in count),
                tuple(self.maps[1].get(c, NO_MAP) for c in count),
            ),
        )

    def _columns_of(self, k: int) -> list[int]:
        found = enumerate(self.score.embedding)
        return [c for c, column in found if column.feature == k and column.pieces is None]

    def _add(self, lo: Fraction, hi: Fraction, **facts: Any) -> int:
        """A coordinate of this range; one that never moves has reach 1, as t is 0 on it."""
        reach = (hi - lo) / 2 or Fraction(1)
        self.found.append(Coordinate(middle=(lo + hi) / 2, reach=reach, group=self.groups, **facts))
        return len(self.found) - 1

    def _number(self, k: int, v: int, copies: tuple[int, ...]) -> None:
        discrete = self.pairs.variables[v].discrete
        place = self._add(
            self.low[v], self.high[v], feature=k, kind="number", variables=(v,), discrete=discrete
        )
        self.groups += 1
        at = self.found[place]
        for c in self._columns_of(k):
            column = self.score.embedding[c]
            shape = (column.exact(at.middle), ((place, column.slope * at.reach),))
            for side in copies:
                self.maps[side][c] = shape

    def _paired(self, k: int, apart: tuple[Fraction, Fraction]) -> None:
        i, j = self.pairs.first[k], self.pairs.second[k]
        more = (self.differences[k],) if k in self.differences else ()
        ranges = paired_interval(self.low[i], self.high[i], self.low[j], self.high[j], *apart)
        places = []
        for kind, (lo, hi) in zip(("middle", "half difference"), ranges, strict=True):
            places.append(self._add(lo, hi, feature=k, kind=kind, variables=(i, j, *more), apart=apart))
            self.groups += 1
        u, d = (self.found[place] for place in places)
        for c in self._columns_of(k):
            column = self.score.embedding[c]
            for side, sign in ((0, -1), (1, 1)):
                parts = ((places[0], column.slope * u.reach), (places[1], sign * column.slope * d.reach))
                self.maps[side][c] = (column.exact(u.middle + sign * d.middle), parts)

    def _levels(self, k: int, v: int, copies: tuple[int, ...]) -> None:
        for c in self._columns_of(k):
            table = self.score.embedding[c].table or ()
            place = self._add(min(table), max(table), feature=k, kind="level", variables=(v,), table=table)
            at = self.found[place]
            for side in copies:
                self.maps[side][c] = (at.middle, ((place, at.reach),))
        self.groups += bool(self._columns_of(k))
