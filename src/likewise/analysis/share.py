"""share: how many individuals have a similar one who is treated differently?

    exact      everybody is looked at: a discrete space that is not too large, or the rows of a data set
    certified  a proved bracket: for linear models by the distribution of the sum that their score is (`sums`), for networks by that of linear forms of
               cells (`form_masses`), for others by masses of cells that are proved fair, and of cells where everybody is proved to have a counterpart (`share_bracket`); float64 bounds never count by themselves
    sampled    individuals drawn at random, each judged exactly, and a Clopper-Pearson interval around their share (`intervals`), which holds it with the
               confidence stated also where the budget ended before all were judged

For linear models and networks cells are settled before a sample is drawn, which is then drawn from what they leave open (`share_sample`).
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.data_claim import pose_data, problem_rows
from likewise.analysis.judged_rows import judge_all_data
from likewise.analysis.row_claim import RowClaim, prepare_row_claim, try_whole_claim
from likewise.analysis.share_methods import SavedShare, ShareComputation
from likewise.analysis.share_result import Share
from likewise.errors import SpecError
from likewise.families.program_rounding import rounding_stats
from likewise.problem import Problem, make_claim, prepare, refuse_steepness
from likewise.progress import Listener
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS, interruptible
from likewise.verifying.certification import take_up_analysis

if TYPE_CHECKING:
    from likewise.spec.data_rows import DataRows
    from likewise.spec.named_claims import NamedClaim
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

METHODS = ("auto", "exact", "certified", "sampled")


def share(
    model: Any,
    space: Space,
    similar: Similarity | NamedClaim,
    property: Property | NamedClaim | None = None,
    *,
    over: Any = "uniform",
    method: str = "auto",
    confidence: float = 0.99,
    X: Any = None,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    import_budget: float = IMPORT_SECONDS,
    encoding: str | None = None,
    threshold: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
) -> Share:
    """The share of individuals who have a differently treated counterpart.

    Parameters
    ----------
    model, space, similar, property, X, budget, n_jobs, executor, random_state, progress, import_budget,
    encoding, threshold, checkpoint, resume
        As for `verify`.
    over : "uniform", "marginals", frame, path or iterable of frames
        Who is counted: all individuals of the space alike; all of them, with every feature distributed as in `X` and independent of the
        others; or the rows of a frame, of a .csv or .parquet file, or of frames that come one after another, which need not be in memory at once.
    method : "auto", "exact", "certified" or "sampled"
        "auto" looks at everybody if the budget allows that, proves a bracket if the model is linear, else samples.
    confidence : float
        With which a sampled interval holds the share, also where the budget ends before all that were planned are judged: then it
        is that of the first half of them, or quarter, ..., for which a tenth of the error is set aside.

    Returns
    -------
    Share
        The share, a proved bracket of it, or an interval, and which of these it is.
    """
    wanted = ShareRequest(over=over, method=method, confidence=confidence, has_rows=X is not None)
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
        claim = make_claim(
            model,
            space,
            similar,
            property,
            X if wanted.of_space else None,
            encoding=encoding,
            threshold=threshold,
        )
        if wanted.of_space:
            return share_of_problem(prepare(claim, run), run, wanted)
        problem, data = pose_data(claim, over, run)
        return share_of_problem(problem, run, wanted, data)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRequest:
    """Who is counted, how, and how surely."""

    over: Any
    method: str
    confidence: float
    has_rows: bool

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SpecError(f"method must be one of {', '.join(METHODS)}, not {self.method!r}")
        if not (isinstance(self.confidence, float) and 0 < self.confidence < 1):
            raise SpecError(f"confidence must be a number between 0 and 1, not {self.confidence!r}")
        if isinstance(self.over, str) and self.over not in ("uniform", "marginals") and "." not in self.over:
            raise SpecError(
                f"over must be 'uniform', 'marginals', a frame of rows or a file of them, not {self.over!r}"
            )
        if isinstance(self.over, str) and self.over == "marginals" and not self.has_rows:
            raise SpecError("the data's marginals need the data", hint="share(..., over='marginals', X=X)")

    @property
    def of_space(self) -> bool:
        """Whether individuals of the space are counted, and not rows."""
        return isinstance(self.over, str) and self.over in ("uniform", "marginals")


def share_of_problem(problem: Problem, run: Run, wanted: ShareRequest, data: DataRows | None = None) -> Share:
    """The same of a model that was read already; `data` are the rows that are counted, those that it was read with where nothing else is said."""
    judging, imported = prepare_row_claim(problem, run), problem.imported
    with interruptible(run.budget):
        if wanted.of_space:
            if wanted.method not in ("auto", "sampled"):
                problem.refuse_distance(
                    f"the share of a space is not computed by method={wanted.method!r}",
                    "method='sampled', or over=X, which counts rows",
                )
            if wanted.method not in ("auto", "sampled"):
                refuse_steepness(
                    problem.claim,
                    f"the share of a space by method={wanted.method!r}",
                    "method='sampled', or over=X, which counts rows",
                )
            if wanted.method == "certified":
                problem.refuse_along(
                    "a certified bracket of a share",
                    "method='exact' or method='sampled', or over=X, which counts rows",
                )
            sharing = _begin_share(judging, wanted)
            answer = sharing.by(wanted.method)
            if run.checkpoint is not None:
                run.checkpoint.end()
        else:
            answer = _share_of_rows(judging, data or problem_rows(problem), wanted.method)
    known = {**imported.compared.stats, **rounding_stats(judging.posed.imported.program)}
    return replace(answer, stats={**answer.stats, **known})


def _begin_share(judging: RowClaim, wanted: ShareRequest) -> ShareComputation:
    """A new one, or the one of its checkpoint, which follows it."""
    run, asked = judging.run, judging.source.claim.property
    sharing = ShareComputation(judging=judging, over=wanted.over, confidence=wanted.confidence)
    question = f"share {wanted.over} {wanted.method} {wanted.confidence} {asked!r}".encode()
    data = judging.rows.tobytes() if wanted.over == "marginals" else b""
    begun = take_up_analysis(judging.posed, run.checkpoint, question, data)
    if isinstance(begun, SavedShare):
        sharing.begun = begun
    if run.checkpoint is not None:
        run.checkpoint.follow_analysis(lambda: sharing.state)
    return sharing


def _share_of_rows(judging: RowClaim, data: DataRows, method: str) -> Share:
    if method not in ("auto", "exact"):
        raise SpecError(f"the rows of a frame are all looked at: method='exact', not {method!r}")
    if not len(data):
        raise SpecError("the frame has no rows")
    found = judge_all_data(try_whole_claim(judging), data)
    return Share(
        lower=found.biased / len(found),
        upper=(found.biased + found.undecided) / len(found),
        method="exact",
        confidence=None,
        over=f"the {len(found):,} rows of the data",
        proved=not found.floating,
        reason=next(iter(found.reasons), None),
        stats={**judging.budget.stats, "individuals": len(found), "biased": found.biased},
    )
