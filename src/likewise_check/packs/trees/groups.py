"""Groups of trees that are looked at together (section 9): the largest sum over pairs of leaves, one a tree, that are together possible in a cell.

A pair of leaves (l, l') is an *element*: its tree, its value p F_l - q G_l', and what its leaves leave of each feature that stands above them. One tree's elements are tried from the largest value down; with each, those of the
next tree that go with it; what cannot exceed the best sum so far is left aside.

Of a number that is the same in both copies, or free, and never missing, an element leaves one interval, or one a copy (`plain`). Intervals of which any two have a code in common all have one, the cell's among them, so there two elements are compared once, whatever the cell.
For all other features what is left is taken from element to element, beginning with the cell.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias, TypeGuard

from likewise_check.core.cells import Cell
from likewise_check.core.deadline import look_at_clock
from likewise_check.core.fields import Rejected
from likewise_check.core.numbers import Exact
from likewise_check.packs.trees.leaf_pairs import ListedTree
from likewise_check.packs.trees.sides import AnySides, LevelSides, NumberSides, Pair, Side

FEWEST, MOST = 2, 4  # trees of a group
MOST_KEPT = 1 << 22  # comparisons that are kept; dropped beyond, which changes nothing but time

Group: TypeAlias = tuple[int, ...]
Interval: TypeAlias = tuple[Exact, bool, Exact]  # from, itself left out, to
Left: TypeAlias = dict[int, Pair]  # what is left of features that are not plain


class Element(NamedTuple):
    """A pair of leaves; `place` tells it from the others of its tree, whatever the cell."""

    tree: int
    place: int
    value: Exact
    plain: dict[tuple[int, int], Interval]  # by feature and copy
    others: Left


def read_groups(item: object, trees: int) -> tuple[Group, ...]:
    """The groups of a leaf."""
    if type(item) is not list or not item:
        raise Rejected("the groups of a trees leaf are an array of at least one")
    seen: set[int] = set()
    found: list[Group] = []
    for group in item:
        if type(group) is not list or not FEWEST <= len(group) <= MOST:
            raise Rejected(f"a group is an array of {FEWEST} to {MOST} trees")
        for before, t in zip([-1, *group], group, strict=False):
            if type(t) is not int or not before < t < trees:
                raise Rejected("the trees of a group are places in the body's array, strictly increasing")
        if not seen.isdisjoint(group):
            raise Rejected("a tree is in two groups")
        seen.update(group)
        found.append(tuple(group))
    return tuple(found)


class ElementSides:
    """What the pairs of leaves of a tree leave of each feature."""

    def __init__(self, sides: dict[int, AnySides], tree: ListedTree) -> None:
        self._sides, self._tree = sides, tree
        self._known: dict[int, tuple[dict[tuple[int, int], Interval], Left]] = {}

    def of(self, place: int) -> tuple[dict[tuple[int, int], Interval], Left]:
        """Of one pair: intervals of plain features, and the sides of the others."""
        if place not in self._known:
            self._known[place] = self._find(place)
        return self._known[place]

    def _find(self, place: int) -> tuple[dict[tuple[int, int], Interval], Left]:
        plain: dict[tuple[int, int], Interval] = {}
        others: Left = {}
        for k, (first, second) in self._tree.sides_of(place).items():
            sides = self._sides[k]
            if not is_plain(sides):
                others[k] = first, second
            elif sides.relation.kind == "free":
                plain[k, 0], plain[k, 1] = first[:3], second[:3]
            else:
                plain[k, 0] = _in_both(first[:3], second[:3])
        return plain, others


class GroupMaxima:
    """Sums of elements of several trees in cells of one space."""

    def __init__(self, sides: dict[int, AnySides]) -> None:
        self._sides = sides
        self._meets: dict[tuple[int, int, int, int], bool] = {}

    def largest(self, elements: Sequence[Sequence[Element]], cell: Cell) -> Exact:
        """The largest sum of one element a tree; the elements of each tree are those that are possible in the cell, the largest first."""
        rest: list[Exact] = [0]  # what the trees from here on add at most
        for some in reversed(elements):
            rest.append(rest[-1] + some[0].value)
        rest.reverse()
        best: list[Exact] = []

        def search(depth: int, chosen: tuple[Element, ...], left: Left, total: Exact) -> None:
            look_at_clock()
            if depth == len(elements):
                best[:] = [total]
                return
            for element in elements[depth]:
                reached = total + element.value
                if best and reached + rest[depth + 1] <= best[0]:
                    return
                if all(self._meet(other, element) for other in chosen):
                    narrow = self._narrowed(left, element.others, cell)
                    if narrow is not None:
                        search(depth + 1, (*chosen, element), narrow, reached)

        search(0, (), {}, 0)
        return best[0]

    def _meet(self, first: Element, second: Element) -> bool:
        """Whether two elements have codes in common, of each plain feature, and go together, of the others, whatever the cell."""
        key = first.tree, first.place, second.tree, second.place
        known = self._meets.get(key)
        if known is None:
            if len(self._meets) >= MOST_KEPT:
                self._meets.clear()
            known = self._meets[key] = all(
                _holds_code(_in_both(interval, second.plain[axis]))
                for axis, interval in first.plain.items()
                if axis in second.plain
            ) and all(
                self._sides[k].together(*self._shared(k, pair, second.others[k]))
                for k, pair in first.others.items()
                if k in second.others
            )
        return known

    def _shared(self, k: int, first: Pair, second: Pair) -> Pair:
        """What two elements leave of a feature, in each copy."""
        sides = self._sides[k]
        return _shared_side(sides, first[0], second[0]), _shared_side(sides, first[1], second[1])

    def _narrowed(self, left: Left, element: Left, cell: Cell) -> Left | None:
        """What is left of features that are not plain, with one element more; None where one has no codes left that go together."""
        if not element:
            return left
        found = dict(left)
        for k, pair in element.items():
            sides = self._sides[k]
            before = found[k] if k in found else sides.start(cell[k])
            found[k] = self._shared(k, before, pair)
            if not sides.together(*found[k]):
                return None
        return found


def is_plain(sides: AnySides) -> TypeGuard[NumberSides]:
    """Whether a feature has numbers that are never missing, the same for both copies or free."""
    return (
        isinstance(sides, NumberSides) and sides.missing is None and sides.relation.kind in ("same", "free")
    )


def sort_elements(elements: Iterable[Element]) -> list[Element]:
    """The largest value first."""
    return sorted(elements, key=lambda element: element.value, reverse=True)


def _in_both(first: Interval, second: Interval) -> Interval:
    low, opened = max(first[:2], second[:2])
    return low, opened, min(first[2], second[2])


def _holds_code(interval: Interval) -> bool:
    return interval[0] < interval[2] or (interval[0] == interval[2] and not interval[1])


def _shared_side(sides: AnySides, first: Side, second: Side) -> Side:
    """What two sides of one copy have in common."""
    if isinstance(sides, LevelSides):
        return first & second
    return *_in_both(first[:3], second[:3]), first[3] and second[3]
