"""Mixed-integer linear programs over features, for SciPy's `milp` (HiGHS). What it returns only proposes.

A number is a column of its own, and each category a binary one. HiGHS works in float64 with tolerances
of about 1e-6: exact arithmetic has to confirm what is returned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.spec.features import Categorical, Ordinal
from likewise.spec.terms import Separable, nearest_double

if TYPE_CHECKING:
    from likewise.spec.features import Feature

Sum = Mapping[int, float]  # by column: its coefficient
SMALLEST_COEFFICIENT = Fraction(
    1, 10**9
)  # HiGHS refuses smaller coefficients, so the program leaves them out


class IntegerProgram:
    """Columns with bounds, and rows with limits of their sums."""

    def __init__(self) -> None:
        self.columns: list[tuple[float, float, bool]] = []
        self.rows: list[tuple[Sum, float, float]] = []

    def add_column(self, lo: float = -np.inf, hi: float = np.inf, *, whole: bool = False) -> int:
        self.columns.append((lo, hi, whole))
        return len(self.columns) - 1

    def add_feature(self, feature: Feature, lo: float, hi: float, *, whole: bool) -> list[int]:
        """The columns of a feature with codes between two limits: the number, or one for each category."""
        if not isinstance(feature, (Categorical, Ordinal)):
            return [self.add_column(lo, hi, whole=whole)]
        picks = [self.add_column(0, float(lo <= i <= hi), whole=True) for i in range(len(feature.levels))]
        self.add_row(dict.fromkeys(picks, 1.0), 1, 1)
        return picks

    def add_row(self, terms: Sum, lo: float = -np.inf, hi: float = np.inf) -> None:
        self.rows.append((terms, lo, hi))

    def maximize(self, terms: Sum, **options: Any) -> Any:
        """SciPy's result; its `x` is None if nothing was found."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        cost = np.zeros(len(self.columns))
        cost[list(terms)] = list(terms.values())
        lo, hi, whole = (np.array(part) for part in zip(*self.columns, strict=True))
        entries = [(i, j, v) for i, (row, _, _) in enumerate(self.rows) for j, v in row.items()]
        at, column, values = zip(*entries, strict=True) if entries else ((), (), ())
        matrix = csr_array((values, (at, column)), shape=(len(self.rows), len(self.columns)))
        limits = LinearConstraint(matrix, [row[1] for row in self.rows], [row[2] for row in self.rows])
        rows = [limits] if self.rows else []
        return milp(
            -cost, integrality=whole.astype(int), bounds=Bounds(lo, hi), constraints=rows, options=options
        )


def code_sum(feature: Feature, picks: Sequence[int]) -> Sum:
    """The code that a feature's columns stand for."""
    levels = isinstance(feature, (Categorical, Ordinal))
    return {pick: float(place) for place, pick in enumerate(picks)} if levels else {picks[0]: 1.0}


def separable_sum(part: Separable, columns: Sequence[Sequence[int]], scale: Fraction = Fraction(1)) -> Sum:
    """part / scale without its bias, over the columns of each feature."""
    total: Counter[int] = Counter()
    for term, picks in zip(part.terms, columns, strict=True):
        weights = (term.slope,) if term.table is None else term.table
        for weight, pick in zip(weights, picks, strict=False):
            if abs(weight / scale) > SMALLEST_COEFFICIENT:
                total[pick] += nearest_double(weight / scale)  # type: ignore[assignment]
    return total


def difference(first: Sum, second: Sum) -> Sum:
    """first - second."""
    return {column: first.get(column, 0.0) - second.get(column, 0.0) for column in {**first, **second}}
