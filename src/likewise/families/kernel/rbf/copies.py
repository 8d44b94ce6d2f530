"""Two copies: cells in which numbers may differ, each term seen from x and from x' (section 7, "two copies").

A *paired* feature has x in [lo, hi], x' in [lo', hi'] and x' - x in [p, q]. With u = (x + x')/2 = u_0 + w_u y_u and
d = (x' - x)/2 = d_0 + w_d y_d, in the embedded coordinate, z_0 = u_0 - d_0 and z'_0 = u_0 + d_0,

    (z - centre)^2   = (z_0 - centre)^2  + 2 (z_0 - centre)  (w_u y_u - w_d y_d) + (w_u y_u)^2 + (w_d y_d)^2 - 2 w_u w_d y_p
    (z' - centre)^2  = (z'_0 - centre)^2 + 2 (z'_0 - centre) (w_u y_u + w_d y_d) + (w_u y_u)^2 + (w_d y_d)^2 + 2 w_u w_d y_p

with y_p = y_u y_d. The squares are common to all terms and to both copies, so u, d and p are numeric axes like any
other, and F = exp(-gamma R) sum_t [ C_t exp(L_t) - C'_t exp(L'_t) ] is bounded by cubics of 2 M linear functions:

    C exp(L) - C' exp(L') = m (exp(L) - exp(L')) + (C - m) exp(L) - (C' - m) exp(L')
                         <= m (P(L) - P(L')) + abs(m) eps g + (C - m) p(L) - (C' - m) p'(L'),       g >= abs(L - L'),

p and p' one-sided cubics, m the smaller of C and C' where they have one sign and both copies are near each other (2 g <= h), else 0.
"""

from __future__ import annotations

import math

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to, fill
from likewise.families.kernel.rbf.cubics import REACH_GRID
from likewise.families.kernel.rbf.local_terms import (
    LocalTerms,
    empty_local,
    load_axes,
    most_positions,
    sort_axes,
)
from likewise.families.kernel.rbf.majorant import Majorant, one_sided_roughness
from likewise.families.kernel.rbf.terms import Floats, Ints, Terms

MIDDLE_AXIS, DIFFERENCE_AXIS, PRODUCT_AXIS = (
    0,
    1,
    2,
)  # the axes of a paired feature, in the order of the hints
EMPTY_TOLERANCE = 1e-12  # relative; an interval that is empty by less than that may hold a point


@compiled
def pair_intervals(
    lo: float, hi: float, lo2: float, hi2: float, low: float, high: float, into: Floats
) -> bool:
    """Middles and half widths of u and d, as (u_0, w_u, d_0, w_d) in codes; False if no pair lies there."""
    low, high = max(low, lo2 - hi), min(high, hi2 - lo)
    left = max(0.5 * (lo + lo2), lo + 0.5 * low, lo2 - 0.5 * high)
    right = min(0.5 * (hi + hi2), hi + 0.5 * high, hi2 - 0.5 * low)
    into[0], into[1] = 0.5 * (left + right), max(0.5 * (right - left), 0.0)
    into[2], into[3] = 0.25 * (low + high), max(0.25 * (high - low), 0.0)
    slack = EMPTY_TOLERANCE * (abs(lo) + abs(hi) + abs(lo2) + abs(hi2))
    return low <= high + slack and left <= right + slack


@compiled
def _paired_axes(terms: Terms, shared: int, pairings: Floats, numeric: Ints) -> Ints:
    """The numeric axes of the cell: those given, and u, d, p of every paired feature where they have a width."""
    axes = np.empty(len(numeric) + 3 * len(pairings), np.int64)
    copy_to(axes, numeric)
    found = len(numeric)
    for j in range(len(pairings)):
        scale = terms.scale[shared + j]
        wide = (pairings[j, 1] * scale > 0.0, pairings[j, 3] * scale > 0.0)
        for axis in (MIDDLE_AXIS, DIFFERENCE_AXIS, PRODUCT_AXIS):
            if wide[0] and wide[1] if axis == PRODUCT_AXIS else wide[axis]:
                axes[found] = shared + 3 * j + axis
                found += 1
    return axes[:found]


@compiled
def localise_copies(
    terms: Terms, shared: int, lo: Floats, hi: Floats, pairings: Floats, here: Floats, there: Floats
) -> LocalTerms:
    """See a cell from its middle: [lo, hi] of the shared axes, and the pairings of those after them.

    `here` and `there` are c_t and c'_t. Axis shared + 3 j + (U, D, P) belongs to the j-th paired feature.
    """
    count = len(here)
    numeric, hot = sort_axes(terms, lo, hi)
    axes = _paired_axes(terms, shared, pairings, numeric)
    cell = empty_local(axes, hot, most_positions(hot, lo, hi), count, 2)
    exponent = load_axes(terms, lo, hi, cell)
    exponent2 = exponent.copy()
    copy_to(cell.offset[count:], cell.offset[:count])
    copy_to(cell.reach[count:], cell.reach[:count])
    for f in range(len(numeric)):
        copy_to(cell.load[f, count:], cell.load[f, :count])
    for j in range(len(pairings)):
        centre = terms.centre[shared + j]
        first, second = (
            terms.scale[shared + j] * (pairings[j, 0] - pairings[j, 2]),
            terms.scale[shared + j] * (pairings[j, 0] + pairings[j, 2]),
        )
        for t in range(count):
            exponent[t] -= terms.gamma * (first - centre[t]) ** 2
            exponent2[t] -= terms.gamma * (second - centre[t]) ** 2
    for f in range(len(numeric), len(cell.numeric)):
        _load_paired(terms, shared, pairings, f, cell)
    for t in range(count):
        cell.weight[t] = here[t] * math.exp(exponent[t])
        cell.weight[count + t] = -there[t] * math.exp(exponent2[t])
    return cell


@compiled
def _load_paired(terms: Terms, shared: int, pairings: Floats, f: int, cell: LocalTerms) -> None:
    """Loads of an axis u, d or p, in both copies; the width of p is left 0, as it adds nothing to R."""
    j, axis = (cell.numeric[f] - shared) // 3, (cell.numeric[f] - shared) % 3
    scale, centre, count = terms.scale[shared + j], terms.centre[shared + j], cell.slot.shape[1]
    u, wide_u = scale * pairings[j, 0], scale * pairings[j, 1]
    d, wide_d = scale * pairings[j, 2], scale * pairings[j, 3]
    load, load2 = cell.load[f, :count], cell.load[f, count:]
    if axis == PRODUCT_AXIS:
        fill(load, 2.0 * terms.gamma * wide_u * wide_d)
        fill(load2, -2.0 * terms.gamma * wide_u * wide_d)
    else:
        cell.middle[f], cell.width[f] = (u, wide_u) if axis == MIDDLE_AXIS else (d, wide_d)
        slope = -2.0 * terms.gamma * cell.width[f]
        sign = 1.0 if axis == MIDDLE_AXIS else -1.0
        for t in range(count):
            load[t] = sign * slope * (u - d - centre[t])
            load2[t] = slope * (u + d - centre[t])
    for t in range(count):
        cell.reach[t] += abs(load[t])
        cell.reach[count + t] += abs(load2[t])


@compiled
def copy_distances(cell: LocalTerms, start: int) -> Floats:
    """g_t; the axes from `start` on are those of paired features."""
    count = cell.slot.shape[1]
    apart = np.zeros(count)
    for f in range(start, len(cell.numeric)):
        load = cell.load[f]
        for t in range(count):
            apart[t] += abs(load[t] - load[count + t])
    return apart


@compiled
def copy_cubics(cell: LocalTerms, apart: Floats, cubics: Floats) -> tuple[float, Floats, Floats]:
    """The cubics of both copies in Z = L - k: their constant with all errors, q1, q2, q3 as rows, and the roughness.

    The roughness of m (P(L) - P(L')) is the derivative of abs(m) eps g in h, with eps like h^3 / 24, counted three
    times as for one-sided cubics.
    """
    count = len(apart)
    constant, shape, roughness = 0.0, np.empty((3, 2 * count)), np.empty(2 * count)
    for t in range(count):
        reach = max(cell.reach[t], cell.reach[count + t])
        both = cubics[math.ceil(reach * REACH_GRID)]
        first, second, middle = cell.weight[t], -cell.weight[count + t], 0.0
        # One score has C and C' of one sign; two (`model.cases`) may not.
        if first * second > 0.0 and 2.0 * apart[t] <= math.ceil(reach * REACH_GRID) / REACH_GRID:
            middle = first if abs(first) < abs(second) else second
        constant += abs(middle) * both[11] * apart[t]
        for c, left, sign in ((t, first - middle, 1.0), (count + t, middle - second, -1.0)):
            own, k = cubics[math.ceil(cell.reach[c] * REACH_GRID)], cell.offset[c]
            side = own[0:4] if left > 0.0 else own[4:8]
            p0 = left * side[0]
            p1 = left * side[1] + sign * middle * both[8]
            p2 = left * side[2] + sign * middle * both[9]
            p3 = left * side[3] + sign * middle * both[10]
            constant += p0 + k * (p1 + k * (p2 + k * p3))
            shape[0, c] = p1 + k * (2.0 * p2 + 3.0 * k * p3)
            shape[1, c] = p2 + 3.0 * k * p3
            shape[2, c] = p3
            roughness[c] = one_sided_roughness(left, cell.reach[c])
            roughness[c] += abs(middle) * 3.0 / 16.0 * reach * reach * apart[t]
    return constant, shape, roughness


@compiled
def move_products(cell: LocalTerms, shared: int, form: Majorant) -> None:
    """n1 of an axis p goes to the product of u and d, which stand right before it: y_p = y_u y_d."""
    for f in range(len(cell.numeric)):
        if cell.numeric[f] >= shared and (cell.numeric[f] - shared) % 3 == PRODUCT_AXIS:
            form.cross[f - 2, f - 1] += form.linear[f]
            form.linear[f] = 0.0
