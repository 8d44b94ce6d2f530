"""verify: import -> portfolio -> certificate -> check -> Result. `verdicts` says what a verdict rests on."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import SpecError
from likewise.problem import LikeData, Problem, make_claim, prepare
from likewise.progress import Listener
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS, Budget, interruptible
from likewise.search.frequent import Marginals, choose_frequent
from likewise.search.plausible import choose_plausible, nearest_row
from likewise.search.portfolio import decide
from likewise.spec.properties import Property
from likewise.verifying.certification import CheckRunner, keep_state
from likewise.verifying.posed_problem import pose
from likewise.verifying.result import Result, StatedClaim
from likewise.verifying.single_rows import covers_single_rows, single_witness
from likewise.verifying.verdicts import ClaimOutcome, give_verdict

if TYPE_CHECKING:
    from likewise.model.cases import Witness
    from likewise.search.task import SearchTask
    from likewise.spec.named_claims import NamedClaim
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.posed_problem import PosedProblem


def verify(
    model: Any,
    space: Space,
    similar: Similarity | NamedClaim,
    property: Property | NamedClaim | None = None,
    *,
    X: Any = None,
    budget: float | Budget = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    certify: bool = True,
    like_data: bool | LikeData = False,
    import_budget: float = IMPORT_SECONDS,
    encoding: str | None = None,
    threshold: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
) -> Result:
    """Decide whether a model treats similar individuals alike.

    Parameters
    ----------
    model : fitted estimator
        Of scikit-learn, XGBoost or LightGBM, alone or as the last step of a pipeline.
    space : Space
        All individuals that the claim is about.
    similar : Similarity, or a claim by its name
        Which two of them are similar; `Monotone`, `Influence`, `SameTreatment` or `Rounding` say also what these must share.
    property : SameDecision, ScoreGap or ProbabilityGap
        What similar individuals must share; the same decision if left out.
    X : frame, optional
        Known individuals: the search starts from them, and the pair comes back in this kind of frame.
    budget : float
        Seconds, from when the model has been read (which took `stats["import_seconds"]`). When they are over the answer is UNKNOWN with the bounds reached; what was
        found by then may be proved and checked for a fifth of the budget and a second more. 0 takes what is at hand.
    n_jobs : int
        Processes that search, and that check the proof's leaves; -1 for all cores. They are started for what takes longer than a second. The verdict is the same with any
        number of them, which pair is found may differ.
    executor : concurrent.futures.Executor, optional
        Where parts of the search and the checker run instead: a pool of processes or threads, or that of a cluster (`Client.get_executor()` of Dask). Then
        `n_jobs` is how many parts it is sent at a time, as many as a pool has workers where that is 1. Where it takes no more work the answer is UNKNOWN with the bounds reached.
    random_state : int, Generator or None
        Seeds the search for a pair; never changes a verdict from FAIR to BIASED or back.
    progress : bool or callable
        True shows a live line on a terminal; a callable gets values of the type `likewise.progress.Snapshot`.
    certify : bool
        Write the proof and have it checked. Without, no proof is written and a claim that the search
        could not break is UNKNOWN: only what the checker accepted is FAIR.
    like_data : bool, "nearest" or "frequent"
        Of all pairs at hand show the one that is nearest to a row of `X` (True means the same), and say which row that is and how far away: `stats["nearest_row"]`. Or "frequent": the one whose features,
        each by itself, are the most frequent among the rows, and how frequent they are: `stats["frequency"]`.
    import_budget : float
        Seconds that reading the model and comparing it with the original may take; a model that takes longer is refused by a `BudgetError`.
    encoding : "get_dummies", optional
        The model was fitted on `pandas.get_dummies` of the rows: which of its columns is which category is
        read off their names, and compared with pandas.
    checkpoint : path, optional
        A file that the state of the search is written to, every half a minute and when it ends.
    resume : bool
        Go on from that file, if it is there; it must be about the same claim and the same model.

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
        claim = replace(
            make_claim(model, space, similar, property, X, encoding=encoding, threshold=threshold),
            like_data=which_pairs(like_data),
        )
        return verify_problem(prepare(claim, run), run, certify=certify)


def which_pairs(like_data: object) -> LikeData | None:
    """Which pairs are asked for, of those that break a claim: None for any."""
    if like_data is None or like_data is False:
        return None
    if like_data is True or like_data == "nearest":
        return "nearest"
    if like_data == "frequent":
        return "frequent"
    raise SpecError(
        f"like_data must be True, False, 'nearest' or 'frequent', not {like_data!r}",
        hint="like_data=True shows the pair nearest to a row, like_data='frequent' the most frequent one",
    )


def verify_problem(problem: Problem, run: Run, *, certify: bool = True) -> Result:
    """The verdict on a claim whose model was read already."""
    like_data = problem.claim.like_data
    if like_data and problem.claim.X is None:
        raise SpecError("pairs like the data need the data", hint="verify(..., X=X, like_data=True)")
    posed, claimed = pose(problem, run), StatedClaim.of(problem)
    keep_state(posed, run.checkpoint, repr(problem.claim.property).encode())
    with interruptible(run.budget):
        outcome = decide(posed.task)
        if like_data and outcome.witness is not None:
            choose = choose_frequent if like_data == "frequent" else choose_plausible
            outcome = replace(outcome, witness=choose(_task_of_rows(problem, posed), outcome.witness))
        singly = None if outcome.witness is None else single_witness(posed, outcome.witness)
        outcome = outcome if singly is None else replace(outcome, witness=singly)
        found = ClaimOutcome(posed, outcome, claimed)
        result = give_verdict(found, CheckRunner.of(run) if certify else None)
        if like_data and found.witness is not None and result.pair is not None:
            tell = _frequency_stats if like_data == "frequent" else _row_stats
            result = replace(result, stats={**result.stats, **tell(problem, posed, found.witness)})
    # Also how long reading the model took, while the clock of the budget stood still, and what was compared then.
    stats = {**result.stats, **run.budget.stats, **problem.imported.compared.stats}
    proved = result.verdict == "FAIR" and result.covers_floating_point
    if proved and covers_single_rows(posed, result.certificate):
        stats["in_single_precision"] = "covered"
    if result.verdict == "BIASED":
        stats |= {} if singly is None else {"in_single_precision": "replayed"}
        from likewise.importers.settled_estimators import can_repair

        stats["repairable"] = can_repair(problem.claim.model, problem.imported.model)
    return replace(result, stats=stats)


def _task_of_rows(problem: Problem, posed: PosedProblem) -> SearchTask:
    """The search's task with the rows of the data as known individuals, and no others."""
    return replace(posed.task, rows=problem.imported.recoding.coded(problem.codes))


def _row_stats(problem: Problem, posed: PosedProblem, witness: Witness) -> dict[str, Any]:
    """The row that is nearest to a pair, and what it has where the two differ, in the user's own values."""
    near = nearest_row(_task_of_rows(problem, posed), [codes for codes, _ in posed.ordered(witness)])
    if near is None:
        return {}
    claim, place = problem.claim, near.place
    number = place if claim.numbers is None else int(claim.numbers[place])
    names, codes = claim.space.names, problem.codes[place]
    differs = {names[k]: claim.space.value(k, float(codes[k])) for k in near.differing}
    return {"nearest_row": {**near.stats, "row": number, "differs": differs}}


def _frequency_stats(problem: Problem, posed: PosedProblem, witness: Witness) -> dict[str, Any]:
    """How frequent the two of a pair are by the marginals of the rows: in their order, each with its rarest feature."""
    task = _task_of_rows(problem, posed)
    if not len(task.rows):
        return {}
    found = Marginals(task).told([codes for codes, _ in posed.ordered(witness)])
    names = problem.claim.space.names
    return {
        "frequency": {
            "rarer_rows": list(found.rarer_rows),
            "usual_share": list(found.usual_share),
            "rarest": [names[k] for k in found.rarest],
            "rarest_share": list(found.rarest_share),
        }
    }
