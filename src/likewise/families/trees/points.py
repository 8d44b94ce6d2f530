"""Points: a pair of individuals in a box of indices that satisfies the relations, and the constraints where it is easy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.obeying import obey
from likewise.families.trees.axes import NEAR, Axes, Axis
from likewise.families.trees.meeting import HIGH, LOW

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Range = tuple[float, float]


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
        obey(pairs, ranges, point)
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
