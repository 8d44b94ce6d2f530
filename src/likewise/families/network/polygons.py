"""Polygons: the largest A act(y) + C act(y') - a y - c y' of one neuron, over what is known of its two pre-activations.

    lo <= y <= hi,   lo' <= y' <= hi',   least <= y' - y <= most

For a given y, y' goes from max(lo', y + least) to min(hi', y + most), and the function is piecewise linear in it: largest at an end or at a break of the activation. That maximum
is piecewise linear in y and bends where an end stops following y (lo' - least, hi' - most), passes a break t (t - least, t - most), or y is at a break. So the maximum
over the polygon is at one of these y or at lo or hi: a few comparisons. It is exact for any piecewise linear activation; smooth ones have a bound of their own in this place (`curves`).

An activation with one break t is (slope after - slope before) relu(y - t) + slope before (y - t) + its value at t, so that relu is enough.
"""

import numpy as np

from likewise.compiled import compiled
from likewise.families.network.curves import curve_image, curve_maximum, curve_value, is_curve
from likewise.families.network.pair_network import HIGH, LEAST, LOW, MOST, OTHER_HIGH, OTHER_LOW


@compiled
def close(limits, k):  # type: ignore[no-untyped-def]
    """Sharpen each of the six limits in column k by the others; False where none of y, y' satisfies them, by more than rounding."""
    lo, hi = limits[LOW, k], limits[HIGH, k]
    low, high = limits[OTHER_LOW, k], limits[OTHER_HIGH, k]
    least, most = max(limits[LEAST, k], low - hi), min(limits[MOST, k], high - lo)
    low, high = max(low, lo + least), min(high, hi + most)
    lo, hi = max(lo, low - most), min(hi, high - least)
    slack = 1e-9 * (1.0 + abs(lo) + abs(hi))
    if lo > hi + slack or low > high + slack or least > most + slack:
        return False
    # Limits that cross by no more than rounding are kept on their outer sides.
    limits[LOW, k], limits[HIGH, k] = min(lo, hi), max(lo, hi)
    limits[OTHER_LOW, k], limits[OTHER_HIGH, k] = min(low, high), max(low, high)
    limits[LEAST, k], limits[MOST, k] = min(least, most), max(least, most)
    return True


@compiled
def bend_of(net, layer):  # type: ignore[no-untyped-def]
    """The activation of a layer as six numbers: both breaks, the slopes before, between and after them, the value at the first; of a curve nan, its kind, alpha and nothing."""
    slopes = net.slopes[layer]
    return net.breaks[layer, 0], net.breaks[layer, 1], slopes[0], slopes[1], slopes[2], net.values[layer]


@compiled
def activate(bend, y):  # type: ignore[no-untyped-def]
    """The activation of one number."""
    if is_curve(bend):
        return curve_value(bend[1], bend[2], y)
    t, second, before, between, after, value = bend
    inside = min(y, second) - t
    found = value + between * max(inside, 0.0) + before * min(inside, 0.0)
    if y > second:
        found += after * (y - second)
    return found


@compiled
def image(bend, low, high):  # type: ignore[no-untyped-def]
    """The smallest and the largest value of the activation between two numbers: at an end, or at a break where slopes change their sign."""
    if is_curve(bend):
        return curve_image(bend[1], bend[2], low, high)
    one, two = activate(bend, low), activate(bend, high)
    smallest, largest = min(one, two), max(one, two)
    for t in bend[:2]:
        if low < t < high:
            inside = activate(bend, t)
            smallest, largest = min(smallest, inside), max(largest, inside)
    return smallest, largest


@compiled
def maximum(bend, A, C, a, c, lo, hi, low, high, least, most):  # type: ignore[no-untyped-def]
    """The maximum over the polygon of a neuron, and the y and y' that attain it; `bend` is an activation as `bend_of` has it."""
    t, second, before, between, _, value = bend
    if is_curve(bend):
        return curve_maximum(second, before, A, C, a, c, lo, hi, low, high, least, most)
    if second < np.inf:
        return _of_two_breaks(bend, A, C, a, c, lo, hi, low, high, least, most)
    rise = between - before
    rest, other_rest = a - before * A, c - before * C
    if least == most:
        top, y, other = _of_relu_apart(rise * A, rise * C, rest, other_rest, lo - t, hi - t, least)
    else:
        top, y, other = _of_relu(
            rise * A, rise * C, rest, other_rest, lo - t, hi - t, low - t, high - t, least, most
        )
    return top + (A + C) * value - (a + c) * t, y + t, other + t


@compiled
def _of_relu_apart(A, C, a, c, lo, hi, apart):  # type: ignore[no-untyped-def]
    """y' = y + apart."""
    shift = c * apart
    both = a + c
    top, y = A * max(lo, 0.0) + C * max(lo + apart, 0.0) - both * lo - shift, lo
    found = A * max(hi, 0.0) + C * max(hi + apart, 0.0) - both * hi - shift
    if found > top:
        top, y = found, hi
    if lo < 0.0 < hi:
        found = C * max(apart, 0.0) - shift
        if found > top:
            top, y = found, 0.0
    if lo < -apart < hi:
        found = A * max(-apart, 0.0) + both * apart - shift
        if found > top:
            top, y = found, -apart
    return top, y, y + apart


@compiled(fastmath={"reassoc", "contract"})
def maxima_apart(bend, A, C, a, c, lo, hi, apart, top, y, other, place, found, n):  # type: ignore[no-untyped-def]
    """The maxima of n neurons of one break t with y' = y + apart, at `lo`, `hi`, t or t - apart; their sum. As loops of few arrays each, which become vector instructions."""
    t = bend[0]
    _values_apart(bend, A, C, a, c, apart, lo, top, n)
    for i in range(n):
        y[i] = lo[i]
    _values_apart(bend, A, C, a, c, apart, hi, found, n)
    _keep_higher(top, y, found, hi, n)
    for i in range(n):
        place[i] = min(max(t, lo[i]), hi[i])
    _values_apart(bend, A, C, a, c, apart, place, found, n)
    _keep_higher(top, y, found, place, n)
    for i in range(n):
        place[i] = min(max(t - apart[i], lo[i]), hi[i])
    _values_apart(bend, A, C, a, c, apart, place, found, n)
    _keep_higher(top, y, found, place, n)
    total = 0.0
    for i in range(n):
        other[i] = y[i] + apart[i]
    for i in range(n):
        total += top[i]
    return total


@compiled(fastmath={"reassoc", "contract"})
def _values_apart(bend, A, C, a, c, apart, y, found, n):  # type: ignore[no-untyped-def]
    """A act(y) + C act(y + apart) - a y - c (y + apart) of n neurons."""
    t, before, rise, value = bend[0], bend[2], bend[3] - bend[2], bend[5]
    for i in range(n):
        here = y[i] - t
        there = here + apart[i]
        found[i] = (
            A[i] * (rise * max(here, 0.0) + before * here + value)
            + C[i] * (rise * max(there, 0.0) + before * there + value)
            - a[i] * y[i]
            - c[i] * (y[i] + apart[i])
        )


@compiled
def _keep_higher(top, y, found, place, n):  # type: ignore[no-untyped-def]
    for i in range(n):
        y[i] = place[i] if found[i] > top[i] else y[i]
    for i in range(n):
        top[i] = max(top[i], found[i])


@compiled
def _of_relu(A, C, a, c, lo, hi, low, high, least, most):  # type: ignore[no-untyped-def]
    top, best, other = -np.inf, lo, low
    for place in range(7):
        if place == 0:
            y = lo
        elif place == 1:
            y = hi
        elif place == 2:
            y = low - least
        elif place == 3:
            y = high - most
        elif place == 4:
            y = 0.0
        elif place == 5:
            y = -least
        else:
            y = -most
        if y < lo or y > hi or (place > 1 and y in (lo, hi)):
            continue
        left, right = max(low, y + least), min(high, y + most)
        found, at = C * max(left, 0.0) - c * left, left
        value = C * max(right, 0.0) - c * right
        if value > found:
            found, at = value, right
        if left < 0.0 < right and found < 0.0:
            found, at = 0.0, 0.0
        found += A * max(y, 0.0) - a * y
        if found > top:
            top, best, other = found, y, at
    return top, best, other


@compiled
def _of_two_breaks(bend, A, C, a, c, lo, hi, low, high, least, most):  # type: ignore[no-untyped-def]
    top, best, other = -np.inf, lo, low
    for place in range(10):
        if place == 0:
            y = lo
        elif place == 1:
            y = hi
        elif place == 2:
            y = low - least
        elif place == 3:
            y = high - most
        else:
            t = bend[0] if place % 2 == 0 else bend[1]
            y = t if place < 6 else t - least if place < 8 else t - most
        if y < lo or y > hi:
            continue
        left, right = max(low, y + least), min(high, y + most)
        found, at = -np.inf, left
        for end in range(4):
            z = left if end == 0 else right if end == 1 else bend[0] if end == 2 else bend[1]
            if end > 1 and not left < z < right:
                continue
            reached = C * activate(bend, z) - c * z
            if reached > found:
                found, at = reached, z
        found += A * activate(bend, y) - a * y
        if found > top:
            top, best, other = found, y, at
    return top, best, other
