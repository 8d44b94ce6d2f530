"""Tree ensembles: f_c(x) = bias_c + sum over trees of factor * (value c of the leaf that x comes to), c = 0, ..., n - 1.

Trees test the codes of raw features: whatever a pipeline does to a column before a tree sees it, and every cast on the way, is
worked into the tests by the importer. A number goes left where code <= threshold, a level where its position is among `levels` of the
node, and a missing number (code `feature.missing_code`) where `missing_left` says. Thresholds, values and factors are taken exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from likewise.errors import InternalError
from likewise.spec.terms import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import Kept, Mapped
    from likewise.families.trees.score import TreeScore
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

    def alone(self) -> TreeSum:
        """The ensemble, of which this is the only score."""
        if not self.whole:
            raise InternalError("forms of several scores have nothing around them")
        return self.ensemble

    def score(self, embedding: tuple[Column, ...], n_features: int) -> TreeScore:
        from likewise.families.trees.score import TreeScore

        return TreeScore(body=self.ensemble, alpha=self.alpha)

    def rescaled(self, by: Mapped, kind: str) -> TreeForm:
        body = self.alone()
        trees = tuple(replace(tree, factor=by.slope * tree.factor) for tree in body.trees)
        bias = tuple(by.slope * bias + by.offset for bias in body.bias)
        return replace(self, ensemble=replace(body, bias=bias, trees=trees))

    def reads(self, feature: int) -> bool:
        return feature in self.ensemble.tested()

    def restricted(self, kept: Kept) -> TreeForm:
        """The trees over the levels that are left, by their new positions."""
        trees = tuple(_tested_anew(tree, kept) for tree in self.ensemble.trees)
        return replace(self, ensemble=replace(self.ensemble, trees=trees))

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> int:
        """Of a tree: that of its factor times the largest one of its leaves, as those are all powers of two."""
        body = self.alone()
        found = math.lcm(*(bias.denominator for bias in body.bias))
        for tree in body.trees:
            smallest = max(value.as_integer_ratio()[1] for value in np.unique(tree.values).tolist())
            found = math.lcm(found, tree.factor.denominator * smallest)
        return found


def _tested_anew(tree: Tree, kept: Kept) -> Tree:
    levels = {
        node: frozenset(
            new for new, place in enumerate(kept[int(tree.feature[node])] or ()) if place in going_left
        )
        for node, going_left in tree.levels.items()
    }
    return replace(tree, levels=levels)


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
