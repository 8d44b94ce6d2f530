"""Gathering: the elements of a cell without any order, and the largest sums of values of their leaves."""

import numpy as np
from numba import njit

from likewise.families.trees.meeting import meets, related


@njit(cache=True)
def gathered(elements, axes, ranking, box):  # type: ignore[no-untyped-def]
    """The elements that meet the box, tree by tree; where a tree has none there is no pair, and the list ends."""
    start, variable, low, high, extra, after, sets = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after, axes.sets,
    )  # fmt: skip
    order, begin = ranking.order, ranking.start
    joined = len(axes.joined) > 0
    kept = np.empty(len(order), dtype=np.int32)
    places = np.zeros(len(begin), dtype=np.int64)
    n = 0
    for t in range(len(begin) - 1):
        for i in range(begin[t], begin[t + 1]):
            e = order[i]
            if meets(start, variable, low, high, extra, after, sets, box, e) and (
                not joined or related(elements, axes, box, e)
            ):
                kept[n] = e
                n += 1
        if n == places[t]:
            return kept[:0].copy(), places[:1].copy()
        places[t + 1] = n
    return kept[:n].copy(), places


@njit(cache=True)
def largest_sum(elements, order, start, first, second, tops):  # type: ignore[no-untyped-def]
    """The sum over trees of the largest first[leaf of x] + second[leaf of x']; `tops` gets the places of the maximisers."""
    leaf, other = elements.leaf, elements.other
    total = 0.0
    for t in range(len(start) - 1):
        best = -np.inf
        for i in range(start[t], start[t + 1]):
            value = first[leaf[order[i]]] + second[other[order[i]]]
            if value > best:
                best = value
                tops[t] = i
        total += best
    return total
