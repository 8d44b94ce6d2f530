"""Judge: all n >= 1 scores of many individuals in float64, each with a PROVED error. Whatever goes through many individuals (audit, share) asks a
judge and nothing else about a model.

A judge is asked for the scores of rows in every setting of the features that may differ (`cross`), since that is how similar individuals come; each score
is that of its family's own judge (`score_judge`). Whatever the error leaves open is decided by `enclose`, to as many bits as it takes.

Probabilities by softmax: with M the largest score and e_k = exp(-(M - f_k)), P_c = e_c / sum_k e_k. An argument M - f_k is off by at most
d = 2 max error + u 709 as far as it counts (708 at most, see `exponential`), so that e_k is off by (exp(d) - 1 + RELATIVE) of itself, and LOST; the sum is
at least 1 and has n - 1 roundings, the quotient one. P_c <= 1 is off by at most 2.1 (d + RELATIVE) + growth(n + 2) + n LOST, for d < 0.01.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.exponential import ABSOLUTE_ERROR, LARGEST_ARGUMENT, RELATIVE_ERROR, exp_minus
from likewise.families.registry import family_of, score_judge_of
from likewise.families.score_judge import UNIT_ROUNDOFF, ScoreTable, rounding_growth
from likewise.families.separable import SeparableJudge, separable_judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import Score
    from likewise.spec.enclosure import Enclosure

    Floats = NDArray[np.float64]

LARGEST_EXP_ERROR = 0.01  # that an argument of exp may be off


class Judge:
    """All scores of a model."""

    def __init__(self, scores: Sequence[Score]) -> None:
        self.scores = scores
        self.family = family_of(scores[0])
        self.judges = [score_judge_of(score) for score in scores]

    @property
    def n_scores(self) -> int:
        return len(self.judges)

    @property
    def separable(self) -> SeparableJudge | None:
        """The judge of the only score, if that is a sum of one-feature terms."""
        return separable_judge(self.judges[0]) if self.n_scores == 1 else None

    @property
    def cost(self) -> int:
        """What a row costs, in kernel values."""
        if self.family.shared_work:
            return self.judges[0].cost
        return sum(judge.cost for judge in self.judges)

    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""
        return all(score.rational for score in self.scores)

    @property
    def pace(self) -> float:
        """About how many individuals a second have all their scores."""
        return self.family.pace(self.judges)

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreTable:
        """Scores (rows, settings, n): every row with these features set to each of the settings."""
        if self.n_scores > 1:
            return self.family.cross(self.judges, rows, features, settings)
        only = self.judges[0].cross(rows, features, settings)
        return ScoreTable(values=only.values[..., None], error=only.error)

    def enclose(self, codes: Sequence[Fraction], bits: int) -> tuple[Enclosure, ...]:
        """All scores of one individual, to about so many bits."""
        return tuple(judge.enclose(codes, bits) for judge in self.judges)

    def depends(self, feature: int) -> bool:
        """Whether any score can change with a feature."""
        return any(judge.depends(feature) for judge in self.judges)

    def cuts(self, feature: int) -> Floats | None:
        """Codes, in increasing order, between which (the larger one included) all scores are constant along a feature; None where they are not."""
        return self.family.cuts(self.judges, feature)


def softmax_scores(scores: ScoreTable) -> ScoreTable:
    """Probabilities of all classes."""
    highest = scores.values.max(axis=2, keepdims=True)
    parts = exp_minus(highest - scores.values)
    probabilities: Floats = parts / parts.sum(axis=2, keepdims=True)
    n = scores.values.shape[2]
    moved = 2 * scores.error.max(axis=1) + UNIT_ROUNDOFF * (LARGEST_ARGUMENT + 1)
    off = 2.1 * (moved + RELATIVE_ERROR) + rounding_growth(n + 2) + n * ABSOLUTE_ERROR
    error = np.where(moved < LARGEST_EXP_ERROR, off, np.inf)
    return ScoreTable(values=probabilities, error=np.repeat(error[:, None], n, axis=1))
