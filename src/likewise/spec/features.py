"""The four kinds of feature: what values one attribute of an individual may take.

==============  =========================  ===============================================
kind            values                     what `within` t means (see `similarity`)
==============  =========================  ===============================================
`Continuous`    the doubles in [lo, hi]    values at most t apart
`Integer`       {lo, lo + 1, ..., hi}      values at most t apart
`Categorical`   a set of levels            not defined: levels are the same or free
`Ordinal`       levels in order            at most t steps apart
==============  =========================  ===============================================

Levels are text, numbers or booleans; two levels are one level when Python calls them equal, so
``1``, ``1.0`` and ``True`` cannot stand side by side. Features are immutable and know no name: the
`Space` they are put in gives them one, and puts it in front of every message raised here.

**Missing values.** A number may be missing where the feature says so, ``Integer(18, 75, missing=True)``: that is one
value more, whose code is hi + 1, or the next double above hi of a continuous feature. Among levels ``None`` stands for
missing; it has no place in an order, so it is put last, wherever it was given. What is missing is `within` reach of
nothing but itself.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from likewise.errors import DataError, SpecError, closest
from likewise.spec.numbers import EXACT_INT_LIMIT, as_double, as_whole, number_text, python_scalar, shown

Level = str | int | float | bool | None

_LEVELS_SHOWN = 6
_LARGEST_LEVEL = 2**63 - 1  # frames hold whole numbers as int64


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
        object.__setattr__(self, "missing", _truth(self.missing))
        if self.missing and hi == sys.float_info.max:
            raise SpecError("no double is left above hi for missing values", hint="choose a smaller hi")

    def __repr__(self) -> str:
        return f"Continuous({number_text(self.lo)}, {number_text(self.hi)}{_with_missing(self)})"

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
        return f"continuous {number_text(self.lo)}..{number_text(self.hi)}{_or_missing(self)}"


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
        object.__setattr__(self, "missing", _truth(self.missing))
        if self.missing and hi == EXACT_INT_LIMIT:
            raise SpecError("no code is left above hi = 2**53 for missing values", hint="choose a smaller hi")

    def __repr__(self) -> str:
        return f"Integer({self.lo}, {self.hi}{_with_missing(self)})"

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
        return f"integer {self.lo}..{self.hi}{_or_missing(self)}"


@dataclass(frozen=True, slots=True, init=False)
class Categorical:
    """One of several levels without an order: ``Categorical(["f", "m"])``.

    Parameters
    ----------
    levels : iterable of str, number or bool
        The levels; None among them stands for missing.
    """

    levels: tuple[Level, ...]
    _positions: dict[Level, int] = field(init=False, repr=False, compare=False)

    kind: ClassVar[Literal["categorical"]] = "categorical"

    def __init__(self, levels: Iterable[object]) -> None:
        checked = _checked_levels(levels)
        object.__setattr__(self, "levels", checked)
        object.__setattr__(self, "_positions", {level: at for at, level in enumerate(checked)})

    def __repr__(self) -> str:
        return f"Categorical({list(self.levels)!r})"

    @property
    def size(self) -> int:
        """The number of levels."""
        return len(self.levels)

    @property
    def missing(self) -> bool:
        """Whether a value may be missing: whether None is a level, the last one."""
        return self.levels[-1] is None

    @property
    def missing_code(self) -> float | None:
        """The position of the level None; None if it is not among them."""
        return float(self.size - 1) if self.missing else None

    @property
    def code_range(self) -> tuple[int, int]:
        """The first and the last position."""
        return 0, self.size - 1

    @property
    def numeric(self) -> bool:
        """Whether every level is a number (booleans are 0 and 1); what is missing is none."""
        return not isinstance(self.levels[0], str) and not self.missing

    def contains(self, value: object) -> bool:
        """Whether `value` is one of the levels."""
        return _found(self._positions, value) is not None

    def position(self, value: object) -> int:
        """The place of `value` among the levels, from 0."""
        return _position(self._positions, value)

    def describe(self) -> str:
        """In words: ``4 levels: a, b, c, d``."""
        return f"{_count(self.levels, 'level')}: {_listed(self.levels, ', ')}"


@dataclass(frozen=True, slots=True, init=False)
class Ordinal:
    """One of several levels in the order given: ``Ordinal(["low", "middle", "high"])``.

    Parameters
    ----------
    levels : iterable of str, number or bool
        The levels, in their order; None among them stands for missing.
    """

    levels: tuple[Level, ...]
    _positions: dict[Level, int] = field(init=False, repr=False, compare=False)

    kind: ClassVar[Literal["ordinal"]] = "ordinal"

    def __init__(self, levels: Iterable[object]) -> None:
        checked = _checked_levels(levels)
        object.__setattr__(self, "levels", checked)
        object.__setattr__(self, "_positions", {level: at for at, level in enumerate(checked)})

    def __repr__(self) -> str:
        return f"Ordinal({list(self.levels)!r})"

    @property
    def size(self) -> int:
        """The number of levels."""
        return len(self.levels)

    @property
    def missing(self) -> bool:
        """Whether a value may be missing: whether None is a level, the last one."""
        return self.levels[-1] is None

    @property
    def missing_code(self) -> float | None:
        """The position of the level None; None if it is not among them."""
        return float(self.size - 1) if self.missing else None

    @property
    def code_range(self) -> tuple[int, int]:
        """The first and the last position."""
        return 0, self.size - 1

    @property
    def numeric(self) -> bool:
        """Whether every level is a number (booleans are 0 and 1); what is missing is none."""
        return not isinstance(self.levels[0], str) and not self.missing

    def contains(self, value: object) -> bool:
        """Whether `value` is one of the levels."""
        return _found(self._positions, value) is not None

    def position(self, value: object) -> int:
        """The place of `value` in the order, from 0."""
        return _position(self._positions, value)

    def describe(self) -> str:
        """In words: ``3 ordered levels: low < middle < high``."""
        present = self.levels[:-1] if self.missing else self.levels
        words = f"{_count(present, 'ordered level')}: {_listed(present, ' < ')}"
        return f"{words}, or missing" if self.missing else words


Feature = Continuous | Integer | Categorical | Ordinal


def is_missing(value: object) -> bool:
    """Whether a Python scalar stands for a missing value: None, NaN, pandas' NA and NaT."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _truth(missing: object) -> bool:
    given = python_scalar(missing)
    if not isinstance(given, bool):
        raise SpecError(f"missing must be true or false, got {shown(missing)}")
    return given


def _with_missing(feature: Continuous | Integer) -> str:
    return ", missing=True" if feature.missing else ""


def _or_missing(feature: Continuous | Integer) -> str:
    return " or missing" if feature.missing else ""


def _check_order(lo: float, hi: float) -> None:
    if lo > hi:
        raise SpecError(
            f"lo = {number_text(lo)} is above hi = {number_text(hi)}",
            hint=f"swap them: ({number_text(hi)}, {number_text(lo)})",
        )


def _checked_levels(levels: object) -> tuple[Level, ...]:
    if isinstance(levels, str | bytes) or not isinstance(levels, Iterable):
        raise SpecError(
            f"levels must be a list, got {shown(levels)}", hint='for instance levels=["no", "yes"]'
        )
    checked = tuple(_checked_level(level) for level in levels)
    if not checked:
        raise SpecError("no levels", hint="give at least one")
    seen: dict[Level, Level] = {}
    for level in checked:
        if level in seen:
            twin = seen[level]
            also = "" if type(twin) is type(level) else f" (equal to {twin!r})"
            raise SpecError(f"level {level!r} is given twice{also}")
        seen[level] = level
    if None not in seen:
        _check_one_sort(checked)
        return checked
    present = tuple(level for level in checked if level is not None)
    _check_one_sort(present, as_floats=True)
    if not present:
        raise SpecError("no level beside None", hint="give at least one: None stands for missing values")
    return (*present, None)


def _checked_level(given: object) -> Level:
    level = python_scalar(given)
    if level is None:
        return None
    if isinstance(level, str):
        if not encodable(level):
            raise SpecError(f"level {level!r} cannot be written as UTF-8")
        return level
    if isinstance(level, float) and not math.isfinite(level):
        raise SpecError(f"level {level!r} is not finite", hint="name missing values with the level None")
    if isinstance(level, int) and abs(level) > _LARGEST_LEVEL:
        raise SpecError(f"level {level} does not fit in 64 bits", hint="use text for it")
    if isinstance(level, bool | int | float):
        return level
    raise SpecError(f"level {shown(given)} is neither text, number nor boolean")


def _check_one_sort(levels: tuple[Level, ...], *, as_floats: bool = False) -> None:
    # A column of a frame holds text or numbers; levels of both sorts could not be written back into one. Beside
    # fractions and gaps it holds whole numbers as floats.
    text = [level for level in levels if isinstance(level, str)]
    numbers = [level for level in levels if isinstance(level, bool | int | float)]
    if text and numbers:
        raise SpecError(
            f"levels mix text ({text[0]!r}) and numbers ({numbers[0]!r})", hint="write all of them as text"
        )
    if as_floats or any(isinstance(level, float) for level in numbers):
        for level in numbers:
            if not isinstance(level, float) and abs(level) > EXACT_INT_LIMIT:
                beside = "missing values" if as_floats else "fractions"
                raise SpecError(
                    f"level {level} beside {beside} is beyond 2**53", hint="use text for the levels"
                )


def encodable(text: str) -> bool:
    """Whether `text` can be written as UTF-8 (lone surrogates cannot)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _found(positions: dict[Level, int], value: object) -> int | None:
    scalar = python_scalar(value)
    if is_missing(scalar):
        return positions.get(None)
    return positions.get(scalar) if isinstance(scalar, str | int | float) else None


def _position(positions: dict[Level, int], value: object) -> int:
    at = _found(positions, value)
    if at is None:
        # A level that reads the same is no spelling to suggest: the hint says text and number were mixed up.
        near = closest(value, [level for level in positions if str(level) != str(value)])
        raise DataError(f"unknown level {shown(value)}{near}", hint=level_hint(positions, value))
    return at


def level_hint(levels: Iterable[Level], value: object) -> str:
    """What to say about a value that is no level: the levels, or that text and number were mixed up."""
    known = tuple(levels)
    twins = [level for level in known if str(level) == str(python_scalar(value))]
    if twins:
        sort = "text" if isinstance(twins[0], str) else "a number"
        return f"the space has {twins[0]!r} as {sort}, the data have {shown(value)}"
    return f"the levels are {_listed(known, ', ')}"


def _count(levels: tuple[Level, ...], noun: str) -> str:
    return f"{len(levels)} {noun}{'' if len(levels) == 1 else 's'}"


def _listed(levels: tuple[Level, ...], separator: str) -> str:
    head = separator.join(level_text(level) for level in levels[:_LEVELS_SHOWN])
    more = len(levels) - _LEVELS_SHOWN
    return head if more <= 0 else f"{head}{separator}... ({more} more)"


def level_text(level: Level) -> str:
    """A level for people: text as it is where it can be read, otherwise its repr."""
    if level is None:
        return "missing"
    if isinstance(level, str):
        return level if level.isprintable() and level.strip() == level != "" else repr(level)
    return number_text(level) if isinstance(level, float) else str(level)
