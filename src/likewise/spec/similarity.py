"""Similarity: for each feature, how far two similar individuals may differ.

========  ============================================  ==============================
relation  two individuals are similar only if           written
========  ============================================  ==============================
same      their values are equal                        by saying nothing
within t  their values are at most t apart              ``within={"age": 2}``
          (steps between levels for `Ordinal`)          ``within={"income": "5%"}``
pairs     their levels are equal or one allowed pair    ``pairs={"job": [("skilled", "unskilled")]}``
free      anything the space allows                     ``free=["sex"]``
========  ============================================  ==============================

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
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from likewise.errors import DataError, SpecError, closest
from likewise.html_tables import table
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Level, Ordinal, level_text
from likewise.spec.numbers import exact_decimal, number_text, python_scalar, shown

if TYPE_CHECKING:
    from likewise.spec.space import Space

Tolerance = int | float | str
LevelPairs = tuple[tuple[Level, Level], ...]


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

    Examples
    --------
    >>> from likewise import Similarity
    >>> similar = Similarity(free=["sex"], within={"age": 2}, pairs={"job": [("skilled", "unskilled")]})
    >>> similar.names
    ('sex', 'age', 'job')
    """

    __slots__ = ("_free", "_pairs", "_within")

    _free: tuple[str, ...]
    _within: dict[str, Tolerance]
    _pairs: dict[str, LevelPairs]

    def __init__(
        self,
        *,
        free: Iterable[str] = (),
        within: Mapping[str, Tolerance] | None = None,
        pairs: Mapping[str, Iterable[tuple[Level, Level]]] | None = None,
    ) -> None:
        names = list(_checked_names(free))
        allowed = _checked_pairs(pairs)
        for name in allowed:
            if name in names:
                raise SpecError(f"feature {name!r} is both free and in pairs", hint="keep one of the two")
        tolerances: dict[str, Tolerance] = {}
        for name, tolerance in _checked_within(within):
            if name in names:
                raise SpecError(f"feature {name!r} is both free and within", hint="keep one of the two")
            if name in allowed:
                raise SpecError(f"feature {name!r} is both within and in pairs", hint="keep one of the two")
            if name in tolerances:
                raise SpecError(f"feature {name!r} is given twice in within")
            tolerances[name] = tolerance
        unbounded = [name for name, tolerance in tolerances.items() if tolerance == math.inf]
        object.__setattr__(self, "_free", (*names, *unbounded))
        object.__setattr__(
            self, "_within", {name: t for name, t in tolerances.items() if name not in unbounded}
        )
        object.__setattr__(self, "_pairs", allowed)

    @classmethod
    def groups(cls, groups: Iterable[tuple[Iterable[str], Tolerance]]) -> Similarity:
        """The paper's form: ``groups([(["sex"], math.inf), (["age", "income"], 2.0)])``."""
        within: dict[str, Tolerance] = {}
        for group in groups:
            if not isinstance(group, tuple | list) or len(group) != 2:
                raise SpecError(
                    f"a group is a pair (names, threshold), got {shown(group)}",
                    hint='(["age", "income"], 2.0)',
                )
            for name in _checked_names(group[0]):
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
    def names(self) -> tuple[str, ...]:
        """All features that are said to differ."""
        return (*self._free, *self._within, *self._pairs)

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
                    f"similarity: no feature {name!r} in the space{closest(name, space.names)}",
                    hint=f"the features are {', '.join(space.names[:12])}{', ...' if len(space) > 12 else ''}",
                )
        return tuple(self._relation(name, feature) for name, feature in space.features.items())

    def _relation(self, name: str, feature: Feature) -> Relation:
        if name in self._free:
            return Relation("same") if feature.size == 1 or _fixed(feature) else Relation("free")
        if name in self._pairs:
            return _paired(name, self._pairs[name], feature)
        if name not in self._within:
            return Relation("same")
        tolerance = _exact_tolerance(name, self._within[name], feature)
        if tolerance == 0 or _span(feature) == 0:
            return Relation("same")
        if feature.missing:
            return _beside_missing(feature, min(tolerance, _span(feature)))
        return Relation("free") if tolerance >= _span(feature) else Relation("within", tolerance)

    def describe(self, space: Space | None = None) -> str:
        """In words: ``differ only in sex, by at most 2 in age``."""
        free, within = list(self._free), [(name, _tolerance_text(t)) for name, t in self._within.items()]
        paired = [(name, _pairs_text(pairs)) for name, pairs in self._pairs.items()]
        if space is not None:
            relations = dict(zip(space.names, self.relations(space), strict=True))
            free = [name for name, relation in relations.items() if relation.kind == "free"]
            within = [
                (name, _resolved_text(self._within[name], relation, space[name]))
                for name, relation in relations.items()
                if relation.kind == "within" or (relation.kind == "pairs" and name in self._within)
            ]
            paired = [(name, text) for name, text in paired if relations[name].kind == "pairs"]
        parts = [_joined(free)] if free else []
        parts += [f"by at most {tolerance} in {name}" for name, tolerance in within]
        parts += [f"between {text} in {name}" for name, text in paired]
        if not parts:
            return "differ in nothing"
        return f"differ only {'in ' if free else ''}{', '.join(parts)}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: ``{"free": [...], "within": {...}}``, with ``"pairs"`` where there are any."""
        content: dict[str, Any] = {"free": list(self._free), "within": dict(self._within)}
        if self._pairs:
            content["pairs"] = {name: [list(pair) for pair in pairs] for name, pairs in self._pairs.items()}
        return content

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Similarity:
        """The inverse of `to_dict`."""
        for key in data:
            if key not in KEYS:
                raise SpecError(f"similarity: unknown key {key!r}{closest(key, KEYS)}")
        return cls(free=data.get("free", ()), within=data.get("within"), pairs=data.get("pairs"))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Similarity is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Similarity is immutable: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Similarity):
            return NotImplemented
        mine = (set(self._free), self._within, _unordered(self._pairs))
        return mine == (set(other._free), other._within, _unordered(other._pairs))

    def __hash__(self) -> int:
        pairs = frozenset(_unordered(self._pairs).items())
        return hash((frozenset(self._free), frozenset(self._within.items()), pairs))

    def __reduce__(self) -> tuple[Any, ...]:
        return Similarity.from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        parts = [f"free={list(self._free)!r}"] if self._free else []
        parts += [f"within={self._within!r}"] if self._within else []
        pairs = {name: list(pairs) for name, pairs in self._pairs.items()}
        parts += [f"pairs={pairs!r}"] if pairs else []
        return f"Similarity({', '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = [(name, "free") for name in self._free]
        rows += [(name, f"within {_tolerance_text(t)}") for name, t in self._within.items()]
        rows += [(name, f"between {_pairs_text(pairs)}") for name, pairs in self._pairs.items()]
        rows.append(("all others", "same"))
        return table(f"similar individuals {self.describe()}", rows, columns=("feature", "may differ"))


KEYS = ("free", "within", "pairs")


def _checked_names(names: object) -> tuple[str, ...]:
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


def _checked_within(within: object) -> list[tuple[str, Tolerance]]:
    if within is None:
        return []
    if not isinstance(within, Mapping):
        raise SpecError(
            f"within must map names to tolerances, got {shown(within)}",
            hint='within={"age": 2, "income": "5%"}',
        )
    names = _checked_names(list(within))
    return [
        (name, _checked_tolerance(name, given)) for name, given in zip(names, within.values(), strict=True)
    ]


def _checked_tolerance(name: str, given: object) -> Tolerance:
    tolerance = python_scalar(given)
    if isinstance(tolerance, str):
        _percent(name, tolerance)
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


def _checked_pairs(pairs: object) -> dict[str, LevelPairs]:
    if pairs is None:
        return {}
    if not isinstance(pairs, Mapping):
        raise SpecError(f"pairs must map names to pairs of levels, got {shown(pairs)}", hint=_PAIRS_HINT)
    names = _checked_names(list(pairs))
    return {
        name: _checked_level_pairs(name, given) for name, given in zip(names, pairs.values(), strict=True)
    }


_PAIRS_HINT = 'pairs={"job": [("skilled", "unskilled")]}'


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


def _paired(name: str, pairs: LevelPairs, feature: Feature) -> Relation:
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


def _unordered(pairs: Mapping[str, LevelPairs]) -> dict[str, frozenset[frozenset[Level]]]:
    return {name: frozenset(map(frozenset, given)) for name, given in pairs.items()}


def _pairs_text(pairs: LevelPairs) -> str:
    return " or ".join(f"{level_text(first)} and {level_text(second)}" for first, second in pairs)


def _percent(name: str, text: str) -> Fraction:
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


def _span(feature: Feature) -> Fraction:
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


def _exact_tolerance(name: str, given: Tolerance, feature: Feature) -> Fraction:
    if isinstance(given, str):
        if isinstance(feature, Categorical | Ordinal):
            raise SpecError(
                f"within: a percentage ({given}) means nothing for {name!r}, which has levels",
                hint="for an Ordinal give a number of steps; otherwise make it free",
            )
        tolerance = _percent(name, given) * _span(feature)
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
    return Fraction(math.floor(tolerance)) if isinstance(feature, Integer) else tolerance


def _tolerance_text(tolerance: Tolerance) -> str:
    return tolerance if isinstance(tolerance, str) else number_text(tolerance)


def _resolved_text(given: Tolerance, relation: Relation, feature: Feature) -> str:
    exact = relation.tolerance if relation.tolerance is not None else Fraction(0)
    if isinstance(feature, Ordinal) and relation.kind == "pairs":  # a level may be missing
        exact = Fraction(given)
    if isinstance(feature, Ordinal):
        return f"{exact} step{'' if exact == 1 else 's'}"
    if isinstance(given, str):
        return f"{given} ({float(exact):.6g})"
    return number_text(exact)


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
