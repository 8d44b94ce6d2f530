"""A saved LightGBM model run as LightGBM runs it: in float64, tree after tree, on the arrays of the file.

Numbers within `NEAR_ZERO` of zero become zero before any tree sees them. Where LightGBM is not installed this answers for it in
self-check and replay; it shares nothing with the exact model that it is compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.importers.lightgbm.stored import NAN, ZERO, StoredLightGBM, StoredTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NEAR_ZERO = float(np.float32(1e-35))


def raw_scores(stored: StoredLightGBM, columns: Floats) -> Floats:
    """The raw scores of all classes, (rows, scores); NaN is a missing value."""
    seen = np.where(np.abs(columns) <= NEAR_ZERO, 0.0, columns)
    total = np.zeros((len(columns), stored.n_scores))
    for number, tree in enumerate(stored.trees):
        total[:, number % stored.n_scores] += tree.leaves[leaves(tree, seen)]
    if stored.averaged:
        total /= len(stored.trees) // stored.n_scores
    return total


def leaves(tree: StoredTree, columns: Floats) -> NDArray[np.int64]:
    """The number of the leaf that each row comes to."""
    at = np.full(len(columns), 0 if len(tree.left) else -1, dtype=np.int64)
    rows = np.arange(len(columns))
    while (inner := at >= 0).any():
        node, x = at[inner], columns[rows[inner], tree.column[at[inner]]]
        kind = tree.missing[node]
        number = np.where(np.isnan(x) & (kind != NAN), 0.0, x)
        missing = ((kind == ZERO) & (number == 0)) | ((kind == NAN) & np.isnan(number))
        goes_left = np.where(missing, tree.default_left[node], number <= tree.threshold[node])
        for one in np.unique(node).tolist():
            if one in tree.chosen:
                here = node == one
                goes_left[here] = _among(x[here], tree.chosen[one])
        at[inner] = np.where(goes_left, tree.left[node], tree.right[node])
    return -1 - at


def _among(values: Floats, chosen: frozenset[int]) -> NDArray[np.bool_]:
    """Categories are cut to whole numbers; missing and negative ones go right."""
    valid = (values > -1) & (values < 2**31)
    return valid & np.isin(np.where(valid, values, -1).astype(np.int64), list(chosen))
