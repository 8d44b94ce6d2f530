"""Lines of trees: an ensemble as the model line of a certificate has it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from likewise.clock import check_clock
from likewise.families.trees.body import LEAF, Tree, TreeSum
from likewise.gc_pause import without_collector
from likewise.spec.numbers import format_number, one_or_array
from likewise.spec.terms import dot


def trees_line(body: TreeSum, alpha: tuple[Fraction, ...] | None = None) -> dict[str, Any]:
    """A body of trees, or with `alpha` of the one score alpha . f; one of several scores has arrays in the place of numbers."""
    texts = _TextCache(alpha)
    with without_collector():
        nodes = []
        for tree in body.trees:
            check_clock()
            nodes.append(_tree_line(tree, body.missing, texts))
    return {
        "kind": "trees",
        "bias": one_or_array(list(body.bias) if alpha is None else [dot(alpha, body.bias)]),
        "trees": nodes,
    }


class _TextCache:
    """What is written at nodes, made once for all nodes at which it is the same."""

    def __init__(self, alpha: tuple[Fraction, ...] | None) -> None:
        self.alpha = alpha
        self._levels: dict[frozenset[int], list[int]] = {}
        self._thresholds: dict[float, str] = {}
        self._products: dict[tuple[Fraction, float], str] = {}

    def levels(self, levels: frozenset[int]) -> list[int]:
        if levels not in self._levels:
            self._levels[levels] = sorted(levels)
        return self._levels[levels]

    def threshold(self, threshold: float) -> str:
        if threshold not in self._thresholds:
            largest = sys.float_info.max  # no double is beyond that
            self._thresholds[threshold] = format_number(min(max(threshold, -largest), largest))
        return self._thresholds[threshold]

    def leaves(self, tree: Tree) -> list[Any]:
        """By leaf: what it adds to the scores."""
        values = tree.values[tree.feature == LEAF]
        if self.alpha is not None:
            return [
                format_number(tree.factor * dot(self.alpha, list(map(Fraction, row))))
                for row in values.tolist()
            ]
        distinct, places = np.unique(values, return_inverse=True)
        texts = np.array([self._product(tree.factor, value) for value in distinct.tolist()], dtype=object)
        rows: list[Any] = texts[places.reshape(values.shape)].tolist()
        return [row[0] for row in rows] if values.shape[1] == 1 else rows

    def _product(self, factor: Fraction, value: float) -> str:
        if (factor, value) not in self._products:
            self._products[factor, value] = format_number(factor * Fraction(value))
        return self._products[factor, value]


def _tree_line(tree: Tree, missing: Mapping[int, Fraction], texts: _TextCache) -> list[Any]:
    nodes: list[Any] = []
    leaves = iter(texts.leaves(tree))
    rows = zip(tree.feature.tolist(), tree.threshold.tolist(), tree.right.tolist(), strict=True)
    for i, (k, threshold, right) in enumerate(rows):
        if k == LEAF:
            nodes.append(next(leaves))
            continue
        test = texts.levels(tree.levels[i]) if i in tree.levels else texts.threshold(threshold)
        way = ["left" if tree.missing_left[i] else "right"] if k in missing else []
        nodes.append([k, test, right, *way])
    return nodes
