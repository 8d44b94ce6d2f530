"""verify: import -> portfolio -> certificate -> check -> Result. The one page that says what a verdict rests on.

FAIR     a complete proof, written down and accepted by the independent checker
BIASED   a pair that is a witness in exact arithmetic, also to the checker, and on the model's own predict
UNKNOWN  everything else, with its reason and the bounds reached
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, SpecError
from likewise.importers.imported import ImportedClasses
from likewise.model.gauge import Gauge, gauge_of
from likewise.model.question import question_of, round_down
from likewise.progress import Listener, silent, terminal
from likewise.search.budget import interruptible
from likewise.search.portfolio import Outcome, decide
from likewise.spec.properties import ProbabilityGap, Property, SameDecision, ScoreGap, place_of_class
from likewise.verifying.certifying import Checking, CheckReport, Statement, certify_proof, certify_witness
from likewise.verifying.classes import prepare_classes, verify_classes
from likewise.verifying.contributions import compared
from likewise.verifying.preparing import Prepared, prepare_taken, take
from likewise.verifying.result import Claimed, Result, Verdict

if TYPE_CHECKING:
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

ROOM = 1e-9  # relative, added to float64 bounds that are reported without a proof


def verify(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    X: Any = None,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    certify: bool = True,
) -> Result:
    """Decide whether a model treats similar individuals alike.

    Parameters
    ----------
    model : fitted estimator
    space : Space
        All individuals that the claim is about.
    similar : Similarity
        Which two of them are similar.
    property : SameDecision, ScoreGap or ProbabilityGap
        What similar individuals must share; the same decision if left out.
    X : frame, optional
        Known individuals: the search starts from them, and the pair comes back in this kind of frame.
    budget : float
        Seconds. When they are over the answer is UNKNOWN with the bounds reached.
    n_jobs : int
        Processes that check the proof's leaves.
    executor : concurrent.futures.Executor, optional
        Where the checker runs, if not in this process.
    random_state : int, Generator or None
        Seeds the search for a pair; never changes a verdict from FAIR to BIASED or back.
    progress : bool or callable
        True shows a live line on a terminal; a callable gets `likewise.progress.Snapshot`s.
    certify : bool
        Write the proof and have it checked. Without, no proof is written and a claim that the search
        could not break is UNKNOWN: only what the checker accepted is FAIR.
    """
    property = SameDecision() if property is None else property
    if not isinstance(property, (SameDecision, ScoreGap, ProbabilityGap)):
        raise SpecError(
            f"property must be SameDecision, ScoreGap or ProbabilityGap, not {type(property).__name__}",
            hint="for instance likewise.SameDecision()",
        )
    checking = checking_with(n_jobs, executor) if certify else None
    with listening(progress) as listener:
        taken = take(model, space, similar, X=X, budget=budget)
        family = taken.imported.model.family
        if isinstance(taken.imported, ImportedClasses):
            several = prepare_classes(
                taken, property, budget=budget, random_state=random_state, listener=listener
            )
            claimed = Claimed(space=space, similarity=similar, property=property, family=family)
            with interruptible(several.problem.budget):
                return verify_classes(several, claimed, checking)
        prepared = prepare_taken(
            taken,
            question_of(property),
            gauge_of(property).of,
            budget=budget,
            random_state=random_state,
            listener=listener,
        )
        # Two classes: what is claimed of one label is claimed of the other.
        place_of_class(property.class_of_interest, prepared.imported.model.head.labels, family)
        claimed = Claimed(
            space=space,
            similarity=similar,
            property=property,
            family=family,
            notes=prepared.imported.recoding.notes,
        )
        with interruptible(prepared.problem.budget):
            outcome = decide(prepared.problem)
            return conclude(prepared, outcome, claimed, checking)


def checking_with(n_jobs: int, executor: Executor | None) -> Checking:
    """How the checker is to run; refuses a number of processes or an executor that is none."""
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or (n_jobs < 1 and n_jobs != -1):
        raise SpecError(f"n_jobs must be a whole number of processes or -1 for all cores, not {n_jobs!r}")
    if executor is not None and not hasattr(executor, "submit"):
        raise SpecError(
            f"executor must be a concurrent.futures.Executor, not {executor!r}",
            hint="for instance ProcessPoolExecutor()",
        )
    return Checking(jobs=os.cpu_count() or 1 if n_jobs == -1 else n_jobs, executor=executor)


@contextmanager
def listening(progress: bool | Listener) -> Iterator[Listener]:
    """The listener that `progress` asks for."""
    if callable(progress):
        yield progress
    elif progress:
        with terminal() as listener:
            yield listener
    else:
        yield silent


def conclude(prepared: Prepared, outcome: Outcome, claimed: Claimed, checking: Checking | None) -> Result:
    """Turn what the search found into a Result; without `checking` nothing can be FAIR."""
    gauge = prepared.gauge
    statement = Statement(
        kind=claimed.property.kind,
        level=Fraction(_level(claimed.property)),
        words=claimed.in_words(),
        question=prepared.problem.question,
    )
    if outcome.witness is not None:
        return _biased(prepared, outcome, claimed, gauge, statement, checking)
    reason, certificate, report = outcome.reason, None, None
    if outcome.proof is not None and checking is None:
        reason = "a proof was found but not checked (certify=False)"
    elif outcome.proof is not None and checking is not None:
        search = outcome.search
        certificate, report = certify_proof(
            prepared,
            outcome.proof,
            lambda: outcome.clearance if search is None else search.clearance,
            statement,
            checking,
            search,
        )
        if search is not None and search.witness is not None:  # found where the checker had refused a leaf
            found = replace(outcome, witness=search.witness, proof=None)
            return _biased(prepared, found, claimed, gauge, statement, checking)
        if report.accepted:
            return Result(
                verdict=Verdict.FAIR,
                claimed=claimed,
                bounds=(_least(gauge), _level(claimed.property)),
                certificate=certificate,
                covers_floating_point=report.covers_floating_point,
                stats=_stats(prepared, outcome, report),
            )
        reason = f"the checker refused the proof: {report.reason}"
    bounds = _least(gauge), _open_upper(outcome, gauge, _level(claimed.property))
    return _unknown(claimed, bounds, reason, _stats(prepared, outcome, report))


def _unknown(
    claimed: Claimed, bounds: tuple[float, float], reason: str | None, stats: dict[str, Any]
) -> Result:
    return Result(verdict=Verdict.UNKNOWN, claimed=claimed, bounds=bounds, reason=reason, stats=stats)


def _biased(
    prepared: Prepared,
    outcome: Outcome,
    claimed: Claimed,
    gauge: Gauge,
    statement: Statement,
    checking: Checking | None,
) -> Result:
    witness, certificate = outcome.witness, None
    if witness is None:
        raise InternalError("BIASED without a witness")
    if checking is not None:
        certificate, report = certify_witness(prepared, witness, statement, checking)
        if not report.accepted:
            reason = f"the checker refused the pair that was found: {report.reason}"
            return _unknown(claimed, (_least(gauge), math.inf), reason, _stats(prepared, outcome, report))
    pair, scores = prepared.pair(witness)
    treated = prepared.treated(witness)
    return Result(
        verdict=Verdict.BIASED,
        claimed=claimed,
        pair=pair,
        scores=scores,
        decisions=treated.decisions,
        probabilities=treated.probabilities,
        upper_label=treated.upper_label,
        compared=compared(prepared, witness),
        bounds=(round_down(gauge.value(witness.first.lo, witness.second.hi)), math.inf),
        certificate=certificate,
        covers_floating_point=prepared.imported.replay.stand_in is None,
        stats=_stats(prepared, outcome, None),
    )


def _stats(prepared: Prepared, outcome: Outcome, report: CheckReport | None) -> dict[str, Any]:
    stats = {"engine": outcome.engine, "seconds": prepared.problem.budget.elapsed, "cells": _cells(outcome)}
    if report is not None:
        stats |= {"checked": report.accepted, "check_seconds": report.seconds}
    stand_in = prepared.imported.replay.stand_in
    return stats if stand_in is None else {**stats, "replay": stand_in}


def _least(gauge: Gauge) -> float:
    """What every space has: an individual and itself, of gap zero (the margin of that pair is not known)."""
    return -math.inf if gauge.of == "margin" else 0.0


def _cells(outcome: Outcome) -> int:
    if outcome.search is not None:
        return len(outcome.search.proof.nodes)
    return 1 if outcome.proof is not None else 0


def _level(property: Property) -> float:
    return property.margin if isinstance(property, SameDecision) else property.delta


def _open_upper(outcome: Outcome, gauge: Gauge, level: float) -> float:
    """The largest value that the cells left open still allow, in float64 with room for its rounding; closed
    cells allow no more than the level that was asked for."""
    search = outcome.search
    if search is None or not (search.open or search.stuck):
        return math.inf
    cells = [*search.open, *search.stuck]
    caps = gauge.cap(np.array([c.lean for c in cells]), np.array([c.upper for c in cells]))
    highest = float(caps.max())
    return max(level, highest + ROOM * (1 + abs(highest))) if math.isfinite(highest) else math.inf
