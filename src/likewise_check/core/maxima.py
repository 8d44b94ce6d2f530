"""The largest u(x) + v(x') of one feature in a box, over the codes that satisfy its relation: for linear functions and for tables (section 4).

Linear, `within` t or `between` limits. With x' = x + d the function is (u + v) x + v d. For a given d, x goes from max(lo, lo' - d) to min(hi, hi' - d), which is not empty just if
d is from p = max(-t, lo' - hi) to q = min(t, hi' - lo) (or between other limits than -t and t); the better end is the right one if u + v >= 0, else the left one. Which of its two arguments that end is
changes at one d only (hi' - hi, or lo' - lo), and on either side of it the value is linear in d: so it is largest there, at p or at q. Where the ends and t are
whole, so are all of these points.

Tables in the same way: over windows of positions. The maxima of all windows of 1, 2, 4, ... positions are made of those before; any window is the union of two of these.
"""

from collections.abc import Sequence

from likewise_check.core.cells import Box, Interval
from likewise_check.core.numbers import Exact
from likewise_check.core.space import Relation


def linear_maximum(u: Exact, v: Exact, box: Box, relation: Relation) -> Exact | None:
    """max of u x + v x'; None if no codes satisfy the relation."""
    if relation.kind == "same":
        ((lo, hi),) = box.intervals
        return (u + v) * (hi if u + v > 0 else lo)
    first, second = box.intervals
    apart = relation.apart
    if apart is None:
        return u * (first[1] if u > 0 else first[0]) + v * (second[1] if v > 0 else second[0])
    return linear_apart(u, v, first, second, apart)


def linear_apart(u: Exact, v: Exact, first: Interval, second: Interval, apart: Interval) -> Exact | None:
    """max of u x + v x' over x and x' in these intervals, x' - x being in a third one."""
    (lo, hi), (low, high) = first, second
    least, most = max(apart[0], low - hi), min(apart[1], high - lo)
    if least > most:
        return None
    slope = u + v

    def at(d: Exact) -> Exact:
        return slope * (min(hi, high - d) if slope >= 0 else max(lo, low - d)) + v * d

    turn = high - hi if slope >= 0 else low - lo
    return max(at(least), at(most), at(min(max(turn, least), most)))


def table_maximum(u: Sequence[Exact], v: Sequence[Exact], box: Box, relation: Relation) -> Exact | None:
    """max of u[i] + v[j]; None if no positions satisfy the relation."""
    ranges = [range(int(lo), int(hi) + 1) for lo, hi in box.intervals]
    if relation.kind == "same":
        return max(u[i] + v[i] for i in ranges[0])
    first, second = ranges
    if relation.kind == "pairs":
        alike = ((i, i) for i in first if i in second)
        allowed = (way for i, j in relation.allowed for way in ((i, j), (j, i)))
        sums = [u[i] + v[j] for i, j in (*alike, *allowed) if i in first and j in second]
        return max(sums, default=None)
    if relation.apart is None:
        return max(u[i] for i in first) + max(v[j] for j in second)
    return _table_apart(u, v, first, second, (int(relation.apart[0]), int(relation.apart[1])))


def _table_apart(
    u: Sequence[Exact], v: Sequence[Exact], first: range, second: range, apart: tuple[int, int]
) -> Exact | None:
    windows = [list(v[second.start : second.stop])]  # maxima of 1, 2, 4, ... positions from each on
    while 2 ** len(windows) <= min(apart[1] - apart[0] + 1, len(second)):
        half = 2 ** (len(windows) - 1)
        windows.append(list(map(max, windows[-1], windows[-1][half:])))
    best: Exact | None = None
    for i in first:
        start, stop = max(i + apart[0], second.start), min(i + apart[1] + 1, second.stop)
        if start < stop:
            size = (stop - start).bit_length() - 1
            row = windows[size]
            top = u[i] + max(row[start - second.start], row[stop - 2**size - second.start])
            best = top if best is None or top > best else best
    return best
