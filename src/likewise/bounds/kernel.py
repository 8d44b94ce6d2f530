"""Kernel oracle: sums of Gaussians over cells of pair space.

The bound for large cells takes each term by itself: exp(-gamma Q_t) is largest where the squared distance
is smallest and smallest where it is largest, feature by feature, so

    a s(x) - b s(x')  <=  (a - b) bias + sum_t max over the cell of  a c_t k_t(x) - b c_t k_t(x'),

with k_t(x) between its two extremes on either side. It steers the search; what a cell proves is decided by
the exact rules: looked through pair by pair, or independent of what may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.bounds.enumerated import enumerated_clearance, independent
from likewise.bounds.oracle import Bounds, Clearance, Leaf, Relaxed
from likewise.model.kernel import KernelScore
from likewise.spec.enclosure import Enclosure
from likewise.spec.features import Continuous, Integer
from likewise.spec.pairs import PairSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.question import Question

    Floats = NDArray[np.float64]

# Relative room for the rounding of a sum of Gaussians: each term is off by a few units, the sum by as many
# as it has terms. Only steers.
ROUNDING = 16 * np.finfo(np.float64).eps


class KernelOracle:
    """Oracle of an RBF body on the pairs of a space."""

    def __init__(self, score: KernelScore, pairs: PairSpace) -> None:
        self.score = score
        self.pairs = pairs
        self.first = np.array(pairs.first, dtype=np.intp)
        self.second = np.array(pairs.second, dtype=np.intp)
        self.discrete = np.array([v.discrete for v in pairs.variables])
        self.distances = [_FeatureDistance(score, pairs, k) for k in range(len(pairs.first))]

    def bound(self, lo: Floats, hi: Floats, lean: Floats) -> Bounds:
        body = self.score.body
        points = lo + np.where(self.discrete, np.floor((hi - lo) / 2), (hi - lo) / 2)
        upper, noise = np.empty(len(lo)), np.empty(len(lo))
        for i in range(len(lo)):
            near, far = self._extremes(lo[i], hi[i], self.first)
            near2, far2 = self._extremes(lo[i], hi[i], self.second)
            a, b = lean[i] * body.coefficients, (1 - lean[i]) * body.coefficients
            high, low = np.exp(-body.gamma * near), np.exp(-body.gamma * far)
            high2, low2 = np.exp(-body.gamma * near2), np.exp(-body.gamma * far2)
            apart = np.where(a > 0, a * high, a * low) - np.where(b > 0, b * low2, b * high2)
            upper[i] = (2 * lean[i] - 1) * body.bias + apart.sum()
            noise[i] = ROUNDING * len(a) * (np.abs(body.coefficients).sum() + abs(body.bias))
        first = self.score.scores(points[:, self.first])
        second = self.score.scores(points[:, self.second])
        return Bounds(upper=upper, first=first, second=second, points=points, noise=noise)

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        return lo + np.where(self.discrete, np.floor((hi - lo) / 2), (hi - lo) / 2)

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        return self.candidates(lo[None], hi[None])

    def branch(self, lo: Floats, hi: Floats) -> tuple[NDArray[np.intp], Floats]:
        width = hi - lo
        middle = np.where(self.discrete, np.minimum(np.floor((lo + hi) / 2), hi - 1), lo + width / 2)
        can_split = np.where(self.discrete, width >= 1, (middle > lo) & (middle < hi))
        spread = np.zeros_like(lo)
        for k, distance in enumerate(self.distances):
            for v in {int(self.first[k]), int(self.second[k])}:
                spread[:, v] = distance.spread(lo[:, v], hi[:, v])
        rank = np.where(can_split, 1e-12 + spread, 0)
        variable = rank.argmax(axis=1)
        rows = np.arange(len(lo))
        variable = np.where(rank[rows, variable] > 0, variable, -1)
        return variable, middle[rows, variable]

    def relax(self, lo: Floats, hi: Floats, question: Question) -> Relaxed | None:  # noqa: ARG002
        return None

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: Question) -> Clearance | None:
        if leaf.rule == "independent":
            return Fraction(0) if independent(self.pairs, self.score) else None
        if leaf.rule == "enumerated":
            found = enumerated_clearance(self.pairs, self.score.enclose, lo.tolist(), hi.tolist(), question)
            return found if found is None or isinstance(found, float) else Fraction(0)
        return None

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        return self.score.enclose(codes, bits)

    def _extremes(self, lo: Floats, hi: Floats, owner: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Smallest and largest squared distance of one side to every centre."""
        near = np.zeros(len(self.score.body.coefficients))
        far = np.zeros_like(near)
        for distance, v in zip(self.distances, owner, strict=True):
            least, most = distance.extremes(float(lo[v]), float(hi[v]))
            near += least
            far += most
        return near, far


class _FeatureDistance:
    """One feature's part of the squared distances to all centres."""

    def __init__(self, score: KernelScore, pairs: PairSpace, k: int) -> None:
        owned = [c for c, column in enumerate(score.embedding) if column.feature == k]
        self.centres = score.body.centres[:, owned]
        feature = pairs.space[pairs.space.names[k]]
        self.number = isinstance(feature, (Continuous, Integer))
        if self.number:
            self.slopes = np.array([float(score.embedding[c].slope) for c in owned])
            self.offsets = np.array([float(score.embedding[c].offset) for c in owned])
        else:
            tables = [[float(v) for v in score.embedding[c].table or ()] for c in owned]
            self.tables = np.array(tables).reshape(len(owned), -1)
            parts = (self.centres[:, :, None] - self.tables[None]) ** 2
            self.by_level = parts.sum(axis=1) if owned else np.zeros((len(self.centres), 1))

    def extremes(self, lo: float, hi: float) -> tuple[Floats, Floats]:
        """Smallest and largest part over an interval of codes, for every centre (column by column)."""
        if not self.number:
            if self.by_level.shape[1] == 1:
                return self.by_level[:, 0], self.by_level[:, 0]
            allowed = self.by_level[:, int(lo) : int(hi) + 1]
            return allowed.min(axis=1), allowed.max(axis=1)
        ends = np.stack([self.offsets + self.slopes * lo, self.offsets + self.slopes * hi])
        low, high = ends.min(axis=0), ends.max(axis=0)
        inside = np.clip(self.centres, low, high)
        least = ((inside - self.centres) ** 2).sum(axis=1)
        most = np.maximum((low - self.centres) ** 2, (high - self.centres) ** 2).sum(axis=1)
        return least, most

    def spread(self, lo: Floats, hi: Floats) -> Floats:
        """How far the embedding moves over an interval of codes: what splitting it can gain."""
        if self.number:
            moved: Floats = (hi - lo) * float(np.sqrt((self.slopes**2).sum()))
            return moved
        if self.by_level.shape[1] == 1:
            return np.zeros(len(lo))
        widest: Floats = np.sqrt(float(np.ptp(self.by_level, axis=1).max())) * (hi > lo)
        return widest
