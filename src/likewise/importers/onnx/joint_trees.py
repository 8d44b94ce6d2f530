"""TreeEnsemble of newer files, written as the older operators write their trees: nodes and leaves of all trees are in one list each, and roots say where trees begin.

The attributes become those of a TreeEnsembleRegressor, so that all that follows is shared. Nodes that two ways lead to are refused, so no more are visited than there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.importers.onnx.model_file import CLASSICAL, Node

OPERATOR = f"{CLASSICAL}.TreeEnsemble"
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
SUMS = {0: "AVERAGE", 1: "SUM"}  # aggregate_function
NO_TRANSFORM = 0
LISTS = ("nodes_featureids", "nodes_truenodeids", "nodes_trueleafs", "nodes_falsenodeids", "nodes_falseleafs")


def regressor_attributes(node: Node) -> dict[str, Any]:
    """The trees of a node as attributes of a TreeEnsembleRegressor."""
    own = node.attributes
    splits, modes, weights = (
        np.ravel(own.get(name, ())) for name in ("nodes_splits", "nodes_modes", "leaf_weights")
    )
    lists = {name: own.get(name, ()) for name in LISTS}
    targets, roots = own.get("leaf_targetids", ()), own.get("tree_roots", ())
    missing = own.get("nodes_missing_value_tracks_true") or (0,) * len(splits)
    if (
        any(len(one) != len(splits) for one in (*lists.values(), modes, missing))
        or len(targets) != len(weights)
        or not roots
    ):
        node.refuse("has not one entry a node, or a leaf, in each list of them", hint="the file is damaged")
    if splits.dtype != np.float32 or weights.dtype != np.float32 or (modes >= len(MODES)).any():
        node.refuse(
            "has trees in double precision, or asks for sets of categories",
            hint="export it in single precision, with one category a test",
        )
    if (
        own.get("post_transform", NO_TRANSFORM) != NO_TRANSFORM
        or own.get("aggregate_function", 1) not in SUMS
    ):
        node.refuse("transforms its sums, or takes the smallest or largest of its trees'")
    made: dict[str, list[Any]] = {
        name: [] for name in ("trees", "numbers", "columns", "true", "false", "modes", "values", "missing")
    }
    leaves: dict[str, list[Any]] = {name: [] for name in ("trees", "numbers", "targets", "weights")}
    seen: set[tuple[bool, int]] = set()
    for tree, root in enumerate(roots):
        waiting = [(False, int(root), 0)]
        count = 1
        while waiting:
            leaf, at, number = waiting.pop()
            if not 0 <= at < (len(weights) if leaf else len(splits)) or (leaf, at) in seen:
                node.refuse("has a child that is not there, or two ways to one", hint="the file is damaged")
            seen.add((leaf, at))
            first, second = count, count + 1
            row: tuple[Any, ...] = (tree, number, 0, 0, 0, "LEAF", 0.0, 0)
            if leaf:
                for name, value in zip(
                    leaves, (tree, number, int(targets[at]), float(weights[at])), strict=True
                ):
                    leaves[name].append(value)
            else:
                count += 2
                row = (
                    tree,
                    number,
                    lists["nodes_featureids"][at],
                    first,
                    second,
                    MODES[int(modes[at])],
                    float(splits[at]),
                    missing[at],
                )
                waiting.append((bool(lists["nodes_trueleafs"][at]), lists["nodes_truenodeids"][at], first))
                waiting.append((bool(lists["nodes_falseleafs"][at]), lists["nodes_falsenodeids"][at], second))
            for name, value in zip(made, row, strict=True):
                made[name].append(value)
    names = (
        "nodes_treeids",
        "nodes_nodeids",
        "nodes_featureids",
        "nodes_truenodeids",
        "nodes_falsenodeids",
        "nodes_modes",
        "nodes_values",
        "nodes_missing_value_tracks_true",
    )
    of_leaves = ("target_treeids", "target_nodeids", "target_ids", "target_weights")
    return {
        **{name: tuple(values) for name, values in zip(names, made.values(), strict=True)},
        **{name: tuple(values) for name, values in zip(of_leaves, leaves.values(), strict=True)},
        "n_targets": own.get("n_targets", 1),
        "aggregate_function": SUMS[own.get("aggregate_function", 1)],
    }
