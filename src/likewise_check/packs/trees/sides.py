"""What is left of the codes of one feature, for one copy, below some tests of a tree (section 9): a *side*; and whether two sides go together.

A side of a number is (low, open, high, missing): the numbers from low (not itself if open) to high, and whether it may be missing. A side of a
levels kind is an int: bit i is set if position i is left. Both start from the feature's intervals in a cell.
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias

from likewise_check.core.cells import Box, Interval
from likewise_check.core.numbers import Exact, common_scale, int_if_whole
from likewise_check.core.space import Feature, Relation
from likewise_check.packs.trees.body import Node, Nodes

NumberSide: TypeAlias = tuple[Exact, bool, Exact, bool]
Side: TypeAlias = Any  # NumberSide, or int for a levels kind
Pair: TypeAlias = tuple[Side, Side]
Hope: TypeAlias = Callable[[int, int], Exact]
Enough: TypeAlias = Callable[[Exact], bool]


class NumberSides:
    """Of a continuous or integer feature; continuous codes times a scale that makes them ints where denominators are small."""

    def __init__(self, feature: Feature, relation: Relation, tests: Iterable[Exact]) -> None:
        self.missing, self._whole, self.relation = feature.missing, feature.discrete, relation
        near = relation.apart or ()
        self._scale = (
            1 if self._whole else common_scale([feature.lo, feature.hi, *map(Fraction, near), *tests])
        )
        self._last = self.scaled(feature.hi)
        self.apart = tuple(map(self.scaled, near)) or None
        self.closed = relation.limits is None  # whether open ends count as closed ones

    def scaled(self, code: Exact) -> Exact:
        """A code as it stands in sides."""
        return int_if_whole(self._scale * code)

    def test(self, node: Node) -> Node:
        """The node as `narrowed` takes it."""
        return node._replace(test=node.test // 1 if self._whole else self.scaled(node.test))

    def start(self, box: Box) -> Pair:
        """The sides of both copies above all tests."""
        return self._side(box.intervals[0], box.opened[0]), self._side(box.intervals[-1], box.opened[1])

    def _side(self, interval: Interval, opened: bool) -> NumberSide:
        lo, hi = map(self.scaled, interval)
        return lo, opened, min(hi, self._last), interval[1] == self.missing

    def narrowed(self, side: NumberSide, node: Node, left: bool) -> NumberSide:
        """What is left below one child of a node."""
        low, opened, high, missing = side
        test = node.test
        missing = missing and node.missing_left == left
        if left:
            return low, opened, min(high, test), missing
        if self._whole:
            return max(low, test + 1), False, high, missing
        return (test, True, high, missing) if test >= low else (low, opened, high, missing)

    def together(self, first: NumberSide, second: NumberSide) -> bool:
        """Whether there are codes in both that satisfy the relation."""
        if self.relation.kind == "free":
            return (first[3] or holds_number(first)) and (second[3] or holds_number(second))
        return (first[3] and second[3]) or self.numbers_together(first, second)

    def numbers_together(self, first: NumberSide, second: NumberSide) -> bool:
        """The same without missing values; for `within` it is enough that the sides, with their ends, are near."""
        if self.apart is not None:
            least, most = second[0] - first[2], second[2] - first[0]  # attained unless an end is open
            near = least <= self.apart[1] and most >= self.apart[0]
            if not self.closed:
                near &= not (second[1] and least == self.apart[1]) and not (
                    first[1] and most == self.apart[0]
                )
            return near and holds_number(first) and holds_number(second)
        low, opened = max(first[:2], second[:2])
        return holds_number((low, opened, min(first[2], second[2]), False))


def holds_number(side: NumberSide) -> bool:
    """Whether a side holds a number."""
    return side[0] < side[2] or (side[0] == side[2] and not side[1])


class LevelSides:
    """Of a categorical or ordinal feature."""

    def __init__(self, feature: Feature, relation: Relation) -> None:
        self._relation = relation
        most = feature.levels
        self._first, self._last = (max(-most, min(int(end), most)) for end in relation.apart or (0, 0))

    def test(self, node: Node) -> Node:
        """The node as `narrowed` takes it."""
        return node

    def start(self, box: Box) -> Pair:
        """The sides of both copies above all tests."""
        return _interval_bits(box.intervals[0]), _interval_bits(box.intervals[-1])

    def narrowed(self, side: int, node: Node, left: bool) -> int:
        """What is left below one child of a node."""
        return side & int(node.test) if left else side & ~int(node.test)

    def together(self, first: int, second: int) -> bool:
        """Whether there are codes in both that satisfy the relation."""
        relation = self._relation
        if relation.kind == "free":
            return bool(first and second)
        return bool(_moved_bits(first, self._first, self._last) & second) or any(
            (first >> i & 1 and second >> j & 1) or (first >> j & 1 and second >> i & 1)
            for i, j in relation.allowed
        )


AnySides: TypeAlias = NumberSides | LevelSides


def make_sides(feature: Feature, relation: Relation, tests: Iterable[Exact]) -> AnySides:
    """The sides of a feature of either sort, which nodes test like this."""
    return LevelSides(feature, relation) if feature.levels else NumberSides(feature, relation, tests)


def _interval_bits(interval: Interval) -> int:
    lo, hi = map(int, interval)
    return (1 << hi + 1) - (1 << lo)


def _moved_bits(bits: int, first: int, last: int) -> int:
    """All positions that are from `first` to `last` steps above one of these."""
    room = max(0, -first)
    bits, reached = bits << first + room, 0
    while reached < last - first:
        step = min(reached + 1, last - first - reached)
        bits |= bits << step
        reached += step
    return bits >> room


def possible_leaf_pairs(
    nodes: Nodes, sides: dict[int, AnySides], root: dict[int, Pair], hope: Hope, enough: Enough
) -> Iterator[tuple[int, int]]:
    """The leaves of a tree that are together possible below these sides at its root, both copies going down jointly.

    Of two children the one with more hope comes first; where the hope is not enough when its turn comes, all below is left aside.
    """
    waiting: list[tuple[int, int, dict[int, Pair]]] = [(0, 0, {})]
    while waiting:
        i, j, known = waiting.pop()
        if not enough(hope(i, j)):
            continue
        first, second = nodes[i], nodes[j]
        at_first = second is None or (first is not None and i <= j)
        node = first if at_first else second
        if node is None:
            yield i, j
            continue
        k = node.feature
        before = known[k] if k in known else root[k]
        found: list[tuple[int, int, dict[int, Pair]]] = []
        for left in (True, False):
            child = (i if at_first else j) + 1 if left else node.right
            narrow = sides[k].narrowed(before[0 if at_first else 1], node, left)
            after = (narrow, before[1]) if at_first else (before[0], narrow)
            if sides[k].together(*after):
                found.append((*((child, j) if at_first else (i, child)), {**known, k: after}))
        if len(found) == 2 and hope(*found[0][:2]) > hope(*found[1][:2]):
            found.reverse()
        waiting += found


def leaf_sides(
    nodes: Nodes, sides: dict[int, AnySides], root: dict[int, Side]
) -> Iterator[tuple[int, dict[int, Side]]]:
    """The leaves of a tree and what is left there, of the sides at its root, of each feature that was tested."""
    below: dict[int, dict[int, Side]] = {0: {}}
    for i, node in enumerate(nodes):
        known = below.pop(i)
        if node is None:
            yield i, known
            continue
        k = node.feature
        before = known[k] if k in known else root[k]
        for child, left in ((i + 1, True), (node.right, False)):
            below[child] = {**known, k: sides[k].narrowed(before, node, left)}
