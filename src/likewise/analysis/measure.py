"""measure: how unfair? A bracket around the disparity D*, the largest value over all similar pairs."""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.analysis.disparity_problem import DisparityProblem
from likewise.analysis.disparity_search import DisparitySearch
from likewise.certificate.certificate import Certificate
from likewise.clock import OutOfTime
from likewise.errors import InternalError, SpecError
from likewise.families.program_rounding import program_upper_bound, rounding_stats
from likewise.figures import bound_text
from likewise.model.gauge import RELATIVE_FINENESS, Scale
from likewise.problem import Problem, make_claim, prepare
from likewise.progress import Listener
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS, Budget, interruptible
from likewise.search.portfolio import prove_independence
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.numbers import double_below
from likewise.spec.properties import Label, Property, make_property
from likewise.spec.similarity import Similarity
from likewise.verifying.certification import (
    CheckReport,
    CheckRunner,
    Statement,
    certify_proof,
    explain_refusal,
    explain_unchecked,
    keep_state,
)
from likewise.verifying.posed_problem import PosedProblem, pose
from likewise.verifying.result import pair_rows, plain_label
from likewise.verifying.shown import ShownPair

if TYPE_CHECKING:
    from likewise.spec.mahalanobis import Mahalanobis
    from likewise.spec.metric import Metric
    from likewise.spec.named_claims import NamedClaim
    from likewise.spec.space import Space

DEFAULT_TOLERANCE = 1e-6
Measured = Scale | Literal["lipschitz"]
NEEDS_NO_CERTIFICATE = "no two probabilities are more than 1 apart, which needs no certificate"
CLAIM_TEMPLATES = {
    "score": "get scores at most {level} apart",
    "probability": "get probabilities at most {level} apart",
    "lipschitz": "get scores at most {level} times their distance apart",
    "margin": "get the same decision wherever both decisions are clear by a margin of more than {level}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Disparity(ShownPair):
    """A bracket of the disparity D*, the largest gap of a similar pair: lower <= D* <= upper.

    Of several classes, the largest gap of any class, or of the class of interest.

    Attributes
    ----------
    of : str
        The scale: 'score', 'probability', 'margin' or 'lipschitz'.
    lower, upper : float
        The ends of the bracket.
    pair : frame or None
        Two individuals whose gap is `lower`; `side_by_side` shows what differs first.
    program_lower, program_upper : float or None
        The same of the program that rounds. `program_lower` is what the model's own program shows for
        `pair`, the least of asking it about the two one by
        one and together. No gap of the numbers that it shows for any similar pair is above `program_upper`:
        that is `upper`, and what the
        program's rounding can add for two scores (through the link, for probabilities), as far as `upper`
        itself is proved; None where
        the program's rounding is not known.
    scores, decisions, probabilities : tuple or None
        Of the two, as in `Result`.
    history : tuple
        Of (seconds, lower, upper), whenever the bracket was looked at.
    certificate : Certificate or None
        Proves the upper end, where that was asked for and the checker accepted it.
    proved : bool
        False where the upper end rests on floating point: kernel and polynomial models without a certificate.
    reason : str or None
        Why the bracket is wider than was asked for, or why there is no certificate.
    stats : dict
        Seconds, cells and the like.
    """

    of: Measured
    lower: float
    upper: float
    names: tuple[str, ...] = ()
    pair: Any = None
    scores: tuple[float, float] | None = None
    decisions: tuple[Any, ...] | None = None
    probabilities: tuple[float, ...] | None = None
    upper_label: Any = None
    score_name: str = "score"
    program_lower: float | None = None
    program_upper: float | None = None
    history: tuple[tuple[float, float, float], ...] = ()
    certificate: Certificate | None = None
    proved: bool = True
    reason: str | None = None
    stats: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON: infinite bounds are null."""
        ends = (self.lower, self.upper, self.program_lower, self.program_upper)
        finite = [b if b is not None and math.isfinite(b) else None for b in ends]
        history = [[b if math.isfinite(b) else None for b in point] for point in self.history]
        return {
            "of": self.of,
            "lower": finite[0],
            "upper": finite[1],
            "program_lower": finite[2],
            "program_upper": finite[3],
            "pair": None if self.pair is None else pair_rows(self.pair, self.names),
            "scores": None if self.scores is None else list(self.scores),
            "decisions": None if self.decisions is None else list(self.decisions),
            "probabilities": None if self.probabilities is None else list(self.probabilities),
            "upper_label": plain_label(self.upper_label),
            "history": history,
            "certified": self.certificate is not None,
            "proved": self.proved,
            "reason": self.reason,
            "stats": dict(self.stats),
        }


def measure(
    model: Any,
    space: Space,
    similar: Similarity | NamedClaim | Lipschitz | None = None,
    *,
    of: Measured = "score",
    metric: Metric | Mahalanobis | None = None,
    slack: float = 0.0,
    class_of_interest: Label | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    X: Any = None,
    budget: float | Budget = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    certify: bool = False,
    import_budget: float = IMPORT_SECONDS,
    encoding: str | None = None,
    threshold: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
) -> Disparity:
    """Bracket the largest gap of scores, of probabilities, or the largest margin of a flipped decision.

    Parameters
    ----------
    model, space, similar, X, budget, n_jobs, executor, random_state, progress, import_budget, encoding,
    threshold,
    checkpoint, resume
        As for `verify`.
    of : 'score', 'probability', 'margin' or 'lipschitz'
        The scale of the gap; 'lipschitz' is the least constant that scores change no faster by than the
        metric, of a `Lipschitz` claim.
    metric : Metric or Mahalanobis, optional
        How far two individuals are apart, of 'lipschitz'; that of `similar`, if left out.
    slack : float
        How far scores may be apart besides, of 'lipschitz'.
    class_of_interest : label, optional
        One of the model's labels: of more than two classes, only its gaps count.
    tolerance : float
        The search ends once upper - lower is at most that; 0 is for trees, where it can be met.
    certify : bool
        Have the upper end written down and checked: the search then ends after two fifths of the budget,
        which leaves the rest for
        the checker.

    Returns
    -------
    Disparity
        The bracket, and a pair that attains its lower end.

    Examples
    --------
    >>> import likewise as lw
    >>> from sklearn.linear_model import LogisticRegression
    >>> credit = lw.datasets.load_credit(coded=True)
    >>> model = LogisticRegression(solver="liblinear").fit(credit.X, credit.y)
    >>> similar = lw.Similarity(free=["Ethnicity"])
    >>> print(lw.measure(model, credit.space, similar, of="probability", X=credit.X))
    largest probability gap of a similar pair: 0.109904
    """
    wanted = MeasureRequest(of=of, class_of_interest=class_of_interest, tolerance=tolerance)
    with open_run(
        budget=budget,
        import_budget=import_budget,
        n_jobs=n_jobs,
        executor=executor,
        random_state=random_state,
        progress=progress,
        checkpoint=checkpoint,
        resume=resume,
    ) as run:
        asked = None if of != "lipschitz" else _steepness_claim(similar, metric, slack, class_of_interest)
        if asked is None and (metric is not None or slack):
            raise SpecError("metric and slack are for of='lipschitz'")
        beside = None if isinstance(similar, Lipschitz) else similar
        claim = make_claim(
            model,
            space,
            similar if asked is None else beside,
            asked,
            X=X,
            encoding=encoding,
            threshold=threshold,
        )
        problem = prepare(claim, run, probable=of == "probability")
        return measure_problem(problem, run, wanted, certify=certify)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRequest:
    """What is to be measured: the scale, the class of interest, and how narrow the bracket is to be."""

    of: Measured
    class_of_interest: Label | None
    tolerance: float

    def __post_init__(self) -> None:
        if self.of not in ("score", "probability", "margin", "lipschitz"):
            raise SpecError(f"of must be 'score', 'probability', 'margin' or 'lipschitz', not {self.of!r}")
        if not (isinstance(self.tolerance, (int, float)) and 0 <= self.tolerance < math.inf):
            raise SpecError(f"tolerance must be a positive number, not {self.tolerance!r}")


def lacks_bounds(problem: Problem, run: Run, wanted: MeasureRequest) -> bool:
    """Whether nothing bounds the model on this scale, but on others: some softmax probabilities."""
    task = pose(problem.with_property(_zero_gap_property(problem, wanted)), run).task
    return task.oracles.searched_only(task.question) and not task.oracles.family.opaque


def measure_problem(
    problem: Problem, run: Run, wanted: MeasureRequest, *, certify: bool = False
) -> Disparity:
    """The disparity of a model that was read already; the property of the problem does not matter, but for
    the metric of a Lipschitz claim."""
    if wanted.of == "lipschitz":
        from likewise.analysis.steepness import measure_steepness

        return measure_steepness(problem, run, wanted.tolerance)
    checking, of = CheckRunner.of(run) if certify else None, wanted.of
    posed = pose(problem.with_property(_zero_gap_property(problem, wanted)), run)
    keep_state(posed, run.checkpoint, f"measure {of} {wanted.class_of_interest!r}".encode())
    with interruptible(run.budget):
        tolerance = _exact_tolerance(wanted.tolerance, of, posed)
        climb = DisparitySearch(
            DisparityProblem(posed, posed.gauge), tolerance, certifies=checking is not None
        )
        climb.run()
        return _make_disparity(posed, climb, of, checking)


def _steepness_claim(
    similar: Similarity | NamedClaim | Lipschitz | None,
    metric: Metric | Mahalanobis | None,
    slack: float,
    label: Label | None,
) -> Lipschitz:
    """The claim whose constant is looked for."""
    if isinstance(similar, Lipschitz):
        return similar
    if similar is not None and not isinstance(similar, Similarity):
        raise SpecError(
            "the least constant is that of a Similarity and a metric", hint="leave the name of the claim out"
        )
    return Lipschitz(0.0, metric, slack=slack, class_of_interest=label)


def _zero_gap_property(problem: Problem, wanted: MeasureRequest) -> Property:
    """The property that no two differ on this scale."""
    model, of, label = problem.imported.model, wanted.of, wanted.class_of_interest
    head, family = model.head, model.family
    if of == "margin" and head.rule == "votes":
        raise SpecError(
            f"{family} decides by votes, which have no margin", hint="verify SameDecision() instead"
        )
    return make_property("decision" if of == "margin" else str(of), 0.0, label)


def _exact_tolerance(tolerance: float, of: Scale, posed: PosedProblem) -> Fraction:
    """What lower and upper may stay apart: nothing at all only where the largest gap is a number that a
    search comes to."""
    if posed.several:
        return max(Fraction(tolerance), RELATIVE_FINENESS if of == "margin" else Fraction(0))
    if tolerance == 0 and not posed.task.oracles.remembers:
        raise SpecError(
            "tolerance must be a positive number: 0 is for trees, whose scores have finitely many values",
            hint=f"for instance {DEFAULT_TOLERANCE:g}",
        )
    return RELATIVE_FINENESS if tolerance == 0 and of != "score" else Fraction(tolerance)


def _make_disparity(
    posed: PosedProblem, climb: DisparitySearch, of: Scale, checking: CheckRunner | None
) -> Disparity:
    certificate, reason = None, climb.reason
    if checking is not None and climb.closed:
        certificate, refusal = certify_upper(posed, climb, of, checking)
        reason = refusal or reason
    elif checking is not None and reason is None:
        reason = NEEDS_NO_CERTIFICATE
    pair, scores = posed.pair(climb.witness)
    treated = posed.treated(climb.witness)
    elapsed, lower = posed.task.budget.elapsed, double_below(climb.lower)
    program, head = posed.imported.program, posed.imported.model.head
    return Disparity(
        of=of,
        lower=lower,
        upper=climb.upper,
        names=posed.imported.recoding.given.names,
        pair=pair,
        scores=scores,
        decisions=treated.decisions,
        probabilities=treated.probabilities,
        upper_label=treated.upper_label,
        score_name=treated.score_name,
        history=(*climb.history, (elapsed, lower, climb.upper)),
        certificate=certificate,
        proved=climb.proved or certificate is not None,
        reason=reason,
        program_lower=posed.shown(climb.witness, of, treated),
        program_upper=program_upper_bound(climb.upper, program.moved(of, head), of),
        stats={
            **posed.task.budget.stats,
            **posed.imported.compared.stats,
            "cells": 1 if climb.search is None else climb.search.cells,
            **rounding_stats(program, of, head),
        },
    )


def certify_upper(
    posed: PosedProblem, climb: DisparitySearch, of: Scale, checking: CheckRunner
) -> tuple[Certificate | None, str | None]:
    """The certificate of the upper end, or why there is none; where no decisions differ, of that."""
    budget = posed.task.budget
    try:
        with budget.grace_watched():
            certificate, report = _certify_search(posed, climb, of, checking)
    except OutOfTime:
        return None, explain_unchecked(budget)
    if report is None or report.accepted:
        return certificate, None
    return None, explain_refusal(report, budget)


def _certify_search(
    posed: PosedProblem, climb: DisparitySearch, of: Scale, checking: CheckRunner
) -> tuple[Certificate | None, CheckReport | None]:
    level, task, frontiers = Fraction(climb.upper), posed.task, climb.search
    level = max(level, Fraction(0)) if posed.several else level
    question = posed.gauge.question(level)
    task.question, task.wanted = question, None  # only a pair above the level would speak against it
    statement = Statement(
        words="; ".join((_claim_text(of, float(level)), *posed.imported.recoding.notes)),
        question=question,
    )
    if frontiers is None:
        alone = prove_independence(task)
        if alone is None:
            raise InternalError("the scores were independent of what may differ, and are not any more")
        return certify_proof(posed, alone, lambda: Fraction(0), statement, checking)
    frontiers.ask(question)
    if posed.several:
        frontiers.reopen_unproved()
        if frontiers.run() != "closed":
            return None, None
    return certify_proof(posed, frontiers, frontiers.clearance, statement, checking)


def _claim_text(of: Scale, level: float) -> str:
    """The claim in words; of a margin below 0, what scores may move by without a decision that differs."""
    if of == "margin" and level < 0:
        room = bound_text(-level, up=False)
        return (
            f"similar individuals get the same decision, also if their scores move by less than {room} each"
        )
    return f"similar individuals {CLAIM_TEMPLATES[of].format(level=bound_text(level, up=True))}"
