"""Cells of a proof and the tree that splits them (section 3).

A cell is one `Box` a feature: the interval of its one variable (`same`) or of its two (x_k, then x'_k). The tree is walked
depth first with one open frame a split, so memory is bounded by the depth and the number of features, not by the proof.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from likewise_check.claim import Claim
from likewise_check.errors import Rejected
from likewise_check.numbers import Exact, exact

DEEPEST_TREE = 10_000

Interval: TypeAlias = tuple[Exact, Exact]


@dataclass(frozen=True, slots=True)
class Box:
    """The intervals of one feature's variables; `key` tells boxes apart and is quick to hash."""

    intervals: tuple[Interval, ...]
    key: tuple[int, ...]


Cell: TypeAlias = Sequence[Box]


def box(*intervals: Interval) -> Box:
    """The box of these intervals."""
    key = [part for ends in intervals for end in ends for part in (end.numerator, end.denominator)]
    return Box(intervals, tuple(key))


@dataclass(slots=True)
class _Frame:
    """A split that is being walked: `right` is None once the walk is in the right child."""

    feature: int
    whole: Box
    right: Box | None


class Tree:
    """The walk through one proof: `cell` is the cell of the node that comes next, until the tree is `complete`."""

    def __init__(self, claim: Claim) -> None:
        self._features = claim.space.features
        self._variables: list[tuple[int, int]] = []
        self.cell: list[Box] = []
        for k, (feature, relation) in enumerate(zip(self._features, claim.similarity, strict=True)):
            sides = 1 if relation.kind == "same" else 2
            self._variables.extend((k, side) for side in range(sides))
            self.cell.append(box(*[(exact(feature.lo), exact(feature.hi))] * sides))
        self._frames: list[_Frame] = []
        self.complete = False

    def split(self, variable: object, place: Fraction) -> None:
        """Splits the cell and goes on to the left child."""
        if type(variable) is not int or not 0 <= variable < len(self._variables):
            raise Rejected(f"a split names a variable from 0 to {len(self._variables) - 1}")
        if len(self._frames) >= DEEPEST_TREE:
            raise Rejected(f"the tree is deeper than {DEEPEST_TREE}")
        k, side = self._variables[variable]
        whole, at = self.cell[k], exact(place)
        lo, hi = whole.intervals[side]
        left: Interval
        right: Interval
        if self._features[k].discrete:
            if not isinstance(at, int):
                raise Rejected("a split of a discrete variable must be at a whole number")
            if not lo <= at < hi:
                raise Rejected("a split of a discrete variable must be at lo <= at < hi")
            left, right = (lo, at), (at + 1, hi)
        else:
            if not lo < at < hi:
                raise Rejected("a split of a continuous variable must be at lo < at < hi")
            left, right = (lo, at), (at, hi)
        self._frames.append(_Frame(k, whole, _replaced(whole, side, right)))
        self.cell[k] = _replaced(whole, side, left)

    def close(self) -> None:
        """Ends a leaf: goes on to the nearest right child that is still open, or completes the tree."""
        while self._frames:
            frame = self._frames[-1]
            if frame.right is not None:
                self.cell[frame.feature] = frame.right
                frame.right = None
                return
            self.cell[frame.feature] = frame.whole
            self._frames.pop()
        self.complete = True


def _replaced(whole: Box, side: int, interval: Interval) -> Box:
    intervals = list(whole.intervals)
    intervals[side] = interval
    return box(*intervals)
