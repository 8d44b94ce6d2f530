"""Sight: one node with a memory as seen from one view, and the lean that suits it best.

For questions that more than one lean can answer, the excess over the threshold is convex in the lean: each node tries its parent's lean,
the end that the slope points to, and then where the tangents at the two leans around the minimum cross.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likewise.families.leaning import touching
from likewise.model.witness_set import EVEN, snap

if TYPE_CHECKING:
    from likewise.cells.leaf import Leaf
    from likewise.families.oracle import Remembering
    from likewise.model.witness_set import WitnessSet

LEANS = 4  # tried for a node
REFINEMENTS = 3  # leans between those of the grid


class Trial(NamedTuple):
    """A node's bound at a lean, by how much it exceeds the threshold, and how that changes with the lean."""

    lean: float
    upper: float
    excess: float
    slope: float


@dataclass(frozen=True, slots=True)
class Sight:
    """The node's memory of the view, and what the view's line is to separate from (`witnesses`)."""

    bounder: Remembering
    memory: Any
    witnesses: WitnessSet

    def at(self, lean: float) -> Trial:
        """The bound at the nearest lean of the grid."""
        lean = self.bounder.on_grid(lean)
        return self._trial(lean, *self.bounder.bound_memory(self.memory, lean))

    def leaned(self, lean: float) -> Trial:
        """The best of a few leans, starting from this one; the first that closes the node ends it."""
        best = trial = self.at(lean)
        if len(self.witnesses.leans()) == 1:
            return trial
        left: Trial | None = None
        right: Trial | None = None
        known = {trial.lean}
        for _ in range(LEANS - 1):
            if self.enough(best):
                return best
            left, right = (left, trial) if trial.slope > 0 else (trial, right)
            lean = self._next_lean(left, right)
            if lean in known:
                break
            known.add(lean)
            trial = self.at(lean)
            best = min(best, trial, key=self._preference)
        if self.witnesses.attained(best.lean) and abs(best.excess) <= self.bounder.noise(best.lean):
            best = min(best, self.at(float(EVEN)), key=self._preference)
        if self.witnesses.lean_at(0.0) is not None and not self.enough(best):
            best = self._refined(best, left, right)
        return best

    def enough(self, trial: Trial) -> bool:
        """Whether a node should be closed, as far as float64 can tell; where a witness may lie on the line itself, the bound has to stay below it."""
        noise = self.bounder.noise(trial.lean)
        return trial.excess <= (-noise if self.witnesses.attained(trial.lean) else noise)

    def line(self, trial: Trial) -> Leaf:
        """The leaf that closes the node by its bound."""
        return self.bounder.line(self.memory, snap(trial.lean))

    def _preference(self, trial: Trial) -> tuple[float, bool]:
        """Lower is better; among equals, those where a witness does not lie on the line: a tie closes the node there."""
        return trial.excess, self.witnesses.attained(trial.lean)

    def _refined(self, best: Trial, left: Trial | None, right: Trial | None) -> Trial:
        """Under a curved W, leans between those of the grid: again and again the best one for the maximisers at hand."""
        low, high = 0.0 if left is None else left.lean, 1.0 if right is None else right.lean
        trial = best
        for _ in range(REFINEMENTS):
            target = trial.slope + float(self.witnesses.balance(np.array([trial.lean]))[0])
            lean = float(touching(self.witnesses, np.array([low]), np.array([high]), np.array([target]))[0])
            trial = self._trial(lean, *self.bounder.bound_anywhere(self.memory, float(snap(lean))))
            if trial.excess < best.excess:
                best = trial
            if self.enough(best):
                break
            low, high = (low, trial.lean) if trial.slope > 0 else (trial.lean, high)
        return best

    def _next_lean(self, left: Trial | None, right: Trial | None) -> float:
        """Where the tangents left and right of the minimum cross, or the end where there is none yet."""
        if left is None:
            return 0.0
        if right is None:
            return 1.0
        fall = right.slope - left.slope
        if fall <= 0:
            return left.lean
        cross = (left.excess - right.excess + right.slope * right.lean - left.slope * left.lean) / fall
        return self.bounder.on_grid(min(max(cross, left.lean), right.lean))

    def _trial(self, lean: float, upper: float, first: float, second: float) -> Trial:
        one = np.array([lean])
        threshold, balance = float(self.witnesses.threshold(one)[0]), float(self.witnesses.balance(one)[0])
        return Trial(lean, upper, upper - threshold, first + second - balance)
