"""libsvm's one vs one: a machine for each pair of classes i < j, which votes for i where its score is above 0, else for j.

The support vectors are sorted by class. Those of class i have a coefficient for each of the other classes, the rows of `dual_coef_`: row
j - 1 for a class j > i, and row j for a class j < i. The score of the pair (i, j) is the sum over the vectors of both,

    sum over t of class i of dual_coef_[j - 1, t] K(s_t, x)  +  sum over t of class j of dual_coef_[i, t] K(s_t, x)  +  intercept_[pair],

pairs in the order (0,1), (0,2), ..., (1,2), ...; the first class with the most votes wins. With two classes scikit-learn turns the sign round:
there is one score, above 0 for the upper class. `decision_function_shape` changes what `decision_function` shows, not how `predict` decides,
unless `break_ties` is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.classes import MOST_VOTING_CLASSES
from likewise.model.head import Head, duels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def duel_parameters(estimator: Any, name: str) -> list[tuple[Floats, float]]:
    """The coefficients of all support vectors and the intercept, of each machine in order; regressors are one machine."""
    dual = np.atleast_2d(dense(estimator.dual_coef_)).astype(np.float64)
    biases = np.ravel(estimator.intercept_).astype(np.float64).tolist()
    classes = len(getattr(estimator, "classes_", ())) if name in {"SVC", "NuSVC"} else 0
    if classes <= 2:
        return [(np.ravel(dual), biases[0])]
    ends = np.cumsum(estimator.n_support_).tolist()
    owned = [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    if dual.shape != (classes - 1, ends[-1]) or len(biases) != len(duels(classes)):
        raise UnsupportedModel(
            f"{name} has coefficients that do not fit {classes} classes", hint="it was changed after fitting"
        )
    machines = []
    for (i, j), bias in zip(duels(classes), biases, strict=True):
        coefficients = np.zeros(ends[-1])
        coefficients[owned[i]] = dual[j - 1, owned[i]]
        coefficients[owned[j]] = dual[i, owned[j]]
        machines.append((coefficients, bias))
    return machines


def voting_head(estimator: Any, name: str, labels: tuple[object, ...]) -> Head:
    """How the machines of all pairs decide."""
    if len(labels) > MOST_VOTING_CLASSES:
        raise UnsupportedModel(
            f"{name} was fitted on {len(labels)} classes and lets every pair of them vote; at most {MOST_VOTING_CLASSES} are supported",
            hint=f"OneVsRestClassifier({name}(...)) has one score a class",
        )
    if estimator.break_ties:
        raise UnsupportedModel(
            f"{name}(break_ties=True) breaks ties of votes by sums of bent scores, which is no rule that can be verified",
            hint="fit it with break_ties=False (the default)",
        )
    return Head(labels=labels, rule="votes", unlinked=why_unlinked(estimator, name))


def dense(values: Any) -> Any:
    """What was fitted on sparse columns, as the plain array that it stands for."""
    return values.toarray() if hasattr(values, "toarray") else np.asarray(values)


def why_unlinked(estimator: Any, name: str) -> str | None:
    """Why a machine's own probabilities are no link: libsvm does not evaluate Platt's formula, it iterates towards it and
    stops within 0.005 (at 1/2 exactly for all that is near it), so a gap of the formula is no gap of `predict_proba`."""
    if name not in {"SVC", "NuSVC"} or getattr(estimator, "probability", None) is not True:
        return None
    return (
        f"{name}(probability=True) iterates towards the probability that it has fitted and stops up to 0.005 away; "
        "CalibratedClassifierCV(FrozenEstimator(model)) gives exact ones"
    )
