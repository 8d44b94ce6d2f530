"""Pipelines: the scores of a model behind transformers, as scores over the columns that those make of the features (`transformers`).

A linear model on PolynomialFeatures is a sum of products of the columns in front of them:

    bias + sum_f weight_f (offset_f + slope_f * product_f),

product_f a product of columns (one row of `powers_`), offset_f and slope_f what scalers after it do to it. Like
products are added up, exactly; selectors after it leave some out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import Affine, affine_body
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.polynomial.rounding import ProductRounding
from likewise.families.registry import family_of
from likewise.families.scored_model import Model
from likewise.importers.expansion import HIGHEST_DEGREE, MOST_PRODUCTS
from likewise.importers.registry import is_sklearn_class, takes_mixes
from likewise.importers.transformers.composition import trace_transformer
from likewise.importers.transformers.embedding import EmbeddedColumns, embed
from likewise.importers.transformers.traced_columns import Line, Step, TracedColumn
from likewise.model.embedding import Column
from likewise.spec.features import Continuous

if TYPE_CHECKING:
    from likewise.importers.inputs import Inputs
    from likewise.importers.registry import ScoreReader
    from likewise.importers.score_models import ScoreModels
    from likewise.spec.space import Space

Steps = Sequence[tuple[str, Any]]
Product = tuple[int, ...]
ANY_NUMBER = Continuous(-1.0, 1.0)  # a product is a number; no bounds of it are looked at


def import_pipeline(
    steps: Steps, final: Any, read: ScoreReader, inputs: Inputs
) -> tuple[ScoreModels, Inputs]:
    """The scores of an estimator behind the steps of a pipeline, and the inputs over the space that they are of."""
    products = find_product_step(steps)
    if takes_mixes(final):
        from likewise.importers.mixing import place_of_mix

        mix = place_of_mix(steps)
        if mix is not None:
            return _behind_a_mix(steps, mix, final, inputs)
    if products is None:
        embedded = embed(steps, inputs, model=type(final).__name__)
        scores = read(final, embedded.columns).each(lambda one: _add_column_rounding(one, embedded))
    else:
        embedded = embed(steps[:products], inputs, model="PolynomialFeatures")
        made = trace_products(steps[products:], len(embedded.columns))
        linear = read(final, placeholder_columns(len(made.products)))
        scores = linear.each(
            lambda one: _add_column_rounding(polynomial_model(one, made, embedded.columns), embedded)
        )
    return scores.each(lambda one: _check_pieces(one, inputs.space, embedded.highest)), embedded.inputs


def _behind_a_mix(steps: Steps, mix: int, final: Any, inputs: Inputs) -> tuple[ScoreModels, Inputs]:
    """The scores of a network that takes in what mixes columns in front of it, as layers of its own."""
    from likewise.importers.mixing import mixing_layers
    from likewise.importers.sklearn_network import import_network

    embedded = embed(steps[:mix], inputs, model=type(steps[mix][1]).__name__)
    front = mixing_layers(steps[mix:], len(embedded.columns))
    scores = import_network(final, embedded.columns, front).each(
        lambda one: _add_column_rounding(one, embedded)
    )
    return scores.each(lambda one: _check_pieces(one, inputs.space, embedded.highest)), embedded.inputs


def _add_column_rounding(model: Model, embedded: EmbeddedColumns) -> Model:
    """The model with the rounding of its columns, see `Rounding` and `traced_columns`."""
    if model.rounding is None:
        return model
    return replace(model, rounding=model.rounding.of_columns(embedded.lines, described=embedded.settled))


def _check_pieces(model: Model, space: Space, highest: frozenset[int]) -> Model:
    """Steps and splines of continuous numbers are taken where they are added up, and nowhere else."""
    bent = [space.names[column.feature] for column in model.embedding if column.pieces is not None]
    told = [name for name in bent if space.names.index(name) in highest]
    if told and not family_of(model.body).takes_pieces:
        raise UnsupportedModel(
            f"{model.family} takes products or distances of columns, and tells a missing {told[0]!r} from every number of its "
            "range: by an indicator, or by a number outside of it that is put in its place",
            hint=f"let the bounds of {told[0]!r} hold that number, without an indicator; or declare "
            f"Integer(lo, hi, missing=True), or a Categorical with None; or use a linear model",
        )
    if bent and not family_of(model.body).takes_pieces:
        raise UnsupportedModel(
            f"{model.family} takes products or distances of columns, and {bent[0]!r} is continuous and comes to it in "
            "bins or splines",
            hint="use a linear model on bins and splines, or the number itself, or declare the values that it can "
            f"take, space.replace({{{bent[0]!r}: Integer(lo, hi)}}) or Ordinal([...])",
        )
    return model


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnProducts:
    """What reaches the model: for each column a product of those in front, and a line of it."""

    products: tuple[Product, ...]
    lines: tuple[Line, ...]


def find_product_step(steps: Steps) -> int | None:
    """Which step multiplies columns; None if none does."""
    for place, (_, transformer) in enumerate(steps):
        if type(transformer).__name__ == "PolynomialFeatures" and is_sklearn_class(transformer):
            powers = (
                getattr(transformer, "powers_", None) if hasattr(transformer, "n_output_features_") else None
            )
            if powers is not None and np.asarray(powers).sum(axis=1).max(initial=0) > 1:
                return place
    return None


def trace_products(steps: Steps, width: int) -> ColumnProducts:
    """The step that multiplies `width` columns, and those after it, which may scale and choose."""
    (name, transformer), *rest = steps
    step = Step(path=()).inside(name, transformer)
    powers = np.asarray(transformer.powers_)
    if powers.shape[1] != width:
        step.refuse(
            f"was fitted on {powers.shape[1]} columns, but gets {width}",
            hint="a step was exchanged after fitting: call fit(X, y) on the whole pipeline again",
        )
    if len(powers) > MOST_PRODUCTS or powers.sum(axis=1).max() > HIGHEST_DEGREE:
        step.refuse(
            f"makes {len(powers):,} products of up to {powers.sum(axis=1).max()} columns",
            hint=f"at most {MOST_PRODUCTS:,} products of {HIGHEST_DEGREE} columns are taken: use a smaller degree",
        )
    products = [tuple(int(c) for c in np.repeat(np.arange(width), row)) for row in powers]
    columns = tuple(
        TracedColumn(index=i, name=f"product {i}", feature=ANY_NUMBER, line=Line(), untouched=False)
        for i in range(len(products))
    )
    for after, one in rest:
        inside = Step(path=()).inside(after, one)
        columns = trace_transformer(one, columns, inside)
        if any(column.line is None or column.curve is not None for column in columns):
            inside.refuse(
                "does more to products of columns than scale them or choose from them",
                hint="put it before PolynomialFeatures",
            )
    return ColumnProducts(
        products=tuple(products[column.index] for column in columns),
        lines=tuple(column.line or Line() for column in columns),
    )


def placeholder_columns(count: int) -> tuple[Column, ...]:
    """Columns to import a linear model on, before it is known what they are."""
    return tuple(Column(feature=0) for _ in range(count))


def polynomial_model(model: Model, made: ColumnProducts, columns: tuple[Column, ...]) -> Model:
    """The linear model as a polynomial of the columns in front of the products."""
    body = affine_body(model.body)
    if body is None:
        raise UnsupportedModel(
            f"{model.family} on PolynomialFeatures takes distances or powers of products",
            hint="use a linear model on them, or the kernel model on the columns themselves",
        )
    terms: dict[Product, Fraction] = {(): body.bias}
    for weight, line, product in zip(body.weights, made.lines, made.products, strict=True):
        terms[product] = terms.get(product, Fraction(0)) + weight * line.slope
        terms[()] += weight * line.offset
    kept = {product: value for product, value in terms.items() if value or not product}
    rounding = ProductRounding(
        coefficients=np.array(
            [float(w * line.slope) for w, line in zip(body.weights, made.lines, strict=True)]
        ),
        products=made.products,
        bias=float(abs(body.bias)) + _offset_sizes(body, made),
        after=max((line.roundings for line in made.lines), default=0),
    )
    polynomial = PolynomialSum(coefficients=tuple(kept.values()), products=tuple(kept))
    return replace(model, bodies=(polynomial,), embedding=columns, rounding=rounding)


def _offset_sizes(body: Affine, made: ColumnProducts) -> float:
    pairs = zip(body.weights, made.lines, strict=True)
    return float(sum((abs(w) * (abs(line.offset) + line.slack) for w, line in pairs), Fraction(0)))
