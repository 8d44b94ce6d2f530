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
from likewise.bounds.trees.meeting import HIGH, LOW, MISSING, allows, limit_of, meets, narrowed, near, related

CONFLICT, FOUND, ATTAINED = 0, 1, 2
TIE = 1e-6  # of the excess: what losing a maximiser counts for where another one is as large
SMALL = 1e-7  # of the excess: the least that a side of a cut counts for in the product of both


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
    start, variable, low, high, extra, after, sets = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after, axes.sets,
    )  # fmt: skip
    first_value, second_value, order, begin = elements.a, elements.b, ranking.order, ranking.start
    joined = len(axes.joined) > 0
    first, second, passed = ranking.a, ranking.b, 0
    total = a * first - b * second
    for t in range(len(begin) - 1):
        i, end = begin[t], begin[t + 1]
        while i < end:
            e = order[i]
            if meets(start, variable, low, high, extra, after, sets, box, e) and (
                not joined or related(elements, axes, box, e)
            ):
                break
            i += 1
        if i == end:
            return -np.inf, 0.0, 0.0, passed
        passed += i - begin[t]
        tops[t] = i
        e = order[i]
        total += a * first_value[e] - b * second_value[e]
        first += first_value[e]
        second += second_value[e]
    return total, first, second, passed


@njit(cache=True)
def sifted(elements, axes, ranking, box, even):  # type: ignore[no-untyped-def]
    """The ranking of the elements that meet the box. Trees that always add the same are folded: the same to both scores, or, where
    the line is `even` and nothing but the difference of the scores is asked for, the same difference."""
    start, variable, low, high, extra, after, sets = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after, axes.sets,
    )  # fmt: skip
    first_value, second_value, order, begin = elements.a, elements.b, ranking.order, ranking.start
    joined = len(axes.joined) > 0
    kept = np.empty(len(order), dtype=np.int32)
    places = np.zeros(len(begin), dtype=np.int64)
    first, second, n, trees = ranking.a, ranking.b, 0, 0
    for t in range(len(begin) - 1):
        for i in range(begin[t], begin[t + 1]):
            e = order[i]
            if meets(start, variable, low, high, extra, after, sets, box, e) and (
                not joined or related(elements, axes, box, e)
            ):
                kept[n] = e
                n += 1
        if n == places[trees]:
            continue  # no pair here: the bound has said so
        one, last = kept[places[trees]], kept[n - 1]
        if even and first_value[one] - second_value[one] == first_value[last] - second_value[last]:
            half = (first_value[one] - second_value[one]) / 2
            first, second, n = first + half, second - half, places[trees]
        elif n == places[trees] + 1:
            first, second, n = first + first_value[one], second + second_value[one], places[trees]
        else:
            trees += 1
            places[trees] = n
    return kept[:n].copy(), places[: trees + 1].copy(), first, second


@njit(inline="always")
def extent(low, high, extra, after, before, sets, missing, box, j, v):  # type: ignore[no-untyped-def]
    """Lowest and highest index of the box within limit j of variable v, a missing number being the highest."""
    if sets[v]:
        return after[extra[j], box[LOW, v]], before[extra[j], box[HIGH, v]]
    first, last = max(box[LOW, v], low[j]), min(box[HIGH, v], high[j])
    if extra[j] and box[MISSING, v]:
        return (first if first <= last else missing[v]), missing[v]
    return first, last


@njit(cache=True)
def cut(elements, axes, ranking, box, a, b, tops, excess, offset, left, right):  # type: ignore[no-untyped-def]
    """The best cut of a cell whose bound exceeds its threshold by `excess`: variable, index after which to cut, and what the
    bound loses on the left and on the right, at most `excess`. Variable -1 where nothing can be cut.

    `left` and `right` have room for every index of every variable from `offset` on.
    """
    start, variable, low, high, extra, after, sets = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after, axes.sets,
    )  # fmt: skip
    first_value, second_value, order, begin = elements.a, elements.b, ranking.order, ranking.start
    joined = len(axes.joined) > 0
    before, missing, n = elements.before, axes.missing, box.shape[1]
    left[:], right[:] = 0.0, 0.0
    lowest, highest = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for v in range(n):
        lowest[v] = box[LOW, v] if box[LOW, v] <= box[HIGH, v] else missing[v]
        highest[v] = missing[v] if box[MISSING, v] else box[HIGH, v]
    least = TIE * excess / max(1, len(begin) - 1)
    watched, sides, reach = np.empty(2 * n, dtype=np.int64), np.empty(2 * n, dtype=np.int64), np.empty(2 * n, dtype=np.int64)
    seen, limit = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    for t in range(len(begin) - 1):
        e = order[tops[t]]
        top, many = a * first_value[e] - b * second_value[e], 0
        for j in range(start[e], start[e + 1]):
            v = variable[j]
            first, last = extent(low, high, extra, after, before, sets, missing, box, j, v)
            if first > lowest[v]:
                watched[many], sides[many], reach[many] = v, 0, first
                many += 1
            if last < highest[v]:
                watched[many], sides[many], reach[many] = v, 1, last
                many += 1
        i, end = tops[t] + 1, begin[t + 1]
        while many > 0:
            loss = excess
            if i < end:
                e = order[i]
                loss = min(excess, max(least, top - (a * first_value[e] - b * second_value[e])))
                if loss < excess and not (
                    meets(start, variable, low, high, extra, after, sets, box, e)
                    and (not joined or related(elements, axes, box, e))
                ):
                    i += 1
                    continue
            ends_here = loss >= excess
            if not ends_here:
                for j in range(start[e], start[e + 1]):
                    seen[variable[j]], limit[variable[j]] = e, j
            m = 0
            while m < many:
                v = watched[m]
                first, last = lowest[v], highest[v]
                if not ends_here and seen[v] == e:
                    first, last = extent(low, high, extra, after, before, sets, missing, box, limit[v], v)
                if sides[m] == 0:
                    if first < reach[m]:
                        left[offset[v] + first] += loss
                        left[offset[v] + reach[m]] -= loss
                        reach[m] = first
                    closed = reach[m] == lowest[v]
                else:
                    if last > reach[m]:
                        right[offset[v] + reach[m]] += loss
                        right[offset[v] + last] -= loss
                        reach[m] = last
                    closed = reach[m] == highest[v]
                if closed:
                    many -= 1
                    watched[m], sides[m], reach[m] = watched[many], sides[many], reach[many]
                else:
                    m += 1
            i += 1
    return _best_cut(lowest, highest, excess, offset, left, right)


@njit(cache=True)
def _best_cut(lowest, highest, excess, offset, left, right):  # type: ignore[no-untyped-def]
    best, variable, at, best_left, best_right = 0.0, -1, 0, 0.0, 0.0
    for v in range(len(lowest)):
        lost_left, lost_right = 0.0, 0.0
        for z in range(lowest[v], highest[v]):
            lost_left += left[offset[v] + z]
            lost_right += right[offset[v] + z]
            one, two = min(max(lost_left, 0.0), excess), min(max(lost_right, 0.0), excess)
            if one + two > 1e-3 * TIE * excess:
                worth = max(one, SMALL * excess) * max(two, SMALL * excess)
                if worth > best:
                    best, variable, at, best_left, best_right = worth, v, z, one, two
    return variable, at, best_left, best_right


@njit(cache=True)
def common(elements, axes, ranking, box, a, b, tops, shared, allowed):  # type: ignore[no-untyped-def]
    """Go through the trees, those with the widest range of values first, and take the best element that meets what is left.

    `shared` becomes the box that all of them have in common, with `allowed` positions for variables with sets; the result is whether there is one
    and whether it attains the bound, and the two sums of leaves.
    """
    start, variable, low, high, extra, after, sets = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after, axes.sets,
    )  # fmt: skip
    first_value, second_value, order, begin = elements.a, elements.b, ranking.order, ranking.start
    joined = len(axes.joined) > 0
    count = len(begin) - 1
    spread = np.empty(count)
    for t in range(count):
        e, last = order[tops[t]], order[begin[t + 1] - 1]
        spread[t] = a * (first_value[last] - first_value[e]) - b * (second_value[last] - second_value[e])
    shared[:] = box
    allowed[:] = True
    first, second, state = ranking.a, ranking.b, ATTAINED
    for t in np.argsort(spread):
        i, end = tops[t], begin[t + 1]
        while i < end:
            e = order[i]
            if _fits(start, variable, low, high, extra, after, sets, shared, allowed, e) and (
                not joined or _related(elements, axes, shared, allowed, e)
            ):
                break
            i += 1
        if i == end:
            return CONFLICT, first, second
        e, top = order[i], order[tops[t]]
        if a * first_value[e] - b * second_value[e] < a * first_value[top] - b * second_value[top]:
            state = FOUND
        first += first_value[e]
        second += second_value[e]
        for j in range(start[e], start[e + 1]):
            v = variable[j]
            if sets[v]:
                for p in range(shared[LOW, v], shared[HIGH, v] + 1):
                    allowed[v, p] = allowed[v, p] and allows(low, high, extra, after, sets, j, v, p)
            else:
                shared[LOW, v] = max(shared[LOW, v], low[j])
                shared[HIGH, v] = min(shared[HIGH, v], high[j])
                shared[MISSING, v] = shared[MISSING, v] and extra[j]
    return state, first, second


@njit(inline="always")
def _fits(start, variable, low, high, extra, after, sets, shared, allowed, e):  # type: ignore[no-untyped-def]
    """Whether an element meets the shared box."""
    for j in range(start[e], start[e + 1]):
        v = variable[j]
        if sets[v]:
            p = after[extra[j], shared[LOW, v]]
            while p <= shared[HIGH, v] and not allowed[v, p]:
                p = after[extra[j], p + 1]
            if p > shared[HIGH, v]:
                return False
        elif max(low[j], shared[LOW, v]) > min(high[j], shared[HIGH, v]) and not (extra[j] and shared[MISSING, v]):
            return False
    return True


@njit(cache=True)
def _related(elements, axes, shared, allowed, e):  # type: ignore[no-untyped-def]
    """Whether the two codes of each feature can be as its relation asks, by codes that exist: lower ends count as closed."""
    start, variable, low, high, extra = elements.start, elements.variable, elements.low, elements.high, elements.extra
    for v in axes.joined:
        w = axes.partner[v]
        i, j = limit_of(start, variable, e, v), limit_of(start, variable, e, w)
        if i < 0 and j < 0:
            continue
        if axes.way[v] == NEAR:
            here, there = narrowed(low, high, extra, shared, i, v), narrowed(low, high, extra, shared, j, w)
            if not near(axes, v, (here[0], here[1], here[2], True), (there[0], there[1], there[2], True)):
                return False
        elif not _stand_beside(elements, axes, shared, allowed, i, v, j, w):
            return False
    return True


@njit(cache=True)
def _stand_beside(elements, axes, shared, allowed, i, v, j, w):  # type: ignore[no-untyped-def]
    low, high, extra, after, sets = elements.low, elements.high, elements.extra, elements.after, axes.sets
    size, at, table = axes.size[v], axes.offset[axes.feature[v]], axes.beside
    for p in range(shared[LOW, v], shared[HIGH, v] + 1):
        if (sets[v] and not allowed[v, p]) or not allows(low, high, extra, after, sets, i, v, p):
            continue
        for q in range(shared[LOW, w], shared[HIGH, w] + 1):
            if sets[w] and not allowed[w, q]:
                continue
            if table[at + p * size + q] and allows(low, high, extra, after, sets, j, w, q):
                return True
    return False


@njit(cache=True)
def largest(elements, axes, ranking, box, a, b):  # type: ignore[no-untyped-def]
    """As `bound`, whatever direction the ranking was made for: every element is looked at. The sums are those of the maximisers."""
    start, variable, low, high, extra, after, sets = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after, axes.sets,
    )  # fmt: skip
    first_value, second_value, order, begin = elements.a, elements.b, ranking.order, ranking.start
    joined = len(axes.joined) > 0
    first, second = ranking.a, ranking.b
    total = a * first - b * second
    for t in range(len(begin) - 1):
        best, top = -np.inf, -1
        for i in range(begin[t], begin[t + 1]):
            e = order[i]
            value = a * first_value[e] - b * second_value[e]
            if (
                value > best
                and meets(start, variable, low, high, extra, after, sets, box, e)
                and (not joined or related(elements, axes, box, e))
            ):
                best, top = value, e
        if top < 0:
            return -np.inf, 0.0, 0.0
        total += best
        first += first_value[top]
        second += second_value[top]
    return total, first, second


@njit(cache=True)
def closest(elements, axes, ranking, box, a, b, room, found):  # type: ignore[no-untyped-def]
    """The elements that meet the box and are within `room` of their tree's largest value, tree by tree: how many; -1 where a
    tree has none. Whatever the order of the ranking, nothing being folded."""
    start, variable, low, high, extra, after, sets = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after, axes.sets,
    )  # fmt: skip
    first_value, second_value, order, begin = elements.a, elements.b, ranking.order, ranking.start
    joined = len(axes.joined) > 0
    count = 0
    for t in range(len(begin) - 1):
        best, reached = -np.inf, count
        for i in range(begin[t], begin[t + 1]):
            e = order[i]
            value = a * first_value[e] - b * second_value[e]
            if (
                value >= best - room
                and meets(start, variable, low, high, extra, after, sets, box, e)
                and (not joined or related(elements, axes, box, e))
            ):
                best = max(best, value)
                found[count] = e
                count += 1
        if count == reached:
            return -1
    return count


__all__ = ["ATTAINED", "CONFLICT", "FOUND", "Ranking", "bound", "closest", "common", "cut", "largest", "sifted"]
