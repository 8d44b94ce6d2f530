"""Inquiry: what is asked about whom, where many individuals are judged: each of them beside all who are similar to it.

Where pairs are ordered, an individual is asked about twice, as the first of a pair and as the second (`Inquiry.sides`). Both times it is the x of the inquiry's pairs, which are turned round for the second. Where
pairs fall into parts, it is asked about in each of them (`Inquiry.parts`, `search.part_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from likewise.search.certainty import ScoreEstimate, answer_either_way, answer_pairs, differences
from likewise.search.neighbours import moving_features
from likewise.spec.enclosure import decide

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.judge import Judge
    from likewise.model.question import Question
    from likewise.model.witness_set import WitnessSet
    from likewise.spec.enclosure import Encloser
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

Item = TypeVar("Item")
Side = Literal["either", "first", "second"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A question about pairs, and the judge of the scores that it is about; `snap_codes` has, for codes of a feature, ones nearby that somebody has,
    where there are others. `side` is where in the question's pairs the individuals stand."""

    pairs: PairSpace
    judge: Judge
    question: Question
    snap_codes: Callable[[int, Floats], Floats] | None = None
    side: Side = "either"

    def sides(self) -> tuple[Inquiry, ...]:
        """The same of individuals on each side of a pair, where that is not the same."""
        if not self.question.one_way:
            return (self,)
        return (
            replace(self, side="first"),
            replace(self, side="second", pairs=self.pairs.turned()),
        )

    def parts(self) -> tuple[Inquiry, ...]:
        """The same of each part of the pairs, where these fall into parts."""
        return tuple(replace(self, pairs=part) for part in self.pairs.branches) or (self,)

    def pairs_beside(self, *, first: bool) -> PairSpace:
        """The pairs that an individual, the x of the inquiry's, stands in as the first or as the second."""
        return self.pairs if first else self.pairs.turned()

    @property
    def moving(self) -> tuple[int, ...]:
        """The features that may differ and matter to a score or to a constraint, and with them those that must differ."""
        return moving_features(self.pairs, self.judge)

    @property
    def by_extremes(self) -> bool:
        """Whether of all who are similar only the lowest and the highest score matter: every witness set is monotone in both, if there is one score and one level for all pairs."""
        return self.judge.n_scores == 1 and self.pairs.allowance is None

    @property
    def witnesses(self) -> WitnessSet:
        """Those of one score, as pairs of two."""
        (case,) = self.question.cases()
        return case.line

    # -- an individual beside another one ---------------------------------------------------------------------------

    def answers(self, own: ScoreEstimate, other: ScoreEstimate) -> tuple[Flags, Flags]:
        """Which pairs, by one score, certainly break the property, and which possibly."""
        if self.side == "either":
            return answer_either_way(self.question, own, other)
        return answer_pairs(self.question, *self.in_order(own, other))

    def gaps(self, own: ScoreEstimate, other: ScoreEstimate) -> tuple[Floats, Floats]:
        """How far pairs are apart, and the error of that; of ordered ones how far the second is below the first, 0 where it is above."""
        apart, error = differences(self.question, *self.in_order(own, other))
        return self.sizes(apart), error

    def sizes(self, apart: Floats) -> Floats:
        """What differences, of the first and the second of a pair, count as."""
        return np.abs(apart) if self.side == "either" else np.maximum(apart, 0.0)

    def in_order(self, own: Item, other: Item) -> tuple[Item, Item]:
        """An individual and another one, the first of the pair first."""
        return (other, own) if self.side == "second" else (own, other)

    def decided(self, enclose: Encloser, own: Sequence[Fraction], other: Sequence[Fraction]) -> bool | None:
        """Whether an individual and another one break the property, by enclosures; None where no precision tells. Where scores may be apart because the two are, by more than is possibly allowed, or no more than is surely."""
        pair, allowance = self.in_order(own, other), self.pairs.allowance
        if allowance is None:
            return decide(self.question, enclose, *pair)[0]
        least, most = allowance.ends(*pair)
        if decide(self.question.eased(most), enclose, *pair)[0]:
            return True
        return None if decide(self.question.eased(least), enclose, *pair)[0] in (True, None) else False

    def breaks(self, own: Fraction, low: Fraction, high: Fraction) -> bool:
        """Whether one of two others breaks the property, by their only scores. Exact."""
        as_first, as_second = self.side != "second", self.side != "first"
        witnesses = self.witnesses
        return (as_first and witnesses.holds(own, low)) or (as_second and witnesses.holds(high, own))
