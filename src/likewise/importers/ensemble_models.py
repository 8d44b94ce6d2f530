"""Models of ensembles: one of all scores, of trees or affine where all that is added up is, else a sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import affine_body
from likewise.families.affine.rounding import AffineRounding, affine_rounding
from likewise.families.registry import family_of
from likewise.families.scored_model import Model, SeparateRounding
from likewise.families.settings import EXTRA_OPERATIONS
from likewise.families.sums.body import Sum, SumPart
from likewise.families.trees.adding import add_ensembles
from likewise.families.trees.body import scores_of_ensemble, tree_form
from likewise.importers.ensemble_answers import Answer, Term, rounding_of_terms
from likewise.model.embedding import join_embeddings
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from likewise.families.family import Rounding
    from likewise.importers.ensembles import Draft


def model_of_draft(draft: Draft, family: str) -> Model:
    """One model of all scores: of trees, affine, or a sum."""
    terms: list[Term] = []
    for answer in draft.scores:
        terms += [term for _, term in answer.terms if not any(term is known for known in terms)]
    rows = [_weights_of(answer, terms) for answer in draft.scores]
    if not terms:
        raise UnsupportedModel(f"{family} says the same of everybody", hint="fit it on more rows")
    biases = [answer.bias for answer in draft.scores]
    roundings = [rounding_of_terms(terms, row, bias) for row, bias in zip(rows, biases, strict=True)]
    if not draft.described:
        roundings = [replace(rounding, bounded=False) for rounding in roundings]
    if all(term.link.kind == "identity" and tree_form(term.model.body) is not None for term in terms):
        made = _as_trees(terms, rows, biases)
    elif all(term.link.kind == "identity" and affine_body(term.model.body) is not None for term in terms):
        made = _as_affine(terms, rows, biases, family)
        if not draft.described:
            made = [replace(part, rounding=_unbounded(part.rounding)) for part in made]
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


def _unbounded(rounding: Rounding | None) -> AffineRounding | None:
    known = affine_rounding(rounding)
    return None if known is None else replace(known, described=False, bounded=False)


def _weights_of(answer: Answer, terms: Sequence[Term]) -> tuple[Fraction, ...]:
    return tuple(sum((w for w, one in answer.terms if one is term), Fraction(0)) for term in terms)


def _plain(body: Any, embedding: Any = ()) -> Model:
    return Model(family="", rounding=None, embedding=embedding, bodies=(body,), head=NUMBER_HEAD)


def _as_trees(
    terms: Sequence[Term], rows: Sequence[Sequence[Fraction]], biases: Sequence[Fraction]
) -> list[Model]:
    forms = [tree_form(term.model.body) for term in terms]
    scores = [
        [(w, form) for w, form in zip(row, forms, strict=True) if w and form is not None] for row in rows
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
        body = affine_body(kind.form(bodies, tuple(row)))
        if body is not None:
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
    sizes, constant, operations = [Fraction(0)] * width, Fraction(0), 0
    described, bounded, crude, unit = True, True, False, 1
    for model, place, weight in zip(models, places, row, strict=True):
        rounding = affine_rounding(model.rounding)
        if rounding is None:
            raise UnsupportedModel(f"no rounding is known of {model.family}", hint="verify it by itself")
        for column, size in zip(place, rounding.sizes, strict=True):
            sizes[column] += abs(weight) * size
        constant += abs(weight) * rounding.constant
        operations = max(operations, rounding.operations)
        described, bounded = described and rounding.described, bounded and rounding.bounded
        crude, unit = crude or rounding.crude, max(unit, rounding.unit)
    return AffineRounding(
        sizes=tuple(sizes),
        constant=constant + unit * abs(bias),
        operations=operations + len(models) + EXTRA_OPERATIONS,
        described=described and unit == 1,  # numbers beyond single precision are not looked for
        bounded=bounded,
        crude=crude,
        unit=unit,
    )


def _as_sums(
    terms: Sequence[Term], rows: Sequence[Sequence[Fraction]], biases: Sequence[Fraction]
) -> list[Model]:
    for term in terms:
        if term.model.body.family == "nested":
            raise UnsupportedModel(
                f"{term.model.family} is a median, or tests columns that mix or bend features, and is added up with others",
                hint="verify it by itself",
            )
    parts = tuple(
        SumPart(body=term.model.body, embedding=term.model.embedding, link=term.link) for term in terms
    )
    return [
        _plain(Sum(parts=parts, weights=tuple(row), bias=bias))
        for row, bias in zip(rows, biases, strict=True)
    ]
