"""scikit-learn's dummies, which say the same of everybody: DummyRegressor its constant, DummyClassifier the shares of the classes (`prior`), or one class for all (`most_frequent`, `constant`). Those that draw lots are not read."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.scored_model import Model
from likewise.importers.score_models import ScoreModels, python_labels
from likewise.model.embedding import Column
from likewise.model.head import NUMBER_HEAD, Head

ESTIMATORS = ("DummyClassifier", "DummyRegressor")
SURE = ("prior", "most_frequent", "constant")


def import_dummy(estimator: Any, embedding: tuple[Column, ...]) -> ScoreModels:
    """A constant, or one a class."""
    name = type(estimator).__name__
    if not hasattr(estimator, "n_outputs_") or estimator.n_outputs_ != 1:
        raise UnsupportedModel(f"{name} is not fitted on one output", hint="call fit(X, y) first")
    if name == "DummyRegressor":
        return ScoreModels.of(
            _constant(float(np.ravel(estimator.constant_)[0]), embedding, name, NUMBER_HEAD)
        )
    if estimator.strategy not in SURE or len(estimator.classes_) < 2:
        raise UnsupportedModel(
            f"{name} draws lots (strategy={estimator.strategy!r}), or knows one class",
            hint=f"strategies that are read: {', '.join(SURE)}",
        )
    shares = np.ravel(estimator.predict_proba(np.zeros((1, 1))))
    head = Head(labels=python_labels(estimator.classes_), rule="argmax", link="identity")
    models = tuple(_constant(float(share), embedding, name, NUMBER_HEAD) for share in shares)
    return ScoreModels(family=name, models=models, head=head)


def _constant(value: float, embedding: tuple[Column, ...], name: str, head: Head) -> Model:
    none = (Fraction(0),) * len(embedding)
    rounding = AffineRounding(sizes=none, constant=abs(Fraction(value)), operations=1)
    body = Affine(weights=none, bias=Fraction(value))
    return Model(family=name, rounding=rounding, embedding=embedding, bodies=(body,), head=head)
