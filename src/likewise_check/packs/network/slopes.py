"""Derivatives of networks over boxes of individuals (section 21): ranges of all sums forwards, then intervals of slopes backwards."""

from collections.abc import Sequence
from fractions import Fraction

from likewise_check.packs.intervals import (
    BITS,
    UNIT,
    Derivatives,
    IndividualBox,
    Interval,
    enclose,
    plus,
    times,
)
from likewise_check.packs.network.activation import Activation
from likewise_check.packs.network.body import Network


def network_slopes(body: Network, features: Sequence[int]) -> Derivatives:
    """What has them by these features, all of them numbers."""
    return lambda box: _slopes(body, features, box)


def _slopes(body: Network, features: Sequence[int], box: IndividualBox) -> list[Interval]:
    values = [enclose(*column.range_on(*box[k])) for k, column in body.columns]
    slopes: list[list[Interval]] = []
    for layer in body.layers:
        sums = [
            _weighed(row, values, bias << BITS, layer.unit)
            for row, bias in zip(layer.weights, layer.biases, strict=True)
        ]
        slopes.append([_activation_slopes(layer.activation, ends) for ends in sums])
        values = [layer.activation.between(*ends, BITS) for ends in sums]
    back = [enclose(weight) for weight in body.weights]
    for layer, own in zip(reversed(body.layers), reversed(slopes), strict=True):
        back = [times(one, slope) for one, slope in zip(back, own, strict=True)]
        columns = zip(*layer.weights, strict=True)
        back = [_weighed(column, back, 0, layer.unit) for column in columns]
    found = dict.fromkeys(features, (0, 0))
    for (k, column), value in zip(body.columns, back, strict=True):
        if k in found:
            found[k] = plus(found[k], times(enclose(column.slope), value))
    return [found[k] for k in features]


def _weighed(row: Sequence[int], values: Sequence[Interval], start: int, unit: int) -> Interval:
    """The range of a weighted sum, whose weights are ints over a unit."""
    low = start + sum(w * (v[0] if w > 0 else v[1]) for w, v in zip(row, values, strict=True))
    high = start + sum(w * (v[1] if w > 0 else v[0]) for w, v in zip(row, values, strict=True))
    return low // unit, -(-high // unit)


def _activation_slopes(activation: Activation, ends: Interval) -> Interval:
    """The least and the largest slope over sums between two ends."""
    kind, numbers = activation.kind, activation.numbers
    if kind == "tanh":
        return 0, UNIT
    if kind == "logistic":
        return 0, UNIT // 4
    if kind == "elu":
        return enclose(min(numbers[0], Fraction(0)), max(numbers[0], Fraction(1)))
    breaks = [Fraction(0)] if kind != "clip" else list(numbers)
    pieces = [Fraction(0), Fraction(1), Fraction(0)] if kind == "clip" else [Fraction(0), Fraction(1)]
    if kind == "leaky_relu":
        pieces[0] = numbers[0]
    low, high = (Fraction(end, UNIT) for end in ends)
    met = [
        slope
        for i, slope in enumerate(pieces)
        if (i == 0 or high > breaks[i - 1]) and (i == len(breaks) or low < breaks[i])
    ]
    return enclose(min(met or pieces), max(met or pieces))
