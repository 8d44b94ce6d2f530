"""What `Along` is given, checked by itself, before any space is known: shifts and tables by two levels, and conditions on features that a pair shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from likewise.errors import SpecError, suggest_name
from likewise.spec.features import Level, level_text
from likewise.spec.metric import Amount, checked_entry, exact_amount
from likewise.spec.numbers import python_scalar, short_repr
from likewise.spec.relations import validate_names

Shift = tuple[Level, Level, Amount, Amount]  # from a level to another one, by at least and at most
Row = tuple[Level, tuple[Level, ...]]  # a level, and those that it becomes
Table = tuple[Level, Level, tuple[Row, ...]]  # from a level to another one

SHIFT_HINT = 'Along("sex", {("male", "female"): -3000})'
TABLE_HINT = 'Along("sex", table={("male", "female"): {"engineer": "teacher"}})'
WHERE_HINT = 'where={"sector": ["public"]}, or where={"age": {"from": 18, "to": 30}}'
RANGE_KEYS = ("from", "to")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """That a feature has one of some values, or one from `start` to `end`, where None is no limit."""

    feature: str
    values: tuple[Level, ...] | None = None
    start: Level = None
    end: Level = None

    @property
    def words(self) -> str:
        """``sector is public or private``."""
        if self.values is not None:
            return f"{self.feature} is {' or '.join(map(level_text, self.values))}"
        if self.end is None:
            return f"{self.feature} is at least {level_text(self.start)}"
        if self.start is None:
            return f"{self.feature} is at most {level_text(self.end)}"
        return f"{self.feature} is from {level_text(self.start)} to {level_text(self.end)}"

    def to_dict(self) -> Any:
        """JSON-ready: a list of values, or ``{"from": 18, "to": 30}``."""
        if self.values is not None:
            return list(self.values)
        ends = zip(RANGE_KEYS, (self.start, self.end), strict=True)
        return {key: end for key, end in ends if end is not None}


def checked_shifts(name: str, given: object) -> tuple[Shift, ...]:
    """Shifts by levels of a feature, each once: the other way round it is the opposite."""
    found: list[Shift] = []
    for entry in _entries(name, given, SHIFT_HINT):
        shift = _checked_shift(name, entry)
        ends = exact_amount(shift[2]), exact_amount(shift[3])
        for first, second, low, high in found:
            if (first, second) == shift[:2] or (
                (second, first) == shift[:2] and ends != (-exact_amount(high), -exact_amount(low))
            ):
                raise SpecError(
                    f"along: two shifts contradict each other: {short_repr(entry)}",
                    hint="a shift is given once; the other way round it is the opposite",
                )
        if (shift[1], shift[0]) not in [known[:2] for known in found]:
            found.append(shift)
    if not found:
        raise SpecError(f"along: no shifts by {name!r} are given", hint=SHIFT_HINT)
    return tuple(found)


def _entries(name: str, given: object, hint: str) -> list[Any]:
    """Rows, of which each begins with two levels."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SpecError(f"along: {short_repr(given)} says nothing by levels of {name!r}", hint=hint)
    if isinstance(given, Mapping):
        return [_flat_entry(pair, amount) for pair, amount in given.items()]
    return list(given)


def _flat_entry(pair: object, amount: object) -> object:
    """A pair of levels and what is said of it, in one row; what is none is refused later."""
    if not isinstance(pair, tuple):
        return (pair, amount)
    is_one = isinstance(amount, str | Mapping) or not isinstance(amount, Iterable)
    return (*pair, amount) if is_one else (*pair, *amount)  # type: ignore[misc]


def _checked_shift(name: str, entry: object) -> Shift:
    parts = [] if isinstance(entry, str) or not isinstance(entry, Iterable) else list(entry)
    if len(parts) not in (3, 4):
        raise SpecError(f"along: {short_repr(entry)} is no shift by two levels of {name!r}", hint=SHIFT_HINT)
    levels = _two_levels(name, parts, SHIFT_HINT)
    ends = [checked_entry(amount, f"along: a shift by {name!r}") for amount in parts[2:]]
    if exact_amount(ends[0]) > exact_amount(ends[-1]):
        raise SpecError(f"along: {short_repr(entry)}: at least is more than at most", hint=SHIFT_HINT)
    return *levels, ends[0], ends[-1]


def _two_levels(name: str, parts: list[Any], hint: str) -> tuple[Level, Level]:
    levels = [python_scalar(level) for level in parts[:2]]
    if levels[0] == levels[1] or not all(map(_is_level, levels)):
        raise SpecError(f"along: {short_repr(tuple(parts))} does not name two levels of {name!r}", hint=hint)
    return levels[0], levels[1]  # type: ignore[return-value]


def _is_level(level: object) -> bool:
    return level is None or isinstance(level, str | bool | int | float)


def _checked_level(level: object, entry: object) -> Level:
    found = python_scalar(level)
    if not _is_level(found):
        raise SpecError(f"along: {short_repr(entry)}: {short_repr(level)} is no level", hint=TABLE_HINT)
    return found  # type: ignore[return-value]


def checked_tables(name: str, given: object) -> tuple[Table, ...]:
    """Tables by two levels of a feature: mappings of levels to one level or several, or rows ``["male", "female", "engineer", "teacher"]``."""
    found: dict[tuple[Level, Level], dict[Level, tuple[Level, ...]]] = {}
    for entry in _entries(name, given, TABLE_HINT):
        parts = [] if isinstance(entry, str) or not isinstance(entry, Iterable) else list(entry)
        mapped = len(parts) == 3 and isinstance(parts[2], Mapping)
        if not mapped and (len(parts) < 4 or isinstance(given, Mapping)):
            raise SpecError(
                f"along: {short_repr(entry)} is no table by two levels of {name!r}", hint=TABLE_HINT
            )
        rows = found.setdefault(_two_levels(name, parts, TABLE_HINT), {})
        said = parts[2].items() if mapped else [(parts[2], parts[3] if len(parts) == 4 else parts[3:])]
        for own, becomes in said:
            level = _checked_level(own, entry)
            if level in rows:
                raise SpecError(
                    f"along: a table by {name!r} says twice what {level_text(level)} becomes",
                    hint=f"name all of it at once: {{{level!r}: [...]}}",
                )
            several = isinstance(becomes, Iterable) and not isinstance(becomes, str)
            images = (_checked_level(image, entry) for image in (becomes if several else [becomes]))
            rows[level] = tuple(dict.fromkeys(images))
    if not found or not all(found.values()):
        raise SpecError(f"along: no table by {name!r} is given", hint=TABLE_HINT)
    return tuple((*levels, tuple(rows.items())) for levels, rows in found.items())


def checked_where(given: object) -> tuple[Condition, ...]:
    """Names of features with the values that a change is said for."""
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise SpecError(f"along: where must map names to values, got {short_repr(given)}", hint=WHERE_HINT)
    names = validate_names(list(given))
    return tuple(_checked_condition(*item) for item in zip(names, given.values(), strict=True))


def _checked_condition(name: str, given: object) -> Condition:
    if isinstance(given, Mapping):
        for key in given:
            if key not in RANGE_KEYS:
                raise SpecError(
                    f"along: where {name!r}: unknown key {key!r}{suggest_name(str(key), RANGE_KEYS)}",
                    hint=WHERE_HINT,
                )
        start, end = (python_scalar(given.get(key)) for key in RANGE_KEYS)
        if (start is None and end is None) or not (_is_level(start) and _is_level(end)):
            raise SpecError(f"along: where {name!r}: {short_repr(given)} is no range", hint=WHERE_HINT)
        return Condition(feature=name, start=start, end=end)  # type: ignore[arg-type]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SpecError(
            f"along: where {name!r} needs a list of values, got {short_repr(given)}",
            hint=f"write [{given!r}]" if _is_level(given) else WHERE_HINT,
        )
    values = [python_scalar(value) for value in given]
    if not values or not all(map(_is_level, values)):
        raise SpecError(f"along: where {name!r}: {short_repr(given)} names no values", hint=WHERE_HINT)
    return Condition(feature=name, values=tuple(dict.fromkeys(values)))  # type: ignore[arg-type]
