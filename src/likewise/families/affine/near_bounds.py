"""Bounds of lines over pairs within a distance: the one multiplier of the distance that bounds each cell best, in float64.

Taking weight (d - bound) from a line gives a bound for any weight >= 0 (`cells.penalty`), which is convex in the weight and falls as long as the pair that attains it is further apart than the
distance allows. So the best weight is found by halving, and the best pair lies between those on its two sides: for a linear score of numbers no pair is better.
With power 1 the best weight is one at which a feature's difference begins to pay, slope / cost: the nearest of those is tried exactly, as ties would not close by any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.nearness import Nearness

    Floats = NDArray[np.float64]
    Maximum = Callable[[NDArray[np.intp], Floats], "LineMaximum"]

DOUBLINGS = 80  # of the first weight, until pairs that attain a bound are near
HALVINGS = 44
MIXINGS = 40  # halvings of the way between two pairs
NEARLY = 1e-9  # relative: how near to an exact weight one that was found counts as that


@dataclass(slots=True, kw_only=True)
class LineMaximum:
    """Of some cells: a line's maximum less a multiple of the distance, without what is constant, the pairs that attain it, and the size of what was added."""

    value: Floats
    points: Floats
    size: Floats
    tangents: Floats | None = None  # (cells, forms), where the distance has forms


@dataclass(frozen=True, slots=True, kw_only=True)
class NearBounds:
    """Of each cell the best weight, its bound, a pair near it within the distance, and the size of what was added."""

    weight: Floats
    upper: Floats
    points: Floats
    size: Floats
    tangents: Floats


def bound_near(
    nearness: Nearness, maximum: Maximum, cells: NDArray[np.intp], upper: Floats, points: Floats
) -> NearBounds:
    """The best weights of these cells, all of whose pairs that attain the bound with weight 0 (`points`, `upper`) are too far apart."""
    low, high = (
        np.zeros(len(cells)),
        np.full(len(cells), (np.abs(upper).max(initial=0) + 1) / (nearness.bound or 1.0) / 16),
    )
    best = NearBounds(
        weight=low.copy(),
        upper=upper.copy(),
        points=points.copy(),
        size=np.abs(upper),
        tangents=np.zeros((len(cells), len(nearness.distance.forms))),
    )
    far, near = points.copy(), nearness.pulled(points)
    open_, some = np.ones(len(cells), dtype=bool), np.arange(len(cells))
    for _ in range(DOUBLINGS):  # until the pairs of the higher weight are near
        chosen = some[open_]
        if not len(chosen):
            break
        reached = _try(nearness, maximum, cells, chosen, high[chosen], best)
        close = nearness.at(reached) <= nearness.bound
        near[chosen[close]] = reached[close]
        far[chosen[~close]], low[chosen[~close]] = reached[~close], high[chosen[~close]]
        high[chosen[~close]] *= 2
        open_[chosen[close]] = False
    for _ in range(HALVINGS):
        middle = low / 2 + high / 2
        reached = _try(nearness, maximum, cells, some, middle, best)
        close = nearness.at(reached) <= nearness.bound
        near, far = np.where(close[:, None], reached, near), np.where(close[:, None], far, reached)
        low, high = np.where(close, low, middle), np.where(close, middle, high)
    best.points[:] = _between(nearness, near, far)
    return best


def _try(
    nearness: Nearness,
    maximum: Maximum,
    cells: NDArray[np.intp],
    chosen: NDArray[np.intp],
    weight: Floats,
    best: NearBounds,
) -> Floats:
    """Bound some cells with these weights, and keep what is better; the pairs that attain the bounds."""
    found = maximum(cells[chosen], weight)
    value = found.value + weight * nearness.bound
    better = value < best.upper[chosen]
    rows = chosen[better]
    if found.tangents is not None:
        best.tangents[rows] = found.tangents[better]
    best.upper[rows], best.weight[rows] = value[better], weight[better]
    best.size[rows] = found.size[better] + weight[better] * nearness.bound
    return found.points


def _between(nearness: Nearness, near: Floats, far: Floats) -> Floats:
    """On the way from pairs that are near to pairs that are not, as far as the distance allows; what is discrete stays."""
    count = len(nearness.discrete)
    towards = np.where(
        np.concatenate([nearness.discrete, np.ones(near.shape[1] - count, bool)]), 0.0, far - near
    )
    low, high = np.zeros(len(near)), np.ones(len(near))
    for _ in range(MIXINGS):
        middle = low / 2 + high / 2
        close = nearness.at(near + middle[:, None] * towards) <= nearness.bound
        low, high = np.where(close, middle, low), np.where(close, high, middle)
    return near + low[:, None] * towards


def exact_weights(weight: Floats, turning: list[list[Fraction]]) -> list[Fraction]:
    """The weights as rationals: for each cell one of those at which something begins to pay, where that is as good as the same."""
    found = []
    for value, places in zip(weight.tolist(), turning, strict=True):
        nearest = min(places, key=lambda place: abs(float(place) - value), default=None)
        close = nearest is not None and abs(float(nearest) - value) <= NEARLY * (1 + value)
        found.append(nearest if close and nearest is not None else Fraction(value))
    return found
