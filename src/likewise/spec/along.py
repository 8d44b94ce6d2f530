"""Along: what changes in a pair when something else does, as a user's structural equation says it.

    along={"income": Along("sex", {("male", "female"): -3000})}

says of two who are similar and of whom the first is male and the second female: x'.income - x.income = -3000. The other way round it is +3000, as pairs have no first and second; where sex is the same, or
goes between levels that are not named, income is the same as well. A tolerance of income (`within`) leaves as much room around each of these. With a `rate` a number goes along with a whole number:
x'.experience - x.experience = rate (x'.age - x.age).

A pair belongs to one *part*: one *step* of every feature that others go along with. In a part every feature has an ordinary relation (`parts_of`), and similarity is the union of the parts; bounds, proofs
and judges are about one part at a time. Who would leave the declared range of a feature by a shift is nobody, and no pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from likewise.errors import DataError, SpecError
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Level, Ordinal, level_text
from likewise.spec.metric import Amount, amount_text, checked_entry, exact_amount
from likewise.spec.numbers import python_scalar, short_repr
from likewise.spec.relations import (
    Relation,
    Tolerance,
    exact_tolerance,
    limits_relation,
    span,
    validate_names,
)

if TYPE_CHECKING:
    from likewise.spec.space import Space

Step = tuple[int, ...]  # (): equal; (i, i'): from level to level; (d,): by so much
Band = tuple[Fraction, Fraction]
Shift = tuple[Level, Level, Amount, Amount]  # from a level to another one, by at least and at most

MOST_PARTS = 400  # of a similarity: each is searched and proved by itself
ALONG_KEYS = ("with", "shift", "rate")
_HINT = 'Along("sex", {("male", "female"): -3000})'


@dataclass(frozen=True, slots=True, init=False)
class Along:
    """How a feature changes along with another one.

    Parameters
    ----------
    feature : str
        The other one, which may differ.
    shift : mapping of pairs of levels to numbers
        By how much this feature changes where the other one goes from the first level to the second: a number, or two, at least and at most. The other way round it changes by the opposite.
    rate : number or str
        Of another one that is a whole number within a tolerance (or ordinal, by steps): by how much this feature changes for each 1 that the other one does.

    Examples
    --------
    >>> from likewise import Along, Similarity
    >>> similar = Similarity(free=["sex"], along={"income": Along("sex", {("male", "female"): -3000})})
    >>> print(similar.describe())
    differ only in sex, and along with sex in income (-3000 from male to female)
    """

    feature: str
    shift: tuple[Shift, ...]
    rate: Amount | None

    def __init__(
        self,
        feature: str,
        shift: Mapping[tuple[Level, Level], Amount | Sequence[Amount]] | Iterable[Any] | None = None,
        *,
        rate: Amount | None = None,
    ) -> None:
        name = python_scalar(feature)
        if not isinstance(name, str):
            raise SpecError(f"along: expected the name of a feature, got {short_repr(feature)}", hint=_HINT)
        if (shift is None) == (rate is None):
            raise SpecError(f"along: give a shift or a rate of {name!r}, one of the two", hint=_HINT)
        object.__setattr__(self, "feature", name)
        object.__setattr__(self, "shift", () if shift is None else _checked_shifts(name, shift))
        object.__setattr__(self, "rate", None if rate is None else checked_entry(rate, "along: the rate"))

    @property
    def words(self) -> str:
        """By how much, and when: ``-3000 from male to female``."""
        if self.rate is not None:
            return f"{amount_text(self.rate)} for each 1 of {self.feature}"
        return ", ".join(
            f"{_ends_text(low, high)} from {level_text(a)} to {level_text(b)}"
            for a, b, low, high in self.shift
        )

    def shift_between(self, leader: Feature, code: Fraction, other: Fraction) -> Band:
        """By how much this feature changes, at least and at most, where the other one goes from one code to another; without room around it."""
        if self.rate is not None:
            grown = exact_amount(self.rate) * (other - code)
            return grown, grown
        return _bands_by_levels(self, leader).get((int(code), int(other)), (Fraction(0), Fraction(0)))

    def largest_shift(self, leader: Feature) -> Fraction:
        """The most that this feature changes by, in size, wherever the other one goes."""
        if self.rate is not None:
            return abs(exact_amount(self.rate)) * span(leader)
        return max(high for _, high in _bands_by_levels(self, leader).values())

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: ``{"with": "sex", "shift": [["male", "female", -3000]]}``."""
        if self.rate is not None:
            return {"with": self.feature, "rate": self.rate}
        rows = [[a, b, low, *([] if low == high else [high])] for a, b, low, high in self.shift]
        return {"with": self.feature, "shift": rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Along:
        """The inverse of `to_dict`."""
        from likewise.errors import suggest_name

        for key in data:
            if key not in ALONG_KEYS:
                raise SpecError(f"along: unknown key {key!r}{suggest_name(key, ALONG_KEYS)}")
        if "with" not in data:
            raise SpecError(
                "along: with is missing", hint='with = "sex": what this feature changes along with'
            )
        return cls(data["with"], data.get("shift"), rate=data.get("rate"))

    def __reduce__(self) -> tuple[Any, ...]:
        return Along.from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        if self.rate is not None:
            return f"Along({self.feature!r}, rate={self.rate!r})"
        shifts = {(a, b): low if low == high else (low, high) for a, b, low, high in self.shift}
        return f"Along({self.feature!r}, {shifts!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedAlong:
    """The same in codes of a space: bands of x' - x by steps, mirrored, and how far it may differ at all other steps."""

    feature: int
    leader: int
    bands: tuple[tuple[Step, Band], ...]
    otherwise: Fraction

    def band(self, step: Step) -> Band:
        """From where to where x' - x may be."""
        return dict(self.bands).get(step, (-self.otherwise, self.otherwise))

    def relation(self, step: Step) -> Relation:
        """The same as a relation."""
        low, high = self.band(step)
        return limits_relation(low, high) if low or high else Relation("same")

    @property
    def by_difference(self) -> bool:
        """Whether steps are differences, not pairs of levels."""
        return len(self.bands[0][0]) == 1

    @property
    def hull(self) -> Relation:
        """What all steps together allow at most."""
        return Relation("within", max(self.otherwise, *(high for _, (_, high) in self.bands)))


def validate_along(along: object) -> dict[str, Along]:
    """Names with what they change along with."""
    if along is None:
        return {}
    if not isinstance(along, Mapping) or not all(isinstance(one, Along) for one in along.values()):
        raise SpecError(
            f"along must map names to likewise.Along, got {short_repr(along)}",
            hint='along={"income": Along("sex", {("male", "female"): -3000})}',
        )
    return dict(zip(validate_names(list(along)), along.values(), strict=True))


def check_along(along: Mapping[str, Along], *, names: Sequence[Iterable[str]], alone: bool) -> None:
    """Refuse equations that say nothing, or that contradict what else is said; `names` are those of features that are free, within a tolerance and in pairs, `alone`: nothing has an order or a metric."""
    free, within, pairs = map(tuple, names)
    if not alone:
        raise SpecError(
            "features that change along with others are not taken together with an order or a metric",
            hint="leave out along, or order, metric and radius",
        )
    for name, one in along.items():
        if name in free or name in pairs:
            raise SpecError(
                f"feature {name!r} both changes along and is {'free' if name in free else 'in pairs'}",
                hint="keep one of the two",
            )
        if one.feature in along:
            raise SpecError(
                f"along: {name!r} changes along with {one.feature!r}, which changes along itself",
                hint="say what it is that both change along with",
            )
        if one.feature not in (*free, *within, *pairs):
            raise SpecError(
                f"along: {name!r} changes along with {one.feature!r}, which is the same",
                hint=f"let it differ: free=[{one.feature!r}]",
            )


def measure_leaders(along: Mapping[str, Along], space: Space, found: list[Relation]) -> None:
    """Give whole numbers that may differ in any way, and that others have a rate of, the tolerance that this is."""
    for one in along.values():
        j, leader = space.names.index(one.feature), space[one.feature]
        if one.rate is not None and found[j].kind == "free" and isinstance(leader, Integer | Ordinal):
            found[j] = Relation("within", span(leader))


def resolve_all(
    along: Mapping[str, Along], within: Mapping[str, Tolerance], space: Space, found: Sequence[Relation]
) -> tuple[ResolvedAlong, ...]:
    """All equations over a space, with the tolerances that leave room around them; `found` are the relations of the features that they go along with."""
    told = []
    for name, one in along.items():
        leading = found[space.names.index(one.feature)]
        if leading.kind == "same":
            raise SpecError(f"along: {one.feature!r} cannot differ in this space, so {name!r} never changes")
        tolerance = exact_tolerance(name, within.get(name, 0), space[name])
        told.append(resolve_along(name, one, space, leading, tolerance))
    if len({(one.leader, one.by_difference) for one in told}) != len({one.leader for one in told}):
        raise SpecError(
            "along: two features change along with one, by levels and by a rate",
            hint="give shifts for both",
        )
    return tuple(told)


def resolve_along(
    name: str, along: Along, space: Space, leading: Relation, tolerance: Fraction
) -> ResolvedAlong:
    """An equation over a space: `leading` is the relation of the feature that it goes along with, `tolerance` the room around it."""
    feature, leader = space[name], space[along.feature]
    if isinstance(feature, Categorical):
        raise SpecError(
            f"along: {name!r} is categorical, its levels cannot be shifted",
            hint=f"make it Ordinal, and shift by steps: space.replace({{{name!r}: Ordinal([...])}})",
        )
    if feature.missing:
        raise SpecError(f"along: {name!r} may be missing, which cannot be shifted", hint="impute a number")
    by_step = (
        _bands_by_levels(along, leader)
        if along.rate is None
        else _bands_by_rate(name, along, exact_amount(along.rate), leader, leading)
    )
    bands = [(step, _whole_band(name, feature, band, tolerance)) for step, band in sorted(by_step.items())]
    for _, (low, high) in bands:
        if low > span(feature) or high < -span(feature):
            raise SpecError(
                f"along: a shift of {name!r} by {amount_text_exact(low)} leads out of its range from anywhere",
                hint=f"{name!r} is at most {amount_text_exact(span(feature))} wide in this space",
            )
    if not any(end for _, band in bands for end in band):
        raise SpecError(
            f"along: {name!r} never changes by that", hint=f"leave it out: then {name!r} is the same"
        )
    names = space.names
    # Around a shift that is not whole a tolerance reaches whole numbers that its whole part does not; around none it does not.
    whole = tolerance if isinstance(feature, Continuous) else Fraction(math.floor(tolerance))
    return ResolvedAlong(
        feature=names.index(name),
        leader=names.index(along.feature),
        bands=tuple(bands),
        otherwise=whole,
    )


def parts_of(
    relations: tuple[Relation, ...], along: Sequence[ResolvedAlong], space: Space
) -> tuple[tuple[Relation, ...], ...]:
    """The similarities of all parts: one step of every feature that others go along with; `relations` are those of all other features."""
    differences = {one.leader: one.by_difference for one in along}
    leaders = sorted(differences)
    steps = [list(_steps(space[space.names[j]], relations[j], by_difference=differences[j])) for j in leaders]
    count = math.prod(map(len, steps))
    if count > MOST_PARTS:
        raise SpecError(
            f"along: what {', '.join(space.names[j] for j in leaders)} may differ by falls into {count:,} cases, which are proved one by one",
            hint=f"at most {MOST_PARTS:,} are taken: name the levels that may differ in pairs, or a smaller tolerance",
        )
    return tuple(
        _part(relations, along, dict(zip(leaders, chosen, strict=True))) for chosen in product(*steps)
    )


def _part(
    relations: tuple[Relation, ...], along: Sequence[ResolvedAlong], chosen: Mapping[int, Step]
) -> tuple[Relation, ...]:
    found = list(relations)
    for j, step in chosen.items():
        if not step:
            found[j] = Relation("same")
        elif len(step) == 2:
            found[j] = Relation("free", fixed=(step[0], step[1]))
        else:
            found[j] = limits_relation(Fraction(step[0]), Fraction(step[0]))
    for one in along:
        found[one.feature] = one.relation(chosen[one.leader])
    return tuple(found)


def _steps(feature: Feature, relation: Relation, *, by_difference: bool) -> Iterator[Step]:
    """Equal first, then all others in increasing order."""
    yield ()
    if by_difference:
        reach = int(min(relation.tolerance or Fraction(0), span(feature)))
        yield from ((d,) for d in range(-reach, reach + 1) if d)
        return
    places = range(feature.size or 0)
    yield from ((i, j) for i in places for j in places if i != j and relation.allows(i, j))


def _bands_by_levels(along: Along, leader: Feature) -> dict[Step, Band]:
    if isinstance(leader, Continuous | Integer):
        raise SpecError(
            f"along: {along.feature!r} is {leader.kind}, it has no levels",
            hint=f"Along({along.feature!r}, rate=1) goes along with a whole number; or make it levels: space.replace({{{along.feature!r}: Categorical([...])}})",
        )
    found: dict[Step, Band] = {}
    for first, second, low, high in along.shift:
        try:
            step = leader.position(first), leader.position(second)
        except DataError as error:
            raise SpecError(f"along: feature {along.feature!r}: {error.message}", hint=error.hint) from None
        band = exact_amount(low), exact_amount(high)
        if found.get(step, band) != band:  # None and NaN are one level
            raise SpecError(
                f"along: two shifts of {along.feature!r} contradict each other",
                hint="a shift is given once; the other way round it is the opposite",
            )
        found[step] = band
        found[step[::-1]] = -found[step][1], -found[step][0]
    return found


def _bands_by_rate(
    name: str, along: Along, rate: Fraction, leader: Feature, leading: Relation
) -> dict[Step, Band]:
    if not isinstance(leader, Integer | Ordinal) or leading.kind != "within" or leader.missing:
        raise SpecError(
            f"along: {name!r} has a rate of {along.feature!r}, which must be an Integer or Ordinal within a tolerance, and never missing",
            hint=f"within={{{along.feature!r}: 2}}; of levels give a shift, of other numbers a Mahalanobis metric says it nearly",
        )
    reach = int(min(leading.tolerance or Fraction(0), span(leader)))
    return {(d,): (rate * d, rate * d) for d in range(-reach, reach + 1) if d}


def _whole_band(name: str, feature: Feature, band: Band, tolerance: Fraction) -> Band:
    """A band with its tolerance; of whole numbers only the whole ones in it are meant."""
    low, high = band[0] - tolerance, band[1] + tolerance
    if isinstance(feature, Continuous):
        return low, high
    whole = Fraction(math.ceil(low)), Fraction(math.floor(high))
    if whole[0] > whole[1]:
        raise SpecError(
            f"along: {name!r} is {feature.kind} and cannot change by {amount_text_exact(low)}",
            hint=f"give whole numbers, or room around them: within={{{name!r}: 1}}",
        )
    return whole


def amount_text_exact(amount: Fraction) -> str:
    """An exact number for people."""
    return str(amount.numerator) if amount.denominator == 1 else f"{float(amount):g}"


def _ends_text(low: Amount, high: Amount) -> str:
    return amount_text(low) if low == high else f"{amount_text(low)} to {amount_text(high)}"


def _checked_shifts(name: str, given: object) -> tuple[Shift, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SpecError(f"along: {short_repr(given)} is no shift by levels of {name!r}", hint=_HINT)
    entries = (
        [_flat_entry(pair, amount) for pair, amount in given.items()]
        if isinstance(given, Mapping)
        else list(given)
    )
    found: list[Shift] = []
    for entry in entries:
        shift = _checked_shift(name, entry)
        ends = exact_amount(shift[2]), exact_amount(shift[3])
        for first, second, low, high in found:
            if (first, second) == shift[:2] or (
                (second, first) == shift[:2] and ends != (-exact_amount(high), -exact_amount(low))
            ):
                raise SpecError(
                    f"along: two shifts contradict each other: {short_repr(entry)}",
                    hint="a shift is given once; the other way round it is the opposite",
                )
        if (shift[1], shift[0]) not in [known[:2] for known in found]:
            found.append(shift)
    if not found:
        raise SpecError(f"along: no shifts by {name!r} are given", hint=_HINT)
    return tuple(found)


def _flat_entry(pair: object, amount: object) -> object:
    """A pair of levels and one or two numbers, in one row; what is none is refused later."""
    if not isinstance(pair, tuple):
        return (pair, amount)
    is_one = isinstance(amount, str) or not isinstance(amount, Iterable)
    return (*pair, amount) if is_one else (*pair, *amount)  # type: ignore[misc]


def _checked_shift(name: str, entry: object) -> Shift:
    parts = [] if isinstance(entry, str) or not isinstance(entry, Iterable) else list(entry)
    if len(parts) not in (3, 4):
        raise SpecError(f"along: {short_repr(entry)} is no shift by two levels of {name!r}", hint=_HINT)
    levels = [python_scalar(level) for level in parts[:2]]
    if levels[0] == levels[1] or any(
        level is not None and not isinstance(level, str | bool | int | float) for level in levels
    ):
        raise SpecError(f"along: {short_repr(entry)} does not name two levels of {name!r}", hint=_HINT)
    ends = [checked_entry(amount, f"along: a shift by {name!r}") for amount in parts[2:]]
    if exact_amount(ends[0]) > exact_amount(ends[-1]):
        raise SpecError(f"along: {short_repr(entry)}: at least is more than at most", hint=_HINT)
    return levels[0], levels[1], ends[0], ends[-1]  # type: ignore[return-value]
