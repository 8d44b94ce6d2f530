"""Ensembles and stacks: estimators that add up what other estimators say, each read for itself and compared with its own program, then all together.

    VotingClassifier (soft)            mean of the members' probabilities
    VotingClassifier (hard)            as many votes a class; of those with the most the first one
    VotingRegressor, BaggingRegressor  mean of predictions
    BaggingClassifier                  mean of probabilities, or the share of votes where the members have none
    AdaBoostClassifier                 votes weighed
    StackingClassifier, -Regressor     a linear model of the members' probabilities, scores or predictions, and of the columns themselves (`passthrough`)
    CalibratedClassifierCV (folds)     mean of the calibrated probabilities

An answer of a member is a sum too (`Answer`): a bias and multiples of scores, some through a link (`families.sums.links`): the probability of a logistic model is sigma of its score, a vote is a step. Of two classes a forest's
probabilities are taken from their lead, P = 1/2 +- (f_1 - f_0) / 2, wherever it stands beside other models: so that ties are ties, and as leaves add up to 1 but for
rounding. Sums of affine scores are affine and sums of trees are trees, exactly; what is left is of the family of sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.registry import family_of
from likewise.families.scored_model import Model, SeparateRounding, form_body
from likewise.families.settings import EXTRA_OPERATIONS
from likewise.families.sums.body import Sum, SumPart
from likewise.families.sums.links import IDENTITY, Link, vote_link
from likewise.families.sums.rounding import SumRounding
from likewise.families.trees.adding import add_ensembles
from likewise.families.trees.body import LEAF, TreeForm, scores_of_ensemble
from likewise.importers.registry import find_score_reader
from likewise.importers.score_models import python_labels
from likewise.model.embedding import join_embeddings
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from likewise.families.family import Rounding
    from likewise.importers.imported_model import ImportedModel

MOST_MEMBERS = 1000
ONE, HALF = Fraction(1), Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Term:
    """A score of its own model, through a link; `slack` is what its values may be off by as mathematics."""

    model: Model
    link: Link = IDENTITY
    slack: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """bias + sum of weight * term: one number that a member answers."""

    bias: Fraction = Fraction(0)
    terms: tuple[tuple[Fraction, Term], ...] = ()

    def times(self, factor: Fraction) -> Answer:
        return Answer(
            bias=factor * self.bias, terms=tuple((factor * weight, term) for weight, term in self.terms)
        )

    def less_than_one(self) -> Answer:
        """1 less this."""
        turned = self.times(Fraction(-1))
        return replace(turned, bias=1 + turned.bias)


def added(answers: Sequence[Answer], weights: Sequence[Fraction]) -> Answer:
    """Their weighed sum."""
    parts = [answer.times(weight) for answer, weight in zip(answers, weights, strict=True) if weight]
    return Answer(
        bias=sum((part.bias for part in parts), Fraction(0)),
        terms=tuple(term for part in parts for term in part.terms),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The scores of an ensemble and how they decide; `asked` shows its scores where it does not itself."""

    scores: tuple[Answer, ...]
    head: Head
    asked: Any = None


MemberReader = Callable[
    [Any, Sequence[int] | None], "ImportedModel"
]  # of a member, and the columns that it sees


# -- what members answer ------------------------------------------------------------------------------------------------


def probabilities(model: Model, *, trees: bool) -> tuple[Answer, ...]:
    """Of each class; `trees`: nothing but trees is added up, so that each probability is taken as it is."""
    head = model.head
    if head.rule == "sign" and head.link == "logistic":
        upper = _logistic_answer(model, head.slope, head.offset)
        return upper.less_than_one(), upper
    if head.rule == "argmax" and head.link == "identity":
        if isinstance(model.bodies[0], Sum) or (trees and isinstance(model.bodies[0], TreeForm)):
            return tuple(_score_answer(model, c) for c in range(model.n_scores))
        if model.n_scores == 2:
            half = _share_of_lead(model)
            return replace(half.times(Fraction(-1)), bias=HALF), replace(half, bias=HALF)
    if head.rule == "argmax" and head.link == "softmax" and model.n_scores == 2:
        upper = Answer(terms=((ONE, Term(model=_lead(model, ONE), link=Link(kind="logistic"))),))
        return upper.less_than_one(), upper
    raise UnsupportedModel(
        f"the probabilities of {model.family} with {len(head.classes)} classes are no functions of one score each",
        hint="two classes are supported, and any number where all members are forests",
    )


def votes(model: Model) -> tuple[Answer, Answer]:
    """1 for the class of two that is decided, 0 for the other one."""
    head = model.head
    if head.rule == "sign":
        link = vote_link(zero_counts=head.zero_is_upper)
        if head.undecided is not None:
            if head.slope < 0:
                raise UnsupportedModel(
                    f"the probability of {model.family} falls with its score", hint="calibrate on more rows"
                )
            place = -head.offset / head.slope
            link = replace(link, knots=((place, *link.knots[0][1:]),))
        upper = Answer(terms=((ONE, Term(model=model, link=link)),))
        if isinstance(model.bodies[0], Sum):
            _refuse_sum(model)
        return upper.less_than_one(), upper
    if head.rule == "argmax" and model.n_scores == 2 and not isinstance(model.bodies[0], Sum):
        upper = Answer(terms=((ONE, Term(model=_lead(model, ONE), link=vote_link(zero_counts=False))),))
        return upper.less_than_one(), upper
    if model.n_scores == 2:
        _refuse_sum(model)
    raise UnsupportedModel(
        f"{model.family} votes among {len(head.classes)} classes", hint="votes are supported for two classes"
    )


def plain_score(model: Model) -> Answer:
    """The only score as it is."""
    return _score_answer(model, 0)


def _logistic_answer(model: Model, slope: Fraction, offset: Fraction) -> Answer:
    """sigma(slope f + offset)."""
    if isinstance(model.bodies[0], Sum):
        _refuse_sum(model)
    if slope == 0:
        raise UnsupportedModel(
            f"{model.family} gives everybody the same probability", hint="calibrate on more rows"
        )
    if slope > 0:
        link = Link(kind="logistic", slope=slope, offset=offset)
        return Answer(terms=((ONE, Term(model=model, link=link)),))
    link = Link(kind="logistic", slope=-slope, offset=-offset)
    return Answer(terms=((ONE, Term(model=model, link=link)),)).less_than_one()


def _refuse_sum(model: Model) -> None:
    raise UnsupportedModel(
        f"{model.family} adds up several models, and what is made of that sum is added up again",
        hint="take its members into the outer model, or verify it by itself",
    )


def _score_answer(model: Model, c: int) -> Answer:
    """One of the scores; those of sums by their terms."""
    body = model.bodies[c]
    if not isinstance(body, Sum):
        return Answer(terms=((ONE, Term(model=_only(model, c))),))
    rounding = _rounding_of(model, c)
    terms = []
    for part, weight in zip(body.parts, body.weights, strict=True):
        place = next(i for i, known in enumerate(rounding.parts) if known.bodies[0] is part.body)
        if weight:
            terms.append((weight, Term(model=rounding.parts[place], link=part.link)))
    return Answer(bias=body.bias, terms=tuple(terms))


def _rounding_of(model: Model, c: int) -> SumRounding:
    rounding = (
        model.rounding.parts[c].rounding if isinstance(model.rounding, SeparateRounding) else model.rounding
    )
    if not isinstance(rounding, SumRounding):
        raise UnsupportedModel(f"{model.family} is not described as a sum", hint="verify it by itself")
    return rounding


def _only(model: Model, c: int) -> Model:
    """The model of one of the scores."""
    if model.n_scores == 1:
        return model
    rounding = (
        model.rounding.parts[c].rounding if isinstance(model.rounding, SeparateRounding) else model.rounding
    )
    return replace(model, bodies=(model.bodies[c],), rounding=rounding, head=NUMBER_HEAD)


def _lead(model: Model, share: Fraction) -> Model:
    """A share of the lead of the second class over the first."""
    family = family_of(model.bodies[0])
    if not family.leads:
        raise UnsupportedModel(
            f"{model.family} has a score a class, which are not compared here", hint="use another member"
        )
    rounding = family.rounding_of_lead(model.rounding, share)
    return replace(model, bodies=(form_body(model, (-share, share)),), rounding=rounding, head=NUMBER_HEAD)


def _share_of_lead(model: Model) -> Answer:
    slack = Fraction(0)
    if isinstance(model.bodies[0], TreeForm):
        for tree in model.bodies[0].ensemble.trees:
            leaves = tree.values[tree.feature == LEAF]
            slack += tree.factor * Fraction(float(np.abs(leaves.sum(axis=1) - 1).max(initial=0.0)))
    return Answer(terms=((ONE, Term(model=_lead(model, HALF), slack=slack + Fraction(1, 2**50))),))


# -- estimators ---------------------------------------------------------------------------------------------------------


def draft_ensemble(estimator: Any, read: MemberReader) -> Draft:
    """What an ensemble adds up."""
    kind = type(estimator).__name__
    if not hasattr(
        estimator, "calibrated_classifiers_" if kind == "CalibratedClassifierCV" else "estimators_"
    ):
        raise UnsupportedModel(f"{kind} is not fitted", hint="call fit(X, y) first")
    return DRAFTERS[kind](estimator, read)


def _members(estimator: Any, read: MemberReader) -> list[Model]:
    every = list(estimator.estimators_)
    if len(every) > MOST_MEMBERS:
        raise UnsupportedModel(
            f"{type(estimator).__name__} has {len(every):,} members; at most {MOST_MEMBERS:,} are supported"
        )
    chosen = getattr(estimator, "estimators_features_", None)
    columns = [None] * len(every) if chosen is None else [_columns_seen(one, estimator) for one in chosen]
    return [read(one, seen).model for one, seen in zip(every, columns, strict=True)]


def _columns_seen(places: Any, estimator: Any) -> list[int] | None:
    seen = [int(place) for place in places]
    return None if seen == list(range(estimator.n_features_in_)) else seen


def _two_or_more(estimator: Any) -> tuple[object, ...]:
    classes = estimator.classes_
    if isinstance(classes, list) or len(classes) < 2 or np.ndim(classes) != 1:
        raise UnsupportedModel(
            f"{type(estimator).__name__} was fitted on several labels at once, or on one class",
            hint="fit one model for each label",
        )
    return python_labels(classes)


def _all_trees(models: Sequence[Model]) -> bool:
    return all(isinstance(model.bodies[0], TreeForm) and model.head.link == "identity" for model in models)


def _voted(estimator: Any, read: MemberReader) -> Draft:
    models, labels = _members(estimator, read), _two_or_more(estimator)
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
    each = [probabilities(model, trees=_all_trees(models)) for model in models]
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
    labels = _two_or_more(estimator)
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
    labels = _two_or_more(estimator)
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
    labels = _two_or_more(estimator)
    if len(labels) != 2:
        raise UnsupportedModel(
            f"CalibratedClassifierCV around a classifier of {len(labels)} classes is not supported: it normalises the calibrated probabilities of each class against the rest",
            hint="verify the classifiers inside of it",
        )
    answers = []
    for found in estimator.calibrated_classifiers_:
        model = _calibrated_score(read(found.estimator, None).model, found.estimator)
        (calibrator,) = found.calibrators
        if found.method == "sigmoid":
            answers.append(
                _logistic_answer(model, -Fraction(float(calibrator.a_)), -Fraction(float(calibrator.b_)))
            )
        elif found.method == "isotonic":
            if isinstance(model.bodies[0], Sum):
                _refuse_sum(model)
            link = Link(kind="table", knots=isotonic_knots(calibrator))
            answers.append(Answer(terms=((ONE, Term(model=model, link=link)),)))
        else:
            raise UnsupportedModel(
                f"CalibratedClassifierCV(method={found.method!r}) is not supported",
                hint="calibrate with method='sigmoid'",
            )
    upper = added(answers, [Fraction(1, len(answers))] * len(answers))
    return Draft(
        scores=(upper.less_than_one(), upper), head=Head(labels=labels, rule="argmax", link="identity")
    )


def isotonic_knots(calibrator: Any) -> tuple[tuple[Fraction, Fraction, Fraction, Fraction], ...]:
    """Where a fitted isotonic regression bends, and its values there."""
    places, values = calibrator.X_thresholds_.tolist(), calibrator.y_thresholds_.tolist()
    return tuple((Fraction(t), *(Fraction(value),) * 3) for t, value in zip(places, values, strict=True))


def _calibrated_score(model: Model, estimator: Any) -> Model:
    """What a calibration looks at: the score, or the probability where there is no score."""
    if model.head.rule == "sign" and hasattr(estimator, "decision_function"):
        return model
    if model.head.rule == "argmax" and model.head.link == "identity" and model.n_scores == 2:
        return upper_probability(model)
    raise UnsupportedModel(
        f"CalibratedClassifierCV calibrates the probability of {model.family}, which shows no score, and adds that up",
        hint="calibrate a classifier with a decision_function, or without folds (ensemble=False)",
    )


def upper_probability(model: Model) -> Model:
    """The probability of the second of two classes as the only score."""
    body = model.bodies[1]
    if isinstance(body, TreeForm):
        (body,) = scores_of_ensemble(add_ensembles([[(ONE, body)]], [Fraction(0)]))
        made = replace(model, bodies=(body,))
    else:
        made = replace(_only(model, 1), bodies=(body,))
    return replace(made, head=Head(labels=model.head.labels, link="identity"))


class UpperProbability:
    """Shows the probability of the second of two classes as a score."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def decision_function(self, X: Any) -> Any:
        """One number a row."""
        return np.asarray(self.estimator.predict_proba(X), dtype=np.float64)[:, 1]


# -- stacks -------------------------------------------------------------------------------------------------------------


def _stacked(estimator: Any, read: MemberReader) -> Draft:
    models = _members(estimator, read)
    columns = _stacked_columns(estimator, models)
    final, width = estimator.final_estimator_, estimator.n_features_in_ if estimator.passthrough else 0
    linear = _linear_scores(final, len(columns) + width)
    scores = []
    for body in linear.bodies:
        if not isinstance(body, Affine):
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
    head = linear.head if linear.head.labels is None else replace(linear.head, labels=_two_or_more(estimator))
    return Draft(scores=tuple(scores), head=head)


def _stacked_columns(estimator: Any, models: Sequence[Model]) -> list[Answer]:
    trees = _all_trees([model for model in models if model.head.labels is not None])
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


# -- models -------------------------------------------------------------------------------------------------------------


def model_of_draft(draft: Draft, family: str) -> Model:
    """One model of all scores: of trees, affine, or a sum."""
    terms: list[Term] = []
    for answer in draft.scores:
        terms += [term for _, term in answer.terms if not any(term is known for known in terms)]
    rows = [_weights_of(answer, terms) for answer in draft.scores]
    if not terms:
        raise UnsupportedModel(f"{family} says the same of everybody", hint="fit it on more rows")
    biases = [answer.bias for answer in draft.scores]
    roundings = [_rounding(terms, row, bias) for row, bias in zip(rows, biases, strict=True)]
    if all(term.link.kind == "identity" and isinstance(term.model.body, TreeForm) for term in terms):
        made = _as_trees(terms, rows, biases)
    elif all(term.link.kind == "identity" and isinstance(term.model.body, Affine) for term in terms):
        made = _as_affine(terms, rows, biases, family)
        return _joined(made, [part.rounding for part in made], family, draft.head)
    else:
        made = _as_sums(terms, rows, biases)
    return _joined(made, roundings, family, draft.head)


def _joined(made: Sequence[Model], roundings: Sequence[Rounding | None], family: str, head: Head) -> Model:
    parts = [replace(one, family=family, rounding=known) for one, known in zip(made, roundings, strict=True)]
    return Model(
        family=family,
        rounding=parts[0].rounding if len(parts) == 1 else SeparateRounding(parts=tuple(parts)),
        embedding=parts[0].embedding,
        bodies=tuple(part.body for part in parts),
        head=head,
    )


def _weights_of(answer: Answer, terms: Sequence[Term]) -> tuple[Fraction, ...]:
    return tuple(sum((w for w, one in answer.terms if one is term), Fraction(0)) for term in terms)


def _rounding(terms: Sequence[Term], weights: Sequence[Fraction], bias: Fraction) -> SumRounding:
    slack = sum((abs(w) * term.slack for w, term in zip(weights, terms, strict=True)), Fraction(0))
    return SumRounding(
        parts=tuple(term.model for term in terms),
        links=tuple(term.link for term in terms),
        weights=tuple(weights),
        bias=bias,
        slack=slack,
    )


def _plain(body: Any, embedding: Any = ()) -> Model:
    return Model(family="", rounding=None, embedding=embedding, bodies=(body,), head=NUMBER_HEAD)


def _as_trees(
    terms: Sequence[Term], rows: Sequence[Sequence[Fraction]], biases: Sequence[Fraction]
) -> list[Model]:
    forms = [term.model.body for term in terms]
    scores = [
        [(w, form) for w, form in zip(row, forms, strict=True) if w and isinstance(form, TreeForm)]
        for row in rows
    ]
    return [_plain(body) for body in scores_of_ensemble(add_ensembles(scores, biases))]


def _as_affine(
    terms: Sequence[Term], rows: Sequence[Sequence[Fraction]], biases: Sequence[Fraction], family: str
) -> list[Model]:
    """Over the columns of all of them."""
    models = [term.model for term in terms]
    kind = family_of(models[0].body)
    embedding, bodies = kind.join(models, family)
    _, places = join_embeddings([model.embedding for model in models])
    made = []
    for row, bias in zip(rows, biases, strict=True):
        body = kind.form(bodies, tuple(row))
        if isinstance(body, Affine):
            rounding = _affine_rounding(models, places, row, bias, len(embedding))
            made.append(replace(_plain(replace(body, bias=body.bias + bias), embedding), rounding=rounding))
    return made


def _affine_rounding(
    models: Sequence[Model],
    places: Sequence[tuple[int, ...]],
    row: Sequence[Fraction],
    bias: Fraction,
    width: int,
) -> AffineRounding:
    """Each score goes through its own roundings, a product and the additions."""
    sizes, constant, operations = [Fraction(0)] * width, abs(bias), 0
    described = bounded = True
    for model, place, weight in zip(models, places, row, strict=True):
        rounding = model.rounding
        if not isinstance(rounding, AffineRounding):
            raise UnsupportedModel(f"no rounding is known of {model.family}", hint="verify it by itself")
        for column, size in zip(place, rounding.sizes, strict=True):
            sizes[column] += abs(weight) * size
        constant += abs(weight) * rounding.constant
        operations = max(operations, rounding.operations)
        described, bounded = described and rounding.described, bounded and rounding.bounded
    return AffineRounding(
        sizes=tuple(sizes),
        constant=constant,
        operations=operations + len(models) + EXTRA_OPERATIONS,
        described=described,
        bounded=bounded,
        crude=any(isinstance(model.rounding, AffineRounding) and model.rounding.crude for model in models),
    )


def _as_sums(
    terms: Sequence[Term], rows: Sequence[Sequence[Fraction]], biases: Sequence[Fraction]
) -> list[Model]:
    parts = tuple(
        SumPart(body=term.model.body, embedding=term.model.embedding, link=term.link) for term in terms
    )
    return [
        _plain(Sum(parts=parts, weights=tuple(row), bias=bias))
        for row, bias in zip(rows, biases, strict=True)
    ]
