"""Of classes that are level the first one is taken, or the model is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.importers.imported_model import import_model

RANDOM = np.random.default_rng(2)
SPACE = lw.Space({"age": lw.Integer(0, 9), "sex": lw.Integer(0, 1)})
X = pd.DataFrame({"age": RANDOM.integers(0, 10, 60), "sex": RANDOM.integers(0, 2, 60)})
MODELS = {"trees": DecisionTreeClassifier(max_depth=2), "lines": LogisticRegression()}


def take_last(self, rows):
    """As scikit-learn did before it went through the classifiers backwards."""
    said = np.stack(
        [
            one.decision_function(rows)
            if hasattr(one, "decision_function")
            else one.predict_proba(rows)[:, 1]
            for one in self.estimators_
        ]
    )
    return self.classes_[len(said) - 1 - said[::-1].argmax(axis=0)]


@pytest.mark.parametrize("inside", MODELS)
def test_a_program_that_takes_the_last_of_level_classes_is_refused(inside, monkeypatch):
    model = OneVsRestClassifier(MODELS[inside]).fit(X, X.age // 4)
    assert import_model(model, SPACE, rows=SPACE.encode(X), like=X).model.head.rule == "argmax"
    monkeypatch.setattr(OneVsRestClassifier, "predict", take_last)
    with pytest.raises(UnsupportedModel, match="last one of classes that are level"):
        import_model(model, SPACE, rows=SPACE.encode(X), like=X)


def test_codes_that_are_equally_near_and_taken_by_rounding_are_refused():
    """Nine ones of 18, ten, and nine: whoever it is, what is said is as near to the first code as to the second, but for rounding."""
    rows = pd.DataFrame({"age": np.tile(np.arange(9), 2), "sex": np.repeat([0, 1], 9)})
    model = OutputCodeClassifier(DecisionTreeClassifier()).fit(rows, rows.age // 3)
    model.code_book_ = np.array([[1.0, 1, 1, 1], [0, 1, 0, 1], [1, 0, 1, 1]])
    places = np.arange(18)
    leaves = [DecisionTreeClassifier(min_samples_split=1000).fit(rows, places < ones) for ones in (9, 10, 9)]
    model.estimators_ = [*leaves, DecisionTreeClassifier(max_depth=1).fit(rows, rows.age > 4)]
    assert set(model.predict(rows)) == {0, 1}  # exactly, both are as near, and the first would be taken
    with pytest.raises(UnsupportedModel, match="equally near"):
        import_model(model, SPACE, rows=SPACE.encode(rows), like=rows)
