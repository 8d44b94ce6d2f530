"""Sums, maxima and copies as plain loops: compiled several times faster than the array expressions that say the same, with the same results to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.compiled.entry import compiled

Floats = NDArray[np.float64]


@compiled
def total(numbers: Floats) -> float:
    """Their sum, from the first to the last."""
    found = 0.0
    for i in range(len(numbers)):
        found += numbers[i]
    return found


@compiled
def largest(numbers: Floats) -> float:
    """The largest of one number at least."""
    found = numbers[0]
    for i in range(1, len(numbers)):
        found = max(found, numbers[i])
    return float(found)


@compiled
def place_of_largest(numbers: Floats) -> int:
    """Where the first of the largest numbers stands."""
    at = 0
    for i in range(1, len(numbers)):
        if numbers[i] > numbers[at]:
            at = i
    return at


@compiled
def fill(numbers: NDArray[Any], value: float) -> None:
    """Put one value everywhere."""
    for i in range(len(numbers)):
        numbers[i] = value


@compiled
def copy_to(numbers: NDArray[Any], values: NDArray[Any]) -> None:
    """Put as many values as there are at the beginning of `numbers`."""
    for i in range(len(values)):
        numbers[i] = values[i]
