"""A saved XGBoost model run as XGBoost runs it: in float32, tree after tree, on the arrays of the file.

Columns are cast to float32, the trees' values are added to the base score one after the other in float32. Where XGBoost is not
installed this answers for it in self-check and replay; it shares nothing with the exact model that it is compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise.importers.xgboost.stored import MOST_CATEGORIES, StoredTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Singles = NDArray[np.float32]


def margins(
    trees: Sequence[StoredTree], groups: Sequence[int], base: Sequence[np.float32], columns: Floats
) -> Singles:
    """The margins of all scores, (rows, scores); `base` are the base scores as margins, NaN is a missing value."""
    total = np.tile(np.array(base, dtype=np.float32), (len(columns), 1))
    for tree, group in zip(trees, groups, strict=True):
        total[:, group] += tree.condition[leaves(tree, columns)]
    return total


def sigmoid(margin: Singles) -> Singles:
    """1 / (1 + exp(-x)) in float32, as XGBoost computes it."""
    one = np.float32(1)
    return one / (np.exp(np.minimum(-margin, np.float32(88.7))) + one)


def softmax(margin: Singles) -> Singles:
    """exp(f_c - max) / sum in float32."""
    parts = np.exp(margin - margin.max(axis=1, keepdims=True))
    shares: Singles = parts / parts.sum(axis=1, keepdims=True, dtype=np.float32)
    return shares


def leaves(tree: StoredTree, columns: Floats) -> NDArray[np.int64]:
    """The node of the leaf that each row comes to."""
    with np.errstate(over="ignore"):
        cast = columns.astype(np.float32)
    at = np.zeros(len(columns), dtype=np.int64)
    rows = np.arange(len(columns))
    while (inner := tree.left[at] != -1).any():
        node, x = at[inner], cast[rows[inner], tree.column[at[inner]]]
        goes_left = x < tree.condition[node]
        for one in np.unique(node).tolist():
            if one in tree.chosen:
                here = node == one
                goes_left[here] = ~_among(x[here], tree.chosen[one])
        goes_left = np.where(np.isnan(x), tree.default_left[node], goes_left)
        at[inner] = np.where(goes_left, tree.left[node], tree.right[node])
    return at


def _among(values: Singles, chosen: frozenset[int]) -> NDArray[np.bool_]:
    """Categories are cut to whole numbers; negative and very large ones are none."""
    valid = (values >= 0) & (values < MOST_CATEGORIES)
    return valid & np.isin(np.where(valid, values, -1).astype(np.int64), list(chosen))
