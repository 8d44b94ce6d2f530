"""Plausible pairs: of all witnesses at hand the one that is nearest to somebody in the data.

Nearness is Gower's: the mean over features of how far two individuals are apart, numbers and ordered levels relative to the range that the rows have, levels 0 or 1. A pair is as near as
the nearer of its two individuals. Witnesses that a row is part of come first, whose distance is 0; where there is none, the witness that was found is moved towards the rows next to it, one feature at a time,
as long as it stays a witness. The most frequent pair is another choice (`frequent`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.search.known_rows import deepest_of_all, pair_depths
from likewise.spec.features import Categorical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Witness
    from likewise.search.task import SearchTask

    Floats = NDArray[np.float64]

SHARE = 0.2  # of what is left of the budget
NEIGHBOURS = 48  # rows that a witness is moved towards
COMPARED = 256  # witnesses with a row, the deepest ones, whose counterparts are compared with all rows
COMPARING_SHARE = 0.5  # of that share, for these comparisons: a witness with a row is worth more than the nearest counterpart
REFEREED = 8  # witnesses with a row, those with the nearest counterparts, that are put to the exact test
SAMPLED_PAIRS = 4_000  # of rows, to tell how far two of them are apart
SAMPLE_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestRow:
    """The row that is nearest to a pair: its place, to which of the two individuals (0 or 1), how far, the features that differ, and how far two rows are apart half of the time."""

    place: int
    individual: int
    distance: float
    differing: tuple[int, ...]
    usual: float

    @property
    def stats(self) -> dict[str, object]:
        """What an answer tells of it."""
        return {
            "row": self.place,
            "individual": self.individual + 1,
            "distance": self.distance,
            "usual_distance": self.usual,
        }


class _Nearness:
    """Distances to the rows."""

    def __init__(self, task: SearchTask) -> None:
        self.rows = task.rows
        space = task.pairs.space
        self.levels = np.array([isinstance(space[name], Categorical) for name in space.names])
        spread = self.rows.max(axis=0) - self.rows.min(axis=0)
        self.scale = np.where(spread > 0, spread, 1.0)

    def parts(self, codes: Floats, rows: Floats) -> Floats:
        """How far an individual is from each of some rows, feature by feature."""
        apart = np.abs(rows - codes)
        parts: Floats = np.where(
            self.levels, (apart > 0).astype(np.float64), np.minimum(apart / self.scale, 1.0)
        )
        return parts

    def to_rows(self, codes: Floats) -> Floats:
        """Distances of an individual from all rows."""
        found: Floats = self.parts(codes, self.rows).mean(axis=1)
        return found

    def nearest(self, codes: Floats) -> tuple[int, float]:
        apart = self.to_rows(codes)
        place = int(apart.argmin())
        return place, float(apart[place])

    def usual(self) -> float:
        """The median distance between two different rows."""
        random = np.random.default_rng(SAMPLE_SEED)
        first, second = random.integers(0, len(self.rows), (2, SAMPLED_PAIRS))
        kept = first != second
        if not kept.any():
            return 0.0
        parts = np.abs(self.rows[first[kept]] - self.rows[second[kept]])
        apart = np.where(self.levels, parts > 0, np.minimum(parts / self.scale, 1.0)).mean(axis=1)
        return float(np.median(apart))


def nearest_row(task: SearchTask, pair: Sequence[Sequence[float]]) -> NearestRow | None:
    """The row that is nearest to one of two individuals, by their codes; None where there are no rows."""
    if not len(task.rows):
        return None
    near = _Nearness(task)
    both = [near.nearest(np.array(codes)) for codes in pair]
    individual = int(both[1][1] < both[0][1])
    place, distance = both[individual]
    own = np.array(pair[individual])
    differing = tuple(np.flatnonzero(own != task.rows[place]).tolist())
    return NearestRow(
        place=place, individual=individual, distance=distance, differing=differing, usual=near.usual()
    )


def choose_plausible(task: SearchTask, witness: Witness) -> Witness:
    """A witness that is at least as near to a row as this one."""
    if not len(task.rows):
        return witness
    near, best = _Nearness(task), witness
    with suppress(OutOfTime), task.budget.watched():  # it keeps its parts short by itself
        for found in _witnesses_of_rows(task, near):
            return found
    with suppress(OutOfTime), task.budget.part(SHARE).watched():
        for found in _moved_witnesses(task, near, witness):
            if _distance(near, found) < _distance(near, best):
                best = found
            if not _distance(near, best):
                break
    return best


def _distance(near: _Nearness, pair: Witness) -> float:
    return min(near.nearest(np.array(codes))[1] for codes in (pair.x, pair.other))


def _witnesses_of_rows(task: SearchTask, near: _Nearness) -> list[Witness]:
    """A witness that a row is part of, with the counterpart that is nearest to a row as well, as far as there is time to look for that; the deepest without."""
    x, other, depth = deepest_of_all(task)
    some = np.flatnonzero(depth > 0)
    some = some[np.argsort(-depth[some], kind="stable")][:COMPARED]
    far = np.full(len(some), np.inf)
    with suppress(OutOfTime), task.budget.part(SHARE * COMPARING_SHARE).watched():
        for place, i in enumerate(some.tolist()):
            check_clock()
            far[place] = max(near.nearest(x[i])[1], near.nearest(other[i])[1])
    for i in some[np.argsort(far, kind="stable")][:REFEREED].tolist():
        check_clock()
        found = task.referee(x[i].tolist(), other[i].tolist())
        if found is not None:
            return [found]
    return []


def _moved_witnesses(task: SearchTask, near: _Nearness, witness: Witness) -> list[Witness]:
    """The witness moved towards the rows next to it, those that it gets nearest to first."""
    ends: list[tuple[float, int, Floats]] = []
    for side, codes in enumerate((witness.x, witness.other)):
        apart = near.to_rows(np.array(codes))
        for place in np.argsort(apart, kind="stable")[:NEIGHBOURS].tolist():
            check_clock()
            pair = _approach(task, near, witness, side, task.rows[place])
            left = float(near.parts(pair[side], task.rows[place][None]).mean())
            ends.append((left, len(ends), pair))
    found = []
    for _, _, pair in sorted(ends, key=lambda end: end[:2])[:REFEREED]:
        check_clock()
        kept = task.referee(pair[0].tolist(), pair[1].tolist())
        if kept is not None:
            found.append(kept)
    return found


def _approach(task: SearchTask, near: _Nearness, witness: Witness, side: int, row: Floats) -> Floats:
    """The pair, moved so that one of its individuals gets as many features of a row as it can, the furthest first; in float64."""
    pair = np.array([witness.x, witness.other])
    relations = task.pairs.relations
    while True:
        check_clock()
        apart = near.parts(pair[side], row[None])[0]
        order = [k for k in np.argsort(-apart, kind="stable").tolist() if pair[side, k] != row[k]]
        if not order:
            return pair
        tried = np.repeat(pair[None], len(order), axis=0)
        for i, k in enumerate(order):
            tried[i, side, k] = row[k]
            if relations[k].kind == "same" or pair[0, k] == pair[1, k]:
                tried[i, :, k] = row[k]
        _, depth = pair_depths(task, tried[:, 0], tried[:, 1])
        for i in np.flatnonzero(depth > 0).tolist():
            if task.pairs.valid(*([Fraction(code) for code in one] for one in tried[i].tolist())):
                pair = tried[i]
                break
        else:
            return pair
