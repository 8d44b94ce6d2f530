"""Settled estimators: the scores of a fitted model with some columns set to fixed values, combined.

With x = (z, u), u the columns named by `features`, and settings v with weights w_v = count_v / sum of the counts, the score is

    mean   keep f(z, u) + (1 - keep) sum_v w_v f(z, v)        max   max_v f(z, v)        min   min_v f(z, v)

f being `predict` of a regressor and, as `asked` says, of a classifier

    decision_function                  that
    output_margin, raw_score           what `predict` answers with output_margin=True (XGBoost), raw_score=True (LightGBM)
    raw_formula                        what `predict` answers with prediction_type="RawFormulaVal" (CatBoost)
    last_layer                         the outputs of a network's last layer (MLPClassifier), before the logistic function or softmax
    log_likelihoods                    joint log likelihoods of naive Bayes; of two classes, that of the second less that of the first
    predict_proba                      the probabilities of all classes, for a mean; else that of the upper label of two, less 1/2

With keep = 0 two individuals that differ in u only get the same answer: the model inside is asked about the same rows for the two. A classifier says the upper label where the score is above 0, the first of the largest scores if there is one a class; with
`probabilities`, they are sigma(slope * score), or softmax of the scores; those of `predict_proba` are combined themselves.

`estimator` is fitted already (in a FrozenEstimator, so that a clone is as well) or is fitted by `fit`, on the rows as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from likewise.repaired.outputs import last_layer, log_likelihoods
from likewise.repaired.rows import with_setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HOWS = ("mean", "max", "min")
HALF = 0.5
SCORES = (
    *("decision_function", "output_margin", "raw_score", "raw_formula"),
    *("last_layer", "log_likelihoods", "predict_proba"),
)


def _column_names(held: Any) -> NDArray[Any] | None:
    """The columns that a fitted estimator knows by their names; CatBoost has another name for them, and numbers where it was fitted on an array."""
    names = getattr(held, "feature_names_in_", None)
    if names is None and type(held).__module__.startswith("sklearn.frozen"):
        held = held.estimator
    if names is None and type(held).__module__.startswith("catboost"):
        own = list(held.feature_names_)
        names = None if own == [str(place) for place in range(len(own))] else np.array(own, dtype=object)
    return names


class _Settled(BaseEstimator):  # type: ignore[misc]
    """What classifiers and regressors share."""

    def __init__(
        self,
        estimator: Any,
        features: Sequence[Any] = (),
        settings: Sequence[Sequence[Any]] = ((),),
        counts: Sequence[int] | None = None,
        how: str = "mean",
        keep: float = 0.0,
    ) -> None:
        self.estimator = estimator
        self.features = features
        self.settings = settings
        self.counts = counts
        self.how = how
        self.keep = keep

    def fit(self, X: Any, y: Any, **more: Any) -> _Settled:
        """Fit the estimator inside; one that is frozen stays what it is."""
        self.estimator_ = clone(self.estimator).fit(X, y, **more)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        try:
            check_is_fitted(self.held)
        except NotFittedError:
            return False
        return True

    @property
    def held(self) -> Any:
        """The fitted estimator inside."""
        return getattr(self, "estimator_", self.estimator)

    @property
    def n_features_in_(self) -> int:
        return int(self.held.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        names = _column_names(self.held)
        if names is None:
            raise AttributeError("the estimator inside knows no names of columns")
        return names

    def _weights(self) -> Floats:
        if self.how not in HOWS:
            raise ValueError(f"how must be one of {', '.join(HOWS)}, not {self.how!r}")
        counts = np.asarray(
            [1] * len(self.settings) if self.counts is None else self.counts, dtype=np.float64
        )
        weights: Floats = counts / counts.sum()
        return weights

    def _settled(self, X: Any) -> Iterator[Any]:
        names = _column_names(self.held)
        known = None if names is None else [str(name) for name in names]
        return (with_setting(X, self.features, setting, known) for setting in self.settings)

    def _combined(self, X: Any, ask: Callable[[Any], Any]) -> Floats:
        """What the estimator inside says of every setting, combined."""
        total = None
        for weight, rows in zip(self._weights(), self._settled(X), strict=True):
            scores: Floats = np.asarray(ask(rows), dtype=np.float64)
            if self.how == "mean":
                total = weight * scores if total is None else total + weight * scores
            elif total is None:
                total = scores
            else:
                total = np.maximum(total, scores) if self.how == "max" else np.minimum(total, scores)
        if total is None:
            raise ValueError("at least one setting is needed")
        if self.how == "mean" and self.keep:
            total = self.keep * np.asarray(ask(X), dtype=np.float64) + (1 - self.keep) * total
        return np.asarray(total, dtype=np.float64)


class SettledClassifier(ClassifierMixin, _Settled):  # type: ignore[misc]
    """A classifier by combined scores of a fitted one."""

    def __init__(
        self,
        estimator: Any,
        features: Sequence[Any] = (),
        settings: Sequence[Sequence[Any]] = ((),),
        counts: Sequence[int] | None = None,
        how: str = "mean",
        keep: float = 0.0,
        probabilities: bool = False,
        asked: str = "decision_function",
        slope: float = 1.0,
    ) -> None:
        super().__init__(estimator, features, settings, counts, how, keep)
        self.probabilities = probabilities
        self.asked = asked
        self.slope = slope

    @property
    def classes_(self) -> NDArray[Any]:
        classes: NDArray[Any] = self.held.classes_
        return classes

    @available_if(lambda self: not self._shares)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The combined scores: one number a row, or one a class."""
        return self._scores(X)

    @property
    def _shares(self) -> bool:
        """Whether the scores are probabilities of all classes."""
        return self.asked == "predict_proba" and self.how == "mean"

    def _scores(self, X: Any) -> Floats:
        return self._combined(X, self._ask)

    def _ask(self, rows: Any) -> Any:
        """The scores of the estimator inside."""
        held = self.held
        if self.asked == "decision_function":
            return held.decision_function(rows)
        if self.asked == "predict_proba":
            shares = np.asarray(held.predict_proba(rows), dtype=np.float64)
            return shares if self._shares else shares[:, 1] - HALF
        if self.asked == "last_layer":
            return last_layer(held, rows)
        if self.asked == "log_likelihoods":
            return log_likelihoods(held, rows)
        if self.asked not in SCORES:
            raise ValueError(f"asked must be one of {', '.join(SCORES)}, not {self.asked!r}")
        while hasattr(held, "best_estimator_"):  # a search hands nothing on to what it has found
            held = held.best_estimator_
        if self.asked == "raw_formula":
            return held.predict(rows, prediction_type="RawFormulaVal")
        return held.predict(rows, **{self.asked: True})

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels."""
        scores = self._scores(X)
        places = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        labels: NDArray[Any] = self.classes_[places]
        return labels

    @available_if(lambda self: self.probabilities or self.asked == "predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each label."""
        scores = self._scores(X)
        if self._shares:
            return scores
        if self.asked == "predict_proba":
            return np.stack([HALF - scores, HALF + scores], axis=1)
        if scores.ndim == 2:
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            shares: Floats = powers / powers.sum(axis=1, keepdims=True)
            return shares
        upper = 0.5 * (1 + np.tanh(0.5 * self.slope * scores))
        return np.stack([1 - upper, upper], axis=1)


class SettledRegressor(RegressorMixin, _Settled):  # type: ignore[misc]
    """A regressor by combined predictions of a fitted one."""

    def predict(self, X: Any) -> Floats:
        """The combined predictions."""
        return self._combined(X, self.held.predict)
