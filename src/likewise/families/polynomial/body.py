"""Polynomial body: f(x) = sum_t a_t * product of columns of phi(x), phi the embedding. Rational, so exact.

Its score over codes in float64, for many rows: every product is its prefix times one column, so that all of them are built degree
by degree, one multiplication each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from likewise.clock import check_clock
from likewise.model.embedding import Column, embed_rows
from likewise.spec.enclosure import Enclosure
from likewise.spec.features import Continuous, Integer
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, KeptLevels
    from likewise.model.embedding import Column
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialSum:
    """A sum of products of columns, as indices in order, repeated for powers; no product occurs twice."""

    family: ClassVar[str] = "polynomial"

    coefficients: tuple[Fraction, ...]
    products: tuple[tuple[int, ...], ...]
    numerators: tuple[int, ...] = field(init=False, repr=False)  # of the coefficients over one `denominator`
    denominator: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        common = math.lcm(*(c.denominator for c in self.coefficients))
        scaled = tuple(c.numerator * (common // c.denominator) for c in self.coefficients)
        object.__setattr__(self, "denominator", common)
        object.__setattr__(self, "numerators", scaled)

    @property
    def degree(self) -> int:
        return max(map(len, self.products))

    def exact(self, columns: Sequence[Fraction]) -> Fraction:
        """The value, in whole numbers over a common denominator: one division at the end."""
        common = math.lcm(*(c.denominator for c in columns))
        whole = [c.numerator * (common // c.denominator) for c in columns]
        degree = self.degree
        by_degree = [0] * (degree + 1)
        for value, product in zip(self.numerators, self.products, strict=True):
            for c in product:
                value *= whole[c]
            by_degree[len(product)] += value
        total = sum(part * common ** (degree - d) for d, part in enumerate(by_degree))
        return Fraction(total, self.denominator * common**degree)

    def negated(self) -> PolynomialSum:
        """The same sum with the opposite sign."""
        return PolynomialSum(coefficients=tuple(-c for c in self.coefficients), products=self.products)

    def mapped(self, slope: Fraction, offset: Fraction) -> PolynomialSum:
        """slope times the sum, plus offset."""
        terms = {
            product: slope * value for value, product in zip(self.coefficients, self.products, strict=True)
        }
        terms[()] = terms.get((), Fraction(0)) + offset
        kept = {product: value for product, value in terms.items() if value or not product}
        return PolynomialSum(coefficients=tuple(kept.values()), products=tuple(kept))

    def score(self, embedding: tuple[Column, ...], n_features: int) -> PolynomialScore:
        from likewise.families.polynomial.body import PolynomialScore

        return PolynomialScore(body=self, embedding=embedding)

    def rescaled(self, by: AffineMap, kind: str) -> PolynomialSum:
        return self.mapped(by.slope, by.offset)

    def reads(self, feature: int) -> bool:
        return False

    def restricted(self, kept: KeptLevels) -> PolynomialSum:
        return self

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> None:
        return None  # products of doubles have no common one of reasonable length


BLOCK_PRODUCTS = 4_000_000  # products computed at a time: memory stays at some ten megabytes
MOST_VERTICES = (
    256  # corners of the space to look at: a polynomial is extreme near the border more often than not
)
PRODUCTS_PER_KERNEL_VALUE = 64  # what a product costs beside a kernel value, in float64 and exactly


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DegreeProducts:
    """All products of one degree: product i is product `prefix[i]` of the degree below times column `last[i]`;
    `weights` are their coefficients, 0 for prefixes that are no terms themselves."""

    prefix: Indices
    last: Indices
    weights: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PolynomialScore:
    """The score of a polynomial body over codes."""

    family: ClassVar[str] = "polynomial"
    rational: ClassVar[bool] = True
    enclosing_work: ClassVar[int] = 0

    body: PolynomialSum
    embedding: tuple[Column, ...]
    by_degree: tuple[DegreeProducts, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_degree", tuple(products_by_degree(self.body)))

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, for proposing; never for deciding."""
        columns, total = embed_rows(self.embedding, codes), np.empty(len(codes))
        step = max(1, BLOCK_PRODUCTS // max(len(part.last) for part in self.by_degree))
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow proposes nothing
            for start in range(0, len(codes), step):
                part = columns[start : start + step]
                values = np.ones((len(part), 1))
                total[start : start + step] = self.by_degree[0].weights[0]
                for products in self.by_degree[1:]:
                    values = values[:, products.prefix] * part[:, products.last]
                    total[start : start + step] += values @ products.weights
        return total

    def scorer(self) -> Callable[[Floats], Floats]:
        return self.scores

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """Many rows, exactly."""
        values = []
        for row in codes.tolist():
            check_clock()
            values.append(self.exact([Fraction(c) for c in row]))
        return values

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        """The score of one individual."""
        return self.body.exact([column.exact(codes[column.feature]) for column in self.embedding])

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """The score of one individual; exact, so both ends are the same."""
        return Enclosure.of(self.exact(codes))

    def depends(self, feature: int) -> bool:
        """Whether the score can change with a feature: False only if no term has a column that moves with it."""
        moving = {c for c, col in enumerate(self.embedding) if col.feature == feature and not col.constant}
        terms = zip(self.body.coefficients, self.body.products, strict=True)
        return any(value != 0 and not moving.isdisjoint(product) for value, product in terms)

    def landmarks(self, space: Space) -> Floats:
        """The middle of the space, its corners of lowest and highest codes, and others of its corners."""
        features = [space[name] for name in space.names]
        ends = [(f.lo, f.hi) if isinstance(f, (Continuous, Integer)) else (0, f.size - 1) for f in features]
        lo, hi = np.array(ends, dtype=np.float64).T
        whole = [not isinstance(f, Continuous) for f in features]
        middle = lo / 2 + hi / 2
        sides = np.random.default_rng(0).integers(0, 2, (MOST_VERTICES, len(lo)))  # the same ones every time
        return np.vstack(
            [np.where(whole, np.floor(middle), middle), lo, hi, np.where(sides.astype(bool), hi, lo)]
        )

    def negated(self) -> PolynomialScore:
        return PolynomialScore(body=self.body.negated(), embedding=self.embedding)

    @property
    def cost(self) -> int:
        """What a search has to pay for a row, in kernel values."""
        return 1 + len(self.body.products) // PRODUCTS_PER_KERNEL_VALUE


def products_by_degree(body: PolynomialSum) -> list[DegreeProducts]:
    """The body's products and all their prefixes, degree by degree; the empty product first."""
    weights = dict(zip(body.products, map(nearest_double, body.coefficients), strict=True))
    known = {product[:d] for product in body.products for d in range(len(product) + 1)} | {()}
    tables: list[DegreeProducts] = []
    places: dict[tuple[int, ...], int] = {(): 0}
    for degree in range(body.degree + 1):
        now = sorted(product for product in known if len(product) == degree)
        tables.append(
            DegreeProducts(
                prefix=np.array([places[product[:-1]] for product in now], dtype=np.intp),
                last=np.array([product[-1] if product else 0 for product in now], dtype=np.intp),
                weights=np.array([weights.get(product, 0.0) for product in now]),
            )
        )
        places = {product: i for i, product in enumerate(now)}
    return tables


def polynomial_body(body: object) -> PolynomialSum | None:
    """The body, if it is a polynomial."""
    return body if isinstance(body, PolynomialSum) else None
