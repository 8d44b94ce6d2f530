"""Leaning: in which directions the cells of a batch are bounded, so that one of them separates each cell's score pairs from the witness set.

The excess e(lean) = bound(lean) - T(lean) is convex in the lean, with slope (s + s') - (touching point),
so each cell tries its parent's lean, then the end of [0, 1] that the slope points to, then the crossing of
the two tangents: exact after that for bounds that are piecewise linear with one break, as affine ones are.
Where bounds are not exact, what they lose depends on the lean too, and the ends are useless: there a cell
tries its parent's lean and one a short step down the slope, and hands the better one on to its children.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from likewise.families.oracle import Bounds
from likewise.model.witness_set import LEAN_GRID, ProbabilitySet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.witness_set import WitnessSet

    Floats = NDArray[np.float64]

# Steps of the lean under bounds that are not exact, from a parent to its child: longer after a step that helped,
# shorter after one that did not. Such bounds rise steeply from their best lean, so the steps are short.
LEAST_STEP, MOST_STEP = 0.01, 0.5
LENGTHEN, SHORTEN = 1.5, 0.5
STEP_GRID = 2.0**10  # leans are stepped to on this grid: a certificate writes them in few digits

CURVED_STEPS = 3  # leans tried for a cell under a curved question; its children go on from the best
EXTREME_LEAN = 1e-6  # nearer to 0 or 1 lines are left to arrays, which clip them
HALVINGS = 30  # to find a lean to 1e-9: the excess is flat at its minimum, so that is plenty


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTrial:
    """Bounds of cells of a batch, each at one lean, and by how much they exceed the thresholds."""

    cell: NDArray[np.intp]  # the place in the batch
    lean: Floats
    excess: Floats
    bounds: Bounds
    view: NDArray[np.intp]

    @property
    def closes(self) -> NDArray[np.bool_]:
        """Which cells should be closed: by the oracle's word, or because the bound is not above the threshold."""
        close: NDArray[np.bool_] = self.excess <= self.bounds.noise
        return close if self.bounds.closes is None else self.bounds.closes

    @property
    def nearly(self) -> NDArray[np.bool_]:
        """Which cells an exact look may close where float64 cannot tell."""
        return self.closes if self.bounds.nearly is None else self.bounds.nearly

    def slope(self, question: WitnessSet) -> Floats:
        """How the excess changes with the lean."""
        return self.bounds.balance - question.balance(self.lean)

    def best(self) -> BatchTrial:
        """One row a cell: a lean that closes it, else the one that comes closest to it."""
        order = np.lexsort((np.where(self.closes, -np.inf, self.excess), self.cell))
        rows = order[np.unique(self.cell[order], return_index=True)[1]]
        return BatchTrial(
            cell=self.cell[rows],
            lean=self.lean[rows],
            excess=self.excess[rows],
            bounds=self.bounds.take(rows),
            view=self.view[rows],
        )

    @staticmethod
    def joined(parts: list[BatchTrial]) -> BatchTrial:
        """All rows of several trials of one batch."""
        return BatchTrial(
            cell=np.concatenate([part.cell for part in parts]),
            lean=np.concatenate([part.lean for part in parts]),
            excess=np.concatenate([part.excess for part in parts]),
            bounds=Bounds.joined([part.bounds for part in parts]),
            view=np.concatenate([part.view for part in parts]),
        )


class Attempt(Protocol):
    """Bounds the cells of a batch at these leans, or `some` of them."""

    def __call__(self, lean: Floats, some: NDArray[np.intp] | None = None) -> BatchTrial: ...


def find_separating_leans(
    attempt: Attempt, question: WitnessSet, lean: Floats, step: Floats, *, exact: bool
) -> BatchTrial:
    """Each cell at its parent's lean, and at others where that does not close it and others may."""
    start = attempt(lean)
    if len(question.leans()) == 1 or start.closes.all():
        return start
    if question.lean_at(0.0) is not None:
        return BatchTrial.joined([start, *_try_bisection(attempt, question, start)])
    if not exact:
        return BatchTrial.joined([start, _try_step(attempt, question, start, step)])
    return BatchTrial.joined([start, *_try_crossing(attempt, question, start)])


def next_step(step: float, *, helped: bool) -> float:
    """By how much the lean of a cell's children is changed."""
    return min(max(step * (LENGTHEN if helped else SHORTEN), LEAST_STEP), MOST_STEP)


def find_touching_lean(question: WitnessSet, left: Floats, right: Floats, target: Floats) -> Floats:
    """The lean in [left, right] whose line touches W at s + s' = target; the balance falls with the lean."""
    if isinstance(question, ProbabilitySet):
        lean = question.touching_lean(target)
        return np.where(np.isnan(lean), left, np.clip(lean, left, right))
    for _ in range(HALVINGS):
        middle = (left + right) / 2
        high = question.balance(middle) > target
        left, right = np.where(high, middle, left), np.where(high, right, middle)
    found: Floats = (left + right) / 2
    return found


def _try_crossing(attempt: Attempt, question: WitnessSet, start: BatchTrial) -> list[BatchTrial]:
    """The end of [0, 1] that the slope points to, and where the two tangents cross."""
    lean, slope = start.lean, start.slope(question)
    end = attempt(np.where(slope > 0, 0.0, 1.0))
    slope_end = end.slope(question)
    with np.errstate(all="ignore"):
        cross = (end.excess - start.excess + slope * lean - slope_end * end.lean) / (slope - slope_end)
    left, right = np.minimum(lean, end.lean), np.maximum(lean, end.lean)
    cross = np.where(np.isfinite(cross), np.clip(cross, left, right), 0.5)
    return [end, attempt(np.round(cross * LEAN_GRID) / LEAN_GRID)]  # what is bounded is what a leaf says


def _try_step(attempt: Attempt, question: WitnessSet, start: BatchTrial, step: Floats) -> BatchTrial:
    """Cells that are still open, one step of the lean down the slope."""
    some = np.flatnonzero(~start.closes)
    lean = start.lean - np.sign(start.slope(question)) * step
    return attempt(np.round(np.clip(lean[some], 0, 1) * STEP_GRID) / STEP_GRID, some)


def _try_bisection(attempt: Attempt, question: WitnessSet, start: BatchTrial) -> list[BatchTrial]:
    """For a curved W the best lean for the maximiser at hand, again and again; where the
    maximiser no longer changes that is the minimum of the excess."""
    tried, rising = [start], start.slope(question) > 0
    left, right = np.where(rising, 0.0, start.lean), np.where(rising, start.lean, 1.0)
    for _ in range(CURVED_STEPS):
        last = tried[-1].bounds
        trial = attempt(find_touching_lean(question, left, right, last.balance))
        rising = trial.slope(question) > 0
        left, right = np.where(rising, left, trial.lean), np.where(rising, trial.lean, right)
        tried.append(trial)
    return tried[1:]


def line_at(witnesses: WitnessSet, lean: float) -> tuple[float, float]:
    """`threshold` and `balance` of one lean. Of gaps of probabilities without arrays: searches that look at one cell at a time ask for nothing else as often."""
    if isinstance(witnesses, ProbabilitySet):
        found = _probability_line(witnesses, lean)
        if found is not None:
            return found
    one = np.array([lean])
    return float(witnesses.threshold(one)[0]), float(witnesses.balance(one)[0])


def _probability_line(witnesses: ProbabilitySet, lean: float) -> tuple[float, float] | None:
    """By the point p in (0, 1 - delta) where the tangent has this lean, as `tangent_point` says; None near the ends of its range, where roots round."""
    delta, slope, offset = float(witnesses.delta), float(witnesses.slope), float(witnesses.offset)
    if not (EXTREME_LEAN < lean < 1 - EXTREME_LEAN and EXTREME_LEAN < delta < 1 - EXTREME_LEAN):
        return None
    rho = (1 - lean) / lean
    square, linear, constant = rho - 1, 1 - rho * (1 - 2 * delta), -rho * delta * (1 - delta)
    root = math.sqrt(max(linear**2 - 4 * square * constant, 0.0))
    p = -2 * constant / (linear + root) if linear >= 0 else (root - linear) / (2 * square)
    q = p + delta
    if not (p > EXTREME_LEAN and q < 1 - EXTREME_LEAN):
        return None
    low, high = math.log(p) - math.log1p(-p), math.log(q) - math.log1p(-q)
    line = lean * high - (1 - lean) * low
    return (line - (2 * lean - 1) * offset) / slope, (low + high - 2 * offset) / slope
