"""Judge of a sum of Gaussians. A kernel value is a product of a factor of the shared columns and one of the columns that may differ:

    f(x) = bias + sum_t a_t E_t(shared) F_t(differing),      E_t, F_t = exp(-gamma |columns - centre_t|^2) over their own columns,

so that scores of rows times settings are one matrix product, and exponentials are taken once a row and once a setting.

The error of a factor, all columns and centres taken about a common middle m, R = |x - m| + max_t |s_t - m|, c columns:
- columns are computed with an error of at most 3 u (|offset| + |slope code|), or u |table entry|, then one u for the subtraction of m,
  as for the centres. A point that moves by d changes exp(-gamma |x - s|^2) by at most sqrt(2 gamma / e) d <= 0.86 sqrt(gamma) d.
- |x|^2 - 2 x.s + |s|^2 is off by at most (c + 3) u R^2 and a little (squares and the inner product c roundings each, in any order; two
  additions), gamma times it one u more: (c + 6) u gamma R^2. The true distance is not negative, so replacing what is below 0 by 0 only
  helps, and |exp(-y) - exp(-z)| <= |y - z| for y, z >= 0.
- exp itself: `exponential.RELATIVE_ERROR`, of a value that is at most 1.
E F is off by both errors and their product, which `PRODUCT_FACTOR` covers; the sum over t adds as many roundings of sum |a_t| as there are terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import check_clock
from likewise.families.exponential import ABSOLUTE_ERROR, RELATIVE_ERROR, BlockSpace, exp_minus
from likewise.families.score_judge import (
    UNDERFLOW_LOSS,
    UNIT_ROUNDOFF,
    ScoreGrid,
    ScoreJudge,
    column_sizes,
    rounding_growth,
)
from likewise.model.embedding import embed_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.kernel.body import KernelScore
    from likewise.model.embedding import Column

    Floats = NDArray[np.float64]

LARGEST_ERROR = 0.005  # error of both factors that PRODUCT covers; beyond it nothing is claimed
STEEPEST_SLOPE = 0.86  # sqrt(2 / e) is 0.8577...
PRODUCT_FACTOR = 1.01  # (1 + error) of the other factor, and the rounding of the errors themselves
BLOCK_FACTORS = 500_000  # factors at a time
CACHED_BLOCKS = 16  # blocks of factors of settings, 8 megabytes each


class KernelJudge(ScoreJudge):
    """Scores of an RBF model."""

    score: KernelScore

    def __init__(self, score: KernelScore) -> None:
        self.score = score
        self.size = float(np.abs(score.body.coefficients).sum()) * 1.001
        terms = len(score.body.coefficients)
        self._known: dict[tuple[tuple[int, ...], bytes], tuple[Floats, float]] = {}  # of settings
        self._centres: dict[tuple[int, ...], _Centres] = {}  # by columns
        self.summing = (
            rounding_growth(terms + 4) * (self.size + abs(score.body.bias)) + terms * UNDERFLOW_LOSS
        )

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreGrid:
        moving = [c for c, column in enumerate(self.score.embedding) if column.feature in features]
        shared = [c for c in range(len(self.score.embedding)) if c not in moving]
        values, error, more = np.empty((len(rows), len(settings))), np.zeros(len(rows)), 0.0
        step = max(1, BLOCK_FACTORS // max(1, self.cost))
        space = _FactorSpace.of(min(step, len(rows)), self.cost)
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow has an infinite error
            for start in range(0, len(rows), step):
                part = slice(start, start + step)
                check_clock()
                factors, error[part] = self._factors(shared, rows[part], space)
                for first in range(0, len(settings), step):
                    some = slice(first, first + step)
                    weighted, off = self._weighted_factors(moving, features, settings[some], rows.shape[1])
                    values[part, some] = factors @ weighted
                    more = max(more, off)
        values += self.score.body.bias
        off_by = np.where(error + more < LARGEST_ERROR, error + more, np.inf)
        error = PRODUCT_FACTOR * self.size * off_by + self.summing
        return ScoreGrid.of(values, error)

    def _weighted_factors(
        self, moving: list[int], features: Sequence[int], settings: Floats, n: int
    ) -> tuple[Floats, float]:
        """a_t F_t (terms, settings), and what F is off by at most; the last ones are kept, as many rows are asked about the same settings."""
        asked = tuple(features), settings.tobytes()
        if asked not in self._known:
            check_clock()
            placed = np.zeros((len(settings), n))
            placed[:, list(features)] = settings
            beside, off = self._factors(moving, placed)
            if len(self._known) >= CACHED_BLOCKS:
                self._known.pop(next(iter(self._known)))
            beside *= self.score.body.coefficients
            self._known[asked] = beside.T, float(off.max(initial=0.0))
        return self._known[asked]

    def _factors(
        self, owned: list[int], codes: Floats, space: _FactorSpace | None = None
    ) -> tuple[Floats, Floats]:
        """Factors (codes, terms) of these columns, in `space` if that is given, and for each row what they are off by at most."""
        gamma = self.score.body.gamma
        if not owned:
            return np.ones((len(codes), len(self.score.body.coefficients))), np.zeros(len(codes))
        about = self._centres_about(owned)
        columns = embed_rows(about.embedding, codes)
        moved = _norms(column_errors(about.embedding, codes) + UNIT_ROUNDOFF * np.abs(columns - about.middle))
        columns -= about.middle
        here = (columns**2).sum(axis=1)
        space = _FactorSpace.of(len(codes), self.cost) if space is None else space
        distances = np.matmul(columns, about.centres.T, out=space.factors[: len(codes)])
        distances *= -2
        distances += here[:, None]
        distances += about.squares
        np.maximum(distances, 0, out=distances)
        distances *= gamma
        reach = np.sqrt(here) + math.sqrt(float(about.squares.max()))
        computed = rounding_growth(len(owned) + 6) * gamma * reach**2
        error = computed + STEEPEST_SLOPE * math.sqrt(gamma) * (moved + about.moved) * PRODUCT_FACTOR
        factors = exp_minus(distances, out=distances, space=space.block)
        return factors, PRODUCT_FACTOR * (error + RELATIVE_ERROR) + ABSOLUTE_ERROR

    def _centres_about(self, owned: list[int]) -> _Centres:
        """The centres in these columns, kept for the next rows."""
        asked = tuple(owned)
        if asked not in self._centres:
            centres = self.score.body.centres[:, owned]
            middle = centres.mean(axis=0)
            centres -= middle
            if len(self._centres) >= CACHED_BLOCKS:
                self._centres.pop(next(iter(self._centres)))
            self._centres[asked] = _Centres(
                embedding=[self.score.embedding[c] for c in owned],
                middle=middle,
                centres=centres,
                squares=(centres**2).sum(axis=1),
                moved=UNIT_ROUNDOFF * float(_norms(centres).max()),
            )
        return self._centres[asked]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Centres:
    """Centres about their middle, in some of the columns; their squared norms, and by how much they `moved` at most when they were rounded."""

    embedding: list[Column]
    middle: Floats
    centres: Floats
    squares: Floats
    moved: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _FactorSpace:
    """Memory for the factors of one block, used for all of them."""

    factors: Floats
    block: BlockSpace

    @staticmethod
    def of(rows: int, terms: int) -> _FactorSpace:
        return _FactorSpace(factors=np.empty((rows, terms)), block=BlockSpace())


def column_errors(embedding: Sequence[Column], codes: Floats) -> Floats:
    """By how much `embed_rows` may be off: three roundings of |offset| + |slope code|, one of a table's entry."""
    errors = np.empty((len(codes), len(embedding)))
    for c, column in enumerate(embedding):
        errors[:, c] = rounding_growth(3) * column_sizes(column, codes[:, column.feature])
    return errors


def _norms(vectors: Floats) -> Floats:
    """Euclidean norms, rounded up generously."""
    norm: Floats = PRODUCT_FACTOR * np.sqrt((vectors**2).sum(axis=1))
    return norm
