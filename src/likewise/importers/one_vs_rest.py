"""OneVsRestClassifier: a binary classifier for each class, which is scored by its `decision_function`.

    more than two classes   the first class with the largest score (scikit-learn goes through the estimators backwards, and
                            replaces the best one on a tie)
    two classes             one classifier, of the upper class: upper where its score is above 0, also for SVC, whose own
                            `predict` puts 0 into the upper class

With two classes its probability is that of the classifier; with more they are divided by their sum, which is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from likewise.errors import UnsupportedModel
from likewise.importers.classes import Unjoined, plain, several_labels
from likewise.importers.unfolding import Unfolded, unfold
from likewise.model.head import Head

if TYPE_CHECKING:
    from likewise.families.scored import Model
    from likewise.importers.inputs import Inputs

NAME = "OneVsRestClassifier"
Build = Callable[[Unfolded], "tuple[Unjoined, Inputs]"]


def import_one_vs_rest(estimator: Any, build: Build) -> tuple[Unjoined, Inputs]:
    """The scores of all classifiers inside, each made by `build` from what it unfolds to, and the inputs of all of them."""
    if not hasattr(estimator, "estimators_"):
        raise UnsupportedModel(f"{NAME} is not fitted", hint="call fit(X, y) first")
    labels = several_labels(estimator, NAME)
    built = [_binary(inside, build) for inside in estimator.estimators_]
    models, inputs = [model for model, _ in built], built[0][1]
    if any(other.space != inputs.space for _, other in built):
        raise UnsupportedModel(
            f"{NAME} holds pipelines that take the same feature in different ways",
            hint="put the preprocessing in front of it",
        )
    if labels is not None:
        rule = Head(labels=labels, rule="argmax", unlinked=_unlinked(estimator))
        return Unjoined(family=NAME, models=tuple(models), head=rule), inputs
    if len(models) != 1 or len(estimator.classes_) != 2 or estimator.multilabel_:
        raise UnsupportedModel(
            f"{NAME} was fitted on several labels at once, each of which an individual may have or not",
            hint="fit one model a label",
        )
    lower, upper = plain(estimator.classes_)
    head = replace(models[0].head, labels=(lower, upper), zero_is_upper=False)
    return Unjoined.of(replace(models[0], family=NAME, head=head)), inputs


def _binary(inside: Any, build: Build) -> tuple[Model, Inputs]:
    unfolded = unfold(inside)
    kind = type(unfolded.final).__name__
    if kind == "_ConstantPredictor":
        raise UnsupportedModel(
            f"{NAME} was fitted on a class that all rows are of, or none",
            hint="fit it on rows of all classes",
        )
    if unfolded.wrappers:
        raise UnsupportedModel(
            f"{NAME} of {type(unfolded.wrappers[0]).__name__} is not supported",
            hint="thresholds and calibration have no place inside of it: use the classifier itself",
        )
    if kind == NAME or not hasattr(unfolded.final, "decision_function"):
        raise UnsupportedModel(
            f"{NAME} of {kind} is not supported: it has no score of its own to compare",
            hint="use it around linear and kernel classifiers",
        )
    scores, inputs = build(unfolded)
    if len(scores.models) > 1:
        raise UnsupportedModel(
            f"{NAME} holds a {kind} of several classes", hint="it was changed after fitting"
        )
    return scores.models[0], inputs


def _unlinked(estimator: Any) -> str | None:
    if not hasattr(estimator, "predict_proba"):
        return None
    return f"{NAME} divides the probabilities of each class against the rest by their sum"
