"""The body `network` (section 15): h_0 = act_0(W_0 columns + b_0), h_l = act_l(W_l h_(l-1) + b_l), f = bias + sum_j weight_j h_last,j.

With activations that are piecewise linear the score is rational, and added up in ints over a common denominator. Else it is enclosed: every sum lies between two ints in units of 2^-work, rounded
outwards, activations are taken at both ends, and work grows until the two ends of the score are near enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from operator import mul
from typing import ClassVar

from likewise_check.core.body import Codes, Ends, Form, blend_rows, read_no_rounding
from likewise_check.core.fields import Reader, Rejected, anything, array_of, record, text
from likewise_check.core.numbers import number
from likewise_check.core.space import Space
from likewise_check.packs.axes import Column, read_column
from likewise_check.packs.network.activation import Activation, read_activation

MOST_COLUMNS = 10_000
MOST_LAYERS = 32
MOST_NEURONS = 10_000
_LONGEST = 1 << 16  # bits of a common denominator
_MOST_WORK = 1 << 16  # bits of an enclosure: beyond, the network is not one that can be looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Weights (a row a neuron) and biases as ints over `unit`, and what is made of the sums."""

    weights: tuple[tuple[int, ...], ...]
    biases: tuple[int, ...]
    unit: int
    activation: Activation


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The columns, each with its feature, the hidden layers, and the last row."""

    kind: ClassVar[str] = "network"
    packs: ClassVar[frozenset[str]] = frozenset({"network"})
    clears: ClassVar[bool] = False
    knows_missing: ClassVar[bool] = False

    columns: tuple[tuple[int, Column], ...]
    layers: tuple[Layer, ...]
    weights: tuple[Fraction, ...]
    bias: Fraction

    @property
    def rational(self) -> bool:
        return all(layer.activation.rational for layer in self.layers)

    def steady(self, k: int) -> bool:
        """Whether no sum of a neuron that counts changes with this feature: its columns may cancel."""
        own = [(c, column) for c, (feature, column) in enumerate(self.columns) if feature == k]
        first, counting = self.layers[0], self._counting()
        for row, counts in zip(first.weights, counting, strict=True):
            terms = [(row[c], column) for c, column in own if row[c]]
            if counts and not _constant(terms):
                return False
        return True

    def _counting(self) -> list[bool]:
        """Which neurons of the first layer weights other than 0 lead from to the score."""
        counting = [weight != 0 for weight in self.weights]
        for layer in self.layers[:0:-1]:
            rows = [row for row, counts in zip(layer.weights, counting, strict=True) if counts]
            counting = [any(row[i] for row in rows) for i in range(len(layer.weights[0]))]
        return counting

    def score(self, codes: Sequence[Fraction]) -> Fraction:
        """f(x), exactly, where it is rational."""
        values, below = _over_common([column.at(codes[k]) for k, column in self.columns])
        for layer in self.layers:
            bend, unit = layer.activation, below * layer.unit
            sums = [sum(map(mul, row, values)) for row in layer.weights]
            sums = [value + bias * below for value, bias in zip(sums, layer.biases, strict=True)]
            if bend.kind == "relu":
                values, below = [max(value, 0) for value in sums], unit
            else:
                values, below = _over_common([bend.at(Fraction(value, unit)) for value in sums])
            if below.bit_length() > _LONGEST:
                raise Rejected(f"exact scores take numbers of more than {_LONGEST} bits")
        weights, unit = _over_common(self.weights)
        return self.bias + Fraction(sum(map(mul, weights, values)), unit * below)

    def ends(self, codes: Codes, bits: int) -> Sequence[Ends]:
        """The one score."""
        if self.rational:
            return [(self.score(codes),) * 2]
        work = bits + 64
        while work <= _MOST_WORK:
            low, high = self._enclosed(codes, work)
            if (high - low) * (1 << bits) <= 1:
                return [(low, high)]
            work *= 2
        raise Rejected(f"a score is not enclosed to {bits} bits by numbers of {_MOST_WORK} bits")

    def _enclosed(self, codes: Codes, work: int) -> Ends:
        """f(x) between two rationals, from sums in units of 2^-work."""
        exact = [column.at(codes[k]) * (1 << work) for k, column in self.columns]
        low, high = [_floor(value) for value in exact], [-_floor(-value) for value in exact]
        for layer in self.layers:
            lower, upper = [], []
            for row, bias in zip(layer.weights, layer.biases, strict=True):
                below, above = _weighed(row, low, high)
                start = bias << work
                one, two = (start + below) // layer.unit, -(-(start + above) // layer.unit)
                one, two = layer.activation.between(one, two, work)
                lower.append(one)
                upper.append(two)
            low, high = lower, upper
        weights, unit = _over_common(self.weights)
        below, above = _weighed(weights, low, high)
        return self.bias + Fraction(below, unit << work), self.bias + Fraction(above, unit << work)

    def blend(self, alpha: Form, bodies: Sequence["Network"]) -> "Network":
        """The sum of alpha_c times body c: their hidden layers are the same."""
        bias, *weights = blend_rows(alpha, [[body.bias, *body.weights] for body in bodies])
        return replace(self, bias=bias, weights=tuple(weights))

    def read_rounding(self, item: object) -> None:
        """Is not described."""
        read_no_rounding(item)


def read_network(item: object, space: Space, coefficient: Reader = number) -> Network:
    """The body of a model line; `coefficient` reads the last row."""
    _, columns, layers, weights, bias = record(
        item,
        "the body",
        kind=text,
        columns=array_of(anything),
        layers=array_of(anything),
        weights=array_of(coefficient),
        bias=coefficient,
    )
    if not 1 <= len(columns) <= MOST_COLUMNS or not 1 <= len(layers) <= MOST_LAYERS:
        raise Rejected(f"the body must have 1 to {MOST_COLUMNS} columns and 1 to {MOST_LAYERS} layers")
    found = tuple(read_column(column, f"column {c}", space) for c, column in enumerate(columns))
    hidden, width = [], len(columns)
    for n, layer in enumerate(layers):
        hidden.append(_layer(layer, f"layer {n}", width))
        width = len(hidden[-1].biases)
    if len(weights) != width:
        raise Rejected(f"the body must have {width} weights, one a neuron of its last layer")
    return Network(columns=found, layers=tuple(hidden), weights=tuple(weights), bias=bias)


def _layer(item: object, what: str, width: int) -> Layer:
    activation, biases, weights = record(
        item,
        what,
        activation=read_activation,
        biases=array_of(number),
        weights=array_of(array_of(number, width)),
    )
    if not 1 <= len(biases) <= MOST_NEURONS or len(weights) != len(biases):
        raise Rejected(f"{what} must have 1 to {MOST_NEURONS} biases and as many rows of weights")
    unit = 1
    for value in (*biases, *(value for row in weights for value in row)):
        if unit % value.denominator:
            unit = lcm(unit, value.denominator)
            if unit.bit_length() > _LONGEST:
                raise Rejected(f"{what}: a common denominator of more than {_LONGEST} bits")
    return Layer(
        weights=tuple(
            tuple(value.numerator * (unit // value.denominator) for value in row) for row in weights
        ),
        biases=tuple(value.numerator * (unit // value.denominator) for value in biases),
        unit=unit,
        activation=activation,
    )


def _constant(terms: Sequence[tuple[int, Column]]) -> bool:
    """Whether the sum of weight * column, all of one feature, is the same at all codes."""
    if not terms:
        return True
    tables = [column.table for _, column in terms if column.table is not None]
    if not tables:
        return sum(weight * column.slope for weight, column in terms) == 0
    sums = {
        sum(weight * table[level] for (weight, _), table in zip(terms, tables, strict=True))
        for level in range(len(tables[0]))
    }
    return len(sums) == 1


def _over_common(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """The values as ints over one denominator."""
    common = lcm(*(value.denominator for value in values))
    return [value.numerator * (common // value.denominator) for value in values], common


def _weighed(row: Sequence[int], low: Sequence[int], high: Sequence[int]) -> tuple[int, int]:
    """The least and the largest sum of weight * value, each value between its ends."""
    least = sum(
        weight * (one if weight > 0 else two) for weight, one, two in zip(row, low, high, strict=True)
    )
    most = sum(weight * (two if weight > 0 else one) for weight, one, two in zip(row, low, high, strict=True))
    return least, most


def _floor(value: Fraction) -> int:
    return value.numerator // value.denominator
