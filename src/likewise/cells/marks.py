"""Marks of a feature in pieces, in float64: the codes at which its function can be largest or smallest.

Where a piece begins and ends (a cut, and the double after it), and where its derivative is zero. Over an interval
the function is extreme at one of the marks inside or at an end, so the maxima of `curves` for `same` and `free` are
found without looking at pieces one by one. `within` looks at pairs of pieces. Only proposes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.curves import near
from likewise.spec.pieces import Pieces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Maximum = tuple[Floats, Floats, Floats]  # the value, and x and x' that have it

TOGETHER = 200_000  # pairs of parts looked at at a time: some ten megabytes
REAL = 1e-9  # relative imaginary part up to which a root counts as real: a mark too many does no harm


class Marks:
    """One feature's function over the codes lo to hi, prepared for many cells."""

    def __init__(
        self, pieces: Pieces, lo: float, hi: float, *, whole: bool, tolerance: Fraction | None
    ) -> None:
        self.pieces = pieces
        ends, _, coefficients = pieces.floats()
        count = len(pieces.polynomials)
        if whole:
            ends = np.floor(ends)
        inside = ends[(ends >= lo) & (ends < hi)]
        self.cuts: Floats = np.unique(inside)  # the last code of a piece
        after = ends + 1 if whole else np.nextafter(ends, np.inf)
        self.begin = np.clip(np.concatenate([[-np.inf], after]), lo, np.inf)
        self.end = np.clip(np.concatenate([ends, [np.inf]]), -np.inf, hi)
        self.turns = np.stack(
            [self._turns(i) for i in range(count)]
        )  # (pieces, turning points), ends where none
        codes = np.concatenate([self.turns.ravel(), self.begin, self.end])
        codes = np.concatenate([np.floor(codes), np.ceil(codes)]) if whole else codes
        self.codes: Floats = np.unique(codes[(codes >= lo) & (codes <= hi)])
        self.values = pieces.values(self.codes)
        self.linear = np.array([len(p) <= 2 for p in pieces.polynomials])
        self.slopes = coefficients[1] if len(coefficients) > 1 else np.zeros(count)
        self.loses = (
            tolerance is not None and not self.linear.all()
        )  # whether maxima are bounded from above only
        if tolerance is not None:
            self.tolerance = float(tolerance)
            parts = pieces.parts(Fraction(lo), Fraction(hi), whole=whole)
            pairs = [(parts[m][0], parts[n][0]) for m, n in near(parts, parts, tolerance)]
            self.first, self.second = np.array(pairs, dtype=np.intp).T

    def _turns(self, piece: int) -> Floats:
        _, centres, coefficients = self.pieces.floats()
        derivative = coefficients[1:, piece] * np.arange(1, len(coefficients))
        found = np.full(max(len(coefficients) - 2, 1), self.begin[piece])
        if np.isfinite(derivative).all() and np.any(derivative[1:]):
            roots = np.roots(derivative[::-1])
            real = roots[np.abs(roots.imag) <= REAL * (1 + np.abs(roots.real))].real + centres[piece]
            found[: len(real)] = np.clip(real, self.begin[piece], self.end[piece])
        return found

    def values_at(self, codes: Floats) -> Floats:
        return self.pieces.values(codes)

    def highest(self, factor: Floats, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """max of factor times the function over each interval, and where."""
        inside = (self.codes >= lo[:, None]) & (self.codes <= hi[:, None])
        signed = np.where(inside, factor[:, None] * self.values, -np.inf)
        best = signed.argmax(axis=1)
        value, code = signed[np.arange(len(lo)), best], self.codes[best]
        for end in (lo, hi):
            at_end = factor * self.pieces.values(end)
            better = at_end > value
            value, code = np.where(better, at_end, value), np.where(better, end, code)
        return value, code

    def spread(self, lo: Floats, hi: Floats) -> Floats:
        """How much the function moves over each interval."""
        ones = np.ones(len(lo))
        spread: Floats = self.highest(ones, lo, hi)[0] + self.highest(-ones, lo, hi)[0]
        return spread

    def cut_inside(self, lo: Floats, hi: Floats) -> Floats:
        """The cut in the middle of those inside each interval, as the last code on its left; nan where there is none."""
        if not len(self.cuts):
            return np.full(len(lo), np.nan)
        first, last = self.cuts.searchsorted(lo, side="left"), self.cuts.searchsorted(hi, side="left")
        middle = np.minimum((first + last) // 2, len(self.cuts) - 1)
        cut: Floats = np.where(first < last, self.cuts[middle], np.nan)
        return cut

    def highest_within(
        self, lean: Floats, here: tuple[Floats, Floats], there: tuple[Floats, Floats]
    ) -> Maximum:
        """max of lean phi(x) - (1 - lean) phi(x') over codes within the tolerance (or a little more: see `curves`)."""
        step = max(1, TOGETHER // len(self.first))
        blocks = [slice(start, start + step) for start in range(0, len(lean), step)]
        parts = [self._block(lean[b], (here[0][b], here[1][b]), (there[0][b], there[1][b])) for b in blocks]
        value, x, y = (np.concatenate(column) for column in zip(*parts, strict=True))
        return value, x, y

    def _block(self, lean: Floats, here: tuple[Floats, Floats], there: tuple[Floats, Floats]) -> Maximum:
        i, j, t = self.first, self.second, self.tolerance
        lo, hi = np.maximum(here[0][:, None], self.begin[i]), np.minimum(here[1][:, None], self.end[i])
        low, high = np.maximum(there[0][:, None], self.begin[j]), np.minimum(there[1][:, None], self.end[j])
        empty = (lo > hi) | (low > high) | (low - hi > t) | (lo - high > t)
        lo, hi, low, high = (
            np.maximum(lo, low - t), np.minimum(hi, high + t), np.maximum(low, lo - t), np.minimum(high, hi + t)
        )  # fmt: skip
        weight = np.broadcast_to(lean[:, None], lo.shape)
        x, y = self._apart(weight, i, lo, hi), self._apart(weight - 1, j, low, high)
        both = np.flatnonzero(self.linear[i] & self.linear[j])
        if len(both):
            u, v = weight * self.slopes[i], (weight - 1) * self.slopes[j]
            corner = _corner(u, v, t, (lo, hi), (low, high))
            x[:, both], y[:, both] = corner[0][:, both], corner[1][:, both]
        piece = np.broadcast_to(i, lo.shape), np.broadcast_to(j, lo.shape)
        value = weight * self.pieces.piece_values(piece[0], x) + (weight - 1) * self.pieces.piece_values(
            piece[1], y
        )
        value = np.where(empty, -np.inf, value)
        best, rows = value.argmax(axis=1), np.arange(len(lean))
        x, y = x[rows, best], y[rows, best]
        return value[rows, best], x, np.clip(np.clip(y, x - t, x + t), *there)

    def _apart(self, factor: Floats, piece: NDArray[np.intp], lo: Floats, hi: Floats) -> Floats:
        """Where factor times a piece is largest in [lo, hi], for every cell and pair of pieces."""
        found, value = lo.copy(), np.full(lo.shape, -np.inf)
        pieces = np.broadcast_to(piece, lo.shape)
        for code in (lo, hi, *(np.clip(turn, lo, hi) for turn in self.turns[piece].T)):
            at = factor * self.pieces.piece_values(pieces, code)
            better = at > value
            found, value = np.where(better, code, found), np.where(better, at, value)
        return found

    def after(self, at: float) -> float | None:
        """The double after a cut; None for other codes."""
        place = int(self.cuts.searchsorted(at))
        is_cut = place < len(self.cuts) and self.cuts[place] == at
        return math.nextafter(at, math.inf) if is_cut else None


def _corner(
    u: Floats, v: Floats, t: float, here: tuple[Floats, Floats], there: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """The corner of { x in here, x' in there, |x - x'| <= t } at which u x + v x' is largest, or the two that are
    closest to each other where no corner is better: they are a pair whatever is rounded."""
    found = np.clip(there[0], *here)
    other = np.clip(found, *there)
    value = u * found + v * other
    corners = [(x, np.clip(x + side, *there)) for x in here for side in (-t, t)]
    corners += [(np.clip(y + side, *here), y) for y in there for side in (-t, t)]
    for x, y in corners:
        at = u * x + v * y
        better = at > value
        found, other, value = (
            np.where(better, x, found),
            np.where(better, y, other),
            np.where(better, at, value),
        )
    return found, other
