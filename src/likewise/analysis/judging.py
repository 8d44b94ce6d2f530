"""Judging: a claim made ready to be put to many individuals, and the way that suits it.

Similar individuals that can all be looked at (or had feature by feature) are judged for many rows at once; otherwise each row gets a search of
its own, in as many processes as are given. Decisions between two classes are about one score (`judging_scores`), also where the model has
one a class; what else models of several classes are asked is about all their scores (`judging_classes`).
"""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.judging_classes import ClassJudging, class_judging
from likewise.analysis.judging_scores import ScoreJudging, score_judging
from likewise.errors import SpecError
from likewise.importers.imported import ImportedClasses
from likewise.importers.two_classes import has_one_lead
from likewise.progress import Listener, silent
from likewise.search.budget import interruptible
from likewise.search.counterparts import Judgement
from likewise.spec.properties import ProbabilityGap, SameDecision, ScoreGap, place_of_class
from likewise.verifying.deciding import checking_with
from likewise.verifying.preparing import take

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

Judging = ScoreJudging | ClassJudging
Given = tuple[Any, "Space", "Similarity", "Property"]


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
    taken = take(model, space, similar, X=X, budget=budget)
    imported, given = taken.imported, (model, space, similar, property)
    more: dict[str, Any] = {"budget": budget, "random_state": random_state, "listener": listener}
    place_of_class(property.class_of_interest, imported.model.head.labels, imported.model.family)
    if isinstance(imported, ImportedClasses) and not (
        isinstance(property, SameDecision) and has_one_lead(imported)
    ):
        return class_judging(taken, given, **more)
    return score_judging(taken, given, **more)


def judgement_of(
    judging: Judging, rows: Floats, *, n_jobs: int = 1, executor: Executor | None = None
) -> Judgement:
    """All rows, together where that is possible."""
    jobs = checking_with(n_jobs, executor).jobs

    def told(done: int) -> None:
        judging.tell(f"{done:,} of {len(rows):,} rows", share=done / len(rows))

    found = judging.together(rows, told)
    if found is not None:
        return found
    if executor is None and (jobs == 1 or len(rows) == 1):
        return judging.singly(rows, told)
    if executor is not None:
        return _in_parts(judging, rows, max(jobs, 2), executor)
    with ProcessPoolExecutor(jobs) as pool:
        return _in_parts(judging, rows, jobs, pool)


def _in_parts(judging: Judging, rows: Floats, jobs: int, executor: Executor) -> Judgement:
    """Every process takes each so-many-th row, for what is left of the budget."""
    left = max(judging.budget.seconds - judging.budget.elapsed, 0.01)
    places = [np.arange(start, len(rows), jobs) for start in range(min(jobs, len(rows)))]
    parts = [executor.submit(_part, judging.given, rows[some], left) for some in places]
    found = Judgement.open(len(rows), rows.shape[1])
    for some, part in zip(places, parts, strict=True):
        found.put(some, part.result())
        judging.tell(f"{len(rows):,} rows in {jobs} processes")
    return found


def _part(given: Given, rows: Floats, budget: float) -> Judgement:
    judging = judging_of(*given, X=None, budget=budget, random_state=0, listener=silent)
    with interruptible(judging.budget):
        return judging.singly(rows)
