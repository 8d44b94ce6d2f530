"""margins: how the largest gap grows with the tolerances, as a bracket for each of a few factors on them.

D(t), the largest gap (or the largest margin of different decisions) over all pairs that are similar with every tolerance multiplied by t,
never falls as t grows: who is similar at a factor is similar at each larger one. So a lower end holds for all larger factors
as well, and an upper end for all smaller ones. t = 1 is the similarity itself; beyond the factor at which every tolerance reaches across
its domain nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.measure import DEFAULT_TOLERANCE, Measured, MeasureRequest, measure_problem
from likewise.analysis.radius import ToleranceLadder, tolerance_ladder
from likewise.problem import Problem, make_claim, prepare, refuse_one_way
from likewise.progress import Listener
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS, Budget, interruptible
from likewise.spec.numbers import double_above

if TYPE_CHECKING:
    from likewise.model.gauge import Scale
    from likewise.spec.properties import Label
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

FACTORS = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """At this factor the largest gap is between `lower`, which a pair attains, and `upper`."""

    factor: float
    lower: float
    upper: float
    proved: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """One bracket a factor, from the smallest on; `of` is the scale."""

    of: Measured
    points: tuple[Margin, ...]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        points = [[point.factor, point.lower, point.upper, point.proved] for point in self.points]
        reasons = dict.fromkeys(point.reason for point in self.points if point.reason is not None)
        return {"of": self.of, "points": points, "reason": "; ".join(reasons) or None}


def margins(
    model: Any,
    space: Space,
    similar: Similarity,
    *,
    of: Scale = "score",
    class_of_interest: Label | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    X: Any = None,
    budget: float | Budget = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    import_budget: float = IMPORT_SECONDS,
) -> Margins:
    """The largest gap for each of `FACTORS` on all tolerances of `similar`; parameters are those of `measure`."""
    ladder = tolerance_ladder(space, similar, None)
    wanted = MeasureRequest(of=of, class_of_interest=class_of_interest, tolerance=tolerance)
    with open_run(
        budget=budget,
        import_budget=import_budget,
        n_jobs=n_jobs,
        executor=executor,
        random_state=random_state,
        progress=progress,
    ) as run:
        problem = prepare(make_claim(model, space, similar, X=X), run)
        return margins_of_problem(problem, run, wanted, ladder)


def margins_of_problem(
    problem: Problem, run: Run, wanted: MeasureRequest, ladder: ToleranceLadder | None = None
) -> Margins:
    """The same of a model that was read already."""
    refuse_one_way(problem.claim, "how it grows with the tolerances")
    claim, of = problem.claim, wanted.of
    asked, points = _factors_to_ask(ladder or tolerance_ladder(claim.space, claim.similarity, None)), []
    with interruptible(run.budget):
        for done, (factor, at_factor) in enumerate(asked):
            if at_factor is None:  # everybody is similar to nobody else, and differs from nobody
                if of != "margin":
                    points.append(Margin(factor=double_above(factor), lower=0.0, upper=0.0, proved=True))
                continue
            part = run.part(1 / (len(asked) - done))
            found = measure_problem(problem.with_similarity(at_factor), part, wanted)
            points.append(
                Margin(
                    factor=double_above(factor),
                    lower=found.lower,
                    upper=found.upper,
                    proved=found.proved,
                    reason=found.reason,
                )
            )
    return Margins(of=of, points=_tighten_brackets(points))


def _factors_to_ask(ladder: ToleranceLadder) -> list[tuple[Fraction, Similarity | None]]:
    """The factors that tell something new, with who is similar there."""
    asked: list[tuple[Fraction, Similarity | None]] = []
    for factor in sorted({min(factor, ladder.largest) for factor in FACTORS}):
        similar = ladder.similarity(factor)
        if not asked or similar != asked[-1][1]:
            asked.append((factor, similar))
    return asked


def _tighten_brackets(points: Sequence[Margin]) -> tuple[Margin, ...]:
    """Each bracket with what the others say of it. What is proved stays so."""
    tight = []
    for i, point in enumerate(points):
        upper = min(
            (other for other in points[i:] if other.proved or not point.proved), key=lambda other: other.upper
        )
        lower = max(other.lower for other in points[: i + 1])
        tight.append(replace(point, lower=lower, upper=upper.upper, proved=upper.proved))
    return tuple(tight)
