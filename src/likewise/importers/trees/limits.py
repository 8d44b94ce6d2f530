"""Limits: where on the raw number a test of a column changes, in the program's own arithmetic.

A column that rises with its number and is compared with a limit T is at most T up to some code r and above T from there on; one
that falls is above T up to r and at most T from there on. r is found by bisection over the codes themselves (all whole numbers or all
doubles of a feature, in order), with the fitted preprocessing computing the column at each of them. All tests of all columns are
bisected at once, one test of every feature in each row that is computed. The line that a column idealises only tells where to look first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InternalError
from likewise.importers.transformers.embedding import walked
from likewise.importers.trees.reaching import Reached, Reaching
from likewise.spec.features import Continuous, Integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Keys = NDArray[np.int64]

# Distances from the first guess, in codes, that are tried before intervals are halved.
PROBES = (-8, 8, -(2**12), 2**12, -(2**24), 2**24, -(2**40), 2**40)
NARROW = 64  # codes that are left when halving is quicker than probing
LOWEST = np.int64(-(2**63))


def raw_limits(reaching: Reaching, columns: NDArray[np.intp], limits: Floats) -> Floats:
    """The largest code at which a rising column is at most its limit, or a falling one above it; the one before the
    smallest where there is none. Test by test; the columns are of numbers, and rise or fall."""
    reached = [reaching.columns[c] for c in columns.tolist()]
    features = np.array([one.feature for one in reached], dtype=np.intp)
    ends = {int(k): _ends(reaching, int(k)) for k in np.unique(features)}
    lowest = np.array([ends[k][0] for k in features.tolist()], dtype=np.int64)
    highest = np.array([ends[k][1] for k in features.tolist()], dtype=np.int64)
    whole = np.array([isinstance(_feature(reaching, k), Integer) for k in features.tolist()], dtype=bool)
    direct = np.array([one.untouched for one in reached], dtype=bool)
    found = np.empty(len(limits), dtype=np.int64)
    found[direct] = np.clip(_keys_below(limits[direct], whole[direct]), lowest[direct] - 1, highest[direct])
    rest = np.flatnonzero(~direct)
    if len(rest):
        tests = _Tests(reaching, columns[rest], features[rest], limits[rest], whole[rest])
        guess = _guesses([reached[i] for i in rest], limits[rest], whole[rest])
        found[rest] = tests.bisected(guess, lowest[rest], highest[rest])
    return _codes(found, whole)


class _Tests:
    """Tests that are looked for, each in a row and a feature of its own."""

    def __init__(
        self,
        reaching: Reaching,
        columns: NDArray[np.intp],
        features: NDArray[np.intp],
        limits: Floats,
        whole: NDArray[np.bool_],
    ) -> None:
        self._reaching, self._columns, self._features = reaching, columns, features
        self._limits, self._whole = limits, whole
        self._rises = np.array([_slope(reaching.columns[c]) > 0 for c in columns.tolist()])
        self._rows = np.empty(len(columns), dtype=np.intp)
        for k in np.unique(features):
            places = np.flatnonzero(features == k)
            self._rows[places] = np.arange(len(places))

    def bisected(self, guess: Keys, lowest: Keys, highest: Keys) -> Keys:
        """Below a test holds, above it does not; in the end nothing is between."""
        below, above = lowest - 1, highest + 1
        for probe in PROBES:
            if (below + NARROW >= above).all():
                break
            below, above = self._halved(np.clip(guess + probe, below + 1, above - 1), below, above)
        while (below + 1 < above).any():
            below, above = self._halved((below >> 1) + (above >> 1) + (below & above & 1), below, above)
        return below

    def _halved(self, middle: Keys, below: Keys, above: Keys) -> tuple[Keys, Keys]:
        open_ = below + 1 < above
        holds = self._holds(np.where(open_, middle, below))
        return np.where(open_ & holds, middle, below), np.where(open_ & ~holds, middle, above)

    def _holds(self, keys: Keys) -> NDArray[np.bool_]:
        space = self._reaching.inputs.space
        codes = walked(space, [1] * len(space), 0, int(self._rows.max()) + 1)
        smallest = codes[0, self._features]
        codes[self._rows, self._features] = np.maximum(_codes(keys, self._whole), smallest)
        made = self._reaching.matrix(codes)[self._rows, self._columns]
        holds: NDArray[np.bool_] = np.where(self._rises, made <= self._limits, made > self._limits)
        return holds


def _slope(column: Reached) -> int:
    if not column.slope:
        raise InternalError("a column that neither rises nor falls")
    return column.slope


def _feature(reaching: Reaching, k: int) -> Continuous | Integer:
    feature = reaching.inputs.space[reaching.inputs.space.names[k]]
    if not isinstance(feature, (Continuous, Integer)):
        raise InternalError("the limit of a feature that is no number")
    return feature


def _ends(reaching: Reaching, k: int) -> tuple[int, int]:
    feature = _feature(reaching, k)
    if isinstance(feature, Integer):
        return int(feature.lo), int(feature.hi)
    lo, hi = keys_of_doubles(np.array([feature.lo, feature.hi])).tolist()
    return lo, hi


# -- codes in order --------------------------------------------------------------------------------------


def keys_of_doubles(values: Floats) -> Keys:
    """Doubles counted in their order, 0 for zero of either sign."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)
    return np.where(bits < 0, LOWEST - bits, bits)


def doubles_of_keys(keys: Keys) -> Floats:
    """The doubles that were counted."""
    values: Floats = np.where(keys < 0, LOWEST - keys, keys).view(np.float64)
    return values


def _codes(keys: Keys, whole: NDArray[np.bool_]) -> Floats:
    return np.where(whole, keys.astype(np.float64), doubles_of_keys(keys))


def _keys_below(values: Floats, whole: NDArray[np.bool_]) -> Keys:
    """The largest codes that are at most these numbers."""
    widest = float(2**53)
    return np.where(
        whole, np.floor(np.clip(values, -widest - 2, widest)).astype(np.int64), keys_of_doubles(values)
    )


def _guesses(columns: list[Reached], limits: Floats, whole: NDArray[np.bool_]) -> Keys:
    slopes, offsets = np.array([one.line for one in columns]).T
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        about = (limits - offsets) / slopes
    return _keys_below(np.nan_to_num(about, posinf=1e300, neginf=-1e300), whole)
