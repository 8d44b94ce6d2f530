"""Products with one-hot axes: sums of the terms by position, and where they go (see `majorant`).

A product with one-hot axes is a table over their positions, and a term adds to one entry of it: the one of its own
positions. A term whose own position the cell does not allow adds to a spare entry (slot = levels) that nobody reads,
which saves a branch. What a term adds is a row of numbers, contiguous so that it is added in vector registers:

    q2, q3, q3 l_f (all f)  |  q1, q2 l_f (all f), q3 l_f l_g (all f <= g)
    for i, for pairs i j    |  for i only

The zetas are constant on an axis, so they multiply the sums, not the terms.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from likewise.bounds.rbf.local import Local
from likewise.bounds.rbf.majorant import Majorant
from likewise.bounds.rbf.terms import Floats, Ints


@njit(cache=True)
def term_rows(cell: Local, shape: Floats) -> Floats:
    """Row [t]: what a term adds, as listed above."""
    n, terms = cell.load.shape
    rows = np.empty((terms, 3 + 2 * n + n * (n + 1) // 2))
    for t in range(terms):
        q1, q2, q3 = shape[0, t], shape[1, t], shape[2, t]
        rows[t, 0], rows[t, 1], rows[t, 2 + n] = q2, q3, q1
        at = 3 + 2 * n
        for f in range(n):
            load = cell.load[f, t]
            rows[t, 2 + f], rows[t, 3 + n + f] = q3 * load, q2 * load
            for g in range(f, n):
                rows[t, at] = q3 * load * cell.load[g, t]
                at += 1
    return rows


@njit(cache=True)
def _sum_rows(rows: Floats, keys: Ints, width: int, sums: Floats) -> None:
    """Add the first `width` numbers of each row to the entry of its key."""
    for t in range(len(keys)):
        row, entry = rows[t], sums[keys[t]]
        for c in range(width):
            entry[c] += row[c]


@njit(cache=True)
def add_hot(cell: Local, shape: Floats, to: Majorant) -> None:
    """All products with one-hot axes: i, f i, f g i, i j, f i j, i j k."""
    hots = len(cell.hot)
    if hots == 0:
        return
    rows = term_rows(cell, shape)
    most = to.table.shape[1] + 1
    sums = np.empty((most * most, rows.shape[1]))
    triple = np.empty(most * most * most)
    keys, kept = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    for i in range(hots):
        sums[: cell.levels[i] + 1] = 0.0
        _sum_rows(rows, cell.slot[i], rows.shape[1], sums)
        _add_single(cell, i, sums, to)
        for j in range(i + 1, hots):
            found = _pair_keys(cell, i, j, keys, kept)
            _add_pair(cell, i, j, rows, keys[:found], kept[:found], sums, to)
            for k in range(j + 1, hots):
                size = cell.levels[i] * cell.levels[j] * (cell.levels[k] + 1)
                _sum_triple(cell, k, shape[2], keys[:found], kept[:found], triple[:size])
                _add_triple(cell, i, j, k, triple[:size], to)


@njit(cache=True)
def _add_single(cell: Local, i: int, sums: Floats, to: Majorant) -> None:
    n, count, zeta = len(cell.numeric), cell.levels[i], cell.zeta[i]
    for v in range(count):
        q2, q3, q1 = sums[v, 0], sums[v, 1], sums[v, 2 + n]
        to.table[i, v] += zeta * (q1 + zeta * (q2 + zeta * q3))
    at = 3 + 2 * n
    for f in range(n):
        for v in range(count):
            to.mixed[f, i, v] += zeta * (2.0 * sums[v, 3 + n + f] + 3.0 * zeta * sums[v, 2 + f])
            to.mixed_square[f, i, v] += 3.0 * zeta * sums[v, at]
        at += 1
        for g in range(f + 1, n):
            _add_numeric_pair(f, g, i, 6.0 * zeta * sums[:count, at], to)
            at += 1


@njit(cache=True)
def _add_numeric_pair(f: int, g: int, i: int, amount: Floats, to: Majorant) -> None:
    """f g i: the mean over the positions to G_fg, the distance from it to the table."""
    mean = amount.mean()
    to.cross[f, g] += mean
    total = 0.0
    for v in range(len(amount)):
        size = abs(amount[v] - mean)
        to.table[i, v] += size
        total += size
    to.numeric_loss[f] += total / len(amount)
    to.numeric_loss[g] += total / len(amount)
    to.hot_loss[i] += total / len(amount)


@njit(cache=True)
def _pair_keys(cell: Local, i: int, j: int, keys: Ints, kept: Ints) -> int:
    """The terms whose own positions are allowed on both axes, and the entry of the table that is theirs."""
    rows, columns, found = cell.levels[i], cell.levels[j], 0
    first, second = cell.slot[i], cell.slot[j]
    for t in range(len(first)):
        keys[found] = first[t] * columns + second[t]
        kept[found] = t
        found += int(first[t] < rows and second[t] < columns)
    return found


@njit(cache=True)
def _add_pair(
    cell: Local, i: int, j: int, rows: Floats, keys: Ints, kept: Ints, sums: Floats, to: Majorant
) -> None:
    n, zeta_i, zeta_j = len(cell.numeric), cell.zeta[i], cell.zeta[j]
    size, start = cell.levels[i] * cell.levels[j], to.start[i, j]
    sums[:size, : 2 + n] = 0.0
    for m in range(len(keys)):
        row, entry = rows[kept[m]], sums[keys[m]]
        for c in range(2 + n):
            entry[c] += row[c]
    both = zeta_i * zeta_j
    for cell_key in range(size):
        q2, q3 = sums[cell_key, 0], sums[cell_key, 1]
        to.pair[start + cell_key] += both * (2.0 * q2 + 3.0 * (zeta_i + zeta_j) * q3)
    for f in range(n):
        _add_mixed_pair(cell, f, i, j, 6.0 * both, sums[:size, 2 + f], to)


@njit(cache=True)
def _add_mixed_pair(cell: Local, f: int, i: int, j: int, factor: float, sums: Floats, to: Majorant) -> None:
    """f i j: means over u to N1 of (f, i), then means over v to N1 of (f, j), the size of the rest to pair_ij."""
    rows, columns, start = cell.levels[i], cell.levels[j], to.start[i, j]
    for v in range(rows):
        mean = 0.0
        for u in range(columns):
            mean += sums[v * columns + u]
        mean /= columns
        to.mixed[f, i, v] += factor * mean
        for u in range(columns):
            sums[v * columns + u] -= mean
    total = 0.0
    for u in range(columns):
        mean = 0.0
        for v in range(rows):
            mean += sums[v * columns + u]
        mean /= rows
        to.mixed[f, j, u] += factor * mean
        for v in range(rows):
            size = factor * abs(sums[v * columns + u] - mean)
            to.pair[start + v * columns + u] += size
            total += size
    share = total / (rows * columns)
    to.numeric_loss[f] += share
    to.hot_loss[i] += share
    to.hot_loss[j] += share


@njit(cache=True)
def _sum_triple(cell: Local, k: int, cubes: Floats, keys: Ints, kept: Ints, triple: Floats) -> None:
    """Sums of q3 by the positions on i, j, k; `keys` and `kept` tell those on i and j."""
    layers, slot = cell.levels[k] + 1, cell.slot[k]
    triple[:] = 0.0
    for m in range(len(keys)):
        triple[keys[m] * layers + slot[kept[m]]] += cubes[kept[m]]


@njit(cache=True)
def _add_triple(cell: Local, i: int, j: int, k: int, triple: Floats, to: Majorant) -> None:
    """i j k: means over v to pair_jk, then means over u to pair_ik, the largest rest over w to pair_ij."""
    rows, columns, layers = cell.levels[i], cell.levels[j], cell.levels[k]
    factor = 6.0 * cell.zeta[i] * cell.zeta[j] * cell.zeta[k]
    table = triple.reshape(rows, columns, layers + 1)
    for u in range(columns):
        for w in range(layers):
            mean = 0.0
            for v in range(rows):
                mean += table[v, u, w]
            mean /= rows
            to.pair[to.start[j, k] + u * layers + w] += factor * mean
            for v in range(rows):
                table[v, u, w] -= mean
    highest = 0.0
    for v in range(rows):
        for w in range(layers):
            mean = 0.0
            for u in range(columns):
                mean += table[v, u, w]
            mean /= columns
            to.pair[to.start[i, k] + v * layers + w] += factor * mean
            for u in range(columns):
                table[v, u, w] -= mean
        for u in range(columns):
            most = -np.inf
            for w in range(layers):
                most = max(most, table[v, u, w])
            to.pair[to.start[i, j] + v * columns + u] += factor * most
            highest = max(highest, factor * most)
    to.hot_loss[i] += highest
    to.hot_loss[j] += highest
    to.hot_loss[k] += highest
