"""The bound of the rule `trees` (section 9): over a cell, the maximum of a F(x) - b G(x') tree by tree, F and G being scores of the same trees.

    B = a bias_F - b bias_G + sum over the trees of  max over leaves l, l' together possible in the cell of  a F_l - b G_l'

Trees with few leaves and few pairs that are together possible in the root have these listed (`leaf_pairs`). Of a set of pairs only those count that
no other exceeds in both F_l and -G_l': their front, kept for each set. All other trees are searched in each cell: both copies go down together, and
pairs of subtrees are left aside whose largest F_l and smallest G_l' do not exceed what was found already. Trees of a group have one maximum together (`groups`).

If every feature has codes (c, c') in the cell that satisfy its relation, the leaves that these come to are together possible, in every tree; if one has none,
no leaves are, in no tree. So whether B is minus infinity is seen from the cell alone.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, chain, islice, pairwise
from operator import or_
from typing import TypeAlias

from likewise_check.core.cells import Box, Cell, make_box
from likewise_check.core.numbers import Exact, common_scale, int_if_whole
from likewise_check.core.space import Feature, Relation
from likewise_check.packs.trees.body import Nodes, Trees, Values
from likewise_check.packs.trees.groups import Element, ElementSides, Group, GroupMaxima, sort_elements
from likewise_check.packs.trees.leaf_pairs import LeafPair, LeafPairs, ListedTree
from likewise_check.packs.trees.sides import AnySides, make_sides, possible_leaf_pairs

MOST_LISTED = (
    1 << 22
)  # leaves of a tree times pairs of it: what is kept of a tree are a few sets a leaf, of one bit a pair
MOST_LISTED_IN_ALL = 1 << 28
MOST_KEPT = 1 << 30  # bits of sets whose fronts are kept; dropped beyond, which changes nothing but time
MOST_KEPT_SCORES = 1 << 22  # pairs of leaves, for pairs of F and G that are kept ready
MOST_KEPT_ELEMENTS = 1 << 20  # in lists that are kept for groups

Front: TypeAlias = list[tuple[Exact, Exact]]  # F_l and G_l'


class Forest:
    """The trees of a body, ready for cells of a space with these relations."""

    def __init__(self, features: Sequence[Feature], similarity: Sequence[Relation], body: Trees) -> None:
        """It is quickest where F and G are the (first) score of this body; any others of the same trees will do."""
        tests: list[set[Exact]] = [set() for _ in features]
        for node in filter(None, chain(*body.trees)):
            tests[node.feature].add(node.test)
        self._sides = [make_sides(*each) for each in zip(features, similarity, tests, strict=True)]
        self._tested: dict[int, AnySides] = {k: self._sides[k] for k, some in enumerate(tests) if some}
        self._root = root = {
            k: sides.start(make_box((features[k].lo, features[k].end))) for k, sides in self._tested.items()
        }
        self._trees: list[Nodes] = [
            tuple(node and self._sides[node.feature].test(node) for node in nodes) for nodes in body.trees
        ]
        self._listed: list[int] = []
        self._searched: dict[int, set[int]] = {}  # with the features that they test
        found: list[ListedTree] = []
        left = MOST_LISTED_IN_ALL
        for t, (nodes, values) in enumerate(zip(self._trees, body.values, strict=True)):
            leaves = nodes.count(None)
            room = min(MOST_LISTED, left) // leaves
            pairs = list(
                islice(possible_leaf_pairs(nodes, self._tested, root, lambda *_: 0, lambda _: True), room + 1)
            )
            if len(pairs) <= room:
                left -= leaves * len(pairs)
                pairs.sort(key=lambda pair: _front_key((values[pair[0]][0], values[pair[1]][0])))
                self._listed.append(t)
                found.append(ListedTree(nodes, pairs, self._tested, root))
            else:
                self._searched[t] = {node.feature for node in nodes if node}
        self._pairs = LeafPairs(self._tested, found)
        self._lists = [tree.pairs for tree in found]
        self._places = {t: n for n, t in enumerate(self._listed)}
        self._element_sides = [ElementSides(self._tested, tree) for tree in found]
        self._together = GroupMaxima(self._tested)
        self._boxes: list[Box | None] = [None] * len(self._sides)
        self._void: set[int] = set()  # features none of whose codes in the cell satisfy the relation
        self._scores: dict[tuple[int, int], _Scores] = {}

    def maximum(
        self,
        cell: Cell,
        first: Trees,
        second: Trees,
        a: Fraction,
        b: Fraction,
        groups: Sequence[Group] = (),
    ) -> Fraction | None:
        """B over the cell, F being the score of the first body and G that of the second, a and b >= 0; None for minus infinity: it holds no pair."""
        if not self._holds_codes(cell):
            return None
        self._pairs.move(cell)
        scores = self._ready(first, second)
        at_x, at_other = a / first.scale, b / second.scale
        unit = common_scale([at_x, at_other])
        p, q = int_if_whole(unit * at_x), int_if_whole(unit * at_other)
        total = p * first.bias[0] - q * second.bias[0]
        grouped = set(chain.from_iterable(groups))
        for t, front in zip(self._listed, scores.fronts(self._pairs.possible), strict=True):
            if t in grouped:
                continue
            if len(front) == 1:
                total += p * front[0][0] - q * front[0][1]
            else:
                total += max([p * value - q * other for value, other in front])
        for t in self._searched:
            if t not in grouped:
                total += self._search(cell, t, scores, p, q)
        for group in groups:
            total += self._together.largest([self._elements(t, cell, scores, p, q) for t in group], cell)
        return Fraction(total) / unit

    def _elements(self, t: int, cell: Cell, scores: "_Scores", p: Exact, q: Exact) -> list[Element]:
        """The pairs of leaves of one tree that are possible in the cell, the largest p F_l - q G_l' first."""
        if t in self._places:
            n = self._places[t]
            return scores.elements(n, t, self._pairs.possible[n], p, q, self._element_sides[n])
        root = {k: self._sides[k].start(cell[k]) for k in self._searched[t]}
        nodes = self._trees[t]
        pairs = list(possible_leaf_pairs(nodes, self._tested, root, lambda *_: 0, lambda _: True))
        sides = ElementSides(self._tested, ListedTree(nodes, pairs, self._tested, self._root))
        return sort_elements(
            Element(t, i * len(nodes) + j, scores.value(t, (i, j), p, q), *sides.of(e))
            for e, (i, j) in enumerate(pairs)
        )

    def _holds_codes(self, cell: Cell) -> bool:
        """Whether every feature, tested or not, has codes in the cell that satisfy its relation."""
        for k, (sides, now, before) in enumerate(zip(self._sides, cell, self._boxes, strict=True)):
            if now is not before:
                self._boxes[k] = now
                (self._void.discard if sides.together(*sides.start(now)) else self._void.add)(k)
        return not self._void

    def _ready(self, first: Trees, second: Trees) -> "_Scores":
        key = id(first), id(second)
        if key not in self._scores:
            if len(self._scores) * sum(map(len, self._lists)) >= MOST_KEPT_SCORES:
                self._scores.clear()
            self._scores[key] = _Scores(first, second, self._listed, self._lists)
        return self._scores[key]

    def _search(self, cell: Cell, t: int, scores: "_Scores", p: Exact, q: Exact) -> Exact:
        """The largest p F_l - q G_l' of one tree."""
        most, least = scores.range_of(t, self._trees[t])
        found: list[Exact] = []

        def hope(i: int, j: int) -> Exact:
            return p * most[i] - q * least[j]

        def enough(hoped: Exact) -> bool:
            return not found or hoped > found[-1]

        root = {k: self._sides[k].start(cell[k]) for k in self._searched[t]}
        for i, j in possible_leaf_pairs(self._trees[t], self._tested, root, hope, enough):
            found.append(hope(i, j))
        return found[-1]


class _Scores:
    """F and G, and for the sets of pairs seen so far what counts of them."""

    def __init__(self, first: Trees, second: Trees, listed: list[int], lists: list[list[LeafPair]]) -> None:
        self._bodies = first, second  # also keeps them alive, as they are known by their ids
        self._lists = lists
        # By tree, p and q: all elements, the largest first, and the place of each pair among them; None where they were asked for once.
        self._ranked: dict[tuple[int, Exact, Exact], tuple[list[Element], list[int]] | None] = {}
        self._kept_elements = 0
        self._ordered = [
            _OrderedPairs([(first.values[t][i][0], second.values[t][j][0]) for i, j in pairs])
            for t, pairs in zip(listed, lists, strict=True)
        ]
        self._known: list[dict[int, Front]] = [{} for _ in listed]
        self._sets = [0] * len(listed)
        self._fronts: list[Front] = [[] for _ in listed]
        self._kept = 0
        self._ranges: dict[int, tuple[list[Exact], list[Exact]]] = {}

    def fronts(self, possible: list[int]) -> list[Front]:
        """The front of each set."""
        for t, (now, before) in enumerate(zip(possible, self._sets, strict=True)):
            if now is not before:
                self._sets[t] = now
                front = self._known[t].get(now)
                self._fronts[t] = self._new(t, now) if front is None else front
        return self._fronts

    def _new(self, t: int, pairs: int) -> Front:
        if self._kept > MOST_KEPT:
            self._known, self._kept = [{} for _ in self._known], 0
        front, size = self._ordered[t].front(pairs)
        self._kept += size
        self._known[t][pairs] = front
        return front

    def value(self, t: int, pair: LeafPair, p: Exact, q: Exact) -> Exact:
        """p F_l - q G_l' of two leaves of a tree."""
        first, second = (body.values[t] for body in self._bodies)
        return p * first[pair[0]][0] - q * second[pair[1]][0]

    def elements(
        self, n: int, t: int, possible: int, p: Exact, q: Exact, sides: ElementSides
    ) -> list[Element]:
        """The elements of a set of pairs of a listed tree, the largest first. All pairs of the tree are put in order once, if they are asked for again."""
        pairs, key = self._lists[n], (t, p, q)

        def ordered(places: Iterable[int]) -> list[Element]:
            return sort_elements(Element(t, e, self.value(t, pairs[e], p, q), *sides.of(e)) for e in places)

        if self._kept_elements > MOST_KEPT_ELEMENTS:
            self._ranked, self._kept_elements = {}, 0
        if key not in self._ranked:
            self._ranked[key] = None
            self._kept_elements += 1
            return ordered(_members(possible))
        known = self._ranked[key]
        if known is None:
            every = ordered(range(len(pairs)))
            ranks = [0] * len(pairs)
            for rank, element in enumerate(every):
                ranks[element.place] = rank
            known = self._ranked[key] = every, ranks
            self._kept_elements += len(pairs)
        every, ranks = known
        return [every[rank] for rank in sorted(map(ranks.__getitem__, _members(possible)))]

    def range_of(self, t: int, nodes: Nodes) -> tuple[list[Exact], list[Exact]]:
        """By node, the largest F_l and the smallest G_l of the leaves below it."""
        if t not in self._ranges:
            first, second = (body.values[t] for body in self._bodies)
            self._ranges[t] = _best_below(nodes, first, max), _best_below(nodes, second, min)
        return self._ranges[t]


class _OrderedPairs:
    """The pairs of one tree by their F_l and G_l'."""

    def __init__(self, values: list[tuple[Exact, Exact]]) -> None:
        self._values = values
        self._listed = all(_front_key(point) <= _front_key(after) for point, after in pairwise(values))
        self._largest, self._holding_large = _order_by_value([value for value, _ in values], descending=True)
        self._smallest, self._holding_small = _order_by_value(
            [other for _, other in values], descending=False
        )
        ranks = {value: i for i, value in enumerate(self._largest)}
        self._ranks = [ranks[value] for value, _ in values]

    def front(self, pairs: int) -> tuple[Front, int]:
        """The front of a set, and the bits of the set: from the smallest G_l' on, the largest F_l there; then only larger ones count."""
        front: Front = []
        left = pairs
        while left:
            if self._listed:  # in just this order, so the next pair is the lowest bit
                e = (left & -left).bit_length() - 1
                i = self._ranks[e]
                front.append(self._values[e])
            else:
                j = bisect_left(self._holding_small, True, key=lambda held: held & left != 0)
                lowest = left & self._holding_small[j]
                i = bisect_left(self._holding_large, True, key=lambda held: held & lowest != 0)
                front.append((self._largest[i], self._smallest[j]))
            left = left & self._holding_large[i - 1] if i else 0
        return front, len(self._values)


def _members(pairs: int) -> Iterator[int]:
    """The places of the bits that are set."""
    while pairs:
        lowest = pairs & -pairs
        yield lowest.bit_length() - 1
        pairs ^= lowest


def _front_key(point: tuple[Exact, Exact]) -> tuple[Exact, Exact]:
    return point[1], -point[0]


def _order_by_value(values: list[Exact], *, descending: bool) -> tuple[list[Exact], list[int]]:
    """The values in order, and with each the set of pairs that have it or one before it."""
    having: dict[Exact, int] = defaultdict(int)
    for e, value in enumerate(values):
        having[value] |= 1 << e
    order = sorted(having, reverse=descending)
    return order, list(accumulate((having[value] for value in order), or_))


def _best_below(nodes: Nodes, values: Sequence[Values], pick: Callable[[Exact, Exact], Exact]) -> list[Exact]:
    found: list[Exact] = [0] * len(nodes)
    for i in reversed(range(len(nodes))):
        node = nodes[i]
        found[i] = values[i][0] if node is None else pick(found[i + 1], found[node.right])
    return found
