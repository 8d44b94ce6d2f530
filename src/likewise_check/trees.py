"""The body `trees` (section 9): f(x) = bias + sum over the trees of the value of the leaf that x comes to.

The nodes of a tree stand in depth-first order: the left child of an inner node is the next one, and it tells where its right child is. Bias
and values carry a positive scale that makes them ints where denominators are small. A body of several scores (section 10) has one entry a
score in its bias and at every leaf; the form alpha . f is then a body of one score on the same trees.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

from likewise_check.fields import Reader, Rejected, anything, array_of, choice, record, text, whole
from likewise_check.numbers import Exact, common_scale, exact, number
from likewise_check.space import Feature, Space

MOST_TREES = 10**5
MOST_NODES = 10**7
DEEPEST = 10_000
MOST_SCORES = 1_000


class Node(NamedTuple):
    """An inner node: left if x_k <= test, or for levels kinds if bit x_k of test is set; a missing x_k as `missing_left` says."""

    feature: int
    test: Exact
    right: int
    missing_left: bool

    def goes_left(self, code: Exact, feature: Feature) -> bool:
        """Where an individual with this code goes."""
        if code == feature.missing:
            return self.missing_left
        return bool(int(self.test) >> int(code) & 1) if feature.levels else code <= self.test


Nodes: TypeAlias = tuple[Node | None, ...]  # None: a leaf
Values: TypeAlias = tuple[Exact, ...]  # one a score


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """The trees, and scale * bias and scale * value of the leaves (by node; inner nodes have none)."""

    features: tuple[Feature, ...]
    trees: tuple[Nodes, ...]
    tested: frozenset[int]  # features
    several: bool  # whether bias and values are arrays
    scale: int
    bias: Values
    values: tuple[tuple[Values, ...], ...]

    @property
    def size(self) -> Fraction:
        """|bias| + the largest |value| of each tree: no score is larger, nor are the sums on the way."""
        largest = sum(map(_largest, map(chain.from_iterable, self.values)))
        return Fraction(_largest(self.bias) + largest) / self.scale

    def steady(self, k: int) -> bool:
        """Whether no node tests this feature."""
        return k not in self.tested

    def score(self, codes: Sequence[Fraction]) -> Fraction:
        """f(x) of a body of one score, exactly."""
        return self.scores(codes)[0]

    def scores(self, codes: Sequence[Fraction]) -> list[Fraction]:
        """All scores of x, exactly."""
        reached = [
            values[self._leaf(nodes, codes)] for nodes, values in zip(self.trees, self.values, strict=True)
        ]
        return [Fraction(sum(column)) / self.scale for column in zip(self.bias, *reached, strict=True)]

    def _leaf(self, nodes: Nodes, codes: Sequence[Fraction]) -> int:
        i = 0
        while node := nodes[i]:
            k = node.feature
            i = i + 1 if node.goes_left(codes[k], self.features[k]) else node.right
        return i

    def form(self, weights: Sequence[Fraction], shift: Fraction = Fraction(0)) -> "Trees":
        """The body of one score whose score is shift + sum_c weights_c f_c."""
        factor = common_scale([*weights, shift])
        scaled = [exact(factor * weight) for weight in weights]

        def weighed(entries: Values) -> Values:
            return (
                (exact(sum(w * entry for w, entry in zip(scaled, entries, strict=True))),) if entries else ()
            )

        bias = exact(weighed(self.bias)[0] + factor * self.scale * shift)
        values = tuple(tuple(map(weighed, one)) for one in self.values)
        return replace(self, several=False, scale=factor * self.scale, bias=(bias,), values=values)


def read_trees(item: object, space: Space) -> Trees:
    """The body of a model line."""
    _, bias, items = record(item, "the body", kind=text, bias=anything, trees=array_of(array_of(anything)))
    if not 1 <= len(items) <= MOST_TREES or sum(map(len, items)) > MOST_NODES:
        raise Rejected(f"the body must have 1 to {MOST_TREES} trees with at most {MOST_NODES} nodes in all")
    several = type(bias) is list
    reader: Reader = number
    if several:
        if not 2 <= len(bias) <= MOST_SCORES:
            raise Rejected(f"the bias must be a number, or an array of 2 to {MOST_SCORES}")
        reader = array_of(number, len(bias))
    found = [_tree(nodes, f"tree {t}", space, reader) for t, nodes in enumerate(items)]
    start = reader(bias, "the bias")
    scale = common_scale(
        chain(start if several else [start], (v for _, values in found for v in chain(*values)))
    )
    return Trees(
        features=space.features,
        trees=tuple(nodes for nodes, _ in found),
        tested=frozenset(node.feature for nodes, _ in found for node in nodes if node),
        several=several,
        scale=scale,
        bias=_scaled(start if several else [start], scale),
        values=tuple(tuple(_scaled(entries, scale) for entries in values) for _, values in found),
    )


def _largest(entries: Iterable[Exact]) -> Exact:
    return max(max(entry, -entry) for entry in entries)


def _scaled(entries: Sequence[Fraction], scale: int) -> Values:
    return tuple(exact(scale * entry) for entry in entries)


def _tree(items: list[object], what: str, space: Space, reader: Reader) -> tuple[Nodes, list[list[Fraction]]]:
    """The nodes of a tree, and their values: every node but the first must be the child of exactly one before it."""
    nodes: list[Node | None] = []
    values: list[list[Fraction]] = []
    pending = [
        (0, 0)
    ]  # right children that are still to come and their depths, the next one last; at first the root
    depth = 0
    for i, item in enumerate(items):
        where = f"{what}, node {i}"
        if not nodes or nodes[-1] is None:
            expected, depth = pending.pop() if pending else (-1, 0)
            if expected != i:
                raise Rejected(f"{where} is not the next child of the nodes before it")
        else:
            depth += 1
        if depth > DEEPEST:
            raise Rejected(f"{what} is deeper than {DEEPEST}")
        if type(item) is list and item and type(item[0]) is int:
            node = _node(item, where, space)
            if not i + 1 < node.right < len(items):
                raise Rejected(f"{where}: its right child must come after its left one, and be in the tree")
            pending.append((node.right, depth + 1))
            nodes.append(node)
            values.append([])
        else:
            value = reader(item, where)
            nodes.append(None)
            values.append(value if type(value) is list else [value])
    if pending or not nodes or nodes[-1] is not None:
        raise Rejected(f"{what} ends before its last leaf")
    return tuple(nodes), values


def _node(item: list[object], what: str, space: Space) -> Node:
    k: int = whole(0, len(space.features) - 1)(item[0], f"{what}, the feature")
    feature = space.features[k]
    missing = feature.missing is not None
    _, test, right, *side = array_of(anything, 4 if missing else 3)(item, what)
    place: int = whole(0, MOST_NODES)(right, f"{what}, the right child")
    left = missing and choice("left", "right")(side[0], f"{what}, missing") == "left"
    if not feature.levels:
        return Node(k, exact(number(test, f"{what}, the test")), place, left)
    positions = array_of(whole(0, feature.levels - 1))(test, f"{what}, the position")
    if any(late <= early for early, late in pairwise(positions)):
        raise Rejected(f"{what}: the positions must be strictly increasing")
    return Node(k, sum(1 << position for position in positions), place, left)
