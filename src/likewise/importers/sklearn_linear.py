"""scikit-learn's linear family: score = coef . x + intercept, x the columns that reach it.

Classifiers decide by the sign of `decision_function`. Two groups differ at zero: linear models proper say
the lower class (`score > 0` is upper), libsvm's SVC says the upper one. SVC stores its linear score in
dual form, sum_t a_t <s_t, x> + b; its exact weights are the rational sums of the stored products, not the
rounded `coef_`. Probabilities are logistic where `predict_proba` is sigma(decision_function).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.model.body import Affine
from likewise.model.embedding import Column
from likewise.model.head import Head
from likewise.model.scored import Model, Rounding

LOGISTIC = {"LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis"}
CLASSIFIERS = LOGISTIC | {
    "LinearSVC",
    "SGDClassifier",
    "Perceptron",
    "PassiveAggressiveClassifier",
    "RidgeClassifier",
    "RidgeClassifierCV",
}
DUAL = {"SVC", "NuSVC", "SVR", "NuSVR"}
REGRESSORS = {
    "LinearRegression",
    "Ridge",
    "RidgeCV",
    "Lasso",
    "LassoCV",
    "LassoLars",
    "Lars",
    "ElasticNet",
    "ElasticNetCV",
    "LinearSVR",
    "SGDRegressor",
    "PassiveAggressiveRegressor",
    "HuberRegressor",
    "BayesianRidge",
    "ARDRegression",
    "OrthogonalMatchingPursuit",
    "QuantileRegressor",
    "TheilSenRegressor",
}
FAMILY = CLASSIFIERS | REGRESSORS | DUAL


def import_linear(estimator: Any, embedding: tuple[Column, ...]) -> Model:
    """The exact affine model of a fitted linear estimator on these columns."""
    name = type(estimator).__name__
    if name in DUAL:
        weights, bias, rounding = _dual(estimator, name)
    else:
        weights, bias, rounding = _primal(estimator, name)
    if len(weights) != len(embedding):
        raise UnsupportedModel(f"{name} has {len(weights)} weights for {len(embedding)} columns")
    return Model(
        family=name,
        rounding=rounding,
        embedding=embedding,
        body=Affine(weights=weights, bias=bias),
        head=_head(estimator, name),
    )


def _primal(estimator: Any, name: str) -> tuple[tuple[Fraction, ...], Fraction, Rounding]:
    if not hasattr(estimator, "coef_"):
        raise UnsupportedModel(f"{name} is not fitted", hint="call fit(X, y) first")
    coef = dense(estimator.coef_)
    if coef.ndim == 2 and len(coef) != 1:
        what = "classes" if name in CLASSIFIERS else "outputs"
        raise UnsupportedModel(
            f"{name} was fitted on {len(coef)} {what}; only binary classifiers and single outputs are supported",
            hint="fit one model per class against the rest, or per output",
        )
    bias = np.ravel(np.asarray(estimator.intercept_))
    weights, constant = _rationals(coef.ravel(), name), _rationals(bias[:1], name)[0]
    # n products, n additions and the intercept, in any order.
    rounding = Rounding(
        sizes=tuple(abs(w) for w in weights), constant=abs(constant), operations=2 * len(weights) + 2
    )
    return weights, constant, rounding


def _dual(estimator: Any, name: str) -> tuple[tuple[Fraction, ...], Fraction, Rounding]:
    """sum_t a_t s_t exactly: the stored doubles multiplied and added as rationals."""
    if not hasattr(estimator, "support_vectors_"):
        raise UnsupportedModel(f"{name} is not fitted", hint="call fit(X, y) first")
    if estimator.kernel != "linear":
        raise UnsupportedModel(
            f"{name} with kernel={estimator.kernel!r} is not supported", hint="supported kernels: 'linear'"
        )
    if hasattr(estimator, "classes_") and len(estimator.classes_) != 2:
        raise UnsupportedModel(
            f"{name} was fitted on {len(estimator.classes_)} classes; only binary classifiers are supported"
        )
    factors = _rationals(np.ravel(dense(estimator.dual_coef_)), name)
    constant = _rationals(np.ravel(estimator.intercept_), name)[0]
    return summed(factors, dense(estimator.support_vectors_).tolist(), constant)


def dense(values: Any) -> Any:
    """What was fitted on sparse columns, as the plain array that it stands for."""
    return values.toarray() if hasattr(values, "toarray") else np.asarray(values)


def summed(
    factors: Sequence[Fraction], vectors: Sequence[Sequence[float]], constant: Fraction
) -> tuple[tuple[Fraction, ...], Fraction, Rounding]:
    """constant + <sum_t factor_t vector_t, x>, and how a program that goes through the vectors rounds."""
    width = len(vectors[0])
    weights, sizes = [Fraction(0)] * width, [Fraction(0)] * width
    for factor, vector in zip(factors, vectors, strict=True):
        for k, value in enumerate(vector):
            if value:
                weights[k] += factor * Fraction(value)
                sizes[k] += abs(factor * Fraction(value))
    # A dot product a vector, times its factor, summed over all of them, plus the constant.
    operations = 2 * width + 2 * len(vectors) + 2
    rounding = Rounding(sizes=tuple(sizes), constant=abs(constant), operations=operations)
    return tuple(weights), constant, rounding


def _rationals(values: Iterable[float], name: str) -> tuple[Fraction, ...]:
    numbers = [float(value) for value in values]
    if not np.isfinite(numbers).all():
        raise UnsupportedModel(
            f"{name} has a parameter that is not a finite number", hint="its training diverged"
        )
    return tuple(Fraction(number) for number in numbers)


def _head(estimator: Any, name: str) -> Head:
    if not hasattr(estimator, "classes_") or name in REGRESSORS or name in {"SVR", "NuSVR"}:
        return Head(labels=None)
    lower, upper = (label.item() if hasattr(label, "item") else label for label in estimator.classes_)
    logistic = name in LOGISTIC or (name == "SGDClassifier" and estimator.loss == "log_loss")
    return Head(
        labels=(lower, upper),
        link="logistic" if logistic else None,
        zero_is_upper=name in DUAL,
        unlinked=why_unlinked(estimator, name),
    )


def why_unlinked(estimator: Any, name: str) -> str | None:
    """Why a machine's own probabilities are no link: libsvm does not evaluate Platt's formula, it iterates towards it and
    stops within 0.005 (at 1/2 exactly for all that is near it), so a gap of the formula is no gap of `predict_proba`."""
    if name not in {"SVC", "NuSVC"} or getattr(estimator, "probability", None) is not True:
        return None
    return (
        f"{name}(probability=True) iterates towards the probability that it has fitted and stops up to 0.005 away; "
        "CalibratedClassifierCV(FrozenEstimator(model)) gives exact ones"
    )
