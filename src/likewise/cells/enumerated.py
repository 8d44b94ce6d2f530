"""Rule `enumerated`: a cell of discrete variables holds no witness because every pair was looked at.

For every value of the shared variables both sides' individuals are scored exactly, once each; then every
combination that is similar and satisfies the constraints is put to the question. Variables that are
differences are left aside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Protocol

from likewise.cells.eased_cases import case_at_pair
from likewise.cells.leaf import Clearance
from likewise.clock import check_clock
from likewise.spec.enclosure import FIRST_BITS, Encloser, Scores, as_several, decide, decided_by_enclosures
from likewise.spec.pairs import PairSpace

if TYPE_CHECKING:
    from likewise.model.cases import Case

Codes = list[Fraction]


class FeatureDependent(Protocol):
    """What knows which features its values can change with."""

    def depends(self, feature: int) -> bool: ...


def pair_count(pairs: PairSpace, lo: Sequence[float], hi: Sequence[float]) -> float:
    """How many points the cell has: infinite if a continuous variable is not fixed."""
    sizes = [
        int(h - low) + 1 if variable.discrete else (1 if low == h else float("inf"))
        for variable, low, h in zip(pairs.variables, lo, hi, strict=False)  # inner quantities aside
        if variable.side != "difference"
    ]
    return math.prod(sizes)


def is_independent(pairs: PairSpace, score: FeatureDependent) -> bool:
    """Rule `is_independent`: no feature that may differ can change the score."""
    return not any(score.depends(k) for k, relation in enumerate(pairs.relations) if relation.kind != "same")


def enumerated_clearance(
    pairs: PairSpace, enclose: Encloser, lo: Sequence[float], hi: Sequence[float], case: Case
) -> Clearance | None:
    """The smallest clearance of all pairs of the cell, None if one is a witness or may be one. Exact."""
    smallest: Clearance = math.inf
    for x, other, answer, first, second in decide_pairs(pairs, enclose, lo, hi, case):
        if answer is not False:
            if pairs.valid(x, other):
                return None
        elif (
            clearance := case_at_pair(pairs, case, x, other).pair_clearance(
                as_several(first), as_several(second)
            )
        ) < smallest and pairs.valid(x, other):
            smallest = clearance
    return smallest


def find_witnesses(
    pairs: PairSpace, enclose: Encloser, lo: Sequence[float], hi: Sequence[float], case: Case
) -> Iterator[tuple[Codes, Codes]]:
    """All witnesses of a cell of discrete (or fixed) variables, undecided pairs among them."""
    for x, other, answer, _, _ in decide_pairs(pairs, enclose, lo, hi, case):
        if answer is not False and pairs.valid(x, other):
            yield x, other


def decide_pairs(
    pairs: PairSpace, enclose: Encloser, lo: Sequence[float], hi: Sequence[float], case: Case
) -> Iterator[tuple[Codes, Codes, bool | None, Scores, Scores]]:
    """All points of the cell, valid or not, with the case's answer and both scores."""
    values = [
        [] if variable.side == "difference" else _codes_between(low, high)
        for variable, low, high in zip(pairs.variables, lo, hi, strict=False)  # inner quantities aside
    ]
    shared = [v for v, variable in enumerate(pairs.variables) if variable.side == "both"]
    for setting in product(*(values[v] for v in shared)):
        check_clock()
        fixed = dict(zip(shared, setting, strict=True))
        sides = [
            [(codes, enclose(codes, FIRST_BITS)) for codes in _individuals(owner, values, fixed)]
            for owner in (pairs.first, pairs.second)
        ]
        for (x, first), (other, second) in product(*sides):
            asked = case_at_pair(pairs, case, x, other)
            answer = decided_by_enclosures(asked, first, second)
            if answer is None:
                answer, first, second = decide(asked, enclose, x, other)
            yield x, other, answer, first, second


def _codes_between(low: float, high: float) -> list[Fraction]:
    if low == high:
        return [Fraction(low)]
    return [Fraction(code) for code in range(int(low), int(high) + 1)]


def _individuals(
    owner: Sequence[int], values: list[list[Fraction]], fixed: dict[int, Fraction]
) -> Iterator[Codes]:
    """All individuals of one side for one setting of the shared variables."""
    return (list(codes) for codes in product(*([fixed[v]] if v in fixed else values[v] for v in owner)))
