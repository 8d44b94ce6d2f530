"""Bands: numbers that may differ, as seen by a search: x and x' in their intervals, x' - x in a third.

The three intervals limit each other. A `within` feature is branched on by x and by the difference, x' follows; a
`free` one, whose difference is no variable, by x and x'. What a kernel bound loses on the axes u = (x + x')/2,
d = (x' - x)/2 and p = u d (`rbf.copies`) is charged to those variables: u is as wide as x plus half the difference,
and p goes with u.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.spec.features import Continuous, Integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

DIFFERENCE_WEIGHT = (
    3.0  # what is lost by a difference counts so many times: measured, that needs the fewest cells
)
FEW_VALUES = 3  # a free integer with at most so many is given each of them, like a level: one copy is cheaper


class Limits(NamedTuple):
    """What the three intervals leave of each other, by cell; empty (lo > hi) where no pair is left."""

    lo: Floats
    hi: Floats
    second_lo: Floats
    second_hi: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """One number that may differ: its variables, None for the difference of a `free` one."""

    feature: int
    first: int
    second: int
    difference: int | None
    discrete: bool

    def limits(self, lo: Floats, hi: Floats) -> Limits:
        """Each of the three intervals cut down to what the other two allow."""
        here, there = (lo[:, self.first], hi[:, self.first]), (lo[:, self.second], hi[:, self.second])
        low, high = there[0] - here[1], there[1] - here[0]
        if self.difference is not None:
            low, high = np.maximum(low, lo[:, self.difference]), np.minimum(high, hi[:, self.difference])
        return Limits(
            lo=np.maximum(here[0], there[0] - high),
            hi=np.minimum(here[1], there[1] - low),
            second_lo=np.maximum(there[0], here[0] + low),
            second_hi=np.minimum(there[1], here[1] + high),
            low=low,
            high=high,
        )

    def put_inside(self, points: Floats, lo: Floats, hi: Floats) -> None:
        """Move x, then x', into the band, as far as the cell has one."""
        limits = self.limits(lo, hi)
        x = np.maximum(np.minimum(points[:, self.first], limits.hi), limits.lo)
        other = np.maximum(np.minimum(points[:, self.second], x + limits.high), x + limits.low)
        points[:, self.first] = np.clip(x, lo[:, self.first], hi[:, self.first])
        points[:, self.second] = np.clip(other, lo[:, self.second], hi[:, self.second])

    def charge(self, lost: Floats, lo: Floats, hi: Floats, loss: Floats, cuts: Floats) -> None:
        """Charge what was lost on u, d and p (columns) to the variables, and say where to cut them."""
        limits = self.limits(lo, hi)
        wide, apart = limits.hi - limits.lo, limits.high - limits.low
        cuts[:, self.first] = self._middle(limits.lo, limits.hi)
        if self.difference is None:
            wide2 = limits.second_hi - limits.second_lo
            share = _share_of_sum(wide, wide2)
            loss[:, self.first], loss[:, self.second] = (
                share * lost.sum(axis=1),
                (1 - share) * lost.sum(axis=1),
            )
            cuts[:, self.second] = self._middle(limits.second_lo, limits.second_hi)
            return
        share = _share_of_sum(wide, apart / 2)
        middle = lost[:, 0] + lost[:, 2]
        loss[:, self.first] = share * middle
        loss[:, self.difference] = DIFFERENCE_WEIGHT * (lost[:, 1] + (1 - share) * middle)
        cuts[:, self.difference] = self._middle(limits.low, limits.high)

    def trim(self, lo: Floats, hi: Floats) -> tuple[NDArray[np.bool_], Floats]:
        """Whether x' can be cut down to what x and the difference leave of it, and where; only whole numbers are,
        as they must be fixed to be looked at one by one."""
        limits = self.limits(lo, hi)
        left, right = limits.second_lo > lo[:, self.second], limits.second_hi < hi[:, self.second]
        can = (left | right) & self.discrete & (limits.second_lo <= limits.second_hi)
        return can, np.where(left, limits.second_lo - 1, limits.second_hi)

    def _middle(self, lo: Floats, hi: Floats) -> Floats:
        middle: Floats = np.floor((lo + hi) / 2) if self.discrete else lo + (hi - lo) / 2
        return middle


def bands_of(pairs: PairSpace) -> list[Band]:
    """Numbers that may differ, in feature order; not those that are `free` and have few values."""
    found = []
    for k, relation in enumerate(pairs.relations):
        feature = pairs.space[pairs.space.names[k]]
        few = (
            isinstance(feature, Integer) and relation.kind == "free" and feature.hi - feature.lo < FEW_VALUES
        )
        if relation.kind != "same" and isinstance(feature, (Continuous, Integer)) and not few:
            found.append(
                Band(
                    feature=k,
                    first=pairs.first[k],
                    second=pairs.second[k],
                    difference=pairs.difference[k] if pairs.difference else None,
                    discrete=isinstance(feature, Integer),
                )
            )
    return found


def _share_of_sum(part: Floats, other: Floats) -> Floats:
    """part / (part + other), 1 where both are nothing."""
    total = part + other
    share: Floats = np.where(total > 0, part / np.where(total > 0, total, 1), 1)
    return share
