"""Verdicts: what a search found, of one score or of several classes, as a `Result`. The one page that says what a verdict rests on.

FAIR     a complete proof, written down and accepted by the independent checker; of programs that round much, with room for that (`program_compliance`)
BIASED   a pair that is a witness in exact arithmetic, also to the checker, and on the model's own predict; where there was no time
         to have it checked, without a certificate; of a model that can only be asked, a pair that is valid exactly, by its own predict alone
UNKNOWN  everything else, with its reason and the bounds reached
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.clock import OutOfTime
from likewise.errors import InternalError
from likewise.families.program_rounding import program_upper_bound, rounding_stats
from likewise.model.gauge import scale_of
from likewise.search.frontiers import reported_upper
from likewise.search.portfolio import Outcome, decide
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.numbers import double_below
from likewise.spec.properties import Property, SameDecision, property_level
from likewise.verifying.certification import (
    Statement,
    certify_proof,
    certify_witness,
    explain_refusal,
    explain_unchecked,
)
from likewise.verifying.contributions import compare_features
from likewise.verifying.program_compliance import explain_noncompliance, proves_with_room
from likewise.verifying.result import Result, StatedClaim, Treatment, Verdict

if TYPE_CHECKING:
    from likewise.certificate.certificate import Certificate
    from likewise.model.cases import Witness
    from likewise.spec.pairs import PairSpace
    from likewise.verifying.certification import CheckReport, CheckRunner
    from likewise.verifying.posed_problem import PosedProblem

NOT_CERTIFIED = (
    "there was no time to write a certificate of the pair and have it checked: a longer budget has one"
)


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """What the search for a claim came to, and how that is written down."""

    posed: PosedProblem
    outcome: Outcome
    claimed: StatedClaim

    @property
    def witness(self) -> Witness | None:
        """The pair that was found, also one found where the checker had refused a leaf."""
        frontiers = self.outcome.frontiers
        return self.outcome.witness if frontiers is None else self.outcome.witness or frontiers.witness

    @property
    def proved(self) -> bool:
        """Whether there is a complete proof."""
        return self.outcome.proofs is not None

    @property
    def statement(self) -> Statement:
        """What a certificate of it is about."""
        return Statement(words=self.claimed.in_words(), question=self.posed.task.question)

    def certify(self, checking: CheckRunner) -> tuple[Certificate, CheckReport]:
        """The proof, and what the checker says of it."""
        outcome, frontiers = self.outcome, self.outcome.frontiers
        if outcome.proofs is None:
            raise InternalError("no proof to certify")
        if frontiers is None:
            found = (
                outcome.proofs if self.posed.pairs.branches and len(outcome.proofs) > 1 else outcome.proofs[0]
            )
            return certify_proof(self.posed, found, lambda: outcome.clearance, self.statement, checking)
        several = self.posed.several
        return certify_proof(
            self.posed,
            frontiers,
            frontiers.clearance if several else lambda: frontiers.clearance_so_far,
            self.statement,
            checking,
        )

    def certify_witness(self, witness: Witness, checking: CheckRunner) -> tuple[Certificate, CheckReport]:
        """The pair, and what the checker says of it."""
        return certify_witness(self.posed, witness, self.statement, checking)

    def search_again(self, claimed: StatedClaim) -> ClaimOutcome:
        """What a search for the same claim at another level comes to, in what is left of the budget."""
        question = self.posed.gauge.question(Fraction(property_level(claimed.property)))
        task = replace(self.posed.task, question=question, wanted=None, unreplayed=[], checkpoint=None)
        return ClaimOutcome(replace(self.posed, task=task), decide(task), claimed)

    @property
    def upper(self) -> float:
        """What the cells left open allow, in float64; no more than the claim does where none is open."""
        frontiers, level = self.outcome.frontiers, property_level(self.claimed.property)
        if isinstance(self.claimed.property, Lipschitz):
            return math.inf
        if self.proved and (frontiers is None or not frontiers.open):
            return level
        return math.inf if frontiers is None else reported_upper(frontiers, self.posed.gauge, level)

    @property
    def facts(self) -> dict[str, Any]:
        """The engine and what it took."""
        frontiers = self.outcome.frontiers
        facts = {"engine": self.outcome.engine, "cells": self.outcome.cells}
        return (
            facts | {"cases": len(frontiers.all)} if frontiers is not None and self.posed.several else facts
        )


def give_verdict(found: ClaimOutcome, checking: CheckRunner | None) -> Result:
    """The verdict; without `checking` nothing can be FAIR."""
    claimed = found.claimed
    if found.witness is not None:
        return _biased_result(found, found.witness, claimed, checking)
    reason, report = found.outcome.reason, None
    if found.proved and checking is None:
        reason = "a proof was found but not checked (certify=False)"
    elif found.proved and checking is not None:
        budget = found.posed.task.budget
        try:
            with budget.grace_watched():
                certificate, report = found.certify(checking)
        except OutOfTime:
            return _unknown_result(found, claimed, found.upper, explain_unchecked(budget), None)
        if found.witness is not None:
            return _biased_result(found, found.witness, claimed, checking)
        if report.accepted:
            return _fair_result(found, claimed, checking, certificate, report)
        reason = explain_refusal(report, budget)
    return _unknown_result(found, claimed, found.upper, reason, report)


def _fair_result(
    found: ClaimOutcome,
    claimed: StatedClaim,
    checking: CheckRunner,
    certificate: Certificate,
    report: CheckReport,
) -> Result:
    """FAIR, unless the program's own rounding is large and it may not obey what is proved (`program_compliance`)."""
    level, large = _claimed_level(claimed.property), found.posed.imported.program.large
    budget = found.posed.task.budget
    try:
        with budget.grace_watched():
            covered = (
                large and not report.covers_floating_point and proves_with_room(found, claimed, checking)
            )
            reason = explain_noncompliance(found, claimed, report, covered)
    except OutOfTime:
        return _unknown_result(found, claimed, level, explain_unchecked(budget), report)
    if reason is not None:
        return _unknown_result(found, claimed, level, reason, report)
    stats = _stats(found, claimed, report)
    if covered:
        stats["program_rounding"]["covered"] = True
    return Result(
        verdict=Verdict.FAIR,
        claimed=claimed,
        bounds=(trivial_lower_bound(claimed.property), level),
        certificate=certificate,
        covers_floating_point=report.covers_floating_point,
        program_upper=_program_upper(found, level, claimed)
        if isinstance(claimed.property, Lipschitz) or not (covered or report.covers_floating_point)
        else level,
        stats=stats,
    )


def _unknown_result(
    found: ClaimOutcome, claimed: StatedClaim, upper: float, reason: str | None, report: CheckReport | None
) -> Result:
    return Result(
        verdict=Verdict.UNKNOWN,
        claimed=claimed,
        bounds=(trivial_lower_bound(claimed.property), upper),
        reason=reason,
        program_upper=_program_upper(found, upper, claimed),
        stats=_stats(found, claimed, report),
    )


def _biased_result(
    found: ClaimOutcome, witness: Witness, claimed: StatedClaim, checking: CheckRunner | None
) -> Result:
    pair, scores = found.posed.pair(witness)
    treated = found.posed.treated(witness)
    program_lower = _program_lower(found, witness, claimed, treated)
    compared = compare_features(found.posed, witness)
    certificate, reason = None, None
    if checking is not None and not found.posed.task.oracles.family.opaque:
        try:
            with found.posed.task.budget.grace_watched():
                certificate, report = found.certify_witness(witness, checking)
        except OutOfTime:
            reason = NOT_CERTIFIED
        else:
            if not report.accepted and report.finished:
                reason = f"the checker refused the pair that was found: {report.reason}"
                return _unknown_result(found, claimed, math.inf, reason, report)
            if not report.accepted:
                certificate, reason = None, NOT_CERTIFIED
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
        bounds=(_lower_bound(found, witness), math.inf),
        certificate=certificate,
        reason=reason,
        covers_floating_point=found.posed.imported.replay.stand_in is None,
        program_lower=program_lower,
        stats=_stats(found, claimed, None),
    )


def _claimed_level(property: Property) -> float:
    """What the bounds of a claim that is true end at: its level, or the constant that scores change by."""
    return property.constant if isinstance(property, Lipschitz) else property_level(property)


def _lower_bound(found: ClaimOutcome, witness: Witness) -> float:
    """What a witness amounts to at least: its gap, or the constant that it takes."""
    property = found.claimed.property
    gap = found.posed.gauge.value_of(witness)
    if not isinstance(property, Lipschitz):
        return double_below(gap)
    return rate_of(found.posed.pairs, witness, gap, Fraction(property.slack))


def rate_of(pairs: PairSpace, witness: Witness, gap: Fraction, slack: Fraction) -> float:
    """The least constant that a pair leaves to a Lipschitz claim, rounded down; infinite where nothing is between the two."""
    if pairs.allowance is None:
        return 0.0
    unit = replace(pairs.allowance, constant=Fraction(1))
    apart = unit.ends([*map(Fraction, witness.x)], [*map(Fraction, witness.other)])[1]
    return max(double_below((gap - slack) / apart), 0.0) if apart else math.inf


def _program_lower(
    found: ClaimOutcome, witness: Witness, claimed: StatedClaim, treated: Treatment
) -> float | None:
    """What the model's own program shows of the pair; votes have no margin."""
    head, of = found.posed.imported.model.head, scale_of(claimed.property)
    if isinstance(claimed.property, Lipschitz):
        return None
    if of == "margin" and head.rule == "votes":
        return None
    return found.posed.shown(witness, of, treated)


def _program_upper(found: ClaimOutcome, upper: float, claimed: StatedClaim) -> float | None:
    """What no similar pair exceeds on the program itself, where `upper` is what none exceeds in exact arithmetic."""
    imported, of = found.posed.imported, scale_of(claimed.property)
    if isinstance(claimed.property, Lipschitz):
        return None
    return program_upper_bound(upper, imported.program.moved(of, imported.model.head), of)


def _stats(found: ClaimOutcome, claimed: StatedClaim, report: CheckReport | None) -> dict[str, Any]:
    imported = found.posed.imported
    stats = {
        **found.facts,
        "seconds": found.posed.task.budget.elapsed,
        **rounding_stats(imported.program, scale_of(claimed.property), imported.model.head),
    }
    if report is not None:
        stats |= {"checked": report.accepted, "check_seconds": report.seconds}
    return (
        stats
        if found.posed.imported.replay.stand_in is None
        else {**stats, "replay": found.posed.imported.replay.stand_in}
    )


def trivial_lower_bound(property: Property) -> float:
    """What every space has: an individual and itself, of gap zero (the margin of that pair is not known)."""
    return -math.inf if isinstance(property, SameDecision) else 0.0
