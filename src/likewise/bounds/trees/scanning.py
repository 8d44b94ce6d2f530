"""Scanning: what elements in order of their value tell about a cell.

A `Ranking` lists the elements of each tree from the largest a value - b value' down, so the first one that meets a cell is the tree's
maximum, and what comes behind is looked at only as far as it matters. Trees whose elements all add the same are
folded into two sums. A ranking made for a cell serves all cells within it; `sifted` makes a shorter one.

Cutting variable v after index z leaves to the left the elements that reach down to z, to the right those that reach above it. Going down
the ranking of a tree, the reach of what was seen so far only grows, and each time it does, the cuts in between are known to
lose exactly what the element at hand is short of the maximum. So the bounds of the two cells of EVERY cut come out of one pass.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from likewise.bounds.trees.axes import NEAR
from likewise.bounds.trees.meeting import CLOSED, HIGH, LOW, MISSING, allows, limit_of, meets, narrowed, near

CONFLICT, FOUND, ATTAINED = 0, 1, 2
TIE = 1e-6  # of the excess: what losing a maximiser counts for where another one is as large
SMALL = 1e-4  # of the excess: the least that a side of a cut counts for in the product of both


class Ranking(NamedTuple):
    """Elements by tree, those of tree i from start[i] to start[i + 1]; a and b sum up what the folded trees add."""

    order: np.ndarray  # of int32
    start: np.ndarray  # of int64
    a: float
    b: float


@njit(cache=True)
def bound(elements, axes, ranking, box, a, b, tops):  # type: ignore[no-untyped-def]
    """The cell's bound of a s - b s' without the bias, the two sums at its maximisers, and how many elements were passed by.

    `tops` gets the place of every tree's maximiser. The bound is minus infinity where a tree has no element: the cell has no pair.
    """
    first, second, passed = ranking.a, ranking.b, 0
    total = a * first - b * second
    for t in range(len(ranking.start) - 1):
        i, end = ranking.start[t], ranking.start[t + 1]
        while i < end and not meets(elements, axes, box, ranking.order[i]):
            i += 1
        if i == end:
            return -np.inf, 0.0, 0.0, passed
        passed += i - ranking.start[t]
        tops[t] = i
        e = ranking.order[i]
        total += a * elements.a[e] - b * elements.b[e]
        first += elements.a[e]
        second += elements.b[e]
    return total, first, second, passed


@njit(cache=True)
def sifted(elements, axes, ranking, box, even):  # type: ignore[no-untyped-def]
    """The ranking of the elements that meet the box. Trees that always add the same are folded: the same to both scores, or, where
    the line is `even` and nothing but the difference of the scores is asked for, the same difference."""
    order = np.empty(len(ranking.order), dtype=np.int32)
    start = np.zeros(len(ranking.start), dtype=np.int64)
    first, second, n, trees = ranking.a, ranking.b, 0, 0
    for t in range(len(ranking.start) - 1):
        for i in range(ranking.start[t], ranking.start[t + 1]):
            if meets(elements, axes, box, ranking.order[i]):
                order[n] = ranking.order[i]
                n += 1
        if n == start[trees]:
            continue  # no pair here: the bound has said so
        one, last = order[start[trees]], order[n - 1]
        if even and elements.a[one] - elements.b[one] == elements.a[last] - elements.b[last]:
            half = (elements.a[one] - elements.b[one]) / 2
            first, second, n = first + half, second - half, start[trees]
        elif n == start[trees] + 1:
            first, second, n = first + elements.a[one], second + elements.b[one], start[trees]
        else:
            trees += 1
            start[trees] = n
    return order[:n].copy(), start[: trees + 1].copy(), first, second


@njit(cache=True)
def extent(elements, axes, box, j, v):  # type: ignore[no-untyped-def]
    """Lowest and highest index of the box within limit j of variable v, a missing number being the highest."""
    if axes.sets[v]:
        return elements.after[elements.extra[j], box[LOW, v]], elements.before[elements.extra[j], box[HIGH, v]]
    low, high = max(box[LOW, v], elements.low[j]), min(box[HIGH, v], elements.high[j])
    if elements.extra[j] and box[MISSING, v]:
        return (low if low <= high else axes.missing[v]), axes.missing[v]
    return low, high


@njit(cache=True)
def cut(elements, axes, ranking, box, a, b, tops, excess, offset, left, right, reach, mark):  # type: ignore[no-untyped-def]
    """The best cut of a cell whose bound exceeds its threshold by `excess`: variable, index after which to cut, and what the
    bound loses on the left and on the right, at most `excess`. Variable -1 where nothing can be cut.

    `left` and `right` have room for every index of every variable from `offset` on, `reach` and `mark` for two numbers a variable.
    """
    n = box.shape[1]
    for v in range(n):
        for z in range(offset[v], offset[v + 1]):
            left[z] = right[z] = 0.0
    least = TIE * excess / max(1, len(ranking.start) - 1)
    watched, sides = np.empty(2 * n, dtype=np.int64), np.empty(2 * n, dtype=np.int64)
    mark[:] = -1
    for t in range(len(ranking.start) - 1):
        e = ranking.order[tops[t]]
        top, many = a * elements.a[e] - b * elements.b[e], 0
        for j in range(elements.start[e], elements.start[e + 1]):
            v = elements.variable[j]
            low, high = extent(elements, axes, box, j, v)
            if low > lowest(axes, box, v):
                watched[many], sides[many], reach[0, v] = v, 0, low
                many += 1
            if high < highest(axes, box, v):
                watched[many], sides[many], reach[1, v] = v, 1, high
                many += 1
        i, end = tops[t] + 1, ranking.start[t + 1]
        while many > 0:
            loss = excess
            if i < end:
                e = ranking.order[i]
                loss = min(excess, max(least, top - (a * elements.a[e] - b * elements.b[e])))
                if loss < excess and not meets(elements, axes, box, e):
                    i += 1
                    continue
            done = i >= end or loss >= excess
            if not done:
                for j in range(elements.start[e], elements.start[e + 1]):
                    v = elements.variable[j]
                    mark[v], mark[n + v] = e, j
            m = 0
            while m < many:
                v, low, high = watched[m], lowest(axes, box, watched[m]), highest(axes, box, watched[m])
                if not done and mark[v] == e:
                    low, high = extent(elements, axes, box, mark[n + v], v)
                if sides[m] == 0 and low < reach[0, v]:
                    left[offset[v] + low] += loss
                    left[offset[v] + reach[0, v]] -= loss
                    reach[0, v] = low
                if sides[m] == 1 and high > reach[1, v]:
                    right[offset[v] + reach[1, v]] += loss
                    right[offset[v] + high] -= loss
                    reach[1, v] = high
                if (sides[m] == 0 and reach[0, v] == lowest(axes, box, v)) or (
                    sides[m] == 1 and reach[1, v] == highest(axes, box, v)
                ):
                    many -= 1
                    watched[m], sides[m] = watched[many], sides[many]
                else:
                    m += 1
            i += 1
    return _best_cut(axes, box, excess, offset, left, right)


@njit(cache=True)
def lowest(axes, box, v):  # type: ignore[no-untyped-def]
    """The first index of a variable in the box."""
    return box[LOW, v] if box[LOW, v] <= box[HIGH, v] else axes.missing[v]


@njit(cache=True)
def highest(axes, box, v):  # type: ignore[no-untyped-def]
    """The last index of a variable in the box."""
    return axes.missing[v] if box[MISSING, v] else box[HIGH, v]


@njit(cache=True)
def _best_cut(axes, box, excess, offset, left, right):  # type: ignore[no-untyped-def]
    best, variable, at, best_left, best_right = 0.0, -1, 0, 0.0, 0.0
    for v in range(box.shape[1]):
        low, high = lowest(axes, box, v), highest(axes, box, v)
        lost_left, lost_right = 0.0, 0.0
        for z in range(low, high):
            lost_left += left[offset[v] + z]
            lost_right += right[offset[v] + z]
            one, two = min(max(lost_left, 0.0), excess), min(max(lost_right, 0.0), excess)
            if one + two > 1e-3 * TIE * excess:
                worth = max(one, SMALL * excess) * max(two, SMALL * excess) * (1 + (one + two) / excess)
                if worth > best:
                    best, variable, at, best_left, best_right = worth, v, z, one, two
    return variable, at, best_left, best_right


@njit(cache=True)
def common(elements, axes, ranking, box, a, b, tops, shared, allowed):  # type: ignore[no-untyped-def]
    """Go through the trees, those with the widest range of values first, and take the best element that meets what is left.

    `shared` becomes the box that all of them have in common, with `allowed` positions for variables with sets; the result is whether there is one
    and whether it attains the bound, and the two sums of leaves.
    """
    count = len(ranking.start) - 1
    spread = np.empty(count)
    for t in range(count):
        e, last = ranking.order[tops[t]], ranking.order[ranking.start[t + 1] - 1]
        spread[t] = a * (elements.a[last] - elements.a[e]) - b * (elements.b[last] - elements.b[e])
    shared[:] = box
    allowed[:] = True
    first, second, state = ranking.a, ranking.b, ATTAINED
    for t in np.argsort(spread):
        i, end = tops[t], ranking.start[t + 1]
        while i < end and not _fits(elements, axes, shared, allowed, ranking.order[i]):
            i += 1
        if i == end:
            return CONFLICT, first, second
        e, top = ranking.order[i], ranking.order[tops[t]]
        if a * elements.a[e] - b * elements.b[e] < a * elements.a[top] - b * elements.b[top]:
            state = FOUND
        first += elements.a[e]
        second += elements.b[e]
        _narrow(elements, axes, shared, allowed, e)
    return state, first, second


@njit(cache=True)
def _narrow(elements, axes, shared, allowed, e):  # type: ignore[no-untyped-def]
    """Cut the shared box down to an element's."""
    for j in range(elements.start[e], elements.start[e + 1]):
        v = elements.variable[j]
        if axes.sets[v]:
            for p in range(shared[LOW, v], shared[HIGH, v] + 1):
                allowed[v, p] = allowed[v, p] and allows(elements, axes, j, v, p)
        else:
            shared[LOW, v] = max(shared[LOW, v], elements.low[j])
            shared[HIGH, v] = min(shared[HIGH, v], elements.high[j])
            shared[MISSING, v] = shared[MISSING, v] and elements.extra[j]


@njit(cache=True)
def _fits(elements, axes, shared, allowed, e):  # type: ignore[no-untyped-def]
    """Whether an element meets the shared box, by codes that exist: lower ends count as closed."""
    for j in range(elements.start[e], elements.start[e + 1]):
        v = elements.variable[j]
        if axes.sets[v]:
            p = elements.after[elements.extra[j], shared[LOW, v]]
            while p <= shared[HIGH, v] and not allowed[v, p]:
                p = elements.after[elements.extra[j], p + 1]
            if p > shared[HIGH, v]:
                return False
        elif (
            max(elements.low[j], shared[LOW, v]) > min(elements.high[j], shared[HIGH, v])
            and not (elements.extra[j] and shared[MISSING, v])
        ):  # fmt: skip
            return False
    for v in axes.joined:
        w = axes.partner[v]
        i, j = limit_of(elements, e, v), limit_of(elements, e, w)
        if i < 0 and j < 0:
            continue
        if axes.way[v] == NEAR:
            here, there = narrowed(elements, shared, i, v), narrowed(elements, shared, j, w)
            if not near(axes, v, (here[0], here[1], here[2], True), (there[0], there[1], there[2], True)):
                return False
        elif not _stand_beside(elements, axes, shared, allowed, i, v, j, w):
            return False
    return True


@njit(cache=True)
def _stand_beside(elements, axes, shared, allowed, i, v, j, w):  # type: ignore[no-untyped-def]
    size, at = axes.size[v], axes.offset[axes.feature[v]]
    for p in range(shared[LOW, v], shared[HIGH, v] + 1):
        if (axes.sets[v] and not allowed[v, p]) or not allows(elements, axes, i, v, p):
            continue
        for q in range(shared[LOW, w], shared[HIGH, w] + 1):
            if axes.sets[w] and not allowed[w, q]:
                continue
            if axes.beside[at + p * size + q] and allows(elements, axes, j, w, q):
                return True
    return False


@njit(cache=True)
def closest(elements, axes, ranking, box, a, b, room, found):  # type: ignore[no-untyped-def]
    """The elements that meet the box and are within `room` of their tree's largest value, tree by tree: how many; -1 where a
    tree has none. Whatever the order of the ranking, nothing being folded."""
    count = 0
    for t in range(len(ranking.start) - 1):
        best = -np.inf
        for i in range(ranking.start[t], ranking.start[t + 1]):
            e = ranking.order[i]
            value = a * elements.a[e] - b * elements.b[e]
            if value > best and meets(elements, axes, box, e):
                best = value
        if best == -np.inf:
            return -1
        for i in range(ranking.start[t], ranking.start[t + 1]):
            e = ranking.order[i]
            if a * elements.a[e] - b * elements.b[e] >= best - room and meets(elements, axes, box, e):
                found[count] = e
                count += 1
    return count


__all__ = ["ATTAINED", "CLOSED", "CONFLICT", "FOUND", "Ranking", "bound", "closest", "common", "cut", "sifted"]
