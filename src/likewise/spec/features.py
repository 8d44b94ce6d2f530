"""The four kinds of feature: what values one attribute of an individual may take.

==============  =========================  ===============================================
kind            values                     what `within` t means (see `similarity`)
==============  =========================  ===============================================
`Continuous`    the doubles in [lo, hi]    values at most t apart
`Integer`       {lo, lo + 1, ..., hi}      values at most t apart
`Categorical`   a set of levels            not defined: levels are the same or free
`Ordinal`       levels in order            at most t steps apart
==============  =========================  ===============================================

Levels are text, numbers or booleans (`levels`). Features are immutable and know no name: the
`Space` they are put in gives them one, and puts it in front of every message raised here.

**Missing values.** A number may be missing where the feature says so, ``Integer(18, 75, missing=True)``: that is one
value more, whose code is hi + 1, or the next double above hi of a continuous feature. Among levels ``None`` stands for
missing; it has no place in an order, so it is put last, wherever it was given. What is missing is `within` reach of
nothing but itself.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from likewise.errors import SpecError
from likewise.spec.levels import Categorical, Level, Ordinal, is_encodable, is_missing, level_hint, level_text
from likewise.spec.numbers import EXACT_INT_LIMIT, as_double, as_whole, number_text, python_scalar, short_repr

__all__ = [
    "Categorical",
    "Continuous",
    "Feature",
    "Integer",
    "Level",
    "Ordinal",
    "is_encodable",
    "is_missing",
    "level_hint",
    "level_text",
]


@dataclass(frozen=True, slots=True)
class Continuous:
    """Any double from `lo` to `hi`, both included: ``Continuous(0, 1e5)``.

    Parameters
    ----------
    lo, hi : float
        The bounds.
    missing : bool
        Whether it may be missing, too.
    """

    lo: float
    hi: float
    missing: bool = field(default=False, kw_only=True)

    kind: ClassVar[Literal["continuous"]] = "continuous"

    def __post_init__(self) -> None:
        lo, hi = as_double(self.lo, "lo"), as_double(self.hi, "hi")
        _check_order(lo, hi)
        object.__setattr__(self, "lo", lo)
        object.__setattr__(self, "hi", hi)
        object.__setattr__(self, "missing", _as_flag(self.missing))
        if self.missing and hi == sys.float_info.max:
            raise SpecError("no double is left above hi for missing values", hint="choose a smaller hi")

    def __repr__(self) -> str:
        return f"Continuous({number_text(self.lo)}, {number_text(self.hi)}{_missing_argument_text(self)})"

    @property
    def size(self) -> None:
        """The number of values: None, as they are not counted."""
        return None

    @property
    def missing_code(self) -> float | None:
        """The code of a missing value, the next double above `hi`; None if there is none."""
        return math.nextafter(self.hi, math.inf) if self.missing else None

    @property
    def code_range(self) -> tuple[float, float]:
        """The smallest and the largest code, that of a missing value included."""
        return self.lo, self.hi if self.missing_code is None else self.missing_code

    def contains(self, value: object) -> bool:
        """Whether `value` is a number from `lo` to `hi`, or missing where that is allowed."""
        number = python_scalar(value)
        if is_missing(number):
            return self.missing
        return isinstance(number, int | float) and self.lo <= number <= self.hi

    def describe(self) -> str:
        """In words: ``continuous 0..100000 or missing``."""
        return f"continuous {number_text(self.lo)}..{number_text(self.hi)}{_or_missing_text(self)}"


@dataclass(frozen=True, slots=True)
class Integer:
    """Any whole number from `lo` to `hi`, both included: ``Integer(18, 75)``.

    Parameters
    ----------
    lo, hi : int
        The bounds.
    missing : bool
        Whether it may be missing, too.
    """

    lo: int
    hi: int
    missing: bool = field(default=False, kw_only=True)

    kind: ClassVar[Literal["integer"]] = "integer"

    def __post_init__(self) -> None:
        lo, hi = as_whole(self.lo, "lo"), as_whole(self.hi, "hi")
        _check_order(lo, hi)
        object.__setattr__(self, "lo", lo)
        object.__setattr__(self, "hi", hi)
        object.__setattr__(self, "missing", _as_flag(self.missing))
        if self.missing and hi == EXACT_INT_LIMIT:
            raise SpecError("no code is left above hi = 2**53 for missing values", hint="choose a smaller hi")

    def __repr__(self) -> str:
        return f"Integer({self.lo}, {self.hi}{_missing_argument_text(self)})"

    @property
    def size(self) -> int:
        """The number of values, the missing one included."""
        return self.hi - self.lo + 1 + self.missing

    @property
    def missing_code(self) -> float | None:
        """The code of a missing value, ``hi + 1``; None if there is none."""
        return float(self.hi + 1) if self.missing else None

    @property
    def code_range(self) -> tuple[int, int]:
        """The smallest and the largest code, that of a missing value included."""
        return self.lo, self.hi + self.missing

    def contains(self, value: object) -> bool:
        """Whether `value` is a whole number from `lo` to `hi` (``18.0`` counts as whole), or missing where allowed."""
        number = python_scalar(value)
        if is_missing(number):
            return self.missing
        if not isinstance(number, int | float) or not self.lo <= number <= self.hi:
            return False
        return float(number).is_integer()

    def describe(self) -> str:
        """In words: ``integer 18..75``."""
        return f"integer {self.lo}..{self.hi}{_or_missing_text(self)}"


Feature = Continuous | Integer | Categorical | Ordinal


def _as_flag(missing: object) -> bool:
    given = python_scalar(missing)
    if not isinstance(given, bool):
        raise SpecError(f"missing must be true or false, got {short_repr(missing)}")
    return given


def _missing_argument_text(feature: Continuous | Integer) -> str:
    return ", missing=True" if feature.missing else ""


def _or_missing_text(feature: Continuous | Integer) -> str:
    return " or missing" if feature.missing else ""


def _check_order(lo: float, hi: float) -> None:
    if lo > hi:
        raise SpecError(
            f"lo = {number_text(lo)} is above hi = {number_text(hi)}",
            hint=f"swap them: ({number_text(hi)}, {number_text(lo)})",
        )
