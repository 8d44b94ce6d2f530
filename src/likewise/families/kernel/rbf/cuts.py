"""Where to cut a cell on one axis: the last code of the left part.

Numeric axes are cut in the middle. The positions of a one-hot axis are an interval too: it is cut beside the position
with the largest entry of its table, so that one part keeps it and the other loses it, on the side that leaves the
other part less.
"""

from __future__ import annotations

import math

from likewise.compiled import compiled
from likewise.compiled.arrays import largest, place_of_largest
from likewise.families.kernel.rbf.terms import CONTINUOUS, Floats


@compiled
def middle_cut(kind: int, lo: float, hi: float) -> float:
    """Middle of an interval of codes; a whole number where codes are whole."""
    middle = 0.5 * (lo + hi)
    return middle if kind == CONTINUOUS else float(math.floor(middle))


@compiled
def best_cut(first: int, table: Floats) -> float:
    """Cut an interval of positions from `first` on, given what the majorant says of each."""
    best = place_of_largest(table)
    left = largest(table[:best]) if best > 0 else -math.inf
    right = largest(table[best + 1 :]) if best + 1 < len(table) else -math.inf
    cut_right = best > 0 and best + 1 < len(table) and right <= left
    if best == 0 or cut_right:
        return float(first + best)
    return float(first + best - 1)
