"""The body `trees` (section 9): f(x) = bias + sum over the trees of the value of the leaf that x comes to.

The nodes of a tree stand in depth-first order: the left child of an inner node is the next one, and it tells where its right child is. Bias
and values carry a positive scale that makes them ints where denominators are small. A body of several scores (section 10) has one entry a
score in its bias and at every leaf; the form alpha . f is then a body of one score on the same trees.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any, ClassVar, NamedTuple, TypeAlias

from likewise_check.core.body import Codes, Ends, Form
from likewise_check.core.fields import Reader, Rejected, anything, array_of, choice, record, text, whole
from likewise_check.core.numbers import Exact, common_scale, int_if_whole, number
from likewise_check.core.rounding import LOST, MOST_OPERATIONS, Rounding
from likewise_check.core.space import Feature, Space

MOST_TREES = 10**5
MOST_NODES = 10**7
DEEPEST = 10_000
MOST_SCORES = 1_000
MOST_KEPT = 1 << 22  # values of forms that are kept; dropped beyond, which changes nothing but time


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
Texts: TypeAlias = tuple[str, ...]  # the same as they are written


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """The trees, and scale * bias and scale * value of the leaves (by node; inner nodes have none)."""

    kind: ClassVar[str] = "trees"
    packs: ClassVar[frozenset[str]] = frozenset({"trees"})
    rational: ClassVar[bool] = True
    clears: ClassVar[bool] = True
    knows_missing: ClassVar[bool] = True

    features: tuple[Feature, ...]
    trees: tuple[Nodes, ...]
    tested: frozenset[int]  # features
    several: bool  # whether bias and values are arrays
    scale: int
    bias: Values
    values: tuple[tuple[Values, ...], ...]
    # What the rule keeps for all lemmas of a claim: bodies on the same trees have it in common.
    shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _forms: dict[Form, "Trees"] = field(default_factory=dict, repr=False, compare=False)

    @property
    def size(self) -> Fraction:
        """|bias| + the largest |value| of each tree: no score is larger, nor are the sums on the way."""
        largest = sum(map(_largest_size, map(chain.from_iterable, self.values)))
        return Fraction(_largest_size(self.bias) + largest) / self.scale

    def steady(self, k: int) -> bool:
        """Whether no node tests this feature."""
        return k not in self.tested

    def ends(self, codes: Codes, _bits: int) -> Sequence[Ends]:
        """All scores of x, which are exact."""
        return [(score, score) for score in self.scores(codes)]

    def scores(self, codes: Codes) -> list[Fraction]:
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

    def unprepared(self) -> "Trees":
        """The same body, of which no rule has kept anything: for pairs that are others than those of the claim."""
        return replace(self, shared={}, _forms={})

    def form(self, alpha: Form) -> "Trees":
        """The body of one score, alpha . f."""
        if alpha not in self._forms:
            if len(self._forms) * sum(map(len, self.values)) > MOST_KEPT:
                self._forms.clear()
            known = dict(alpha)
            self._forms[alpha] = self.weigh([known.get(c, Fraction(0)) for c in range(len(self.bias))])
        return self._forms[alpha]

    def weigh(self, weights: Sequence[Fraction], shift: Fraction = Fraction(0)) -> "Trees":
        """The body of one score whose score is shift + sum_c weights_c f_c."""
        factor = common_scale([*weights, shift])
        scaled = [int_if_whole(factor * weight) for weight in weights]
        known: dict[Values, Values] = {(): ()}  # leaves of a forest have few different values

        def weighed(entries: Values) -> Values:
            if entries not in known:
                known[entries] = (
                    int_if_whole(sum(w * entry for w, entry in zip(scaled, entries, strict=True))),
                )
            return known[entries]

        bias = int_if_whole(weighed(self.bias)[0] + factor * self.scale * shift)
        values = tuple(tuple(map(weighed, one)) for one in self.values)
        return replace(self, several=False, scale=factor * self.scale, bias=(bias,), values=values, _forms={})

    def read_rounding(self, item: object) -> Rounding | None:
        """How the deployed program adds up the values of the leaves, if it is described."""
        if item is None:
            return None
        constant, operations, bits = record(
            item, "the rounding", constant=number, operations=whole(0, MOST_OPERATIONS), bits=whole(24, 53)
        )
        if bits not in LOST:
            raise Rejected("the rounding's bits must be 24 or 53")
        if constant < self.size or operations < len(self.trees):
            raise Rejected(
                "the rounding's constant must be at least |bias| + the largest |value| of each tree, and its operations at least the trees"
            )
        return Rounding(magnitude=constant, operations=operations, bits=bits)


class Numbers:
    """The numbers of a body by their texts, each read once."""

    def __init__(self) -> None:
        self.known: dict[str, Fraction] = {}

    def read(self, item: object, what: str) -> str:
        """A text that stands for a number, which is known from then on."""
        if type(item) is not str or item not in self.known:
            self.known[str(item)] = number(item, what)
        return str(item)

    def scaled(self, scale: int) -> dict[str, Exact]:
        """scale * each of them."""
        return {known: int_if_whole(scale * value) for known, value in self.known.items()}


@dataclass(frozen=True, slots=True)
class Leaves:
    """Reads the values of leaves, an array of so many where there are several scores."""

    numbers: Numbers
    several: int | None

    def read(self, item: object, what: str) -> Texts:
        if self.several is None:
            return (self.numbers.read(item, what),)
        return tuple(array_of(self.numbers.read, self.several)(item, what))


def read_trees(item: object, space: Space) -> Trees:
    """The body of a model line."""
    _, bias, items = record(item, "the body", kind=text, bias=anything, trees=array_of(read_array))
    if not 1 <= len(items) <= MOST_TREES or sum(map(len, items)) > MOST_NODES:
        raise Rejected(f"the body must have 1 to {MOST_TREES} trees with at most {MOST_NODES} nodes in all")
    several = type(bias) is list
    if several and not 2 <= len(bias) <= MOST_SCORES:
        raise Rejected(f"the bias must be a number, or an array of 2 to {MOST_SCORES}")
    leaves = Leaves(Numbers(), len(bias) if several else None)
    tests = Tests(space)
    found = [_read_tree(nodes, f"tree {t}", tests, leaves) for t, nodes in enumerate(items)]
    start = leaves.read(bias, "the bias")
    scale = common_scale(leaves.numbers.known.values())
    scaled = leaves.numbers.scaled(scale)
    return Trees(
        features=space.features,
        trees=tuple(nodes for nodes, _ in found),
        tested=frozenset(node.feature for nodes, _ in found for node in nodes if node),
        several=several,
        scale=scale,
        bias=tuple(scaled[entry] for entry in start),
        values=tuple(tuple(tuple([scaled[e] for e in texts]) for texts in values) for _, values in found),
    )


def read_one_score(item: object, space: Space, _coefficient: Reader = number) -> Trees:
    """The same, which must be of one score."""
    trees = read_trees(item, space)
    if trees.several:
        raise Rejected("a body of several scores needs a head of classes, and the other way round")
    return trees


def read_scores(item: object, space: Space, scores: int) -> Trees:
    """The same, which must be of so many scores."""
    trees = read_trees(item, space)
    if not trees.several or len(trees.bias) != scores:
        raise Rejected(
            f"a body of several scores needs a head of classes, and the other way round: it must have {scores} scores"
        )
    return trees


def read_array(value: object, what: str) -> list[object]:
    """Reads an array and leaves its entries, of which there may be many, to whoever comes next."""
    if type(value) is not list:
        raise Rejected(f"{what} must be an array")
    return value


def _largest_size(entries: Iterable[Exact]) -> Exact:
    return max(max(entry, -entry) for entry in entries)


def _read_tree(items: list[object], what: str, tests: "Tests", leaves: Leaves) -> tuple[Nodes, list[Texts]]:
    """The nodes of a tree, and their values: every node but the first must be the child of exactly one before it."""
    nodes: list[Node | None] = []
    values: list[Texts] = []
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
            node = tests.node(item, where)
            if not i + 1 < node.right < len(items):
                raise Rejected(f"{where}: its right child must come after its left one, and be in the tree")
            pending.append((node.right, depth + 1))
            nodes.append(node)
            values.append(())
        else:
            nodes.append(None)
            values.append(leaves.read(item, where))
    if pending or not nodes or nodes[-1] is not None:
        raise Rejected(f"{what} ends before its last leaf")
    return tuple(nodes), values


class Tests:
    """Reads inner nodes; a number that many of them compare with is read once."""

    def __init__(self, space: Space) -> None:
        self._features = space.features
        self._numbers: dict[str, Exact] = {}

    def node(self, item: list[object], what: str) -> Node:
        """[feature, test, right child], and where a missing number goes if the feature may have one."""
        k = item[0]
        if type(k) is not int or not 0 <= k < len(self._features):
            raise Rejected(f"{what}, the feature must be a whole number from 0 to {len(self._features) - 1}")
        feature = self._features[k]
        missing = feature.missing is not None
        if len(item) != 3 + missing:
            raise Rejected(f"{what} must have {3 + missing} entries, not {len(item)}")
        test, right = item[1], item[2]
        if type(right) is not int or not 0 <= right <= MOST_NODES:
            raise Rejected(f"{what}, the right child must be a whole number from 0 to {MOST_NODES}")
        left = missing and choice("left", "right")(item[3], f"{what}, missing") == "left"
        if feature.levels:
            return Node(k, _read_positions(test, feature.levels, what), right, left)
        return Node(k, self._number(test, what), right, left)

    def _number(self, test: object, what: str) -> Exact:
        if type(test) is not str or test not in self._numbers:
            self._numbers[str(test)] = int_if_whole(number(test, f"{what}, the test"))
        return self._numbers[str(test)]


def _read_positions(test: object, levels: int, what: str) -> int:
    """The positions of an array, strictly increasing, as bits."""
    bits, last = 0, -1
    for position in read_array(test, f"{what}, the position"):
        if type(position) is not int or not 0 <= position < levels:
            raise Rejected(f"{what}, the position must be a whole number from 0 to {levels - 1}")
        if position <= last:
            raise Rejected(f"{what}: the positions must be strictly increasing")
        bits, last = bits | 1 << position, position
    return bits
