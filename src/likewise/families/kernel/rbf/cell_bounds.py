"""Bounds of many cells: for each one, is F <= U on it, and if that cannot be shown, how large may F be?

A cell is [lo, hi] in codes, one interval an axis (positions for levels), with a threshold U and a row of coefficients
c_t. For each the majorant of section 7 of spec/certificate-v1.md is built and maximised: `excess` is Phi, with the
room that the specification asks for added to it, so excess <= 0 means that the checker will accept the cell with
the hints returned. In any case exp(gamma R) F <= Psi(R) + Phi <= U exp(gamma R) + Phi, hence

    F <= U + Phi  if Phi >= 0,        F <= U + Phi exp(-gamma R_max)  if Phi < 0,

and `upper` is the smaller of that and the bound of `coarse`. That one is looked at first: where it is enough, the rule `chords` closes the cell, and nothing else is computed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import fill, place_of_largest, total
from likewise.families.kernel.rbf.coarse import coarse_bound
from likewise.families.kernel.rbf.cuts import best_cut, middle_cut
from likewise.families.kernel.rbf.excess import (
    FIRST_TANGENT,
    MOST_STEPS,
    MOST_TANGENT,
    TANGENT_STEPS,
    most_risen,
    smallest_excess,
)
from likewise.families.kernel.rbf.local_terms import (
    LocalTerms,
    code_at,
    farthest_reach,
    localise,
    term_cubics,
)
from likewise.families.kernel.rbf.majorant import (
    Majorant,
    absorb_mixed,
    add_curvature_loss,
    add_numeric,
    eliminate_pairs,
    empty_majorant,
    one_sided_roughness,
)
from likewise.families.kernel.rbf.one_hot import add_one_hot
from likewise.families.kernel.rbf.terms import Floats, Ints, Terms, drop_zero_terms

NO_HINT = -1  # as r: start from the oracle's own guess
MOST_ROUNDS = 8
FARTHEST_REACH = 30.0  # reach of a term (h) beyond which the majorant is hopeless, and soon overflows
ROUNDING_ROOM = 2.0**-40  # section 7, "Room for rounding"


class CellBounds(NamedTuple):
    """What `bound_cells` found, by cell and axis."""

    excess: Floats  # [cell] Phi and the room for rounding; <= 0: F <= U, provable with the hints below
    upper: Floats  # [cell] upper bound of F
    point: Floats  # [cell, axis] codes that attain the relaxation
    loss: Floats  # [cell, axis] how much the axis costs; 0 where lo = hi
    cut: Floats  # [cell, axis] where to cut: last code of the left part
    e: Ints  # [cell, axis] hints of the numeric axes, -64 to 64; 0 elsewhere
    r: Ints  # [cell] hint of the tangent, 0 to 2^20
    width: Ints  # [cell] hint of the rule `chords` where that closes the cell, NO_HINT elsewhere


def bound_cells(
    terms: Terms,
    coefficients: Floats,
    *,
    lo: Floats,
    hi: Floats,
    threshold: Floats,
    row: Ints | None = None,
    e: Ints | None = None,
    r: Ints | None = None,
    rounds: int = MOST_ROUNDS,
) -> CellBounds:
    """Bound each cell [lo, hi] (cells, axes) against its threshold (cells,), with coefficients[row] (rows, terms).

    e, r are hints to start from, as returned for the cell that this one is part of; r = NO_HINT for none.
    """
    cells, axes = lo.shape
    found = CellBounds(
        excess=np.empty(cells),
        upper=np.empty(cells),
        point=np.empty((cells, axes)),
        loss=np.zeros((cells, axes)),
        cut=np.empty((cells, axes)),
        e=np.zeros((cells, axes), dtype=np.int64) if e is None else e.astype(np.int64),
        r=np.full(cells, NO_HINT, dtype=np.int64) if r is None else r.astype(np.int64),
        width=np.full(cells, NO_HINT, dtype=np.int64),
    )
    rows = np.zeros(cells, dtype=np.int64) if row is None else row.astype(np.int64)
    _bound_each(
        terms,
        np.ascontiguousarray(coefficients, dtype=np.float64),
        np.ascontiguousarray(lo, dtype=np.float64),
        np.ascontiguousarray(hi, dtype=np.float64),
        np.ascontiguousarray(threshold, dtype=np.float64),
        rows,
        np.argsort(rows, kind="stable"),
        rounds,
        found,
    )
    return found


@compiled
def _bound_each(
    terms: Terms,
    coefficients: Floats,
    lo: Floats,
    hi: Floats,
    threshold: Floats,
    rows: Ints,
    order: Ints,
    rounds: int,
    found: CellBounds,
) -> None:
    """Bound the cells in an order in which those of one row of coefficients stand together."""
    last = -1
    few, weights = terms, coefficients[0]
    for n in order:
        if rows[n] != last:
            last = rows[n]
            few, weights = drop_zero_terms(terms, coefficients[last])
        farthest = farthest_reach(terms, lo[n], hi[n])
        _bound_cell(few, weights, lo[n], hi[n], threshold[n], farthest, rounds, n, found)


@compiled
def _bound_cell(
    terms: Terms,
    coefficients: Floats,
    lo: Floats,
    hi: Floats,
    threshold: float,
    farthest: float,
    rounds: int,
    n: int,
    found: CellBounds,
) -> None:
    for k in range(len(lo)):
        found.cut[n, k] = middle_cut(terms.kind[k], lo[k], hi[k])
    coarse, coarse_room, width = coarse_bound(terms, lo, hi, coefficients, found.point[n], found.loss[n])
    if close_by_chords(coarse, coarse_room, width, threshold, farthest, n, found):
        return
    cell = localise(terms, lo, hi, coefficients)
    form = build_majorant(cell, *term_cubics(cell))
    bend = bends(terms.gamma, cell)
    room = room_for_rounding(cell, farthest, count_loose(lo, hi))
    y = np.zeros(len(cell.numeric))
    excess = room + optimise_hints(cell, form, threshold, bend, rounds, room, n, y, found)
    found.excess[n] = excess
    roughness = np.empty(len(cell.weight))
    for t in range(len(roughness)):
        roughness[t] = one_sided_roughness(cell.weight[t], cell.reach[t])
    add_curvature_loss(cell, roughness, form)
    _report_axes(terms, lo, hi, cell, form, y, n, found)
    if excess <= 0.0:
        found.upper[n] = threshold + excess * math.exp(-total(bend) - most_risen(cell))
        return
    # Which of the two bounds also gives the point and the losses makes no difference that could be measured.
    found.upper[n] = min(coarse, threshold + excess)


@compiled
def close_by_chords(
    coarse: float, room: float, width: int, threshold: float, farthest: float, n: int, found: CellBounds
) -> bool:
    """Whether the coarse bound is all that is said of a cell: because it is enough, or because the terms reach too far for the majorant."""
    closes = coarse + room <= threshold
    if not closes and farthest <= FARTHEST_REACH:
        return False
    found.excess[n], found.r[n] = coarse + room - threshold if closes else math.inf, 0
    fill(found.e[n], 0)
    found.upper[n] = coarse
    found.width[n] = width if closes else NO_HINT
    return True


@compiled
def bends(gamma: float, cell: LocalTerms) -> Floats:
    """gamma w^2 of the numeric axes."""
    found = np.empty(len(cell.width))
    for f in range(len(found)):
        found[f] = gamma * cell.width[f] * cell.width[f]
    return found


@compiled
def count_loose(lo: Floats, hi: Floats) -> int:
    """How many axes are not fixed."""
    loose = 0
    for k in range(len(lo)):
        loose += hi[k] > lo[k]
    return loose


@compiled
def optimise_hints(
    cell: LocalTerms,
    form: Majorant,
    threshold: float,
    bend: Floats,
    rounds: int,
    room: float,
    n: int,
    y: Floats,
    found: CellBounds,
) -> float:
    """Phi; the cell's hints are replaced by those that attain it, y by the maximiser."""
    base = form.constant[0]
    # A tangent beyond R_max helps nobody.
    last = min(math.ceil(TANGENT_STEPS * (total(bend) + most_risen(cell))), MOST_TANGENT)
    r = round(FIRST_TANGENT * last) if found.r[n] < 0 else min(found.r[n], last)
    e = np.empty(len(cell.numeric), np.int64)
    for f in range(len(e)):
        e[f] = min(max(found.e[n, cell.numeric[f]], -MOST_STEPS), MOST_STEPS)
    excess, found.r[n] = smallest_excess(cell, form, base, threshold, bend, rounds, -room, e, r, y)
    fill(found.e[n], 0)
    for f in range(len(e)):
        found.e[n, cell.numeric[f]] = e[f]
    return excess


@compiled
def build_majorant(cell: LocalTerms, constant: float, shape: Floats) -> Majorant:
    """All products of the cell's cubics, bounded down to n1, n2, n3, cross and the tables."""
    form = empty_majorant(cell)
    form.constant[0] = constant
    add_numeric(cell, shape, form)
    add_one_hot(cell, shape, form)
    absorb_mixed(cell, form)
    eliminate_pairs(cell, form)
    return form


@compiled
def room_for_rounding(cell: LocalTerms, farthest: float, axes: int) -> float:
    """What a certificate must leave so that a checker's own rounding cannot matter; `farthest` is the largest h."""
    most = math.ceil(farthest * 1024.0) / 1024.0
    size = 0.0
    for t in range(len(cell.weight)):
        size += abs(cell.weight[t])
    size += 1.0
    return float(ROUNDING_ROOM * size * (1.0 + axes) ** 3 * (1.0 + most) ** 3 * math.exp(most))


@compiled
def _report_axes(
    terms: Terms,
    lo: Floats,
    hi: Floats,
    cell: LocalTerms,
    form: Majorant,
    y: Floats,
    n: int,
    found: CellBounds,
) -> None:
    for k in range(len(lo)):
        found.point[n, k] = lo[k]
        found.loss[n, k] = 0.0
    for f in range(len(cell.numeric)):
        report_numeric(terms, lo, hi, cell, form, f, y[f], n, found)
    report_hot(cell, lo, hi, form, n, found)


@compiled
def report_numeric(
    terms: Terms,
    lo: Floats,
    hi: Floats,
    cell: LocalTerms,
    form: Majorant,
    f: int,
    y: float,
    n: int,
    found: CellBounds,
) -> None:
    """Point and loss of one shared numeric axis."""
    k = cell.numeric[f]
    found.point[n, k] = code_at(terms, k, lo[k], hi[k], cell.middle[f] + cell.width[f] * y)
    found.loss[n, k] = numeric_loss(form, f)


@compiled
def numeric_loss(form: Majorant, f: int) -> float:
    """What a numeric axis costs, its products with other numeric axes included."""
    loss = form.numeric_loss[f]
    for g in range(len(form.linear)):
        loss += abs(form.cross[min(f, g), max(f, g)])
    return float(loss)


@compiled
def report_hot(cell: LocalTerms, lo: Floats, hi: Floats, form: Majorant, n: int, found: CellBounds) -> None:
    """Point, loss and cut of the one-hot axes."""
    for i in range(len(cell.hot)):
        k = cell.hot[i]
        positions = int(hi[k] - lo[k]) + 1
        table = np.empty(positions)
        for v in range(positions):
            table[v] = form.table[i, cell.at[i, v]]
        found.point[n, k] = cell.first[i] + place_of_largest(table)
        found.loss[n, k] = form.hot_loss[i]
        found.cut[n, k] = best_cut(cell.first[i], table)
