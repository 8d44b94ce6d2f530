"""Whole pipelines from .skops files: no type in them needs anybody's trust, and what comes back is the same model."""

import warnings

import numpy as np
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.impute import SimpleImputer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC
from tests.conformance.agreement import assert_agrees
from tests.conformance.people import NUMBERS, SPACE, WORDS, people, quick_logistic

from likewise.errors import UnsupportedModel
from likewise.importers.files import load_model

X, _, LABELS = people()


def usual(final):
    return make_pipeline(
        make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), WORDS)), final
    )


def everything():
    numbers = make_union(make_pipeline(SimpleImputer(), RobustScaler()), MinMaxScaler())
    parts = [
        ("numbers", numbers, make_column_selector(dtype_include=np.floating)),
        ("words", OneHotEncoder(min_frequency=3, handle_unknown="infrequent_if_exist"), ["city"]),
        ("grades", OrdinalEncoder(), ["grade"]),
        ("splines", SplineTransformer(n_knots=3), ["age"]),
        ("bins", KBinsDiscretizer(2, strategy="uniform"), ["age"]),
        ("log", FunctionTransformer(np.log1p), ["children"]),
        ("power", PowerTransformer(), ["rooms"]),
        ("quantile", QuantileTransformer(n_quantiles=5), ["rooms"]),
    ]
    return make_pipeline(ColumnTransformer(parts), quick_logistic())


MODELS = {
    "usual": usual(quick_logistic()),
    "kernel": usual(SVC()),
    "everything": everything(),
    "remainder": make_pipeline(
        make_column_transformer((OneHotEncoder(), WORDS), remainder=MinMaxScaler()), SelectKBest(chi2, k=4), quick_logistic()
    ),
    "search": GridSearchCV(usual(quick_logistic()), {"logisticregression__C": [1.0]}, cv=StratifiedKFold(2)),
    "threshold": FixedThresholdClassifier(usual(quick_logistic()), threshold=0.4),
    "tuned": TunedThresholdClassifierCV(usual(quick_logistic()), cv=2),
    "calibrated": CalibratedClassifierCV(usual(quick_logistic()), ensemble=False, cv=2),
}  # fmt: skip


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("name", MODELS)
def test_no_type_of_a_supported_pipeline_needs_trust(name, tmp_path):
    file = tmp_path / "model.skops"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        skops.io.dump(MODELS[name].fit(X, LABELS == "yes"), file)
        loaded = load_model(file)
    decides = (
        "decision_function" if name in ("usual", "kernel", "everything", "remainder", "search") else None
    )
    assert_agrees(loaded, SPACE, X, decides=decides)


def own(rows):
    return rows


def test_functions_of_ones_own_are_not_called(tmp_path):
    file = tmp_path / "model.skops"
    skops.io.dump(make_pipeline(FunctionTransformer(own), quick_logistic()).fit(X[NUMBERS], LABELS), file)
    with pytest.raises(UnsupportedModel, match=r"would call functions.*test_files\.own") as error:
        load_model(file, trust=[f"{own.__module__}.own"])
    assert "--model package.module:name" in str(error.value.hint)
