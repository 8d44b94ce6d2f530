"""The maximum of u(x) + v(x') for one feature, over the codes of a box that satisfy its relation (section 4).

Linear (u x + v x'): at a corner of the polygon. For `within` t the polygon is lo <= x <= hi, lo' <= x' <= hi', |x - x'| <= t. Each of
its corners lies on at least one of the four sides x = lo, x = hi, x' = lo', x' = hi', because the two remaining lines x - x' = t and x - x' = -t are parallel
(t > 0); on such a side the polygon is an interval whose two ends are looked at. Where the ends and t are whole, so are all these points.
Tables: over positions; for `within` by a window that slides with x and keeps only the v that can still be largest.
"""

from collections import deque
from collections.abc import Sequence

from likewise_check.cells import Box, Interval
from likewise_check.numbers import Exact, exact
from likewise_check.space import Relation


def linear_maximum(u: Exact, v: Exact, box: Box, relation: Relation) -> Exact | None:
    """max of u x + v x'; None if no codes satisfy the relation."""
    if relation.kind == "same":
        ((lo, hi),) = box.intervals
        return (u + v) * (hi if u + v > 0 else lo)
    first, second = box.intervals
    if relation.tolerance is None:
        return u * first[u > 0] + v * second[v > 0]
    tolerance = exact(relation.tolerance)
    values: list[Exact] = []
    for x in first:
        values.extend(u * x + v * other for other in _reach(x, second, tolerance))
    for other in second:
        values.extend(u * x + v * other for x in _reach(other, first, tolerance))
    return max(values, default=None)


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
    if relation.tolerance is None:
        return max(u[i] for i in first) + max(v[j] for j in second)
    reach = int(relation.tolerance)
    best: Exact | None = None
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
            value = u[i] + v[window[0]]
            best = value if best is None else max(best, value)
    return best
