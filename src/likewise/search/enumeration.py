"""Enumeration: score every individual of a small discrete space and compare each with its similar ones.

The scores stand on a grid with one axis a feature. Similar individuals of x are a box around x: its own
value along a `same` axis, a window along a `within` axis, the whole `free` axis. So the lowest score
among them is a minimum filter run axis by axis, and the deepest pair of the whole space is found in a few
passes. Float64 proposes, the referee decides; that no pair looks like a witness is not a proof by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import minimum_filter1d

from likewise.progress import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.problem import Problem, Witness
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

MOST_INDIVIDUALS = 1_000_000
REFEREED = 64  # deepest individuals put to the exact test
BLOCK = 65_536
ROUNDING = 1e-9  # constraints this close to their bound are left to the exact test


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """All individuals' scores (invalid ones NaN) and, for each, the lowest score of a similar one."""

    scores: Floats
    lowest: Floats


def individuals(pairs: PairSpace) -> int | None:
    """How many individuals the box of a discrete space has; None if a feature is continuous."""
    variables = [pairs.variables[v] for v in pairs.first]
    if any(not v.discrete and v.lo < v.hi for v in variables):
        return None
    return prod(int(v.hi - v.lo) + 1 for v in variables)


def enumerate_space(problem: Problem) -> Witness | None:
    """The deepest witness of a small discrete space; None where there is none or the space is too large."""
    count = individuals(problem.pairs)
    if count is None or count > MOST_INDIVIDUALS:
        return None
    problem.listener(Snapshot(stage=f"looking at {count:,} individuals", seconds=problem.budget.elapsed))
    grid = score_grid(problem, count)
    depth = problem.sought.margin(grid.scores, grid.lowest)
    depth = np.where(np.isnan(depth), -np.inf, depth).ravel()
    most = min(REFEREED, len(depth))
    for flat in sorted(np.argpartition(-depth, most - 1)[:most], key=lambda i: -depth[i]):
        if depth[flat] <= 0:
            break
        x = _codes(problem, np.array([flat]), grid.scores.shape)[0]
        other = _counterpart(problem, grid, int(flat))
        witness = problem.referee(x.tolist(), other.tolist())
        if witness is not None:
            return witness
    return None


def score_grid(problem: Problem, count: int) -> Grid:
    """Scores of every individual, block by block, and the filtered minimum."""
    pairs = problem.pairs
    shape = tuple(int(pairs.variables[v].hi - pairs.variables[v].lo) + 1 for v in pairs.first)
    scores = np.empty(count)
    for start in range(0, count, BLOCK):
        block = np.arange(start, min(start + BLOCK, count))
        codes = _codes(problem, block, shape)
        scores[block] = problem.scores(codes)
        for constraint in pairs.constraints:
            scores[block[constraint.scores(codes) > ROUNDING]] = np.nan
    grid = scores.reshape(shape)
    lowest = np.where(np.isnan(grid), np.inf, grid)
    for axis, relation in enumerate(pairs.relations):
        if relation.kind == "free":
            lowest = np.broadcast_to(lowest.min(axis=axis, keepdims=True), shape)
        elif relation.kind == "within":
            window = 2 * int(relation.tolerance or 0) + 1
            lowest = minimum_filter1d(lowest, window, axis=axis, mode="constant", cval=np.inf)
    return Grid(scores=grid, lowest=np.ascontiguousarray(lowest))


def _codes(problem: Problem, flat: NDArray[np.intp], shape: tuple[int, ...]) -> Floats:
    lows = np.array([float(problem.pairs.variables[v].lo) for v in problem.pairs.first])
    codes: Floats = np.stack(np.unravel_index(flat, shape), axis=1) + lows
    return codes


def _counterpart(problem: Problem, grid: Grid, flat: int) -> Floats:
    """The lowest-scored individual that is similar to this one."""
    index = np.unravel_index(flat, grid.scores.shape)
    window = []
    for i, size, relation in zip(index, grid.scores.shape, problem.pairs.relations, strict=True):
        reach = {"same": 0, "free": size}.get(relation.kind, int(relation.tolerance or 0))
        window.append(slice(max(int(i) - reach, 0), int(i) + reach + 1))
    part = grid.scores[tuple(window)]
    best = np.unravel_index(np.nanargmin(part), part.shape)
    lows = np.array([float(problem.pairs.variables[v].lo) for v in problem.pairs.first])
    codes: Floats = np.array([w.start + int(b) for w, b in zip(window, best, strict=True)]) + lows
    return codes
