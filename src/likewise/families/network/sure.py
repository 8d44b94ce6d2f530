"""Sure bounds: the bound of given multipliers in float64 with a proved limit of its rounding, for proving most leaves without whole numbers (`proof`).

Every stored number (a weight, a contribution, a bias) is off by at most u = 2^-53 of itself, a sum of n products in any order by at most 1.01 (n + 2) u times the sum of their sizes, and all of them by 2^-1075
where they are too small for that: whatever is multiplied has room for `SMALLEST`, which is that many times over. Limits are
moved outwards by what they may be off, and by more than what the certificate's rule rounds them by, so that every polygon here holds the rule's. Where a maximum is taken at a place that is off by e, the
function, whose slopes are known, is off by at most e times these. What is left is added to the bound.
"""

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import fill
from likewise.families.network.body import COPIES
from likewise.families.network.dual import make_work
from likewise.families.network.limits import SUMS, add, dot, extent, meet_splits, read_codes, steepness
from likewise.families.network.pair_network import HIGH, LEAST, LOW, MOST, OTHER_HIGH, OTHER_LOW
from likewise.families.network.polygons import bend_of, image, maximum

U = 2.0**-53
GRID = 2.0**-60  # that the certificate's limits are multiples of
SMALLEST = 2.0**-1000  # 2^75 numbers that were too small to be rounded to 53 bits
PLACE = 64.0  # roundings of a maximum, its place and its value, with room


@compiled
def sure_bounds(net, lo, hi, line, multipliers, upper):  # type: ignore[no-untyped-def]
    """`upper` bounds of line[0] f(x) - line[1] f'(x') over each cell, rounding included; -inf where float64 sees no pair in it."""
    work = make_work(net)
    for i in range(len(lo)):
        upper[i] = sure_bound(net, work, lo[i], hi[i], line[i, 0], line[i, 1], multipliers[i])


@compiled
def sure_bound(net, work, lo, hi, a, b, multipliers):  # type: ignore[no-untyped-def]
    """An upper bound of a f(x) - b f'(x') over a cell, rounding included; -inf where float64 sees no pair in it, which is no proof that there is none."""
    if not _limits(net, lo, hi, work):
        return -np.inf
    layers = len(net.widths)
    here, there = multipliers[0], multipliers[1]
    total = a * net.bias - b * net.other_bias
    size = abs(a * net.bias) + abs(b * net.other_bias)
    error = 8.0 * U * size
    sizes = 0.0
    for k in range(2 * len(here)):
        sizes += abs(here[k] if k < len(here) else there[k - len(here)])
    small = SMALLEST * (1.0 + abs(a) + abs(b) + sizes)
    for layer in range(layers - 1, -1, -1):
        _weigh(net, work, layer, a, b, here, there)
        start, bend = net.starts[layer], bend_of(net, layer)
        steep = max(abs(bend[2]), abs(bend[3]), abs(bend[4]), 1.0)
        corner = abs(bend[0]) + abs(bend[5]) + (abs(bend[1]) if bend[1] < np.inf else 0.0)
        roundings = 1.01 * (net.widths[layer + 1] + 4) if layer < layers - 1 else 4.0
        for i in range(net.widths[layer]):
            k = start + i
            limits = work.limits
            A, C, p, q = work.weigh[0, k], work.weigh[1, k], here[k], there[k]
            top, _, _ = maximum(
                bend, A, C, p, q,
                limits[LOW, k], limits[HIGH, k], limits[OTHER_LOW, k], limits[OTHER_HIGH, k],
                limits[LEAST, k], limits[MOST, k],
            )  # fmt: skip
            reach = steep * (corner + _size(limits, k))
            slopes = abs(A) + abs(C) + abs(p) + abs(q)
            off = roundings * (
                work.scratch[2, i] + work.scratch[3, i]
            )  # of A and C, by what they are sums of
            error += U * reach * (PLACE * slopes + off) + small * (1.0 + reach)
            shift = (p + q) * net.biases[layer, i] if layer > 0 else 0.0
            total += top + shift
            size += abs(top) + abs(shift)
    found, more, weight = _inputs(net, work, here, there, small)
    total += found
    size += weight
    count = net.starts[-1] + net.widths[-1] + len(net.row) + 16
    return total + 1.01 * (error + more + 2.0 * count * U * size)


@compiled
def _size(limits, k):  # type: ignore[no-untyped-def]
    total = 0.0
    for side in range(2 * COPIES):
        total += abs(limits[side, k])
    return total


@compiled
def _weigh(net, work, layer, a, b, here, there):  # type: ignore[no-untyped-def]
    """A and C of a layer, and the sums of the sizes of what they are made of."""
    start, width = net.starts[layer], net.widths[layer]
    A, C = work.weigh[0, start : start + width], work.weigh[1, start : start + width]
    size, other_size = work.scratch[2], work.scratch[3]
    if layer == len(net.widths) - 1:
        for i in range(width):
            A[i], C[i] = a * net.last[i], -b * net.other_last[i]
            size[i], other_size[i] = abs(A[i]), abs(C[i])
        return
    above = net.starts[layer + 1]
    fill(A, 0.0)
    fill(C, 0.0)
    fill(size[:width], 0.0)
    fill(other_size[:width], 0.0)
    for i in range(net.widths[layer + 1]):
        p, q = here[above + i], there[above + i]
        add(p, net.weights[layer + 1, i], A, width)
        add(q, net.weights[layer + 1, i], C, width)
        add(abs(p), net.sizes[layer + 1, i], size, width)
        add(abs(q), net.sizes[layer + 1, i], other_size, width)


@compiled
def _limits(net, lo, hi, work):  # type: ignore[no-untyped-def]
    """Limits of all neurons that hold whatever was rounded; False where the cell holds no pair."""
    if not _first_limits(net, lo, hi, work):
        return False
    limits, scratch = work.limits, work.scratch
    for layer in range(1, len(net.widths)):
        below, width, start, bend = (
            net.starts[layer - 1],
            net.widths[layer - 1],
            net.starts[layer],
            bend_of(net, layer - 1),
        )
        reached = 0.0
        for q in range(width):
            _pass(limits, below + q, bend, scratch, q)
            for row in range(2 * COPIES):
                reached += abs(scratch[row, q])
        for i in range(net.widths[layer]):
            weights, sizes = net.weights[layer, i], net.sizes[layer, i]
            for copy in range(COPIES):
                middle, reach = (
                    dot(weights, scratch[2 * copy], width),
                    dot(sizes, scratch[2 * copy + 1], width),
                )
                bias = net.biases[layer, i] if copy < COPIES - 1 else 0.0
                size = reach + abs(bias) + _sizes(sizes, scratch[2 * copy], width)
                off = 1.01 * (width + 8) * U * size + 4.0 * GRID + SMALLEST * reached
                limits[2 * copy, start + i] = middle + bias - reach - off
                limits[2 * copy + 1, start + i] = middle + bias + reach + off
            if not _meet(len(net.whole) + COPIES * (start + i), lo, hi, limits, start + i):
                return False
    return True


@compiled(fastmath=SUMS)
def _sizes(sizes, x, n):  # type: ignore[no-untyped-def]
    """sizes . |x| of the first n entries."""
    total = 0.0
    for i in range(n):
        total += sizes[i] * abs(x[i])
    return total


@compiled
def _pass(limits, k, bend, scratch, q):  # type: ignore[no-untyped-def]
    """Middles and half widths of an activation's values and of their difference, with room for rounding."""
    lo, hi, low, high = limits[LOW, k], limits[HIGH, k], limits[OTHER_LOW, k], limits[OTHER_HIGH, k]
    least, most = limits[LEAST, k], limits[MOST, k]
    one, two = image(bend, lo, hi)
    three, four = image(bend, low, high)
    flat, steep = steepness(bend, min(lo, low), max(hi, high))
    products = flat * least, steep * least, flat * most, steep * most
    down, up = max(min(products), three - two), min(max(products), four - one)
    corner = abs(bend[0]) + abs(bend[5]) + (abs(bend[1]) if bend[1] < np.inf else 0.0)
    size = max(abs(bend[2]), abs(bend[3]), abs(bend[4]), 1.0) * (
        corner + abs(lo) + abs(hi) + abs(low) + abs(high) + abs(least) + abs(most)
    )
    off = 16.0 * U * size + 4.0 * GRID
    scratch[0, q], scratch[1, q] = 0.5 * (one + two), 0.5 * (two - one) + off
    scratch[2, q], scratch[3, q] = 0.5 * (three + four), 0.5 * (four - three) + off
    scratch[4, q], scratch[5, q] = 0.5 * (down + up), 0.5 * (up - down) + off


@compiled
def _meet(place, lo, hi, limits, k):  # type: ignore[no-untyped-def]
    """What splits say as well, closed, with room for the rounding of that."""
    if not meet_splits(place, lo, hi, limits, k):
        return False
    off = 16.0 * U * _size(limits, k) + 4.0 * GRID
    for copy in range(COPIES):
        # A split at 0 stays there: that a neuron has one sign is what it is for.
        low, high = lo[place + copy], hi[place + copy]
        limits[2 * copy, k] = max(limits[2 * copy, k] - off, low - GRID if low != 0.0 else 0.0)
        limits[2 * copy + 1, k] = min(limits[2 * copy + 1, k] + off, high + GRID if high != 0.0 else 0.0)
    return True


@compiled
def _first_limits(net, lo, hi, work):  # type: ignore[no-untyped-def]
    n, limits, ranges, size = net.widths[0], work.limits, work.ranges, work.scratch[0]
    for j in range(n):
        for side in range(LEAST):
            limits[side, j] = net.base[j]
        limits[LEAST, j] = limits[MOST, j] = 0.0
        size[j] = abs(net.base[j])
    reached = 0.0
    for f in range(len(net.row)):
        if not read_codes(net, f, lo, hi, ranges):
            return False
        if net.first[f] != net.second[f] and not net.levels[f]:
            _widen(net, f, lo, hi, ranges)
        _add_feature(net, f, limits, ranges, work.scratch, n)
        reached += _size(ranges, f)
    for j in range(n):
        off = 1.01 * (len(net.row) + 16) * U * size[j] + (len(net.row) + 4) * 4.0 * GRID + SMALLEST * reached
        for copy in range(COPIES):
            limits[2 * copy, j] -= off
            limits[2 * copy + 1, j] += off
        if not _meet(len(net.whole) + COPIES * j, lo, hi, limits, j):
            return False
    return True


@compiled
def _widen(net, f, lo, hi, ranges):  # type: ignore[no-untyped-def]
    """Ranges of codes that were sharpened by each other, with room for the rounding of that, within those of the cell."""
    off = 16.0 * U * _size(ranges, f)
    variables = net.first[f], net.second[f], net.difference[f]
    for copy in range(COPIES):
        v = variables[copy]
        low, high = (lo[v], hi[v]) if v >= 0 else (-np.inf, np.inf)
        ranges[2 * copy, f] = max(ranges[2 * copy, f] - off, low)
        ranges[2 * copy + 1, f] = min(ranges[2 * copy + 1, f] + off, high)


@compiled
def _add_feature(net, f, limits, ranges, scratch, n):  # type: ignore[no-untyped-def]
    """What one feature adds to the limits of layer 0, and to the sizes of their terms."""
    low, high, other_low, other_high = scratch[1], scratch[2], scratch[3], scratch[4]
    extent(net, f, ranges[LOW, f], ranges[HIGH, f], low, high, n)
    _add_ends(limits, LOW, low, high, n)
    _add_sizes(scratch[0], low, high, n)
    if net.first[f] == net.second[f]:
        _add_ends(limits, OTHER_LOW, low, high, n)
        _add_sizes(scratch[0], low, high, n)
        return
    extent(net, f, ranges[OTHER_LOW, f], ranges[OTHER_HIGH, f], other_low, other_high, n)
    _add_ends(limits, OTHER_LOW, other_low, other_high, n)
    _add_sizes(scratch[0], other_low, other_high, n)
    if net.levels[f]:
        for j in range(n):
            limits[LEAST, j] += other_low[j] - high[j]
            limits[MOST, j] += other_high[j] - low[j]
    else:
        extent(net, f, ranges[LEAST, f], ranges[MOST, f], low, high, n)
        _add_ends(limits, LEAST, low, high, n)


@compiled
def _add_ends(limits, side, low, high, n):  # type: ignore[no-untyped-def]
    add(1.0, low, limits[side], n)
    add(1.0, high, limits[side + 1], n)


@compiled
def _add_sizes(size, low, high, n):  # type: ignore[no-untyped-def]
    for j in range(n):
        size[j] += max(abs(low[j]), abs(high[j]))


@compiled
def _inputs(net, work, here, there, small):  # type: ignore[no-untyped-def]
    """The maximum over the inputs, what it is off by at most, and the sizes of its terms."""
    n, ranges, both = net.widths[0], work.ranges, work.scratch[0]
    for j in range(n):
        both[j] = here[j] + there[j]
    total, off = _weighed(both, net.base, n)
    size, off = abs(total), off + small
    for f in range(len(net.row)):
        row = net.row[f]
        if net.first[f] == net.second[f]:
            top, more = _largest(net, f, both, ranges[LOW, f], ranges[HIGH, f])
        elif net.levels[f]:
            top, more = _largest(net, f, here, ranges[LOW, f], ranges[HIGH, f])
            other, other_more = _largest(net, f, there, ranges[OTHER_LOW, f], ranges[OTHER_HIGH, f])
            top, more = top + other, more + other_more
        else:
            p, p_off = _weighed(here, net.rows[row], n)
            q, q_off = _weighed(there, net.rows[row], n)
            top, more = _corner(p, q, p_off, q_off, ranges, f)
        total += top
        off += more + small * (1.0 + _size(ranges, f))
        size += abs(top) + more
    return total, off, size


@compiled(fastmath=SUMS)
def _weighed(weights, row, n):  # type: ignore[no-untyped-def]
    """weights . row, and what it is off by at most."""
    total, size = 0.0, 0.0
    for j in range(n):
        product = weights[j] * row[j]
        total += product
        size += abs(product)
    return total, 1.01 * (n + 4) * U * size


@compiled
def _largest(net, f, weights, low, high):  # type: ignore[no-untyped-def]
    n, row = net.widths[0], net.row[f]
    if not net.levels[f]:
        slope, off = _weighed(weights, net.rows[row], n)
        reach = max(abs(low), abs(high))
        return max(slope * low, slope * high), (off + 4.0 * U * abs(slope)) * reach
    top, off = -np.inf, 0.0
    for v in range(int(low), int(high) + 1):
        found, more = _weighed(weights, net.rows[row + v], n)
        top, off = max(top, found), max(off, more)
    return top, off


@compiled
def _corner(p, q, p_off, q_off, ends, f):  # type: ignore[no-untyped-def]
    """The largest p x + q x' over a polygon of codes, from all of its corners, and what it is off by at most."""
    top = -np.inf
    size = _size(ends, f)
    for place in range(4):
        if place == 0:
            x = ends[LOW, f]
        elif place == 1:
            x = ends[HIGH, f]
        elif place == 2:
            x = ends[OTHER_LOW, f] - ends[LEAST, f]
        else:
            x = ends[OTHER_HIGH, f] - ends[MOST, f]
        x = min(max(x, ends[LOW, f]), ends[HIGH, f])
        y, z = max(ends[OTHER_LOW, f], x + ends[LEAST, f]), min(ends[OTHER_HIGH, f], x + ends[MOST, f])
        top = max(top, p * x + q * y, p * x + q * z)
    return top, (p_off + q_off + PLACE * U * (abs(p) + abs(q))) * size
