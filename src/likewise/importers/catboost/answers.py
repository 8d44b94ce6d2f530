"""What a CatBoost model answers, in scikit-learn's verbs: predict, predict_proba, decision_function.

`LibraryAnswers` asks CatBoost, for an estimator, a model or a file; `StoredAnswers` runs the file's own
splits where CatBoost is not installed: numbers in float32, hashes of
categories, statistics in float32, leaves added up in float64 tree after tree. Its sums are CatBoost's to the
last bit. A model that is no estimator is taken to decide as CatBoostClassifier does.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.importers.catboost.category_hash import combined_hash, signed
from likewise.importers.catboost.forest import IDENTITY, LOGARITHMIC, CategoryReader
from likewise.importers.catboost.model_file import (
    CategorySplit,
    NumberSplit,
    Split,
    StoredCatBoost,
    StoredTree,
)
from likewise.importers.saved_boosters import Answers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


def split_holds(split: Split, columns: Floats) -> Bools:
    """Which rows of columns (`CategoryReader`) go right."""
    if isinstance(split, NumberSplit):
        with np.errstate(over="ignore"):
            values = columns[:, split.column].astype(np.float32)
        return np.where(np.isnan(values), split.missing_above, values > np.float32(split.border))
    if isinstance(split, CategorySplit):
        same: Bools = columns[:, split.column] == split.hash
        return same
    statistic = split.statistic
    parts = [split_holds(part, columns).tolist() for part in statistic.parts]
    categories = [columns[:, c].astype(np.int64).tolist() for c in statistic.columns]
    known: dict[tuple[int, ...], bool] = {}
    found = []
    for seen in zip(*categories, *parts, strict=True):
        if seen not in known:
            hashed = 0
            for i, value in enumerate(seen):
                hashed = combined_hash(hashed, signed(value) if i < len(categories) else int(value))
            known[seen] = bool(statistic.value(hashed) > split.border)
        found.append(known[seen])
    return np.array(found, dtype=bool)


def leaf_values(stored: StoredCatBoost, columns: Floats) -> Iterator[Floats]:
    """The values of the leaves that rows come to, tree by tree, a column a score."""
    used = np.unique(np.concatenate([tree.split for tree in stored.trees]))
    holds = np.zeros((len(stored.splits) + 1, len(columns)), dtype=bool)
    for i in used[used >= 0].tolist():
        holds[i] = split_holds(stored.splits[i], columns)
    for tree in stored.trees:
        yield tree.values[_walk_down(tree, holds)]


def _walk_down(tree: StoredTree, holds: Bools) -> NDArray[np.int64]:
    rows = np.arange(holds.shape[1])
    at = np.zeros(len(rows), dtype=np.int64)
    while (going := tree.left[at] >= 0).any():
        node = at[going]
        goes_right = holds[tree.split[node], rows[going]]
        at[going] = np.where(goes_right, tree.right[node], tree.left[node])
    return at


def raw_scores(stored: StoredCatBoost, columns: Floats) -> Floats:
    """The scores of all classes, (rows, scores)."""
    total = np.zeros((len(columns), stored.n_scores))
    for values in leaf_values(stored, columns):
        total += values
    scores: Floats = total * stored.scale + np.array(stored.bias)
    return scores


class CatBoostAnswers(Answers):
    """Verbs made of scores and of what CatBoost makes of them."""

    decides = True

    def __init__(self, stored: StoredCatBoost, kind: str | None = None) -> None:
        super().__init__(stored.n_columns, stored.names)
        self.stored, self.kind = stored, kind

    @property
    def labels(self) -> tuple[Any, ...]:
        return self.stored.labels or tuple(range(max(self.stored.n_scores, 2)))

    @abstractmethod
    def scores(self, X: Any) -> Any:
        """The score of each class, or the one there is."""

    def decision_function(self, X: Any) -> Floats:
        return np.asarray(self.scores(X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels, or the prediction of a regressor."""
        scores = self.decision_function(X)
        if self.stored.loss in (*IDENTITY, *LOGARITHMIC):
            return scores if self.stored.loss in IDENTITY else np.exp(scores)
        level = -np.log(1 / self.stored.threshold - 1)  # where CatBoost decides
        places = np.argmax(scores, axis=1) if scores.ndim == 2 else (scores > level).astype(np.intp)
        decided: NDArray[Any] = np.array(self.labels)[places]
        return decided


class LibraryAnswers(CatBoostAnswers):
    """Asks a model of CatBoost; labels are those of its own `predict` where it is a classifier."""

    def __init__(self, stored: StoredCatBoost, model: Any, kind: str | None = None) -> None:
        super().__init__(stored, kind)
        self.model = model

    def scores(self, X: Any) -> Any:
        return self.model.predict(X, prediction_type="RawFormulaVal", thread_count=1)

    def shares(self, X: Any) -> Any:
        given = np.asarray(self.model.predict(X, prediction_type="Probability", thread_count=1))
        return given[:, 1] if given.shape[1] == 2 and self.stored.n_scores == 1 else given

    def predict(self, X: Any) -> NDArray[Any]:
        if self.stored.loss in IDENTITY:
            return self.decision_function(X)
        if self.stored.loss in LOGARITHMIC:
            found = self.model.predict(X, prediction_type="Exponent", thread_count=1)
            return np.asarray(found, dtype=np.float64)
        given = np.ravel(self.model.predict(X, prediction_type="Class", thread_count=1))
        # Labels that are truth values come as their names from models that are no classifiers.
        spelled = {str(label): label for label in self.labels}
        return np.array([spelled.get(str(label), label) for label in given.tolist()])


class StoredAnswers(CatBoostAnswers):
    """Runs the splits of the file."""

    stand_in = "the file's own trees in float64, as CatBoost is not installed"

    def scores(self, X: Any) -> Any:
        made = raw_scores(self.stored, CategoryReader(self.stored, "CatBoost model").transform(X))
        return made[:, 0] if self.stored.n_scores == 1 else made

    def shares(self, X: Any) -> Any:
        made = self.scores(X)
        if self.stored.loss != "MultiClass":
            with np.errstate(over="ignore"):
                return 1 / (1 + np.exp(-made))
        powers = np.exp(made - made.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


class UnwrittenAnswers(StoredAnswers):
    """The same where CatBoost is installed, but can be handed the model in no other way than in a file that
    nobody vouches for."""

    stand_in = "the file's own trees in float64, as CatBoost's reader of JSON would round or cut its numbers"
