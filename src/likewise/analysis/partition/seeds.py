"""Seeds: biased boxes grown around individuals who are treated differently.

Where a score is a(x) + g(free), x is treated differently iff a(x) lies between -max g and -min g: a thin layer along the border of the
decision. A box fits into it only if it is narrow in every feature that counts, and no partition that halves boxes comes to one. So boxes
are grown where they can be large:

1. *Seeds* lie deep in the layer: on the way from somebody whose counterparts are rather accepted to somebody whose are rather not, where
   the highest and the lowest score of similar individuals have the same distance from 0 (bisection, many pairs at once).
2. For each feature and direction there is a row of *ends* that a box around the seed may have, with the *effect* that going there alone has
   on the seed's score. All ends of at most some effect r make a box; the largest r for which both decisions hold throughout is bisected.
   The same r for all features makes the product of their widths largest where widths are r / slope and the sum of effects is limited.
3. What room is left is given to single ends, in turn, as long as both decisions hold.

Both decisions are judged by float64 bounds: `proofs` proves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.partition.engine import Cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.partition.changes import Change
    from likewise.analysis.partition.cuts import Cutter
    from likewise.analysis.partition.judge import BoxJudge
    from likewise.analysis.partition.translator import Translator
    from likewise.search.budget import Budget
    from likewise.spec.similarity import Relation

    Floats = NDArray[np.float64]

MOST_PEOPLE = 512  # between whom ways are bisected
HALVINGS = 24
MOST_SETTINGS = 32  # of what may differ, at which a seed is scored
MOST_STEPS = 48  # ends of one feature in one direction, at most
FINEST_HALVINGS = 30  # the smallest step of a continuous number is its range over 2^(FINEST / 2)
MOST_TRIES = 160  # ends that are moved by themselves; fewer where bounds take time
MOST_SLOW_TRIES = 48


@dataclass(frozen=True, slots=True)
class BoxEnd:
    """Where a box may end, in one direction: the cut that ends it there (None at the limit), and the effect on the score."""

    at: float
    cut: Cut | None
    effect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GrownBox:
    """A box in which everybody is treated differently, as far as bounds can tell, and the cuts that take it out of its surroundings."""

    lo: Floats
    hi: Floats
    changes: tuple[Change, Change]
    cuts: tuple[Cut, ...]


@dataclass(frozen=True, slots=True)
class Seeder:
    """Finds seeds about one claim and grows boxes around them; `given` are the relations of the user's own space."""

    cutter: Cutter
    given: tuple[Relation, ...]

    @property
    def judge(self) -> BoxJudge:
        return self.cutter.judge

    @property
    def user(self) -> Translator:
        return self.cutter.user

    # -- seeds ------------------------------------------------------------------------------------------------

    def extremes(self, rows: Floats) -> tuple[Floats, Floats]:
        """The highest and the lowest score of similar individuals of each row, some of them, in float64."""
        judge = self.judge
        options = [self._options(k, rows) for k in judge.changing]
        settings = int(np.prod([float(len(option)) for option in options]))
        if settings <= MOST_SETTINGS:
            chosen: Sequence[Sequence[Floats]] = list(product(*options))
        else:
            random = np.random.default_rng(0)  # the same ones whenever a row is looked at
            chosen = [[one[int(random.integers(len(one)))] for one in options] for _ in range(MOST_SETTINGS)]
        highest, lowest = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
        for setting in chosen:
            changed = rows.copy()
            for k, values in zip(judge.changing, setting, strict=True):
                changed[:, k] = values
            scores, valid = judge.problem.scored(changed), judge.valid(changed)
            highest = np.where(valid, np.maximum(highest, scores), highest)
            lowest = np.where(valid, np.minimum(lowest, scores), lowest)
        return highest, lowest

    def _options(self, k: int, rows: Floats) -> list[Floats]:
        """Values of feature k of individuals similar to the rows: lists of one value a row."""
        judge, own, relation = self.judge, rows[:, k], self.judge.relations[k]
        if relation.kind == "free":
            return [np.full(len(rows), value) for value in judge.values(k)]
        if relation.tolerance is not None:
            reach = float(relation.tolerance)
            return [own, np.minimum(own + reach, judge.hi[k]), np.maximum(own - reach, judge.lo[k])]
        partners = [relation.partners(code, int(judge.hi[k]) + 1) for code in range(int(judge.hi[k]) + 1)]
        return [
            np.array([float(partners[int(code)][min(i, len(partners[int(code)]) - 1)]) for code in own])
            for i in range(max(map(len, partners)))
        ]

    def seeds(self) -> Floats:
        """Individuals who are treated differently, deepest in the layer first; maybe none."""
        judge = self.judge
        rows = np.concatenate(
            [judge.drawn(judge.lo, judge.hi, MOST_PEOPLE), judge.problem.rows[:MOST_PEOPLE]]
        )
        rows = rows[judge.valid(rows)]
        if not len(rows):
            return rows
        highest, lowest = self.extremes(rows)
        above = highest + lowest > 0
        found = [rows]
        if above.any() and not above.all():
            places = judge.random.integers(0, [[above.sum()], [(~above).sum()]], size=(2, MOST_PEOPLE))
            found.append(self._bisect_between(rows[above][places[0]], rows[~above][places[1]]))
        rows = np.unique(np.concatenate(found), axis=0)
        highest, lowest = self.extremes(rows)
        depth = np.where(judge.valid(rows), np.minimum(highest, -lowest), -np.inf)
        order = np.argsort(-depth, kind="stable")
        deepest: Floats = rows[order[depth[order] > 0]]
        return deepest

    def _bisect_between(self, above: Floats, below: Floats) -> Floats:
        """On the way from each row above to the one below: the last one known to be above."""
        near, far = np.zeros(len(above)), np.ones(len(above))
        for _ in range(HALVINGS):
            middle = (near + far) / 2
            highest, lowest = self.extremes(self._point_between(above, below, middle))
            up = highest + lowest > 0
            near, far = np.where(up, middle, near), np.where(up, far, middle)
        return self._point_between(above, below, near)

    def _point_between(self, above: Floats, below: Floats, part: Floats) -> Floats:
        points = above + part[:, None] * (below - above)
        rows: Floats = np.where(self.judge.discrete, np.round(points), points)
        return rows

    # -- boxes ------------------------------------------------------------------------------------------------

    def grown(self, seed: Floats, lo: Floats, hi: Floats, budget: Budget) -> GrownBox | None:
        """A box around the seed inside of [lo, hi] in which everybody is treated differently."""
        best = self.judge.best_changes(seed, seed)
        if best is None:
            return None
        ends = {(k, up): self._ends(seed, k, lo, hi, up=up) for k in self.judge.cut for up in (False, True)}
        places = self._fill_ends(seed, ends, best, budget)
        if places is None:
            return None
        self._widen(seed, ends, places, best, budget)
        low, high = self._box(seed, ends, places)
        chosen = (ends[key][place].cut for key, place in places.items())
        return GrownBox(
            lo=low,
            hi=high,
            changes=best,
            cuts=tuple(cut for cut in chosen if cut is not None),
        )

    def _ends(self, seed: Floats, k: int, lo: Floats, hi: Floats, *, up: bool) -> list[BoxEnd]:
        """Ends of the box in one direction, the nearest first, the limit last."""
        limit = float(hi[k] if up else lo[k])
        codes = self._codes(float(seed[k]), k, limit)
        rows = np.repeat(seed[None], len(codes) + 1, axis=0)
        rows[1:, k] = codes
        scores = self.judge.problem.scored(rows)
        effects = np.maximum.accumulate(np.abs(scores[1:] - scores[0]))
        ends = []
        for code, effect in zip(codes, effects.tolist(), strict=True):
            cut = None if code == limit else self._cut(k, code, hi, up=up)
            at = code if up or cut is None or cut.after is None else cut.after
            ends.append(BoxEnd(at=at, cut=cut, effect=effect))
        return ends

    def _codes(self, own: float, k: int, limit: float) -> list[float]:
        """Codes from the seed's own to the limit, closer to each other near the seed; jumps of the score are among them."""
        way = limit - own
        if self.judge.discrete[k]:
            steps = {int(abs(way) / 2 ** (i / 4)) for i in range(4 * FINEST_HALVINGS)} | {0}
            near = set(range(min(int(abs(way)), MOST_STEPS // 2) + 1))
            return [own + np.sign(way) * step for step in sorted(steps | near)]
        found = {limit}
        for i in range(FINEST_HALVINGS):
            distance = abs(way) / 2 ** (i / 2)
            code = self.user.short(k, float(own + np.sign(way) * distance), distance)
            if min(own, limit) < code < max(own, limit):
                found.add(code)
        marks = self.judge.problem.marks.get(k)
        if marks is not None:
            beside = (
                marks[(marks >= own) & (marks < limit)] if way > 0 else marks[(marks < own) & (marks > limit)]
            )
            found |= set(sorted(beside.tolist(), key=lambda mark: abs(mark - own))[:MOST_STEPS])
        return sorted(found, key=lambda code: abs(code - own))

    def _cut(self, k: int, code: float, hi: Floats, *, up: bool) -> Cut:
        """The cut behind the last code of a box, or before its first one."""
        if self.judge.discrete[k]:
            return Cut(k, code, code + 1) if up else Cut(k, code - 1, code)
        return self.cutter.sharpen(Cut(k, code), hi)

    def _fill_ends(
        self,
        seed: Floats,
        ends: dict[tuple[int, bool], list[BoxEnd]],
        best: tuple[Change, Change],
        budget: Budget,
    ) -> dict[tuple[int, bool], int] | None:
        """For each direction the place of its end, all of at most the same effect; None if not even the nearest ends will do."""
        effects = sorted({end.effect for row in ends.values() for end in row})
        first, last = (
            0,
            len(effects),
        )  # the effects before `first` are known to hold, those from `last` on not to

        def places_at(effect: float) -> dict[tuple[int, bool], int]:
            return {key: max(sum(end.effect <= effect for end in row) - 1, 0) for key, row in ends.items()}

        while first < last and not budget.over:
            middle = (first + last) // 2
            box = self._box(seed, ends, places_at(effects[middle]))
            if self._holds(*box, best, budget):
                first = middle + 1
            else:
                last = middle
        return places_at(effects[first - 1]) if first else None

    def _widen(
        self,
        seed: Floats,
        ends: dict[tuple[int, bool], list[BoxEnd]],
        places: dict[tuple[int, bool], int],
        best: tuple[Change, Change],
        budget: Budget,
    ) -> None:
        """Move single ends further, in turn, as long as both decisions hold."""
        left = MOST_TRIES if self.judge.sides.bounder.exact else MOST_SLOW_TRIES
        movable = [key for key, row in ends.items() if places[key] + 1 < len(row)]
        while movable and left > 0 and not budget.over:
            kept = []
            for key in movable:
                left -= 1
                wider = {**places, key: places[key] + 1}
                if self._holds(*self._box(seed, ends, wider), best, budget):
                    places[key] += 1
                    if places[key] + 1 < len(ends[key]):
                        kept.append(key)
            movable = kept

    def _box(
        self, seed: Floats, ends: dict[tuple[int, bool], list[BoxEnd]], places: dict[tuple[int, bool], int]
    ) -> tuple[Floats, Floats]:
        """Features that may differ freely take all their values."""
        lo, hi = seed.copy(), seed.copy()
        for k in self.judge.changing:
            if self.judge.relations[k].kind == "free":
                lo[k], hi[k] = self.judge.lo[k], self.judge.hi[k]
        for (k, up), place in places.items():
            (hi if up else lo)[k] = ends[k, up][place].at
        return lo, hi

    def _holds(self, lo: Floats, hi: Floats, best: tuple[Change, Change], budget: Budget) -> bool:
        """Whether everybody in the box has both counterparts, with both decisions."""
        box = self.user.box(lo, hi)
        counterparts = self.user.counterparts(best, mirrored=self.judge.prepared.mirrored)
        if not all(one.exists(box) and one.similar(box, self.given) for one in counterparts):
            return False
        return self.judge.are_opposed(lo, hi, best, budget)
