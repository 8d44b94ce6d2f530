"""Judge of a sum of one-feature terms: what rows share is added up once, each setting is added to it.

A term is a table entry (one rounding), slope * code (two), or a polynomial around the middle of its piece: there the coefficients,
the distance from the middle, its powers and the sum are rounded, at most 3 d + 3 times for degree d, and the terms that are rounded are
|c_i| |code - middle|^i. The sum over n features and the bias adds n + 1 roundings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.score_judge import UNDERFLOW_LOSS, ScoreGrid, ScoreJudge, are_ordinary, rounding_growth
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.terms import Separable, Term

    Floats = NDArray[np.float64]


class SeparableJudge(ScoreJudge):
    """Scores of an affine model, or excesses of a constraint."""

    score: Separable

    def __init__(self, score: Separable) -> None:
        self.score = score
        degree = max((len(t.pieces.floats()[2]) for t in score.terms if t.pieces is not None), default=1)
        parameters = [score.bias, *(p for term in score.terms for p in _parameters(term))]
        self.growth = (
            rounding_growth(3 * degree + 4 + len(score.terms) + 2) if are_ordinary(parameters) else np.inf
        )

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreGrid:
        shared = [k for k in range(len(self.score.terms)) if k not in features]
        base, size = self._summed(shared, [rows[:, k] for k in shared], len(rows))
        more, more_size = self._summed(features, list(settings.T), len(settings))
        bias = nearest_double(self.score.bias)
        base += bias
        with np.errstate(over="ignore", invalid="ignore"):
            values = base[:, None] + more
            error = self.growth * (size + more_size.max(initial=0.0) + abs(bias)) + UNDERFLOW_LOSS
        return ScoreGrid.of(values, error)

    def _summed(self, features: Sequence[int], columns: list[Floats], count: int) -> tuple[Floats, Floats]:
        total, size = np.zeros(count), np.zeros(count)
        with np.errstate(over="ignore", invalid="ignore"):
            for k, codes in zip(features, columns, strict=True):
                values, sizes = term_values(self.score.terms[k], codes)
                total += values
                size += sizes
        return total, size


def _parameters(term: Term) -> Iterable[Fraction]:
    if term.pieces is not None:
        return (c for polynomial in term.pieces.polynomials for c in polynomial)
    return (term.slope,) if term.table is None else term.table


def term_values(term: Term, codes: Floats) -> tuple[Floats, Floats]:
    """A term at many codes, and the sizes of what was rounded on the way."""
    if term.pieces is not None:
        return _piecewise_values(term, codes)
    if term.table is None:
        values: Floats = nearest_double(term.slope) * codes
        return values, np.abs(values)
    table = np.array([nearest_double(value) for value in term.table])
    values = table[codes.astype(np.intp)]
    return values, np.abs(values)


def _piecewise_values(term: Term, codes: Floats) -> tuple[Floats, Floats]:
    pieces = term.pieces
    if pieces is None:
        return np.zeros_like(codes), np.zeros_like(codes)
    ends, centres, coefficients = pieces.floats()
    piece = ends.searchsorted(codes, side="left")
    off = np.abs(codes - centres[piece])
    size: Floats = np.abs(coefficients[-1][piece])
    for column in coefficients[-2::-1]:
        size = size * off + np.abs(column[piece])
    return pieces.piece_values(piece, codes), size


def separable_judge(judge: object) -> SeparableJudge | None:
    """The judge, if it is one of sums of one-feature terms."""
    return judge if isinstance(judge, SeparableJudge) else None
