"""Judge of a polynomial in the columns: products of shared columns are computed once a row, and each setting of what may differ is a
vector of weights for them,

    f(x) = sum over products p of shared columns  p(x) W_p(setting),      W_p = sum of coefficient * (differing columns of the term).

Rows times settings is a matrix product then.

A column is computed with an error of at most 3 u S, S = |offset| + |slope code| (or u |table entry|), and is at most S itself. A term has at most d columns, shared or
differing: 3 d roundings, d more in their products, one of its coefficient and two where it is multiplied; its weight is a sum of as many as there are terms, and the
score one of as many as there are products and degrees: growth(5 d + terms + products + 8) sum_t |coefficient| prod S. That sum is evaluated once, at the largest S that
occur in the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import check_clock
from likewise.families.polynomial.body import DegreeProducts, PolynomialSum, products_by_degree
from likewise.families.score_judge import (
    UNDERFLOW_LOSS,
    WIDEST_COLUMN,
    ScoreGrid,
    ScoreJudge,
    are_ordinary,
    column_sizes,
    rounding_growth,
)
from likewise.model.embedding import embed_rows
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.polynomial.body import PolynomialScore

    Floats = NDArray[np.float64]
    Product = tuple[int, ...]

MOST_DEGREE = 5
ONE = Fraction(1)
BLOCK_PRODUCTS = 1_000_000  # products at a time


class PolynomialJudge(ScoreJudge):
    """Scores of a polynomial model."""

    score: PolynomialScore

    def __init__(self, score: PolynomialScore) -> None:
        self.score = score
        self._known: tuple[tuple[int, ...], bytes, WeightedProducts] | None = (
            None  # of the settings asked for last
        )
        body = score.body
        plain = are_ordinary(body.coefficients) and body.degree <= MOST_DEGREE
        most = (body.degree + 2) * len(body.products) + 1  # all terms, and all products with their prefixes
        self.growth = rounding_growth(5 * body.degree + most + 8) if plain else np.inf

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreGrid:
        asked = tuple(features), settings.tobytes()
        if self._known is None or self._known[:2] != asked:
            self._known = (*asked, weigh_products(self.score, features, settings, rows.shape[1]))
        known, embedding = self._known[2], self.score.embedding
        columns = embed_rows(embedding, rows)  # those of `features` are not looked at
        values = np.empty((len(rows), len(settings)))
        step = max(1, BLOCK_PRODUCTS // max(len(part.last) for part in known.by_degree))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(rows), step):
                check_clock()
                values[start : start + step] = known.values(columns[start : start + step])
            sizes = np.array([[column_sizes(c, rows[:, c.feature]).max(initial=0.0) for c in embedding]])
            error = float((self.growth * known.sizes(sizes)).max(initial=0.0)) + UNDERFLOW_LOSS
        if max(sizes.max(initial=0.0), known.widest) > WIDEST_COLUMN:
            error = np.inf
        return ScoreGrid.of(values, np.full(len(rows), error))


class WeightedProducts:
    """Products of shared columns by degree, their weights (products, settings), and sums of the absolute values that those were made of."""

    def __init__(self, weights: dict[Product, tuple[Floats, Floats]], widest: float) -> None:
        shape = PolynomialSum(coefficients=(ONE,) * len(weights), products=tuple(weights))
        self.by_degree, self.widest = products_by_degree(shape), widest
        nothing = np.zeros_like(weights[()][0])
        self.weights, self._sizes = (
            [
                np.array([weights[p][i] if p in weights else nothing for p in products]).reshape(
                    -1, len(nothing)
                )
                for products in _order_products(shape)
            ]
            for i in (0, 1)
        )

    def values(self, columns: Floats) -> Floats:
        return _evaluate_products(self.by_degree, self.weights, columns)

    def sizes(self, columns: Floats) -> Floats:
        """What is rounded, at columns of these sizes."""
        return 1.01 * _evaluate_products(self.by_degree, self._sizes, columns)


def _evaluate_products(by_degree: list[DegreeProducts], weights: list[Floats], columns: Floats) -> Floats:
    products: Floats = np.ones((len(columns), 1))
    total = products @ weights[0]
    for table, weight in zip(by_degree[1:], weights[1:], strict=True):
        products = products[:, table.prefix] * columns[:, table.last]
        total += products @ weight
    return total


def _order_products(shape: PolynomialSum) -> list[list[Product]]:
    """The products and their prefixes by degree, in the order of `products_by_degree`."""
    known = {product[:d] for product in shape.products for d in range(len(product) + 1)} | {()}
    return [sorted(p for p in known if len(p) == degree) for degree in range(shape.degree + 1)]


def weigh_products(
    score: PolynomialScore, features: Sequence[int], settings: Floats, width: int
) -> WeightedProducts:
    """The polynomial of the shared columns for each setting of the others; individuals have so many features."""
    moving = [c for c, column in enumerate(score.embedding) if column.feature in features]
    placed = np.zeros((len(settings), width))
    placed[:, list(features)] = settings
    some = [score.embedding[c] for c in moving]
    known = dict(zip(moving, embed_rows(some, placed).T, strict=True))
    sizes = {c: column_sizes(score.embedding[c], placed[:, score.embedding[c].feature]) for c in moving}
    nothing = np.zeros(len(settings))
    weights: dict[Product, tuple[Floats, Floats]] = {(): (nothing.copy(), nothing.copy())}
    beside: dict[Product, tuple[Floats, Floats]] = {
        (): (nothing + 1, nothing + 1)
    }  # products of differing columns
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow has an infinite error
        for coefficient, product in zip(score.body.coefficients, score.body.products, strict=True):
            check_clock()
            shared = tuple(c for c in product if c not in known)
            differing = tuple(c for c in product if c in known)
            if differing not in beside:
                beside[differing] = tuple(
                    np.prod([by[c] for c in differing], axis=0) for by in (known, sizes)
                )
            value, size = beside[differing]
            row, most = weights.setdefault(shared, (nothing.copy(), nothing.copy()))
            row += nearest_double(coefficient) * value
            most += abs(nearest_double(coefficient)) * size
    return WeightedProducts(
        weights, max((float(size.max(initial=0.0)) for size in sizes.values()), default=0.0)
    )
