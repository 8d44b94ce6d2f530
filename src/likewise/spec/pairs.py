"""Pair space: the box of all similar pairs (x, x'), in variables that a search can branch on.

A feature that must be the `same` gives ONE shared variable; `within`, `pairs` and `free` give two, one a side.
Variables carry codes (values of numbers, positions of levels); discrete ones take whole numbers only.
A point of the box is a pair once |x_k - x'_k| <= t_k holds for the `within` features, levels that differ
in a `pairs` feature are one of its allowed pairs, the two are within the `distance` of each other, if there is one, and both individuals satisfy the space's constraints; `PairSpace.valid` decides that in exact arithmetic.

`add_differences` adds one more variable, x'_k - x_k, for each number that is `within`: what a search needs
where a bound depends on how far two individuals are apart (kernels). The others leave it out. `add_inner_quantities` lets cells be cut by quantities inside a model as well (sums of a
network's neurons), which have no limits at first; whatever such a quantity is of a pair, it is on one side of a cut, so what knows nothing of them may ignore their limits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.spec.allowance import Allowance
from likewise.spec.along_parts import ResolvedAlong, parts_of
from likewise.spec.constraints import Constraint
from likewise.spec.distance import Distance
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Ordinal
from likewise.spec.similarity import Relation, Similarity
from likewise.spec.terms import Separable, Term

if TYPE_CHECKING:
    from likewise.spec.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One coordinate of pair space. `lo` and `hi` are doubles or whole numbers: exact either way. `missing` is the code of a
    missing number, equal to `hi`; None where there is none, and for levels, where it is a level like any other."""

    feature: int
    side: str  # "both", "first", "second", or "difference" for x'_k - x_k
    discrete: bool
    lo: float
    hi: float
    missing: float | None = None

    @property
    def last(self) -> float:
        """The largest code that is not missing."""
        if self.missing is None:
            return self.hi
        return self.hi - 1 if self.discrete else math.nextafter(self.hi, -math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSpace:
    """The similar pairs of a space: variables, who they belong to, tolerances and constraints."""

    space: Space
    relations: tuple[Relation, ...]
    variables: tuple[Variable, ...]
    first: tuple[int, ...]  # for each feature, the variable that holds x_k
    second: tuple[int, ...]  # for each feature, the variable that holds x'_k
    constraints: tuple[Separable, ...]  # each must be <= 0 at x and at x'
    distance: Distance | None = None  # what pairs keep in several features together
    difference: tuple[
        int | None, ...
    ] = ()  # for each feature, the variable x'_k - x_k; empty: there are none
    allowance: Allowance | None = None  # how far scores may be apart because two individuals are
    inner: int = 0  # quantities inside the model that cells may be cut by, numbered after all variables
    along: tuple[ResolvedAlong, ...] = ()  # features that change when others do
    branches: tuple[
        PairSpace, ...
    ] = ()  # what these pairs fall into then; the relations allow more than there are

    @property
    def ends(self) -> tuple[list[float], list[float]]:
        """The ends of the box of all pairs: those of the variables, but of a part of other pairs the two positions of a feature that is fixed, and what is left of one that is the same."""
        lo, hi = [float(v.lo) for v in self.variables], [float(v.hi) for v in self.variables]
        for k, relation in enumerate(self.relations):
            if relation.fixed is not None:
                for v, place in zip((self.first[k], self.second[k]), relation.fixed, strict=True):
                    lo[v] = hi[v] = float(place)
            if relation.inside is not None:
                v, (start, end) = self.first[k], relation.inside
                lo[v], hi[v] = max(lo[v], float(start)), min(hi[v], float(end))
        return lo, hi

    def split(self, point: Sequence[float]) -> tuple[list[float], list[float]]:
        """The two individuals of a point of pair space, as codes."""
        return [point[v] for v in self.first], [point[v] for v in self.second]

    def turned(self) -> PairSpace:
        """The same pairs with x and x' in each other's places."""
        ends = {v for v in self.difference if v is not None}
        variables = tuple(
            replace(variable, lo=-variable.hi, hi=-variable.lo) if v in ends else variable
            for v, variable in enumerate(self.variables)
        )
        relations = tuple(relation.turned() for relation in self.relations)
        return replace(self, relations=relations, variables=variables)

    def parts(
        self, variable: int, lo: float, hi: float, at: float, after: float | None = None
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """The two intervals that a cut makes of one of a variable: <= at, and >= at (> at for a discrete variable), or >= after, the double next to `at`,
        where that is given."""
        right = at + 1 if self.discrete(variable) else at if after is None else after
        return (lo, at), (right, hi)

    def discrete(self, variable: int) -> bool:
        """Whether a variable takes whole numbers only; an inner quantity takes any."""
        return variable < len(self.variables) and self.variables[variable].discrete

    def valid(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
        """Whether (x, x') is a pair: both in the space, similar, constraints satisfied. Exact."""
        if self.branches:
            return any(part.valid(x, other) for part in self.branches)
        return (
            self._individual(x, self.first)
            and self._individual(other, self.second)
            and self._similar(x, other)
        )

    def _similar(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
        codes = zip(self.relations, x, other, strict=True)
        near = all(relation.allows(code, second) for relation, code, second in codes)
        return near and (self.distance is None or self.distance.allows(x, other))

    def _individual(self, codes: Sequence[Fraction], side: tuple[int, ...]) -> bool:
        for variable, code in zip((self.variables[v] for v in side), codes, strict=True):
            if not Fraction(variable.lo) <= code <= Fraction(variable.hi):
                return False
            if variable.discrete and code.denominator != 1:
                return False
        return all(constraint.exact(codes) <= 0 for constraint in self.constraints)


def pair_space(space: Space, similarity: Similarity) -> PairSpace:
    """Resolve a similarity on a space into the variables of its pairs."""
    relations, along = similarity.resolve(space), similarity.equations(space)
    pairs = make_pair_space(space, relations, similarity.distance(space))
    parts = tuple(make_pair_space(space, part) for part in make_parts(relations, along, space))
    return replace(pairs, along=along, branches=parts)


def make_pair_space(
    space: Space, relations: tuple[Relation, ...], distance: Distance | None = None
) -> PairSpace:
    """The variables of pairs that differ as the relations say, one relation a feature, and are within a distance."""
    variables: list[Variable] = []
    first: list[int] = []
    second: list[int] = []
    for k, (name, relation) in enumerate(zip(space.names, relations, strict=True)):
        (lo, hi), discrete = space[name].code_range, not isinstance(space[name], Continuous)
        missing = space[name].missing_code if isinstance(space[name], (Continuous, Integer)) else None
        sides = ("both",) if relation.kind == "same" else ("first", "second")
        first.append(len(variables))
        second.append(len(variables) + len(sides) - 1)
        variables += [
            Variable(feature=k, side=side, discrete=discrete, lo=lo, hi=hi, missing=missing) for side in sides
        ]
    return PairSpace(
        space=space,
        relations=relations,
        variables=tuple(variables),
        first=tuple(first),
        second=tuple(second),
        constraints=tuple(constraint_terms(space, c) for c in space.constraints),
        distance=distance,
    )


def make_parts(
    relations: tuple[Relation, ...], along: tuple[ResolvedAlong, ...], space: Space
) -> tuple[tuple[Relation, ...], ...]:
    """The similarities that pairs fall into where features change along with others; none where they do not."""
    return parts_of(relations, along, space) if along else ()


def add_differences(pairs: PairSpace) -> PairSpace:
    """The same pairs, with a variable for the difference of every number that is `within`, after all others.

    Its range is [-t, t], or its limits, rounded down to whole numbers or outwards to doubles: the search may look at a little
    more than a certificate asks for, never at less.
    """
    variables, difference = list(pairs.variables), []
    for k, relation in enumerate(pairs.relations):
        name, place = pairs.space.names[k], None
        if relation.kind == "within" and isinstance(pairs.space[name], (Continuous, Integer)):
            place, discrete = len(variables), pairs.variables[pairs.first[k]].discrete
            low, high = relation.apart
            lo, hi = 0 - _round_up(-low, discrete=discrete), _round_up(high, discrete=discrete)
            variables.append(Variable(feature=k, side="difference", discrete=discrete, lo=lo, hi=hi))
        difference.append(place)
    return replace(
        pairs,
        variables=tuple(variables),
        difference=tuple(difference),
        branches=tuple(map(add_differences, pairs.branches)),
    )


def add_inner_quantities(pairs: PairSpace, count: int) -> PairSpace:
    """The same pairs, whose cells may also be cut by so many quantities inside the model: any number, whatever the codes are."""
    return replace(
        pairs, inner=count, branches=tuple(add_inner_quantities(part, count) for part in pairs.branches)
    )


def _round_up(limit: Fraction, *, discrete: bool) -> float:
    if discrete:
        return math.floor(limit)
    nearest = float(limit)
    return nearest if Fraction(nearest) >= limit else math.nextafter(nearest, math.inf)


def pin_features(pairs: PairSpace, features: Sequence[int]) -> PairSpace:
    """The same variables, of pairs that do not differ in these features."""
    relations = list(pairs.relations)
    for k in features:
        if relations[k].kind != "same":
            relations[k] = Relation("within", Fraction(0))
    branches = tuple(pin_features(part, features) for part in pairs.branches)
    return replace(pairs, relations=tuple(relations), branches=branches)


def constraint_terms(space: Space, constraint: Constraint) -> Separable:
    """A constraint over values or levels as a sum of terms over codes: satisfied where it is <= 0."""
    if constraint.indicators:
        terms = [_count_term(space[name], name, constraint) for name in space.names]
        return Separable(bias=-constraint.bound, terms=tuple(terms))
    coefficients = dict(constraint.coefficients)
    terms = []
    for name in space.names:
        coefficient, feature = coefficients.get(name, Fraction(0)), space[name]
        if coefficient and isinstance(feature, (Categorical, Ordinal)):
            levels = [Fraction(level) for level in feature.levels if isinstance(level, (int, float))]
            terms.append(Term(table=tuple(coefficient * level for level in levels)))
        else:
            terms.append(Term(slope=coefficient))
    return Separable(bias=-constraint.bound, terms=tuple(terms))


def _count_term(feature: Feature, name: str, constraint: Constraint) -> Term:
    """For each level how many of the conditions on this feature hold at it."""
    conditions = [condition for condition in constraint.indicators if condition.name == name]
    if not conditions or not isinstance(feature, (Categorical, Ordinal)):
        return Term()
    counts = [sum(condition.holds(level) for condition in conditions) for level in feature.levels]
    return Term(table=tuple(map(Fraction, counts)))
