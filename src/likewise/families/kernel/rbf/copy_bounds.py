"""Bounds of many cells of two copies: as in `oracle`, for cells in which numbers may differ.

The axes of `terms` are the shared ones, then the *paired* ones: numbers that may differ. A cell has an interval for
each axis at x, the same at x' where the axis is shared, and one for each difference x' - x of a paired axis. What
comes back has three columns for each paired axis where it speaks of axes (u, d, p of `copies`): `loss` and `e`.
`point` has the shared codes, then x, then x', of the paired axes, and `cut` the shared axes only.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to, fill, largest, total
from likewise.families.kernel.rbf.cell_bounds import (
    FARTHEST_REACH,
    MOST_ROUNDS,
    NO_HINT,
    CellBounds,
    bends,
    build_majorant,
    close_by_chords,
    count_loose,
    numeric_loss,
    optimise_hints,
    report_hot,
    report_numeric,
    room_for_rounding,
)
from likewise.families.kernel.rbf.coarse import coarse_bound_copies
from likewise.families.kernel.rbf.copies import (
    PRODUCT_AXIS,
    copy_cubics,
    copy_distances,
    localise_copies,
    move_products,
    pair_intervals,
)
from likewise.families.kernel.rbf.cubics import cubic_table
from likewise.families.kernel.rbf.cuts import middle_cut
from likewise.families.kernel.rbf.excess import most_risen
from likewise.families.kernel.rbf.local_terms import LocalTerms
from likewise.families.kernel.rbf.majorant import Majorant, add_curvature_loss
from likewise.families.kernel.rbf.terms import WHOLE, Floats, Ints, Terms


class Boxes(NamedTuple):
    """Cells: lo and hi by cell and axis for x; of the paired axes for x' and for x' - x."""

    lo: Floats
    hi: Floats
    second_lo: Floats
    second_hi: Floats
    low: Floats
    high: Floats


def bound_copies(
    terms: Terms,
    boxes: Boxes,
    *,
    here: Floats,
    there: Floats,
    threshold: Floats,
    row: Ints,
    size: Floats | None = None,
    e: Ints | None = None,
    r: Ints | None = None,
    rounds: int = MOST_ROUNDS,
) -> CellBounds:
    """Bound each cell against its threshold, with c_t = here[row] and c'_t = there[row]; `size`, by row, is the sum of the absolute values of all coefficients, before what is fixed made them smaller."""
    cells, axes = boxes.lo.shape
    paired = boxes.low.shape[1]
    shared = axes - paired
    found = CellBounds(
        excess=np.empty(cells),
        upper=np.empty(cells),
        point=np.empty((cells, axes + paired)),
        loss=np.zeros((cells, shared + 3 * paired)),
        cut=np.empty((cells, shared)),
        e=np.zeros((cells, shared + 3 * paired), dtype=np.int64) if e is None else e.astype(np.int64),
        r=np.full(cells, NO_HINT, dtype=np.int64) if r is None else r.astype(np.int64),
        width=np.full(cells, NO_HINT, dtype=np.int64),
    )
    sizes = np.abs(here).sum(axis=1) + np.abs(there).sum(axis=1) if size is None else size
    _bound_each(
        terms,
        Boxes(*(np.ascontiguousarray(part, dtype=np.float64) for part in boxes)),
        np.ascontiguousarray(here, dtype=np.float64),
        np.ascontiguousarray(there, dtype=np.float64),
        np.ascontiguousarray(threshold, dtype=np.float64),
        row.astype(np.int64),
        np.ascontiguousarray(sizes, dtype=np.float64),
        rounds,
        _cubic_table(),
        found,
    )
    return found


@cache
def _cubic_table() -> Floats:
    """The table of cubics, made once: it depends on nothing."""
    return cubic_table(FARTHEST_REACH)


@compiled
def _bound_each(
    terms: Terms,
    boxes: Boxes,
    here: Floats,
    there: Floats,
    threshold: Floats,
    rows: Ints,
    sizes: Floats,
    rounds: int,
    cubics: Floats,
    found: CellBounds,
) -> None:
    for n in range(len(threshold)):
        row = rows[n]
        _bound_cell(terms, boxes, here[row], there[row], threshold[n], sizes[row], rounds, cubics, n, found)


@compiled
def _bound_cell(
    terms: Terms,
    boxes: Boxes,
    here: Floats,
    there: Floats,
    threshold: float,
    size: float,
    rounds: int,
    cubics: Floats,
    n: int,
    found: CellBounds,
) -> None:
    shared = boxes.lo.shape[1] - boxes.low.shape[1]
    lo, hi = boxes.lo[n, :shared], boxes.hi[n, :shared]
    pairings = np.empty((boxes.low.shape[1], 4))
    box = _pair_box(boxes, n)
    for k in range(shared):
        found.cut[n, k] = middle_cut(terms.kind[k], lo[k], hi[k])
    if not _pair_axes(boxes, n, pairings):
        found.excess[n], found.upper[n], found.r[n] = -math.inf, -math.inf, 0
        fill(found.e[n], 0)
        copy_to(found.point[n], box[0])
        copy_to(found.point[n, box.shape[1] :], box[2, shared:])
        return
    limits = np.empty((len(pairings), 2))
    for j in range(len(pairings)):
        limits[j, 0], limits[j, 1] = boxes.low[n, j], boxes.high[n, j]
    coarse, coarse_room, width = coarse_bound_copies(
        terms, shared, box, limits, here, there, size, found.point[n], found.loss[n]
    )
    if close_by_chords(coarse, coarse_room, width, threshold, 0.0, n, found):
        return
    cell = localise_copies(terms, shared, lo, hi, pairings, here, there)
    farthest = largest(cell.reach)
    if close_by_chords(coarse, coarse_room, width, threshold, farthest, n, found):
        return
    apart = copy_distances(cell, _first_paired(cell, shared))
    constant, shape, roughness = copy_cubics(cell, apart, cubics)
    form = build_majorant(cell, constant, shape)
    move_products(cell, shared, form)
    bend = bends(terms.gamma, cell)
    room = room_for_rounding(cell, farthest, count_loose(lo, hi) + 3 * len(pairings))
    y = np.zeros(len(cell.numeric))
    excess = room + optimise_hints(cell, form, threshold, bend, rounds, room, n, y, found)
    found.excess[n] = excess
    add_curvature_loss(cell, roughness, form)
    _report_axes(terms, shared, box, cell, form, pairings, y, n, found)
    if excess <= 0.0:
        found.upper[n] = threshold + excess * math.exp(-total(bend) - most_risen(cell))
        return
    found.upper[n] = min(coarse, threshold + excess)


@compiled
def _pair_box(boxes: Boxes, n: int) -> Floats:
    """Rows lo, hi of x and lo, hi of x', cut down to what the differences allow."""
    axes, paired = boxes.lo.shape[1], boxes.low.shape[1]
    box = np.empty((4, axes))
    for k in range(axes):
        box[0, k] = box[2, k] = boxes.lo[n, k]
        box[1, k] = box[3, k] = boxes.hi[n, k]
    for j in range(paired):
        k, lo2, hi2 = axes - paired + j, boxes.second_lo[n, j], boxes.second_hi[n, j]
        low, high = boxes.low[n, j], boxes.high[n, j]
        box[0, k] = min(max(boxes.lo[n, k], lo2 - high), boxes.hi[n, k])
        box[1, k] = max(min(boxes.hi[n, k], hi2 - low), box[0, k])
        box[2, k] = min(max(lo2, boxes.lo[n, k] + low), hi2)
        box[3, k] = max(min(hi2, boxes.hi[n, k] + high), box[2, k])
    return box


@compiled
def _pair_axes(boxes: Boxes, n: int, pairings: Floats) -> bool:
    """u and d of all paired axes; False if one of them allows no pair."""
    paired = len(pairings)
    shared = boxes.lo.shape[1] - paired
    for j in range(paired):
        x = boxes.lo[n, shared + j], boxes.hi[n, shared + j]
        other = boxes.second_lo[n, j], boxes.second_hi[n, j]
        if not pair_intervals(x[0], x[1], other[0], other[1], boxes.low[n, j], boxes.high[n, j], pairings[j]):
            return False
    return True


@compiled
def _first_paired(cell: LocalTerms, shared: int) -> int:
    """Where the axes of paired features begin."""
    for f in range(len(cell.numeric)):
        if cell.numeric[f] >= shared:
            return f
    return len(cell.numeric)


@compiled
def _report_axes(
    terms: Terms,
    shared: int,
    box: Floats,
    cell: LocalTerms,
    form: Majorant,
    pairings: Floats,
    y: Floats,
    n: int,
    found: CellBounds,
) -> None:
    """Point, losses and cuts; where the relaxation is attained, the paired codes are u - d and u + d."""
    fill(found.loss[n], 0.0)
    for k in range(shared):
        found.point[n, k] = box[0, k]
    at = np.empty((len(pairings), 2))
    for j in range(len(pairings)):
        at[j, 0], at[j, 1] = pairings[j, 0], pairings[j, 2]
    for f in range(len(cell.numeric)):
        if cell.numeric[f] < shared:
            report_numeric(terms, box[0], box[1], cell, form, f, y[f], n, found)
            continue
        j, axis = (cell.numeric[f] - shared) // 3, (cell.numeric[f] - shared) % 3
        found.loss[n, cell.numeric[f]] = numeric_loss(form, f)
        if axis != PRODUCT_AXIS:
            at[j, axis] += pairings[j, 2 * axis + 1] * y[f]
    for j in range(len(pairings)):
        k = shared + j
        x, other = at[j, 0] - at[j, 1], at[j, 0] + at[j, 1]
        if terms.kind[k] == WHOLE:
            x, other = math.floor(x + 0.5), math.floor(other + 0.5)
        found.point[n, k] = min(max(x, box[0, k]), box[1, k])
        found.point[n, box.shape[1] + j] = min(max(other, box[2, k]), box[3, k])
    report_hot(cell, box[0], box[1], form, n, found)
