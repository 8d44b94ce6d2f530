"""Everybody: the share over a discrete space by looking at each individual, in blocks that hold all similar ones of their members.

Scores of a block are those of a judge, with a proved error; the lowest and highest score of the similar individuals are filters over
the block (`search.lattice`). Individuals that the error leaves open are decided again one by one. Under weights, masses are sums of non-negative
doubles: their relative error, a rounding an addition and a few a weight, is added to both ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.bounds.judges import growth
from likewise.search.certainty import Near, answers
from likewise.search.counterparts import BIASED, UNDECIDED, judged
from likewise.search.lattice import (
    GROUP_VALUES,
    ROWS,
    SCORES,
    Block,
    excess,
    individuals,
    lattice_of,
    whole_tables,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from likewise.analysis.judging import Judging
    from likewise.analysis.measures import Measure
    from likewise.search.lattice import Lattice

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

PRODUCTS_A_SECOND = 4e9  # of a matrix product
INDIVIDUALS_A_SECOND = 8e6  # filters and comparisons
OF_THE_BUDGET = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Masses of individuals that have a counterpart for certain, at most, and of all that were looked at, `people` in number.

    `everybody` is the mass of the whole space: unknown (None) where constraints refuse some that were not looked at.
    """

    biased: float
    at_most: float
    total: float
    everybody: float | None
    people: int
    redone: int
    complete: bool
    error: float  # relative, of each of the masses


def countable(judging: Judging) -> bool:
    """Whether everybody can be looked at within the budget."""
    people = individuals(judging.asked.pairs)
    if people is None or _lattice(judging) is None:
        return False
    seconds = people * judging.asked.judge.cost / PRODUCTS_A_SECOND + people / INDIVIDUALS_A_SECOND
    budget = judging.budget
    return seconds <= OF_THE_BUDGET * (budget.seconds - budget.elapsed)


def counted(judging: Judging, measure: Measure | None) -> Counted | None:
    """Everybody, each alike or with the weights of a measure; None where the space is not a lattice."""
    lattice = _lattice(judging)
    if lattice is None or individuals(judging.asked.pairs) is None:
        return None
    weigh = _Alike() if measure is None else _Weighted(lattice, measure)
    sums, people, redone, complete = np.zeros(3), 0, 0, True
    for block, near in _blocks(judging, lattice):
        if judging.budget.over:
            complete = False
            break
        certain, open_ = _answered(judging, block, near)
        flags = certain | open_
        places = np.flatnonzero(open_)
        if len(places):
            again = judged(judging.asked, block.codes(places), judging.budget)
            if again is not None:
                redone += len(places)
                certain.ravel()[places] = again.verdict == BIASED
                flags.ravel()[places] = (again.verdict == BIASED) | (again.verdict == UNDECIDED)
        valid = ~np.isnan(block.scores)
        sums += [weigh(block, part) for part in (certain, flags, valid)]
        people += int(valid.sum())
        judging.tell(f"{people:,} individuals", share=(block.start + block.scores.size) / _size(lattice))
    return Counted(
        biased=float(sums[0]),
        at_most=float(sums[1]),
        total=float(sums[2]),
        everybody=_everybody(judging, lattice, measure) if not complete else float(sums[2]),
        people=people,
        redone=redone,
        complete=complete,
        error=0.0 if measure is None else growth(_size(lattice) + 8 * len(lattice.sizes)),
    )


def _everybody(judging: Judging, lattice: Lattice, measure: Measure | None) -> float | None:
    if judging.asked.pairs.constraints:
        return None
    return float(_size(lattice)) if measure is None else 1.0


def _size(lattice: Lattice) -> int:
    return lattice.count(lattice.order)


def _lattice(judging: Judging) -> Lattice | None:
    if individuals(judging.asked.pairs) is None:
        return None
    return lattice_of(judging.asked.pairs, rows=max(1, min(ROWS, GROUP_VALUES // judging.asked.judge.cost)))


def _blocks(judging: Judging, lattice: Lattice) -> Iterator[tuple[Block, Near]]:
    judge, pairs = judging.asked.judge, judging.asked.pairs
    inner = (*lattice.moving, *lattice.right)
    across, shape = lattice.count(inner), tuple(lattice.sizes[k] for k in lattice.moving)
    beside = lattice.codes(np.arange(across))[:, list(inner)]
    tables = [whole_tables(lattice, constraint) for constraint in pairs.constraints]
    step, total = max(1, SCORES // across), lattice.count(lattice.left)
    for start in range(0, total, step):
        some = np.arange(start, min(start + step, total))
        scored = judge.cross(lattice.codes(some * across), inner, beside)
        values = scored.values
        for table in tables:
            values.reshape(-1)[excess(lattice, table, start * across, values.size) > 0] = np.nan
        values = values.reshape(len(some), *shape, lattice.count(lattice.right))
        error = scored.error.reshape(len(some), *([1] * (values.ndim - 1)))
        yield Block(lattice=lattice, start=start * across, scores=values), Near(value=values, error=error)


def _answered(judging: Judging, block: Block, near: Near) -> tuple[Flags, Flags]:
    """Who certainly has a counterpart, and of whom float64 does not tell."""
    nobody = np.isnan(block.scores)
    lowest = Near(value=block.lowest(np.where(nobody, np.inf, block.scores)), error=near.error)
    highest = Near(value=block.highest(np.where(nobody, -np.inf, block.scores)), error=near.error)
    certain, possible = answers(judging.question, near, lowest)
    sure, may = answers(judging.question, highest, near)
    certain |= sure
    possible |= may
    return certain, possible & ~certain


class _Alike:
    """Everybody counts once."""

    def __call__(self, block: Block, flags: Flags) -> float:  # noqa: ARG002 (as `_Weighted`)
        return float(flags.sum())


class _Weighted:
    """The product of the weights of all features' values."""

    def __init__(self, lattice: Lattice, measure: Measure) -> None:
        self.lattice, self.weights = lattice, [measure.weights(k) for k in range(len(lattice.sizes))]
        self.across = lattice.count((*lattice.moving, *lattice.right))
        self.beside = self._of((*lattice.moving, *lattice.right), np.arange(self.across))
        self.left = self._of(lattice.left, np.arange(lattice.count(lattice.left)))

    def __call__(self, block: Block, flags: Flags) -> float:
        first = block.start // self.across
        rows = flags.reshape(-1, self.across)
        return float(self.left[first : first + len(rows)] @ (rows @ self.beside))

    def _of(self, features: tuple[int, ...], flat: NDArray[np.intp]) -> Floats:
        weights = np.ones(len(flat))
        for k, at in zip(features, self.lattice.places(features, flat), strict=True):
            weights *= self.weights[k][at]
        return weights
