"""Standing: whether the individuals of a box satisfy the constraints: all of them, none, or some. Exact."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.terms import Separable, Term

    Floats = NDArray[np.float64]

Standing = Literal["all", "none", "some"]


def standing(constraints: Sequence[Separable], lo: Floats, hi: Floats) -> Standing:
    """Of the box from lo to hi."""
    ranges = [_range(constraint, lo, hi) for constraint in constraints]
    if any(least > 0 for least, _ in ranges):
        return "none"
    return "all" if all(most <= 0 for _, most in ranges) else "some"


def loosest(constraints: Sequence[Separable], lo: Floats, hi: Floats, features: Sequence[int]) -> int | None:
    """Of these features, the one that moves an undecided constraint most over the box; None if none does."""
    moved = {k: Fraction(0) for k in features}
    for constraint in constraints:
        least, most = _range(constraint, lo, hi)
        if least <= 0 < most:
            for k in features:
                low, high = _ends(constraint.terms[k], float(lo[k]), float(hi[k]))
                moved[k] = max(moved[k], (high - low) / (most - least))
    best = max(moved, key=lambda k: moved[k], default=None)
    return best if best is not None and moved[best] else None


def _range(constraint: Separable, lo: Floats, hi: Floats) -> tuple[Fraction, Fraction]:
    least = most = constraint.bias
    for term, low, high in zip(constraint.terms, lo.tolist(), hi.tolist(), strict=True):
        ends = _ends(term, low, high)
        least, most = least + ends[0], most + ends[1]
    return least, most


def _ends(term: Term, low: float, high: float) -> tuple[Fraction, Fraction]:
    """The smallest and the largest value of a term: a table, or linear."""
    if term.table is not None:
        values: Sequence[Fraction] = term.table[int(low) : int(high) + 1]
    else:
        values = [term.slope * Fraction(end) for end in (low, high)]
    return min(values), max(values)
