"""Products with one-hot axes: sums of the terms by position, and where they go (see `majorant`).

A product with one-hot axes is a table over their positions, and a term adds to one entry of it: the one of its own
positions. A term whose own position the cell does not allow adds to a spare entry (slot = levels) that nobody reads,
which saves a branch. What a term adds is a row of numbers, contiguous so that it is added in vector registers:

    q2, q3, q3 l_f (all f)  |  q1, q2 l_f (all f), q3 l_f l_g (all f <= g)
    for i, for pairs i j    |  for i only

The zetas are constant on an axis, so they multiply the sums, not the terms. Both copies of a term (`copies`) add to
the same entry, so their rows are added up beforehand.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to, fill
from likewise.families.kernel.rbf.local_terms import LocalTerms
from likewise.families.kernel.rbf.majorant import Majorant
from likewise.families.kernel.rbf.terms import Floats, Ints


@compiled
def term_rows(cell: LocalTerms, shape: Floats) -> Floats:
    """Row [t]: what a term adds, in all its copies, as listed above."""
    n, terms = len(cell.numeric), cell.slot.shape[1]
    rows = np.zeros((terms, 3 + 2 * n + n * (n + 1) // 2))
    for c in range(shape.shape[1]):
        row = rows[c % terms]
        q1, q2, q3 = shape[0, c], shape[1, c], shape[2, c]
        row[0] += q2
        row[1] += q3
        row[2 + n] += q1
        at = 3 + 2 * n
        for f in range(n):
            load = cell.load[f, c]
            row[2 + f] += q3 * load
            row[3 + n + f] += q2 * load
            for g in range(f, n):
                row[at] += q3 * load * cell.load[g, c]
                at += 1
    return rows


@compiled
def _sum_rows_by_key(rows: Floats, keys: Ints, width: int, sums: Floats) -> None:
    """Add the first `width` numbers of each row to the entry of its key."""
    for t in range(len(keys)):
        row, entry = rows[t], sums[keys[t]]
        for c in range(width):
            entry[c] += row[c]


@compiled
def add_one_hot(cell: LocalTerms, shape: Floats, to: Majorant) -> None:
    """All products with one-hot axes: i, f i, f g i, i j, f i j, i j k."""
    hots = len(cell.hot)
    if hots == 0:
        return
    rows = term_rows(cell, shape)
    cubes = np.empty(len(rows))
    copy_to(cubes, rows[:, 1])
    most = to.table.shape[1] + 1
    sums = np.empty((most * most, rows.shape[1]))
    triple = np.empty(most * most * most)
    keys, kept = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    for i in range(hots):
        for v in range(cell.levels[i] + 1):
            fill(sums[v], 0.0)
        _sum_rows_by_key(rows, cell.slot[i], rows.shape[1], sums)
        _add_single(cell, i, sums, to)
        for j in range(i + 1, hots):
            found = _pair_keys(cell, i, j, keys, kept)
            _add_pair(cell, i, j, rows, keys[:found], kept[:found], sums, to)
            for k in range(j + 1, hots):
                size = cell.levels[i] * cell.levels[j] * (cell.levels[k] + 1)
                _sum_triple(cell, k, cubes, keys[:found], kept[:found], triple[:size])
                _add_triple(cell, i, j, k, triple[:size], to)


@compiled
def _add_single(cell: LocalTerms, i: int, sums: Floats, to: Majorant) -> None:
    n, levels, zeta = len(cell.numeric), cell.levels[i], cell.zeta[i]
    for v in range(levels):
        q2, q3, q1 = sums[v, 0], sums[v, 1], sums[v, 2 + n]
        to.table[i, v] += zeta * (q1 + zeta * (q2 + zeta * q3))
    at = 3 + 2 * n
    for f in range(n):
        for v in range(levels):
            to.mixed[i, v, f] += zeta * (2.0 * sums[v, 3 + n + f] + 3.0 * zeta * sums[v, 2 + f])
            to.mixed_square[i, v, f] += 3.0 * zeta * sums[v, at]
        at += 1
        for g in range(f + 1, n):
            _add_numeric_pair(f, g, i, 6.0 * zeta, sums[:levels, at], to)
            at += 1


@compiled
def _add_numeric_pair(f: int, g: int, i: int, factor: float, sums: Floats, to: Majorant) -> None:
    """f g i: the mean over the positions to G_fg, the distance from it to the table."""
    mean = 0.0
    for v in range(len(sums)):
        mean += sums[v]
    mean /= len(sums)
    to.cross[f, g] += factor * mean
    total = 0.0
    for v in range(len(sums)):
        size = factor * abs(sums[v] - mean)
        to.table[i, v] += size
        total += size
    share = total / len(sums)
    to.numeric_loss[f] += share
    to.numeric_loss[g] += share
    to.hot_loss[i] += share


@compiled
def _pair_keys(cell: LocalTerms, i: int, j: int, keys: Ints, kept: Ints) -> int:
    """The terms whose own positions are allowed on both axes, and the entry of the table that is theirs."""
    rows, columns, found = cell.levels[i], cell.levels[j], 0
    first, second = cell.slot[i], cell.slot[j]
    for t in range(len(first)):
        keys[found] = first[t] * columns + second[t]
        kept[found] = t
        found += int(first[t] < rows and second[t] < columns)
    return found


@compiled
def _add_pair(
    cell: LocalTerms, i: int, j: int, rows: Floats, keys: Ints, kept: Ints, sums: Floats, to: Majorant
) -> None:
    n, zeta_i, zeta_j = len(cell.numeric), cell.zeta[i], cell.zeta[j]
    size, start = cell.levels[i] * cell.levels[j], to.start[i, j]
    for key in range(size):
        fill(sums[key, : 2 + n], 0.0)
    for m in range(len(keys)):
        row, entry = rows[kept[m]], sums[keys[m]]
        for c in range(2 + n):
            entry[c] += row[c]
    both = zeta_i * zeta_j
    for key in range(size):
        q2, q3 = sums[key, 0], sums[key, 1]
        to.pair[start + key] += both * (2.0 * q2 + 3.0 * (zeta_i + zeta_j) * q3)
    if n > 0:
        _add_mixed_pairs(cell, i, j, 6.0 * both, sums, to)


@compiled
def _add_mixed_pairs(cell: LocalTerms, i: int, j: int, factor: float, sums: Floats, to: Majorant) -> None:
    """f i j: means over u to N1 of (f, i), then means over v to N1 of (f, j), the size of the rest to pair_ij.

    All f at once, side by side; the sums of f stand in column 2 + f. The rest is the entry less the mean of its row
    less the mean of its column plus the mean of all.
    """
    n, rows, columns, start = len(cell.numeric), cell.levels[i], cell.levels[j], to.start[i, j]
    row, column = _marginal_means(sums, rows, columns, n)
    for f in range(n):
        for v in range(rows):
            to.mixed[i, v, f] += factor * row[v, f]
        for u in range(columns):
            to.mixed[j, u, f] += factor * column[u, f]
    total = np.zeros(n)
    for v in range(rows):
        for u in range(columns):
            size, entry = 0.0, sums[v * columns + u]
            for f in range(n):
                part = abs(entry[2 + f] - row[v, f] - column[u, f])
                total[f] += part
                size += part
            to.pair[start + v * columns + u] += factor * size
    every = 0.0
    for f in range(n):
        part = total[f] * (factor / (rows * columns))
        to.numeric_loss[f] += part
        every += part
    to.hot_loss[i] += every
    to.hot_loss[j] += every


@compiled
def _marginal_means(sums: Floats, rows: int, columns: int, n: int) -> tuple[Floats, Floats]:
    """Means of the rows, and means of the columns once the former are subtracted; of columns 2 to 2 + n of `sums`."""
    row, column, every = np.zeros((rows, n)), np.zeros((columns, n)), np.zeros(n)
    for v in range(rows):
        for u in range(columns):
            entry = sums[v * columns + u]
            for f in range(n):
                row[v, f] += entry[2 + f]
                column[u, f] += entry[2 + f]
    for v in range(rows):
        for f in range(n):
            every[f] += row[v, f] / (rows * columns)
            row[v, f] /= columns
    for u in range(columns):
        for f in range(n):
            column[u, f] = column[u, f] / rows - every[f]
    return row, column


@compiled
def _sum_triple(cell: LocalTerms, k: int, cubes: Floats, keys: Ints, kept: Ints, triple: Floats) -> None:
    """Sums of q3 by the positions on i, j, k; `keys` and `kept` tell those on i and j."""
    layers, slot = cell.levels[k] + 1, cell.slot[k]
    fill(triple, 0.0)
    for m in range(len(keys)):
        triple[keys[m] * layers + slot[kept[m]]] += cubes[kept[m]]


@compiled
def _add_triple(cell: LocalTerms, i: int, j: int, k: int, triple: Floats, to: Majorant) -> None:
    """i j k: means over v to pair_jk, then means over u to pair_ik, the largest rest over w to pair_ij."""
    rows, columns, layers = cell.levels[i], cell.levels[j], cell.levels[k]
    factor = 6.0 * cell.zeta[i] * cell.zeta[j] * cell.zeta[k]
    deep = layers + 1  # the spare entry of k goes through all sums and is never read
    first, second = _layer_means(triple, rows, columns, deep)
    for u in range(columns):
        for w in range(layers):
            to.pair[to.start[j, k] + u * layers + w] += factor * first[u * deep + w]
    highest = 0.0
    for v in range(rows):
        for w in range(layers):
            to.pair[to.start[i, k] + v * layers + w] += factor * second[v * deep + w]
        for u in range(columns):
            most, at = -np.inf, (v * columns + u) * deep
            for w in range(layers):
                most = max(most, triple[at + w] - first[u * deep + w] - second[v * deep + w])
            to.pair[to.start[i, j] + v * columns + u] += factor * most
            highest = max(highest, factor * most)
    to.hot_loss[i] += highest
    to.hot_loss[j] += highest
    to.hot_loss[k] += highest


@compiled
def _layer_means(triple: Floats, rows: int, columns: int, deep: int) -> tuple[Floats, Floats]:
    """Means over v, as [u, w], and means over u once the former are subtracted, as [v, w]; both flat."""
    first, second, every = np.zeros(columns * deep), np.zeros(rows * deep), np.zeros(deep)
    at = 0
    for v in range(rows):
        for u in range(columns):
            for w in range(deep):
                first[u * deep + w] += triple[at]
                second[v * deep + w] += triple[at]
                at += 1
    for u in range(len(first)):
        first[u] /= rows
    for u in range(columns):
        for w in range(deep):
            every[w] += first[u * deep + w] / columns
    for v in range(rows):
        for w in range(deep):
            second[v * deep + w] = second[v * deep + w] / columns - every[w]
    return first, second
