"""The terms as seen from one cell: a common Gaussian, and exponentials of linear functions.

In a cell, numeric z_k = m_k + w_k y_k with |y_k| <= 1 and a one-hot axis allows the positions P_k = [lo, hi]; it is
*active* if there is more than one. Then (section 7 of spec/certificate-v1.md)

    F = exp(-gamma R) sum_t C_t exp(L_t),     R = sum w_k^2 y_k^2,     C_t = c_t E_t,
    L_t = k_t + sum over numeric k of l_tk y_k + sum over active k with s_tk in P_k of zeta_k [v_k = s_tk],

    l_tk = -2 gamma w_k (m_k - centre_tk),   k_t = -(sum over active k with s_tk in P_k of zeta_k / 2),
    |L_t| <= h_t = |k_t| + sum |l_tk|,
    E_t = exp(-gamma (rest_t + sum (m_k - centre_tk)^2) - sum over one-hot k of {0, zeta_k / 2, zeta_k}).

`term_cubics` turns each exp(L_t) into a one-sided cubic in Z = L_t - k_t.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import largest
from likewise.families.kernel.rbf.cubics import lower_cubic, upper_cubic
from likewise.families.kernel.rbf.terms import CONTINUOUS, ONE_HOT, TABLE, WHOLE, Floats, Ints, Terms

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
    levels: Ints  # [i] how many positions
    zeta: Floats  # [i]
    load: Floats  # [f, t]  l_tf
    slot: Ints  # [i, t] position less `first`; `levels` if the term's own is not allowed. The same in all copies
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
                hots += 1
            elif embedded_interval(terms, k, lo[k], hi[k])[1] > 0.0:
                numeric[numerics] = k
                numerics += 1
    return numeric[:numerics], hot[:hots]


@compiled
def empty_local(numeric: Ints, hot: Ints, terms: int, copies: int) -> LocalTerms:
    """A cell of these axes, not yet looked at."""
    return LocalTerms(
        numeric,
        hot,
        np.zeros(len(numeric)),
        np.zeros(len(numeric)),
        np.zeros((len(numeric), MOST_GRID_VALUES)),
        np.zeros(len(numeric), np.int64),
        np.empty(len(hot), np.int64),
        np.empty(len(hot), np.int64),
        np.empty(len(hot)),
        np.empty((len(numeric), copies * terms)),
        np.empty((len(hot), terms), np.int64),
        np.empty(copies * terms),
        np.zeros(copies * terms),
        np.zeros(copies * terms),
    )


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
        elif hi[k] > lo[k]:
            _load_one_hot(terms, k, lo[k], hi[k], hots, cell, exponent)
            hots += 1
        else:
            for t in range(len(exponent)):
                if terms.place[k, t] != int(lo[k]):
                    exponent[t] -= terms.zeta[k]
    for t in range(len(exponent)):
        cell.reach[t] -= cell.offset[t]
    return exponent


@compiled
def localise(terms: Terms, lo: Floats, hi: Floats, coefficients: Floats) -> LocalTerms:
    """See the cell [lo, hi] (codes) from its middle."""
    numeric, hot = sort_axes(terms, lo, hi)
    cell = empty_local(numeric, hot, len(coefficients), 1)
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
def _load_one_hot(
    terms: Terms, k: int, lo: float, hi: float, axis: int, cell: LocalTerms, exponent: Floats
) -> None:
    first, levels, zeta = int(lo), int(hi - lo) + 1, terms.zeta[k]
    cell.first[axis], cell.levels[axis], cell.zeta[axis] = first, levels, zeta
    place, slot, offset = terms.place[k], cell.slot[axis], cell.offset
    for t in range(len(exponent)):
        at = place[t] - first
        inside = 0 <= at < levels
        slot[t] = at if inside else levels
        offset[t] -= 0.5 * zeta if inside else 0.0
        exponent[t] -= 0.5 * zeta if inside else zeta


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
            place, half, first, last = terms.place[k], 0.5 * terms.zeta[k], int(lo[k]), int(hi[k])
            for t in range(len(reach)):
                reach[t] += half if first <= place[t] <= last else 0.0
    return largest(reach)


@compiled
def term_cubics(cell: LocalTerms) -> tuple[float, Floats]:
    """C_t p_t(k_t + Z) = q0 + q1 Z + q2 Z^2 + q3 Z^3: the sum of the q0, and q1, q2, q3 as rows [power - 1, t]."""
    constant = 0.0
    shape = np.empty((3, len(cell.weight)))
    for t in range(len(cell.weight)):
        weight, k = cell.weight[t], cell.offset[t]
        p0, p1, p2, p3 = upper_cubic(cell.reach[t]) if weight > 0.0 else lower_cubic(cell.reach[t])
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
