"""Splits: where a cell should be cut, from what each neuron loses in the dual.

A neuron's *loss* is its polygon's maximum less its value at the mean of the inputs that attained theirs. Splitting the neuron at a break of its activation, in a copy in which it bends
upwards, takes its own loss away; splitting a code takes away a part of the losses of all neurons that it widens, to which the losses of the layers above are handed down by what widens
those. Both are estimates in units of the bound: how much of them is kept is learned from the bounds of cells that were cut, for the lower and the upper part of each variable (`worth`). A cut is as good as
the mean of what its two parts gain, the geometric one: a part that gains nothing is the same cell again.
"""

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to, fill, total
from likewise.families.network.body import COPIES
from likewise.families.network.curves import is_curve
from likewise.families.network.limits import SUMS, dot
from likewise.families.network.pair_network import HIGH, LEAST, LOW, MOST, OTHER_HIGH, OTHER_LOW
from likewise.families.network.polygons import activate, bend_of, image

FIRST = 1e300  # levels that may differ are fixed first: nothing is gained before
BELOW = 0.1  # of the losses of layers above that a neuron widens
ONE_SIDE = 0.7  # of what a code that both copies share would take away


@compiled
def rate_splits(net, work, multipliers, worth, excess, promised, score, at):  # type: ignore[no-untyped-def]
    """What is `promised` of a cut of each variable (0: none), what is hoped of it (`score`) where the bound is too high by `excess`, and the place."""
    _losses(net, work, multipliers)
    _hand_down(net, work)
    fill(promised, 0.0)
    for layer in range(len(net.widths)):
        start = net.starts[layer]
        for k in range(start, start + net.widths[layer]):
            _rate_neuron(net, work, layer, k, promised, at)
    n = net.widths[0]
    weight, apart, curved = work.scratch[0], work.scratch[1], is_curve(bend_of(net, 0))
    for j in range(n):
        weight[j] = work.spread[j] / (work.limits[HIGH, j] - work.limits[LOW, j] + 1e-9) + 1e-9
        width = work.limits[MOST, j] - work.limits[LEAST, j] + 1e-12
        # What a curve loses it loses by the range of its slopes: a narrow difference alone takes little of that away.
        width += work.limits[HIGH, j] - work.limits[LOW, j] if curved else 0.0
        apart[j] = (work.spread[j] + 1e-12) / width
    for f in range(len(net.row)):
        _rate_codes(net, work, f, promised, at)
    for v in range(len(promised)):
        score[v] = promised[v]
        if 0.0 < promised[v] < FIRST:
            score[v] = np.sqrt(
                _hoped(promised[v] * worth[v, 0], excess) * _hoped(promised[v] * worth[v, 1], excess)
            )


@compiled
def _hoped(gain, excess):  # type: ignore[no-untyped-def]
    """More than what is missing is of little use, but the more the surer."""
    return gain / (1.0 + gain / excess) if excess > 0.0 else gain


@compiled
def _losses(net, work, multipliers):  # type: ignore[no-untyped-def]
    """Each polygon's maximum less the value at the mean input."""
    here, there = work.scratch[0], work.scratch[1]
    next_here, next_there = work.scratch[2], work.scratch[3]
    for layer in range(len(net.widths)):
        start, width = net.starts[layer], net.widths[layer]
        bend = bend_of(net, layer)
        for i in range(width):
            k = start + i
            if layer == 0:
                y, other = work.mean[0, i], work.mean[1, i]
            else:
                n = net.widths[layer - 1]
                y = net.biases[layer, i] + dot(net.weights[layer, i], here, n)
                other = net.biases[layer, i] + dot(net.weights[layer, i], there, n)
            next_here[i], next_there[i] = (
                activate(bend, y),
                activate(bend, other),
            )
            reached = work.weigh[0, k] * next_here[i] + work.weigh[1, k] * next_there[i]
            work.loss[k] = max(work.top[k] - reached + multipliers[0, k] * y + multipliers[1, k] * other, 0.0)
        copy_to(here, next_here[:width])
        copy_to(there, next_there[:width])


@compiled
def _hand_down(net, work):  # type: ignore[no-untyped-def]
    """Losses of layers above, added to those below by what widens them."""
    copy_to(work.spread, work.loss)
    share = work.scratch[4]
    for layer in range(len(net.widths) - 1, 0, -1):
        below, width, start = net.starts[layer - 1], net.widths[layer - 1], net.starts[layer]
        bend = bend_of(net, layer - 1)
        extent = work.scratch[5]
        for q in range(width):
            low, high = image(bend, work.limits[LOW, below + q], work.limits[HIGH, below + q])
            extent[q] = high - low
        for i in range(net.widths[layer]):
            loss = work.spread[start + i]
            if loss <= 0.0:
                continue
            for q in range(width):
                share[q] = net.sizes[layer, i, q] * extent[q]
            spread_over = total(share[:width])
            if spread_over > 0.0:
                for q in range(width):
                    work.spread[below + q] += loss * share[q] / spread_over


@compiled
def _rate_neuron(net, work, layer, k, score, at):  # type: ignore[no-untyped-def]
    breaks, slopes = net.breaks[layer], net.slopes[layer]
    promised = work.loss[k] + BELOW * (work.spread[k] - work.loss[k])
    if promised <= 0.0:
        return
    chosen, most = -1, 0.0
    place = len(net.whole) + COPIES * k
    for copy in range(2):
        low, high = work.limits[2 * copy, k], work.limits[2 * copy + 1, k]
        for bend in range(2):
            t = breaks[bend]
            upwards = work.weigh[copy, k] * (slopes[bend + 1] - slopes[bend])
            if low < t < high and upwards > most:
                chosen, most = copy, upwards
                at[place + copy] = t
    if chosen >= 0:
        score[place + chosen] = promised


@compiled
def _rate_codes(net, work, f, score, at):  # type: ignore[no-untyped-def]
    one, two, apart = net.first[f], net.second[f], net.difference[f]
    ranges, weight = work.ranges, work.scratch[0]
    if net.levels[f]:
        score[one], at[one] = _rate_levels(net, work, f, int(ranges[LOW, f]), int(ranges[HIGH, f]))
        if one != two:
            low, high = int(ranges[OTHER_LOW, f]), int(ranges[OTHER_HIGH, f])
            score[two], at[two] = _rate_levels(net, work, f, low, high)
            for v in (one, two):
                if score[v] > 0.0:
                    score[v] += FIRST
        return
    n, slopes = net.widths[0], net.rows[net.row[f]]
    reach = 0.0
    for j in range(n):
        reach += abs(slopes[j]) * weight[j]
    _rate_number(net, one, ranges[LOW, f], ranges[HIGH, f], reach, score, at)
    if one == two:
        return
    score[one] *= ONE_SIDE
    _rate_number(net, two, ranges[OTHER_LOW, f], ranges[OTHER_HIGH, f], ONE_SIDE * reach, score, at)
    if apart >= 0:
        reach = 0.0
        for j in range(n):
            reach += abs(slopes[j]) * work.scratch[1, j]
        _rate_number(net, apart, ranges[LEAST, f], ranges[MOST, f], reach, score, at)


@compiled
def _rate_number(net, variable, low, high, rate, score, at):  # type: ignore[no-untyped-def]
    """A number is cut in the middle."""
    middle = 0.5 * (low + high)
    if net.whole[variable]:
        middle = np.floor(middle)
        can = low <= middle < high
    else:
        can = low < middle < high
    if can:
        score[variable], at[variable] = rate * (high - low), middle


@compiled
def _rate_levels(net, work, f, low, high):  # type: ignore[no-untyped-def]
    """What the spread of the levels from `low` to `high` costs, and after which of them a cut leaves the least of the worse part."""
    if low >= high:
        return 0.0, 0.0
    n, rows, weight = net.widths[0], net.rows[net.row[f] :], work.scratch[0]
    smallest, largest, left = work.scratch[2], work.scratch[3], np.zeros(high - low + 1)
    copy_to(smallest, rows[low, :n])
    copy_to(largest, rows[low, :n])
    for v in range(low + 1, high + 1):
        left[v - low] = _widen(smallest, largest, rows[v], weight, n)
    whole, right, best, place = left[high - low], 0.0, np.inf, low
    copy_to(smallest, rows[high, :n])
    copy_to(largest, rows[high, :n])
    for v in range(high - 1, low - 1, -1):
        # Among cuts that are as good, the one nearest to the middle.
        worse = max(left[v - low], right) + 1e-6 * whole * abs(2 * v + 1 - low - high) / (high - low)
        if worse <= best:
            best, place = worse, v
        right = _widen(smallest, largest, rows[v], weight, n)
    return whole, float(place)


@compiled(fastmath=SUMS)
def _widen(smallest, largest, row, weight, n):  # type: ignore[no-untyped-def]
    """Let one more level into the extents of a feature's contributions; what they cost then."""
    total = 0.0
    for j in range(n):
        smallest[j], largest[j] = min(smallest[j], row[j]), max(largest[j], row[j])
        total += weight[j] * (largest[j] - smallest[j])
    return total
