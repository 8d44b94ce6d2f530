"""OneVsRestClassifier: of classes whose classifiers say the same the first one is taken, or the model is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
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
