"""Individuals whose score differences are about where they are wanted, for pairs near the largest difference of probabilities.

The differences d of separable scores are wanted at a point that is a mean of what some corners of the cell have: so the mean of these corners has it too, as far as
features are numbers that d is linear in. Levels cannot be averaged; each corner's are tried, and numbers are moved until d is right again. Only proposes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.forms import Forms

    Floats = NDArray[np.float64]

STEPS = 12  # least squares solved, with the numbers that have not reached an end
SUM_TO_ONE = 1e3  # how much more it counts that weights add up to 1 than that the mean is right
LEAST = 1e-6  # weight of a corner that is tried


def individuals_near(forms: Forms, d: Floats, corners: Floats, lo: Floats, hi: Floats) -> Floats:
    """Codes of a few individuals of the box whose scores are about d; corners (n, features)."""
    heavy = SUM_TO_ONE * (1 + np.abs(d).max())
    reached = forms.at(corners)
    system = np.concatenate([reached.T, np.full((1, len(reached)), heavy)])
    weights, _ = nnls(system, np.append(d, heavy))
    mean = np.clip(weights @ corners / max(float(weights.sum()), LEAST), lo, hi)
    levels = np.array([table is not None for table in forms.tables])
    linear = np.array(
        [not level and curve is None for level, curve in zip(levels, forms.curves, strict=True)]
    )
    slopes = np.array(
        [slope if line else 0 * slope for slope, line in zip(forms.slopes, linear, strict=True)]
    )
    found = []
    for corner in corners[weights > LEAST]:
        x = np.where(levels, corner, mean)
        found.append(_moved(forms, x, d, slopes * (hi - lo)[:, None], lo, hi))
    return np.array(found or [mean])


def _moved(forms: Forms, x: Floats, d: Floats, slopes: Floats, lo: Floats, hi: Floats) -> Floats:
    """x with its numbers moved, as little as need be for the widths of their intervals, until the scores are d or all are at an end."""
    free = np.abs(slopes).max(axis=1) > 0
    for _ in range(STEPS):
        missing = d - forms.at(x[None])[0]
        if not free.any() or np.abs(missing).max() < LEAST:
            break
        step = np.zeros(len(x))
        step[free] = np.linalg.lstsq(slopes[free].T, missing, rcond=None)[0] * (hi - lo)[free]
        wanted = x + step
        x = np.clip(wanted, lo, hi)
        free = free & (x == wanted)
    return x
