"""Pipelines: the scores of a model behind transformers, as scores over the columns that those make of the features (`transformers`).

Where transformers mix columns or multiply them (`mixing`), the columns that reach the model are polynomials p_j of base columns, and so is the score of a linear model:

    bias + sum_j weight_j p_j(base columns),

multiplied out exactly, like products added up: affine again where nothing was multiplied. Polynomial kernels are polynomials of them too. RBF kernels take what only rotates (`rotations`); other sums stay sums (`mixed_kernels`). Networks take in what only mixes as layers of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import Affine, affine_body
from likewise.families.affine.rounding import AffineRounding, affine_rounding
from likewise.families.polynomial.body import PolynomialSum, polynomial_body
from likewise.families.polynomial.rounding import PolynomialRounding, ProductRounding, polynomial_rounding
from likewise.families.program_rounding import OUTWARD_FACTOR, double_beyond
from likewise.families.registry import family_of
from likewise.families.scored_model import Model
from likewise.families.sums.body import sum_body
from likewise.importers.landmark_kernels import Landmarks, find_landmarks, put_in_kernels
from likewise.importers.mixed_columns import (
    ExpandedColumn,
    check_products,
    expand,
    expand_polynomial,
    has_products,
    layers,
    substitute,
    weighted_sizes,
    weighted_sum,
)
from likewise.importers.mixed_kernels import bumps_of, mix_kernel
from likewise.importers.mixing import SplitSteps, split_steps
from likewise.importers.random_waves import RandomWaves, WaveBodies, find_waves
from likewise.importers.registry import takes_mixes
from likewise.importers.rotations import rotate_back
from likewise.importers.single_precision import HINT as SINGLE_HINT
from likewise.importers.single_precision import check_casts, column_rounding, converts, mixes_singles
from likewise.importers.transformers.embedding import EmbeddedColumns, embed
from likewise.importers.transformers.traced_columns import Step
from likewise.model.embedding import Column

if TYPE_CHECKING:
    from likewise.importers.inputs import Inputs
    from likewise.importers.registry import ScoreReader
    from likewise.importers.score_models import ScoreModels
    from likewise.spec.space import Space

Steps = Sequence[tuple[str, Any]]


def import_pipeline(
    steps: Steps, final: Any, read: ScoreReader, inputs: Inputs
) -> tuple[ScoreModels, Inputs]:
    """The scores of an estimator behind the steps of a pipeline, and the inputs over the space that they are of."""
    landmarks, waves = find_landmarks(steps, final), find_waves(steps, final)
    if landmarks is not None:
        steps, read = landmarks.before, _landmark_reader(landmarks, read)
    elif waves is not None:
        steps = waves.before
    split = split_steps(steps, inputs)
    described = split is None or split.described
    if split is None:
        embedded = embed(steps, inputs, model=type(final).__name__)
        if waves is not None and landmarks is None:
            read = _wave_reader(waves, read, embedded.inputs.space)
        scores = read(final, embedded.columns)
    elif waves is not None and landmarks is None:
        waves.step.refuse(
            "stands behind a step that mixes columns", hint=f"leave out {split.mixer}, or use Nystroem"
        )
    else:
        embedded = embed(split.front, inputs, model=split.mixer.kind)
        scores = _read_mixed(final, read, split, embedded)
    check_casts(embedded)
    single = embedded.single if split is None else mixes_singles(steps, embedded)
    if single:
        _check_single(final, split, landmarks or waves)
    single = single and not (split is None and converts(final))
    scores = scores.each(
        lambda one: add_column_rounding(one, embedded, final, described=described, single=single)
    )
    return scores.each(lambda one: check_pieces(one, inputs.space, embedded.highest)), embedded.inputs


def _landmark_reader(landmarks: Landmarks, read: ScoreReader) -> ScoreReader:
    """What reads an estimator behind kernels at landmarks, over the columns in front of them."""

    def read_behind(final: Any, columns: tuple[Column, ...]) -> ScoreModels:
        made, values = (
            placeholder_columns(len(landmarks.columns)),
            placeholder_columns(len(landmarks.centres)),
        )
        behind = expand(landmarks.nodes)

        def over_values(model: Model) -> Model:
            model = multiply_out(model, behind, landmarks.step, made, distances=False)
            if affine_body(model.body) is None:
                landmarks.refuse_products()
            return multiply_out(model, landmarks.columns, landmarks.step, values, distances=False)

        scores = read(final, placeholder_columns(len(landmarks.nodes))).each(over_values)
        return scores.each(lambda one: put_in_kernels(one, landmarks, columns))

    return read_behind


def _wave_reader(waves: RandomWaves, read: ScoreReader, space: Space) -> ScoreReader:
    """What reads an estimator behind random cosines, over the columns in front of them."""

    def read_behind(final: Any, columns: tuple[Column, ...]) -> ScoreModels:
        bodies, behind = WaveBodies(waves, columns, space), expand(waves.nodes)
        values = placeholder_columns(len(waves.offsets))
        scores = read(final, placeholder_columns(len(waves.nodes)))
        return scores.each(
            lambda one: bodies.put_in(multiply_out(one, behind, waves.step, values, distances=False))
        )

    return read_behind


def _read_mixed(final: Any, read: ScoreReader, split: SplitSteps, embedded: EmbeddedColumns) -> ScoreModels:
    """The scores of an estimator behind mixed columns, over the base columns."""
    if takes_mixes(final) and not has_products(split.nodes):
        from likewise.importers.sklearn_network import import_network

        scores = import_network(final, embedded.columns, layers(split.nodes, split.width))
    else:
        mixed = read(final, placeholder_columns(len(split.nodes)))
        columns = expand(split.nodes)
        scores = mixed.each(lambda one: multiply_out(one, columns, split.mixer, embedded.columns))
    if split.settled:
        return scores
    return scores.each(
        lambda one: one if one.rounding is None else replace(one, rounding=one.rounding.undescribed())
    )


def add_column_rounding(
    model: Model, embedded: EmbeddedColumns, final: Any, *, described: bool, single: bool
) -> Model:
    """The model with the rounding of its columns, see `Rounding` and `traced_columns`."""
    if model.rounding is None:
        return model
    found = column_rounding(model, embedded, final, described=described, single=single)
    return replace(model, rounding=found)


def _check_single(final: Any, split: SplitSteps | None, sampler: Landmarks | RandomWaves | None) -> None:
    """Refuse what is behind columns in single precision and calculates with them in ways that are not described."""
    step = sampler.step if sampler is not None else None
    if split is not None and takes_mixes(final):
        step = split.mixer
    if step is not None:
        step.refuse("calculates in single precision, how is not known", hint=SINGLE_HINT)


def check_pieces(model: Model, space: Space, highest: frozenset[int]) -> Model:
    """Steps and splines of continuous numbers are taken where they are added up, and in the distances of kernels."""
    added = sum_body(model.body)
    for part in () if added is None else added.parts:
        check_pieces(replace(model, bodies=(part.body,), embedding=part.embedding), space, highest)
    bent = [space.names[column.feature] for column in model.embedding if column.pieces is not None]
    bumps = bumps_of(model) if bent else None
    if bumps is not None:
        return bumps
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
            "bins or splines, or through functions that are taken in pieces",
            hint="use a linear model on bins and splines, or the number itself, or declare the values that it can "
            f"take, space.replace({{{bent[0]!r}: Integer(lo, hi)}}) or Ordinal([...])",
        )
    return model


def placeholder_columns(count: int) -> tuple[Column, ...]:
    """Columns to import a model on, before it is known what they are."""
    return tuple(Column(feature=i) for i in range(count))


def multiply_out(
    model: Model,
    columns: Sequence[ExpandedColumn],
    mixer: Step,
    base: tuple[Column, ...],
    *,
    distances: bool = True,
) -> Model:
    """The model of mixed columns as one of the base columns; `distances` tells whether kernels of those are taken."""
    body, rounding = affine_body(model.body), affine_rounding(model.rounding)
    made = _polynomials(model.embedding, columns)
    if made is not None and body is not None and rounding is not None:
        return _linear(model, body, rounding, made, base)
    plain = model.embedding == placeholder_columns(len(columns)) and all(
        len(product) <= 1 for column in columns for product in column.polynomial
    )
    powers, bent = polynomial_body(model.body), polynomial_rounding(model.rounding)
    if plain and powers is not None and bent is not None:
        return _powers(model, powers, bent, columns, base)
    found = (
        (rotate_back(model, columns, base) or mix_kernel(model, columns, base))
        if plain and distances
        else None
    )
    if found is not None:
        return found
    raise UnsupportedModel(
        f"{model.family} on {mixer.kind} takes distances or powers of "
        + ("products" if mixer.kind == "PolynomialFeatures" else "columns that depend on several features"),
        hint="use a linear model or a network on them, or the kernel model on the columns themselves"
        + (
            ", or PCA with all its components, which leaves distances as they are"
            if mixer.kind == "PCA"
            else ""
        ),
    )


def _polynomials(
    embedding: Sequence[Column], columns: Sequence[ExpandedColumn]
) -> list[ExpandedColumn] | None:
    """What a model has made of the mixed columns (squares, say), where those are polynomials of them."""
    found = []
    for one in embedding:
        column = columns[one.feature]
        if one.table is not None or (one.pieces is not None and one.pieces.cuts):
            return None
        if one.pieces is not None:
            column = expand_polynomial(one.pieces.polynomials[0], column)
        elif one != Column(feature=one.feature):
            column = expand_polynomial((one.offset, one.slope), column)
        found.append(column)
    return found


def _linear(
    model: Model,
    body: Affine,
    rounding: AffineRounding,
    columns: Sequence[ExpandedColumn],
    base: tuple[Column, ...],
) -> Model:
    terms = weighted_sum([one.polynomial for one in columns], body.weights, body.bias)
    sizes = weighted_sizes(
        [one.sizes for one in columns],
        list(map(double_beyond, rounding.sizes)),
        double_beyond(rounding.constant),
    )
    if not np.isfinite(list(sizes.values())).all():
        raise UnsupportedModel(
            f"{model.family} has weights too large for what mixes columns in front of it",
            hint="scale the columns before they are mixed",
        )
    operations = rounding.operations + max((one.roundings for one in columns), default=0)
    check_products(terms)
    if all(len(product) <= 1 for product in sizes):
        affine = Affine(weights=tuple(terms.get((c,), Fraction(0)) for c in range(len(base))), bias=terms[()])
        told = AffineRounding(
            sizes=tuple(Fraction(sizes.get((c,), 0.0)) for c in range(len(base))),
            constant=Fraction(sizes[()]),
            operations=operations,
            described=rounding.described,
            bounded=rounding.bounded,
            crude=rounding.crude,
        )
        return replace(model, bodies=(affine,), embedding=base, rounding=told)
    products = [product for product in sizes if product]
    rounded = ProductRounding(
        coefficients=np.array([sizes[product] for product in products]),
        products=tuple(products),
        bias=sizes[()],
        after=operations,
        described=rounding.bounded,
    )
    polynomial = PolynomialSum(coefficients=tuple(terms.values()), products=tuple(terms))
    return replace(model, bodies=(polynomial,), embedding=base, rounding=rounded)


def _powers(
    model: Model,
    body: PolynomialSum,
    rounding: PolynomialRounding,
    columns: Sequence[ExpandedColumn],
    base: tuple[Column, ...],
) -> Model:
    """A polynomial kernel: its inner products are those of the base columns with other vectors."""
    terms = substitute(body.coefficients, body.products, [one.polynomial for one in columns])
    check_products(terms)
    sizes = np.array([[one.sizes.get((c,), 0.0) for c in range(len(base))] for one in columns])
    constants = np.array([one.sizes.get((), 0.0) for one in columns])
    slopes = np.abs(rounding.slopes)
    rounded = replace(
        rounding,
        slopes=slopes @ sizes * OUTWARD_FACTOR,
        coef0=np.abs(rounding.coef0) + slopes @ constants * OUTWARD_FACTOR,
        inner_roundings=max(one.roundings for one in columns),
    )
    polynomial = PolynomialSum(coefficients=tuple(terms.values()), products=tuple(terms))
    return replace(model, bodies=(polynomial,), embedding=base, rounding=rounded)


def weighted_slopes(slopes: Any, sizes: Any) -> Any:
    """A product of nonnegative arrays, rounded up."""
    return slopes @ sizes * OUTWARD_FACTOR
