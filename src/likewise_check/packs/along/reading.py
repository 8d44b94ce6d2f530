"""Relations `along` as a similarity line states them (sections 22 and 26)."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from likewise_check.core.fields import Rejected, anything, array_of, record, text, whole
from likewise_check.core.numbers import number
from likewise_check.core.space import Feature, Relation, Space
from likewise_check.packs.along.equation import Along, Band, Case, Condition, Span, Step, Table
from likewise_check.packs.along.limit import AlongLimit


def read_along(
    items: Mapping[int, object], relations: Sequence[Relation], space: Space
) -> tuple[tuple[Relation, ...], AlongLimit]:
    """The relations, and what features keep together, of a similarity line whose relations `along` are these, by feature; the others are known."""
    if any(relation.kind == "between" for relation in relations):
        raise Rejected("a similarity with a relation along has none that is between")
    found = tuple(_Reading(k, items, relations, space).along(item) for k, item in items.items())
    if len({(one.leader, one.by_difference) for one in found}) != len({one.leader for one in found}):
        raise Rejected("features that change along with the same one have bands of the same form")
    whole_line = list(relations)
    for one in found:
        far = one.farthest
        whole_line[one.feature] = Relation(kind="along", limits=None if far is None else (-far, far))
    return tuple(whole_line), AlongLimit(space=space, relations=tuple(relations), all=found)


class _Reading:
    """One relation, of feature k."""

    def __init__(
        self, k: int, items: Mapping[int, object], relations: Sequence[Relation], space: Space
    ) -> None:
        self._k, self._items, self._relations, self._features = k, items, relations, space.features
        self._what, self._own = f"relation {k}", space.features[k]
        self._leader, self._leading = self._own, relations[k]

    def along(self, item: object) -> Along:
        """The relation."""
        known = {"kind": text, "with": whole(0, len(self._features) - 1)}
        if type(item) is dict and "cases" in item:
            rest = {"else": number} if "else" in item else {}
            _, j, cases, *otherwise = record(item, self._what, **known, cases=array_of(anything), **rest)
        else:
            _, j, bands, *otherwise = record(
                item, self._what, **known, bands=array_of(anything), **{"else": number}
            )
            cases = [{"where": [], "bands": bands}]
        if j == self._k or j in self._items:
            raise Rejected(f"{self._what}: feature {j} changes along itself")
        self._leader, self._leading = self._features[j], self._relations[j]
        if not cases:
            raise Rejected(f"{self._what}: there must be cases")
        read = self._banded_case if otherwise else self._tabled_case
        found = tuple(read(case) for case in cases)
        if len({len(step) for case in found for step in (*case.bands, *case.tables)}) != 1:
            raise Rejected(f"{self._what}: all bands must be of one form")
        if not otherwise:
            return Along(feature=self._k, leader=j, cases=found, otherwise=None)
        numbers = [*otherwise, *(end for case in found for band in case.bands.values() for end in band)]
        if otherwise[0] < 0 or (self._own.discrete and any(end.denominator != 1 for end in numbers)):
            raise Rejected(
                f"{self._what}: else must not be below 0, and all numbers of a discrete feature whole"
            )
        return Along(feature=self._k, leader=j, cases=found, otherwise=otherwise[0])

    def _banded_case(self, item: object) -> Case:
        if self._own.kind == "categorical" or self._own.missing is not None:
            raise Rejected(
                f"{self._what}: a categorical feature, or one with missing values, changes along with none by numbers"
            )
        where, rows = record(
            item, f"{self._what}, a case", where=array_of(anything), bands=array_of(anything)
        )
        width = self._width(rows)
        bands = self._listed(rows, lambda row: self._read_band(row, width), "bands")
        for step, (low, high) in bands.items():
            if bands.get(_mirror(step)) != (-high, -low):
                raise Rejected(f"{self._what}: the bands are not mirrored")
        return Case(where=self._conditions(where), bands=bands)

    def _tabled_case(self, item: object) -> Case:
        if not self._own.levels:
            raise Rejected(f"{self._what}: only levels kinds change along by tables")
        where, rows = record(
            item, f"{self._what}, a case", where=array_of(anything), tables=array_of(anything)
        )
        if not self._leader.levels or self._leading.kind not in ("free", "pairs", "within"):
            raise Rejected(f"{self._what}: a table goes along with levels that may differ")
        tables = self._listed(rows, self._read_table, "tables")
        for step, table in tables.items():
            if _mirror(step) not in tables or tables[_mirror(step)].pairs != table.mirrored():
                raise Rejected(f"{self._what}: the tables are not mirrored")
        return Case(where=self._conditions(where), tables=tables)

    def _listed(
        self, rows: Sequence[object], read: Callable[[object], tuple[Step, Any]], name: str
    ) -> dict[Step, Any]:
        listed = [read(row) for row in rows]
        if not listed or any(late[0] <= early[0] for early, late in pairwise(listed)):
            raise Rejected(f"{self._what}: there must be {name}, strictly increasing")
        return dict(listed)

    def _width(self, rows: Sequence[object]) -> int:
        """How many ints a band begins with."""
        leader, kind = self._leader, self._leading.kind
        by_levels = bool(rows) and type(rows[0]) is list and len(rows[0]) == 4
        if by_levels and leader.levels and kind in ("free", "pairs", "within"):
            return 2
        if not by_levels and leader.discrete and leader.missing is None and kind == "within":
            return 1
        raise Rejected(
            f"{self._what}: goes along with levels that may differ, or with a whole number within a tolerance"
        )

    def _read_band(self, item: object, width: int) -> tuple[Step, Band]:
        what = f"{self._what}, a band"
        *step, low, high = array_of(anything, width + 2)(item, what)
        reach = self._leader.levels - 1 if width == 2 else int(self._leading.tolerance or 0)
        place = whole(0 if width == 2 else -reach, reach)
        found = tuple(place(part, f"{what}, a step") for part in step)
        ends = number(low, f"{what}, low"), number(high, f"{what}, high")
        if ends[0] > ends[1] or _mirror(found) == found:
            raise Rejected(f"{what}: low must not be above high, and the step not be none")
        return found, ends

    def _read_table(self, item: object) -> tuple[Step, Table]:
        what = f"{self._what}, a table"
        first, second, rows = array_of(anything, 3)(item, what)
        level, place = whole(0, self._leader.levels - 1), whole(0, self._own.levels - 1)
        step = level(first, f"{what}, a step"), level(second, f"{what}, a step")
        pairs: list[list[int]] = array_of(array_of(place, 2))(rows, f"{what}, its pairs")
        if step[0] == step[1] or not pairs or any(late <= early for early, late in pairwise(pairs)):
            raise Rejected(
                f"{what}: the step must not be none, and pairs be strictly increasing, at least one"
            )
        return step, Table.of(tuple((v, beside) for v, beside in pairs))

    def _conditions(self, rows: Sequence[object]) -> tuple[Condition, ...]:
        found = tuple(map(self._read_condition, rows))
        if any(late.feature <= early.feature for early, late in pairwise(found)):
            raise Rejected(f"{self._what}: the features of conditions must be strictly increasing")
        return found

    def _read_condition(self, item: object) -> Condition:
        what = f"{self._what}, a condition"
        index, rows = array_of(anything, 2)(item, what)
        c: int = whole(0, len(self._features) - 1)(index, f"{what}, a feature")
        feature = self._features[c]
        if c in self._items or self._relations[c].kind != "same":
            raise Rejected(f"{what}: feature {c} is not the same in both")
        if not feature.discrete or feature.missing is not None:
            raise Rejected(f"{what}: feature {c} is neither whole nor a levels kind, or has missing values")
        spans = [
            self._read_span(row, feature, what) for row in array_of(anything)(rows, f"{what}, intervals")
        ]
        if not spans or any(late[0] <= early[1] for early, late in pairwise(spans)):
            raise Rejected(f"{what}: there must be intervals, in increasing order")
        return Condition(feature=c, spans=tuple(spans))

    def _read_span(self, item: object, feature: Feature, what: str) -> Span:
        code = whole(int(feature.lo), int(feature.hi))
        lo, hi = array_of(code, 2)(item, f"{what}, an interval")
        if lo > hi:
            raise Rejected(f"{what}: an interval ends before it begins")
        return lo, hi


def _mirror(step: Step) -> Step:
    return (step[1], step[0]) if len(step) == 2 else (-step[0],)
