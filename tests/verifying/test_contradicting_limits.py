"""Cells in which the limits of two codes and of their difference contradict each other hold nobody, and are closed as such."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVR

import likewise as lw

SPACE = lw.Space({"a": lw.Continuous(10, 11), "b": lw.Integer(0, 1), "c": lw.Integer(0, 1)})
NEAR = lw.Similarity(within={"a": 0.3}, free=["b"])
MODELS = {
    "products": lambda: make_pipeline(
        PolynomialFeatures(include_bias=False, interaction_only=True), Ridge(1e-3)
    ),
    "rbf": lambda: SVR(gamma=0.5, C=1.0, epsilon=0.2),
}


@pytest.mark.parametrize("name", MODELS)
def test_searches_close_in_few_cells(name):
    random = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "a": random.uniform(10, 11, 30),
            "b": random.integers(0, 2, 30),
            "c": random.integers(0, 2, 30),
        }
    )
    model = MODELS[name]().fit(rows, rows.a * (rows.b - 2 * rows.c) + random.normal(0, 0.1, 30))
    found = lw.measure(model, SPACE, NEAR, tolerance=0.01, budget=20)
    assert found.reason is None
    assert found.stats["cells"] <= 2000
    a = np.linspace(10, 11, 101)
    scores = {(b, c): model.predict(pd.DataFrame({"a": a, "b": b, "c": c})) for b in (0, 1) for c in (0, 1)}
    steps = np.arange(101)
    near = np.abs(steps[:, None] - steps) <= 30  # hundredths, so that none is lost to rounding
    largest = max(
        np.abs(np.subtract.outer(scores[b, c], scores[other, c]))[near].max()
        for c in (0, 1)
        for b in (0, 1)
        for other in (0, 1)
    )
    assert found.lower - 0.01 <= largest <= found.upper + 1e-9
    result = lw.verify(model, SPACE, NEAR, lw.ScoreGap(found.upper + 0.02), budget=20)
    assert result.verdict == "FAIR"
    assert result.stats["cells"] <= 2000
