"""scikit-learn's RBF and polynomial kernel models, x the columns that reach them:

    score = sum_t a_t exp(-gamma |x - s_t|^2) + b   or   sum_t a_t (gamma <s_t, x> + coef0)^degree + b,

the latter multiplied out exactly (`expansion`). `gamma="scale"` and `"auto"` are taken as resolved when the model was fitted. SVC and NuSVC put the score
zero into the upper class (libsvm asks whether it is below zero); their public `dual_coef_` and `intercept_`
have the sign of `decision_function`. KernelRidge has no intercept, and gamma 1 / (number of columns) unless
it is given, and may have the kernel exp(-gamma sum |x - s_t|). A regressor whose tube holds all targets has no support vector, and then the score is b, an affine one. Other kernels are refused by name. With more than two classes there is such a score a pair of them (`classes`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.kernel.body import RbfSum
from likewise.families.kernel.rounding import KernelRounding
from likewise.families.mixed.body import MixedSum
from likewise.families.polynomial.rounding import PolynomialRounding
from likewise.families.scored_model import Model
from likewise.importers.expansion import PowerSum, expand_powers
from likewise.importers.mixed_kernels import plain_rounding, plain_sums
from likewise.importers.score_models import (
    ScoreModels,
    as_dense,
    duel_parameters,
    several_labels,
    unlinked_reason,
    voting_head,
)
from likewise.importers.sklearn_linear import import_linear, sum_vectors
from likewise.model.embedding import Column
from likewise.model.head import NUMBER_HEAD, Head

CLASSIFIERS = {"SVC", "NuSVC"}
ESTIMATORS = CLASSIFIERS | {"SVR", "NuSVR", "KernelRidge"}
POLYNOMIAL = ("poly", "polynomial")  # KernelRidge knows it by both names
REFUSAL_REASONS = {
    "sigmoid": "no bound for tanh is known here",
    "precomputed": "the kernel's values are not a function of the columns",
    "cosine": "it divides by the lengths of rows",
    **dict.fromkeys(("chi2", "additive_chi2"), "it divides by sums of columns"),
}


def import_kernel(estimator: Any, embedding: tuple[Column, ...]) -> ScoreModels:
    """The model of a fitted kernel machine, one a score: a sum of Gaussians, a polynomial, or an affine one."""
    name, kernel = type(estimator).__name__, estimator.kernel
    if kernel == "linear" and name != "KernelRidge":
        return import_linear(estimator, embedding)
    if kernel not in ("rbf", "linear", "laplacian", *POLYNOMIAL) or (
        kernel == "laplacian" and name != "KernelRidge"
    ):
        shown = kernel if isinstance(kernel, str) else type(kernel).__name__
        why = f": {REFUSAL_REASONS[shown]}" if shown in REFUSAL_REASONS else ""
        raise UnsupportedModel(
            f"{name} with kernel={shown!r} is not supported{why}",
            hint="supported kernels: 'rbf', 'poly', 'linear'; of KernelRidge also 'laplacian'",
        )
    machines = [_read_ridge(estimator)] if name == "KernelRidge" else _read_libsvm(estimator, name)
    labels = several_labels(estimator, name) if name in CLASSIFIERS else None
    head = _make_head(estimator, name) if labels is None else NUMBER_HEAD
    if labels is None and not machines[0][2].any():
        return ScoreModels.of(_constant_model(machines[0], embedding, name, head))
    models = tuple(_import_machine(estimator, one, embedding, head) for one in machines)
    if labels is None:
        return ScoreModels.of(models[0])
    return ScoreModels(family=name, models=models, head=voting_head(estimator, name, labels))


def _import_machine(
    estimator: Any, parameters: Parameters, embedding: tuple[Column, ...], head: Head
) -> Model:
    """The model of one score."""
    name, kernel = type(estimator).__name__, estimator.kernel
    gamma, bias, coefficients, centres = parameters
    _check_numbers(name, gamma, bias, coefficients, centres)
    if kernel in ("rbf", "laplacian") and gamma <= 0:
        raise UnsupportedModel(f"{name} has gamma={gamma}, which is not positive", hint="fit it with another")
    if centres.shape[1] != len(embedding):
        raise UnsupportedModel(f"{name} has centres of {centres.shape[1]} columns, not {len(embedding)}")
    if kernel == "linear":
        factors = [Fraction(value) for value in coefficients.tolist()]
        weights, constant, rounding = sum_vectors(factors, centres, Fraction(0))
        body = Affine(weights=weights, bias=constant)
        return Model(family=name, rounding=rounding, embedding=embedding, bodies=(body,), head=head)
    if kernel == "laplacian":
        bumps = MixedSum(
            shape="laplacian",
            gamma=gamma,
            bias=bias,
            coefficients=coefficients,
            centres=centres,
            sums=plain_sums(len(embedding)),
        )
        told = plain_rounding(len(embedding), expanded=False)
        return Model(family=name, rounding=told, embedding=embedding, bodies=(bumps,), head=head)
    if kernel in POLYNOMIAL:
        powers = PowerSum(
            coefficients=coefficients,
            centres=centres,
            gamma=gamma,
            coef0=float(estimator.coef0),
            degree=_read_degree(estimator, name),
            bias=bias,
        )
        return _polynomial_model(powers, embedding, name, head)
    return Model(
        family=name,
        rounding=KernelRounding(expanded=name == "KernelRidge"),
        embedding=embedding,
        bodies=(RbfSum(gamma=gamma, bias=bias, coefficients=coefficients, centres=centres),),
        head=head,
    )


def _constant_model(parameters: Parameters, embedding: tuple[Column, ...], name: str, head: Head) -> Model:
    """The bias alone: no centre, or none that counts."""
    _, bias, coefficients, centres = parameters
    _check_numbers(name, 0.0, bias, coefficients, centres)
    if centres.shape[1] != len(embedding):
        raise UnsupportedModel(f"{name} has centres of {centres.shape[1]} columns, not {len(embedding)}")
    weights, constant, rounding = sum_vectors([Fraction(0)] * len(centres), centres, Fraction(bias))
    body = Affine(weights=weights, bias=constant)
    return Model(family=name, rounding=rounding, embedding=embedding, bodies=(body,), head=head)


def _polynomial_model(powers: PowerSum, embedding: tuple[Column, ...], name: str, head: Head) -> Model:
    if not np.isfinite(powers.coef0):
        raise UnsupportedModel(f"{name} has coef0={powers.coef0}, which is not a finite number")
    rounding = PolynomialRounding(
        coefficients=powers.coefficients,
        slopes=powers.gamma * powers.centres,
        coef0=powers.coef0,
        bias=powers.bias,
        degree=powers.degree,
    )
    body = expand_powers(powers, name)
    return Model(family=name, rounding=rounding, embedding=embedding, bodies=(body,), head=head)


def _read_degree(estimator: Any, name: str) -> int:
    if estimator.degree != int(estimator.degree) or estimator.degree < 0:
        raise UnsupportedModel(
            f"{name} has a polynomial kernel of degree {estimator.degree}, which is no polynomial",
            hint="fit it with a whole degree",
        )
    return int(estimator.degree)


Parameters = tuple[float, float, Any, Any]


def _read_libsvm(estimator: Any, name: str) -> list[Parameters]:
    if not hasattr(estimator, "support_vectors_"):
        raise UnsupportedModel(f"{name} is not fitted", hint="call fit(X, y) first")
    centres = as_dense(estimator.support_vectors_).astype(np.float64)
    return [
        (float(estimator._gamma), bias, coefficients, centres)
        for coefficients, bias in duel_parameters(estimator, name)
    ]


def _read_ridge(estimator: Any) -> Parameters:
    if not hasattr(estimator, "dual_coef_"):
        raise UnsupportedModel("KernelRidge is not fitted", hint="call fit(X, y) first")
    coefficients = np.asarray(estimator.dual_coef_, dtype=np.float64)
    if coefficients.ndim == 2 and coefficients.shape[1] != 1:
        raise UnsupportedModel(
            f"KernelRidge was fitted on {coefficients.shape[1]} outputs; only one is supported",
            hint="fit one model per output",
        )
    centres = as_dense(estimator.X_fit_).astype(np.float64)
    gamma = 1.0 / centres.shape[1] if estimator.gamma is None else float(estimator.gamma)
    return gamma, 0.0, coefficients.ravel(), centres


def _check_numbers(name: str, gamma: float, bias: float, coefficients: Any, centres: Any) -> None:
    if not all(np.isfinite(part).all() for part in (gamma, bias, coefficients, centres)):
        raise UnsupportedModel(
            f"{name} has a parameter that is not a finite number", hint="its training diverged"
        )


def _make_head(estimator: Any, name: str) -> Head:
    if name not in CLASSIFIERS:
        return NUMBER_HEAD
    lower, upper = (label.item() if hasattr(label, "item") else label for label in estimator.classes_)
    return Head(labels=(lower, upper), zero_is_upper=True, unlinked=unlinked_reason(estimator, name))
