"""Tree ensembles: f_c(x) = bias_c + sum over trees of factor * (value c of the leaf that x comes to), c = 0, ..., n - 1.

Trees test the codes of raw features: whatever a pipeline does to a column before a tree sees it, and every cast on the way, is
worked into the tests by the importer. A number goes left where code <= threshold, a level where its position is among `levels` of the
node, and a missing number (code `feature.missing_code`) where `missing_left` says. Thresholds, values and factors are taken exactly.

A score over codes is a form alpha . f of an ensemble. Rational, so exact. In float64 for many rows, by compiled walks down the trees (`walks`, which brings in numba, is
loaded when it is first used).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from likewise.clock import check_clock
from likewise.errors import InternalError
from likewise.spec.enclosure import Enclosure
from likewise.spec.features import Continuous, Integer
from likewise.spec.terms import dot, nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, KeptLevels
    from likewise.families.trees.walks import Nodes
    from likewise.model.embedding import Column
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

LEAF = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tree:
    """The nodes depth first, left before right: the left child of an inner node is the next one."""

    feature: NDArray[np.int32]  # the feature that a node tests, LEAF for a leaf
    threshold: Floats  # of tests of numbers
    levels: Mapping[int, frozenset[int]]  # by node: the positions that go left, for tests of levels
    missing_left: NDArray[np.bool_]
    right: NDArray[np.int32]  # the right child of an inner node
    values: Floats  # (nodes, n), of leaves
    factor: Fraction = Fraction(1)

    def leaf(self, codes: Sequence[Fraction], missing: Mapping[int, Fraction]) -> int:
        """The leaf that an individual comes to; `missing` has the code that stands for it, by feature."""
        node = 0
        while (k := int(self.feature[node])) != LEAF:
            node = node + 1 if self.goes_left(node, codes[k], missing.get(k)) else int(self.right[node])
        return node

    def goes_left(self, node: int, code: Fraction, missing: Fraction | None) -> bool:
        """Which way a code goes at an inner node."""
        if code == missing:
            return bool(self.missing_left[node])
        if node in self.levels:
            return int(code) in self.levels[node]
        return code <= Fraction(float(self.threshold[node]))

    def exact(self, leaf: int) -> tuple[Fraction, ...]:
        """What a leaf adds to each score."""
        return tuple(self.factor * Fraction(value) for value in self.values[leaf].tolist())


def stump(tree: Tree) -> Tree:
    """The first test of a tree with a leaf on either side; a tree that is a leaf, as it is."""
    if len(tree.feature) == 1:
        return tree
    return Tree(
        feature=np.array([tree.feature[0], LEAF, LEAF], dtype=np.int32),
        threshold=tree.threshold[:3],
        levels={0: tree.levels[0]} if 0 in tree.levels else {},
        missing_left=tree.missing_left[:3],
        right=np.array([2, LEAF, LEAF], dtype=np.int32),
        values=tree.values[tree.feature == LEAF][[0, 0, -1]],
        factor=tree.factor,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeSum:
    """An ensemble of n scores; `missing` has the codes of missing numbers, by feature that may miss one."""

    bias: tuple[Fraction, ...]
    trees: tuple[Tree, ...]
    missing: Mapping[int, Fraction]

    @property
    def n_scores(self) -> int:
        return len(self.bias)

    def exact(self, codes: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """All scores of an individual."""
        total = list(self.bias)
        for tree in self.trees:
            for c, value in enumerate(tree.exact(tree.leaf(codes, self.missing))):
                total[c] += value
        return tuple(total)

    def tested(self) -> frozenset[int]:
        """The features that some node tests: no score depends on any other."""
        return frozenset(int(k) for tree in self.trees for k in np.unique(tree.feature) if k != LEAF)

    def thresholds(self, feature: int) -> Floats:
        """Where tests of a number are, in increasing order, each once."""
        found = [tree.threshold[tree.feature == feature] for tree in self.trees]
        thresholds: Floats = np.unique(np.concatenate(found)) if found else np.empty(0)
        return thresholds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeForm:
    """One score of an ensemble, or a sum of several: alpha . f. All bodies of a model share one ensemble."""

    family: ClassVar[str] = "trees"

    ensemble: TreeSum
    alpha: tuple[Fraction, ...]

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        return dot(self.alpha, self.ensemble.exact(codes))

    @property
    def whole(self) -> bool:
        """Whether it is the only score of its ensemble, as it is."""
        return self.alpha == (Fraction(1),)

    def as_single_score(self) -> TreeSum:
        """The ensemble, of which this is the only score."""
        if not self.whole:
            raise InternalError("forms of several scores have nothing around them")
        return self.ensemble

    def score(self, embedding: tuple[Column, ...], n_features: int) -> TreeScore:
        from likewise.families.trees.body import TreeScore

        return TreeScore(body=self.ensemble, alpha=self.alpha)

    def rescaled(self, by: AffineMap, kind: str) -> TreeForm:
        body = self.as_single_score()
        trees = tuple(replace(tree, factor=by.slope * tree.factor) for tree in body.trees)
        bias = tuple(by.slope * bias + by.offset for bias in body.bias)
        return replace(self, ensemble=replace(body, bias=bias, trees=trees))

    def reads(self, feature: int) -> bool:
        return feature in self.ensemble.tested()

    def restricted(self, kept: KeptLevels) -> TreeForm:
        """The trees over the levels that are left, by their new positions."""
        trees = tuple(_restrict_levels(tree, kept) for tree in self.ensemble.trees)
        return replace(self, ensemble=replace(self.ensemble, trees=trees))

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> int:
        """Of a tree: that of its factor times the largest one of its leaves, as those are all powers of two."""
        body = self.as_single_score()
        found = math.lcm(*(bias.denominator for bias in body.bias))
        for tree in body.trees:
            smallest = max(value.as_integer_ratio()[1] for value in np.unique(tree.values).tolist())
            found = math.lcm(found, tree.factor.denominator * smallest)
        return found


def _restrict_levels(tree: Tree, kept: KeptLevels) -> Tree:
    levels = {
        node: frozenset(
            new for new, place in enumerate(kept[int(tree.feature[node])] or ()) if place in going_left
        )
        for node, going_left in tree.levels.items()
    }
    return replace(tree, levels=levels)


def tree_form(body: object) -> TreeForm | None:
    """The body, if it is a score of trees."""
    return body if isinstance(body, TreeForm) else None


def scores_of_ensemble(ensemble: TreeSum) -> tuple[TreeForm, ...]:
    """All scores of an ensemble, a body each."""
    count = ensemble.n_scores
    return tuple(
        TreeForm(ensemble=ensemble, alpha=tuple(Fraction(n == c) for n in range(count))) for c in range(count)
    )


def ensembles_of(body: Any) -> tuple[TreeSum, ...]:
    """The ensembles that a body is made of: that of trees, or those of the parts of what is made of several."""
    if isinstance(body, TreeForm):
        return (body.ensemble,)
    return tuple(one for part in getattr(body, "parts", ()) for one in ensembles_of(part.body))


UNIT_WEIGHTS = (Fraction(1),)
MOST_LANDMARKS = 256  # leaves whose individuals a search starts from
KERNEL_VALUES_PER_TREE = 4  # that take as long as a walk down a tree, about


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeScore:
    """One score of an ensemble, or a sum of several with the weights `alpha`; `base` is one that knows the nodes already."""

    family: ClassVar[str] = "trees"
    rational: ClassVar[bool] = True
    enclosing_work: ClassVar[int] = 0

    body: TreeSum
    alpha: tuple[Fraction, ...] = UNIT_WEIGHTS
    base: TreeScore | None = None

    def form(self, alpha: tuple[Fraction, ...]) -> TreeScore:
        """The score of the same trees with other weights."""
        return TreeScore(body=self.body, alpha=alpha, base=self.base or self)

    @cached_property
    def nodes(self) -> Nodes:
        """All nodes in one array each."""
        from likewise.families.trees.walks import nodes_of

        return nodes_of(self.body) if self.base is None else self.base.nodes

    @cached_property
    def values(self) -> Floats:
        """What each node adds to the score if it is a leaf, in float64: the sum of at most n products, each rounded."""
        values: Floats = self.table @ np.array([nearest_double(a) for a in self.alpha])
        return values

    @cached_property
    def bias(self) -> Fraction:
        return sum((a * b for a, b in zip(self.alpha, self.body.bias, strict=True)), Fraction(0))

    @cached_property
    def variation(self) -> Fraction:
        """The sum over the trees of how far their leaves are apart."""
        total = Fraction(0)
        for tree in self.body.trees:
            rows = np.unique(tree.values[tree.feature == LEAF], axis=0).tolist()
            values = [dot(self.alpha, list(map(Fraction, row))) for row in rows]
            total += abs(tree.factor) * (max(values) - min(values))
        return total

    @cached_property
    def unit(self) -> Fraction:
        """What every leaf adds to the score a whole multiple of."""
        tiny = min((_lowest_bit(tree.values) for tree in self.body.trees), default=0)
        factors = math.lcm(*(tree.factor.denominator for tree in self.body.trees))
        return Fraction(2) ** min(tiny, 0) / (factors * math.lcm(*(a.denominator for a in self.alpha)))

    def units(self, node: int) -> int:
        """How many units a leaf, as a node of all trees, adds to the score."""
        known: dict[int, int] = self._units
        if node not in known:
            t = bisect_right(self._roots, node) - 1
            values = self.body.trees[t].exact(node - self._roots[t])
            total = (
                sum((a * v for a, v in zip(self.alpha, values, strict=True) if a), Fraction(0)) / self.unit
            )
            known[node] = total.numerator
        return known[node]

    @cached_property
    def _units(self) -> dict[int, int]:
        return {}

    @cached_property
    def _roots(self) -> list[int]:
        return [int(root) for root in self.nodes.roots]

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, for proposing; never for deciding."""
        from likewise.families.trees.walks import add_leaves

        total = np.full(len(codes), nearest_double(self.bias))
        add_leaves(self.nodes, self.values, np.ascontiguousarray(codes, dtype=np.float64), total)
        return total

    def all_scores(self, codes: Floats) -> Floats:
        """The same of all n scores of the ensemble, one column each, whatever the weights."""
        from likewise.families.trees.walks import add_rows_of_leaves

        total = np.tile([nearest_double(b) for b in self.body.bias], (len(codes), 1))
        add_rows_of_leaves(self.nodes, self.table, np.ascontiguousarray(codes, dtype=np.float64), total)
        return total

    @cached_property
    def table(self) -> Floats:
        """(nodes, n): what each node adds to each score if it is a leaf, in float64."""
        if self.base is not None:
            return self.base.table
        return np.concatenate([tree.values * nearest_double(tree.factor) for tree in self.body.trees])

    @cached_property
    def sizes(self) -> Floats:
        """The absolute values of `table`."""
        return np.abs(self.table) if self.base is None else self.base.sizes

    def scorer(self) -> Callable[[Floats], Floats]:
        return self.scores

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """Many rows, exactly."""
        values = []
        for row in codes.tolist():
            check_clock()
            values.append(self.exact([Fraction(c) for c in row]))
        return values

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        """The score of one individual. Codes are doubles, whose comparisons with thresholds are exact."""
        from likewise.families.trees.walks import leaves_of

        doubles = np.array([float(code) for code in codes])
        if any(Fraction(double) != code for double, code in zip(doubles.tolist(), codes, strict=True)):
            return self._exact_by_nodes(codes)
        leaves = np.empty(len(self.body.trees), dtype=np.int64)
        leaves_of(self.nodes, doubles, leaves)
        return self.bias + self.unit * sum(map(self.units, leaves.tolist()))

    def _exact_by_nodes(self, codes: Sequence[Fraction]) -> Fraction:
        """The score at codes that are not all doubles."""
        missing, trees = self.body.missing, zip(self._roots, self.body.trees, strict=True)
        return self.bias + self.unit * sum(
            self.units(root + tree.leaf(codes, missing)) for root, tree in trees
        )

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """The score of one individual; exact, so both ends are the same."""
        return Enclosure.of(self.exact(codes))

    def depends(self, feature: int) -> bool:
        """Whether the score can change with a feature: False only if no node tests it."""
        return feature in self.body.tested()

    def landmarks(self, space: Space) -> Floats:
        """Individuals that come to leaves spread over the ensemble, the middle of the space in what the leaf leaves open."""
        features = [space[name] for name in space.names]
        numbers = [isinstance(feature, (Continuous, Integer)) for feature in features]
        ends = [(f.lo, f.hi) if isinstance(f, (Continuous, Integer)) else (0, f.size - 1) for f in features]
        whole = np.array([not isinstance(feature, Continuous) for feature in features])
        leaves = [
            (t, int(leaf))
            for t, tree in enumerate(self.body.trees)
            for leaf in np.flatnonzero(tree.feature == LEAF)
        ]
        rows = []
        for place in np.linspace(0, len(leaves) - 1, min(MOST_LANDMARKS, len(leaves))).astype(int):
            t, leaf = leaves[place]
            rows.append(_leaf_individual(self.body.trees[t], leaf, ends, numbers))
        middles = np.array(rows).reshape(len(rows), len(features))
        lo, hi = np.array(ends, dtype=np.float64).T
        return np.clip(np.where(whole, np.floor(middles), middles), lo, hi)

    def negated(self) -> TreeScore:
        return self.form(tuple(-a for a in self.alpha))

    @property
    def cost(self) -> int:
        """What a search has to pay for a row, in kernel values."""
        return KERNEL_VALUES_PER_TREE * len(self.body.trees)


def _leaf_individual(
    tree: Tree, leaf: int, ends: Sequence[tuple[float, float]], numbers: Sequence[bool]
) -> list[float]:
    """Codes of an individual near the middle of a leaf's box."""
    box = [[lo, hi] for lo, hi in ends]
    codes = [lo / 2 + hi / 2 for lo, hi in ends]
    node = 0
    while (k := int(tree.feature[node])) != LEAF:
        left = leaf < tree.right[node]
        if numbers[k]:
            box[k][int(left)] = float(tree.threshold[node])
            codes[k] = box[k][1] if box[k][1] - box[k][0] <= 1 else box[k][0] / 2 + box[k][1] / 2
        else:
            levels = tree.levels.get(node, frozenset())
            fits = (p for p in range(int(ends[k][1]) + 1) if (p in levels) == left)
            codes[k] = next(fits, codes[k])
        node = node + 1 if left else int(tree.right[node])
    return codes


def _lowest_bit(values: Floats) -> int:
    """The exponent of two of which all values are whole multiples."""
    some = values[values != 0]
    if not len(some):
        return 0
    _, exponent = np.frexp(some)
    return max(int(exponent.min()) - 53, -1074)
