"""Cutting cells of sums: of a few places that are worth a try, the one whose two parts have the lowest bounds.

Bounds of parts add up, and what lowers that of one part may do nothing for the others. So each part says where it would cut, every feature that two similar individuals may differ in is offered its middle, and both
parts of every such cut are bounded. The best cut is the one with the largest product of what the bound loses on both sides, as far as that matters: up to the excess of the cell over its threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.sums.part_lines import PartBounder

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

LEAST_LOSS = 1e-7  # of the excess: the least that a side of a cut counts for in the product of both
NOWHERE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """For each cell the variable to cut (-1: none) and where; or, with one row a proposal, several of them."""

    variable: Indices
    at: Floats

    def take(self, rows: Indices | slice) -> Cuts:
        """Of some of the cells."""
        return Cuts(variable=self.variable[..., rows], at=self.at[..., rows])


def stack_cuts(proposals: list[Cuts]) -> Cuts:
    """One row a proposal."""
    return Cuts(
        variable=np.stack([one.variable for one in proposals]), at=np.stack([one.at for one in proposals])
    )


def cut_by_bounder(part: PartBounder, lo: Floats, hi: Floats, excess: Floats) -> Cuts:
    """Where a part would cut by itself, its bound of a difference of scores being too high by `excess`."""
    bounder = part.of(1)
    if not part.remembers:
        variable, at = bounder.branch(lo, hi)
        return Cuts(variable=variable.astype(np.intp), at=at)
    variables, places = np.full(len(lo), NOWHERE, dtype=np.intp), np.zeros(len(lo))
    even = bounder.on_grid(0.5)
    for i, (memory, over) in enumerate(zip(part.memories(1, lo, hi), excess.tolist(), strict=True)):
        if bounder.bound_memory(memory, even)[0] > -np.inf:
            variables[i], places[i], _, _ = bounder.cut_memory(memory, even, over)
        if variables[i] < 0:
            variables[i], places[i] = bounder.choose_halving(lo[i].tolist(), hi[i].tolist())
    return Cuts(variable=variables, at=places)


def inside(cuts: Cuts, lo: Floats, hi: Floats, discrete: NDArray[np.bool_]) -> Cuts:
    """The same, nowhere where a cut would not leave two parts."""
    rows = np.arange(len(lo))
    known = (cuts.variable >= 0) & (cuts.variable < lo.shape[1])
    chosen = np.where(known, cuts.variable, 0)
    known &= (cuts.at >= lo[rows, chosen]) & (cuts.at < hi[rows, chosen])
    known &= ~discrete[chosen] | (cuts.at == np.floor(cuts.at))
    return Cuts(variable=np.where(known, cuts.variable, NOWHERE).astype(np.intp), at=cuts.at)


def halve(lo: Floats, hi: Floats, variable: int, *, whole: bool) -> Cuts:
    """One variable in the middle of every cell."""
    low, high = lo[:, variable], hi[:, variable]
    middle = low + (high - low) / 2
    if whole:
        middle = np.minimum(np.floor(middle), high - 1)
    can = (high - low >= 1) if whole else (middle > low) & (middle < high)
    return Cuts(variable=np.where(can, variable, NOWHERE).astype(np.intp), at=middle)


def choose_cuts(
    proposals: Cuts,
    lo: Floats,
    hi: Floats,
    upper: Floats,
    excess: Floats,
    bound: Callable[[Floats, Floats, Indices], Floats],
    next_code: Callable[[int, float], float],
) -> Cuts:
    """For each cell the best of its proposals, the first one where none tells. `bound` has upper bounds of parts of the cells in these places, `next_code` where the right part of a cut begins."""
    which, cell = np.nonzero(proposals.variable >= 0)
    variable, at = proposals.variable[which, cell], proposals.at[which, cell]
    if not len(cell):
        return Cuts(variable=np.full(len(lo), NOWHERE, dtype=np.intp), at=lo[:, 0].copy())
    many = np.arange(len(cell))
    left_high, right_low = hi[cell], lo[cell]
    left_high[many, variable] = at
    right_low[many, variable] = [
        next_code(v, code) for v, code in zip(variable.tolist(), at.tolist(), strict=True)
    ]
    parts = bound(
        np.concatenate([lo[cell], right_low]), np.concatenate([left_high, hi[cell]]), np.tile(cell, 2)
    )
    most = excess[cell]
    with np.errstate(invalid="ignore"):
        lost = upper[cell] - parts.reshape(2, -1)
    lost = np.clip(np.where(np.isnan(lost), 0.0, lost) / most, LEAST_LOSS, 1.0)
    worth = np.full(proposals.variable.shape, -1.0)
    worth[which, cell] = lost[0] * lost[1]
    best, rows = worth.argmax(axis=0), np.arange(len(lo))
    return Cuts(variable=proposals.variable[best, rows], at=proposals.at[best, rows])
