"""Ensembles of trees in a graph: the attributes of TreeEnsembleClassifier and TreeEnsembleRegressor as arrays a tree, checked, and walked down as ONNX Runtime does.

At a node the value v of a column goes to the true child where `v <= t` (BRANCH_LEQ), `v < t` (LT), `v >= t` (GTE), `v > t` (GT), `v == t` (EQ) or `v != t` (NEQ), and NaN where `missing_value_tracks_true` says, else to
the false one, as no comparison with it holds. Values are float32, or doubles where the tensor is of doubles; thresholds and weights are float32. Leaves give weights, which are added up by target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.families.trees.body import LEAF
from likewise.importers.onnx.model_file import Node
from likewise.importers.trees.library_forest import Forest, LibraryTree, order_depth_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MODES = {
    "BRANCH_LEQ": 0,
    "BRANCH_LT": 1,
    "BRANCH_GTE": 2,
    "BRANCH_GT": 3,
    "BRANCH_EQ": 4,
    "BRANCH_NEQ": 5,
    "LEAF": 6,
}
LEQ, LT, GTE, GT, EQ, NEQ, END = range(7)
NODES = (
    "nodes_treeids",
    "nodes_nodeids",
    "nodes_featureids",
    "nodes_truenodeids",
    "nodes_falsenodeids",
    "nodes_modes",
    "nodes_values",
)
UNREAD_TENSORS = (
    "nodes_values_as_tensor",
    "nodes_hitrates_as_tensor",
    "class_weights_as_tensor",
    "target_weights_as_tensor",
    "base_values_as_tensor",
)
LARGEST_COLUMN = 10_000
LARGEST_CATEGORY = 2**24
MOST_TREES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """By node: the children, -1 for leaves; what it tests and how; and the weights of leaves, one a target."""

    true: Ints
    false: Ints
    column: Ints
    threshold: Floats
    mode: Ints
    missing_true: NDArray[np.bool_]
    weights: Floats

    def leaves(self, columns: NDArray[Any]) -> NDArray[np.intp]:
        """Where rows end."""
        at, rows = np.zeros(len(columns), dtype=np.intp), np.arange(len(columns))
        thresholds = self.threshold.astype(columns.dtype)
        while (going := self.mode[at] != END).any():
            node = at[going]
            value, limit, mode = columns[rows[going], self.column[node]], thresholds[node], self.mode[node]
            with np.errstate(invalid="ignore"):
                holds = np.select(
                    [mode == LEQ, mode == LT, mode == GTE, mode == GT, mode == EQ],
                    [value <= limit, value < limit, value >= limit, value > limit, value == limit],
                    value != limit,
                )
            holds = np.where(np.isnan(value), self.missing_true[node], holds)
            at[going] = np.where(holds, self.true[node], self.false[node])
        return at


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTrees:
    """All trees, and which targets have a weight in every leaf of some tree (`always`); `single`: values are compared in single precision."""

    trees: tuple[StoredTree, ...]
    targets: int
    always: frozenset[int]
    width: int

    def sums(self, columns: NDArray[Any]) -> Floats:
        """The weights of all leaves that rows come to, added up in single precision."""
        total = np.zeros((len(columns), self.targets), dtype=np.float32)
        for values in self.leaf_weights(columns):
            total += values.astype(np.float32)
        return total.astype(np.float64)

    def leaf_weights(self, columns: NDArray[Any]) -> Iterator[Floats]:
        """Tree by tree."""
        for tree in self.trees:
            yield tree.weights[tree.leaves(columns)]


def read_trees(node: Node, kind: str, targets: int) -> StoredTrees:
    """The trees of a node whose leaves are described by attributes `class_...` or `target_...`."""
    own = node.attributes
    tensors = [name for name in UNREAD_TENSORS if name in own]
    if tensors:
        node.refuse(
            f"has {tensors[0]!r}: trees in double precision are not read",
            hint="export it in single precision",
        )
    arrays = {name: own.get(name, ()) for name in NODES}
    count = len(arrays["nodes_treeids"])
    missing = own.get("nodes_missing_value_tracks_true") or (0,) * count
    if not count or any(len(one) != count for one in (*arrays.values(), missing)):
        node.refuse("has not one entry a node in each list of them", hint="the file is damaged")
    strange = [mode for mode in arrays["nodes_modes"] if mode not in MODES]
    if strange:
        node.refuse(f"has nodes of the mode {strange[0]!r}, which is not read")
    thresholds = np.array(arrays["nodes_values"], dtype=np.float64)
    columns = np.array(arrays["nodes_featureids"], dtype=np.int64)
    if not np.isfinite(thresholds).all() or (columns < 0).any() or (columns > LARGEST_COLUMN).any():
        node.refuse(
            "tests a column that is not there, or compares with no number", hint="the file is damaged"
        )
    place, starts = _number_nodes(node, arrays["nodes_treeids"], arrays["nodes_nodeids"])
    leaf = np.array([mode == "LEAF" for mode in arrays["nodes_modes"]])
    children = [
        _find_children(node, place, arrays["nodes_treeids"], arrays[name], leaf)
        for name in ("nodes_truenodeids", "nodes_falsenodeids")
    ]
    weights, given = _read_weights(node, kind, place, targets, leaf)
    modes = np.array([MODES[mode] for mode in arrays["nodes_modes"]], dtype=np.int64)
    trees, always = [], set()
    for own_places in starts.values():
        at = np.array(own_places, dtype=np.int64)
        inside = np.full(count, LEAF, dtype=np.int64)
        inside[at] = np.arange(len(at))
        tree = StoredTree(
            true=np.where(leaf[at], LEAF, inside[children[0][at]]),
            false=np.where(leaf[at], LEAF, inside[children[1][at]]),
            column=columns[at],
            threshold=thresholds[at],
            mode=modes[at],
            missing_true=np.array(missing, dtype=bool)[at],
            weights=weights[at],
        )
        order_depth_first(tree.true, tree.false)  # refuses what is no tree
        always |= {k for k in range(targets) if given[at][leaf[at], k].all()}
        trees.append(tree)
    tested = columns[~leaf]
    return StoredTrees(
        trees=tuple(trees), targets=targets, always=frozenset(always), width=int(tested.max(initial=-1)) + 1
    )


def _number_nodes(
    node: Node, trees: tuple[int, ...], nodes: tuple[int, ...]
) -> tuple[dict[tuple[int, int], int], dict[int, list[int]]]:
    """Where each node of each tree is in the lists; the first of a tree is its root."""
    place: dict[tuple[int, int], int] = {}
    starts: dict[int, list[int]] = {}
    for i, key in enumerate(zip(trees, nodes, strict=True)):
        if place.setdefault(key, i) != i:
            node.refuse(f"has node {key[1]} of tree {key[0]} twice", hint="the file is damaged")
        starts.setdefault(key[0], []).append(i)
    if len(starts) > MOST_TREES:
        node.refuse(f"has {len(starts):,} trees; at most {MOST_TREES:,} are read")
    return place, starts


def _find_children(
    node: Node,
    place: Mapping[tuple[int, int], int],
    trees: tuple[int, ...],
    ids: tuple[int, ...],
    leaf: NDArray[np.bool_],
) -> Ints:
    found = [
        0 if ends else place.get(key, -1)
        for key, ends in zip(zip(trees, ids, strict=True), leaf.tolist(), strict=True)
    ]
    if -1 in found:
        node.refuse("has a node whose child is not there", hint="the file is damaged")
    return np.array(found, dtype=np.int64)


def _read_weights(
    node: Node, kind: str, place: Mapping[tuple[int, int], int], targets: int, leaf: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Weights (nodes, targets), 0 where none is given, and which are given."""
    lists = [node.attributes.get(f"{kind}_{name}", ()) for name in ("treeids", "nodeids", "ids", "weights")]
    if len({len(one) for one in lists}) > 1 or not lists[0] or not 1 <= targets <= 1000:
        node.refuse("has not one target and weight a leaf, or too many targets", hint="the file is damaged")
    weights, given = np.zeros((len(leaf), targets)), np.zeros((len(leaf), targets), dtype=bool)
    for tree, number, target, weight in zip(*lists, strict=True):
        at = place.get((tree, number), -1)
        if (
            at < 0
            or not leaf[at]
            or not 0 <= target < targets
            or given[at, target]
            or not np.isfinite(weight)
        ):
            node.refuse(
                "gives a weight to what is no leaf, to no target, twice, or one that is no number",
                hint="the file is damaged",
            )
        weights[at, target], given[at, target] = weight, True
    return weights, given


# -- as trees that test by <= -----------------------------------------------------------------------------


def make_forest(
    node: Node,
    stored: StoredTrees,
    values: Any,
    bias: tuple[Fraction, ...],
    factor: Fraction,
    *,
    single: bool,
) -> Forest:
    """The same with every test as `v <= limit`, or as one of categories; `values` makes scores of weights."""
    trees = tuple(
        _library_tree(node, tree, values(tree.weights), factor, single=single) for tree in stored.trees
    )

    def category(value: float) -> float:
        return float(np.float32(value)) if single else value

    return Forest(trees=trees, bias=bias, single=single, strict=False, category=category)


def _library_tree(
    node: Node, tree: StoredTree, values: Floats, factor: Fraction, *, single: bool
) -> LibraryTree:
    turned = np.isin(tree.mode, (GTE, GT, NEQ))
    left, right = np.where(turned, tree.false, tree.true), np.where(turned, tree.true, tree.false)
    order, right = order_depth_first(left, right)
    mode, threshold = tree.mode[order], tree.threshold[order]
    before = (
        np.nextafter(threshold.astype(np.float32), np.float32(-np.inf)).astype(np.float64)
        if single
        else np.nextafter(threshold, -np.inf)
    )
    limits = np.where(np.isin(mode, (LT, GTE)), before, threshold)
    chosen = np.flatnonzero(np.isin(mode, (EQ, NEQ)))
    for value in threshold[chosen].tolist():
        if value != int(value) or not 0 <= value < LARGEST_CATEGORY:
            node.refuse(
                f"asks whether a column is {value}, which is no category",
                hint="whole numbers from 0 on are read",
            )
    return LibraryTree(
        column=np.where(mode == END, LEAF, tree.column[order]).astype(np.int32),
        threshold=limits,
        missing_left=tree.missing_true[order] != turned[order],
        right=right,
        values=values[order],
        categories={int(at): frozenset({int(threshold[at])}) for at in chosen},
        factor=factor,
    )
