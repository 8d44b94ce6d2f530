"""Points: a pair of individuals in a box of indices that satisfies the relations, and the constraints where it is easy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from likewise.bounds.trees.axes import NEAR, Axes, Axis
from likewise.bounds.trees.meeting import HIGH, LOW
from likewise.spec.terms import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace
    from likewise.spec.terms import Separable

    Floats = NDArray[np.float64]
    Range = tuple[float, float]

ROUNDS = 3  # passes over the constraints: what one moves may break another


def pair_in(
    pairs: PairSpace, features: list[Axis], axes: Axes, box: NDArray[np.int32], allowed: NDArray[np.bool_]
) -> Floats:
    """A point of pair space in the box; `allowed` positions bind variables with sets."""
    ranges = [_range(features[axes.feature[v]], axes, box, allowed, v) for v in range(box.shape[1])]
    point = np.array([float(v.lo) for v in pairs.variables])
    for v, codes in enumerate(ranges):
        point[v] = codes[0]
    for v in axes.joined.tolist():
        w = int(axes.partner[v])
        if axes.way[v] == NEAR:
            point[v], point[w] = _close_by(ranges[v], ranges[w])
        else:
            point[v], point[w] = _side_by_side(axes, box, allowed, v, w)
    if pairs.constraints:
        _obey(pairs, ranges, point)
    return point


def limits_in(
    features: list[Axis], axes: Axes, box: NDArray[np.int32], allowed: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """First and last codes of all variables in the box; of a variable with sets one position."""
    ranges = [_range(features[axes.feature[v]], axes, box, allowed, v) for v in range(box.shape[1])]
    return np.array([first for first, _ in ranges]), np.array([last for _, last in ranges])


def _range(axis: Axis, axes: Axes, box: NDArray[np.int32], allowed: NDArray[np.bool_], v: int) -> Range:
    """First and last code of a variable in the box."""
    low, high = int(box[LOW, v]), int(box[HIGH, v])
    if axes.sets[v]:
        inside = [p for p in range(low, high + 1) if allowed[v, p]]
        return float(inside[0]), float(inside[0])
    if low > high:
        return axis.first[axis.missing], axis.last[axis.missing]
    return axis.first[low], axis.last[high]


def _close_by(here: Range, there: Range) -> Range:
    """Codes of two ranges that are as near to each other as they can be."""
    if here[1] < there[0]:
        return here[1], there[0]
    if there[1] < here[0]:
        return here[0], there[1]
    both = max(here[0], there[0])
    return both, both


def _side_by_side(axes: Axes, box: NDArray[np.int32], allowed: NDArray[np.bool_], v: int, w: int) -> Range:
    """Positions that may stand beside each other."""
    size, at = int(axes.size[v]), int(axes.offset[axes.feature[v]])
    for p in range(box[LOW, v], box[HIGH, v] + 1):
        for q in range(box[LOW, w], box[HIGH, w] + 1):
            open_to_both = (not axes.sets[v] or allowed[v, p]) and (not axes.sets[w] or allowed[w, q])
            if open_to_both and axes.beside[at + p * size + q]:
                return float(p), float(q)
    return float(box[LOW, v]), float(box[LOW, w])


def _obey(pairs: PairSpace, ranges: list[Range], point: Floats) -> None:
    """Move codes within their ranges until the constraints hold, one constraint and one variable at a time."""
    for _ in range(ROUNDS):
        for owner in (pairs.first, pairs.second):
            for constraint in pairs.constraints:
                _move(constraint, owner, pairs, ranges, point)


def _move(
    constraint: Separable,
    owner: tuple[int, ...],
    pairs: PairSpace,
    ranges: list[Range],
    point: Floats,
) -> None:
    above = float(constraint.scores(point[None, list(owner)])[0])
    for k, v in enumerate(owner):
        if above <= 0:
            return
        term, (low, high) = constraint.terms[k], ranges[v]
        if term.table is not None:
            best = min(range(int(low), int(high) + 1), key=lambda p: term.table[p])  # type: ignore[index]
            above += nearest(term.table[best] - term.table[int(point[v])])
            point[v] = best
        elif term.slope:
            slope = nearest(term.slope)
            wanted = point[v] - above / slope
            if pairs.variables[v].discrete:
                wanted = math.floor(wanted) if slope > 0 else math.ceil(wanted)
            moved = min(max(wanted, low), high)
            above += slope * (moved - point[v])
            point[v] = moved
