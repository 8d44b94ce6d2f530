"""Meeting: whether an element and a box of pairs have a pair in common, as far as each feature can tell by itself.

A box is a (4, variables) array of LOW and HIGH index, whether a MISSING number is inside (then LOW to HIGH are only the numbers
that are not missing, and may be none), and whether its lower end is CLOSED: given by the cell itself, not by a tolerance.
That is what a certificate's rule `trees` asks of two leaves: codes of a feature in the cell and in both boxes, related as they should be.

Compiled loops take plain arrays: taking one out of a tuple counts references each time, which costs more than the work itself.
"""

from likewise.compiled import compiled
from likewise.families.trees.axes import BY_REACH

LOW, HIGH, MISSING, CLOSED = 0, 1, 2, 3


@compiled(inline="always")
def overlaps(start, variable, low, high, extra, after, sets, box, e):  # type: ignore[no-untyped-def]
    """Whether element e and the box have codes in common in every feature; `relations_hold` asks the rest."""
    for j in range(start[e], start[e + 1]):
        v = variable[j]
        if sets[v]:
            if after[extra[j], box[LOW, v]] > box[HIGH, v]:
                return False
        elif max(low[j], box[LOW, v]) > min(high[j], box[HIGH, v]) and not (extra[j] and box[MISSING, v]):
            return False
    return True


@compiled
def relations_hold(elements, axes, box, e):  # type: ignore[no-untyped-def]
    """Whether the two codes of each feature can be as its relation asks; a cell whose own codes cannot is noticed by `tighten`."""
    start, variable, low, high, extra, after = (
        elements.start, elements.variable, elements.low, elements.high, elements.extra, elements.after,
    )  # fmt: skip
    for v in axes.joined:
        w = axes.partner[v]
        i, j = find_limit(start, variable, e, v), find_limit(start, variable, e, w)
        if i < 0 and j < 0:
            continue
        if axes.way[v] == BY_REACH:
            here, there = (
                narrow_limits(low, high, extra, box, i, v),
                narrow_limits(low, high, extra, box, j, w),
            )
            if not within_tolerance(axes, v, here, there):
                return False
        elif not levels_related(low, high, extra, after, axes, box, i, v, j, w):
            return False
    return True


@compiled
def find_limit(start, variable, e, v):  # type: ignore[no-untyped-def]
    """The limit of an element on a variable, -1 where it has none."""
    for j in range(start[e], start[e + 1]):
        if variable[j] == v:
            return j
    return -1


@compiled
def narrow_limits(low, high, extra, box, j, v):  # type: ignore[no-untyped-def]
    """Low and high index, missing and closed of a box within limit j (-1: none) of a number."""
    first, last, missing, closed = box[LOW, v], box[HIGH, v], box[MISSING, v] != 0, box[CLOSED, v] != 0
    if j >= 0:
        if low[j] > first:
            first, closed = low[j], False
        last = min(last, high[j])
        missing = missing and extra[j] != 0
    return first, last, missing, closed


@compiled
def within_tolerance(axes, v, here, there):  # type: ignore[no-untyped-def]
    """Whether numbers of two intervals of indices of a feature are within its tolerance, or both missing."""
    if here[2] and there[2]:
        return True
    if here[0] > here[1] or there[0] > there[1]:
        return False
    reach = axes.reach_closed if there[3] else axes.reach_open
    if there[0] > reach[axes.offset[v] + here[1]]:
        return False
    reach = axes.reach_closed if here[3] else axes.reach_open
    return here[0] <= reach[axes.offset[axes.partner[v]] + there[1]]


@compiled
def levels_related(low, high, extra, after, axes, box, i, v, j, w):  # type: ignore[no-untyped-def]
    """Whether levels within limits i of v and j of w may stand beside each other."""
    size, at, table, sets = axes.size[v], axes.offset[v], axes.beside, axes.sets
    for p in range(box[LOW, v], box[HIGH, v] + 1):
        if not allows(low, high, extra, after, sets, i, v, p):
            continue
        for q in range(box[LOW, w], box[HIGH, w] + 1):
            if table[at + p * size + q] and allows(low, high, extra, after, sets, j, w, q):
                return True
    return False


@compiled(inline="always")
def allows(low, high, extra, after, sets, j, v, p):  # type: ignore[no-untyped-def]
    """Whether a position lies within limit j (-1: none)."""
    if j < 0:
        return True
    if sets[v]:
        return after[extra[j], p] == p
    return low[j] <= p and p <= high[j]


@compiled
def tighten(axes, box):  # type: ignore[no-untyped-def]
    """Move the ends of numbers within a tolerance to what the other's ends allow; whether every feature has codes left."""
    for v in range(box.shape[1]):
        if box[LOW, v] > box[HIGH, v] and not box[MISSING, v]:
            return False
    for v in axes.joined:
        w = axes.partner[v]
        if axes.way[v] != BY_REACH:
            found = False
            for p in range(box[LOW, v], box[HIGH, v] + 1):
                for q in range(box[LOW, w], box[HIGH, w] + 1):
                    found = found or axes.beside[axes.offset[v] + p * axes.size[v] + q]
            if not found:
                return False
            continue
        here = box[LOW, v], box[HIGH, v], box[MISSING, v] != 0, box[CLOSED, v] != 0
        there = box[LOW, w], box[HIGH, w], box[MISSING, w] != 0, box[CLOSED, w] != 0
        if not within_tolerance(axes, v, here, there):
            return False
        if here[2] and there[2]:
            continue
        box[MISSING, v] = box[MISSING, w] = 0
        _limit_partner(axes, box, v, w)
        _limit_partner(axes, box, w, v)
    return True


@compiled
def _limit_partner(axes, box, v, w):  # type: ignore[no-untyped-def]
    """Limit w to what v's interval reaches."""
    box[HIGH, w] = min(box[HIGH, w], axes.reach_open[axes.offset[v] + box[HIGH, v]])
    while box[LOW, w] < box[HIGH, w] and axes.reach_open[axes.offset[w] + box[LOW, w]] < box[LOW, v]:
        box[LOW, w] += 1
        box[CLOSED, w] = 0
