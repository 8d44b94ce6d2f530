"""The last step of the majorant: products of two numeric axes, the test against the threshold, and the hints.

Products, with sigma = 1 if G >= 0 else -1 and tau = (e_f - sigma e_g) / 64 (any tau is sound; the closer tau is to
y_f - sigma y_g at the maximiser, the smaller the loss):

    G y_f y_g <= abs(G) ( (y_f^2 + y_g^2) / 2 - tau (y_f - sigma y_g) + tau^2 / 2 ).

F <= U if Phi = max of sum_t C_t p_t(L_t) - Psi(R) <= 0, where Psi(R) <= U exp(gamma R) is linear in R = sum w^2 y^2:

    U >= 0   the tangent at gamma R0 = r / 1024       U exp(gamma R0) (1 + gamma (R - R0))
    U < 0    the secant of [0, R_max]                 U (1 + R (exp(gamma R_max) - 1) / R_max)

Psi goes into the constant, the n2 and the tables of grouped axes with a ground, whose `rise` is part of gamma R, and Phi is a constant plus one-axis maxima of n1 y + n2 y^2 + n3 y^3. Phi is
convex in the e. A few rounds move e towards the maximiser and r towards its R, as Frank and Wolfe would; the best round counts.
"""

from __future__ import annotations

import math

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to, largest, total
from likewise.families.kernel.rbf.local_terms import LocalTerms
from likewise.families.kernel.rbf.majorant import Majorant
from likewise.families.kernel.rbf.terms import Floats, Ints

HINT_STEPS = 64  # e counts 64ths of a half-width
MOST_STEPS = 64
TANGENT_STEPS = 1024  # r counts 1024ths of gamma R
MOST_TANGENT = 2**20
FIRST_TANGENT = 0.4  # share of R_max where the tangent starts: the mean of R / R_max is 1/3 over a cell
FIRST_STRIDE = 0.7  # share of the way to the last maximiser, in the first round


@compiled
def cubic_peak(n1: float, n2: float, n3: float) -> tuple[float, float]:
    """Largest value of n1 y + n2 y^2 + n3 y^3 over abs(y) <= 1, and where it is taken."""
    best, at = n1 + n2 + n3, 1.0
    if n2 - n1 - n3 > best:
        best, at = n2 - n1 - n3, -1.0
    discriminant = n2 * n2 - 3.0 * n3 * n1
    if discriminant <= 0.0:
        return best, at
    # Both roots of n1 + 2 n2 y + 3 n3 y^2 without cancellation.
    root = math.sqrt(discriminant)
    sum_ = -(n2 + root) if n2 >= 0.0 else root - n2
    for over, under in ((n1, sum_), (sum_, 3.0 * n3)):
        if abs(over) < abs(under):
            y = over / under
            value = y * (n1 + y * (n2 + y * n3))
            if value > best:
                best, at = value, y
    return best, at


@compiled
def grid_peak(n1: float, n2: float, n3: float, grid: Floats) -> tuple[float, float]:
    """The same over a few values of y."""
    best, at = -math.inf, 0.0
    for y in grid:
        value = y * (n1 + y * (n2 + y * n3))
        if value > best:
            best, at = value, y
    return best, at


@compiled
def _absorb_products(form: Majorant, e: Ints, linear: Floats, square: Floats) -> float:
    """Copy n1 and n2 with the products of two numeric axes taken into them; returns what goes to the constant."""
    copy_to(linear, form.linear)
    copy_to(square, form.square)
    constant = 0.0
    for f in range(len(e)):
        for g in range(f + 1, len(e)):
            size = abs(form.cross[f, g])
            sign = 1.0 if form.cross[f, g] >= 0.0 else -1.0
            tau = (e[f] - sign * e[g]) / HINT_STEPS
            linear[f] -= size * tau
            linear[g] += sign * size * tau
            square[f] += 0.5 * size
            square[g] += 0.5 * size
            constant += 0.5 * size * tau * tau
    return constant


@compiled
def threshold_line(threshold: float, r: int, most: float) -> tuple[float, float]:
    """Psi as value at R = 0 and slope in gamma R; `most` is gamma R_max."""
    if threshold < 0.0:
        return threshold, threshold * (math.expm1(most) / most if most > 0.0 else 1.0)
    at = r / TANGENT_STEPS
    slope = threshold * math.exp(at)
    return slope * (1.0 - at), slope


@compiled
def _axis_peaks(
    cell: LocalTerms, form: Majorant, linear: Floats, square: Floats, bend: Floats, slope: float, y: Floats
) -> float:
    """Sum of the one-axis maxima; `bend` is gamma w^2, y becomes the maximiser."""
    found = 0.0
    for f in range(len(y)):
        n2 = square[f] - slope * bend[f]
        if cell.gridded[f] > 0:
            peak, y[f] = grid_peak(linear[f], n2, form.cube[f], cell.grid[f, : cell.gridded[f]])
        else:
            peak, y[f] = cubic_peak(linear[f], n2, form.cube[f])
        found += peak
    return found


@compiled
def _table_peaks(cell: LocalTerms, form: Majorant, slope: float) -> tuple[float, float]:
    """Sum of the tables' maxima, and the part of gamma R that they have there."""
    found, risen = 0.0, 0.0
    for i in range(len(cell.hot)):
        best, at = -math.inf, 0
        for v in range(cell.levels[i]):
            value = form.table[i, v] - slope * cell.rise[i, v]
            if value > best:
                best, at = value, v
        found += best
        risen += cell.rise[i, at]
    return found, risen


@compiled
def most_risen(cell: LocalTerms) -> float:
    """The largest part of gamma R that one-hot axes have."""
    found = 0.0
    for i in range(len(cell.hot)):
        found += largest(cell.rise[i, : cell.levels[i]])
    return found


@compiled
def smallest_excess(
    cell: LocalTerms,
    form: Majorant,
    base: float,
    threshold: float,
    bend: Floats,
    rounds: int,
    enough: float,
    e: Ints,
    r: int,
    y: Floats,
) -> tuple[float, int]:
    """Phi for good hints, found from e and r on; stops early once Phi <= enough.

    `base` is the constant, `bend` is gamma w^2. e becomes the best hints, y the maximiser
    there; returned are Phi and the best r.
    """
    n = len(e)
    linear, square, now = np.empty(n), np.empty(n), np.empty(n)
    trial, trial_r = e.copy(), r
    moving, most = np.empty(n), total(bend) + most_risen(cell)
    for f in range(n):
        moving[f] = e[f] / HINT_STEPS
    tangent = r / TANGENT_STEPS
    best, best_r = math.inf, r
    for turn in range(rounds):
        value, slope = threshold_line(threshold, trial_r, most)
        excess = base - value + _absorb_products(form, trial, linear, square)
        excess += _axis_peaks(cell, form, linear, square, bend, slope, now)
        peaks, reached = _table_peaks(cell, form, slope)
        excess += peaks
        if excess < best:
            best, best_r = excess, trial_r
            copy_to(e, trial)
            copy_to(y, now)
            if best <= enough:
                break
        stride = 2.0 * FIRST_STRIDE / (turn + 2.0)
        for f in range(n):
            moving[f] += stride * (now[f] - moving[f])
            reached += bend[f] * now[f] * now[f]
            trial[f] = min(max(round(HINT_STEPS * moving[f]), -MOST_STEPS), MOST_STEPS)
        tangent += FIRST_STRIDE * (reached - tangent)
        trial_r = min(max(round(TANGENT_STEPS * tangent), 0), MOST_TANGENT)
    return best, best_r
