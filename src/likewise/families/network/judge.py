"""Judge of networks: rows times settings in float64 with a proved error. What rows share of the first layer's sums is added up once, each setting adds its part.

A term of a first sum is a table's entry (one rounding) or a slope times a code (two), and K features and the base are added: growth(K + 5) of the sizes of all terms. From there on errors
are passed on from layer to layer (`error`), for each row with the largest outputs that occur among its settings, and an activation adds `bent` and two roundings (`activation`).

Underflow: with no parameter, sum of sizes or output beyond WIDEST = 2^60, at most MOST_LAYERS = 8 layers of at most 2^16 neurons, an operation whose result is denormal loses 2^-1074, times 2^60 where it is a
weight that is, and what a layer of 2^16 inputs has lost is multiplied by 2^76 in each layer after it: less than 2^(16 + 60 - 1074 + 8 * 76) < TINY in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import check_clock
from likewise.families.network.error import MORE_ROUNDINGS, error_of_sums
from likewise.families.score_judge import (
    PRODUCTS_A_SECOND,
    UNDERFLOW_LOSS,
    WIDEST_COLUMN,
    ScoreGrid,
    ScoreJudge,
    ScoreTable,
    rounding_growth,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.network.score import NetworkScore

    Floats = NDArray[np.float64]

BLOCK = 1_000_000  # outputs of a layer at a time
ROOM = 1.01  # the rounding of the errors themselves
MOST_LAYERS, MOST_NEURONS = 8, 2**16


class NetworkJudge(ScoreJudge):
    """Scores of a network."""

    score: NetworkScore

    def __init__(self, score: NetworkScore) -> None:
        self.score = score

    @property
    def pace(self) -> float:
        return PRODUCTS_A_SECOND / self.score.body.size

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreGrid:
        found = cross_all([self.score], rows, features, settings)
        return ScoreGrid(values=found.values[:, :, 0], error=found.error)


def cross_all(
    scores: Sequence[NetworkScore], rows: Floats, features: Sequence[int], settings: Floats
) -> ScoreTable:
    """All scores of the same hidden layers (rows, settings, n), with what each is off by in a row."""
    first, n = scores[0], len(scores)
    weights = np.stack([score.last_row[0] for score in scores])
    biases = np.array([score.last_row[1] for score in scores])
    values, error = np.zeros((len(rows), len(settings), n)), np.full((len(rows), n), np.inf)
    known = is_plain(first) and _within(weights, biases)
    growing = rounding_growth(weights.shape[1] + MORE_ROUNDINGS)
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow has an infinite error
        for some, outputs, sizes, errors in _hidden(first, rows, features, settings):
            check_clock()
            found = outputs @ weights.T + biases
            off = (
                ROOM * error_of_sums(np.abs(weights), np.abs(biases), sizes, errors, growing) + UNDERFLOW_LOSS
            )
            wide = (sizes.max(axis=1) > WIDEST_COLUMN) | ~np.isfinite(found).all(axis=(1, 2)) | (not known)
            values[some] = np.where(np.isfinite(found), found, 0.0)
            error[some] = np.where(wide[:, None] | ~np.isfinite(off), np.inf, off)
    return ScoreTable(values=values, error=error)


def _hidden(
    score: NetworkScore, rows: Floats, features: Sequence[int], settings: Floats
) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    """Some rows at a time: the last hidden layer's outputs (rows, settings, neurons), their largest sizes (rows, neurons) and what they are off by."""
    first, hidden = score.first, score.body.hidden
    shared = [k for k in range(score.n_features) if k not in features]
    more, more_sizes = first.added(features, list(settings.T), len(settings))
    base, adding = first.base.floats[0], rounding_growth(score.n_features + 1 + MORE_ROUNDINGS)
    widest = max(len(layer.biases.numerators) for layer in hidden)
    step = max(1, BLOCK // (widest * max(1, len(settings))))
    for start in range(0, len(rows), step):
        some = slice(start, start + step)
        sums, sizes = first.added(shared, list(rows[some][:, shared].T), len(rows[some]))
        sizes += np.abs(base) + more_sizes.max(axis=0, initial=0.0)
        errors, given = adding * sizes, (sums + base)[:, None, :] + more
        seen = sizes.max(axis=1)  # what a row has met: it must stay small enough
        for depth, layer in enumerate(hidden):
            if depth:
                growing = rounding_growth(layer.weights.shape[1] + MORE_ROUNDINGS)
                own, biases = layer.weights.floats, layer.biases.floats
                errors = error_of_sums(np.abs(own), np.abs(biases), sizes, errors, growing)
                given = given @ own.T + biases
            given = layer.activation.judged(given)
            sizes = np.abs(given).max(axis=1, initial=0.0)
            errors = layer.activation.steepness * errors + layer.activation.bent + rounding_growth(2) * sizes
            seen = np.maximum(seen, sizes.max(axis=1))
        errors = np.where((seen <= WIDEST_COLUMN)[:, None], errors, np.inf)
        yield some, given, sizes, errors


def is_plain(score: NetworkScore) -> bool:
    """Whether all parameters of the hidden layers are small enough, and layers few and narrow enough, for TINY to cover underflow."""
    hidden, first = score.body.hidden, score.first
    parts = [first.base, *(part for part in first.parts if part is not None)]
    small = [_within(part.floats) for part in parts]
    small += [_within(layer.weights.floats, layer.biases.floats) for layer in hidden[1:]]
    small += [_within(np.array(layer.activation.parameters, dtype=float)) for layer in hidden]
    narrow = all(max(layer.weights.shape) <= MOST_NEURONS for layer in hidden)
    return all(small) and narrow and len(hidden) <= MOST_LAYERS


def _within(*arrays: Floats) -> bool:
    return all(np.abs(array).max(initial=0.0) <= WIDEST_COLUMN for array in arrays)
