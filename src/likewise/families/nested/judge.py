"""Judge of nested scores: the inner judges' scores and their errors, and what the outer function makes of numbers that are off by so much.

Trees compare: where no inner score is within its error of a test, the leaves are those of the real scores, and only the sum of their values is rounded; where one is, nothing is known but how far
the sum can be off at all. A median is off by no more than the largest error of its numbers.
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

    from likewise.families.nested.body import NestedScore

    Floats = NDArray[np.float64]

ROUNDING_FACTOR = 1.01  # the rounding of the errors themselves


class NestedJudge(ScoreJudge):
    """Scores of trees or of a median over other scores."""

    score: NestedScore

    def __init__(self, score: NestedScore) -> None:
        self.score = score
        self.inner = [score_judge_of(one) for one in score.inner]
        self.outer = None if score.median is not None else score_judge_of(score.outer)
        if score.median is None:
            self.tests = [score.outer.body.thresholds(k) for k in range(len(score.inner))]
            self.variation = ROUNDING_FACTOR * nearest_double(score.outer.variation) + UNDERFLOW_LOSS

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreGrid:
        found = [judge.cross(rows, features, settings) for judge in self.inner]
        values = np.stack([one.values for one in found], axis=2)
        errors = ROUNDING_FACTOR * np.concatenate([one.error for one in found], axis=1)
        flat = values.reshape(-1, values.shape[2])
        if self.outer is None:
            return self._median(flat, errors, values.shape[:2])
        return self._trees(flat, errors, values.shape[:2])

    def _median(self, flat: Floats, errors: Floats, shape: tuple[int, ...]) -> ScoreGrid:
        median = self.score.median
        if median is None or not are_ordinary([median.slope, median.offset, *median.weights]):
            return ScoreGrid.of(np.zeros(shape), np.full(shape[0], np.inf))
        made, slope = median.scores(flat).reshape(shape), abs(nearest_double(median.slope))
        # Weights that add up to half but for their rounding may tell another number for the median.
        weights = np.array([nearest_double(weight) for weight in median.weights])
        order = np.argsort(flat, axis=1, kind="stable")
        reached = np.cumsum(weights[order], axis=1)
        total = reached[:, -1:]
        tied = (np.abs(reached - total / 2) <= rounding_growth(4 * len(weights)) * total).any(axis=1)
        size = np.abs(flat).max(axis=1, initial=0.0)
        spread = np.where(tied, 2 * size, 0.0).reshape(shape).max(axis=1, initial=0.0)
        size = size.reshape(shape).max(axis=1, initial=0.0)
        error = slope * (errors.max(axis=1) + spread) + rounding_growth(8) * (
            slope * size + abs(nearest_double(median.offset))
        )
        return ScoreGrid.of(made, ROUNDING_FACTOR * error + UNDERFLOW_LOSS)

    def _trees(self, flat: Floats, errors: Floats, shape: tuple[int, ...]) -> ScoreGrid:
        unsure = np.zeros(shape[0], dtype=bool)
        for k, tests in enumerate(self.tests):
            if len(tests):
                own, error = flat[:, k].reshape(shape), errors[:, k : k + 1]
                first = np.searchsorted(tests, own - error, side="left")
                last = np.searchsorted(tests, own + error, side="right")
                unsure |= ((first != last) | ~np.isfinite(own)).any(axis=1)
        if self.outer is None:
            return ScoreGrid.of(np.zeros(shape), np.full(shape[0], np.inf))
        found = self.outer.cross(flat, [], np.zeros((1, 0)))
        error = found.error.reshape(shape).max(axis=1)
        return ScoreGrid.of(found.values.reshape(shape), error + np.where(unsure, self.variation, 0.0))
