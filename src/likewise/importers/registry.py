"""Registry: what reads an estimator, by the package and the name of its class. A reader's module is loaded when an estimator of its package is handed over.

    SCORERS   models of one body a score, over the columns that reach them: `(estimator, columns) -> Unjoined`
    GROWERS   ensembles of trees: `(estimator) -> GrownModel`

Packages are those that define the class (`sklearn.svm`, not `sklearn`); a module is named with a table of its own classes. Of scikit-learn, trees must be its own
classes, not subclasses of them. Estimators that are read otherwise have a line of their own: those that hold others (`unfold`, `classes`, `settled`), and
Boosters, which come without scikit-learn's verbs (`boosters`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from likewise.errors import UnsupportedModel, suggest_name
from likewise.spec.numbers import short_repr

if TYPE_CHECKING:
    from likewise.importers.score_models import ScoreModels
    from likewise.importers.trees.tree_model import LibraryModel
    from likewise.model.embedding import Column

    ScoreReader = Callable[[Any, tuple[Column, ...]], ScoreModels]
    ForestReader = Callable[[Any], LibraryModel]


def _linear_readers() -> Mapping[str, ScoreReader]:
    from likewise.importers import sklearn_linear

    return dict.fromkeys(sklearn_linear.ESTIMATORS, sklearn_linear.import_linear)


def _kernel_readers() -> Mapping[str, ScoreReader]:
    from likewise.importers import sklearn_kernel

    return dict.fromkeys(sklearn_kernel.ESTIMATORS, sklearn_kernel.import_kernel)


def _machine_readers() -> Mapping[str, ScoreReader]:
    return {**_linear_readers(), **_kernel_readers()}


def _network() -> Mapping[str, ScoreReader]:
    from likewise.importers import sklearn_network

    return dict.fromkeys(sklearn_network.FAMILY, sklearn_network.import_network)


def _bayes_readers() -> Mapping[str, ScoreReader]:
    from likewise.importers import sklearn_bayes

    return dict.fromkeys(sklearn_bayes.ESTIMATORS, sklearn_bayes.import_bayes)


def _process_readers() -> Mapping[str, ScoreReader]:
    from likewise.importers import sklearn_gaussian_process as processes

    return dict.fromkeys(processes.ESTIMATORS, processes.import_gaussian_process)


def _statsmodels_readers() -> Mapping[str, ScoreReader]:
    from likewise.importers import statsmodels_results

    return {"FittedResults": statsmodels_results.import_results}


def _discriminant_readers() -> Mapping[str, ScoreReader]:
    from likewise.importers import sklearn_discriminants

    quadratic = dict.fromkeys(sklearn_discriminants.ESTIMATORS, sklearn_discriminants.import_discriminants)
    return {**_linear_readers(), **quadratic}


def _centroid_readers() -> Mapping[str, ScoreReader]:
    from likewise.importers import sklearn_centroids

    return {sklearn_centroids.NEAREST: sklearn_centroids.import_centroids}


def _dummy_readers() -> Mapping[str, ScoreReader]:
    from likewise.importers import sklearn_dummy

    return dict.fromkeys(sklearn_dummy.ESTIMATORS, sklearn_dummy.import_dummy)


def _tree_readers() -> Mapping[str, ForestReader]:
    from likewise.importers.trees import hist_boosting, sklearn_trees

    return {**sklearn_trees.READERS, **hist_boosting.READERS}


def _xgboost_readers() -> Mapping[str, ForestReader]:
    from likewise.importers.boosters import XGBOOST

    return XGBOOST


def _lightgbm_readers() -> Mapping[str, ForestReader]:
    from likewise.importers.boosters import LIGHTGBM

    return LIGHTGBM


def _catboost_readers() -> Mapping[str, ForestReader]:
    from likewise.importers.catboost.reading import READERS

    return READERS


def _saved_catboost_readers() -> Mapping[str, ForestReader]:
    from likewise.importers.catboost.reading import SAVED_READERS as READERS

    return READERS


def _explainable_readers() -> Mapping[str, ForestReader]:
    from likewise.importers.trees import explainable_boosting

    return explainable_boosting.READERS


def _saved_xgboost_readers() -> Mapping[str, ForestReader]:
    from likewise.importers.boosters import SAVED_XGBOOST

    return SAVED_XGBOOST


def _graph_tree_readers() -> Mapping[str, ForestReader]:
    from likewise.importers.onnx.classical_scores import import_graph_trees

    return {"TreesModel": import_graph_trees}


def _saved_lightgbm_readers() -> Mapping[str, ForestReader]:
    from likewise.importers.boosters import SAVED_LIGHTGBM

    return SAVED_LIGHTGBM


Reader = TypeVar("Reader")
NAIVE_BAYES = "sklearn.naive_bayes"
STATSMODELS_RESULTS = "likewise.importers.statsmodels_results"
SCORE_READERS: dict[str, Callable[[], Mapping[str, ScoreReader]]] = {
    "sklearn.linear_model": _linear_readers,
    "sklearn.cross_decomposition": _linear_readers,
    "sklearn.discriminant_analysis": _discriminant_readers,
    "sklearn.svm": _machine_readers,
    "sklearn.kernel_ridge": _kernel_readers,
    "sklearn.neural_network": _network,
    "sklearn.dummy": _dummy_readers,
    "sklearn.neighbors": _centroid_readers,
    NAIVE_BAYES: _bayes_readers,
    "sklearn.gaussian_process": _process_readers,
    STATSMODELS_RESULTS: _statsmodels_readers,
}
FOREST_READERS: dict[str, Callable[[], Mapping[str, ForestReader]]] = {
    "sklearn.tree": _tree_readers,
    "sklearn.ensemble": _tree_readers,
    "imblearn.ensemble": _tree_readers,
    "xgboost": _xgboost_readers,
    "lightgbm": _lightgbm_readers,
    "catboost": _catboost_readers,
    "interpret": _explainable_readers,
}
SAVED_READERS: dict[
    str, Callable[[], Mapping[str, ForestReader]]
] = {  # what was made of a Booster, or of a file
    "likewise.importers.xgboost": _saved_xgboost_readers,
    "likewise.importers.lightgbm": _saved_lightgbm_readers,
    "likewise.importers.catboost": _saved_catboost_readers,
    "likewise.importers.onnx.classical_models": _graph_tree_readers,
}
CLASSICAL_GRAPHS = "likewise.importers.onnx.classical_models"
ENCODED_MODEL = "likewise.importers.get_dummies.EncodedModel"
THRESHOLDED_MODEL = "likewise.importers.thresholded.ThresholdedModel"
TRACING_STEPS = (  # that say themselves what their columns are
    "likewise.importers.onnx.column_tracing",
    "likewise.importers.get_dummies",
    STATSMODELS_RESULTS,
)
NETWORK_FILES = (
    "likewise.importers.onnx.answers",
    "likewise.importers.onnx.fronted_networks",
    "likewise.importers.layer_files.torch_modules",
)
TORCH_MODULE = "torch.nn.modules.module.Module"
ONE_VS_REST = "OneVsRestClassifier"
ENSEMBLES = (
    *("VotingClassifier", "VotingRegressor", "BaggingClassifier", "BaggingRegressor", "AdaBoostClassifier"),
    *("StackingClassifier", "StackingRegressor", "CalibratedClassifierCV"),
    *("OneVsOneClassifier", "OutputCodeClassifier"),
)
MEDIAN = "AdaBoostRegressor"
RESAMPLING = "imblearn"
RESAMPLED = {  # classes of imbalanced-learn, which draw other rows to fit on and predict as what they are derived from
    "Pipeline": "Pipeline",
    "BalancedRandomForestClassifier": "RandomForestClassifier",
    "BalancedBaggingClassifier": "BaggingClassifier",
    "EasyEnsembleClassifier": "BaggingClassifier",
    "RUSBoostClassifier": "AdaBoostClassifier",
}
SETTLED_CLASSES = ("SettledClassifier", "SettledRegressor")


def find_score_reader(estimator: Any) -> ScoreReader:
    """What reads the scores of an estimator; refuses one that nothing reads, by its name."""
    kind = type(estimator)
    if isinstance(estimator, type):
        raise UnsupportedModel(
            f"{kind.__name__} {estimator.__name__} is a class, not a fitted model",
            hint=f"pass the object that fit() returned: {estimator.__name__}(...).fit(X, y)",
        )
    found = _find_reader(SCORE_READERS, estimator)
    if found is None:
        _refuse(estimator)
    return found


def find_forest_reader(estimator: Any) -> ForestReader | None:
    """What reads an ensemble of trees, None if this is none that is known."""
    if library_name(estimator) in ("sklearn", RESAMPLING) and not is_sklearn_class(estimator):
        return None
    if is_ensemble(estimator) and not _holds_single_trees(estimator):
        return None
    return _find_reader({**FOREST_READERS, **SAVED_READERS}, estimator)


def is_ensemble(estimator: Any) -> bool:
    """Whether this adds up what other estimators say (`ensembles`), or compares it as it is (`multiclass_members`)."""
    if is_one_vs_rest(estimator) and is_sklearn_class(estimator):
        return _compares_members(estimator)
    return is_sklearn_class(estimator) and class_name(estimator) in ENSEMBLES


def _compares_members(estimator: Any) -> bool:
    """Whether the classifiers of all classes are trees, or show no score: others are read as the scores of one model."""
    inside: Any = next(iter(getattr(estimator, "estimators_", ())), None)
    while type(inside).__name__ == "Pipeline":
        inside = inside.steps[-1][1]
    return inside is not None and (
        find_forest_reader(inside) is not None
        or is_ensemble(inside)
        or (hasattr(inside, "predict_proba") and not hasattr(inside, "decision_function"))
    )


def is_median(estimator: Any) -> bool:
    """Whether this predicts the median of what single trees say."""
    return (
        is_sklearn_class(estimator)
        and type(estimator).__name__ == MEDIAN
        and hasattr(estimator, "estimators_")
        and _holds_single_trees(estimator)
    )


def check_known(estimator: Any) -> None:
    """Refuse what is not read at all."""
    if not (
        is_settled(estimator)
        or is_one_vs_rest(estimator)
        or is_median(estimator)
        or is_network_file(estimator)
        or is_classical_graph(estimator)
    ):
        find_score_reader(estimator)


def library_name(estimator: Any) -> str:
    """The package that an estimator comes from."""
    return type(estimator).__module__.partition(".")[0]


def is_sklearn_class(estimator: Any) -> bool:
    """Whether this is scikit-learn's own class, or one of imbalanced-learn that only fits otherwise; not a subclass or something of the same name."""
    kind, library = type(estimator), library_name(estimator)
    if library != "sklearn" and not (library == RESAMPLING and kind.__name__ in RESAMPLED):
        return False
    return is_own_class(estimator)


def is_own_class(estimator: Any) -> bool:
    """Whether the module of its class has that class by its name: no class inside of another one, and none that was made up since."""
    kind = type(estimator)
    return getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind


def class_name(estimator: Any) -> str:
    """The name of scikit-learn's class that predicts as this one does."""
    name = type(estimator).__name__
    return RESAMPLED.get(name, name) if library_name(estimator) == RESAMPLING else name


def is_sampler(pipeline: Any, step: Any) -> bool:
    """Whether this step of a pipeline of imbalanced-learn is passed over by whatever predicts."""
    return library_name(pipeline) == RESAMPLING and hasattr(step, "fit_resample")


def takes_mixes(estimator: Any) -> bool:
    """Whether this is a network, whose first layer takes in what mixes columns in front of it."""
    return _defining_package({"sklearn.neural_network": None}, estimator) is not None


def is_naive_bayes(estimator: Any) -> bool:
    """Whether this is a naive Bayes model."""
    return _defining_package({NAIVE_BAYES: None}, estimator) is not None


def is_statsmodels_result(estimator: Any) -> bool:
    """Whether these are fitted results of statsmodels, as they come."""
    return library_name(estimator) == "statsmodels" and hasattr(estimator, "params")


def is_formula(transformer: Any) -> bool:
    """Whether this makes the columns of a formula of statsmodels."""
    return type(transformer).__module__ == STATSMODELS_RESULTS


def implied_steps(estimator: Any) -> tuple[tuple[str, Any], ...]:
    """What a model does to its columns before it scores them, as transformers."""
    if is_naive_bayes(estimator):
        from likewise.importers import sklearn_bayes

        return sklearn_bayes.implied_steps(estimator)
    if _defining_package({STATSMODELS_RESULTS: None}, estimator) is not None:
        steps: tuple[tuple[str, Any], ...] = estimator.steps
        return steps
    return ()


def is_one_vs_rest(estimator: Any) -> bool:
    """Whether this holds a classifier a class."""
    return library_name(estimator) == "sklearn" and type(estimator).__name__ == ONE_VS_REST


def is_settled(estimator: Any) -> bool:
    """Whether this is one of the settled estimators themselves."""
    kind = type(estimator)
    return kind.__module__ == "likewise.repaired.estimators" and kind.__name__ in SETTLED_CLASSES


def is_network_file(estimator: Any) -> bool:
    """Whether this is the network of a file, or was made of a module of PyTorch."""
    return type(estimator).__module__ in NETWORK_FILES


def is_classical_graph(estimator: Any) -> bool:
    """Whether this is a classical model of an ONNX file."""
    return type(estimator).__module__ == CLASSICAL_GRAPHS


def traces_itself(transformer: Any) -> bool:
    """Whether this is a step of our own, which says what its columns are."""
    return type(transformer).__module__ in TRACING_STEPS


def is_encoded(estimator: Any) -> bool:
    """Whether this is a model behind the encoding of its rows (`get_dummies`)."""
    return _full_name(estimator) == ENCODED_MODEL


def is_thresholded(estimator: Any) -> bool:
    """Whether this is a model with the threshold that the user says (`thresholded`)."""
    return _full_name(estimator) == THRESHOLDED_MODEL


def is_black_box(estimator: Any) -> bool:
    """Whether this is a model that is to be asked only."""
    if is_thresholded(estimator):
        return is_black_box(estimator.estimator)
    return _full_name(estimator) == "likewise.importers.black_box.BlackBox"


def _full_name(estimator: Any) -> str:
    return f"{type(estimator).__module__}.{type(estimator).__name__}"


def is_torch_module(estimator: Any) -> bool:
    """Whether this is a module of PyTorch."""
    return any(f"{kind.__module__}.{kind.__name__}" == TORCH_MODULE for kind in type(estimator).__mro__)


def is_catboost_model(estimator: Any) -> bool:
    """Whether this is a model of CatBoost that is neither its classifier nor its regressor."""
    return library_name(estimator) == "catboost" and type(estimator).__name__ == "CatBoost"


def is_booster(estimator: Any) -> bool:
    """Whether this is a model of XGBoost or LightGBM, by whatever class."""
    return (
        library_name(estimator) in ("xgboost", "lightgbm")
        or _defining_package(SAVED_READERS, estimator) is not None
    )


def _holds_single_trees(estimator: Any) -> bool:
    """Whether all members are single trees, which are read together; so are members that are not fitted yet."""
    members = getattr(estimator, "estimators_", ())
    return all(type(one).__module__.startswith("sklearn.tree.") for one in members)


def _find_reader(rooms: Mapping[str, Callable[[], Mapping[str, Reader]]], estimator: Any) -> Reader | None:
    package = _defining_package(rooms, estimator)
    return None if package is None else rooms[package]().get(class_name(estimator))


def _defining_package(rooms: Mapping[str, Any], estimator: Any) -> str | None:
    """The package among these that defines the class of an estimator."""
    module = f"{type(estimator).__module__}."
    return next((package for package in rooms if module.startswith(f"{package}.")), None)


def _refuse(estimator: Any) -> NoReturn:
    if isinstance(estimator, str | os.PathLike):
        file = os.fspath(estimator)
        raise UnsupportedModel(
            f"text is not supported: a fitted model is needed, not {short_repr(file)}",
            hint=f"load a model's file first: {_loading_text(file)}",
        )
    kind = type(estimator)
    library = "" if kind.__module__ in ("builtins", "__main__") else f"{library_name(estimator)}'s "
    if not callable(getattr(estimator, "predict", None)):
        reason = _REFUSAL_REASONS.get(kind.__name__, "it has no predict")
        raise UnsupportedModel(
            f"{library}{kind.__name__} is not supported: {reason}",
            hint=f"pass the object that fit(X, y) returned; supported: {_examples_text()}",
        )
    raise UnsupportedModel(
        f"{library}{kind.__name__} is not supported{_refusal_reason(kind.__name__)}",
        hint=f"supported: {_examples_text()}",
    )


def _loading_text(file: str) -> str:
    """What opens a file of this name."""
    if file.lower().endswith((".skops", ".joblib", ".pkl", ".pickle")):
        return f"skops.io.load({short_repr(file)}), or joblib.load for pickles that you trust"
    if file.lower().endswith((".pt", ".pth")):
        return (
            f"torch.load({short_repr(file)}); an nn.Sequential is read as it is, other modules as .onnx files"
        )
    return f"likewise.importers.files.load_model({short_repr(file)})"


def _reader_names(rooms: Mapping[str, Callable[[], Mapping[str, Any]]]) -> set[str]:
    return {name for room in rooms.values() for name in room()}


# What people have, of every kind that is read.
EXAMPLES = {
    "linear models": ("LogisticRegression", "LinearSVC", "Ridge", "SGDClassifier", "LinearDiscriminantAnalysis"),
    "naive Bayes": ("GaussianNB", "CategoricalNB"),
    "kernel machines": ("SVC", "SVR", "KernelRidge", "GaussianProcessRegressor"),
    "trees": ("DecisionTreeClassifier", "RandomForestClassifier", "GradientBoostingClassifier", "HistGradientBoostingClassifier"),
    "networks": ("MLPClassifier", "MLPRegressor"),
    "boosters": ("XGBClassifier", "LGBMClassifier", "CatBoostClassifier", "ExplainableBoostingClassifier"),
}  # fmt: skip


def _examples_text() -> str:
    kinds = "; ".join(f"{kind} ({', '.join(names)}, ...)" for kind, names in EXAMPLES.items())
    return f"{kinds}; alone or behind a Pipeline; fitted results of statsmodels"


_REFUSAL_REASONS = {
    "ColumnTransformer": "it transforms columns and predicts nothing",
    "FeatureUnion": "it transforms columns and predicts nothing",
    "MultiOutputClassifier": "it gives several labels at once; verify its estimators_ one by one",
    "ClassifierChain": "it gives several labels at once; verify its estimators_ one by one",
    **dict.fromkeys(
        ("KNeighborsClassifier", "KNeighborsRegressor"),
        "it looks for the nearest of the rows that it was fitted on, and nothing here bounds who they are",
    ),
    **dict.fromkeys(
        ("LabelPropagation", "LabelSpreading"),
        "it weighs the rows that it was fitted on by distances, and divides by the sum of these weights",
    ),
    "RadiusNeighborsRegressor": "it looks for rows within a radius, and says nan where there are none: fitted with a radius that reaches somebody from everywhere it can be asked",
    "AdaBoostRegressor": "it predicts a weighted median of what is in it, which is supported over single trees once it is fitted",
    "RadiusNeighborsClassifier": "it compares distances, and fails where nobody is within the radius: fitted with outlier_label='most_frequent' it answers for everybody, and can be asked",
    "IsolationForest": "it detects outliers and has no labels",
    "RandomTreesEmbedding": "it transforms columns and predicts nothing",
    "SGDOneClassSVM": "it detects outliers and has no labels",
}


def _refusal_reason(name: str) -> str:
    trees = _reader_names(FOREST_READERS)
    if name in _REFUSAL_REASONS:
        return f": {_REFUSAL_REASONS[name]}"
    if name in trees:
        return " inside of another model: its trees are taken as they are, neither repaired nor one against the rest"
    return suggest_name(name, sorted(_reader_names(SCORE_READERS) | trees), beginnings=False)
