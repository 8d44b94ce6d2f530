"""Judge of several scores: all of them for rows times settings, each with the proved error of its family's judge.

Probabilities by softmax: with M the largest score and e_k = exp(-(M - f_k)), P_c = e_c / sum_k e_k. An argument M - f_k is off by at most
d = 2 max error + u 709 as far as it counts (708 at most, see `exponential`), so that e_k is off by (exp(d) - 1 + RELATIVE) of itself, and LOST; the sum is
at least 1 and has n - 1 roundings, the quotient one. P_c <= 1 is off by at most 2.1 (d + RELATIVE) + growth(n + 2) + n LOST, for d < 0.01.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import look_at_clock
from likewise.families.judge import UNIT, at_settings, growth, judge_of
from likewise.families.kernel.exponential import LARGEST, LOST, RELATIVE, falling
from likewise.families.trees.judge import TreeJudge, at_a_time
from likewise.families.trees.score import TreeScore

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.scores import Scores
    from likewise.model.conditions import Enclosures

    Floats = NDArray[np.float64]

FARTHEST = 0.01  # that an argument of exp may be off


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Several:
    """|value - true| <= error of its row: shapes (rows, settings, n) and (rows, n)."""

    values: Floats
    error: Floats

    def only(self, place: int | None) -> Several:
        """One of the n, where only that is of interest."""
        if place is None:
            return self
        return Several(values=self.values[..., place : place + 1], error=self.error[:, place : place + 1])


class ClassJudge:
    """All scores of a model of several classes."""

    def __init__(self, score: Scores) -> None:
        self.score = score
        self.judges = [judge_of(part) for part in score.parts]

    @property
    def cost(self) -> int:
        return self.score.cost

    @property
    def pace(self) -> float:
        """One walk down a tree serves all scores."""
        first = self.judges[0].pace
        return first if isinstance(self.score.parts[0], TreeScore) else first / self.n_scores

    @property
    def n_scores(self) -> int:
        return len(self.judges)

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> Several:
        """Scores (rows, settings, n): every row with these features set to each of the settings."""
        first = self.score.parts[0]
        if isinstance(first, TreeScore):
            return self._of_trees(first, rows, features, settings)
        parts = [judge.cross(rows, features, settings) for judge in self.judges]
        return Several(
            values=np.stack([part.values for part in parts], axis=2),
            error=np.stack([part.error[:, 0] for part in parts], axis=1),
        )

    def _of_trees(self, first: TreeScore, rows: Floats, features: Sequence[int], settings: Floats) -> Several:
        """One walk down the trees for all scores."""
        values = np.empty((len(rows), len(settings), self.n_scores))
        step = max(1, at_a_time(len(first.body.trees)) // max(1, len(settings)))
        for start in range(0, len(rows), step):
            look_at_clock()
            part = rows[start : start + step]
            scores = first.all_scores(at_settings(part, features, settings))
            values[start : start + step] = scores.reshape(len(part), len(settings), -1)
        error = [judge.error for judge in self.judges if isinstance(judge, TreeJudge)]
        return Several(values=values, error=np.tile(error, (len(rows), 1)))

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosures:
        """All scores of one individual, to about so many bits."""
        return self.score.enclose(codes, bits)

    def depends(self, feature: int) -> bool:
        return self.score.depends(feature)

    def cuts(self, feature: int) -> Floats | None:
        """As of one score; of several none where not all are such."""
        first = self.score.parts[0]
        return first.body.thresholds(feature) if isinstance(first, TreeScore) else None


def softmax(scores: Several) -> Several:
    """Probabilities of all classes."""
    highest = scores.values.max(axis=2, keepdims=True)
    parts = falling(highest - scores.values)
    probabilities: Floats = parts / parts.sum(axis=2, keepdims=True)
    n = scores.values.shape[2]
    moved = 2 * scores.error.max(axis=1) + UNIT * (LARGEST + 1)
    off = 2.1 * (moved + RELATIVE) + growth(n + 2) + n * LOST
    error = np.where(moved < FARTHEST, off, np.inf)
    return Several(values=probabilities, error=np.repeat(error[:, None], n, axis=1))
