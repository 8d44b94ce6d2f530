"""Cells without any pair, closed by the rule `empty`: no similar codes are left, or constraints exclude all.

`empty_leaf` sees what one constraint does by itself, in exact arithmetic. `excludes` decides of any leaf of the rule, also of one that weighs
several constraints (`relaxation` proposes them): exactly what a checker computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from likewise.cells.leaf import Leaf
from likewise.cells.narrowing import excluding
from likewise.cells.separable import exact_bound
from likewise.model.question import NOWHERE
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import Separable, Term


def empty_leaf(pairs: PairSpace, lo: Sequence[float], hi: Sequence[float]) -> Leaf | None:
    """The leaf that closes a cell without pairs; None where neither reason is seen."""
    count = len(pairs.constraints)
    if not all(_similar(pairs, k, lo, hi) for k in range(len(pairs.relations))):
        return Leaf(rule="empty", multipliers=(Fraction(0),) * (2 * count))
    for side, owner in enumerate((pairs.first, pairs.second)):
        for j, constraint in enumerate(pairs.constraints):
            if constraint.least([lo[v] for v in owner], [hi[v] for v in owner]) > 0:
                return excluding(pairs, side, j)
    return None


def excludes(pairs: PairSpace, lo: Sequence[float], hi: Sequence[float], leaf: Leaf) -> bool:
    """Whether a leaf of the rule `empty` shows that the cell has no pair. Exact."""
    if len(leaf.multipliers) != 2 * len(pairs.constraints) or any(m < 0 for m in leaf.multipliers):
        return False
    nothing = Separable(bias=Fraction(0), terms=(Term(),) * len(pairs.relations))
    bound = exact_bound(nothing, pairs, NOWHERE, leaf.multipliers).bound(lo, hi)
    return bound is None or bound < 0


def _similar(pairs: PairSpace, k: int, lo: Sequence[float], hi: Sequence[float]) -> bool:
    """Whether the intervals of a feature have codes within its tolerance, or levels that are an allowed pair."""
    relation, i, j = pairs.relations[k], pairs.first[k], pairs.second[k]
    if relation.kind in ("same", "free") or max(lo[j] - hi[i], lo[i] - hi[j]) <= 0:
        return True
    if relation.tolerance is None:
        both_ways = [pair for a, b in relation.allowed for pair in ((a, b), (b, a))]
        return any(lo[i] <= a <= hi[i] and lo[j] <= b <= hi[j] for a, b in both_ways)
    apart = max(Fraction(lo[j]) - Fraction(hi[i]), Fraction(lo[i]) - Fraction(hi[j]))
    return apart <= relation.tolerance
