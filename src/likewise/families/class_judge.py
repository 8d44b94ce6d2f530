"""Judge of several scores: all of them for rows times settings, each with the proved error of its family's judge.

Probabilities by softmax: with M the largest score and e_k = exp(-(M - f_k)), P_c = e_c / sum_k e_k. An argument M - f_k is off by at most
d = 2 max error + u 709 as far as it counts (708 at most, see `exponential`), so that e_k is off by (exp(d) - 1 + RELATIVE) of itself, and LOST; the sum is
at least 1 and has n - 1 roundings, the quotient one. P_c <= 1 is off by at most 2.1 (d + RELATIVE) + growth(n + 2) + n LOST, for d < 0.01.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.exponential import LARGEST, LOST, RELATIVE, falling
from likewise.families.judge import UNIT, growth
from likewise.families.registry import judge_of
from likewise.families.several import Several

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.scores import Scores
    from likewise.model.conditions import Enclosures

    Floats = NDArray[np.float64]

FARTHEST = 0.01  # that an argument of exp may be off


class ClassJudge:
    """All scores of a model."""

    def __init__(self, score: Scores) -> None:
        self.score = score
        self.judges = [judge_of(part) for part in score.parts]

    @property
    def cost(self) -> int:
        return self.score.cost

    @property
    def pace(self) -> float:
        return self.score.family.pace(self.judges)

    @property
    def n_scores(self) -> int:
        return len(self.judges)

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> Several:
        """Scores (rows, settings, n): every row with these features set to each of the settings."""
        return self.score.family.cross(self.judges, rows, features, settings)

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosures:
        """All scores of one individual, to about so many bits."""
        return self.score.enclose(codes, bits)

    def depends(self, feature: int) -> bool:
        return self.score.depends(feature)

    def cuts(self, feature: int) -> Floats | None:
        """As of one score; None where not all are constant between codes."""
        return self.score.family.cuts(self.judges, feature)


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
