"""Obeying: a point of pair space moved into the constraints, as far as that is easy, and where to cut a cell whose best points break them. It only proposes.

One constraint and one variable at a time: each is moved as far as the constraint asks for, a hair further where there is room, and no further than its range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace
    from likewise.spec.terms import Separable, Term

    Floats = NDArray[np.float64]
    Range = tuple[float, float]

MOST_ROUNDS = 3  # passes over the constraints: what one moves may break another
VIOLATION_TOLERANCE = (
    1e-12  # by how much a constraint may be broken, by rounding, for a point to be worth an exact look
)
INWARD_STEP = 2.0**-50  # of what is added up: where rounding would leave a constraint broken


def project_point(pairs: PairSpace, ranges: Sequence[Range], point: Floats) -> None:
    """Move codes within their ranges until the constraints hold."""
    for _ in range(MOST_ROUNDS):
        for owner in (pairs.first, pairs.second):
            for constraint in pairs.constraints:
                hair = 0.0 if constraint.negated() in pairs.constraints else INWARD_STEP
                _move_into(constraint, owner, pairs, ranges, point, hair)


def project_points(pairs: PairSpace, lo: Floats, hi: Floats, points: Floats) -> Floats:
    """Those of the points that can be moved into the constraints, there; x' is kept within its tolerances of x."""
    ranges, found = list(zip(lo.tolist(), hi.tolist(), strict=True)), points.copy()
    for point in found:
        project_point(pairs, ranges, point)
        for i, j, relation in zip(pairs.first, pairs.second, pairs.relations, strict=True):
            if relation.tolerance is not None and not pairs.variables[i].discrete:
                low, high = relation.reach
                point[j] = min(max(point[j], point[i] + low), point[i] + high)
    holds = np.ones(len(found), dtype=bool)
    for constraint in pairs.constraints:
        for owner in (pairs.first, pairs.second):
            holds &= constraint.scores(found[:, list(owner)]) <= VIOLATION_TOLERANCE * (
                1 + abs(nearest_double(constraint.bias))
            )
    return found[holds]


def cut_along_constraint(pairs: PairSpace, lo: Floats, hi: Floats, point: Floats) -> tuple[int, float]:
    """Where to cut a cell so that a constraint that a point of it breaks excludes more of it: the discrete variable that moves the constraint most, and its
    middle; -1 where no constraint is broken, or nothing discrete is left to be cut."""
    worst, variable = 0.0, -1
    for owner in map(list, (pairs.first, pairs.second)):
        for constraint in pairs.constraints:
            broken = float(constraint.scores(point[None, owner])[0])
            if broken <= worst:
                continue
            spreads = [
                _term_spread(term, lo[v], hi[v]) if pairs.variables[v].discrete else 0.0
                for v, term in zip(owner, constraint.terms, strict=True)
            ]
            if max(spreads) > 0:
                worst, variable = broken, owner[int(np.argmax(spreads))]
    if variable < 0:
        return -1, 0.0
    return variable, float(math.floor(lo[variable] / 2 + hi[variable] / 2))


def _term_spread(term: Term, lo: float, hi: float) -> float:
    """By how much a term changes over a range."""
    if term.table is not None:
        entries = term.table[int(lo) : int(hi) + 1]
        return nearest_double(max(entries) - min(entries))
    return abs(nearest_double(term.slope)) * float(hi - lo)


def _move_into(
    constraint: Separable,
    owner: tuple[int, ...],
    pairs: PairSpace,
    ranges: Sequence[Range],
    point: Floats,
    hair: float,
) -> None:
    above = float(constraint.scores(point[None, list(owner)])[0])
    for k, v in enumerate(owner):
        if above <= 0:
            return
        term, (low, high) = constraint.terms[k], ranges[v]
        if term.table is not None:
            best = min(range(int(low), int(high) + 1), key=lambda p: term.table[p])  # type: ignore[index]
            above += nearest_double(term.table[best] - term.table[int(point[v])])
            point[v] = best
        elif term.slope:
            slope = nearest_double(term.slope)
            more = above / slope
            wanted = point[v] - more - math.copysign(hair * (abs(point[v]) + abs(more)), slope)
            if pairs.variables[v].discrete:
                wanted = math.floor(wanted) if slope > 0 else math.ceil(wanted)
            moved = min(max(wanted, low), high)
            above += slope * (moved - point[v])
            point[v] = moved
