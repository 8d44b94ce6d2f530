"""Who satisfies the constraints, exactly, for rows times settings of what may differ.

Constraints between discrete features are evaluated in whole numbers; those with a continuous one in float64 with a proved error, and
in rationals where that does not tell. Rows are valid themselves, so constraints that speak of no differing feature hold for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.separable import SeparableJudge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace
    from likewise.spec.terms import Separable

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

LARGEST_INTEGER = 2**62


class Validity:
    """The constraints that speak of some of these features."""

    def __init__(self, pairs: PairSpace, features: Sequence[int]) -> None:
        self.pairs, self.features = pairs, list(features)
        self.spoken = [c for c in pairs.constraints if any(not c.terms[k].constant for k in features)]

    @classmethod
    def of_all(cls, pairs: PairSpace) -> Validity:
        """All constraints, for individuals that may break them."""
        made = cls(pairs, ())
        made.spoken = list(pairs.constraints)
        return made

    def individuals(self, rows: Floats) -> Flags:
        """Which rows are valid."""
        return self.allowed(rows, np.empty((1, 0)))[:, 0]

    def allowed(self, rows: Floats, settings: Floats) -> Flags:
        """Which individuals (rows, settings) are valid."""
        allowed = np.ones((len(rows), len(settings)), dtype=bool)
        for constraint in self.spoken:
            allowed &= self._holds(constraint, rows, settings)
        return allowed

    def _holds(self, constraint: Separable, rows: Floats, settings: Floats) -> Flags:
        whole = self._whole(constraint)
        if whole is not None:
            shared = [k for k in range(rows.shape[1]) if k not in self.features]
            base = sum((whole[k](rows[:, k]) for k in shared), np.zeros(len(rows), dtype=np.int64))
            more = sum(
                (whole[k](settings[:, j]) for j, k in enumerate(self.features)),
                np.zeros(len(settings), dtype=np.int64),
            )
            holds: Flags = base[:, None] + more <= 0
            return holds
        scored = SeparableJudge(constraint).cross(rows, self.features, settings)
        error = np.broadcast_to(scored.error, scored.values.shape)
        holds = scored.values < -error
        for i, v in zip(*np.nonzero(~holds & ~(scored.values > error)), strict=True):
            codes = rows[i].copy()
            codes[self.features] = settings[v]
            holds[i, v] = constraint.exact([Fraction(c) for c in codes.tolist()]) <= 0
        return holds

    def _whole(self, constraint: Separable) -> list[IntegerTerm] | None:
        """The terms times their common denominator as functions to int64; None where that is not possible."""
        variables = [self.pairs.variables[v] for v in self.pairs.first]
        if any(not t.constant and not v.discrete for t, v in zip(constraint.terms, variables, strict=True)):
            return None
        parts, size = [], abs(constraint.bias)
        for term, variable in zip(constraint.terms, variables, strict=True):
            if term.pieces is not None:
                return None
            ends = (
                term.table
                if term.table is not None
                else [term.slope * Fraction(e) for e in (variable.lo, variable.hi)]
            )
            parts += [constraint.bias, term.slope, *(term.table or ())]
            size += max(map(abs, ends))
        scale = lcm(*(part.denominator for part in parts))
        if size * scale >= LARGEST_INTEGER or any(abs(part * scale) >= LARGEST_INTEGER for part in parts):
            return None
        bias = int(constraint.bias * scale)
        return [
            IntegerTerm(t.slope * scale, t.table, scale, bias if k == 0 else 0)
            for k, t in enumerate(constraint.terms)
        ]


class IntegerTerm:
    """One term in whole numbers."""

    def __init__(self, slope: Fraction, table: tuple[Fraction, ...] | None, scale: int, bias: int) -> None:
        self.slope, self.bias = int(slope), bias
        self.table = None if table is None else np.array([int(v * scale) for v in table], dtype=np.int64)

    def __call__(self, codes: Floats) -> NDArray[np.int64]:
        if self.table is not None:
            return self.table[codes.astype(np.intp)] + self.bias
        if self.slope == 0:
            return np.full(len(codes), self.bias, dtype=np.int64)
        return self.slope * codes.astype(np.int64) + self.bias
