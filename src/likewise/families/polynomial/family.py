"""The polynomial family: sums of products of columns. Bounds are compiled loops, which are loaded with the bounder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from likewise.families.combined.rounding import CombinedRounding
from likewise.families.family import Family
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.polynomial.judge import PolynomialJudge
from likewise.model.embedding import Column, column_line
from likewise.spec.numbers import one_or_array

if TYPE_CHECKING:
    from likewise.families.polynomial.body import PolynomialScore
    from likewise.families.polynomial.bounder import PolynomialBounder
    from likewise.families.scored_model import Model
    from likewise.families.settings import Settings
    from likewise.spec.pairs import PairSpace


class PolynomialFamily(Family):
    """Sums of products of columns."""

    name = "polynomial"
    rules = MappingProxyType(
        {
            "polynomial": "a polynomial stays on one side of a line, by a sum of functions of one feature each",
            "sos": "a polynomial stays on one side of a line, by sums of squares",
        }
    )
    leads = True
    bounded_means = True

    def form(self, bodies: Sequence[PolynomialSum], alpha: tuple[Fraction, ...]) -> PolynomialSum:
        terms: dict[tuple[int, ...], Fraction] = {}
        for a, body in zip(alpha, bodies, strict=True):
            for value, product in zip(body.coefficients, body.products, strict=True):
                terms[product] = terms.get(product, Fraction(0)) + a * value
        return PolynomialSum(coefficients=tuple(terms.values()), products=tuple(terms))

    def join_bodies(
        self, bodies: Sequence[PolynomialSum], places: Sequence[tuple[int, ...]], width: int, estimator: str
    ) -> tuple[PolynomialSum, ...]:
        return _join_products(bodies, places)

    def bounder(
        self, score: PolynomialScore, pairs: PairSpace, second: PolynomialScore | None = None
    ) -> PolynomialBounder:
        from likewise.families.polynomial.bounder import PolynomialBounder  # brings in numba

        return PolynomialBounder(score, pairs, second)

    def bounder_of_forms(
        self, here: PolynomialScore, there: PolynomialScore, pairs: PairSpace, shared: object
    ) -> PolynomialBounder:
        """Always as two: one score would be put to sums of squares, which know no conditions."""
        return self.bounder(here, pairs, there)

    def judge(self, score: PolynomialScore) -> PolynomialJudge:
        return PolynomialJudge(score)

    def mean(self, model: Model, settings: Settings) -> Model | None:
        if settings.single:
            return None
        parts, weights = self.at_settings(model, settings.codes), list(settings.weights)
        if settings.keep:
            parts = [model, *parts]
            weights = [settings.keep, *((1 - settings.keep) * weight for weight in weights)]
        return replace(
            model, bodies=(_mean_polynomial(parts, weights),), rounding=CombinedRounding(parts=tuple(parts))
        )

    def line(self, bodies: Sequence[PolynomialSum], embedding: tuple[Column, ...]) -> dict[str, Any]:
        known = [dict(zip(body.products, body.coefficients, strict=True)) for body in bodies]
        products = dict.fromkeys(product for terms in known for product in terms)
        terms = [[one_or_array([terms.get(p, Fraction(0)) for terms in known]), list(p)] for p in products]
        return {
            "kind": "polynomial",
            "columns": [column_line(column) for column in embedding],
            "terms": terms,
        }

    def hints_line(self, rule: str, hints: Sequence[int]) -> list[Any]:
        """Also where there are none."""
        return [list(hints)]


FAMILY = PolynomialFamily()


def _join_products(
    bodies: Sequence[PolynomialSum], places: Sequence[tuple[int, ...]]
) -> tuple[PolynomialSum, ...]:
    """The same sums over the products of all."""
    terms: list[dict[tuple[int, ...], Fraction]] = []
    for body, place in zip(bodies, places, strict=True):
        moved: dict[tuple[int, ...], Fraction] = {}
        for value, product in zip(body.coefficients, body.products, strict=True):
            key = tuple(sorted(place[column] for column in product))
            moved[key] = moved.get(key, Fraction(0)) + value
        terms.append(moved)
    products = tuple(dict.fromkeys(product for one in terms for product in one))
    return tuple(
        PolynomialSum(coefficients=tuple(one.get(p, Fraction(0)) for p in products), products=products)
        for one in terms
    )


def _mean_polynomial(parts: Sequence[Model], weights: Sequence[Fraction]) -> PolynomialSum:
    """The constant columns of each part multiplied into its coefficients."""
    terms: dict[tuple[int, ...], Fraction] = {(): Fraction(0)}
    for model, weight in zip(parts, weights, strict=True):
        if not isinstance(model.body, PolynomialSum):
            raise TypeError("a mean of polynomials is one of polynomials only")
        constants = {
            c: column.exact(Fraction(0)) for c, column in enumerate(model.embedding) if column.constant
        }
        for value, product in zip(model.body.coefficients, model.body.products, strict=True):
            value *= weight
            for c in product:
                value *= constants.get(c, Fraction(1))
            rest = tuple(c for c in product if c not in constants)
            terms[rest] = terms.get(rest, Fraction(0)) + value
    kept = {product: value for product, value in terms.items() if value or not product}
    return PolynomialSum(coefficients=tuple(kept.values()), products=tuple(kept))
