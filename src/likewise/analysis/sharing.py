"""share: how many individuals have a similar one who is treated differently?

    exact      everybody is looked at: a discrete space that is not too large, or the rows of a data set
    certified  a bracket: for linear models by the distribution of the sum that their score is (`sums`), for others by masses of cells that are
               proved fair, and of cells where everybody is proved to have a counterpart (`cells`)
    sampled    individuals drawn at random, each judged exactly, and a Clopper-Pearson interval around their share (`intervals`)

A sample is drawn from what the cells have left open, where their proofs are exact: with masses B of biased and O of open cells, known exactly, the
share is B + O p, and an interval around p, the share among individuals drawn from the open cells, is one around it. Rare flips so
get intervals that are as narrow as O is small. How many are drawn is settled by a first small sample that is then thrown away; samples
that the budget was too short for count against both ends.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.analysis.cells import Bracketing
from likewise.analysis.everybody import Counted, countable, counted
from likewise.analysis.intervals import clopper_pearson, draws_for
from likewise.analysis.judging import Judging, judgement_of, judging_of
from likewise.analysis.measures import Measure, marginals, uniform
from likewise.analysis.sums import bracket_of_sums
from likewise.errors import SpecError
from likewise.model.question import round_down, round_up
from likewise.progress import Listener
from likewise.search.budget import interruptible
from likewise.search.counterparts import BIASED, FAIR, UNDECIDED
from likewise.spec.properties import SameDecision
from likewise.verifying.deciding import listening

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

Method = Literal["exact", "certified", "sampled"]
METHODS = ("auto", "exact", "certified", "sampled")
CLOSE = 1e-4  # a certified bracket this narrow is narrow enough
NARROW = 0.0015  # the interval that a sample aims at
RELATIVELY = 0.02  # or this part of the share, where that is less
NARROWEST = 2e-5
PILOT = 4_000
SEVERAL = 65_536  # drawn at a time
MOST_DRAWS = 20_000_000
FOR_CELLS = 0.2  # of the budget, before a sample is drawn from what they leave
FOR_DRAWS = 0.8  # of what is left, that the draws may take by the pilot's pace


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """lower <= share <= upper: exactly (`confidence` None), or with at least this confidence for a sample.

    `over` tells what it is a share of. `proved` is False where cells rest on floating point.
    """

    lower: float
    upper: float
    method: Method
    confidence: float | None
    over: str
    proved: bool = True
    reason: str | None = None
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether both ends are the same number, or the doubles around it."""
        return self.method == "exact" and self.upper - self.lower <= 4 * math.ulp(self.upper)

    def __str__(self) -> str:
        how = {"exact": "exact", "certified": "proved", "sampled": f"with confidence {self.confidence}"}[
            self.method
        ]
        if not self.proved:
            how = "by cells in floating point, not proved"
        if self.lower == self.upper or self.exact:
            text = f"{percent(self.lower)}"
        else:
            text = f"between {percent(self.lower)} and {percent(self.upper)}"
        reason = f"  ({self.reason})" if self.reason else ""
        return f"share of {self.over} with a differently treated counterpart: {text}, {how}{reason}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "method": self.method,
            "confidence": self.confidence,
            "over": self.over,
            "proved": self.proved,
            "reason": self.reason,
            "stats": dict(self.stats),
        }


def percent(share: float) -> str:
    """A share for people: as many digits as tell it from 0 and 1."""
    return f"{100 * share:.6g}%"


def share(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    over: Any = "uniform",
    method: str = "auto",
    confidence: float = 0.99,
    X: Any = None,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
) -> Share:
    """The share of individuals who have a differently treated counterpart.

    Parameters are those of `verify`, and
    over : "uniform", "marginals" or a frame
        Who is counted: all individuals of the space alike; all of them, with every feature distributed as in `X` and independent of the
        others; or the rows of a frame.
    method : "auto", "exact", "certified" or "sampled"
        "auto" looks at everybody if the budget allows that, else samples.
    confidence : float
        With which a sampled interval holds the share.
    """
    if method not in METHODS:
        raise SpecError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if not (isinstance(confidence, float) and 0 < confidence < 1):
        raise SpecError(f"confidence must be a number between 0 and 1, not {confidence!r}")
    property = SameDecision() if property is None else property
    data = over if not isinstance(over, str) else X
    if isinstance(over, str) and over not in ("uniform", "marginals"):
        raise SpecError(f"over must be 'uniform', 'marginals' or a frame of rows, not {over!r}")
    if isinstance(over, str) and over == "marginals" and X is None:
        raise SpecError("the data's marginals need the data", hint="share(..., over='marginals', X=X)")
    with listening(progress) as listener:
        judging = judging_of(
            model,
            space,
            similar,
            property,
            X=data,
            budget=budget,
            random_state=random_state,
            listener=listener,
        )
        with interruptible(judging.budget):
            if not isinstance(over, str):
                return _of_rows(judging, method, n_jobs, executor)
            sharing = Sharing(
                judging=judging,
                over=over,
                confidence=confidence,
                jobs={"n_jobs": n_jobs, "executor": executor},
            )
            return sharing.by(method)


def _of_rows(judging: Judging, method: str, n_jobs: int, executor: Executor | None) -> Share:
    if method not in ("auto", "exact"):
        raise SpecError(f"the rows of a frame are all looked at: method='exact', not {method!r}")
    rows = judging.prepared.imported.rows
    if not len(rows):
        raise SpecError("the frame has no rows")
    found = judgement_of(judging, rows, n_jobs=n_jobs, executor=executor)
    biased, undecided = int((found.verdict == BIASED).sum()), int((found.verdict == UNDECIDED).sum())
    return Share(
        lower=biased / len(rows),
        upper=(biased + undecided) / len(rows),
        method="exact",
        confidence=None,
        over=f"the {len(rows):,} rows of the data",
        proved=bool(found.proved[found.verdict == FAIR].all()),
        reason=next(iter(found.reasons.values()), None) if undecided else None,
        stats={"seconds": judging.budget.elapsed, "individuals": len(rows), "biased": biased},
    )


@dataclass(slots=True, kw_only=True)
class Sharing:
    """One share over a measure."""

    judging: Judging
    over: str
    confidence: float
    jobs: dict[str, Any]

    def by(self, method: str) -> Share:
        """By the method that was asked for, or the best one that the budget allows."""
        if method == "exact" or (method == "auto" and countable(self.judging)):
            found = counted(self.judging, None if self.over == "uniform" else self.measure)
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
        pairs = self.judging.asked.pairs
        if self.over == "uniform":
            return uniform(pairs)
        return marginals(pairs, self.judging.prepared.imported.rows)

    @property
    def words(self) -> str:
        if self.over == "uniform":
            return "all individuals"
        return "individuals distributed as the data's columns"

    def _exact(self, found: Counted) -> Share:
        if not found.total and found.complete:
            raise SpecError("nobody satisfies the constraints")
        reason = None if found.complete else self.judging.budget.reason
        if not found.complete:
            lower, upper = 0.0, 1.0  # of an unknown part of everybody: nothing is known of the share
        else:
            low, high, total = (Fraction(mass) for mass in (found.biased, found.at_most, found.total))
            off = Fraction(found.error)
            lower = round_down(low * (1 - off) / (total * (1 + off)))
            upper = min(1.0, round_up(high * (1 + off) / (total * (1 - off))))
        return Share(
            lower=lower,
            upper=upper,
            method="exact",
            confidence=None,
            over=self.words,
            reason=reason,
            stats={
                "seconds": self.judging.budget.elapsed,
                "individuals": found.people,
                "redone_exactly": found.redone,
            },
        )

    def _summed(self) -> Share | None:
        """A bracket by the distribution of a sum, where the score is one."""
        bracket = bracket_of_sums(self.judging, self.measure, CLOSE)
        if bracket is None:
            return None
        lower, upper = round_down(bracket[0]), round_up(bracket[1])
        return Share(
            lower=lower,
            upper=upper,
            method="certified",
            confidence=None,
            over=self.words,
            reason=None if upper - lower <= NARROW else self._why_wide(self.judging.budget.over),
            stats={"seconds": self.judging.budget.elapsed},
        )

    def _certified(self) -> Share:
        self._refuse_constraints()
        summed = self._summed()
        if summed is not None:
            return summed
        bracketing = Bracketing(judging=self.judging, measure=self.measure)
        budget = self.judging.budget
        bracketing.run(width=CLOSE, seconds=budget.seconds)
        lower, upper = round_down(bracketing.lower), round_up(bracketing.upper)
        return Share(
            lower=lower,
            upper=upper,
            method="certified",
            confidence=None,
            over=self.words,
            proved=self.judging.proves,
            reason=None if upper - lower <= 2 * CLOSE else self._why_wide(bool(bracketing.open)),
            stats={"seconds": budget.elapsed, "cells": bracketing.cells},
        )

    def _why_wide(self, ended: bool) -> str:
        return self.judging.budget.reason if ended else "what is left can be neither settled nor cut"

    def _refuse_constraints(self) -> None:
        if self.judging.asked.pairs.constraints:
            raise SpecError(
                "a certified bracket is for spaces without constraints: masses of cells that they cut are not known",
                hint="method='sampled', or 'exact' for a discrete space",
            )

    def _sampled(self) -> Share:
        judging, measure = self.judging, self.measure
        settled, left = Fraction(0), Fraction(1)
        bracketing = None
        if judging.proves and not judging.asked.pairs.constraints:
            bracketing = Bracketing(judging=judging, measure=measure)
            bracketing.run(width=CLOSE, seconds=FOR_CELLS * judging.budget.seconds)
            settled, left = bracketing.lower, bracketing.upper - bracketing.lower
            if left <= Fraction(CLOSE) or not bracketing.open:
                return self._certified_by(bracketing)
        draw = self._drawing(measure, bracketing)
        hits, unjudged, draws, reason = self._drawn(draw, float(settled), float(left))
        low, high = clopper_pearson(hits, draws, self.confidence, unjudged=unjudged)
        return Share(
            lower=max(0.0, round_down(settled + left * Fraction(low))),
            upper=min(1.0, round_up(settled + left * Fraction(high))),
            method="sampled",
            confidence=self.confidence,
            over=self.words,
            reason=reason,
            stats={
                "seconds": judging.budget.elapsed,
                "samples": draws,
                "hits": hits,
                "unjudged": unjudged,
                "settled": float(1 - left),
                "estimate": float(settled) + float(left) * hits / draws,
            },
        )

    def _certified_by(self, bracketing: Bracketing) -> Share:
        return Share(
            lower=round_down(bracketing.lower),
            upper=round_up(bracketing.upper),
            method="certified",
            confidence=None,
            over=self.words,
            stats={"seconds": self.judging.budget.elapsed, "cells": bracketing.cells},
        )

    def _drawing(self, measure: Measure, bracketing: Bracketing | None) -> Callable[[int], Floats]:
        """Draws individuals from the measure, or from the cells that are left."""
        random = self.judging.prepared.problem.random
        if bracketing is None or bracketing.cells <= 1:

            def everywhere(count: int) -> Floats:
                rows = measure.individuals(random, count)
                if rows is None:
                    raise SpecError(
                        "nearly nobody satisfies the constraints, so that no sample can be drawn",
                        hint="method='exact' if the space is discrete, or narrow the features",
                    )
                return rows

            return everywhere
        cells = bracketing.open
        choose = _Choice([cell.mass for cell in cells])
        lo, hi = np.stack([cell.lo for cell in cells]), np.stack([cell.hi for cell in cells])
        open_left = np.stack([cell.open_left for cell in cells])

        def from_cells(count: int) -> Floats:
            at = choose(random, count)
            return measure.drawn(random, lo[at], hi[at], open_left[at])

        return from_cells

    def _drawn(
        self, draw: Callable[[int], Floats], settled: float, left: float
    ) -> tuple[int, int, int, str | None]:
        """Hits, unjudged ones and draws of a sample whose size a pilot has settled; why it is smaller than wanted."""
        judging, budget = self.judging, self.judging.budget
        judgement_of(judging, draw(PILOT // 8), **self.jobs)  # what is done once is not the pace
        started = time.perf_counter()
        few = judgement_of(judging, draw(PILOT), **self.jobs)
        judged_few = int((few.verdict != UNDECIDED).sum())
        pace = max(time.perf_counter() - started, 1e-6) / max(judged_few, 1)
        about = (float((few.verdict == BIASED).sum()) + 1) / (PILOT + 2)
        whole = settled + left * about
        width = max(min(NARROW, RELATIVELY * whole), NARROWEST) / left
        wanted = min(draws_for(about, min(width, 1.0), self.confidence), MOST_DRAWS)
        affordable = int(FOR_DRAWS * (budget.seconds - budget.elapsed) / pace)
        draws = max(min(wanted, affordable), 1)
        # Once within the absolute aim, nobody minds that the relative one would take longer.
        enough = draws_for(about, min(NARROW / left, 1.0), self.confidence)
        reason = f"the budget allowed {draws:,} draws" if draws < min(wanted, enough) else None
        hits = unjudged = done = 0
        while done < draws:
            some = min(SEVERAL, draws - done)
            if budget.over:
                unjudged += draws - done
                reason = budget.reason
                break
            verdicts = judgement_of(judging, draw(some), **self.jobs).verdict
            hits += int((verdicts == BIASED).sum())
            unjudged += int((verdicts == UNDECIDED).sum())
            done += some
            judging.tell(f"{done:,} of {draws:,} samples", share=done / draws)
        return hits, unjudged, draws, reason


class _Choice:
    """Draws places by their masses, rounded to the 53 bits of a uniform number: off by less than 2^-52 a place."""

    def __init__(self, masses: list[Fraction]) -> None:
        total, cumulated = sum(masses, Fraction(0)), Fraction(0)
        ends = []
        for mass in masses:
            cumulated += mass
            ends.append(float(cumulated / total))
        self.ends = np.array(ends)

    def __call__(self, random: np.random.Generator, count: int) -> NDArray[np.intp]:
        at = np.searchsorted(self.ends, random.uniform(0, 1, count), side="right")
        return np.minimum(at, len(self.ends) - 1)
