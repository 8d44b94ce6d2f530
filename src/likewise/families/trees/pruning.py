"""Pruning: trees with some features fixed, and the mean of trees over settings of these features.

A node that tests a fixed feature sends everybody one way: the child on that way takes its place. No node of what is left tests a fixed feature, so

    sum over v of weight_v f(z, v)  =  bias + sum over trees, and over the different prunings p of each, of weight_p factor p(z)

with weight_p the sum of the weights of the settings v that prune the tree to p: exactly, and with no more trees than prunings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from likewise.families.settings import Setting
from likewise.families.trees.body import LEAF, Tree, TreeSum

Missing = Mapping[int, Fraction]


def prune_tree(tree: Tree, codes: Setting, missing: Missing) -> Tree:
    """The tree with these features fixed."""
    return _keep_nodes(tree, *_remaining_nodes(tree, codes, missing))


def mean_of_trees(body: TreeSum, settings: Sequence[Setting], weights: Sequence[Fraction]) -> TreeSum:
    """The mean over settings; the weights have the sum 1, and a setting that fixes nothing keeps the trees as they are."""
    trees: list[Tree] = []
    for tree in body.trees:
        shares: dict[int, Fraction] = {}
        prunings = _prune_at(tree, settings, body.missing)
        for one, weight in zip(prunings, weights, strict=True):
            shares[id(one)] = shares.get(id(one), Fraction(0)) + weight
        different = {id(one): one for one in prunings}
        trees += [
            replace(one, factor=one.factor * shares[key]) for key, one in different.items() if shares[key]
        ]
    return replace(body, trees=tuple(trees))


def distinct_prunings(body: TreeSum, settings: Sequence[Setting]) -> list[TreeSum]:
    """The ensembles that the settings prune this one to, each of them once."""
    rows = zip(*(_prune_at(tree, settings, body.missing) for tree in body.trees), strict=True)
    different = {tuple(map(id, trees)): trees for trees in rows}
    return [replace(body, trees=trees) for trees in different.values()]


def extract_score(body: TreeSum, place: int, less: Fraction) -> TreeSum:
    """One score of several, less a number."""
    trees = tuple(replace(tree, values=tree.values[:, place : place + 1]) for tree in body.trees)
    return replace(body, bias=(body.bias[place] - less,), trees=trees)


def _prune_at(tree: Tree, settings: Sequence[Setting], missing: Missing) -> list[Tree]:
    """The tree at each of the settings; equal ones are one object."""
    tested = set(tree.feature.tolist())
    known: dict[tuple[int, ...], Tree] = {}
    seen: dict[tuple[tuple[int, Fraction], ...], Tree] = {}
    found = []
    for codes in settings:
        told = tuple((k, code) for k, code in sorted(codes.items()) if k in tested)
        if told not in seen:
            nodes, right = _remaining_nodes(tree, codes, missing)
            seen[told] = known.setdefault(tuple(nodes), _keep_nodes(tree, nodes, right))
        found.append(seen[told])
    return found


def _remaining_nodes(tree: Tree, codes: Setting, missing: Missing) -> tuple[list[int], list[int]]:
    """The nodes that are left, depth first, and the right child of each among all nodes (LEAF for leaves)."""
    feature, rights = tree.feature.tolist(), tree.right.tolist()

    def taken_place_by(node: int) -> int:
        while (k := feature[node]) != LEAF and k in codes:
            left = tree.goes_left(node, codes[k], missing.get(k))
            node = node + 1 if left else rights[node]
        return node

    nodes: list[int] = []
    right: list[int] = []
    waiting = [taken_place_by(0)]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if feature[node] == LEAF:
            right.append(LEAF)
            continue
        right.append(taken_place_by(rights[node]))
        waiting += (right[-1], taken_place_by(node + 1))
    return nodes, right


def _keep_nodes(tree: Tree, nodes: list[int], right: list[int]) -> Tree:
    """The tree of these nodes."""
    if len(nodes) == len(tree.feature):
        return tree
    place = {node: i for i, node in enumerate(nodes)}
    kept = np.array(nodes, dtype=np.intp)
    return replace(
        tree,
        feature=tree.feature[kept],
        threshold=tree.threshold[kept],
        levels={place[node]: levels for node, levels in tree.levels.items() if node in place},
        missing_left=tree.missing_left[kept],
        right=np.array([LEAF if child == LEAF else place[child] for child in right], dtype=np.int32),
        values=tree.values[kept],
    )
