"""verify: import -> portfolio -> exact check -> Result. The one page that says what a verdict rests on.

FAIR     a complete proof in which every leaf was accepted in exact arithmetic
BIASED   a pair that is a witness in exact arithmetic and on the model's own predict
UNKNOWN  everything else, with its reason and the bounds reached
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, SpecError
from likewise.model.gauge import Gauge, gauge_of
from likewise.model.question import question_of, round_up
from likewise.model.scored import rounding_error
from likewise.progress import Listener, silent, terminal
from likewise.search.budget import interruptible
from likewise.search.portfolio import Outcome, decide
from likewise.spec.properties import ProbabilityGap, Property, SameDecision, ScoreGap
from likewise.verifying.preparing import Prepared, prepare
from likewise.verifying.result import Claimed, Result, Verdict

if TYPE_CHECKING:
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space


def verify(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    X: Any = None,
    budget: float = 60,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
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
    random_state : int, Generator or None
        Seeds the search for a pair; never changes a verdict from FAIR to BIASED or back.
    progress : bool or callable
        True shows a live line on a terminal; a callable gets `likewise.progress.Snapshot`s.
    """
    property = SameDecision() if property is None else property
    if not isinstance(property, (SameDecision, ScoreGap, ProbabilityGap)):
        raise SpecError(
            f"property must be SameDecision, ScoreGap or ProbabilityGap, not {type(property).__name__}",
            hint="for instance likewise.SameDecision()",
        )
    gauge = gauge_of(property)
    with listening(progress) as listener:
        prepared = prepare(
            model,
            space,
            similar,
            question_of(property),
            gauge.of,
            X=X,
            budget=budget,
            random_state=random_state,
            listener=listener,
        )
        with interruptible(prepared.problem.budget):
            outcome = decide(prepared.problem)
    claimed = Claimed(
        space=space, similarity=similar, property=property, family=prepared.imported.model.family
    )
    return conclude(prepared, outcome, claimed, gauge)


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


def conclude(prepared: Prepared, outcome: Outcome, claimed: Claimed, gauge: Gauge) -> Result:
    """Turn what the search found into a Result."""
    stats = {"engine": outcome.engine, "seconds": prepared.problem.budget.elapsed, "cells": _cells(outcome)}
    if outcome.witness is not None:
        return _biased(prepared, outcome, claimed, gauge, stats)
    lower, upper = 0.0 if gauge.of != "margin" else -math.inf, _level(claimed.property)
    if outcome.proof is not None:
        if not outcome.proof.complete:
            raise InternalError("a proof with open cells was reported as complete")
        error = rounding_error(prepared.imported.model, claimed.space)
        return Result(
            verdict=Verdict.FAIR,
            claimed=claimed,
            bounds=(lower, upper),
            covers_floating_point=outcome.clearance > error,
            stats=stats,
        )
    return Result(
        verdict=Verdict.UNKNOWN,
        claimed=claimed,
        bounds=(lower, _open_upper(outcome, gauge)),
        reason=outcome.reason,
        stats=stats,
    )


def _biased(
    prepared: Prepared, outcome: Outcome, claimed: Claimed, gauge: Gauge, stats: dict[str, Any]
) -> Result:
    witness = outcome.witness
    if witness is None:
        raise InternalError("BIASED without a witness")
    pair, scores = prepared.pair(witness)
    codes = np.array([codes for codes, _ in prepared.ordered(witness)])
    replay, head = prepared.imported.replay, prepared.imported.model.head
    value = gauge.value(witness.first, witness.second)
    return Result(
        verdict=Verdict.BIASED,
        claimed=claimed,
        pair=pair,
        scores=scores,
        decisions=None if head.labels is None else tuple(replay.decisions(codes).tolist()),
        probabilities=None if head.link is None else tuple(replay.probabilities(codes).tolist()),
        upper_label=None if head.labels is None else head.labels[1],
        bounds=(float(value), math.inf),
        covers_floating_point=True,
        stats=stats,
    )


def _cells(outcome: Outcome) -> int:
    if outcome.search is not None:
        return len(outcome.search.proof.nodes)
    return 1 if outcome.proof is not None else 0


def _level(property: Property) -> float:
    return property.margin if isinstance(property, SameDecision) else property.delta


def _open_upper(outcome: Outcome, gauge: Gauge) -> float:
    """The largest value that the cells left open still allow."""
    search = outcome.search
    if search is None or not (search.open or search.stuck):
        return math.inf
    cells = [*search.open, *search.stuck]
    caps = gauge.cap(np.array([c.lean for c in cells]), np.array([c.upper for c in cells]))
    return round_up(Fraction(float(caps.max()))) if np.isfinite(caps.max()) else math.inf
