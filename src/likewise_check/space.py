"""The space of individuals and who counts as similar (section 2): features, constraints, relations.

An individual is a vector of codes: the value itself for continuous and integer features, the position (from 0) of the level
for categorical and ordinal ones. All but continuous codes are whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from likewise_check.fields import Rejected, anything, array_of, kind, record, text, whole
from likewise_check.numbers import number

MOST_FEATURES = 10_000
MOST_LEVELS = 100_000
MOST_CONSTRAINTS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature: the range of its codes; `values` of the levels, if all of them are numbers or truth values."""

    name: str
    kind: str
    lo: Fraction
    hi: Fraction
    levels: int = 0  # of levels kinds only
    values: tuple[Fraction, ...] | None = None

    @property
    def discrete(self) -> bool:
        return self.kind != "continuous"

    def has(self, code: Fraction) -> bool:
        """Whether the code is one of this feature's."""
        return self.lo <= code <= self.hi and (code.denominator == 1 or not self.discrete)

    def value(self, code: Fraction) -> Fraction:
        """What a code counts for in a constraint."""
        return code if self.values is None else self.values[int(code)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """h(x) = sum of coefficient * value(x_k) - bound <= 0."""

    terms: tuple[tuple[int, Fraction], ...]
    bound: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """How much one feature may differ within a pair: same, within the tolerance, or free."""

    kind: str
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
    (content,) = record(line, "the line", space=anything)
    features, items = record(
        content, "the space", features=array_of(_feature), constraints=array_of(anything)
    )
    if not 1 <= len(features) <= MOST_FEATURES or sum(feature.levels for feature in features) > MOST_LEVELS:
        raise Rejected(f"a space has 1 to {MOST_FEATURES} features with at most {MOST_LEVELS} levels in all")
    if len({feature.name for feature in features}) != len(features):
        raise Rejected("two features have the same name")
    if len(items) > MOST_CONSTRAINTS:
        raise Rejected(f"more than {MOST_CONSTRAINTS} constraints")
    constraints = tuple(_constraint(item, f"constraint {j}", features) for j, item in enumerate(items))
    return Space(features=tuple(features), constraints=constraints)


def read_similarity(line: object, space: Space) -> tuple[Relation, ...]:
    """The relations of a certificate's third line, one a feature."""
    (items,) = record(line, "the line", similarity=array_of(anything, len(space.features)))
    return tuple(_relation(item, f"relation {k}", space.features[k]) for k, item in enumerate(items))


def _feature(item: object, what: str) -> Feature:
    sort = kind(item, what, "continuous", "integer", "categorical", "ordinal")
    if sort in ("continuous", "integer"):
        name, _, lo, hi = record(item, what, name=text, kind=text, lo=number, hi=number)
        if lo > hi:
            raise Rejected(f"{what}: lo is above hi")
        if sort == "integer" and not lo.denominator == hi.denominator == 1:
            raise Rejected(f"{what}: the ends of an integer feature must be whole")
        return Feature(name=name, kind=sort, lo=lo, hi=hi)
    name, _, levels = record(item, what, name=text, kind=text, levels=array_of(_level))
    if not levels or len(set(levels)) != len(levels):
        raise Rejected(f"{what} must have levels, all distinct")
    values = tuple(value for _, value in levels) if all(sort != "text" for sort, _ in levels) else None
    hi = Fraction(len(levels) - 1)
    return Feature(name=name, kind=sort, lo=Fraction(0), hi=hi, levels=len(levels), values=values)


def _level(item: object, what: str) -> tuple[str, str | Fraction]:
    """A level as its sort and its text or number: equal exactly if the levels are the same."""
    if type(item) is bool:
        return "truth", Fraction(int(item))
    if type(item) is str:
        return "text", item
    (value,) = record(item, what, number=number)
    return "number", value


def _constraint(item: object, what: str, features: Sequence[Feature]) -> Constraint:
    _, pairs, bound = record(item, what, text=text, terms=array_of(array_of(anything, 2)), bound=number)
    terms: list[tuple[int, Fraction]] = []
    for index, weight in pairs:
        k = whole(0, len(features) - 1)(index, f"{what}, a feature")
        if terms and k <= terms[-1][0]:
            raise Rejected(f"{what}: the features must be strictly increasing")
        if features[k].levels and features[k].values is None:
            raise Rejected(f"{what}: feature {k} has levels that are no numbers")
        terms.append((k, number(weight, f"{what}, a coefficient")))
    return Constraint(terms=tuple(terms), bound=bound)


def _relation(item: object, what: str, feature: Feature) -> Relation:
    sort = kind(item, what, "same", "within", "free")
    if sort != "within":
        record(item, what, kind=text)
        return Relation(kind=sort)
    _, tolerance = record(item, what, kind=text, tolerance=number)
    if tolerance <= 0 or feature.kind == "categorical":
        raise Rejected(f"{what}: a tolerance must be above 0, and a categorical feature has none")
    if feature.discrete and tolerance.denominator != 1:
        raise Rejected(f"{what}: the tolerance of a discrete feature must be whole")
    return Relation(kind=sort, tolerance=tolerance)
