"""Narrowing: the part of pair space that constraints leave to each variable, and cells in which they leave nobody.

A constraint  bias + sum_k phi_k(x_k) <= 0  leaves x_k the codes with

    phi_k(x_k)  <=  -bias - sum over the other features of the smallest phi over their ranges,

an end of its range for a number, the first and the last level that are left otherwise. All in rationals; ends are rounded
outwards to codes, so nobody is lost. What is cut off is closed by the rule `empty` with that one constraint, at x or at x': a
certificate stays about the space as it was declared, and a checker sees for itself that the rest has no pairs.

Any cell without pairs is closed by that rule: no similar codes are left, constraints exclude all, or all are further apart than a distance lets them be. `empty_leaf` sees what one constraint does by itself, in exact
arithmetic. `excludes` decides of any leaf of the rule, also of one that weighs several constraints (`relaxation` proposes them): exactly what a checker computes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.leaf import Leaf
from likewise.cells.nearness import nearness_of
from likewise.cells.penalty import admissible
from likewise.cells.separable import exact_bound
from likewise.model.witness_set import EMPTY_DIRECTION
from likewise.spec.numbers import double_above, double_below
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import Separable, Term

if TYPE_CHECKING:
    from likewise.spec.pairs import PairSpace, Variable


MOST_ROUNDS = 4  # in which constraints narrow what others start from
# Of a range: what a constraint between several features has to cut off. One about a single feature may cut off as little as it likes.
WORTHWHILE_SHARE = Fraction(1, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeCut:
    """A variable is cut after `at`; one part has no pairs, by `leaf`. `after` is the next double, None for whole numbers."""

    variable: int
    at: float
    after: float | None
    keeps_left: bool
    leaf: Leaf


@dataclass(slots=True, kw_only=True)
class TightenedRanges:
    """The limits that are left, by the cuts in their order; `empty_leaf` closes all of it where no pair is left."""

    lo: list[float]
    hi: list[float]
    cuts: list[RangeCut]
    nobody: Leaf | None = None


def tighten_ranges(pairs: PairSpace) -> TightenedRanges:
    """What the constraints leave of the ranges of all variables, each taken by itself."""
    lo, hi = pairs.ends
    found = TightenedRanges(lo=lo, hi=hi, cuts=[])
    for _ in range(MOST_ROUNDS if pairs.constraints else 0):
        before = len(found.cuts)
        for side, owner in enumerate((pairs.first, pairs.second)):
            for j, constraint in enumerate(pairs.constraints):
                leaf = constraint_leaf(pairs, side, j)
                if not _tighten_by(pairs, constraint, owner, leaf, found):
                    found.nobody = leaf
                    return found
        if len(found.cuts) == before:
            break
    return found


def constraint_leaf(pairs: PairSpace, side: int, constraint: int) -> Leaf:
    """The leaf of one constraint, at x (side 0) or at x'."""
    weights = [Fraction(0)] * (2 * len(pairs.constraints))
    weights[side * len(pairs.constraints) + constraint] = Fraction(1)
    return Leaf(rule="empty", multipliers=tuple(weights))


def _tighten_by(
    pairs: PairSpace, constraint: Separable, owner: tuple[int, ...], leaf: Leaf, found: TightenedRanges
) -> bool:
    """Cut off what one constraint excludes on one side; False where that is everything."""
    spoken = [k for k, term in enumerate(constraint.terms) if not term.constant]
    least = constraint.least([found.lo[v] for v in owner], [found.hi[v] for v in owner])
    if least > 0:
        return False
    share = WORTHWHILE_SHARE if len(spoken) > 1 else Fraction(0)
    for k in spoken:
        v, term = owner[k], constraint.terms[k]
        smallest = _smallest_value(term, found.lo[v], found.hi[v])
        low, high = _remaining_range(term, pairs.variables[v], found.lo[v], found.hi[v], smallest - least)
        for cut in _range_cuts(pairs.variables[v], v, (found.lo[v], low), (high, found.hi[v]), leaf, share):
            found.cuts.append(cut)
            if cut.keeps_left:
                found.hi[v] = high
            else:
                found.lo[v] = low
    return True


def _smallest_value(term: Term, lo: float, hi: float) -> Fraction:
    if term.table is not None:
        return min(term.table[int(lo) : int(hi) + 1])
    return min(term.slope * Fraction(lo), term.slope * Fraction(hi))


def _remaining_range(
    term: Term, variable: Variable, lo: float, hi: float, most: Fraction
) -> tuple[float, float]:
    """The ends of the codes at which a term is at most so large; its smallest value is."""
    if term.table is not None:
        inside = [p for p in range(int(lo), int(hi) + 1) if term.table[p] <= most]
        return float(inside[0]), float(inside[-1])
    limit = most / term.slope
    if term.slope > 0:
        if limit >= Fraction(hi):
            return lo, hi
        return lo, float(math.floor(limit)) if variable.discrete else double_below(limit)
    if limit <= Fraction(lo):
        return lo, hi
    return float(math.ceil(limit)) if variable.discrete else double_above(limit), hi


def _range_cuts(
    variable: Variable,
    v: int,
    below: tuple[float, float],
    above: tuple[float, float],
    leaf: Leaf,
    share: Fraction,
) -> Iterator[RangeCut]:
    """The cuts that take the ranges `below` and `above` away, as far as they are worth it."""
    width = Fraction(above[1]) - Fraction(below[0])
    for (start, end), keeps_left in ((below, False), (above, True)):
        if start == end or Fraction(end) - Fraction(start) < share * width:
            continue
        if keeps_left:
            at = start
        else:
            at = end - 1 if variable.discrete else math.nextafter(end, -math.inf) + 0.0  # one zero
        after = None if variable.discrete else math.nextafter(at, math.inf) + 0.0
        yield RangeCut(variable=v, at=at, after=after, keeps_left=keeps_left, leaf=leaf)


def empty_leaf(pairs: PairSpace, lo: Sequence[float], hi: Sequence[float]) -> Leaf | None:
    """The leaf that closes a cell without pairs; None where neither reason is seen."""
    count = len(pairs.constraints)
    if not all(_has_similar_codes(pairs, k, lo, hi) for k in range(len(pairs.relations))):
        return Leaf(rule="empty", multipliers=(Fraction(0),) * (2 * count))
    for side, owner in enumerate((pairs.first, pairs.second)):
        for j, constraint in enumerate(pairs.constraints):
            if constraint.least([lo[v] for v in owner], [hi[v] for v in owner]) > 0:
                return constraint_leaf(pairs, side, j)
    return None if pairs.distance is None else far_leaf(pairs, lo, hi)


def far_leaf(pairs: PairSpace, lo: Sequence[float], hi: Sequence[float]) -> Leaf | None:
    """The leaf of a cell whose pairs are all further apart than the distance lets them be; None where it is not."""
    nearness = nearness_of(pairs)
    if nearness is None or nearness.least(np.array([lo]), np.array([hi]))[0] < nearness.bound:
        return None
    leaf = Leaf(rule="empty", multipliers=nearness.far_multipliers(np.array(lo), np.array(hi)))
    return leaf if excludes(pairs, lo, hi, leaf) else None


def excludes(pairs: PairSpace, lo: Sequence[float], hi: Sequence[float], leaf: Leaf) -> bool:
    """Whether a leaf of the rule `empty` shows that the cell has no pair. Exact."""
    if len(leaf.multipliers) < 2 * len(pairs.constraints) or not admissible(pairs, leaf.multipliers):
        return False
    nothing = Separable(bias=Fraction(0), terms=(Term(),) * len(pairs.relations))
    bound = exact_bound(nothing, pairs, EMPTY_DIRECTION, leaf.multipliers).bound(lo, hi)
    return bound is None or bound < 0


def _has_similar_codes(pairs: PairSpace, k: int, lo: Sequence[float], hi: Sequence[float]) -> bool:
    """Whether the intervals of a feature have codes within its tolerance, or levels that are an allowed pair."""
    relation, i, j = pairs.relations[k], pairs.first[k], pairs.second[k]
    if relation.kind in ("same", "free"):
        return True
    if relation.limits is None and max(lo[j] - hi[i], lo[i] - hi[j]) <= 0:
        return True
    if relation.tolerance is None:
        both_ways = [pair for a, b in relation.allowed for pair in ((a, b), (b, a))]
        return any(lo[i] <= a <= hi[i] and lo[j] <= b <= hi[j] for a, b in both_ways)
    least, most = Fraction(lo[j]) - Fraction(hi[i]), Fraction(hi[j]) - Fraction(lo[i])
    return least <= relation.apart[1] and relation.apart[0] <= most
