"""What a chain rises by over a distance, H(t) = over * lambda(t + D) - under * lambda(t), piece by piece (specification, section 17, "A part by its difference").

On a piece [a, b], lambda never falling, H is at most over * lambda(b + D) - under * lambda(a). Where its slopes lie between `least` and `most`, it is also below two lines, one up from H(a) and one up to the left from H(b): at most the
height where they meet, which comes near H as the square of the width. A piece whose bound is further than `NEAR` above the best value seen is halved, and so pieces are small only where H is large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.sums.chains import APART
from likewise.families.sums.links import bell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.sums.chains import Chain

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

NEAR = 2.0**-13  # of the two factors: how near a bound has to come to the best value seen
MOST_HALVINGS = 14
MOST_PIECES = 96  # of a cell
FARTHEST = 32.0  # from 0 on the scale of slope t + offset that pieces are halved in
SEEN = 17  # places of a cell that are looked at first
PLACE_BITS = 2.0**12  # of a cut: any are sound, short ones keep proofs small


@dataclass(slots=True)
class Rise:
    """By cell what a chain rises by at most, and all cuts, with the cells that they belong to."""

    worth: Floats
    cells: Places
    cuts: Floats

    def cuts_of(self, i: int) -> Floats:
        """Those of one cell, in order."""
        return np.sort(self.cuts[self.cells == i])


def rise_in_pieces(
    chain: Chain, over: Floats, under: Floats, distance: Floats, low: Floats, high: Floats
) -> Rise:
    """Between limits low <= high, which may be infinite."""
    every = np.arange(len(low))
    near, far = _inside(chain, low, high, distance)
    shares = np.linspace(0.0, 1.0, SEEN)[:, None]
    best = np.max(
        [_value(chain, over, under, distance, near + share * (far - near)) for share in shares], axis=0
    )
    room = NEAR * (over + under)
    worth, cells, a, b = np.full(len(low), -np.inf), every, low, high
    known: list[tuple[Places, Floats]] = []
    count = np.ones(len(low))
    for halving in range(MOST_HALVINGS + 1):
        bound = _bounds(chain, over[cells], under[cells], distance[cells], a, b)
        middle = _middle(chain, a, b, distance[cells])
        large = (
            (bound > best[cells] + room[cells]) & (a < middle) & (middle < b) & (count[cells] < MOST_PIECES)
        )
        if halving == MOST_HALVINGS:
            large[:] = False
        np.maximum.at(worth, cells[~large], bound[~large])
        cells, a, b, middle = cells[large], a[large], b[large], middle[large]
        if not len(cells):
            break
        known.append((cells, middle))
        np.add.at(count, cells, 1.0)
        found = _value(chain, over[cells], under[cells], distance[cells], middle)
        np.maximum.at(best, cells, found)
        cells, a, b = np.concatenate([cells, cells]), np.concatenate([a, middle]), np.concatenate([middle, b])
    if not known:
        return Rise(worth, np.zeros(0, dtype=np.intp), np.zeros(0))
    return Rise(worth, *(np.concatenate(column) for column in zip(*known, strict=True)))


def _inside(chain: Chain, low: Floats, high: Floats, distance: Floats) -> tuple[Floats, Floats]:
    """The limits, or where nothing moves any more."""
    slope, offset = float(chain.slope), float(chain.offset)
    least = (-FARTHEST - offset) / slope - np.maximum(distance, 0.0)
    most = (FARTHEST - offset) / slope - np.minimum(distance, 0.0)
    near = np.clip(low, least, most)
    return near, np.maximum(near, np.clip(high, least, most))


def _middle(chain: Chain, a: Floats, b: Floats, distance: Floats) -> Floats:
    near, far = _inside(chain, a, b, distance)
    share, exponent = np.frexp((near + far) / 2)
    middle: Floats = np.ldexp(np.round(share * PLACE_BITS) / PLACE_BITS, exponent)
    return np.where((a < middle) & (middle < b), middle, (near + far) / 2)


def _value(chain: Chain, over: Floats, under: Floats, distance: Floats, t: Floats) -> Floats:
    value: Floats = over * chain.values(t + distance) - under * chain.values(t)
    return value


def _bounds(chain: Chain, over: Floats, under: Floats, distance: Floats, a: Floats, b: Floats) -> Floats:
    """By piece, as the rule has it; probabilities are taken a little apart, as outer links may be steep."""
    inner = [chain.inner.values(t) for t in (a, b, a + distance, b + distance)]
    own, moved = (inner[0] - APART, inner[1] + APART), (inner[2] - APART, inner[3] + APART)
    below = [chain.outer.from_below(p - APART) for p in inner]
    above = [chain.outer.from_above(p + APART) for p in inner]
    bound: Floats = over * above[3] - under * below[0]
    finite = np.isfinite(a) & np.isfinite(b)
    slopes, raised = _slopes(chain, *own, below[0], above[1]), _slopes(chain, *moved, below[2], above[3])
    first, last = over * above[2] - under * below[0], over * above[3] - under * below[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        least, most = over * raised[0] - under * slopes[1], over * raised[1] - under * slopes[0]
        width = np.where(finite, b - a, 0.0)
        met = first + most * (last - first - least * width) / (most - least)
        met = np.where(most <= 0, first, np.where(least >= 0, last, met))
    usable = finite & np.isfinite(least) & np.isfinite(most)
    return np.where(usable, np.minimum(bound, met), bound)


def _slopes(chain: Chain, low: Floats, high: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """The smallest and the largest slope of the chain, where the probability lies between low and high and the chain between least and most; infinite where it jumps."""
    outer = chain.outer.slopes_between(low, high, least, most)
    inner = bell(low, high)
    slope = float(chain.slope)
    with np.errstate(invalid="ignore"):
        return slope * inner[0] * outer[0], slope * inner[1] * outer[1]
