"""Pairing: both individuals walk down a tree together, in compiled loops.

A place of the walk is two nodes, x's and that of x', with the box of pairs that come there: low and high index, missing or not, and the
words of a set, by variable. x goes on until it is at a leaf, then x' does; where both are at one node and the feature is the `same`,
they go on together. Boxes that hold no similar codes are left out. Only the variables that a tree tests are looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to, fill
from likewise.families.trees.axes import BY_REACH, BY_TABLE
from likewise.families.trees.body import LEAF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]

WORD_BITS = 62  # positions in a word of a set


class ElementBuffer(NamedTuple):
    """The elements of a tree as they are found, with their limits one after another (see `elements`); a limit's set is in `words`."""

    leaf: Ints
    other: Ints
    start: NDArray[np.int64]
    variable: Ints
    low: Ints
    high: Ints
    extra: Ints
    words: NDArray[np.int64]


@compiled
def depth_of(feature, left, right):  # type: ignore[no-untyped-def]
    """The depth of the deepest leaf."""
    depth = np.zeros(len(feature), dtype=np.int64)
    for node in range(len(feature)):
        if feature[node] != LEAF:
            depth[left[node]] = depth[node] + 1
            depth[right[node]] = depth[node] + 1
    deepest = 0
    for node in range(len(depth)):
        deepest = max(deepest, depth[node])
    return deepest


@compiled
def pair_leaves(nodes, tests, axes, first, second, depth, t, most, found):  # type: ignore[no-untyped-def]
    """How many elements and limits tree t has (a little more than `most` where there are more); written down as far as there is room."""
    n, room, words = len(axes.size), 4 * depth + 4, tests.words.shape[1]
    here, there = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    lows, highs = np.empty((room, n), dtype=np.int32), np.empty((room, n), dtype=np.int32)
    missing, masks = np.empty((room, n), dtype=np.bool_), np.zeros((room, n, words), dtype=np.int64)
    low, high = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    gone, mask = np.empty(n, dtype=np.bool_), np.empty((n, words), dtype=np.int64)
    tested = _tested_variables(nodes, first, second, t, n)
    count, total = 0, 0
    here[0] = there[0] = nodes.roots[t]
    _fill_box(axes, lows[0], highs[0], missing[0], masks[0])
    top = 1
    while top > 0:
        top -= 1
        x, y = here[top], there[top]
        if nodes.feature[x] == LEAF and nodes.feature[y] == LEAF:
            if count > most:
                return count, total
            total = _write_limits(axes, tested, lows[top], highs[top], missing[top], masks[top], found, total)
            if count < len(found.leaf):
                found.leaf[count], found.other[count], found.start[count + 1] = x, y, total
            count += 1
            continue
        moves = nodes.feature[x] != LEAF
        node = x if moves else y
        v = first[nodes.feature[x]] if moves else second[nodes.feature[y]]
        together = x == y and first[nodes.feature[x]] == second[nodes.feature[x]]
        _copy_box(tested, lows[top], highs[top], missing[top], masks[top], low, high, gone, mask)
        for way in range(2):
            _copy_box(tested, low, high, gone, mask, lows[top], highs[top], missing[top], masks[top])
            if not _narrow_to_branch(
                nodes, tests, axes, node, v, way == 0, lows[top], highs[top], missing[top], masks[top]
            ):
                continue
            child = nodes.left[node] if way == 0 else nodes.right[node]
            here[top] = child if moves else x
            there[top] = child if together or not moves else y
            top += 1
    return count, total


@compiled
def _tested_variables(nodes, first, second, t, n):  # type: ignore[no-untyped-def]
    """The variables of the features that tree t tests, in increasing order."""
    end = nodes.roots[t + 1] if t + 1 < len(nodes.roots) else len(nodes.feature)
    some = np.zeros(n, dtype=np.bool_)
    for node in range(nodes.roots[t], end):
        if nodes.feature[node] != LEAF:
            some[first[nodes.feature[node]]] = True
            some[second[nodes.feature[node]]] = True
    found, count = np.empty(n, dtype=np.int32), 0
    for v in range(n):
        if some[v]:
            found[count] = v
            count += 1
    return found[:count]


@compiled
def _copy_box(tested, low, high, missing, mask, to_low, to_high, to_missing, to_mask):  # type: ignore[no-untyped-def]
    """The same box elsewhere."""
    for v in tested:
        to_low[v] = low[v]
        to_high[v] = high[v]
        to_missing[v] = missing[v]
        copy_to(to_mask[v], mask[v])


@compiled
def _fill_box(axes, low, high, missing, mask):  # type: ignore[no-untyped-def]
    """The box of all pairs."""
    for v in range(len(low)):
        fill(mask[v], 0)
        missing[v] = axes.missing[v] >= 0
        low[v], high[v] = 0, axes.size[v] - 1 - missing[v]
        if axes.sets[v]:
            for p in range(axes.size[v]):
                mask[v, p // WORD_BITS] |= np.int64(1) << np.int64(p % WORD_BITS)


@compiled
def _narrow_to_branch(nodes, tests, axes, node, v, left, low, high, missing, mask):  # type: ignore[no-untyped-def]
    """Narrow a box to the pairs that go one way at a node; whether there are any."""
    if axes.sets[v]:
        some = np.int64(0)
        for w in range(mask.shape[1]):
            word = tests.words[tests.row[node], w]
            mask[v, w] &= word if left else ~word
            some |= mask[v, w]
        if some == 0:
            return False
    else:
        if left != tests.flipped[node]:
            high[v] = min(high[v], tests.cut[node])
        else:
            low[v] = max(low[v], tests.cut[node] + 1)
        missing[v] = missing[v] and nodes.missing_left[node] == left
        if low[v] > high[v] and not missing[v]:
            return False
    return axes.partner[v] < 0 or relation_holds(axes, v, low, high, missing, mask)


@compiled
def _write_limits(axes, tested, low, high, missing, mask, found, total):  # type: ignore[no-untyped-def]
    """Write down what limits a box, as far as there is room; the number of limits so far."""
    for v in tested:
        if _is_whole(axes, v, low, high, missing, mask):
            continue
        if total < len(found.variable):
            found.variable[total], found.low[total], found.high[total] = v, low[v], high[v]
            found.extra[total] = missing[v]
            copy_to(found.words[total], mask[v])
        total += 1
    return total


@compiled
def _is_whole(axes, v, low, high, missing, mask):  # type: ignore[no-untyped-def]
    """Whether a box has all codes of a variable."""
    if axes.sets[v]:
        inside = 0
        for word in mask[v]:
            while word:
                word &= word - 1
                inside += 1
        return inside == axes.size[v]
    some_missing = axes.missing[v] >= 0
    return low[v] == 0 and high[v] == axes.size[v] - 1 - some_missing and missing[v] == some_missing


@compiled
def relation_holds(axes, v, lows, highs, missing, masks):  # type: ignore[no-untyped-def]
    """Whether some codes of the two boxes of a feature are as its relation asks."""
    w = axes.partner[v]
    if axes.way[v] == BY_REACH:
        if missing[v] and missing[w]:
            return True
        if lows[v] > highs[v] or lows[w] > highs[w]:
            return False
        reach, here, there = axes.reach_open, axes.offset[v], axes.offset[w]
        return lows[w] <= reach[here + highs[v]] and lows[v] <= reach[there + highs[w]]
    if axes.way[v] == BY_TABLE:
        for p in range(axes.size[v]):
            if not _contains(axes, v, p, lows, highs, masks):
                continue
            for q in range(axes.size[v]):
                if axes.beside[axes.offset[v] + p * axes.size[v] + q] and _contains(
                    axes, w, q, lows, highs, masks
                ):
                    return True
        return False
    return True


@compiled
def _contains(axes, v, p, lows, highs, masks):  # type: ignore[no-untyped-def]
    if axes.sets[v]:
        return (masks[v, p // WORD_BITS] >> np.int64(p % WORD_BITS)) & 1 == 1
    return lows[v] <= p <= highs[v]
