"""Models of layers: the scores of a program that goes through layers of weights one after the other, each as a model with its rounding.

    no layer bends      an affine model, whose sizes are those of all products
    some do             a network

A score is a row of the last layer, or a sum of rows with factors (the lead of one class over another).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.network.activation import IDENTITY
from likewise.families.network.body import Layer, Network, folded
from likewise.families.network.rounding import NetworkRounding
from likewise.families.program_rounding import DOUBLE_BITS, SINGLE_AS_DOUBLE, SINGLE_BITS, SINGLE_SLACK
from likewise.families.scored_model import Model
from likewise.model.embedding import Column
from likewise.model.head import Head


@dataclass(frozen=True, kw_only=True)
class LayeredProgram:
    """All layers as the program has them, the last one without a bend. `link` is what decisions may be off by in the score, `bend` what its tanh and the like may be off by
    besides roundings; `described` and `bounded` are those of an affine model (`AffineRounding`), `stated` whether anything is said of the rounding of a network. `rounded_columns`: which columns come in double precision and are rounded to `bits` first. `spare` roundings a layer are allowed for besides those of its sums."""

    family: str
    layers: tuple[Layer, ...]
    embedding: tuple[Column, ...]
    bits: int = DOUBLE_BITS
    link: float = 0.0
    bend: float = 0.0
    described: bool = True
    bounded: bool = True
    stated: bool = True
    rounded_columns: tuple[bool, ...] = ()
    spare: int = 0

    @cached_property
    def folded(self) -> tuple[Layer, ...]:
        """The layers that bend, and the last one."""
        return folded(self.layers)

    def model(self, rows: Mapping[int, int], head: Head) -> Model:
        """The model of a score: rows of the last layer with whole factors."""
        *hidden, last = self.folded
        unit = 1 << last.weights.exponent
        total = sum(factor * last.weights.numerators[row] for row, factor in rows.items())
        weights = tuple(Fraction(n, unit) for n in np.asarray(total).tolist())
        bias = sum((factor * last.biases.fractions[row] for row, factor in rows.items()), Fraction(0))
        rounding: AffineRounding | NetworkRounding
        body: Affine | Network
        if hidden:
            body = Network(hidden=tuple(hidden), weights=weights, bias=bias)
            rounding = self._network_rounding(rows)
        else:
            body = Affine(weights=weights, bias=bias)
            rounding = self._affine_rounding(rows)
        return Model(
            family=self.family, rounding=rounding, embedding=self.embedding, bodies=(body,), head=head
        )

    def _network_rounding(self, rows: Mapping[int, int]) -> NetworkRounding:
        last = self.layers[-1]
        sizes = [(abs(factor), row) for row, factor in rows.items()]
        weights = last.weights.floats[next(iter(rows))]
        bias = float(last.biases.floats[next(iter(rows))])
        if len(sizes) > 1:
            weights = np.sum([factor * np.abs(last.weights.floats[row]) for factor, row in sizes], axis=0)
            bias = float(sum(factor * abs(last.biases.floats[row]) for factor, row in sizes))
        cast = tuple((SINGLE_AS_DOUBLE, SINGLE_SLACK) if one else (0, 0.0) for one in self.rounded_columns)
        return NetworkRounding(
            layers=self.layers[:-1],
            weights=weights,
            bias=bias,
            bits=self.bits,
            link=self.link,
            bend=self.bend,
            columns=cast,
            described=self.stated,
        )

    def _affine_rounding(self, rows: Mapping[int, int]) -> AffineRounding:
        """Of a program that multiplies through layers which do not bend: sizes are those of all products, and every layer adds its roundings."""
        whole = folded(
            [
                Layer(weights=layer.weights.sizes(), biases=layer.biases.sizes(), activation=IDENTITY)
                for layer in self.layers
            ]
        )[0]
        unit = 1 << whole.weights.exponent
        total = sum(abs(factor) * whole.weights.numerators[row] for row, factor in rows.items())
        constant = sum(
            (abs(factor) * whole.biases.fractions[row] for row, factor in rows.items()), Fraction(0)
        )
        found = AffineRounding(
            sizes=tuple(Fraction(n, unit) for n in np.asarray(total).tolist()),
            constant=constant,
            operations=sum(2 * layer.weights.shape[1] + 2 + self.spare for layer in self.layers),
            described=self.described,
            bounded=self.bounded,
            crude=self.bits == SINGLE_BITS,
        )
        if not self.rounded_columns:
            return found
        # The 1 is for what is made of scores: probabilities that are compared with 1/2.
        return replace(found, constant=found.constant + 1).in_single_precision()
