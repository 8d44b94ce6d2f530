"""The body `rbf` (section 7, section 20): f(x) = bias + sum_t coefficient_t * exp(-gamma * sum_c (column_c(x) - centre_tc)^2).

The exponents are rationals, added up exactly, feature by feature; scores are irrational and enclosed. With S = sum of |coefficient|
< 2^e, exponentials at most 2^-(bits + e) apart give scores at most 2^-bits apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from likewise_check.core.body import Codes, Ends, Form, blend_rows, read_no_rounding
from likewise_check.core.fields import Reader, Rejected, anything, array_of, record, require_true, text
from likewise_check.core.logarithm import exp_minus_ints, unit_bits
from likewise_check.core.numbers import Exact, common_scale, int_if_whole, number
from likewise_check.core.space import Space
from likewise_check.packs.axes import Column, read_column

_MOST_KEPT = 1 << 20  # exponents kept between points; dropped beyond, which changes nothing but time


@dataclass(frozen=True, slots=True, kw_only=True)
class Rbf:
    """The columns of each feature, the terms, and a scale that makes exponents whole where that is possible."""

    kind: ClassVar[str] = "rbf"
    packs: ClassVar[frozenset[str]] = frozenset({"kernel"})
    rational: ClassVar[bool] = False
    clears: ClassVar[bool] = False
    knows_missing: ClassVar[bool] = False

    gamma: Fraction
    bias: Fraction
    columns: tuple[tuple[Column, ...], ...]  # by feature
    coefficients: tuple[Fraction, ...]
    scale: int
    grouped: bool = False  # section 20
    _known: dict[tuple[int, Exact], list[Exact]] = field(default_factory=dict, repr=False, compare=False)
    # What the rule keeps for all lemmas of a claim: bodies that differ in coefficients only have it in common.
    shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def steady(self, k: int) -> bool:
        """Whether the score does not depend on this feature."""
        return all(column.steady for column in self.columns[k])

    def exponents(self, k: int, code: Exact) -> list[Exact]:
        """scale * gamma * D_tk(code), one a term."""
        known = self._known
        if (k, code) not in known:
            if len(known) * len(self.coefficients) > _MOST_KEPT:
                known.clear()
            sums: list[Exact] = [0] * len(self.coefficients)
            for column in self.columns[k]:
                value, factor = column.at(code), self.scale * self.gamma
                # factor (value - centre)^2 = above (n E - c d)^2 / (below (d E)^2), centre = c / E, value = n / d.
                common = common_scale(column.centres)
                below = factor.denominator * (value.denominator * common) ** 2
                start, step = value.numerator * common, value.denominator
                gaps = (start - int_if_whole(centre * common) * step for centre in column.centres)
                squares = (factor.numerator * gap * gap for gap in gaps)
                sums = [old + _divide(square, below) for old, square in zip(sums, squares, strict=True)]
            known[k, code] = sums
        return known[k, code]

    def exponentials(self, codes: Sequence[tuple[int, Exact]], bits: int) -> list[tuple[int, int]]:
        """exp(-gamma * sum of D_tk over these features k and codes), enclosed, in units of 2^-unit_bits(bits)."""
        return [exp_minus_ints(e.numerator, e.denominator * self.scale, bits) for e in self.falls(codes)]

    def falls(self, codes: Sequence[tuple[int, Exact]]) -> list[Exact]:
        """scale * gamma * sum of D_tk over these features k and codes, one a term."""
        parts = [self.exponents(k, code) for k, code in codes]
        return list(map(sum, zip(*parts, strict=True))) if parts else [0] * len(self.coefficients)

    def score(self, codes: Sequence[Exact], bits: int) -> tuple[Fraction, Fraction]:
        """f(x), enclosed by two rationals at most 2^-bits apart."""
        size = int(sum(map(abs, self.coefficients))) + 1
        finer = bits + size.bit_length()
        common = common_scale(self.coefficients)
        weights = [int_if_whole(weight * common) for weight in self.coefficients]
        weighed = list(zip(weights, self.exponentials(list(enumerate(codes)), finer), strict=True))
        low = sum(weight * (below if weight > 0 else above) for weight, (below, above) in weighed)
        high = sum(weight * (above if weight > 0 else below) for weight, (below, above) in weighed)
        unit = common << unit_bits(finer)
        return self.bias + Fraction(low) / unit, self.bias + Fraction(high) / unit

    def ends(self, codes: Codes, bits: int) -> Sequence[Ends]:
        """The one score."""
        return [self.score(codes, bits)]

    def blend(self, alpha: Form, bodies: Sequence["Rbf"]) -> "Rbf":
        """The sum of alpha_c times body c."""
        bias, *coefficients = blend_rows(alpha, [[body.bias, *body.coefficients] for body in bodies])
        return replace(self, bias=bias, coefficients=tuple(coefficients))

    def read_rounding(self, item: object) -> None:
        """Is not described."""
        read_no_rounding(item)


def _divide(numerator: Exact, denominator: int) -> Exact:
    """The quotient, an int wherever it is whole."""
    if isinstance(numerator, int):
        whole, rest = divmod(numerator, denominator)
        if not rest:
            return whole
    return Fraction(numerator) / denominator


def read_rbf(item: object, space: Space, coefficient: Reader = number) -> Rbf:
    """The body of a model line; `coefficient` reads the bias and what multiplies terms."""
    term = array_of(anything, 2)
    grouped = isinstance(item, dict) and "grouped" in item
    marks = {"grouped": require_true} if grouped else {}
    _, gamma, bias, columns, terms, *_ = record(
        item,
        "the body",
        kind=text,
        gamma=number,
        bias=coefficient,
        columns=array_of(anything),
        terms=array_of(term),
        **marks,
    )
    if gamma <= 0 or not terms:
        raise Rejected("the body must have gamma above 0 and at least one term")
    coefficients = [
        coefficient(weight, f"the coefficient of term {t}") for t, (weight, _) in enumerate(terms)
    ]
    centre = array_of(number, len(columns))
    rows = [centre(values, f"the centre of term {t}") for t, (_, values) in enumerate(terms)]
    found: list[list[Column]] = [[] for _ in space.features]
    values: list[Fraction] = []
    for c, item in enumerate(columns):
        k, column = read_column(item, f"column {c}", space, tuple(row[c] for row in rows))
        found[k].append(column)
        values.extend([*(column.table or (column.slope, column.offset)), *column.centres])
    scale = common_scale([gamma]) * common_scale(values) ** 2
    return Rbf(
        gamma=gamma,
        bias=bias,
        columns=tuple(map(tuple, found)),
        coefficients=tuple(coefficients),
        scale=scale,
        grouped=grouped,
    )
