"""What is said of a similarity, checked by itself: names, tolerances and pairs of levels, before any space is known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from likewise.errors import SpecError
from likewise.spec.levels import Level
from likewise.spec.numbers import exact_decimal, number_text, python_scalar, shown

Tolerance = int | float | str
LevelPairs = tuple[tuple[Level, Level], ...]

_PAIRS_HINT = 'pairs={"job": [("skilled", "unskilled")]}'


def checked_names(names: object) -> tuple[str, ...]:
    """A list of different names."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        hint = f"write [{names!r}]" if isinstance(names, str) else None
        raise SpecError(f"expected a list of feature names, got {shown(names)}", hint=hint)
    checked: list[str] = []
    for given in names:
        name = python_scalar(given)
        if not isinstance(name, str):
            raise SpecError(f"expected the name of a feature, got {shown(given)}")
        if name in checked:
            raise SpecError(f"feature {name!r} is named twice")
        checked.append(name)
    return tuple(checked)


def checked_within(within: object) -> list[tuple[str, Tolerance]]:
    """Names with numbers or percentages that are not negative."""
    if within is None:
        return []
    if not isinstance(within, Mapping):
        raise SpecError(
            f"within must map names to tolerances, got {shown(within)}",
            hint='within={"age": 2, "income": "5%"}',
        )
    names = checked_names(list(within))
    return [
        (name, _checked_tolerance(name, given)) for name, given in zip(names, within.values(), strict=True)
    ]


def _checked_tolerance(name: str, given: object) -> Tolerance:
    tolerance = python_scalar(given)
    if isinstance(tolerance, str):
        percentage(name, tolerance)
        return tolerance.strip()
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float):
        raise SpecError(
            f"within: the tolerance of {name!r} must be a number or a percentage, got {shown(given)}",
            hint='for instance 2 or "5%"',
        )
    if math.isnan(tolerance):
        raise SpecError(f"within: the tolerance of {name!r} is NaN")
    if tolerance < 0:
        raise SpecError(f"within: the tolerance of {name!r} is negative: {number_text(tolerance)}")
    return tolerance


def checked_pairs(pairs: object) -> dict[str, LevelPairs]:
    """Names with pairs of different levels, each pair once."""
    if pairs is None:
        return {}
    if not isinstance(pairs, Mapping):
        raise SpecError(f"pairs must map names to pairs of levels, got {shown(pairs)}", hint=_PAIRS_HINT)
    names = checked_names(list(pairs))
    return {
        name: _checked_level_pairs(name, given) for name, given in zip(names, pairs.values(), strict=True)
    }


def _checked_level_pairs(name: str, given: object) -> LevelPairs:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise SpecError(f"pairs: {name!r} needs a list of pairs, got {shown(given)}", hint=_PAIRS_HINT)
    checked: list[tuple[Level, Level]] = []
    for pair in given:
        if isinstance(pair, str | Mapping | set) or not isinstance(pair, Iterable):
            raise SpecError(f"pairs: {shown(pair)} is no pair of levels of {name!r}", hint=_PAIRS_HINT)
        levels = [python_scalar(level) for level in pair]
        if len(levels) != 2:
            raise SpecError(
                f"pairs: a pair of levels of {name!r} has two, got {shown(pair)}",
                hint="for three levels that may all differ give three pairs",
            )
        first, second = (_checked_level(name, level) for level in levels)
        if first == second:
            raise SpecError(
                f"pairs: {shown(pair)} is one level of {name!r} twice", hint="equal levels are always similar"
            )
        if (first, second) not in checked and (second, first) not in checked:
            checked.append((first, second))
    if not checked:
        raise SpecError(f"pairs: no pairs are given for {name!r}", hint="leave it out: then it is the same")
    return tuple(checked)


def _checked_level(name: str, level: object) -> Level:
    if level is None or isinstance(level, str | bool | int | float):
        return level
    raise SpecError(f"pairs: {shown(level)} is no level of {name!r}", hint=_PAIRS_HINT)


def percentage(name: str, text: str) -> Fraction:
    """A percentage as a number: 5% is 1/20. Exact."""
    number, percent, rest = text.strip().partition("%")
    if number.strip().startswith("-"):
        raise SpecError(f"within: the tolerance of {name!r} is negative: {text.strip()}")
    try:
        if not percent or rest:
            raise SpecError("no percentage")
        return exact_decimal(number.strip()) / 100
    except SpecError:
        raise SpecError(
            f"within: {text!r} is no tolerance for {name!r}",
            hint='a number such as 2, or a percentage of hi - lo such as "5%"',
        ) from None
