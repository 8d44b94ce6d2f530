"""Estimators: small models of every family behind random pipelines, fitted on people of a population.

A *family* is a name, what it predicts ("two" classes, "three", "five", a "number") and the estimator. `planted` ones have parameters of few
binary digits, so that on whole numbers the program rounds nothing at all and ties are ties.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.fuzz.choices import Choices, chance, generator, one_of
from tests.fuzz.populations import Attribute, Population
from xgboost import XGBClassifier, XGBRegressor

ROWS = 60
LABELS = (("no", "yes", "perhaps"), (0, 1, 2), (1, 2, 5))


@dataclass(frozen=True)
class Family:
    """`kind` says what may stand in front of it and beside it: "linear", "kernel" (rbf, polynomial, networks), "trees", "boosters", "sums" (of several families, or of one-feature terms)."""

    name: str
    predicts: str
    kind: str
    make: Callable[[Choices], Any]
    scored: bool = True  # whether its score is its decision function, or the prediction


def _kernel(made: Callable[..., Any], **more: Any) -> Callable[[Choices], Any]:
    def make(choices: Choices) -> Any:
        kernel = one_of(choices, ("rbf", "poly", "poly", "linear"))
        options = {"kernel": kernel, "gamma": one_of(choices, (0.25, 0.5, 0.1)), **more}
        if kernel == "poly":
            options |= {"degree": one_of(choices, (2, 3)), "coef0": one_of(choices, (1, 0, 0.5))}
        if made is not KernelRidge and made is not NuSVC:
            options["C"] = one_of(choices, (1, 0.1, 10))
        return made(**options)

    return make


def _trees(made: Callable[..., Any], **more: Any) -> Callable[[Choices], Any]:
    def make(choices: Choices) -> Any:
        seed, depth = choices.whole(0, 99), choices.whole(1, 4)
        return made(max_depth=depth, random_state=seed, **more)

    return make


def _several(made: Callable[..., Any], **more: Any) -> Callable[[Choices], Any]:
    def make(choices: Choices) -> Any:
        seed, depth, count = choices.whole(0, 99), choices.whole(1, 3), choices.whole(1, 6)
        return made(n_estimators=count, max_depth=depth, random_state=seed, **more)

    return make


def _histograms(made: Callable[..., Any]) -> Callable[[Choices], Any]:
    return lambda choices: made(
        max_iter=choices.whole(1, 5), min_samples_leaf=3, max_leaf_nodes=choices.whole(2, 6)
    )


def _ada(choices: Choices) -> Any:
    stump = DecisionTreeClassifier(max_depth=choices.whole(1, 2), random_state=choices.whole(0, 99))
    return AdaBoostClassifier(stump, n_estimators=choices.whole(1, 5), random_state=0)


def _logistic(choices: Choices) -> Any:
    return LogisticRegression(C=one_of(choices, (1.0, 0.1, 10.0)), max_iter=300)


def _sgd(choices: Choices) -> Any:
    loss = one_of(choices, ("log_loss", "hinge", "modified_huber"))
    return SGDClassifier(loss=loss, max_iter=20, tol=None, random_state=0)


def _linear_svc(choices: Choices) -> Any:
    return LinearSVC(C=one_of(choices, (1.0, 0.1)), random_state=0, max_iter=200)


def _perceptron(made: Callable[..., Any]) -> Callable[[Choices], Any]:
    def make(choices: Choices) -> Any:
        sizes = one_of(choices, ((3,), (4, 2), (2, 2, 2)))
        activation = one_of(choices, ("relu", "relu", "tanh", "logistic", "identity"))
        return made(
            hidden_layer_sizes=sizes,
            activation=activation,
            max_iter=60,
            learning_rate_init=0.05,
            random_state=0,
        )

    return make


def _one_vs_rest(choices: Choices) -> Any:
    inside = one_of(choices, (_logistic, _linear_svc, _kernel(SVC)))(choices)
    return OneVsRestClassifier(inside)


def _members(choices: Choices, *, numbers: bool) -> list[Any]:
    """Two or three models of several families, named."""
    if numbers:
        every = (Ridge, lambda: DecisionTreeRegressor(max_depth=2, random_state=0), lambda: SVR(gamma=0.25))
    else:
        tree = lambda: DecisionTreeClassifier(max_depth=2, random_state=0)  # noqa: E731
        every = (lambda: _logistic(choices), tree, GaussianNB)
    kept = [make() for make in every if chance(choices, 75)]
    return [(f"m{k}", one) for k, one in enumerate(kept or [every[0]()])]


def _voting(choices: Choices) -> Any:
    return VotingClassifier(
        _members(choices, numbers=False), voting=one_of(choices, ("soft", "soft", "hard"))
    )


def _voting_number(choices: Choices) -> Any:
    return VotingRegressor(_members(choices, numbers=True))


def _stacking(choices: Choices) -> Any:
    return StackingClassifier(_members(choices, numbers=False), LogisticRegression(), cv=2)


def _stacking_number(choices: Choices) -> Any:
    return StackingRegressor(_members(choices, numbers=True), Ridge(), cv=2)


def _bagging(choices: Choices) -> Any:
    inside = one_of(choices, (_logistic, _trees(DecisionTreeClassifier)))(choices)
    return BaggingClassifier(inside, n_estimators=choices.whole(1, 4), random_state=0)


def _bagging_number(choices: Choices) -> Any:
    inside = one_of(choices, (lambda c: Ridge(), _trees(DecisionTreeRegressor)))(choices)
    return BaggingRegressor(inside, n_estimators=choices.whole(1, 4), random_state=0)


def _calibrated(choices: Choices) -> Any:
    inside = one_of(choices, (_logistic, _linear_svc, _several(RandomForestClassifier)))(choices)
    method = one_of(choices, ("sigmoid", "isotonic"))
    return CalibratedClassifierCV(inside, method=method, cv=2, ensemble=chance(choices, 60))


def _thresholded(choices: Choices) -> Any:
    inside = one_of(choices, (_logistic, _several(RandomForestClassifier)))(choices)
    threshold = one_of(choices, (0.2, 0.4, 0.35, 0.5, 0.7, choices.whole(1, 99) / 100))
    return FixedThresholdClassifier(inside, threshold=threshold, response_method="predict_proba")


def _pairwise(choices: Choices) -> Any:
    inside = one_of(choices, (_logistic, _linear_svc))(choices)
    return one_of(choices, (OneVsOneClassifier, lambda one: OutputCodeClassifier(one, random_state=0)))(
        inside
    )


def _discriminant(choices: Choices) -> Any:
    return one_of(choices, (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(reg_param=0.2)))


def _naive(choices: Choices) -> Any:
    return one_of(choices, (GaussianNB(), GaussianNB(var_smoothing=0.1), BernoulliNB(binarize=0.5)))


def _process(made: Callable[..., Any], **more: Any) -> Callable[[Choices], Any]:
    def make(choices: Choices) -> Any:
        kernel = RBF(one_of(choices, (1.0, 2.0, 0.5)))
        return made(kernel, optimizer=None, random_state=0, **more)

    return make


def _landmarks(choices: Choices) -> Any:
    gamma = one_of(choices, (0.1, 0.5))
    return make_pipeline(Nystroem(gamma=gamma, n_components=12, random_state=0), _logistic(choices))


XGBOOST = {"n_jobs": 1, "tree_method": "hist", "min_child_weight": 0}
LIGHTGBM = {"n_jobs": 1, "min_child_samples": 3, "verbose": -1, "min_data_per_group": 2}

FAMILIES = (
    Family("logistic", "two", "linear", _logistic),
    Family("linear-svc", "two", "linear", _linear_svc),
    Family("sgd", "two", "linear", _sgd),
    Family("ridge-classifier", "two", "linear", lambda choices: RidgeClassifier()),
    Family("ridge", "number", "linear", lambda choices: Ridge()),
    Family("least-squares", "number", "linear", lambda choices: LinearRegression()),
    Family("lasso", "number", "linear", lambda choices: Lasso(alpha=0.1)),
    Family("multinomial", "three", "linear", _logistic),
    Family("one-vs-rest", "three", "linear", _one_vs_rest),
    Family("linear-svc-3", "three", "linear", _linear_svc),
    Family("svc", "two", "kernel", _kernel(SVC)),
    Family("nusvc", "two", "kernel", _kernel(NuSVC, nu=0.3)),
    Family("svr", "number", "kernel", _kernel(SVR)),
    Family("kernel-ridge", "number", "kernel", _kernel(KernelRidge)),
    Family("svc-3", "three", "kernel", _kernel(SVC)),
    Family("svc-5", "five", "kernel", _kernel(SVC)),
    Family("perceptron", "two", "kernel", _perceptron(MLPClassifier)),
    Family("perceptron-number", "number", "kernel", _perceptron(MLPRegressor)),
    Family("perceptron-3", "three", "kernel", _perceptron(MLPClassifier)),
    Family("tree", "two", "trees", _trees(DecisionTreeClassifier)),
    Family("tree-number", "number", "trees", _trees(DecisionTreeRegressor)),
    Family("tree-3", "three", "trees", _trees(DecisionTreeClassifier)),
    Family("forest", "two", "trees", _several(RandomForestClassifier)),
    Family("forest-number", "number", "trees", _several(RandomForestRegressor)),
    Family("forest-3", "three", "trees", _several(RandomForestClassifier)),
    Family("extra-trees", "two", "trees", _several(ExtraTreesClassifier)),
    Family("extra-trees-number", "number", "trees", _several(ExtraTreesRegressor)),
    Family("boosting", "two", "trees", _several(GradientBoostingClassifier)),
    Family("boosting-number", "number", "trees", _several(GradientBoostingRegressor)),
    Family("boosting-3", "three", "trees", _several(GradientBoostingClassifier)),
    Family("adaboost", "two", "trees", _ada),
    Family("adaboost-3", "three", "trees", _ada),
    Family("histograms", "two", "boosters", _histograms(HistGradientBoostingClassifier)),
    Family("histograms-number", "number", "boosters", _histograms(HistGradientBoostingRegressor)),
    Family("histograms-3", "three", "boosters", _histograms(HistGradientBoostingClassifier)),
    Family("xgboost", "two", "boosters", _several(XGBClassifier, **XGBOOST)),
    Family("xgboost-number", "number", "boosters", _several(XGBRegressor, **XGBOOST)),
    Family("xgboost-3", "three", "boosters", _several(XGBClassifier, **XGBOOST)),
    Family("lightgbm", "two", "boosters", _several(LGBMClassifier, **LIGHTGBM)),
    Family("lightgbm-number", "number", "boosters", _several(LGBMRegressor, **LIGHTGBM)),
    Family("lightgbm-3", "three", "boosters", _several(LGBMClassifier, **LIGHTGBM)),
    Family("naive-bayes", "two", "sums", _naive, scored=False),
    Family("naive-bayes-3", "three", "sums", _naive, scored=False),
    Family("discriminant", "two", "sums", _discriminant, scored=False),
    Family("discriminant-3", "three", "sums", _discriminant, scored=False),
    Family("centroids", "two", "sums", lambda choices: NearestCentroid(), scored=False),
    Family("centroids-3", "three", "sums", lambda choices: NearestCentroid(), scored=False),
    Family("process", "two", "kernel", _process(GaussianProcessClassifier), scored=False),
    Family("process-number", "number", "kernel", _process(GaussianProcessRegressor, alpha=0.1)),
    Family("landmarks", "two", "kernel", _landmarks, scored=False),
    Family("voting", "two", "sums", _voting, scored=False),
    Family("voting-3", "three", "sums", _voting, scored=False),
    Family("voting-number", "number", "sums", _voting_number),
    Family("stacking", "two", "sums", _stacking, scored=False),
    Family("stacking-number", "number", "sums", _stacking_number),
    Family("bagging", "two", "sums", _bagging, scored=False),
    Family("bagging-number", "number", "sums", _bagging_number),
    Family("calibrated", "two", "sums", _calibrated, scored=False),
    Family("thresholded", "two", "sums", _thresholded, scored=False),
    Family("pairwise", "two", "linear", _pairwise, scored=False),
    Family("pairwise-3", "three", "linear", _pairwise, scored=False),
    Family("planted-logistic", "two", "planted", _logistic),
    Family("planted-least-squares", "number", "planted", lambda choices: LinearRegression()),
    Family("planted-svc", "two", "planted", lambda choices: SVC(kernel="linear")),
    Family("planted-polynomial", "two", "planted", lambda choices: SVC(kernel="poly", degree=one_of(choices, (2, 3)), gamma=1, coef0=one_of(choices, (1, 0)))),
    Family("planted-svr", "number", "planted", lambda choices: SVR(kernel="poly", degree=one_of(choices, (2, 3)), gamma=1, coef0=one_of(choices, (1, 0)))),
    Family("planted-kernel-ridge", "number", "planted", lambda choices: KernelRidge(kernel="poly", degree=one_of(choices, (2, 3)), gamma=1, coef0=one_of(choices, (1, 0)))),
)  # fmt: skip


# -- people to fit on ------------------------------------------------------------------------------------


def rows_and_targets(choices: Choices, population: Population, predicts: str) -> tuple[list[Any], Any]:
    """People who take every feature through its values, and labels or numbers that lean on all of them."""
    random = generator(choices)
    people = population.people
    taken = [people[i] for i in random.integers(0, len(people), ROWS)]
    for k, attribute in enumerate(population.attributes):
        for value in attribute.all_values:
            having = [p for p in people if p[k] == value]
            if having:
                taken.append(having[random.integers(len(having))])
    score = random.normal(0, 0.6, len(taken))
    for k, attribute in enumerate(population.attributes):
        worth = dict(zip(attribute.all_values, random.normal(size=len(attribute.all_values)), strict=True))
        slope = random.normal()
        score += [worth[p[k]] + slope * attribute.all_values.index(p[k]) / len(worth) for p in taken]
    if predicts == "number":
        return taken, np.round(score, 3)
    classes = {"two": 2, "three": 3, "five": 5}[predicts]
    places = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    labels = range(classes) if predicts == "five" else one_of(choices, LABELS)[:classes]
    return taken, np.array(labels)[places]


# -- pipelines -------------------------------------------------------------------------------------------


def fitted(choices: Choices, family: Family, population: Population, rows: Any, targets: Any) -> Any:
    """The family's estimator behind a random pipeline that it can take, fitted."""
    if family.kind == "planted":
        return planted(choices, family, population)
    final, frame = family.make(choices), population.given(rows)
    if family.name.startswith("xgboost"):
        places = {label: k for k, label in enumerate(np.unique(targets))}
        targets = targets if family.predicts == "number" else np.array([places[t] for t in targets])
    native = any(a.dtype == "category" for a in population.attributes) and population.container == "pandas"
    steps: list[Any] = []
    if family.kind == "boosters" and _takes_as_it_is(choices, population):
        if native and family.name.startswith("xgboost"):
            final.set_params(enable_categorical=True)
    else:
        steps = _steps(choices, family, population)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(*steps, final) if steps else final
        return model.fit(frame, targets)


def _takes_as_it_is(choices: Choices, population: Population) -> bool:
    """Boosters know missing values and pandas categories."""
    plain = all(
        a.numeric or a.dtype == "bool" or (a.dtype == "category" and population.container == "pandas")
        for a in population.attributes
    )
    gone = any(a.missing and a.dtype == "bool" for a in population.attributes)
    return plain and not gone and chance(choices, 70)


def _steps(choices: Choices, family: Family, population: Population) -> list[Any]:
    plain = all(a.numeric and not a.missing for a in population.attributes)
    steps: list[Any] = []
    if plain and chance(choices, 40):
        steps = [one_of(choices, (StandardScaler, MinMaxScaler, RobustScaler))()] * chance(choices, 60)
    else:
        columns = [
            (a.name, _transformer(choices, family, a), [k if population.container == "array" else a.name])
            for k, a in enumerate(population.attributes)
            if not chance(choices, 4) or k == len(population.attributes) - 1
        ]
        dense = family.name.startswith("histograms")
        steps = [ColumnTransformer(columns, sparse_threshold=0 if dense else one_of(choices, (0, 0.3)))]
    if family.kind == "linear" and family.name != "one-vs-rest" and chance(choices, 15):
        steps.append(PolynomialFeatures(2, include_bias=False, interaction_only=chance(choices, 50)))
    if chance(choices, 12):
        steps.append(one_of(choices, (VarianceThreshold, lambda: SelectKBest(k=2)))())
    return steps


def _transformer(choices: Choices, family: Family, attribute: Attribute) -> Any:
    if not attribute.numeric or (attribute.kind == "categorical" and chance(choices, 60)):
        return _encoder(choices, attribute)
    first = [_imputer(choices)] if attribute.missing else []
    options: list[Any] = ["passthrough", StandardScaler(), MinMaxScaler(), RobustScaler(), MaxAbsScaler()]
    if attribute.kind != "continuous":
        encode = one_of(choices, ("onehot", "ordinal", "onehot-dense"))
        options += [KBinsDiscretizer(2, encode=encode, strategy="uniform"), SplineTransformer(n_knots=3)]
        if min(attribute.values) >= 0:
            options.append(FunctionTransformer(np.log1p))
    taken = one_of(choices, options)
    if not first:
        return taken
    return make_pipeline(*first, *([] if taken == "passthrough" else [taken]))


def _imputer(choices: Choices) -> Any:
    strategy = one_of(choices, ("mean", "median", "most_frequent", "constant"))
    return SimpleImputer(strategy=strategy, add_indicator=chance(choices, 30))


def _encoder(choices: Choices, attribute: Attribute) -> Any:
    if attribute.kind == "ordinal" and chance(choices, 50):
        return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    dropped = one_of(choices, (None, "first", "if_binary"))
    unknown = one_of(choices, ("error", "ignore", "infrequent_if_exist"))
    rare = one_of(choices, (None, None, 5))
    return OneHotEncoder(drop=dropped, handle_unknown=unknown, min_frequency=rare)


# -- parameters of few digits ------------------------------------------------------------------------------


def planted(choices: Choices, family: Family, population: Population) -> Any:
    """Fitted on two rows, then given weights or support vectors that make every score a short binary fraction."""
    final = family.make(choices)
    width = len(population.attributes)
    rows = np.vstack([np.zeros(width), np.ones(width)])
    frame = rows if population.container == "array" else population.frame(population.people[:2]).astype(float)
    if population.container != "array":
        frame = frame * 0 + rows
    final.fit(frame, [0, 1] if family.predicts == "two" else [0.0, 1.0])
    weights = [one_of(choices, (1.0, -1.0, 0.5, 2.0, -0.25, 0.0)) for _ in range(width)]
    bias = one_of(choices, (0.0, 0.5, -1.0, 0.25, -20.0))
    if isinstance(final, LogisticRegression):
        final.coef_, final.intercept_ = np.array([weights]), np.array([bias])
    elif isinstance(final, LinearRegression):
        final.coef_, final.intercept_ = np.array(weights), bias
    elif isinstance(final, KernelRidge):
        vectors = _vectors(choices, width, 3)
        final.X_fit_, final.dual_coef_ = (
            vectors,
            np.array([one_of(choices, (0.5, -0.25, 1.0)) for _ in range(3)]),
        )
    else:
        final.support_vectors_ = _vectors(choices, width, len(final.support_vectors_))
        dual = np.array([[one_of(choices, (0.5, -0.25, 1.0)) for _ in range(final.dual_coef_.shape[1])]])
        final.dual_coef_, final.intercept_ = dual, np.array([bias])
        sign = -1 if isinstance(final, SVC) else 1
        final._dual_coef_, final._intercept_ = sign * dual, sign * final.intercept_
    return final


def _vectors(choices: Choices, width: int, count: int) -> Any:
    return np.array([[float(choices.whole(-2, 2)) for _ in range(width)] for _ in range(count)])
