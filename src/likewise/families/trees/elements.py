"""Elements: for every tree the pairs of leaves that one pair of individuals can come to, each with its box.

Both individuals walk down the tree together; at a feature that is the `same` they go the same way, and where their ways part, what
one of them has passed still binds the other in all features that they share. So far fewer than all pairs of leaves are left.
A box is written down as its limits only: (variable, low, high, extra) with indices of the axes; `extra` tells whether a missing
number is inside, or which set of positions it is where a variable has `sets`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.clock import check_clock
from likewise.families.trees.axes import Axes, Axis
from likewise.families.trees.body import TreeSum
from likewise.families.trees.leaf_pairs import WORD_BITS, ElementBuffer, depth_of, pair_leaves
from likewise.families.trees.walks import Nodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace

    Ints = NDArray[np.int32]
    Floats = NDArray[np.float64]


FIRST_CAPACITY = 1 << 12  # elements and limits of a tree that there is room for at first


class Tests(NamedTuple):
    """The tests of all nodes in terms of indices: left are those up to `cut` (above it if `flipped`), or, for sets, those of the
    words `row`."""

    cut: Ints
    flipped: NDArray[np.bool_]
    row: Ints
    words: NDArray[np.int64]


class Elements(NamedTuple):
    """All elements, tree by tree, from the largest difference of the two values on; the limits of element e are those from
    `start[e]` to `start[e + 1]`."""

    tree: Ints
    leaf: Ints  # of x, as a node of all trees
    other: Ints  # of x'
    a: Floats  # value of x's leaf
    b: Floats  # value of the leaf of x', in the score of x'
    start: NDArray[np.int64]
    variable: Ints
    low: Ints
    high: Ints
    extra: Ints
    after: Ints  # (sets, positions + 1): the first position of a set from here on, a large number where there is none
    before: Ints  # (sets, positions + 1): the last position up to here, -1 where there is none


def tests_of(body: TreeSum, nodes: Nodes, axes: list[Axis], sets: list[bool]) -> Tests:
    """All tests by indices."""
    count = len(nodes.feature)
    cut, flipped = np.full(count, -1, dtype=np.int32), np.zeros(count, dtype=bool)
    row = np.full(count, -1, dtype=np.int32)
    for k, axis in enumerate(axes):
        if axis.number:
            some = np.flatnonzero(nodes.feature == k)
            ends = axis.last if axis.missing < 0 else axis.last[: axis.missing]
            limits = nodes.threshold[some]
            cut[some] = np.searchsorted(ends, np.floor(limits) if axis.whole else limits, side="right") - 1
    width = max((axis.size for axis, irregular in zip(axes, sets, strict=True) if irregular), default=0)
    rows: list[NDArray[np.int64]] = [np.zeros(-(-width // WORD_BITS), dtype=np.int64)]
    known: dict[tuple[int, frozenset[int]], tuple[int, bool, int]] = {}  # cut, flipped and row of a test
    for tree, root in zip(body.trees, nodes.roots, strict=True):
        features = tree.feature[list(tree.levels)].tolist()
        for (node, levels), k in zip(tree.levels.items(), features, strict=True):
            if (k, levels) not in known:
                inside = sorted(p for p in levels if p < axes[k].size)
                if sets[k]:
                    known[k, levels] = -1, False, len(rows)
                    rows.append(_pack_words(inside, len(rows[0])))
                elif not inside or inside[0] == 0:
                    known[k, levels] = len(inside) - 1, False, -1
                else:
                    known[k, levels] = inside[0] - 1, True, -1
            cut[root + node], flipped[root + node], row[root + node] = known[k, levels]
    return Tests(cut=cut, flipped=flipped, row=row, words=np.array(rows))


def _pack_words(positions: list[int], count: int) -> NDArray[np.int64]:
    words = np.zeros(count, dtype=np.int64)
    for p in positions:
        words[p // WORD_BITS] |= np.int64(1) << np.int64(p % WORD_BITS)
    return words


def elements_of(
    nodes: Nodes, tests: Tests, axes: Axes, pairs: PairSpace, a: Floats, b: Floats, most: int
) -> Elements | None:
    """All elements; None if they are more than `most`. `a` and `b` are the values of x's and of x's counterpart's leaves."""
    first, second = np.array(pairs.first, dtype=np.int32), np.array(pairs.second, dtype=np.int32)
    walk = nodes, tests, axes, first, second, depth_of(nodes.feature, nodes.left, nodes.right)
    room, parts = _allocate(FIRST_CAPACITY, FIRST_CAPACITY, tests.words.shape[1]), []
    for t in range(len(nodes.roots)):
        check_clock()
        count, total = pair_leaves(*walk, t, most, room)
        if count <= most and (count > len(room.leaf) or total > len(room.variable)):
            room = _allocate(
                2 * count, 2 * total, tests.words.shape[1]
            )  # trees of an ensemble are of about one size
            pair_leaves(*walk, t, most, room)
        most -= count
        if most < 0:
            return None
        parts.append(_sort_by_difference(room, count, a, b))
    leaf, other, start, variable, low, high, extra, words = map(np.concatenate, zip(*parts, strict=True))
    after, before = _number_sets(axes, variable, extra, words)
    return Elements(
        tree=np.repeat(np.arange(len(parts), dtype=np.int32), [len(part.leaf) for part in parts]),
        leaf=leaf,
        other=other,
        a=a[leaf],
        b=b[other],
        start=np.concatenate([[0], np.cumsum(start)]).astype(np.int64),
        variable=variable,
        low=low,
        high=high,
        extra=extra,
        after=after,
        before=before,
    )


def _sort_by_difference(found: ElementBuffer, count: int, a: Floats, b: Floats) -> ElementBuffer:
    """The elements of a tree, from the largest difference of the two values on; `start` has the number of limits of each."""
    start = found.start[: count + 1]
    order = np.argsort(b[found.other[:count]] - a[found.leaf[:count]], kind="stable")
    lengths = np.diff(start)[order]
    ends = np.cumsum(lengths)
    taken = np.repeat(start[:-1][order] - (ends - lengths), lengths) + np.arange(start[-1])
    return ElementBuffer(
        leaf=found.leaf[order],
        other=found.other[order],
        start=lengths,
        variable=found.variable[taken],
        low=found.low[taken],
        high=found.high[taken],
        extra=found.extra[taken],
        words=found.words[taken],
    )


def _allocate(count: int, total: int, words: int) -> ElementBuffer:
    """Room for so many elements, with so many limits in all."""
    return ElementBuffer(
        leaf=np.zeros(count, dtype=np.int32),
        other=np.zeros(count, dtype=np.int32),
        start=np.zeros(count + 1, dtype=np.int64),
        variable=np.zeros(total, dtype=np.int32),
        low=np.zeros(total, dtype=np.int32),
        high=np.zeros(total, dtype=np.int32),
        extra=np.zeros(total, dtype=np.int32),
        words=np.zeros((total, words), dtype=np.int64),
    )


def _number_sets(axes: Axes, variable: Ints, extra: Ints, words: NDArray[np.int64]) -> tuple[Ints, Ints]:
    """Number the sets that occur, in `extra`, and tabulate the position after and before each of their places."""
    some = np.flatnonzero(axes.sets[variable]) if len(variable) else np.zeros(0, dtype=np.intp)
    if not len(some):
        return np.zeros((1, 1), dtype=np.int32), np.zeros((1, 1), dtype=np.int32)
    distinct, place = np.unique(words[some], axis=0, return_inverse=True)
    extra[some] = place.ravel()
    width = int(axes.size[axes.sets].max())
    positions = np.arange(width)
    inside = (distinct[:, positions // WORD_BITS] >> (positions % WORD_BITS)) & 1 == 1
    after = np.full((len(distinct), width + 1), np.iinfo(np.int32).max, dtype=np.int32)
    before = np.full((len(distinct), width + 1), -1, dtype=np.int32)
    for p in range(width - 1, -1, -1):
        after[:, p] = np.where(inside[:, p], p, after[:, p + 1])
    for p in range(width):
        before[:, p] = np.where(inside[:, p], p, before[:, p - 1] if p else -1)
    before[:, width] = before[:, width - 1]
    return after, before
