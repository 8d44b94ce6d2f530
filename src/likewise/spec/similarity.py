"""Similarity: for each feature, how far two similar individuals may differ.

========  ============================================  ==============================
relation  two individuals are similar only if           written
========  ============================================  ==============================
same      their values are equal                        by saying nothing
within t  their values are at most t apart              ``within={"age": 2}``
          (steps between levels for `Ordinal`)          ``within={"income": "5%"}``
pairs     their levels are equal or one allowed pair    ``pairs={"job": [("skilled", "unskilled")]}``
free      anything the space allows                     ``free=["sex"]``
along     they differ as another feature says           ``along={"income": Along("sex", {("male", "female"): -3000})}``
========  ============================================  ==============================

Besides, a `metric` (`likewise.spec.metric`) says how far they may be apart in several features together: ``metric=Metric("l1", weights={"age": 0.1, "income": 0.001}), radius=1``. A feature that
it names may differ as far as the radius lets it, and no further than `within` or `pairs` say of it, if they do.

With ``order={"income": "up"}`` pairs are ordered: the second of a pair has at least as much income as the first, within the tolerance if there is one, and what they must share is about the second: its
score is no lower, or at most so far below. Two who are equal in everything are no pair then, as far as that can be said of numbers.

The paper's general form, groups S_j of features with thresholds eps_j, is `Similarity.groups`: eps = inf
is free, eps = 0 is same. Tolerances are exact: a float is the rational it stores, and ``"5%"`` is 5/100
of hi - lo. `resolve` turns the words into one `Relation` per feature of a space, in its order, and in
the smallest form: a tolerance that reaches across the domain is free, one that reaches no other value
is same, and pairs that name every two levels are free. Pairs are not passed on: that a may differ from b
and b from c does not let a differ from c.

What is missing is within reach of nothing but itself: only `free` and `pairs` let it stand beside a value. So a tolerance never
makes a feature with missing values free, and steps between the levels of an `Ordinal` that has the level None become pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from likewise import figures
from likewise.errors import SpecError, suggest_name
from likewise.html_tables import table
from likewise.spec.along import Along, Alongs, check_along, one_or_all, validate_along, words_of
from likewise.spec.along_codes import resolve_all
from likewise.spec.along_parts import ResolvedAlong, measure_leaders
from likewise.spec.features import Feature, Level, Ordinal, level_text
from likewise.spec.mahalanobis import Mahalanobis
from likewise.spec.metric import (
    Amount,
    Metric,
    ResolvedMetric,
    checked_amount,
    exact_amount,
    intersect_relations,
)
from likewise.spec.numbers import number_text, short_repr
from likewise.spec.relations import (
    Direction,
    LevelPairs,
    Relation,
    Tolerance,
    free_relation,
    ordered_relation,
    pairs_relation,
    read_direction,
    unordered_pairs,
    validate_names,
    validate_order,
    validate_pairs,
    validate_within,
    within_relation,
)

if TYPE_CHECKING:
    from likewise.spec.distance import Distance
    from likewise.spec.space import Space

__all__ = ["Relation", "Similarity", "Tolerance", "read_direction"]


class Similarity:
    """Which features may differ between similar individuals, and how far; all others are the same.

    Parameters
    ----------
    free : iterable of str
        Features that may differ in any way.
    within : mapping of str to number or str
        Features that may differ by at most a number, by a percentage of the range ("5%"), or by steps between
        the levels of an `Ordinal`.
    pairs : mapping of str to iterable of pairs
        Features that may differ between these levels only.
    metric : Metric or Mahalanobis, optional
        Features that may differ by no more than a distance in all of them together.
    radius : number or str
        That distance; needs a metric.
    order : mapping of str to 'up' or 'down'
        Features that the second of a pair has more of, or less; free, unless `within` says how much.
    along : mapping of str to Along, or to lists of them
        Features that change when another one does, by an amount or a table that is given; `within` leaves room around an amount. Of several for one feature the first whose conditions hold counts.

    Examples
    --------
    >>> from likewise import Similarity
    >>> similar = Similarity(free=["sex"], within={"age": 2}, pairs={"job": [("skilled", "unskilled")]})
    >>> similar.names
    ('sex', 'age', 'job')
    """

    __slots__ = ("_along", "_free", "_metric", "_order", "_pairs", "_radius", "_within")

    _metric: Metric | Mahalanobis | None
    _radius: Amount | None
    _free: tuple[str, ...]
    _within: dict[str, Tolerance]
    _pairs: dict[str, LevelPairs]
    _order: dict[str, Direction]
    _along: dict[str, Alongs]

    def __init__(
        self,
        *,
        free: Iterable[str] = (),
        within: Mapping[str, Tolerance] | None = None,
        pairs: Mapping[str, Iterable[tuple[Level, Level]]] | None = None,
        metric: Metric | Mahalanobis | None = None,
        radius: Amount | None = None,
        order: Mapping[str, Direction | int] | None = None,
        along: Mapping[str, Along | Sequence[Along]] | None = None,
    ) -> None:
        names = list(validate_names(free))
        directions = validate_order(order, pairs)
        if directions and metric is not None:
            raise SpecError(
                "pairs within a distance have no order", hint="leave out order, or metric and radius"
            )
        names += [name for name in directions if name not in (*names, *(within or {}))]
        object.__setattr__(self, "_order", directions)
        object.__setattr__(self, "_metric", metric)
        object.__setattr__(self, "_radius", _validate_metric(metric, radius, names))
        allowed = validate_pairs(pairs)
        for name in allowed:
            if name in names:
                raise SpecError(f"feature {name!r} is both free and in pairs", hint="keep one of the two")
        tolerances: dict[str, Tolerance] = {}
        for name, tolerance in validate_within(within):
            if name in names:
                raise SpecError(f"feature {name!r} is both free and within", hint="keep one of the two")
            if name in allowed:
                raise SpecError(f"feature {name!r} is both within and in pairs", hint="keep one of the two")
            if name in tolerances:
                raise SpecError(f"feature {name!r} is given twice in within")
            tolerances[name] = tolerance
        unbounded = [name for name, tolerance in tolerances.items() if tolerance == math.inf]
        if metric is not None:
            _refuse_free(metric, unbounded)
        object.__setattr__(self, "_free", (*names, *unbounded))
        object.__setattr__(
            self, "_within", {name: t for name, t in tolerances.items() if name not in unbounded}
        )
        object.__setattr__(self, "_pairs", allowed)
        equations = validate_along(along)
        if equations:
            check_along(equations, names=(self._free, self._within, self._pairs), alone=not (order or metric))
        object.__setattr__(self, "_along", equations)

    @classmethod
    def groups(cls, groups: Iterable[tuple[Iterable[str], Tolerance]]) -> Similarity:
        """The paper's form: ``groups([(["sex"], math.inf), (["age", "income"], 2.0)])``."""
        within: dict[str, Tolerance] = {}
        for group in groups:
            if not isinstance(group, tuple | list) or len(group) != 2:
                raise SpecError(
                    f"a group is a pair (names, threshold), got {short_repr(group)}",
                    hint='(["age", "income"], 2.0)',
                )
            for name in validate_names(group[0]):
                if name in within:
                    raise SpecError(
                        f"feature {name!r} is in two groups", hint="every feature has one threshold"
                    )
                within[name] = group[1]
        return cls(within=within)

    @property
    def free(self) -> tuple[str, ...]:
        """The features that may differ in any way."""
        return self._free

    @property
    def within(self) -> Mapping[str, Tolerance]:
        """The features that may differ by at most a tolerance, read only."""
        return MappingProxyType(self._within)

    @property
    def pairs(self) -> Mapping[str, LevelPairs]:
        """The features that may differ between certain levels only, read only."""
        return MappingProxyType(self._pairs)

    @property
    def metric(self) -> Metric | Mahalanobis | None:
        """What tells how far individuals are apart in several features together, if anything does."""
        return self._metric

    @property
    def radius(self) -> Amount | None:
        """How far they may be apart by the metric."""
        return self._radius

    @property
    def order(self) -> Mapping[str, Direction]:
        """The features that the second of a pair has more of ('up') or less ('down'), read only."""
        return MappingProxyType(self._order)

    @property
    def along(self) -> Mapping[str, Along | Alongs]:
        """The features that change when another one does, read only; where several are given for one feature, all of them."""
        return MappingProxyType({name: one_or_all(cases) for name, cases in self._along.items()})

    @property
    def one_way(self) -> bool:
        """Whether it matters who of a pair is the first."""
        return bool(self._order)

    @property
    def names(self) -> tuple[str, ...]:
        """All features that are said to differ."""
        said = (*self._free, *self._within, *self._pairs)
        said = (*said, *(name for name in self._along if name not in said))
        measured = () if self._metric is None else self._metric.names
        return (*said, *(name for name in measured if name not in said))

    def replace(self, **changes: Any) -> Similarity:
        """The same with other arguments in the place of some."""
        kept: dict[str, Any] = {name: getattr(self, name) for name in SIMILARITY_KEYS}
        return Similarity(**(kept | changes))

    def resolve(self, space: Space) -> tuple[Relation, ...]:
        """One relation per feature of `space`, in its order and smallest form; refuses if nothing may differ."""
        relations = self.relations(space)
        if all(relation.kind == "same" for relation in relations):
            collapsed = self.names
            why = f" ({', '.join(collapsed)} cannot differ in this space)" if collapsed else ""
            raise SpecError(
                f"nothing may differ: every pair is one individual{why}",
                hint='name what similar individuals may differ in, for instance Similarity(free=["sex"])',
            )
        return relations

    def relations(self, space: Space) -> tuple[Relation, ...]:
        """As `resolve`, but also if nothing may differ."""
        for name in self.names:
            if name not in space:
                raise SpecError(
                    f"similarity: no feature {name!r} in the space{suggest_name(name, space.names)}",
                    hint=f"the features are {', '.join(space.names[:12])}{', ...' if len(space) > 12 else ''}",
                )
        measured = self._resolved_metric(space)
        found = [self._relation(name, feature, measured) for name, feature in space.features.items()]
        alone = sum(relation.kind != "same" for relation in found) == 1
        for k, (name, feature) in enumerate(space.features.items()):
            if name in self._order:
                found[k] = ordered_relation(name, found[k], feature, self._order[name], apart=alone)
        measure_leaders(self._along, space, found)
        for equation in resolve_all(self._along, self._within, space, found):
            found[equation.feature] = equation.hull
        return tuple(found)

    def equations(self, space: Space) -> tuple[ResolvedAlong, ...]:
        """How features change along with others, in codes of `space`."""
        return resolve_all(self._along, self._within, space, self.relations(space)) if self._along else ()

    def distance(self, space: Space) -> Distance | None:
        """What similar individuals keep in several features together, where that is more than the relations say."""
        measured = self._resolved_metric(space)
        return None if measured is None else measured.distance

    def _resolved_metric(self, space: Space) -> ResolvedMetric | None:
        if self._metric is None or self._radius is None:
            return None
        return self._metric.resolve(space, exact_amount(self._radius))

    def _relation(self, name: str, feature: Feature, measured: ResolvedMetric | None) -> Relation:
        if measured is None or name not in measured.relations:
            return self._stated_relation(name, feature)
        reach = measured.relations[name]
        if name not in self._pairs and name not in self._within:
            return reach
        return intersect_relations(self._stated_relation(name, feature), reach)

    def _stated_relation(self, name: str, feature: Feature) -> Relation:
        if name in self._free:
            return free_relation(feature)
        if name in self._pairs:
            return pairs_relation(name, self._pairs[name], feature)
        return (
            within_relation(name, self._within[name], feature) if name in self._within else Relation("same")
        )

    def describe(self, space: Space | None = None) -> str:
        """In words: ``differ only in sex, by at most 2 in age``."""
        free, around = list(self._free), {name: _tolerance_text(t) for name, t in self._within.items()}
        within = [(name, tolerance) for name, tolerance in around.items() if name not in self._along]
        paired = [(name, _pairs_text(pairs)) for name, pairs in self._pairs.items()]
        if space is not None:
            relations = dict(zip(space.names, self.relations(space), strict=True))
            stated = [*self._free, *self._within, *self._pairs]  # what the metric names is said by it
            free = [
                name
                for name, relation in relations.items()
                if relation.kind == "free" or (relation.limits is not None and name not in self._within)
                if name in stated
            ]
            within = [
                (name, _resolved_text(self._within[name], relation, space[name]))
                for name, relation in relations.items()
                if relation.kind in ("within", "pairs") and name in self._within and name not in self._along
            ]
            paired = [(name, text) for name, text in paired if relations[name].kind == "pairs"]
        parts = [_join_names(free)] if free else []
        parts += [f"by at most {tolerance} in {name}" for name, tolerance in within]
        parts += [f"between {text} in {name}" for name, text in paired]
        if self._metric is not None and self._radius is not None:
            together = self._metric.describe(self._radius)
            parts.append(f"and {together}" if parts else together)
        parts += [
            f"and along with {cases[0].feature} in {name} ({words_of(cases)}{f', give or take {around[name]}' if name in around else ''})"
            for name, cases in self._along.items()
        ]
        if not parts:
            return "differ in nothing"
        said = f"differ only {'in ' if free else ''}{', '.join(parts)}"
        ways = ((word, [n for n, w in self._order.items() if w == way]) for word, way in _ORDER_WORDS)
        # Two who are the same in it are a pair where they may differ in something else.
        apart = len(self._order) == 1 and set(self.names) == set(self._order)
        told = [
            f"the second having {word if apart else _WITH_EQUAL[word]} {_join_names(names)}"
            for word, names in ways
            if names
        ]
        return f"{said}, {' and '.join(told)}," if told else said

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: ``{"free": [...], "within": {...}}``, with ``"pairs"`` where there are any."""
        content: dict[str, Any] = {"free": list(self._free), "within": dict(self._within)}
        if self._pairs:
            content["pairs"] = {name: [list(pair) for pair in pairs] for name, pairs in self._pairs.items()}
        if self._metric is not None:
            content |= {"metric": self._metric.to_dict(), "radius": self._radius}
        if self._order:
            content["order"] = dict(self._order)
        if self._along:
            told = {name: [one.to_dict() for one in cases] for name, cases in self._along.items()}
            content["along"] = {name: one[0] if len(one) == 1 else one for name, one in told.items()}
        return content

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Similarity:
        """The inverse of `to_dict`."""
        for key in data:
            if key not in SIMILARITY_KEYS:
                raise SpecError(f"similarity: unknown key {key!r}{suggest_name(key, SIMILARITY_KEYS)}")
        metric = data.get("metric")
        return cls(
            free=data.get("free", ()),
            within=data.get("within"),
            pairs=data.get("pairs"),
            metric=None if metric is None else metric_from_dict(metric),
            radius=data.get("radius"),
            order=data.get("order"),
            along={name: along_from_dict(one) for name, one in data.get("along", {}).items()},
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Similarity is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Similarity is immutable: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Similarity):
            return NotImplemented
        return self._facts == other._facts

    def __hash__(self) -> int:
        return hash(self._facts)

    @property
    def _facts(self) -> tuple[object, ...]:
        """What two equal ones have in common."""
        tables = (self._within, unordered_pairs(self._pairs), self._order)
        return (
            frozenset(self._free),
            *(frozenset(table.items()) for table in tables),
            self._metric,
            self._radius,
            frozenset(self._along.items()),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Similarity.from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        parts = [f"free={list(self._free)!r}"] if self._free else []
        parts += [f"within={self._within!r}"] if self._within else []
        pairs = {name: list(pairs) for name, pairs in self._pairs.items()}
        parts += [f"pairs={pairs!r}"] if pairs else []
        parts += [f"metric={self._metric!r}, radius={self._radius!r}"] if self._metric is not None else []
        parts += [f"order={self._order!r}"] if self._order else []
        along = {name: cases[0] if len(cases) == 1 else list(cases) for name, cases in self._along.items()}
        parts += [f"along={along!r}"] if along else []
        return f"Similarity({', '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = [(name, "free") for name in self._free]
        rows += [
            (name, f"within {_tolerance_text(t)}")
            for name, t in self._within.items()
            if name not in self._along
        ]
        rows += [(name, f"between {_pairs_text(pairs)}") for name, pairs in self._pairs.items()]
        if self._metric is not None and self._radius is not None:
            rows.append((", ".join(self._metric.names), self._metric.describe(self._radius)))
        rows += [
            (name, f"the second has {'more' if way == 'up' else 'less'}") for name, way in self._order.items()
        ]
        rows += [
            (name, f"changes along with {cases[0].feature}: {words_of(cases)}")
            for name, cases in self._along.items()
        ]
        rows.append(("all others", "same"))
        return table(f"similar individuals {self.describe()}", rows, columns=("feature", "may differ"))


SIMILARITY_KEYS = ("free", "within", "pairs", "metric", "radius", "order", "along")


def _validate_metric(metric: object, radius: object, free: list[str]) -> Amount | None:
    """The radius, which a metric needs and nothing else does."""
    if metric is None:
        if radius is not None:
            raise SpecError("a radius needs a metric", hint='metric=Metric("l1", weights={"age": 0.1})')
        return None
    if not isinstance(metric, Metric | Mahalanobis):
        raise SpecError(
            f"metric must be a likewise.Metric or Mahalanobis, got {short_repr(metric)}",
            hint='Metric("l1", weights={"age": 0.1})',
        )
    if radius is None:
        raise SpecError("a metric needs a radius: how far apart similar individuals may be", hint="radius=1")
    _refuse_free(metric, free)
    return checked_amount(radius, "the radius")


def along_from_dict(data: Any) -> Along | Alongs:
    """One equation, or several, of what `Similarity.to_dict` says of a feature."""
    return tuple(map(Along.from_dict, data)) if isinstance(data, list | tuple) else Along.from_dict(data)


def metric_from_dict(data: Mapping[str, Any]) -> Metric | Mahalanobis:
    """A metric of what its `to_dict` says."""
    return Mahalanobis.from_dict(data) if data.get("kind") == Mahalanobis.kind else Metric.from_dict(data)


def _refuse_free(metric: Metric | Mahalanobis, free: list[str]) -> None:
    both = next((name for name in metric.names if name in free), None)
    if both is not None:
        raise SpecError(f"feature {both!r} is both free and in the metric", hint="keep one of the two")


_ORDER_WORDS = (("more", "up"), ("less", "down"))
_WITH_EQUAL = {"more": "at least as much", "less": "at most as much"}


def _pairs_text(pairs: LevelPairs) -> str:
    return " or ".join(f"{level_text(first)} and {level_text(second)}" for first, second in pairs)


def _tolerance_text(tolerance: Tolerance) -> str:
    return tolerance if isinstance(tolerance, str) else number_text(tolerance)


def _resolved_text(given: Tolerance, relation: Relation, feature: Feature) -> str:
    exact = relation.tolerance if relation.tolerance is not None else Fraction(0)
    if isinstance(feature, Ordinal) and relation.kind == "pairs":  # a level may be missing
        exact = Fraction(given)
    if isinstance(feature, Ordinal):
        return f"{exact} step{'' if exact == 1 else 's'}"
    if isinstance(given, str):
        return f"{given} ({figures.number_text(float(exact))})"
    return number_text(exact)


def _join_names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
