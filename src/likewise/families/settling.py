"""Settling: the score of a model with some features fixed, in one or several settings v, whatever they are.

    mean   keep f(x) + (1 - keep) sum_v weight_v f(z, v)      max   max_v f(z, v)      min   min_v f(z, v)

x = (z, u) with u the features that are fixed. With keep = 0 the result does not depend on u at all. Means of affine bodies and of polynomials are
affine and polynomial again, exactly, and those of trees are trees (`pruning`); everything else is a combined body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from likewise.families.affine.body import Affine
from likewise.families.combined.score import Combined, How, Part, SimpleBody
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.scored import CombinedRounding, Model, Rounding, TreeRounding
from likewise.families.trees.body import TreeForm, TreeSum, scores_of_ensemble
from likewise.families.trees.pruning import Setting, different_sums, mean_of_trees
from likewise.model.embedding import Column

MORE_OPERATIONS = 6  # of a weight and its product with a score
DOUBLE = 53  # bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings with their weights (of a mean; >= 0, their sum 1), and the share of the score that is kept as it is."""

    how: How
    codes: tuple[Setting, ...]
    weights: tuple[Fraction, ...]
    keep: Fraction = Fraction(0)


def settled(model: Model, settings: Settings) -> Model:
    """The model whose score is that of `model`, settled."""
    if isinstance(model.body, TreeForm):
        return _settled_trees(model, model.body, settings)
    parts = [replace(model, embedding=fixed(model.embedding, codes)) for codes in settings.codes]
    weights = list(settings.weights)
    if settings.how == "mean" and settings.keep:
        parts = [model, *parts]
        weights = [settings.keep, *((1 - settings.keep) * weight for weight in weights)]
    if len(parts) == 1:
        return parts[0]
    rounding = CombinedRounding(parts=tuple(parts))
    if settings.how == "mean" and isinstance(model.body, Affine) and isinstance(model.rounding, Rounding):
        return _mean_of_affine(model, model.body, model.rounding, settings)
    if settings.how == "mean" and isinstance(model.body, PolynomialSum):
        return replace(model, bodies=(_mean_of_polynomials(parts, weights),), rounding=rounding)
    return _combined(model, settings.how, weights if settings.how == "mean" else (), parts)


def _combined(model: Model, how: How, weights: Sequence[Fraction], parts: Sequence[Model]) -> Model:
    """What is made of the scores of the parts."""
    bodies = tuple(Part(body=simple(one), embedding=one.embedding) for one in parts)
    return replace(
        model,
        embedding=(),
        bodies=(Combined(how=how, weights=tuple(weights), parts=bodies),),
        rounding=CombinedRounding(parts=tuple(parts)),
    )


def fixed(embedding: Sequence[Column], codes: Setting) -> tuple[Column, ...]:
    """The same columns, those of the fixed features constant."""
    return tuple(
        _constant(column, codes[column.feature]) if column.feature in codes else column
        for column in embedding
    )


def simple(model: Model) -> SimpleBody:
    """The body of a model that is not combined."""
    if isinstance(model.body, Combined):
        raise TypeError("combined bodies are not combined")
    return model.body


# -- trees ------------------------------------------------------------------------------------------------


def _settled_trees(model: Model, body: TreeForm, settings: Settings) -> Model:
    """A mean of trees is a sum of trees; the largest or smallest sum is one only where all of them are the same."""
    if not body.whole:
        raise TypeError("forms of several scores of trees are not settled")
    if settings.how == "mean":
        mean, rounding = settled_sum(body.ensemble, settings), model.rounding
        if isinstance(rounding, TreeRounding):
            rounding = rounding_of_mean(rounding, mean, len(settings.codes))
        return replace(model, bodies=scores_of_ensemble(mean), rounding=rounding)
    sums = different_sums(body.ensemble, settings.codes)
    parts = [replace(model, bodies=scores_of_ensemble(one)) for one in sums]
    return parts[0] if len(parts) == 1 else _combined(model, settings.how, (), parts)


def settled_sum(body: TreeSum, settings: Settings) -> TreeSum:
    """The mean, with any number of scores: the share that is kept is one of a setting that fixes nothing."""
    weights = [(1 - settings.keep) * weight for weight in settings.weights]
    return mean_of_trees(body, ({}, *settings.codes), (settings.keep, *weights))


def rounding_of_mean(rounding: TreeRounding, mean: TreeSum, settings: int) -> TreeRounding:
    """The program scores every setting, off by no more than before as no sum of leaves is larger, and takes the mean in float64: so many additions,
    and a few products. (1 + 2^-53)^k <= 1 + 2^-24 for k up to 2^28: of what is added up in float32, they cost one operation more.
    A certificate states as many operations as it has trees, or more."""
    more = settings + MORE_OPERATIONS
    if rounding.bits < DOUBLE:
        more = -(-more // 2**28)
    return replace(rounding, operations=max(rounding.operations + more, len(mean.trees)))


# -- other families ---------------------------------------------------------------------------------------


def _constant(column: Column, code: Fraction) -> Column:
    value = column.exact(code)
    if column.table is not None:
        return Column(feature=column.feature, table=(value,) * len(column.table))
    return Column(feature=column.feature, slope=Fraction(0), offset=value)


def _mean_of_affine(model: Model, body: Affine, rounding: Rounding, settings: Settings) -> Model:
    """Columns of fixed features count with the share that is kept; the rest of them goes into the bias.

    The program scores every setting and takes the mean: each score is off by at most what its terms allow, and no setting has larger terms of
    fixed features than the one with the largest.
    """
    places = [c for c, column in enumerate(model.embedding) if column.feature in settings.codes[0]]
    share = dict.fromkeys(places, settings.keep)
    bias, largest = body.bias, Fraction(0)
    for codes, weight in zip(settings.codes, settings.weights, strict=True):
        values = {c: model.embedding[c].exact(codes[model.embedding[c].feature]) for c in places}
        bias += (
            (1 - settings.keep) * weight * sum((body.weights[c] * v for c, v in values.items()), Fraction(0))
        )
        largest = max(largest, sum((rounding.sizes[c] * abs(v) for c, v in values.items()), Fraction(0)))
    kept = [c for c in range(len(model.embedding)) if share.get(c, Fraction(1))]
    more = replace(
        rounding,
        sizes=tuple(rounding.sizes[c] * share.get(c, Fraction(1)) for c in kept),
        constant=rounding.constant + largest,
        operations=rounding.operations + len(settings.codes) + 1 + MORE_OPERATIONS,
    )
    return replace(
        model,
        embedding=tuple(model.embedding[c] for c in kept),
        bodies=(Affine(weights=tuple(body.weights[c] * share.get(c, Fraction(1)) for c in kept), bias=bias),),
        rounding=more,
    )


def _mean_of_polynomials(parts: Sequence[Model], weights: Sequence[Fraction]) -> PolynomialSum:
    """The constant columns of each part multiplied into its coefficients."""
    terms: dict[tuple[int, ...], Fraction] = {(): Fraction(0)}
    for model, weight in zip(parts, weights, strict=True):
        if not isinstance(model.body, PolynomialSum):
            raise TypeError("a mean of polynomials is one of polynomials only")
        constants = {
            c: column.exact(Fraction(0)) for c, column in enumerate(model.embedding) if column.constant
        }
        for value, product in zip(model.body.coefficients, model.body.products, strict=True):
            value *= weight
            for c in product:
                value *= constants.get(c, Fraction(1))
            rest = tuple(c for c in product if c not in constants)
            terms[rest] = terms.get(rest, Fraction(0)) + value
    kept = {product: value for product, value in terms.items() if value or not product}
    return PolynomialSum(coefficients=tuple(kept.values()), products=tuple(kept))
