"""Nested bounder: bounds of a F(x) - b G(x') over cells, F and G two functions of the same inner scores, by limits of these.

An inner score is limited at x and at x' by one-sided lines of its own family, and by the cell, which may be cut by inner scores themselves (`inner quantities`). So the inner scores of
all pairs lie in a cell of the *outer space*, which has one number for each; what one falls or rises by from x to x' at most is the relation of that number there. Trees are bounded over that
cell by their own family's bounder, whose cuts are cuts by inner scores; once it has found a pair of the outer space that attains its bound, only what people can be tells more, and features are cut. A median is
bounded by its limits (`median`), and features are cut where the tree wants it that can fall most.

Bounds are float64 and only propose: every limit comes with a threshold that is rounded up, and the checker has all of them proved by the rules of the inner scores' own families.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.cells.leaf import Clearance, InnerLimits, Leaf, PartLine, Rule
from likewise.errors import InternalError
from likewise.families.oracle import Bounder, Bounds
from likewise.families.registry import bounder_of
from likewise.families.sums.links import IDENTITY
from likewise.families.sums.part_lines import ROOM, Line, PartBounder
from likewise.model.witness_set import LEAN_GRID
from likewise.spec.features import Continuous
from likewise.spec.pairs import make_pair_space
from likewise.spec.relations import Relation
from likewise.spec.space import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.nested.body import NestedScore
    from likewise.model.witness_set import WitnessSet
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

BATCH = 32  # cells that are bounded together
COPIES = 2  # of an inner score: at x and at x'
LEAST_EXCESS = 1e-300
PLAIN_RULES = ("separable", "trees")  # whose lines say all by their threshold
EVEN_LEAN = 0.5


@dataclass(slots=True)
class CellLimits:
    """Limits of all inner scores over cells: (cells, inner) at x from below and above, at x' from below and above, and how much they fall and rise at most; with the lines that show them."""

    ends: list[Floats]
    fall: Floats
    rise: Floats
    lines: list[
        list[Line | None]
    ]  # by inner score: six, None where the cell's own limit is sharper or none is needed
    nobody: NDArray[np.bool_]


class NestedBounder(Bounder):
    """Oracle of one function at x, and the same or another one of the same inner scores at x'."""

    rule: Rule = "nested"
    exact = False
    batch = BATCH

    def __init__(self, score: NestedScore, pairs: PairSpace, second: NestedScore | None = None) -> None:
        self.score, self.pairs = score, pairs
        self.other = score if second is None else second
        plain = replace(pairs, inner=0)
        self.first = np.array(pairs.first, dtype=np.intp)
        self.second = np.array(pairs.second, dtype=np.intp)
        self.discrete = np.array([v.discrete for v in pairs.variables])
        self.codes = len(pairs.variables)
        self.inner = [PartBounder(one, IDENTITY, plain) for one in score.inner]
        self.root = np.array([[float(v.lo), float(v.hi)] for v in pairs.variables]).T
        differing = [k for k, (i, j) in enumerate(zip(pairs.first, pairs.second, strict=True)) if i != j]
        # Lines of some families hold in the cell alone that they are made for.
        self.hinted = [one.rule not in PLAIN_RULES for one in self.inner]
        self.alike = np.array(
            [
                not hinted and not any(one.depends(k) for k in differing)
                for one, hinted in zip(score.inner, self.hinted, strict=True)
            ]
        )
        self._outer: OuterTrees | None = None

    @property
    def outer(self) -> OuterTrees:
        """The trees over the outer space, made when they are first needed."""
        if self._outer is None:
            self._outer = OuterTrees(self)
        return self._outer

    def warm_up(self) -> None:
        for one in self.inner:
            one.of(1).warm_up()

    # -- limits ---------------------------------------------------------------------------------------------------

    def limit(self, lo: Floats, hi: Floats, *, apart: bool) -> CellLimits:
        """Limits of the inner scores over cells; `apart`: of their differences as well, of each cell."""
        count, inner = len(lo), len(self.inner)
        ends = [np.empty((count, inner)) for _ in range(4)]
        fall, rise = np.full((count, inner), np.inf), np.full((count, inner), np.inf)
        nobody, lines = np.zeros(count, dtype=bool), []
        one, zero, half = np.ones(count), np.zeros(count), np.full(count, 0.5)
        low, high = lo[:, : self.codes], hi[:, : self.codes]
        for k, part in enumerate(self.inner):
            own: list[Line | None] = [
                part.line(sign, low, high, lean)
                for sign, lean in ((-1, one), (1, one), (1, zero), (-1, zero))
            ]
            own += [None, None]
            if apart or self.hinted[k]:
                own[4:] = [self.difference(k, sign, low, high, half) for sign in (1, -1)]
            for line in own:
                if line is not None:
                    nobody |= np.isneginf(line.upper)
            signs = (-1, 1, -1, 1)
            for n, sign in enumerate(signs):
                found = own[n]
                if found is not None:
                    ends[n][:, k] = sign * found.upper
            if apart and own[4] is not None and own[5] is not None:
                fall[:, k], rise[:, k] = 2 * own[4].upper, 2 * own[5].upper
            lines.append(own)
        if lo.shape[1] > self.codes:
            self._take_own_limits(ends, lo[:, self.codes :], hi[:, self.codes :])
        nobody |= (ends[0] > ends[1]).any(axis=1) | (ends[2] > ends[3]).any(axis=1)
        return CellLimits(ends, fall, rise, lines, nobody)

    @staticmethod
    def _take_own_limits(ends: list[Floats], lo: Floats, hi: Floats) -> None:
        """The cells' own limits, where these are sharper; a lower one is itself left out."""
        for copy in range(COPIES):
            above = np.nextafter(lo[:, copy::COPIES], np.inf)
            ends[2 * copy][:] = np.maximum(ends[2 * copy], above)
            ends[2 * copy + 1][:] = np.minimum(ends[2 * copy + 1], hi[:, copy::COPIES])

    def difference(self, k: int, sign: int, lo: Floats, hi: Floats, half: Floats) -> Line:
        """Half of what inner score k falls (1) or rises (-1) by at most; nothing, exactly, where it looks at nothing that differs."""
        if self.alike[k]:
            return Line(np.zeros(len(lo)))
        return self.inner[k].line(sign, lo, hi, half)

    # -- bounds ---------------------------------------------------------------------------------------------------

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        lean = np.round(lean * LEAN_GRID) / LEAN_GRID
        median = self.score.median
        limits = self.limit(lo, hi, apart=median is not None)
        loss, cuts = np.zeros_like(lo), np.where(np.isfinite(lo), lo, 0.0)
        if median is not None:
            upper, falls = median.bound(limits.ends, limits.fall, limits.rise, lean)
            size = np.abs(upper) + sum(np.abs(end).max(axis=1) for end in limits.ends)
        else:
            upper, size = self.outer.bound(limits, lean, threshold, (lo, hi), (loss, cuts))
        upper = np.where(limits.nobody, -np.inf, np.where(np.isnan(upper), np.inf, upper))
        closes = limits.nobody | (upper + ROOM * np.where(np.isfinite(size), size, 0.0) < threshold)
        if median is not None:
            self._advise_median(lo, hi, falls, ~closes, (loss, cuts))
        points = self._best_points(lo, hi, lean)
        leaves = [self._leaf(limits, i) if closes[i] else () for i in range(len(lo))]
        return Bounds(
            upper=upper,
            first=self.score.scores(points[:, self.first]),
            second=self.other.scores(points[:, self.second]),
            points=points,
            noise=np.zeros(len(lo)),
            closes=closes,
            parts=list(leaves),
            loss=loss,
            cuts=cuts,
        )

    def _leaf(self, limits: CellLimits, i: int) -> tuple[InnerLimits, ...]:
        made = []
        for k, lines in enumerate(limits.lines):
            rule = self.inner[k].rule
            shown: list[PartLine | None] = [
                None if line is None or not np.isfinite(line.upper[i]) else line.at(i, rule) for line in lines
            ]
            if self.score.median is None and not self.hinted[k]:
                shown[4:] = self.outer.shown[k]
            if limits.nobody[i]:  # a limit that no score keeps tells, and so does a line that finds nobody
                shown[:4] = [None if line is None else line.at(i, rule) for line in lines[:4]]
            made.append(InnerLimits(lines=tuple(shown)))
        return tuple(made)

    def _best_points(self, lo: Floats, hi: Floats, lean: Floats) -> Floats:
        """For each cell its middle, or the best of pairs that the inner scores' own bounds are attained at."""
        low, high = lo[:, : self.codes], hi[:, : self.codes]
        best = self.candidates(lo, hi)
        value = self._values(best, lean)
        for k in self._widest_inner(low, high):
            points = self.inner[k].line(1, low, high, np.full(len(lo), 0.5), points=True).points
            if points is not None:
                found = self._values(points, lean)
                better = found > value
                best, value = np.where(better[:, None], points, best), np.where(better, found, value)
        return best

    def _widest_inner(self, lo: Floats, hi: Floats) -> list[int]:  # noqa: ARG002
        return list(range(min(2, len(self.inner))))

    def _values(self, points: Floats, lean: Floats) -> Floats:
        first, second = self.score.scores(points[:, self.first]), self.other.scores(points[:, self.second])
        value: Floats = lean * first - (1 - lean) * second
        return value

    # -- cuts -----------------------------------------------------------------------------------------------------

    def _advise_median(
        self,
        lo: Floats,
        hi: Floats,
        falls: Floats,
        wanted: NDArray[np.bool_],
        advice: tuple[Floats, Floats],
    ) -> None:
        """Features are cut where the score wants it that can fall most, of those that want any cut."""
        order = np.argsort(-falls, axis=1, kind="stable")
        for i in np.flatnonzero(wanted).tolist():
            for k in order[i].tolist():
                if falls[i, k] <= 0:
                    break
                if self.cut_feature(k, lo[i], hi[i], i, advice):
                    break

    def cut_feature(self, k: int, lo: Floats, hi: Floats, i: int, advice: tuple[Floats, Floats]) -> bool:
        """Advise the cut of a feature that inner score k wants; whether it wants one."""
        low, high = lo[: self.codes], hi[: self.codes]
        variable, at = self.inner[k].of(1).branch(low[None], high[None])
        v, place = int(variable[0]), float(at[0])
        if not 0 <= v < self.codes or not low[v] <= place < high[v]:
            return False
        if self.discrete[v] and place != np.floor(place):
            return False
        loss, cuts = advice
        loss[i, v], cuts[i, v] = 1.0, place
        return True

    def branch(
        self, lo: Floats, hi: Floats, loss: Floats | None = None, cuts: Floats | None = None
    ) -> tuple[NDArray[np.intp], Floats]:
        low, high = lo[:, : self.codes], hi[:, : self.codes]
        width, middle = high - low, low + (high - low) / 2
        middle = np.where(self.discrete, np.minimum(np.floor(middle), high - 1), middle)
        can = np.where(self.discrete, width >= 1, (middle > low) & (middle < high))
        rank = np.where(can, 1e-300 + width / np.maximum(self.root[1] - self.root[0], 1e-300), 0.0)
        variable, rows = rank.argmax(axis=1), np.arange(len(lo))
        found = np.where(rank[rows, variable] > 0, variable, -1).astype(np.intp)
        at = middle[rows, variable]
        if loss is None or cuts is None:
            return found, at
        advised = loss.argmax(axis=1)
        known = loss[rows, advised] > 0
        return np.where(known, advised, found), np.where(known, cuts[rows, advised], at)

    def after(self, variable: int, at: float) -> float | None:
        """Between two doubles, where an inner score says so."""
        if variable >= self.codes:
            return None
        found = (one.of(1).after(variable, at) for one in self.inner)
        return next((one for one in found if one is not None), None)

    # -- pairs ----------------------------------------------------------------------------------------------------

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        lo, hi = lo[:, : self.codes], hi[:, : self.codes]
        points = lo + np.where(self.discrete, np.floor((hi - lo) / 2), (hi - lo) / 2)
        for k, relation in enumerate(self.pairs.relations):
            i, j = self.first[k], self.second[k]
            if i != j and relation.kind == "within":
                low, high = relation.reach
                points[:, j] = np.clip(
                    np.clip(points[:, j], points[:, i] + low, points[:, i] + high), lo[:, j], hi[:, j]
                )
        return points

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        low, high = lo[: self.codes], hi[: self.codes]
        found = [one.of(1).starts(low, high) for one in self.inner]
        return np.concatenate([self.candidates(lo[None], hi[None]), *found])

    def codes_to_try(self) -> dict[int, Floats]:
        found: dict[int, list[Floats]] = {}
        for one in self.inner:
            for feature, codes in one.of(1).codes_to_try().items():
                found.setdefault(feature, []).append(codes)
        return {feature: np.unique(np.concatenate(codes)) for feature, codes in found.items()}

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        """Proposed by the float64 bound."""
        if leaf.rule != self.rule or leaf.lean is None or not question.admits(leaf.lean):
            return None
        lean = np.array([float(leaf.lean)])
        closes = self.bound(lo[None], hi[None], lean, question.threshold(lean)).closes
        return Fraction(0) if closes is not None and closes[0] else None


class OuterTrees:
    """Outer trees over the space of the inner scores, by their own family's bounder."""

    def __init__(self, nested: NestedBounder) -> None:
        self.nested = nested
        low, high = nested.root[:1], nested.root[1:]
        limits, half = nested.limit(low, high, apart=False), np.array([0.5])
        self.shown: list[list[PartLine | None]] = []  # what tells how far apart inner scores are
        features, relations = {}, []
        for k, part in enumerate(nested.inner):
            lines = [nested.difference(k, sign, low, high, half) for sign in (1, -1)]
            fall, rise = (2 * float(line.upper[0]) for line in lines)
            if np.isfinite(fall) and np.isfinite(rise):
                self.shown.append([line.at(0, part.rule) for line in lines])
                limit = Fraction(-fall), Fraction(rise)
                same = nested.alike[k]
                relations.append(
                    Relation("same")
                    if same
                    else Relation("within", tolerance=max(map(abs, limit)), limits=limit)
                )
            else:
                self.shown.append([None, None])
                relations.append(Relation("free"))
            ends = [float(end[0, k]) for end in limits.ends]
            features[str(k)] = Continuous(min(ends[0], ends[2]), max(ends[1], ends[3]))
        self.widths = (limits.ends[1] - limits.ends[0])[0].tolist()
        self.pairs = make_pair_space(Space(features), tuple(relations))
        self.joined = np.array([relation.kind == "same" for relation in relations])
        second = None if nested.other is nested.score else nested.other.outer
        made: Any = bounder_of(nested.score.outer, self.pairs, second)
        if made is None:
            raise InternalError("outer trees have no bounds")
        self.bounder = made

    def bound(
        self,
        limits: CellLimits,
        lean: Floats,
        threshold: Floats,
        cells: tuple[Floats, Floats],
        advice: tuple[Floats, Floats],
    ) -> tuple[Floats, Floats]:
        """Bounds of cells, and the size of what is added up; cells that these do not close get advice where to cut."""
        upper, size = np.full(len(lean), -np.inf), np.zeros(len(lean))
        lows, highs = self._outer_cells(limits)
        for i, one in enumerate(lean.tolist()):
            if limits.nobody[i] or (lows[i] > highs[i]).any():
                continue
            memory = self.bounder.memory(lows[i].tolist(), highs[i].tolist(), even=one == EVEN_LEAN)
            upper[i], here, there = self.bounder.bound_anywhere(memory, one)
            upper[i] += 2 * self.bounder.noise(one)
            size[i] = abs(here) + abs(there)
            excess = upper[i] + ROOM * size[i] - threshold[i]
            if excess >= 0 and not self._cut_inner(i, memory, one, max(excess, LEAST_EXCESS), advice):
                self._cut_feature(i, limits, cells, advice)
        return upper, size

    def _outer_cells(self, limits: CellLimits) -> tuple[Floats, Floats]:
        """Lower and upper ends of the variables of the outer space's pairs."""
        first, second = np.array(self.pairs.first), np.array(self.pairs.second)
        low, high, other_low, other_high = limits.ends
        lows, highs = (np.zeros((len(low), len(self.pairs.variables))) for _ in range(2))
        lows[:, second], highs[:, second] = other_low, other_high
        lows[:, first], highs[:, first] = low, high
        joined = first[self.joined]
        lows[:, joined] = np.maximum(low, other_low)[:, self.joined]
        highs[:, joined] = np.minimum(high, other_high)[:, self.joined]
        return lows, highs

    def _cut_inner(
        self, i: int, memory: Any, lean: float, excess: float, advice: tuple[Floats, Floats]
    ) -> bool:
        """Advise a cut by an inner score, where the trees want one; not where a pair of the outer space attains the bound."""
        bounder, nested = self.bounder, self.nested
        near = bounder.on_grid(lean)
        bounder.bound_memory(memory, near)
        proposal = bounder.propose(memory, near)
        if not nested.pairs.inner or (proposal is not None and proposal.attains):
            return False
        variable, at, _, _ = bounder.cut_memory(memory, near, excess)
        if variable < 0:
            return False
        one = self.pairs.variables[variable]
        place = nested.codes + COPIES * one.feature + int(one.side == "second")
        loss, cuts = advice
        loss[i, place], cuts[i, place] = 1.0, at
        return True

    def _cut_feature(
        self, i: int, limits: CellLimits, cells: tuple[Floats, Floats], advice: tuple[Floats, Floats]
    ) -> None:
        """The cut of a feature that the inner score wants which is least known, beside its range in the whole space."""
        widths = []
        for lines, whole in zip(limits.lines, self.widths, strict=True):
            low, high = lines[0], lines[1]
            width = 0.0 if low is None or high is None else float(high.upper[i] + low.upper[i])
            widths.append(width / max(whole, LEAST_EXCESS))
        for k in np.argsort(-np.array(widths), kind="stable").tolist():
            if self.nested.cut_feature(k, cells[0][i], cells[1][i], i, advice):
                return
