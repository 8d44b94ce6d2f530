"""Falsification: look for a witness before proving anything. Cheap, vectorised, never a proof.

1. Take known rows and random rows, and of each the deepest pair of its variants (`variants`).
2. From the deepest rows on, climb: one shared feature at a time, try other values for it, keep the best. Where the best pair is wanted steps get finer,
   and at last two features change at a time.

Works on `scores` alone, so it serves every model family.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from itertools import combinations as couples_of
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.progress import Snapshot
from likewise.search.budget import BudgetUntil
from likewise.search.task import ROWS_OF_SCORES
from likewise.search.variants import (
    MOST_VARIANTS,
    codes_to_try,
    deepest_pairs,
    differing_settings,
    leaves_a_direction,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Witness
    from likewise.search.task import SearchTask

    Floats = NDArray[np.float64]

GRACE_SHARE = 0.25  # of the grace, for the first look at rows where the budget is over by then
CLIMB_SHARE = 0.1  # of what is left of the budget, where a search that proposes pairs by itself follows
RANDOM_ROWS = 512
MOST_KERNEL_VALUES = 20_000_000  # kernel values spent on the first stage
LEAST_ROWS = 64
MOST_CLIMBERS = 16  # rows that climb
LEAST_CLIMBERS = 4
ROUNDS = 4  # passes over all shared features
MOST_ROUNDS = 32  # where the best pair is wanted; it ends sooner where nothing gets better
MISSING_SHARE = 0.125  # of random rows that miss a continuous number
HALVING_STEPS = 6  # values tried for a number besides its ends and its own: halving steps to either side
FINEST_STEP = 36  # halvings of a range, where the best pair is wanted: what is below moves a smooth score by less than it is rounded
MOST_OF_BOTH = 20_000  # values of two features that are all tried together
MOST_REFEREED = 8  # deepest pairs put to the exact test after each stage


def falsify(problem: SearchTask) -> Witness | None:
    """The first witness that turns up, or None: which says nothing."""
    with suppress(OutOfTime):
        with problem.budget.later(GRACE_SHARE).watched():
            combinations, x, other, depth, climbers = _starting_pairs(problem)
            witness = _first_witness(problem, x, other, depth)
        with problem.budget.watched():
            for _ in range(ROUNDS):
                if witness is not None:
                    return witness
                climbers, x, other, depth = _climb(problem, climbers, combinations)
                witness = _first_witness(problem, x, other, depth)
            return witness
    return None


def find_deepest(problem: SearchTask) -> Witness | None:
    """The same for a search that wants the best pair, not the first: climb to the top before anything is judged."""
    with suppress(OutOfTime), problem.budget.later(GRACE_SHARE).watched():
        combinations, x, other, depth, climbers = _starting_pairs(problem)
        witness = _first_witness(problem, x, other, depth)
        return climb_from(problem, climbers, combinations) or witness
    return None


def nearest_pairs(problem: SearchTask, count: int) -> list[tuple[list[float], list[float]]]:
    """The pairs that come nearest to being witnesses in float64, of known and random rows and of those that climbed from them."""
    combinations, x, other, depth, climbers = _starting_pairs(problem)
    _, *more = _climb(problem, climbers, combinations)
    x, other, depth = (np.concatenate(both) for both in zip((x, other, depth), more, strict=True))
    if problem.snap_codes is not None:
        x, other = problem.snap_codes(x), problem.snap_codes(other)
    order = np.argsort(-depth)[:count]
    return list(zip(x[order].tolist(), other[order].tolist(), strict=True))


def climb_from(
    problem: SearchTask, rows: Floats, combinations: list[dict[int, float | str]] | None = None
) -> Witness | None:
    """The deepest witness that coordinate ascent from these individuals leads to."""
    if combinations is None:
        combinations = differing_settings(problem)
    with suppress(OutOfTime), problem.budget.later(GRACE_SHARE).watched():
        x, other, depth = deepest_pairs(problem, rows, combinations)
        with suppress(OutOfTime), problem.budget.watched():
            finer = 0
            for _ in range(MOST_ROUNDS):
                before = depth.max()
                rows, x, other, depth = _climb(problem, rows, combinations, finer)
                if depth.max() <= before:
                    finer += HALVING_STEPS
                # Scores of finitely many values are flat in between.
                if finer > (0 if problem.oracles.remembers else FINEST_STEP):
                    break
        return _first_witness(problem, x, other, depth)
    return None


def climb_for_a_while(problem: SearchTask, rows: Floats) -> Witness | None:
    """The same within a small share of the budget."""
    return climb_from(replace(problem, budget=problem.budget.part(CLIMB_SHARE)), rows)


def climb_ridges(problem: SearchTask, seconds: float) -> Witness | None:
    """The deepest witness that two features at a time lead to, from many individuals: where no step along
    one feature goes up."""
    end = problem.budget.elapsed + min(seconds, CLIMB_SHARE * problem.budget.left)
    brief = replace(problem, budget=BudgetUntil(problem.budget, end))
    found: list[Floats] = []
    combinations = differing_settings(brief)
    with suppress(OutOfTime), brief.budget.watched():
        *_, climbers = _starting_pairs(brief)
        climbers, *_ = _climb(brief, climbers, combinations)
        # Those that were reached before the time was over stay in the list.
        order = problem.random.permutation(len(climbers)).tolist()
        found.extend(_climb_by_two(brief, climbers[[i]], combinations) for i in order)
    return climb_from(brief, np.concatenate(found), combinations) if found else None


def _starting_pairs(
    problem: SearchTask,
) -> tuple[list[dict[int, float | str]], Floats, Floats, Floats, Floats]:
    """Settings of what may differ, the deepest pairs of known and random rows, and the rows that are to climb."""
    problem.listener(Snapshot(stage="looking for a pair", seconds=problem.budget.elapsed))
    combinations = differing_settings(problem)
    affordable = _affordable_rows(problem, len(combinations))
    rows = np.concatenate([problem.rows, random_rows(problem, min(RANDOM_ROWS, affordable))])
    if len(rows) > affordable and problem.cost > 1:
        rows = rows[problem.random.permutation(len(rows))[:affordable]]
    rows, x, other, depth = _deepest_pairs_in_time(problem, rows, combinations)
    count = max(LEAST_CLIMBERS, min(MOST_CLIMBERS, 2 * affordable // LEAST_ROWS))
    return combinations, x, other, depth, rows[np.argsort(-depth)[:count]]


def _deepest_pairs_in_time(
    problem: SearchTask, rows: Floats, combinations: list[dict[int, float | str]]
) -> tuple[Floats, Floats, Floats, Floats]:
    """The rows that there is time for, with their deepest pairs."""
    some = max(1, ROWS_OF_SCORES // (problem.cost * len(combinations)))
    parts: list[tuple[Floats, Floats, Floats]] = []
    for first in range(0, len(rows), some):
        if parts and problem.budget.over:
            break
        parts.append(deepest_pairs(problem, rows[first : first + some], combinations))
    x, other, depth = (np.concatenate(part) for part in zip(*parts, strict=True))
    return rows[: len(x)], x, other, depth


def random_rows(problem: SearchTask, count: int) -> Floats:
    """Individuals drawn uniformly from the ranges that constraints leave; they may not hold for all of them."""
    columns = []
    for variable in problem.ranges:
        if variable.discrete:
            columns.append(
                problem.random.integers(int(variable.lo), int(variable.hi) + 1, count).astype(float)
            )
        else:
            share = problem.random.uniform(0, 1, count)  # hi - lo may overflow
            values = np.clip(variable.lo * (1 - share) + variable.last * share, variable.lo, variable.last)
            if variable.missing is not None:
                values[problem.random.uniform(0, 1, count) < MISSING_SHARE] = variable.missing
            columns.append(values)
    return np.stack(columns, axis=1) if columns else np.empty((count, 0))


def sees_all_counterparts(problem: SearchTask) -> bool:
    """Whether the first look at rows is at all of them, beside everybody who is similar: what may differ are few levels or whole numbers, whichever they are."""
    settings = 1.0
    for variable, relation in zip(problem.ranges, problem.pairs.relations, strict=True):
        if relation.kind != "same":
            if relation.kind == "within" or not variable.discrete:
                return False
            settings *= float(variable.hi - variable.lo) + 1
    if settings > MOST_VARIANTS:
        return False
    return problem.cost == 1 or len(problem.rows) + RANDOM_ROWS <= _affordable_rows(problem, int(settings))


def _affordable_rows(problem: SearchTask, settings: int) -> int:
    """A score of a kernel model costs as much as its support vectors are many: fewer rows are looked at then."""
    return int(max(LEAST_ROWS, MOST_KERNEL_VALUES // (problem.cost * settings)))


def _first_witness(problem: SearchTask, x: Floats, other: Floats, depth: Floats) -> Witness | None:
    for i in np.argsort(-depth)[:MOST_REFEREED]:
        if depth[i] <= 0:
            break
        check_clock()
        witness = problem.referee(x[i].tolist(), other[i].tolist())
        if witness is not None:
            return witness
    return None


def _climb(
    problem: SearchTask, rows: Floats, combinations: list[dict[int, float | str]], finer: int = 0
) -> tuple[Floats, Floats, Floats, Floats]:
    """One pass of coordinate ascent over the features that both individuals share or move together; in `finer` steps only over those that have any."""
    for k in problem.random.permutation(rows.shape[1]):
        if not _climbs(problem, int(k)):
            continue
        variable = problem.ranges[k]
        if finer and variable.discrete and float(variable.last - variable.lo) < 2.0**finer:
            continue
        values = _values_to_try(problem, int(k), rows[:, k], finer)
        tried = np.repeat(rows[:, None, :], values.shape[0], axis=1)
        tried[:, :, k] = values.T
        _, _, depth = deepest_pairs(problem, tried.reshape(-1, rows.shape[1]), combinations)
        best = depth.reshape(values.T.shape).argmax(axis=1)
        rows = tried[np.arange(len(rows)), best]
    return rows, *deepest_pairs(problem, rows, combinations)


def _climb_by_two(problem: SearchTask, rows: Floats, combinations: list[dict[int, float | str]]) -> Floats:
    """The same for one individual with two features at a time, in no order, as far as that is affordable: on a ridge no step along one of them goes up."""
    climbing = [k for k in range(rows.shape[1]) if _climbs(problem, k)]
    both = list(couples_of(climbing, 2))
    left = MOST_KERNEL_VALUES // (problem.cost * len(combinations))
    for place in problem.random.permutation(len(both)).tolist():
        j, k = both[place]
        one, other = _values_of_both(problem, j, k, rows)
        left -= len(one) * len(other)
        if left < 0:
            break
        tried = np.repeat(rows, len(one) * len(other), axis=0)
        tried[:, j], tried[:, k] = np.repeat(one, len(other)), np.tile(other, len(one))
        _, _, depth = deepest_pairs(problem, tried, combinations)
        rows = tried[[depth.argmax()]]
    return rows


def _values_of_both(problem: SearchTask, j: int, k: int, rows: Floats) -> tuple[Floats, Floats]:
    """What two features are tried at: all that there is, if that is not too much."""
    ranges = problem.ranges[j], problem.ranges[k]
    if (
        all(one.discrete for one in ranges)
        and math.prod(int(one.last - one.lo) + 1 for one in ranges) <= MOST_OF_BOTH
    ):
        found = [np.arange(float(one.lo), float(one.last) + 1) for one in ranges]
        return found[0], found[1]
    one, other = (_values_to_try(problem, feature, rows[:, feature])[:, 0] for feature in (j, k))
    return one, other


def _climbs(problem: SearchTask, k: int) -> bool:
    """Whether both individuals share a feature or move together in it."""
    relation = problem.pairs.relations[k]
    return relation.kind not in ("free", "pairs") and not (relation.limits and leaves_a_direction(problem, k))


def _values_to_try(problem: SearchTask, k: int, now: Floats, finer: int = 0) -> Floats:
    """Values to try for one feature, one line each: first its own, so that ties change nothing. Steps are halved `finer` times before they are tried."""
    variable = problem.ranges[k]
    lo, hi = float(variable.lo), float(variable.last)
    if variable.discrete and hi - lo < 2 * HALVING_STEPS:
        settings = [np.full(len(now), lo + i) for i in range(int(hi - lo) + 1)]
    else:
        settings = [np.full(len(now), value) for value in (lo, hi, *codes_to_try(problem, k))]
        for step in range(finer + 1, finer + HALVING_STEPS + 1):
            reach = (hi - lo) / 2**step * problem.random.uniform(0.5, 1.0)
            settings += [now - reach, now + reach]
    values = np.clip(np.stack(settings), lo, hi)
    gaps = [] if variable.missing is None else [np.full(len(now), variable.missing)]
    return np.stack([now, *(np.round(values) if variable.discrete else values), *gaps])
