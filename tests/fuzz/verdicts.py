"""Verdicts of `verify` beside brute force: the pair by the program itself, the certificate by the checker, JSON by the text."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
from tests.fuzz.answers import asked
from tests.fuzz.claims import Claim, judged, largest_shown
from tests.fuzz.findings import Findings
from tests.fuzz.problems import Problem
from tests.fuzz.similarities import Similar

import likewise as lw


def compare_verify(problem: Problem, findings: Findings) -> Any:
    """`verify` of the problem's own claim."""
    with findings.of("verify"):
        result = verified(problem, problem.claim)
        compare_result(problem, findings, "verify", result)
        return result


def verified(problem: Problem, claim: Claim, similar: Similar | None = None) -> Any:
    similar = problem.similar if similar is None else similar
    return lw.verify(
        problem.model,
        problem.population.space(),
        similar.declared(),
        claim.declared(),
        X=problem.X,
        budget=problem.budget,
    )


def compare_result(
    problem: Problem,
    findings: Findings,
    command: str,
    result: Any,
    *,
    claim: Claim | None = None,
    similar: Similar | None = None,
    model: Any = None,
    found: Any = None,
) -> None:
    """A Result beside what brute force found (of another model, claim or similarity where these are given)."""
    claim, similar = (
        problem.claim if claim is None else claim,
        problem.similar if similar is None else similar,
    )
    model = problem.model if model is None else model
    if found is None:
        found = problem.judged(claim, similar.matrix(problem.population))
    before = len(findings.failures)
    _compare_document(findings, command, result)
    if model is problem.model:
        shown = largest_shown(problem.answers, claim, similar.matrix(problem.population))
        compare_program_end(findings, command, result, shown)
    if result.verdict == "FAIR":
        _compare_fair(findings, command, result, found)
    elif result.verdict == "BIASED":
        complete = problem.population.complete
        findings.require(
            found.possible.any() or not complete, command, "BIASED, and no pair of people breaks the property"
        )
        _compare_pair(problem, findings, command, result, claim, similar, model)
    elif found.sure.any() and str(result.reason).startswith("rounding"):
        findings.disagreed(command, f"UNKNOWN for rounding, but a pair is clear of it: {result.reason}")
    else:
        near = bool((found.possible & ~found.sure).any()) and not found.sure.any()
        kind = "near a tie" if near else "clear"
        findings.unknown(command, f"{kind}: {result.reason}")
        return
    if len(findings.failures) == before:
        _conclude(findings, command, result, found)


def compare_program_end(findings: Findings, command: str, answer: Any, shown: float | None) -> None:
    """No similar pair has a gap above `program_upper` in the numbers that the program shows: to the last bit."""
    if answer.program_upper is None or shown is None:
        return
    moves = answer.stats.get("program_rounding")
    said = f"the program shows {shown!r}, above {answer.program_upper!r}: {moves}"
    findings.require(shown <= answer.program_upper, command, said)


def _conclude(findings: Findings, command: str, result: Any, found: Any) -> None:
    if result.verdict == "FAIR" and found.seen.any():
        findings.rounding(
            command, "FAIR", "the program shows a pair that breaks it by less than its rounding"
        )
    else:
        findings.agreed(command, result.verdict)


def _compare_fair(findings: Findings, command: str, result: Any, found: Any) -> None:
    findings.require(not found.sure.any(), command, "FAIR, but a pair of people breaks the property")
    if result.covers_floating_point:
        findings.require(
            not found.seen.any(), command, "FAIR covering rounding, but the program shows a pair"
        )
    if findings.require(result.certificate is not None, command, "FAIR without a certificate"):
        report = lw.check(io.BytesIO(result.certificate.content))
        findings.require(report.accepted, command, f"FAIR, and the checker refuses: {report.reason}")
        covers = report.covers_floating_point == result.covers_floating_point
        findings.require(covers, command, "the checker and the result differ in whether rounding is covered")


def _compare_pair(
    problem: Problem,
    findings: Findings,
    command: str,
    result: Any,
    claim: Claim,
    similar: Similar,
    model: Any,
) -> None:
    """Both are in the space, similar, and treated differently by the program, asked about the two alone."""
    people = problem.population.read(result.pair)
    for person in people:
        findings.require(problem.population.valid(person), command, f"nobody in the space is {person}")
    findings.require(
        similar.similar(problem.population, *people), command, f"the two are not similar: {people}"
    )
    answers = asked(
        model, problem.population.given(people), exact=problem.exact, scored=problem.family.scored
    )
    findings.require(
        judged(answers, claim).seen[0, 1], command, f"the program does not show it: {people} {answers}"
    )
    if (
        result.scores is not None
        and answers.scored
        and answers.scores is not None
        and answers.scores.shape[1] == 1
    ):
        apart = float(np.abs(np.array(result.scores) - answers.scores[:, 0]).max())
        findings.require(
            apart <= 2 * answers.rounding + 1e-300,
            command,
            f"scores {result.scores}, by the program {answers.scores.ravel()}, rounding {answers.rounding:.3g}",
        )
    if result.certificate is not None:
        report = lw.check(io.BytesIO(result.certificate.content))
        findings.require(report.accepted, command, f"BIASED, and the checker refuses: {report.reason}")


def _compare_document(findings: Findings, command: str, result: Any) -> None:
    """What is ready for JSON says what the text says."""
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    findings.require(document["verdict"] == str(result.verdict), command, "JSON has another verdict")
    findings.require(str(result.verdict) in str(result), command, "the text has another verdict")
    findings.require((document["pair"] is None) == (result.pair is None), command, "JSON has another pair")
    if result.reason:
        words = " ".join(str(result).split())
        findings.require(result.reason.split(":")[0] in words, command, f"the text has no reason: {words}")
