"""The shipped data sets: pipelines on German, Adult and Credit are repaired, and proved FAIR for all of their space."""

import io

import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import likewise as lw
from likewise_check import check

LOADERS = {
    "german": lw.datasets.load_german,
    "adult": lw.datasets.load_adult,
    "credit": lw.datasets.load_credit,
}


def on(data, model, rows):
    words = make_column_selector(dtype_exclude="number")
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words),
        (StandardScaler(), make_column_selector(dtype_include="number")),
        sparse_threshold=0,
    )
    return make_pipeline(columns, model).fit(data.X[:rows], data.y[:rows])


CASES = [
    pytest.param(
        load,
        model,
        rows,
        marks=pytest.mark.slow if name != "german" and kind != "logistic" else (),
        id=f"{name}-{kind}",
    )
    for name, load in LOADERS.items()
    for kind, model, rows in (
        ("logistic", LogisticRegression(max_iter=1000), 400),
        ("rbf", SVC(), 40),
        ("trees", GradientBoostingClassifier(n_estimators=20, random_state=0), 400),
    )
]


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize(("load", "model", "rows"), CASES)
def test_repaired_pipelines_are_fair(load, model, rows):
    data = load(frame="pandas")
    fitted = on(data, model, rows)
    similar = lw.Similarity(free=data.protected)
    assert lw.verify(fitted, data.space, similar, X=data.X[:50]).verdict != "FAIR"
    repaired = lw.repair(fitted, data.space, similar, X=data.X[:200], y=data.y[:200])
    assert repaired.result.verdict == "FAIR", repaired.result.reason
    assert check(io.BytesIO(repaired.result.certificate.content)).accepted
    assert repaired.rows == 200
    assert repaired.before is not None
    assert abs(repaired.before - repaired.after) < 0.2
