"""A claim made ready to be searched, in one call."""

from __future__ import annotations

from typing import Any

from likewise.analysis.row_claim import RowClaim, prepare_row_claim
from likewise.problem import Problem, make_claim, prepare
from likewise.run import Run
from likewise.search.budget import Budget
from likewise.verifying.posed_problem import PosedProblem, pose


def problem_of(model: Any, space: Any, similar: Any, property: Any = None, *, X: Any = None) -> Problem:
    return prepare(make_claim(model, space, similar, property, X), Run(budget=Budget(60)))


def posed(
    model: Any, space: Any, similar: Any, property: Any = None, *, X: Any = None, budget: float = 60
) -> PosedProblem:
    """What the search of a claim about one score needs."""
    run = Run(budget=Budget(budget))
    return pose(prepare(make_claim(model, space, similar, property, X), run), run)


def judged(
    model: Any,
    space: Any,
    similar: Any,
    property: Any = None,
    *,
    X: Any = None,
    budget: float = 60,
    **more: Any,
) -> RowClaim:
    """What the judging of many individuals needs."""
    run = Run(budget=Budget(budget), **more)
    return prepare_row_claim(prepare(make_claim(model, space, similar, property, X), run), run)
