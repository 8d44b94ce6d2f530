"""Agreeing: elements of all trees that have a pair in common, as good as they come."""

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to
from likewise.families.trees.axes import BY_REACH
from likewise.families.trees.overlap import (
    HIGH,
    LOW,
    MISSING,
    allows,
    find_limit,
    narrow_limits,
    within_tolerance,
)

CONFLICT, FOUND, ATTAINED = 0, 1, 2


@compiled
def find_common_pair(elements, axes, ranking, box, a, b, tops, shared, allowed):  # type: ignore[no-untyped-def]
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
    for row in range(len(box)):
        copy_to(shared[row], box[row])
    allowed[:] = True
    first, second, state = ranking.a, ranking.b, ATTAINED
    for t in np.argsort(spread):
        i, end = tops[t], begin[t + 1]
        while i < end:
            e = order[i]
            if _fits(start, variable, low, high, extra, after, sets, shared, allowed, e) and (
                not joined or _relations_hold(elements, axes, shared, allowed, e)
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


@compiled(inline="always")
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
        elif max(low[j], shared[LOW, v]) > min(high[j], shared[HIGH, v]) and not (
            extra[j] and shared[MISSING, v]
        ):
            return False
    return True


@compiled
def _relations_hold(elements, axes, shared, allowed, e):  # type: ignore[no-untyped-def]
    """Whether the two codes of each feature can be as its relation asks, by codes that exist: lower ends count as closed."""
    start, variable, low, high, extra = (
        elements.start,
        elements.variable,
        elements.low,
        elements.high,
        elements.extra,
    )
    for v in axes.joined:
        w = axes.partner[v]
        i, j = find_limit(start, variable, e, v), find_limit(start, variable, e, w)
        if i < 0 and j < 0:
            continue
        if axes.way[v] == BY_REACH:
            here, there = (
                narrow_limits(low, high, extra, shared, i, v),
                narrow_limits(low, high, extra, shared, j, w),
            )
            if not within_tolerance(
                axes, v, (here[0], here[1], here[2], True), (there[0], there[1], there[2], True)
            ):
                return False
        elif not _levels_related(elements, axes, shared, allowed, i, v, j, w):
            return False
    return True


@compiled
def _levels_related(elements, axes, shared, allowed, i, v, j, w):  # type: ignore[no-untyped-def]
    low, high, extra, after, sets = elements.low, elements.high, elements.extra, elements.after, axes.sets
    size, at, table = axes.size[v], axes.offset[v], axes.beside
    for p in range(shared[LOW, v], shared[HIGH, v] + 1):
        if (sets[v] and not allowed[v, p]) or not allows(low, high, extra, after, sets, i, v, p):
            continue
        for q in range(shared[LOW, w], shared[HIGH, w] + 1):
            if sets[w] and not allowed[w, q]:
                continue
            if table[at + p * size + q] and allows(low, high, extra, after, sets, j, w, q):
                return True
    return False
