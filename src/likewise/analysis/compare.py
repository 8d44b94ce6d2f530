"""compare: two models, or two versions of one, on the same claim. Did fairness get worse?

A verdict that changes from FAIR to BIASED is worse, the other way better. Where both are BIASED numbers tell that have one unit for both models: the largest
gaps of probabilities, if both have them; those of predictions, of two regressors; those of scores, if the claim is about scores or they are asked for. The
scores of two classifiers have a unit each (all weights times 4 decide alike), so there it is the share of those who have a differently treated counterpart,
of the rows at hand or of the whole space. Brackets that do not meet are an answer, brackets that do are one only if both are narrow; everything else is undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.analysis.measure import Disparity, Measured, MeasureRequest, lacks_bounds, measure_problem
from likewise.analysis.share import ShareRequest, share_of_problem
from likewise.analysis.share_result import Share
from likewise.errors import SpecError, UnsupportedModel
from likewise.problem import Problem, make_claim, prepare
from likewise.progress import Listener
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS, interruptible
from likewise.spec.properties import ScoreGap
from likewise.verifying.shown import ShownResult
from likewise.verifying.verification import verify_problem

if TYPE_CHECKING:
    from likewise.model.gauge import Scale
    from likewise.spec.named_claims import NamedClaim
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.result import Result

FairnessChange = Literal["better", "worse", "same", "undecided"]
SCALES: tuple[Scale, ...] = ("probability", "score")  # the first that both models have is compared
BUDGET_PARTS = 4  # two verdicts and two disparities share the budget
CONFIDENCE = 0.99  # of shares that are sampled


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(ShownResult):
    """What is known of the old model (first) and of the new one (second).

    Attributes
    ----------
    names : tuple of str
        What they are called.
    results : tuple of Result
        Their verdicts.
    disparities : tuple of Disparity
        Their largest gaps.
    shares : tuple of Share, or None
        How many individuals they treat otherwise than a similar one, where their gaps have no unit in common.
    change : str
        'better', 'worse', 'same' or 'undecided': what became of fairness from the first to the second.
    """

    names: tuple[str, str]
    results: tuple[Result, Result]
    disparities: tuple[Disparity, Disparity]
    change: FairnessChange
    shares: tuple[Share, Share] | None = None

    @property
    def of(self) -> Measured:
        """The scale that the disparities are on."""
        return self.disparities[0].of

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "change": self.change,
            "models": [
                {
                    "name": name,
                    "verify": result.to_dict(),
                    "measure": disparity.to_dict(),
                    "share": None if share is None else share.to_dict(),
                }
                for name, result, disparity, share in zip(
                    self.names, self.results, self.disparities, self.shares or (None, None), strict=True
                )
            ],
        }


def compare(
    model: Any,
    other: Any,
    space: Space,
    similar: Similarity | NamedClaim,
    property: Property | NamedClaim | None = None,
    *,
    of: Scale | None = None,
    names: tuple[str, str] = ("old", "new"),
    tolerance: float = 1e-3,
    X: Any = None,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    import_budget: float = IMPORT_SECONDS,
    encoding: str | None = None,
    threshold: float | None = None,
) -> Comparison:
    """Verdict and disparity of two models side by side.

    Parameters
    ----------
    model, space, similar, property, X, budget, n_jobs, executor, random_state, progress, import_budget,
    encoding, threshold
        As for `verify`.
    other : fitted estimator
        The second model, of the same space.
    of : 'score', 'probability' or 'margin', optional
        The scale of the disparities, taken to be the same for both. If nothing is said: probabilities if both models have them, predictions of
        regressors, scores if the property is about them; other models are compared by how many individuals they treat otherwise than a similar one.
    names : tuple of str
        What the two are called.
    tolerance : float
        As for `measure`.

    Returns
    -------
    Comparison
        Both verdicts, both brackets, and what changed.
    """
    scales = candidate_scales(of, tolerance)
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
        return compare_problems((problem, problem.with_model(other, run)), run, scales, names)


def candidate_scales(of: Scale | None, tolerance: float) -> list[MeasureRequest]:
    """The scales to measure on, the first one that the models have: that which is asked for, or probabilities before scores."""
    return [
        MeasureRequest(of=scale, class_of_interest=None, tolerance=tolerance)
        for scale in (SCALES if of is None else (of,))
    ]


def compare_problems(
    problems: tuple[Problem, Problem],
    run: Run,
    scales: Sequence[MeasureRequest],
    names: tuple[str, str] = ("old", "new"),
) -> Comparison:
    """The same of two models that were read already."""
    first, second = problems
    with interruptible(run.budget):
        old = verify_problem(first, run.part(1 / BUDGET_PARTS))
        results = old, verify_problem(second, run.part(1 / (BUDGET_PARTS - 1)))
        apart = len(scales) > 1 and not _have_one_unit(problems)
        disparities = _measure_both(problems, scales, run.part(1 / 2) if apart else run)
        apart = (
            apart and disparities[0].of == "score" and (first.distance is None or first.claim.X is not None)
        )
        shares = _share_both(problems, run) if apart else None
    ranges = [(found.lower, found.upper) for found in shares or disparities]
    return Comparison(
        names=names,
        results=results,
        disparities=disparities,
        shares=shares,
        change=fairness_change(results, (ranges[0], ranges[1]), scales[0].tolerance),
    )


def _have_one_unit(problems: tuple[Problem, Problem]) -> bool:
    """Whether scores of both models are numbers of one kind: what regressors predict, or what the claim itself is about."""
    about_scores = isinstance(problems[0].claim.property, ScoreGap)
    return about_scores or all(problem.imported.model.head.labels is None for problem in problems)


def _share_both(problems: tuple[Problem, Problem], run: Run) -> tuple[Share, Share]:
    """How many individuals each treats otherwise than a similar one: of the rows, if there are any, else of the space."""
    rows = problems[0].claim.X
    wanted = ShareRequest(
        over="uniform" if rows is None else rows,
        method="auto",
        confidence=CONFIDENCE,
        has_rows=rows is not None,
    )
    first = share_of_problem(problems[0], run.part(1 / 2), wanted)
    return first, share_of_problem(problems[1], run.part(1), wanted)


def _measure_both(
    problems: tuple[Problem, Problem], scales: Sequence[MeasureRequest], run: Run
) -> tuple[Disparity, Disparity]:
    """Both disparities on the first scale that both models have, and have bounds on."""
    for last, scale in enumerate(scales, 1):
        try:
            if last < len(scales) and any(lacks_bounds(problem, run, scale) for problem in problems):
                continue
            first = measure_problem(problems[0], run.part(1 / 2), scale)
            second = measure_problem(problems[1], run.part(1), scale)
        except (SpecError, UnsupportedModel):
            if last == len(scales):
                raise
        else:
            return first, second
    raise SpecError("no scale to compare on")


def fairness_change(
    results: tuple[Result, Result],
    ranges: tuple[tuple[float, float], tuple[float, float]],
    tolerance: float,
) -> FairnessChange:
    """What became of fairness, by the verdicts, then by what is between (lower, upper) of the old model and of the new one."""
    verdicts = tuple(str(result.verdict) for result in results)
    if verdicts == ("FAIR", "BIASED"):
        return "worse"
    if verdicts == ("BIASED", "FAIR"):
        return "better"
    (old_lower, old_upper), (new_lower, new_upper) = ranges
    if new_lower > old_upper:
        return "worse"
    if new_upper < old_lower:
        return "better"
    # Both brackets around one number, each at most twice the tolerance wide.
    narrow = max(old_upper, new_upper) - min(old_lower, new_lower) <= 2 * tolerance
    return "same" if narrow else "undecided"
