"""What a census of models counts, and how each is fitted: everything of scikit-learn that predicts from a table or transforms one, and the boosting libraries.

All have their default settings, random numbers and what they print aside. Those that hold other models hold three that are common. Columns come as pipelines usually make them: numbers standardised and levels a column each; where a model
refuses to be fitted on that, numbers between 0 and 1; where it refuses that too, whole numbers.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

PARTS = ("classifiers", "regressors", "transformers", "boosters")
SEVERAL_OUTPUTS = "gives several answers a row"
OTHER_INPUTS = "takes text, images, targets or dictionaries, no table"
LEFT_OUT = {
    **dict.fromkeys(("ClassifierChain", "MultiOutputClassifier", "MultiOutputRegressor", "RegressorChain"), SEVERAL_OUTPUTS),
    **dict.fromkeys(("MultiTaskElasticNet", "MultiTaskElasticNetCV", "MultiTaskLasso", "MultiTaskLassoCV"), SEVERAL_OUTPUTS),
    **dict.fromkeys(("CountVectorizer", "DictVectorizer", "FeatureHasher", "HashingVectorizer"), OTHER_INPUTS),
    **dict.fromkeys(("PatchExtractor", "LabelBinarizer", "LabelEncoder", "MultiLabelBinarizer"), OTHER_INPUTS),
    **dict.fromkeys(("TfidfTransformer", "TfidfVectorizer"), OTHER_INPUTS),
    **dict.fromkeys(("ColumnTransformer", "FeatureUnion"), "is what all of these stand in"),
    "IsotonicRegression": "takes one column",
    "SparseCoder": "is not fitted",
    "KernelCenterer": "takes a matrix of kernels",
}  # fmt: skip
ENCODERS = ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder")
OF_NUMBERS = (
    *("Binarizer", "FunctionTransformer", "KBinsDiscretizer", "MaxAbsScaler", "MinMaxScaler", "MissingIndicator"),
    *("PowerTransformer", "QuantileTransformer", "RobustScaler", "SimpleImputer", "SplineTransformer", "StandardScaler"),
)  # fmt: skip
BEHIND = ("LogisticRegression", "SVC", "RandomForestClassifier")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedModel:
    """One line: `behind` is the model that stands behind a transformer."""

    part: str
    name: str
    behind: str = ""

    @property
    def decides(self) -> bool:
        return self.part != "regressors" and not self.name.endswith("Regressor")

    @property
    def title(self) -> str:
        return f"{self.name}, {self.behind}" if self.behind else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class FittingRows:
    """Frames to fit on: `words` and `numbers` are columns, `labels` what classifiers learn and `amounts` what regressors do."""

    X: Any
    words: list[str]
    numbers: list[str]
    labels: Any
    amounts: Any


def counted_models() -> Iterator[CountedModel]:
    """All of them, in order."""
    for part in ("classifiers", "regressors"):
        for name in sorted(_sklearn_classes(part[:-1])):
            yield CountedModel(part=part, name=name)
    for name in sorted(_sklearn_classes("transformer")):
        for behind in BEHIND:
            yield CountedModel(part="transformers", name=name, behind=behind)
    for name in BOOSTERS:
        yield CountedModel(part="boosters", name=name)


def _sklearn_classes(kind: str) -> dict[str, Any]:
    import sklearn.experimental.enable_iterative_imputer  # noqa: F401
    from sklearn.utils import all_estimators

    found = {name: made for name, made in all_estimators(type_filter=kind) if name not in LEFT_OUT}
    if kind == "transformer":  # not models that can also transform, which are counted as models
        found = {
            name: made
            for name, made in found.items()
            if not callable(getattr(made, "predict", None)) or name in ALSO_TRANSFORM
        }
    return found


ALSO_TRANSFORM = (
    "BisectingKMeans",
    "Birch",
    "FeatureAgglomeration",
    "KMeans",
    "LinearDiscriminantAnalysis",
    "MiniBatchKMeans",
    "PLSRegression",
)


def fit_model(one: CountedModel, rows: FittingRows) -> Any:
    """The fitted pipeline, or the model itself where it takes words."""
    target = rows.labels if one.decides else rows.amounts
    if one.part == "boosters":
        try:
            return BOOSTERS[one.name](rows, target)
        except (ValueError, TypeError) as error:
            raise CannotBeFitted(f"{type(error).__name__}: {error}") from error
    failure: Exception | None = None
    for prepare in PREPARATIONS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return _pipeline(one, prepare, rows).fit(rows.X, target)
        except (ValueError, TypeError, IndexError) as error:
            failure = failure or error
    raise CannotBeFitted(f"{type(failure).__name__}: {failure}") from failure


class CannotBeFitted(Exception):
    """It is nobody's model."""


def _pipeline(one: CountedModel, prepare: Callable[[], tuple[Any, Any]], rows: FittingRows) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline

    of_words, of_numbers = prepare()
    steps: list[Any] = []
    if one.part == "transformers":
        transformer = _made(_sklearn_classes("transformer")[one.name])
        model = _made(_sklearn_classes("classifier")[one.behind])
        if one.name in ENCODERS:
            of_words = transformer
        elif one.name in OF_NUMBERS:
            of_numbers = transformer
        else:
            steps.append(transformer)
    else:
        model = _made(_sklearn_classes(one.part[:-1])[one.name])
    parts = [("words", of_words, rows.words), ("numbers", of_numbers, rows.numbers)]
    columns = ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0)
    return make_pipeline(columns, *steps, model)


def _standard() -> tuple[Any, Any]:
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    return OneHotEncoder(), StandardScaler()


def _between_0_and_1() -> tuple[Any, Any]:
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

    return OneHotEncoder(), MinMaxScaler()


def _whole() -> tuple[Any, Any]:
    from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder

    return OrdinalEncoder(), KBinsDiscretizer(encode="ordinal", quantile_method="averaged_inverted_cdf")


PREPARATIONS = (_standard, _between_0_and_1, _whole)


def _made(kind: Any) -> Any:
    """An estimator with default settings; what it has to hold is common."""
    import inspect

    settings: dict[str, Any] = {}
    known = inspect.signature(kind.__init__).parameters
    if "random_state" in known:
        settings["random_state"] = 0
    if "estimators" in known:
        settings["estimators"] = _three(kind.__name__)
    elif "estimator" in known and (
        known["estimator"].default is inspect.Parameter.empty or kind.__name__ == "SelfTrainingClassifier"
    ):
        settings["estimator"] = _three(kind.__name__)[0][1]
    elif "base_estimator" in known and known["base_estimator"].default is inspect.Parameter.empty:
        settings["base_estimator"] = _three(kind.__name__)[0][1]
    if "transformer_list" in known:
        settings["transformer_list"] = []
    return kind(**settings)


def _three(name: str) -> list[tuple[str, Any]]:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.naive_bayes import GaussianNB
    from sklearn.svm import SVR
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if name.endswith("Regressor"):
        return [("linear", Ridge()), ("tree", DecisionTreeRegressor(random_state=0)), ("kernel", SVR())]
    tree = DecisionTreeClassifier(random_state=0)
    return [("linear", LogisticRegression()), ("tree", tree), ("bayes", GaussianNB())]


# -- boosting libraries -----------------------------------------------------------------------------------


def _categories(rows: FittingRows) -> Any:
    return rows.X.astype(dict.fromkeys(rows.words, "category"))


def _coded(make: Callable[[], Any]) -> Callable[[FittingRows, Any], Any]:
    """Behind an encoder, as in a pipeline."""

    def fit(rows: FittingRows, target: Any) -> Any:
        from sklearn.compose import make_column_transformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OrdinalEncoder

        columns = make_column_transformer((OrdinalEncoder(), rows.words), remainder="passthrough")
        return make_pipeline(columns, make()).fit(rows.X, _numbered(target))

    return fit


def _numbered(target: Any) -> Any:
    """Labels as whole numbers, which some of these libraries ask for."""
    values = np.asarray(target)
    return values if values.dtype.kind == "f" else np.unique(values, return_inverse=True)[1]


def _xgboost(name: str, **settings: Any) -> Any:
    import xgboost

    return getattr(xgboost, name)(n_jobs=1, **settings)


def _lightgbm(name: str) -> Any:
    import lightgbm

    return getattr(lightgbm, name)(n_jobs=1, verbose=-1)


def _catboost(name: str) -> Any:
    catboost = importlib.import_module("catboost")
    return getattr(catboost, name)(verbose=0, thread_count=1, allow_writing_files=False, random_seed=0)


def _interpret(name: str) -> Any:
    glassbox = importlib.import_module("interpret.glassbox")
    return getattr(glassbox, name)(n_jobs=1, random_state=0)


def _on_categories(make: Callable[[], Any]) -> Callable[[FittingRows, Any], Any]:
    return lambda rows, target: make().fit(_categories(rows), _numbered(target))


def _on_words(make: Callable[[], Any]) -> Callable[[FittingRows, Any], Any]:
    return lambda rows, target: make().fit(rows.X, _numbered(target))


def _on_catboost_words(make: Callable[[], Any]) -> Callable[[FittingRows, Any], Any]:
    return lambda rows, target: make().fit(rows.X, _numbered(target), cat_features=rows.words)


BOOSTERS: dict[str, Callable[[FittingRows, Any], Any]] = {
    "XGBClassifier": _coded(lambda: _xgboost("XGBClassifier")),
    "XGBClassifier, own categories": _on_categories(
        lambda: _xgboost("XGBClassifier", enable_categorical=True)
    ),
    "XGBRFClassifier": _coded(lambda: _xgboost("XGBRFClassifier")),
    "XGBRegressor": _coded(lambda: _xgboost("XGBRegressor")),
    "LGBMClassifier": _coded(lambda: _lightgbm("LGBMClassifier")),
    "LGBMClassifier, own categories": _on_categories(lambda: _lightgbm("LGBMClassifier")),
    "LGBMRegressor": _coded(lambda: _lightgbm("LGBMRegressor")),
    "CatBoostClassifier": _coded(lambda: _catboost("CatBoostClassifier")),
    "CatBoostClassifier, own categories": _on_catboost_words(lambda: _catboost("CatBoostClassifier")),
    "CatBoostRegressor": _coded(lambda: _catboost("CatBoostRegressor")),
    "ExplainableBoostingClassifier": _on_words(lambda: _interpret("ExplainableBoostingClassifier")),
    "ExplainableBoostingRegressor": _on_words(lambda: _interpret("ExplainableBoostingRegressor")),
}
