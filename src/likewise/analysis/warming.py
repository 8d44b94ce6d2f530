"""Small questions that have every family's loops compiled: a small model of each, measured over one copy and over two."""

from __future__ import annotations

import warnings
from typing import Any

FAMILIES = ("rbf", "polynomial", "trees", "network")


def warm_up_family(family: str) -> None:
    """Ask what has the loops of this family compiled, and forget the answers."""
    import numpy as np

    from likewise.analysis.measure import measure
    from likewise.spec.features import Categorical, Continuous, Integer
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

    space = Space(
        {
            "income": Continuous(0, 1),
            "age": Integer(0, 40),
            "job": Categorical([0, 1, 2]),
            "sex": Categorical([0, 1]),
        }
    )
    random = np.random.default_rng(0)
    rows = np.column_stack(
        [random.random(40), random.integers(0, 41, 40), random.integers(0, 3, 40), random.integers(0, 2, 40)]
    )
    model = _fitted(family, rows, (rows[:, 0] + rows[:, 3] > 1).astype(int))
    for within in ({}, {"age": 2}):
        similar = Similarity(free=["sex"], within=within)
        measure(model, space, similar, budget=0.5)


def _fitted(family: str, rows: Any, labels: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.svm import SVC

    model = {
        "rbf": SVC(),
        "polynomial": SVC(kernel="poly", degree=2),
        "trees": RandomForestClassifier(4, max_depth=3, random_state=0),
        "network": MLPClassifier((4,), random_state=0, max_iter=20),
    }[family]
    columns = make_column_transformer((OneHotEncoder(), [2, 3]), remainder="passthrough")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # twenty steps are enough for what is asked here
        return make_pipeline(columns, model).fit(rows, labels)
