"""Judge of a sum: the judges of all parts, their errors passed through the links and added up.

A sum of n products is off by the errors of its terms, and by the roundings of a weight, a product and n additions, of sum |w_k| |lambda_k|.
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

    from likewise.families.sums.body import SumScore

    Floats = NDArray[np.float64]

ROUNDING_FACTOR = 1.01  # the rounding of the errors themselves


class SumJudge(ScoreJudge):
    """Scores of a sum."""

    score: SumScore

    def __init__(self, score: SumScore) -> None:
        self.score = score
        self.parts = [(score_judge_of(part), link, weight) for part, link, weight in score.counting()]
        ordinary = are_ordinary([*score.weights, score.bias])
        self.growth = rounding_growth(len(self.parts) + 4) if ordinary else np.inf

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreGrid:
        bias = nearest_double(self.score.bias)
        values, error = np.full((len(rows), len(settings)), bias), np.full(len(rows), abs(bias) * self.growth)
        with np.errstate(over="ignore", invalid="ignore"):
            for judge, link, weight in self.parts:
                found, factor = judge.cross(rows, features, settings), nearest_double(weight)
                linked, off = link.judged(found.values, found.error)
                size = np.abs(linked).max(axis=1, initial=0.0)
                values += factor * linked
                off = np.broadcast_to(off, linked.shape).max(axis=1, initial=0.0)
                error += abs(factor) * (off + self.growth * (size + off))
        return ScoreGrid.of(values, ROUNDING_FACTOR * error + UNDERFLOW_LOSS)

    def cuts(self, feature: int) -> Floats | None:
        """Those of all parts, where each has some."""
        found = [judge.cuts(feature) for judge, _, _ in self.parts]
        known = [cuts for cuts in found if cuts is not None]
        return np.unique(np.concatenate(known)) if known and len(known) == len(found) else None
