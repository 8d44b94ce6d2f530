"""Dual: an upper bound of a line over a cell of pairs, by multipliers of the network's equations. ANY multipliers give one.

With a_l, c_l (one a neuron and copy) for the equations of layer l, and A_(l-1) = weights_l^T a_l, C_(l-1) = weights_l^T c_l below the top layer, whose A and C are the objective's,

    max of  A . act(y) + C . act(y') + constant   <=   constant + sum_(l >= 1) (a_l + c_l) . biases_l
                                                     + sum over neurons of  max over its polygon of  A act(y) + C act(y') - a y - c y'          (`polygons`)
                                                     + max over the cell of  a_0 . y_0(x) + c_0 . y_0(x')                                       (feature by feature)

because at every pair the equations hold, and each product with its multiplier is 0. `start` takes multipliers from slopes of linear bounds, of the difference where A and C have opposite
signs; `ascend` improves them by Adam. Since a y + c y' = (a + c) y + c (y' - y), its steps are for a + c in units of the width of y, and for c in units of the width of y' - y.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from likewise.families.network.limits import add, dot
from likewise.families.network.pair_network import HIGH, LEAST, LOW, MOST, OTHER_HIGH, OTHER_LOW
from likewise.families.network.polygons import activate, bend_of, maximum

RATE = 2.0  # of the first step, in units of what there is to win
SLOWEST = 0.02  # of the rate, at the end
PATIENCE = 10  # steps without a better bound before the rate is halved
WINDOW = 20  # steps after which it is asked whether going on is worth it
HOPE = 2.0  # how much faster than so far a bound may fall before it is given up
MEMORY, SQUARES = 0.9, 0.99  # Adam's two averages
FLOOR = 1e-3  # added to the root of the second
TINY = 1e-9  # widths below are not divided by
NARROW = 1e-6  # relative: there is nothing to win by narrower limits, and multipliers of their size would lose digits


class Work(NamedTuple):
    """Room for one cell at a time, by neuron, feature or variable; made once for many cells."""

    limits: np.ndarray  # (6, neurons)
    ranges: np.ndarray  # (6, features)
    scratch: np.ndarray  # (6, widest layer)
    weigh: np.ndarray  # (2, neurons): A and C
    at: np.ndarray  # (2, neurons): the y and y' that attain each polygon's maximum
    top: np.ndarray  # (neurons): those maxima
    input: np.ndarray  # (2, first layer): y_0 and y'_0 where the inputs attain theirs
    mean: np.ndarray  # (2, first layer): the mean of these over the steps
    moments: np.ndarray  # (4, neurons)
    best: np.ndarray  # (2, neurons): the best multipliers so far
    point: np.ndarray  # (variables): the codes that attain the inputs' maximum
    objective: np.ndarray  # (2, widest layer)
    loss: np.ndarray  # (neurons)
    spread: np.ndarray  # (neurons)


@njit(cache=True)
def make_work(net):  # type: ignore[no-untyped-def]
    """Room for a network's cells."""
    neurons, widest, first = net.widths.sum(), net.biases.shape[1], net.widths[0]
    return Work(
        np.zeros((6, neurons)),
        np.zeros((6, len(net.row))),
        np.zeros((6, widest)),
        np.zeros((2, neurons)),
        np.zeros((2, neurons)),
        np.zeros(neurons),
        np.zeros((2, first)),
        np.zeros((2, first)),
        np.zeros((4, neurons)),
        np.zeros((2, neurons)),
        np.zeros(len(net.whole)),
        np.zeros((2, widest)),
        np.zeros(neurons),
        np.zeros(neurons),
    )


@njit(cache=True)
def evaluate(net, work, layers, constant, multipliers):  # type: ignore[no-untyped-def]
    """The bound of the objective in `work` about the first `layers` layers; maxima and what attains them are left in `work`."""
    A, C = work.weigh[0], work.weigh[1]
    a, c = multipliers[0], multipliers[1]
    total = constant
    for layer in range(layers - 1, -1, -1):
        start, width = net.starts[layer], net.widths[layer]
        if layer == layers - 1:
            A[start : start + width] = work.objective[0, :width]
            C[start : start + width] = work.objective[1, :width]
        else:
            _hand_down(net, layer, a, A[start:])
            _hand_down(net, layer, c, C[start:])
        bend, limits = bend_of(net, layer), work.limits
        for i in range(width):
            k = start + i
            top, y, other = maximum(
                bend, A[k], C[k], a[k], c[k],
                limits[LOW, k], limits[HIGH, k], limits[OTHER_LOW, k], limits[OTHER_HIGH, k],
                limits[LEAST, k], limits[MOST, k],
            )  # fmt: skip
            work.top[k], work.at[0, k], work.at[1, k] = top, y, other
            total += top
            if layer > 0:
                total += (a[k] + c[k]) * net.biases[layer, i]
    return total + _inputs(net, work, a, c)


@njit(cache=True)
def _hand_down(net, layer, multipliers, into):  # type: ignore[no-untyped-def]
    """into = weights^T multipliers of the layer above."""
    above, width = net.starts[layer + 1], net.widths[layer]
    into[:width] = 0.0
    for i in range(net.widths[layer + 1]):
        if multipliers[above + i] != 0.0:
            add(multipliers[above + i], net.weights[layer + 1, i], into, width)


@njit(cache=True)
def _inputs(net, work, a, c):  # type: ignore[no-untyped-def]
    """max over the cell of a_0 . y_0(x) + c_0 . y_0(x'), the codes that attain it, and y_0 and y'_0 there."""
    n, ranges, point, both = net.widths[0], work.ranges, work.point, work.scratch[0]
    here, there = work.input[0], work.input[1]
    for j in range(n):
        here[j] = there[j] = net.base[j]
        both[j] = a[j] + c[j]
    total = dot(both, net.base, n)
    for f in range(len(net.row)):
        row, one, two = net.row[f], net.first[f], net.second[f]
        if one == two:
            top, code, at = _highest(net, f, both, ranges[LOW, f], ranges[HIGH, f], n)
            total += top
            point[one] = code
            factor = 1.0 if net.levels[f] else code
            add(factor, net.rows[at], here, n)
            add(factor, net.rows[at], there, n)
        elif net.levels[f]:
            top, code, at = _highest(net, f, a, ranges[LOW, f], ranges[HIGH, f], n)
            total += top
            point[one] = code
            add(1.0, net.rows[at], here, n)
            top, code, at = _highest(net, f, c, ranges[OTHER_LOW, f], ranges[OTHER_HIGH, f], n)
            total += top
            point[two] = code
            add(1.0, net.rows[at], there, n)
        else:
            slopes = net.rows[row]
            top, code, other = _corner(dot(a, slopes, n), dot(c, slopes, n), ranges, f)
            total += top
            point[one], point[two] = code, other
            if net.difference[f] >= 0:
                point[net.difference[f]] = other - code
            add(code, slopes, here, n)
            add(other, slopes, there, n)
    return total


@njit(cache=True)
def _highest(net, f, weights, low, high, n):  # type: ignore[no-untyped-def]
    """The largest weights . contribution of a feature over an interval of codes, the code that attains it and its row."""
    if not net.levels[f]:
        slope = dot(weights, net.rows[net.row[f]], n)
        code = high if slope > 0.0 else low
        return slope * code, code, net.row[f]
    top, best = -np.inf, low
    for v in range(int(low), int(high) + 1):
        found = dot(weights, net.rows[net.row[f] + v], n)
        if found > top:
            top, best = found, float(v)
    return top, best, net.row[f] + int(best)


@njit(cache=True)
def _corner(u, v, ranges, f):  # type: ignore[no-untyped-def]
    """The largest u x + v x' over the polygon of a number's two codes, and the corner."""
    top, code, other = -np.inf, ranges[LOW, f], ranges[OTHER_LOW, f]
    for place in range(4):
        if place == 0:
            x = ranges[LOW, f]
        elif place == 1:
            x = ranges[HIGH, f]
        elif place == 2:
            x = ranges[OTHER_LOW, f] - ranges[LEAST, f]
        else:
            x = ranges[OTHER_HIGH, f] - ranges[MOST, f]
        if x < ranges[LOW, f] or x > ranges[HIGH, f]:
            continue
        y = (
            min(ranges[OTHER_HIGH, f], x + ranges[MOST, f])
            if v > 0.0
            else max(ranges[OTHER_LOW, f], x + ranges[LEAST, f])
        )
        found = u * x + v * y
        if found > top:
            top, code, other = found, x, y
    return top, code, other


@njit(cache=True)
def start(net, work, layers, multipliers):  # type: ignore[no-untyped-def]
    """Multipliers from slopes of linear bounds: chords and tangents, of the difference as far as both copies count alike."""
    A, C = work.weigh[0], work.weigh[1]
    a, c = multipliers[0], multipliers[1]
    for layer in range(layers - 1, -1, -1):
        first, width = net.starts[layer], net.widths[layer]
        if layer == layers - 1:
            A[first : first + width] = work.objective[0, :width]
            C[first : first + width] = work.objective[1, :width]
        else:
            _hand_down(net, layer, a, A[first:])
            _hand_down(net, layer, c, C[first:])
        bend = bend_of(net, layer)
        for k in range(first, first + width):
            limits, here, there, alike = work.limits, A[k], C[k], 0.0
            if here * there < 0.0:
                alike = np.sign(there) * min(abs(here), abs(there))
                slope = alike * _slope_of_difference(bend, alike, limits, k)
                here, there = here + alike, there - alike
                a[k], c[k] = -slope, slope
            else:
                a[k] = c[k] = 0.0
            a[k] += here * _slope(bend, here, limits[LOW, k], limits[HIGH, k])
            c[k] += there * _slope(bend, there, limits[OTHER_LOW, k], limits[OTHER_HIGH, k])


@njit(cache=True)
def _slope(bend, weight, low, high):  # type: ignore[no-untyped-def]
    """Of a line above weight * act(y): a chord where that is convex, else the slope of the longer piece."""
    t, second, before, between, _, _ = bend
    if high - low <= TINY:
        return between if high > t and low < second else before
    chord = (activate(bend, high) - activate(bend, low)) / (high - low)
    if second < np.inf or low >= t or high <= t or weight * (between - before) > 0.0:
        return chord
    return between if high - t > t - low else before


@njit(cache=True)
def _slope_of_difference(bend, weight, limits, k):  # type: ignore[no-untyped-def]
    """Of a line above weight * (act(y') - act(y)) in y' - y, taken to pass between the flattest and the steepest slope at 0."""
    t, second, before, between, _, _ = bend
    low, high = (
        min(limits[LOW, k], limits[OTHER_LOW, k]),
        max(limits[HIGH, k], limits[OTHER_HIGH, k]),
    )
    if high <= t:
        return before
    if low >= t and high <= second:
        return between
    least, most = min(limits[LEAST, k], 0.0), max(limits[MOST, k], 0.0)
    if most - least <= TINY or limits[LEAST, k] == limits[MOST, k]:
        return 0.5 * (before + between)
    share = most / (most - least) if weight > 0.0 else -least / (most - least)
    return before + (between - before) * share


@njit(cache=True)
def ascend(net, work, layers, constant, multipliers, target, steps):  # type: ignore[no-untyped-def]
    """Improve the multipliers in place until the bound is at most the target; the best bound."""
    a, c = multipliers[0], multipliers[1]
    neurons = net.starts[layers - 1] + net.widths[layers - 1]
    work.moments[:] = 0.0
    work.mean[:] = 0.0
    best, first, last = np.inf, 0.0, 0.0
    counted, found_at, pace, decay, square_decay = 0, 0, 1.0, 1.0, 1.0
    loose = 1.0
    for k in range(neurons):
        loose += _bends(net, work, k)
    for step in range(steps):
        bound = evaluate(net, work, layers, constant, multipliers)
        if bound < best:
            best, found_at = bound, step
            work.best[0, :neurons], work.best[1, :neurons] = a[:neurons], c[:neurons]
        if 2 * step >= steps - 1:
            add(1.0, work.input[0], work.mean[0], net.widths[0])
            add(1.0, work.input[1], work.mean[1], net.widths[0])
            counted += 1
        if step == 0:
            first = last = bound
        if best <= target or step == steps - 1:
            break
        if step % WINDOW == WINDOW - 1:
            # At the pace of the last steps, what is left of them would not nearly do: the cell is cut sooner.
            if 2 * step >= steps and best - HOPE * (last - best) * (steps - step) / WINDOW > target:
                break
            last = best
        if step - found_at >= PATIENCE:
            pace *= 0.5
            found_at = step
        rate = RATE / loose * pace * max(first - target, TINY) * max(SLOWEST, 1.0 - step / steps)
        decay *= MEMORY
        square_decay *= SQUARES
        _step(net, work, layers, multipliers, rate, 1.0 - decay, 1.0 - square_decay)
    a[:neurons], c[:neurons] = work.best[0, :neurons], work.best[1, :neurons]
    _average(work, counted, net.widths[0])
    return best


@njit(cache=True)
def _average(work, counted, width):  # type: ignore[no-untyped-def]
    """The mean of the inputs of so many steps, or the last of them."""
    for copy in range(2):
        for j in range(width):
            work.mean[copy, j] = work.mean[copy, j] / counted if counted else work.input[copy, j]


@njit(cache=True)
def _bends(net, work, k):  # type: ignore[no-untyped-def]
    """Whether the activation of neuron k is not linear over its limits, in either copy."""
    layer = 0
    while layer + 1 < len(net.starts) and k >= net.starts[layer + 1]:
        layer += 1
    for t in net.breaks[layer]:
        if work.limits[LOW, k] < t < work.limits[HIGH, k]:
            return True
        if work.limits[OTHER_LOW, k] < t < work.limits[OTHER_HIGH, k]:
            return True
    return False


@njit(cache=True)
def _step(net, work, layers, multipliers, rate, share, square_share):  # type: ignore[no-untyped-def]
    """One step of Adam against how far each equation is from being satisfied by what attains the maxima."""
    for layer in range(layers):
        first, width = net.starts[layer], net.widths[layer]
        here, apart = work.scratch[0], work.scratch[1]
        if layer > 0:
            below, n = net.starts[layer - 1], net.widths[layer - 1]
            bend = bend_of(net, layer - 1)
            for q in range(n):
                here[q] = activate(bend, work.at[0, below + q])
                apart[q] = activate(bend, work.at[1, below + q]) - here[q]
        for i in range(width):
            k = first + i
            y, between = work.at[0, k], work.at[1, k] - work.at[0, k]
            if layer == 0:
                miss = work.input[0, i] - y
                miss_apart = work.input[1, i] - work.input[0, i] - between
            else:
                miss = net.biases[layer, i] + dot(net.weights[layer, i], here, n) - y
                miss_apart = dot(net.weights[layer, i], apart, n) - between
            low, high = work.limits[LOW, k], work.limits[HIGH, k]
            unit, narrow = high - low, NARROW * (1.0 + abs(low) + abs(high))
            if unit > narrow:
                multipliers[0, k] -= _adam(work.moments, 0, k, miss / unit, rate / unit, share, square_share)
            unit = work.limits[MOST, k] - work.limits[LEAST, k]
            if unit > narrow:
                moved = _adam(work.moments, 2, k, miss_apart / unit, rate / unit, share, square_share)
                multipliers[0, k] += moved
                multipliers[1, k] -= moved


@njit(cache=True)
def _adam(moments, row, k, slope, rate, share, square_share):  # type: ignore[no-untyped-def]
    moments[row, k] = MEMORY * moments[row, k] + (1.0 - MEMORY) * slope
    moments[row + 1, k] = SQUARES * moments[row + 1, k] + (1.0 - SQUARES) * slope * slope
    return rate * (moments[row, k] / share) / (np.sqrt(moments[row + 1, k] / square_share) + FLOOR)
