"""Grown: trees as a library keeps them, over the columns that reach the model.

At an inner node the value v of a column goes

    where `missing_left` says   if v is NaN, or a category that the library has never seen (`Forest.known`)
    left, if it is among them   at a node with `categories`
    left, if v <= threshold     at any other one (v < threshold if the forest is `strict`), v cast to float32 before if it is `single`

Scores are bias + sum over trees of factor * (values of the leaf), as in `likewise.families.trees.body`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import check_clock
from likewise.errors import UnsupportedModel
from likewise.families.trees.body import LEAF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int32]


LARGEST_FLOAT32 = np.finfo(np.float32).max


class BentTest(UnsupportedModel):
    """A test of a column that does not rise or fall with its raw number as the program computes it: a test of a score of its own (`nested_trees`)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LibraryTree:
    """One tree, its nodes depth first, left before right: the left child of an inner node is the next one (see `order_depth_first`)."""

    column: Ints  # that a node tests, LEAF for a leaf
    threshold: Floats
    missing_left: NDArray[np.bool_]
    right: Ints  # the right child of an inner node
    values: Floats  # (nodes, n), of leaves
    categories: Mapping[int, frozenset[int]] = field(default_factory=dict)  # by node: those that go left
    factor: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forest:
    """Trees and how they test: see the module. `known` has the categories that a library has seen, by column, where all others
    go the way of missing values; `category` is which category a library takes a number for (NaN for none), if not for itself."""

    trees: tuple[LibraryTree, ...]
    bias: tuple[Fraction, ...]
    single: bool
    strict: bool
    known: Mapping[int, frozenset[int]] = field(default_factory=dict)
    category: Callable[[float], float] | None = None

    def limits(self, thresholds: Floats) -> Floats:
        """The largest double that goes left, for each threshold: whatever the cast and the comparison, v goes left where v <= limit.

        A double goes to the nearest float32, halves to the even one. So with s the largest float32 that goes left and m
        the middle between s and the next one, which is a double, the limit is m, or the double before it.
        """
        if not self.single:
            return np.nextafter(thresholds, -np.inf) if self.strict else thresholds
        with np.errstate(over="ignore"):
            last = thresholds.astype(np.float32)
            beyond = last >= thresholds if self.strict else last > thresholds
            last = np.where(beyond, np.nextafter(last, np.float32(-np.inf)), last)
            following = np.nextafter(last, np.float32(np.inf)).astype(np.float64)
            following = np.where(last == LARGEST_FLOAT32, 2.0**128, following)
            middle = (last.astype(np.float64) + following) / 2
            limits = np.where(middle.astype(np.float32) <= last, middle, np.nextafter(middle, -np.inf))
        return np.where(np.isnan(limits), thresholds, limits)

    def tested_by_category(self) -> frozenset[int]:
        """The columns that some node tests for categories."""
        return frozenset(int(tree.column[node]) for tree in self.trees for node in tree.categories)

    def category_goes_left(
        self, column: int, value: float, among: frozenset[int], *, missing_left: bool
    ) -> bool:
        """Which way a value goes at a node with categories."""
        if np.isnan(value) or (column in self.known and value not in self.known[column]):
            return missing_left
        return (value if self.category is None else self.category(value)) in among


def order_depth_first(left: NDArray[np.integer], right: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """The nodes of a tree that is given by its children (LEAF for leaves) in depth-first order, and where the right child of
    each of them is then. Only those that can be reached from node 0."""
    check_clock()
    leaf, most = left == LEAF, len(left) - 1
    if ((right == LEAF) != leaf).any() or np.any(
        (left < LEAF) | (left > most) | (right < LEAF) | (right > most)
    ):
        raise UnsupportedModel(
            "a tree has children that it does not have nodes for", hint="its file is damaged"
        )
    if _is_depth_first(left, right):
        return np.arange(len(left), dtype=np.int32), right.astype(np.int32)
    firsts, seconds = left.tolist(), right.tolist()
    order: list[int] = []
    place = np.full(len(firsts), LEAF, dtype=np.int32)
    stack = [0]
    while stack:
        node = stack.pop()
        if place[node] != LEAF:
            raise UnsupportedModel("a node of a tree has two parents", hint="its file is damaged")
        place[node] = len(order)
        order.append(node)
        if firsts[node] >= 0:
            stack += (seconds[node], firsts[node])
    kept = np.array(order, dtype=np.int32)
    return kept, np.where(right[kept] >= 0, place[right[kept]], LEAF).astype(np.int32)


def _is_depth_first(left: NDArray[np.integer], right: NDArray[np.integer]) -> bool:
    """Whether all nodes stand in depth-first order already.

    With +1 for an inner node and -1 for a leaf, the nodes below and including j in this order are those from j on up to the first one at
    which the sum over them is -1; the right child of i comes after those of i + 1, and the root's are all.
    """
    n, inner = len(left), np.flatnonzero(left != LEAF)
    if (left[inner] != inner + 1).any():
        return False
    sums = np.cumsum(np.where(left == LEAF, -1, 1))
    if sums[-1] != -1 or (sums[:-1] < 0).any():
        return False
    ends = np.sort((sums + 1) * n + np.arange(n))  # by sum, then by place; sums are -1 at least
    wanted = sums[inner] * n + inner + 1  # the sum before node i + 1 less one, from there on
    return bool((ends[np.searchsorted(ends, wanted)] % n + 1 == right[inner]).all())
