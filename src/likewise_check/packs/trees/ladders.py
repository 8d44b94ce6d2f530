"""Which pairs of leaves of a tree a continuous or integer feature leaves possible in a cell (section 9). A set of pairs is an int, one bit a pair.

With l, h the ends of an interval of the cell and low, high those of a leaf's side, what is left goes from max(l, low) to min(h, high). That it is
not empty, and that what is left of two sides is at most t apart, are conditions that each compare one of l, low with one of h, high:

    same, free   l <= high and h >= low (h > low if open), of each leaf whose code it is;
    within t     besides, l <= high' + t and h >= low' - t for the other copy's leaf, with either interval;
    between p, q besides, at x l <= high' - p and h >= low' - q, at x' l' <= high + q and h' >= low + p (h and h' are above these if low' and low are open).

Conditions of leaves alone hold, as listed pairs are together possible in the root; that of the cell alone is looked at once. Any other one compares an end of the cell with a
number of one leaf: up the `Ladder` of these numbers, more and more pairs satisfy it. Both missing is one more way to go together (free: of each copy).
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from functools import reduce
from operator import or_
from typing import TypeAlias

from likewise_check.core.cells import Box
from likewise_check.core.numbers import Exact
from likewise_check.packs.trees.sides import NumberSides, Side, holds_number

Members: TypeAlias = dict[Side, int]  # by the side of a leaf, the pairs with such a leaf
Place: TypeAlias = tuple[
    int, ...
]  # all that matters of a box: ranks of both intervals' ends; numbers together; missing, for each copy
_TOGETHER, _MISSING = 4, (5, 6)


class Ranks:
    """The numbers of all sides of one feature, in order: ends of cells are compared with them once for all trees."""

    def __init__(self, sides: NumberSides) -> None:
        self._sides, self.relation = sides, sides.relation
        self._slack: tuple[tuple[Exact, Exact], ...] = ()  # by copy, what is added to floors and ceilings
        if sides.apart is not None:
            low, high = sides.apart
            self._slack = (low, high), (-high, -low)
        self._floors: list[tuple[Exact, bool]] = []  # to be reached, or exceeded if True
        self._ceilings: list[Exact] = []

    @property
    def near(self) -> bool:
        """Whether what is left for one copy depends on the other one's leaf by limits of their difference."""
        return bool(self._slack)

    def note(self, members: Members, copy: int) -> None:
        """Takes in the numbers of these sides, of one copy."""
        for low, opened, high, _ in members:
            self._floors.append((low, opened))
            self._ceilings.append(high)
            if self._slack:
                floor, ceiling = self._slack[copy]
                self._floors.append((low + floor, opened and not self._sides.closed))
                self._ceilings.append(high + ceiling)

    def close(self) -> None:
        """All is noted."""
        self._floors, self._ceilings = sorted(set(self._floors)), sorted(set(self._ceilings))
        self._floor_ranks = {floor: i for i, floor in enumerate(self._floors)}
        self._ceiling_ranks = {ceiling: -i for i, ceiling in enumerate(self._ceilings)}

    def place(self, box: Box) -> Place:
        """A number's condition holds if its rank is below that of the end: l <= ceiling; h >= floor, or h > floor."""
        ranks: list[int] = []
        for interval, opened in zip((box.intervals[0], box.intervals[-1]), box.opened, strict=True):
            lo, hi = map(self._sides.scaled, interval)
            below = bisect_right if opened else bisect_left  # l < ceiling where l itself is left out
            ranks += [1 - below(self._ceilings, lo), bisect_right(self._floors, (hi, False))]
        first, second = self._sides.start(box)
        together = self.relation.kind == "free" or self._sides.numbers_together(first, second)
        return (*ranks, together, first[3], second[3])

    def steps(self, members: Members, copy: int | None = None) -> tuple[dict[int, int], dict[int, int]]:
        """The pairs by rank of their leaf's ceiling, and of its floor; those of a copy as they bound the other copy. Sides without numbers have none."""
        ceilings: dict[int, int] = defaultdict(int)
        floor, ceiling = (0, 0) if copy is None else self._slack[copy]
        floors: dict[int, int] = defaultdict(int)
        for side, pairs in members.items():
            if holds_number(side):
                low, opened, high, _ = side
                ceilings[self._ceiling_ranks[high + ceiling]] |= pairs
                opened = opened and (copy is None or not self._sides.closed)
                floors[self._floor_ranks[low + floor, opened]] |= pairs
        return ceilings, floors


class Ladder:
    """The pairs of one or two sorts of steps (by rank) that lie below a rank, in each sort."""

    def __init__(self, *sorts: dict[int, int]) -> None:
        self._ranks = sorted({rank for steps in sorts for rank in steps})
        reached = [0] * len(sorts)
        self._held = [0]
        for rank in self._ranks:
            reached = [pairs | steps.get(rank, 0) for pairs, steps in zip(reached, sorts, strict=True)]
            held = reached[0]
            for pairs in reached[1:]:
                held &= pairs
            self._held.append(held)

    def below(self, rank: int) -> int:
        """The pairs all of whose steps have a lower rank."""
        return self._held[bisect_left(self._ranks, rank)]


class Choice:
    """One condition of a feature: numbers that satisfy ladders (by what of the place they are compared with), or missing in these copies."""

    def __init__(
        self, ladders: dict[int, Ladder], numbers: int, missing: int, copies: tuple[int, ...]
    ) -> None:
        self._ladders, self._numbers = list(ladders.items()), numbers
        self._missing, self._copies = missing, [_MISSING[copy] for copy in copies]

    def possible(self, place: Place) -> int:
        """The pairs that it leaves possible."""
        pairs = self._numbers if place[_TOGETHER] else 0
        for end, ladder in self._ladders:
            pairs &= ladder.below(place[end])
        if self._missing and all(place[copy] for copy in self._copies):
            pairs |= self._missing
        return pairs


def feature_choices(
    first: Members, second: Members, ranks: Ranks, everyone: int, numbers: int
) -> list[Choice]:
    """All conditions of one feature in one tree; `numbers` are the pairs that its numbers leave possible in the root."""
    own = [ranks.steps(members) for members in (first, second)]
    missing = [reduce(or_, (m for side, m in members.items() if side[3]), 0) for members in (first, second)]
    if ranks.relation.kind == "free":
        return [
            Choice(
                {2 * copy + end: Ladder(own[copy][end]) for end in (0, 1)}, everyone, missing[copy], (copy,)
            )
            for copy in (0, 1)
        ]
    if not ranks.near:
        ladders = {end: Ladder(own[0][end], own[1][end]) for end in (0, 1)}
    else:
        near = [ranks.steps(members, copy) for copy, members in enumerate((first, second))]
        ladders = {
            2 * copy + end: Ladder(own[copy][end], near[1 - copy][end]) for copy in (0, 1) for end in (0, 1)
        }
    return [Choice(ladders, numbers, missing[0] & missing[1], (0, 1))]
