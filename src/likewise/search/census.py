"""Census: how many individuals of a discrete space have a similar individual that is decided differently. Exact.

Every individual is scored once, by blocks of the lattice. Scores within the rounding error of zero are decided again by
enclosures; those that no precision decides (scores that are zero exactly, as far as anyone can tell) leave a
bracket: `flips` individuals certainly have such a counterpart, and at most `most_flips` do.

The largest gap and the largest margin come with it: the pair, its exact value, and by how much rounding may have hidden a
better one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import BudgetError
from likewise.model.enclosure import FIRST_BITS, MOST_BITS
from likewise.model.gauge import Gauge
from likewise.model.question import round_down, round_up
from likewise.progress import Snapshot
from likewise.search.lattice import Block, blocks, individuals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.bounds.products import ProductSum
    from likewise.search.problem import Problem

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """The best pair of all: lower <= its value <= the largest value <= upper."""

    x: tuple[float, ...]
    other: tuple[float, ...]
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """Counts over all valid individuals; `redone` scores were too close to zero for float64."""

    individuals: int
    flips: int
    most_flips: int
    redone: int
    disparity: Extreme
    margin: Extreme

    @property
    def exact(self) -> bool:
        return self.flips == self.most_flips


def census(problem: Problem) -> Census | None:
    """Count everybody; None where the space is not discrete or the model has no product form."""
    if problem.products is None or individuals(problem.pairs) is None:
        return None
    problem.listener(Snapshot(stage="counting individuals", seconds=problem.budget.elapsed))
    product = problem.products()
    counts, seen = np.zeros(4, dtype=np.int64), 0
    best: dict[str, tuple[float, list[float], list[float]]] = {}
    for block in blocks(problem, product):
        seen += block.scores.size
        counts += _count(problem, block, product.error)
        _raise(best, block)
    if not seen:
        return None
    if seen < (individuals(problem.pairs) or 0):
        raise BudgetError(f"{problem.budget.reason}: {seen:,} individuals were counted")
    people, flips, most_flips, redone = (int(n) for n in counts)
    return Census(
        individuals=people,
        flips=flips,
        most_flips=most_flips,
        redone=redone,
        disparity=_extreme(problem, product, Gauge(of="score"), best["score"]),
        margin=_extreme(problem, product, Gauge(of="margin"), best["margin"]),
    )


def _count(problem: Problem, block: Block, error: float) -> tuple[int, int, int, int]:
    """Valid individuals, those certainly and those possibly with a counterpart, and scores that were redone."""
    above, below = block.scores > error, block.scores < -error
    valid = ~np.isnan(block.scores)
    close = np.flatnonzero(valid & ~above & ~below)
    for place in close:
        upper = decided_upper(problem, block.codes(np.array([place]))[0])
        above.ravel()[place], below.ravel()[place] = upper is True, upper is False
    certain = (above & block.highest(below)) | (below & block.highest(above))
    flips = most_flips = int(certain.sum())
    maybe_above, maybe_below = valid & ~below, valid & ~above
    if (maybe_above & maybe_below).any():
        possible = (maybe_above & block.highest(maybe_below)) | (maybe_below & block.highest(maybe_above))
        most_flips = int(possible.sum())
    return int(valid.sum()), flips, most_flips, len(close)


def decided_upper(problem: Problem, codes: Floats) -> bool | None:
    """Whether a score is > 0, by enclosures; None where it cannot be told from 0."""
    exact, bits = [Fraction(c) for c in codes.tolist()], FIRST_BITS
    while True:
        score = problem.oracle.enclose(exact, bits)
        if score.lo > 0 or score.hi <= 0:
            return score.lo > 0
        if bits >= MOST_BITS:
            return None
        bits *= 4


def _raise(best: dict[str, tuple[float, list[float], list[float]]], block: Block) -> None:
    lowest = block.lowest_scores()
    values = {"score": block.scores - lowest, "margin": np.minimum(block.scores, -lowest)}
    for name, value in values.items():
        if np.isnan(value).all():
            continue
        place = int(np.nanargmax(value))
        largest = float(value.ravel()[place])
        if name not in best or largest > best[name][0]:
            x = block.codes(np.array([place]))[0]
            best[name] = largest, x.tolist(), block.counterpart(place).tolist()


def _extreme(
    problem: Problem, product: ProductSum, gauge: Gauge, best: tuple[float, list[float], list[float]]
) -> Extreme:
    """The exact value of the pair, and what rounding may hide: every score is within `error`, a gap within twice that."""
    largest, x, other = best
    scores = [problem.oracle.enclose([Fraction(c) for c in codes], FIRST_BITS) for codes in (x, other)]
    rounding = 2 * Fraction(product.error) + Fraction(abs(largest)) / 2**52
    return Extreme(
        x=tuple(x),
        other=tuple(other),
        lower=round_down(gauge.value(scores[0].lo, scores[1].hi)),
        upper=round_up(Fraction(largest) + rounding),
    )
