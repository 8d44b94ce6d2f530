"""Bends: a continuous number seen through a monotone function, u = g(x), as a continuous number of its own: one of numpy's, or a fitted one (`fitted_curves`).

The model is then a model of u, the double that the program itself computes, and what follows (scalers, the model) is as for any
continuous feature. Every u that the program can compute must lie in the range of the new feature. A function that IEEE 754 rounds correctly
(sqrt, square, reciprocal) is monotone as computed, so that its values at both ends are the ends. For the others numpy promises an error of
at most 4 units in the last place, whatever loop it runs: if x is not below lo, then computed g(x) >= g(x) - 4 >= g(lo) - 4 >= computed g(lo) - 8, in units of the last
place. So the range is wider by `ROOM` = 8 of them at both ends (and a test samples neighbours).

Fitted functions say themselves how far they may get (`room`, `slack`). For the same reason two runs of the program may give u that are 8 units apart for one x: a line of u starts with as many roundings, and is not
settled. What is shown of a pair (`covers_floating_point`) then is not claimed of the program's own logarithm.

The way back, from u to x, is a bisection over the doubles: the x whose computed g(x) is nearest to u.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.importers.transformers.breaks import double_at, double_rank
from likewise.importers.transformers.traced_columns import Line, Operation, compute_line
from likewise.spec.features import Continuous

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.transformers.fitted_curves import FittedCurve

    Floats = NDArray[np.float64]

ROOM_UNITS = 8  # units in the last place
EXACT_FUNCTIONS = ("sqrt", "square", "reciprocal", "absolute", "fabs")


def _always_monotone(lo: float, hi: float) -> bool:  # noqa: ARG001
    return True


def _one_sign(lo: float, hi: float) -> bool:
    return lo >= 0 or hi <= 0


def _not_zero(lo: float, hi: float) -> bool:
    return lo > 0 or hi < 0


# Where each function is monotone; outside of its domain it gives what is not finite, which is refused.
MONOTONE_FUNCTIONS: dict[str, Callable[[float, float], bool]] = {
    **dict.fromkeys(
        ("log", "log1p", "log2", "log10", "exp", "exp2", "expm1", "sqrt", "cbrt", "arcsinh", "sinh", "tanh"),
        _always_monotone,
    ),
    **dict.fromkeys(("arctan", "arcsin", "arccos", "arctanh", "arccosh"), _always_monotone),
    **dict.fromkeys(("square", "cosh", "absolute", "fabs"), _one_sign),
    "reciprocal": _not_zero,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MonotoneMap:
    """g: the operations of a line, then a function, on the doubles from lo to hi."""

    operations: tuple[Operation, ...]
    function: np.ufunc | FittedCurve
    lo: float
    hi: float

    def computed(self, number: float) -> float:
        """What the program makes of a number."""
        with np.errstate(all="ignore"):
            return float(self.function(compute_line(self.operations, number)))

    def of(self, numbers: Floats) -> Floats:
        """The same for each of many numbers, one by one: results do not depend on their neighbours."""
        return np.array([self.computed(number) for number in numbers.tolist()], dtype=np.float64)

    def nearest(self, values: Floats) -> Floats:
        """For each u the x between lo and hi whose g(x) is nearest to it."""
        return np.array([self._nearest(value) for value in values.tolist()], dtype=np.float64)

    def _nearest(self, value: float) -> float:
        left, right = double_rank(self.lo), double_rank(self.hi)
        rising = self.computed(self.lo) <= self.computed(self.hi)
        while right - left > 1:
            middle = (left + right) // 2
            reached = self.computed(double_at(middle)) >= value
            left, right = (left, middle) if reached == rising else (middle, right)
        return min((double_at(left), double_at(right)), key=lambda x: abs(self.computed(x) - value))

    @property
    def exact(self) -> bool:
        """Whether the function is rounded correctly."""
        return self.function.__name__ in EXACT_FUNCTIONS

    def _ends(self) -> tuple[float, float]:
        """What the function is taken of, at both ends."""
        first, last = sorted(compute_line(self.operations, end) for end in (self.lo, self.hi))
        return first, last

    def range(self) -> Continuous | None:
        """All u that the program may compute; None where one is not finite."""
        lo, hi = sorted(self.computed(end) for end in (self.lo, self.hi))
        if not isinstance(self.function, np.ufunc):
            room = self.function.room(*self._ends())
            lo, hi = math.nextafter(lo - room, -math.inf), math.nextafter(hi + room, math.inf)
        for _ in range(0 if self.exact else ROOM_UNITS):
            lo, hi = math.nextafter(lo, -math.inf), math.nextafter(hi, math.inf)
        return Continuous(lo, hi) if math.isfinite(lo) and math.isfinite(hi) else None

    def line(self) -> Line:
        """u itself, and how far two runs of the program may be apart about it: units are two roundings each."""
        if isinstance(self.function, np.ufunc):
            return Line() if self.exact else Line(roundings=2 * ROOM_UNITS)
        return Line(roundings=2 * ROOM_UNITS, slack=Fraction(self.function.slack(*self._ends())))

    def title(self, name: str) -> str:
        """How the feature is shown: ``log1p(income)``."""
        return f"{self.function.__name__}({'scaled ' if self.operations else ''}{name})"


def monotone_map(line: Line, function: np.ufunc | FittedCurve, lo: float, hi: float) -> MonotoneMap | None:
    """The function of a line of the raw number; None where it is not known to be monotone and finite."""
    bend = MonotoneMap(operations=line.operations, function=function, lo=lo, hi=hi)
    ends = sorted((line.computed(lo), line.computed(hi)))
    known = MONOTONE_FUNCTIONS.get(function.__name__) if isinstance(function, np.ufunc) else function.rises
    if line.slope == 0 or known is None or not known(*ends) or bend.range() is None:
        return None
    return bend
