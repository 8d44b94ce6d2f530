"""audit: for EVERY row of a data set, is there a similar individual who is treated differently, who, and by how much?

The answer is exact for each row: a biased row comes with its counterpart, a pair of valid and similar individuals that breaks the property in
exact arithmetic and on the model's own predictions; a row that is not biased has no such counterpart anywhere in the space, not only in the data.
Rows for which the budget was too short are neither, and say why.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.argument_order import accepts_rows_second
from likewise.analysis.audit_frames import audit_frame, frame_records, group_counts, write_frame
from likewise.analysis.row_claim import RowClaim, imputed_tolerance_features, judge_data, prepare_row_claim
from likewise.errors import SpecError
from likewise.families.program_rounding import rounding_stats
from likewise.problem import Problem, make_claim, prepare
from likewise.progress import Listener
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS, Budget, interruptible
from likewise.search.judgement import BIASED, FAIR, UNDECIDED
from likewise.verifying.shown import ShownResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.judgement import Judgement
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audit(ShownResult):
    """What is known of each row of a data set.

    The counterpart of a biased row breaks the property; that of another row is the one with the largest gap. `gap` is the largest difference to
    any similar individual, of scores (of probabilities for `ProbabilityGap`).

    Attributes
    ----------
    rows : frame
        The worst-treated first: `row` (position in the data), `biased` (null where undecided), `gap`, `decision` and
        `counterpart_decision` (null where there was no time to tell them), `proved`, and `counterpart_<feature>` for each feature that may differ.
    total, biased, undecided : int
        Numbers of rows.
    proved : bool
        False where some "not biased" rests on floating point.
    reasons : dict
        Why rows were left undecided, with their numbers.
    stats : dict
        Seconds and the like.
    data : frame
        The rows that were looked at.
    """

    rows: Any
    total: int
    biased: int
    undecided: int
    proved: bool
    reasons: dict[str, int] = field(default_factory=dict)
    stats: dict[str, Any] = field(default_factory=dict)
    data: Any = field(default=None, repr=False)

    @property
    def share(self) -> float:
        """Of all rows, those that are biased. Undecided ones are not counted: at most `share_at_most` are."""
        return self.biased / self.total

    @property
    def share_at_most(self) -> float:
        """Of all rows, those that are biased or undecided."""
        return (self.biased + self.undecided) / self.total

    def by(self, column: str) -> Any:
        """A frame with one line a value of a column of the data: rows, biased, undecided, share, largest gap."""
        return group_counts(self.rows, self.data, column)

    def save(self, path: str | Path) -> None:
        """Write the rows to a .csv or .parquet file."""
        write_frame(self.rows, path)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return self.document()

    def document(self, most: int | None = None) -> dict[str, Any]:
        """The same with no more than so many rows, the worst-treated."""
        return {
            "share": self.share,
            "share_at_most": self.share_at_most,
            "total": self.total,
            "biased": self.biased,
            "undecided": self.undecided,
            "proved": self.proved,
            "reasons": dict(self.reasons),
            "rows": frame_records(self.rows, most),
            "stats": dict(self.stats),
        }


@accepts_rows_second
def audit(
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
    import_budget: float = IMPORT_SECONDS,
) -> Audit:
    """For every row of `X`: is there a similar individual in the space who is treated differently?

    Parameters
    ----------
    model, space, similar, property, budget, random_state, progress, import_budget
        As for `verify`.
    X : frame
        The rows. ``audit(model, X, space, similar)``, the order of earlier releases, is still accepted, with a warning.
    n_jobs, executor
        Processes that share the rows where each takes a search of its own; rows whose similar individuals
        can all be looked at are judged together, in this process.

    Returns
    -------
    Audit
        A verdict, a gap and a counterpart for each row.

    Examples
    --------
    >>> import likewise as lw
    >>> from sklearn.linear_model import LogisticRegression
    >>> credit = lw.datasets.load_credit(coded=True)
    >>> model = LogisticRegression(solver="liblinear").fit(credit.X, credit.y)
    >>> similar = lw.Similarity(free=["Ethnicity"])
    >>> print(lw.audit(model, credit.space, similar, X=credit.X))
    9 of 400 rows (2.25%) have a differently treated counterpart
    """
    if X is None:
        raise SpecError("audit needs rows to look at", hint="audit(model, space, similar, X=X)")
    with open_run(
        budget=budget,
        import_budget=import_budget,
        n_jobs=n_jobs,
        executor=executor,
        random_state=random_state,
        progress=progress,
    ) as run:
        return audit_problem(prepare(make_claim(model, space, similar, property, X), run), run)


def audit_problem(problem: Problem, run: Run) -> Audit:
    """The same of a model that was read already, with the rows that it was read with."""
    judging = prepare_row_claim(problem, run)
    rows = judging.rows
    if not len(rows):
        raise SpecError("audit needs rows to look at, and the frame has none")
    with interruptible(run.budget):
        found = judge_data(judging)
        answer = _make_audit(judging, rows, found, problem.claim.X)
    return replace(answer, stats=answer.stats | rounding_stats(judging.posed.imported.program))


def _make_audit(judging: RowClaim, rows: Floats, found: Judgement, X: Any) -> Audit:
    reasons: dict[str, int] = {}
    for i in np.flatnonzero(found.verdict == UNDECIDED).tolist():
        reason = found.reasons.get(i, judging.budget.reason)
        reasons[reason] = reasons.get(reason, 0) + 1
    finite = found.gap_error[np.isfinite(found.gap_error)]
    return Audit(
        rows=audit_frame(
            judging.recoding.given,
            _counterpart_codes(judging, found),
            found,
            judging.decisions(rows, found),
            like=X,
        ),
        total=len(rows),
        biased=int((found.verdict == BIASED).sum()),
        undecided=int((found.verdict == UNDECIDED).sum()),
        proved=bool(found.proved[found.verdict == FAIR].all()),
        reasons=reasons,
        stats={
            **judging.budget.stats,
            **judging.posed.imported.compared.stats,
            "redone_exactly": found.redone,
            "gap_error": float(finite.max(initial=0.0)),
            "gaps_not_proved": int((~np.isfinite(found.gap_error)).sum()),
            "gap_of": judging.gap_scale,
        },
        data=X,
    )


def _counterpart_codes(judging: RowClaim, found: Judgement) -> dict[int, Floats]:
    """What may differ, by feature: the counterparts' codes of the user's own space, NaN where there is nobody."""
    codes: dict[int, Floats] = {}
    for k, relation in enumerate(judging.pairs.relations):
        if relation.kind != "same":
            codes[k] = judging.recoding.raw_part(k, found.counterpart[:, k])
    given = judging.recoding.given
    for k in imputed_tolerance_features(judging):
        if k in codes:
            gone, code = judging.missing[:, k], given[given.names[k]].missing_code
            codes[k] = np.where(gone & ~np.isnan(codes[k]), np.nan if code is None else code, codes[k])
    return codes
