"""The pack `along` (section 22): pairs whose features change along, that is the relation `along`, and the parts that a proof about such pairs has.

A part is one step of every feature that others go along with: equal, from one level to another, or by a whole number. Its similarity has relations of sections 2 and 18 alone, so that a proof of it
takes rules that are known; here is what a pair satisfies, which parts there are, and in what order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise, product
from typing import TypeAlias

from likewise_check.core.fields import Rejected, anything, array_of, record, text, whole
from likewise_check.core.numbers import number, readable_number
from likewise_check.core.space import Feature, Relation, Space

MOST_PARTS = 10_000
_SAME = Relation(kind="same")

Step: TypeAlias = tuple[int, ...]  # (): equal; (i, i'): from level to level; (d,): by so much
Band: TypeAlias = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Along:
    """How feature k differs, by the step of the one that it goes along with."""

    feature: int
    leader: int
    bands: Mapping[Step, Band]
    otherwise: Fraction

    @property
    def by_difference(self) -> bool:
        """Whether steps are differences, not pairs of levels."""
        return len(next(iter(self.bands))) == 1

    def band(self, step: Step) -> Band:
        """From where to where x'_k - x_k may be."""
        return self.bands.get(step, (-self.otherwise, self.otherwise))

    def relation(self, step: Step) -> Relation:
        """The same as a relation."""
        low, high = self.band(step)
        return Relation(kind="between", limits=(low, high)) if low or high else _SAME


@dataclass(frozen=True, slots=True, kw_only=True)
class AlongLimit:
    """What the features of a pair keep together."""

    space: Space
    relations: tuple[Relation, ...]
    all: tuple[Along, ...]

    @property
    def by_difference(self) -> frozenset[int]:
        """The features whose steps are differences, not pairs of levels."""
        return frozenset(one.leader for one in self.all if one.by_difference)

    @property
    def pack(self) -> str:
        return "along"

    @property
    def numbers(self) -> int:
        return 0

    def penalty(self, _numbers: Sequence[Fraction], _scale: int) -> None:
        """Nothing: no leaf is about the whole similarity."""

    def allows(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
        """Whether every feature differs as its band says."""
        for one in self.all:
            low, high = one.band(self._step(one.leader, int(x[one.leader]), int(other[one.leader])))
            if not low <= other[one.feature] - x[one.feature] <= high:
                return False
        return True

    def _step(self, j: int, code: int, other: int) -> Step:
        if code == other:
            return ()
        return (other - code,) if j in self.by_difference else (code, other)

    def parts(self) -> Iterator[tuple[Relation, ...]]:
        """The similarities of all parts, in order."""
        leaders = sorted({one.leader for one in self.all})
        steps = [list(islice(self._steps(j), MOST_PARTS + 1)) for j in leaders]
        count = 1
        for found in steps:
            count *= len(found)
        if count > MOST_PARTS:
            raise Rejected(f"more than {MOST_PARTS} parts")
        for chosen in product(*steps):
            yield self._part(dict(zip(leaders, chosen, strict=True)))

    def _steps(self, j: int) -> Iterator[Step]:
        feature, relation = self.space.features[j], self.relations[j]
        yield ()
        if j not in self.by_difference:
            places = range(feature.levels)
            yield from ((i, k) for i in places for k in places if i != k and relation.allows(i, k))
        else:
            reach = int(min(relation.tolerance or 0, feature.hi - feature.lo))
            yield from ((d,) for d in range(-reach, reach + 1) if d)

    def _part(self, chosen: Mapping[int, Step]) -> tuple[Relation, ...]:
        found = list(self.relations)
        for j, step in chosen.items():
            if not step:
                found[j] = _SAME
            elif len(step) == 2:
                found[j] = Relation(kind="free", fixed=(step[0], step[1]))
            else:
                found[j] = Relation(kind="between", limits=(Fraction(step[0]), Fraction(step[0])))
        for one in self.all:
            found[one.feature] = one.relation(chosen[one.leader])
        return tuple(found)

    def in_words(self, names: Sequence[str]) -> str:
        """For each feature what it changes along with, and by how much."""
        return "; ".join(self._tell(one, names) for one in self.all)

    def _tell(self, one: Along, names: Sequence[str]) -> str:
        levels = self.space.features[one.leader].names
        told = []
        for step, (low, high) in one.bands.items():
            by = readable_number(low) if low == high else f"{readable_number(low)} to {readable_number(high)}"
            when = f"where that grows by {step[0]}"
            if len(step) == 2:
                when = f"from {_level_text(levels[step[0]])} to {_level_text(levels[step[1]])}"
            told.append(f"by {by} {when}")
        rest = f"by at most {readable_number(one.otherwise)} otherwise"
        return (
            f"{names[one.feature]} changes along with {names[one.leader]}, {', '.join(told)}, "
            f"{rest if one.otherwise else 'not at all otherwise'}"
        )


def _level_text(level: tuple[str, object]) -> str:
    sort, value = level
    return {"missing": "missing", "truth": "true" if value else "false"}.get(sort, repr(value))


def read_along(
    items: Mapping[int, object], relations: Sequence[Relation], space: Space
) -> tuple[tuple[Relation, ...], AlongLimit]:
    """The relations, and what features keep together, of a similarity line whose relations `along` are these, by feature; the others are known."""
    if any(relation.kind == "between" for relation in relations):
        raise Rejected("a similarity with a relation along has none that is between")
    found = tuple(_read_one(k, item, relations, items, space) for k, item in items.items())
    if len({(one.leader, one.by_difference) for one in found}) != len({one.leader for one in found}):
        raise Rejected("features that change along with the same one have bands of the same form")
    whole_line = list(relations)
    for one in found:
        ends = [one.otherwise, *(high for _, high in one.bands.values())]
        whole_line[one.feature] = Relation(kind="along", limits=(-max(ends), max(ends)))
    return tuple(whole_line), AlongLimit(space=space, relations=tuple(relations), all=found)


def _read_one(
    k: int, item: object, relations: Sequence[Relation], items: Mapping[int, object], space: Space
) -> Along:
    what, feature = f"relation {k}", space.features[k]
    if feature.kind == "categorical" or feature.missing is not None:
        raise Rejected(f"{what}: a categorical feature, or one with missing values, changes along with none")
    known = {
        "kind": text,
        "with": whole(0, len(space.features) - 1),
        "bands": array_of(anything),
        "else": number,
    }
    _, j, bands, otherwise = record(item, what, **known)
    if j == k or j in items:
        raise Rejected(f"{what}: feature {j} changes along itself")
    width = _width(bands, space.features[j], relations[j], what)
    listed = [_read_band(band, width, space.features[j], relations[j], f"{what}, a band") for band in bands]
    if not listed or any(late[0] <= early[0] for early, late in pairwise(listed)):
        raise Rejected(f"{what}: there must be bands, strictly increasing")
    found = dict(listed)
    for step, (low, high) in listed:
        if found.get(_mirror(step)) != (-high, -low):
            raise Rejected(f"{what}: the bands are not mirrored")
    numbers = [otherwise, *(end for band in found.values() for end in band)]
    if otherwise < 0 or (feature.discrete and any(end.denominator != 1 for end in numbers)):
        raise Rejected(f"{what}: else must not be below 0, and all numbers of a discrete feature whole")
    return Along(feature=k, leader=j, bands=found, otherwise=otherwise)


def _width(bands: Sequence[object], leader: Feature, relation: Relation, what: str) -> int:
    """How many ints a band begins with."""
    by_levels = bool(bands) and type(bands[0]) is list and len(bands[0]) == 4
    if by_levels and leader.levels and relation.kind in ("free", "pairs", "within"):
        return 2
    if not by_levels and leader.discrete and leader.missing is None and relation.kind == "within":
        return 1
    raise Rejected(
        f"{what}: goes along with levels that may differ, or with a whole number within a tolerance"
    )


def _read_band(item: object, width: int, leader: Feature, relation: Relation, what: str) -> tuple[Step, Band]:
    *step, low, high = array_of(anything, width + 2)(item, what)
    reach = leader.levels - 1 if width == 2 else int(relation.tolerance or 0)
    place = whole(0 if width == 2 else -reach, reach)
    found = tuple(place(part, f"{what}, a step") for part in step)
    ends = number(low, f"{what}, low"), number(high, f"{what}, high")
    if ends[0] > ends[1] or _mirror(found) == found:
        raise Rejected(f"{what}: low must not be above high, and the step not be none")
    return found, ends


def _mirror(step: Step) -> Step:
    return (step[1], step[0]) if len(step) == 2 else (-step[0],)


RELATIONS = {"along": read_along}
