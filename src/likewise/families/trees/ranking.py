"""Scanning: what elements in order of their value tell about a cell.

A `Ranking` lists the elements of each tree from the largest a value - b value' down, so the first one that meets a cell is the tree's
maximum, and what comes behind is looked at only as far as it matters. Trees whose elements all add the same are
folded into two sums. A ranking made for a cell serves all cells within it; `filter_ranking` makes a shorter one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.compiled import compiled
from likewise.families.trees.overlap import HIGH, LOW, overlaps, relations_hold


class Ranking(NamedTuple):
    """Elements by tree, those of tree i from start[i] to start[i + 1]; a and b sum up what the folded trees add."""

    order: np.ndarray  # of int32
    start: np.ndarray  # of int64
    a: float
    b: float


@compiled
def bound_by_ranking(elements, axes, ranking, box, a, b, tops):  # type: ignore[no-untyped-def]
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
            if overlaps(start, variable, low, high, extra, after, sets, box, e) and (
                not joined or relations_hold(elements, axes, box, e)
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


@compiled
def filter_ranking(elements, axes, ranking, box, even, only, spans):  # type: ignore[no-untyped-def]
    """The ranking of the elements that meet the box; where they all met one that had other limits of the variable `only` (-1: of any), that one is looked at, in `spans`. Trees that always add the same are folded: the same to both scores, or, where
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
            if only >= 0:
                meets = spans[e, 0, only] <= box[HIGH, only] and spans[e, 1, only] >= box[LOW, only]
            else:
                meets = overlaps(start, variable, low, high, extra, after, sets, box, e) and (
                    not joined or relations_hold(elements, axes, box, e)
                )
            if meets:
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


@compiled
def bound_unordered(elements, axes, ranking, box, a, b):  # type: ignore[no-untyped-def]
    """As `bound_by_ranking`, whatever direction the ranking was made for: every element is looked at. The sums are those of the maximisers."""
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
                and overlaps(start, variable, low, high, extra, after, sets, box, e)
                and (not joined or relations_hold(elements, axes, box, e))
            ):
                best, top = value, e
        if top < 0:
            return -np.inf, 0.0, 0.0
        total += best
        first += first_value[top]
        second += second_value[top]
    return total, first, second


@compiled
def collect_near_best(elements, axes, ranking, box, a, b, room, found):  # type: ignore[no-untyped-def]
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
                and overlaps(start, variable, low, high, extra, after, sets, box, e)
                and (not joined or relations_hold(elements, axes, box, e))
            ):
                best = max(best, value)
                found[count] = e
                count += 1
        if count == reached:
            return -1
    return count


@compiled
def collect_elements(elements, axes, ranking, box):  # type: ignore[no-untyped-def]
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
            if overlaps(start, variable, low, high, extra, after, sets, box, e) and (
                not joined or relations_hold(elements, axes, box, e)
            ):
                kept[n] = e
                n += 1
        if n == places[t]:
            return kept[:0].copy(), places[:1].copy()
        places[t + 1] = n
    return kept[:n].copy(), places


@compiled
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
