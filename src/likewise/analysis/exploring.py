"""Exploring: a partition of the space into boxes that look fair, biased or neither, by branch and bound.

Boxes are over what an individual has: features that are `free` are never cut, since whoever is in a box may be changed in them and
stays in it. The largest box is taken first and gets the first kind that fits:

    empty      a constraint excludes it as a whole
    biased     two *counterparts*: ways to change everybody in it into somebody similar, such that one of them gets the upper decision
               throughout and the other one the lower; so whoever is in the box differs from one of them
    fair       a short search over the pairs of everybody similar to somebody in it ends with all cells closed
    undecided  none of that, and it can be cut no further; else it is cut where its scores move most

All of this only proposes: `settling` proves what is reported.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.analysis.counterparts import Change, Counterpart, excluded
from likewise.bounds.families import oracle_of
from likewise.model.question import DecisionQuestion
from likewise.model.scored import score_of
from likewise.progress import Snapshot, silent
from likewise.search.branch_and_bound import Search
from likewise.search.sided import LOWER, UPPER, Sided
from likewise.spec.boxes import Box, full
from likewise.spec.features import Categorical, Integer, Ordinal
from likewise.spec.pairs import pairs_of
from likewise.spec.similarity import Relation
from likewise.spec.space import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.budget import Budget
    from likewise.search.problem import Problem
    from likewise.spec.pairs import PairSpace
    from likewise.verifying.preparing import Prepared

    Floats = NDArray[np.float64]

Kind = Literal["fair", "biased", "undecided", "empty"]

FAIR_CELLS = 96  # spent on one box before it is cut
SIDE_CELLS = 24
MOST_CHANGES = 256  # combinations of values of what may differ that are scored
MANY_VALUES = 12  # of a number that may differ: beyond that its ends and middle stand for it
SAMPLE = 64  # individuals of a box that are looked at before it is bounded
SAMPLED_CHANGES = 32
DIFFERENTLY = 2  # how an individual is treated beside those it is similar to, if not like all of them (0, 1)
LEAST_GAIN = 0.005  # of impurity, for a cut to be better than one in two
LEAST_MEASURE = 1e-7  # smaller boxes are not cut any further
BASES = 4  # individuals of a box at which its features are moved, to see where it should be cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Tries:
    """How many cuts are tried: of so many features that move the score most, at so many places each."""

    features: int
    places: int


EXACT_TRIES = Tries(features=64, places=7)
OTHER_TRIES = Tries(features=2, places=3)  # where bounds take time


@dataclass(frozen=True, slots=True)
class Cut:
    """Of one feature: the left part ends at `at`, the right one starts at `after`, or at `at` as well."""

    feature: int
    at: float
    after: float | None = None

    def children(self, lo: Floats, hi: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        left_hi, right_lo = hi.copy(), lo.copy()
        left_hi[self.feature] = self.at
        right_lo[self.feature] = self.at if self.after is None else self.after
        return (lo, left_hi), (right_lo, hi)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Some individuals of a box: 0 or 1 if they are treated like all counterparts, lower or upper, else DIFFERENTLY."""

    rows: Floats
    treated: NDArray[np.intp]

    @property
    def differently(self) -> NDArray[np.bool_]:
        told: NDArray[np.bool_] = self.treated == DIFFERENTLY
        return told

    def told_apart(self, cuts: list[Cut]) -> Floats:
        """By how much each cut lowers the impurity (Gini's) of how they are treated."""
        kinds = np.eye(DIFFERENTLY + 1)[self.treated]
        features = [cut.feature for cut in cuts]
        left = (self.rows[:, features] <= np.array([cut.at for cut in cuts])).astype(float)
        counts = left.T @ kinds
        others = kinds.sum(axis=0) - counts
        return _purity(counts) + _purity(others) - _purity(kinds.sum(axis=0)[None])


def _purity(counts: Floats) -> Floats:
    """Of groups by the counts of their kinds, weighted with their sizes; 1 for one that is everybody and of one kind."""
    total = counts.sum(axis=1)
    purity: Floats = (counts**2).sum(axis=1) / np.maximum(total, 1) / SAMPLE
    return purity


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A box of the partition with its share of the space, and the counterparts that make it biased: upper, lower."""

    kind: Kind
    box: Box
    share: Fraction
    counterparts: tuple[Counterpart, ...] = ()


@dataclass(order=True, slots=True)
class _Open:
    rank: float
    number: int
    lo: Floats = field(compare=False)
    hi: Floats = field(compare=False)
    share: Fraction = field(compare=False)


class Ground:
    """A claim as the exploration sees it: boxes are intervals of codes of the space that the model is over."""

    def __init__(self, prepared: Prepared, space: Space, *, asks_decisions: bool) -> None:
        self.prepared, self.space, self.asks_decisions = prepared, space, asks_decisions
        self.problem: Problem = replace(prepared.problem, replay=_Unasked(), listener=silent)
        self.pairs = prepared.pairs
        self.relations: tuple[Relation, ...] = self.pairs.relations
        self.over = self.pairs.space
        self.sides = self._alone()
        firsts = [self.pairs.variables[v] for v in self.pairs.first]
        self.lo = np.array([float(v.lo) for v in firsts])
        self.hi = np.array([float(v.hi) for v in firsts])
        self.discrete = np.array([v.discrete for v in firsts])
        self.cut = [k for k, relation in enumerate(self.relations) if relation.kind != "free"]
        self.changing = [k for k, relation in enumerate(self.relations) if relation.kind != "same"]
        self.constraints = [constraint.scorer() for constraint in self.pairs.constraints]
        self.random = np.random.default_rng(0)

    def _alone(self) -> Problem:
        """The problem of individuals beside themselves, about their decisions."""
        model = self.prepared.imported.model
        score = score_of(model, len(self.over))
        if self.prepared.mirrored:
            score = score.negated()
        everybody = Space(self.over.features)
        pairs = pairs_of(everybody, (Relation("same"),) * len(everybody))
        return replace(
            self.problem,
            pairs=pairs,
            oracle=oracle_of(score, pairs),
            scores=self.problem.scores,
            question=DecisionQuestion(level=Fraction(0)),
        )

    def warm_up(self) -> None:
        """What the oracles do once, and not on the budget's time."""
        self.problem.oracle.warm_up()
        self.sides.oracle.warm_up()

    # -- boxes of codes -----------------------------------------------------------------------------------

    def box(self, lo: Floats, hi: Floats) -> Box:
        """The user's box of an interval of codes."""
        parts = []
        for k, name in enumerate(self.space.names):
            feature, ends = self.space[name], (float(lo[k]), float(hi[k]))
            if isinstance(feature, (Categorical, Ordinal)):
                codes = range(int(ends[0]), int(ends[1]) + 1)
                parts.append(tuple(sorted(feature.position(self.over.value(k, c)) for c in codes)))
            else:
                low, high = (self.over.value(k, end) for end in ends)
                parts.append((low, high) if isinstance(feature, Integer) else ends)
        return Box(self.space, tuple(parts))  # type: ignore[arg-type]

    def code(self, k: int, code: float) -> float:
        """The user's code of a code."""
        feature = self.space[self.space.names[k]]
        value = self.over.value(k, code)
        return feature.position(value) if isinstance(feature, (Categorical, Ordinal)) else value  # type: ignore[return-value]

    def codes(self, box: Box) -> tuple[Floats, Floats] | None:
        """The interval of codes that a user's box is; None if its levels are not next to each other here."""
        lo, hi = self.lo.copy(), self.hi.copy()
        for k, (name, part) in enumerate(zip(self.space.names, box.parts, strict=True)):
            feature, over = self.space[name], self.over[name]
            if isinstance(feature, (Categorical, Ordinal)):
                values: Sequence[Any] = [feature.levels[int(p)] for p in part]
            else:
                values = part
            places = (
                sorted(over.position(v) for v in values)
                if isinstance(over, (Categorical, Ordinal))
                else values
            )
            lo[k], hi[k] = places[0], places[-1]
        return (lo, hi) if self.box(lo, hi) == box else None

    def reached(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """An interval of codes around everybody who is similar to somebody in the box."""
        low, high = lo.copy(), hi.copy()
        for k in self.changing:
            relation = self.relations[k]
            if relation.tolerance is not None:
                reach = float(relation.tolerance)
                low[k], high[k] = lo[k] - reach, hi[k] + reach
                if not self.discrete[k]:
                    low[k], high[k] = np.nextafter(low[k], -np.inf), np.nextafter(high[k], np.inf)
            elif relation.kind == "pairs":
                inside = range(int(lo[k]), int(hi[k]) + 1)
                others = [p for at in inside for p in relation.partners(at, int(self.hi[k]) + 1)]
                low[k], high[k] = min(others), max(others)
            else:
                low[k], high[k] = self.lo[k], self.hi[k]
        return np.maximum(low, self.lo), np.minimum(high, self.hi)

    # -- what a box is ------------------------------------------------------------------------------------

    def looks_fair(self, lo: Floats, hi: Floats, looked: Looked, budget: Budget) -> bool:
        """Whether a short search shows that everybody similar to somebody in the box gets one decision, where those who are looked
        at do; else whether it closes all their pairs."""
        cells = FAIR_CELLS if self.problem.oracle.exact else FAIR_CELLS // 2
        treated = set(looked.treated.tolist())
        if self.asks_decisions and len(treated) == 1:
            pairs = narrowed(self.sides.pairs, *self.reached(lo, hi))
            lean = UPPER if 1 in treated else LOWER
            if (
                Sided(problem=replace(self.sides, pairs=pairs, budget=budget), lean=lean).run(most=cells)
                == "closed"
            ):
                return True
            if not self.problem.oracle.exact:
                return False
        pairs = narrowed(self.pairs, *self.reached(lo, hi))
        search = Search(problem=replace(self.problem, pairs=pairs, budget=budget, unreplayed=[]))
        return search.run(most=cells) == "closed"

    def decides(self, lo: Floats, hi: Floats, change: Change, lean: int, budget: Budget) -> bool:
        """Whether everybody in the box, so changed, gets the decision of `lean`."""
        pairs = narrowed(self.sides.pairs, *change.applied(lo, hi, self.discrete))
        search = Sided(problem=replace(self.sides, pairs=pairs, budget=budget), lean=lean)
        return search.run(most=SIDE_CELLS) == "closed"

    def changes(self, lo: Floats, hi: Floats) -> list[Change]:
        """Ways to change everybody in the box into somebody similar."""
        choices = [self._choices(k, lo, hi) for k in self.changing]
        if not all(choices):
            return []
        count = int(np.prod([float(len(c)) for c in choices]))
        if count <= MOST_CHANGES:
            picked: Iterator[Sequence[tuple[str, Any]]] = product(*choices)
        else:
            picked = (
                [choice[int(self.random.integers(len(choice)))] for choice in choices]
                for _ in range(MOST_CHANGES)
            )
        return [Change.of(dict(zip(self.changing, how, strict=True))) for how in picked]

    def _choices(self, k: int, lo: Floats, hi: Floats) -> list[tuple[str, Any]]:
        relation = self.relations[k]
        if relation.kind == "free":
            return [("set", code) for code in self._values(k)]
        if relation.kind == "pairs":
            inside = range(int(lo[k]), int(hi[k]) + 1)
            shared = set.intersection(*(set(relation.partners(p, int(self.hi[k]) + 1)) for p in inside))
            return [("set", float(p)) for p in sorted(shared)]
        reach = relation.tolerance or Fraction(0)
        up = min(reach, Fraction(self.hi[k]) - Fraction(hi[k]))
        down = min(reach, Fraction(lo[k]) - Fraction(self.lo[k]))
        return [("move", step) for step in sorted({Fraction(0), up, -down})]

    def _values(self, k: int) -> list[float]:
        if self.discrete[k] and self.hi[k] - self.lo[k] < MANY_VALUES:
            return [float(code) for code in range(int(self.lo[k]), int(self.hi[k]) + 1)]
        middle = (self.lo[k] + self.hi[k]) / 2
        return [float(self.lo[k]), float(np.floor(middle)) if self.discrete[k] else middle, float(self.hi[k])]

    def middle(self, lo: Floats, hi: Floats) -> Floats:
        """The individual in the middle of a box."""
        half: Floats = np.where(self.discrete, np.floor((lo + hi) / 2), lo + (hi - lo) / 2)
        return half

    def best_changes(self, lo: Floats, hi: Floats) -> tuple[Change, Change] | None:
        """The changes that take the individual in the middle furthest up and down; None if both are decided alike."""
        changes = self.changes(lo, hi)
        if not changes:
            return None
        rows = np.stack([change.row(self.middle(lo, hi)) for change in changes])
        scores = self.problem.scores(rows)
        up, down = int(scores.argmax()), int(scores.argmin())
        return (changes[up], changes[down]) if scores[up] > 0 >= scores[down] else None

    def counterparts(self, lo: Floats, hi: Floats, budget: Budget) -> tuple[Counterpart, ...]:
        """Upper and lower counterparts of everybody in the box; none where they are not found."""
        if not self.asks_decisions:
            return ()
        best = self.best_changes(lo, hi)
        if best is None:
            return ()
        box = self.box(lo, hi)
        found = tuple(
            Counterpart(change=change.translated(self.code), lean=lean)
            for change, lean in zip(best, (UPPER, LOWER), strict=True)
        )
        if not all(counterpart.exists(box) for counterpart in found):
            return ()
        if all(
            self.decides(lo, hi, change, lean, budget)
            for change, lean in zip(best, (UPPER, LOWER), strict=True)
        ):
            return found
        return ()

    # -- a look at some individuals ------------------------------------------------------------------------

    def looked_at(self, lo: Floats, hi: Floats) -> Looked:
        """Some individuals of the box, and how they are treated beside their counterparts, in float64."""
        points = lo + self.random.random((SAMPLE, len(lo))) * (hi - lo)
        whole = np.floor(lo + self.random.random((SAMPLE, len(lo))) * (hi - lo + 1))
        rows = np.clip(np.where(self.discrete, whole, points), lo, hi)
        rows[0] = self.middle(lo, hi)
        changes = self.changes(lo, hi)[:SAMPLED_CHANGES]
        changed = np.stack([rows, *(change.row(rows) for change in changes)])
        everybody = changed.reshape(-1, len(lo))
        shape, valid = changed.shape[:2], self._valid(everybody)
        scores = self.problem.scores(everybody)
        highest = np.where(valid, scores, -np.inf).reshape(shape).max(axis=0)
        lowest = np.where(valid, scores, np.inf).reshape(shape).min(axis=0)
        kept = valid.reshape(shape)[0]
        rows, highest, lowest = rows[kept], highest[kept], lowest[kept]
        witness = self.problem.question.margin(highest, lowest) > 0
        return Looked(rows=rows, treated=np.where(witness, DIFFERENTLY, (highest > 0).astype(int)))

    def _valid(self, rows: Floats) -> NDArray[np.bool_]:
        """Who satisfies the constraints, in float64."""
        valid = np.ones(len(rows), dtype=bool)
        for constraint in self.constraints:
            valid &= constraint(rows) <= 0
        return valid

    # -- where to cut -------------------------------------------------------------------------------------

    def spreads(self, lo: Floats, hi: Floats) -> Floats:
        """For each feature how much scores move with it, at a few individuals of the box."""
        bases = [self.middle(lo, hi)]
        for _ in range(BASES - 1):
            point = lo + self.random.random(len(lo)) * (hi - lo)
            bases.append(np.clip(np.where(self.discrete, np.round(point), point), lo, hi))
        moved = [(k, self._grid(k, lo, hi)) for k in self.cut if lo[k] < hi[k]]
        spread = np.zeros(len(lo))
        if not moved:
            return spread
        blocks = []
        for k, values in moved:
            rows = np.repeat(np.stack(bases), len(values), axis=0)
            rows[:, k] = np.tile(values, len(bases))
            blocks.append(rows)
        scores, start = self.problem.scores(np.concatenate(blocks)), 0
        for k, values in moved:
            block = scores[start : start + len(bases) * len(values)].reshape(len(bases), len(values))
            spread[k] = float((block.max(axis=1) - block.min(axis=1)).mean())
            start += block.size
        return spread

    def _grid(self, k: int, lo: Floats, hi: Floats) -> Floats:
        if self.discrete[k] and hi[k] - lo[k] < MANY_VALUES:
            return np.arange(lo[k], hi[k] + 1)
        points = np.linspace(lo[k], hi[k], 5)
        return np.round(points) if self.discrete[k] else points

    def place(self, lo: Floats, hi: Floats, looked: Looked) -> Cut | None:
        """Where to cut: so that much is decided at once, by bounds; else so that those who are looked at are told apart; else
        in two. None for a single point."""
        can = np.where(self.discrete, hi > lo, self._halfway(lo, hi))
        can &= np.isin(np.arange(len(lo)), self.cut)
        if not can.any():
            return None
        width = (hi - lo) / np.maximum(self.hi - self.lo, 1e-300)
        rank = np.where(can, 1e-12 * (1 + width) + self.spreads(lo, hi), -1.0)
        order = [int(k) for k in np.argsort(-rank, kind="stable") if can[k]]
        effort = EXACT_TRIES if self.sides.oracle.exact else OTHER_TRIES
        cuts = [cut for k in order[: effort.features] for cut in self._cuts(k, lo, hi, effort.places)]
        gains = self._gains(lo, hi, cuts)
        if gains.max(initial=0.0) > 0:
            return cuts[int(gains.argmax())]
        cuts = [cut for k in order for cut in self._cuts(k, lo, hi, EXACT_TRIES.places)]
        apart = looked.told_apart(cuts)
        if apart.max(initial=0.0) > LEAST_GAIN:
            return cuts[int(apart.argmax())]
        return self._in_two(order[0], lo, hi)

    def _cuts(self, k: int, lo: Floats, hi: Floats, places: int) -> list[Cut]:
        """Evenly spaced cuts of feature k."""
        if not self.discrete[k]:
            cuts = (Cut(k, float(lo[k] + (hi[k] - lo[k]) * i / (places + 1))) for i in range(1, places + 1))
            return [self._sharp(cut, hi) for cut in cuts if lo[k] < cut.at < hi[k]]
        count = int(hi[k] - lo[k])
        steps = sorted(
            {round(count * i / (places + 1)) for i in range(1, places + 1)}
            if count > places
            else range(count)
        )
        return [Cut(k, float(lo[k]) + step, float(lo[k]) + step + 1) for step in steps if step < count]

    def _sharp(self, cut: Cut, hi: Floats) -> Cut:
        """A cut of a continuous number, between two doubles where the score jumps."""
        after = self.sides.oracle.after(cut.feature, cut.at)
        return cut if after is None or after > hi[cut.feature] else replace(cut, after=after)

    def _in_two(self, k: int, lo: Floats, hi: Floats) -> Cut:
        """The cut of feature k that the oracle would make; levels where their scores are furthest apart."""
        if isinstance(self.over[self.over.names[k]], (Categorical, Ordinal)):
            at = self._gap(k, lo, hi)
            return Cut(k, at, at + 1)
        loss = np.zeros((1, len(lo)))
        loss[0, k] = 1.0
        variable, cut = self.sides.oracle.branch(lo[None], hi[None], loss, None)
        at = float(cut[0]) if int(variable[0]) == k else float(self.middle(lo, hi)[k])
        if self.discrete[k]:
            at = min(at, float(hi[k]) - 1)
            return Cut(k, at, at + 1)
        return self._sharp(Cut(k, at), hi)

    def _gains(self, lo: Floats, hi: Floats, cuts: list[Cut]) -> Floats:
        """For each cut the share of the box that its parts decide at once, by bounds."""
        if not cuts:
            return np.zeros(0)
        children = [child for cut in cuts for child in cut.children(lo, hi)]
        decided = self._uniform(children)
        best = self.best_changes(lo, hi) if self.asks_decisions else None
        if best is not None:
            decided |= self._biased(children, best)
        width = hi - lo + self.discrete
        features = np.repeat([cut.feature for cut in cuts], 2)
        parts = np.array([high - low + self.discrete for low, high in children])
        volume = (parts / np.where(width > 0, width, 1))[np.arange(len(children)), features]
        gains: Floats = (decided * volume).reshape(len(cuts), 2).sum(axis=1)
        return gains

    def _uniform(self, boxes: list[tuple[Floats, Floats]]) -> NDArray[np.bool_]:
        """Whether everybody similar to somebody in a box gets one decision: fair, whatever the pairs."""
        if not self.asks_decisions:
            return np.zeros(len(boxes), dtype=bool)
        reached = [self.reached(lo, hi) for lo, hi in boxes]
        return self._sure(reached, UPPER) | self._sure(reached, LOWER)

    def _biased(self, boxes: list[tuple[Floats, Floats]], best: tuple[Change, Change]) -> NDArray[np.bool_]:
        up, down = ([change.applied(lo, hi, self.discrete) for lo, hi in boxes] for change in best)
        return self._sure(up, UPPER) & self._sure(down, LOWER)

    def _sure(self, boxes: list[tuple[Floats, Floats]], lean: int) -> NDArray[np.bool_]:
        """Whether everybody in a box gets the decision of `lean`, by one bound each."""
        lo, hi = np.stack([lo for lo, _ in boxes]), np.stack([hi for _, hi in boxes])
        leans = np.full(len(lo), float(lean))
        bounds = self.sides.oracle.bound(lo, hi, leans, np.zeros(len(lo)))
        sure: NDArray[np.bool_] = bounds.upper < -bounds.noise if bounds.closes is None else bounds.closes
        return sure

    def parts(self, cut: Cut, lo: Floats, hi: Floats) -> tuple[Fraction, Fraction]:
        """The shares of a box that the parts of a cut have: they add up to one, whatever lies between its two sides."""
        k, low, high = cut.feature, Fraction(lo[cut.feature]), Fraction(hi[cut.feature])
        if self.discrete[k]:
            left = Fraction(int(cut.at) - int(low) + 1, int(high) - int(low) + 1)
        else:
            left = (Fraction(cut.at) - low) / (high - low)
        return left, 1 - left

    def _halfway(self, lo: Floats, hi: Floats) -> NDArray[np.bool_]:
        middle = lo + (hi - lo) / 2
        inside: NDArray[np.bool_] = (middle > lo) & (middle < hi)
        return inside

    def _gap(self, k: int, lo: Floats, hi: Floats) -> float:
        """Between the two levels, in their order, whose scores are furthest apart."""
        values = np.arange(lo[k], hi[k] + 1)
        rows = np.repeat(self.middle(lo, hi)[None], len(values), axis=0)
        rows[:, k] = values
        return float(values[int(np.abs(np.diff(self.problem.scores(rows))).argmax())])


def explore(ground: Ground, budget: Budget, listener: Any, *, most: int) -> list[Found]:
    """The partition reached within the budget, or with `most` boxes that are settled."""
    found: list[Found] = []
    waiting = [_Open(-1.0, 0, ground.lo.copy(), ground.hi.copy(), Fraction(1))]
    number, settled = 1, Fraction(0)
    while waiting and not budget.over and len(found) < most:
        node = heapq.heappop(waiting)
        kind, counterparts, cut = _judged(ground, node, budget)
        if cut is None:
            found.append(
                Found(
                    kind=kind, box=ground.box(node.lo, node.hi), share=node.share, counterparts=counterparts
                )
            )
            settled += node.share
        else:
            for child in _children(ground, node, cut, number):
                heapq.heappush(waiting, child)
            number += 2
        listener(
            Snapshot(
                stage="looking for regions",
                seconds=budget.elapsed,
                closed=len(found),
                open=len(waiting),
                share=float(settled),
            )
        )
    found += [Found(kind="undecided", box=ground.box(node.lo, node.hi), share=node.share) for node in waiting]
    return found


def _judged(ground: Ground, node: _Open, budget: Budget) -> tuple[Kind, tuple[Counterpart, ...], Cut | None]:
    """What a box is, and where to cut it if it is undecided. Where some of those who are looked at are treated differently and some are
    not, there is nothing to prove."""
    lo, hi = node.lo, node.hi
    if ground.space.constraints and excluded(ground.box(lo, hi)):
        return "empty", (), None
    looked = ground.looked_at(lo, hi)
    if len(looked.rows) and looked.differently.all():
        found = ground.counterparts(lo, hi, budget)
        if found:
            return "biased", found, None
        if not ground.asks_decisions:
            return "undecided", (), None
    if not looked.differently.any() and ground.looks_fair(lo, hi, looked, budget):
        return "fair", (), None
    return "undecided", (), ground.place(lo, hi, looked) if node.share > LEAST_MEASURE else None


def _children(ground: Ground, node: _Open, cut: Cut, number: int) -> Iterator[_Open]:
    shares = ground.parts(cut, node.lo, node.hi)
    for n, ((lo, hi), share) in enumerate(zip(cut.children(node.lo, node.hi), shares, strict=True)):
        measure = node.share * share
        yield _Open(-float(measure), number + n, lo, hi, measure)


def narrowed(pairs: PairSpace, lo: Floats, hi: Floats) -> PairSpace:
    """The pairs of which both individuals lie in a box of codes."""
    variables = tuple(
        variable
        if variable.side == "difference"
        else replace(variable, lo=float(lo[variable.feature]), hi=float(hi[variable.feature]))
        for variable in pairs.variables
    )
    return replace(pairs, variables=variables)


class _Unasked:
    """What only proposes is not replayed."""

    def confirms(self, *_: Any) -> bool:
        return True
