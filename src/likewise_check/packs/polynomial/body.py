"""The body `polynomial` (section 8): f(x) = sum over terms of coefficient * product of column_c(x) over its columns.

The score is rational. It is added up in ints where denominators are small: with columns times a scale q and coefficients times k q^(D - d), d being the
number of columns of a term and D the largest, every product is a multiple of f times the unit k q^D.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import ClassVar, TypeAlias

from likewise_check.core.body import Codes, Ends, Form, read_no_rounding
from likewise_check.core.fields import Reader, Rejected, anything, array_of, record, text, whole
from likewise_check.core.numbers import Exact, common_scale, int_if_whole, number
from likewise_check.core.space import Space
from likewise_check.packs.axes import Column, read_column

MOST_COLUMNS = 10_000
MOST_FACTORS = 16
_LONGEST = 1 << 13  # bits of q^D; beyond, ints no longer save time, and q = 1

Product: TypeAlias = tuple[int, ...]  # columns, non-decreasing, repeated for powers


@dataclass(frozen=True, slots=True, kw_only=True)
class Polynomial:
    """The columns, each with its feature, and the terms whose coefficient is not 0; scores are in ints of 1 / unit."""

    kind: ClassVar[str] = "polynomial"
    packs: ClassVar[frozenset[str]] = frozenset({"polynomial"})
    rational: ClassVar[bool] = True
    clears: ClassVar[bool] = False
    knows_missing: ClassVar[bool] = False

    columns: tuple[tuple[int, Column], ...]
    terms: tuple[tuple[Fraction, Product], ...]
    used: frozenset[int]  # the columns in them
    scale: int
    unit: int
    weights: tuple[Exact, ...]  # coefficients, scaled

    def score(self, codes: Sequence[Fraction]) -> Fraction:
        """f(x), exactly."""
        named = ((c, *self.columns[c]) for c in self.used)
        values = {c: int_if_whole(self.scale * column.at(codes[k])) for c, k, column in named}
        parts = zip(self.weights, self.terms, strict=True)
        return (
            Fraction(sum(weight * prod(values[c] for c in product) for weight, (_, product) in parts))
            / self.unit
        )

    def steady(self, k: int) -> bool:
        """Whether no column of this feature that can change occurs in a term: then the score does not depend on it."""
        return all(self.columns[c][0] != k or self.columns[c][1].steady for c in self.used)

    def ends(self, codes: Codes, _bits: int) -> Sequence[Ends]:
        """The one score."""
        return [(self.score(codes),) * 2]

    def blend(self, alpha: Form, bodies: Sequence["Polynomial"]) -> "Polynomial":
        """The sum of alpha_c times body c."""
        weights: dict[Product, Fraction] = {}
        for c, factor in alpha:
            for weight, product in bodies[c].terms:
                weights[product] = weights.get(product, Fraction(0)) + factor * weight
        return make_polynomial(self.columns, ((weight, product) for product, weight in weights.items()))

    def read_rounding(self, item: object) -> None:
        """Is not described."""
        read_no_rounding(item)


def read_polynomial(item: object, space: Space, coefficient: Reader = number) -> Polynomial:
    """The body of a model line; `coefficient` reads what multiplies terms."""
    _, columns, terms = record(
        item, "the body", kind=text, columns=array_of(anything), terms=array_of(array_of(anything, 2))
    )
    if len(columns) > MOST_COLUMNS or not terms:
        raise Rejected(f"the body must have at most {MOST_COLUMNS} columns and at least one term")
    found = tuple(read_column(column, f"column {c}", space) for c, column in enumerate(columns))
    products = [_read_product(product, f"term {t}", len(columns)) for t, (_, product) in enumerate(terms)]
    if len(set(products)) < len(products):
        raise Rejected("two terms have the same product")
    weights = (coefficient(weight, f"the coefficient of term {t}") for t, (weight, _) in enumerate(terms))
    return make_polynomial(found, zip(weights, products, strict=True))


def make_polynomial(
    columns: tuple[tuple[int, Column], ...], terms: Iterable[tuple[Fraction, Product]]
) -> Polynomial:
    """The body with these columns and terms, no two of the same product."""
    kept = tuple((weight, product) for weight, product in terms if weight)
    most = max((len(product) for _, product in kept), default=0)
    scale = common_scale(
        value for _, column in columns for value in column.table or (column.slope, column.offset)
    )
    if scale.bit_length() * most > _LONGEST:
        scale = 1
    factor = common_scale(weight for weight, _ in kept)
    weights = tuple(
        int_if_whole(weight * factor * scale ** (most - len(product))) for weight, product in kept
    )
    return Polynomial(
        columns=columns,
        terms=kept,
        used=frozenset(c for _, product in kept for c in product),
        scale=scale,
        unit=factor * scale**most,
        weights=weights,
    )


def _read_product(product: object, what: str, columns: int) -> Product:
    factors = array_of(whole(0, columns - 1))(product, f"{what}, column")
    if len(factors) > MOST_FACTORS or factors != sorted(factors):
        raise Rejected(f"{what} must name at most {MOST_FACTORS} columns, non-decreasing")
    return tuple(factors)
