"""Encoders of category_encoders: tables over the levels, in front of every sort of model, and what they are refused for."""

import io
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from tests.conformance import agreement, tree_agreement
from tests.conformance.people import SPACE, WORDS, people, quick_logistic

import likewise as lw
from likewise.errors import LikewiseError
from likewise.importers.imported_model import import_model

encoders = pytest.importorskip(
    "category_encoders", reason="category_encoders is not installed: pip install category_encoders"
)

pytestmark = pytest.mark.filterwarnings("ignore:'future.no_silent_downcasting'")  # what they ask pandas for
ONE_COLUMN = [
    *("OrdinalEncoder", "TargetEncoder", "CountEncoder", "WOEEncoder", "LeaveOneOutEncoder"),
    *("CatBoostEncoder", "JamesSteinEncoder", "MEstimateEncoder", "QuantileEncoder", "GLMMEncoder"),
]
SEVERAL_COLUMNS = [
    *("OneHotEncoder", "BinaryEncoder", "BaseNEncoder", "GrayEncoder", "RankHotEncoder"),
    *("HelmertEncoder", "SumEncoder", "BackwardDifferenceEncoder", "PolynomialEncoder"),
]


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, np.asarray(y == "yes", dtype=int))


@pytest.mark.draw(2)
@pytest.mark.parametrize("name", [*ONE_COLUMN, *SEVERAL_COLUMNS])
def test_columns_in_front_of_a_linear_model(name):
    X, _, y = people()
    encoder = getattr(encoders, name)(cols=[*WORDS, "rooms"])
    model = fitted(make_pipeline(encoder, quick_logistic()), X, y)
    imported = agreement.assert_agrees(model, SPACE, X)
    tables = {SPACE.names[column.feature] for column in imported.model.embedding if column.table is not None}
    assert {*WORDS, "rooms"} <= tables


@pytest.mark.parametrize("name", ["TargetEncoder", "BinaryEncoder"])
def test_columns_in_front_of_a_kernel_and_of_trees(name):
    X, _, y = people()
    agreement.assert_agrees(fitted(make_pipeline(getattr(encoders, name)(), SVC()), X, y), SPACE, X)
    forest = RandomForestClassifier(5, max_depth=4, random_state=0)
    tree_agreement.assert_agrees(fitted(make_pipeline(getattr(encoders, name)(), forest), X, y), SPACE, X)


def test_columns_that_say_nothing_may_be_dropped():
    X, _, y = people()
    X = X.assign(city=["oslo"] * len(X))
    space = SPACE.replace({"city": lw.Categorical(["oslo"])})
    encoder = encoders.OneHotEncoder(cols=WORDS, drop_invariant=True)
    agreement.assert_agrees(fitted(make_pipeline(encoder, quick_logistic()), X, y), space, X)


def hiring(weight):
    """Two words, one of which is protected and counts for as much as this."""
    random = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "skill": random.integers(0, 10, 400),
            "trade": random.choice(["smith", "cook", "clerk"], 400),
            "sex": random.choice(["f", "m"], 400),
        }
    )
    y = (X.skill + 2 * (X.trade == "cook") + weight * (X.sex == "m") + random.normal(0, 1, 400) > 6).astype(
        int
    )
    return X, y


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["TargetEncoder", "WOEEncoder", "HelmertEncoder", "CountEncoder"])
@pytest.mark.parametrize("weight", [0, 4], ids=["fair", "biased"])
def test_everybody_is_asked(name, weight):
    X, y = hiring(weight)
    space = lw.Space(
        {
            "skill": lw.Integer(0, 9),
            "trade": lw.Categorical(["smith", "cook", "clerk"]),
            "sex": lw.Categorical(["f", "m"]),
        }
    )
    model = make_pipeline(getattr(encoders, name)(cols=["trade", "sex"]), LogisticRegression(max_iter=500))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    if not weight:  # what was learnt about sex is taken out of the model
        model[-1].coef_[0, [n.startswith("sex") for n in model[0].get_feature_names_out()]] = 0.0
    everybody = pd.DataFrame(
        itertools.product(range(10), ["smith", "cook", "clerk"], ["f", "m"]), columns=X.columns
    )
    decided = model.predict(everybody).reshape(30, 2)
    scores = model.decision_function(everybody).reshape(30, 2)
    differs = bool((decided[:, 0] != decided[:, 1]).any())
    assert differs == bool(weight)
    similar = lw.Similarity(free=["sex"])
    result = lw.verify(model, space, similar, X=X, budget=20)
    assert result.verdict == ("BIASED" if differs else "FAIR"), result.reason
    assert "black_box" not in result.stats
    if not differs:
        assert lw.check(io.BytesIO(result.certificate.content)).accepted
    found = lw.measure(model, space, similar, of="score", X=X, budget=20)
    assert found.lower - 1e-9 <= np.abs(scores[:, 0] - scores[:, 1]).max() <= found.upper + 1e-9


REFUSED = {
    "unseen": (lambda: encoders.TargetEncoder(cols=WORDS, handle_unknown="error"), "never seen the value"),
    "hashes": (lambda: encoders.HashingEncoder(cols=WORDS, max_process=1), "several features together"),
    "numbers": (lambda: encoders.TargetEncoder(cols=[*WORDS, "income"]), "income"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refusals(reason):
    make, said = REFUSED[reason]
    X, _, y = people()
    model = fitted(make_pipeline(make(), quick_logistic()), X, y)
    space = SPACE.replace({"city": lw.Categorical(["berlin", "oslo", "rome", "paris"])})
    with pytest.raises(LikewiseError, match=said):
        import_model(model, space if reason == "unseen" else SPACE, rows=SPACE.encode(X), like=X)


def test_levels_in_another_guise_are_refused():
    """An encoder that was fitted on 1, 2 and 5 would pass over the text "1" without a word."""
    X, _, y = people()
    model = fitted(make_pipeline(encoders.TargetEncoder(cols=[*WORDS, "rooms"]), quick_logistic()), X, y)
    space = SPACE.replace({"rooms": lw.Categorical(["1", "2", "5"])})
    with pytest.raises(LikewiseError, match="rooms"):
        import_model(model, space, rows=space.encode(X.assign(rooms=X.rooms.astype(str))), like=None)


def test_subclasses_are_not_read():
    class Own(encoders.TargetEncoder):
        pass

    X, _, y = people()
    model = fitted(make_pipeline(Own(cols=WORDS), quick_logistic()), X, y)
    with pytest.raises(LikewiseError, match="cannot be read"):
        import_model(model, SPACE, rows=SPACE.encode(X), like=X)
