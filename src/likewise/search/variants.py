"""Variants: what may differ between two similar individuals, set to every combination of values that is worth a try.

Every row gets the variants of all settings (all levels; the ends of a number; one tolerance up for `within`), and its best-scored is paired with
its worst-scored one: for every property that is the deepest pair of the row. Where only certain pairs of levels are allowed, each variant is paired with the worst-scored one that it may stand beside.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.task import SearchTask

    Floats = NDArray[np.float64]

MOST_VARIANTS = 64  # combinations of differing values tried per row
MOST_STEPS = 9  # codes of a feature that may differ in one direction
MOST_MARKED = 16  # codes tried of a feature in pieces


def differing_settings(problem: SearchTask) -> list[dict[int, float | str]]:
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
            choices.append([(k, float(value)) for value in (*ends, *codes_to_try(problem, k))])
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
    if not leaves_a_direction(problem, k):
        return ["own", "least", "most"]
    variable = problem.ranges[k]
    if variable.discrete and variable.hi - variable.lo < MOST_STEPS:
        return [float(variable.lo + i) for i in range(int(variable.hi - variable.lo) + 1)]
    steps = np.linspace(float(variable.lo), float(variable.last), MOST_STEPS)
    codes = np.concatenate([np.round(steps) if variable.discrete else steps, codes_to_try(problem, k)])
    return [float(code) for code in np.unique(codes)]


def leaves_a_direction(problem: SearchTask, k: int) -> bool:
    """Whether the limits of a difference reach across all codes that there are."""
    variable, relation = problem.ranges[k], problem.pairs.relations[k]
    low, high = relation.apart
    return high - low >= Fraction(variable.last) - Fraction(variable.lo) - 1


def codes_to_try(problem: SearchTask, k: int) -> Floats:
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
