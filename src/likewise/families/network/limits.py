"""Limits: intervals of every neuron's y, y' and y' - y over a cell, layer by layer, met with what splits say of them.

The difference is what makes pairs provable: it passes an activation by its slopes over both intervals (a relu that is active in both copies leaves it alone), and through a layer by the
weights, without the two copies' own widths.
"""

import numpy as np

from likewise.compiled import compiled
from likewise.families.network.body import COPIES
from likewise.families.network.curves import curve_steepness, is_curve
from likewise.families.network.pair_network import (
    HIGH,
    LEAST,
    LOW,
    MOST,
    OTHER_HIGH,
    OTHER_LOW,
)
from likewise.families.network.polygons import bend_of, close, image

# Sums may be added up in any order: nothing else is given up, infinities and signed zeros included.
SUMS = {"reassoc", "contract"}


@compiled(fastmath=SUMS)
def dot(x, y, n):  # type: ignore[no-untyped-def]
    """x . y of the first n entries."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@compiled(fastmath=SUMS)
def add(factor, x, into, n):  # type: ignore[no-untyped-def]
    """into += factor * x in the first n entries."""
    for i in range(n):
        into[i] += factor * x[i]


@compiled
def propagate(net, lo, hi, limits, ranges, scratch):  # type: ignore[no-untyped-def]
    """Limits of all neurons over a cell, and in `ranges` those of the features' codes; False where the cell holds no pair.

    `scratch` has room for six rows of neurons.
    """
    if not _first_layer(net, lo, hi, limits, ranges, scratch):
        return False
    inside = True
    for layer in range(1, len(net.widths)):
        inside = inside and pass_layer(net, lo, hi, limits, layer, scratch)
    return inside


@compiled
def _first_layer(net, lo, hi, limits, ranges, scratch):  # type: ignore[no-untyped-def]
    n, inside = net.widths[0], True
    for j in range(n):
        for side in range(LEAST):
            limits[side, j] = net.base[j]
        limits[LEAST, j] = limits[MOST, j] = 0.0
    for f in range(len(net.row)):
        if not read_codes(net, f, lo, hi, ranges):
            return False
        _add_feature(net, f, limits, ranges, scratch, n)
    for j in range(n):
        inside = inside and meet_splits(len(net.whole) + COPIES * j, lo, hi, limits, j)
    return inside


@compiled
def _add_feature(net, f, limits, ranges, scratch, n):  # type: ignore[no-untyped-def]
    """What one feature adds to the limits of layer 0."""
    smallest, largest, least, most = scratch[0], scratch[1], scratch[2], scratch[3]
    extent(net, f, ranges[LOW, f], ranges[HIGH, f], smallest, largest, n)
    add(1.0, smallest, limits[LOW], n)
    add(1.0, largest, limits[HIGH], n)
    if net.first[f] != net.second[f]:
        extent(net, f, ranges[OTHER_LOW, f], ranges[OTHER_HIGH, f], least, most, n)
        if net.levels[f]:
            for j in range(n):
                limits[LEAST, j] += least[j] - largest[j]
                limits[MOST, j] += most[j] - smallest[j]
        else:
            extent(net, f, ranges[LEAST, f], ranges[MOST, f], smallest, largest, n)
            add(1.0, smallest, limits[LEAST], n)
            add(1.0, largest, limits[MOST], n)
        smallest, largest = least, most
    add(1.0, smallest, limits[OTHER_LOW], n)
    add(1.0, largest, limits[OTHER_HIGH], n)


@compiled
def read_codes(net, f, lo, hi, ranges):  # type: ignore[no-untyped-def]
    """What a cell allows of a feature's codes at x and at x', and of their difference."""
    one, two, apart = net.first[f], net.second[f], net.difference[f]
    ranges[LOW, f], ranges[HIGH, f] = lo[one], hi[one]
    ranges[OTHER_LOW, f], ranges[OTHER_HIGH, f] = lo[two], hi[two]
    ranges[LEAST, f], ranges[MOST, f] = 0.0, 0.0
    if one == two or net.levels[f]:
        return True
    ranges[LEAST, f] = lo[apart] if apart >= 0 else -np.inf
    ranges[MOST, f] = hi[apart] if apart >= 0 else np.inf
    return close(ranges, f)


@compiled
def extent(net, f, low, high, smallest, largest, n):  # type: ignore[no-untyped-def]
    """The smallest and the largest contribution of a feature to each neuron, over an interval of codes."""
    if not net.levels[f]:
        slopes = net.rows[net.row[f]]
        for j in range(n):
            one, two = slopes[j] * low, slopes[j] * high
            smallest[j], largest[j] = min(one, two), max(one, two)
        return
    start = net.row[f] + int(low)
    for j in range(n):
        smallest[j] = largest[j] = net.rows[start, j]
    for r in range(start + 1, net.row[f] + int(high) + 1):
        row = net.rows[r]
        for j in range(n):
            smallest[j] = min(smallest[j], row[j])
            largest[j] = max(largest[j], row[j])


@compiled
def meet_splits(place, lo, hi, limits, k):  # type: ignore[no-untyped-def]
    """Sharpen the limits of neuron k by what splits say of it, from `place` on among a cell's variables; False where they leave nothing."""
    for copy in range(COPIES):
        limits[2 * copy, k] = max(limits[2 * copy, k], lo[place + copy])
        limits[2 * copy + 1, k] = min(limits[2 * copy + 1, k], hi[place + copy])
    return close(limits, k)


@compiled
def pass_layer(net, lo, hi, limits, layer, scratch):  # type: ignore[no-untyped-def]
    """Limits of a layer from those of the one below: sums of middles, plus and minus sums of half widths."""
    below, width, start = net.starts[layer - 1], net.widths[layer - 1], net.starts[layer]
    bend = bend_of(net, layer - 1)
    for q in range(width):
        k = below + q
        one, two = image(bend, limits[LOW, k], limits[HIGH, k])
        three, four = image(bend, limits[OTHER_LOW, k], limits[OTHER_HIGH, k])
        flat, steep = steepness(
            bend,
            min(limits[LOW, k], limits[OTHER_LOW, k]),
            max(limits[HIGH, k], limits[OTHER_HIGH, k]),
        )
        least, most = limits[LEAST, k], limits[MOST, k]
        down = max(min(flat * least, steep * least, flat * most, steep * most), three - two)
        up = min(max(flat * least, steep * least, flat * most, steep * most), four - one)
        scratch[0, q], scratch[1, q] = 0.5 * (one + two), 0.5 * (two - one)
        scratch[2, q], scratch[3, q] = 0.5 * (three + four), 0.5 * (four - three)
        scratch[4, q], scratch[5, q] = 0.5 * (down + up), 0.5 * (up - down)
    for i in range(net.widths[layer]):
        weights, sizes = net.weights[layer, i], net.sizes[layer, i]
        for copy in range(COPIES):
            middle, reach = dot(weights, scratch[2 * copy], width), dot(sizes, scratch[2 * copy + 1], width)
            if copy < COPIES - 1:
                middle += net.biases[layer, i]
            limits[2 * copy, start + i], limits[2 * copy + 1, start + i] = middle - reach, middle + reach
        if not meet_splits(len(net.whole) + COPIES * (start + i), lo, hi, limits, start + i):
            return False
    return True


@compiled
def steepness(bend, low, high):  # type: ignore[no-untyped-def]
    """The smallest and the largest slope of an activation over an interval, of all its pieces where that is a point."""
    t, second, before, between, after, _ = bend
    if is_curve(bend):
        return curve_steepness(second, before, low, high)
    flat, steep = np.inf, -np.inf
    if low < t and low < high:
        flat, steep = before, before
    if max(low, t) < min(high, second):
        flat, steep = min(flat, between), max(steep, between)
    if high > second and low < high:
        flat, steep = min(flat, after), max(steep, after)
    if flat > steep:  # a single point
        flat, steep = min(before, between), max(before, between)
        if second < np.inf:
            flat, steep = min(flat, after), max(steep, after)
    return flat, steep
