"""How fast may the answer change? The least constant of a Lipschitz claim, as a bracket: from below by a pair, from above by a certificate.

A pair leaves the constant (gap - slack) / distance at least. From above, claims are verified: just above the best pair first, or at what the slopes of the score show; where that is neither proved
nor refuted the constant is doubled, and then the two ends are brought together as long as there is time. Every upper end is one that the checker accepted.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.measure import Disparity
from likewise.clock import OutOfTime, check_clock
from likewise.errors import InternalError, SpecError
from likewise.progress import Snapshot
from likewise.search.budget import interruptible
from likewise.search.proof import begin_proof
from likewise.search.slope_tree import SlopeTree
from likewise.search.steep_pairs import steepest_pairs
from likewise.search.task import exact_witness
from likewise.spec.lipschitz import NO_METRIC_HINT, Lipschitz
from likewise.spec.numbers import double_above
from likewise.verifying.posed_problem import PosedProblem, pose
from likewise.verifying.verdicts import rate_of
from likewise.verifying.verification import verify_problem

if TYPE_CHECKING:
    from likewise.model.cases import Witness
    from likewise.problem import Problem
    from likewise.run import Run
    from likewise.verifying.result import Result

REFEREED = 16  # steepest pairs whose rate is computed exactly
SHARE = 0.35  # of what is left of the budget, for one constant
SLOPES_SHARE = 0.15  # of the budget, for the slopes of boxes before anything is verified
SLOPES_ROOM = 1e-6  # relative, above what slopes show
MOST_DOUBLINGS = 60
MEASURED_BOXES = 4000  # whose slopes are looked at before one constant is verified
NARROW = 1e-3  # relative: between a constant that was given up and one that is proved nothing more is tried
UNBOUNDED = "scores jump: two individuals at no distance, or as near as numbers are, get different ones; a slack leaves room for that"
OPEN = "no constant was proved within the budget; a slack, a radius or a longer budget may help"


@dataclass(slots=True)
class _Bracket:
    """What is known so far, the best pair, and the certificate of the upper end."""

    lower: float = 0.0
    upper: float = math.inf
    given_up: float = 0.0  # the largest constant that was neither proved nor refuted
    pair: dict[str, Any] = field(default_factory=dict)
    proof: Result | None = None
    history: list[tuple[float, float, float]] = field(default_factory=list)


def measure_steepness(problem: Problem, run: Run, tolerance: float) -> Disparity:
    """The least constant of a problem whose property is a Lipschitz claim; the constant of that does not matter."""
    asked = problem.claim.property
    if not isinstance(asked, Lipschitz):
        raise SpecError("how fast scores change is measured by a metric", hint=NO_METRIC_HINT)
    if problem.claim.similarity.one_way:
        raise SpecError(
            "no answer about the least constant for a claim in one direction",
            hint="verify takes it, at a constant",
        )
    found = _Bracket()
    with interruptible(run.budget):
        posed = pose(problem.with_property(replace(asked, constant=0.0)), run)
        with suppress(OutOfTime), run.budget.watched():
            _look_for_pairs(posed, asked, found)
        guess = _first_guess(posed, found, run)
        for _ in range(MOST_DOUBLINGS):
            _note(found, run)
            if guess is None or run.budget.over or math.isinf(found.lower) or math.isinf(guess):
                break
            result = verify_problem(problem.with_property(replace(asked, constant=guess)), run.part(SHARE))
            _take(found, guess, result)
            guess = _next_guess(found, tolerance)
    return _made(posed, found, run, tolerance)


def _look_for_pairs(posed: PosedProblem, asked: Lipschitz, found: _Bracket) -> None:
    task = posed.task
    points, rates = steepest_pairs(task)
    best: Witness | None = None
    for i in np.argsort(-rates, kind="stable")[:REFEREED].tolist():
        check_clock()
        witness = exact_witness(task, *task.pairs.split(points[i].tolist()))
        if witness is None:
            continue
        rate = rate_of(posed.pairs, witness, posed.gauge.value_of(witness), Fraction(asked.slack))
        if rate > found.lower:
            found.lower, best = rate, witness
    if best is not None:
        pair, scores = posed.pair(best)
        treated = posed.treated(best)
        found.pair = {
            "pair": pair,
            "scores": scores,
            "decisions": treated.decisions,
            "probabilities": treated.probabilities,
            "upper_label": treated.upper_label,
            "score_name": treated.score_name,
        }


def _first_guess(posed: PosedProblem, found: _Bracket, run: Run) -> float | None:
    """What slopes show, where the score has some and nobody differs in levels; else just above the best pair."""
    task, start = posed.task, begin_proof(posed.pairs)
    if task.slopes is not None and start.number is not None:
        tree = SlopeTree(posed.pairs, task.slopes, start.lo, start.hi)
        if tree.apt:
            stop = run.budget.elapsed + SLOPES_SHARE * run.budget.seconds
            with suppress(OutOfTime), run.budget.watched():
                tree.refine(found.lower * (1 + SLOPES_ROOM), run.budget, stop, most=MEASURED_BOXES)
            if math.isfinite(tree.rate):
                return double_above(Fraction(tree.rate) * Fraction(1 + SLOPES_ROOM))
    return _just_above(found.lower)


def _just_above(lower: float) -> float | None:
    return None if math.isinf(lower) else math.nextafter(lower, math.inf) if lower else 0.0


def _take(found: _Bracket, guess: float, result: Result) -> None:
    if result.verdict == "FAIR":
        found.upper, found.proof = guess, result
    elif result.verdict == "BIASED":
        if result.bounds[0] > found.lower:
            found.lower = result.bounds[0]
            names = ("pair", "scores", "decisions", "probabilities", "upper_label", "score_name")
            found.pair = {name: getattr(result, name) for name in names}
    else:
        found.given_up = max(found.given_up, guess)


def _next_guess(found: _Bracket, tolerance: float) -> float | None:
    """The next constant to verify; None where the bracket is narrow enough, or nothing more is to be tried."""
    if math.isinf(found.lower):
        return None
    bottom = max(found.lower, found.given_up)
    if math.isinf(found.upper):
        return _just_above(found.lower) if found.given_up < found.lower else 2 * bottom or 1.0
    if found.upper - found.lower <= tolerance or found.upper <= math.nextafter(found.lower, math.inf):
        return None
    if found.given_up < found.lower:
        return _just_above(found.lower)
    if found.upper <= bottom * (1 + NARROW):
        return None
    middle = math.sqrt(bottom * found.upper) if bottom else found.upper / 2
    return middle if bottom < middle < found.upper else None


def _note(found: _Bracket, run: Run) -> None:
    seconds = run.budget.elapsed
    found.history.append((seconds, found.lower, found.upper))
    run.listener(Snapshot(stage="measuring", seconds=seconds, lower=found.lower, upper=found.upper))


def _made(posed: PosedProblem, found: _Bracket, run: Run, tolerance: float) -> Disparity:
    reason = None
    if math.isinf(found.lower):
        reason = UNBOUNDED
    elif math.isinf(found.upper):
        reason = OPEN
    elif found.upper - found.lower > max(tolerance, math.ulp(found.upper)):
        reason = run.budget.reason if run.budget.over else "what lies between is neither proved nor refuted"
    if found.upper < found.lower:
        raise InternalError(f"a constant of {found.upper} was proved, and a pair takes {found.lower}")
    return Disparity(
        of="lipschitz",
        lower=found.lower,
        upper=found.upper,
        names=posed.imported.recoding.given.names,
        history=tuple(found.history),
        certificate=None if found.proof is None else found.proof.certificate,
        proved=True,
        reason=reason,
        stats={**run.budget.stats, **posed.imported.compared.stats, "seconds": run.budget.elapsed},
        **found.pair,
    )
