"""Cutting: where to split a cell, from the bounds of the two parts of every cut.

Cutting variable v after index z leaves to the left the elements that reach down to z, to the right those that reach above it. Going down
the ranking of a tree, the reach of what was seen so far only grows, and each time it does, the cuts in between are known to
lose exactly what the element at hand is short of the maximum. So the bounds of the two cells of EVERY cut come out of one pass, but for
trees of very many elements, of which the first tell enough: there a part loses at least what is said.
The best cut is the one with the largest product of what both parts lose (as far as it matters: up to the cell's excess over its threshold).
"""

import numpy as np

from likewise.compiled import compiled
from likewise.families.trees.overlap import HIGH, LOW, MISSING, find_limit, overlaps, relations_hold

MOST_LOOKED_AT = 32  # elements of a tree behind its largest
TIE_LOSS = 1e-6  # of the excess: what losing a maximiser counts for where another one is as large
LEAST_LOSS = 1e-7  # of the excess: the least that a side of a cut counts for in the product of both


@compiled(inline="always")
def limit_extent(low, high, extra, after, before, sets, missing, box, j, v):  # type: ignore[no-untyped-def]
    """Lowest and highest index of the box within limit j of variable v, a missing number being the highest."""
    if sets[v]:
        return after[extra[j], box[LOW, v]], before[extra[j], box[HIGH, v]]
    first, last = max(box[LOW, v], low[j]), min(box[HIGH, v], high[j])
    if extra[j] and box[MISSING, v]:
        return (first if first <= last else missing[v]), missing[v]
    return first, last


@compiled(inline="always")
def _element_extent(elements, axes, box, e, v, lowest, highest):  # type: ignore[no-untyped-def]
    """The same of element e, all of the box where it has no limit."""
    j = find_limit(elements.start, elements.variable, e, v)
    if j < 0:
        return lowest, highest
    return limit_extent(
        elements.low, elements.high, elements.extra, elements.after, elements.before, axes.sets, axes.missing,
        box, j, v,
    )  # fmt: skip


@compiled
def find_cut(elements, axes, ranking, box, a, b, tops, excess, offset, left, right, spans):  # type: ignore[no-untyped-def]
    """The best cut of a cell whose bound exceeds its threshold by `excess`: variable, index after which to cut, and what the
    bound loses on the left and on the right, at most `excess`. Variable -1 where nothing can be cut. Where there are `spans`, limits are
    looked up there, and the ranking has nothing but elements that meet the box.

    `left` and `right` have room for every index of every variable from `offset` on: changes of the loss from one cut to the next.
    """
    start, variable, low, high, extra, after, before, sets = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after, elements.before, axes.sets,
    )  # fmt: skip
    first_value, second_value, order, begin = elements.a, elements.b, ranking.order, ranking.start
    missing, joined, n = axes.missing, len(axes.joined) > 0, box.shape[1]
    left[:], right[:], known = 0.0, 0.0, len(spans) > 0
    lowest, highest = _box_ends(missing, box)
    least = TIE_LOSS * excess / max(1, len(begin) - 1)
    watched, sides, reach = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    for t in range(len(begin) - 1):
        e = order[tops[t]]
        top, many = a * first_value[e] - b * second_value[e], 0
        for j in range(start[e], start[e + 1]):
            v = variable[j]
            first, last = limit_extent(low, high, extra, after, before, sets, missing, box, j, v)
            if first > lowest[v]:
                watched[many], sides[many], reach[many] = v, 0, first
                many += 1
            if last < highest[v]:
                watched[many], sides[many], reach[many] = v, 1, last
                many += 1
        i, end = tops[t] + 1, begin[t + 1]
        last_seen = i + MOST_LOOKED_AT
        while many > 0:
            e = order[min(i, end - 1)]
            short = top - (a * first_value[e] - b * second_value[e])
            loss = min(excess, max(least, short)) if i < end else excess
            told = loss < excess and i < last_seen  # else it counts as if it reached everywhere
            if told:
                i += 1
                if not (known or overlaps(start, variable, low, high, extra, after, sets, box, e)) or (
                    joined and not known and not relations_hold(elements, axes, box, e)
                ):
                    continue
            m = 0
            while m < many:
                v = watched[m]
                first, last = lowest[v], highest[v]
                if told and known and not sets[v] and missing[v] < 0:
                    first, last = max(first, spans[e, 0, v]), min(last, spans[e, 1, v])
                elif told:
                    first, last = _element_extent(elements, axes, box, e, v, first, last)
                if _extend_reach(
                    sides, reach, m, first, last, lowest[v], highest[v], loss, offset[v], left, right
                ):
                    many -= 1
                    watched[m], sides[m], reach[m] = watched[many], sides[many], reach[many]
                else:
                    m += 1
    return _choose_cut(lowest, highest, excess, offset, left, right)


@compiled
def _box_ends(missing, box):  # type: ignore[no-untyped-def]
    """The first and the last index of every variable in the box."""
    n = box.shape[1]
    lowest, highest = np.empty(n, np.int64), np.empty(n, np.int64)
    for v in range(n):
        lowest[v] = box[LOW, v] if box[LOW, v] <= box[HIGH, v] else missing[v]
        highest[v] = missing[v] if box[MISSING, v] else box[HIGH, v]
    return lowest, highest


@compiled(inline="always")
def _extend_reach(sides, reach, m, first, last, lowest, highest, loss, at, left, right):  # type: ignore[no-untyped-def]
    """Let an element from `first` to `last` extend the reach of side m: the cuts in between lose `loss`. Whether it reaches the end."""
    if sides[m] == 0:
        if first < reach[m]:
            left[at + first] += loss
            left[at + reach[m]] -= loss
            reach[m] = first
        return reach[m] == lowest
    if last > reach[m]:
        right[at + reach[m]] += loss
        right[at + last] -= loss
        reach[m] = last
    return reach[m] == highest


@compiled
def _choose_cut(lowest, highest, excess, offset, left, right):  # type: ignore[no-untyped-def]
    best, variable, at, best_left, best_right = 0.0, -1, 0, 0.0, 0.0
    for v in range(len(lowest)):
        lost_left, lost_right = 0.0, 0.0
        for z in range(lowest[v], highest[v]):
            lost_left += left[offset[v] + z]
            lost_right += right[offset[v] + z]
            one, two = min(max(lost_left, 0.0), excess), min(max(lost_right, 0.0), excess)
            if one + two > 1e-3 * TIE_LOSS * excess:
                worth = max(one, LEAST_LOSS * excess) * max(two, LEAST_LOSS * excess)
                if worth > best:
                    best, variable, at, best_left, best_right = worth, v, z, one, two
    return variable, at, best_left, best_right
