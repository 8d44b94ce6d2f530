"""Directions in which to take the extent of several separable scores: the polytope that these make is to be close to all that the scores can be.

What features add to the scores often lies near a line or a plane. So directions are taken evenly in coordinates in which it does not: along the axes of the
singular value decomposition of what features add, each in units of its own singular value. Any directions are sound; these are rounded to whole numbers.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.forms import Forms

    Floats = NDArray[np.float64]

AROUND = 32  # directions of two scores
FINE = 2**18  # the largest entry of a direction: axes may differ in length by orders of magnitude
FLAT = 2.0**-16  # of the largest singular value: below that, an axis is as good as none
MANY = 10  # scores from which on only the axes themselves are taken


def directions_of(forms: Forms, lo: Floats, hi: Floats) -> tuple[tuple[int, ...], ...]:
    """Directions besides the unit ones, for features from lo to hi."""
    count = len(forms.bias)
    if count == 1:
        return ()
    _, sizes, axes = np.linalg.svd(_added(forms, lo, hi), full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(count - len(sizes))])
    if not np.isfinite(sizes).all() or not sizes[0]:
        return ()
    rows = _spread(count) @ (axes / np.maximum(sizes, FLAT * sizes[0])[:, None])
    whole = np.round(rows / np.abs(rows).max(axis=1, keepdims=True) * FINE).astype(int)
    return tuple(dict.fromkeys(tuple(row) for row in whole.tolist()))


def _added(forms: Forms, lo: Floats, hi: Floats) -> Floats:
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


def _spread(count: int) -> Floats:
    """Directions of a ball: around the circle, else those to the corners and edges of a cube (of many scores to its sides only)."""
    if count == 2:
        angles = 2 * np.pi * np.arange(AROUND) / AROUND
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rows = []
    for used in range(1, 2 if count > MANY else 4 if count == 3 else 3):
        for places in combinations(range(count), used):
            for signs in product((1.0, -1.0), repeat=used):
                row = np.zeros(count)
                row[list(places)] = signs
                rows.append(row)
    return np.array(rows)
