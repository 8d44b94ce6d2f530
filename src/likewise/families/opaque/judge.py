"""Judge of an opaque score: the program's own answers, which are what they are. That they are the same whenever it is asked is for the program to keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.score_judge import ScoreGrid, ScoreJudge, cross_settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.opaque.body import OpaqueScore

    Floats = NDArray[np.float64]


class OpaqueJudge(ScoreJudge):
    """Asks about everybody."""

    score: OpaqueScore

    def __init__(self, score: OpaqueScore) -> None:
        self.score = score

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreGrid:
        values = self.score.scores(cross_settings(rows, features, settings))
        return ScoreGrid.of(values.reshape(len(rows), len(settings)), np.zeros(len(rows)))

    @property
    def pace(self) -> float:
        return self.score.program.pace
