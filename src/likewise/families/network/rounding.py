"""Rounding of programs that go through the layers one after the other, each a product of matrices in double precision (or single, `bits`).

The program's own layers are kept, also those that the body has multiplied into others. Errors are passed on from layer to layer (`error`): at a row from the outputs that it has there, over a
space from what outputs can be at most, the sizes of weights times those of inputs. tanh and the like are taken to be right within `ROOM` roundings. With the depth of the network the second
bound grows as products of norms do: small for doubles, and useless for deep networks in single precision, of which nothing is claimed then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.network.body import Layer
from likewise.families.network.error import MORE_ROUNDINGS, error_of_sums
from likewise.families.program_rounding import (
    EXTRA_ROUNDINGS,
    ErrorBound,
    UnstatedRounding,
    double_beyond,
    round_outward,
    rounding_growth,
)
from likewise.model.embedding import column_extents, embed_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap
    from likewise.families.scored_model import Model
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

PROGRAMS = 4  # times what is proved of one program, for comparing two of them with errors that are themselves computed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkRounding(UnstatedRounding):
    """The program's hidden layers, and the weights and the bias of its score, as doubles; then slope * score, with terms of `size` added in `operations` roundings.
    `columns` has (k, slack) of the columns that the program computes; `link` is what its decision may be off by in the score, as it compares sigma of it, and `bend` what
    its tanh and the like may be off by besides roundings of the result."""

    layers: tuple[Layer, ...]
    weights: Floats
    bias: float
    bits: int = 53
    link: float = 0.0
    bend: float = 0.0
    slope: float = 1.0
    size: float = 0.0
    operations: int = 0

    def errors(self, model: Model, codes: Floats) -> list[Fraction]:
        columns = embed_rows(model.embedding, codes)
        errors, sizes = self._of_outputs(np.abs(columns), columns)
        found, _ = self._of_score(sizes, errors)
        return [Fraction(PROGRAMS * float(error)) for error in found]

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        if not self.described:
            return None
        largest = np.array([[double_beyond(value) for value in column_extents(model.embedding, space)]])
        errors, sizes = self._of_outputs(largest, None)
        found, size = self._of_score(sizes, errors)
        return round_outward(float(found[0]), float(size[0]))

    def _of_outputs(self, sizes: Floats, values: Floats | None) -> tuple[Floats, Floats]:
        """What the last hidden layer's outputs are off by, and their sizes: at most, or, where the columns have these values, about."""
        slack = np.array([slack for _, slack in self.columns]) if self.columns else 0.0
        roundings = max((k for k, _ in self.columns), default=0)
        errors = rounding_growth(roundings) * (sizes + slack)
        for layer in self.layers:
            weights, biases = layer.weights.floats, layer.biases.floats
            bend, room = layer.activation, rounding_growth(weights.shape[1] + MORE_ROUNDINGS, self.bits)
            errors = error_of_sums(np.abs(weights), np.abs(biases), sizes, errors, room)
            if values is None:
                sums = sizes @ np.abs(weights).T + np.abs(biases)
                sizes = np.minimum(bend.at_zero + bend.steepness * sums, bend.largest)
            else:
                values = bend.proposed(values @ weights.T + biases)
                sizes = np.abs(values)
            errors = bend.steepness * errors + rounding_growth(EXTRA_ROUNDINGS, self.bits) * sizes
            errors = errors if bend.rational else errors + self.bend
        return errors, sizes

    def _of_score(self, sizes: Floats, errors: Floats) -> tuple[Floats, Floats]:
        """What the score is off by, and its size at most."""
        weights, room = np.abs(self.weights), rounding_growth(len(self.weights) + MORE_ROUNDINGS, self.bits)
        size = sizes @ weights + abs(self.bias)
        error = error_of_sums(weights, abs(self.bias), sizes, errors, room) + self.link
        whole = abs(self.slope) * size + self.size
        return abs(self.slope) * error + rounding_growth(self.operations) * whole, whole

    def rescaled(self, by: AffineMap) -> NetworkRounding:
        return replace(
            self,
            slope=float(by.slope) * self.slope,
            size=abs(float(by.slope)) * self.size + float(by.size),
            operations=self.operations + by.operations,
        )
