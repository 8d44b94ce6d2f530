"""Curves: tanh, logistic and elu in float64, as the compiled loops need them in the place of pieces: values, slopes, and the largest A act(y) + C act(y') - a y - c y' of a neuron.

    M(A, a; lo, hi)   the largest A act(y) - a y: at an end, or where act'(y) = a / A on the side of 0 on which A act bends downwards
    D(c, g)           the largest c f - g d over least <= d <= most, f = act(y') - act(y) between r d and R d (slopes) and between two ends

and the maximum is bounded by the least of M + M' (the copies by themselves), M(A + C, a + c) at x plus D(C, c), and M(A + C, a + c) at x' plus D(-A, -a): the certificate's rule (specification, section 15).
"""

import numpy as np

from likewise.compiled import compiled

TANH, LOGISTIC, ELU = 0.0, 1.0, 2.0
KINDS = {"tanh": TANH, "logistic": LOGISTIC, "elu": ELU}
FAR = 1e300


@compiled
def is_curve(bend):  # type: ignore[no-untyped-def]
    """Whether the six numbers of an activation are those of a curve: its first break is no number."""
    return bend[0] != bend[0]


@compiled
def curve_value(kind, alpha, y):  # type: ignore[no-untyped-def]
    """act(y)."""
    if kind == TANH:
        return np.tanh(y)
    if kind == LOGISTIC:
        return 0.5 + 0.5 * np.tanh(0.5 * y)
    return y if y > 0.0 else alpha * np.expm1(y)


@compiled
def curve_slope(kind, alpha, y):  # type: ignore[no-untyped-def]
    """act'(y); at 0 that of y < 0."""
    if kind == ELU:
        return 1.0 if y > 0.0 else alpha * np.exp(y)
    s = curve_value(kind, alpha, y)
    return 1.0 - s * s if kind == TANH else s * (1.0 - s)


@compiled
def curve_image(kind, alpha, low, high):  # type: ignore[no-untyped-def]
    """The smallest and the largest value between two numbers."""
    one, two = curve_value(kind, alpha, low), curve_value(kind, alpha, high)
    smallest, largest = min(one, two), max(one, two)
    if low < 0.0 < high and kind == ELU:
        smallest, largest = min(smallest, 0.0), max(largest, 0.0)
    return smallest, largest


@compiled
def curve_steepness(kind, alpha, low, high):  # type: ignore[no-untyped-def]
    """The smallest and the largest slope between two numbers."""
    one, two = curve_slope(kind, alpha, low), curve_slope(kind, alpha, high)
    flat, steep = min(one, two), max(one, two)
    if low <= 0.0 <= high:
        middle = curve_slope(kind, alpha, 0.0)
        flat, steep = min(flat, middle), max(steep, middle)
        if kind == ELU:
            flat, steep = min(flat, 1.0), max(steep, 1.0)
    return flat, steep


@compiled
def _flat(kind, alpha, slope, left):  # type: ignore[no-untyped-def]
    """Where act has this slope, left of 0 or right of it."""
    sign = -1.0 if left else 1.0
    if kind == ELU:
        return np.log(slope / alpha) if slope * alpha > 0.0 else -FAR
    part = 1.0 - slope * (1.0 if kind == TANH else 4.0)
    if part <= 0.0:
        return 0.0
    if part >= 1.0:
        return sign * FAR
    root = np.sqrt(part)
    found = np.log((1.0 + root) / (1.0 - root)) if root < 1.0 else FAR
    return sign * (0.5 * found if kind == TANH else found)


@compiled
def _largest(kind, alpha, A, a, lo, hi):  # type: ignore[no-untyped-def]
    """M, and the y that attains it."""
    top, best = A * curve_value(kind, alpha, lo) - a * lo, lo
    found = A * curve_value(kind, alpha, hi) - a * hi
    if found > top:
        top, best = found, hi
    if A == 0.0:
        return top, best
    for side in range(2):
        left = side == 0
        low, high = (lo, min(hi, 0.0)) if left else (max(lo, 0.0), hi)
        if low > high:
            continue
        concave = left and A * alpha < 0.0 if kind == ELU else (A < 0.0) == left
        y = min(max(_flat(kind, alpha, a / A, left), low), high) if concave else 0.0
        if concave or low == 0.0 or high == 0.0:
            found = A * curve_value(kind, alpha, y) - a * y
            if lo <= y <= hi and found > top:
                top, best = found, y
    return top, best


@compiled
def _largest_apart(c, g, least, most, flat, steep, down, up):  # type: ignore[no-untyped-def]
    """D, and the d that attains it."""
    end = up if c > 0.0 else down
    top, best = -np.inf, least
    for place in range(5):
        if place == 0:
            d = least
        elif place == 1:
            d = most
        elif place == 2:
            d = 0.0
        else:
            slope = flat if place == 3 else steep
            d = end / slope if slope != 0.0 else np.inf
        if d < least or d > most:
            continue
        f = min(max(flat * d, steep * d), end) if c > 0.0 else max(min(flat * d, steep * d), end)
        if c * f - g * d > top:
            top, best = c * f - g * d, d
    return top, best


@compiled
def curve_maximum(kind, alpha, A, C, a, c, lo, hi, low, high, least, most):  # type: ignore[no-untyped-def]
    """The bound of a neuron, and a y and y' near those that attain it."""
    here, y = _largest(kind, alpha, A, a, lo, hi)
    there, other = _largest(kind, alpha, C, c, low, high)
    top = here + there
    one, two = curve_image(kind, alpha, lo, hi)
    three, four = curve_image(kind, alpha, low, high)
    flat, steep = curve_steepness(kind, alpha, min(lo, low), max(hi, high))
    down = max(min(flat * least, steep * least, flat * most, steep * most), three - two)
    up = min(max(flat * least, steep * least, flat * most, steep * most), four - one)
    here, at = _largest(kind, alpha, A + C, a + c, lo, hi)
    there, apart = _largest_apart(C, c, least, most, flat, steep, down, up)
    if here + there < top:
        top, y, other = here + there, at, min(max(at + apart, low), high)
    here, at = _largest(kind, alpha, A + C, a + c, low, high)
    there, apart = _largest_apart(-A, -a, least, most, flat, steep, down, up)
    if here + there < top:
        top, y, other = here + there, min(max(at - apart, lo), hi), at
    return top, y, other
