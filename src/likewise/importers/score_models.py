"""Models of n >= 1 scores: one model a score first, and then how all of them together decide.

    linear models, one vs rest   a score a class; the class is the first one with the largest score (`argmax`)
    libsvm's one vs one          a score a pair of classes, which votes for one of the two (`votes`)

Every score is imported as the score of a model of its own (`ScoreModels`), through the same steps whether there are several or one. `join_scores`
makes one model of them, over one embedding.

**OneVsRestClassifier** has a binary classifier for each class, which is scored by its `decision_function`. Of more than two classes the first one with the largest
score is taken (scikit-learn goes through the estimators backwards, and replaces the best one on a tie; older versions went forwards, and are refused), and probabilities are divided by their sum, which is
refused. Of two classes there is one classifier, of the upper one: upper where its score is above 0, also for SVC, whose own `predict` puts 0 into the upper class;
its probability is that of the classifier.

**libsvm's one vs one** has a machine for each pair of classes i < j, which votes for i where its score is above 0, else for j. The support vectors are sorted by
class. Those of class i have a coefficient for each of the other classes, the rows of `dual_coef_`: row j - 1 for a class j > i, and row j for a class j < i. The
score of the pair (i, j) is the sum over the vectors of both,

    sum over t of class i of dual_coef_[j - 1, t] K(s_t, x)  +  sum over t of class j of dual_coef_[i, t] K(s_t, x)  +  intercept_[pair],

pairs in the order (0,1), (0,2), ..., (1,2), ...; the first class with the most votes wins. With two classes scikit-learn turns the sign round:
there is one score, above 0 for the upper class. `decision_function_shape` changes what `decision_function` shows, not how `predict` decides,
unless `break_ties` is set.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.registry import family_of
from likewise.families.scored_model import Model, SeparateRounding
from likewise.importers.registry import ONE_VS_REST
from likewise.importers.unfold import UnfoldedEstimator, unfold
from likewise.model.head import Head, vote_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.inputs import Inputs

    Floats = NDArray[np.float64]

MOST_SCORES = 1000  # in a certificate
MOST_VOTING_CLASSES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreModels:
    """One model a score, of which embedding, body and rounding count, and how all scores together decide."""

    family: str
    models: tuple[Model, ...]
    head: Head

    def __post_init__(self) -> None:
        if len(self.models) != self.head.n_scores:
            raise UnsupportedModel(
                f"{self.family} has {len(self.models)} scores for {len(self.head.classes)} classes",
                hint="the estimator was changed after fitting",
            )

    @staticmethod
    def of(model: Model) -> ScoreModels:
        """A model of one score."""
        return ScoreModels(family=model.family, models=(model,), head=model.head)

    def each(self, change: Callable[[Model], Model]) -> ScoreModels:
        """The same with every score's model changed."""
        return replace(self, models=tuple(change(model) for model in self.models))


def several_labels(estimator: Any, family: str) -> tuple[object, ...] | None:
    """The labels of a classifier of more than two classes, None for any other estimator."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) <= 2:
        return None
    binarizer = getattr(estimator, "label_binarizer_", getattr(estimator, "_label_binarizer", None))
    if isinstance(classes, list) or str(getattr(binarizer, "y_type_", "")).startswith("multilabel"):
        raise UnsupportedModel(
            f"{family} was fitted on several labels at once, each of which an individual may have or not",
            hint="fit one model for each label",
        )
    if len(classes) > MOST_SCORES:
        raise UnsupportedModel(
            f"{family} was fitted on {len(classes):,} classes; at most {MOST_SCORES:,} are supported"
        )
    return python_labels(classes)


def python_labels(classes: Any) -> tuple[object, ...]:
    """Labels as Python's own values."""
    return tuple(label.item() if hasattr(label, "item") else label for label in classes)


def refuse_wrapper(wrapper: Any, model: Model) -> None:
    """Thresholds and calibrations are for two classes."""
    kind = type(wrapper).__name__
    why = "a threshold is for one score"
    if kind == "CalibratedClassifierCV":
        why = "it normalises the calibrated probabilities of each class against the rest"
    raise UnsupportedModel(
        f"{kind} around a classifier of {len(model.head.classes)} classes is not supported: {why}",
        hint=f"verify the {model.family} inside of it",
    )


def join_scores(scores: ScoreModels) -> Model:
    """The model of all scores together."""
    if len(scores.models) == 1:
        return replace(scores.models[0], family=scores.family, head=scores.head)
    if len({model.body.family for model in scores.models}) > 1:
        raise UnsupportedModel(
            f"{scores.family} holds models of different kinds or on different columns, which have no one form",
            hint="use one kind of model, and put what selects or scales columns in front of it",
        )
    embedding, bodies = family_of(scores.models[0].body).join(scores.models, scores.family)
    return Model(
        family=scores.family,
        rounding=SeparateRounding(parts=scores.models),
        embedding=embedding,
        bodies=bodies,
        head=scores.head,
    )


ScoreBuilder = Callable[[UnfoldedEstimator], "tuple[ScoreModels, Inputs]"]


def import_one_vs_rest(estimator: Any, build: ScoreBuilder) -> tuple[ScoreModels, Inputs]:
    """The scores of all classifiers inside, each made by `build` from what it unfolds to, and the inputs of all of them."""
    if not hasattr(estimator, "estimators_"):
        raise UnsupportedModel(f"{ONE_VS_REST} is not fitted", hint="call fit(X, y) first")
    labels = several_labels(estimator, ONE_VS_REST)
    built = [_import_binary(inside, build) for inside in estimator.estimators_]
    models, inputs = [model for model, _ in built], built[0][1]
    if any(other.space != inputs.space for _, other in built):
        raise UnsupportedModel(
            f"{ONE_VS_REST} holds pipelines that take the same feature in different ways",
            hint="put the preprocessing in front of it",
        )
    if labels is not None:
        refuse_last_of_ties(estimator)
        rule = Head(labels=labels, rule="argmax", unlinked=_rest_unlinked_reason(estimator))
        return ScoreModels(family=ONE_VS_REST, models=tuple(models), head=rule), inputs
    if len(models) != 1 or len(estimator.classes_) != 2 or estimator.multilabel_:
        raise UnsupportedModel(
            f"{ONE_VS_REST} was fitted on several labels at once, each of which an individual may have or not",
            hint="fit one model for each label",
        )
    lower, upper = python_labels(estimator.classes_)
    head = replace(models[0].head, labels=(lower, upper), zero_is_upper=False)
    return ScoreModels.of(replace(models[0], family=ONE_VS_REST, head=head)), inputs


def refuse_last_of_ties(estimator: Any) -> None:
    """Refuse a program that takes the last one of classes whose classifiers say the same. Its own `predict` is asked, with such classifiers in their places."""
    from sklearn.multiclass import _ConstantPredictor

    row, level = np.zeros((1, 1)), copy.copy(estimator)
    level.estimators_ = [_ConstantPredictor().fit(row, np.zeros(1))] * len(estimator.estimators_)
    if level.predict(row)[0] != estimator.classes_[0]:
        raise UnsupportedModel(
            f"{ONE_VS_REST} of this version of scikit-learn takes the last one of classes that are level, and its own scores the first",
            hint="install a newer scikit-learn",
        )


def _import_binary(inside: Any, build: ScoreBuilder) -> tuple[Model, Inputs]:
    unfolded = unfold(inside)
    kind = type(unfolded.final).__name__
    if kind == "_ConstantPredictor":
        raise UnsupportedModel(
            f"{ONE_VS_REST} was fitted on a class that all rows are of, or none",
            hint="fit it on rows of all classes",
        )
    if unfolded.wrappers:
        raise UnsupportedModel(
            f"{ONE_VS_REST} of {type(unfolded.wrappers[0]).__name__} is not supported",
            hint="thresholds and calibration have no place inside of it: use the classifier itself",
        )
    if kind == ONE_VS_REST or not hasattr(unfolded.final, "decision_function"):
        raise UnsupportedModel(
            f"{ONE_VS_REST} of {kind} is not supported: it has no score of its own to compare",
            hint="use it around linear and kernel classifiers",
        )
    scores, inputs = build(unfolded)
    if len(scores.models) > 1:
        raise UnsupportedModel(
            f"{ONE_VS_REST} holds a {kind} of several classes", hint="it was changed after fitting"
        )
    return scores.models[0], inputs


def _rest_unlinked_reason(estimator: Any) -> str | None:
    if not hasattr(estimator, "predict_proba"):
        return None
    return f"{ONE_VS_REST} divides the probabilities of each class against the rest by their sum"


def duel_parameters(estimator: Any, name: str) -> list[tuple[Floats, float]]:
    """The coefficients of all support vectors and the intercept, of each machine in order; regressors are one machine."""
    dual = np.atleast_2d(as_dense(estimator.dual_coef_)).astype(np.float64)
    biases = np.ravel(estimator.intercept_).astype(np.float64).tolist()
    classes = len(getattr(estimator, "classes_", ())) if name in {"SVC", "NuSVC"} else 0
    if classes <= 2:
        return [(np.ravel(dual), biases[0])]
    ends = np.cumsum(estimator.n_support_).tolist()
    owned = [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    if dual.shape != (classes - 1, ends[-1]) or len(biases) != len(vote_pairs(classes)):
        raise UnsupportedModel(
            f"{name} has coefficients that do not fit {classes} classes", hint="it was changed after fitting"
        )
    machines = []
    for (i, j), bias in zip(vote_pairs(classes), biases, strict=True):
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
            hint=f"OneVsRestClassifier({name}(...)) has one score for each class",
        )
    if estimator.break_ties:
        raise UnsupportedModel(
            f"{name}(break_ties=True) breaks ties of votes by sums of bent scores, which is no rule that can be verified",
            hint="fit it with break_ties=False (the default)",
        )
    return Head(labels=labels, rule="votes", unlinked=unlinked_reason(estimator, name))


def as_dense(values: Any) -> Any:
    """What was fitted on sparse columns, as the plain array that it stands for."""
    return values.toarray() if hasattr(values, "toarray") else np.asarray(values)


def unlinked_reason(estimator: Any, name: str) -> str | None:
    """Why a machine's own probabilities are no link: libsvm does not evaluate Platt's formula, it iterates towards it and
    stops within 0.005 (at 1/2 exactly for all that is near it), so a gap of the formula is no gap of `predict_proba`."""
    if name not in {"SVC", "NuSVC"} or getattr(estimator, "probability", None) is not True:
        return None
    return (
        f"{name}(probability=True) iterates towards the probability that it has fitted and stops up to 0.005 away; "
        "CalibratedClassifierCV(FrozenEstimator(model)) gives exact ones"
    )
