"""Cells of a proof and the tree that splits them (section 3).

A cell is one `Box` a feature: the interval of its one variable (`same`) or of its two (x_k, then x'_k), and that of the difference
x'_k - x_k where there is such a variable: for continuous and integer features that are `within`. Differences are numbered after all other
variables. Below a node that splits a *quantity* (section 15: a sum inside a network) a cell also has limits of that quantity. The tree is walked depth first
with one open frame a split, so memory is bounded by the depth and the number of features, not by the proof.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from likewise_check.core.fields import Rejected
from likewise_check.core.numbers import Exact, consecutive, int_if_whole
from likewise_check.core.space import Relation, Space

DEEPEST_TREE = 10_000
_DIFFERENCE = 2  # the side of a difference, after x_k and x'_k

Interval: TypeAlias = tuple[Exact, Exact]
Quantity: TypeAlias = tuple[int, ...]  # by numbers that the pack of its node understands
Limits: TypeAlias = tuple[Fraction | None, Fraction | None]  # a lower and an upper one


@dataclass(frozen=True, slots=True)
class Box:
    """The intervals of one feature's variables; `key` tells boxes apart by their codes alone and is quick to hash."""

    intervals: tuple[Interval, ...]
    key: tuple[int, ...]
    difference: tuple[Interval, ...] = ()  # one interval, or none
    opened: tuple[bool, bool] = (
        False,
        False,
    )  # whether the lower ends at x and at x' are left out (section 24)


Cell: TypeAlias = Sequence[Box]


class LimitedCell(tuple[Box, ...]):
    """A cell with limits of quantities; a rule that does not ask for these speaks of more pairs."""

    limits: Mapping[Quantity, Limits]


def limits_of(cell: Cell) -> Mapping[Quantity, Limits]:
    """The limits of quantities in a cell."""
    return cell.limits if isinstance(cell, LimitedCell) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """A leaf holds in its cell, with this clearance (None: infinite, no pair there)."""

    clearance: Fraction | None
    points: int = 0  # that were looked at
    side: str | None = None  # "x" or "x'" if the scores of that side alone were looked at (section 14)


NO_PAIR = Holds(clearance=None)


class LeafRefused(Exception):
    """The rule of a well-formed leaf does not hold in its cell; smaller cells may succeed."""


def make_box(
    *intervals: Interval,
    difference: tuple[Interval, ...] = (),
    opened: tuple[bool, bool] = (False, False),
) -> Box:
    """The box of these intervals."""
    key = (part for ends in intervals for end in ends for part in (end.numerator, end.denominator))
    return Box(intervals, (*key, *map(int, opened)) if any(opened) else tuple(key), difference, opened)


class _BoxSplit(NamedTuple):
    """A split that is being walked: of a feature's box, with its right part, None once the walk is there."""

    feature: int
    whole: Box
    right: Box | None


class _LimitSplit(NamedTuple):
    """The same of a quantity's limits."""

    quantity: Quantity
    whole: Limits
    right: Limits | None


class Tree:
    """The walk through one proof: `cell` is the cell of the node that comes next, until the tree is `complete`."""

    def __init__(self, space: Space, similarity: Sequence[Relation]) -> None:
        self._features = space.features
        self._variables: list[tuple[int, int]] = []  # feature and side
        differences: list[tuple[int, int]] = []
        self._boxes: list[Box] = []
        for k, (feature, relation) in enumerate(zip(self._features, similarity, strict=True)):
            sides = 1 if relation.kind == "same" else 2
            self._variables.extend((k, side) for side in range(sides))
            difference: tuple[Interval, ...] = ()
            if relation.apart is not None and not feature.levels:
                difference = (relation.apart,)
                differences.append((k, _DIFFERENCE))
            ends = [(int_if_whole(feature.lo), int_if_whole(feature.end))] * sides
            if relation.fixed is not None:
                ends = [(place, place) for place in relation.fixed]
            elif relation.inside is not None:
                ends = [relation.inside]
            self._boxes.append(make_box(*ends, difference=difference))
        self._variables += differences
        self._limits: dict[Quantity, Limits] = {}
        self._frames: list[_BoxSplit | _LimitSplit] = []
        self.complete = False

    @property
    def cell(self) -> Cell:
        """The cell of the node that comes next."""
        limits = {quantity: ends for quantity, ends in self._limits.items() if ends != (None, None)}
        if not limits:
            return tuple(self._boxes)
        cell = LimitedCell(self._boxes)
        cell.limits = limits
        return cell

    def split(self, variable: int, place: Fraction, after: Fraction | None = None) -> None:
        """Splits the cell, at a place or between two doubles, and goes on to the left child."""
        if not 0 <= variable < len(self._variables):
            raise Rejected(f"a split names a variable from 0 to {len(self._variables) - 1}")
        self._look_at_depth()
        k, side = self._variables[variable]
        whole = self._boxes[k]
        lo, hi = (*whole.intervals, *whole.difference)[side]
        discrete, at = self._features[k].discrete, int_if_whole(place)
        start = at if after is None else int_if_whole(after)
        if after is not None:
            if discrete or side == _DIFFERENCE:
                raise Rejected("only a continuous feature's codes are split between two doubles")
            if not (lo <= at and start <= hi and consecutive(place, after)):
                raise Rejected("a split between doubles needs lo <= at < after <= hi with no double between")
        elif discrete:
            if not (isinstance(at, int) and lo <= at < hi):
                raise Rejected("a discrete variable must be split at a whole number, lo <= at < hi")
            start = at + 1
        elif not lo < at < hi:
            raise Rejected("a continuous variable must be split at lo < at < hi")
        self._frames.append(_BoxSplit(k, whole, _replace_interval(whole, side, (start, hi))))
        self._boxes[k] = _replace_interval(whole, side, (lo, at))

    def limit(self, quantity: Quantity, place: Fraction) -> None:
        """Splits the cell by a quantity, <= place and >= place, and goes on to the left child."""
        self._look_at_depth()
        whole = self._limits.get(quantity, (None, None))
        low, high = whole
        right = place if low is None else max(low, place)
        self._frames.append(_LimitSplit(quantity, whole, (right, high)))
        self._limits[quantity] = low, place if high is None else min(high, place)

    def close(self) -> None:
        """Ends a leaf: goes on to the nearest right child that is still open, or completes the tree."""
        while self._frames:
            frame = self._frames.pop()
            if isinstance(frame, _BoxSplit):
                self._boxes[frame.feature] = frame.right or frame.whole
            else:
                self._limits[frame.quantity] = frame.right or frame.whole
            if frame.right is not None:
                self._frames.append(frame._replace(right=None))
                return
        self.complete = True

    def _look_at_depth(self) -> None:
        if len(self._frames) >= DEEPEST_TREE:
            raise Rejected(f"the tree is deeper than {DEEPEST_TREE}")


def _replace_interval(whole: Box, side: int, interval: Interval) -> Box:
    if side == _DIFFERENCE:
        return Box(whole.intervals, whole.key, (interval,))
    intervals = (interval if i == side else old for i, old in enumerate(whole.intervals))
    return make_box(*intervals, difference=whole.difference)
