"""The polytope of score differences: in which directions to take its extent, and the largest difference of probabilities over it, in float64.

For numbers M_r (how far d_r moves at most between two individuals) and a polytope of d = (d_1, ..., d_m), `largest_gap` is an upper bound of

    G(d)  =  1 / (1 + S) - 1 / (1 + R S),      S = sum_r exp(d_r),      R = sum_r exp(d_r + M_r) / S.

Over a box of d, R is at most the mean of exp(M_r) with the weights exp(d_r) as large as they can be for the largest M_r and as small for the others, and G grows with R;
for a given R it is largest at S = R^(-1/2), or at the end of the range of S that is nearest to it. Boxes are halved until that is enough, in the order that
spec/certificate-v1.md (section 10, `odds`) has: what is seen here with some room, a checker sees as well.

The polytope is to be close to all that the scores can be. What features add to the scores often lies near a line or a plane. So directions are taken evenly in coordinates
in which it does not: along the axes of the singular value decomposition of what features add, each in units of its own singular value. Any directions are
sound; these are rounded to whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.forms import Forms

    Floats = NDArray[np.float64]

MOST_BOXES = 2**13  # of the checker's 2^14
LARGEST_DIFFERENCE = 64.0  # of d before its exponential counts as infinite, and of M
PEAK_TOLERANCE = 2.0**-12  # how near the largest value is found, where it is above the level asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Polytope:
    """lo <= d <= hi and directions . d <= limits."""

    lo: Floats
    hi: Floats
    directions: Floats  # (j, m)
    limits: Floats

    def raised(self, room: float) -> Polytope:
        """With a little more room on every side, for what float64 loses in long directions too."""
        more = room * (1 + np.abs(self.directions).sum(axis=1))
        return Polytope(
            lo=self.lo - room, hi=self.hi + room, directions=self.directions, limits=self.limits + more
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """An upper bound of G, and where it is nearly as large as that."""

    upper: float
    at: Floats


def gap_at(d: Floats, moves: Floats) -> Floats:
    """G at rows of d."""
    here, there = _log_sum_exp(d), _log_sum_exp(d + moves)
    value: Floats = 0.5 * (np.tanh(-here / 2) - np.tanh(-there / 2))
    return value


def largest_gap(moves: Floats, region: Polytope, level: float) -> Peak:
    """At most `level` if that many boxes show it; else near the largest value of all, or what so many boxes leave open."""
    lo, hi = region.lo[None], region.hi[None]
    best, at, upper, boxes = -np.inf, (region.lo + region.hi) / 2, 0.0, 0
    if moves.max() <= 0:
        return Peak(upper=0.0, at=at)
    if moves.max() > LARGEST_DIFFERENCE:
        return Peak(upper=1.0, at=at)
    order, forward = np.argsort(-moves, kind="stable"), np.maximum(region.directions, 0).T
    back = np.minimum(region.directions, 0).T
    while len(lo):
        boxes += len(lo)
        inside = (lo @ forward + hi @ back <= region.limits).all(axis=1)
        lo, hi = lo[inside], hi[inside]
        if not len(lo):
            break
        bounds, middle = _bound_boxes(moves, order, lo, hi), (lo + hi) / 2
        found = (middle @ region.directions.T <= region.limits).all(axis=1)
        if found.any():
            values = np.where(found, gap_at(middle, moves), -np.inf)
            if values.max() > best:
                best, at = float(values.max()), middle[values.argmax()]
        enough = level if best <= level else best + PEAK_TOLERANCE
        open_ = bounds > enough
        upper = max(upper, float(bounds[~open_].max(initial=0.0)))
        if boxes + 2 * open_.sum() > MOST_BOXES:
            upper = max(upper, float(bounds.max()))
            at = at if np.isfinite(best) else middle[bounds.argmax()]
            break
        lo, hi = _halve_boxes(lo[open_], hi[open_])
    return Peak(upper=upper, at=at)


def _bound_boxes(moves: Floats, order: NDArray[np.intp], lo: Floats, hi: Floats) -> Floats:
    """An upper bound of G over each box."""
    raised = np.exp(moves)
    least, most = np.exp(np.clip(lo, -700, LARGEST_DIFFERENCE)), np.exp(np.clip(hi, -700, LARGEST_DIFFERENCE))
    more, ranked = (most - least)[:, order], raised[order]
    above = (least @ raised)[:, None] + np.cumsum(more * ranked, axis=1)
    below = least.sum(axis=1)[:, None] + np.cumsum(more, axis=1)
    unbounded = (hi > LARGEST_DIFFERENCE).any(axis=1)
    ratio = np.where(unbounded, raised.max(), (above / below).max(axis=1))
    ratio = np.maximum(ratio, 1.0)
    high = np.where(unbounded, np.inf, most.sum(axis=1))
    s = np.clip(ratio**-0.5, least.sum(axis=1), high)
    bounds: Floats = (ratio - 1) * s / ((1 + s) * (1 + ratio * s))
    return bounds


def _halve_boxes(lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """Both halves of every box, along the d_r whose sigma moves most."""
    spread = np.tanh(np.minimum(hi, LARGEST_DIFFERENCE) / 2) - np.tanh(np.minimum(lo, LARGEST_DIFFERENCE) / 2)
    rows, r = np.arange(len(lo)), spread.argmax(axis=1)
    middle, left_hi, right_lo = (lo[rows, r] + hi[rows, r]) / 2, hi.copy(), lo.copy()
    left_hi[rows, r] = right_lo[rows, r] = middle
    return np.concatenate([lo, right_lo]), np.concatenate([left_hi, hi])


def _log_sum_exp(d: Floats) -> Floats:
    largest = d.max(axis=1)
    value: Floats = largest + np.log(np.exp(d - largest[:, None]).sum(axis=1))
    return value


CIRCLE_DIRECTIONS = 32  # directions of two scores
LARGEST_ENTRY = 2**18  # the largest entry of a direction: axes may differ in length by orders of magnitude
FLAT_AXIS = 2.0**-16  # of the largest singular value: below that, an axis is as good as none
MANY_SCORES = 10  # scores from which on only the axes themselves are taken


def choose_directions(forms: Forms, lo: Floats, hi: Floats) -> tuple[tuple[int, ...], ...]:
    """Directions besides the unit ones, for features from lo to hi."""
    count = len(forms.bias)
    if count == 1:
        return ()
    _, sizes, axes = np.linalg.svd(_feature_gains(forms, lo, hi), full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(count - len(sizes))])
    if not np.isfinite(sizes).all() or not sizes[0]:
        return ()
    rows = _ball_directions(count) @ (axes / np.maximum(sizes, FLAT_AXIS * sizes[0])[:, None])
    whole = np.round(rows / np.abs(rows).max(axis=1, keepdims=True) * LARGEST_ENTRY).astype(int)
    return tuple(dict.fromkeys(tuple(row) for row in whole.tolist()))


def _feature_gains(forms: Forms, lo: Floats, hi: Floats) -> Floats:
    """What features add to the scores, by feature (or level) and score."""
    rows = [np.zeros((1, len(forms.bias)))]
    for k, slopes in enumerate(forms.slopes):
        table, curves = forms.tables[k], forms.curves[k]
        values = curves.values if curves is not None else table
        if values is None:
            rows.append(slopes[None] * (hi[k] - lo[k]))
        else:
            rows.append((values - values.mean(axis=1, keepdims=True)).T)
    return np.concatenate(rows)


def _ball_directions(count: int) -> Floats:
    """Directions of a ball: around the circle, else those to the corners and edges of a cube (of many scores to its sides only)."""
    if count == 2:
        angles = 2 * np.pi * np.arange(CIRCLE_DIRECTIONS) / CIRCLE_DIRECTIONS
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rows = []
    for used in range(1, 2 if count > MANY_SCORES else 4 if count == 3 else 3):
        for places in combinations(range(count), used):
            for signs in product((1.0, -1.0), repeat=used):
                row = np.zeros(count)
                row[list(places)] = signs
                rows.append(row)
    return np.array(rows)
