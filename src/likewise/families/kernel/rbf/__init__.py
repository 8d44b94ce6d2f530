"""Kernel bounds (RBF): bounds of sums of Gaussians over cells of pair space.

`terms` turns a model into arrays, `oracle` bounds many cells of what both individuals share at once, `copy_bounds` the same
with numbers that may differ; between them one idea a file:

    local      the terms as seen from one cell: exp(-gamma R) sum_t C_t exp(L_t), L_t linear
    copies     the same for two individuals: C_t exp(L_t) - C'_t exp(L'_t)
    cubics     one-sided cubics of exp, and those of differences
    majorant   the sum of cubics, multiplied out and bounded by one function an axis
    separated  the maxima of those functions, and the hints that make them small
    coarse     a bound for large cells
    splitting  where to cut a cell

Everything is float64 and only proposes; the checker decides in exact arithmetic (spec/certificate-v1.md, section 7).
Not imported by `likewise` itself: it needs numba.
"""

from likewise.families.kernel.rbf.cell_bounds import NO_HINT, CellBounds, bound_cells
from likewise.families.kernel.rbf.copy_bounds import Boxes, bound_copies
from likewise.families.kernel.rbf.terms import (
    GroupedAxis,
    OneHotAxis,
    SlopedAxis,
    TableAxis,
    Terms,
    shared_terms,
)

__all__ = [
    "NO_HINT",
    "Boxes",
    "CellBounds",
    "GroupedAxis",
    "OneHotAxis",
    "SlopedAxis",
    "TableAxis",
    "Terms",
    "bound_cells",
    "bound_copies",
    "shared_terms",
]
