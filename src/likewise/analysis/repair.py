"""repair: from a fitted model and a similarity to a model that satisfies it, proved by `verify`.

    average, max, min, reference   the score over settings of what may differ: no similar pair is treated differently
    shrink                         f_c = c f + (1 - c) mean over the settings: a gap D of scores becomes c D, so c = delta / D
    threshold                      the score as it is, and the decision threshold nearest to the present one that is fair

A decision that is the same within a tolerance of a number, wherever one starts, is the same for all numbers: features that are `within` are settled like free
ones, and those in `pairs` as well. A gap of probabilities sigma(s) - sigma(s') at s - s' = g is at most tanh(g / 4), so a gap delta of probabilities allows
a gap 4 atanh(delta) of scores (divided by the slope of sigma's argument, where that is not 1; forests have probabilities for scores). What was
promised is not believed: the verdict on the new model is that of `verify`, with its certificate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import Executor
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.analysis.fair_threshold import find_fair_threshold
from likewise.analysis.measure import DEFAULT_TOLERANCE, MeasureRequest, measure_problem
from likewise.analysis.repair_request import MethodName, RepairMethod, RepairRequest, settled_estimator
from likewise.analysis.repair_result import Repaired, compare_on_rows
from likewise.analysis.repair_settings import (
    SettingChoice,
    every_setting,
    observed_settings,
    reference_setting,
)
from likewise.errors import InternalError, SpecError, UnsupportedModel
from likewise.families.registry import family_of
from likewise.families.scored_model import Scores
from likewise.importers.settled_estimators import repairable_score
from likewise.model.head import Head
from likewise.problem import Problem, make_claim, prepare, refuse_one_way
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.properties import ProbabilityGap, Property, SameDecision, ScoreGap

if TYPE_CHECKING:
    from likewise.progress import Listener
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

DEFAULT_GRID = 9
SHARE_STEPS = 2**40  # c is rounded down to this grid, so that it is a double and c f has short numbers


def repair(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    method: MethodName = "average",
    X: Any = None,
    y: Any = None,
    weights: Literal["uniform", "observed"] = "uniform",
    reference: Mapping[str, Any] | None = None,
    grid: int = DEFAULT_GRID,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    import_budget: float = IMPORT_SECONDS,
    encoding: str | None = None,
    threshold: float | None = None,
) -> Repaired:
    """Build a model that treats similar individuals alike, and prove it.

    Parameters
    ----------
    model, space, similar, property, X, budget, n_jobs, executor, random_state, progress, import_budget,
    encoding, threshold
        As for `verify`.
    method : str
        'average', 'max', 'min', 'reference', 'shrink' or 'threshold'.
    y : labels, optional
        Of the rows of X: the report then has the accuracy (R^2 of a regressor) before and after.
    weights : 'uniform' or 'observed'
        Of the settings in an average: all alike, or as often as they occur in X.
    reference : mapping, optional
        Values of features for 'reference'; the most frequent ones in X where none is given.
    grid : int
        How many values of a continuous feature (or of an integer one with many values) are settings.

    Returns
    -------
    Repaired
        The new model, the verdict on it, and what it costs.
    """
    if y is not None and X is None:
        raise SpecError("y is given without X", hint="pass the rows that it belongs to as X")
    how = RepairMethod(name=method, weights=weights, reference=reference, grid=grid)
    with open_run(
        budget=budget,
        import_budget=import_budget,
        n_jobs=n_jobs,
        executor=executor,
        random_state=random_state,
        progress=progress,
    ) as run:
        problem = prepare(
            make_claim(model, space, similar, property, X, encoding=encoding, threshold=threshold), run
        )
        return repair_problem(problem, run, how, y)


def repair_problem(problem: Problem, run: Run, method: RepairMethod, y: Any = None) -> Repaired:
    """The same of a model that was read already."""
    refuse_one_way(problem.claim, "repairs")
    problem.refuse_along("repairs")
    model, imported = problem.claim.model, problem.imported
    wish = RepairRequest(
        problem=problem, run=run, method=method, asked=repairable_score(model, imported.model)
    )
    if method.name == "threshold":
        new, result, facts = find_fair_threshold(wish)
    else:
        new, facts = _shrink_model(wish) if method.name == "shrink" else _settle_model(wish)
        result = wish.verify(new)
    known = new is not None and problem.claim.X is not None
    rows = compare_on_rows(imported, model, new, y) if known else {}
    return Repaired(method=method.name, model=new, result=result, **facts, **rows)


# -- settings ---------------------------------------------------------------------------------------------


def _settle_model(wish: RepairRequest) -> tuple[Any, dict[str, Any]]:
    if (
        wish.method.name in ("max", "min")
        and wish.asked == "predict_proba"
        and isinstance(wish.property, ProbabilityGap)
    ):
        raise SpecError(
            f"with method={wish.method.name!r} the score of {wish.problem.imported.model.family} is the probability of one label, less 1/2",
            hint=f"ask for ScoreGap({wish.property.delta}), which is the same then",
        )
    choice = _choose_settings(wish)
    how = "mean" if wish.method.name in ("average", "reference") else wish.method.name
    return settled_estimator(wish, choice, how, 0.0), {
        "features": choice.names,
        "settings": len(choice.settings),
    }


def _choose_settings(wish: RepairRequest) -> SettingChoice:
    names, rows, method = _relevant_features(wish), wish.problem.codes, wish.method
    if method.name == "reference":
        return reference_setting(wish.space, names, method.grid, rows, method.reference)
    if method.weights == "observed":
        return observed_settings(wish.space, names, method.grid, rows)
    return every_setting(wish.space, names, method.grid)


def _relevant_features(wish: RepairRequest) -> tuple[str, ...]:
    """The features that may differ and that the score depends on: only these need settling."""
    imported, count = wish.problem.imported, len(wish.space)
    score = Scores(imported.model, count)
    relations = enumerate(wish.problem.relations)
    return tuple(
        wish.space.names[k] for k, relation in relations if relation.kind != "same" and score.depends(k)
    )


# -- shrinking --------------------------------------------------------------------------------------------


def _shrink_model(wish: RepairRequest) -> tuple[Any, dict[str, Any]]:
    imported, asked = wish.problem.imported, wish.property
    if isinstance(asked, SameDecision):
        raise SpecError(
            "shrinking makes gaps smaller, and decisions may differ by the smallest gap",
            hint="use method='average', or ask for ScoreGap(delta) or ProbabilityGap(delta)",
        )
    if isinstance(asked, ProbabilityGap) and imported.model.head.link == "softmax":
        raise SpecError(
            "gaps of softmax probabilities are not shrunk", hint="use method='average', or ScoreGap(delta)"
        )
    if not family_of(imported.model.bodies[0]).bounded_means:
        raise UnsupportedModel(
            f"a mean of {imported.model.family} over settings has no bounds that prove a gap",
            hint="use method='average', 'max', 'min' or 'reference'",
        )
    if isinstance(asked, Lipschitz):
        raise InternalError("a Lipschitz claim was to be repaired")
    wanted = MeasureRequest(
        of="score", class_of_interest=asked.class_of_interest, tolerance=DEFAULT_TOLERANCE
    )
    found = measure_problem(wish.problem, wish.run.part(1 / 2), wanted)
    if not math.isfinite(found.upper):
        raise UnsupportedModel(
            "no upper bound of the gap of scores was found within the budget", hint="give it a longer budget"
        )
    keep = largest_kept_share(asked, found.upper, imported.model.head)
    choice = _choose_settings(wish)
    facts = {"features": choice.names, "settings": len(choice.settings), "kept": keep}
    return settled_estimator(wish, choice, "mean", keep), facts


def largest_kept_share(asked: ScoreGap | ProbabilityGap, gap: float, head: Head) -> float:
    """The largest c on the grid with c gap <= what is allowed; where scores are probabilities themselves, that is delta."""
    allowed = Fraction(asked.delta)
    if isinstance(asked, ProbabilityGap) and head.link == "logistic":
        allowed = Fraction(4 * math.atanh(asked.delta) * (1 - 2**-40)) / abs(head.slope)
    if gap <= allowed:
        return 1.0
    return math.floor(allowed / Fraction(gap) * SHARE_STEPS) / SHARE_STEPS
