"""Answers of members of ensembles, as sums: a bias and multiples of scores, some through a link (`families.sums.links`).

The probability of a logistic model is sigma of its score, a vote is a step, a prediction is the score itself. Of two classes a forest's probabilities are taken from
their lead, P = 1/2 +- (f_1 - f_0) / 2, wherever it stands beside other models: so that ties are ties, and as leaves add up to 1 but for rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn, cast

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.program_rounding import DOUBLE_BITS, SINGLE_BITS, program_bits
from likewise.families.registry import family_of
from likewise.families.scored_model import Model, SeparateRounding, form_body
from likewise.families.settings import EXTRA_OPERATIONS
from likewise.families.sums.body import sum_body
from likewise.families.sums.chains import Chain
from likewise.families.sums.links import IDENTITY, Link, vote_link
from likewise.families.sums.rounding import SumRounding, sum_rounding
from likewise.families.trees.adding import add_ensembles
from likewise.families.trees.body import LEAF, scores_of_ensemble, tree_form
from likewise.families.trees.rounding import TreeRounding, tree_rounding
from likewise.importers.trees.tree_model import largest_sum
from likewise.model.head import NUMBER_HEAD, Head

ONE, HALF = Fraction(1), Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Term:
    """A score of its own model, through a link; `slack` is what its values may be off by as mathematics."""

    model: Model
    link: Link | Chain = IDENTITY
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


def rounding_of_terms(terms: Sequence[Term], weights: Sequence[Fraction], bias: Fraction) -> SumRounding:
    """How a program rounds that adds these up."""
    slack = sum((abs(w) * term.slack for w, term in zip(weights, terms, strict=True)), Fraction(0))
    return SumRounding(
        parts=tuple(_with_likely_rounding(term.model) for term in terms),
        links=tuple(term.link for term in terms),
        weights=tuple(weights),
        bias=bias,
        slack=slack,
        bits=min(
            (program_bits(one.model) for one in terms if tree_form(one.model.body) is None),
            default=DOUBLE_BITS,
        ),
        bounded=all(term.model.rounding is not None for term in terms),
    )


def _with_likely_rounding(model: Model) -> Model:
    """What sums of leaves are usually off by, where nothing is known for sure: behind columns whose rounding may take a test the other way."""
    form = tree_form(model.body)
    if model.rounding is not None or form is None:
        return model
    likely = TreeRounding(
        constant=largest_sum(form.ensemble),
        operations=len(form.ensemble.trees) + EXTRA_OPERATIONS,
        bits=SINGLE_BITS,  # the coarsest arithmetic that scores are added up in
    )
    return replace(model, rounding=likely)


# -- what members answer ------------------------------------------------------------------------------------------------


def probabilities(model: Model, *, trees: bool) -> tuple[Answer, ...]:
    """Of each class; `trees`: nothing but trees is added up, so that each probability is taken as it is."""
    head = model.head
    if head.rule == "sign" and head.link == "logistic":
        upper = logistic_answer(model, head.slope, head.offset)
        return upper.less_than_one(), upper
    if head.rule == "argmax" and head.link == "identity":
        if sum_body(model.bodies[0]) or (trees and tree_form(model.bodies[0])):
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
        if sum_body(model.bodies[0]) is not None:
            refuse_sum(model)
        return upper.less_than_one(), upper
    if head.rule == "argmax" and model.n_scores == 2 and sum_body(model.bodies[0]) is None:
        upper = Answer(terms=((ONE, Term(model=_lead(model, ONE), link=vote_link(zero_counts=False))),))
        return upper.less_than_one(), upper
    if model.n_scores == 2:
        refuse_sum(model)
    raise UnsupportedModel(
        f"{model.family} votes among {len(head.classes)} classes", hint="votes are supported for two classes"
    )


def model_scores(model: Model) -> tuple[Answer, ...]:
    """All scores as they are."""
    return tuple(_score_answer(model, c) for c in range(model.n_scores))


def plain_score(model: Model) -> Answer:
    """The only score as it is."""
    return _score_answer(model, 0)


def logistic_answer(model: Model, slope: Fraction, offset: Fraction) -> Answer:
    """sigma(slope f + offset)."""
    if sum_body(model.bodies[0]) is not None:
        refuse_sum(model)
    if slope == 0:
        raise UnsupportedModel(
            f"{model.family} gives everybody the same probability", hint="calibrate on more rows"
        )
    if slope > 0:
        link = Link(kind="logistic", slope=slope, offset=offset)
        return Answer(terms=((ONE, Term(model=model, link=link)),))
    link = Link(kind="logistic", slope=-slope, offset=-offset)
    return Answer(terms=((ONE, Term(model=model, link=link)),)).less_than_one()


def calibrated_probability(model: Model, outer: Link) -> Answer:
    """A link of the probability of the second of two classes, which is the logistic function of a score: a chain of both."""
    (weight, term), *others = probabilities(model, trees=False)[1].terms
    inner = cast("Link", term.link)  # of this kind there are no others
    if others or inner.kind != "logistic":
        raise UnsupportedModel(
            f"{model.family} calibrates a probability already, and that is calibrated again",
            hint="calibrate once",
        )
    if weight > 0:
        return Answer(terms=((ONE, Term(model=term.model, link=Chain(inner=inner, outer=outer))),))
    # The probability is 1 - p, p the link of the term.
    turned = Term(model=term.model, link=Chain(inner=inner, outer=outer.mirrored()))
    return Answer(bias=outer.whole, terms=((-ONE, turned),))


def refuse_sum(model: Model) -> NoReturn:
    """Refuse what is made of a sum that is to be added up again."""
    raise UnsupportedModel(
        f"{model.family} adds up several models, and what is made of that sum is added up again",
        hint="take its members into the outer model, or verify it by itself",
    )


def _score_answer(model: Model, c: int) -> Answer:
    """One of the scores; those of sums by their terms."""
    body = sum_body(model.bodies[c])
    if body is None:
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
    found = sum_rounding(rounding)
    if found is None:
        raise UnsupportedModel(f"{model.family} is not described as a sum", hint="verify it by itself")
    return found


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
    form = tree_form(model.bodies[0])
    if form is not None:
        for tree in form.ensemble.trees:
            leaves = tree.values[tree.feature == LEAF]
            slack += tree.factor * Fraction(float(np.abs(leaves.sum(axis=1) - 1).max(initial=0.0)))
    return Answer(terms=((ONE, Term(model=_lead(model, HALF), slack=slack + Fraction(1, 2**50))),))


def has_upper_probability(model: Model) -> bool:
    """Whether the two scores of a model are the probabilities of two classes."""
    return model.head.rule == "argmax" and model.head.link == "identity" and model.n_scores == 2


def upper_probability(model: Model) -> Model:
    """The probability of the second of two classes as the only score."""
    head = Head(labels=model.head.labels, link="identity")
    form = tree_form(model.bodies[1])
    if form is None:
        return replace(_only(model, 1), head=head)
    ensemble = add_ensembles([[(ONE, form)]], [Fraction(0)])
    stated = tree_rounding(model.rounding)
    part = replace(model, bodies=scores_of_ensemble(ensemble), rounding=stated, head=NUMBER_HEAD)
    return replace(part, rounding=rounding_of_terms([Term(model=part)], [ONE], Fraction(0)), head=head)


class UpperProbability:
    """Shows the probability of the second of two classes as a score."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def decision_function(self, X: Any) -> Any:
        """One number a row."""
        return np.asarray(self.estimator.predict_proba(X), dtype=np.float64)[:, 1]

    predict_proba = decision_function  # of a score that is a probability
