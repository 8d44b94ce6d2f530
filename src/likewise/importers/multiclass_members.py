"""Estimators that make several classes of binary classifiers, where what they compare is a sum of what these say:

    OneVsOneClassifier (two classes)    the classifier inside decides
    OneVsOneClassifier                  the class with the most votes of classifiers of pairs; of those the one whose classifiers say most, all added up
    OneVsRestClassifier                 the class whose classifier says most; of classifiers that have a score of their own, but for trees, see `score_models`
    OutputCodeClassifier                the class whose code is nearest to what the classifiers say: of all c_k the one with the largest Y . c_k - |c_k|^2 / 2,
                                        as |Y - c|^2 = |Y|^2 - 2 (Y . c - |c|^2 / 2)

**One vs one.** The program compares v_k + c_k / (3 (|c_k| + 1)), v_k the votes for class k and c_k what classifiers say for it less what they say against it: c_k breaks ties of votes and never outweighs one. So does e c_k, as long as e |c_k| < 1/2 everywhere: the same class has the largest
v_k + e c_k, the first one of those that are level, and these are the scores that are shown. e is a power of two, from a bound of all c_k over the space.

A classifier says its decision function, or the probability of its upper label where it has none. What programs lose to rounding where they compare distances is not described: codes that are equally near to what
is said of individuals that were looked at, and not taken in their order, are refused (trees say the same of many).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.scored_model import Scores
from likewise.importers.ensemble_answers import (
    ONE,
    Answer,
    added,
    model_scores,
    plain_score,
    probabilities,
    votes,
)
from likewise.importers.ensembles import Draft, MemberReader, all_trees, two_or_more
from likewise.importers.score_models import refuse_last_of_ties
from likewise.importers.self_check import sample_codes
from likewise.model.head import Head

if TYPE_CHECKING:
    from likewise.families.scored_model import Model
    from likewise.importers.imported_model import ImportedModel
    from likewise.importers.replay import Replay
    from likewise.spec.space import Space

CONSTANT = "_ConstantPredictor"
HALF = Fraction(1, 2)


def draft_multiclass(estimator: Any, read: MemberReader) -> Draft:
    """What is compared."""
    kind = type(estimator).__name__
    if not hasattr(estimator, "estimators_"):
        raise UnsupportedModel(f"{kind} is not fitted", hint="call fit(X, y) first")
    return DRAFTERS[kind](estimator, read)


def _one_vs_one(estimator: Any, read: MemberReader) -> Draft:
    labels = two_or_more(estimator)
    if estimator.pairwise_indices_ is not None:
        raise UnsupportedModel(
            "OneVsOneClassifier takes distances between rows, not columns", hint="fit it on columns"
        )
    if len(labels) > 2:
        return _duels(estimator, labels, read)
    (inside,) = estimator.estimators_
    return _decided_inside(read(inside, None), labels, "OneVsOneClassifier shows no probabilities")


def _duels(estimator: Any, labels: tuple[object, ...], read: MemberReader) -> Draft:
    """Votes, and a small share of what is said, for each class."""
    found = [read(one, None) for one in estimator.estimators_]
    said = [
        _said(one.model, member, trees=False)
        for one, member in zip(found, estimator.estimators_, strict=True)
    ]
    cast = [votes(one.model) for one in found]
    share = _tie_breaking_share(found, len(labels))
    scores = [Answer() for _ in labels]
    for (i, j), number, (lower, upper) in zip(combinations(range(len(labels)), 2), said, cast, strict=True):
        scores[i] = added([scores[i], lower, number], [ONE, ONE, -share])
        scores[j] = added([scores[j], upper, number], [ONE, ONE, share])
    return Draft(
        scores=tuple(scores),
        head=Head(labels=labels, rule="argmax", unlinked="OneVsOneClassifier shows no probabilities"),
        asked=ShownVotes(estimator.estimators_, len(labels), float(share)),
        described=False,
    )


def _tie_breaking_share(found: Sequence[ImportedModel], classes: int) -> Fraction:
    """A power of two that all that is said for a class, times it, stays below 1/2 with."""
    largest = Fraction(1)  # probabilities are no larger
    for one in found:
        rounding, space = one.model.rounding, one.recoding.space
        known = None if rounding is None else rounding.bound(one.model, space)
        if known is None:
            raise UnsupportedModel(
                f"OneVsOneClassifier of {classes} classes breaks ties of votes by what {one.model.family} says, of which no bound is known",
                hint="OneVsRestClassifier has any number of classes",
            )
        largest = max(largest, Fraction(known.size))
    return Fraction(1, 2 ** (ceil(4 * classes * largest)).bit_length())


class ShownVotes:
    """Votes and a share of what is said, by the classifiers' own answers."""

    def __init__(self, members: Sequence[Any], classes: int, share: float) -> None:
        self.members, self.classes, self.share = members, classes, share

    def decision_function(self, X: Any) -> Any:
        """A column a class."""
        shown = np.zeros((len(X) if hasattr(X, "__len__") else X.shape[0], self.classes))
        for (i, j), one in zip(combinations(range(self.classes), 2), self.members, strict=True):
            upper = np.ravel(one.predict(X)) == 1
            number = self.share * (
                np.ravel(one.decision_function(X))
                if hasattr(one, "decision_function")
                else np.asarray(one.predict_proba(X))[:, 1]
            )
            shown[:, i] += ~upper - number
            shown[:, j] += upper + number
        return shown


def _decided_inside(
    found: ImportedModel, labels: tuple[object, ...], unlinked: str, *, zero_is_upper: bool | None = None
) -> Draft:
    """Decisions of a classifier of 0 and 1, by other labels; `zero_is_upper` where its own decision at 0 does not count."""
    model = found.model
    if model.head.undecided is not None:
        raise UnsupportedModel(f"{model.family}: {model.head.undecided}", hint="use the model inside of it")
    head = replace(
        model.head, labels=labels, link=None, slope=Fraction(1), offset=Fraction(0), unlinked=unlinked
    )
    if zero_is_upper is not None and head.rule == "sign":
        head = replace(head, zero_is_upper=zero_is_upper)
    return Draft(scores=model_scores(model), head=head, asked=ShownMember(found.replay), raw=True)


class ShownMember:
    """The scores of the only classifier inside, asked as its own program is."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def decision_function(self, X: Any) -> Any:
        """Of raw rows."""
        return self.replay.scores_of(X)


def _one_vs_rest(estimator: Any, read: MemberReader) -> Draft:
    labels = two_or_more(estimator)
    if estimator.multilabel_:
        raise UnsupportedModel(
            "OneVsRestClassifier was fitted on several labels at once, each of which an individual may have or not",
            hint="fit one model for each label",
        )
    unlinked = "OneVsRestClassifier divides the probabilities of each class against the rest by their sum"
    if len(labels) == 2:
        return _decided_inside(read(estimator.estimators_[0], None), labels, unlinked, zero_is_upper=False)
    refuse_last_of_ties(estimator)
    said = _said_by(estimator.estimators_, read)
    weights = np.eye(len(labels))
    return Draft(
        scores=tuple(said),
        head=Head(labels=labels, rule="argmax", unlinked=unlinked),
        asked=ShownCodes(estimator.estimators_, weights, np.zeros(len(labels))),
    )


def _output_code(estimator: Any, read: MemberReader) -> Draft:
    labels = two_or_more(estimator)
    book = np.asarray(estimator.code_book_, dtype=np.float64)
    said = _said_by(estimator.estimators_, read)
    scores = []
    for row in book.tolist():
        code = [Fraction(value) for value in row]
        answer = added(said, code)
        scores.append(
            replace(answer, bias=answer.bias - sum((value * value for value in code), Fraction(0)) / 2)
        )
    return Draft(
        scores=tuple(scores),
        head=Head(labels=labels, rule="argmax", unlinked="OutputCodeClassifier shows no probabilities"),
        asked=ShownCodes(estimator.estimators_, book, -0.5 * (book**2).sum(axis=1)),
        described=False,
    )


def refuse_rounded_ties(model: Model, replay: Replay, space: Space, rows: Any) -> None:
    """Refuse codes that are equally near to what classifiers say of somebody, where the program, which compares rounded distances, does not take the first class."""
    codes = replay.inputs.recoding.settled(sample_codes(space, rows))
    scores = [part.reference_scores(codes) for part in Scores(model, len(space)).parts]
    labels = replay.decisions(codes)
    for i, values in enumerate(zip(*scores, strict=True)):
        if labels[i] != model.head.decide(values):
            who = ", ".join(f"{name}={space.value(k, codes[i, k])}" for k, name in enumerate(space.names))
            raise UnsupportedModel(
                f"two codes of {model.family} are equally near at {who}, and which class it takes there depends on how it rounds",
                hint="OneVsRestClassifier takes the first of level classes, or use classifiers inside that have a score",
            )


def _said_by(members: Sequence[Any], read: MemberReader) -> list[Answer]:
    """The number that each classifier says; those that were fitted on one class only say that."""
    models = [None if type(one).__name__ == CONSTANT else read(one, None).model for one in members]
    trees = all_trees([model for model in models if model is not None])
    return [
        Answer(bias=Fraction(float(np.ravel(one.y_)[0]))) if model is None else _said(model, one, trees=trees)
        for model, one in zip(models, members, strict=True)
    ]


def _said(model: Model, member: Any, *, trees: bool) -> Answer:
    if model.head.labels is None:
        raise UnsupportedModel(f"{model.family} predicts a number", hint="use classifiers")
    if not hasattr(member, "decision_function"):
        return probabilities(model, trees=trees)[1]
    if model.head.rule != "sign":
        raise UnsupportedModel(f"{model.family} shows a score a class", hint="use another classifier inside")
    return plain_score(model)


class ShownCodes:
    """What is compared, by the classifiers' own answers."""

    def __init__(self, members: Sequence[Any], weights: Any, biases: Any) -> None:
        self.members, self.weights, self.biases = members, weights, biases

    def decision_function(self, X: Any) -> Any:
        """A column a class."""
        said = [
            np.ravel(one.decision_function(X))
            if hasattr(one, "decision_function")
            else np.asarray(one.predict_proba(X))[:, 1]
            for one in self.members
        ]
        return np.stack(said, axis=1).astype(np.float64) @ self.weights.T + self.biases


DRAFTERS = {
    "OneVsOneClassifier": _one_vs_one,
    "OneVsRestClassifier": _one_vs_rest,
    "OutputCodeClassifier": _output_code,
}
