"""Verdicts: what a search found, of one score or of several classes, as a `Result`. The one page that says what a verdict rests on.

FAIR     a complete proof, written down and accepted by the independent checker; of programs that round much, with room for that (`obeying`)
BIASED   a pair that is a witness in exact arithmetic, also to the checker, and on the model's own predict; where there was no time
         to have it checked, without a certificate
UNKNOWN  everything else, with its reason and the bounds reached
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from likewise.clock import OutOfTime
from likewise.families.program_rounding import of_program, shifted
from likewise.model.gauge import gauge_of
from likewise.model.question import round_down
from likewise.spec.properties import Property, SameDecision, level_of
from likewise.verifying.certifying import unchecked, why_not
from likewise.verifying.obeying import leaves_room, why_not_obeyed
from likewise.verifying.result import Claimed, Result, Verdict

if TYPE_CHECKING:
    from likewise.certificate.certificate import Certificate
    from likewise.importers.imported import Imported
    from likewise.model.gauge import Scale
    from likewise.model.witness import Witness
    from likewise.search.problem import Problem
    from likewise.verifying.certifying import Checking, CheckReport
    from likewise.verifying.contributions import Compared
    from likewise.verifying.wording import Treated


UNCERTIFIED = (
    "there was no time to write a certificate of the pair and have it checked: a longer budget has one"
)


class Posed(Protocol):
    """A claim about an imported model, ready to be searched: of one score, or of several classes."""

    @property
    def problem(self) -> Problem: ...

    @property
    def imported(self) -> Imported: ...

    def pair(self, witness: Witness) -> tuple[Any, tuple[float, float]]:
        """The witness as a frame of the user's kind, with its scores."""

    def shown(self, witness: Witness, of: Scale) -> float:
        """What the model's own program shows of a pair on a scale."""

    def treated(self, witness: Witness) -> Treated:
        """What the model's own program says about the two."""


class Found(Protocol):
    """What a search came to, and how that is written down."""

    @property
    def posed(self) -> Posed: ...

    @property
    def witness(self) -> Witness | None:
        """The pair that was found, also one found where the checker had refused a leaf."""

    @property
    def proved(self) -> bool:
        """Whether there is a complete proof."""

    @property
    def reason(self) -> str | None:
        """Why there is neither."""

    @property
    def stand_in(self) -> str | None:
        """What answers in place of the original program, if something does."""

    def certify(self, checking: Checking) -> tuple[Certificate, CheckReport]:
        """The proof, and what the checker says of it."""

    def certify_witness(self, witness: Witness, checking: Checking) -> tuple[Certificate, CheckReport]:
        """The pair, and what the checker says of it."""

    def value(self, witness: Witness) -> Fraction:
        """What a pair amounts to, or a lower bound of it."""

    def compared(self, witness: Witness) -> Compared | None:
        """What each feature contributes."""

    def upper(self) -> float:
        """What the cells left open allow, in float64."""

    def asked_again(self, claimed: Claimed) -> Found:
        """What a search for the same claim at another level comes to, in what is left of the budget."""

    def facts(self) -> dict[str, Any]:
        """The engine and what it took."""


def concluded(found: Found, claimed: Claimed, checking: Checking | None) -> Result:
    """The verdict; without `checking` nothing can be FAIR."""
    if found.witness is not None:
        return _biased(found, found.witness, claimed, checking)
    reason, report = found.reason, None
    if found.proved and checking is None:
        reason = "a proof was found but not checked (certify=False)"
    elif found.proved and checking is not None:
        budget = found.posed.problem.budget
        try:
            with budget.grace_watched():
                certificate, report = found.certify(checking)
        except OutOfTime:
            return _unknown(found, claimed, found.upper(), unchecked(budget), None)
        if found.witness is not None:
            return _biased(found, found.witness, claimed, checking)
        if report.accepted:
            return _fair(found, claimed, checking, certificate, report)
        reason = why_not(report, budget)
    return _unknown(found, claimed, found.upper(), reason, report)


def _fair(
    found: Found, claimed: Claimed, checking: Checking, certificate: Certificate, report: CheckReport
) -> Result:
    """FAIR, unless the program's own rounding is large and it may not obey what is proved (`obeying`)."""
    level, large = level_of(claimed.property), found.posed.imported.program.large
    budget = found.posed.problem.budget
    try:
        with budget.grace_watched():
            covered = large and not report.covers_floating_point and leaves_room(found, claimed, checking)
            reason = why_not_obeyed(found, claimed, report, covered)
    except OutOfTime:
        return _unknown(found, claimed, level, unchecked(budget), report)
    if reason is not None:
        return _unknown(found, claimed, level, reason, report)
    stats = _stats(found, claimed, report)
    if covered:
        stats["program_rounding"]["covered"] = True
    return Result(
        verdict=Verdict.FAIR,
        claimed=claimed,
        bounds=(least(claimed.property), level),
        certificate=certificate,
        covers_floating_point=report.covers_floating_point,
        program_upper=level
        if covered or report.covers_floating_point
        else _program_upper(found, level, claimed),
        stats=stats,
    )


def _unknown(
    found: Found, claimed: Claimed, upper: float, reason: str | None, report: CheckReport | None
) -> Result:
    return Result(
        verdict=Verdict.UNKNOWN,
        claimed=claimed,
        bounds=(least(claimed.property), upper),
        reason=reason,
        program_upper=_program_upper(found, upper, claimed),
        stats=_stats(found, claimed, report),
    )


def _biased(found: Found, witness: Witness, claimed: Claimed, checking: Checking | None) -> Result:
    pair, scores = found.posed.pair(witness)
    treated, program_lower = found.posed.treated(witness), _program_lower(found, witness, claimed)
    compared = found.compared(witness)
    certificate, reason = None, None
    if checking is not None:
        try:
            with found.posed.problem.budget.grace_watched():
                certificate, report = found.certify_witness(witness, checking)
        except OutOfTime:
            reason = UNCERTIFIED
        else:
            if not report.accepted and report.finished:
                reason = f"the checker refused the pair that was found: {report.reason}"
                return _unknown(found, claimed, math.inf, reason, report)
            if not report.accepted:
                certificate, reason = None, UNCERTIFIED
    return Result(
        verdict=Verdict.BIASED,
        claimed=claimed,
        pair=pair,
        scores=scores,
        decisions=treated.decisions,
        probabilities=treated.probabilities,
        upper_label=treated.upper_label,
        score_name=treated.score_name,
        compared=compared,
        bounds=(round_down(found.value(witness)), math.inf),
        certificate=certificate,
        reason=reason,
        covers_floating_point=found.stand_in is None,
        program_lower=program_lower,
        stats=_stats(found, claimed, None),
    )


def _program_lower(found: Found, witness: Witness, claimed: Claimed) -> float | None:
    """What the model's own program shows of the pair; votes have no margin."""
    head, of = found.posed.imported.model.head, gauge_of(claimed.property).of
    if of == "margin" and head.rule == "votes":
        return None
    return found.posed.shown(witness, of)


def _program_upper(found: Found, upper: float, claimed: Claimed) -> float | None:
    """What no similar pair exceeds on the program itself, where `upper` is what none exceeds in exact arithmetic."""
    imported, of = found.posed.imported, gauge_of(claimed.property).of
    return shifted(upper, imported.program.moved(of, imported.model.head), of)


def _stats(found: Found, claimed: Claimed, report: CheckReport | None) -> dict[str, Any]:
    imported = found.posed.imported
    stats = {
        **found.facts(),
        "seconds": found.posed.problem.budget.elapsed,
        **of_program(imported.program, gauge_of(claimed.property).of, imported.model.head),
    }
    if report is not None:
        stats |= {"checked": report.accepted, "check_seconds": report.seconds}
    return stats if found.stand_in is None else {**stats, "replay": found.stand_in}


def least(property: Property) -> float:
    """What every space has: an individual and itself, of gap zero (the margin of that pair is not known)."""
    return -math.inf if isinstance(property, SameDecision) else 0.0
