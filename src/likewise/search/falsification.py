"""Falsification: look for a witness before proving anything. Cheap, vectorised, never a proof.

1. Take known rows and random rows. For each, give the features that may differ every combination of
   values (all levels; the ends of a number; one tolerance up for `within`), and pair the best-scored with
   the worst-scored variant: for every property that is the deepest pair of the row. Where only certain pairs
   of levels are allowed, each variant is paired with the worst-scored one that it may stand beside.
2. From the deepest rows on, climb: one shared feature at a time, try other values for it, keep the best.

Works on `scores` alone, so it serves every model family.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.progress import Snapshot
from likewise.search.task import ROWS_OF_SCORES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Witness
    from likewise.search.task import SearchTask

    Floats = NDArray[np.float64]

GRACE_SHARE = 0.25  # of the grace, for the first look at rows where the budget is over by then
CLIMB_SHARE = 0.1  # of what is left of the budget, where a search that proposes pairs by itself follows
RANDOM_ROWS = 512
MOST_VARIANTS = 64  # combinations of differing values tried per row
MOST_KERNEL_VALUES = 20_000_000  # kernel values spent on the first stage
LEAST_ROWS = 64
MOST_CLIMBERS = 16  # rows that climb
LEAST_CLIMBERS = 4
ROUNDS = 4  # passes over all shared features
MOST_ROUNDS = 16  # where the best pair is wanted; it ends sooner where nothing gets better
MISSING_SHARE = 0.125  # of random rows that miss a continuous number
HALVING_STEPS = 6  # values tried for a number besides its ends and its own: halving steps to either side
MOST_STEPS = 9  # codes of a feature that may differ in one direction
MOST_MARKED = 16  # codes tried of a feature in pieces
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
        combinations = _differing_settings(problem)
    with suppress(OutOfTime), problem.budget.later(GRACE_SHARE).watched():
        x, other, depth = deepest_pairs(problem, rows, combinations)
        with suppress(OutOfTime), problem.budget.watched():
            for _ in range(MOST_ROUNDS):
                before = depth.max()
                rows, x, other, depth = _climb(problem, rows, combinations)
                if depth.max() <= before:
                    break
        return _first_witness(problem, x, other, depth)
    return None


def climb_for_a_while(problem: SearchTask, rows: Floats) -> Witness | None:
    """The same within a small share of the budget."""
    return climb_from(replace(problem, budget=problem.budget.part(CLIMB_SHARE)), rows)


def _starting_pairs(
    problem: SearchTask,
) -> tuple[list[dict[int, float | str]], Floats, Floats, Floats, Floats]:
    """Settings of what may differ, the deepest pairs of known and random rows, and the rows that are to climb."""
    problem.listener(Snapshot(stage="looking for a pair", seconds=problem.budget.elapsed))
    combinations = _differing_settings(problem)
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


def _differing_settings(problem: SearchTask) -> list[dict[int, float | str]]:
    """Settings of the features that may differ; "up" stands for one tolerance above the row's own value."""
    pairs = problem.pairs
    choices: list[list[tuple[int, float | str]]] = []
    for k, relation in enumerate(pairs.relations):
        variable = problem.ranges[k]
        if relation.fixed is not None:
            choices.append([(k, float(code)) for code in relation.fixed])
        elif relation.limits is not None:
            choices.append([(k, value) for value in _one_way_settings(problem, k)])
        elif relation.kind == "within":
            choices.append([(k, "own"), (k, "up")])
        elif relation.kind != "same":
            span = int(variable.hi - variable.lo) if variable.discrete else MOST_VARIANTS
            ends = [variable.lo, variable.last, *([] if variable.missing is None else [variable.missing])]
            if variable.discrete and span < MOST_VARIANTS:
                ends = [variable.lo + i for i in range(span + 1)]
            choices.append([(k, float(value)) for value in (*ends, *_codes_to_try(problem, k))])
    if np.prod([float(len(c)) for c in choices]) <= MOST_VARIANTS:
        return [dict(setting) for setting in product(*choices)]
    picks = [
        {k: c[problem.random.integers(len(c))][1] for c in choices for k in (c[0][0],)}
        for _ in range(MOST_VARIANTS)
    ]
    picks[1::2] = [_partner_setting(problem, *couple) for couple in zip(picks[::2], picks[1::2], strict=True)]
    lows, highs = {c[0][0]: c[0][1] for c in choices}, {c[0][0]: c[-1][1] for c in choices}
    return [lows, highs, *picks]


def _one_way_settings(problem: SearchTask, k: int) -> list[float | str]:
    """Settings of a feature whose difference has limits: codes all over its range where these leave a direction only, else what they reach from the row's own."""
    if not _leaves_a_direction(problem, k):
        return ["own", "least", "most"]
    variable = problem.ranges[k]
    if variable.discrete and variable.hi - variable.lo < MOST_STEPS:
        return [float(variable.lo + i) for i in range(int(variable.hi - variable.lo) + 1)]
    steps = np.linspace(float(variable.lo), float(variable.last), MOST_STEPS)
    codes = np.concatenate([np.round(steps) if variable.discrete else steps, _codes_to_try(problem, k)])
    return [float(code) for code in np.unique(codes)]


def _leaves_a_direction(problem: SearchTask, k: int) -> bool:
    """Whether the limits of a difference reach across all codes that there are."""
    variable, relation = problem.ranges[k], problem.pairs.relations[k]
    low, high = relation.apart
    return high - low >= Fraction(variable.last) - Fraction(variable.lo) - 1


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


def _codes_to_try(problem: SearchTask, k: int) -> Floats:
    """Some of the codes at which a feature in pieces is cut or turns."""
    marks = problem.marks.get(k, np.empty(0))
    return (
        marks
        if len(marks) <= MOST_MARKED
        else np.sort(problem.random.choice(marks, MOST_MARKED, replace=False))
    )


def _partner_setting(
    problem: SearchTask, setting: dict[int, float | str], other: dict[int, float | str]
) -> dict[int, float | str]:
    """The other setting, with levels that may stand beside those of the first where only pairs are allowed."""
    moved = dict(other)
    for k, relation in enumerate(problem.pairs.relations):
        if relation.kind == "pairs":
            levels = int(problem.pairs.variables[problem.pairs.first[k]].hi) + 1
            moved[k] = float(problem.random.choice(relation.partners(int(setting[k]), levels)))
    return moved


def _compatible_settings(
    problem: SearchTask, combinations: list[dict[int, float | str]]
) -> NDArray[np.bool_] | None:
    """Which settings may stand beside which; None where all may."""
    paired = [(k, r) for k, r in enumerate(problem.pairs.relations) if r.kind == "pairs"]
    ordered = [(k, r) for k, r in enumerate(problem.pairs.relations) if r.limits is not None]
    fixed = [(k, r.fixed) for k, r in enumerate(problem.pairs.relations) if r.fixed is not None]
    if not paired and not ordered and not fixed:
        return None
    together = np.ones((len(combinations), len(combinations)), dtype=bool)
    for k, (own, other) in fixed:
        chosen = np.array([setting[k] for setting in combinations])
        together &= (chosen == own)[:, None] & (chosen == other)
    for k, relation in ordered:
        low, high = relation.reach
        offsets = {"own": 0.0, "least": low, "most": high}
        codes = np.array([offsets[v] if isinstance(v := setting[k], str) else v for setting in combinations])
        together &= (codes - codes[:, None] >= low) & (codes - codes[:, None] <= high)
    for k, relation in paired:
        levels = int(problem.pairs.variables[problem.pairs.first[k]].hi) + 1
        similar = np.eye(levels, dtype=bool)
        for i, j in relation.allowed:
            similar[i, j] = similar[j, i] = True
        positions = [int(setting[k]) for setting in combinations]
        together &= similar[np.ix_(positions, positions)]
    return together


def deepest_pairs(
    problem: SearchTask, rows: Floats, combinations: list[dict[int, float | str]]
) -> tuple[Floats, Floats, Floats]:
    """For each row its best-scored and worst-scored valid variant, and how deep that pair is; of several cases the deepest."""
    variants = np.stack([_set_features(problem, rows, setting) for setting in combinations])
    allowed = ~np.isnan(variants).any(axis=2).T.ravel()
    variants = np.where(np.isnan(variants), rows, variants)  # nobody is there, and something has to be scored
    # Variants of a row follow each other, which is the order in which trees are walked down fastest.
    flat = variants.transpose(1, 0, 2).reshape(-1, rows.shape[1])
    for constraint in problem.pairs.constraints:
        allowed &= constraint.scores(flat) <= 0
    shape, each = (len(rows), len(combinations)), np.arange(len(rows))
    together = _compatible_settings(problem, combinations)
    best, worst, depth = (
        np.zeros(len(rows), np.intp),
        np.zeros(len(rows), np.intp),
        np.full(len(rows), -np.inf),
    )
    for question, first, second in problem.signals(flat):
        high = np.where(allowed, first, -np.inf).reshape(shape).T
        low = np.where(allowed, second, np.inf).reshape(shape).T
        if together is None:
            one, two = high.argmax(axis=0), low.argmin(axis=0)
        else:
            partner = np.stack([np.where(beside[:, None], low, np.inf).argmin(axis=0) for beside in together])
            depths = question.margin(high, np.take_along_axis(low, partner, axis=0))
            one = np.where(np.isnan(depths), -np.inf, depths).argmax(axis=0)
            two = partner[one, each]
        deep = question.margin(high[one, each], low[two, each])
        deeper = np.where(np.isnan(deep), -np.inf, deep) > depth
        best, worst, depth = (
            np.where(deeper, one, best),
            np.where(deeper, two, worst),
            np.where(deeper, deep, depth),
        )
    return variants[best, each], variants[worst, each], depth


def _set_features(problem: SearchTask, rows: Floats, setting: dict[int, float | str]) -> Floats:
    changed = rows.copy()
    for k, value in setting.items():
        if isinstance(value, float):
            changed[:, k] = value
        elif value in ("least", "most"):
            variable, (low, high) = problem.ranges[k], problem.pairs.relations[k].reach
            moved = rows[:, k] + (low if value == "least" else high)
            changed[:, k] = np.clip(moved, variable.lo, variable.last)
            if low == high:  # nobody is there where that leads out of the range
                changed[:, k] = np.where((moved < variable.lo) | (moved > variable.last), np.nan, moved)
        elif value == "up":
            variable = problem.ranges[k]
            reach = float(problem.pairs.relations[k].tolerance or 0)
            up = np.minimum(rows[:, k] + reach, variable.last)
            changed[:, k] = np.maximum(up, rows[:, k])  # what is missing stays so
    return changed


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
    problem: SearchTask, rows: Floats, combinations: list[dict[int, float | str]]
) -> tuple[Floats, Floats, Floats, Floats]:
    """One pass of coordinate ascent over the features that both individuals share or move together."""
    for k in problem.random.permutation(rows.shape[1]):
        relation = problem.pairs.relations[k]
        if relation.kind in ("free", "pairs") or (relation.limits and _leaves_a_direction(problem, int(k))):
            continue
        values = _values_to_try(problem, int(k), rows[:, k])
        tried = np.repeat(rows[:, None, :], values.shape[0], axis=1)
        tried[:, :, k] = values.T
        _, _, depth = deepest_pairs(problem, tried.reshape(-1, rows.shape[1]), combinations)
        best = depth.reshape(values.T.shape).argmax(axis=1)
        rows = tried[np.arange(len(rows)), best]
    return rows, *deepest_pairs(problem, rows, combinations)


def _values_to_try(problem: SearchTask, k: int, now: Floats) -> Floats:
    """Values to try for one feature, one line each: first its own, so that ties change nothing."""
    variable = problem.ranges[k]
    lo, hi = float(variable.lo), float(variable.last)
    if variable.discrete and hi - lo < 2 * HALVING_STEPS:
        settings = [np.full(len(now), lo + i) for i in range(int(hi - lo) + 1)]
    else:
        settings = [np.full(len(now), value) for value in (lo, hi, *_codes_to_try(problem, k))]
        for step in range(1, HALVING_STEPS + 1):
            reach = (hi - lo) / 2**step * problem.random.uniform(0.5, 1.0)
            settings += [now - reach, now + reach]
    values = np.clip(np.stack(settings), lo, hi)
    gaps = [] if variable.missing is None else [np.full(len(now), variable.missing)]
    return np.stack([now, *(np.round(values) if variable.discrete else values), *gaps])
