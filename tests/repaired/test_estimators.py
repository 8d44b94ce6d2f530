"""Settled estimators as scikit-learn estimators: clone, pickle, pipelines, frames and arrays, files; and that the importer looks at them closely."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import skops.io
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

import likewise as lw
from likewise.importers.files import load_model
from likewise.repaired.estimators import SettledClassifier, SettledRegressor

SPACE = lw.Space({"sex": lw.Categorical(["f", "m"]), "age": lw.Integer(18, 30)})
SIMILAR = lw.Similarity(free=["sex"])
ROWS = pd.DataFrame({"sex": ["f", "m"] * 20, "age": np.arange(40) % 13 + 18})
LABELS = (ROWS.age + 3 * (ROWS.sex == "m") > 25).to_numpy()


def fitted():
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline

    columns = make_column_transformer((OneHotEncoder(), ["sex"]), (StandardScaler(), ["age"]))
    return make_pipeline(columns, LogisticRegression()).fit(ROWS, LABELS)


@pytest.fixture(scope="module")
def repaired():
    return lw.repair(fitted(), SPACE, SIMILAR, X=ROWS, y=LABELS).model


def test_clones_and_pickles_say_the_same(repaired):
    check_is_fitted(repaired)
    for copy in (clone(repaired), pickle.loads(pickle.dumps(repaired))):
        assert np.array_equal(copy.decision_function(ROWS), repaired.decision_function(ROWS))
        assert copy.get_params().keys() == repaired.get_params().keys()
    assert is_classifier(repaired)
    assert list(repaired.classes_) == [False, True]
    assert list(repaired.feature_names_in_) == ["sex", "age"]


def test_a_file_of_it_is_loaded_and_verified_without_further_trust(repaired, tmp_path):
    path = tmp_path / "fair.skops"
    skops.io.dump(repaired, path)
    loaded = load_model(path)
    assert np.array_equal(loaded.predict(ROWS), repaired.predict(ROWS))
    assert lw.verify(loaded, SPACE, SIMILAR).verdict == "FAIR"


def test_as_a_step_of_a_pipeline(repaired):
    whole = Pipeline([("nothing", "passthrough"), ("model", repaired)])
    assert np.array_equal(whole.predict(ROWS), repaired.predict(ROWS))
    assert lw.verify(whole, SPACE, SIMILAR, X=ROWS).verdict == "FAIR"


def test_nothing_that_transforms_comes_before_it():
    numbers = ROWS.assign(sex=(ROWS.sex == "m").astype(int))
    scale = StandardScaler().set_output(transform="pandas").fit(numbers)
    settled = SettledClassifier(LogisticRegression().fit(scale.transform(numbers), LABELS), ["sex"], [[0]])
    space = lw.Space({"sex": lw.Categorical([0, 1]), "age": lw.Integer(18, 30)})
    with pytest.raises(lw.UnsupportedModel, match="sets columns of the rows as they are"):
        lw.verify(Pipeline([("scale", scale), ("model", settled)]), space, SIMILAR)


def test_frames_of_all_kinds_and_arrays(repaired):
    expected = repaired.decision_function(ROWS)
    assert len(set(expected[ROWS.age == 20])) == 1
    categories = ROWS.assign(sex=ROWS.sex.astype("category"))
    assert np.array_equal(repaired.decision_function(categories), expected)
    numbers = ROWS.assign(sex=(ROWS.sex == "m").astype(int))
    plain = LogisticRegression().fit(numbers.to_numpy(), LABELS)
    space = lw.Space({"sex": lw.Categorical([0, 1]), "age": lw.Integer(18, 30)})
    unnamed = lw.repair(plain, space, SIMILAR)
    assert unnamed.model.features == [0]
    assert unnamed.result.verdict == "FAIR"
    by_arrays = unnamed.model.decision_function(numbers.to_numpy())
    assert np.array_equal(
        by_arrays, unnamed.model.decision_function(numbers.to_numpy()[:, ::1].astype(float))
    )
    assert len(set(by_arrays[ROWS.age == 20])) == 1
    counted = numbers.set_axis([0, 1], axis=1)
    assert np.array_equal(unnamed.model.decision_function(counted), by_arrays)
    assert list(counted[0]) == list(numbers.sex)  # the rows that were given stay as they are
    with pytest.raises(TypeError, match="sparse"):
        unnamed.model.predict(scipy.sparse.csr_array(numbers.to_numpy()))
    named = lw.repair(LogisticRegression().fit(numbers, LABELS), space, SIMILAR).model
    frame = pl.DataFrame({"sex": numbers.sex.to_numpy(), "age": numbers.age.to_numpy()})
    assert np.array_equal(named.decision_function(frame), named.decision_function(numbers))


def test_it_can_be_fitted_like_any_other():
    numbers = ROWS.assign(sex=(ROWS.sex == "m").astype(int))
    model = SettledClassifier(LogisticRegression(), ["sex"], [[0], [1]])
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert cross_val_score(model, numbers, LABELS).mean() > 0.5
    model.fit(numbers, LABELS)
    space = lw.Space({"sex": lw.Categorical([0, 1]), "age": lw.Integer(18, 30)})
    assert lw.verify(model, space, SIMILAR).verdict == "FAIR"
    assert is_regressor(SettledRegressor(LinearRegression(), ["sex"], [[0]]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"how": "median"},
        {"keep": 2.0},
        {"keep": 0.5, "how": "max"},
        {"counts": [1]},
        {"counts": [0, 0]},
        {"counts": [2, -1]},
        {"settings": []},
        {"settings": [["f", 20]]},
        {"settings": [["f"], ["x"]]},
        {"features": ["age"], "settings": [[31]]},
        {"features": ["age"], "settings": [[20.5]]},
        {"features": ["gender"]},
    ],
)
def test_what_was_made_by_hand_and_not_well_is_refused(repaired, wrong):
    with pytest.raises(lw.UnsupportedModel):
        lw.verify(clone(repaired).set_params(**wrong), SPACE, SIMILAR)


def test_another_predict_than_the_imported_one_is_noticed(repaired):
    class Tilted(SettledClassifier):
        def decision_function(self, X):
            return super().decision_function(X) + (np.asarray(X["sex"]) == "m")

    found = lw.verify(Tilted(**repaired.get_params(deep=False)), SPACE, SIMILAR, budget=1)
    assert found.verdict != "FAIR"
    assert "not supported" in found.stats["black_box"]
    changed = clone(repaired)
    changed.decision_function = lambda X: repaired.decision_function(X) + (np.asarray(X["sex"]) == "m")
    with pytest.raises(lw.UnsupportedModel, match="disagrees with the original"):
        lw.verify(changed, SPACE, SIMILAR)
