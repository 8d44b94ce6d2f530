"""Relation: how far one feature may differ between two similar individuals, by codes; what the words of a `Similarity` come down to.

A relation has its smallest form: a tolerance that reaches across the domain is free, one that reaches no other value is same, and pairs that name
every two levels are free.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from likewise.errors import DataError, SpecError
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Ordinal
from likewise.spec.numbers import number_text
from likewise.spec.said import LevelPairs, Tolerance, percentage


@dataclass(frozen=True, slots=True)
class Relation:
    """How far one feature may differ; `tolerance` is set for ``within`` only, in values or steps, and `allowed`
    for ``pairs`` only: positions of levels, the smaller first, in increasing order. `missing` is the code of a missing number
    where the relation is ``within``."""

    kind: Literal["same", "within", "free", "pairs"]
    tolerance: Fraction | None = None
    allowed: tuple[tuple[int, int], ...] = ()
    missing: float | None = None

    def allows(self, code: Fraction | float, other: Fraction | float) -> bool:
        """Whether two codes may stand in one pair. Exact for exact codes."""
        if self.kind == "free" or code == other:
            return True
        if self.missing is not None and self.missing in (code, other):
            return False
        if self.tolerance is not None:
            return abs(Fraction(code) - Fraction(other)) <= self.tolerance
        pair = (min(code, other), max(code, other))
        place = bisect_left(self.allowed, pair)
        return place < len(self.allowed) and self.allowed[place] == pair

    def partners(self, position: int, levels: int) -> list[int]:
        """The positions that may stand beside this one, itself among them, in increasing order."""
        if self.kind == "pairs":
            beside = {i + j - position for i, j in self.allowed if position in (i, j)}
            return sorted(other for other in beside | {position} if other < levels)
        return [other for other in range(levels) if self.allows(position, other)]


def free_relation(feature: Feature) -> Relation:
    """The relation of a feature that may differ in any way."""
    return Relation("same") if feature.size == 1 or _fixed(feature) else Relation("free")


def within_relation(name: str, given: Tolerance, feature: Feature) -> Relation:
    """The relation of a tolerance."""
    tolerance = said_tolerance(name, given, feature)
    if isinstance(feature, Integer):
        tolerance = Fraction(math.floor(tolerance))
    if tolerance == 0 or span(feature) == 0:
        return Relation("same")
    if feature.missing:
        return _beside_missing(feature, min(tolerance, span(feature)))
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


def _fixed(feature: Feature) -> bool:
    """Whether a continuous feature has one value only."""
    return isinstance(feature, Continuous) and feature.lo == feature.hi and not feature.missing


def _beside_missing(feature: Feature, tolerance: Fraction) -> Relation:
    """Within a tolerance, but what is missing stands beside itself only."""
    if isinstance(feature, Continuous | Integer):
        return Relation("within", tolerance, missing=feature.missing_code)
    steps = [(i, j) for j in range(feature.size - 1) for i in range(j) if j - i <= tolerance]
    return Relation("pairs", allowed=tuple(sorted(steps)))


def said_tolerance(name: str, given: Tolerance, feature: Feature) -> Fraction:
    """The number that a tolerance is, exactly; of whole numbers only the whole ones below it are within."""
    if isinstance(given, str):
        if isinstance(feature, Categorical | Ordinal):
            raise SpecError(
                f"within: a percentage ({given}) means nothing for {name!r}, which has levels",
                hint="for an Ordinal give a number of steps; otherwise make it free",
            )
        tolerance = percentage(name, given) * span(feature)
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
