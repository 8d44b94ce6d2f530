"""Limits: where on the raw number a test of a column changes, in the program's own arithmetic.

A column that rises with its number and is compared with a limit T is at most T up to some code r and above T from there on; one
that falls is above T up to r and at most T from there on. r is found by bisection over the codes themselves (all whole numbers or all
doubles of a feature, in order), with the fitted preprocessing computing the column at each of them: at many codes of all tests of all
columns at once, one code of every feature in each row that is computed, and no code of a feature twice. The line that a column
idealises only tells where to look first: mostly r is where it says, which two codes show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import check_clock
from likewise.errors import InternalError, UnsupportedModel
from likewise.importers.transformers.embedding import level_rows
from likewise.importers.trees.reached_columns import ReachedColumn, ReachedColumns
from likewise.spec.features import Continuous, Integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Keys = NDArray[np.int64]

GUESS_OFFSETS = np.array(
    [0, 1], dtype=np.int64
)  # distances from the first guess, in codes, that are looked at first
# Those that are looked at then.
NEAR_OFFSETS = np.array(
    sorted([*range(-8, 9), *(sign * 2**n for n in (12, 24, 40) for sign in (-1, 1))]), dtype=np.int64
)
INTERVAL_PARTS = 16  # into which an interval is cut then
LOWEST_KEY = np.int64(-(2**63))


def raw_limits(reaching: ReachedColumns, columns: NDArray[np.intp], limits: Floats) -> Floats:
    """The largest code at which a rising column is at most its limit, or a falling one above it; the one before the
    smallest where there is none. Test by test; the columns are of numbers, and rise or fall."""
    reached = [reaching.columns[c] for c in columns.tolist()]
    features = np.array([one.feature for one in reached], dtype=np.intp)
    ends = {int(k): _key_range(reaching, int(k)) for k in np.unique(features)}
    lowest = np.array([ends[k][0] for k in features.tolist()], dtype=np.int64)
    highest = np.array([ends[k][1] for k in features.tolist()], dtype=np.int64)
    whole = np.array(
        [isinstance(_number_feature(reaching, k), Integer) for k in features.tolist()], dtype=bool
    )
    direct = np.array([one.bare for one in reached], dtype=bool)
    found = np.empty(len(limits), dtype=np.int64)
    found[direct] = np.clip(_keys_below(limits[direct], whole[direct]), lowest[direct] - 1, highest[direct])
    rest = np.flatnonzero(~direct)
    if len(rest):
        tests = _ThresholdTests(reaching, columns[rest], features[rest], limits[rest], whole[rest])
        guess = _guess_keys([reached[i] for i in rest], limits[rest], whole[rest])
        found[rest] = tests.bisect(guess, lowest[rest], highest[rest])
    return _codes_of_keys(found, whole)


class _ThresholdTests:
    """Tests that are looked for."""

    def __init__(
        self,
        reaching: ReachedColumns,
        columns: NDArray[np.intp],
        features: NDArray[np.intp],
        limits: Floats,
        whole: NDArray[np.bool_],
    ) -> None:
        self._reaching, self._columns, self._features = reaching, columns, features
        self._limits, self._whole = limits, whole
        self._rises = np.array([_slope_sign(reaching.columns[c]) > 0 for c in columns.tolist()])

    def bisect(self, guess: Keys, lowest: Keys, highest: Keys) -> Keys:
        """Up to `below` a test holds, from `above` on it does not; in the end nothing is between."""
        below, above = lowest - 1, highest + 1
        self._narrow(below, above, np.arange(len(guess)), guess[:, None] + GUESS_OFFSETS)
        going = np.flatnonzero(below + 1 < above)
        self._narrow(below, above, going, guess[going, None] + NEAR_OFFSETS)
        while len(going := np.flatnonzero(below + 1 < above)):
            self._narrow(below, above, going, _interior_points(below[going], above[going]))
        return below

    def _narrow(self, below: Keys, above: Keys, going: NDArray[np.intp], points: Keys) -> None:
        """Look at points, each test of `going` at those of its row."""
        if not len(going):
            return
        check_clock()
        points = np.clip(points, below[going, None] + 1, above[going, None] - 1)
        holds = self._holds(going, points)
        below[going] = np.maximum(below[going], np.where(holds, points, below[going, None]).max(axis=1))
        above[going] = np.minimum(above[going], np.where(holds, above[going, None], points).min(axis=1))
        self._check_order(below, above)

    def _check_order(self, below: Keys, above: Keys) -> None:
        crossed = np.flatnonzero(below >= above)
        if len(crossed):
            name = self._reaching.inputs.space.names[self._features[crossed[0]]]
            raise UnsupportedModel(
                f"the preprocessing neither rises nor falls with {name!r}, as its fitted numbers say",
                hint="fit the pipeline on float64 data, with scikit-learn's own transformers",
            )

    def _holds(self, tests: NDArray[np.intp], keys: Keys) -> NDArray[np.bool_]:
        """Whether these tests hold at these codes; each code of a feature is in one of the rows that are computed."""
        space, features = self._reaching.inputs.space, self._features[tests]
        rows = np.empty(keys.shape, dtype=np.intp)
        for k in np.unique(features):
            mine = features == k
            _, places = np.unique(keys[mine], return_inverse=True)
            rows[mine] = places.reshape(-1, keys.shape[1])
        codes = level_rows(space, [1] * len(space), 0, int(rows.max()) + 1)
        codes[rows, features[:, None]] = _codes_of_keys(keys, self._whole[tests, None])
        made = self._reaching.matrix(codes)[rows, self._columns[tests, None]]
        limits = self._limits[tests, None]
        holds: NDArray[np.bool_] = np.where(self._rises[tests, None], made <= limits, made > limits)
        return holds


def _interior_points(below: Keys, above: Keys) -> Keys:
    """Points that cut intervals into parts of about one length; distances of doubles may have 64 bits."""
    length = (above.astype(np.uint64) - below.astype(np.uint64)) // np.uint64(INTERVAL_PARTS)
    steps = length[:, None] * np.arange(1, INTERVAL_PARTS, dtype=np.uint64)
    points = below.astype(np.uint64)[:, None] + np.maximum(
        steps, np.arange(1, INTERVAL_PARTS, dtype=np.uint64)
    )
    return points.astype(np.int64)


def _slope_sign(column: ReachedColumn) -> int:
    if not column.slope:
        raise InternalError("a column that neither rises nor falls")
    return column.slope


def _number_feature(reaching: ReachedColumns, k: int) -> Continuous | Integer:
    feature = reaching.inputs.space[reaching.inputs.space.names[k]]
    if not isinstance(feature, (Continuous, Integer)):
        raise InternalError("the limit of a feature that is no number")
    return feature


def _key_range(reaching: ReachedColumns, k: int) -> tuple[int, int]:
    feature = _number_feature(reaching, k)
    if isinstance(feature, Integer):
        return int(feature.lo), int(feature.hi)
    lo, hi = keys_of_doubles(np.array([feature.lo, feature.hi])).tolist()
    return lo, hi


# -- codes in order --------------------------------------------------------------------------------------


def keys_of_doubles(values: Floats) -> Keys:
    """Doubles counted in their order, 0 for zero of either sign."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)
    return np.where(bits < 0, LOWEST_KEY - bits, bits)


def doubles_of_keys(keys: Keys) -> Floats:
    """The doubles that were counted."""
    values: Floats = np.where(keys < 0, LOWEST_KEY - keys, keys).view(np.float64)
    return values


def _codes_of_keys(keys: Keys, whole: NDArray[np.bool_]) -> Floats:
    return np.where(whole, keys.astype(np.float64), doubles_of_keys(keys))


def _keys_below(values: Floats, whole: NDArray[np.bool_]) -> Keys:
    """The largest codes that are at most these numbers."""
    widest = float(2**53)
    return np.where(
        whole, np.floor(np.clip(values, -widest - 2, widest)).astype(np.int64), keys_of_doubles(values)
    )


def _guess_keys(columns: list[ReachedColumn], limits: Floats, whole: NDArray[np.bool_]) -> Keys:
    slopes, offsets = np.array([one.line for one in columns]).T
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        about = (limits - offsets) / slopes
    return _keys_below(np.nan_to_num(about, posinf=1e300, neginf=-1e300), whole)
