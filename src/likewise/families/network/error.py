"""Errors through layers: what sums of weighted inputs are off by if the inputs are off, and the sums are rounded.

With inputs h that are had as h', |h' - h| <= e, weights and biases off by a rounding each, and sums of n products and a bias, in whatever order they are added,

    |sum' - sum|  <=  |W| e + growth (|W| (|h'| + e) + |b|),        growth >= (1 + u)^(n + 4) - 1,

and what an activation makes of that is off by at most `steepness` times as much, and by its own error. All of it is of nonnegative numbers, (rows, neurons), so that
a factor just above 1 covers the rounding of the errors themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MORE_ROUNDINGS = 4  # besides one a product: of a weight, of its product, of the bias and of adding it


def error_of_sums(
    weights: Floats, biases: Floats | float, sizes: Floats, errors: Floats, growth: float
) -> Floats:
    """What sums are off by: weights (neurons, inputs) or (inputs,) and biases by their sizes, inputs of at most these sizes and errors."""
    found: Floats = (errors + growth * (sizes + errors)) @ weights.T + growth * biases
    return found
