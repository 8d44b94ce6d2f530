"""Judgement: what is known of each of many individuals, and why of some nothing is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from likewise.search.certainty import ScoreEstimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

UNDECIDED, FAIR, BIASED = -1, 0, 1
NO_SIDE, AS_FIRST, AS_SECOND = (
    0,
    1,
    2,
)  # where an individual stands beside its counterpart, if pairs are ordered
NO_PRECISION = "two scores are too close to a border for any precision to tell"
NOT_REPRESENTABLE = "rounding: a counterpart exists in the real numbers, but no representable one was found"
NOT_REPLAYED = "rounding: a counterpart breaks the property in exact arithmetic, but the model's own floating-point prediction does not show it"


@dataclass(slots=True, kw_only=True, eq=False)
class Judgement:
    """For each individual: BIASED, FAIR or UNDECIDED (with a reason), its largest gap and a counterpart.

    `gap` is within `gap_error` of the largest gap to a similar individual. The counterpart breaks the property where somebody does, and by
    the largest gap; else it is the one with the largest gap. NaN where there is nobody else, or nothing is known. `side` is that of the individual
    beside it.
    """

    verdict: NDArray[np.int8]
    score: ScoreEstimate
    other: ScoreEstimate  # the counterpart's score
    gap: Floats
    gap_error: Floats
    counterpart: Floats
    proved: Flags  # False where FAIR rests on floating point
    enclosed: Flags  # decided by enclosures
    side: NDArray[np.int8]
    reasons: dict[int, str] = field(default_factory=dict)

    @staticmethod
    def open(count: int, features: int) -> Judgement:
        return Judgement(
            verdict=np.full(count, UNDECIDED, dtype=np.int8),
            score=ScoreEstimate.unknown(count),
            other=ScoreEstimate.unknown(count),
            gap=np.full(count, np.nan),
            gap_error=np.full(count, np.nan),
            counterpart=np.full((count, features), np.nan),
            proved=np.ones(count, dtype=bool),
            enclosed=np.zeros(count, dtype=bool),
            side=np.full(count, NO_SIDE, dtype=np.int8),
        )

    def put(self, some: NDArray[np.intp], part: Judgement) -> None:
        """Fill in a judgement of some of the individuals."""
        for name in ("verdict", "gap", "gap_error", "counterpart", "proved", "enclosed", "side"):
            getattr(self, name)[some] = getattr(part, name)
        self.score.take(some, part.score)
        self.other.take(some, part.other)
        self.reasons |= {int(some[i]): reason for i, reason in part.reasons.items()}

    def repeated(self, places: NDArray[np.intp]) -> Judgement:
        """The judgement of individuals each of whom is the same as one of these."""
        known = enumerate(places.tolist()) if self.reasons else ()
        reasons = {i: self.reasons[at] for i, at in known if at in self.reasons}
        return Judgement(
            verdict=self.verdict[places],
            score=ScoreEstimate(value=self.score.value[places], error=self.score.error[places]),
            other=ScoreEstimate(value=self.other.value[places], error=self.other.error[places]),
            gap=self.gap[places],
            gap_error=self.gap_error[places],
            counterpart=self.counterpart[places],
            proved=self.proved[places],
            enclosed=self.enclosed[places],
            side=self.side[places],
            reasons=reasons,
        )

    def joined(self, second: Judgement) -> Judgement:
        """What is known of the individuals on either side of ordered pairs: this is what is known of them as the first of a pair. Not biased is who is on neither side."""
        both, take = self._united(second)
        somebody = ~np.isnan(both.counterpart).all(axis=1)
        both.side[:] = np.where(somebody, np.where(take, AS_SECOND, AS_FIRST), NO_SIDE)
        return both

    def united(self, second: Judgement) -> Judgement:
        """What is known of the individuals beside those whom this is about and those whom the other one is about."""
        return self._united(second)[0]

    def _united(self, second: Judgement) -> tuple[Judgement, Flags]:
        """The same, and of whom the counterpart is that of the second."""
        biased = second.verdict == BIASED
        beside, alone = (~np.isnan(second.counterpart).all(axis=1), np.isnan(self.counterpart).all(axis=1))
        same = biased == (self.verdict == BIASED)
        deeper = (alone | ~(second.gap <= self.gap)) & beside
        take = np.where(same, deeper, biased)
        both = Judgement.open(*self.counterpart.shape)
        both.put(np.arange(len(take)), self)
        some = np.flatnonzero(take)
        both.other.take(some, ScoreEstimate(value=second.other.value[some], error=second.other.error[some]))
        both.counterpart[some] = second.counterpart[some]
        unknown = np.isnan(self.score.value)
        both.score.value[unknown] = second.score.value[unknown]
        both.score.error[unknown] = second.score.error[unknown]
        both.gap[:] = np.fmax(self.gap, second.gap)
        both.gap_error[:] = np.maximum(self.gap_error, second.gap_error)
        both.proved &= second.proved
        both.enclosed |= second.enclosed
        undecided = (self.verdict == UNDECIDED) | (second.verdict == UNDECIDED)
        both.verdict[:] = np.where(
            biased | (self.verdict == BIASED), BIASED, np.where(undecided, UNDECIDED, FAIR)
        )
        known = {**second.reasons, **self.reasons}
        both.reasons = {i: reason for i, reason in known.items() if both.verdict[i] == UNDECIDED}
        return both, take

    @property
    def redone(self) -> int:
        """How many were decided by enclosures."""
        return int(self.enclosed.sum())

    def close(self, reason: str) -> None:
        """Nothing more will be found: `reason` is why, of whom is undecided for no other one."""
        for i in np.flatnonzero(self.verdict == UNDECIDED).tolist():
            self.reasons.setdefault(i, reason)
