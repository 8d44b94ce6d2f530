"""Judging: a claim made ready to be put to many individuals, and the way that suits it.

Similar individuals that can all be looked at (or had feature by feature) are judged for many rows at once; otherwise each row gets a search of
its own, in as many processes as are given.
"""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.singly import gauge_of_gaps, judged_singly
from likewise.bounds.judges import judge_of
from likewise.errors import SpecError
from likewise.model.gauge import gauge_of
from likewise.model.question import question_of
from likewise.progress import Listener, Snapshot, silent
from likewise.search.budget import interruptible
from likewise.search.counterparts import Asked, Judgement, judged
from likewise.spec.features import Continuous, Integer
from likewise.spec.properties import ProbabilityGap, SameDecision, ScoreGap
from likewise.verifying.deciding import checking_with
from likewise.verifying.preparing import Prepared, prepare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.question import Question
    from likewise.search.budget import Budget
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """The prepared problem and what is asked of each individual; `given` makes it again in another process."""

    prepared: Prepared
    asked: Asked
    given: tuple[Any, Space, Similarity, Property]

    @property
    def budget(self) -> Budget:
        return self.prepared.problem.budget

    @property
    def question(self) -> Question:
        return self.asked.question

    @property
    def proves(self) -> bool:
        """Whether a search that closes is a proof by itself."""
        return self.prepared.problem.oracle.exact

    def tell(self, stage: str, share: float | None = None, **more: Any) -> None:
        """Report to whoever listens."""
        snapshot = Snapshot(stage=stage, seconds=self.budget.elapsed, share=share, **more)
        self.prepared.problem.listener(snapshot)


def judging_of(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property,
    *,
    X: Any,
    budget: float,
    random_state: int | np.random.Generator | None,
    listener: Listener,
) -> Judging:
    """Everything up to the judging; raises what is wrong with the user's input."""
    if not isinstance(property, (SameDecision, ScoreGap, ProbabilityGap)):
        raise SpecError(
            f"property must be SameDecision, ScoreGap or ProbabilityGap, not {type(property).__name__}",
            hint="for instance likewise.SameDecision()",
        )
    prepared = prepare(
        model,
        space,
        similar,
        question_of(property),
        gauge_of(property).of,
        X=X,
        budget=budget,
        random_state=random_state,
        listener=listener,
    )
    _check_plain(prepared)
    asked = Asked(
        pairs=prepared.pairs,
        judge=judge_of(prepared.score),
        question=prepared.problem.question,
        gauge=gauge_of_gaps(prepared.gauge),
    )
    return Judging(prepared=prepared, asked=asked, given=(model, space, similar, property))


def _check_plain(prepared: Prepared) -> None:
    """Whether the codes that the model is over are the values themselves: windows and measures are taken of those."""
    space, recoding = prepared.pairs.space, prepared.imported.recoding
    for name in space.names:
        feature = space[name]
        if isinstance(feature, (Continuous, Integer)) and feature.missing:
            raise SpecError(
                f"feature {name!r} may be missing, which audit and share do not know yet",
                hint="leave the rows with missing values out: Space.from_data(X, missing='exclude')",
            )
    if recoding.bent:
        raise SpecError(
            "the model sees a continuous feature through a function such as log1p, which audit and share do not know yet",
            hint="make it an Integer or Ordinal feature",
        )


def judgement_of(
    judging: Judging, rows: Floats, *, n_jobs: int = 1, executor: Executor | None = None
) -> Judgement:
    """All rows, together where that is possible."""
    jobs = checking_with(n_jobs, executor).jobs

    def told(done: int) -> None:
        judging.tell(f"{done:,} of {len(rows):,} rows", share=done / len(rows))

    found = judged(judging.asked, rows, judging.budget, told)
    if found is not None:
        return found
    if executor is None and (jobs == 1 or len(rows) == 1):
        return judged_singly(judging.prepared, judging.asked, rows, judging.budget, told)
    if executor is not None:
        return _in_parts(judging, rows, max(jobs, 2), executor)
    with ProcessPoolExecutor(jobs) as pool:
        return _in_parts(judging, rows, jobs, pool)


def _in_parts(judging: Judging, rows: Floats, jobs: int, executor: Executor) -> Judgement:
    """Every process takes each so-many-th row, for what is left of the budget."""
    left = max(judging.budget.seconds - judging.budget.elapsed, 0.01)
    model, space, similar, property = judging.given
    places = [np.arange(start, len(rows), jobs) for start in range(min(jobs, len(rows)))]
    parts = [executor.submit(_part, model, space, similar, property, rows[some], left) for some in places]
    found = Judgement.open(len(rows), rows.shape[1])
    for some, part in zip(places, parts, strict=True):
        found.put(some, part.result())
        judging.tell(f"{len(rows):,} rows in {jobs} processes")
    return found


def _part(
    model: Any, space: Space, similar: Similarity, property: Property, rows: Floats, budget: float
) -> Judgement:
    judging = judging_of(
        model, space, similar, property, X=None, budget=budget, random_state=0, listener=silent
    )
    with interruptible(judging.budget):
        return judged_singly(judging.prepared, judging.asked, rows, judging.budget)
