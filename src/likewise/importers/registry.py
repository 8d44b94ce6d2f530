"""Registry: what reads an estimator, by the package and the name of its class. A reader's module is loaded when an estimator of its package is handed over.

    SCORERS   models of one body a score, over the columns that reach them: `(estimator, columns) -> Unjoined`
    GROWERS   ensembles of trees: `(estimator) -> GrownModel`

Packages are those that define the class (`sklearn.svm`, not `sklearn`); a module is named with a table of its own classes. Of scikit-learn, trees must be its own
classes, not subclasses of them. Estimators that are read otherwise have a line of their own: those that hold others (`unfolding`, `classes`, `settled`), and
Boosters, which come without scikit-learn's verbs (`boosters`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from likewise.errors import UnsupportedModel, closest

if TYPE_CHECKING:
    from likewise.importers.classes import Unjoined
    from likewise.importers.trees.growing import GrownModel
    from likewise.model.embedding import Column

    Scorer = Callable[[Any, tuple[Column, ...]], Unjoined]
    Grower = Callable[[Any], GrownModel]


def _linear() -> Mapping[str, Scorer]:
    from likewise.importers import sklearn_linear

    return dict.fromkeys(sklearn_linear.FAMILY, sklearn_linear.import_linear)


def _kernel() -> Mapping[str, Scorer]:
    from likewise.importers import sklearn_kernel

    return dict.fromkeys(sklearn_kernel.FAMILY, sklearn_kernel.import_kernel)


def _machines() -> Mapping[str, Scorer]:
    return {**_linear(), **_kernel()}


def _network() -> Mapping[str, Scorer]:
    from likewise.importers import sklearn_network

    return dict.fromkeys(sklearn_network.FAMILY, sklearn_network.import_network)


def _trees() -> Mapping[str, Grower]:
    from likewise.importers.trees import hist_boosting, sklearn_trees

    return {**sklearn_trees.FAMILY, **hist_boosting.FAMILY}


def _xgboost() -> Mapping[str, Grower]:
    from likewise.importers.boosters import XGBOOST

    return XGBOOST


def _lightgbm() -> Mapping[str, Grower]:
    from likewise.importers.boosters import LIGHTGBM

    return LIGHTGBM


def _saved_xgboost() -> Mapping[str, Grower]:
    from likewise.importers.boosters import SAVED_XGBOOST

    return SAVED_XGBOOST


def _saved_lightgbm() -> Mapping[str, Grower]:
    from likewise.importers.boosters import SAVED_LIGHTGBM

    return SAVED_LIGHTGBM


Reader = TypeVar("Reader")
SCORERS: dict[str, Callable[[], Mapping[str, Scorer]]] = {
    "sklearn.linear_model": _linear,
    "sklearn.discriminant_analysis": _linear,
    "sklearn.svm": _machines,
    "sklearn.kernel_ridge": _kernel,
    "sklearn.neural_network": _network,
}
GROWERS: dict[str, Callable[[], Mapping[str, Grower]]] = {
    "sklearn.tree": _trees,
    "sklearn.ensemble": _trees,
    "xgboost": _xgboost,
    "lightgbm": _lightgbm,
}
SAVED: dict[str, Callable[[], Mapping[str, Grower]]] = {  # what was made of a Booster, or of a file
    "likewise.importers.xgboost": _saved_xgboost,
    "likewise.importers.lightgbm": _saved_lightgbm,
}
ONE_VS_REST = "OneVsRestClassifier"
SETTLED = ("SettledClassifier", "SettledRegressor")


def scorer_of(estimator: Any) -> Scorer:
    """What reads the scores of an estimator; refuses one that nothing reads, by its name."""
    kind = type(estimator)
    if isinstance(estimator, type):
        raise UnsupportedModel(
            f"{kind.__name__} {estimator.__name__} is a class, not a fitted model",
            hint=f"pass the object that fit() returned: {estimator.__name__}(...).fit(X, y)",
        )
    found = _found(SCORERS, estimator)
    if found is None:
        _refuse(kind)
    return found


def grower_of(estimator: Any) -> Grower | None:
    """What reads an ensemble of trees, None if this is none that is known."""
    if library_of(estimator) == "sklearn" and not genuine(estimator):
        return None
    return _found({**GROWERS, **SAVED}, estimator)


def check_known(estimator: Any) -> None:
    """Refuse what is not read at all."""
    if not (is_settled(estimator) or is_one_vs_rest(estimator)):
        scorer_of(estimator)


def library_of(estimator: Any) -> str:
    """The package that an estimator comes from."""
    return type(estimator).__module__.partition(".")[0]


def genuine(estimator: Any) -> bool:
    """Whether this is scikit-learn's own class, not a subclass or something of the same name."""
    kind = type(estimator)
    if library_of(estimator) != "sklearn":
        return False
    return getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind


def takes_mixes(estimator: Any) -> bool:
    """Whether this is a network, whose first layer takes in what mixes columns in front of it."""
    return _named({"sklearn.neural_network": None}, estimator) is not None


def is_one_vs_rest(estimator: Any) -> bool:
    """Whether this holds a classifier a class."""
    return library_of(estimator) == "sklearn" and type(estimator).__name__ == ONE_VS_REST


def is_settled(estimator: Any) -> bool:
    """Whether this is one of the settled estimators themselves."""
    kind = type(estimator)
    return kind.__module__ == "likewise.repaired.estimators" and kind.__name__ in SETTLED


def is_booster(estimator: Any) -> bool:
    """Whether this is a model of XGBoost or LightGBM, by whatever class."""
    return library_of(estimator) in ("xgboost", "lightgbm") or _named(SAVED, estimator) is not None


def _found(rooms: Mapping[str, Callable[[], Mapping[str, Reader]]], estimator: Any) -> Reader | None:
    package = _named(rooms, estimator)
    return None if package is None else rooms[package]().get(type(estimator).__name__)


def _named(rooms: Mapping[str, Any], estimator: Any) -> str | None:
    """The package among these that defines the class of an estimator."""
    module = f"{type(estimator).__module__}."
    return next((package for package in rooms if module.startswith(f"{package}.")), None)


def _refuse(kind: type) -> NoReturn:
    library, trees = kind.__module__.partition(".")[0], _names(GROWERS)
    listed = {*_names(SCORERS), ONE_VS_REST}
    if kind.__name__ not in trees:  # else it comes here inside of another model only
        listed |= trees
    raise UnsupportedModel(
        f"{library}'s {kind.__name__} is not supported{_reason(kind.__name__, trees)}",
        hint=f"supported: {', '.join(sorted(listed))}",
    )


def _names(rooms: Mapping[str, Callable[[], Mapping[str, Any]]]) -> set[str]:
    return {name for room in rooms.values() for name in room()}


_REFUSED = {
    "ColumnTransformer": "it transforms columns and predicts nothing",
    "FeatureUnion": "it transforms columns and predicts nothing",
    "OneVsOneClassifier": "it breaks ties of votes by sums of bent scores; OneVsRestClassifier and SVC are supported",
    "OutputCodeClassifier": "it compares distances to codes; OneVsRestClassifier is supported",
    "MultiOutputClassifier": "it gives several labels at once; verify its estimators_ one by one",
    "ClassifierChain": "it gives several labels at once; verify its estimators_ one by one",
    "AdaBoostRegressor": "it predicts a weighted median of its trees, which is no sum; GradientBoostingRegressor is supported",
    "IsolationForest": "it detects outliers and has no labels",
    "RandomTreesEmbedding": "it transforms columns and predicts nothing",
    **dict.fromkeys(
        ("VotingClassifier", "VotingRegressor", "StackingClassifier", "StackingRegressor"),
        "it joins models of any kind; verify them one by one",
    ),
    "SGDOneClassSVM": "it detects outliers and has no labels",
}


def _reason(name: str, trees: set[str]) -> str:
    if name in _REFUSED:
        return f": {_REFUSED[name]}"
    if name in trees:
        return " inside of another model: its trees are taken as they are, neither repaired nor one against the rest"
    return closest(name, sorted(_names(SCORERS) | trees))
