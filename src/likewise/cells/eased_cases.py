"""Cases eased by an allowance: at one pair, and over a cell, scores may be further apart than delta because the individuals are (`spec.allowance`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.model.cases import ScoreCase

if TYPE_CHECKING:
    from likewise.model.cases import Case
    from likewise.spec.pairs import PairSpace


def case_in_cell(pairs: PairSpace, case: Case, lo: Sequence[float], hi: Sequence[float]) -> Case:
    """What a line over a cell has to show: no pair of it is nearer than its least distance."""
    if pairs.allowance is None or not isinstance(case, ScoreCase):
        return case
    least = pairs.allowance.least(pairs, lo, hi)
    return case if least is None else case.eased(least)


def case_at_pair(pairs: PairSpace, case: Case, x: Sequence[Fraction], other: Sequence[Fraction]) -> Case:
    """What is to be shown of one pair: by no more than is surely allowed."""
    if pairs.allowance is None or not isinstance(case, ScoreCase):
        return case
    return case.eased(pairs.allowance.ends(x, other)[0])


def are_identical(pairs: PairSpace, lo: Sequence[float], hi: Sequence[float]) -> bool:
    """Whether both individuals are one and the same in every pair of a cell."""
    for k, (i, j) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        place = pairs.difference[k] if pairs.difference else None
        fixed = i == j or lo[i] == hi[i] == lo[j] == hi[j]
        if not fixed and (place is None or not lo[place] == hi[place] == 0):
            return False
    return True
