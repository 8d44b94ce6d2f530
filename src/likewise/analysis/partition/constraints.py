"""Constraints over boxes: whether all individuals of a box satisfy them, none, or some. Exact.

A box is one part a feature: the ends of a range of numbers, or the positions of all its levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.spec.pairs import constraint_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.boxes import Box
    from likewise.spec.terms import Separable, Term

    Floats = NDArray[np.float64]

CodePart = Sequence[float]
ConstraintStatus = Literal["all", "none", "some"]


def constraint_status(constraints: Sequence[Separable], lo: Floats, hi: Floats) -> ConstraintStatus:
    """Of the individuals with codes from lo to hi: who satisfies the constraints."""
    ranges = [_value_range(constraint, _code_parts(constraint, lo, hi)) for constraint in constraints]
    if any(least > 0 for least, _ in ranges):
        return "none"
    return "all" if all(most <= 0 for _, most in ranges) else "some"


def most_moving_feature(
    constraints: Sequence[Separable], lo: Floats, hi: Floats, features: Sequence[int]
) -> int | None:
    """Of these features, the one that moves an undecided constraint most over the box; None if none does."""
    moved = {k: Fraction(0) for k in features}
    for constraint in constraints:
        parts = _code_parts(constraint, lo, hi)
        least, most = _value_range(constraint, parts)
        if least <= 0 < most:
            for k in features:
                low, high = _term_range(constraint.terms[k], parts[k])
                moved[k] = max(moved[k], (high - low) / (most - least))
    best = max(moved, key=lambda k: moved[k], default=None)
    return best if best is not None and moved[best] else None


def excludes_box(box: Box) -> bool:
    """Whether one constraint by itself excludes everybody in the box."""
    return any(
        _value_range(constraint_terms(box.space, constraint), box.parts)[0] > 0
        for constraint in box.space.constraints
    )


def allows_box(box: Box, names: set[str]) -> bool:
    """Whether everybody in the box satisfies every constraint that speaks of one of these features."""
    return all(
        _value_range(constraint_terms(box.space, constraint), box.parts)[1] <= 0
        for constraint in box.space.constraints
        if names & set(constraint.names)
    )


def _code_parts(constraint: Separable, lo: Floats, hi: Floats) -> list[CodePart]:
    """All codes of features that the constraint has a table of, the ends of the others."""
    ends = zip(constraint.terms, lo.tolist(), hi.tolist(), strict=True)
    return [(low, high) if term.table is None else range(int(low), int(high) + 1) for term, low, high in ends]


def _value_range(constraint: Separable, parts: Sequence[CodePart]) -> tuple[Fraction, Fraction]:
    """The smallest and the largest value over a box."""
    least = most = constraint.bias
    for term, part in zip(constraint.terms, parts, strict=True):
        ends = _term_range(term, part)
        least, most = least + ends[0], most + ends[1]
    return least, most


def _term_range(term: Term, part: CodePart) -> tuple[Fraction, Fraction]:
    if term.table is not None:
        values = [term.table[int(place)] for place in part]
    else:
        values = [term.slope * Fraction(value) for value in part]
    return min(values), max(values)
