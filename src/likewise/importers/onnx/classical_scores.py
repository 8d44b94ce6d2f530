"""Exact models of classical models in a graph, over the features of a space.

Linear models and machines are imported over the columns in front of them, which are followed as those of a pipeline. The program calculates in single precision: an error of a linear model is stated over the space (every rounding counts as
2^30 of double precision, and so does that of each number to single precision on its way in), of machines none, and no certificate covers it. Trees compare, so of them the sum of leaves alone is rounded, and stated.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.kernel.body import RbfSum
from likewise.families.kernel.rounding import KernelRounding
from likewise.families.polynomial.rounding import PolynomialRounding
from likewise.families.program_rounding import SINGLE_BITS
from likewise.families.scored_model import Model
from likewise.importers.expansion import PowerSum, expand_powers
from likewise.importers.onnx.column_tracing import FRONT, GraphColumns
from likewise.importers.onnx.machines import LinearScores, VectorScores
from likewise.importers.onnx.model_file import CLASSICAL
from likewise.importers.onnx.stored_trees import StoredTrees, make_forest
from likewise.importers.pipelines import check_pieces
from likewise.importers.score_models import ScoreModels
from likewise.importers.sklearn_linear import sum_vectors
from likewise.importers.transformers.casts import single_line
from likewise.importers.transformers.embedding import EmbeddedColumns, embed
from likewise.importers.trees.reached_columns import OwnPreprocessing
from likewise.importers.trees.tree_model import LibraryModel
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from likewise.importers.inputs import Inputs
    from likewise.importers.onnx.classical_models import ClassicalModel
    from likewise.importers.transformers.traced_columns import Step, TracedColumn


def family_name(model: ClassicalModel) -> str:
    """What answers call it."""
    return f"ONNX {model.scoring.node.operator.removeprefix(f'{CLASSICAL}.')}"


def import_classical(model: ClassicalModel, inputs: Inputs) -> tuple[ScoreModels, Inputs]:
    """The scores of a linear model or a kernel machine."""
    family, head = family_name(model), model.head
    embedded = embed([(FRONT, model.front)], inputs, model=family)
    stored = model.scoring.stored
    if isinstance(stored, LinearScores):
        models = _linear_models(stored, embedded, family, head)
    elif isinstance(stored, VectorScores):
        models = _machine_models(stored, embedded, family, head)
    else:
        raise UnsupportedModel(f"{family} is read by its thresholds")
    found = ScoreModels(family=family, models=tuple(models), head=head)
    return found.each(lambda one: check_pieces(one, inputs.space, embedded.highest)), embedded.inputs


# -- linear models ----------------------------------------------------------------------------------------


def _linear_models(stored: LinearScores, embedded: EmbeddedColumns, family: str, head: Head) -> list[Model]:
    rows = [
        ([Fraction(w) for w in row], Fraction(bias))
        for row, bias in zip(stored.weights.tolist(), stored.biases.tolist(), strict=True)
    ]
    if head.rule == "argmax":
        return [_linear_model([row], embedded, family, NUMBER_HEAD) for row in rows]
    if len(rows) == 2 and not _opposite(rows):
        (first, bias), last = rows
        return [_linear_model([last, ([-w for w in first], -bias)], embedded, family, head)]
    return [_linear_model(rows[-1:], embedded, family, head)]


def _opposite(rows: Sequence[tuple[list[Fraction], Fraction]]) -> bool:
    return rows[0][0] == [-w for w in rows[1][0]] and rows[0][1] == -rows[1][1]


def _linear_model(
    rows: Sequence[tuple[list[Fraction], Fraction]], embedded: EmbeddedColumns, family: str, head: Head
) -> Model:
    """The sum of rows of weights, each of which the program computes for itself."""
    weights = [sum(column, Fraction(0)) for column in zip(*(row for row, _ in rows), strict=True)]
    sizes = [sum(map(abs, column), Fraction(0)) for column in zip(*(row for row, _ in rows), strict=True)]
    bias, size = sum((b for _, b in rows), Fraction(0)), sum((abs(b) for _, b in rows), Fraction(0))
    rounding = _single_rounding(sizes, size, 2 * len(weights) + 4, embedded)
    body = Affine(weights=tuple(weights), bias=bias)
    return Model(family=family, rounding=rounding, embedding=embedded.columns, bodies=(body,), head=head)


def _single_rounding(
    sizes: Sequence[Fraction], constant: Fraction, operations: int, embedded: EmbeddedColumns
) -> AffineRounding:
    """Every rounding of single precision counts as 2^30 of double precision; the 1 is for what is made of scores, probabilities that are compared with 1/2."""
    known = AffineRounding(
        sizes=tuple(sizes), constant=constant + 1, operations=operations, described=False
    ).in_single_precision()
    lines = [single_line(line) for line in embedded.lines]
    return known.of_columns(lines, described=embedded.settled)


# -- kernel machines --------------------------------------------------------------------------------------


def _machine_models(stored: VectorScores, embedded: EmbeddedColumns, family: str, head: Head) -> list[Model]:
    """One model a score; of two classes its sign is turned round, as the score of the file is that of the first class."""
    sign = -1.0 if head.rule == "sign" else 1.0
    own = NUMBER_HEAD if head.rule == "votes" else head
    found = []
    for coefficients, bias in zip(stored.coefficients, stored.biases.tolist(), strict=True):
        made = _machine_model(stored, sign * coefficients, sign * bias, embedded, family, own)
        found.append(made)
    return found


def _machine_model(
    stored: VectorScores, coefficients: Any, bias: float, embedded: EmbeddedColumns, family: str, head: Head
) -> Model:
    columns, lines = embedded.columns, embedded.lines
    if stored.kernel == "linear" or not coefficients.any():
        factors = [Fraction(value) for value in coefficients.tolist()]
        weights, constant, known = sum_vectors(factors, stored.vectors, Fraction(bias))
        rounding = _single_rounding(known.sizes, known.constant, known.operations, embedded)
        body = Affine(weights=weights, bias=constant)
        return Model(family=family, rounding=rounding, embedding=columns, bodies=(body,), head=head)
    if stored.kernel == "poly":
        powers = PowerSum(
            coefficients=coefficients,
            centres=stored.vectors,
            gamma=stored.gamma,
            coef0=stored.coef0,
            degree=stored.degree,
            bias=bias,
        )
        slopes = stored.gamma * stored.vectors
        power = PolynomialRounding(
            coefficients=coefficients,
            slopes=slopes,
            coef0=stored.coef0,
            bias=bias,
            degree=stored.degree,
            bits=SINGLE_BITS,
        )
        expanded = expand_powers(powers, family)
        return Model(
            family=family,
            rounding=power.of_columns(lines, described=False),
            embedding=columns,
            bodies=(expanded,),
            head=head,
        )
    gaussians = RbfSum(gamma=stored.gamma, bias=bias, coefficients=coefficients, centres=stored.vectors)
    error = KernelRounding(expanded=False, bits=SINGLE_BITS).of_columns(lines, described=False)
    return Model(family=family, rounding=error, embedding=columns, bodies=(gaussians,), head=head)


# -- trees ------------------------------------------------------------------------------------------------


def import_graph_trees(model: ClassicalModel) -> LibraryModel:
    """The trees of a graph as those of a library."""
    scoring, head, family = model.scoring, model.head, family_name(model)
    node, stored = scoring.node, scoring.stored
    if not isinstance(stored, StoredTrees):
        raise UnsupportedModel(f"{family} has no trees")
    base = [Fraction(float(value)) for value in node.attributes.get("base_values", ())]
    mean = node.attributes.get("aggregate_function") == "AVERAGE"
    factor = Fraction(1, len(stored.trees)) if mean else Fraction(1)
    single = model.front.output_type != np.float64
    if head.rule == "argmax" and stored.targets == 2:  # shares of both classes, of which the file has one
        start = base[0] if base else Fraction(0)
        bias: tuple[Fraction, ...] = (1 - start, start)
        values = _both_shares
    elif head.rule in ("sign", "number"):
        bias, values = (base[0] if base else Fraction(0),), _first_target
    else:
        bias, values = tuple(base) or (Fraction(0),) * stored.targets, _all_targets
    forest = make_forest(node, stored, values, bias, factor, single=single)

    def leaves(columns: Any) -> Any:
        numbers = columns.astype(np.float32) if single else columns
        return (values(weights) for weights in stored.leaf_weights(numbers))

    return LibraryModel(
        family=family,
        forest=forest,
        head=head,
        operations=len(stored.trees) + 6,
        bits=SINGLE_BITS,
        own=OwnPreprocessing(
            name=FRONT, transformer=model.front, trace=_trace_for(model.front, stored.width, family)
        ),
        leaves=leaves,
        answers=model,
    )


def _trace_for(front: GraphColumns, width: int, family: str) -> Any:
    def trace(columns: tuple[TracedColumn, ...], step: Step) -> tuple[TracedColumn, ...]:
        found = front.trace(columns, step)
        if len(found) < width:
            raise UnsupportedModel(
                f"{family} tests column {width - 1}, and gets {len(found)}", hint="the file is damaged"
            )
        return found

    return trace


def _both_shares(weights: Any) -> Any:
    return np.stack([-weights[:, 0], weights[:, 0]], axis=1)


def _first_target(weights: Any) -> Any:
    return weights[:, :1]


def _all_targets(weights: Any) -> Any:
    return weights
