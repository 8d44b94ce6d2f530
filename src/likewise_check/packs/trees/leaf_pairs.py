"""The pairs of leaves of each tree that are together possible in a cell (section 9), kept from cell to cell.

The pairs that are together possible in the root are listed once; a set of them is an int, one bit a pair. A pair is possible in a cell if each feature
that its tree tests leaves it possible, so the set of a tree is the intersection of one set a feature; only the sets of boxes that are new are looked
up. Numbers: `ladders`. Levels kinds: the pairs are sorted by their sides, and those united whose sides, cut to the cell, go together.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import reduce
from operator import and_, or_
from typing import TypeAlias

from likewise_check.core.cells import Box, Cell
from likewise_check.packs.trees.body import Nodes
from likewise_check.packs.trees.ladders import Choice, Members, Place, Ranks, feature_choices
from likewise_check.packs.trees.sides import AnySides, LevelSides, NumberSides, Pair, Side, leaf_sides

LeafPair: TypeAlias = tuple[int, int]  # by their nodes
MOST_KEPT = (
    1 << 30
)  # bits of sets that a feature keeps between leaves; dropped beyond, which changes nothing but time


class ListedTree:
    """One tree, its pairs, and the sides of their leaves."""

    def __init__(
        self, nodes: Nodes, pairs: list[LeafPair], sides: dict[int, AnySides], root: dict[int, Pair]
    ) -> None:
        self.pairs, self.everyone = pairs, (1 << len(pairs)) - 1
        self.tested = sorted({node.feature for node in nodes if node})
        self._root = root
        self._leaves = [
            dict(leaf_sides(nodes, sides, {k: root[k][copy] for k in self.tested})) for copy in (0, 1)
        ]
        self._with: list[dict[int, int]] = [
            defaultdict(int),
            defaultdict(int),
        ]  # the pairs with a leaf, by copy
        for e, pair in enumerate(pairs):
            for copy in (0, 1):
                self._with[copy][pair[copy]] |= 1 << e

    def members(self, k: int) -> list[Members]:
        """The pairs by the side of their first leaf, and by that of their second."""
        found: list[Members] = [defaultdict(int), defaultdict(int)]
        for copy in (0, 1):
            for leaf, pairs in self._with[copy].items():
                found[copy][self._side(k, copy, leaf)] |= pairs
        return found

    def pairs_by_sides(self, k: int) -> dict[Pair, int]:
        """The pairs by both sides."""
        found: dict[Pair, int] = defaultdict(int)
        for e, (i, j) in enumerate(self.pairs):
            found[self._side(k, 0, i), self._side(k, 1, j)] |= 1 << e
        return found

    def sides_of(self, place: int) -> dict[int, Pair]:
        """What a pair leaves of each feature that stands above one of its leaves."""
        i, j = self.pairs[place]
        return {
            k: (self._side(k, 0, i), self._side(k, 1, j))
            for k in self._leaves[0][i].keys() | self._leaves[1][j].keys()
        }

    def _side(self, k: int, copy: int, leaf: int) -> Side:
        return self._leaves[copy][leaf].get(k, self._root[k][copy])


class _Numbers:
    """The sets of one continuous or integer feature in the trees that test it."""

    def __init__(self, k: int, sides: NumberSides, trees: list[ListedTree]) -> None:
        self._ranks = Ranks(sides)
        members = [tree.members(k) for tree in trees]
        for first, second in members:
            self._ranks.note(first, 0)
            self._ranks.note(second, 1)
        self._ranks.close()
        self.place = self._ranks.place
        self._choices: list[list[Choice]] = []
        for tree, (first, second) in zip(trees, members, strict=True):
            numbers = tree.everyone
            if sides.missing is not None and sides.relation.kind != "free":
                numbers = _unite_possible(tree.pairs_by_sides(k), sides.numbers_together)
            self._choices.append(feature_choices(first, second, self._ranks, tree.everyone, numbers))

    def sets(self, place: Place) -> list[int]:
        """The pairs of each tree that a box of this place leaves possible."""
        return [reduce(and_, (choice.possible(place) for choice in found)) for found in self._choices]


class _Levels:
    """The same of a levels kind."""

    def __init__(self, k: int, sides: LevelSides, trees: list[ListedTree]) -> None:
        self._sides = sides
        self._united = [tree.pairs_by_sides(k) for tree in trees]

    def place(self, box: Box) -> Place:
        return self._sides.start(box)

    def sets(self, place: Place) -> list[int]:
        first, second = place
        return [
            _unite_possible(united, lambda i, j: self._sides.together(i & first, j & second))
            for united in self._united
        ]


def _unite_possible(united: dict[Pair, int], together: Callable[[Side, Side], bool]) -> int:
    return reduce(or_, (pairs for (i, j), pairs in united.items() if together(i, j)), 0)


class LeafPairs:
    """The listed trees in the cell that was looked at last; `possible` has one set a tree."""

    def __init__(self, sides: dict[int, AnySides], trees: list[ListedTree]) -> None:
        self.possible = [tree.everyone for tree in trees]
        self._parts: list[dict[int, int]] = [{} for _ in trees]  # by feature, whose intersection they are
        self._testing = {k: [t for t, tree in enumerate(trees) if k in tree.tested] for k in sides}
        self._sets: dict[int, _Numbers | _Levels] = {}
        for k, found in self._testing.items():
            tested = [trees[t] for t in found]
            made = sides[k]
            self._sets[k] = (
                _Numbers(k, made, tested) if isinstance(made, NumberSides) else _Levels(k, made, tested)
            )
        self._boxes: dict[int, Box] = {}
        self._known: dict[tuple[int, Place], list[int]] = {}
        self._bits = {k: sum(len(trees[t].pairs) for t in found) for k, found in self._testing.items()}
        self._kept = 0

    def move(self, cell: Cell) -> None:
        """Goes on to another cell."""
        changed: set[int] = set()
        for k, testing in self._testing.items():
            box = cell[k]
            if self._boxes.get(k) is box:
                continue
            self._boxes[k] = box
            for t, pairs in zip(testing, self._look_up(k, box), strict=True):
                parts = self._parts[t]
                if parts.get(k) != pairs:
                    parts[k] = pairs
                    changed.add(t)
        for t in changed:
            self.possible[t] = reduce(and_, self._parts[t].values())

    def _look_up(self, k: int, box: Box) -> list[int]:
        key = k, self._sets[k].place(box)
        if key not in self._known:
            if self._kept > MOST_KEPT:
                self._known, self._kept = {}, 0
            self._known[key] = self._sets[k].sets(key[1])
            self._kept += self._bits[k]
        return self._known[key]
