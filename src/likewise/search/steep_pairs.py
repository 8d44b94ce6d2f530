"""Steep pairs: two individuals whose scores are far apart for how near they are, found by sampling and by small changes of the best ones, in float64. The referee decides.

The rate of a pair is (gap - slack) / e: what the constant of a Lipschitz claim has to be at least.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.allowances import allowances_of
from likewise.clock import OutOfTime, check_clock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Witness
    from likewise.search.task import SearchTask
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

SAMPLED = 4096  # pairs at first
KEPT = 64  # that are changed
CHANGES = 32  # of each of them at a time
ROUNDS = 40
REFEREED = 32  # steepest pairs that are put to the exact test
FINEST = 4  # differences are as small as ten to the minus this of a range


def find_steep_witness(task: SearchTask) -> Witness | None:
    """A pair that breaks the claim, if one is found; the steepest first."""
    with suppress(OutOfTime), task.budget.watched():
        points, rates = steepest_pairs(task)
        for i in np.argsort(-rates, kind="stable")[:REFEREED].tolist():
            check_clock()
            witness = task.referee(*task.pairs.split(points[i].tolist()))
            if witness is not None:
                return witness
    return None


def steepest_pairs(task: SearchTask) -> tuple[Floats, Floats]:
    """The best pairs that were found, as points, with their rates."""
    points = _sampled(task)
    rates = _rates(task, points)
    for turn in range(ROUNDS):
        check_clock()
        best = np.argsort(-rates, kind="stable")[:KEPT]
        points, rates = points[best], rates[best]
        changed = _changed(task, np.repeat(points, CHANGES, axis=0), turn)
        points = np.concatenate([points, changed])
        rates = np.concatenate([rates, _rates(task, changed)])
    best = np.argsort(-rates, kind="stable")[:KEPT]
    return points[best], rates[best]


def _rates(task: SearchTask, points: Floats) -> Floats:
    pairs, allowances = task.pairs, allowances_of(task.pairs)
    if allowances is None:
        return np.zeros(len(points))
    found = np.full(len(points), -np.inf)
    for line, first, second in _gaps(task, points):
        slack = float(getattr(line, "delta", 0))
        found = np.maximum(found, np.abs(first - second) - slack)
    apart = allowances.distance_at(points)
    found = np.where(_are_valid(pairs, points), found, -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.where(apart > 0, found / apart, np.where(found > 1e-12, np.inf, -np.inf))
    return np.where(np.isnan(rates), -np.inf, rates)


def _gaps(task: SearchTask, points: Floats) -> list[tuple[object, Floats, Floats]]:
    here, there = (task.scored(points[:, list(side)]) for side in (task.pairs.first, task.pairs.second))
    return [(case.line, case.sides(here)[0], case.sides(there)[1]) for case in task.sought.cases()]


def _are_valid(pairs: PairSpace, points: Floats) -> NDArray[np.bool_]:
    """Whether both satisfy the constraints, as far as float64 tells."""
    valid = np.ones(len(points), dtype=bool)
    for side in (pairs.first, pairs.second):
        codes = points[:, list(side)]
        for constraint in pairs.constraints:
            total = np.full(len(points), float(constraint.bias))
            for k, term in enumerate(constraint.terms):
                if term.table is not None:
                    total += np.array([float(v) for v in term.table])[codes[:, k].astype(np.intp)]
                elif term.slope:
                    total += float(term.slope) * codes[:, k]
            valid &= total <= 0
    return valid


def _sampled(task: SearchTask) -> Floats:
    pairs, random = task.pairs, task.random
    count = len(pairs.variables)
    points = np.empty((SAMPLED, count))
    rows = task.rows
    chosen = rows[random.integers(len(rows), size=SAMPLED // 2)] if len(rows) else rows
    for k, variable in enumerate(task.ranges):
        codes = random.uniform(variable.lo, variable.last, size=SAMPLED)
        if variable.discrete:
            codes = np.round(codes)
        codes[: len(chosen)] = np.clip(chosen[:, k], variable.lo, variable.last) if len(chosen) else codes[:0]
        points[:, pairs.first[k]] = points[:, pairs.second[k]] = codes
    moving = [k for k, relation in enumerate(pairs.relations) if relation.kind != "same"]
    # One feature alone in half of them, each of all with even chances in the others.
    alone = random.integers(len(moving), size=SAMPLED)
    for place, k in enumerate(moving):
        moves = (alone == place) | ((np.arange(SAMPLED) % 2 == 0) & (random.random(SAMPLED) < 0.5))
        _move(task, points, np.flatnonzero(moves), k)
    return points


def _changed(task: SearchTask, points: Floats, turn: int) -> Floats:
    """Other values for one feature: of both individuals alike, or of the second one."""
    pairs, random, found = task.pairs, task.random, points.copy()
    features = random.integers(len(pairs.relations), size=len(found))
    fine = 10.0 ** -random.uniform(0, 1 + 3 * turn / ROUNDS, size=len(found))
    for k, variable in enumerate(task.ranges):
        rows = np.flatnonzero(features == k)
        if not len(rows):
            continue
        i, j = pairs.first[k], pairs.second[k]
        both = rows if i == j else rows[random.random(len(rows)) < 0.5]
        width = variable.last - variable.lo
        step = random.uniform(-1, 1, size=len(both)) * width * fine[both]
        if variable.discrete:
            step = np.where(step < 0, np.floor(step), np.ceil(step))
        for v in {i, j}:
            found[both, v] = np.clip(found[both, v] + step, variable.lo, variable.last)
        if i != j:
            _move(task, found, np.setdiff1d(rows, both), k)
    return found


def _move(task: SearchTask, points: Floats, rows: NDArray[np.intp], k: int) -> None:
    """Another code for the second individual of some pairs, as the relation allows."""
    pairs, random = task.pairs, task.random
    i, j, relation, variable = pairs.first[k], pairs.second[k], pairs.relations[k], task.ranges[k]
    if not len(rows):
        return
    here = points[rows, i]
    if relation.kind == "pairs":
        allowed = np.array([*relation.allowed, *(pair[::-1] for pair in relation.allowed)])
        pick = allowed[random.integers(len(allowed), size=len(rows))]
        points[rows, i], points[rows, j] = pick[:, 0], pick[:, 1]
        return
    width = variable.last - variable.lo
    low, high = (-width, width) if relation.tolerance is None else relation.reach
    fine = 10.0 ** -random.uniform(0, FINEST, size=len(rows))
    step = np.clip(random.uniform(-1, 1, size=len(rows)) * width * fine, low, high)
    if variable.discrete:
        step = np.clip(np.where(step < 0, np.floor(step), np.ceil(step)), np.ceil(low), np.floor(high))
    points[rows, j] = np.clip(here + step, variable.lo, variable.last)
