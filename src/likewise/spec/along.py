"""Along: what changes in a pair when something else does, as a user's structural equation says it.

    along={"income": Along("sex", {("male", "female"): -3000})}

says of two who are similar and of whom the first is male and the second female: x'.income - x.income = -3000. The other way round it is +3000, as pairs have no first and second; where sex is the same, or
goes between levels that are not named, income is the same as well. A tolerance of income (`within`) leaves as much room around each of these. With a `rate` a number goes along with a whole number:
x'.experience - x.experience = rate (x'.age - x.age). With a `table` levels go along: x'.occupation is one of those that the table has for x.occupation; levels that it does not name stay the same, and the other
way round the relation is the inverse one.

`where` says of which pairs that is so: a condition on features that both share. Of several for one feature the first whose conditions hold counts; where none does, the feature is the same.

How pairs fall into parts, in which every feature has an ordinary relation: `likewise.spec.along_parts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from likewise.errors import SpecError, suggest_name
from likewise.spec.along_rows import (
    SHIFT_HINT,
    Condition,
    Shift,
    Table,
    checked_shifts,
    checked_tables,
    checked_where,
)
from likewise.spec.features import Level, level_text
from likewise.spec.metric import Amount, amount_text, checked_entry
from likewise.spec.numbers import python_scalar, short_repr
from likewise.spec.relations import validate_names

ALONG_KEYS = ("with", "shift", "rate", "table", "where")


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
    table : mapping of pairs of levels to mappings of levels
        What levels of this feature become where the other one goes from the first level to the second: one level, or a list of several that it may be. Levels that are not named stay the same; one with an empty list has no counterpart. The other way round the relation is the inverse.
    where : mapping of names to values
        Only where features that both share have one of these values: a list, or ``{"from": 18, "to": 30}`` of whole numbers and ordinal levels, both included. In `Similarity` a list of several `Along` may be given for one feature: the first whose conditions hold counts.

    Examples
    --------
    >>> from likewise import Along, Similarity
    >>> similar = Similarity(free=["sex"], along={"income": Along("sex", {("male", "female"): -3000})})
    >>> print(similar.describe())
    differ only in sex, and along with sex in income (-3000 from male to female)
    >>> jobs = Along("sex", table={("male", "female"): {"engineer": "teacher"}}, where={"sector": ["public"]})
    >>> print(Similarity(free=["sex"], along={"job": jobs}).describe())
    differ only in sex, and along with sex in job (from male to female engineer becomes teacher, where sector is public)
    """

    feature: str
    shift: tuple[Shift, ...]
    rate: Amount | None
    table: tuple[Table, ...]
    where: tuple[Condition, ...]

    def __init__(
        self,
        feature: str,
        shift: Mapping[tuple[Level, Level], Amount | Sequence[Amount]] | Iterable[Any] | None = None,
        *,
        rate: Amount | None = None,
        table: Mapping[tuple[Level, Level], Mapping[Level, Any]] | Iterable[Any] | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> None:
        name = python_scalar(feature)
        if not isinstance(name, str):
            raise SpecError(
                f"along: expected the name of a feature, got {short_repr(feature)}", hint=SHIFT_HINT
            )
        if sum(given is not None for given in (shift, rate, table)) != 1:
            raise SpecError(
                f"along: give a shift, a rate or a table of {name!r}, one of the three", hint=SHIFT_HINT
            )
        object.__setattr__(self, "feature", name)
        object.__setattr__(self, "shift", () if shift is None else checked_shifts(name, shift))
        object.__setattr__(self, "rate", None if rate is None else checked_entry(rate, "along: the rate"))
        object.__setattr__(self, "table", () if table is None else checked_tables(name, table))
        object.__setattr__(self, "where", checked_where(where))

    @property
    def words(self) -> str:
        """By how much, or to what, and when: ``-3000 from male to female``."""
        told = self._change_words
        return f"{told}, where {' and '.join(one.words for one in self.where)}" if self.where else told

    @property
    def _change_words(self) -> str:
        if self.rate is not None:
            return f"{amount_text(self.rate)} for each 1 of {self.feature}"
        told = [
            f"{_ends_text(low, high)} from {level_text(a)} to {level_text(b)}"
            for a, b, low, high in self.shift
        ]
        for a, b, rows in self.table:
            becoming = ", ".join(f"{level_text(own)} {_image_words(images)}" for own, images in rows)
            told.append(f"from {level_text(a)} to {level_text(b)} {becoming}")
        return ", ".join(told)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: ``{"with": "sex", "shift": [["male", "female", -3000]]}``."""
        content: dict[str, Any] = {"with": self.feature}
        if self.rate is not None:
            content["rate"] = self.rate
        elif self.table:
            content["table"] = [
                [a, b, own, *(images or [[]])] for a, b, rows in self.table for own, images in rows
            ]
        else:
            content["shift"] = [
                [a, b, low, *([] if low == high else [high])] for a, b, low, high in self.shift
            ]
        if self.where:
            content["where"] = {one.feature: one.to_dict() for one in self.where}
        return content

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Along:
        """The inverse of `to_dict`."""
        for key in data:
            if key not in ALONG_KEYS:
                raise SpecError(f"along: unknown key {key!r}{suggest_name(key, ALONG_KEYS)}")
        if "with" not in data:
            raise SpecError(
                "along: with is missing", hint='with = "sex": what this feature changes along with'
            )
        given = {key: data.get(key) for key in ("rate", "table", "where")}
        return cls(data["with"], data.get("shift"), **given)

    def renamed(self, names: Mapping[str, str]) -> Along:
        """The same with other names of features."""
        content = self.to_dict()
        content["with"] = names.get(self.feature, self.feature)
        if self.where:
            content["where"] = {names.get(name, name): said for name, said in content["where"].items()}
        return Along.from_dict(content)

    def __reduce__(self) -> tuple[Any, ...]:
        return Along.from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        where = f", where={self.to_dict()['where']!r}" if self.where else ""
        if self.rate is not None:
            return f"Along({self.feature!r}, rate={self.rate!r}{where})"
        if self.table:
            tables = {
                (a, b): {own: images[0] if len(images) == 1 else list(images) for own, images in rows}
                for a, b, rows in self.table
            }
            return f"Along({self.feature!r}, table={tables!r}{where})"
        shifts = {(a, b): low if low == high else (low, high) for a, b, low, high in self.shift}
        return f"Along({self.feature!r}, {shifts!r}{where})"


Alongs = tuple[Along, ...]  # of one feature: the first whose conditions hold counts


def cases_of(along: Along | Sequence[Along]) -> Alongs:
    """What is said of one feature, one or several."""
    return (along,) if isinstance(along, Along) else tuple(along)


def one_or_all(cases: Alongs) -> Along | Alongs:
    """The same as it was given."""
    return cases[0] if len(cases) == 1 else cases


def words_of(cases: Alongs) -> str:
    """What several say, in words; the first that holds counts."""
    return ", or else ".join(one.words for one in cases)


def validate_along(along: object) -> dict[str, Alongs]:
    """Names with what they change along with."""
    if along is None:
        return {}
    if not isinstance(along, Mapping) or not all(map(_is_along, along.values())):
        raise SpecError(
            f"along must map names to likewise.Along, or to lists of them, got {short_repr(along)}",
            hint='along={"income": Along("sex", {("male", "female"): -3000})}',
        )
    found = dict(zip(validate_names(list(along)), map(cases_of, along.values()), strict=True))
    for name, cases in found.items():
        if len({one.feature for one in cases}) > 1:
            raise SpecError(
                f"along: {name!r} changes along with {cases[0].feature!r} and with another feature, and it is not said how where both differ",
                hint="all that is said of one feature is along with one other",
            )
        useless = next((n for n, one in enumerate(cases[:-1]) if not one.where), None)
        if useless is not None:
            raise SpecError(
                f"along: what is said of {name!r} after number {useless + 1}, which has no conditions, never counts",
                hint="the first whose conditions hold counts: put the one without conditions last",
            )
    return found


def _is_along(given: object) -> bool:
    if isinstance(given, Along):
        return True
    return isinstance(given, list | tuple) and bool(given) and all(isinstance(one, Along) for one in given)


def check_along(along: Mapping[str, Alongs], *, names: Sequence[Iterable[str]], alone: bool) -> None:
    """Refuse equations that say nothing, or that contradict what else is said; `names` are those of features that are free, within a tolerance and in pairs, `alone`: nothing has an order or a metric."""
    free, within, pairs = map(tuple, names)
    if not alone:
        raise SpecError(
            "features that change along with others are not taken together with an order or a metric",
            hint="leave out along, or order, metric and radius",
        )
    for name, cases in along.items():
        leader = cases[0].feature
        if name in free or name in pairs:
            raise SpecError(
                f"feature {name!r} both changes along and is {'free' if name in free else 'in pairs'}",
                hint="keep one of the two",
            )
        if name in within and any(one.table for one in cases):
            raise SpecError(
                f"feature {name!r} both changes along by a table and is within a tolerance",
                hint="name all levels that it may become in the table",
            )
        if leader in along:
            raise SpecError(
                f"along: {name!r} changes along with {leader!r}, which changes along itself",
                hint="say what it is that both change along with",
            )
        if leader not in (*free, *within, *pairs):
            raise SpecError(
                f"along: {name!r} changes along with {leader!r}, which is the same",
                hint=f"let it differ: free=[{leader!r}]",
            )
        for condition in (condition for one in cases for condition in one.where):
            if condition.feature in (*free, *within, *pairs, *along):
                raise SpecError(
                    f"along: {name!r} has a condition on {condition.feature!r}, which may differ itself",
                    hint="conditions are about features that similar individuals share",
                )


def _ends_text(low: Amount, high: Amount) -> str:
    return amount_text(low) if low == high else f"{amount_text(low)} to {amount_text(high)}"


def _image_words(images: tuple[Level, ...]) -> str:
    return f"becomes {' or '.join(map(level_text, images))}" if images else "has no counterpart"
