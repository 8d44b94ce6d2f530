"""Lines about log odds z = -log sum_r exp(d_r), of numbers d_1, ..., d_m over a cell: the inequalities of the rule `softmax`.

    z <= -w . d - H(w)                                               (Gibbs), for any weights w
    -z = l_m, l_1 = d_1, l_(r+1) = l_r + softplus(d_(r+1) - l_r),    each softplus below a line over the range of its argument

Whoever knows the maxima of forms of d over a cell has bounds by these, in float64 (`upper_lines`) or exactly (`prove_by_lines`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import arb, ctx, fmpq

from likewise.cells.leaf import Clearance, SoftLines
from likewise.model.head import lower_end
from likewise.model.witness_set import Direction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

GRID = 2**24  # weights and slopes are rounded to this grid: any are sound, short ones keep proofs small
PRECISION_BITS = 160
CHECKER_ROOM = Fraction(1, 2**80)  # relative, left for the checker's own rounding: it may use 2^-90

Row = list[Fraction]  # the coefficients of a form of d


class UpperLines(NamedTuple):
    """Of -z at x', by cell: the form of d and the number that bound it, with the slopes and weights of every step."""

    form: Floats  # (cells, m)
    constant: Floats
    slopes: Floats  # (cells, m - 1)
    weights: list[Floats]  # (cells, r) each
    bends: Floats  # (cells, m - 1): the largest second derivative of each softplus over its range
    empty: NDArray[np.bool_]


class ProposedLines(NamedTuple):
    """What `SoftLines` says, of a cell that may not need it, in float64 (on the grid, so exactly)."""

    weights: Floats
    slopes: Floats
    steps: tuple[Floats, ...]

    def exact(self) -> SoftLines:
        steps = zip(self.slopes.tolist(), self.steps, strict=True)
        return SoftLines(
            weights=_fractions(self.weights),
            steps=tuple((Fraction(slope), _fractions(v)) for slope, v in steps),
        )


def upper_lines(there: Floats, largest: Callable[[Floats], Floats]) -> UpperLines:
    """The lines of every step, given d at one point of each cell, (cells, m), and what tells the largest beta . d of each cell."""
    cells, m = there.shape
    form, constant = np.zeros((cells, m)), np.zeros(cells)
    form[:, 0] = 1.0
    slopes, all_weights, empty = np.zeros((cells, m - 1)), [], np.zeros(cells, dtype=bool)
    bends = np.zeros((cells, m - 1))
    for r in range(1, m):
        weights = softmax_on_grid(there[:, :r])
        above, below = np.zeros((cells, m)), -form
        above[:, r], above[:, :r] = 1.0, -weights
        below[:, r] += 1.0
        high = largest(above) - entropy(weights)
        low = -largest(-below) - constant
        empty |= ~np.isfinite(high)
        high, low = np.where(np.isfinite(high), high, 0), np.where(np.isfinite(low), low, 0)
        slope = np.clip(np.round(_chord(low, high) * GRID) / GRID, 0, 1)
        lift = np.maximum(_softplus(low) - slope * low, _softplus(high) - slope * high)
        form = (1 - slope)[:, None] * form
        form[:, r] += slope
        constant = (1 - slope) * constant + lift
        slopes[:, r - 1] = slope
        nearest = np.clip(0.0, low, np.maximum(low, high))
        bends[:, r - 1] = 0.25 / np.cosh(np.clip(nearest / 2, -300, 300)) ** 2
        all_weights.append(weights)
    return UpperLines(form, constant, slopes, all_weights, bends, empty)


def prove_by_lines(
    soft: SoftLines, count: int, way: Direction, largest: Callable[[Row | None, Row], Fraction | None]
) -> Clearance | None:
    """Whether a z(x) - b z(x') <= T by these lines: 0 if so, None if not. `largest` bounds the largest value of a form of d at x (None: there
    is none) plus one at x' over the cell from above, and is None where the cell has no pair: then infinity."""
    if not are_sound(soft, count):
        return None
    with ctx.workprec(PRECISION_BITS):
        form, constant = [Fraction(n == 0) for n in range(count)], Fraction(0)
        for r, (slope, weights) in enumerate(soft.steps, start=1):
            above = [-v for v in weights] + [Fraction(1)] + [Fraction(0)] * (count - r - 1)
            high = largest(None, above)
            low = largest(None, [f - (n == r) for n, f in enumerate(form)])
            if high is None or low is None:
                return float("inf")
            high, low = high - entropy_lower(weights), -low - constant
            lift = max(softplus_upper(end) - slope * end for end in (low, high))
            form = [(1 - slope) * f + slope * (n == r) for n, f in enumerate(form)]
            constant = (1 - slope) * constant + lift
        most = largest([-way.a * w for w in soft.weights], [way.b * f for f in form])
        if most is None:
            return float("inf")
        parts = (most, -way.a * entropy_lower(soft.weights), way.b * constant)
        room = CHECKER_ROOM * (1 + sum((abs(part) for part in parts), abs(way.threshold)))
        return Fraction(0) if sum(parts, room) <= way.threshold else None


def trivial_lines(count: int) -> SoftLines:
    """Lines that hold everywhere: all weight on d_1, every slope 0."""
    first = [tuple(Fraction(n == 0) for n in range(length)) for length in range(1, count + 1)]
    return SoftLines(weights=first[-1], steps=tuple((Fraction(0), row) for row in first[:-1]))


def are_sound(soft: SoftLines, count: int) -> bool:
    """Whether there are as many weights and slopes as there must be, and all are such."""
    rows = [soft.weights, *(weights for _, weights in soft.steps)]
    lengths = [count, *range(1, count)]
    return (
        [len(row) for row in rows] == lengths
        and all(sum(row) == 1 and min(row) >= 0 for row in rows)
        and all(0 <= slope <= 1 for slope, _ in soft.steps)
    )


def entropy_lower(weights: Sequence[Fraction]) -> Fraction:
    """A lower bound of H(w) = -sum w log w."""
    total = arb(0)
    for weight in weights:
        if weight:
            total -= _ball(weight) * _ball(weight).log()
    return lower_end(total)


def softplus_upper(t: Fraction) -> Fraction:
    """An upper bound of log(1 + exp t); exp is taken of negative numbers only."""
    ball = _ball(t)
    value = (-abs(ball)).exp().log1p() if t <= 0 else ball + (-ball).exp().log1p()
    return -lower_end(-value)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def softmax_on_grid(values: Floats) -> Floats:
    """Weights on the grid, adding up to 1 exactly."""
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return round_to_grid(powers / powers.sum(axis=1, keepdims=True))


def round_to_grid(weights: Floats) -> Floats:
    """Weights rounded to the grid, still adding up to 1 exactly."""
    whole = np.round(weights * GRID)
    rows, largest = np.arange(len(whole)), whole.argmax(axis=1)
    whole[rows, largest] += GRID - whole.sum(axis=1)
    rounded: Floats = whole / GRID
    return rounded


def entropy(weights: Floats) -> Floats:
    """H of each row of weights."""
    logs = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    found: Floats = -(weights * logs).sum(axis=1)
    return found


def _softplus(t: Floats) -> Floats:
    value: Floats = np.logaddexp(0, t)
    return value


def _chord(low: Floats, high: Floats) -> Floats:
    """The slope of softplus between two arguments."""
    width = high - low
    slope: Floats = np.where(
        width > 1e-9,
        (_softplus(high) - _softplus(low)) / np.where(width > 1e-9, width, 1),
        0.5 * (1 + np.tanh(0.25 * (high + low))),
    )
    return slope


def _fractions(row: Floats) -> tuple[Fraction, ...]:
    return tuple(Fraction(value) for value in row.tolist())
