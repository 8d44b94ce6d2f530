"""Kernel oracle (RBF): bounds of sums of Gaussians over cells of the features that both individuals share.

`terms` turns a model into arrays, `oracle` bounds many cells at once; between them one idea a file:

    local      the terms as seen from one cell: exp(-gamma R) sum_t C_t exp(L_t), L_t linear
    cubics     one-sided cubics of exp
    majorant   the sum of cubics, multiplied out and bounded by one function an axis
    separated  the maxima of those functions, and the hints that make them small
    coarse     a bound for large cells
    splitting  where to cut a cell

Everything is float64 and only proposes; the checker decides in exact arithmetic (spec/certificate-v1.md, section 7).
Not imported by `likewise` itself: it needs numba.
"""

from likewise.bounds.rbf.oracle import NO_HINT, CellBounds, bound_cells
from likewise.bounds.rbf.terms import OneHotAxis, SlopedAxis, TableAxis, Terms, shared_terms

__all__ = [
    "NO_HINT",
    "CellBounds",
    "OneHotAxis",
    "SlopedAxis",
    "TableAxis",
    "Terms",
    "bound_cells",
    "shared_terms",
]
