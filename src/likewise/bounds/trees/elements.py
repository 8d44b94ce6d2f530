"""Elements: for every tree the pairs of leaves that one pair of individuals can come to, each with its box.

Both individuals walk down the tree together; at a feature that is the `same` they go the same way, and where their ways part, what
one of them has passed still binds the other in all features that they share. So far fewer than all pairs of leaves are left.
A box is written down as its limits only: (variable, low, high, extra) with indices of the axes; `extra` tells whether a missing
number is inside, or which set of positions it is where a variable has `sets`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from likewise.bounds.trees.axes import BESIDE, NEAR, Axes, Axis
from likewise.model.trees import LEAF, TreeSum
from likewise.model.walking import Nodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace

    Ints = NDArray[np.int32]
    Floats = NDArray[np.float64]

WORD = 62  # positions in a word of a set


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
    rows: list[NDArray[np.int64]] = [np.zeros(-(-width // WORD), dtype=np.int64)]
    for tree, root in zip(body.trees, nodes.roots, strict=True):
        for node, levels in tree.levels.items():
            k, place = int(tree.feature[node]), root + node
            inside = sorted(p for p in levels if p < axes[k].size)
            if sets[k]:
                row[place] = len(rows)
                rows.append(_words(inside, len(rows[0])))
            elif not inside or inside[0] == 0:
                cut[place] = len(inside) - 1
            else:
                cut[place], flipped[place] = inside[0] - 1, True
    return Tests(cut=cut, flipped=flipped, row=row, words=np.array(rows))


def _words(positions: list[int], count: int) -> NDArray[np.int64]:
    words = np.zeros(count, dtype=np.int64)
    for p in positions:
        words[p // WORD] |= np.int64(1) << np.int64(p % WORD)
    return words


def elements_of(
    nodes: Nodes, tests: Tests, axes: Axes, pairs: PairSpace, a: Floats, b: Floats, most: int
) -> Elements | None:
    """All elements; None if they are more than `most`. `a` and `b` are the values of x's and of x's counterpart's leaves."""
    first, second = np.array(pairs.first, dtype=np.int32), np.array(pairs.second, dtype=np.int32)
    depth = _depth(nodes.roots, nodes.feature, nodes.left, nodes.right)
    none = (np.zeros(0, dtype=np.int32),) * 3
    walk = nodes, tests, axes, first, second, depth
    count, limits = _pairs_of_leaves(*walk, most, False, *none, np.zeros(1, dtype=np.int64), *none, none[0], np.zeros((0, 0), dtype=np.int64))  # fmt: skip
    if count > most:
        return None
    tree, leaf, other, variable, low, high, extra = (
        np.empty(n, dtype=np.int32) for n in (count, count, count, limits, limits, limits, limits)
    )
    start = np.zeros(count + 1, dtype=np.int64)
    words = np.zeros((limits, tests.words.shape[1]), dtype=np.int64)
    _pairs_of_leaves(*walk, most, True, tree, leaf, other, start, variable, low, high, extra, words)
    after, before = _sets(axes, variable, extra, words)
    order = np.lexsort((b[other] - a[leaf], tree))
    lengths = np.diff(start)[order]
    moved = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    taken = np.repeat(start[:-1][order] - moved[:-1], lengths) + np.arange(limits)
    return Elements(
        tree=tree[order],
        leaf=leaf[order],
        other=other[order],
        a=a[leaf[order]],
        b=b[other[order]],
        start=moved,
        variable=variable[taken],
        low=low[taken],
        high=high[taken],
        extra=extra[taken],
        after=after,
        before=before,
    )


def _sets(
    axes: Axes, variable: Ints, extra: Ints, words: NDArray[np.int64]
) -> tuple[Ints, Ints]:
    """Number the sets that occur, in `extra`, and tabulate the position after and before each of their places."""
    some = np.flatnonzero(axes.sets[variable]) if len(variable) else np.zeros(0, dtype=np.intp)
    if not len(some):
        return np.zeros((1, 1), dtype=np.int32), np.zeros((1, 1), dtype=np.int32)
    distinct, place = np.unique(words[some], axis=0, return_inverse=True)
    extra[some] = place.ravel()
    width = int(axes.size[axes.sets].max())
    positions = np.arange(width)
    inside = (distinct[:, positions // WORD] >> (positions % WORD)) & 1 == 1
    after = np.full((len(distinct), width + 1), np.iinfo(np.int32).max, dtype=np.int32)
    before = np.full((len(distinct), width + 1), -1, dtype=np.int32)
    for p in range(width - 1, -1, -1):
        after[:, p] = np.where(inside[:, p], p, after[:, p + 1])
    for p in range(width):
        before[:, p] = np.where(inside[:, p], p, before[:, p - 1] if p else -1)
    before[:, width] = before[:, width - 1]
    return after, before


@njit(cache=True)
def _depth(roots, feature, left, right):  # type: ignore[no-untyped-def]
    """The depth of the deepest leaf."""
    depth = np.zeros(len(feature), dtype=np.int64)
    for node in range(len(feature)):
        if feature[node] != LEAF:
            depth[left[node]] = depth[node] + 1
            depth[right[node]] = depth[node] + 1
    return depth.max()


@njit(cache=True)
def _pairs_of_leaves(  # type: ignore[no-untyped-def]
    nodes, tests, axes, first, second, depth, most, fill,
    tree, leaf, other, start, variable, low, high, extra, words,
):  # fmt: skip
    """Walk down every tree with both individuals; count elements and limits, and write them down if `fill`."""
    n, room, count, limits = len(axes.size), 4 * depth + 4, 0, 0
    sets = tests.words.shape[1]
    here, there = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    lows, highs = np.empty((room, n), dtype=np.int32), np.empty((room, n), dtype=np.int32)
    missing = np.empty((room, n), dtype=np.bool_)
    masks = np.zeros((room, n, sets), dtype=np.int64)
    own_low, own_high, own_missing, own_mask = lows[0].copy(), highs[0].copy(), missing[0].copy(), masks[0].copy()
    for t in range(len(nodes.roots)):
        here[0] = there[0] = nodes.roots[t]
        for v in range(n):
            lows[0, v] = 0
            missing[0, v] = axes.missing[v] >= 0
            highs[0, v] = axes.size[v] - 1 - missing[0, v]
            if axes.sets[v]:
                for w in range(sets):
                    masks[0, v, w] = 0
                for p in range(axes.size[v]):
                    masks[0, v, p // WORD] |= np.int64(1) << np.int64(p % WORD)
        top = 1
        while top > 0:
            top -= 1
            x, y = here[top], there[top]
            if nodes.feature[x] == LEAF and nodes.feature[y] == LEAF:
                if count > most:
                    return count, limits
                if fill:
                    tree[count], leaf[count], other[count] = t, x, y
                for v in range(n):
                    whole = lows[top, v] == 0 and highs[top, v] == axes.size[v] - 1 - (axes.missing[v] >= 0)
                    if axes.sets[v]:
                        inside = 0
                        for w in range(sets):
                            word = masks[top, v, w]
                            while word:
                                word &= word - 1
                                inside += 1
                        whole = inside == axes.size[v]
                    elif axes.missing[v] >= 0 and not missing[top, v]:
                        whole = False
                    if whole:
                        continue
                    if fill:
                        variable[limits] = v
                        low[limits], high[limits] = lows[top, v], highs[top, v]
                        extra[limits] = missing[top, v]
                        for w in range(sets):
                            words[limits, w] = masks[top, v, w]
                    limits += 1
                count += 1
                if fill:
                    start[count] = limits
                continue
            if nodes.feature[x] != LEAF:
                node, v = x, first[nodes.feature[x]]
            else:
                node, v = y, second[nodes.feature[y]]
            together = x == y and first[nodes.feature[x]] == second[nodes.feature[x]]
            moves_x = nodes.feature[x] != LEAF
            own_low[:], own_high[:], own_missing[:], own_mask[:] = lows[top], highs[top], missing[top], masks[top]
            for way in range(2):
                left = way == 0
                lows[top], highs[top], missing[top], masks[top] = own_low, own_high, own_missing, own_mask
                if axes.sets[v]:
                    any_left = np.int64(0)
                    for w in range(sets):
                        word = tests.words[tests.row[node], w]
                        masks[top, v, w] &= word if left else ~word
                        any_left |= masks[top, v, w]
                    if any_left == 0:
                        continue
                else:
                    if left != tests.flipped[node]:
                        highs[top, v] = min(highs[top, v], tests.cut[node])
                    else:
                        lows[top, v] = max(lows[top, v], tests.cut[node] + 1)
                    missing[top, v] = missing[top, v] and nodes.missing_left[node] == left
                    if lows[top, v] > highs[top, v] and not missing[top, v]:
                        continue
                if axes.partner[v] >= 0 and not _go_together(axes, v, lows[top], highs[top], missing[top], masks[top]):
                    continue
                child = nodes.left[node] if left else nodes.right[node]
                here[top] = child if moves_x else x
                there[top] = child if together or not moves_x else y
                top += 1
    return count, limits


@njit(cache=True)
def _go_together(axes, v, lows, highs, missing, masks):  # type: ignore[no-untyped-def]
    """Whether some codes of the two boxes of a feature are as its relation asks."""
    k, w = axes.feature[v], axes.partner[v]
    if axes.way[v] == NEAR:
        if missing[v] and missing[w]:
            return True
        if lows[v] > highs[v] or lows[w] > highs[w]:
            return False
        at = axes.offset[k]
        return lows[w] <= axes.reach_open[at + highs[v]] and lows[v] <= axes.reach_open[at + highs[w]]
    if axes.way[v] == BESIDE:
        for p in range(axes.size[v]):
            if not _inside(axes, v, p, lows, highs, masks):
                continue
            for q in range(axes.size[v]):
                if axes.beside[axes.offset[k] + p * axes.size[v] + q] and _inside(axes, w, q, lows, highs, masks):
                    return True
        return False
    return True


@njit(cache=True)
def _inside(axes, v, p, lows, highs, masks):  # type: ignore[no-untyped-def]
    if axes.sets[v]:
        return (masks[v, p // WORD] >> np.int64(p % WORD)) & 1 == 1
    return lows[v] <= p <= highs[v]
