"""scikit-learn's linear family: score = coef . x + intercept, x the columns that reach it.

Classifiers decide by the sign of `decision_function`. Two groups differ at zero: linear models proper say
the lower class (`score > 0` is upper), libsvm's SVC says the upper one. SVC stores its linear score in
dual form, sum_t a_t <s_t, x> + b; its exact weights are the rational sums of the stored products, not the
rounded `coef_`. Partial least squares subtract stored means from the columns first. Generalised linear models predict exp of their score (`exponents`). Probabilities are logistic where `predict_proba` is sigma(decision_function).

With more than two classes there is a score a class, one row of `coef_` each, and the first largest one decides; SVC has a score a
pair of classes (`classes`). Probabilities are then softmax(decision_function), or what is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.scored_model import Model
from likewise.importers.exponents import EXPONENTIAL_HEAD, has_logarithmic_link
from likewise.importers.score_models import (
    ScoreModels,
    as_dense,
    duel_parameters,
    several_labels,
    unlinked_reason,
    voting_head,
)
from likewise.model.embedding import Column
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOGISTIC = {"LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis"}
CLASSIFIERS = LOGISTIC | {
    "LinearSVC",
    "SGDClassifier",
    "Perceptron",
    "PassiveAggressiveClassifier",
    "RidgeClassifier",
    "RidgeClassifierCV",
}
LEAST_SQUARES = {"PLSRegression", "PLSCanonical", "CCA"}
GENERALISED = {"PoissonRegressor", "GammaRegressor", "TweedieRegressor"}
DUAL = {"SVC", "NuSVC", "SVR", "NuSVR"}
REGRESSORS = {
    "LinearRegression",
    "Ridge",
    "RidgeCV",
    "Lasso",
    "LassoCV",
    "LassoLars",
    "LassoLarsCV",
    "LassoLarsIC",
    "Lars",
    "LarsCV",
    "ElasticNet",
    "ElasticNetCV",
    "LinearSVR",
    "SGDRegressor",
    "PassiveAggressiveRegressor",
    "HuberRegressor",
    "BayesianRidge",
    "ARDRegression",
    "OrthogonalMatchingPursuit",
    "OrthogonalMatchingPursuitCV",
    "QuantileRegressor",
    "TheilSenRegressor",
    *LEAST_SQUARES,
    *GENERALISED,
}
ESTIMATORS = CLASSIFIERS | REGRESSORS | DUAL


Parameters = tuple[tuple[Fraction, ...], Fraction, AffineRounding]  # weights, bias, rounding


def import_linear(estimator: Any, embedding: tuple[Column, ...]) -> ScoreModels:
    """The exact affine model of a fitted linear estimator on these columns, one a score."""
    name = type(estimator).__name__
    labels = None if name in REGRESSORS else several_labels(estimator, name)
    scores = (
        _dual_parameters(estimator, name) if name in DUAL else _primal_parameters(estimator, name, labels)
    )
    for weights, _, _ in scores:
        if len(weights) != len(embedding):
            raise UnsupportedModel(f"{name} has {len(weights)} weights for {len(embedding)} columns")
    models = tuple(
        Model(
            family=name,
            rounding=rounding,
            embedding=embedding,
            bodies=(Affine(weights=weights, bias=bias),),
            head=_make_head(estimator, name) if labels is None else NUMBER_HEAD,
        )
        for weights, bias, rounding in scores
    )
    if labels is None:
        return ScoreModels.of(models[0])
    head = voting_head(estimator, name, labels) if name in DUAL else _make_class_head(estimator, name, labels)
    return ScoreModels(family=name, models=models, head=head)


def _primal_parameters(estimator: Any, name: str, labels: tuple[object, ...] | None) -> list[Parameters]:
    if not hasattr(estimator, "coef_"):
        raise UnsupportedModel(f"{name} is not fitted", hint="call fit(X, y) first")
    coef = np.atleast_2d(as_dense(estimator.coef_))
    if labels is None and len(coef) != 1:
        what = "classes" if name in CLASSIFIERS else "outputs"
        raise UnsupportedModel(
            f"{name} was fitted on {len(coef)} {what}, and has a score for each; only single outputs are supported",
            hint="fit one model per output",
        )
    biases = np.broadcast_to(np.ravel(np.asarray(estimator.intercept_)), (len(coef),))
    if name in LEAST_SQUARES:
        return [_centred_parameters(coef[0], biases[0], estimator._x_mean, name)]
    return [_row_parameters(row, bias, name) for row, bias in zip(coef, biases, strict=True)]


def _row_parameters(row: Any, intercept: Any, name: str) -> Parameters:
    weights, constant = _rationals(row, name), _rationals([intercept], name)[0]
    # n products, n additions and the intercept, in any order.
    rounding = AffineRounding(
        sizes=tuple(abs(w) for w in weights), constant=abs(constant), operations=2 * len(weights) + 2
    )
    return weights, constant, rounding


def _centred_parameters(row: Any, intercept: Any, means: Any, name: str) -> Parameters:
    """coef . (x - mean) + intercept, where the program subtracts first."""
    weights, constant, rounding = _row_parameters(row, intercept, name)
    moved = [weight * mean for weight, mean in zip(weights, _rationals(means, name), strict=True)]
    told = replace(
        rounding,
        constant=rounding.constant + sum(map(abs, moved), Fraction(0)),
        operations=rounding.operations + 1,
    )
    return weights, constant - sum(moved, Fraction(0)), told


def _dual_parameters(estimator: Any, name: str) -> list[Parameters]:
    """sum_t a_t s_t exactly: the stored doubles multiplied and added as rationals."""
    if not hasattr(estimator, "support_vectors_"):
        raise UnsupportedModel(f"{name} is not fitted", hint="call fit(X, y) first")
    if estimator.kernel != "linear":
        raise UnsupportedModel(
            f"{name} with kernel={estimator.kernel!r} is not supported", hint="supported kernels: 'linear'"
        )
    vectors = as_dense(estimator.support_vectors_)
    return [
        sum_vectors(_rationals(factors, name), vectors, _rationals([constant], name)[0])
        for factors, constant in duel_parameters(estimator, name)
    ]


def sum_vectors(
    factors: Sequence[Fraction], vectors: NDArray[np.float64], constant: Fraction
) -> tuple[tuple[Fraction, ...], Fraction, AffineRounding]:
    """constant + <sum_t factor_t vector_t, x>, and how a program that goes through the vectors rounds; there may be none."""
    width = vectors.shape[1]
    weights, sizes = [Fraction(0)] * width, [Fraction(0)] * width
    for factor, vector in zip(factors, vectors.tolist(), strict=True):
        for k, value in enumerate(vector):
            if value:
                weights[k] += factor * Fraction(value)
                sizes[k] += abs(factor * Fraction(value))
    # A dot product a vector, times its factor, summed over all of them, plus the constant.
    operations = 2 * width + 2 * len(vectors) + 2
    rounding = AffineRounding(sizes=tuple(sizes), constant=abs(constant), operations=operations)
    return tuple(weights), constant, rounding


def _rationals(values: Iterable[float], name: str) -> tuple[Fraction, ...]:
    numbers = [float(value) for value in values]
    if not np.isfinite(numbers).all():
        raise UnsupportedModel(
            f"{name} has a parameter that is not a finite number", hint="its training diverged"
        )
    return tuple(Fraction(number) for number in numbers)


def _make_head(estimator: Any, name: str) -> Head:
    if not hasattr(estimator, "classes_") or name in REGRESSORS or name in {"SVR", "NuSVR"}:
        bent = name in GENERALISED and has_logarithmic_link(estimator._base_loss)
        return EXPONENTIAL_HEAD if bent else NUMBER_HEAD
    lower, upper = (label.item() if hasattr(label, "item") else label for label in estimator.classes_)
    logistic = name in LOGISTIC or (name == "SGDClassifier" and estimator.loss == "log_loss")
    return Head(
        labels=(lower, upper),
        link="logistic" if logistic else None,
        zero_is_upper=name in DUAL,
        unlinked=unlinked_reason(estimator, name),
    )


def _make_class_head(estimator: Any, name: str, labels: tuple[object, ...]) -> Head:
    unlinked = None
    if name not in LOGISTIC and hasattr(estimator, "predict_proba"):
        unlinked = f"{name} normalises the probabilities of each class against the rest, which is no softmax of its scores"
    return Head(labels=labels, rule="argmax", link="softmax" if name in LOGISTIC else None, unlinked=unlinked)
