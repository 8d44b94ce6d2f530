"""Rounding of programs that go through the layers one after the other, each a product of matrices in double precision (or single, `bits`).

The program's own layers are kept, also those that the body has multiplied into others. Errors are passed on from layer to layer (`error`): at a row from the outputs that it has there, over a
space from what outputs can be at most, the sizes of weights times those of inputs. tanh and the like are taken to be right within `ROOM` roundings. With the depth of the network the second
bound grows as products of norms do: small for doubles, and useless for deep networks in single precision, of which nothing is claimed then (`crude`).

A feature has one level at a time, so that over a space the first sums are those of the level at which the columns of a feature weigh most. Products with 0 are 0 and add no rounding: a sum of n terms has as many roundings as
terms that are not 0, of columns and of weights. In single precision a result below 2^-126 may be lost, whether it is rounded or set to 0 (`LOST`), and one beyond 2^127 is none: then no bound is stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.network.body import Layer
from likewise.families.network.error import MORE_ROUNDINGS, error_of_sums
from likewise.families.program_rounding import (
    EXTRA_ROUNDINGS,
    LARGEST_ERROR,
    ErrorBound,
    UnstatedRounding,
    double_beyond,
    round_outward,
    rounding_growth,
)
from likewise.model.embedding import column_extents, embed_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, ComputedColumn
    from likewise.families.scored_model import Model
    from likewise.model.embedding import Column
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]
    Setting = tuple[
        Places, Floats
    ]  # the columns of a feature, and their sizes at each of its levels, or at most

SINGLE = 24
LOST = 2.0**-126  # by an operation in single precision whose result is too small
LARGEST_SINGLE = 2.0**127
BENDING = 4  # roundings of a piecewise linear activation, with room
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
        errors, sizes = self._about(embed_rows(model.embedding, codes))
        found, _ = self._of_score(sizes, errors)
        # Where numbers are beyond doubles nothing is allowed for: the comparison fails then, and says so.
        return [
            Fraction(PROGRAMS * float(error)) if error < LARGEST_ERROR else Fraction(0) for error in found
        ]

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        if not self.described:
            return None
        errors, sizes = self._at_most(_settings(model.embedding, space))
        found, size = self._of_score(sizes, errors)
        reached = (sizes + errors) @ np.abs(self.weights) + abs(self.bias)
        if self.bits == SINGLE and not float(reached[0]) < LARGEST_SINGLE / 2:
            return None
        return round_outward(float(found[0]), float(size[0]), crude=self.bits == SINGLE)

    def _at_most(self, settings: Sequence[Setting]) -> tuple[Floats, Floats]:
        """What the last hidden layer's outputs are off by over a space, and their sizes, at most."""
        terms = sum(int(((own + self._of_columns(own, at)) > 0).sum(axis=1).max()) for at, own in settings)
        first, *others = self.layers
        weights, biases = np.abs(first.weights.floats), np.abs(first.biases.floats)
        room = self._room(weights, terms)
        sums, errors = biases.copy(), room * biases
        for at, own in settings:  # the same as `error_of_sums`, feature by feature
            off = self._of_columns(own, at)
            sums += (own @ weights[:, at].T).max(axis=0)
            errors += ((off + room * (own + off)) @ weights[:, at].T).max(axis=0)
        largest = max((float((own + self._of_columns(own, at)).max()) for at, own in settings), default=0.0)
        errors, sizes = self._bent(first, errors[None], sums[None], largest)
        for layer in others:
            weights, biases = np.abs(layer.weights.floats), np.abs(layer.biases.floats)
            errors = error_of_sums(weights, biases, sizes, errors, self._room(weights))
            errors, sizes = self._bent(layer, errors, sizes @ weights.T + biases)
        return errors, sizes

    def _bent(
        self, layer: Layer, errors: Floats, sums: Floats, largest: float = 0.0
    ) -> tuple[Floats, Floats]:
        """What outputs are off by, and their sizes, of sums that are off by these errors and of these sizes at most; infinite if the sums, or inputs of the `largest` size, are beyond the program's numbers."""
        bend = layer.activation
        errors = errors + self._lost(layer)
        if self.bits == SINGLE and not max(largest, float((sums + errors).max())) < LARGEST_SINGLE:
            errors = np.full_like(errors, np.inf)
        sizes = np.minimum(bend.at_zero + bend.steepness * sums, bend.largest)
        return self._after_bend(layer, errors, sizes), sizes

    def _about(self, values: Floats) -> tuple[Floats, Floats]:
        """What the last hidden layer's outputs are off by where the columns have these values, and their sizes, about."""
        sizes = np.abs(values)
        errors = self._of_columns(sizes, np.arange(values.shape[1]))
        for layer in self.layers:
            weights, biases = layer.weights.floats, layer.biases.floats
            errors = error_of_sums(np.abs(weights), np.abs(biases), sizes, errors, self._room(weights))
            values = layer.activation.proposed(values @ weights.T + biases)
            sizes = np.abs(values)
            errors = self._after_bend(layer, errors + self._lost(layer), sizes)
        return errors, sizes

    def _after_bend(self, layer: Layer, errors: Floats, sizes: Floats) -> Floats:
        """What an activation's outputs of these sizes are off by."""
        bend = layer.activation
        growth = rounding_growth(BENDING if bend.rational else EXTRA_ROUNDINGS, self.bits)
        found: Floats = bend.steepness * errors + growth * sizes + (0.0 if bend.rational else self.bend)
        return found

    def _lost(self, layer: Layer) -> float:
        """What all operations of a neuron may lose as too small."""
        return LOST * (2 * layer.weights.shape[1] + EXTRA_ROUNDINGS) if self.bits == SINGLE else 0.0

    def _of_columns(self, sizes: Floats, at: Places) -> Floats:
        """What the columns at these places are off by, of these sizes."""
        if not self.columns:
            return np.zeros_like(sizes)
        growth = np.array([rounding_growth(self.columns[c][0]) for c in at.tolist()])
        slack = np.array([self.columns[c][1] for c in at.tolist()])
        found: Floats = growth * (sizes + slack)
        return found

    def _room(self, weights: Floats, terms: int | None = None) -> float:
        """The growth of sums with these weights, of at most so many terms that are not 0."""
        most = int(np.count_nonzero(weights, axis=-1).max(initial=0))
        return rounding_growth((most if terms is None else min(most, terms)) + MORE_ROUNDINGS, self.bits)

    def _of_score(self, sizes: Floats, errors: Floats) -> tuple[Floats, Floats]:
        """What the score is off by, and its size at most."""
        weights = np.abs(self.weights)
        size = sizes @ weights + abs(self.bias)
        error = error_of_sums(weights, abs(self.bias), sizes, errors, self._room(weights)) + self.link
        if self.bits == SINGLE:
            error = error + LOST * (2 * len(weights) + EXTRA_ROUNDINGS)
        whole = abs(self.slope) * size + self.size
        return abs(self.slope) * error + rounding_growth(self.operations) * whole, whole

    def of_single_columns(
        self,
        model: Model,
        space: Space,
        columns: Sequence[ComputedColumn],
        *,
        described: bool,
    ) -> NetworkRounding:
        """In the precision of its weights; of those of single precision nothing is claimed."""
        return self.of_columns(columns, described=described and self.bits != SINGLE)

    def rescaled(self, by: AffineMap) -> NetworkRounding:
        return replace(
            self,
            slope=float(by.slope) * self.slope,
            size=abs(float(by.slope)) * self.size + float(by.size),
            operations=self.operations + by.operations,
        )


def _settings(embedding: Sequence[Column], space: Space) -> list[Setting]:
    """By feature, its columns and their sizes: a row for each level where all of them are tables, else the largest of each."""
    largest = [double_beyond(value) for value in column_extents(embedding, space)]
    found = []
    for feature in dict.fromkeys(column.feature for column in embedding):
        at = np.array([c for c, column in enumerate(embedding) if column.feature == feature], dtype=np.intp)
        tables = [embedding[c].entries for c in at.tolist()]
        told = all(len(table) for table in tables)
        own = np.abs(np.stack(tables, axis=1)) if told else np.array([[largest[c] for c in at.tolist()]])
        found.append((at, own))
    return found


def network_rounding(rounding: object) -> NetworkRounding | None:
    """The rounding, if it is that of layers."""
    return rounding if isinstance(rounding, NetworkRounding) else None
