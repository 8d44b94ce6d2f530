"""Network score over codes: exact in whole numbers where all activations are piecewise linear, else in balls of any precision; in float64 for many rows.

Exactly, an individual's columns are whole numbers over a common denominator, and each layer's sums are products with its whole weights over one more power of two: there is
no division but the last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpz, fmpz_mat

from likewise.clock import check_clock
from likewise.errors import InternalError
from likewise.families.network.body import Network
from likewise.families.network.inputs import FirstSums, first_sums
from likewise.model.head import lower_end
from likewise.spec.enclosure import Enclosure
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.network.body import Layer
    from likewise.model.embedding import Column
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

BLOCK = 2_000_000  # outputs of a layer at a time: memory stays at some ten megabytes
PRODUCTS_A_KERNEL_VALUE = 64  # what a weight costs beside a kernel value, in float64 and exactly
GUARD = 64  # bits more in balls, for what sums of weights lose
REFERENCE_BITS = 160
ROWS = 32  # exact scores between two looks at the clock


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkScore:
    """The score of a network over codes."""

    family: ClassVar[str] = "network"

    body: Network
    embedding: tuple[Column, ...]
    n_features: int

    @cached_property
    def first(self) -> FirstSums:
        """The first layer's sums, feature by feature."""
        return first_sums(self.body.hidden[0], self.embedding, self.n_features)

    @cached_property
    def last_row(self) -> tuple[Floats, float]:
        """Weights and bias of the score in float64."""
        return np.array([nearest_double(w) for w in self.body.weights]), nearest_double(self.body.bias)

    # -- many individuals ---------------------------------------------------------------------------------------

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, for proposing; never for deciding."""
        weights, bias = self.last_row
        return self.last_outputs(codes, weights) + bias

    def scorer(self) -> Callable[[Floats], Floats]:
        return self.scores

    def last_outputs(self, codes: Floats, weights: Floats) -> Floats:
        """The outputs of the last hidden layer, times these weights (outputs,) or (outputs, scores)."""
        found = np.empty((len(codes), *weights.shape[1:]))
        step = max(1, BLOCK // max(len(layer.biases.numerators) for layer in self.body.hidden))
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow proposes nothing
            for start in range(0, len(codes), step):
                some = slice(start, start + step)
                found[some] = self._outputs(self.first.of(codes[some])) @ weights
        return found

    def _outputs(self, sums: Floats) -> Floats:
        """Those of the last hidden layer, from the sums of the first."""
        first, *others = self.body.hidden
        outputs = first.activation.proposed(sums)
        for layer in others:
            outputs = layer.activation.proposed(outputs @ layer.weights.floats.T + layer.biases.floats)
        return outputs

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """Many rows, exactly, or to many bits."""
        rows = [[Fraction(c) for c in row] for row in codes.tolist()]
        if not self.rational:
            return [self.enclose(row, REFERENCE_BITS).middle for row in rows]
        return [
            score for start in range(0, len(rows), ROWS) for score in self._exact(rows[start : start + ROWS])
        ]

    # -- one individual -----------------------------------------------------------------------------------------

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        """The score of one individual."""
        return self._exact([codes])[0]

    def _exact(self, rows: Sequence[Sequence[Fraction]]) -> list[Fraction]:
        """Some rows, their columns over one denominator."""
        check_clock()
        values = [[column.exact(codes[column.feature]) for column in self.embedding] for codes in rows]
        below = math.lcm(*(value.denominator for row in values for value in row))
        numbers = [fmpz(value.numerator * (below // value.denominator)) for row in values for value in row]
        for layer in self.body.hidden:
            numbers, below = _sums(layer, numbers, below, len(rows))
            numbers, below = layer.activation.whole(numbers, below)
        common = math.lcm(*(weight.denominator for weight in self.body.weights))
        weights = [weight.numerator * (common // weight.denominator) for weight in self.body.weights]
        found = fmpz_mat(len(rows), len(weights), numbers) * fmpz_mat(len(weights), 1, weights)
        return [Fraction(int(total), below * common) + self.body.bias for total in found.entries()]

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """One score: exactly, or in balls, which are rigorous whatever the precision."""
        if self.rational:
            return Enclosure.of(self.exact(codes))
        check_clock()
        with ctx.workprec(bits + GUARD):
            outputs = [_ball(column.exact(codes[column.feature])) for column in self.embedding]
            for layer in self.body.hidden:
                outputs = list(_enclosed(layer, outputs))
            weighed = zip(self.body.weights, outputs, strict=True)
            total = sum((_ball(weight) * output for weight, output in weighed), _ball(self.body.bias))
            return Enclosure(lower_end(total), -lower_end(-total))

    # -- what is known of it ------------------------------------------------------------------------------------

    def depends(self, feature: int) -> bool:
        """Whether the sum of a neuron that counts can change with a feature: False only where none does."""
        part = self.first.parts[feature]
        return part is not None and part.moves(self.counting[0])

    @cached_property
    def counting(self) -> list[NDArray[np.bool_]]:
        """By layer the neurons that weights other than 0 lead from to the score."""
        found = [np.array([weight != 0 for weight in self.body.weights])]
        for layer in self.body.hidden[:0:-1]:
            used = layer.weights.numerators[found[0]] != 0
            found.insert(0, used.astype(bool).any(axis=0))
        return found

    def landmarks(self, space: Space) -> Floats:
        """None: ascent from rows finds what is worth looking at."""
        return np.empty((0, len(space)))

    def negated(self) -> NetworkScore:
        body = self.body.with_last_row([-w for w in self.body.weights], -self.body.bias)
        return replace(self, body=body)

    @property
    def cost(self) -> int:
        """What a search has to pay for a row, in kernel values."""
        return 1 + self.body.size // PRODUCTS_A_KERNEL_VALUE

    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""
        return self.body.rational

    @property
    def enclosing_work(self) -> int:
        """How many weights an enclosure looks at."""
        return 0 if self.rational else self.body.size


def _sums(layer: Layer, numbers: list[fmpz], below: int, rows: int) -> tuple[list[fmpz], int]:
    """weights @ inputs + biases of inputs numbers / below, row by row, and what the sums are over."""
    neurons, width = layer.weights.shape
    if len(numbers) != rows * width:
        raise InternalError(f"{len(numbers)} inputs of {rows} rows for a layer of {width}")
    products = (fmpz_mat(rows, width, numbers) * layer.weights.transposed).entries()
    exponent = max(layer.weights.exponent, layer.biases.exponent)
    finer = fmpz(1 << (exponent - layer.weights.exponent))
    biases = [fmpz(n) * below for n in layer.biases.over(exponent).tolist()]
    sums = [finer * product + biases[i % neurons] for i, product in enumerate(products)]
    return sums, below << exponent


def _enclosed(layer: Layer, inputs: list[arb]) -> Iterator[arb]:
    products = layer.weights.balls * arb_mat(len(inputs), 1, inputs)
    unit, other = fmpz(1 << layer.weights.exponent), fmpz(1 << layer.biases.exponent)
    for i, bias in enumerate(layer.biases.numerators.tolist()):
        yield layer.activation.enclosed(products[i, 0] / unit + arb(bias) / other)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
