"""Enumeration: score every individual of a discrete space that is not too large, and compare each with its similar ones.

The lowest score among the similar ones is a filter over a block of the lattice, so the deepest pair of the whole space is
found in a few passes. Float64 proposes, the referee decides; that no pair looks like a witness is not a proof by itself.
"""

from __future__ import annotations

import heapq
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.progress import Snapshot
from likewise.search.lattice import count_individuals, score_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Witness
    from likewise.search.lattice import Block
    from likewise.search.task import SearchTask

    Floats = NDArray[np.float64]
    Proposal = tuple[float, int, list[float], list[float]]  # depth, place, x, x'

MOST_INDIVIDUALS = 1_000_000  # scored row by row
MOST_FACTORS = 1_000_000  # in the tables of a product: each is an exponential in ball arithmetic
MOST_MULTIPLICATIONS = 1e11  # multiplications of the matrix product: some seconds
MULTIPLICATIONS_PER_SECOND = 1e10  # of them in a second, about
BUDGET_SHARE = 0.25  # of what is left of the budget that an enumeration may take: it proves nothing
GRACE_SHARE = 0.25  # of the grace, for the exact test of what was found by then
MOST_REFEREED = 64  # deepest individuals put to the exact test


def enumerate_space(task: SearchTask, *, effort: float = MOST_MULTIPLICATIONS) -> Witness | None:
    """The deepest witness of a discrete space; None where there is none or the space is too large."""
    if not is_enumerable(task, effort=effort):
        return None
    count = count_individuals(task.pairs)
    task.listener(Snapshot(stage=f"looking at {count:,} individuals", seconds=task.budget.elapsed))
    found: list[Proposal] = []
    with suppress(OutOfTime), task.budget.watched():
        for block in score_blocks(task, None if task.products is None else task.products()):
            found = heapq.nlargest(MOST_REFEREED, [*found, *_deepest_pairs(task, block)])
    with suppress(OutOfTime), task.budget.later(GRACE_SHARE).watched():
        for _, _, x, other in found:
            check_clock()
            witness = task.referee(x, other)
            if witness is not None:
                return witness
    return None


def is_enumerable(task: SearchTask, *, effort: float = MOST_MULTIPLICATIONS) -> bool:
    """Whether the space is discrete and small enough: for a product by its multiplications, else by its rows."""
    count = count_individuals(task.pairs)
    if count is None or task.budget.over:
        return False
    if task.oracles.remembers:
        return count * task.cost <= MOST_INDIVIDUALS  # beyond that the search finds pairs sooner
    if task.products is None:
        return count <= MOST_INDIVIDUALS
    budget = task.budget
    effort = min(effort, BUDGET_SHARE * MULTIPLICATIONS_PER_SECOND * (budget.seconds - budget.elapsed))
    values = sum(int(v.hi - v.lo) + 1 for v in (task.pairs.variables[v] for v in task.pairs.first))
    return count * task.cost <= effort and values * task.cost <= MOST_FACTORS


def _deepest_pairs(task: SearchTask, block: Block) -> list[Proposal]:
    """The deepest pairs of a block that look like witnesses."""
    depth = task.sought_case.line.margin(block.scores, block.lowest_scores())
    depth = np.where(np.isnan(depth), -np.inf, depth).ravel()
    most = min(MOST_REFEREED, len(depth))
    places = [int(i) for i in np.argpartition(-depth, most - 1)[:most] if depth[i] > 0]
    rows = block.codes(np.array(places, dtype=np.intp)).tolist()
    return [
        (float(depth[i]), -(block.start + i), x, block.counterpart(i).tolist())
        for i, x in zip(places, rows, strict=True)
    ]
