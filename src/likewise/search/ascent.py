"""Ascent from many starts: where a family improves pairs by loops of its own (`Family.climber`), thousands of them are tried, with what may differ set at random.

Small margins are found so: where what may differ hardly matters, a pair has to have both scores next to the threshold, and of thousands of local optima some have. Whatever looks like a witness is
put to the referee, however small its margin. Spaces with constraints are left to coordinate ascent, which keeps them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.model.goal import goals_of
from likewise.search.falsification import random_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import Climber
    from likewise.model.cases import Witness
    from likewise.model.goal import Goal
    from likewise.search.task import SearchTask

    Floats = NDArray[np.float64]

SHARE = 0.05  # of the budget
STARTS = 256  # pairs at a time
BATCHES = 32
KNOWN = 0.5  # of the starts that are known rows, where there are any
REFEREED = 8  # best pairs of a batch that are put to the exact test
MOST_GOALS = 32


def ascended(problem: SearchTask) -> Witness | None:
    """A witness that ascent from many starts leads to, or None: which says nothing."""
    if problem.climber is None or problem.pairs.constraints:
        return None
    goals = goals_of(problem.sought)[:MOST_GOALS]
    with problem.budget.stopped():  # compiled on first use
        climb = problem.climber()
        for goal in goals[:1]:
            climb(goal, *_starts(problem, 1), 0)
    with suppress(OutOfTime), problem.budget.part(SHARE).watched():
        for _ in range(BATCHES):
            for goal in goals:
                check_clock()
                witness = _best(problem, climb, goal)
                if witness is not None:
                    return witness
    return None


def _best(problem: SearchTask, climb: Climber, goal: Goal) -> Witness | None:
    x, other = climb(goal, *_starts(problem, STARTS), int(problem.random.integers(2**31)))
    depth = np.full(len(x), -np.inf)
    ahead, behind = problem.signals(x), problem.signals(other)
    for (witnesses, first, _), (_, _, second) in zip(ahead, behind, strict=True):
        deep = witnesses.margin(first, second)
        depth = np.maximum(depth, np.where(np.isnan(deep), -np.inf, deep))
    for i in np.argsort(-depth)[:REFEREED]:
        if depth[i] <= 0:
            break
        check_clock()
        witness = problem.referee(x[i].tolist(), other[i].tolist())
        if witness is not None:
            return witness
    return None


def _starts(problem: SearchTask, count: int) -> tuple[Floats, Floats]:
    """Known and random rows, and beside each the same one with other codes of what may differ."""
    x = random_rows(problem, count)
    if len(problem.rows):
        places = problem.random.integers(0, len(problem.rows), int(KNOWN * count))
        x[: len(places)] = problem.rows[places]
    other, others = x.copy(), random_rows(problem, count)
    for k, relation in enumerate(problem.pairs.relations):
        if relation.fixed is not None:
            x[:, k], other[:, k] = relation.fixed
        elif relation.kind == "free":
            other[:, k] = others[:, k]
        elif relation.kind == "pairs":
            levels = int(problem.pairs.variables[problem.pairs.first[k]].hi) + 1
            other[:, k] = [
                float(problem.random.choice(relation.partners(int(code), levels))) for code in x[:, k]
            ]
    return x, other
