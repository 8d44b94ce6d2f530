"""verify: import -> portfolio -> certificate -> check -> Result. `verdicts` says what a verdict rests on."""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError
from likewise.problem import Problem, claim_about, prepare
from likewise.progress import Listener
from likewise.run import Run, running
from likewise.search.budget import IMPORT_SECONDS, Budget, interruptible
from likewise.search.frontiers import still_allowed
from likewise.search.portfolio import Outcome, decide
from likewise.spec.properties import Property, level_of
from likewise.verifying.certifying import (
    Checking,
    CheckReport,
    Statement,
    certify_proof,
    certify_witness,
)
from likewise.verifying.classes import pose_classes, verify_classes
from likewise.verifying.contributions import Compared, compared
from likewise.verifying.preparing import Prepared, pose
from likewise.verifying.result import Claimed, Result
from likewise.verifying.verdicts import concluded

if TYPE_CHECKING:
    from likewise.certificate.certificate import Certificate
    from likewise.model.witness import Witness
    from likewise.search.frontier import Frontier
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
    with running(
        budget=budget,
        import_budget=import_budget,
        n_jobs=n_jobs,
        executor=executor,
        random_state=random_state,
        progress=progress,
    ) as run:
        problem = prepare(claim_about(model, space, similar, property, X), run)
        return verify_problem(problem, run, certify=certify)


def verify_problem(problem: Problem, run: Run, *, certify: bool = True) -> Result:
    """The verdict on a claim whose model was read already."""
    imported = problem.imported
    checking = Checking.of(run) if certify else None
    claimed = Claimed.of(problem)
    if imported.model.n_scores > 1:
        several = pose_classes(problem, run)
        with interruptible(run.budget):
            result = verify_classes(several, claimed, checking)
    else:
        prepared = pose(problem, run)
        claimed = replace(claimed, notes=imported.recoding.notes)
        with interruptible(run.budget):
            result = conclude(prepared, decide(prepared.problem), claimed, checking)
    # Also how long reading the model took, while the clock of the budget stood still, and what was compared then.
    return replace(result, stats={**result.stats, **run.budget.stats, **imported.compared.stats})


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
    def search(self) -> Frontier | None:
        frontiers = self.outcome.frontiers
        return None if frontiers is None else frontiers.only

    @property
    def witness(self) -> Witness | None:
        search = self.search
        return self.outcome.witness if search is None else self.outcome.witness or search.witness

    @property
    def proved(self) -> bool:
        return self.outcome.proofs is not None

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
            question=self.posed.problem.case,
        )

    def certify(self, checking: Checking) -> tuple[Certificate, CheckReport]:
        proof, search = self.outcome.proof, self.search
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
        frontiers = self.outcome.frontiers
        if frontiers is None:
            return math.inf
        return still_allowed(frontiers.open, self.posed.gauge, level_of(self.claimed.property))

    def facts(self) -> dict[str, Any]:
        return {"engine": self.outcome.engine, "cells": self.outcome.cells}
