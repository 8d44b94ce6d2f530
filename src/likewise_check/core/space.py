"""The space of individuals and who counts as similar (section 2): features, constraints, relations.

An individual is a vector of codes: the value itself for continuous and integer features, the position (from 0) of the level
for categorical and ordinal ones. Continuous codes are doubles, all others whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

from likewise_check.core.fields import (
    Reader,
    Rejected,
    anything,
    array_of,
    kind,
    record,
    require_true,
    text,
    whole,
)
from likewise_check.core.numbers import (
    LARGEST,
    Exact,
    double_above,
    has_double,
    int_if_whole,
    is_double,
    number,
)
from likewise_check.core.registry import find_entry, known_names

MOST_FEATURES = 10_000
MOST_LEVELS = 100_000
MOST_CONSTRAINTS = 1_000

Level: TypeAlias = tuple[
    str, str | Exact
]  # its sort, and its text or number: equal exactly if the levels are the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature: the range of its values; `values` of the levels, if all of them are numbers or truth values."""

    name: str
    kind: str
    lo: Fraction
    hi: Fraction
    names: tuple[Level, ...] = ()  # of levels kinds only
    values: tuple[Exact, ...] | None = None
    missing: Fraction | None = None  # the code of a number that is missing, if it may be

    @property
    def levels(self) -> int:
        return len(self.names)

    @property
    def discrete(self) -> bool:
        return self.kind != "continuous"

    @property
    def end(self) -> Fraction:
        """The largest code."""
        return self.hi if self.missing is None else self.missing

    def has(self, code: Fraction) -> bool:
        """Whether the code is one of this feature's."""
        return self.lo <= code <= self.end and (code.denominator == 1 if self.discrete else is_double(code))


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """weight * x_k, or weight * values[x_k] for levels kinds."""

    feature: int
    weight: Fraction
    values: tuple[Exact, ...] | None

    def at(self, code: Fraction) -> Fraction:
        """The term's value at a code."""
        return self.weight * (code if self.values is None else self.values[int(code)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """h(x) = sum of the terms - bound <= 0."""

    terms: tuple[Term, ...]
    bound: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """How much one feature may differ within a pair: same, within the tolerance, between two limits, one of the allowed pairs, or free."""

    kind: str
    tolerance: Fraction | None = None
    limits: tuple[Fraction, Fraction] | None = None  # of x' - x, for `between`
    allowed: frozenset[tuple[int, int]] = frozenset()  # the smaller position first
    missing: Fraction | None = None  # the code of a number that is missing, if it may be
    fixed: tuple[int, int] | None = None  # the positions of x and of x', in a part of a proof (section 22)
    inside: tuple[int, int] | None = (
        None  # from where to where one that is the same may be there (section 26)
    )

    @property
    def apart(self) -> tuple[Exact, Exact] | None:
        """From where to where x' - x may be, if it has limits."""
        if self.limits is not None:
            return int_if_whole(self.limits[0]), int_if_whole(self.limits[1])
        return (
            None if self.tolerance is None else (int_if_whole(-self.tolerance), int_if_whole(self.tolerance))
        )

    @property
    def one_way(self) -> bool:
        """Whether who is x and who is x' matters (section 18)."""
        return self.limits is not None and self.limits[0] != -self.limits[1]

    @property
    def moves(self) -> bool:
        """Whether nobody is similar to themselves by it (section 6)."""
        return self.limits is not None and not self.limits[0] <= 0 <= self.limits[1]

    def allows(self, code: Exact, other: Exact) -> bool:
        """Whether two codes may stand in one pair, as x and as x'."""
        apart = self.apart
        if apart is not None:
            if self.missing is not None and (code == self.missing) != (other == self.missing):
                return False
            return apart[0] <= other - code <= apart[1]
        if self.kind in ("free", "along"):  # of one that changes along by a table the joint limit knows more
            return True
        return code == other or (min(code, other), max(code, other)) in self.allowed


class JointLimit(Protocol):
    """What features of a pair keep together, of a pack that knows it; `numbers` of a leaf may be about it besides multipliers of constraints."""

    @property
    def pack(self) -> str:
        """Whose it is."""

    @property
    def numbers(self) -> int: ...
    def in_words(self, names: Sequence[str]) -> str:
        """What it says, with what the features are called."""

    def allows(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
        """Whether two individuals keep it."""

    def penalty(self, numbers: Sequence[Fraction], scale: int) -> Any:
        """What these numbers take from a line, in units of 1 / scale; None for nothing."""

    def parts(self) -> Iterator[tuple[Relation, ...]] | None:
        """The similarities that a proof is about one by one, if it is not about all pairs at once."""


class LimitedSimilarity(tuple[Relation, ...]):
    """One relation a feature, and what features keep together. A rule that does not ask for that speaks of more pairs."""

    limit: JointLimit


def joint_limit(similarity: Sequence[Relation]) -> JointLimit | None:
    """What the features of similar individuals keep together, if there is such a limit."""
    return similarity.limit if isinstance(similarity, LimitedSimilarity) else None


def are_near(similarity: Sequence[Relation], x: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
    """Whether two individuals that satisfy the relations keep the joint limit."""
    limit = joint_limit(similarity)
    return limit is None or limit.allows(x, other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """All individuals; the valid ones satisfy every constraint."""

    features: tuple[Feature, ...]
    constraints: tuple[Constraint, ...]

    def holds(self, codes: Sequence[Fraction]) -> bool:
        """Whether the codes are those of a valid individual."""
        return all(map(Feature.has, self.features, codes)) and self.satisfied_by(codes)

    def satisfied_by(self, codes: Sequence[Fraction]) -> bool:
        """Whether codes that may be any real numbers satisfy the constraints."""
        return all(
            sum(term.at(codes[term.feature]) for term in constraint.terms) <= constraint.bound
            for constraint in self.constraints
        )


def read_space(line: object) -> Space:
    """The space of a certificate's second line."""
    (content,) = record(line, "the line", space=anything)
    features, items = record(
        content, "the space", features=array_of(read_feature), constraints=array_of(anything)
    )
    if not 1 <= len(features) <= MOST_FEATURES or sum(feature.levels for feature in features) > MOST_LEVELS:
        raise Rejected(f"a space has 1 to {MOST_FEATURES} features with at most {MOST_LEVELS} levels in all")
    if len({feature.name for feature in features}) != len(features):
        raise Rejected("two features have the same name")
    if len(items) > MOST_CONSTRAINTS:
        raise Rejected(f"more than {MOST_CONSTRAINTS} constraints")
    constraints = tuple(_read_constraint(item, f"constraint {j}", features) for j, item in enumerate(items))
    return Space(features=tuple(features), constraints=constraints)


def read_similarity(line: object, space: Space) -> tuple[Relation, ...]:
    """The relations of a certificate's third line, one a feature, with a joint limit if it has one."""
    known = known_names("SIMILARITIES")
    keys: dict[str, Reader] = {key: anything for key in known if type(line) is dict and key in line}
    items, *limits = record(line, "the line", similarity=array_of(anything, len(space.features)), **keys)
    joined = {k: item for k, item in enumerate(items) if _names_others(item)}
    found = tuple(
        Relation(kind="same") if k in joined else _read_relation(item, f"relation {k}", space.features[k])
        for k, item in enumerate(items)
    )
    if joined:
        if limits:
            raise Rejected("a similarity with a relation along has nothing besides relations")
        found, limit = find_entry("RELATIONS", "along")(joined, found, space)
        limited = LimitedSimilarity(found)
        limited.limit = limit
        return limited
    for key, item in zip(keys, limits, strict=True):
        limited = LimitedSimilarity(found)
        limited.limit = find_entry("SIMILARITIES", key)(item, space)
        found = limited
    return found


def read_feature(item: object, what: str) -> Feature:
    """One feature of a space."""
    sort = kind(item, what, "continuous", "integer", "categorical", "ordinal")
    if sort in ("continuous", "integer"):
        return _read_numeric(item, what, sort)
    name, _, levels = record(item, what, name=text, kind=text, levels=array_of(_read_level))
    if not levels or len(set(levels)) != len(levels):
        raise Rejected(f"{what} must have levels, all distinct")
    numbers = all(sort in ("truth", "number") for sort, _ in levels)
    values = tuple(value for _, value in levels) if numbers else None
    hi = Fraction(len(levels) - 1)
    return Feature(name=name, kind=sort, lo=Fraction(0), hi=hi, names=tuple(levels), values=values)


def _read_numeric(item: object, what: str, sort: str) -> Feature:
    missing = type(item) is dict and "missing" in item
    more: dict[str, Reader] = {"missing": require_true} if missing else {}
    name, _, lo, hi, *_ = record(item, what, name=text, kind=text, lo=number, hi=number, **more)
    if lo > hi:
        raise Rejected(f"{what}: lo is above hi")
    if sort == "continuous" and not has_double(lo, hi):
        raise Rejected(f"{what}: no double lies from lo to hi, so that there is nobody")
    if sort == "integer" and not lo.denominator == hi.denominator == 1:
        raise Rejected(f"{what}: the ends of an integer feature must be whole")
    if not missing:
        return Feature(name=name, kind=sort, lo=lo, hi=hi)
    if sort == "continuous" and not (is_double(hi) and hi < LARGEST):
        raise Rejected(f"{what}: above hi there must be a double for what is missing, and hi must be one")
    code = hi + 1 if sort == "integer" else double_above(hi)
    return Feature(name=name, kind=sort, lo=lo, hi=hi, missing=code)


def _read_level(item: object, what: str) -> Level:
    if item is None:
        return "missing", ""
    if type(item) is bool:
        return "truth", int(item)
    if type(item) is str:
        return "text", item
    (value,) = record(item, what, number=number)
    return "number", int_if_whole(value)


def _read_constraint(item: object, what: str, features: Sequence[Feature]) -> Constraint:
    _, pairs, bound = record(item, what, text=text, terms=array_of(array_of(anything, 2)), bound=number)
    terms = [_read_term(index, weight, what, features) for index, weight in pairs]
    if any(late.feature <= early.feature for early, late in pairwise(terms)):
        raise Rejected(f"{what}: the features must be strictly increasing")
    return Constraint(terms=tuple(terms), bound=bound)


def _read_term(index: object, weight: object, what: str, features: Sequence[Feature]) -> Term:
    k: int = whole(0, len(features) - 1)(index, f"{what}, a feature")
    feature = features[k]
    if feature.missing is not None:
        raise Rejected(f"{what}: feature {k} has missing values")
    if type(weight) is list:
        if not feature.levels:
            raise Rejected(f"{what}: feature {k} has no levels, so an array says nothing")
        entries = array_of(number, feature.levels)(weight, f"{what}, the coefficients")
        return Term(feature=k, weight=Fraction(1), values=tuple(map(int_if_whole, entries)))
    if feature.levels and feature.values is None:
        raise Rejected(f"{what}: feature {k} has levels that are no numbers")
    return Term(feature=k, weight=number(weight, f"{what}, a coefficient"), values=feature.values)


def _names_others(item: object) -> bool:
    """Whether a relation is one that depends on other features."""
    return type(item) is dict and item.get("kind") in known_names("RELATIONS")


def _read_relation(item: object, what: str, feature: Feature) -> Relation:
    sort = kind(item, what, "same", "within", "between", "free", "pairs")
    if sort == "pairs":
        return _read_pairs(item, what, feature)
    if sort == "between":
        return _read_between(item, what, feature)
    if sort != "within":
        record(item, what, kind=text)
        return Relation(kind=sort)
    _, tolerance = record(item, what, kind=text, tolerance=number)
    if tolerance <= 0 or feature.kind == "categorical":
        raise Rejected(f"{what}: a tolerance must be above 0, and a categorical feature has none")
    if feature.discrete and tolerance.denominator != 1:
        raise Rejected(f"{what}: the tolerance of a discrete feature must be whole")
    return Relation(kind=sort, tolerance=tolerance, missing=feature.missing)


def _read_between(item: object, what: str, feature: Feature) -> Relation:
    _, low, high = record(item, what, kind=text, low=number, high=number)
    if low > high or feature.kind == "categorical" or feature.missing is not None:
        raise Rejected(
            f"{what}: low must not be above high, and the feature neither categorical nor one with missing values"
        )
    if feature.discrete and not low.denominator == high.denominator == 1:
        raise Rejected(f"{what}: the limits of a discrete feature must be whole")
    return Relation(kind="between", limits=(low, high))


def _read_pairs(item: object, what: str, feature: Feature) -> Relation:
    if not feature.levels:
        raise Rejected(f"{what}: only levels kinds have allowed pairs")
    position = whole(0, feature.levels - 1)
    _, found = record(item, what, kind=text, allowed=array_of(array_of(position, 2)))
    if any(i >= j for i, j in found) or any(late <= early for early, late in pairwise(found)):
        raise Rejected(
            f"{what}: allowed pairs must have the smaller position first, and be strictly increasing"
        )
    return Relation(kind="pairs", allowed=frozenset(map(tuple, found)))
