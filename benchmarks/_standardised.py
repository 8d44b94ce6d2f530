"""Kernel models as people make them: numbers through `StandardScaler`, categories one-hot, then `SVC(C=1)`.

Fitted on 75% of the rows (or the first of them) with gamma="scale", or a multiple of what that gives. The space is the
ranges and levels that occur in the data, the protected features are free, and others may be `within` a tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import likewise as lw
from likewise import datasets
from likewise.model.gauge import Scale
from likewise.problem import make_claim, prepare
from likewise.run import Run
from likewise.search.budget import Budget
from likewise.spec.features import Continuous, Integer
from likewise.spec.properties import make_property
from likewise.verifying.posed_problem import PosedProblem, pose


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A model, who it is about and who is similar."""

    name: str
    X: Any
    space: lw.Space
    similar: lw.Similarity
    model: Pipeline

    @property
    def terms(self) -> int:
        return len(self.model[-1].support_)


def standardised(
    name: str,
    *,
    rows: int | None = None,
    gamma_times: float = 1.0,
    within: Mapping[str, int | float | str] | None = None,
) -> Case:
    """The fitted pipeline of a data set; `rows` limits the training rows."""
    data = getattr(datasets, f"load_{name}")(frame="pandas")
    space = _unordered(lw.Space.from_data(data.X))
    numbers = [n for n, f in space.features.items() if isinstance(f, (Continuous, Integer))]
    target = (np.asarray(data.y) == data.positive).astype(int)
    train = train_test_split(np.arange(len(target)), test_size=0.25, stratify=target, random_state=42)[0]
    X, y = data.X.iloc[train[:rows]], target[train[:rows]]
    columns = make_column_transformer(
        (StandardScaler(), numbers), remainder=OneHotEncoder(sparse_output=False)
    )
    gamma = gamma_times * float(SVC().fit(clone(columns).fit_transform(X), y)._gamma)
    return Case(
        name=name,
        X=data.X,
        space=space,
        similar=lw.Similarity(free=list(data.protected), within=within),
        model=make_pipeline(columns, SVC(C=1.0, gamma=gamma)).fit(X, y),
    )


def measured(
    case: Case, *, of: Scale, tolerance: float, budget: float, certify: bool = False
) -> lw.Disparity:
    """`likewise.measure` as anybody would call it."""
    return lw.measure(
        case.model,
        case.space,
        case.similar,
        of=of,
        tolerance=tolerance,
        budget=budget,
        X=case.X,
        certify=certify,
    )


def prepared(case: Case, *, of: Scale, budget: float) -> PosedProblem:
    """The problem itself, for what works on it directly."""
    run = Run(budget=Budget(budget))
    asked = make_property("decision" if of == "margin" else of, 0.0)
    return pose(prepare(make_claim(case.model, case.space, case.similar, asked, case.X), run), run)


def _unordered(space: lw.Space) -> lw.Space:
    """The same with categories where there are levels: one-hot columns know no order."""
    return lw.Space(
        {
            n: f if isinstance(f, (Continuous, Integer)) else lw.Categorical(f.levels)
            for n, f in space.features.items()
        }
    )
