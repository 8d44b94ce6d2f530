"""The separable majorant of a polynomial on many cells, compiled: spec/certificate-v1.md, section 8.

For each cell S = a f(x) - b f(x') - T is moved to the cell's middle and scaled to its half widths, so that it is
a polynomial in axes y with |y| <= 1. Every product of axes of two or more groups is bounded by functions of one
group each, and those are maximised: at the places of a group, or over [-1, 1] after powers above the third are
replaced by lower ones.

The hints h = e/64 of products y_f y_l: the bound is convex in h, and at its minimum h is a mean of maximisers y.
So h starts from the first maximiser and is moved towards each new one by steps 2/(k+2); the best is kept.

What a coordinate loses, for choosing where to cut: the sizes of its products with other groups, and what it moves
the part of S by that one lean for the whole cell costs (`_add_tilt`). Without the latter, cells in which both
scores vary by much more than they differ are cut in the wrong places and hardly ever close.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to
from likewise.families.polynomial.tables import EVEN, INSIDE, ONE_ODD, PAIR, Tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

HINT_STEPS = 64  # hints are whole numbers of 1/64
HINTS_TRIED = 8  # hints tried for a cell
ROUNDING_ROOM = (
    2.0**-47
)  # relative to all terms: rounding errors of sums mostly cancel, and the checker has the last word


@compiled
def bound_cells(
    tables: Tables,
    middle: Floats,
    half: Floats,
    place_from: Indices,
    place_count: Indices,
    lean: Floats,
    threshold: Floats,
) -> tuple[Floats, Floats, Floats, Indices, Indices, Floats]:
    """For each cell a bound of S, the room that rounding needs, the maximiser y and its places (by group, -1
    without), the hints e, and what each coordinate loses."""
    cells, count = middle.shape
    groups = len(tables.group_start) - 1
    upper, room = np.empty(cells), np.empty(cells)
    y, loss = np.zeros((cells, count)), np.zeros((cells, count))
    at, e = np.full((cells, groups), -1), np.zeros((cells, count), dtype=np.int64)
    for i in range(cells):
        c = lean[i] * tables.first - (1 - lean[i]) * tables.second
        c[0] -= threshold[i]
        room[i] = ROUNDING_ROOM * _term_mass(tables, c, middle[i], half[i], lean[i])
        centre_and_scale(tables, c, middle[i], half[i])
        upper[i] = _majorant(
            tables, c, middle[i], half[i], place_from[i], place_count[i], room[i], y[i], at[i], e[i], loss[i]
        )
        if lean[i] != 0.5:
            _add_tilt(tables, middle[i], half[i], abs(2 * lean[i] - 1), loss[i])
    return upper, room, y, at, e, loss


@compiled
def _add_tilt(tables: Tables, middle: Floats, half: Floats, tilt: float, loss: Floats) -> None:
    """S = (f - f')/2 + (a - b)(f + f')/2 - T: one lean for the whole cell costs what the second part varies by."""
    c = (tables.first + tables.second) / 2
    centre_and_scale(tables, c, middle, half)
    for n in range(1, len(c)):
        for s in range(tables.axis_start[n], tables.axis_start[n + 1]):
            loss[tables.axis[s]] += tilt * abs(c[n])


@compiled
def _term_mass(tables: Tables, c: Floats, middle: Floats, half: Floats, lean: float) -> float:
    """How large the terms are that are added up: what rounding is relative to."""
    size = np.ones(len(c))
    total: float = abs(c[0])
    for n in range(1, len(c)):
        i = tables.last[n]
        size[n] = size[tables.parent[n]] * (abs(middle[i]) + half[i])
        if tables.first[n] == tables.second[n]:
            total += abs(c[n]) * size[n]  # what both copies share is subtracted without an error
        else:
            total += (lean * abs(tables.first[n]) + (1 - lean) * abs(tables.second[n])) * size[n]
    return total


@compiled
def centre_and_scale(tables: Tables, c: Floats, middle: Floats, half: Floats) -> None:
    """Coefficients of t to coefficients of y, t = middle + half y, in place."""
    for i in range(len(middle)):
        m = middle[i]
        if m != 0:
            for s in range(tables.shift_start[i], tables.shift_start[i + 1]):
                c[tables.shift_to[s]] += m * c[tables.shift_from[s]]
    scale = np.ones(len(c))
    for n in range(1, len(c)):
        scale[n] = scale[tables.parent[n]] * half[tables.last[n]]
        c[n] *= scale[n]


@compiled
def _majorant(
    tables: Tables,
    c: Floats,
    middle: Floats,
    half: Floats,
    place_from: Indices,
    place_count: Indices,
    room: float,
    y: Floats,
    at: Indices,
    e: Indices,
    loss: Floats,
) -> float:
    """The bound; y, at, e and loss are filled in."""
    count, groups = len(middle), len(at)
    linear, square = np.zeros(count), np.zeros(count)
    constant, pairs = _separate(tables, c, linear, square, loss)
    one, two, three = np.zeros(count), np.zeros(count), np.zeros(count)
    plain = np.zeros(groups, dtype=np.bool_)  # numbers with at most cubic functions: few codes need a look
    for g in range(groups):
        f = tables.group_start[g]
        highest = tables.inside_start[g + 1] - tables.inside_start[g]
        plain[g] = tables.level_start[f] < 0 and highest <= 3
        if place_count[g] == 0 or plain[g]:
            constant += _lower_powers(tables, c, g, one, two, three)
    best, now = np.inf, np.zeros(count)
    trial_y, trial_at, trial_e = np.zeros(count), np.full(groups, -1), np.zeros(count, dtype=np.int64)
    for step in range(HINTS_TRIED):
        n1 = linear.copy()
        total = constant + _add_hints(tables, c, pairs, trial_e, n1)
        for g in range(groups):
            f = tables.group_start[g]
            if place_count[g] == 0:
                trial_y[f], value = _cubic_peak(n1[f] + one[f], square[f] + two[f], three[f])
                total += value
            elif plain[g]:
                total += _best_code(
                    n1[f] + one[f], square[f] + two[f], three[f], place_count[g], g, f, trial_y, trial_at
                )
            else:
                total += _best_place(
                    tables, c, g, n1, square, middle, half, place_from[g], place_count[g], trial_y, trial_at
                )
        if total < best or step == 0:
            best = total
            copy_to(y, trial_y)
            copy_to(at, trial_at)
            copy_to(e, trial_e)
        if best + room < 0 or len(pairs) == 0 or not total < np.inf:
            break
        for i in range(count):
            now[i] += (trial_y[i] - now[i]) * 2 / (step + 2)
            trial_e[i] = round(min(max(now[i], -1.0), 1.0) * HINT_STEPS)
    return best


@compiled
def _separate(
    tables: Tables, c: Floats, linear: Floats, square: Floats, loss: Floats
) -> tuple[float, Indices]:
    """Bound all products of several groups; returns the constant, and the pairs that take hints."""
    constant, found = c[0], 0
    pairs = np.empty(len(c), dtype=np.int64)
    for n in range(1, len(c)):
        sort, value = tables.sort[n], c[n]
        if sort == INSIDE or value == 0:
            continue
        start, end = tables.axis_start[n], tables.axis_start[n + 1]
        for s in range(start, end):
            loss[tables.axis[s]] += abs(value)
        if sort == PAIR:
            pairs[found] = n
            found += 1
            square[tables.axis[start]] += abs(value) / 2
            square[tables.axis[start + 1]] += abs(value) / 2
        elif sort == EVEN:
            if value > 0:
                for s in range(start, end):
                    square[tables.axis[s]] += value / (end - start)
        else:
            odd = 0
            for s in range(start, end):
                odd += tables.power[s] % 2
            for s in range(start, end):
                if tables.power[s] % 2:
                    if sort == ONE_ODD:
                        linear[tables.axis[s]] += value / 2
                        constant += abs(value) / 2
                    else:
                        square[tables.axis[s]] += abs(value) / odd
    return constant, pairs[:found]


@compiled
def _lower_powers(tables: Tables, c: Floats, g: int, one: Floats, two: Floats, three: Floats) -> float:
    """The powers of a group of one axis and without places, those above the third lowered; the constant of it."""
    constant = 0.0
    for s in range(tables.inside_start[g], tables.inside_start[g + 1]):
        n = tables.inside[s]
        f, power, value = tables.last[n], tables.power[tables.axis_start[n]], c[n]
        if power == 1:
            one[f] += value
        elif power == 2:
            two[f] += value
        elif power == 3:
            three[f] += value
        elif power % 2 == 0:
            two[f] += max(value, 0.0)
        else:
            one[f] += value / 2
            constant += abs(value) / 2
    return constant


@compiled
def _add_hints(tables: Tables, c: Floats, pairs: Indices, e: Indices, n1: Floats) -> float:
    """What the hints add to the linear parts, and to the constant."""
    constant = 0.0
    for n in pairs:
        f, other = tables.axis[tables.axis_start[n]], tables.axis[tables.axis_start[n] + 1]
        size, sign = abs(c[n]), 1.0 if c[n] >= 0 else -1.0
        tau = (e[f] - sign * e[other]) / HINT_STEPS
        n1[f] -= size * tau
        n1[other] += size * tau * sign
        constant += size * tau * tau / 2
    return constant


@compiled
def _best_place(
    tables: Tables,
    c: Floats,
    g: int,
    n1: Floats,
    square: Floats,
    middle: Floats,
    half: Floats,
    start: int,
    count: int,
    y: Floats,
    at: Indices,
) -> float:
    """The largest value of a group's function at its places; its y and place are filled in."""
    best, low, high = -np.inf, tables.group_start[g], tables.group_start[g + 1]
    values = np.zeros(high - low)
    for place in range(count):
        total = 0.0
        for f in range(low, high):
            values[f - low] = _place_value(tables, f, middle[f], half[f], start, place, count)
            total += n1[f] * values[f - low] + square[f] * values[f - low] ** 2
        for s in range(tables.inside_start[g], tables.inside_start[g + 1]):
            n = tables.inside[s]
            product = c[n]
            for a in range(tables.axis_start[n], tables.axis_start[n + 1]):
                product *= values[tables.axis[a] - low] ** tables.power[a]
            total += product
        if total > best or place == 0:
            best = total
            at[g] = place
            copy_to(y[low:high], values)
    return best


@compiled
def _best_code(n1: float, n2: float, n3: float, count: int, g: int, f: int, y: Floats, at: Indices) -> float:
    """The same for n1 y + n2 y^2 + n3 y^3 of a number: at an end, or beside the cubic's own maximum, on either
    side of which it falls."""
    best = -np.inf
    where, _ = _cubic_peak(n1, n2, n3)
    near = min(max(int((where + 1) / 2 * (count - 1)), 0), count - 1)
    for place in (0, count - 1, near, min(near + 1, count - 1)):
        here = -1.0 + 2.0 * place / (count - 1) if count > 1 else 0.0
        value = ((n3 * here + n2) * here + n1) * here
        if value > best:
            best = value
            y[f], at[g] = here, place
    return best


@compiled
def _place_value(
    tables: Tables, f: int, middle: float, half: float, start: int, place: int, count: int
) -> float:
    """y of coordinate f at a place: a level's own, or a number's, whose codes are evenly spaced."""
    if tables.level_start[f] < 0:
        return -1.0 + 2.0 * place / (count - 1) if count > 1 else 0.0
    if half == 0:
        return 0.0
    y: float = (tables.levels[tables.level_start[f] + start + place] - middle) / half
    return y


@compiled
def _cubic_peak(n1: float, n2: float, n3: float) -> tuple[float, float]:
    """Where n1 y + n2 y^2 + n3 y^3 is largest on [-1, 1], and that value."""
    where, best = -1.0, -n1 + n2 - n3
    if n1 + n2 + n3 > best:
        where, best = 1.0, n1 + n2 + n3
    # Roots of the derivative n1 + 2 n2 y + 3 n3 y^2, in the two forms that do not cancel.
    inner = n2 * n2 - 3 * n1 * n3
    if inner >= 0:
        sum_ = -n2 - math.copysign(math.sqrt(inner), n2)
        for top, bottom in ((sum_, 3 * n3), (n1, sum_)):
            if abs(top) < abs(bottom):
                root = top / bottom
                value = ((n3 * root + n2) * root + n1) * root
                if value > best:
                    where, best = root, value
    return where, best
