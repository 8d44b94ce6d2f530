"""Changes: one way to change everybody in a box into somebody similar.

A `Change` sets some features to a code, whatever it was, and moves others by a step. Moved continuous numbers are rounded towards where
they came from, so that they are doubles and no further away: whoever has x in [lo, hi] then has a value between the doubles next to
lo + step and hi + step on that side. A counterpart counts only if it exists for everybody in the box: it stays in the space, and every
constraint that speaks of a changed feature holds all over the changed box.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.partition.constraints import allows_box
from likewise.spec.boxes import Box
from likewise.spec.features import Categorical, Continuous, Ordinal
from likewise.spec.numbers import double_above, double_below
from likewise.spec.similarity import Relation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Change:
    """Features that are set to a code, and features that are moved by a step, which is not 0."""

    fixed: tuple[tuple[int, float], ...]
    moved: tuple[tuple[int, Fraction], ...]

    @classmethod
    def of(cls, how: Mapping[int, tuple[str, Any]]) -> Change:
        fixed = tuple((k, value) for k, (way, value) in sorted(how.items()) if way == "set")
        moved = tuple((k, value) for k, (way, value) in sorted(how.items()) if way == "move" and value)
        return cls(fixed, moved)

    @property
    def features(self) -> set[int]:
        return {k for k, _ in (*self.fixed, *self.moved)}

    def translated(self, code: Callable[[int, float], float]) -> Change:
        """The same change in other codes; steps are the same in both."""
        return Change(tuple((k, code(k, value)) for k, value in self.fixed), self.moved)

    def row(self, codes: Floats) -> Floats:
        """One individual, or many, changed, in float64."""
        row = codes.copy()
        for k, value in self.fixed:
            row[..., k] = value
        for k, step in self.moved:
            row[..., k] += float(step)
        return row

    def applied(self, lo: Floats, hi: Floats, discrete: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The box of everybody in a box of codes, changed."""
        low, high = lo.copy(), hi.copy()
        for k, value in self.fixed:
            low[k] = high[k] = value
        for k, step in self.moved:
            low[k], high[k] = _shift_part((float(lo[k]), float(hi[k])), step, whole=bool(discrete[k]))
        return low, high


def _shift_part(part: tuple[float, ...], step: Fraction, *, whole: bool) -> tuple[float, ...]:
    ends = [Fraction(end) + step for end in (part[0], part[-1])]
    if whole:
        return tuple(int(end) for end in ends)
    back = double_below if step > 0 else double_above
    return tuple(back(end) for end in ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterpart:
    """A change in the user's codes, and the decision (a lean of `search.frontier.one_sided`) that everybody gets then."""

    change: Change
    lean: int

    def box(self, box: Box) -> Box:
        """Everybody in the box, changed."""
        changed = box
        for k, value in self.change.fixed:
            feature = box.space[box.space.names[k]]
            levels = isinstance(feature, (Categorical, Ordinal))
            changed = changed.with_part(k, (int(value),) if levels else (value, value))
        for k, step in self.change.moved:
            feature = box.space[box.space.names[k]]
            if isinstance(feature, (Categorical, Ordinal)):
                part: tuple[float, ...] = tuple(int(p + step) for p in box.parts[k])
            else:
                part = _shift_part(box.parts[k], step, whole=not isinstance(feature, Continuous))
            changed = changed.with_part(k, part)
        return changed

    def exists(self, box: Box) -> bool:
        """Whether everybody valid in the box has this counterpart: in the space, and valid. Exact."""
        changed, space = self.box(box), box.space
        for k in self.change.features:
            feature, part = space[space.names[k]], changed.parts[k]
            if isinstance(feature, (Categorical, Ordinal)):
                if not all(0 <= p < len(feature.levels) for p in part):
                    return False
            elif not feature.lo <= part[0] <= part[1] <= feature.hi:
                return False
        return allows_box(changed, {space.names[k] for k in self.change.features})

    def similar(self, box: Box, relations: tuple[Relation, ...]) -> bool:
        """Whether everybody in the box is similar to their counterpart. Exact."""
        if not all(
            relations[k].kind == "free" or _is_partner_of_all(relations[k], box, k, value)
            for k, value in self.change.fixed
        ):
            return False
        return all(
            relations[k].kind == "free" or abs(step) <= (relations[k].tolerance or 0)
            for k, step in self.change.moved
        )

    def words(self, space: Any) -> dict[str, object]:
        """What is changed: values that are set, and steps as text, such as "+2"."""
        said: dict[str, object] = {}
        for k, value in self.change.fixed:
            said[space.names[k]] = space.value(k, value)
        for k, step in self.change.moved:
            said[space.names[k]] = f"{float(step):+.6g}"
        return said


def _is_partner_of_all(relation: Relation, box: Box, k: int, value: float) -> bool:
    return relation.kind == "pairs" and all(relation.allows(int(p), int(value)) for p in box.parts[k])
