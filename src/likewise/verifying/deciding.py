"""verify: import -> portfolio -> certificate -> check -> Result. `verdicts` says what a verdict rests on."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, SpecError
from likewise.importers.imported import ImportedClasses
from likewise.model.gauge import gauge_of
from likewise.model.question import question_of
from likewise.progress import Listener, silent, terminal
from likewise.search.budget import IMPORT_SECONDS, Budget, budget_of, interruptible
from likewise.search.portfolio import Outcome, decide
from likewise.search.together import still_allowed
from likewise.spec.properties import ProbabilityGap, Property, SameDecision, ScoreGap, place_of_class
from likewise.verifying.certifying import (
    Checking,
    CheckReport,
    Statement,
    certify_proof,
    certify_witness,
)
from likewise.verifying.classes import prepare_classes, verify_classes
from likewise.verifying.contributions import Compared, compared
from likewise.verifying.preparing import Prepared, Taken, prepare_taken, take
from likewise.verifying.result import Claimed, Result
from likewise.verifying.verdicts import concluded, level_of

if TYPE_CHECKING:
    from likewise.certificate.certificate import Certificate
    from likewise.search.problem import Witness
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space


def verify(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    X: Any = None,
    budget: float | Budget = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    certify: bool = True,
    import_budget: float = IMPORT_SECONDS,
) -> Result:
    """Decide whether a model treats similar individuals alike.

    Parameters
    ----------
    model : fitted estimator
        Of scikit-learn, XGBoost or LightGBM, alone or as the last step of a pipeline.
    space : Space
        All individuals that the claim is about.
    similar : Similarity
        Which two of them are similar.
    property : SameDecision, ScoreGap or ProbabilityGap
        What similar individuals must share; the same decision if left out.
    X : frame, optional
        Known individuals: the search starts from them, and the pair comes back in this kind of frame.
    budget : float
        Seconds, from when the model has been read (which took `stats["import_seconds"]`). When they are over the answer is UNKNOWN with the bounds reached; what was
        found by then may be proved and checked for a fifth of the budget and a second more. 0 takes what is at hand.
    n_jobs : int
        Processes that check the proof's leaves.
    executor : concurrent.futures.Executor, optional
        Where the checker runs, if not in this process.
    random_state : int, Generator or None
        Seeds the search for a pair; never changes a verdict from FAIR to BIASED or back.
    progress : bool or callable
        True shows a live line on a terminal; a callable gets values of the type `likewise.progress.Snapshot`.
    certify : bool
        Write the proof and have it checked. Without, no proof is written and a claim that the search
        could not break is UNKNOWN: only what the checker accepted is FAIR.
    import_budget : float
        Seconds that reading the model and comparing it with the original may take; a model that takes longer is refused by a `BudgetError`.

    Returns
    -------
    Result
        The verdict with the pair, the certificate, or the reason and the bounds reached.

    Examples
    --------
    >>> import likewise as lw
    >>> from sklearn.linear_model import LogisticRegression
    >>> credit = lw.datasets.load_credit(coded=True)
    >>> model = LogisticRegression(solver="liblinear").fit(credit.X, credit.y)
    >>> similar = lw.Similarity(free=["Ethnicity"])
    >>> print(lw.verify(model, credit.space, similar, X=credit.X).verdict)
    BIASED
    """
    property = checked_property(property)
    checking = checking_with(n_jobs, executor) if certify else None
    clock = budget_of(budget, import_budget)
    with listening(progress) as listener:
        taken = take(model, space, similar, X=X, budget=clock, listener=listener)
        return verify_taken(
            taken,
            Claimed(space=space, similarity=similar, property=property, family=taken.imported.model.family),
            clock,
            checking,
            random_state=random_state,
            listener=listener,
        )


def checked_property(property: Property | None) -> Property:
    """The property that is asked for: the same decision, if nothing was said."""
    property = SameDecision() if property is None else property
    if not isinstance(property, (SameDecision, ScoreGap, ProbabilityGap)):
        raise SpecError(
            f"property must be SameDecision, ScoreGap or ProbabilityGap, not {type(property).__name__}",
            hint="for instance likewise.SameDecision()",
        )
    return property


def verify_taken(
    taken: Taken,
    claimed: Claimed,
    clock: Budget,
    checking: Checking | None,
    *,
    random_state: int | np.random.Generator | None = 0,
    listener: Listener = silent,
) -> Result:
    """The same of a model that was read already, on a clock that runs."""
    asked = claimed.property
    if isinstance(taken.imported, ImportedClasses):
        several = prepare_classes(taken, asked, budget=clock, random_state=random_state, listener=listener)
        with interruptible(clock):
            return _timed(verify_classes(several, claimed, checking), clock, taken)
    prepared = prepare_taken(
        taken,
        question_of(asked),
        gauge_of(asked).of,
        budget=clock,
        random_state=random_state,
        listener=listener,
    )
    # Two classes: what is claimed of one label is claimed of the other.
    place_of_class(asked.class_of_interest, prepared.imported.model.head.labels, claimed.family)
    claimed = replace(claimed, notes=prepared.imported.recoding.notes)
    with interruptible(clock):
        outcome = decide(prepared.problem)
        return _timed(conclude(prepared, outcome, claimed, checking), clock, taken)


def _timed(result: Result, clock: Budget, taken: Taken) -> Result:
    """The result, which also tells how long reading the model took, while the clock of the budget stood still, and what was compared then."""
    return replace(result, stats={**result.stats, **clock.stats, **taken.imported.compared.stats})


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
    return concluded(FoundOfScore(prepared, outcome, claimed), claimed, checking)


@dataclass(frozen=True, slots=True)
class FoundOfScore:
    """What a search of one score came to."""

    posed: Prepared
    outcome: Outcome
    claimed: Claimed

    @property
    def witness(self) -> Witness | None:
        search = self.outcome.search
        return self.outcome.witness if search is None else self.outcome.witness or search.witness

    @property
    def proved(self) -> bool:
        return self.outcome.proof is not None

    @property
    def reason(self) -> str | None:
        return self.outcome.reason

    @property
    def stand_in(self) -> str | None:
        return self.posed.imported.replay.stand_in

    @property
    def statement(self) -> Statement:
        asked = self.claimed.property
        return Statement(
            kind=asked.kind,
            level=Fraction(level_of(asked)),
            words=self.claimed.in_words(),
            question=self.posed.problem.question,
        )

    def certify(self, checking: Checking) -> tuple[Certificate, CheckReport]:
        proof, search = self.outcome.proof, self.outcome.search
        if proof is None:
            raise InternalError("no proof to certify")
        return certify_proof(
            self.posed,
            proof,
            lambda: self.outcome.clearance if search is None else search.clearance,
            self.statement,
            checking,
            search,
        )

    def asked_again(self, claimed: Claimed) -> FoundOfScore:
        question = self.posed.gauge.question(Fraction(level_of(claimed.property)))
        posed = replace(
            self.posed, problem=replace(self.posed.problem, question=question, wanted=None, unreplayed=[])
        )
        return FoundOfScore(posed, decide(posed.problem), claimed)

    def certify_witness(self, witness: Witness, checking: Checking) -> tuple[Certificate, CheckReport]:
        return certify_witness(self.posed, witness, self.statement, checking)

    def value(self, witness: Witness) -> Fraction:
        return self.posed.gauge.value(witness.first.lo, witness.second.hi)

    def compared(self, witness: Witness) -> Compared | None:
        return compared(self.posed, witness)

    def upper(self) -> float:
        search = self.outcome.search
        if search is None:
            return math.inf
        return still_allowed([*search.open, *search.stuck], self.posed.gauge, level_of(self.claimed.property))

    def facts(self) -> dict[str, Any]:
        cells = 1 if self.proved else 0
        if self.outcome.search is not None:
            cells = len(self.outcome.search.proof.nodes)
        return {"engine": self.outcome.engine, "cells": cells}
