"""Boxes: sets of individuals that are a range or a set of levels in every feature, with a rule that people can read.

A box has one *part* a feature, in the order of its space: (lo, hi) of a number, both ends included, or the positions of levels, in
increasing order. Its rule names the features in which it is not the whole space:

    rule      = condition ("and" condition)* | "everybody"          age >= 60 and housing == own and job in {skilled, management}
    condition = of levels, as in `implications`, or a comparison of one number, as in `constraints`

`parse_box` reads a rule back; what `Box.rule` writes is read back to the same box.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.errors import SpecError, suggest_name
from likewise.spec.constraints import Constraint, parse_constraints
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Ordinal
from likewise.spec.implications import Indicator, condition_text, is_condition, parse_condition
from likewise.spec.space import Space
from likewise.spec.tokens import quoted_name, tokenize

if TYPE_CHECKING:
    from likewise.spec.similarity import Relation

EVERYBODY = "everybody"

FeaturePart = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """All individuals of `space` whose values lie in the parts, one part a feature."""

    space: Space
    parts: tuple[FeaturePart, ...]

    @classmethod
    def whole(cls, space: Space) -> Box:
        """Everybody."""
        return cls(space, tuple(full_part(space[name]) for name in space.names))

    def with_part(self, k: int, part: FeaturePart) -> Box:
        """The same box with another part of feature k."""
        return replace(self, parts=(*self.parts[:k], part, *self.parts[k + 1 :]))

    @property
    def share(self) -> Fraction:
        """Of the space, under the uniform measure: lengths of continuous parts, counts of the others."""
        total = Fraction(1)
        for name, part in zip(self.space.names, self.parts, strict=True):
            total *= _part_share(self.space[name], part)
        return total

    @property
    def rule(self) -> str:
        """What the individuals of the box have in common, in words that `parse_box` reads."""
        return " and ".join(self._conditions()) or EVERYBODY

    def values(self) -> dict[str, list[object]]:
        """Ready for JSON: [lo, hi] of the numbers and the levels of the others, where they are not the whole feature."""
        named: dict[str, list[object]] = {}
        for name, part in zip(self.space.names, self.parts, strict=True):
            feature = self.space[name]
            if part != full_part(feature):
                named[name] = (
                    [feature.levels[int(p)] for p in part]
                    if isinstance(feature, Categorical | Ordinal)
                    else [*part]
                )
        return named

    def _conditions(self) -> Iterator[str]:
        for name, part in zip(self.space.names, self.parts, strict=True):
            feature = self.space[name]
            if part == full_part(feature):
                continue
            if isinstance(feature, Categorical | Ordinal):
                yield condition_text(name, [feature.levels[int(p)] for p in part], feature.levels)
            else:
                yield _comparison_text(quoted_name(name), feature, part)

    def subspace(self) -> Space | None:
        """The space of the box's individuals; None where the conditions between levels exclude all of them."""
        parts, constraints = dict(zip(self.space.names, self.parts, strict=True)), self.space.constraints
        while True:
            features = {name: _narrow_feature(self.space[name], part) for name, part in parts.items()}
            kept, forbidden = _restrict_constraints(constraints, features)
            if not forbidden:
                return Space(features, constraints=kept)
            for name, levels in forbidden:
                feature = self.space[name]
                if isinstance(feature, Categorical | Ordinal):
                    parts[name] = tuple(p for p in parts[name] if feature.levels[int(p)] not in levels)
                if not parts[name]:
                    return None

    def holds(self, codes: tuple[float, ...] | list[float]) -> bool:
        """Whether an individual, by its codes in the space, lies in the box."""
        for name, part, code in zip(self.space.names, self.parts, codes, strict=True):
            levels = isinstance(self.space[name], Categorical | Ordinal)
            if code not in part if levels else not part[0] <= code <= part[1]:
                return False
        return True


def full_part(feature: Feature) -> FeaturePart:
    """The part that is all of a feature."""
    if isinstance(feature, Continuous | Integer):
        return (feature.lo, feature.hi)
    return tuple(range(len(feature.levels)))


def _part_share(feature: Feature, part: FeaturePart) -> Fraction:
    if isinstance(feature, Categorical | Ordinal):
        return Fraction(len(part), len(feature.levels))
    if isinstance(feature, Integer):
        return Fraction(int(part[1]) - int(part[0]) + 1, feature.size)
    span = Fraction(feature.hi) - Fraction(feature.lo)
    return (Fraction(part[1]) - Fraction(part[0])) / span if span else Fraction(1)


def _narrow_feature(feature: Feature, part: FeaturePart) -> Feature:
    if isinstance(feature, Continuous):
        return Continuous(*part)
    if isinstance(feature, Integer):
        return Integer(int(part[0]), int(part[1]))
    levels = [feature.levels[int(p)] for p in part]
    return Categorical(levels) if isinstance(feature, Categorical) else Ordinal(levels)


def _restrict_constraints(
    constraints: tuple[Constraint, ...], features: dict[str, Feature]
) -> tuple[list[Constraint], list[tuple[str, frozenset[object]]]]:
    """What constraints ask of these features: implications speak of no level that is gone; one that leaves a single
    condition forbids its levels altogether."""
    kept: list[Constraint] = []
    forbidden: list[tuple[str, frozenset[object]]] = []
    for constraint in constraints:
        if not constraint.indicators:
            kept.append(constraint)
            continue
        conditions = []
        for condition in constraint.indicators:
            feature = features[condition.name]
            levels = feature.levels if isinstance(feature, Categorical | Ordinal) else ()
            holding = frozenset(level for level in levels if condition.holds(level))
            conditions.append((condition.name, holding, len(holding) == len(levels)))
        if not all(holding for _, holding, _ in conditions):
            continue
        open_ones = [(name, holding) for name, holding, always in conditions if not always]
        if len(open_ones) >= 2:
            indicators = [Indicator(name, holding) for name, holding in open_ones]
            kept.append(Constraint.forbidding(constraint.text, indicators))
        else:
            name, holding = open_ones[0] if open_ones else conditions[0][:2]
            forbidden.append((name, frozenset(holding)))
    return kept, forbidden


# -- who is similar to somebody in a box ----------------------------------------------------------------


def similarity_closure(box: Box, relations: tuple[Relation, ...]) -> Box:
    """The smallest box known to hold everybody who is similar to somebody in `box`."""
    parts = tuple(
        _reachable_part(box.space[name], part, relation)
        for name, part, relation in zip(box.space.names, box.parts, relations, strict=True)
    )
    return Box(box.space, parts)


def _reachable_part(feature: Feature, part: FeaturePart, relation: Relation) -> FeaturePart:
    if relation.kind == "same":
        return part
    if relation.kind == "free":
        return full_part(feature)
    if isinstance(feature, Categorical | Ordinal):
        size = len(feature.levels)
        ways = (
            relation,
            relation.turned(),
        )  # whoever comes before somebody in the box, and whoever comes after
        beside = {other for p in part for way in ways for other in way.partners(int(p), size)}
        return tuple(sorted({*map(int, part), *beside}))
    reach = relation.tolerance or Fraction(0)
    low, high = Fraction(part[0]) - reach, Fraction(part[1]) + reach
    return (_round_outward(low, feature.lo, down=True), _round_outward(high, feature.hi, down=False))


def _round_outward(value: Fraction, limit: float, *, down: bool) -> float:
    """A double beyond a rational, or the limit if that comes first; whole numbers stay what they are."""
    from likewise.spec.numbers import double_above, double_below

    if (value <= limit) if down else (value >= limit):
        return limit
    if isinstance(limit, int):
        return int(value)
    return double_below(value) if down else double_above(value)


# -- rules ------------------------------------------------------------------------------------------------


def _comparison_text(name: str, feature: Continuous | Integer, part: FeaturePart) -> str:
    lo, hi = (repr(value) for value in part)
    if part[0] == part[1]:
        return f"{name} == {lo}"
    if part[0] == feature.lo:
        return f"{name} <= {hi}"
    if part[1] == feature.hi:
        return f"{name} >= {lo}"
    return f"{lo} <= {name} <= {hi}"


def parse_box(rule: str, space: Space) -> Box:
    """The box that a rule describes."""
    if not isinstance(rule, str):
        raise SpecError(f"a rule is text, not {rule!r}", hint='for instance "age >= 60 and housing == own"')
    box = Box.whole(space)
    if rule.strip() == EVERYBODY:
        return box
    for text in _split_conditions(rule, space):
        box = _apply_condition(box, text)
    return box


def _split_conditions(rule: str, space: Space) -> Iterator[str]:
    """The conditions of a rule, cut at its `and`s."""
    words = [
        level
        for feature in space.features.values()
        if isinstance(feature, Categorical | Ordinal)
        for level in feature.levels
        if isinstance(level, str)
    ]
    start = 0
    for token in tokenize(rule, [*space.names, *words], levels=True):
        if token.is_word("and") or token.sort == "end":
            yield rule[start : token.place]
            start = token.place + len("and")


def _apply_condition(box: Box, text: str) -> Box:
    space = box.space
    if is_condition(text, space.features):
        condition = parse_condition(text, space.features)
        feature, k = space[condition.name], space.names.index(condition.name)
        levels = feature.levels if isinstance(feature, Categorical | Ordinal) else ()
        return _replace_part(
            box, k, tuple(p for p in box.parts[k] if levels and condition.holds(levels[int(p)])), text
        )
    for constraint in parse_constraints(text, space.features):
        if len(constraint.coefficients) != 1:
            raise SpecError(
                f"rule: {text.strip()!r} is about {len(constraint.coefficients)} features",
                hint="every condition of a rule is about one; others go into where",
            )
        box = _apply_bound(box, constraint, text)
    return box


def _apply_bound(box: Box, constraint: Constraint, text: str) -> Box:
    (name, by), space = constraint.coefficients[0], box.space
    if name not in space:
        raise SpecError(f"rule: no feature {name!r} in the space{suggest_name(name, space.names)}")
    k, feature = space.names.index(name), space[name]
    if isinstance(feature, Categorical | Ordinal):
        if not feature.numeric:
            raise SpecError(
                f"rule: {name!r} has text levels, which are not compared",
                hint=f"write {quoted_name(name)} in {{...}}",
            )
        holds = [p for p in box.parts[k] if by * Fraction(feature.levels[int(p)] or 0) <= constraint.bound]
        return _replace_part(box, k, tuple(holds), text)
    lo, hi = box.parts[k]
    limit = constraint.bound / by
    if isinstance(feature, Integer):
        value: float = limit.__floor__() if by > 0 else limit.__ceil__()
    else:
        value = float(limit)
    part = (lo, min(hi, value)) if by > 0 else (max(lo, value), hi)
    return _replace_part(box, k, part if part[0] <= part[1] else (), text)


def _replace_part(box: Box, k: int, part: FeaturePart, text: str) -> Box:
    if not part:
        raise SpecError(f"rule: nobody in the space has {text.strip()}")
    return box.with_part(k, part)
