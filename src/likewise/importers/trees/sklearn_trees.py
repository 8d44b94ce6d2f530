"""scikit-learn's trees and forests: columns cast to float32, left where value <= threshold (a double), missing values as fitted.

    DecisionTree, ExtraTree                  the values of one leaf
    RandomForest, ExtraTrees, Bagging        their mean over all trees
    GradientBoosting                         init + learning rate * sum of leaves, a tree a class and stage
    AdaBoostRegressor                        the weighted median of single trees (`nested_trees`)
    AdaBoost (SAMME)                         sum over trees of w where the leaf's class is c and of -w / (C - 1) elsewhere, over sum w

With C classes a tree has the fractions of each in its leaves; the scores are the C probabilities themselves and the first largest one
wins, also for two classes. Boosting has one score for two classes: its probability is sigma(f), or sigma(2 f) for loss="exponential".

Values are the stored doubles; means and rates are exact factors. The doubles that AdaBoost adds (w, and -1 / (C - 1) times w as the program rounds
it) are taken as they are. Roundings of a term: n additions of n trees (the first to zero or init) and a multiplication or division.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.trees.body import LEAF
from likewise.importers.registry import is_sklearn_class
from likewise.importers.trees.library_forest import Forest, LibraryTree, order_depth_first
from likewise.importers.trees.tree_model import LibraryModel
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SINGLE_TREES = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
)
FORESTS = (
    *("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"),
    *("BaggingClassifier", "BaggingRegressor"),
)
# Strategies of the first guess that look at no column and draw nothing.
CONSTANT_STRATEGIES = ("prior", "most_frequent", "constant", "mean", "median", "quantile")
MOST_CLASSES = 1000  # in a certificate


# -- families --------------------------------------------------------------------------------------------


def read_tree(estimator: Any) -> LibraryModel:
    """One tree."""
    family = check_fitted(estimator, "tree_")
    labels = classifier_labels(estimator, family)
    return _average_trees(family, labels, [_read_member(estimator, labels)])


def read_forest(estimator: Any) -> LibraryModel:
    """The mean of trees, each of which may see a part of the columns only."""
    family = check_fitted(estimator, "estimators_")
    labels = classifier_labels(estimator, family)
    chosen = getattr(estimator, "estimators_features_", None) or [None] * len(estimator.estimators_)
    parts = []
    for tree, columns in zip(estimator.estimators_, chosen, strict=True):
        require_tree(tree, family)
        parts.append(_read_member(tree, labels, columns))
    return _average_trees(family, labels, parts)


def read_boosting(estimator: Any) -> LibraryModel:
    """Stages of one tree, or of one a class."""
    family = check_fitted(estimator, "estimators_")
    labels = classifier_labels(estimator, family)
    rate, stages = Fraction(float(estimator.learning_rate)), estimator.estimators_
    scores = stages.shape[1]
    parts = [_MemberTree(tree, _place_values(c, scores)) for stage in stages for c, tree in enumerate(stage)]
    return LibraryModel(
        family=family,
        forest=Forest(
            trees=tuple(part.grown(rate) for part in parts),
            bias=_initial_scores(estimator, family, scores),
            single=True,
            strict=False,
        ),
        head=boosted_head(
            labels, scores, slope=2 if estimator.loss == "exponential" else 1, zero_is_upper=True
        ),
        operations=len(parts) + 2,
        leaves=_leaf_reader(parts),
        takes_missing=False,
    )


def read_adaboost(estimator: Any) -> LibraryModel:
    """AdaBoost's votes of trees; with two classes decision_function is the second score less the first one."""
    family = check_fitted(estimator, "estimators_")
    labels = classifier_labels(estimator, family) or ()
    parts = []
    for tree, weight in zip(estimator.estimators_, estimator.estimator_weights_.tolist(), strict=False):
        require_tree(tree, family)
        if list(tree.classes_) != list(estimator.classes_):
            raise UnsupportedModel(f"a tree of {family} knows other classes", hint="fit it again")
        parts.append(_MemberTree(tree, _vote_values(weight, len(labels))))
    total = Fraction(float(estimator.estimator_weights_.sum()))
    if total <= 0:
        raise UnsupportedModel(f"{family} has fitted no weights", hint="fit it again")
    scores = 1 if len(labels) == 2 else len(labels)
    head = boosted_head(labels, scores, zero_is_upper=False)
    if scores > 1:
        why = f"{family} divides its scores by {len(labels) - 1} before it takes their softmax"
        head = Head(labels=head.labels, rule="argmax", unlinked=why)
    return LibraryModel(
        family=family,
        forest=Forest(
            trees=tuple(part.grown(1 / total) for part in parts),
            bias=(Fraction(0),) * scores,
            single=True,
            strict=False,
        ),
        head=head,
        operations=len(parts) + 2,
        leaves=_leaf_reader(parts),
        takes_missing=False,
    )


def median_forest(estimator: Any) -> tuple[LibraryModel, tuple[Fraction, ...]]:
    """The trees of AdaBoostRegressor, a score each, and their weights in its median; those that have none are left out."""
    family = check_fitted(estimator, "estimators_")
    weighed = [
        (tree, weight)
        for tree, weight in zip(estimator.estimators_, estimator.estimator_weights_.tolist(), strict=False)
        if weight > 0
    ]
    if not weighed:
        raise UnsupportedModel(f"{family} has fitted no weights", hint="fit it again")
    parts = []
    for place, (tree, _) in enumerate(weighed):
        require_tree(tree, family)
        parts.append(_MemberTree(tree, _place_values(place, len(weighed))))
    model = LibraryModel(
        family=family,
        forest=Forest(
            trees=tuple(part.grown(Fraction(1)) for part in parts),
            bias=(Fraction(0),) * len(parts),
            single=True,
            strict=False,
        ),
        head=NUMBER_HEAD,
        operations=None,
        leaves=_leaf_reader(parts),
        takes_missing=False,
    )
    return model, tuple(Fraction(weight) for _, weight in weighed)


READERS: dict[str, Callable[[Any], LibraryModel]] = {
    **dict.fromkeys(SINGLE_TREES, read_tree),
    **dict.fromkeys(FORESTS, read_forest),
    **dict.fromkeys(("GradientBoostingClassifier", "GradientBoostingRegressor"), read_boosting),
    "AdaBoostClassifier": read_adaboost,
}


# -- trees -----------------------------------------------------------------------------------------------

LeafTransform = Callable[["Floats"], "Floats"]


class _MemberTree:
    """A fitted tree, what becomes of the values of its leaves, and which of the columns it sees."""

    def __init__(self, estimator: Any, values: LeafTransform, columns: Sequence[int] | None = None) -> None:
        self._tree, self._values = estimator.tree_, values
        self._columns = None if columns is None else np.asarray(columns)

    def grown(self, factor: Fraction) -> LibraryTree:
        tree = self._tree
        order, right = order_depth_first(tree.children_left, tree.children_right)
        leaf = tree.children_left[order] == LEAF
        tested = np.where(leaf, 0, tree.feature[order])
        column = tested if self._columns is None else self._columns[tested]
        return LibraryTree(
            column=np.where(leaf, LEAF, column).astype(np.int32),
            threshold=np.where(leaf, 0.0, tree.threshold[order]),
            missing_left=np.asarray(tree.missing_go_to_left, dtype=bool)[order],
            right=right,
            values=require_finite(self._values(tree.value[order, 0, :])),
            factor=factor,
        )

    def at(self, matrix: Floats) -> Floats:
        """The values of the leaves that rows come to, by the tree's own program."""
        seen = matrix if self._columns is None else matrix[:, self._columns]
        leaves = self._tree.apply(np.ascontiguousarray(seen, dtype=np.float32))
        return self._values(self._tree.value[leaves, 0, :])


def _leaf_reader(parts: Sequence[_MemberTree]) -> Callable[[Floats], Iterable[Floats]]:
    return lambda matrix: (part.at(matrix) for part in parts)


def _average_trees(
    family: str, labels: tuple[object, ...] | None, parts: Sequence[_MemberTree]
) -> LibraryModel:
    head: Head = NUMBER_HEAD
    if labels is not None:
        head = Head(labels=labels, rule="argmax", link="identity")
    return LibraryModel(
        family=family,
        forest=Forest(
            trees=tuple(part.grown(Fraction(1, len(parts))) for part in parts),
            bias=(Fraction(0),) * (1 if labels is None else len(labels)),
            single=True,
            strict=False,
        ),
        head=head,
        operations=len(parts) + 1,
        leaves=_leaf_reader(parts),
    )


def _read_member(
    estimator: Any, labels: tuple[object, ...] | None, columns: Sequence[int] | None = None
) -> _MemberTree:
    """A tree of a mean; a bag's trees know the numbers of the classes in their sample only."""
    if labels is None or len(estimator.classes_) == len(labels):
        return _MemberTree(estimator, lambda values: values, columns)
    places = np.asarray(estimator.classes_, dtype=np.intp)

    def spread(values: Floats) -> Floats:
        made = np.zeros((len(values), len(labels)))
        made[:, places] = values
        return made

    return _MemberTree(estimator, spread, columns)


def _place_values(c: int, scores: int) -> LeafTransform:
    def placed(values: Floats) -> Floats:
        made = np.zeros((len(values), scores))
        made[:, c] = values[:, 0]
        return made

    return placed


def _vote_values(weight: float, classes: int) -> LeafTransform:
    """What AdaBoost adds, in its own doubles."""
    others = -1 / (classes - 1) * weight

    def voting(values: Floats) -> Floats:
        chosen = np.argmax(values, axis=1)
        if classes == 2:
            return np.where(chosen == 1, 2 * weight, -2 * weight)[:, None]
        return np.where(np.arange(classes) == chosen[:, None], weight, others)

    return voting


# -- what all families share -----------------------------------------------------------------------------


def check_fitted(estimator: Any, attribute: str) -> str:
    """The name of a fitted estimator of one output."""
    family = type(estimator).__name__
    if not hasattr(estimator, attribute):
        raise UnsupportedModel(f"{family} is not fitted", hint="call fit(X, y) first")
    if getattr(estimator, "n_outputs_", 1) != 1:
        raise UnsupportedModel(
            f"{family} was fitted on {estimator.n_outputs_} outputs", hint="fit one model per output"
        )
    return family


def require_tree(estimator: Any, family: str) -> None:
    """Refuse ensembles of anything but single trees."""
    if type(estimator).__name__ not in SINGLE_TREES or not is_sklearn_class(estimator):
        raise UnsupportedModel(
            f"{family} of {type(estimator).__name__} is not supported",
            hint=f"it is supported over {' and '.join(SINGLE_TREES[:2])}",
        )


def classifier_labels(estimator: Any, family: str) -> tuple[object, ...] | None:
    """The labels of a classifier, None for a regressor."""
    if not hasattr(estimator, "classes_"):
        return None
    labels = tuple(label.item() if hasattr(label, "item") else label for label in estimator.classes_)
    if not 2 <= len(labels) <= MOST_CLASSES:
        raise UnsupportedModel(
            f"{family} was fitted on {len(labels):,} classes; from 2 to {MOST_CLASSES:,} are supported"
        )
    return labels


def boosted_head(
    labels: tuple[object, ...] | None, scores: int, *, zero_is_upper: bool, slope: int = 1
) -> Head:
    """A score for two classes, or one a class."""
    if labels is None:
        return NUMBER_HEAD
    if scores > 1:
        return Head(labels=labels, rule="argmax", link="softmax")
    return Head(labels=labels, link="logistic", zero_is_upper=zero_is_upper, slope=Fraction(slope))


def require_finite(values: Floats) -> Floats:
    """Values of leaves, which must be finite."""
    if not np.isfinite(values).all():
        raise UnsupportedModel("a leaf has a value that is not a finite number", hint="its training diverged")
    return np.asarray(values, dtype=np.float64)


def _initial_scores(estimator: Any, family: str, scores: int) -> tuple[Fraction, ...]:
    """What the trees of boosting are added to, by its own program: the same for everybody."""
    init = estimator.init_
    if isinstance(init, str) and init == "zero":
        return (Fraction(0),) * scores
    kind = type(init).__name__
    if (
        kind not in ("DummyClassifier", "DummyRegressor")
        or not is_sklearn_class(init)
        or init.strategy not in CONSTANT_STRATEGIES
    ):
        raise UnsupportedModel(
            f"{family} starts from {kind}, which is no constant",
            hint="fit it with init=None (the default) or init='zero'",
        )
    guess = estimator._raw_predict_init(np.zeros((1, estimator.n_features_in_), dtype=np.float32))
    return tuple(Fraction(value) for value in require_finite(guess)[0].tolist())
