"""Judge of a polynomial in the columns: products of shared columns are computed once a row, and each setting of what may differ is a
vector of weights for them,

    f(x) = sum over products p of shared columns  p(x) W_p(setting),      W_p = sum of coefficient * (differing columns of the term),

the weights in exact rationals, rounded once. Rows times settings is a matrix product then.

A column is computed with an error of at most 3 u S, S = |offset| + |slope code| (or u |table entry|), and is at most S itself; a product of d of
them passes d more roundings, its weight two, the sums as many as there are products and degrees: growth(5 d + products + 4) sum_p |W_p| prod S. That sum is
evaluated once, at the largest S that occur in the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.bounds.judges import PRODUCTS_A_SECOND, TINY, WIDEST, Scored, growth, ordinary
from likewise.bounds.judges.kernel import column_sizes
from likewise.clock import look_at_clock
from likewise.model.body import PolynomialSum
from likewise.model.embedding import embedded
from likewise.model.polynomial import Products, products_by_degree
from likewise.spec.terms import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.polynomial import PolynomialScore
    from likewise.spec.enclosure import Enclosure

    Floats = NDArray[np.float64]
    Product = tuple[int, ...]

MOST_DEGREE = 5
ONE = Fraction(1)
BLOCK = 1_000_000  # products at a time


class PolynomialJudge:
    """Scores of a polynomial model."""

    def __init__(self, score: PolynomialScore) -> None:
        self.score = score
        self._known: tuple[tuple[int, ...], bytes, Weighted] | None = None  # of the settings asked for last

    @property
    def cost(self) -> int:
        return self.score.cost

    @property
    def pace(self) -> float:
        return PRODUCTS_A_SECOND / self.cost

    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> Scored:
        asked = tuple(features), settings.tobytes()
        if self._known is None or self._known[:2] != asked:
            self._known = (*asked, weighted(self.score, features, settings))
        known, embedding = self._known[2], self.score.embedding
        columns = embedded(embedding, rows)  # those of `features` are not looked at
        values = np.empty((len(rows), len(settings)))
        step = max(1, BLOCK // max(len(part.last) for part in known.by_degree))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(rows), step):
                look_at_clock()
                values[start : start + step] = known.values(columns[start : start + step])
            sizes = np.array([[column_sizes(c, rows[:, c.feature]).max(initial=0.0) for c in embedding]])
            error = float((known.growth * known.sizes(sizes)).max()) + TINY
        if sizes.max(initial=0.0) > WIDEST:
            error = np.inf
        return Scored.of(values, np.full(len(rows), error))

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        return self.score.enclose(codes, bits)

    def depends(self, feature: int) -> bool:
        return self.score.depends(feature)

    def cuts(self, feature: int) -> Floats | None:  # noqa: ARG002
        return None


class Weighted:
    """Products of shared columns by degree, and their weights (products, settings)."""

    def __init__(self, weights: dict[Product, list[Fraction]]) -> None:
        shape = PolynomialSum(coefficients=(Fraction(1),) * len(weights), products=tuple(weights))
        self.by_degree = products_by_degree(shape)
        ordered = _ordered(shape)
        settings = len(next(iter(weights.values())))
        nothing = [Fraction(0)] * settings
        self.weights = [
            np.array([[nearest(w) for w in weights.get(p, nothing)] for p in products]).reshape(-1, settings)
            for products in ordered
        ]
        plain = ordinary(w for row in weights.values() for w in row) and shape.degree <= MOST_DEGREE
        self.growth = growth(5 * shape.degree + sum(map(len, ordered)) + 4) if plain else np.inf

    def values(self, columns: Floats) -> Floats:
        return _evaluated(self.by_degree, self.weights, columns)

    def sizes(self, columns: Floats) -> Floats:
        """What is rounded, at columns of these sizes."""
        return 1.01 * _evaluated(self.by_degree, [np.abs(w) for w in self.weights], columns)


def _evaluated(by_degree: list[Products], weights: list[Floats], columns: Floats) -> Floats:
    products: Floats = np.ones((len(columns), 1))
    total = products @ weights[0]
    for table, weight in zip(by_degree[1:], weights[1:], strict=True):
        products = products[:, table.prefix] * columns[:, table.last]
        total += products @ weight
    return total


def _ordered(shape: PolynomialSum) -> list[list[Product]]:
    """The products and their prefixes by degree, in the order of `products_by_degree`."""
    known = {product[:d] for product in shape.products for d in range(len(product) + 1)} | {()}
    return [sorted(p for p in known if len(p) == degree) for degree in range(shape.degree + 1)]


def weighted(score: PolynomialScore, features: Sequence[int], settings: Floats) -> Weighted:
    """The polynomial of the shared columns for each setting of the others, in exact rationals."""
    moving = {c for c, column in enumerate(score.embedding) if column.feature in features}
    place = {k: i for i, k in enumerate(features)}
    known = [
        {c: score.embedding[c].exact(Fraction(s[place[score.embedding[c].feature]])) for c in moving}
        for s in settings.tolist()
    ]
    weights: dict[Product, list[Fraction]] = {(): [Fraction(0)] * len(known)}
    beside: dict[Product, list[Fraction]] = {}  # products of differing columns, at every setting
    for coefficient, product in zip(score.body.coefficients, score.body.products, strict=True):
        look_at_clock()
        shared = tuple(c for c in product if c not in moving)
        differing = tuple(c for c in product if c in moving)
        if differing not in beside:
            beside[differing] = [math.prod((columns[c] for c in differing), start=ONE) for columns in known]
        row = weights.setdefault(shared, [Fraction(0)] * len(known))
        for i, value in enumerate(beside[differing]):
            if value:
                row[i] += coefficient * value
    return Weighted(weights)
