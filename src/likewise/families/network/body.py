"""Network body: hidden layers and the weights of the last one's outputs in one score.

    h_0 = act_0(W_0 columns + b_0),    h_l = act_l(W_l h_(l-1) + b_l),    f = bias + sum_j weight_j h_(L-1),j

The hidden layers of a model's scores are the same objects; their numbers are dyadic (`dyadic`). Layers without a bend (`identity`) are multiplied into the next one, exactly, so that none is
left (`folded`): a mix of columns in front (principal components) becomes part of the first layer. What is done to scores (calibration, means, forms) touches the last row only.
Networks of the same depth stand side by side in one (`side_by_side`), each in blocks of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from likewise.families.network.activation import Activation
from likewise.families.network.dyadic import Dyadic, block_diagonal, joined, spread
from likewise.spec.features import Continuous

if TYPE_CHECKING:
    from likewise.families.family import AffineMap, KeptLevels
    from likewise.families.network.score import NetworkScore
    from likewise.model.embedding import Column
    from likewise.spec.space import Space


COPIES = 3  # inner quantities of a neuron that cells of pairs may be cut by: its sum at x, at x', and their difference


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layer:
    """act(weights @ input + biases): weights (neurons, inputs), biases (neurons,)."""

    weights: Dyadic
    biases: Dyadic
    activation: Activation

    def equals(self, other: Layer) -> bool:
        """Whether it is the same function of the same inputs."""
        return self is other or (
            self.activation == other.activation
            and self.weights.equals(other.weights)
            and self.biases.equals(other.biases)
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Network:
    """One score of a network with at least one hidden layer, none of them `identity`."""

    family: ClassVar[str] = "network"

    hidden: tuple[Layer, ...]
    weights: tuple[Fraction, ...]  # of the last hidden layer's outputs
    bias: Fraction

    def score(self, embedding: tuple[Column, ...], n_features: int) -> NetworkScore:
        from likewise.families.network.score import NetworkScore

        return NetworkScore(body=self, embedding=embedding, n_features=n_features)

    def rescaled(self, by: AffineMap, kind: str) -> Network:
        return self.with_last_row([by.slope * w for w in self.weights], by.slope * self.bias + by.offset)

    def reads(self, feature: int) -> bool:
        return False

    def restricted(self, kept: KeptLevels) -> Network:
        return self

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> int | None:
        """That of the columns, times those of all layers, where every layer makes rationals of rationals."""
        if not self.rational:
            return None
        found = 1
        for column in embedding:
            continuous = isinstance(space[space.names[column.feature]], Continuous)
            unit = 2**1074 if column.slope and continuous else 1  # doubles are multiples of 1/2^1074
            parts = column.table or (column.offset, column.slope / unit)
            found = math.lcm(found, *(part.denominator for part in parts))
        for layer in self.hidden:
            found <<= max(layer.weights.exponent, layer.biases.exponent)
            found *= math.lcm(*(number.denominator for number in layer.activation.parameters))
        found *= math.lcm(*(weight.denominator for weight in self.weights))
        return math.lcm(found, self.bias.denominator)

    @property
    def rational(self) -> bool:
        """Whether scores of rationals are rational."""
        return all(layer.activation.rational for layer in self.hidden)

    @property
    def size(self) -> int:
        """How many weights there are."""
        return len(self.weights) + sum(layer.weights.numerators.size for layer in self.hidden)

    @property
    def widths(self) -> list[int]:
        """Neurons by layer."""
        return [len(layer.biases.numerators) for layer in self.hidden]

    def with_last_row(self, weights: Sequence[Fraction], bias: Fraction) -> Network:
        """Another score of the same hidden layers."""
        return replace(self, weights=tuple(weights), bias=bias)


def share_hidden(bodies: Sequence[Network]) -> bool:
    """Whether all have the same hidden layers."""
    first = bodies[0].hidden
    return all(
        body.hidden is first
        or (
            len(body.hidden) == len(first)
            and all(one.equals(other) for one, other in zip(body.hidden, first, strict=True))
        )
        for body in bodies[1:]
    )


def folded(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """The same function with every layer that is followed by another one bent: what does not bend is multiplied into the next."""
    found: list[Layer] = []
    for layer in layers:
        if found and found[-1].activation.kind == "identity":
            before = found.pop()
            layer = Layer(
                weights=layer.weights.times(before.weights),
                biases=layer.weights.times(before.biases).plus(layer.biases),
                activation=layer.activation,
            )
        found.append(layer)
    return tuple(found)


def side_by_side(
    bodies: Sequence[Network], places: Sequence[tuple[int, ...]], width: int
) -> tuple[Network, ...]:
    """Networks of one depth and the same activations as scores of one, over `width` columns, the own ones of each at its places among them."""
    hidden = []
    for depth, layers in enumerate(zip(*(body.hidden for body in bodies), strict=True)):
        parts = [layer.weights for layer in layers]
        if depth == 0:
            weights = joined([spread(part, place, width) for part, place in zip(parts, places, strict=True)])
        else:
            weights = block_diagonal(parts)
        biases = joined([layer.biases for layer in layers])
        hidden.append(Layer(weights=weights, biases=biases, activation=layers[0].activation))
    shared, ends = tuple(hidden), np.cumsum([0, *(len(body.weights) for body in bodies)]).tolist()
    found = []
    for body, start in zip(bodies, ends, strict=False):
        row = [Fraction(0)] * ends[-1]
        row[start : start + len(body.weights)] = body.weights
        found.append(Network(hidden=shared, weights=tuple(row), bias=body.bias))
    return tuple(found)
