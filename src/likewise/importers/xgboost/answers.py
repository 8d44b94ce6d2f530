"""What an XGBoost model answers, in scikit-learn's verbs: predict, predict_proba, decision_function.

`LibraryAnswers` asks XGBoost, for an estimator, a Booster or a file; `StoredAnswers` runs the file's own arrays in float32
, where XGBoost is not installed: columns are cast, and the trees' values are added to the base score one
after the other, those of dart as `forest` says. A Booster decides nothing by itself: it is taken to decide
as XGBClassifier does.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.importers.saved_boosters import Answers, among, walk_down
from likewise.importers.xgboost.forest import (
    LOGARITHMIC,
    LOGISTIC,
    SOFTMAX,
    base_margins,
    decides_at_half,
)
from likewise.importers.xgboost.model_file import MOST_CATEGORIES, StoredTree, StoredXGBoost

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Singles = NDArray[np.float32]


def margins(stored: StoredXGBoost, columns: Floats) -> Singles:
    """The margins of all scores, (rows, scores); NaN is a missing value."""
    base = np.array(base_margins(stored), dtype=np.float32)
    total = np.tile(base, (len(columns), 1))
    for number, (tree, group) in enumerate(zip(stored.trees, stored.groups, strict=True)):
        value = tree.condition[leaves(tree, columns)]
        if stored.weights is not None:
            value = ((base[group] + value) - base[group]) * stored.weights[number]
        total[:, group] += value
    return total


def sigmoid(margin: Singles) -> Singles:
    """1 / (1 + exp(-x)) in float32, as XGBoost computes it."""
    one = np.float32(1)
    return one / (np.exp(np.minimum(-margin, np.float32(88.7))) + one)


def softmax(margin: Singles) -> Singles:
    """exp(f_c - max) / sum in float32."""
    parts = np.exp(margin - margin.max(axis=1, keepdims=True))
    shares: Singles = parts / parts.sum(axis=1, keepdims=True, dtype=np.float32)
    return shares


def leaves(tree: StoredTree, columns: Floats) -> NDArray[np.int64]:
    """The node of the leaf that each row comes to."""
    with np.errstate(over="ignore"):
        cast = columns.astype(np.float32)

    def by_number(node: NDArray[np.int64], x: Singles) -> NDArray[np.bool_]:
        return np.where(np.isnan(x), tree.default_left[node], x < tree.condition[node])

    def by_category(node: int, x: Singles, chosen: frozenset[int]) -> NDArray[np.bool_]:
        right = among(x, chosen, (x >= 0) & (x < MOST_CATEGORIES))  # negative and very large ones are none
        return np.where(np.isnan(x), tree.default_left[node], ~right)

    return walk_down(
        tree,
        cast,
        root=0,
        inner=lambda at: tree.left[at] != -1,
        by_number=by_number,
        by_category=by_category,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class XGBoostModel:
    """A saved model, who asks (`kind`: "classifier", "regressor" or None for a Booster), and how many of its rounds predict."""

    stored: StoredXGBoost
    kind: str | None
    rounds: int | None = None

    def leaves(self, columns: Floats) -> Iterator[Floats]:
        """The values of the leaves that rows come to, tree by tree, a column a score."""
        stored = self.predicting
        for tree, group in zip(stored.trees, stored.groups, strict=True):
            values = np.zeros((len(columns), self.stored.n_scores))
            values[:, group] = tree.condition[leaves(tree, columns)]
            yield values

    @property
    def predicting(self) -> StoredXGBoost:
        """What predicts: the rounds that do."""
        return self.stored.first_rounds(self.rounds)


class XGBoostAnswers(Answers):
    """Verbs made of margins and of what XGBoost makes of them."""

    def __init__(self, model: XGBoostModel) -> None:
        super().__init__(model.stored.n_columns, model.stored.names)
        self.model = model

    @abstractmethod
    def margins(self, X: Any) -> Any:
        """The sums of leaves and base scores, a column a class."""

    def decision_function(self, X: Any) -> Floats:
        """The score of the imported model: the margin, less 1/2 where it is compared with that."""
        scores = np.asarray(self.margins(X), dtype=np.float64)
        return scores - 0.5 if decides_at_half(self.model.stored, self.model.kind) else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels, or the prediction of a regressor."""
        objective = self.model.stored.objective
        if objective in SOFTMAX:
            return np.asarray(np.argmax(self.shares(X), axis=1))
        if objective in LOGARITHMIC:
            return np.asarray(self.shares(X), dtype=np.float64)
        if objective in LOGISTIC:
            return (np.asarray(self.shares(X)) > np.float32(0.5)).astype(np.int64)
        if decides_at_half(self.model.stored, self.model.kind):
            return (np.asarray(self.margins(X)) > np.float32(0.5)).astype(np.int64)
        return np.asarray(self.margins(X), dtype=np.float64)


class LibraryAnswers(XGBoostAnswers):
    """Asks a Booster of XGBoost, as the estimator that holds it would."""

    def __init__(self, model: XGBoostModel, booster: Any) -> None:
        super().__init__(model)
        self.booster = booster

    def margins(self, X: Any) -> Any:
        return self._asked(X, "margin")

    def shares(self, X: Any) -> Any:
        if self.model.stored.objective == "multi:softmax":
            return softmax(self.margins(X))
        return self._asked(X, "value")

    def _asked(self, X: Any, what: str) -> Any:
        return self.booster.inplace_predict(
            X,
            iteration_range=(0, self.model.rounds or 0),
            predict_type=what,
            validate_features=not isinstance(X, np.ndarray),
        )


class StoredAnswers(XGBoostAnswers):
    """Runs the arrays of the file."""

    stand_in = "the file's own trees in float32, as XGBoost is not installed"

    def margins(self, X: Any) -> Any:
        stored = self.model.predicting
        made = margins(stored, column_numbers(X, stored))
        return made[:, 0] if stored.n_scores == 1 else made

    def shares(self, X: Any) -> Any:
        made = self.margins(X)
        if self.model.stored.objective in LOGARITHMIC:
            return np.exp(made)
        return sigmoid(made) if made.ndim == 1 else softmax(made)


def column_numbers(X: Any, stored: StoredXGBoost) -> Floats:
    """Rows as columns of numbers: categories by their codes."""
    if isinstance(X, np.ndarray):
        return np.asarray(X, dtype=np.float64)
    columns = []
    for c, name in enumerate(X.columns):
        values = (
            np.asarray(X[name], dtype=object) if c in stored.levels else np.asarray(X[name], dtype=np.float64)
        )
        columns.append(_category_codes(values, stored.levels[c], name) if c in stored.levels else values)
    return np.stack(columns, axis=1)


def _category_codes(values: NDArray[Any], levels: tuple[Any, ...], name: str) -> Floats:
    """XGBoost refuses categories that it was not fitted on."""
    codes = {level: float(code) for code, level in enumerate(levels)}
    missing = [value is None or value != value for value in values.tolist()]
    strange = [
        value for value, gone in zip(values.tolist(), missing, strict=True) if not gone and value not in codes
    ]
    if strange:
        raise ValueError(f"{name!r} has the category {strange[0]!r}, which the model was not fitted on")
    return np.array(
        [np.nan if gone else codes[value] for value, gone in zip(values.tolist(), missing, strict=True)]
    )
