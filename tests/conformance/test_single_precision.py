"""Pipelines fitted on float32 data: read where they are asked about doubles; searched where every column that reaches the model is in single precision."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import likewise as lw
from likewise.importers.imported_model import import_model

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": RANDOM.uniform(0, 9, 150).astype("float32"),
        "income": RANDOM.uniform(0, 1, 150).astype("float32"),
        "job": RANDOM.choice([*"abc"], 150),
        "sex": RANDOM.choice([*"fm"], 150),
    }
)
Y = X.age / 9 + X.income + 0.2 * (X.sex == "m") > 1
SPACE = lw.Space(
    {
        "age": lw.Continuous(0, 9),
        "income": lw.Continuous(0, 1),
        "job": lw.Categorical([*"abc"]),
        "sex": lw.Categorical([*"fm"]),
    }
)
WORDS = ("words", OneHotEncoder(dtype=np.float32), ["job", "sex"])
NUMBERS = ("numbers", StandardScaler(), ["age", "income"])


@pytest.mark.parametrize("final", [LogisticRegression(), SVC(gamma=0.1)], ids=["linear", "kernel"])
def test_models_fitted_on_single_precision_are_read_as_they_answer_doubles(final):
    model = make_pipeline(ColumnTransformer([NUMBERS, WORDS]), final).fit(X, Y)
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    assert not imported.program.large
    found = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), lw.ScoreGap(5.0), X=X, budget=60)
    assert found.verdict == "FAIR"
    assert found.stats["single_precision"] == ["age", "income"]


def test_columns_that_are_all_in_single_precision_are_searched():
    model = make_pipeline(ColumnTransformer([WORDS]), LogisticRegression()).fit(X, Y)
    found = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), lw.ScoreGap(5.0), X=X, budget=1)
    assert found.verdict == "UNKNOWN"
    assert "gives float32" in found.stats["black_box"]
