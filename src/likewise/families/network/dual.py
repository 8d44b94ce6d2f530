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

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to, fill
from likewise.families.network.curves import curve_slope, curve_steepness, is_curve
from likewise.families.network.limits import SUMS, add, dot
from likewise.families.network.pair_network import HIGH, LEAST, LOW, MOST, OTHER_HIGH, OTHER_LOW
from likewise.families.network.polygons import activate, bend_of, maxima_apart, maximum

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
    units: np.ndarray  # (2, neurons): of a + c and of c
    best: np.ndarray  # (2, neurons): the best multipliers so far
    point: np.ndarray  # (variables): the codes that attain the inputs' maximum
    objective: np.ndarray  # (2, widest layer)
    loss: np.ndarray  # (neurons)
    spread: np.ndarray  # (neurons)


@compiled
def make_work(net):  # type: ignore[no-untyped-def]
    """Room for a network's cells."""
    neurons, widest, first = net.starts[-1] + net.widths[-1], net.biases.shape[1], net.widths[0]
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
        np.zeros((2, neurons)),
        np.zeros(len(net.whole)),
        np.zeros((2, widest)),
        np.zeros(neurons),
        np.zeros(neurons),
    )


@compiled
def evaluate(net, work, layers, constant, multipliers):  # type: ignore[no-untyped-def]
    """The bound of the objective in `work` about the first `layers` layers; maxima and what attains them are left in `work`."""
    A, C = work.weigh[0], work.weigh[1]
    a, c = multipliers[0], multipliers[1]
    total = constant
    for layer in range(layers - 1, -1, -1):
        start, width = net.starts[layer], net.widths[layer]
        if layer == layers - 1:
            copy_to(A[start:], work.objective[0, :width])
            copy_to(C[start:], work.objective[1, :width])
        else:
            _hand_down(net, layer, a, A[start:])
            _hand_down(net, layer, c, C[start:])
        bend, limits = bend_of(net, layer), work.limits
        if bend[1] == np.inf and _fixed_apart(limits[LEAST, start:], limits[MOST, start:], width):
            total += maxima_apart(
                bend, A[start:], C[start:], a[start:], c[start:],
                limits[LOW, start:], limits[HIGH, start:], limits[LEAST, start:],
                work.top[start:], work.at[0, start:], work.at[1, start:], work.scratch[0], work.scratch[1], width,
            )  # fmt: skip
        else:
            tops, at, others = work.top, work.at[0], work.at[1]
            for k in range(start, start + width):
                top, y, other = maximum(
                    bend, A[k], C[k], a[k], c[k],
                    limits[LOW, k], limits[HIGH, k], limits[OTHER_LOW, k], limits[OTHER_HIGH, k],
                    limits[LEAST, k], limits[MOST, k],
                )  # fmt: skip
                tops[k], at[k], others[k] = top, y, other
                total += top
        if layer > 0:
            total += dot(a[start:], net.biases[layer], width) + dot(c[start:], net.biases[layer], width)
    return total + _inputs(net, work, a, c)


@compiled
def _fixed_apart(least, most, n):  # type: ignore[no-untyped-def]
    """Whether the difference of y' and y is known, of each of n neurons."""
    unknown = 0
    for i in range(n):
        unknown += least[i] != most[i]
    return unknown == 0


@compiled
def _hand_down(net, layer, multipliers, into):  # type: ignore[no-untyped-def]
    """into = weights^T multipliers of the layer above."""
    above, width = net.starts[layer + 1], net.widths[layer]
    fill(into[:width], 0.0)
    for i in range(net.widths[layer + 1]):
        if multipliers[above + i] != 0.0:
            add(multipliers[above + i], net.weights[layer + 1, i], into, width)


@compiled
def _inputs(net, work, a, c):  # type: ignore[no-untyped-def]
    """max over the cell of a_0 . y_0(x) + c_0 . y_0(x'), the codes that attain it, and y_0 and y'_0 there."""
    n, ranges, point, both = net.widths[0], work.ranges, work.point, work.scratch[0]
    here, there = work.input[0], work.input[1]
    # Fields are looked up once: each lookup counts references.
    base, rows, starts, is_table = net.base, net.rows, net.row, net.levels
    first, second, difference = net.first, net.second, net.difference
    for j in range(n):
        here[j] = there[j] = base[j]
        both[j] = a[j] + c[j]
    total = dot(both, base, n)
    for f in range(len(starts)):
        row, one, two, levels = starts[f], first[f], second[f], is_table[f]
        if one == two:
            top, code, at = _highest(rows, row, levels, both, ranges[LOW, f], ranges[HIGH, f], n)
            total += top
            point[one] = code
            factor = 1.0 if levels else code
            add(factor, rows[at], here, n)
            add(factor, rows[at], there, n)
        elif levels:
            top, code, at = _highest(rows, row, True, a, ranges[LOW, f], ranges[HIGH, f], n)
            total += top
            point[one] = code
            add(1.0, rows[at], here, n)
            top, code, at = _highest(rows, row, True, c, ranges[OTHER_LOW, f], ranges[OTHER_HIGH, f], n)
            total += top
            point[two] = code
            add(1.0, rows[at], there, n)
        else:
            slopes = rows[row]
            top, code, other = _corner(dot(a, slopes, n), dot(c, slopes, n), ranges, f)
            total += top
            point[one], point[two] = code, other
            if difference[f] >= 0:
                point[difference[f]] = other - code
            add(code, slopes, here, n)
            add(other, slopes, there, n)
    return total


@compiled
def _highest(rows, row, levels, weights, low, high, n):  # type: ignore[no-untyped-def]
    """The largest weights . contribution of a feature over an interval of codes, the code that attains it and its row."""
    if not levels:
        slope = dot(weights, rows[row], n)
        code = high if slope > 0.0 else low
        return slope * code, code, row
    top, best = -np.inf, low
    for v in range(int(low), int(high) + 1):
        found = dot(weights, rows[row + v], n)
        if found > top:
            top, best = found, float(v)
    return top, best, row + int(best)


@compiled
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


@compiled
def start(net, work, layers, multipliers):  # type: ignore[no-untyped-def]
    """Multipliers from slopes of linear bounds: chords and tangents, of the difference as far as both copies count alike."""
    A, C = work.weigh[0], work.weigh[1]
    a, c = multipliers[0], multipliers[1]
    for layer in range(layers - 1, -1, -1):
        first, width = net.starts[layer], net.widths[layer]
        if layer == layers - 1:
            copy_to(A[first:], work.objective[0, :width])
            copy_to(C[first:], work.objective[1, :width])
        else:
            _hand_down(net, layer, a, A[first:])
            _hand_down(net, layer, c, C[first:])
        bend = bend_of(net, layer)
        for k in range(first, first + width):
            limits, here, there, alike = work.limits, A[k], C[k], 0.0
            if here * there < 0.0 and not (is_curve(bend) and _better_apart(bend, here, there, limits, k)):
                alike = np.sign(there) * min(abs(here), abs(there))
                slope = alike * _slope_of_difference(bend, alike, limits, k)
                here, there = here + alike, there - alike
                a[k], c[k] = -slope, slope
            else:
                a[k] = c[k] = 0.0
            a[k] += here * _slope(bend, here, limits[LOW, k], limits[HIGH, k])
            c[k] += there * _slope(bend, there, limits[OTHER_LOW, k], limits[OTHER_HIGH, k])


@compiled
def _better_apart(bend, here, there, limits, k):  # type: ignore[no-untyped-def]
    """Whether chords of both copies of a curve leave less than slopes of the difference: what they leave shrinks with the square of a cell."""
    low, high, other_low, other_high = (
        limits[LOW, k],
        limits[HIGH, k],
        limits[OTHER_LOW, k],
        limits[OTHER_HIGH, k],
    )
    flat, steep = curve_steepness(bend[1], bend[2], min(low, other_low), max(high, other_high))
    reach = max(abs(limits[LEAST, k]), abs(limits[MOST, k]))
    left = min(abs(here), abs(there)) * (steep - flat) * reach
    flat, steep = curve_steepness(bend[1], bend[2], low, high)
    by_chords = abs(here) * (steep - flat) * (high - low)
    flat, steep = curve_steepness(bend[1], bend[2], other_low, other_high)
    by_chords += abs(there) * (steep - flat) * (other_high - other_low)
    return by_chords < 4.0 * left


@compiled
def _slope(bend, weight, low, high):  # type: ignore[no-untyped-def]
    """Of a line above weight * act(y): a chord where that is convex, else the slope of the longer piece."""
    t, second, before, between, _, _ = bend
    if high - low <= TINY:
        if is_curve(bend):
            return curve_slope(second, before, low)
        return between if high > t and low < second else before
    chord = (activate(bend, high) - activate(bend, low)) / (high - low)
    if is_curve(bend) or second < np.inf or low >= t or high <= t or weight * (between - before) > 0.0:
        return chord
    return between if high - t > t - low else before


@compiled
def _slope_of_difference(bend, weight, limits, k):  # type: ignore[no-untyped-def]
    """Of a line above weight * (act(y') - act(y)) in y' - y, taken to pass between the flattest and the steepest slope at 0."""
    t, second, before, between, _, _ = bend
    low, high = (
        min(limits[LOW, k], limits[OTHER_LOW, k]),
        max(limits[HIGH, k], limits[OTHER_HIGH, k]),
    )
    if is_curve(bend):
        before, between = curve_steepness(second, before, low, high)
    elif high <= t:
        return before
    elif low >= t and high <= second:
        return between
    least, most = min(limits[LEAST, k], 0.0), max(limits[MOST, k], 0.0)
    if most - least <= TINY or limits[LEAST, k] == limits[MOST, k]:
        return 0.5 * (before + between)
    share = most / (most - least) if weight > 0.0 else -least / (most - least)
    return before + (between - before) * share


@compiled
def ascend(net, work, layers, constant, multipliers, target, steps):  # type: ignore[no-untyped-def]
    """Improve the multipliers in place until the bound is at most the target; the best bound."""
    a, c = multipliers[0], multipliers[1]
    neurons = net.starts[layers - 1] + net.widths[layers - 1]
    for row in range(len(work.moments)):
        fill(work.moments[row], 0.0)
    for copy in range(2):
        fill(work.mean[copy], 0.0)
    best, first, last = np.inf, 0.0, 0.0
    counted, found_at, pace, decay, square_decay = 0, 0, 1.0, 1.0, 1.0
    _measure_units(work.limits, work.units, neurons)
    loose = 1.0
    for layer in range(layers):
        begin, end = net.starts[layer], net.starts[layer] + net.widths[layer]
        loose += _bending(bend_of(net, layer), work.limits, begin, end)
    for step in range(steps):
        bound = evaluate(net, work, layers, constant, multipliers)
        if bound < best:
            best, found_at = bound, step
            copy_to(work.best[0], a[:neurons])
            copy_to(work.best[1], c[:neurons])
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
    copy_to(a, work.best[0, :neurons])
    copy_to(c, work.best[1, :neurons])
    _average(work, counted, net.widths[0])
    return best


@compiled
def _average(work, counted, width):  # type: ignore[no-untyped-def]
    """The mean of the inputs of so many steps, or the last of them."""
    for copy in range(2):
        for j in range(width):
            work.mean[copy, j] = work.mean[copy, j] / counted if counted else work.input[copy, j]


@compiled
def _bending(bend, limits, begin, end):  # type: ignore[no-untyped-def]
    """How many neurons have an activation that is not linear over their limits, in either copy."""
    count = 0
    if is_curve(bend):
        return end - begin
    for k in range(begin, end):
        for t in bend[:2]:
            if limits[LOW, k] < t < limits[HIGH, k] or limits[OTHER_LOW, k] < t < limits[OTHER_HIGH, k]:
                count += 1
                break
    return count


@compiled
def _measure_units(limits, units, neurons):  # type: ignore[no-untyped-def]
    """One over the widths of y and of y' - y, 0 where there is nothing to win."""
    for k in range(neurons):
        low, high = limits[LOW, k], limits[HIGH, k]
        narrow = NARROW * (1.0 + abs(low) + abs(high))
        apart = limits[MOST, k] - limits[LEAST, k]
        units[0, k] = 1.0 / (high - low) if high - low > narrow else 0.0
        units[1, k] = 1.0 / apart if apart > narrow else 0.0


@compiled
def _step(net, work, layers, multipliers, rate, share, square_share):  # type: ignore[no-untyped-def]
    """One step of Adam against how far each equation is from being satisfied by what attains the maxima."""
    miss, miss_apart, moved = work.scratch[2], work.scratch[3], work.scratch[4]
    for layer in range(layers):
        first, width = net.starts[layer], net.widths[layer]
        _misses(net, work, layer, miss, miss_apart)
        a, c = multipliers[0, first:], multipliers[1, first:]
        unit, mean, square = work.units[0, first:], work.moments[0, first:], work.moments[1, first:]
        _move(miss, unit, mean, square, rate, share, square_share, moved, width)
        add(-1.0, moved, a, width)
        unit, mean, square = work.units[1, first:], work.moments[2, first:], work.moments[3, first:]
        if _any(unit, width):
            _move(miss_apart, unit, mean, square, rate, share, square_share, moved, width)
            add(1.0, moved, a, width)
            add(-1.0, moved, c, width)


@compiled
def _any(unit, n):  # type: ignore[no-untyped-def]
    """Whether any of n units is not 0."""
    counted = 0
    for i in range(n):
        counted += unit[i] > 0.0
    return counted > 0


@compiled
def _misses(net, work, layer, miss, miss_apart):  # type: ignore[no-untyped-def]
    """What the equations of a layer are off by, of y and of y' - y."""
    first, width = net.starts[layer], net.widths[layer]
    y, other = work.at[0, first : first + width], work.at[1, first : first + width]
    if layer == 0:
        here, there = work.input[0], work.input[1]
        for i in range(width):
            miss[i] = here[i] - y[i]
        for i in range(width):
            miss_apart[i] = there[i] - other[i] - miss[i]
        return
    here, apart = work.scratch[0], work.scratch[1]
    below, n = net.starts[layer - 1], net.widths[layer - 1]
    bend = bend_of(net, layer - 1)
    for q in range(n):
        here[q] = activate(bend, work.at[0, below + q])
        apart[q] = activate(bend, work.at[1, below + q]) - here[q]
    for i in range(width):
        miss[i] = net.biases[layer, i] + dot(net.weights[layer, i], here, n) - y[i]
        miss_apart[i] = dot(net.weights[layer, i], apart, n) - (other[i] - y[i])


@compiled(fastmath=SUMS, error_model="numpy")
def _move(miss, unit, mean, square, rate, share, square_share, moved, n):  # type: ignore[no-untyped-def]
    """Adam's step of n multipliers. Each loop is of few arrays, so that it is compiled to vector instructions."""
    for i in range(n):
        mean[i] = MEMORY * mean[i] + (1.0 - MEMORY) * (miss[i] * unit[i])
    for i in range(n):
        slope = miss[i] * unit[i]
        square[i] = SQUARES * square[i] + (1.0 - SQUARES) * slope * slope
    rate, root = rate / share, 1.0 / square_share
    for i in range(n):
        moved[i] = rate * mean[i] / (np.sqrt(square[i] * root) + FLOOR)
    for i in range(n):
        moved[i] *= unit[i]
