"""Ensembles and stacks: estimators that add up what other estimators say, each read for itself and compared with its own program, then all together.

    VotingClassifier (soft)            mean of the members' probabilities
    VotingClassifier (hard)            as many votes a class; of those with the most the first one
    VotingRegressor, BaggingRegressor  mean of predictions
    BaggingClassifier                  mean of probabilities, or the share of votes where the members have none
    AdaBoostClassifier                 votes weighed
    StackingClassifier, -Regressor     a linear model of the members' probabilities, scores or predictions, and of the columns themselves (`passthrough`)
    CalibratedClassifierCV (folds)     mean of the calibrated probabilities

What a member answers is a sum (`ensemble_answers`), and so is what the ensemble makes of that. Sums of affine scores are affine and sums of trees are trees, exactly (`ensemble_models`); what is left is of the family of sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import affine_body
from likewise.families.scored_model import Model
from likewise.families.sums.body import sum_body
from likewise.families.sums.links import Link
from likewise.families.trees.body import tree_form
from likewise.importers.ensemble_answers import (
    ONE,
    Answer,
    Term,
    added,
    calibrated_probability,
    has_upper_probability,
    logistic_answer,
    plain_score,
    probabilities,
    refuse_sum,
    upper_probability,
    votes,
)
from likewise.importers.registry import class_name, find_score_reader
from likewise.importers.score_models import python_labels
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from likewise.importers.imported_model import ImportedModel

MOST_MEMBERS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The scores of an ensemble and how they decide; `asked` shows its scores where it does not itself, of what the steps before the ensemble make of rows, or of `raw` rows; `described`: what
    its program rounds besides is not more than adding up."""

    scores: tuple[Answer, ...]
    head: Head
    asked: Any = None
    raw: bool = False
    described: bool = True


MemberReader = Callable[
    [Any, Sequence[int] | None], "ImportedModel"
]  # of a member, and the columns that it sees


# -- estimators ---------------------------------------------------------------------------------------------------------


def draft_ensemble(estimator: Any, read: MemberReader) -> Draft:
    """What an ensemble adds up."""
    kind = class_name(estimator)
    if not hasattr(
        estimator, "calibrated_classifiers_" if kind == "CalibratedClassifierCV" else "estimators_"
    ):
        raise UnsupportedModel(f"{kind} is not fitted", hint="call fit(X, y) first")
    return DRAFTERS[kind](estimator, read)


def _members(estimator: Any, read: MemberReader) -> list[Model]:
    every = list(estimator.estimators_)
    if len(every) > MOST_MEMBERS:
        raise UnsupportedModel(
            f"{type(estimator).__name__} has {len(every):,} members; at most {MOST_MEMBERS:,} are supported",
            hint="fit it with a smaller n_estimators",
        )
    chosen = getattr(estimator, "estimators_features_", None)
    columns = [None] * len(every) if chosen is None else [_columns_seen(one, estimator) for one in chosen]
    return [read(one, seen).model for one, seen in zip(every, columns, strict=True)]


def _columns_seen(places: Any, estimator: Any) -> list[int] | None:
    seen = [int(place) for place in places]
    return None if seen == list(range(estimator.n_features_in_)) else seen


def two_or_more(estimator: Any) -> tuple[object, ...]:
    """The labels of a classifier of one of two or more."""
    classes = estimator.classes_
    if isinstance(classes, list) or len(classes) < 2 or np.ndim(classes) != 1:
        raise UnsupportedModel(
            f"{type(estimator).__name__} was fitted on several labels at once, or on one class",
            hint="fit one model for each label",
        )
    return python_labels(classes)


def all_trees(models: Sequence[Model]) -> bool:
    """Whether nothing but trees is added up."""
    return all(tree_form(model.bodies[0]) is not None and model.head.link == "identity" for model in models)


def _voted(estimator: Any, read: MemberReader) -> Draft:
    models, labels = _members(estimator, read), two_or_more(estimator)
    given = estimator._weights_not_none
    weights = [ONE] * len(models) if given is None else [Fraction(float(weight)) for weight in given]
    if min(weights) < 0 or sum(weights) <= 0:
        raise UnsupportedModel(
            "VotingClassifier has weights that are negative, or all 0", hint="use positive weights"
        )
    if estimator.voting == "soft":
        shares = [weight / sum(weights) for weight in weights]
        return _mean_of_probabilities(models, shares, labels)
    if len(labels) != 2:
        raise UnsupportedModel(
            f"VotingClassifier(voting='hard') counts votes for {len(labels)} classes",
            hint="votes are supported for two classes",
        )
    each = [votes(model) for model in models]
    scores = tuple(added([answer[c] for answer in each], weights) for c in range(2))
    return Draft(
        scores=scores, head=Head(labels=labels, rule="argmax"), asked=CountedVotes(estimator, weights)
    )


class CountedVotes:
    """How many votes each class gets, by the ensemble's own count."""

    def __init__(self, estimator: Any, weights: Sequence[Fraction]) -> None:
        self.estimator, self.weights = estimator, [float(weight) for weight in weights]

    def decision_function(self, X: Any) -> Any:
        """A column a class."""
        chosen = self.estimator.transform(X)
        return np.stack([((chosen == c) * self.weights).sum(axis=1) for c in range(2)], axis=1)


def _mean_of_probabilities(
    models: Sequence[Model], shares: Sequence[Fraction], labels: tuple[object, ...]
) -> Draft:
    each = [probabilities(model, trees=all_trees(models)) for model in models]
    return Draft(
        scores=_added_classes(each, shares, len(labels)),
        head=Head(labels=labels, rule="argmax", link="identity"),
    )


def _added_classes(
    each: Sequence[Sequence[Answer]], shares: Sequence[Fraction], count: int
) -> tuple[Answer, ...]:
    if any(len(answers) != count for answers in each):
        raise UnsupportedModel(
            "a member knows other classes than the whole ensemble", hint="fit it on more rows of every class"
        )
    return tuple(added([answers[c] for answers in each], shares) for c in range(count))


def _mean_of_predictions(estimator: Any, read: MemberReader) -> Draft:
    models = _members(estimator, read)
    given = getattr(estimator, "_weights_not_none", None)
    weights = [ONE] * len(models) if given is None else [Fraction(float(weight)) for weight in given]
    if sum(weights) == 0:
        raise UnsupportedModel("the weights of VotingRegressor add up to 0", hint="use positive weights")
    shares = [weight / sum(weights) for weight in weights]
    return Draft(scores=(added([_prediction(model) for model in models], shares),), head=NUMBER_HEAD)


def _prediction(model: Model) -> Answer:
    if model.head.link == "exponential":
        raise UnsupportedModel(
            f"{model.family} predicts the exponential of its score, which is added up as it is",
            hint="verify it by itself",
        )
    if model.head.labels is not None:
        raise UnsupportedModel(f"{model.family} predicts a label, which is no number", hint="use regressors")
    return plain_score(model)


def _bagged(estimator: Any, read: MemberReader) -> Draft:
    labels = two_or_more(estimator)
    models = _members(estimator, read)
    shares = [Fraction(1, len(models))] * len(models)
    if all(hasattr(one, "predict_proba") for one in estimator.estimators_):
        return _mean_of_probabilities(models, shares, labels)
    if len(labels) != 2 or any(hasattr(one, "predict_proba") for one in estimator.estimators_):
        raise UnsupportedModel(
            "BaggingClassifier counts votes for more than two classes", hint="use members with predict_proba"
        )
    scores = _added_classes([votes(model) for model in models], shares, 2)
    return Draft(scores=scores, head=Head(labels=labels, rule="argmax", link="identity"))


def _boosted(estimator: Any, read: MemberReader) -> Draft:
    labels = two_or_more(estimator)
    if len(labels) != 2:
        raise UnsupportedModel(
            "AdaBoostClassifier counts votes for more than two classes",
            hint="it is supported over single trees, or for two classes",
        )
    models = _members(estimator, read)
    weights = [Fraction(float(weight)) for weight in estimator.estimator_weights_][: len(models)]
    total = Fraction(float(estimator.estimator_weights_.sum()))
    if total <= 0:
        raise UnsupportedModel("AdaBoostClassifier has fitted no weights", hint="fit it again")
    score = added([votes(model)[1] for model in models], [4 * weight / total for weight in weights])
    score = replace(score, bias=score.bias - 2 * sum(weights) / total)
    return Draft(scores=(score,), head=Head(labels=labels, link="logistic"))


def _calibrated(estimator: Any, read: MemberReader) -> Draft:
    labels = two_or_more(estimator)
    if len(labels) != 2:
        raise UnsupportedModel(
            f"CalibratedClassifierCV around a classifier of {len(labels)} classes is not supported: it normalises the calibrated probabilities of each class against the rest",
            hint="verify the classifiers inside of it",
        )
    answers = [
        calibrated_fold(read(found.estimator, None).model, found)
        for found in estimator.calibrated_classifiers_
    ]
    upper = added(answers, [Fraction(1, len(answers))] * len(answers))
    return Draft(
        scores=(upper.less_than_one(), upper), head=Head(labels=labels, rule="argmax", link="identity")
    )


def calibrated_fold(model: Model, found: Any) -> Answer:
    """The calibrated probability of one classifier: of its score, or of its probability where it shows no score."""
    if found.method not in ("sigmoid", "isotonic"):
        raise UnsupportedModel(
            f"CalibratedClassifierCV(method={found.method!r}) is not supported",
            hint="calibrate with method='sigmoid'",
        )
    score, (calibrator,) = _calibrated_score(model, found.estimator), found.calibrators
    if found.method == "isotonic":
        table = Link(kind="table", knots=isotonic_knots(calibrator))
        if score is None:
            return calibrated_probability(model, table)
        if sum_body(score.bodies[0]) is not None:
            refuse_sum(score)
        return Answer(terms=((ONE, Term(model=score, link=table)),))
    slope, offset = -Fraction(float(calibrator.a_)), -Fraction(float(calibrator.b_))
    if score is not None or slope == 0:
        return logistic_answer(model if score is None else score, slope, offset)
    if slope > 0:
        return calibrated_probability(model, Link(kind="logistic", slope=slope, offset=offset))
    return calibrated_probability(model, Link(kind="logistic", slope=-slope, offset=-offset)).less_than_one()


def isotonic_knots(calibrator: Any) -> tuple[tuple[Fraction, Fraction, Fraction, Fraction], ...]:
    """Where a fitted isotonic regression bends, and its values there."""
    places, values = calibrator.X_thresholds_.tolist(), calibrator.y_thresholds_.tolist()
    return tuple((Fraction(t), *(Fraction(value),) * 3) for t, value in zip(places, values, strict=True))


def _calibrated_score(model: Model, estimator: Any) -> Model | None:
    """What a calibration looks at: the score, or a probability that is a score of the model; None where it is the logistic function of one."""
    if model.head.rule == "sign" and hasattr(estimator, "decision_function"):
        return model
    if has_upper_probability(model):
        return replace(upper_probability(model), head=NUMBER_HEAD)
    if model.head.link in ("logistic", "softmax"):
        return None
    raise UnsupportedModel(
        f"CalibratedClassifierCV calibrates the probability of {model.family}, which is no function of one score, and adds that up",
        hint="calibrate a classifier with a decision_function",
    )


# -- stacks -------------------------------------------------------------------------------------------------------------


def _stacked(estimator: Any, read: MemberReader) -> Draft:
    models = _members(estimator, read)
    columns = _stacked_columns(estimator, models)
    final, width = estimator.final_estimator_, estimator.n_features_in_ if estimator.passthrough else 0
    linear = _linear_scores(final, len(columns) + width)
    scores = []
    for given in linear.bodies:
        body = affine_body(given)
        if body is None:
            raise UnsupportedModel(
                f"{type(final).__name__} over members is no linear model",
                hint="stack with LogisticRegression or Ridge",
            )
        answer = added(columns, body.weights[: len(columns)])
        answer = replace(answer, bias=answer.bias + body.bias)
        if width and any(body.weights[len(columns) :]):
            own = _linear_member(body.weights[len(columns) :])
            answer = replace(answer, terms=(*answer.terms, (ONE, Term(model=read(own, None).model))))
        scores.append(answer)
    head = linear.head if linear.head.labels is None else replace(linear.head, labels=two_or_more(estimator))
    return Draft(scores=tuple(scores), head=head)


def _stacked_columns(estimator: Any, models: Sequence[Model]) -> list[Answer]:
    trees = all_trees([model for model in models if model.head.labels is not None])
    columns: list[Answer] = []
    for model, method in zip(models, estimator.stack_method_, strict=True):
        if method == "predict_proba":
            found = probabilities(model, trees=trees)
            columns += found[1:] if len(found) == 2 else found
        elif method == "decision_function" and model.head.rule == "sign":
            columns.append(plain_score(model))
        elif method == "predict":
            columns.append(_prediction(model))
        else:
            raise UnsupportedModel(
                f"{type(estimator).__name__} takes the scores of {model.family}, one a class",
                hint="stack with stack_method='predict_proba'",
            )
    return columns


def _linear_scores(final: Any, width: int) -> Any:
    """The final estimator as a linear model of its columns."""
    from likewise.importers.pipelines import placeholder_columns
    from likewise.importers.score_models import join_scores

    kind = type(final).__name__
    try:
        return join_scores(find_score_reader(final)(final, placeholder_columns(width)))
    except UnsupportedModel as error:
        raise UnsupportedModel(
            f"the final estimator of a stack is {kind}, and linear ones are supported: {error.message}",
            hint="stack with LogisticRegression, Ridge or another linear model",
        ) from error


def _linear_member(weights: Sequence[Fraction]) -> Any:
    """A linear model of the columns themselves."""
    from sklearn.linear_model import LinearRegression

    made = LinearRegression()
    made.coef_, made.intercept_, made.n_features_in_ = (
        np.array([float(w) for w in weights]),
        0.0,
        len(weights),
    )
    return made


DRAFTERS: dict[str, Callable[[Any, MemberReader], Draft]] = {
    "VotingClassifier": _voted,
    "VotingRegressor": _mean_of_predictions,
    "BaggingClassifier": _bagged,
    "BaggingRegressor": _mean_of_predictions,
    "AdaBoostClassifier": _boosted,
    "StackingClassifier": _stacked,
    "StackingRegressor": _stacked,
    "CalibratedClassifierCV": _calibrated,
}
