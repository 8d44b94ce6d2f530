"""Judge of a combined score: the mean of several scores, or the largest or smallest of them, from the judges of all parts.

The largest (smallest) of numbers that are off by at most e_i is off by at most the largest e_i. A mean sum w_i f_i is off by sum w_i e_i, and by the
roundings of a weight, a product and as many additions as there are parts, of sum w_i |f_i|.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.registry import score_judge_of
from likewise.families.score_judge import UNDERFLOW_LOSS, ScoreGrid, ScoreJudge, are_ordinary, rounding_growth
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.combined.body import CombinedScore

    Floats = NDArray[np.float64]

ROUNDING_FACTOR = 1.01  # the rounding of the errors themselves


class CombinedJudge(ScoreJudge):
    """Scores of a repaired model."""

    score: CombinedScore

    def __init__(self, score: CombinedScore) -> None:
        self.score = score
        self.judges = [score_judge_of(part) for part in score.parts]
        self.growth = rounding_growth(len(self.judges) + 3) if are_ordinary(score.weights) else np.inf

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreGrid:
        parts = [judge.cross(rows, features, settings) for judge in self.judges]
        if self.score.how != "mean":
            extreme = np.maximum if self.score.how == "max" else np.minimum
            values = extreme.reduce([part.values for part in parts])
            return ScoreGrid.of(values, np.maximum.reduce([part.error[:, 0] for part in parts]))
        values, error = np.zeros((len(rows), len(settings))), np.zeros(len(rows))
        with np.errstate(over="ignore", invalid="ignore"):
            for weight, part in zip(map(nearest_double, self.score.weights), parts, strict=True):
                size = np.abs(part.values).max(axis=1, initial=0.0)
                values += weight * part.values
                error += abs(weight) * (part.error[:, 0] + self.growth * size)
        return ScoreGrid.of(values, ROUNDING_FACTOR * error + UNDERFLOW_LOSS)
