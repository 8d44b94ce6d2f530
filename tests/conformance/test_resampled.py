"""imbalanced-learn: its pipelines and ensembles draw other rows to fit on, and predict as what they are derived from."""

import io
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.conformance import agreement, tree_agreement
from tests.conformance.people import NUMBERS, SPACE, WORDS, people

import likewise as lw
from likewise.importers.skops_files import read_skops

pytest.importorskip("imblearn", reason="imbalanced-learn is not installed: pip install imbalanced-learn")

from imblearn.ensemble import (
    BalancedBaggingClassifier,
    BalancedRandomForestClassifier,
    EasyEnsembleClassifier,
    RUSBoostClassifier,
)
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.pipeline import Pipeline, make_pipeline
from imblearn.under_sampling import RandomUnderSampler
from sklearn.tree import DecisionTreeClassifier

SMALL = lw.Space({"age": lw.Integer(0, 9), "income": lw.Integer(0, 9), "sex": lw.Integer(0, 1)})
SIMILAR = lw.Similarity(free=["sex"])
ENSEMBLES = {
    "BalancedRandomForestClassifier": lambda: BalancedRandomForestClassifier(8, max_depth=3, random_state=0),
    "BalancedBaggingClassifier": lambda: BalancedBaggingClassifier(
        DecisionTreeClassifier(max_depth=3, random_state=0), n_estimators=4, random_state=0
    ),
    "BalancedBaggingClassifier of linear models": lambda: BalancedBaggingClassifier(
        LogisticRegression(), n_estimators=3, random_state=0
    ),
    "EasyEnsembleClassifier": lambda: EasyEnsembleClassifier(3, random_state=0),
    "RUSBoostClassifier": lambda: RUSBoostClassifier(
        DecisionTreeClassifier(max_depth=2, random_state=0), n_estimators=5, random_state=0
    ),
}
OF_TREES = ("BalancedRandomForestClassifier", "RUSBoostClassifier")


def columns():
    return make_column_transformer(
        (OneHotEncoder(sparse_output=False), WORDS), (StandardScaler(), NUMBERS), remainder="drop"
    )


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.mark.parametrize("place", [0, 1])
def test_pipelines_pass_over_what_draws_rows(place):
    X, _, y = people()
    steps = [("columns", columns()), ("model", LogisticRegression())]
    sampler = SMOTE(random_state=0, k_neighbors=2) if place else RandomOverSampler(random_state=0)
    steps.insert(place, ("rows", sampler))
    agreement.assert_agrees(fitted(Pipeline(steps), X, y), SPACE, X)


@pytest.mark.parametrize("name", OF_TREES)
def test_ensembles_of_trees_agree_on_every_row(name):
    X, _, y = people()
    model = make_pipeline(columns(), RandomUnderSampler(random_state=0), ENSEMBLES[name]())
    tree_agreement.assert_agrees(fitted(model, X, y), SPACE, X)


def small_data(weight):
    """Few approvals, which sex counts for with this weight."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {name: random.integers(0, SMALL[name].hi + 1, 300) for name in SMALL.names}, columns=SMALL.names
    )
    y = (X.age + X.income + weight * X.sex + random.normal(0, 1, 300) > 12).astype(int)
    return X, y


def largest_gap(model):
    """By asking everybody, and whether anybody is decided about otherwise."""
    everybody = pd.DataFrame(itertools.product(range(10), range(10), range(2)), columns=SMALL.names)
    share = model.predict_proba(everybody)[:, 1].reshape(100, 2)
    decided = model.predict(everybody).reshape(100, 2)
    return np.abs(share[:, 0] - share[:, 1]).max(), bool((decided[:, 0] != decided[:, 1]).any())


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("weight", [0, 6], ids=["fair", "biased"])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_everybody_is_asked(name, weight):
    X, y = small_data(weight)
    seen = X if weight else X.assign(sex=0)  # what never differs is never asked for
    model = fitted(ENSEMBLES[name](), seen, y)
    gap, differs = largest_gap(model)
    assert differs == bool(weight)
    result = lw.verify(model, SMALL, SIMILAR, X=X, budget=30)
    assert "black_box" not in result.stats
    assert result.verdict == ("BIASED" if differs else "FAIR"), result.reason
    if not differs:
        assert lw.check(io.BytesIO(result.certificate.content)).accepted
    found = lw.measure(model, SMALL, SIMILAR, of="probability", X=X, budget=30)
    assert found.lower - 1e-9 <= gap <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-3


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", [*ENSEMBLES, "pipeline"])
def test_files_of_skops_need_no_trust(name):
    skops = pytest.importorskip("skops.io")
    X, y = small_data(6)
    final = LogisticRegression() if name == "pipeline" else ENSEMBLES[name]()
    model = fitted(make_pipeline(StandardScaler(), RandomOverSampler(random_state=0), final), X, y)
    again = read_skops(skops.dumps(model))
    assert type(again) is Pipeline
    assert (again.predict(X) == model.predict(X)).all()
    results = [lw.verify(one, SMALL, SIMILAR, X=X, budget=20) for one in (model, again)]
    assert [result.verdict for result in results] == ["BIASED", "BIASED"]


@pytest.mark.some_days
def test_subclasses_are_asked_only():
    class Own(BalancedRandomForestClassifier):
        def predict(self, X):
            return np.ones(len(X), dtype=int)

    X, y = small_data(6)
    result = lw.verify(fitted(Own(4, random_state=0), X, y), SMALL, SIMILAR, X=X, budget=1)
    assert result.verdict == "UNKNOWN"
    assert "black_box" in result.stats
