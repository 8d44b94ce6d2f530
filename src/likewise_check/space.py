"""The space of individuals and who counts as similar (section 2): features, constraints, relations.

An individual is a vector of codes: the value itself for continuous and integer features, the position (from 0) of the
level for categorical and ordinal ones. All but continuous codes are whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from likewise_check import fields, numbers
from likewise_check.errors import Rejected

MOST_FEATURES = 10_000
MOST_LEVELS = 100_000
MOST_CONSTRAINTS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature: the range of its codes and, for levels kinds, what the levels stand for."""

    name: str
    kind: str
    lo: Fraction
    hi: Fraction
    levels: int  # 0 for continuous and integer features
    values: tuple[Fraction, ...] | None  # of the levels, if all of them are numbers or truth values

    @property
    def discrete(self) -> bool:
        return self.kind != "continuous"

    def has(self, code: Fraction) -> bool:
        """Whether the code is one of this feature's."""
        return self.lo <= code <= self.hi and (code.denominator == 1 or not self.discrete)

    def value(self, code: Fraction) -> Fraction:
        """What a code counts for in a constraint; only for features that a constraint may name."""
        return code if self.values is None else self.values[int(code)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """h(x) = sum of coefficient * value(x_k) - bound <= 0."""

    terms: tuple[tuple[int, Fraction], ...]
    bound: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """How much one feature may differ within a pair; tolerance only for `within`."""

    kind: Literal["same", "within", "free"]
    tolerance: Fraction | None = None

    def allows(self, code: Fraction, other: Fraction) -> bool:
        """Whether two codes may stand in one pair."""
        if self.kind == "same":
            return code == other
        return self.tolerance is None or abs(code - other) <= self.tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """All individuals; the valid ones satisfy every constraint."""

    features: tuple[Feature, ...]
    constraints: tuple[Constraint, ...]

    def holds(self, codes: Sequence[Fraction]) -> bool:
        """Whether the codes are those of a valid individual."""
        return all(map(Feature.has, self.features, codes)) and all(
            sum(weight * self.features[k].value(codes[k]) for k, weight in constraint.terms)
            <= constraint.bound
            for constraint in self.constraints
        )


def read_space(line: object) -> Space:
    """The space of a certificate's second line."""
    (content,) = fields.record(line, "the space line", "space")
    feature_list, constraint_list = fields.record(content, "the space", "features", "constraints")
    items = fields.array(feature_list, "features")
    if not 1 <= len(items) <= MOST_FEATURES:
        raise Rejected(f"a space has 1 to {MOST_FEATURES} features, not {len(items)}")
    features = tuple(_feature(item, f"feature {k}") for k, item in enumerate(items))
    if len({feature.name for feature in features}) != len(features):
        raise Rejected("two features have the same name")
    if sum(feature.levels for feature in features) > MOST_LEVELS:
        raise Rejected(f"more than {MOST_LEVELS} levels in all")
    items = fields.array(constraint_list, "constraints")
    if len(items) > MOST_CONSTRAINTS:
        raise Rejected(f"more than {MOST_CONSTRAINTS} constraints")
    constraints = tuple(_constraint(item, f"constraint {j}", features) for j, item in enumerate(items))
    return Space(features=features, constraints=constraints)


def read_similarity(line: object, space: Space) -> tuple[Relation, ...]:
    """The relations of a certificate's third line, one a feature."""
    (content,) = fields.record(line, "the similarity line", "similarity")
    items = fields.array(content, "the similarity", len(space.features))
    return tuple(
        _relation(item, f"the relation of feature {k}", feature)
        for k, (item, feature) in enumerate(zip(items, space.features, strict=True))
    )


def _feature(item: object, what: str) -> Feature:
    kind = fields.kind(item, what)
    if kind in ("continuous", "integer"):
        name, _, low, high = fields.record(item, what, "name", "kind", "lo", "hi")
        lo, hi = numbers.parse(low, f"{what}, lo"), numbers.parse(high, f"{what}, hi")
        if lo > hi:
            raise Rejected(f"{what}: lo is above hi")
        if kind == "integer" and (lo.denominator != 1 or hi.denominator != 1):
            raise Rejected(f"{what}: the ends of an integer feature must be whole")
        return Feature(
            name=fields.text(name, f"{what}, name"), kind=kind, lo=lo, hi=hi, levels=0, values=None
        )
    if kind not in ("categorical", "ordinal"):
        raise Rejected(f"{what}: unknown kind {kind[:40]!r}")
    name, _, level_list = fields.record(item, what, "name", "kind", "levels")
    levels = [
        _level(level, f"{what}, level {i}")
        for i, level in enumerate(fields.array(level_list, f"{what}, levels"))
    ]
    if not levels:
        raise Rejected(f"{what} has no levels")
    if len(set(levels)) != len(levels):
        raise Rejected(f"{what} has the same level twice")
    counts = [value for _, value in levels if isinstance(value, Fraction)]
    return Feature(
        name=fields.text(name, f"{what}, name"),
        kind=kind,
        lo=Fraction(0),
        hi=Fraction(len(levels) - 1),
        levels=len(levels),
        values=tuple(counts) if len(counts) == len(levels) else None,
    )


def _level(item: object, what: str) -> tuple[str, str | Fraction]:
    """A level as (sort, text or number): equal exactly if the levels are the same."""
    if type(item) is bool:
        return ("truth", Fraction(int(item)))
    if type(item) is str:
        return ("text", item)
    (value,) = fields.record(item, what, "number")
    return ("number", numbers.parse(value, what))


def _constraint(item: object, what: str, features: tuple[Feature, ...]) -> Constraint:
    text, term_list, bound = fields.record(item, what, "text", "terms", "bound")
    fields.text(text, f"{what}, text")
    terms: list[tuple[int, Fraction]] = []
    for term in fields.array(term_list, f"{what}, terms"):
        index, weight = fields.array(term, f"{what}, a term", 2)
        k = fields.whole(index, f"{what}, a feature", 0, len(features) - 1)
        if terms and k <= terms[-1][0]:
            raise Rejected(f"{what}: the features must be strictly increasing")
        if features[k].levels and features[k].values is None:
            raise Rejected(f"{what}: feature {k} has levels that are no numbers")
        terms.append((k, numbers.parse(weight, f"{what}, a coefficient")))
    return Constraint(terms=tuple(terms), bound=numbers.parse(bound, f"{what}, bound"))


def _relation(item: object, what: str, feature: Feature) -> Relation:
    kind = fields.kind(item, what)
    if kind == "same":
        fields.record(item, what, "kind")
        return Relation(kind="same")
    if kind == "free":
        fields.record(item, what, "kind")
        return Relation(kind="free")
    if kind != "within":
        raise Rejected(f"{what}: unknown kind {kind[:40]!r}")
    _, limit = fields.record(item, what, "kind", "tolerance")
    tolerance = numbers.parse(limit, f"{what}, tolerance")
    if tolerance <= 0:
        raise Rejected(f"{what}: the tolerance must be above 0")
    if feature.kind == "categorical":
        raise Rejected(f"{what}: a categorical feature has no distances")
    if feature.discrete and tolerance.denominator != 1:
        raise Rejected(f"{what}: the tolerance of a discrete feature must be whole")
    return Relation(kind="within", tolerance=tolerance)
