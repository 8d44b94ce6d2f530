"""Wandering: pairs that climb again and again, each time from a few codes changed at random of the best pairs so far.

Coordinate ascent ends where no single feature leads higher, and seldom at the highest pair of all. Near the best of such ends there are often better ones: a few features are drawn anew, those that are
shared or free, so that a pair stays similar, and the pair climbs again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

KEPT = 16  # best pairs
WANDERERS = 16  # that climb at a time
MOST_CHANGES = 4  # features that are drawn anew
END_SHARE = 0.5  # of the numbers drawn, that are put to an end of their range
ALIKE = 1e-9  # relative: pairs that are worth the same are taken for one


class Wanderers:
    """The best pairs that were found on the pairs of a space."""

    def __init__(self, pairs: PairSpace) -> None:
        self.rng = np.random.default_rng(0)
        self.x, self.other = np.empty((2, 0, len(pairs.first)))
        self.lo, self.hi = (
            np.array([float(end) for end in ends])
            for ends in zip(*((v.lo, v.hi) for v in pairs.variables), strict=True)
        )
        self.whole = np.array([v.discrete for v in pairs.variables])
        self.places = np.array([pairs.first, pairs.second]).T  # variables of each feature at x and at x'
        shared = self.places[:, 0] == self.places[:, 1]
        free = np.array([relation.kind == "free" for relation in pairs.relations])
        self.drawn = np.flatnonzero(shared | free)

    def starts(self) -> tuple[Floats, Floats]:
        """Pairs to climb from: kept ones with a few features drawn anew."""
        if not len(self.x) or not len(self.drawn):
            return self.x[:0], self.other[:0]
        some = np.arange(WANDERERS) % len(self.x)
        x, other = self.x[some], self.other[some]
        codes = self._codes(WANDERERS)
        for row in range(WANDERERS):
            count = self.rng.integers(1, min(MOST_CHANGES, len(self.drawn)) + 1)
            changed = self.rng.choice(self.drawn, count, replace=False)
            x[row, changed] = codes[row, self.places[changed, 0]]
            other[row, changed] = codes[row, self.places[changed, 1]]
        return x, other

    def _codes(self, count: int) -> Floats:
        """Any codes of all variables."""
        share = self.rng.random((count, len(self.lo)))
        ends = self.rng.random(share.shape) < END_SHARE
        share = np.where(ends & ~self.whole, np.round(share), share)
        codes = self.lo + share * (self.hi - self.lo)
        whole = np.minimum(np.floor(self.lo + share * (self.hi - self.lo + 1)), self.hi)
        found: Floats = np.where(self.whole, whole, codes)
        return found

    def keep(self, x: Floats, other: Floats, worth: Callable[[Floats, Floats], Floats]) -> None:
        """Keep the best of these pairs and of those that were kept before, one of each worth."""
        x, other = np.concatenate([self.x, x]), np.concatenate([self.other, other])
        value = worth(x, other)
        value[~np.isfinite(value)] = -np.inf
        order = np.argsort(-value, kind="stable")
        value = value[order]
        alike = np.zeros(len(order), dtype=bool)
        alike[1:] = value[1:] >= value[:-1] - ALIKE * (1 + np.abs(value[1:]))
        best = order[~alike & np.isfinite(value)][:KEPT]
        self.x, self.other = x[best], other[best]
