"""Walking trees: the leaves that many rows come to, in compiled loops over all nodes laid out in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.compiled import compiled
from likewise.families.trees.body import LEAF, TreeSum

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_TABLE = -1


class Nodes(NamedTuple):
    """All nodes of all trees; a test of levels looks its position up in `goes_left`, `width` entries from `table` on, and
    goes right beyond them."""

    roots: NDArray[np.int64]
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
    rights = [tree.right + start for tree, start in zip(body.trees, starts, strict=False)]
    return Nodes(
        roots=starts[:-1],
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


@compiled
def add_leaves(nodes, values, codes, total):  # type: ignore[no-untyped-def]
    """Add to each row's total the values of the leaves that it comes to."""
    leaves = np.empty(len(nodes.roots), dtype=np.int64)
    for i in range(codes.shape[0]):
        leaves_of(nodes, codes[i], leaves)
        for leaf in leaves:
            total[i] += values[leaf]


@compiled
def add_rows_of_leaves(nodes, values, codes, total):  # type: ignore[no-untyped-def]
    """The same where each leaf has a row of values."""
    leaves = np.empty(len(nodes.roots), dtype=np.int64)
    for i in range(codes.shape[0]):
        leaves_of(nodes, codes[i], leaves)
        for leaf in leaves:
            for c in range(values.shape[1]):
                total[i, c] += values[leaf, c]


@compiled
def leaves_of(nodes, codes, leaves):  # type: ignore[no-untyped-def]
    """The leaf of each tree that an individual comes to."""
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
