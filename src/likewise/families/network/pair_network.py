"""Pair network: two copies of one network, side by side over the variables of pair space, as plain arrays that compiled loops read.

Hidden layers l = 0, ..., L - 1 have pre-activations y_l at x and y'_l at x':

    y_0 = base + sum over features of their contributions (a row of a table for a level, a row of slopes times the value for a number)
    y_l = weights_l act(y_(l-1)) + biases_l,        f = last . act(y_(L-1)) + bias          (of x'; other_last, other_bias)

All neurons of all layers stand in one row, layer after layer. After the variables of pair space a cell has three more for each neuron, its *inner quantities*: y, y' and
y' - y, without limits (-inf, inf) until one of them is split.

An activation is piecewise linear with one break (relu, leaky relu: `breaks` [t, inf]) or two (clip, hard sigmoid), or a curve (`curves`): `breaks` [nan, its kind], its first slope alpha.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.families.network.curves import KINDS
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from likewise.families.network.activation import Activation
    from likewise.families.network.score import NetworkScore
    from likewise.spec.pairs import PairSpace

LOW, HIGH, OTHER_LOW, OTHER_HIGH, LEAST, MOST = range(6)  # limits of a neuron: of y, of y' and of y' - y


class PairNetwork(NamedTuple):
    """Both copies in float64. Arrays of layers are padded to the widest one."""

    widths: np.ndarray  # neurons a layer
    starts: np.ndarray  # the place of each layer's first neuron among all
    weights: np.ndarray  # [l, i, q]: of neuron q of layer l - 1 in neuron i of layer l; of layer 0 unused
    sizes: np.ndarray  # their absolute values
    biases: np.ndarray  # [l, i]
    breaks: np.ndarray  # [l]: where the activation bends, (t, t'), t' = inf where it does so once
    slopes: np.ndarray  # [l]: before, between, after
    values: np.ndarray  # [l]: at the first break
    base: np.ndarray
    rows: np.ndarray  # contributions to layer 0
    row: np.ndarray  # of each feature, its first row
    levels: np.ndarray  # whether a feature has a row a level, else it has one of slopes
    first: np.ndarray  # the variable of each feature at x
    second: np.ndarray  # and at x', the same one where they are shared
    difference: np.ndarray  # and that of x' - x, -1 where there is none
    whole: np.ndarray  # which variables are whole numbers
    last: np.ndarray
    other_last: np.ndarray
    bias: float
    other_bias: float

    @property
    def neurons(self) -> int:
        """Hidden neurons in all."""
        return int(self.widths.sum())


def pair_network(first: NetworkScore, second: NetworkScore, pairs: PairSpace) -> PairNetwork:
    """The copies of two scores that share their hidden layers."""
    hidden = first.body.hidden
    widths = np.array([layer.weights.shape[0] for layer in hidden])
    weights, biases = (
        np.zeros((len(hidden), widths.max(), widths.max())),
        np.zeros((len(hidden), widths.max())),
    )
    for n, layer in enumerate(hidden):
        biases[n, : widths[n]] = layer.biases.floats
        if n > 0:
            weights[n, : widths[n], : widths[n - 1]] = layer.weights.floats
    bends = [_bend(layer.activation) for layer in hidden]
    features = [k for k, part in enumerate(first.first.parts) if part is not None]
    parts = [part for part in first.first.parts if part is not None]
    rows = [part.floats for part in parts]
    apart = pairs.difference or (None,) * len(pairs.first)
    return PairNetwork(
        widths=widths,
        starts=np.cumsum(widths) - widths,
        weights=weights,
        sizes=np.abs(weights),
        biases=biases,
        breaks=np.array([bend[0] for bend in bends]),
        slopes=np.array([bend[1] for bend in bends]),
        values=np.array([bend[2] for bend in bends]),
        base=first.first.base.floats[0].copy(),
        rows=np.concatenate(rows) if rows else np.zeros((0, widths[0])),
        row=np.cumsum([0, *(len(part) for part in rows)])[: len(rows)].astype(np.int64),
        levels=np.array([part.is_table for part in parts], dtype=bool),
        first=np.array([pairs.first[k] for k in features], dtype=np.int64),
        second=np.array([pairs.second[k] for k in features], dtype=np.int64),
        difference=np.array([-1 if apart[k] is None else apart[k] for k in features], dtype=np.int64),
        whole=np.array([variable.discrete for variable in pairs.variables]),
        last=_padded(first, widths.max()),
        other_last=_padded(second, widths.max()),
        bias=first.last_row[1],
        other_bias=second.last_row[1],
    )


def _padded(score: NetworkScore, width: int) -> np.ndarray:
    weights = score.last_row[0]
    return np.concatenate([weights, np.zeros(width - len(weights))])


def _bend(activation: Activation) -> tuple[list[float], list[float], float]:
    """Breaks, slopes and the value at the first break; of a curve nan and its kind, and alpha."""
    if activation.kind in KINDS:
        alpha = nearest_double(activation.parameters[0]) if activation.parameters else 0.0
        return [np.nan, KINDS[activation.kind]], [alpha, 0.0, 0.0], 0.0
    if activation.kind == "clip":
        low, high = map(nearest_double, activation.parameters)
        return [low, high], [0.0, 1.0, 0.0], low
    before = nearest_double(activation.parameters[0]) if activation.kind == "leaky_relu" else 0.0
    return [0.0, np.inf], [before, 1.0, 1.0], 0.0
