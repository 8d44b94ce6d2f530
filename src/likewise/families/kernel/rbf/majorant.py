"""A sum of cubics of linear functions, multiplied out and bounded by one function an axis.

    sum_t q1 Z_t + q2 Z_t^2 + q3 Z_t^3,     Z_t = sum over numeric f of l_tf y_f + sum over one-hot i of zeta_i [v_i = s_ti]

Each product of two or three axes has ONE coefficient (or one table over positions) once the terms are summed, so
cancellation between terms happens before anything is bounded. Where the products go is the table of section 7 of
spec/certificate-v1.md; (f, g, o) are numeric and (i, j, k) one-hot axes:

    f, i           stay as they are: n1, n2, n3 and table_i
    f g            `cross`, bounded later, with hints (see `excess`)
    f f g          y_f^2 lies within 1/2 of 1/2
    f g o          abs(y_f y_g y_o) is at most the mean of the squares
    f i, f g i     means over positions to the numeric axes, what is left to table_i  (`hot.py`: sums by position)
    f i j, i j k   means to the smaller products, what is left to pair_ij
    i j            pair_ij, in the end eliminated: half of the larger sums to each of the two tables

`loss` estimates what each axis costs: the size of the products that it takes part in and that were not kept
exactly. It only steers the branching.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import fill, total
from likewise.families.kernel.rbf.local_terms import LocalTerms
from likewise.families.kernel.rbf.terms import Floats, Ints


class Majorant(NamedTuple):
    """Where the products have gone so far; f numeric axes, i one-hot axes, v positions of the cell, from 0."""

    constant: Floats  # [0]
    linear: Floats  # [f] n1
    square: Floats  # [f] n2
    cube: Floats  # [f] n3
    cross: Floats  # [f, g], f < g: G
    table: Floats  # [i, v]
    pair: Floats  # flat: pair_ij[v, u] at start[i, j] + v * levels_j + u
    start: Ints  # [i, j], i < j
    mixed: Floats  # [i, v, f] N1
    mixed_square: Floats  # [i, v, f] N2
    numeric_loss: Floats  # [f]
    hot_loss: Floats  # [i]


@compiled
def empty_majorant(cell: LocalTerms) -> Majorant:
    """Nothing yet: all zero."""
    numerics, hots = len(cell.numeric), len(cell.hot)
    start = np.zeros((hots, hots), np.int64)
    size, most = 0, 1
    for i in range(hots):
        most = max(most, cell.levels[i])
        for j in range(i + 1, hots):
            start[i, j] = size
            size += cell.levels[i] * cell.levels[j]
    return Majorant(
        np.zeros(1),
        np.zeros(numerics),
        np.zeros(numerics),
        np.zeros(numerics),
        np.zeros((numerics, numerics)),
        np.zeros((hots, most)),
        np.zeros(size),
        start,
        np.zeros((hots, most, numerics)),
        np.zeros((hots, most, numerics)),
        np.zeros(numerics),
        np.zeros(hots),
    )


# Sums may be reordered: that is a matter of the last bits, and lets them run in vector registers.
@compiled(fastmath={"reassoc", "contract"})
def _dot(a: Floats, b: Floats) -> float:
    found = 0.0
    for t in range(len(a)):
        found += a[t] * b[t]
    return found


@compiled(fastmath={"reassoc", "contract"})
def _dot_keeping_products(a: Floats, b: Floats, c: Floats, into: Floats) -> float:
    """Sum of a b c, the products a b kept in `into`."""
    found = 0.0
    for t in range(len(a)):
        into[t] = a[t] * b[t]
        found += into[t] * c[t]
    return found


@compiled
def add_numeric(cell: LocalTerms, shape: Floats, to: Majorant) -> None:
    """Products of numeric axes alone: f, f g, f f g, f g o."""
    numerics, terms = cell.load.shape
    one, two, three, both = np.empty(terms), np.empty(terms), np.empty(terms), np.empty(terms)
    for f in range(numerics):
        first = cell.load[f]
        to.linear[f] += _dot(shape[0], first)
        to.square[f] += _dot_keeping_products(shape[1], first, first, two)
        _dot_keeping_products(shape[2], first, first, three)
        to.cube[f] += _dot_keeping_products(three, first, first, one)
        for g in range(f + 1, numerics):
            second = cell.load[g]
            to.cross[f, g] += 2.0 * _dot(two, second)
            _dot_keeping_products(three, second, second, both)
            _add_square_times(3.0 * _dot(one, second), f, g, to)
            _add_square_times(3.0 * _dot(both, second), g, f, to)
            for o in range(g + 1, numerics):
                _add_numeric_triple(6.0 * _dot(both, cell.load[o]), f, g, o, to)


@compiled
def _add_square_times(amount: float, f: int, g: int, to: Majorant) -> None:
    """amount y_f^2 y_g <= amount y_g / 2 + abs(amount) / 2."""
    half = 0.5 * abs(amount)
    to.linear[g] += 0.5 * amount
    to.constant[0] += half
    to.numeric_loss[f] += half
    to.numeric_loss[g] += half


@compiled
def _add_numeric_triple(amount: float, f: int, g: int, o: int, to: Majorant) -> None:
    """amount y_f y_g y_o <= abs(amount) (y_f^2 + y_g^2 + y_o^2) / 3."""
    size = abs(amount)
    for axis in (f, g, o):
        to.square[axis] += size / 3.0
        to.numeric_loss[axis] += size


@compiled
def parabola_peak(linear: float, square: float) -> float:
    """Max over abs(y) <= 1 of linear y + square y^2."""
    if square < 0.0 and abs(linear) < -2.0 * square:
        return -0.25 * linear * linear / square
    return abs(linear) + square


@compiled
def absorb_mixed(cell: LocalTerms, to: Majorant) -> None:
    """f i: means over the positions to the numeric axis, the largest rest to the table."""
    for i in range(len(cell.hot)):
        levels = cell.levels[i]
        for f in range(len(cell.numeric)):
            linear, square = to.mixed[i, :levels, f], to.mixed_square[i, :levels, f]
            mean, mean_square = total(linear) / levels, total(square) / levels
            to.linear[f] += mean
            to.square[f] += mean_square
            sizes = 0.0
            for v in range(levels):
                most = parabola_peak(linear[v] - mean, square[v] - mean_square)
                to.table[i, v] += most
                sizes += most
            to.numeric_loss[f] += sizes / levels
            to.hot_loss[i] += sizes / levels


@compiled
def eliminate_pairs(cell: LocalTerms, to: Majorant) -> None:
    """i j: with S = pair_ij + table_i + table_j, half of max_u S to table_i and half of max_v S to table_j."""
    most = to.table.shape[1]
    row, column = np.empty(most), np.empty(most)
    for i in range(len(cell.hot)):
        for j in range(i + 1, len(cell.hot)):
            rows, columns, at = cell.levels[i], cell.levels[j], to.start[i, j]
            fill(row[:rows], -np.inf)
            fill(column[:columns], -np.inf)
            low, high = np.inf, -np.inf
            for v in range(rows):
                for u in range(columns):
                    amount = to.pair[at]
                    at += 1
                    low, high = min(low, amount), max(high, amount)
                    whole = amount + to.table[i, v] + to.table[j, u]
                    row[v], column[u] = max(row[v], whole), max(column[u], whole)
            for v in range(rows):
                to.table[i, v] = 0.5 * row[v]
            for u in range(columns):
                to.table[j, u] = 0.5 * column[u]
            to.hot_loss[i] += 0.5 * (high - low)
            to.hot_loss[j] += 0.5 * (high - low)


@compiled
def one_sided_roughness(weight: float, reach: float) -> float:
    """What a one-sided cubic loses as its reach grows: like abs(C) h^4.

    The derivative of its largest error, h^4 / 192, counted three times: measured, that needs the fewest cells.
    """
    return abs(weight) * reach**3 / 16.0


@compiled
def add_curvature_loss(cell: LocalTerms, roughness: Floats, to: Majorant) -> None:
    """What the cubics themselves lose, by term, shared by the axes as they share h."""
    terms = cell.slot.shape[1]
    for f in range(len(cell.numeric)):
        for t in range(len(roughness)):
            to.numeric_loss[f] += roughness[t] * abs(cell.load[f, t])
    for i in range(len(cell.hot)):
        for t in range(len(roughness)):
            if cell.slot[i, t % terms] < cell.levels[i]:
                to.hot_loss[i] += roughness[t] * 0.5 * cell.zeta[i]
