"""Translator: boxes of codes of the model's space, as boxes of the user's own, and back.

The two differ where levels are put in another order, where integers are levels of the model's space, and where the model sees a continuous
number x through a monotone function u = g(x) (`importers.recoding`). There a code u stands for one number x with about this value, always the same
one, so that boxes of codes that share a border are boxes of numbers that do; g may fall, and then ends change places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from likewise.analysis.partition.changes import Counterpart
from likewise.search.frontier import LOWER, UPPER
from likewise.spec.boxes import Box, FeaturePart, full_part
from likewise.spec.features import Categorical, Integer, Ordinal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.partition.changes import Change
    from likewise.analysis.partition.engine import CodeBox, Cut
    from likewise.analysis.partition.judge import BoxJudge
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

ROUNDING_SHARE = 0.05  # of its width that a cut of a range may be moved to have fewer digits


class Translator:
    """Between the user's `space` and the codes of the space that a claim is about."""

    def __init__(self, space: Space, judge: BoxJudge) -> None:
        self.space, self.over, self.lo, self.hi, self.discrete = (
            space,
            judge.over,
            judge.lo,
            judge.hi,
            judge.discrete,
        )
        recoding = judge.prepared.imported.recoding
        self.bent = {k: part for k, part in recoding.parts.items() if part.bend is not None}
        self.numbers: dict[tuple[int, float], float] = {}

    def box(self, lo: Floats, hi: Floats) -> Box:
        """The user's box of an interval of codes."""
        parts: list[FeaturePart] = []
        for k, name in enumerate(self.space.names):
            feature, ends = self.space[name], (float(lo[k]), float(hi[k]))
            if isinstance(feature, (Categorical, Ordinal)):
                codes = range(int(ends[0]), int(ends[1]) + 1)
                parts.append(tuple(sorted(feature.position(self.over.value(k, c)) for c in codes)))
            elif isinstance(feature, Integer):
                parts.append(tuple(int(self.over.value(k, end) or 0) for end in ends))
            else:
                parts.append(tuple(sorted(self.number(k, end) for end in ends)))
        return Box(self.space, tuple(parts))

    def number(self, k: int, code: float) -> float:
        """The user's value of a continuous feature: itself, or where the model sees it through a monotone function, a number with about
        this value; the same one every time, and one of its ends at either end of the codes."""
        if k not in self.bent:
            return code
        key = k, code
        if key not in self.numbers:
            self.numbers[key] = float(self.bent[k].raw(np.array([code]))[0])
            if code in (self.lo[k], self.hi[k]):
                ends = full_part(self.space[self.space.names[k]])
                self.numbers[key] = min(ends, key=lambda end: abs(end - self.numbers[key]))
        return self.numbers[key]

    def short(self, k: int, code: float, reach: float) -> float:
        """A code nearby whose number has few digits, as seen from a range so wide: rules are for people."""
        if k not in self.bent:
            return short_number(code, reach)
        ends = [
            min(max(code + step, float(self.lo[k])), float(self.hi[k])) for step in (-reach / 2, reach / 2)
        ]
        first, last = (self.number(k, end) for end in ends)
        rounded = short_number(self.number(k, code), abs(last - first))
        near = float(self.bent[k].coded(np.array([rounded]))[0])
        if abs(near - code) > reach:
            return code
        self.numbers.setdefault((k, near), rounded)
        return near

    def code(self, k: int, code: float) -> float:
        """The user's code of a code."""
        if k in self.bent:
            return self.number(k, code)
        feature = self.space[self.space.names[k]]
        value = self.over.value(k, code)
        return (
            feature.position(value) if isinstance(feature, (Categorical, Ordinal)) else cast("float", value)
        )

    def codes(self, box: Box) -> tuple[Floats, Floats] | None:
        """The interval of codes that a user's box is; None if its levels are not next to each other here."""
        lo, hi = self.lo.copy(), self.hi.copy()
        for k, (name, part) in enumerate(zip(self.space.names, box.parts, strict=True)):
            feature, over = self.space[name], self.over[self.over.names[k]]
            if isinstance(feature, (Categorical, Ordinal)):
                values: Sequence[Any] = [feature.levels[int(p)] for p in part]
            elif k in self.bent:
                values = sorted(self.bent[k].coded(np.array(part)).tolist())
            else:
                values = part
            places = (
                sorted(over.position(v) for v in values)
                if isinstance(over, (Categorical, Ordinal))
                else values
            )
            lo[k], hi[k] = places[0], places[-1]
        return (lo, hi) if self.bent or self.box(lo, hi) == box else None

    def counterparts(self, changes: tuple[Change, ...], *, mirrored: bool) -> tuple[Counterpart, ...]:
        """The changes up and down in the user's codes, that with the upper label first: of a mirrored score it is the one down."""
        found = tuple(
            Counterpart(change=change.translated(self.code), lean=lean)
            for change, lean in zip(changes, (UPPER, LOWER), strict=True)
        )
        return found[::-1] if mirrored else found

    def left(self, box: CodeBox, cut: Cut) -> Fraction:
        """The part of a box that is left of a cut, lengths and counts of the user's values being alike; what lies between the two sides of
        the cut belongs to the right one."""
        k = cut.feature
        if self.discrete[k]:
            return Fraction(int(cut.at) - int(box.lo[k]) + 1, int(box.hi[k]) - int(box.lo[k]) + 1)
        first, at, last = (Fraction(self.number(k, float(code))) for code in (box.lo[k], cut.at, box.hi[k]))
        return (at - first) / (last - first) if first != last else Fraction(0)


def short_number(at: float, width: float) -> float:
    """A number with few digits near this one, as seen from a range so wide."""
    digits = max(0, math.ceil(-math.log10(width * ROUNDING_SHARE))) if width > 0 else 0
    return round(at, digits) if digits < 15 else at
