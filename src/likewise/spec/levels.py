"""Features with levels: text, numbers or booleans, without an order (`Categorical`) or in one (`Ordinal`).

Two levels are one level when Python calls them equal, so ``1``, ``1.0`` and ``True`` cannot stand side by side. ``None`` stands for missing
values; it has no place in an order, so it is put last, wherever it was given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from likewise.errors import DataError, SpecError, suggest_name
from likewise.spec.numbers import EXACT_INT_LIMIT, number_text, python_scalar, short_repr

Level = str | int | float | bool | None

_LEVELS_SHOWN = 6
_LARGEST_LEVEL = 2**63 - 1  # frames hold whole numbers as int64


@dataclass(frozen=True, slots=True, init=False, repr=False)
class _LevelFeature:
    """What both kinds have in common: levels by their positions."""

    levels: tuple[Level, ...]
    _positions: dict[Level, int] = field(init=False, repr=False, compare=False)

    def __init__(self, levels: Iterable[object]) -> None:
        checked = _validate_levels(levels)
        object.__setattr__(self, "levels", checked)
        object.__setattr__(self, "_positions", {level: at for at, level in enumerate(checked)})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.levels)!r})"

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
        return _find_position(self._positions, value) is not None

    def position(self, value: object) -> int:
        """The place of `value` among the levels, from 0."""
        return _require_position(self._positions, value)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Categorical(_LevelFeature):
    """One of several levels without an order: ``Categorical(["f", "m"])``.

    Parameters
    ----------
    levels : iterable of str, number or bool
        The levels; None among them stands for missing.
    """

    kind: ClassVar[Literal["categorical"]] = "categorical"

    def describe(self) -> str:
        """In words: ``4 levels: a, b, c, d``."""
        return f"{_count_text(self.levels, 'level')}: {_list_text(self.levels, ', ')}"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Ordinal(_LevelFeature):
    """One of several levels in the order given: ``Ordinal(["low", "middle", "high"])``.

    Parameters
    ----------
    levels : iterable of str, number or bool
        The levels, in their order; None among them stands for missing.
    """

    kind: ClassVar[Literal["ordinal"]] = "ordinal"

    def describe(self) -> str:
        """In words: ``3 ordered levels: low < middle < high``."""
        present = self.levels[:-1] if self.missing else self.levels
        words = f"{_count_text(present, 'ordered level')}: {_list_text(present, ' < ')}"
        return f"{words}, or missing" if self.missing else words


def is_missing(value: object) -> bool:
    """Whether a Python scalar stands for a missing value: None, NaN, pandas' NA and NaT."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _validate_levels(levels: object) -> tuple[Level, ...]:
    if isinstance(levels, str | bytes) or not isinstance(levels, Iterable):
        raise SpecError(
            f"levels must be a list, got {short_repr(levels)}", hint='for instance levels=["no", "yes"]'
        )
    checked = tuple(_validate_level(level) for level in levels)
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


def _validate_level(given: object) -> Level:
    level = python_scalar(given)
    if level is None:
        return None
    if isinstance(level, str):
        if not is_encodable(level):
            raise SpecError(f"level {level!r} cannot be written as UTF-8")
        return level
    if isinstance(level, float) and not math.isfinite(level):
        raise SpecError(f"level {level!r} is not finite", hint="name missing values with the level None")
    if isinstance(level, int) and abs(level) > _LARGEST_LEVEL:
        raise SpecError(f"level {level} does not fit in 64 bits", hint="use text for it")
    if isinstance(level, bool | int | float):
        return level
    raise SpecError(f"level {short_repr(given)} is neither text, number nor boolean")


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


def is_encodable(text: str) -> bool:
    """Whether `text` can be written as UTF-8 (lone surrogates cannot)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _find_position(positions: dict[Level, int], value: object) -> int | None:
    scalar = python_scalar(value)
    if is_missing(scalar):
        return positions.get(None)
    return positions.get(scalar) if isinstance(scalar, str | int | float) else None


def _require_position(positions: dict[Level, int], value: object) -> int:
    at = _find_position(positions, value)
    if at is None:
        # A level that reads the same is no spelling to suggest: the hint says text and number were mixed up.
        near = suggest_name(value, [level for level in positions if str(level) != str(value)])
        raise DataError(f"unknown level {short_repr(value)}{near}", hint=level_hint(positions, value))
    return at


def level_hint(levels: Iterable[Level], value: object) -> str:
    """What to say about a value that is no level: the levels, or that text and number were mixed up."""
    known = tuple(levels)
    twins = [level for level in known if str(level) == str(python_scalar(value))]
    if twins:
        sort = "text" if isinstance(twins[0], str) else "a number"
        return f"the space has {twins[0]!r} as {sort}, the data have {short_repr(value)}"
    return f"the levels are {_list_text(known, ', ')}"


def _count_text(levels: tuple[Level, ...], noun: str) -> str:
    return f"{len(levels)} {noun}{'' if len(levels) == 1 else 's'}"


def _list_text(levels: tuple[Level, ...], separator: str) -> str:
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
