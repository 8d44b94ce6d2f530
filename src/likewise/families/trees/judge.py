"""Judge of a tree ensemble: comparisons of doubles are exact, so the leaves are, and only the sum of their values is rounded.

What a leaf adds is sum_c alpha_c value_c times its tree's factor, each of the parameters rounded once: n + 4 roundings for n scores. The sum over the
trees and the bias adds one a tree and one more. What is rounded is at most |bias| and, for each tree, the largest leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import check_clock
from likewise.families.score_judge import (
    UNDERFLOW_LOSS,
    ScoreGrid,
    ScoreJudge,
    are_ordinary,
    cross_settings,
    rounding_growth,
)
from likewise.spec.numbers import double_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.trees.body import TreeScore, TreeSum

    Floats = NDArray[np.float64]

WALKS_AT_A_TIME = 1_000_000  # down one tree, between two looks at the clock
MOST_ROWS = 65_536  # scored at a time, at most
WALKS_A_SECOND = 1e7  # down one tree


class TreeJudge(ScoreJudge):
    """Scores of an ensemble of trees."""

    score: TreeScore

    def __init__(self, score: TreeScore) -> None:
        self.score = score
        self.error = sum_error(score.body, score.alpha)

    @property
    def pace(self) -> float:
        return WALKS_A_SECOND / max(1, len(self.score.body.trees))

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreGrid:
        values = np.empty((len(rows), len(settings)))
        step = max(1, rows_at_a_time(len(self.score.body.trees)) // max(1, len(settings)))
        for start in range(0, len(rows), step):
            check_clock()
            part = rows[start : start + step]
            codes = cross_settings(part, features, settings)
            values[start : start + step] = self.score.scores(codes).reshape(len(part), len(settings))
        return ScoreGrid.of(values, np.full(len(rows), self.error))

    def cuts(self, feature: int) -> Floats | None:
        return self.score.body.thresholds(feature)


def rows_at_a_time(trees: int) -> int:
    """How many individuals are scored between two looks at the clock."""
    return max(1, min(MOST_ROWS, WALKS_AT_A_TIME // max(1, trees)))


def sum_error(body: TreeSum, alpha: tuple[Fraction, ...]) -> float:
    """By how much a float64 sum of leaves may be off."""
    bias = sum((abs(a * b) for a, b in zip(alpha, body.bias, strict=True)), Fraction(0))
    size = bias
    for tree in body.trees:
        largest = [Fraction(float(value)) for value in np.abs(tree.values).max(axis=0)]
        size += abs(tree.factor) * sum((abs(a) * v for a, v in zip(alpha, largest, strict=True)), Fraction(0))
    if not are_ordinary((size, *alpha, *(tree.factor for tree in body.trees))):
        return np.inf
    return rounding_growth(len(body.trees) + len(alpha) + 6) * double_above(size) * 1.01 + UNDERFLOW_LOSS
