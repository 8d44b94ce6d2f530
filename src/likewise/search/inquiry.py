"""Inquiry: what is asked about whom, where many individuals are judged: each of them beside all who are similar to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from likewise.search.neighbours import moving_features

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.families.judge import Judge
    from likewise.model.question import Question
    from likewise.model.witness_set import WitnessSet
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A question about pairs, and the judge of the scores that it is about; `snap_codes` has, for codes of a feature, ones nearby that somebody has,
    where there are others."""

    pairs: PairSpace
    judge: Judge
    question: Question
    snap_codes: Callable[[int, Floats], Floats] | None = None

    @property
    def moving(self) -> tuple[int, ...]:
        """The features that may differ and matter to a score or to a constraint."""
        return moving_features(self.pairs, self.judge)

    @property
    def by_extremes(self) -> bool:
        """Whether of all who are similar only the lowest and the highest score matter: every witness set is monotone in both, if there is one score."""
        return self.judge.n_scores == 1

    @property
    def witnesses(self) -> WitnessSet:
        """Those of one score, as pairs of two."""
        (case,) = self.question.cases()
        return case.line
