"""Metrics: distances between individuals in several features together, as people give them.

=========  ==================================================  =============================================
metric     two individuals are within a radius r if            written
=========  ==================================================  =============================================
l1         the weighted differences add up to at most r        ``Metric("l1", weights={"age": "1/10"})``
l2         their squares add up to at most r^2                 ``Metric("l2", weights={"age": 0.1})``
linf       none of them is above r                             ``Metric("linf", weights={"age": 0.1})``
=========  ==================================================  =============================================

A weighted difference is weight * |x_k - x'_k| for numbers and for steps between the levels of an `Ordinal`, and the cost of two levels for what has levels: one number for any two,
or a number for each two that may differ. With ``scale="range"`` the differences of numbers are divided by hi - lo first. Numbers are exact: a float is the rational it stores, and ``"1/10"`` and ``"0.1"`` are a tenth.

`Metric.resolve` turns the words into relations of single features (no weighted difference is above r) and a `Distance` over codes, where those do not say it all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from likewise.errors import DataError, SpecError, suggest_name
from likewise.spec.distance import Cost, Distance
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Ordinal
from likewise.spec.levels import Level, level_text
from likewise.spec.numbers import exact_decimal, number_text, python_scalar, short_repr
from likewise.spec.relations import Relation, span

if TYPE_CHECKING:
    from likewise.spec.space import Space

Amount = int | float | str
LevelCosts = tuple[tuple[Level, Level, Amount], ...]
MetricKind = Literal["l1", "l2", "linf"]
KINDS = ("l1", "l2", "linf")
METRIC_KEYS = ("kind", "weights", "costs", "scale")
_COSTS_HINT = 'costs={"job": 1} or costs={"job": {("skilled", "unskilled"): 0.5}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedMetric:
    """One relation for each feature that the metric names, and what they keep together, if that is more."""

    relations: Mapping[str, Relation]
    distance: Distance | None


class Metric:
    """A weighted L1, L2 or L-infinity distance between individuals.

    Parameters
    ----------
    kind : {"l1", "l2", "linf"}
        How weighted differences are put together: their sum, the root of the sum of their squares, the largest.
    weights : mapping of str to number or str
        What a difference of 1 counts, for numbers, and a step, for an `Ordinal`; above 0.
    costs : mapping of str to number, str or mapping of pairs
        What two different levels are apart: one number for any two, or ``{("skilled", "unskilled"): 0.5}``; two levels that are not named may not differ.
    scale : {"range"}, optional
        Divides differences of numbers by hi - lo of their feature.

    Examples
    --------
    >>> from likewise import Metric, Similarity
    >>> near = Metric("l1", weights={"age": "1/10", "income": "1/5000"}, costs={"job": 1})
    >>> Similarity(free=["sex"], metric=near, radius=1).describe()
    'differ only in sex, and by at most 1 in 1/10 age + 1/5000 income + 1 if job differs'
    """

    __slots__ = ("_costs", "_kind", "_scale", "_weights")

    _kind: MetricKind
    _weights: dict[str, Amount]
    _costs: dict[str, Amount | LevelCosts]
    _scale: str | None

    def __init__(
        self,
        kind: MetricKind,
        *,
        weights: Mapping[str, Amount] | None = None,
        costs: Mapping[str, Amount | Mapping[tuple[Level, Level], Amount] | Iterable[Any]] | None = None,
        scale: Literal["range"] | None = None,
    ) -> None:
        if kind not in KINDS:
            raise SpecError(
                f"{short_repr(kind)} is no metric{suggest_name(kind, KINDS)}", hint="l1, l2 or linf"
            )
        if scale not in (None, "range"):
            raise SpecError(f'scale must be "range" or left out, got {short_repr(scale)}')
        weighed = {name: _checked(name, amount, "weight") for name, amount in _named(weights, "weights")}
        cost = {name: _checked_costs(name, given) for name, given in _named(costs, "costs")}
        twice = next((name for name in weighed if name in cost), None)
        if twice is not None:
            raise SpecError(f"feature {twice!r} has both a weight and costs", hint="keep one of the two")
        if not weighed and not cost:
            raise SpecError("a metric names at least one feature", hint='weights={"age": 0.1}')
        for name, value in (("_kind", kind), ("_weights", weighed), ("_costs", cost), ("_scale", scale)):
            object.__setattr__(self, name, value)

    @property
    def kind(self) -> MetricKind:
        """How weighted differences are put together."""
        return self._kind

    @property
    def weights(self) -> Mapping[str, Amount]:
        """What differences of numbers count, read only."""
        return MappingProxyType(self._weights)

    @property
    def costs(self) -> Mapping[str, Amount | LevelCosts]:
        """What differences of levels cost, read only."""
        return MappingProxyType(self._costs)

    @property
    def scale(self) -> str | None:
        """What differences of numbers are divided by."""
        return self._scale

    @property
    def names(self) -> tuple[str, ...]:
        """All features that count."""
        return (*self._weights, *self._costs)

    # -- over a space ---------------------------------------------------------------------------------------------

    def resolve(self, space: Space, radius: Fraction) -> ResolvedMetric:
        """Relations of single features, and the distance that they keep together."""
        costs = {name: self._cost(name, space[name], radius + 1) for name in self.names}
        relations = {name: _reach(space[name], cost, radius) for name, cost in costs.items()}
        kept = [name for name, relation in relations.items() if relation.kind != "same"]
        if self._kind == "linf" or len(kept) < 2:
            return ResolvedMetric(relations=relations, distance=None)
        power = 1 if self._kind == "l1" else 2
        counted = tuple(costs[name] if name in kept else None for name in space.names)
        return ResolvedMetric(
            relations=relations, distance=Distance(power=power, costs=counted, bound=radius**power)
        )

    def all_costs(self, space: Space) -> dict[str, Cost]:
        """What differences cost, by feature; -1 for two levels that may not differ."""
        return {name: self._cost(name, space[name], Fraction(-1)) for name in self.names}

    def _cost(self, name: str, feature: Feature, never: Fraction) -> Cost:
        """What a difference costs; `never` is more than any pair may."""
        if feature.missing and isinstance(feature, Continuous | Integer | Ordinal):
            raise SpecError(
                f"metric: {name!r} may be missing, and what is missing is at no distance from a number",
                hint="leave it out of the metric: then it is the same, or name it in free or within",
            )
        if name in self._costs:
            return _level_cost(name, feature, self._costs[name], never)
        if isinstance(feature, Categorical):
            raise SpecError(
                f"metric: {name!r} is categorical, its levels have no distance by themselves",
                hint=f"give costs={{{name!r}: 1}}, or a cost for each two levels",
            )
        weight = exact_amount(self._weights[name])
        if self._scale == "range" and not isinstance(feature, Ordinal):
            width = span(feature)
            weight = weight / width if width else weight
        return Cost(each=weight)

    # -- words ----------------------------------------------------------------------------------------------------

    def describe(self, radius: Amount) -> str:
        """In words: ``by at most 1 in 1/10 age + 1 if job differs``."""
        if self._kind == "linf":
            return f"by at most {amount_text(radius)} in each of {', '.join(self._parts())}"
        return f"by at most {amount_text(radius)} in {self.describe_sum()}"

    def describe_sum(self) -> str:
        """What is measured, in words: ``1/10 age + 1 if job differs``."""
        how = {"l1": "", "l2": "the root of the sum of squares of ", "linf": "the largest of "}[self._kind]
        return f"{how}{(' + ' if not how else ', ').join(self._parts())}"

    def _parts(self) -> list[str]:
        of = "/range" if self._scale == "range" else ""
        parts = [f"{amount_text(weight)} {name}{of}" for name, weight in self._weights.items()]
        for name, cost in self._costs.items():
            if not isinstance(cost, tuple):
                parts.append(f"{amount_text(cost)} if {name} differs")
                continue
            table = ", ".join(f"{level_text(a)} {level_text(b)} {amount_text(c)}" for a, b, c in cost)
            parts.append(f"the costs of {name} ({table})")
        return parts

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: ``{"kind": "l1", "weights": {...}, "costs": {...}}``."""
        content: dict[str, Any] = {"kind": self._kind, "weights": dict(self._weights)}
        if self._costs:
            content["costs"] = {
                name: [list(entry) for entry in cost] if isinstance(cost, tuple) else cost
                for name, cost in self._costs.items()
            }
        if self._scale is not None:
            content["scale"] = self._scale
        return content

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Metric:
        """The inverse of `to_dict`."""
        for key in data:
            if key not in METRIC_KEYS:
                raise SpecError(f"metric: unknown key {key!r}{suggest_name(key, METRIC_KEYS)}")
        if "kind" not in data:
            raise SpecError("metric: kind is missing", hint='kind = "l1", "l2" or "linf"')
        return cls(
            data["kind"], weights=data.get("weights"), costs=data.get("costs"), scale=data.get("scale")
        )

    def renamed(self, names: Mapping[str, str]) -> Metric:
        """The same with other names for features."""
        content = self.to_dict()
        for key in ("weights", "costs"):
            content[key] = {names.get(name, name): value for name, value in content.get(key, {}).items()}
        return Metric.from_dict(content)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Metric is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Metric is immutable: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Metric) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._kind, tuple(self._weights.items()), tuple(self._costs.items()), self._scale))

    def __reduce__(self) -> tuple[Any, ...]:
        return Metric.from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        parts = [repr(self._kind)]
        parts += [f"weights={self._weights!r}"] if self._weights else []
        costs = {
            name: {(a, b): c for a, b, c in cost} if isinstance(cost, tuple) else cost
            for name, cost in self._costs.items()
        }
        parts += [f"costs={costs!r}"] if costs else []
        parts += [f"scale={self._scale!r}"] if self._scale else []
        return f"Metric({', '.join(parts)})"


def exact_amount(given: Amount) -> Fraction:
    """A number as it was given, exactly; texts are decimals or fractions of them."""
    if not isinstance(given, str):
        return Fraction(given)
    if given.startswith("-"):
        return -exact_amount(given[1:])
    top, slash, bottom = given.partition("/")
    below = exact_decimal(bottom.strip()) if slash else Fraction(1)
    if not below:
        raise SpecError(f"{given!r} is no number")
    return exact_decimal(top.strip()) / below


def checked_amount(given: object, what: str) -> Amount:
    """A finite number that is not negative, or a text of one; `what` names it in errors."""
    amount = python_scalar(given)
    hint = 'for instance 0.1 or "1/10"'
    if isinstance(amount, bool) or not isinstance(amount, int | float | str):
        raise SpecError(f"{what} must be a number, got {short_repr(given)}", hint=hint)
    if isinstance(amount, float) and not math.isfinite(amount):
        raise SpecError(f"{what} must be finite, got {amount!r}")
    try:
        exact = exact_amount(amount)
    except SpecError:
        raise SpecError(f"{what}: {short_repr(given)} is no number", hint=hint) from None
    if exact < 0:
        raise SpecError(f"{what} is negative: {amount_text(amount)}")
    return amount.strip() if isinstance(amount, str) else amount


def checked_entry(given: object, what: str) -> Amount:
    """A finite number of any sign, or a text of one."""
    entry = python_scalar(given)
    if isinstance(entry, int | float) and not isinstance(entry, bool):
        checked_amount(abs(entry), what)
        return entry
    if isinstance(entry, str) and entry.strip().startswith("-"):
        checked_amount(entry.strip()[1:], what)
        return entry.strip()
    return checked_amount(entry, what)


def _named(given: object, what: str) -> Iterable[tuple[str, Any]]:
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise SpecError(f"{what} must map names to numbers, got {short_repr(given)}")
    strange = next((name for name in given if not isinstance(name, str)), None)
    if strange is not None:
        raise SpecError(f"{what}: expected the name of a feature, got {short_repr(strange)}")
    return given.items()


def _checked(name: str, given: object, what: str) -> Amount:
    amount = checked_amount(given, f"the {what} of {name!r}")
    if exact_amount(amount) == 0:
        raise SpecError(
            f"the {what} of {name!r} is 0: differences in it would not count",
            hint=f"leave it out of the metric and name it in free: free=[{name!r}]",
        )
    return amount


def _checked_costs(name: str, given: object) -> Amount | LevelCosts:
    if isinstance(given, str) or not isinstance(given, Iterable):
        return _checked(name, given, "cost")
    entries = (
        [(*pair, cost) if isinstance(pair, tuple) else (pair, cost) for pair, cost in given.items()]
        if isinstance(given, Mapping)
        else list(given)
    )
    found: list[tuple[Level, Level, Amount]] = []
    for entry in entries:
        if isinstance(entry, str) or not isinstance(entry, Iterable) or len(parts := list(entry)) != 3:
            raise SpecError(
                f"costs: {short_repr(entry)} is no cost of two levels of {name!r}", hint=_COSTS_HINT
            )
        first, second = (python_scalar(level) for level in parts[:2])
        if first == second or any(
            level is not None and not isinstance(level, str | bool | int | float) for level in (first, second)
        ):
            raise SpecError(
                f"costs: {short_repr(entry)} does not name two levels of {name!r}", hint=_COSTS_HINT
            )
        if any({first, second} == {a, b} for a, b, _ in found):
            raise SpecError(f"costs: two levels of {name!r} have two costs: {short_repr(entry)}")
        found.append((first, second, checked_amount(parts[2], f"a cost of {name!r}")))  # type: ignore[arg-type]
    if not found:
        raise SpecError(f"costs: no costs are given for {name!r}", hint=_COSTS_HINT)
    return tuple(found)


def _level_cost(name: str, feature: Feature, given: Amount | LevelCosts, never: Fraction) -> Cost:
    if isinstance(feature, Continuous | Integer):
        raise SpecError(
            f"metric: {name!r} is {feature.kind}, it has no levels", hint=f"weights={{{name!r}: 0.1}}"
        )
    if not isinstance(given, tuple):
        return Cost(unequal=exact_amount(given))
    table = [[never] * feature.size for _ in range(feature.size)]
    for i in range(feature.size):
        table[i][i] = Fraction(0)
    known: dict[frozenset[int], Fraction] = {}
    for first, second, amount in given:
        try:
            i, j = feature.position(first), feature.position(second)
        except DataError as error:
            raise SpecError(f"costs: feature {name!r}: {error.message}", hint=error.hint) from None
        cost = exact_amount(amount)
        if known.setdefault(frozenset((i, j)), cost) != cost:  # None and NaN are one level
            raise SpecError(f"costs: two levels of {name!r} have two costs")
        table[i][j] = table[j][i] = cost
    return Cost(table=tuple(map(tuple, table)))


def _reach(feature: Feature, cost: Cost, radius: Fraction) -> Relation:
    """How far a feature may differ if nothing else does."""
    if feature.size == 1 or (isinstance(feature, Continuous) and feature.lo == feature.hi):
        return Relation("same")
    if cost.each is not None:
        return tolerance_relation(feature, radius / cost.each)
    if cost.unequal is not None:
        return Relation("free" if cost.unequal <= radius else "same")
    table = cost.table or ()
    allowed = [(i, j) for j in range(feature.size or 0) for i in range(j) if table[i][j] <= radius]
    if len(allowed) == (feature.size or 0) * ((feature.size or 0) - 1) // 2:
        return Relation("free")
    return Relation("pairs", allowed=tuple(sorted(allowed))) if allowed else Relation("same")


def tolerance_relation(feature: Feature, tolerance: Fraction) -> Relation:
    """The smallest relation of a tolerance in codes; of whole numbers and steps only whole ones count."""
    if not isinstance(feature, Continuous):
        tolerance = Fraction(math.floor(tolerance))
    if tolerance == 0:
        return Relation("same")
    return Relation("free") if tolerance >= span(feature) else Relation("within", tolerance)


def intersect_relations(one: Relation, other: Relation) -> Relation:
    """What both allow, in its smallest form."""
    kinds = {one.kind, other.kind}
    if "same" in kinds:
        return Relation("same")
    if one.kind == "free":
        return other
    if other.kind == "free":
        return one
    if kinds == {"within"}:
        return min(one, other, key=lambda relation: relation.tolerance or Fraction(0))
    listed, limit = (one, other) if one.kind == "pairs" else (other, one)
    allowed = tuple(pair for pair in listed.allowed if limit.allows(*pair))
    return Relation("pairs", allowed=allowed) if allowed else Relation("same")


def amount_text(amount: Amount) -> str:
    """A number as it was given, for people."""
    return amount if isinstance(amount, str) else number_text(amount)
