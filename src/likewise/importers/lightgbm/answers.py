"""What a LightGBM model answers, in scikit-learn's verbs: predict, predict_proba, decision_function.

`LibraryAnswers` asks LightGBM, for an estimator, a Booster or a file; `StoredAnswers` runs the file's own arrays in float64
, where LightGBM is not installed: tree after tree, numbers within `NEAR_ZERO` of zero as zero. A Booster decides nothing by itself: it is taken to decide as LGBMClassifier does,
with the labels 0, 1, ...
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.importers.lightgbm.forest import IDENTITY, LOGARITHMIC, LOGISTIC
from likewise.importers.lightgbm.model_file import (
    MISSING_NAN,
    MISSING_ZERO,
    NEAR_ZERO,
    StoredLightGBM,
    StoredTree,
)
from likewise.importers.saved_boosters import Answers, among, walk_down

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def raw_scores(stored: StoredLightGBM, columns: Floats) -> Floats:
    """The raw scores of all classes, (rows, scores); NaN is a missing value."""
    seen = np.where(np.abs(columns) <= NEAR_ZERO, 0.0, columns)
    total = np.zeros((len(columns), stored.n_scores))
    for number, tree in enumerate(stored.trees):
        total[:, number % stored.n_scores] += tree.leaves[leaves(tree, seen)]
    if stored.averaged:
        total /= len(stored.trees) // stored.n_scores
    return total


def leaves(tree: StoredTree, columns: Floats) -> NDArray[np.int64]:
    """The number of the leaf that each row comes to."""

    def by_number(node: NDArray[np.int64], x: Floats) -> NDArray[np.bool_]:
        kind = tree.missing[node]
        number = np.where(np.isnan(x) & (kind != MISSING_NAN), 0.0, x)
        missing = ((kind == MISSING_ZERO) & (number == 0)) | ((kind == MISSING_NAN) & np.isnan(number))
        return np.where(missing, tree.default_left[node], number <= tree.threshold[node])

    def by_category(_: int, x: Floats, chosen: frozenset[int]) -> NDArray[np.bool_]:
        return among(x, chosen, (x > -1) & (x < 2**31))  # missing and negative ones go right

    root = 0 if len(tree.left) else -1
    return -1 - walk_down(
        tree, columns, root=root, inner=lambda at: at >= 0, by_number=by_number, by_category=by_category
    )


def leaf_values(stored: StoredLightGBM, columns: Floats) -> Iterator[Floats]:
    """The values of the leaves that rows come to, tree by tree, a column a score."""
    seen = np.where(np.abs(columns) <= NEAR_ZERO, 0.0, columns)
    for number, tree in enumerate(stored.trees):
        values = np.zeros((len(columns), stored.n_scores))
        values[:, number % stored.n_scores] = tree.leaves[leaves(tree, seen)]
        yield values


class LightGBMAnswers(Answers):
    """Verbs made of scores and of what LightGBM makes of them."""

    def __init__(self, stored: StoredLightGBM) -> None:
        super().__init__(len(stored.names), stored.names if stored.named else None)
        self.stored = stored

    @abstractmethod
    def scores(self, X: Any) -> Any:
        """The score of each class, or the one there is: a mean over the rounds for averaged models."""

    def decision_function(self, X: Any) -> Floats:
        return np.asarray(self.scores(X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels, or the prediction of a regressor."""
        if self.stored.objective in IDENTITY:
            return self.decision_function(X)
        if self.stored.objective in LOGARITHMIC:
            return np.asarray(self.shares(X), dtype=np.float64)
        return np.asarray(np.argmax(self.predict_proba(X), axis=1))


class LibraryAnswers(LightGBMAnswers):
    """Asks a Booster of LightGBM, with the rounds that it predicts with by itself."""

    def __init__(self, stored: StoredLightGBM, booster: Any) -> None:
        super().__init__(stored)
        self.booster = booster

    def scores(self, X: Any) -> Any:
        raw = self.booster.predict(X, raw_score=True)
        # What LightGBM calls raw is the sum over the rounds also where it predicts with their mean.
        return raw / (len(self.stored.trees) // self.stored.n_scores) if self.stored.averaged else raw

    def shares(self, X: Any) -> Any:
        return self.booster.predict(X)


class StoredAnswers(LightGBMAnswers):
    """Runs the arrays of the file."""

    stand_in = "the file's own trees in float64, as LightGBM is not installed"

    def scores(self, X: Any) -> Any:
        made = raw_scores(self.stored, column_numbers(X, self.stored))
        return made[:, 0] if self.stored.n_scores == 1 else made

    def shares(self, X: Any) -> Any:
        made = self.scores(X)
        slope = float(self.stored.settings.get("sigmoid", 1))
        if self.stored.objective in LOGISTIC or self.stored.objective == "multiclassova":
            with np.errstate(over="ignore"):
                return 1 / (1 + np.exp(-slope * made))
        if self.stored.objective in LOGARITHMIC:
            return np.exp(made)
        powers = np.exp(made - made.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


def column_numbers(X: Any, stored: StoredLightGBM) -> Floats:
    """Rows as columns of numbers, in order: categories by their codes, unknown ones missing."""
    if isinstance(X, np.ndarray):
        return np.asarray(X, dtype=np.float64)
    columns = []
    for c, name in enumerate(X.columns):
        values = np.asarray(X[name])
        if c in stored.levels:
            codes = {level: float(code) for code, level in enumerate(stored.levels[c])}
            values = np.array([codes.get(value, np.nan) for value in values.tolist()])
        columns.append(values.astype(np.float64))
    return np.stack(columns, axis=1)
