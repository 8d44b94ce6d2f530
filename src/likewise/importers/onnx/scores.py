"""The exact model of a network in a file, over the features of a space.

Of programs in single precision nothing is claimed: they are compared with, and asked about every pair that is shown. Columns come in double precision and are rounded by the program.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from likewise.families.network.dyadic import spread
from likewise.importers.layered_models import DOUBLE, SINGLE, LayeredProgram
from likewise.importers.onnx.inputs import embed_columns
from likewise.importers.score_models import ScoreModels
from likewise.model.head import NUMBER_HEAD

if TYPE_CHECKING:
    from likewise.families.network.body import Layer
    from likewise.importers.inputs import Inputs
    from likewise.importers.onnx.reading import ReadNetwork

SINGLE_LINK = 2.0**-21  # probabilities in single precision, as an error of the score
SINGLE_BEND = (
    2.0**-21
)  # what approximations of tanh and the like are off by there, at least where they level out


def import_network_file(model: Any, inputs: Inputs) -> ScoreModels:
    """The scores of a network in a file."""
    network, head = model.network, model.head
    family, columns = f"{model.graph.source} network", tuple(dict.fromkeys(network.columns))
    single = network.bits == SINGLE
    program = LayeredProgram(
        family=family,
        layers=_over(columns, network),
        embedding=embed_columns(columns, model.graph.inputs, model.columns, inputs.space, inputs.columns),
        bits=SINGLE if single else DOUBLE,
        link=SINGLE_LINK if single and head.link is not None else 0.0,
        bend=SINGLE_BEND if single else 0.0,
        described=False,
        bounded=not single,
        stated=not single,
        rounded_inputs=single,
    )
    if head.rule == "argmax":
        models = tuple(program.model({row: 1}, NUMBER_HEAD) for row in range(network.n_scores))
        return ScoreModels(family=family, models=models, head=head)
    lead = {0: 1} if network.n_scores == 1 else {1: 1, 0: -1}
    return ScoreModels.of(program.model(lead, head))


def _over(columns: tuple[Any, ...], network: ReadNetwork) -> tuple[Layer, ...]:
    """The layers over columns that each occur once."""
    first, *others = network.layers
    if columns == network.columns:
        return network.layers
    places = [columns.index(column) for column in network.columns]
    return (replace(first, weights=spread(first.weights, places, len(columns))), *others)
