"""The largest u(x) + v(x') of one feature in a box, over the codes that satisfy its relation: for linear functions and for tables.

Linear (u x + v x'): at a corner of the polygon. For `within` t the polygon is lo <= x <= hi, lo' <= x' <= hi',
|x - x'| <= t. Each of its corners lies on one of the sides x = lo, x = hi, x' = lo', x' = hi', because the two remaining lines
x - x' = t and x - x' = -t are parallel (t > 0); on such a side the polygon is an interval whose two ends are looked at. Where
the ends and t are whole, so are these points. Tables: over positions; for `within` by a window that slides with x.
"""

from collections import deque
from collections.abc import Sequence

from likewise_check.core.cells import Box, Interval
from likewise_check.core.numbers import Exact, exact
from likewise_check.core.space import Relation


def linear_maximum(u: Exact, v: Exact, box: Box, relation: Relation) -> Exact | None:
    """max of u x + v x'; None if no codes satisfy the relation."""
    if relation.kind == "same":
        ((lo, hi),) = box.intervals
        return (u + v) * (hi if u + v > 0 else lo)
    first, second = box.intervals
    if relation.tolerance is None:
        return u * (first[1] if u > 0 else first[0]) + v * (second[1] if v > 0 else second[0])
    points = corners(first, second, exact(relation.tolerance))
    return max((u * x + v * other for x, other in points), default=None)


def corners(first: Interval, second: Interval, tolerance: Exact) -> list[tuple[Exact, Exact]]:
    """The corners of the polygon, and perhaps other points of its sides; none if it is empty."""
    found = [(x, other) for x in first for other in _reach(x, second, tolerance)]
    return found + [(x, other) for other in second for x in _reach(other, first, tolerance)]


def _reach(code: Exact, interval: Interval, tolerance: Exact) -> tuple[Exact, ...]:
    """The ends of the part of the interval within the tolerance of the code; nothing if that part is empty."""
    lo, hi = max(interval[0], code - tolerance), min(interval[1], code + tolerance)
    return (lo, hi) if lo <= hi else ()


def table_maximum(u: Sequence[Exact], v: Sequence[Exact], box: Box, relation: Relation) -> Exact | None:
    """max of u[i] + v[j]; None if no positions satisfy the relation."""
    ranges = [range(int(lo), int(hi) + 1) for lo, hi in box.intervals]
    if relation.kind == "same":
        return max(u[i] + v[i] for i in ranges[0])
    first, second = ranges
    if relation.kind == "pairs":
        sums = [u[i] + v[i] for i in range(max(first.start, second.start), min(first.stop, second.stop))]
        sums += [u[i] + v[j] for i, j in relation.allowed if i in first and j in second]
        sums += [u[j] + v[i] for i, j in relation.allowed if j in first and i in second]
        return max(sums, default=None)
    if relation.tolerance is None:
        return max(u[i] for i in first) + max(v[j] for j in second)
    reach = int(relation.tolerance)
    sums = []
    window: deque[int] = deque()  # positions j of falling v[j]: the first is the largest in reach of i
    ahead = second.start
    for i in first:
        while ahead < second.stop and ahead <= i + reach:
            while window and v[window[-1]] <= v[ahead]:
                window.pop()
            window.append(ahead)
            ahead += 1
        while window and window[0] < i - reach:
            window.popleft()
        if window:
            sums.append(u[i] + v[window[0]])
    return max(sums, default=None)
