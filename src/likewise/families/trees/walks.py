"""Walking trees: the leaves that many rows come to, in compiled loops over all nodes laid out in a row.

Rows that follow each other often differ in a feature or two: settings of what may differ, values that are tried. A tree that tests none of these has its leaf already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.compiled import compiled
from likewise.families.trees.body import LEAF, TreeSum

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_TABLE = -1
BITS = 64  # features are told apart by them, those with the same one are not
EVERYTHING = np.uint64(2**BITS - 1)  # also where no leaf is known yet


class Nodes(NamedTuple):
    """All nodes of all trees; a test of levels looks its position up in `goes_left`, `width` entries from `table` on, and
    goes right beyond them."""

    roots: NDArray[np.int64]
    tested: NDArray[np.uint64]  # by root: the bits of the features that its tree tests
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    table: NDArray[np.int64]
    width: NDArray[np.int64]
    goes_left: NDArray[np.bool_]
    missing: NDArray[np.float64]  # by feature: the code of a missing number, NaN where there is none


def nodes_of(body: TreeSum) -> Nodes:
    """The nodes of an ensemble in one array each; indices count on from tree to tree."""
    starts = np.concatenate([[0], np.cumsum([len(tree.feature) for tree in body.trees])]).astype(np.int64)
    table = np.full(starts[-1], NO_TABLE, dtype=np.int64)
    width = np.zeros(starts[-1], dtype=np.int64)
    parts: list[NDArray[np.bool_]] = [np.zeros(0, dtype=bool)]
    length = 0
    known: dict[frozenset[int], tuple[int, int]] = {}  # nodes of the same test share their entries
    for tree, start in zip(body.trees, starts, strict=False):
        for node, levels in tree.levels.items():
            if levels not in known:
                part = np.zeros(max(levels, default=-1) + 1, dtype=bool)
                part[list(levels)] = True
                known[levels] = length, len(part)
                parts.append(part)
                length += len(part)
            table[start + node], width[start + node] = known[levels]
    feature = np.concatenate([tree.feature for tree in body.trees]).astype(np.int32)
    missing = np.full(int(feature.max()) + 1, np.nan)
    for k, code in body.missing.items():
        if k < len(missing):
            missing[k] = float(code)
    bits = np.array([_bits(tree.feature) for tree in body.trees], dtype=np.uint64)
    rights = [tree.right + start for tree, start in zip(body.trees, starts, strict=False)]
    return Nodes(
        roots=starts[:-1],
        tested=bits,
        feature=feature,
        threshold=np.concatenate([tree.threshold for tree in body.trees]).astype(np.float64),
        left=np.arange(1, starts[-1] + 1, dtype=np.int32),
        right=np.concatenate(rights).astype(np.int32),
        missing_left=np.concatenate([tree.missing_left for tree in body.trees]).astype(np.bool_),
        table=table,
        width=width,
        goes_left=np.concatenate(parts),
        missing=missing,
    )


def _bits(feature: NDArray[np.int32]) -> int:
    return sum(1 << bit for bit in set((feature[feature != LEAF] % BITS).tolist()))


@compiled
def add_leaves(nodes, values, codes, total):  # type: ignore[no-untyped-def]
    """Add to each row's total the values of the leaves that it comes to."""
    leaves = np.empty(len(nodes.roots), dtype=np.int64)
    for i in range(codes.shape[0]):
        move_leaves(nodes, codes[i], changed_features(codes, i), leaves)
        for leaf in leaves:
            total[i] += values[leaf]


@compiled
def add_rows_of_leaves(nodes, values, codes, total):  # type: ignore[no-untyped-def]
    """The same where each leaf has a row of values."""
    leaves = np.empty(len(nodes.roots), dtype=np.int64)
    for i in range(codes.shape[0]):
        move_leaves(nodes, codes[i], changed_features(codes, i), leaves)
        for leaf in leaves:
            for c in range(values.shape[1]):
                total[i, c] += values[leaf, c]


@compiled
def changed_features(codes, i):  # type: ignore[no-untyped-def]
    """The bits of the features in which a row differs from the one before it."""
    if i == 0:
        return EVERYTHING
    changed = np.uint64(0)
    for k in range(codes.shape[1]):
        if codes[i, k] != codes[i - 1, k]:
            changed |= np.uint64(1) << np.uint64(k % BITS)
    return changed


@compiled
def leaves_of(nodes, codes, leaves):  # type: ignore[no-untyped-def]
    """The leaf of each tree that an individual comes to."""
    move_leaves(nodes, codes, EVERYTHING, leaves)


@compiled
def move_leaves(nodes, codes, changed, leaves):  # type: ignore[no-untyped-def]
    """The same where the leaves of somebody else are known who differs in the features with these bits."""
    feature, threshold, table, width, goes_left = (
        nodes.feature,
        nodes.threshold,
        nodes.table,
        nodes.width,
        nodes.goes_left,
    )
    missing, missing_left, after_left, after_right = (
        nodes.missing,
        nodes.missing_left,
        nodes.left,
        nodes.right,
    )
    for t in range(len(nodes.roots)):
        if changed != EVERYTHING and nodes.tested[t] & changed == 0:
            continue
        node = nodes.roots[t]
        while feature[node] != LEAF:
            k = feature[node]
            code = codes[k]
            if code == missing[k]:
                left = missing_left[node]
            elif table[node] != NO_TABLE:
                place = np.int64(code)
                left = place < width[node] and goes_left[table[node] + place]
            else:
                left = code <= threshold[node]
            node = np.int64(after_left[node]) if left else np.int64(after_right[node])
        leaves[t] = node
