"""The exact model of a network in a file, over the features of a space.

Columns come in double precision and are rounded by the program to the type of its inputs: levels and small whole numbers are the same there. Of programs in single precision with piecewise linear activations an error is stated over the space, where it is of use
(`families.network.rounding`); of others nothing: they are compared with, and asked about every pair that is shown. All of it is about programs that compute every operator in the precision of the file, in whatever order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.network.activation import IDENTITY
from likewise.families.network.body import Layer
from likewise.families.network.dyadic import Dyadic
from likewise.families.network.rounding import network_rounding
from likewise.families.program_rounding import DOUBLE_BITS, LARGEST_SINGLE, SINGLE_BITS, double_beyond
from likewise.importers.layered_models import LayeredProgram
from likewise.importers.onnx.column_tracing import FRONT
from likewise.importers.onnx.computed import zeros
from likewise.importers.onnx.inputs import embed_columns
from likewise.importers.pipelines import check_pieces
from likewise.importers.score_models import ScoreModels
from likewise.importers.transformers.casts import single_line
from likewise.importers.transformers.embedding import embed
from likewise.model.embedding import column_extents
from likewise.model.head import NUMBER_HEAD
from likewise.spec.features import Continuous

if TYPE_CHECKING:
    from likewise.families.scored_model import Model
    from likewise.importers.inputs import Inputs
    from likewise.importers.onnx.computed import InputColumn
    from likewise.importers.onnx.reading import ReadNetwork
    from likewise.importers.transformers.traced_columns import Line
    from likewise.model.embedding import Column
    from likewise.spec.space import Space

LARGEST_WHOLE = 2.0**23  # whole numbers up to twice this are the same in single precision
SPARE = 8  # roundings of quotients and factors that programs compute and the layers have as numbers
SINGLE_LINK = 2.0**-21  # probabilities in single precision, as an error of the score
SINGLE_BEND = (
    2.0**-21
)  # what approximations of tanh and the like are off by there, at least where they level out


def import_network_file(model: Any, inputs: Inputs) -> tuple[ScoreModels, Inputs]:
    """The scores of a network in a file, and the inputs over the space that they are of."""
    network, head = model.network, model.head
    family, columns = f"{model.graph.source} network", tuple(dict.fromkeys(network.columns))
    front = getattr(model, "front", None)
    single = network.bits == SINGLE_BITS or front is not None
    layers = _over(columns, network)
    errors: list[Line] = []
    if front is None:
        embedding = embed_columns(columns, model.graph.inputs, model.columns, inputs.space, inputs.columns)
    else:
        embedded = embed([(FRONT, front)], inputs, model=family)
        inputs = embedded.inputs
        embedding = tuple(embedded.columns[_plain_place(column)] for column in columns)
        errors = [single_line(embedded.lines[column.place]) for column in columns]
    sizes = [double_beyond(value) for value in column_extents(embedding, inputs.space)]
    program = LayeredProgram(
        family=family,
        layers=layers,
        embedding=embedding,
        bits=SINGLE_BITS if single else DOUBLE_BITS,
        link=SINGLE_LINK if single and head.link is not None else 0.0,
        bend=SINGLE_BEND if single else 0.0,
        described=False,
        bounded=not single or _stays_finite(layers, sizes),
        stated=front is None and (not single or all(layer.activation.rational for layer in layers)),
        rounded_columns=_rounded(embedding, sizes, inputs.space) if single else (),
        spare=SPARE,
    )
    if head.rule == "argmax":
        models = tuple(program.model({row: 1}, NUMBER_HEAD) for row in range(network.n_scores))
        found = ScoreModels(family=family, models=models, head=head)
    else:
        lead = {0: 1} if network.n_scores == 1 else {1: 1, 0: -1}
        found = ScoreModels.of(program.model(lead, head))
    if front is not None:
        found = found.each(lambda one: check_pieces(_of_columns(one, errors), inputs.space, embedded.highest))
    return found, inputs


def _plain_place(column: InputColumn) -> int:
    """Where a column is among those that the front makes."""
    if column.among is not None or any(np.dtype(cast).kind != "f" for cast in column.casts):
        raise UnsupportedModel("asks which number a column is, behind operators that make columns")
    return column.place


def _of_columns(model: Model, errors: Sequence[Line]) -> Model:
    """The model with the rounding of columns that the program computes in single precision; of a sum its sizes count such roundings already."""
    layered = network_rounding(model.rounding)
    if layered is not None:
        columns = tuple((one.roundings, float(one.slack)) for one in errors)
        return replace(model, rounding=replace(layered, columns=columns, described=False))
    if model.rounding is None:
        return model
    return replace(model, rounding=model.rounding.of_columns(errors, described=False))


def _over(columns: tuple[Any, ...], network: ReadNetwork) -> tuple[Layer, ...]:
    """The layers over columns that each occur once; those that the program has more than once are repeated first, as it rounds what it does with each of them."""
    if columns == network.columns:
        return network.layers
    width = len(network.columns)
    repeats = np.zeros((width, len(columns)), dtype=object)
    repeats[np.arange(width), [columns.index(column) for column in network.columns]] = 1
    weights = Dyadic(numerators=repeats, exponent=0)
    return (Layer(weights=weights, biases=zeros(width), activation=IDENTITY), *network.layers)


def _rounded(embedding: Sequence[Column], sizes: Sequence[float], space: Space) -> tuple[bool, ...]:
    """The columns that single precision may change: numbers that are not whole, or large."""
    return tuple(
        column.table is None
        and (isinstance(space[space.names[column.feature]], Continuous) or size > LARGEST_WHOLE)
        for column, size in zip(embedding, sizes, strict=True)
    )


def _stays_finite(layers: Sequence[Layer], sizes: Sequence[float]) -> bool:
    """Whether no sum of layers without a bend is beyond single precision."""
    with np.errstate(over="ignore", invalid="ignore"):
        reached = np.array(sizes)
        for layer in layers:
            if not reached.max(initial=0) < LARGEST_SINGLE:
                return False
            reached = np.abs(layer.weights.floats) @ reached + np.abs(layer.biases.floats)
    return bool(reached.max(initial=0) < LARGEST_SINGLE)
