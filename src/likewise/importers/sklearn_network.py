"""scikit-learn's multi-layer perceptrons, x the columns that reach them:

    h_0 = act(x coefs_0 + intercepts_0),   h_l = act(h_(l-1) coefs_l + intercepts_l),   scores = h coefs_last + intercepts_last

with act relu, tanh, logistic or identity; without a bend, or without hidden layers, that is a linear model. MLPRegressor predicts its only score, or exp of it (loss "poisson"). MLPClassifier of two
classes has one score whose logistic function is the probability of the upper one, which is said where that is above 1/2; of more classes one each, whose softmax are the probabilities, and the first largest of
these decides. It has no `decision_function`: scores are what a copy that leaves out the last function says (`ShownScores`), which `predict_proba` and `predict` are compared with.

Stored weights of single precision make the program calculate so if its rows are; that is allowed for when it is compared with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.network.activation import IDENTITY, LOGISTIC, RELU, TANH
from likewise.families.network.body import Layer
from likewise.families.network.dyadic import Dyadic
from likewise.families.program_rounding import DOUBLE_BITS, SINGLE_BITS
from likewise.importers.exponents import EXPONENTIAL_HEAD
from likewise.importers.layered_models import LayeredProgram
from likewise.importers.score_models import ScoreModels, python_labels, several_labels
from likewise.model.embedding import Column
from likewise.model.head import NUMBER_HEAD, Head
from likewise.repaired.outputs import last_layer

CLASSIFIER = "MLPClassifier"
FAMILY = {CLASSIFIER, "MLPRegressor"}
ACTIVATIONS = {"relu": RELU, "tanh": TANH, "logistic": LOGISTIC, "identity": IDENTITY}
OUTPUTS = {CLASSIFIER: ("logistic", "softmax"), "MLPRegressor": ("identity", "exp")}
NEAR_HALF = 2.0**-50  # scores as small as this may have the logistic function 1/2, as programs round


class ShownScores:
    """A fitted classifier that is asked for its scores: the outputs of its last layer, before the logistic function or softmax."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def decision_function(self, rows: Any) -> Any:
        """All scores of many rows, computed by the classifier itself."""
        return last_layer(self._estimator, rows)


def import_network(
    estimator: Any, embedding: tuple[Column, ...], front: tuple[Layer, ...] = ()
) -> ScoreModels:
    """The exact model of a fitted perceptron on these columns, one a score; `front` are layers that mix them before."""
    name = type(estimator).__name__
    _check(estimator, name, front[-1].weights.shape[0] if front else len(embedding))
    labels = several_labels(estimator, name) if name == CLASSIFIER else None
    single = any(np.asarray(part).dtype.itemsize < np.dtype(np.float64).itemsize for part in estimator.coefs_)
    program = LayeredProgram(
        family=name,
        layers=(*front, *_layers(estimator)),
        embedding=embedding,
        bits=SINGLE_BITS if single else DOUBLE_BITS,
        link=NEAR_HALF if name == CLASSIFIER else 0.0,
        # A classifier compares the logistic function of the score, or softmax; single precision is not described.
        described=name != CLASSIFIER and not single,
        bounded=not single,
    )
    head = NUMBER_HEAD if labels is not None else _head(estimator, name)
    models = tuple(program.model({row: 1}, head) for row in range(program.layers[-1].weights.shape[0]))
    if labels is None:
        return ScoreModels.of(models[0])
    return ScoreModels(family=name, models=models, head=Head(labels=labels, rule="argmax", link="softmax"))


def _check(estimator: Any, name: str, width: int) -> None:
    if not hasattr(estimator, "coefs_"):
        raise UnsupportedModel(f"{name} is not fitted", hint="call fit(X, y) first")
    if not all(np.isfinite(part).all() for part in (*estimator.coefs_, *estimator.intercepts_)):
        raise UnsupportedModel(
            f"{name} has a parameter that is not a finite number", hint="its training diverged"
        )
    if len(estimator.coefs_[0]) != width:
        raise UnsupportedModel(f"{name} has {len(estimator.coefs_[0])} weights for {width} columns")
    if estimator.activation not in ACTIVATIONS:
        raise UnsupportedModel(
            f"{name} with activation={estimator.activation!r} is not supported",
            hint=f"supported activations: {', '.join(map(repr, ACTIVATIONS))}",
        )
    outputs, last = estimator.coefs_[-1].shape[1], estimator.out_activation_
    if name == CLASSIFIER and (isinstance(estimator.classes_, list) or (last == "logistic" and outputs > 1)):
        raise UnsupportedModel(
            f"{name} was fitted on several labels at once, each of which an individual may have or not",
            hint="fit one model for each label",
        )
    if name != CLASSIFIER and outputs != 1:
        raise UnsupportedModel(
            f"{name} was fitted on {outputs} outputs, and has a score for each; only single outputs are supported",
            hint="fit one model per output",
        )
    if last not in OUTPUTS[name]:
        raise UnsupportedModel(
            f"{name} bends its predictions ({last}): a gap of predictions is no gap of scores then",
            hint="fit it with loss='squared_error'" if name != CLASSIFIER else None,
        )
    if name == CLASSIFIER and len(estimator.classes_) < 2:
        raise UnsupportedModel(f"{name} was fitted on one class", hint="it says the same of everybody")


def _layers(estimator: Any) -> tuple[Layer, ...]:
    """All layers as the program has them, the last one without a bend."""
    bend = ACTIVATIONS[estimator.activation]
    count = len(estimator.coefs_)
    return tuple(
        Layer(
            weights=Dyadic.of(np.asarray(weights).T),
            biases=Dyadic.of(biases),
            activation=bend if i < count - 1 else IDENTITY,
        )
        for i, (weights, biases) in enumerate(zip(estimator.coefs_, estimator.intercepts_, strict=True))
    )


def _head(estimator: Any, name: str) -> Head:
    if name != CLASSIFIER:
        return EXPONENTIAL_HEAD if estimator.out_activation_ == "exp" else NUMBER_HEAD
    lower, upper = python_labels(estimator.classes_)
    return Head(labels=(lower, upper), link="logistic")
