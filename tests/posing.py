"""A claim made ready to be searched, in one call."""

from __future__ import annotations

from typing import Any

from likewise.analysis.judging import Judging, judging_of
from likewise.problem import Problem, claim_about, prepare
from likewise.run import Run
from likewise.search.budget import Budget
from likewise.verifying.posing import PosedProblem, pose


def problem_of(model: Any, space: Any, similar: Any, property: Any = None, *, X: Any = None) -> Problem:
    return prepare(claim_about(model, space, similar, property, X), Run(budget=Budget(60)))


def posed(
    model: Any, space: Any, similar: Any, property: Any = None, *, X: Any = None, budget: float = 60
) -> PosedProblem:
    """What the search of a claim about one score needs."""
    run = Run(budget=Budget(budget))
    return pose(prepare(claim_about(model, space, similar, property, X), run), run)


def judged(
    model: Any,
    space: Any,
    similar: Any,
    property: Any = None,
    *,
    X: Any = None,
    budget: float = 60,
    **more: Any,
) -> Judging:
    """What the judging of many individuals needs."""
    run = Run(budget=Budget(budget), **more)
    return judging_of(prepare(claim_about(model, space, similar, property, X), run), run)
