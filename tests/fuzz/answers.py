"""Answers: what an estimator itself says of everybody, in the numbers of its own program.

Only `predict`, `decision_function` and `predict_proba` are asked (`predict` with `output_margin` or `raw_score` of boosters,
which have no decision function). A program rounds and a proof is about real numbers; `rounding` bounds how far the two may be apart,
from the sizes of what is added up, as rounding analysis has it to first order: u n S, with S the largest sum of absolute values of
the terms of a score, n the operations that a term passes through, and u the unit of the arithmetic (2^-53; 2^-24 in XGBoost). It is 0 where nothing is rounded.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy.special import expit
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC

DOUBLE, SINGLE = 2.0**-53, 2.0**-24
FROM_ZERO = (
    SVC,
    NuSVC,
    GradientBoostingClassifier,
    FixedThresholdClassifier,
)  # a score of zero is the upper class
ROOM = 8.0  # for scalers and encoders in front, which pass each value through a few operations more


@dataclass(frozen=True)
class Answers:
    """Of each person: the label, the scores (one, or one a class), the probabilities; None of what the model has not.

    `rule` says how labels follow from scores: "above" zero (or "from" zero, libsvm), the "largest", "votes" between any two classes
    (`duels`), or None of a regressor.
    """

    rule: str | None
    labels: Any
    classes: tuple[Any, ...]
    scores: Any
    probabilities: Any
    duels: Any
    rounding: float
    probability_rounding: float
    scored: bool = True  # whether the scores are those that claims are about


def asked(model: Any, given: Any, *, exact: bool = False, scored: bool = True) -> Answers:
    """What the model says of these rows, in double precision, which claims are about; `exact` where its program rounds nothing."""
    given = _in_double(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        final = model[-1] if isinstance(model, Pipeline) else model
        name = type(final).__name__
        single = _adds_in_single(model)
        rounding = 0.0 if exact else (SINGLE if single else DOUBLE) * ROOM * _size(model, given)
        proper = 0.25 * rounding + (0.0 if not single else 2.0**-21) + 2.0**-49
        labels = np.asarray(model.predict(given)).reshape(-1)
        if not hasattr(model, "classes_"):
            scores = labels.astype(float).reshape(-1, 1)
            return Answers(None, None, (), scores, None, None, rounding, proper)
        classes = tuple(c.item() if hasattr(c, "item") else c for c in model.classes_)
        scores, duels = _scores(model, final, name, given, len(classes))
        probabilities = None
        if hasattr(model, "predict_proba") and name not in ("SVC", "NuSVC"):
            probabilities = np.asarray(model.predict_proba(given), dtype=float)
        return Answers(
            _rule(final, scores, duels),
            labels,
            classes,
            scores,
            probabilities,
            duels,
            rounding,
            proper,
            scored,
        )


def _in_double(given: Any) -> Any:
    if isinstance(given, pl.DataFrame):
        return given.with_columns(pl.col(pl.Float32).cast(pl.Float64))
    if isinstance(given, pd.DataFrame):
        return given.astype(dict.fromkeys(given.columns[given.dtypes == "float32"], "float64"))
    return given


def _rule(final: Any, scores: Any, duels: Any) -> str:
    if duels is not None:
        return "votes"
    if scores.shape[1] > 1:
        return "largest"
    return "from" if isinstance(final, FROM_ZERO) else "above"


def _scores(model: Any, final: Any, name: str, given: Any, classes: int) -> tuple[Any, Any]:
    if isinstance(final, FixedThresholdClassifier):
        return _over_threshold(final, given), None
    if isinstance(final, (SVC, NuSVC)) and classes > 2:
        between = copy.copy(final)
        between.decision_function_shape = "ovo"
        rows = model[:-1].transform(given) if isinstance(model, Pipeline) and len(model) > 1 else given
        return None, np.asarray(between.decision_function(rows), dtype=float)
    if name in ("XGBClassifier", "LGBMClassifier"):
        option = {"output_margin": True} if name == "XGBClassifier" else {"raw_score": True}
        scores = model.predict(given, **option)
    elif name == "MLPClassifier":
        rows = model[:-1].transform(given) if isinstance(model, Pipeline) and len(model) > 1 else given
        scores = _through_layers(final, _numbers(rows))
    elif name == "NearestCentroid":  # whose predict goes by distances, and its decision function does not
        scores = _hands(model, given)
    elif (
        name == "BaggingClassifier"
    ):  # whose predict goes by means of probabilities, and its decision function does not
        scores = model.predict_proba(given)
    elif hasattr(model, "decision_function"):
        scores = model.decision_function(given)
    elif hasattr(model, "predict_proba"):
        scores = model.predict_proba(given)
    else:
        scores = _hands(model, given)
    return np.asarray(scores, dtype=float).reshape(len(scores), -1), None


def _hands(model: Any, given: Any) -> Any:
    """1 for the label, 0 for others: where nothing but labels is told."""
    return np.asarray(model.predict(given))[:, None] == np.asarray(model.classes_)[None]


BENDS = {"relu": lambda y: np.maximum(y, 0), "tanh": np.tanh, "logistic": expit, "identity": lambda y: y}


def _through_layers(final: Any, values: Any, *, sizes: bool = False) -> Any:
    """The outputs of the last layer; or the sums of absolute terms, which bound them."""
    taken = np.abs if sizes else np.asarray
    values = taken(values)
    for n, (weights, biases) in enumerate(zip(final.coefs_, final.intercepts_, strict=True)):
        values = values @ taken(weights) + taken(biases)
        if n < len(final.coefs_) - 1 and not sizes:
            values = BENDS[final.activation](values)
    return values


def _inside(final: Any) -> Any:
    """What a threshold is put to: fitted with it, or before."""
    return getattr(final, "estimator_", final.estimator)


def _over_threshold(final: Any, given: Any) -> Any:
    inside = _inside(final)
    if final.response_method == "predict_proba" or not hasattr(inside, "decision_function"):
        response = inside.predict_proba(given)[:, 1]
    else:
        response = inside.decision_function(given)
    return (np.asarray(response, dtype=float) - float(final.threshold)).reshape(-1, 1)


# -- sizes -----------------------------------------------------------------------------------------------


def _adds_in_single(model: Any) -> bool:
    """Whether scores are summed in single precision, as XGBoost's are."""
    if isinstance(model, FrozenEstimator):
        return _adds_in_single(model.estimator)
    for inside in ("held", "estimator_"):
        if hasattr(model, inside):
            return _adds_in_single(getattr(model, inside))
    final = model[-1] if isinstance(model, Pipeline) else model
    return type(final).__name__.startswith("XGB")


def _size(model: Any, given: Any) -> float:
    """n S: the largest sum of absolute terms, times the operations of one term."""
    if isinstance(model, FrozenEstimator):
        return _size(model.estimator, given)
    if hasattr(model, "held"):  # a repaired model: settings of the one inside
        return 64 * max(1.0, _size(model.held, given))
    if isinstance(model, FixedThresholdClassifier):
        return 4 * _size(_inside(model), given) + 64
    if isinstance(model, Pipeline) and isinstance(model[0], Nystroem):
        spread = np.abs(model[0].normalization_).sum(axis=0)  # of kernels, which are at most 1
        return 64 * len(spread) * float((np.abs(model[-1].coef_) @ spread).max())
    if isinstance(model, Pipeline) and isinstance(model[-1], Pipeline):
        return _size(model[-1], model[:-1].transform(given))
    if isinstance(model, Pipeline):
        rows = model[:-1].transform(given) if len(model) > 1 else given
        return _size_of_final(model[-1], rows)
    return _size_of_final(model, given)


def _size_of_final(final: Any, rows: Any) -> float:
    if isinstance(final, OneVsRestClassifier):
        return max(_size_of_final(each, rows) for each in final.estimators_)
    if hasattr(final, "dual_coef_") and (
        isinstance(final, KernelRidge) or hasattr(final, "support_vectors_")
    ):
        return _size_of_kernel(final, np.abs(_numbers(rows)))
    if hasattr(final, "coefs_"):
        return float(_through_layers(final, _numbers(rows), sizes=True).max()) * 64 * len(final.coefs_)
    if hasattr(final, "coef_"):
        values, weights = np.abs(_numbers(rows)), np.abs(np.atleast_2d(final.coef_))
        sums = values @ weights.T + np.max(np.abs(final.intercept_))
        return float(sums.max()) * (values.shape[1] + 8)
    asks = getattr(final, "decision_function", None) or getattr(final, "predict_proba", None) or final.predict
    told = np.asarray(asks(rows))
    return 128 * (1.0 + (float(np.abs(told).max()) if told.dtype.kind in "fiu" else 0.0))


def _size_of_kernel(final: Any, values: Any) -> float:
    vectors = np.abs(_numbers(final.X_fit_ if isinstance(final, KernelRidge) else final.support_vectors_))
    dual = np.abs(_numbers(final.dual_coef_)).reshape(-1, len(vectors))
    gamma = getattr(final, "_gamma", None) or final.gamma or 1.0
    operations = values.shape[1] + len(vectors) + 16
    if final.kernel == "rbf":
        largest = np.ones((1, len(vectors)))
        operations *= 1 + gamma * float(
            (values**2).sum(axis=1).max() + (vectors**2).sum(axis=1).max(initial=0)
        )
    else:
        products = values @ vectors.T
        largest = (
            products if final.kernel == "linear" else (gamma * products + abs(final.coef0)) ** final.degree
        )
        operations *= 1 if final.kernel == "linear" else final.degree
    intercept = np.max(np.abs(getattr(final, "intercept_", 0.0)))
    return (float((largest @ dual.T).max(initial=0)) + float(intercept)) * operations


def _numbers(rows: Any) -> Any:
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(rows, dtype=float)
