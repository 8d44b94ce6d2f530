"""Settled estimators: the scores of a fitted model with some columns set to fixed values, combined.

With x = (z, u), u the columns named by `features`, and settings v with weights w_v = count_v / sum of the counts, the score is

    mean   keep f(z, u) + (1 - keep) sum_v w_v f(z, v)        max   max_v f(z, v)        min   min_v f(z, v)

f being `decision_function` of a classifier and `predict` of a regressor. With keep = 0 two individuals that differ in u only get the same
answer. A classifier says the upper label where the score is above 0, the first of the largest scores if there are more than two classes;
with `probabilities`, they are sigma(score), or softmax of the scores.

`estimator` is fitted already (in a FrozenEstimator, so that a clone is as well) or is fitted by `fit`, on the rows as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from likewise.repaired.rows import with_setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HOWS = ("mean", "max", "min")


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
        names: NDArray[Any] = self.held.feature_names_in_
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
        names = getattr(self.held, "feature_names_in_", None)
        known = None if names is None else [str(name) for name in names]
        return (with_setting(X, self.features, setting, known) for setting in self.settings)

    def _combined(self, X: Any, method: str) -> Floats:
        """What `method` of the estimator inside says of every setting, combined."""
        ask, total = getattr(self.held, method), None
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
    ) -> None:
        super().__init__(estimator, features, settings, counts, how, keep)
        self.probabilities = probabilities

    @property
    def classes_(self) -> NDArray[Any]:
        classes: NDArray[Any] = self.held.classes_
        return classes

    def decision_function(self, X: Any) -> Floats:
        """The combined scores: one number a row, or one a class."""
        return self._combined(X, "decision_function")

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels."""
        scores = self.decision_function(X)
        places = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        labels: NDArray[Any] = self.classes_[places]
        return labels

    @available_if(lambda self: self.probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each label."""
        scores = self.decision_function(X)
        if scores.ndim == 2:
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            shares: Floats = powers / powers.sum(axis=1, keepdims=True)
            return shares
        upper = 0.5 * (1 + np.tanh(0.5 * scores))
        return np.stack([1 - upper, upper], axis=1)


class SettledRegressor(RegressorMixin, _Settled):  # type: ignore[misc]
    """A regressor by combined predictions of a fitted one."""

    def predict(self, X: Any) -> Floats:
        """The combined predictions."""
        return self._combined(X, "predict")
