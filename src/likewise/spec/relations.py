"""Relation: how far one feature may differ between two similar individuals, by codes; what the words of a `Similarity` come down to.

Words are checked by themselves first, before any space is known: names, tolerances and pairs of levels. A relation has its smallest form: a tolerance that reaches
across the domain is free, one that reaches no other value is same, and pairs that name every two levels are free.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from likewise.errors import DataError, SpecError
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Ordinal
from likewise.spec.levels import Level
from likewise.spec.numbers import exact_decimal, number_text, python_scalar, short_repr

Tolerance = int | float | str
LevelPairs = tuple[tuple[Level, Level], ...]
Direction = Literal["up", "down"]

_PAIRS_HINT = 'pairs={"job": [("skilled", "unskilled")]}'


def validate_names(names: object) -> tuple[str, ...]:
    """A list of different names."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        hint = f"write [{names!r}]" if isinstance(names, str) else None
        raise SpecError(f"expected a list of feature names, got {short_repr(names)}", hint=hint)
    checked: list[str] = []
    for given in names:
        name = python_scalar(given)
        if not isinstance(name, str):
            raise SpecError(f"expected the name of a feature, got {short_repr(given)}")
        if name in checked:
            raise SpecError(f"feature {name!r} is named twice")
        checked.append(name)
    return tuple(checked)


def validate_within(within: object) -> list[tuple[str, Tolerance]]:
    """Names with numbers or percentages that are not negative."""
    if within is None:
        return []
    if not isinstance(within, Mapping):
        raise SpecError(
            f"within must map names to tolerances, got {short_repr(within)}",
            hint='within={"age": 2, "income": "5%"}',
        )
    names = validate_names(list(within))
    return [
        (name, _validate_tolerance(name, given)) for name, given in zip(names, within.values(), strict=True)
    ]


def _validate_tolerance(name: str, given: object) -> Tolerance:
    tolerance = python_scalar(given)
    if isinstance(tolerance, str):
        parse_percentage(name, tolerance)
        return tolerance.strip()
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float):
        raise SpecError(
            f"within: the tolerance of {name!r} must be a number or a percentage, got {short_repr(given)}",
            hint='for instance 2 or "5%"',
        )
    if math.isnan(tolerance):
        raise SpecError(f"within: the tolerance of {name!r} is NaN")
    if tolerance < 0:
        raise SpecError(f"within: the tolerance of {name!r} is negative: {number_text(tolerance)}")
    return tolerance


def validate_pairs(pairs: object) -> dict[str, LevelPairs]:
    """Names with pairs of different levels, each pair once."""
    if pairs is None:
        return {}
    if not isinstance(pairs, Mapping):
        raise SpecError(f"pairs must map names to pairs of levels, got {short_repr(pairs)}", hint=_PAIRS_HINT)
    names = validate_names(list(pairs))
    return {
        name: _validate_level_pairs(name, given) for name, given in zip(names, pairs.values(), strict=True)
    }


def _validate_level_pairs(name: str, given: object) -> LevelPairs:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise SpecError(f"pairs: {name!r} needs a list of pairs, got {short_repr(given)}", hint=_PAIRS_HINT)
    checked: list[tuple[Level, Level]] = []
    for pair in given:
        if isinstance(pair, str | Mapping | set) or not isinstance(pair, Iterable):
            raise SpecError(f"pairs: {short_repr(pair)} is no pair of levels of {name!r}", hint=_PAIRS_HINT)
        levels = [python_scalar(level) for level in pair]
        if len(levels) != 2:
            raise SpecError(
                f"pairs: a pair of levels of {name!r} has two, got {short_repr(pair)}",
                hint="for three levels that may all differ give three pairs",
            )
        first, second = (_validate_level(name, level) for level in levels)
        if first == second:
            raise SpecError(
                f"pairs: {short_repr(pair)} is one level of {name!r} twice",
                hint="equal levels are always similar",
            )
        if (first, second) not in checked and (second, first) not in checked:
            checked.append((first, second))
    if not checked:
        raise SpecError(f"pairs: no pairs are given for {name!r}", hint="leave it out: then it is the same")
    return tuple(checked)


def _validate_level(name: str, level: object) -> Level:
    if level is None or isinstance(level, str | bool | int | float):
        return level
    raise SpecError(f"pairs: {short_repr(level)} is no level of {name!r}", hint=_PAIRS_HINT)


def parse_percentage(name: str, text: str) -> Fraction:
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


@dataclass(frozen=True, slots=True)
class Relation:
    """How far one feature may differ; `tolerance` is set for ``within`` only, in values or steps, and `allowed`
    for ``pairs`` only: positions of levels, the smaller first, in increasing order. `missing` is the code of a missing number
    where the relation is ``within``. `limits` are those of x' - x where it is ``within`` in one direction: the tolerance is then the larger size of the two, so
    that whatever does not look at limits allows more pairs than there are, and no fewer. `fixed` are the positions of x and of x' where it is ``free`` of a part (`likewise.spec.along_parts`), `inside` the codes from which to
    which it is where it is the ``same`` of one."""

    kind: Literal["same", "within", "free", "pairs"]
    tolerance: Fraction | None = None
    allowed: tuple[tuple[int, int], ...] = ()
    missing: float | None = None
    limits: tuple[Fraction, Fraction] | None = None
    fixed: tuple[int, int] | None = None
    inside: tuple[int, int] | None = None

    @property
    def apart(self) -> tuple[Fraction, Fraction]:
        """From where to where x' - x may be, if it is ``within``."""
        if self.limits is not None:
            return self.limits
        reach = self.tolerance or Fraction(0)
        return -reach, reach

    @property
    def reach(self) -> tuple[float, float]:
        """The same in float64."""
        low, high = self.apart
        return float(low), float(high)

    @property
    def one_way(self) -> bool:
        """Whether it matters who is x and who is x'."""
        return self.limits is not None and self.limits[0] != -self.limits[1]

    @property
    def apart_always(self) -> bool:
        """Whether no two have the same."""
        return self.fixed is not None or (
            self.limits is not None and not self.limits[0] <= 0 <= self.limits[1]
        )

    def turned(self) -> Relation:
        """The same with x and x' in each other's places."""
        turned = self if self.fixed is None else replace(self, fixed=self.fixed[::-1])
        if self.limits is None:
            return turned
        low, high = self.limits
        return replace(turned, limits=(-high, -low))

    def allows(self, code: Fraction | float, other: Fraction | float) -> bool:
        """Whether two codes may stand in one pair, as x and as x'. Exact for exact codes."""
        if self.fixed is not None:
            return (code, other) == self.fixed
        if self.inside is not None:
            return code == other and self.inside[0] <= code <= self.inside[1]
        if self.kind == "free" or (code == other and self.limits is None):
            return True
        if self.missing is not None and self.missing in (code, other):
            return False
        if self.tolerance is not None:
            low, high = self.apart
            return low <= Fraction(other) - Fraction(code) <= high
        pair = (min(code, other), max(code, other))
        place = bisect_left(self.allowed, pair)
        return place < len(self.allowed) and self.allowed[place] == pair

    def partners(self, position: int, levels: int) -> list[int]:
        """The positions that may stand beside this one, itself among them, in increasing order."""
        if self.kind == "pairs":
            beside = {i + j - position for i, j in self.allowed if position in (i, j)}
            return sorted(other for other in beside | {position} if other < levels)
        return [other for other in range(levels) if self.allows(position, other)]


def limits_relation(low: Fraction, high: Fraction) -> Relation:
    """The relation of x' - x between two limits."""
    return Relation("within", max(abs(low), abs(high)), limits=(low, high))


def read_direction(given: object) -> Direction:
    """'up' or 'down', also as +1 or -1."""
    value = python_scalar(given)
    if value in ("up", 1) and not isinstance(value, bool):
        return "up"
    if value in ("down", -1):
        return "down"
    raise SpecError(f"{short_repr(given)} is no direction", hint="'up' or +1, 'down' or -1")


def validate_order(order: object, pairs: object) -> dict[str, Direction]:
    """Names with directions, of features that are not in pairs."""
    if order is None:
        return {}
    if not isinstance(order, Mapping):
        raise SpecError(
            f"order must map names to directions, got {short_repr(order)}", hint='order={"income": "up"}'
        )
    directions: dict[str, Direction] = {}
    for name in validate_names(list(order)):
        if isinstance(pairs, Mapping) and name in pairs:
            raise SpecError(f"feature {name!r} is both in order and in pairs", hint="keep one of the two")
        directions[name] = read_direction(order[name])
    return directions


def unordered_pairs(pairs: Mapping[str, LevelPairs]) -> dict[str, frozenset[frozenset[Level]]]:
    """Pairs of levels, such that two that say the same are equal."""
    return {name: frozenset(map(frozenset, given)) for name, given in pairs.items()}


def ordered_relation(
    name: str, relation: Relation, feature: Feature, way: Direction, *, apart: bool
) -> Relation:
    """The relation of a feature that may differ in one direction only. `apart`: nothing else may differ, so that two with the same value are one individual, and no pair where values are
    whole; of numbers that are not, the smallest difference is no number."""
    if isinstance(feature, Categorical):
        raise SpecError(
            f"order: {name!r} is categorical, its levels have no order",
            hint=f"make it Ordinal: space.replace({{{name!r}: Ordinal([...])}})",
        )
    if feature.missing:
        raise SpecError(
            f"order: {name!r} may be missing, which is neither more nor less",
            hint="leave rows without it out of the space, or impute a number",
        )
    if relation.kind == "same":
        return relation
    reach = relation.tolerance if relation.tolerance is not None else span(feature)
    least = Fraction(0 if isinstance(feature, Continuous) or not apart else 1)
    return limits_relation(least, reach) if way == "up" else limits_relation(-reach, -least)


def free_relation(feature: Feature) -> Relation:
    """The relation of a feature that may differ in any way."""
    return Relation("same") if feature.size == 1 or _is_fixed(feature) else Relation("free")


def within_relation(name: str, given: Tolerance, feature: Feature) -> Relation:
    """The relation of a tolerance."""
    tolerance = exact_tolerance(name, given, feature)
    if isinstance(feature, Integer):
        tolerance = Fraction(math.floor(tolerance))
    if tolerance == 0 or span(feature) == 0:
        return Relation("same")
    if feature.missing:
        return _relation_with_missing(feature, min(tolerance, span(feature)))
    return Relation("free") if tolerance >= span(feature) else Relation("within", tolerance)


def pairs_relation(name: str, pairs: LevelPairs, feature: Feature) -> Relation:
    """The relation of allowed pairs: positions, the smaller first."""
    if isinstance(feature, Continuous | Integer):
        raise SpecError(
            f"pairs: {name!r} is {feature.kind}, it has no levels",
            hint=f"within={{{name!r}: 2}} allows a difference, or make it Categorical or Ordinal",
        )
    try:
        places = [sorted(map(feature.position, pair)) for pair in pairs]
    except DataError as error:
        raise SpecError(f"pairs: feature {name!r}: {error.message}", hint=error.hint) from None
    allowed = sorted({(low, high) for low, high in places})
    if len(allowed) == feature.size * (feature.size - 1) // 2:
        return Relation("free")
    return Relation("pairs", allowed=tuple(allowed))


def span(feature: Feature) -> Fraction:
    """The largest difference two values may have: hi - lo, or steps between the outer levels; none are missing."""
    if isinstance(feature, Continuous | Integer):
        return Fraction(feature.hi) - Fraction(feature.lo)
    return Fraction(feature.size - 1 - feature.missing)


def _is_fixed(feature: Feature) -> bool:
    """Whether a continuous feature has one value only."""
    return isinstance(feature, Continuous) and feature.lo == feature.hi and not feature.missing


def _relation_with_missing(feature: Feature, tolerance: Fraction) -> Relation:
    """Within a tolerance, but what is missing stands beside itself only."""
    if isinstance(feature, Continuous | Integer):
        return Relation("within", tolerance, missing=feature.missing_code)
    steps = [(i, j) for j in range(feature.size - 1) for i in range(j) if j - i <= tolerance]
    return Relation("pairs", allowed=tuple(sorted(steps)))


def exact_tolerance(name: str, given: Tolerance, feature: Feature) -> Fraction:
    """The number that a tolerance is, exactly; of whole numbers only the whole ones below it are within."""
    if isinstance(given, str):
        if isinstance(feature, Categorical | Ordinal):
            raise SpecError(
                f"within: a percentage ({given}) means nothing for {name!r}, which has levels",
                hint="for an Ordinal give a number of steps; otherwise make it free",
            )
        tolerance = parse_percentage(name, given) * span(feature)
    else:
        tolerance = Fraction(given)
    if isinstance(feature, Categorical) and tolerance > 0:
        raise SpecError(
            f"within: {name!r} is categorical, its levels have no distance",
            hint=f"make it free, or Ordinal if its levels have an order: space.replace({{{name!r}: Ordinal([...])}})",
        )
    if isinstance(feature, Ordinal) and tolerance.denominator != 1:
        raise SpecError(
            f"within: {number_text(tolerance)} is no number of steps for the ordinal feature {name!r}",
            hint=f"give a whole number, such as {math.floor(tolerance)} or {math.ceil(tolerance)}",
        )
    return tolerance
