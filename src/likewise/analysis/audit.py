"""audit: for EVERY row of a data set, is there a similar individual who is treated differently, who, and by
how much?

The answer is exact for each row: a biased row comes with its counterpart, a pair of valid and similar
individuals that breaks the property in
exact arithmetic and on the model's own predictions; a row that is not biased has no such counterpart
anywhere in the space, not only in the data.
Rows for which the budget was too short are neither, and say why.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.argument_order import accepts_rows_second
from likewise.analysis.audit_frames import audit_frame, audit_records, group_counts, worst_rows, write_rows
from likewise.analysis.data_claim import pose_data, problem_rows
from likewise.analysis.judged_rows import JudgedRows, judge_all_data
from likewise.analysis.row_claim import prepare_row_claim, try_whole_claim
from likewise.errors import SpecError
from likewise.families.program_rounding import rounding_stats
from likewise.problem import Problem, make_claim
from likewise.progress import Listener
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS, Budget, interruptible
from likewise.verifying.shown import ShownResult

if TYPE_CHECKING:
    from likewise.spec.data_rows import DataRows
    from likewise.spec.named_claims import NamedClaim
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

MOST_WORST = 10  # rows, no two alike, that stand for the worst-treated


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audit(ShownResult):
    """What is known of each row of a data set.

    The counterpart of a biased row breaks the property; that of another row is the one with the largest gap.
    `gap` is the largest difference to
    any similar individual, of scores (of probabilities for `ProbabilityGap`); of a Lipschitz claim by how
    much it exceeds the constant times how far the two are apart.

    Attributes
    ----------
    total, biased, undecided : int
        Numbers of rows.
    proved : bool
        False where some "not biased" rests on floating point.
    reasons : dict
        Why rows were left undecided, with their numbers.
    sides : dict, optional
        Of an ordered claim, how many of the biased rows are shown as the first of a pair, and how many as
        the second.
    stats : dict
        Seconds and the like.
    data : frame
        The rows that were looked at; of a file, or of frames that came one after another, a sample of them.
    """

    total: int
    biased: int
    undecided: int
    proved: bool
    reasons: dict[str, int] = field(default_factory=dict)
    sides: dict[str, int] | None = None
    stats: dict[str, Any] = field(default_factory=dict)
    judged: JudgedRows = field(repr=False)
    data: Any = field(default=None, repr=False)

    @property
    def rows(self) -> Any:
        """A frame of all rows, the worst-treated first: `row` (position in the data), `biased` (null where
        undecided), `gap`, `decision` and
        `counterpart_decision` (null where there was no time to tell them), `proved`, of an ordered claim
        `row_is` (the "first" or the "second" of the pair that is shown), then the features of the row, and
        `counterpart_<feature>` beside each that may differ."""
        return audit_frame(self.judged, like=self.data)

    @property
    def share(self) -> float:
        """Of all rows, those that are biased. Undecided ones are not counted: at most `share_at_most` are."""
        return self.biased / self.total

    @property
    def share_at_most(self) -> float:
        """Of all rows, those that are biased or undecided."""
        return (self.biased + self.undecided) / self.total

    def by(self, column: str) -> Any:
        """A frame with one line a value of a column of the data: rows, biased, undecided, share, largest
        gap."""
        return group_counts(self.judged, column, like=self.data)

    def save(self, path: str | Path, *, formulas: bool = False) -> None:
        """Write all rows to a .csv or .parquet file, the worst-treated first, some at a time.

        In .csv, text that a spreadsheet would run as a formula gets an apostrophe in front. `formulas=True`
        leaves it as it is.
        """
        write_rows(self.judged, path, like=self.data, formulas=formulas)

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
            **({} if self.sides is None else {"sides": dict(self.sides)}),
            "worst": self._worst(),
            "rows": audit_records(self.judged, self.judged.worst(most)),
            "rows_left_out": 0 if most is None else max(self.total - most, 0),
            "stats": dict(self.stats),
        }

    def _worst(self) -> list[dict[str, Any]]:
        """The worst-treated rows, no two alike, and of how many more each is like."""
        worst = worst_rows(self.judged, MOST_WORST)
        records = audit_records(self.judged, np.array([place for place, _ in worst], dtype=np.intp))
        return [{**record, "more_like_it": more} for record, (_, more) in zip(records, worst, strict=True)]


@accepts_rows_second
def audit(
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
    import_budget: float = IMPORT_SECONDS,
    encoding: str | None = None,
    threshold: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
) -> Audit:
    """For every row of `X`: is there a similar individual in the space who is treated differently?

    Parameters
    ----------
    model, space, similar, property, budget, random_state, progress, import_budget, encoding, threshold,
    checkpoint, resume
        As for `verify`.
    X : frame, path or iterable of frames
        The rows: a frame, a .csv or .parquet file, or frames that come one after another. Those of a file or
        of an iterable are never in memory all at once. ``audit(model, X, space, similar)``, the order of
        earlier releases, is still accepted, with a warning.
    n_jobs, executor
        Processes that share the rows, where there is work for several.

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
    8 of 400 rows (2.00%) have a differently treated counterpart
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
        checkpoint=checkpoint,
        resume=resume,
    ) as run:
        problem, data = pose_data(
            make_claim(model, space, similar, property, encoding=encoding, threshold=threshold), X, run
        )
        return audit_problem(problem, run, data)


def audit_problem(problem: Problem, run: Run, data: DataRows | None = None) -> Audit:
    """The same of a model that was read already; `data` are the rows, those that it was read with where
    nothing else is said."""
    judging, data = prepare_row_claim(problem, run), data or problem_rows(problem)
    if not len(data):
        raise SpecError("audit needs rows to look at, and the frame has none")
    with interruptible(run.budget):
        judged = judge_all_data(try_whole_claim(judging), data)
    compared, program = judging.posed.imported.compared, judging.posed.imported.program
    return Audit(
        judged=judged,
        total=len(judged),
        biased=judged.biased,
        undecided=judged.undecided,
        proved=not judged.floating,
        reasons=dict(judged.reasons),
        sides=dict(zip(("first", "second"), judged.biased_sides.tolist(), strict=True))
        if judged.ordered
        else None,
        stats={
            **judging.budget.stats,
            **compared.stats,
            "redone_exactly": judged.redone,
            "gap_error": judged.gap_error,
            "gaps_not_proved": judged.gaps_not_proved,
            "gap_of": judging.gap_scale,
            **rounding_stats(program),
        },
        data=problem.claim.X,
    )
