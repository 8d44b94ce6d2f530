"""Share methods: the share over a measure, by looking at everybody, by a proved bracket, or by a sample (see `sharing`)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from likewise.analysis.everybody import Counted, countable, counted
from likewise.analysis.judging import Judging, imputed_within
from likewise.analysis.measures import Measure, all_alike, marginals, uniform
from likewise.analysis.sampling import NARROW, Sampling, drawing
from likewise.analysis.share_bracket import ShareBracket
from likewise.analysis.share_result import Method, Share
from likewise.analysis.sums import bracket_of_sums
from likewise.errors import SpecError
from likewise.spec.features import Integer
from likewise.spec.numbers import double_above, double_below
from likewise.verifying.certifying import Checking

CLOSE = 1e-4  # a certified bracket this narrow is narrow enough
FOR_CELLS = 0.2  # of the budget, before a sample is drawn from what they leave


@dataclass(slots=True, kw_only=True)
class Sharing:
    """One share over a measure."""

    judging: Judging
    over: str
    confidence: float

    def by(self, method: str) -> Share:
        """By the method that was asked for, or the best one that the budget allows."""
        self._refuse_imputed()
        if method in ("auto", "certified") and not self.judging.inquiry.moving:
            return self._share("certified", (0.0, 0.0), independent=True)  # nothing that may differ matters
        if method == "exact" or (method == "auto" and countable(self.judging)):
            alike = self.over == "uniform" and all_alike(self.judging.recoding)
            found = counted(self.judging, None if alike else self.measure)
            if found is None:
                raise SpecError(
                    "not everybody can be looked at: the space is not discrete, or too many features may differ",
                    hint="method='sampled', or 'certified'",
                )
            return self._exact(found)
        if method == "certified":
            return self._certified()
        summed = self._summed() if method == "auto" else None
        if summed is not None and summed.upper - summed.lower <= NARROW:
            return summed
        return self._sampled()

    @property
    def measure(self) -> Measure:
        if self.over == "uniform":
            return uniform(self.judging.pairs, self.judging.recoding)
        return marginals(self.judging.pairs, self.judging.rows)

    @property
    def words(self) -> str:
        if self.over == "uniform":
            return "all individuals"
        return "individuals distributed as the data's columns"

    def _share(
        self, method: Method, ends: tuple[float, float], reason: str | None = None, **stats: Any
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

    def _exact(self, found: Counted) -> Share:
        if not found.total and found.complete:
            raise SpecError("nobody satisfies the constraints")
        reason = None if found.complete else self.judging.budget.reason
        return self._share(
            "exact", _ends(found), reason, individuals=found.people, redone_exactly=found.redone
        )

    def _summed(self) -> Share | None:
        """A bracket by the distribution of a sum, where the score is one."""
        if not self.measure.known:
            return None
        bracket = bracket_of_sums(self.judging, self.measure, CLOSE)
        if bracket is None:
            return None
        lower, upper = double_below(bracket[0]), double_above(bracket[1])
        wide = None if upper - lower <= NARROW else self._why_wide(self.judging.budget.over)
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
            checking=Checking.of(self.judging.run),
        )
        bracketing.run(width=CLOSE, seconds=self.judging.budget.seconds)
        return self._of_boxes(bracketing)

    def _of_boxes(self, bracketing: ShareBracket) -> Share:
        lower, upper = double_below(bracketing.lower), double_above(bracketing.upper)
        wide = None if upper - lower <= 2 * CLOSE else self._why_wide(bool(bracketing.partition.boxes))
        accepted = 0 if bracketing.prover is None else bracketing.prover.accepted
        return self._share("certified", (lower, upper), wide, cells=bracketing.boxes, certificates=accepted)

    def _why_wide(self, ended: bool) -> str:
        return self.judging.budget.reason if ended else "what is left can be neither settled nor cut"

    def _refuse_imputed(self) -> None:
        """Who misses a number and who has the one that is put in its place have different similar individuals, but the same codes."""
        given = self.judging.recoding.given
        for k in imputed_within(self.judging):
            name = given.names[k]
            drawn = (
                isinstance(given[name], Integer)
                if self.over == "uniform"
                else self.judging.missing[:, k].any()
            )
            if drawn:
                raise SpecError(
                    f"{name!r} may be missing, is imputed by the model and within a tolerance: such shares are told of rows only",
                    hint="over=X, or leave the missing values out of the space, or let the feature be free or the same",
                )

    def _sampled(self) -> Share:
        judging, bracketing = self.judging, self._boxes_before()
        if bracketing is not None and (bracketing.upper - bracketing.lower <= CLOSE or not bracketing.left):
            return self._of_boxes(bracketing)
        low = Fraction(0) if bracketing is None else bracketing.lower
        mass = (
            Fraction(1) if bracketing is None else sum((cell.mass for cell in bracketing.left), Fraction(0))
        )
        stuck = Fraction(0) if bracketing is None else bracketing.upper - low - mass
        sample = Sampling(
            judging=judging,
            draw=drawing(judging, self.measure, bracketing),
            mass=float(mass),
            settled=float(low),
            confidence=self.confidence,
        ).run()
        ends = sample.interval
        return Share(
            lower=max(0.0, double_below(low + mass * Fraction(ends[0]))),
            upper=min(1.0, double_above(low + stuck + mass * Fraction(ends[1]))),
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
            },
        )

    def _boxes_before(self) -> ShareBracket | None:
        """Cells settled before a sample is drawn, where their proofs are exact and settle anything."""
        if not self.judging.proves or not self.measure.known or self.judging.pairs.constraints:
            return None
        bracketing = ShareBracket(judging=self.judging, measure=self.measure)
        bracketing.run(width=CLOSE, seconds=FOR_CELLS * self.judging.budget.seconds)
        return bracketing if bracketing.biased or bracketing.fair else None


def _ends(found: Counted) -> tuple[float, float]:
    """Bounds of the share; those who were not looked at may all have a counterpart, or none."""
    if found.everybody is None:
        return 0.0, 1.0
    biased, fair = Fraction(found.biased), Fraction(found.total) - Fraction(found.at_most)
    off, everybody = Fraction(found.error), Fraction(found.everybody)
    # Masses are off by `error` of themselves at most, and a difference by that of both.
    lower = biased * (1 - off) / (everybody * (1 + off))
    upper = 1 - (fair - off * 2 * Fraction(found.total)) / (everybody * (1 + off))
    return max(0.0, double_below(lower)), min(1.0, double_above(upper))
