"""The network family: feed-forward networks. Scores of one model share their hidden layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.family import Family
from likewise.families.network.body import COPIES, Network, share_hidden, side_by_side
from likewise.families.network.dyadic import Dyadic
from likewise.model.embedding import Column, column_line
from likewise.spec.numbers import format_numbers, one_or_array
from likewise.spec.terms import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import Climber
    from likewise.families.network.body import Layer
    from likewise.families.network.bounder import NetworkBounder
    from likewise.families.network.forms import NetworkForms
    from likewise.families.network.judge import NetworkJudge
    from likewise.families.network.score import NetworkScore
    from likewise.families.score_judge import ScoreTable
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]


class NetworkFamily(Family):
    """bias + weights . outputs of the last hidden layer. Bodies of one model share their hidden layers."""

    name = "network"
    leads = True
    shared_work = True
    rules = MappingProxyType(
        {"network": "a network stays on one side of a line, by multipliers of its equations"}
    )

    def form(self, bodies: Sequence[Network], alpha: tuple[Fraction, ...]) -> Network:
        self.check(bodies)
        rows = zip(*(body.weights for body in bodies), strict=True)
        return bodies[0].with_last_row(
            [dot(alpha, row) for row in rows], dot(alpha, [body.bias for body in bodies])
        )

    def join_bodies(
        self, bodies: Sequence[Network], places: Sequence[tuple[int, ...]], width: int, estimator: str
    ) -> tuple[Network, ...]:
        """The hidden layers of all, each once: the same ones, or blocks side by side."""
        if all(place == places[0] for place in places) and share_hidden(bodies):
            return tuple(
                Network(hidden=bodies[0].hidden, weights=body.weights, bias=body.bias) for body in bodies
            )
        bends = [[layer.activation for layer in body.hidden] for body in bodies]
        if any(other != bends[0] for other in bends):
            raise UnsupportedModel(
                f"{estimator} holds networks of different depths or activations, which have no one form",
                hint="fit them with as many hidden layers of one activation",
            )
        return side_by_side(bodies, places, width)

    def check(self, bodies: Sequence[Network]) -> None:
        if not share_hidden(bodies):
            raise UnsupportedModel("the networks of this model do not share their hidden layers")

    def scores(self, parts: Sequence[NetworkScore], codes: Floats) -> Floats:
        """All scores share the hidden layers' outputs."""
        weights = np.stack([part.last_row[0] for part in parts], axis=1)
        biases = np.array([part.last_row[1] for part in parts])
        found: Floats = parts[0].last_outputs(codes, weights) + biases
        return found

    def bounder(
        self, score: NetworkScore, pairs: PairSpace, second: NetworkScore | None = None
    ) -> NetworkBounder:
        from likewise.families.network.bounder import NetworkBounder  # brings in numba

        return NetworkBounder(score, pairs, second)

    def hints_line(self, rule: str, hints: Sequence[int]) -> list[Any]:
        """The number of bits, and the multipliers of both copies."""
        half = (len(hints) + 1) // 2
        return [hints[0], list(hints[1:half]), list(hints[half:])]

    def inner_quantities(self, bodies: Sequence[Network]) -> int:
        """Three a neuron."""
        return COPIES * sum(bodies[0].widths)

    def inner_line(self, bodies: Sequence[Network], place: int) -> list[Any]:
        neuron, copy = divmod(place, COPIES)
        for layer, width in enumerate(bodies[0].widths):
            if neuron < width:
                return ["neuron", layer, neuron, copy]
            neuron -= width
        raise InternalError(f"a network has no inner quantity {place}")

    def forms(self, score: NetworkScore, pairs: PairSpace, moving: Sequence[int]) -> NetworkForms | None:
        if not score.rational:
            return None
        from likewise.families.network.forms import NetworkForms  # brings in numba

        return NetworkForms(score, pairs, moving)

    def judge(self, score: NetworkScore) -> NetworkJudge:
        from likewise.families.network.judge import NetworkJudge

        return NetworkJudge(score)

    def cross(
        self, judges: Sequence[NetworkJudge], rows: Floats, features: Sequence[int], settings: Floats
    ) -> ScoreTable:
        from likewise.families.network.judge import cross_all

        return cross_all([judge.score for judge in judges], rows, features, settings)

    def pace(self, judges: Sequence[NetworkJudge]) -> float:
        return judges[0].pace

    def climber(self, parts: Sequence[NetworkScore], pairs: PairSpace) -> Callable[[], Climber]:
        def make() -> Climber:
            from likewise.families.network.ascent import NetworkClimber  # brings in numba

            return NetworkClimber(parts, pairs)

        return make

    def line(self, bodies: Sequence[Network], embedding: tuple[Column, ...]) -> dict[str, Any]:
        rows = zip(*(body.weights for body in bodies), strict=True)
        return {
            "kind": "network",
            "columns": [column_line(column) for column in embedding],
            "layers": [_layer_line(layer) for layer in bodies[0].hidden],
            "weights": [one_or_array(list(row)) for row in rows],
            "bias": one_or_array([body.bias for body in bodies]),
        }


FAMILY = NetworkFamily()


def _layer_line(layer: Layer) -> dict[str, Any]:
    activation, exponent = layer.activation, layer.weights.exponent
    rows = [Dyadic(numerators=row, exponent=exponent) for row in layer.weights.numerators]
    return {
        "activation": [activation.kind, *format_numbers(activation.parameters)],
        "biases": layer.biases.texts(),
        "weights": [row.texts() for row in rows],
    }
