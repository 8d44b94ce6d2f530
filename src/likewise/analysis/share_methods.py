"""Share methods: the share over a measure, by looking at everybody, by a proved bracket, or by a sample (see `share`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from likewise.analysis.measures import Measure, has_uniform_codes, marginal_measure, uniform_measure
from likewise.analysis.row_claim import RowClaim, imputed_tolerance_features
from likewise.analysis.share_bracket import SavedBracket, ShareBracket
from likewise.analysis.share_enumeration import (
    EnumeratedMass,
    SavedEnumeration,
    can_enumerate,
    enumerate_everybody,
)
from likewise.analysis.share_result import Share, ShareMethod
from likewise.analysis.share_sample import AIMED_WIDTH, Sampler, SavedSample, make_draw
from likewise.analysis.sum_distribution import bracket_share_of_sum
from likewise.errors import SpecError
from likewise.spec.features import Integer
from likewise.spec.numbers import double_above, double_below
from likewise.verifying.certification import CheckRunner

NARROW_ENOUGH = 1e-4  # a certified bracket this narrow is narrow enough
CELLS_SHARE = 0.2  # of the budget, before a sample is drawn from what they leave
FIRST_SHARE = 0.02  # of it, by which forms have settled something, or will not in time
PROMISING = 0.5  # what may be open by then


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedShare:
    """A share as a checkpoint has it: the bracket by boxes and the sample that it is made of, or how many were looked at, as far as there are any."""

    bracket: SavedBracket | None = None
    sample: SavedSample | None = None
    everybody: SavedEnumeration | None = None


@dataclass(slots=True, kw_only=True)
class ShareComputation:
    """One share over a measure; `begun` is where it was before."""

    judging: RowClaim
    over: str
    confidence: float
    begun: SavedShare = field(default_factory=SavedShare)
    bracketing: ShareBracket | None = None
    sample: SavedSample | None = None
    everybody: SavedEnumeration | None = None

    @property
    def state(self) -> SavedShare:
        """What it can be taken up from again."""
        bracket = self.begun.bracket if self.bracketing is None else self.bracketing.state
        return SavedShare(
            bracket=bracket, sample=self.sample, everybody=self.everybody or self.begun.everybody
        )

    def _keep(self, sample: SavedSample | None) -> None:
        self.sample = sample
        self._look()

    def _keep_everybody(self, so_far: SavedEnumeration) -> None:
        self.everybody = so_far
        self._look()

    def _look(self) -> None:
        if self.judging.run.checkpoint is not None:
            self.judging.run.checkpoint.look()

    def by(self, method: str) -> Share:
        """By the method that was asked for, or the best one that the budget allows."""
        self._refuse_imputed()
        if method in ("auto", "certified") and not self.judging.inquiry.moving:
            return self._share("certified", (0.0, 0.0), independent=True)  # nothing that may differ matters
        if self.judging.pairs.distance is not None or self.judging.pairs.allowance is not None:
            # Boxes know nothing of it.
            return self._sample_share()
        begun = self.begun.everybody
        if method == "exact" or (method == "auto" and (begun is not None or can_enumerate(self.judging))):
            alike = self.over == "uniform" and has_uniform_codes(self.judging.recoding)
            found = enumerate_everybody(
                self.judging, None if alike else self.measure, begun, self._keep_everybody
            )
            if found is None:
                raise SpecError(
                    "not everybody can be looked at: the space is not discrete, or too many features may differ",
                    hint="method='sampled', or 'certified'",
                )
            return self._exact(found)
        if method == "certified":
            return self._certified()
        summed = self._summed() if method == "auto" and not self.judging.pairs.branches else None
        if summed is not None and summed.upper - summed.lower <= AIMED_WIDTH:
            return summed
        return self._sample_share()

    @property
    def measure(self) -> Measure:
        if self.over == "uniform":
            return uniform_measure(self.judging.pairs, self.judging.recoding)
        return marginal_measure(self.judging.pairs, self.judging.rows)

    @property
    def words(self) -> str:
        if self.over == "uniform":
            return "all individuals"
        return "individuals distributed as the data's columns"

    def _share(
        self, method: ShareMethod, ends: tuple[float, float], reason: str | None = None, **stats: Any
    ) -> Share:
        """What is known without a sample."""
        return Share(
            lower=ends[0],
            upper=ends[1],
            method=method,
            confidence=None,
            over=self.words,
            reason=reason,
            stats={**self.judging.budget.stats, **stats},
        )

    def _exact(self, found: EnumeratedMass) -> Share:
        if not found.total and found.complete:
            raise SpecError("nobody satisfies the constraints")
        reason = None if found.complete else self.judging.budget.reason
        return self._share(
            "exact", _share_bounds(found), reason, individuals=found.people, redone_exactly=found.redone
        )

    def _summed(self) -> Share | None:
        """A bracket by the distribution of a sum, where the score is one."""
        if not self.measure.known:
            return None
        bracket = bracket_share_of_sum(self.judging, self.measure, NARROW_ENOUGH)
        if bracket is None:
            return None
        lower, upper = double_below(bracket[0]), double_above(bracket[1])
        wide = None if upper - lower <= AIMED_WIDTH else self._why_wide(self.judging.budget.over)
        return self._share("certified", (lower, upper), wide)

    def _certified(self) -> Share:
        summed = self._summed()
        if summed is not None:
            return summed
        if not self.measure.known:
            recoding = self.judging.recoding
            bends = ((k, part.bend) for k, part in recoding.parts.items() if part.bend is not None)
            seen = ", ".join(bend.title(recoding.given.names[k]) for k, bend in bends)
            raise SpecError(
                f"a certified bracket needs masses of intervals, which are not known of {seen}, that the model sees",
                hint="method='sampled', or over='marginals'",
            )
        bracketing = ShareBracket(
            judging=self.judging,
            measure=self.measure,
            checking=CheckRunner.of(self.judging.run),
        )
        if self.begun.bracket is not None:
            bracketing.restore(self.begun.bracket)
        self.bracketing = bracketing
        bracketing.run(width=NARROW_ENOUGH, seconds=self.judging.budget.seconds)
        return self._share_of_boxes(bracketing)

    def _share_of_boxes(self, bracketing: ShareBracket) -> Share:
        lower, upper = double_below(bracketing.lower), double_above(bracketing.upper)
        wide = (
            None if upper - lower <= 2 * NARROW_ENOUGH else self._why_wide(bool(bracketing.partition.boxes))
        )
        accepted = 0 if bracketing.prover is None else bracketing.prover.accepted
        return self._share("certified", (lower, upper), wide, cells=bracketing.boxes, certificates=accepted)

    def _why_wide(self, ended: bool) -> str:
        return self.judging.budget.reason if ended else "what is left can be neither settled nor cut"

    def _refuse_imputed(self) -> None:
        """Who misses a number and who has the one that is put in its place have different similar individuals, but the same codes."""
        given = self.judging.recoding.given
        for k in imputed_tolerance_features(self.judging):
            name = given.names[k]
            drawn = (
                isinstance(given[name], Integer)
                if self.over == "uniform"
                else self.judging.source.missing_codes(self.judging.source.codes)[:, k].any()
            )
            if drawn:
                raise SpecError(
                    f"{name!r} may be missing, is imputed by the model and within a tolerance: such shares are told of rows only",
                    hint="over=X, or leave the missing values out of the space, or let the feature be free or the same",
                )

    def _sample_share(self) -> Share:
        judging, bracketing = self.judging, self._bracket_before_sample()
        if bracketing is not None and (
            bracketing.upper - bracketing.lower <= NARROW_ENOUGH or not bracketing.left
        ):
            return self._share_of_boxes(bracketing)
        low, fair = (Fraction(0), Fraction(0)) if bracketing is None else bracketing.settled
        mass = (
            Fraction(1) if bracketing is None else sum((cell.mass for cell in bracketing.left), Fraction(0))
        )
        stuck = 1 - low - fair - mass
        sample = Sampler(
            judging=judging,
            draw=make_draw(judging, self.measure, None if bracketing is None else bracketing.left),
            mass=float(mass),
            settled=float(low),
            confidence=self.confidence,
            begun=self.begun.sample,
            keep=None if judging.run.checkpoint is None else self._keep,
        ).run()
        ends = sample.interval
        known = (Fraction(0), Fraction(1)) if bracketing is None else (bracketing.lower, bracketing.upper)
        return Share(
            lower=double_below(max(known[0], low + mass * Fraction(ends[0]))),
            upper=double_above(min(known[1], low + stuck + mass * Fraction(ends[1]))),
            method="sampled",
            confidence=self.confidence,
            over=self.words,
            proved=sample.proved,
            reason=sample.reason,
            stats={
                **judging.budget.stats,
                "samples": sample.draws,
                "planned": sample.planned,
                "hits": sample.hits,
                "unjudged": sample.unjudged,
                "settled": float(1 - mass),
                **({} if bracketing is None else _ends_of(known)),
            },
        )

    def _bracket_before_sample(self) -> ShareBracket | None:
        """Cells settled before a sample is drawn, where their proofs are exact and settle anything."""
        pairs = self.judging.pairs
        if (
            not self.judging.proves
            or not self.measure.known
            or pairs.constraints
            or pairs.distance is not None
            or pairs.branches
        ):
            return None
        sampled = self.begun.sample is not None
        if sampled and self.begun.bracket is None:
            return None
        bracketing = ShareBracket(judging=self.judging, measure=self.measure)
        if self.begun.bracket is not None:
            bracketing.restore(self.begun.bracket)
        self.bracketing = bracketing
        if not sampled:  # which is drawn from what the boxes left then
            self._settle_boxes(bracketing)
        if not (bracketing.biased or bracketing.fair):
            self.bracketing, self.begun = None, replace(self.begun, bracket=None)
        return self.bracketing

    def _settle_boxes(self, bracketing: ShareBracket) -> None:
        seconds, left = self.judging.budget.seconds, CELLS_SHARE
        if bracketing.forms is not None:
            bracketing.run(width=NARROW_ENOUGH, seconds=FIRST_SHARE * seconds)
            # Wide and deep networks bend everywhere: there a sample is narrower long before boxes are.
            left = left - FIRST_SHARE if bracketing.upper - bracketing.lower <= PROMISING else 0.0
        if left:
            bracketing.run(width=NARROW_ENOUGH, seconds=left * seconds)


def _ends_of(known: tuple[Fraction, Fraction]) -> dict[str, float]:
    """What is proved without the sample."""
    return {"proved_lower": double_below(known[0]), "proved_upper": double_above(known[1])}


def _share_bounds(found: EnumeratedMass) -> tuple[float, float]:
    """Bounds of the share; those who were not looked at may all have a counterpart, or none."""
    if found.everybody is None:
        return 0.0, 1.0
    biased, at_most = Fraction(found.biased), Fraction(found.at_most)
    off, everybody = Fraction(found.error), Fraction(found.everybody)
    # Masses are off by `error` of themselves at most; what is 0 is so for certain.
    left = Fraction(0) if found.complete else everybody * (1 + off) - Fraction(found.total) * (1 - off)
    lower = biased * (1 - off) / (everybody * (1 + off))
    upper = (at_most * (1 + off) + left) / (everybody * (1 - off))
    return max(0.0, double_below(lower)), min(1.0, double_above(upper))
