"""What a tensor of a graph is of the columns of its inputs: layers of weights, one after the other, each as the program has it.

Nothing is multiplied out here, so that rounding can be followed through the program's own steps. Elements are counted row by row of a shape, without the axis of the rows of data. Tensors that are joined
(Concat, Add) share their first layers, and stand side by side from where they part, if what they do from there on bends alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.network.activation import IDENTITY
from likewise.families.network.body import Layer
from likewise.families.network.dyadic import Dyadic, block_diagonal, joined, spread

if TYPE_CHECKING:
    from likewise.families.network.activation import Activation

MOST_ENTRIES = 1_000_000  # weights of a layer, zeros included
MOST_ELEMENTS = 100_000  # of a tensor, a row


@dataclass(frozen=True, slots=True, kw_only=True)
class InputColumn:
    """A column of the inputs by its place among all of them, turned into these types one after the other; `among`: 1 where it is then one of these numbers, else 0."""

    place: int
    casts: tuple[str, ...] = ()
    among: frozenset[Fraction] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Computed:
    """A tensor: the elements are what the layers make of the columns, or the columns themselves. Of a softmax they are the scores, in the tensor
    `softmax_of`, and nothing may follow."""

    columns: tuple[InputColumn, ...]
    layers: tuple[Layer, ...] = ()
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    softmax_of: str | None = None

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def taking(self, places: Any, shape: tuple[int, ...]) -> Computed:
        """Some of its elements, in another shape."""
        chosen = np.ravel(places)
        _check_size(len(chosen), 1 if not self.layers else self.layers[-1].weights.shape[1])
        if len(chosen) == self.size and (chosen == np.arange(self.size)).all():
            return replace(self, shape=shape)
        if not self.layers:
            return replace(self, columns=tuple(self.columns[i] for i in chosen.tolist()), shape=shape)
        *before, last = self.layers
        rows = Layer(
            weights=_rows(last.weights, chosen),
            biases=_rows(last.biases, chosen),
            activation=last.activation,
        )
        return replace(self, layers=(*before, rows), shape=shape)

    def weighed(self, weights: Dyadic, biases: Dyadic, shape: tuple[int, ...]) -> Computed:
        """weights @ elements + biases."""
        _check_size(*weights.shape)
        layer = Layer(weights=weights, biases=biases, activation=IDENTITY)
        return replace(self, layers=(*self.layers, layer), shape=shape)

    def scaled(self, factors: Dyadic, shifts: Dyadic) -> Computed:
        """factor * element + shift, element by element."""
        _check_size(self.size, self.size)
        diagonal = np.zeros((self.size, self.size), dtype=object)
        np.fill_diagonal(diagonal, factors.numerators)
        return self.weighed(Dyadic(numerators=diagonal, exponent=factors.exponent), shifts, self.shape)

    def shifted(self, shifts: Dyadic) -> Computed:
        """element + shift: the bias of the last layer, if that has none and does not bend."""
        if self.layers:
            *before, last = self.layers
            if last.activation == IDENTITY and not last.biases.numerators.any():
                return replace(self, layers=(*before, replace(last, biases=shifts)))
        return self.scaled(ones(self.size), shifts)

    def bent(self, activation: Activation) -> Computed:
        """The activation of every element."""
        if not self.layers or self.layers[-1].activation != IDENTITY:
            return self.scaled(ones(self.size), zeros(self.size)).bent(activation)
        *before, last = self.layers
        return replace(self, layers=(*before, replace(last, activation=activation)))


def join(first: Computed, second: Computed) -> Computed:
    """The elements of two tensors one after the other, in one row."""
    shape = (first.size + second.size,)
    if not (first.layers or second.layers):
        return replace(first, columns=(*first.columns, *second.columns), shape=shape)
    shared = 0
    if first.columns == second.columns:
        pairs = zip(first.layers, second.layers, strict=False)
        shared = next(
            (i for i, (one, other) in enumerate(pairs) if one is not other),
            min(len(first.layers), len(second.layers)),
        )
    depth = max(len(first.layers), len(second.layers), shared + 1)
    tails = [_lengthened(one, depth).layers[shared:] for one in (first, second)]
    columns = first.columns
    if not shared and first.columns != second.columns:
        columns = tuple(dict.fromkeys((*first.columns, *second.columns)))
        tails = [_over(columns, one, tail) for one, tail in zip((first, second), tails, strict=True)]
    layers = [_beside(pair, stacked=i == 0) for i, pair in enumerate(zip(*tails, strict=True))]
    return replace(first, columns=columns, layers=(*first.layers[:shared], *layers), shape=shape)


def _lengthened(one: Computed, depth: int) -> Computed:
    while len(one.layers) < depth:
        one = one.scaled(ones(one.size), zeros(one.size))
    return one


def _over(columns: Sequence[InputColumn], one: Computed, tail: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """Layers whose first one reads more columns."""
    _check_size(len(columns), tail[0].weights.shape[0])
    place = {column: i for i, column in enumerate(columns)}
    weights = spread(tail[0].weights, [place[column] for column in one.columns], len(columns))
    return (replace(tail[0], weights=weights), *tail[1:])


def _beside(pair: tuple[Layer, Layer], *, stacked: bool) -> Layer:
    """Two layers as one, over the same inputs or each over its own."""
    first, second = pair
    if first.activation != second.activation:
        raise UnsupportedModel(
            "joins tensors that bend in different places: no layer after another does that"
        )
    parts = [first.weights, second.weights]
    (rows, width), (more, other) = first.weights.shape, second.weights.shape
    _check_size(rows + more, width if stacked else width + other)
    return Layer(
        weights=joined(parts) if stacked else block_diagonal(parts),
        biases=joined([first.biases, second.biases]),
        activation=first.activation,
    )


def ones(count: int) -> Dyadic:
    """A vector of ones."""
    return Dyadic(numerators=np.array([1] * count, dtype=object), exponent=0)


def zeros(count: int) -> Dyadic:
    """A vector of zeros."""
    return Dyadic(numerators=np.array([0] * count, dtype=object), exponent=0)


def negated(vector: Dyadic) -> Dyadic:
    """The same with the other sign."""
    return replace(vector, numerators=-vector.numerators)


def _rows(numbers: Dyadic, places: Any) -> Dyadic:
    return Dyadic(numerators=numbers.numerators[places], exponent=numbers.exponent)


def _check_size(rows: int, width: int) -> None:
    if rows > MOST_ELEMENTS or rows * width > MOST_ENTRIES:
        raise UnsupportedModel(
            f"makes a layer of {rows:,} by {width:,} weights; at most {MOST_ENTRIES:,} are read"
        )
