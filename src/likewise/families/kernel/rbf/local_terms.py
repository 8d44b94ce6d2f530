"""The terms as seen from one cell: a common Gaussian, and exponentials of linear functions.

In a cell, numeric z_k = m_k + w_k y_k with |y_k| <= 1 and a one-hot axis allows the positions P_k = [lo, hi]; it is
*active* if there is more than one. Then (section 7 of spec/certificate-v1.md)

    F = exp(-gamma R) sum_t C_t exp(L_t),     R = sum w_k^2 y_k^2,     C_t = c_t E_t,
    L_t = k_t + sum over numeric k of l_tk y_k + sum over active k with s_tk in P_k of zeta_k [v_k = s_tk],

    l_tk = -2 gamma w_k (m_k - centre_tk),   k_t = -(sum over active k with s_tk in P_k of zeta_k / 2),
    |L_t| <= h_t = |k_t| + sum |l_tk|,
    E_t = exp(-gamma (rest_t + sum (m_k - centre_tk)^2) - sum over one-hot k of {0, zeta_k / 2, zeta_k}).

The positions of a grouped axis are its groups, what the groups beside its ground have more is part of gamma R (`rise`), and beta_t is in rest_t.

`term_cubics` turns each exp(L_t) into a one-sided cubic in Z = L_t - k_t.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import largest
from likewise.families.kernel.rbf.cubics import REACH_GRID, lower_cubic, upper_cubic
from likewise.families.kernel.rbf.terms import (
    CONTINUOUS,
    NO_GROUND,
    ONE_HOT,
    TABLE,
    WHOLE,
    Floats,
    Ints,
    Terms,
    allowed_groups,
    ground_rise,
    group_at,
    slot_of,
)

MOST_GRID_VALUES = 16  # an axis with at most so many values is maximised over the values themselves


class LocalTerms(NamedTuple):
    """One cell: its numeric axes f, its active one-hot axes i, and the terms t that count in it.

    With two copies (`copies`) every term counts twice: the t of all arrays but `slot` run over 2 M terms then.
    """

    numeric: Ints  # [f] which axis
    hot: Ints  # [i] which axis
    middle: Floats  # [f]
    width: Floats  # [f] half of it, > 0
    grid: Floats  # [f, j] the values of y, if there are few
    gridded: Ints  # [f] how many; 0: all |y| <= 1
    first: Ints  # [i] lowest position
    levels: Ints  # [i] how many positions, or groups
    at: Ints  # [i, position less `first`] its place among them
    rise: Floats  # [i, place] its part of gamma R
    zeta: Floats  # [i]
    load: Floats  # [f, t]  l_tf
    slot: Ints  # [i, t] place of the term's own; `levels` if that is not allowed. The same in all copies
    weight: Floats  # [t] C_t
    offset: Floats  # [t] k_t
    reach: Floats  # [t] h_t


@compiled
def embed_code(terms: Terms, k: int, code: float) -> float:
    """Embedded coordinate of a code on a numeric axis."""
    return float(terms.table[k, int(code)] if terms.kind[k] == TABLE else terms.scale[k] * code)


@compiled
def embedded_interval(terms: Terms, k: int, lo: float, hi: float) -> tuple[float, float]:
    """Middle and half the width of a numeric axis, in its embedded coordinate."""
    low, high = embed_code(terms, k, lo), embed_code(terms, k, hi)
    if terms.kind[k] == TABLE:
        for position in range(int(lo), int(hi) + 1):
            low = min(low, terms.table[k, position])
            high = max(high, terms.table[k, position])
    return 0.5 * (low + high), 0.5 * (high - low)


@compiled
def sort_axes(terms: Terms, lo: Floats, hi: Floats) -> tuple[Ints, Ints]:
    """Numeric axes with some width, and active one-hot axes."""
    axes = len(lo)
    numeric, hot = np.empty(axes, np.int64), np.empty(axes, np.int64)
    numerics, hots = 0, 0
    for k in range(axes):
        if hi[k] > lo[k]:
            if terms.kind[k] == ONE_HOT:
                hot[hots] = k
                hots += allowed_groups(terms, k, lo[k], hi[k])[1] > 1
            elif embedded_interval(terms, k, lo[k], hi[k])[1] > 0.0:
                numeric[numerics] = k
                numerics += 1
    return numeric[:numerics], hot[:hots]


@compiled
def empty_local(numeric: Ints, hot: Ints, most: int, terms: int, copies: int) -> LocalTerms:
    """A cell of these axes with at most so many positions, not yet looked at."""
    return LocalTerms(
        numeric,
        hot,
        np.zeros(len(numeric)),
        np.zeros(len(numeric)),
        np.zeros((len(numeric), MOST_GRID_VALUES)),
        np.zeros(len(numeric), np.int64),
        np.empty(len(hot), np.int64),
        np.empty(len(hot), np.int64),
        np.zeros((len(hot), most), np.int64),
        np.zeros((len(hot), most)),
        np.empty(len(hot)),
        np.empty((len(numeric), copies * terms)),
        np.empty((len(hot), terms), np.int64),
        np.empty(copies * terms),
        np.zeros(copies * terms),
        np.zeros(copies * terms),
    )


@compiled
def most_positions(hot: Ints, lo: Floats, hi: Floats) -> int:
    """The most positions that a cell allows on one of these axes."""
    most = 1
    for k in hot:
        most = max(most, int(hi[k] - lo[k]) + 1)
    return most


@compiled
def load_axes(terms: Terms, lo: Floats, hi: Floats, cell: LocalTerms) -> Floats:
    """Fill in the loads, slots, offsets and reaches of the first copy; returns log E_t."""
    exponent = np.empty(len(terms.rest))
    for t in range(len(exponent)):
        exponent[t] = -terms.gamma * terms.rest[t]
    numerics, hots = 0, 0
    for k in range(len(lo)):
        if terms.kind[k] != ONE_HOT:
            axis = numerics if numerics < len(cell.numeric) and cell.numeric[numerics] == k else -1
            numerics += axis >= 0
            _load_numeric(terms, k, lo[k], hi[k], axis, cell, exponent)
        elif hots < len(cell.hot) and cell.hot[hots] == k:
            _load_one_hot(terms, k, lo[k], hi[k], hots, cell, exponent)
            hots += 1
        else:
            _load_one_group(terms, k, int(lo[k]), exponent)
    for t in range(len(exponent)):
        cell.reach[t] -= cell.offset[t]
    return exponent


@compiled
def localise(terms: Terms, lo: Floats, hi: Floats, coefficients: Floats) -> LocalTerms:
    """See the cell [lo, hi] (codes) from its middle."""
    numeric, hot = sort_axes(terms, lo, hi)
    cell = empty_local(numeric, hot, most_positions(hot, lo, hi), len(coefficients), 1)
    exponent = load_axes(terms, lo, hi, cell)
    for t in range(len(coefficients)):
        cell.weight[t] = coefficients[t] * math.exp(exponent[t])
    return cell


@compiled
def _load_numeric(
    terms: Terms, k: int, lo: float, hi: float, axis: int, cell: LocalTerms, exponent: Floats
) -> None:
    middle, width = embedded_interval(terms, k, lo, hi)
    if axis >= 0:
        cell.middle[axis] = middle
        cell.width[axis] = width
        if terms.kind[k] != CONTINUOUS and hi - lo < MOST_GRID_VALUES:
            cell.gridded[axis] = int(hi - lo) + 1
            for j in range(cell.gridded[axis]):
                cell.grid[axis, j] = (embed_code(terms, k, lo + j) - middle) / width
    centre = terms.centre[k]
    for t in range(len(exponent)):
        away = middle - centre[t]
        exponent[t] -= terms.gamma * away * away
    if axis >= 0:
        load, reach, slope = cell.load[axis], cell.reach, -2.0 * terms.gamma * width
        for t in range(len(exponent)):
            load[t] = slope * (middle - centre[t])
            reach[t] += abs(load[t])


@compiled
def _load_one_group(terms: Terms, k: int, position: int, exponent: Floats) -> None:
    """A one-hot axis on which one position is left, or several that are alike."""
    group, ground, zeta = group_at(terms, k, position), terms.ground[k], terms.zeta[k]
    more = terms.base[k] + (0.5 * zeta if ground not in (NO_GROUND, group) else 0.0)
    for t in range(len(exponent)):
        exponent[t] -= more - (zeta if terms.place[k, t] == group else 0.0)


@compiled
def _load_one_hot(
    terms: Terms, k: int, lo: float, hi: float, axis: int, cell: LocalTerms, exponent: Floats
) -> None:
    first, zeta = int(lo), terms.zeta[k]
    slots, levels = allowed_groups(terms, k, lo, hi)
    cell.first[axis], cell.levels[axis], cell.zeta[axis] = first, levels, zeta
    for position in range(first, int(hi) + 1):
        cell.at[axis, position - first] = slots[group_at(terms, k, position)]
    ground = slot_of(slots, terms.ground[k])
    if ground >= 0:
        for place in range(levels):
            cell.rise[axis, place] = 0.0 if place == ground else 0.5 * zeta
    place, slot, offset = terms.place[k], cell.slot[axis], cell.offset
    more = terms.base[k] + ground_rise(terms, k, slots)
    for t in range(len(exponent)):
        at = slot_of(slots, place[t])
        slot[t] = at if at >= 0 else levels
        offset[t] -= 0.5 * zeta if at >= 0 else 0.0
        exponent[t] -= more - (0.5 * zeta if at >= 0 else 0.0)


@compiled
def farthest_reach(terms: Terms, lo: Floats, hi: Floats) -> float:
    """The largest h_t, of terms with any coefficient."""
    reach = np.zeros(len(terms.rest))
    for k in range(len(lo)):
        if terms.kind[k] != ONE_HOT:
            middle, width = embedded_interval(terms, k, lo[k], hi[k])
            centre, slope = terms.centre[k], 2.0 * terms.gamma * width
            for t in range(len(reach)):
                reach[t] += slope * abs(middle - centre[t])
        elif hi[k] > lo[k]:
            place, half = terms.place[k], 0.5 * terms.zeta[k]
            slots, count = allowed_groups(terms, k, lo[k], hi[k])
            for t in range(len(reach)):
                reach[t] += half if count > 1 and slot_of(slots, place[t]) >= 0 else 0.0
    return largest(reach)


@compiled
def term_cubics(cell: LocalTerms) -> tuple[float, Floats]:
    """C_t p_t(k_t + Z) = q0 + q1 Z + q2 Z^2 + q3 Z^3: the sum of the q0, and q1, q2, q3 as rows [power - 1, t]."""
    constant = 0.0
    shape = np.empty((3, len(cell.weight)))
    for t in range(len(cell.weight)):
        weight, k = cell.weight[t], cell.offset[t]
        # Rounded up as a checker does it: cubics of the very h are better by a little that no checker grants.
        h = math.ceil(cell.reach[t] * REACH_GRID) / REACH_GRID
        p0, p1, p2, p3 = upper_cubic(h) if weight > 0.0 else lower_cubic(h)
        constant += weight * (p0 + k * (p1 + k * (p2 + k * p3)))
        shape[0, t] = weight * (p1 + k * (2.0 * p2 + 3.0 * k * p3))
        shape[1, t] = weight * (p2 + 3.0 * k * p3)
        shape[2, t] = weight * p3
    return constant, shape


@compiled
def code_at(terms: Terms, k: int, lo: float, hi: float, z: float) -> float:
    """The code in [lo, hi] whose embedded coordinate is (nearest to) z."""
    if terms.kind[k] == TABLE:
        best = lo
        for position in range(int(lo), int(hi) + 1):
            if abs(terms.table[k, position] - z) < abs(terms.table[k, int(best)] - z):
                best = float(position)
        return best
    code = z / terms.scale[k]
    if terms.kind[k] == WHOLE:
        code = math.floor(code + 0.5)
    return float(min(max(code, lo), hi))
