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
TURNS_BETWEEN = 8  # between two looks at the steepest ways
DIFFERENCE = 1e-4  # of a range, of which derivatives are made
WAYS = (0.5, 1e-2)  # how far a way is gone, of the cheapest range
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
        if turn % TURNS_BETWEEN == 0:
            changed = np.concatenate([changed, _steepest_ways(task, points)])
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


def _steepest_ways(task: SearchTask, points: Floats) -> Floats:
    """From the first individual of each pair in the direction in which the score rises most for what it costs: continuous numbers alone, by differences."""
    pairs, allowance = task.pairs, task.pairs.allowance
    priced = {} if allowance is None else {k: cost.each for k, cost in enumerate(allowance.costs) if cost}
    numbers = {
        k: float(each)
        for k, each in priced.items()
        if each and pairs.relations[k].kind != "same" and not task.ranges[k].discrete
    }
    if allowance is None or not numbers or task.sought.several:
        return points[:0]
    rise, at = {}, points[:, list(pairs.first)]
    here = task.scored(at)
    for k in numbers:
        size, moved = DIFFERENCE * (task.ranges[k].last - task.ranges[k].lo), at.copy()
        step = np.where(moved[:, k] + size > task.ranges[k].last, -size, size)
        moved[:, k] += step
        with np.errstate(divide="ignore", invalid="ignore"):
            rise[k] = np.nan_to_num((task.scored(moved) - here) / step)
    found = []
    for length in WAYS:
        ways = points.copy()
        for k, each in numbers.items():
            share = np.sign(rise[k])
            if allowance.norm == 2:
                total = np.sqrt(sum((rise[j] / c) ** 2 for j, c in numbers.items()))
                share = rise[k] / each / np.maximum(total, np.finfo(np.float64).tiny)
            elif allowance.norm == 1:
                best = np.max([np.abs(rise[j]) / c for j, c in numbers.items()], axis=0)
                share = np.where(np.abs(rise[k]) / each >= best, share, 0.0)
            widths = [(task.ranges[j].last - task.ranges[j].lo) * c for j, c in numbers.items()]
            reach = (
                pairs.relations[k].reach if pairs.relations[k].tolerance is not None else (-np.inf, np.inf)
            )
            move = np.clip(share * length * min(widths) / each, *reach)
            i, j, ends = pairs.first[k], pairs.second[k], task.ranges[k]
            ways[:, i] = np.clip(ways[:, i], ends.lo - np.minimum(move, 0), ends.last - np.maximum(move, 0))
            ways[:, j] = np.clip(ways[:, i] + move, ends.lo, ends.last)
        found.append(ways)
    return np.concatenate(found)


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
