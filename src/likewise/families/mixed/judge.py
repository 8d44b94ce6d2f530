"""Judge of a sum of bumps of mixed columns: every individual by itself, in float64 with a proved error.

With u = 2^-53 (`rounding_growth`): a column is off by 3 roundings of |offset| + |slope code|, one of a table's entry, or as `separable` has it of a piece. A sum z_j of w columns is off by the columns' errors
times |factor|, and by w + 3 roundings (factors and the constant are rounded once themselves) of |constant| + sum |factor column|. A point that moves by d in z changes exp(-gamma |z - s|^2) by at most sqrt(2 gamma / e) |d|, and
exp(-gamma sum |z - s|) by gamma sum |d_j|. From there the distance is computed from differences: one rounding each, squared or not, and J more in their sum, so that gamma dist is off by a factor of J + 5 roundings, and y exp(-y) <= 1/e < 1.
exp itself: `exponential`. The sum over t adds as many roundings of sum |a_t| as there are terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import check_clock
from likewise.families.exponential import ABSOLUTE_ERROR, RELATIVE_ERROR, exp_minus
from likewise.families.score_judge import (
    UNDERFLOW_LOSS,
    ScoreGrid,
    ScoreJudge,
    column_sizes,
    cross_settings,
    rounding_growth,
)
from likewise.families.separable import term_values
from likewise.model.embedding import embed_rows
from likewise.spec.terms import Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.mixed.body import MixedScore
    from likewise.model.embedding import Column

    Floats = NDArray[np.float64]

STEEPEST_SLOPE = 0.86  # sqrt(2 / e) is 0.8577...
ROOM_FACTOR = 1.01  # the rounding of the errors themselves
LARGEST_ERROR = 0.005  # of one bump; beyond it nothing is claimed
BLOCK_VALUES = 2_000_000


class MixedJudge(ScoreJudge):
    """Scores of a mixed model."""

    score: MixedScore

    def __init__(self, score: MixedScore) -> None:
        self.score = score
        terms = len(score.body.coefficients)
        self.size = float(np.abs(score.body.coefficients).sum()) * 1.001
        self.summing = (
            rounding_growth(terms + 4) * (self.size + abs(score.body.bias)) + terms * UNDERFLOW_LOSS
        )

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreGrid:
        codes = cross_settings(rows, features, settings)
        values, error = np.empty(len(codes)), np.empty(len(codes))
        step = max(1, BLOCK_VALUES // max(1, self.score.body.centres.size))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(codes), step):
                check_clock()
                part = slice(start, start + step)
                values[part], error[part] = self._scores(codes[part])
        shape = (len(rows), len(settings))
        return ScoreGrid.of(values.reshape(shape), error.reshape(shape).max(axis=1, initial=0.0))

    def _scores(self, codes: Floats) -> tuple[Floats, Floats]:
        body = self.score.body
        constants, factors = self.score.matrix
        columns = embed_rows(self.score.embedding, codes)
        off = np.stack(
            [_column_errors(one, codes[:, one.feature]) for one in self.score.embedding], axis=1
        ).reshape(columns.shape)
        z = columns @ factors.T + constants
        sizes = np.abs(columns) @ np.abs(factors).T + np.abs(constants)
        moved = off @ np.abs(factors).T + rounding_growth(columns.shape[1] + 3) * sizes
        apart = z[:, None, :] - body.centres
        if body.shape == "gaussian":
            far = (apart**2).sum(axis=2)
            change = STEEPEST_SLOPE * math.sqrt(body.gamma) * np.sqrt((moved**2).sum(axis=1))
        else:
            far = np.abs(apart).sum(axis=2)
            change = body.gamma * moved.sum(axis=1)
        kernel = exp_minus(body.gamma * far)
        error = ROOM_FACTOR * (change + rounding_growth(apart.shape[2] + 5) + RELATIVE_ERROR) + ABSOLUTE_ERROR
        error = np.where(error < LARGEST_ERROR, error, np.inf)
        scores: Floats = kernel @ body.coefficients + body.bias
        return scores, ROOM_FACTOR * self.size * error + self.summing


def _column_errors(column: Column, codes: Floats) -> Floats:
    """By how much `embed_rows` may be off."""
    if column.pieces is None:
        return rounding_growth(3) * column_sizes(column, codes)
    degree = len(column.pieces.floats()[2])
    return rounding_growth(3 * degree + 4) * term_values(Term(pieces=column.pieces), codes)[1]
