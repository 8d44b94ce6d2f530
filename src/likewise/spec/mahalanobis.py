"""Mahalanobis distances: the root of (x' - x)^T M (x' - x) for a matrix M, over numbers, steps and levels.

A column is a number, an `Ordinal` by its steps, or one level of a feature that has levels: 1 where an individual has it, 0 otherwise, written ``("job", "skilled")``. The matrix is taken exactly, entry by entry, and must be symmetric
and positive semidefinite: it is written as a sum of squares, M = sum_j w_j a_j a_j^T with w_j > 0, by elimination in rationals, and refused where that fails. What it does not tell apart (a direction in which it is 0) may differ in any way.

`fair_metric` makes such a matrix of data: it ignores directions that predict a protected attribute, and counts all others by how far the rows are spread in them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from likewise.errors import DataError, SpecError, suggest_name
from likewise.spec.distance import Distance, SquaredForm
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Ordinal
from likewise.spec.levels import Level, level_text
from likewise.spec.metric import (
    Amount,
    ResolvedMetric,
    amount_text,
    checked_entry,
    exact_amount,
    tolerance_relation,
)
from likewise.spec.numbers import short_repr
from likewise.spec.relations import Relation
from likewise.spec.terms import Term

if TYPE_CHECKING:
    from likewise.spec.space import Space

Column = str | tuple[str, Level]
MAHALANOBIS_KEYS = ("kind", "columns", "matrix")
MOST_COLUMNS = 60  # rationals of an elimination grow with each
SHORT_NAMES = 6


class Mahalanobis:
    """The distance of a positive semidefinite matrix over columns.

    Parameters
    ----------
    matrix : rows of numbers
        One row and one entry a column, symmetric; numbers, or texts of them.
    columns : list of str or (str, level)
        What the rows are about: a number, the steps of an `Ordinal`, or a level.

    Examples
    --------
    >>> from likewise import Mahalanobis, Similarity
    >>> near = Mahalanobis([["1/100", 0], [0, "1/4"]], columns=["age", ("job", "skilled")])
    >>> Similarity(metric=near, radius=1).names
    ('age', 'job')
    """

    __slots__ = ("_columns", "_matrix")

    kind = "mahalanobis"
    _columns: tuple[Column, ...]
    _matrix: tuple[tuple[Amount, ...], ...]

    def __init__(self, matrix: Iterable[Iterable[Amount]], columns: Sequence[Column]) -> None:
        named = tuple(_checked_column(column) for column in columns)
        if not named or len(set(named)) != len(named) or len(named) > MOST_COLUMNS:
            raise SpecError(f"columns must be different, from 1 to {MOST_COLUMNS}, got {len(named)}")
        rows = tuple(tuple(checked_entry(entry, "an entry of the matrix") for entry in row) for row in matrix)
        if [len(row) for row in rows] != [len(named)] * len(named):
            raise SpecError(f"the matrix must have {len(named)} rows and columns, as there are columns")
        object.__setattr__(self, "_columns", named)
        object.__setattr__(self, "_matrix", rows)
        squares_of([[exact_amount(entry) for entry in row] for row in rows])

    @property
    def columns(self) -> tuple[Column, ...]:
        """What the rows and columns of the matrix are about."""
        return self._columns

    @property
    def matrix(self) -> tuple[tuple[Amount, ...], ...]:
        """The matrix as it was given."""
        return self._matrix

    @property
    def names(self) -> tuple[str, ...]:
        """All features that count."""
        return tuple(dict.fromkeys(_name_of(column) for column in self._columns))

    def resolve(self, space: Space, radius: Fraction) -> ResolvedMetric:
        """How far single features may differ, and the distance that they keep together."""
        exact = [[exact_amount(entry) for entry in row] for row in self._matrix]
        terms = [self._column_terms(column, space) for column in self._columns]
        forms = []
        for weight, direction in squares_of(exact):
            total: list[Term] = [Term()] * len(space.names)
            for factor, (k, term) in zip(direction, terms, strict=True):
                total[k] = _added(total[k], factor, term)
            if any(not term.constant for term in total):
                forms.append(SquaredForm(weight=weight, terms=tuple(total)))
        reach = self._reaches(exact, radius)
        relations = {name: _relation(space[name], reach.get(name)) for name in self.names}
        nothing = (None,) * len(space.names)
        distance = Distance(power=2, costs=nothing, bound=radius * radius, forms=tuple(forms))
        return ResolvedMetric(relations=relations, distance=distance if forms else None)

    def _column_terms(self, column: Column, space: Space) -> tuple[int, Term]:
        name = _name_of(column)
        k, feature = space.names.index(name), space[name]
        if feature.missing and not isinstance(feature, Categorical):
            raise SpecError(
                f"metric: {name!r} may be missing, and what is missing is at no distance from a number",
                hint="leave it out of the metric: then it is the same, or name it in free or within",
            )
        if isinstance(column, str):
            if isinstance(feature, Categorical):
                raise SpecError(
                    f"metric: {name!r} is categorical, its levels have no order",
                    hint=f"name levels: columns=[({name!r}, {feature.levels[0]!r})]",
                )
            if isinstance(feature, Ordinal):
                return k, Term(table=tuple(Fraction(i) for i in range(feature.size)))
            return k, Term(slope=Fraction(1))
        if isinstance(feature, Continuous | Integer):
            raise SpecError(
                f"metric: {name!r} is {feature.kind}, it has no levels", hint=f"columns=[{name!r}]"
            )
        try:
            place = feature.position(column[1])
        except DataError as error:
            raise SpecError(f"metric: feature {name!r}: {error.message}", hint=error.hint) from None
        return k, Term(table=tuple(Fraction(i == place) for i in range(feature.size)))

    def _reaches(self, exact: list[list[Fraction]], radius: Fraction) -> dict[str, Fraction]:
        """By how much numbers and steps may differ at most, where the matrix bounds them: the root of its inverse's entry, rounded up."""
        inverse = _inverse(exact)
        if inverse is None:
            return {}
        return {
            column: _root_above(inverse[i][i] * radius * radius)
            for i, column in enumerate(self._columns)
            if isinstance(column, str)
        }

    # -- words ----------------------------------------------------------------------------------------------------

    def describe(self, radius: Amount) -> str:
        """In words: ``by at most 1 in the distance of a matrix over age and job``."""
        return f"by at most {amount_text(radius)} in {self.describe_sum()}"

    def describe_sum(self) -> str:
        """What is measured, in words."""
        said = [
            column if isinstance(column, str) else f"{column[0]} {level_text(column[1])}"
            for column in self._columns
        ]
        more = [f"{len(said) - SHORT_NAMES} more"] if len(said) > SHORT_NAMES + 1 else []
        shown = said[: SHORT_NAMES if more else None] + more
        return f"the distance of a matrix over {', '.join(shown)}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: ``{"kind": "mahalanobis", "columns": [...], "matrix": [...]}``."""
        columns = [column if isinstance(column, str) else list(column) for column in self._columns]
        return {"kind": self.kind, "columns": columns, "matrix": [list(row) for row in self._matrix]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Mahalanobis:
        """The inverse of `to_dict`."""
        for key in data:
            if key not in MAHALANOBIS_KEYS:
                raise SpecError(f"metric: unknown key {key!r}{suggest_name(key, MAHALANOBIS_KEYS)}")
        if "columns" not in data or "matrix" not in data:
            raise SpecError("metric: a Mahalanobis distance has columns and a matrix")
        columns = [tuple(column) if isinstance(column, list) else column for column in data["columns"]]
        return cls(data["matrix"], columns=columns)

    def renamed(self, names: Mapping[str, str]) -> Mahalanobis:
        """The same with other names for features."""
        columns: list[Column] = [
            names.get(column, column)
            if isinstance(column, str)
            else (names.get(column[0], column[0]), column[1])
            for column in self._columns
        ]
        return Mahalanobis(self._matrix, columns=columns)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Mahalanobis is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Mahalanobis is immutable: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Mahalanobis) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._columns, self._matrix))

    def __reduce__(self) -> tuple[Any, ...]:
        return Mahalanobis.from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        return f"Mahalanobis({[list(row) for row in self._matrix]!r}, columns={list(self._columns)!r})"


def squares_of(matrix: Sequence[Sequence[Fraction]]) -> list[tuple[Fraction, list[Fraction]]]:
    """w_j > 0 and a_j with sum_j w_j a_j a_j^T the matrix, by symmetric elimination; refuses what is not symmetric or has a negative direction. Exact."""
    size = len(matrix)
    left = [list(row) for row in matrix]
    if any(left[i][j] != left[j][i] for i in range(size) for j in range(i)):
        raise SpecError("the matrix of a Mahalanobis distance must be symmetric")
    found = []
    for i in range(size):
        pivot = left[i][i]
        if pivot < 0 or (pivot == 0 and any(left[i])):
            raise SpecError(
                "the matrix of a Mahalanobis distance must be positive semidefinite: some differences would have a negative square",
                hint="the inverse of a covariance matrix is; add a little to its diagonal where rounding made it indefinite",
            )
        if pivot == 0:
            continue
        direction = [entry / pivot for entry in left[i]]
        found.append((pivot, direction))
        for row in range(i, size):
            factor = left[row][i]
            if factor:
                left[row] = [a - factor * b for a, b in zip(left[row], direction, strict=True)]
    return found


def _inverse(matrix: list[list[Fraction]]) -> list[list[Fraction]] | None:
    """The inverse of a positive definite matrix, None of one that is not."""
    size = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        if rows[i][i] == 0:
            return None
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for other in range(size):
            if other != i and rows[other][i]:
                factor = rows[other][i]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[i], strict=True)]
    return [row[size:] for row in rows]


def _root_above(value: Fraction) -> Fraction:
    """A number whose square is at least this, a little above the root."""
    scale = 1 << 80
    root = Fraction(math.isqrt(value.numerator * scale * scale // value.denominator) + 1, scale)
    return root.limit_denominator(1 << 40) + Fraction(1, 1 << 40)


def _relation(feature: Feature, reach: Fraction | None) -> Relation:
    if feature.size == 1 or (isinstance(feature, Continuous) and feature.lo == feature.hi):
        return Relation("same")
    return Relation("free") if reach is None else tolerance_relation(feature, reach)


def _added(old: Term, factor: Fraction, more: Term) -> Term:
    if more.table is not None:
        known = old.table or (Fraction(0),) * len(more.table)
        return Term(table=tuple(a + factor * b for a, b in zip(known, more.table, strict=True)))
    return Term(slope=old.slope + factor * more.slope)


def _name_of(column: Column) -> str:
    return column if isinstance(column, str) else column[0]


def _checked_column(column: object) -> Column:
    if isinstance(column, str):
        return column
    if isinstance(column, tuple | list) and len(column) == 2 and isinstance(column[0], str):
        return column[0], column[1]
    raise SpecError(
        f"{short_repr(column)} is no column of a matrix", hint='"age", or a level: ("job", "skilled")'
    )
