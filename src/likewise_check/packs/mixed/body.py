"""The body `mixed` (section 23): f(x) = bias + sum_t coefficient_t exp(-gamma dist_t), dist_t between sums z_j of columns and a centre: squares, or absolute values, added up.

Distances are rationals, in ints over a common denominator; scores are irrational and enclosed, as those of `rbf`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import ClassVar, TypeAlias

from likewise_check.core.body import Codes, Ends, Form, blend_rows, read_no_rounding
from likewise_check.core.fields import Reader, Rejected, anything, array_of, choice, record, text, whole
from likewise_check.core.logarithm import exp_minus_ints, unit_bits
from likewise_check.core.numbers import Exact, number
from likewise_check.core.space import Space
from likewise_check.packs.axes import Column, read_column
from likewise_check.packs.cubes.curves import Curve, read_curve

MOST_COLUMNS = 10_000
SHAPES = ("gaussian", "laplacian")

Sum: TypeAlias = tuple[Fraction, tuple[tuple[int, Fraction], ...]]  # a constant, columns and their factors


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixed:
    """The columns, each with its feature, the sums of them, and the terms."""

    kind: ClassVar[str] = "mixed"
    rational: ClassVar[bool] = False
    clears: ClassVar[bool] = False
    knows_missing: ClassVar[bool] = False

    squared: bool  # gaussian
    gamma: Fraction
    bias: Fraction
    columns: tuple[tuple[int, Column | Curve], ...]
    sums: tuple[Sum, ...]
    centres: tuple[tuple[Fraction, ...], ...]  # by term
    coefficients: tuple[Fraction, ...]

    @property
    def packs(self) -> frozenset[str]:
        """Columns in pieces are another pack's."""
        return frozenset(
            {"mixed", "pieces"} if any(isinstance(c, Curve) for _, c in self.columns) else {"mixed"}
        )

    def steady(self, k: int) -> bool:
        """Whether no sum has a column of this feature that can change."""
        used = {c for _, pairs in self.sums for c, factor in pairs if factor}
        return all(self.columns[c][0] != k or self.columns[c][1].steady for c in used)

    def distances(self, codes: Sequence[Exact]) -> tuple[list[int], int]:
        """dist_t of an individual, one a term, over a common denominator."""
        values = [column.at(codes[k]) for k, column in self.columns]
        sums = [
            constant + sum((factor * values[c] for c, factor in pairs), Fraction(0))
            for constant, pairs in self.sums
        ]
        unit = lcm(*(z.denominator for z in sums), *(s.denominator for row in self.centres for s in row))
        point = [int(z * unit) for z in sums]
        found = []
        for row in self.centres:
            gaps = [z - int(s * unit) for z, s in zip(point, row, strict=True)]
            found.append(sum(gap * gap for gap in gaps) if self.squared else sum(map(abs, gaps)))
        return found, unit**2 if self.squared else unit

    def ends(self, codes: Codes, bits: int) -> Sequence[Ends]:
        """The one score."""
        finer = bits + (int(sum(map(abs, self.coefficients))) + 1).bit_length()
        distances, unit = self.distances(codes)
        above, below = self.gamma.numerator, self.gamma.denominator * unit
        low = high = Fraction(0)
        for weight, distance in zip(self.coefficients, distances, strict=True):
            least, most = exp_minus_ints(above * distance, below, finer)
            low += weight * (least if weight > 0 else most)
            high += weight * (most if weight > 0 else least)
        scale = 1 << unit_bits(finer)
        return [(self.bias + low / scale, self.bias + high / scale)]

    def blend(self, alpha: Form, bodies: Sequence["Mixed"]) -> "Mixed":
        """The sum of alpha_c times body c."""
        bias, *coefficients = blend_rows(alpha, [[body.bias, *body.coefficients] for body in bodies])
        return replace(self, bias=bias, coefficients=tuple(coefficients))

    def read_rounding(self, item: object) -> None:
        """Is not described."""
        read_no_rounding(item)


def read_mixed(item: object, space: Space, coefficient: Reader = number) -> Mixed:
    """The body of a model line; `coefficient` reads the bias and what multiplies terms."""
    pair = array_of(anything, 2)
    _, shape, gamma, bias, columns, sums, terms = record(
        item,
        "the body",
        kind=text,
        shape=choice(*SHAPES),
        gamma=number,
        bias=coefficient,
        columns=array_of(anything),
        sums=array_of(pair),
        terms=array_of(pair),
    )
    if gamma <= 0 or not sums or not terms or len(columns) > MOST_COLUMNS:
        raise Rejected(f"the body must have gamma above 0, a sum, a term, and at most {MOST_COLUMNS} columns")
    centre = array_of(number, len(sums))
    return Mixed(
        squared=shape == "gaussian",
        gamma=gamma,
        bias=bias,
        columns=tuple(_read_any_column(one, f"column {c}", space) for c, one in enumerate(columns)),
        sums=tuple(_read_sum(one, f"sum {j}", len(columns)) for j, one in enumerate(sums)),
        centres=tuple(tuple(centre(s, f"the centre of term {t}")) for t, (_, s) in enumerate(terms)),
        coefficients=tuple(coefficient(w, f"the coefficient of term {t}") for t, (w, _) in enumerate(terms)),
    )


def _read_any_column(item: object, what: str, space: Space) -> tuple[int, Column | Curve]:
    """The feature of a column, and the column: in pieces where it has cuts."""
    if not isinstance(item, dict) or "cuts" not in item:
        return read_column(item, what, space)
    k: int = whole(0, len(space.features) - 1)(item.get("feature"), f"{what}, feature")
    if space.features[k].levels:
        raise Rejected(f"{what}: only numbers have columns in pieces")
    return k, read_curve(item, what, whole=space.features[k].discrete)


def _read_sum(item: Sequence[object], what: str, columns: int) -> Sum:
    constant, items = item
    place = whole(0, columns - 1)
    found = array_of(array_of(anything, 2))(items, what)
    pairs = [(place(c, f"{what}, a column"), number(f, f"{what}, a factor")) for c, f in found]
    if any(late <= early for (early, _), (late, _) in pairwise(pairs)):
        raise Rejected(f"{what} must have its columns in strictly increasing order")
    return number(constant, f"{what}, the constant"), tuple(pairs)
