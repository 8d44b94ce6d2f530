"""Frequent pairs: of all witnesses at hand the one whose features are the most probable by the marginals of the data.

Each feature is taken by itself. Of levels, and of numbers of which the rows have at most `MOST_VALUES` different values, the share of a value is that of the rows that have it; the range of the rows of any other number is cut
into `BINS` equal parts, and the share is that of the rows in the same part; missing is a value of its own. What no row has counts as half a row, so that nothing is ruled out by one feature.
The frequency of an individual is the product of these shares, that of a pair the product of its two.

Witnesses that a row is part of, and the one that was found, are moved to more frequent values, the step that gains most first, as long as they stay witnesses in float64: one feature at a time, or two, of which one makes up for
the other where the scores of witnesses lie in a narrow band. The most frequent ones are put to the referee. All codes are the model's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.search.known_rows import deepest_of_all, pair_depths
from likewise.search.task import exact_witness
from likewise.spec.features import Categorical, Continuous, Integer, Ordinal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Witness
    from likewise.search.task import SearchTask
    from likewise.spec.features import Feature

    Floats = NDArray[np.float64]

SHARE = 0.2  # of what is left of the budget
MOST_VALUES = 20  # of a number, that are counted one by one
BINS = 10  # parts of the range of other numbers
UNSEEN = 0.5  # rows that a value counts as which no row has
STARTS = 8  # witnesses with a row, the most frequent ones, that are moved
TRIED = 8  # values of a feature, or parts of its range, the most frequent ones, that a witness is moved to
VALUES = 3  # that are tried of each part of the range of a number
MOST_DOUBLE_STEPS = 16_384  # steps of two features, those that gain most, that are tried
CHUNK = 2_048  # of them, at a time
REFEREED = 16  # witnesses that are put to the exact test, the most frequent first
SMALLEST_GAIN = 1e-9  # of the logarithm of a frequency: less is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency:
    """How frequent a pair is: of each of the two individuals the share of rows that are less frequent, the usual (geometric mean) share of its values, and the feature whose value is the rarest with the share of that."""

    rarer_rows: tuple[float, float]
    usual_share: tuple[float, float]
    rarest: tuple[int, int]
    rarest_share: tuple[float, float]


class _Marginal:
    """How many rows have a value of one feature, or one in the same part of the range."""

    def __init__(self, feature: Feature, codes: Floats) -> None:
        self.missing = feature.missing_code if isinstance(feature, (Continuous, Integer)) else None
        present = codes if self.missing is None else codes[codes != self.missing]
        values = np.unique(present)
        self.edges: Floats | None = None
        if not isinstance(feature, (Categorical, Ordinal)) and len(values) > MOST_VALUES:
            self.edges = np.linspace(values[0], values[-1], BINS + 1)
        self.places, counts = np.unique(self._place(codes), return_counts=True)
        self.shares = counts / len(codes)
        self.unseen = UNSEEN / len(codes)
        self.values = self._offered(codes)

    def _place(self, codes: Floats) -> Floats:
        """The value, or the number of the part; outside of all parts one that nobody has, and the missing value beside them."""
        if self.edges is None:
            return codes
        place = np.clip(np.searchsorted(self.edges, codes, "right") - 1, 0, BINS - 1).astype(np.float64)
        place[(codes < self.edges[0]) | (codes > self.edges[-1])] = -1.0
        if self.missing is not None:
            place[codes == self.missing] = float(BINS)
        return place

    def _offered(self, codes: Floats) -> Floats:
        """Values of the most frequent places: of a part, some of its rows."""
        most = self.places[np.argsort(-self.shares, kind="stable")][:TRIED]
        if self.edges is None:
            return most
        of_rows, found = self._place(codes), []
        for place in most:
            some = np.unique(codes[of_rows == place])
            found.append(some[[(2 * i + 1) * len(some) // (2 * VALUES) for i in range(VALUES)]])
        return np.unique(np.concatenate(found))

    def share(self, codes: Floats) -> Floats:
        """Of rows that have this value, or one in the same part of the range."""
        place = self._place(codes)
        at = np.minimum(np.searchsorted(self.places, place), len(self.places) - 1)
        found: Floats = np.where(self.places[at] == place, self.shares[at], self.unseen)
        return found


class Marginals:
    """Of all features of the rows."""

    def __init__(self, task: SearchTask) -> None:
        space, self.rows = task.pairs.space, task.rows
        self.features = [_Marginal(space[name], self.rows[:, k]) for k, name in enumerate(space.names)]
        self.of_rows = np.sort(self.logarithm(self.rows))

    def shares(self, codes: Floats) -> Floats:
        """Of the values of many individuals."""
        return np.column_stack([one.share(codes[:, k]) for k, one in enumerate(self.features)])

    def logarithm(self, codes: Floats) -> Floats:
        """Of the frequencies of many individuals."""
        found: Floats = np.log(self.shares(codes)).sum(axis=1)
        return found

    def of_pair(self, pair: Sequence[Sequence[float]]) -> float:
        """The logarithm of a pair's frequency."""
        return float(self.logarithm(np.array(pair, dtype=np.float64)).sum())

    def told(self, pair: Sequence[Sequence[float]]) -> Frequency:
        """How frequent a pair is."""
        codes = np.array(pair, dtype=np.float64)
        shares, logarithm = self.shares(codes), self.logarithm(codes)
        rarer = np.searchsorted(self.of_rows, logarithm - SMALLEST_GAIN) / len(self.of_rows)
        rarest = shares.argmin(axis=1)
        seen = np.where(shares > UNSEEN / len(self.rows), shares, 0.0)
        first, second = (
            (float(rarer[i]), math.exp(logarithm[i] / len(self.features)), int(k), float(seen[i, k]))
            for i, k in enumerate(rarest.tolist())
        )
        return Frequency(
            rarer_rows=(first[0], second[0]),
            usual_share=(first[1], second[1]),
            rarest=(first[2], second[2]),
            rarest_share=(first[3], second[3]),
        )


def choose_frequent(task: SearchTask, witness: Witness) -> Witness:
    """A witness that is at least as frequent as this one."""
    if not len(task.rows):
        return witness
    marginals = Marginals(task)
    ends: list[tuple[float, int, Floats]] = []

    def keep(pair: Floats) -> None:
        ends.append((-marginals.of_pair(pair.tolist()), len(ends), pair))

    starts = [np.array([witness.x, witness.other])]
    with suppress(OutOfTime), task.budget.watched():  # it keeps its parts short by itself
        starts += _pairs_of_rows(task, marginals)
    for pair in starts:
        keep(pair)
    with suppress(OutOfTime), task.budget.part(SHARE).watched():
        for pair in starts:
            keep(_climb(task, marginals, pair))
    with suppress(OutOfTime), task.budget.watched():
        for _, _, pair in sorted(ends, key=lambda end: end[:2])[:REFEREED]:
            check_clock()
            found = task.referee(pair[0].tolist(), pair[1].tolist())
            if found is not None and marginals.of_pair((found.x, found.other)) >= marginals.of_pair(
                (witness.x, witness.other)
            ):
                return found
    return witness


def _pairs_of_rows(task: SearchTask, marginals: Marginals) -> list[Floats]:
    """Pairs that look like witnesses and that a row is part of, the most frequent ones."""
    x, other, depth = deepest_of_all(task)
    some = np.flatnonzero(depth > 0)
    frequent = marginals.logarithm(x[some]) + marginals.logarithm(other[some])
    some = some[np.argsort(-frequent, kind="stable")][:STARTS]
    return [np.stack([x[i], other[i]]) for i in some.tolist()]


def _climb(task: SearchTask, marginals: Marginals, pair: Floats) -> Floats:
    """The pair with one or two features after the other moved to more frequent values, until no step is left that gains and keeps what looks like a witness."""
    while True:
        steps = _steps(task, marginals, pair)
        step = _best_step(task, pair, steps, steps.gains > SMALLEST_GAIN)
        if step is None:
            step = _best_step(task, pair, double := _double_steps(steps), double.gains > SMALLEST_GAIN)
        if step is None:
            return pair
        pair = step


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steps:
    """Changes of a pair: features of both individuals (one a column of the last axis), the codes that they get, and how much the logarithm of the frequency gains."""

    features: NDArray[np.int64]  # (steps, moves)
    codes: Floats  # (steps, moves, 2)
    gains: Floats


def _steps(task: SearchTask, marginals: Marginals, pair: Floats) -> _Steps:
    """Other values of one feature: of both individuals, or of one of them where they may differ."""
    features, codes, gains = [], [], []
    for k, marginal in enumerate(marginals.features):
        values, own = marginal.values, np.tile(pair[:, k], (len(marginal.values), 1))
        moved = [np.column_stack([values, values])]
        if task.pairs.relations[k].kind != "same":
            moved += [np.column_stack([values, own[:, 1]]), np.column_stack([own[:, 0], values])]
        tried = np.concatenate(moved)
        tried = tried[(tried != pair[:, k]).any(axis=1)]
        features.append(np.full((len(tried), 1), k))
        codes.append(tried[:, None, :])
        logarithm = np.log(marginal.share(np.concatenate([tried.ravel(), pair[:, k]])))
        gains.append(logarithm[:-2].reshape(-1, 2).sum(axis=1) - logarithm[-2:].sum())
    return _Steps(features=np.concatenate(features), codes=np.concatenate(codes), gains=np.concatenate(gains))


def _double_steps(steps: _Steps) -> _Steps:
    """Two steps of different features, those that gain most."""
    gains = steps.gains[:, None] + steps.gains
    later = steps.features < steps.features.T
    gains = np.where(later & (gains > SMALLEST_GAIN), gains, -np.inf)
    most = np.argsort(-gains, axis=None, kind="stable")[:MOST_DOUBLE_STEPS]
    one, other = np.unravel_index(most, gains.shape)
    return _Steps(
        features=np.concatenate([steps.features[one], steps.features[other]], axis=1),
        codes=np.concatenate([steps.codes[one], steps.codes[other]], axis=1),
        gains=gains[one, other],
    )


def _best_step(task: SearchTask, pair: Floats, steps: _Steps, wanted: NDArray[np.bool_]) -> Floats | None:
    """The pair after the step that gains most, of those that keep what looks like a witness; None where there is none."""
    some = np.flatnonzero(wanted)
    some = some[np.argsort(-steps.gains[some], kind="stable")]
    for first in range(0, len(some), CHUNK):
        check_clock()
        chunk = some[first : first + CHUNK]
        tried = np.repeat(pair[None], len(chunk), axis=0)
        for move in range(steps.features.shape[1]):
            tried[np.arange(len(chunk)), :, steps.features[chunk, move]] = steps.codes[chunk, move]
        _, depth = pair_depths(task, tried[:, 0], tried[:, 1])
        for i in np.flatnonzero(depth > 0).tolist():
            check_clock()
            moved: Floats = tried[i]
            if _is_pair(task, moved):
                return moved
    return None


def _is_pair(task: SearchTask, pair: Floats) -> bool:
    """Whether two are similar, exactly; and where more is allowed the farther they are apart, whether they break that."""
    if not task.pairs.valid(*([Fraction(code) for code in one] for one in pair.tolist())):
        return False
    return task.pairs.allowance is None or exact_witness(task, *pair.tolist()) is not None
