"""Slope tree: boxes of individuals on all of which a score changes no faster than a distance, by intervals of its derivatives (specification, section 21).

Where two individuals differ in numbers alone the score changes along the segment between them by what its derivatives add up to. So boxes of single individuals are cut, not cells of pairs, and
what is shown of each box is shown of all pairs. The steepest box is cut first, where its derivatives vary most.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.leaf import Leaf
from likewise.clock import check_clock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.slopes import Slopes
    from likewise.search.budget import Budget
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

ROOM = 1e-9  # relative, that is left to rounding
BATCH = 64  # boxes that are cut together
MOST_BOXES = 60_000


@dataclass(slots=True)
class _Box:
    lo: Floats
    hi: Floats
    rate: float
    cut: tuple[int, float] | None = None
    parts: list[_Box] = field(default_factory=list)


class SlopeTree:
    """The boxes of everybody in a cell of pairs that differ in numbers alone; None of `of` where there is none."""

    def __init__(self, pairs: PairSpace, slopes: Slopes, lo: Floats, hi: Floats) -> None:
        self.pairs, self.slopes = pairs, slopes
        self.moving = [k for k, relation in enumerate(pairs.relations) if relation.kind != "same"]
        self.scale = _prices(pairs)
        low = np.array([min(lo[i], lo[j]) for i, j in zip(pairs.first, pairs.second, strict=True)])
        high = np.array([max(hi[i], hi[j]) for i, j in zip(pairs.first, pairs.second, strict=True)])
        self.levels = np.array([f.kind in ("categorical", "ordinal") for f in pairs.space.features.values()])
        self.apt = not any(self.levels[k] and low[k] != high[k] for k in self.moving)
        self.root = _Box(low, high, self.rates(low[None], high[None])[0] if self.apt else np.inf)
        self.open: list[tuple[float, int, _Box]] = [(-self.root.rate, 0, self.root)]
        self.count = 1

    @property
    def rate(self) -> float:
        """The constant that is shown by the boxes as they are."""
        return -self.open[0][0] if self.open else 0.0

    def rates(self, lo: Floats, hi: Floats) -> Floats:
        """The constant that each box leaves: the dual norm of the largest derivatives."""
        low, high = self.slopes(lo, hi)
        size = np.maximum(-low, high)[:, self.moving]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(size > 0, size / self.scale[self.moving], 0.0)
        norm = None if self.pairs.allowance is None else self.pairs.allowance.norm
        total: Floats = shares.max(axis=1) if norm == 1 else shares.sum(axis=1)
        if norm == 2:
            total = np.sqrt((shares * shares).sum(axis=1))
        return np.where(np.isnan(total), np.inf, total) * (1 + ROOM)

    def refine(self, down_to: float, budget: Budget, stop: float, most: int = MOST_BOXES) -> bool:
        """Cut boxes until the constant is at most this; False where the budget, the time to `stop` at, or what can be cut, is over."""
        while self.rate > down_to:
            if budget.over or budget.elapsed >= stop or self.count >= most or not self.apt:
                return False
            check_clock()
            taken: list[_Box] = []
            while self.open and len(taken) < BATCH and -self.open[0][0] > down_to:
                taken.append(heapq.heappop(self.open)[2])
            parts = [part for box in taken for part in self._halves(box)]
            stuck = [box for box in taken if box.cut is None]
            for box in stuck:
                heapq.heappush(self.open, (-box.rate, self.count, box))
                self.count += 1
            if not parts:
                return False
            rates = self.rates(np.stack([p.lo for p in parts]), np.stack([p.hi for p in parts]))
            for part, rate in zip(parts, rates.tolist(), strict=True):
                part.rate = rate
                self.count += 1
                heapq.heappush(self.open, (-rate, self.count, part))
        return True

    def _halves(self, box: _Box) -> list[_Box]:
        """Two parts, by the feature whose halving lowers the constant of the worse one most."""
        width = box.hi - box.lo
        middle = np.where(self.levels, np.floor((box.lo + box.hi) / 2), box.lo / 2 + box.hi / 2)
        can = np.where(self.levels, width >= 1, (middle > box.lo) & (middle < box.hi))
        places = np.flatnonzero(can).tolist()
        if not places:
            return []
        lo, hi = (
            np.repeat(box.lo[None], 2 * len(places), axis=0),
            np.repeat(box.hi[None], 2 * len(places), axis=0),
        )
        for n, k in enumerate(places):
            hi[2 * n, k] = middle[k]
            lo[2 * n + 1, k] = middle[k] + 1 if self.levels[k] else middle[k]
        rates = self.rates(lo, hi).reshape(-1, 2)
        worst = np.where(np.isfinite(rates.sum(axis=1)), rates.max(axis=1) + 0.1 * rates.min(axis=1), np.inf)
        n = int(worst.argmin())
        if not np.isfinite(worst[n]):
            n = int(np.argmax(width[places]))
        box.cut = places[n], float(middle[places[n]])
        box.parts = [_Box(lo[2 * n + side], hi[2 * n + side], np.inf) for side in (0, 1)]
        return box.parts

    def leaf(self) -> Leaf:
        """The tree as a leaf of a proof."""
        return Leaf(rule="slope", boxes=tuple(_walk(self.root)))


def _walk(root: _Box) -> Iterator[tuple[int, Fraction] | None]:
    waiting = [root]
    while waiting:
        box = waiting.pop()
        yield None if box.cut is None else (box.cut[0], Fraction(box.cut[1]))
        waiting += reversed(box.parts)


def _prices(pairs: PairSpace) -> Floats:
    """What 1 of a number costs, 0 where nothing."""
    costs: Sequence[object] = () if pairs.allowance is None else pairs.allowance.costs
    found = [float(getattr(cost, "each", None) or 0) for cost in costs]
    return np.array(found)
