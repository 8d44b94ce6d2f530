"""Trees in pairs: what a bound falls by where trees whose largest elements exclude each other are looked at two at a time.

The bound of a cell adds up one maximum a tree, attained by elements that may have no pair in common. Two trees t and u together add no more than

    max over elements e of t, f of u that have codes in common, in the cell, of  value_e + value_f,

so with trees in disjoint pairs the bound is lower by the sum of what each pair falls short of its two maxima. Which pairs there are is found greedily, the trees with the widest range of values first, and kept for the parts of a cell: there the same pairs save as much or more.
Codes in common are looked for variable by variable; relations between the two codes of a feature are left aside, so a certificate's rule `trees` with groups may bound a cell lower, never higher.
"""

import numpy as np

from likewise.compiled import compiled
from likewise.families.trees.overlap import HIGH, LOW, MISSING

ALONE = -1  # the partner of a tree that has none
MOST_PARTNERS_TRIED = 12  # of a tree, whose largest elements exclude that of the tree,
MOST_LOOKED_AT = 256  # among so many


@compiled(inline="always")
def _meet(start, variable, low, high, extra, after, sets, box, e, f):  # type: ignore[no-untyped-def]
    """Whether two elements that meet the box have codes in common in it, of every variable; limits stand in the order of their variables."""
    i, j, end, end2 = start[e], start[f], start[e + 1], start[f + 1]
    while i < end and j < end2:
        v, w = variable[i], variable[j]
        if v < w:
            i += 1
            continue
        if w < v:
            j += 1
            continue
        if sets[v]:
            p = after[extra[i], box[LOW, v]]
            while p <= box[HIGH, v] and after[extra[j], p] != p:
                p = after[extra[i], p + 1]
            if p > box[HIGH, v]:
                return False
        elif max(low[i], low[j], box[LOW, v]) > min(high[i], high[j], box[HIGH, v]) and not (
            extra[i] and extra[j] and box[MISSING, v]
        ):
            return False
        i += 1
        j += 1
    return True


@compiled
def _largest_together(elements, axes, ranking, box, a, b, tops, t, u, enough):  # type: ignore[no-untyped-def]
    """The largest sum of elements of two trees of the ranking that have codes in common; or one that is no less than it, once that is found to be `enough` or more."""
    start, variable, low, high, extra, after, sets = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after, axes.sets,
    )  # fmt: skip
    first_value, second_value, order, begin = elements.a, elements.b, ranking.order, ranking.start
    f = order[tops[u]]
    most = a * first_value[f] - b * second_value[f]
    best = -np.inf
    for i in range(tops[t], begin[t + 1]):
        e = order[i]
        here = a * first_value[e] - b * second_value[e]
        if here + most <= best or best >= enough:
            return best
        for j in range(tops[u], begin[u + 1]):
            f = order[j]
            there = a * first_value[f] - b * second_value[f]
            if here + there <= best:
                break
            if _meet(start, variable, low, high, extra, after, sets, box, e, f):
                best = here + there
                break
    return best


@compiled
def _number_trees(elements, ranking, place):  # type: ignore[no-untyped-def]
    """Where in the ranking each tree is; -1 for trees that always add the same."""
    order, begin = ranking.order, ranking.start
    for t in range(len(place)):
        place[t] = -1
    for t in range(len(begin) - 1):
        place[elements.tree[order[begin[t]]]] = t


@compiled
def bound_in_pairs(elements, axes, ranking, box, a, b, tops, partner, place):  # type: ignore[no-untyped-def]
    """The bound of a s - b s', biases left aside, with these pairs of trees: minus infinity where two of them have no elements in common, and then the cell has no pair."""
    first_value, second_value, order, begin = elements.a, elements.b, ranking.order, ranking.start
    _number_trees(elements, ranking, place)
    total = a * ranking.a - b * ranking.b
    for t in range(len(begin) - 1):
        e = order[tops[t]]
        mate = partner[elements.tree[e]]
        u = place[mate] if mate >= 0 else -1
        if u < 0:
            total += a * first_value[e] - b * second_value[e]
        elif t < u:
            total += _largest_together(elements, axes, ranking, box, a, b, tops, t, u, np.inf)
    return total


@compiled
def _keep_pairs(elements, axes, ranking, box, a, b, tops, top, partner, place):  # type: ignore[no-untyped-def]
    """What the pairs of `partner` save; those that save nothing are parted."""
    order, begin, saved = ranking.order, ranking.start, 0.0
    for t in range(len(begin) - 1):
        one = elements.tree[order[begin[t]]]
        mate = partner[one]
        if mate < 0:
            continue
        u, saving = place[mate], 0.0
        if u > t:
            both = top[t] + top[u]
            saving = both - _largest_together(elements, axes, ranking, box, a, b, tops, t, u, both)
        if u < 0 or (u > t and saving <= 0):
            partner[one] = partner[mate] = ALONE
        saved += saving
    return saved


@compiled
def _find_partner(elements, axes, ranking, box, a, b, tops, top, partner, by_spread, m):  # type: ignore[no-untyped-def]
    """Of the trees behind place m of an order, which one saves most together with the one there, of the first some whose largest element excludes its own: the tree (ALONE if none), and what is saved."""
    start, variable, low, high, extra, after, sets = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after, axes.sets,
    )  # fmt: skip
    order, begin, t = ranking.order, ranking.start, by_spread[m]
    most, mate, tried = 0.0, ALONE, 0
    for n in range(m + 1, min(m + 1 + MOST_LOOKED_AT, len(by_spread))):
        u = by_spread[n]
        other = elements.tree[order[begin[u]]]
        if partner[other] >= 0 or _meet(
            start, variable, low, high, extra, after, sets, box, order[tops[t]], order[tops[u]]
        ):
            continue
        both = top[t] + top[u]
        saving = both - _largest_together(elements, axes, ranking, box, a, b, tops, t, u, both - most)
        tried += 1
        if saving > most:
            most, mate = saving, other
        if tried == MOST_PARTNERS_TRIED:
            break
    return mate, most


@compiled
def pair_trees(elements, axes, ranking, box, a, b, tops, excess, partner, place):  # type: ignore[no-untyped-def]
    """Find pairs of trees, beginning with those of `partner`, until they save the excess: what they save, at least."""
    first_value, second_value, order, begin = elements.a, elements.b, ranking.order, ranking.start
    _number_trees(elements, ranking, place)
    count = len(begin) - 1
    top, spread = np.empty(count), np.empty(count)
    for t in range(count):
        e, last = order[tops[t]], order[begin[t + 1] - 1]
        top[t] = a * first_value[e] - b * second_value[e]
        spread[t] = a * first_value[last] - b * second_value[last] - top[t]
    saved = _keep_pairs(elements, axes, ranking, box, a, b, tops, top, partner, place)
    by_spread = np.argsort(spread)
    for m in range(count):
        if saved >= excess:
            break
        one = elements.tree[order[begin[by_spread[m]]]]
        if partner[one] >= 0:
            continue
        mate, most = _find_partner(elements, axes, ranking, box, a, b, tops, top, partner, by_spread, m)
        if mate >= 0:
            partner[one], partner[mate] = mate, one
            saved += most
    return saved


@compiled
def collect_near_best_pairs(elements, axes, box, a, b, first, second, room, found):  # type: ignore[no-untyped-def]
    """The pairs of an element of `first` and one of `second`, all of which meet the box, that have codes in common and are within `room` of the largest sum of such: how many, -1 where there are more than `found` has room for."""
    start, variable, low, high, extra, after, sets = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after, axes.sets,
    )  # fmt: skip
    first_value, second_value = elements.a, elements.b
    best, count = -np.inf, 0
    for collects in (False, True):
        for e in first:
            here = a * first_value[e] - b * second_value[e]
            for f in second:
                value = here + (a * first_value[f] - b * second_value[f])
                if value <= best if not collects else value < best - room:
                    continue
                if not _meet(start, variable, low, high, extra, after, sets, box, e, f):
                    continue
                if not collects:
                    best = value
                    continue
                if count == len(found):
                    return -1
                found[count, 0], found[count, 1] = e, f
                count += 1
    return count
