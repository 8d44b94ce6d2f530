"""What a LightGBM model answers, in scikit-learn's verbs: predict, predict_proba, decision_function.

`LibraryAnswers` asks LightGBM, for an estimator, a Booster or a file; `StoredAnswers` runs the file's own arrays in float64
(`evaluated`), where LightGBM is not installed. A Booster decides nothing by itself: it is taken to decide as LGBMClassifier does,
with the labels 0, 1, ...
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.importers.lightgbm.evaluated import NEAR_ZERO, leaves, raw_scores
from likewise.importers.lightgbm.forest import IDENTITY, LOGISTIC
from likewise.importers.lightgbm.stored import StoredLightGBM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def leaf_values(stored: StoredLightGBM, columns: Floats) -> Iterator[Floats]:
    """The values of the leaves that rows come to, tree by tree, a column a score."""
    seen = np.where(np.abs(columns) <= NEAR_ZERO, 0.0, columns)
    for number, tree in enumerate(stored.trees):
        values = np.zeros((len(columns), stored.n_scores))
        values[:, number % stored.n_scores] = tree.leaves[leaves(tree, seen)]
        yield values


class Answers:
    """Verbs made of scores and of what LightGBM makes of them; `stand_in` is who answers, if not LightGBM."""

    stand_in: str | None = None

    def __init__(self, stored: StoredLightGBM) -> None:
        self.stored, self.n_features_in_ = stored, len(stored.names)
        if stored.named:
            self.feature_names_in_ = np.array(stored.names, dtype=object)

    def scores(self, X: Any) -> Any:
        """The score of each class, or the one there is: a mean over the rounds for averaged models."""
        raise NotImplementedError

    def shares(self, X: Any) -> Any:
        """Probabilities: of the upper label, or of all classes."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Floats:
        return np.asarray(self.scores(X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels, or the prediction of a regressor."""
        if self.stored.objective in IDENTITY:
            return self.decision_function(X)
        return np.asarray(np.argmax(self.predict_proba(X), axis=1))

    def predict_proba(self, X: Any) -> Floats:
        shares = np.asarray(self.shares(X), dtype=np.float64)
        return shares if shares.ndim == 2 else np.stack([1 - shares, shares], axis=1)


class LibraryAnswers(Answers):
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


class StoredAnswers(Answers):
    """Runs the arrays of the file."""

    stand_in = "the file's own trees in float64, as LightGBM is not installed"

    def scores(self, X: Any) -> Any:
        made = raw_scores(self.stored, numbers_of(X, self.stored))
        return made[:, 0] if self.stored.n_scores == 1 else made

    def shares(self, X: Any) -> Any:
        made = self.scores(X)
        slope = float(self.stored.settings.get("sigmoid", 1))
        if self.stored.objective in LOGISTIC or self.stored.objective == "multiclassova":
            with np.errstate(over="ignore"):
                return 1 / (1 + np.exp(-slope * made))
        powers = np.exp(made - made.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


def numbers_of(X: Any, stored: StoredLightGBM) -> Floats:
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
