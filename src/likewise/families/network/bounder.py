"""Network bounder: two copies of a network over cells of pairs, bounded by multipliers of its equations (`dual`), in float64; each leaf is proved in whole numbers (`proof`).

A cell starts from the multipliers of the one that it was cut from, as far as they are of the same view; where it is bounded in another direction than that was, those of x go with the lean and
those of x' with 1 - lean. Cells are cut by codes or by sums of neurons (`splits`): what a cut of each variable is worth is learned from the bounds of cells that were cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.cells.leaf import Clearance, Leaf, Rule
from likewise.families.network.ascent import NetworkClimber
from likewise.families.network.cells import bound_cells
from likewise.families.network.dual import Work, make_work
from likewise.families.network.pair_network import pair_network
from likewise.families.network.proof import PairProof
from likewise.families.network.splits import FIRST
from likewise.families.network.sure import sure_bounds
from likewise.families.network.wandering import Wanderers
from likewise.families.oracle import Bounder, Bounds
from likewise.model.goal import Goal
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.network.score import NetworkScore
    from likewise.model.witness_set import Direction, WitnessSet

    Floats = NDArray[np.float64]

BATCH = 64  # cells bounded together: each takes long enough
PRECISION = 22  # bits of multipliers below the size of the largest weight of the last layer
CLEAR = (
    1e-9  # relative: how far below its threshold a bound is to be for sure, so that exact arithmetic agrees
)
CLIMBED = 4  # points of a batch that are improved, best first
LONGEST_REST = 8  # batches from a climb to the next, where climbs lead nowhere
TRUST = 3.0  # cuts of a kind that its first rating counts for
OWN_TRUST = 1.0  # the same of one variable, for the rating of its kind
DOUBLES = 2**53  # multipliers below are doubles, exactly
LASTING = 1.6  # times what a cut of codes gains at once: it narrows all neurons of a single layer for every later cut, that of a neuron does not
HOPES = 0.3  # of what is promised, that cuts are taken to keep before there were any


WARM: set[bool] = (
    set()
)  # what was compiled or read from disk in this process: loops with pairs that climb, and without


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is known of a cell: multipliers at a lean, and what was promised of the cut that the cell is to get."""

    lean: float
    multipliers: Floats
    variable: int  # of the cut; -1: nothing to learn from it
    at: float
    promised: float
    excess: float


class NetworkBounder(Bounder):
    """Bounder of two scores with the same hidden layers on the pairs of a space."""

    rule: Rule = "network"
    exact = True
    batch = BATCH
    inherits = True

    def __init__(self, score: NetworkScore, pairs: PairSpace, second: NetworkScore | None = None) -> None:
        self.score, self.pairs = score, pairs
        self.other = score if second is None else second
        self.first, self.second = list(pairs.first), list(pairs.second)
        self.discrete = np.array([v.discrete for v in pairs.variables])
        self.net = pair_network(score, self.other, pairs)
        size = float(max(np.abs(self.net.last).max(), np.abs(self.net.other_last).max())) or 1.0
        self.bits = min(max(PRECISION - math.frexp(size)[1], 0), 1000)
        kinds = [np.zeros(len(pairs.variables), dtype=np.intp)]
        kinds += [np.full(3 * width, 1 + n, dtype=np.intp) for n, width in enumerate(self.net.widths)]
        self.kinds = np.concatenate(kinds)
        self.climbs, self.rest, self.resting = 0, 1, 1
        self.lasting = LASTING if len(self.net.widths) == 1 else 1.0
        # By variable and side of its cuts, in units of what was missing.
        self.kept, self.promised = np.zeros((2, len(self.kinds), 2))

    @cached_property
    def proof(self) -> PairProof:
        """What proves leaves."""
        return PairProof(self.score, self.other, self.pairs)

    @cached_property
    def work(self) -> Work:
        """Room for one cell."""
        found: Work = make_work(self.net)
        return found

    def warm_up(self) -> None:
        """Have the loops compiled, once a process: some ten seconds the first time, then kept on disk."""
        climbs = not self.pairs.constraints
        if climbs in WARM:
            return
        lo = np.array([[float(v.lo) for v in self.pairs.variables]])
        hi = np.array([[float(v.hi) for v in self.pairs.variables]])
        self.bound(lo, hi, np.array([0.5]), np.zeros(1))
        if not self.score.rational:
            return
        factors = np.zeros((2, self.net.neurons))
        width = len(self.kinds)
        sure_bounds(
            self.net,
            _widened(lo, width, -np.inf),
            _widened(hi, width, np.inf),
            np.array([[0.5, 0.5]]),
            factors[None],
            np.empty(1),
        )
        self.climbs, self.rest, self.resting = (
            0,
            1,
            1,
        )  # a search is the same whether it is the first one or not
        self.__dict__.pop("wanderers", None)
        WARM.add(climbs)

    # -- bounds ---------------------------------------------------------------------------------------------------

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        return self.bound_heirs(lo, hi, lean, threshold, [None] * len(lo))

    def bound_heirs(
        self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats, memories: Sequence[Any]
    ) -> Bounds:
        count, codes, width = len(lo), len(self.pairs.variables), len(self.kinds)
        target = threshold - CLEAR * (1 + np.abs(threshold))
        multipliers = np.zeros((count, 2, self.net.neurons))
        for i, memory in enumerate(memories):
            if memory is not None:
                multipliers[i] = _at_lean(memory, float(lean[i]))
        upper, points = np.empty(count), np.zeros((count, codes))
        points[:] = lo[:, :codes]
        promised, score, cuts = np.zeros((3, count, width))
        empty = self._empty(lo, hi)
        bound_cells(
            self.net,
            _widened(lo, width, -np.inf),
            _widened(hi, width, np.inf),
            np.stack([lean, 1 - lean], axis=1),
            np.where(np.isfinite(target), target, 0.0),
            multipliers,
            np.array([memory is None for memory in memories]),
            2.0**self.bits,
            self._worth(),
            upper,
            points,
            promised,
            score,
            cuts,
        )
        upper[empty] = -np.inf
        self._learn(memories, lo, hi, upper, threshold)
        score[:, :codes] *= self.lasting
        # Bounds that only just reach the threshold are tried as well, as where nobody differs at all: whole numbers tell.
        closes, best = upper <= threshold, score[:, : lo.shape[1]].argmax(axis=1)
        first, second = self.score.scores(points[:, self.first]), self.other.scores(points[:, self.second])
        attained = first + second
        if not closes.all() and self._climb(points, lean, threshold):
            first = self.score.scores(points[:, self.first])
            second = self.other.scores(points[:, self.second])
        # What is asked of an open cell later, at the level of its bound, is to be closed by that.
        upper[~closes] += 4 * CLEAR * (1 + np.abs(upper[~closes]))
        return Bounds(
            upper=upper,
            first=first,
            second=second,
            points=points,
            noise=np.zeros(count),
            closes=closes,
            hints=self._hints(multipliers, closes),
            loss=score[:, : lo.shape[1]],
            cuts=cuts[:, : lo.shape[1]],
            attained=attained,
            memories=[
                None
                if upper[i] <= target[i]
                else self._memory(
                    lean[i],
                    multipliers[i],
                    promised[i],
                    int(best[i]),
                    cuts[i, best[i]],
                    upper[i] - threshold[i],
                )
                for i in range(count)
            ],
        )

    def _climb(self, points: Floats, lean: Floats, threshold: Floats) -> bool:
        """Put better pairs in the place of the best points of a batch, wherever in the space they are: the next pair is often near a relaxation's, or near the best ones so far (`wandering`). Whether that was done.

        After a climb that did not reach the threshold some batches are left out, twice as many each time.
        """
        self.resting -= 1
        if self.pairs.constraints or self.resting > 0:
            return False
        x, other = points[:, self.first], points[:, self.second]
        value = self._excess(x, other, lean, threshold)
        best = np.argsort(-np.where(np.isfinite(value), value, -np.inf))[:CLIMBED]
        weight, level = float(lean[best[0]]), float(threshold[best[0]])
        goal = Goal(worth="gap", first=np.array([[weight, 0.0]]), second=np.array([[0.0, weight - 1]]))
        self.climbs += 1
        starts = self.wanderers.starts()
        x, other = np.concatenate([x[best], starts[0]]), np.concatenate([other[best], starts[1]])
        x, other = self.climber(goal, x, other, self.climbs)

        def worth(x: Floats, other: Floats) -> Floats:
            return self._excess(x, other, weight, level)

        self.wanderers.keep(x, other, worth)
        self._put(points, best[: len(self.wanderers.x)], self.wanderers.x, self.wanderers.other)
        reached = (worth(self.wanderers.x, self.wanderers.other) > 0).any()
        self.rest = 1 if reached else min(2 * self.rest, LONGEST_REST)
        self.resting = self.rest
        return True

    def _put(self, points: Floats, rows: NDArray[np.intp], x: Floats, other: Floats) -> None:
        """Pairs in the place of some points."""
        x, other = x[: len(rows)], other[: len(rows)]
        points[rows[:, None], self.first], points[rows[:, None], self.second] = x, other
        for k, v in enumerate(self.pairs.difference):
            if v is not None:
                points[rows, v] = other[:, k] - x[:, k]

    def _excess(self, x: Floats, other: Floats, lean: Floats | float, threshold: Floats | float) -> Floats:
        found: Floats = lean * self.score.scores(x) - (1 - lean) * self.other.scores(other) - threshold
        return found

    @cached_property
    def climber(self) -> NetworkClimber:
        """What improves pairs."""
        return NetworkClimber((self.score, self.other), self.pairs)

    @cached_property
    def wanderers(self) -> Wanderers:
        """The best pairs, and where they go next."""
        return Wanderers(self.pairs)

    def _hints(self, multipliers: Floats, closes: NDArray[np.bool_]) -> list[tuple[int, ...]]:
        """Of cells that close, the number of bits and the multipliers as whole numbers over it."""
        some = np.flatnonzero(closes)
        whole = np.round(multipliers[some] * 2.0**self.bits).reshape(len(some), 2 * self.net.neurons)
        doubles = bool((np.abs(whole) < DOUBLES).all())
        rows = whole.astype(np.int64).tolist() if doubles else [[*map(int, row)] for row in whole.tolist()]
        found: list[tuple[int, ...]] = [()] * len(closes)
        for i, row in zip(some.tolist(), rows, strict=True):
            found[i] = (self.bits, *row)
        return found

    def _memory(
        self, lean: float, multipliers: Floats, promised: Floats, variable: int, at: float, excess: float
    ) -> Memory:
        known = 0.0 < promised[variable] < FIRST and math.isfinite(excess)
        return Memory(
            lean=float(lean),
            multipliers=multipliers.copy(),
            variable=variable if known else -1,
            at=float(at),
            promised=float(promised[variable]),
            excess=float(excess),
        )

    def _worth(self) -> Floats:
        """How much of what is promised of a cut of each variable its lower and its upper part keep: as cuts of its kind do, until there were some of its own."""
        shape = (1 + len(self.net.widths), 2)
        kept, promised = np.full(shape, HOPES * TRUST), np.full(shape, TRUST)
        np.add.at(kept, self.kinds, self.kept)
        np.add.at(promised, self.kinds, self.promised)
        found: Floats = (self.kept + OWN_TRUST * (kept / promised)[self.kinds]) / (self.promised + OWN_TRUST)
        return found

    def _learn(
        self, memories: Sequence[Any], lo: Floats, hi: Floats, upper: Floats, threshold: Floats
    ) -> None:
        """How much of what was promised of a cut its parts show, both in units of what was missing."""
        for i, memory in enumerate(memories):
            if memory is None or memory.variable < 0 or memory.excess <= 0:
                continue
            v = memory.variable
            side = 0 if hi[i, v] == memory.at else 1 if lo[i, v] >= memory.at else -1
            if side >= 0:
                fallen = 1 - (float(upper[i]) - float(threshold[i])) / memory.excess
                self.kept[v, side] += min(max(fallen, 0.0), 1.0)
                # A part that is closed shows no more than that what was missing was won.
                self.promised[v, side] += min(memory.promised / memory.excess, 1.0 if fallen >= 1 else 10.0)

    def _empty(self, lo: Floats, hi: Floats) -> NDArray[np.bool_]:
        """Cells in which levels that may differ are fixed to some that are not similar."""
        empty = np.zeros(len(lo), dtype=bool)
        for i, j, relation in zip(self.first, self.second, self.pairs.relations, strict=True):
            if i == j or relation.kind == "free":
                continue
            fixed = (lo[:, i] == hi[:, i]) & (lo[:, j] == hi[:, j])
            for n in np.flatnonzero(fixed & self.discrete[i]):
                empty[n] |= not relation.allows(lo[n, i], lo[n, j])
        return empty

    # -- pairs and cuts -------------------------------------------------------------------------------------------

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        lo, hi = lo[:, : len(self.discrete)], hi[:, : len(self.discrete)]
        points = lo + np.where(self.discrete, np.floor((hi - lo) / 2), (hi - lo) / 2)
        for i, j, apart in zip(self.first, self.second, self.pairs.difference, strict=False):
            if apart is not None:
                other = np.clip(points[:, j], points[:, i] + lo[:, apart], points[:, i] + hi[:, apart])
                points[:, j] = np.clip(other, lo[:, j], hi[:, j])
        return points

    def branch(
        self, lo: Floats, hi: Floats, loss: Floats | None = None, cuts: Floats | None = None
    ) -> tuple[NDArray[np.intp], Floats]:
        """By what is promised; where nothing is, the widest code in the middle."""
        codes = len(self.discrete)
        width = hi[:, :codes] - lo[:, :codes]
        middle = lo[:, :codes] + np.where(self.discrete, np.floor(width / 2), width / 2)
        can = np.where(self.discrete, width >= 1, (middle > lo[:, :codes]) & (middle < hi[:, :codes]))
        size = np.array([max(float(v.hi) - float(v.lo), 1e-300) for v in self.pairs.variables])
        rank = np.where(can, width / size, 0.0)
        rows, variable = np.arange(len(lo)), rank.argmax(axis=1)
        at = np.minimum(middle[rows, variable], hi[rows, variable] - self.discrete[variable])
        variable = np.where(rank[rows, variable] > 0, variable, -1)
        if loss is not None and cuts is not None:
            best = loss.argmax(axis=1)
            told = loss[rows, best] > 0
            variable, at = np.where(told, best, variable), np.where(told, cuts[rows, best], at)
        return variable, at

    # -- proofs ---------------------------------------------------------------------------------------------------

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        return next(self.prove_all(lo[None], hi[None], [leaf], question))

    def prove_all(
        self, lo: Floats, hi: Floats, leaves: Sequence[Leaf], question: WitnessSet
    ) -> Iterator[Clearance | None]:
        """In float64 with its error, all of them at once; in whole numbers where that does not decide."""
        width = len(self.kinds)
        lo, hi = _widened(lo, width, -np.inf), _widened(hi, width, np.inf)
        lines: dict[Fraction | None, Direction] = {
            leaf.lean: question.direction(leaf.lean)
            for leaf in leaves
            if leaf.rule == self.rule and leaf.lean is not None and question.admits(leaf.lean)
        }
        sure = self._sure_bounds(lo, hi, leaves, lines)
        for i, leaf in enumerate(leaves):
            line = lines.get(leaf.lean) if leaf.rule == self.rule else None
            if line is None:
                yield None
                continue
            total = line.a + line.b
            clearance: Clearance | None = None
            # That a cell holds no pair is for whole numbers to say.
            if math.isfinite(sure[i]):
                clearance = line.clearance(total * Fraction(sure[i]))
            if clearance is None:
                bits, *multipliers = leaf.hints
                a, b = line.a / total, line.b / total
                bound = self.proof.bound(lo[i].tolist(), hi[i].tolist(), a, b, bits, tuple(multipliers))
                clearance = math.inf if bound is None else line.clearance(total * bound)
            yield clearance

    def _sure_bounds(
        self, lo: Floats, hi: Floats, leaves: Sequence[Leaf], lines: Mapping[Fraction | None, Direction]
    ) -> list[float]:
        """Of the leaves that have one of these lines, and multipliers that are doubles; infinite of others."""
        if not self.score.rational:  # of curves, whole numbers alone are sure
            return [math.inf] * len(leaves)
        found = np.full(len(leaves), np.inf)
        ours = [i for i, leaf in enumerate(leaves) if leaf.rule == self.rule and leaf.lean in lines]
        whole = np.array([leaves[i].hints for i in ours], dtype=np.float64).reshape(
            -1, 1 + 2 * self.net.neurons
        )
        doubles = (np.abs(whole) < DOUBLES).all(axis=1)
        some, whole = np.array(ours, dtype=np.intp)[doubles], whole[doubles]
        if len(some):
            factors = (whole[:, 1:] / 2.0 ** whole[:, :1]).reshape(len(some), 2, -1)
            shares = {lean: _shares(line) for lean, line in lines.items()}
            line = np.array([shares[leaves[i].lean] for i in some])
            upper = np.empty(len(some))
            sure_bounds(self.net, lo[some], hi[some], line, factors, upper)
            found[some] = upper
        return [float(bound) for bound in found]


def _shares(line: Direction) -> tuple[float, float]:
    """a and b of a direction as parts of their sum."""
    total = line.a + line.b
    return nearest_double(line.a / total), nearest_double(line.b / total)


def _widened(ends: Floats, width: int, end: float) -> Floats:
    """With inner quantities, of which cells of some pairs know nothing."""
    missing = width - ends.shape[1]
    return ends if missing == 0 else np.pad(ends, ((0, 0), (0, missing)), constant_values=end)


def _at_lean(memory: Memory, lean: float) -> Floats:
    """The multipliers that go with another lean: those of x are in its proportion, those of x' in that of the rest."""
    found = memory.multipliers.copy()
    if lean != memory.lean:
        found[0] *= lean / memory.lean if memory.lean > 0 else 0.0
        found[1] *= (1 - lean) / (1 - memory.lean) if memory.lean < 1 else 0.0
    return found
