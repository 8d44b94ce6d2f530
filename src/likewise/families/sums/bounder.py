"""Sum bounder: bounds of a F(x) - b G(x') over cells, F and G two sums over the same parts, by one line a part.

A part without a link brings a w s(x) - b v s(x'), a line of its own score, which its own family bounds. A part with a link is enclosed first: over the cell
its score at x is between `low` and `high`, and so is that at x' between two others, by one-sided lines. Between these the link is below (or above, as signs
have it) a line alpha t + beta, and what is left is again a line of its own score, with slopes of its own. Where the link's own ends are better than that, alpha is 0.

Bounds are float64 and only propose: every line comes with a threshold that is rounded up, and the checker has all of them proved by the rules of the parts' own families.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.leaf import Clearance, Leaf, PartOfLeaf, Rule
from likewise.families.oracle import Bounder, Bounds
from likewise.families.sums.cuts import Cuts, choose_cuts, cut_by_bounder, halve, inside, stack_cuts
from likewise.families.sums.part_lines import ROOM, Line, PartBounder, PartTrial
from likewise.model.witness_set import LEAN_GRID
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.sums.body import SumScore
    from likewise.model.witness_set import WitnessSet
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

BATCH = 64  # cells that are bounded together
TINY = 1e-300  # weights that count for nothing


class SumBounder(Bounder):
    """Oracle of one sum at x, and the same or another one over the same parts at x'."""

    rule: Rule = "sum"
    exact = False
    batch = BATCH

    def __init__(self, score: SumScore, pairs: PairSpace, second: SumScore | None = None) -> None:
        self.score, self.pairs = score, pairs
        self.other = score if second is None else second
        self.first = np.array(pairs.first, dtype=np.intp)
        self.second = np.array(pairs.second, dtype=np.intp)
        self.discrete = np.array([v.discrete for v in pairs.variables])
        self.weights = [
            (nearest_double(w), nearest_double(v))
            for w, v in zip(self.score.weights, self.other.weights, strict=True)
        ]
        self.bias = nearest_double(self.score.bias), nearest_double(self.other.bias)
        self.parts = [
            PartBounder(part, link, pairs) for part, link in zip(score.parts, score.links, strict=True)
        ]
        self.differing = sorted(
            {v for i, j in zip(pairs.first, pairs.second, strict=True) if i != j for v in (i, j)}
        )
        self.scores = self.score.scorer(), self.other.scorer()
        self.counting = [k for k, (w, v) in enumerate(self.weights) if w or v]
        self.root = np.array([float(v.hi) - float(v.lo) for v in pairs.variables])

    def warm_up(self) -> None:
        for k in self.counting:
            self.parts[k].of(1).warm_up()

    # -- bounds ---------------------------------------------------------------------------------------------------

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        lean = np.round(lean * LEAN_GRID) / LEAN_GRID
        total = lean * self.bias[0] - (1 - lean) * self.bias[1]
        trials = {k: self._try_part(k, lo, hi, lean, points=True) for k in self.counting}
        nobody, unknown = np.zeros(len(lo), dtype=bool), np.zeros(len(lo), dtype=bool)
        size = np.abs(total)
        for trial in trials.values():
            nobody |= np.isneginf(trial.worth)
            unknown |= np.isposinf(trial.worth)
            with np.errstate(invalid="ignore"):
                total = total + trial.worth
            size = size + np.where(np.isfinite(trial.worth), np.abs(trial.worth), 0.0)
        nobody &= (
            ~unknown
        )  # a leaf has a line of every part, also where one of them shows that there is no pair
        upper = np.where(nobody, -np.inf, np.where(np.isnan(total), np.inf, total))
        points = self._best_points(lo, hi, lean, trials)
        here, there = points[:, self.first], points[:, self.second]
        closes = nobody | (upper + ROOM * size < threshold)
        loss, cuts = self._advice(lo, hi, lean, upper, threshold, points, trials, ~closes)
        leaves: list[tuple[PartOfLeaf, ...]] = [
            tuple(trials[k].at(i) if k in trials else None for k in range(len(self.parts)))
            if closes[i]
            else ()
            for i in range(len(lo))
        ]
        return Bounds(
            upper=upper,
            first=self.scores[0](here),
            second=self.scores[1](there),
            points=points,
            noise=np.zeros(len(lo)),
            closes=closes,
            parts=leaves,
            loss=loss,
            cuts=cuts,
        )

    def _try_part(self, k: int, lo: Floats, hi: Floats, lean: Floats, *, points: bool) -> PartTrial:
        """What a part brings at most to a F(x) - b G(x'), b = 1 - a."""
        part, (w, v) = self.parts[k], self.weights[k]
        c, d = lean * w, (1 - lean) * v
        if part.link.kind == "identity":
            return self._add_lines(part, k, lo, hi, c, d, np.zeros(len(lo)), points=points)
        slope, offset = float(part.link.slope), float(part.link.offset)
        here = part.side(lo, hi, first=True, above=w > 0) if w and lean.any() else None
        there = part.side(lo, hi, first=False, above=v < 0) if v and (lean < 1).any() else None
        constant, flat = np.zeros(len(lo)), np.zeros(len(lo))
        nobody, unknown = np.zeros(len(lo), dtype=bool), np.zeros(len(lo), dtype=bool)
        a, b = np.zeros(len(lo)), np.zeros(len(lo))
        for side, factor in ((here, c), (there, -d)):
            if side is not None:
                side.counts = factor != 0
                constant += factor * (side.beta + part.link.steep(side.alpha) * offset)
                flat += factor * side.flat
                nobody |= np.isneginf(side.high.upper) | np.isneginf(side.low.upper)
                unknown |= np.isposinf(side.high.upper) | np.isposinf(side.low.upper)
        if here is not None:
            a = c * part.link.steep(here.alpha) * slope
        if there is not None:
            b = d * part.link.steep(there.alpha) * slope
        trial = self._add_lines(part, k, lo, hi, a, b, constant, points=points)
        # Without slopes there is no line left to bound.
        level = ~(trial.worth < flat)
        for side in (here, there):
            if side is not None:
                side.alpha, side.tangent = (
                    np.where(level, 0.0, side.alpha),
                    np.where(level, 0.0, side.tangent),
                )
        worth = np.where(level, flat, trial.worth)
        worth = np.where(nobody, np.where(unknown, np.inf, -np.inf), worth)
        used = [one & ~level for one in trial.used]
        made = replace(trial, worth=worth, used=used, here=here, there=there)
        if here is None or there is None or w * v < 0:
            return made
        over, under = (c, d) if w > 0 else (-d, -c)
        difference = part.difference(lo, hi, over, under, here=here, there=there, rising=w > 0, points=points)
        return replace(made, worth=np.minimum(worth, difference.worth), difference=difference)

    def _add_lines(
        self,
        part: PartBounder,
        k: int,
        lo: Floats,
        hi: Floats,
        a: Floats,
        b: Floats,
        constant: Floats,
        *,
        points: bool,
    ) -> PartTrial:
        """The constant and a s(x) - b s(x'), by one line, or by two where a and b have different signs."""
        w, v = self.weights[k]
        groups = [(a, b)] if w * v >= 0 else [(a, np.zeros_like(b)), (np.zeros_like(a), b)]
        worth, lines, used = constant.copy(), [], []
        for x, other in groups:
            total = np.abs(x) + np.abs(other)
            some = np.flatnonzero(total > 0)
            if not len(some):
                continue
            sign = 1 if (x[some] + other[some]).sum() > 0 else -1
            share = np.abs(x[some]) / total[some]
            cells = (lo, hi) if len(some) == len(lo) else (lo[some], hi[some])
            found = part.line(sign, *cells, share, points=points)
            line = _spread(found, some, len(lo), lo)
            with np.errstate(invalid="ignore"):
                worth = worth + np.where(total > 0, total * np.where(total > 0, line.upper, 0.0), 0.0)
            lines.append(line)
            used.append(total > 0)
        return PartTrial(by=part.rule, worth=worth, lines=lines, used=used)

    def _best_points(self, lo: Floats, hi: Floats, lean: Floats, trials: dict[int, PartTrial]) -> Floats:
        """For each cell the best of the pairs that the bounds of its parts are attained at."""
        lines = [line for trial in trials.values() for line in trial.lines]
        lines += [trial.difference.line for trial in trials.values() if trial.difference is not None]
        known = [line.points for line in lines if line.points is not None]
        best = self.candidates(lo, hi)
        value = self._values(best, lean)
        for points in known:
            found = self._values(points, lean)
            better = found > value
            best, value = np.where(better[:, None], points, best), np.where(better, found, value)
        return best

    def _values(self, points: Floats, lean: Floats) -> Floats:
        first, second = self.scores[0](points[:, self.first]), self.scores[1](points[:, self.second])
        value: Floats = lean * first - (1 - lean) * second
        return value

    # -- cuts -----------------------------------------------------------------------------------------------------

    def _advice(
        self,
        lo: Floats,
        hi: Floats,
        lean: Floats,
        upper: Floats,
        threshold: Floats,
        points: Floats,
        trials: dict[int, PartTrial],
        wanted: NDArray[np.bool_],
    ) -> tuple[Floats, Floats]:
        """Where to cut, as losses of one variable: of what the parts propose, and of the features that may differ, what lowers the bounds of both sides most."""
        loss, cuts = np.zeros_like(lo), lo.copy()
        some = np.flatnonzero(wanted)
        if not len(some):
            return loss, cuts
        low, high, top = lo[some], hi[some], upper[some]
        with np.errstate(invalid="ignore"):
            excess = top - threshold[some]
        excess = np.where(np.isfinite(excess) & (excess > 0), excess, 1.0)
        gaps = np.stack([self._gap(k, trial, lean, points)[some] for k, trial in trials.items()])
        proposals = self._proposed_cuts(low, high, excess, gaps)

        def bound(left: Floats, right: Floats, cell: NDArray[np.intp]) -> Floats:
            return self._upper(left, right, lean[some][cell])

        chosen = choose_cuts(proposals, low, high, top, excess, bound, self._next_code)
        fine = chosen.variable >= 0
        cells, variable = some[fine], chosen.variable[fine]
        loss[cells, variable], cuts[cells, variable] = 1.0, chosen.at[fine]
        return loss, cuts

    def _proposed_cuts(self, lo: Floats, hi: Floats, excess: Floats, gaps: Floats) -> Cuts:
        """Those of the parts, the loosest one's first, and the middles of what may differ."""
        own = stack_cuts([self._cut_of(k, lo, hi, excess) for k in self.counting])
        order, rows = np.argsort(-gaps, axis=0), np.arange(len(lo))
        first = Cuts(variable=own.variable[order, rows], at=own.at[order, rows])
        middles = [halve(lo, hi, v, whole=bool(self.discrete[v])) for v in self.differing]
        if not middles:
            return first
        others = stack_cuts(middles)
        return Cuts(
            variable=np.concatenate([first.variable, others.variable]),
            at=np.concatenate([first.at, others.at]),
        )

    def _upper(self, lo: Floats, hi: Floats, lean: Floats) -> Floats:
        """Bounds of cells, and nothing else of them."""
        total = lean * self.bias[0] - (1 - lean) * self.bias[1]
        for k in self.counting:
            with np.errstate(invalid="ignore"):
                total = total + self._try_part(k, lo, hi, lean, points=False).worth
        return total

    def _next_code(self, variable: int, at: float) -> float:
        """Where the right part of a cut begins."""
        if self.discrete[variable]:
            return at + 1
        after = self.after(variable, at)
        return at if after is None else after

    def _gap(self, k: int, trial: PartTrial, lean: Floats, points: Floats) -> Floats:
        part, (w, v) = self.parts[k], self.weights[k]
        here, there = (part.link.values(part.scores(points[:, side])) for side in (self.first, self.second))
        gap: Floats = trial.worth - (lean * w * here - (1 - lean) * v * there)
        return np.where(np.isfinite(gap), gap, np.finfo(np.float64).max)

    def _cut_of(self, k: int, lo: Floats, hi: Floats, excess: Floats) -> Cuts:
        part, (w, v) = self.parts[k], self.weights[k]
        if part.rule == "network":  # which would cut sums inside of itself
            variable, at = self._widest(lo, hi, k)
            return Cuts(variable=variable, at=at)
        own = excess / max(part.steepness * (abs(w) + abs(v)) / 2, TINY)
        return inside(cut_by_bounder(part, lo, hi, own), lo, hi, self.discrete)

    def _widest(self, lo: Floats, hi: Floats, k: int | None = None) -> tuple[NDArray[np.intp], Floats]:
        """The variable that is widest beside what it was at first, and its middle."""
        width, middle = hi - lo, lo + (hi - lo) / 2
        middle = np.where(self.discrete, np.minimum(np.floor(middle), hi - 1), middle)
        can = np.where(self.discrete, width >= 1, (middle > lo) & (middle < hi))
        if k is not None:
            counts = [self.parts[k].score.depends(variable.feature) for variable in self.pairs.variables]
            can &= np.array(counts)
        rank = np.where(can, 1e-300 + width / np.maximum(self.root, 1e-300), 0.0)
        variable, rows = rank.argmax(axis=1), np.arange(len(lo))
        return np.where(rank[rows, variable] > 0, variable, -1).astype(np.intp), middle[rows, variable]

    def branch(
        self, lo: Floats, hi: Floats, loss: Floats | None = None, cuts: Floats | None = None
    ) -> tuple[NDArray[np.intp], Floats]:
        variable, at = self._widest(lo, hi)
        if loss is None or cuts is None:
            return variable, at
        rows, advised = np.arange(len(lo)), loss.argmax(axis=1)
        known = loss[rows, advised] > 0
        return np.where(known, advised, variable), np.where(known, cuts[rows, advised], at)

    def after(self, variable: int, at: float) -> float | None:
        """Between two doubles, where a part says so."""
        found = (self.parts[k].of(1).after(variable, at) for k in self.counting)
        return next((one for one in found if one is not None), None)

    # -- pairs ----------------------------------------------------------------------------------------------------

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
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
        found = [self.parts[k].of(1).starts(lo, hi) for k in self.counting]
        return np.concatenate([self.candidates(lo[None], hi[None]), *found])

    def codes_to_try(self) -> dict[int, Floats]:
        found: dict[int, list[Floats]] = {}
        for k in self.counting:
            for feature, codes in self.parts[k].of(1).codes_to_try().items():
                found.setdefault(feature, []).append(codes)
        return {feature: np.unique(np.concatenate(codes)) for feature, codes in found.items()}

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        """Proposed by the float64 bound."""
        if leaf.rule != self.rule or leaf.lean is None or not question.admits(leaf.lean):
            return None
        lean = np.array([float(leaf.lean)])
        closes = self.bound(lo[None], hi[None], lean, question.threshold(lean)).closes
        return Fraction(0) if closes is not None and closes[0] else None


def _spread(line: Line, some: NDArray[np.intp], cells: int, lo: Floats) -> Line:
    """A line of some of the cells as one of all."""
    if len(some) == cells:
        return line
    upper = np.full(cells, np.inf)
    upper[some] = line.upper
    hints: list[tuple[int, ...]] | None = None
    if line.hints is not None:
        hints = [()] * cells
        for n, i in enumerate(some.tolist()):
            hints[i] = line.hints[n]
    rules = None if line.rules is None else [line.rules[0]] * cells
    for n, i in enumerate(some.tolist()):
        if rules is not None and line.rules is not None:
            rules[i] = line.rules[n]
    points = lo.copy()
    if line.points is not None:
        points[some] = line.points
    return Line(upper, hints, points, rules)
