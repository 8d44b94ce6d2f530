"""Sums of squares: semidefinite relaxations of a polynomial over a cell, rounded to contents with an exact bound.

cube          axes, groups, places; polynomials and what is nonnegative on a cell
relaxations   which generators are used: "shor", "rlt", "d3", "o2", ...
moments       the semidefinite program as sparse arrays
solvers       clarabel and SCS
rounding      dual values to squares of whole numbers
exact         the rule `sos` in rationals
proposing     all of it in one call
"""

from likewise.families.polynomial.sos.cube import Cube, Group, cube_of
from likewise.families.polynomial.sos.exact import Block, Content, exact_bound
from likewise.families.polynomial.sos.proposal import FreeLean, Proposal, excess_for, propose

__all__ = [
    "propose",
    "FreeLean",
    "Proposal",
    "Cube",
    "Group",
    "cube_of",
    "Content",
    "Block",
    "exact_bound",
    "excess_for",
]
