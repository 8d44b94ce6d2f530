"""Masses by forms: of a box of individuals, how many are biased and how many are fair, by linear forms of the score (`families/forms`), without knowing who.

With f_v(z) = m(z) + [low_v, high_v] for all settings v of what may differ, an individual with a setting v that is similar to settings w is

    for decisions, margin 0   biased where  -max low_w < m <= -min high_w,  fair unless  -max high_w < m <= -min low_w          (w with v among them)
    for decisions, margin t   biased where  t - low_v < m <= -t - min high_w  or  t - max low_w < m <= -t - high_v,  fair unless the same with low and high exchanged
    for probability gaps      biased where m lies between ends that two scores apart by max low_w - high_v, or by low_v - min high_w, have (`probability_intervals`)
    for score gaps, limit d   biased if  max low_w - high_v > d  or  low_v - min high_w > d,  fair unless one of them exceeds d with low and high exchanged,

whatever else is known of z. Under a product measure m is a sum of independent numbers, also independent of the setting, so that probabilities of intervals are had on a grid
(`grid_masses`). So the bracket of a box is as narrow as the score is nearly linear over it, wherever the decision changes.

Settings are cells of free features, single values where these are few; f_v is then meant for every value of the cell. Numbers within a tolerance belong to z: forms are made for the box widened by it, and
whoever is similar has an m that is further away by at most what the tolerance times the slopes amounts to, which counts on the cautious side only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.partition.engine import BoxCount
from likewise.analysis.probability_intervals import (
    NOWHERE,
    Interval,
    possible_interval,
    sure_interval,
)
from likewise.clock import check_clock
from likewise.errors import InternalError
from likewise.model.witness_set import ProbabilitySet
from likewise.spec.numbers import double_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.measures import Measure
    from likewise.analysis.partition.engine import CodeBox
    from likewise.analysis.partition.judge import BoxJudge
    from likewise.analysis.row_claim import RowClaim
    from likewise.families.forms import FormBounder, Forms

    Floats = NDArray[np.float64]

MOST_SETTINGS = 256
CHUNKS = (256, 64, 32, 16, 8, 4, 2)  # cells of a feature that may differ freely, at most
ROOM = 1.0 + 2.0**-40  # for the rounding of few sums of float64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """Individuals with some setting: their part of everybody, their setting (None: any) and the settings that are similar to it, it among them."""

    mass: Fraction
    own: int | None
    similar: NDArray[np.intp]


class FormMasses:
    """A claim about one score, under a measure."""

    def __init__(
        self, judge: BoxJudge, measure: Measure, bounder: FormBounder, settings: Settings, groups: list[Group]
    ) -> None:
        self.judge, self.measure, self.bounder = judge, measure, bounder
        self.settings, self.groups = settings, groups
        question = judge.problem.question
        self.kind, self.level = question.kind, double_above(question.level)
        self.within = [k for k, relation in enumerate(judge.relations) if relation.kind == "within"]
        self.shared = [k for k in judge.cut if k not in settings.features]
        spreads = measure.spreads
        self.starts = np.cumsum([0, *(len(spread.atoms) for spread in spreads)]).astype(np.int64)
        self.atoms = np.array([atom for spread in spreads for atom in spread.atoms], dtype=np.float64)
        self.counts = np.array([count for spread in spreads for count in spread.counts], dtype=np.int64)

    @classmethod
    def of(cls, judging: RowClaim, judge: BoxJudge, measure: Measure) -> FormMasses | None:
        """None where the score has no forms, or there are too many settings."""
        question, oracles = judge.problem.question, judge.problem.oracles
        if oracles.several or not measure.known:
            return None
        curved = isinstance(judge.problem.case.line, ProbabilitySet)
        if not curved and (
            question.kind in ("probability", "prediction")
            or Fraction(double_above(question.level)) != question.level
        ):
            return None
        moving = [k for k in judging.inquiry.moving if judge.relations[k].kind in ("free", "pairs")]
        settings = divide_settings(judge, measure, moving)
        bounder = None if settings is None else oracles.forms(moving)
        if bounder is None or settings is None:
            return None
        return cls(judge, measure, bounder, settings, _groups(judge, settings))

    def warm_up(self) -> None:
        """Have the loops compiled."""
        from likewise.analysis.partition.engine import CodeBox

        lo, hi = self.measure.ends()
        whole = np.zeros(len(lo), dtype=bool)
        rows = np.empty(0, dtype=np.intp)
        self.counted([CodeBox(lo=lo, hi=hi, open_left=whole, masses=(Fraction(1),), rows=rows)])

    def counted(self, boxes: Sequence[CodeBox]) -> list[BoxCount]:
        """What is known of each box, all of whose individuals are valid."""
        from likewise.analysis.grid_masses import count_masses  # brings in numba

        check_clock()
        lo, hi = np.stack([box.lo for box in boxes]), np.stack([box.hi for box in boxes])
        low, high = lo.copy(), hi.copy()
        if self.within:
            for i, (one, two) in enumerate(zip(lo, hi, strict=True)):
                low[i], high[i] = self.judge.reached(one, two)
        forms = self.bounder.forms(low, high, self.settings.least, self.settings.most)
        sure, possible = self._intervals(forms, low, high)
        below, above = np.zeros(sure.shape[:2]), np.ones(sure.shape[:2])
        count_masses(
            self.bounder.places,
            self.bounder.levels,
            self.starts,
            self.atoms,
            self.counts,
            lo,
            hi,
            np.stack([box.open_left for box in boxes]),
            forms.terms,
            sure,
            possible,
            below,
            above,
        )
        return [
            self._count(box, below[i], above[i], forms.worth[i], forms.terms[i])
            for i, box in enumerate(boxes)
        ]

    def _count(self, box: CodeBox, below: Floats, above: Floats, worth: Floats, terms: Floats) -> BoxCount:
        """Two intervals a group, that exclude each other."""
        if len(self.groups) == 1:
            biased, unfair = Fraction(below[0]), Fraction(above[0])
        else:
            biased, unfair = self._weighed(below), self._weighed(above)
        lower, upper = (_part_of(box.mass, part) for part in (biased, 1 - unfair))
        wide = [k for k in self.shared if box.lo[k] < box.hi[k]]
        feature = None
        if wide:
            rated = worth[wide]
            if not rated.max() > 0:  # linear here: halve what the grid is about
                rated = np.array([self._moved(k, box, terms) for k in wide])
            feature = wide[int(rated.argmax())]
        return BoxCount(biased=lower, fair=upper, feature=feature)

    def _weighed(self, found: Floats) -> Fraction:
        """The sum over groups, of two intervals each that exclude each other."""
        parts = (sum(map(Fraction, found[2 * n : 2 * n + 2].tolist())) for n in range(len(self.groups)))
        masses = (group.mass * min(part, 1) for group, part in zip(self.groups, parts, strict=True))
        return sum(masses, Fraction(0))

    def _moved(self, k: int, box: CodeBox, terms: Floats) -> float:
        place, (low, high) = int(self.bounder.places[k]), (box.lo[k], box.hi[k])
        if place < 0:
            return 0.0
        if self.bounder.levels[k]:
            return float(np.ptp(terms[place + int(low) : place + int(high) + 1]))
        return float(abs(terms[place]) * (high - low))

    # -- intervals ---------------------------------------------------------------------------------------------

    def _intervals(self, forms: Forms, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """(boxes, 2 groups, 2): where m makes an individual of a group biased, surely and possibly."""
        apart = self._apart(forms, lo, hi)
        sure, possible = [], []
        for group in self.groups:
            low, high = forms.low[:, group.similar], forms.high[:, group.similar]
            inner = low.max(axis=1), high.min(axis=1)  # the highest for sure, the lowest for sure
            outer = _upwards(high.max(axis=1) + apart), _downwards(low.min(axis=1) - apart)
            if self.kind == "score":
                found = self._gaps(group, forms, inner, outer)
            elif self.kind == "probability":
                found = self._probabilities(group, forms, inner, outer)
            elif group.own is None or self.level == 0:
                one, two = (-inner[0], -inner[1]), (-outer[0], -outer[1])
                found = [one, _nothing(one)], [two, _nothing(two)]
            else:
                found = self._margins(forms.low[:, group.own], forms.high[:, group.own], inner, outer)
            sure += [np.stack(ends, axis=1) for ends in found[0]]
            possible += [np.stack(ends, axis=1) for ends in found[1]]
        return np.stack(sure, axis=1), np.stack(possible, axis=1)

    def _margins(self, low: Floats, high: Floats, inner: Ends, outer: Ends) -> tuple[list[Ends], list[Ends]]:
        """Own scores above the margin beside one below it, or the other way round."""
        t = self.level
        sure = [
            (_upwards(t - low), _downwards(-t - inner[1])),
            (_upwards(t - inner[0]), _downwards(-t - high)),
        ]
        possible = [
            (_downwards(t - high), _upwards(-t - outer[1])),
            (_downwards(t - outer[0]), _upwards(-t - low)),
        ]
        return sure, possible

    def _gaps(self, group: Group, forms: Forms, inner: Ends, outer: Ends) -> tuple[list[Ends], list[Ends]]:
        """Everybody of the group or nobody, as far as it is known."""
        own = 0 if group.own is None else group.own
        low, high = forms.low[:, own], forms.high[:, own]
        with np.errstate(invalid="ignore"):
            sure = np.maximum(inner[0] - high, low - inner[1]) / ROOM > self.level * ROOM
            possible = ~(np.maximum(outer[0] - low, high - outer[1]) * ROOM <= self.level)
        ends = np.full(len(low), np.inf)
        everybody = (
            (np.where(sure, -ends, ends), ends),
            (np.where(possible, -ends, ends), ends),
        )
        return [everybody[0], _nothing(everybody[0])], [everybody[1], _nothing(everybody[1])]

    def _probabilities(
        self, group: Group, forms: Forms, inner: Ends, outer: Ends
    ) -> tuple[list[Ends], list[Ends]]:
        """Own probabilities below those of another one, or above."""
        line, own = self.judge.problem.case.line, 0 if group.own is None else group.own
        if not isinstance(line, ProbabilitySet):
            raise InternalError("probabilities of another set of witnesses")
        sure, possible = [], []
        for i in range(len(forms.low)):
            low, high = float(forms.low[i, own]), float(forms.high[i, own])
            sure.append(
                _apart_or_one(
                    sure_interval(float(inner[0][i]), high, line),
                    sure_interval(low, float(inner[1][i]), line),
                )
            )
            possible.append(
                _apart_or_one(
                    possible_interval(float(outer[0][i]), low, line),
                    possible_interval(high, float(outer[1][i]), line),
                )
            )
        ends = np.array(sure), np.array(possible)  # (boxes, 2, 2)
        found = [[(end[:, n, 0], end[:, n, 1]) for n in range(2)] for end in ends]
        return found[0], found[1]

    def _apart(self, forms: Forms, lo: Floats, hi: Floats) -> Floats:
        """How far the m of similar individuals can be apart, by box."""
        found = np.zeros(len(lo))
        for k in self.within:
            place, tolerance = int(self.bounder.places[k]), self.judge.relations[k].tolerance
            if place < 0 or tolerance is None:
                continue
            reach = double_above(tolerance)
            if not self.bounder.levels[k]:
                found += np.abs(forms.terms[:, place]) * np.minimum(reach, hi[:, k] - lo[:, k])
                continue
            for i in range(len(lo)):
                codes = np.arange(int(lo[i, k]), int(hi[i, k]) + 1)
                values = forms.terms[i, place + codes]
                near = np.abs(codes[:, None] - codes) <= reach
                found[i] += np.where(near, np.abs(values[:, None] - values), 0.0).max(initial=0.0)
        return found * ROOM


Ends = tuple["Floats", "Floats"]


def _apart_or_one(one: Interval, two: Interval) -> tuple[Interval, Interval]:
    """Two intervals that exclude each other: the same, or the one that they are together."""
    if one[0] >= one[1] or two[0] >= two[1] or one[1] < two[0] or two[1] < one[0]:
        return one, two
    return (min(one[0], two[0]), max(one[1], two[1])), NOWHERE


def _nothing(ends: Ends) -> Ends:
    """An interval that holds nothing, for each box."""
    return np.zeros_like(ends[0]), np.zeros_like(ends[0])


def _upwards(values: Floats) -> Floats:
    """With room for the rounding of one operation."""
    return np.nextafter(values, np.inf)


def _downwards(values: Floats) -> Floats:
    return np.nextafter(values, -np.inf)


def _part_of(mass: Fraction, part: Fraction) -> Fraction:
    """A part of a mass: all of it, nothing, or a double that is no more, so that sums of many stay short."""
    value = mass * part
    if part in (0, 1):
        return value
    found = float(value)
    return Fraction(found if Fraction(found) <= value else float(np.nextafter(found, -np.inf)))


# -- settings ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settings:
    """Cells of the features that may differ freely or in pairs: codes from `least` to `most` (settings, features), and their masses."""

    features: list[int]
    least: Floats
    most: Floats
    masses: list[Fraction]


def divide_settings(judge: BoxJudge, measure: Measure, moving: Sequence[int]) -> Settings | None:
    """All settings one by one, or cells of several where there are many; None where there are too many all the same."""
    for most in CHUNKS:
        cells = [_feature_cells(judge, k, most) for k in moving]
        if prod(map(len, cells)) <= MOST_SETTINGS:
            break
    else:
        return None
    masses = [
        [measure.spreads[k].mass(low, high, open_left=is_open) for low, high, is_open in own]
        for k, own in zip(moving, cells, strict=True)
    ]
    every = list(product(*cells))
    return Settings(
        features=list(moving),
        least=np.array([[cell[0] for cell in cells] for cells in every]).reshape(len(every), len(moving)),
        most=np.array([[cell[1] for cell in cells] for cells in every]).reshape(len(every), len(moving)),
        masses=[prod(some, start=Fraction(1)) for some in product(*masses)],
    )


def _feature_cells(judge: BoxJudge, k: int, most: int) -> list[tuple[float, float, bool]]:
    """Cells of codes, and whether their left ends belong to the cells before."""
    lo, hi = float(judge.lo[k]), float(judge.hi[k])
    if not judge.discrete[k]:
        ends = np.linspace(lo, hi, min(most, CHUNKS[3]) + 1)
        ends[0], ends[-1] = lo, hi
        return [(float(a), float(b), n > 0) for n, (a, b) in enumerate(pairwise(ends))]
    count = int(hi - lo) + 1
    parts = count if judge.relations[k].kind == "pairs" else min(count, most)
    ends = lo + np.floor(np.arange(parts + 1) * (count / parts))
    ends[-1] = hi + 1
    return [(float(a), float(b - 1), False) for a, b in pairwise(ends)]


def _groups(judge: BoxJudge, settings: Settings) -> list[Group]:
    """One of everybody where all who are alike in the shared features are similar, and decisions are asked about without a margin; else one a setting."""
    question, count = judge.problem.question, len(settings.masses)
    kinds = {judge.relations[k].kind for k in settings.features}
    everything = np.arange(count)
    if kinds <= {"free"} and question.kind == "decision" and question.level == 0:
        return [Group(mass=Fraction(1), own=None, similar=everything)]
    groups = []
    for own, mass in enumerate(settings.masses):
        similar = np.ones(count, dtype=bool)
        for column, k in enumerate(settings.features):
            if judge.relations[k].kind == "pairs":
                codes = judge.relations[k].partners(int(settings.least[own, column]), int(judge.hi[k]) + 1)
                similar &= np.isin(settings.least[:, column], [*codes, settings.least[own, column]])
        if mass:
            groups.append(Group(mass=mass, own=own, similar=everything[similar]))
    return groups
