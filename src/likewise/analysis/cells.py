"""Cells of individuals: a bracket of the share in which every counted mass is proved.

A cell is a box in all features but the free ones, which it holds whole. It is settled

- fair, where no pair with one individual in the cell breaks the property: the cell of pair space (the other side widened by what may differ) is
  closed by one line, in both orders;
- biased, where two settings v, w of the free features get opposite decisions all over the cell, f(v, .) above the margin and f(w, .)
  below it: then everybody in the cell has one of the two, or both at margin 0, as a counterpart;
- looked through, where it has few individuals.

Lines are proved in exact arithmetic: by the oracle, or where its bounds are float64 and only propose (kernel and polynomial scores), by certificates of the cell that
the checker accepts (`cell_certificates`). Otherwise the cell is cut in two. Masses of settled cells add up to the lower end, masses of all but the fair ones to the upper end.

Constraints: of a cell all individuals satisfy them, none, or some (`standing`). Cells of nobody are left out; only a cell of valid individuals is settled
biased (it holds both settings, so that the counterparts are valid too). What is fair and holds some is cut on, as the mass of its valid individuals is not
known: with masses E of nobody, B of biased, F of fair cells and V of those fair ones in which all are valid, the biased ones have a mass b with
B <= b <= 1 - E - F, the fair ones at least V and all together at most 1 - E, so that B / (1 - E) <= share <= b / (b + V) at the largest b.
"""

from __future__ import annotations

import heapq
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.cell_certificates import CellCertificates
from likewise.analysis.standing import loosest, standing
from likewise.cells.leaf import Leaf
from likewise.clock import OutOfTime, look_at_clock
from likewise.model.question import DecisionQuestion, snap
from likewise.search.budget import Until
from likewise.search.counterparts import judged
from likewise.search.extremes import windows
from likewise.search.judgement import BIASED, FAIR
from likewise.search.neighbours import options
from likewise.search.pacing import Pace
from likewise.search.proof import root_cell
from likewise.search.validity import Validity
from likewise.verifying.certifying import Checking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from likewise.analysis.judging_scores import ScoreJudging
    from likewise.analysis.measures import Measure
    from likewise.model.question import Question

    Floats = NDArray[np.float64]

BATCH = 64
FEW = 2_000  # individuals of a cell that are looked through, those that differ in free features counted
LOOKED_AT = 32  # individuals of a cell, before it is put to a proof
MOST_SETTINGS = 64  # of the free features, tried for a biased cell
LEANS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(slots=True, order=True)
class Cell:
    """A box of individuals, the heaviest first; `open_left` tells where the left end belongs to a neighbour."""

    rank: float
    number: int
    lo: Floats = field(compare=False)
    hi: Floats = field(compare=False)
    open_left: NDArray[np.bool_] = field(compare=False)
    mass: Fraction = field(compare=False)
    fair: bool = field(default=False, compare=False)  # already known


@dataclass(slots=True, kw_only=True)
class Bracketing:
    """Masses settled so far, and the cells that are left."""

    judging: ScoreJudging
    measure: Measure
    checking: Checking = field(default_factory=Checking)
    biased: Fraction = Fraction(0)
    fair: Fraction = Fraction(0)
    valid: Fraction = Fraction(0)  # of the fair ones
    nobody: Fraction = Fraction(0)
    open: list[Cell] = field(default_factory=list)
    stuck: list[Cell] = field(default_factory=list)  # that can be neither settled nor cut
    cells: int = 0
    certificates: CellCertificates | None = field(init=False)  # where bounds only propose
    _numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        exact = self.judging.prepared.problem.oracle.exact
        self.certificates = None if exact else CellCertificates.of(self.judging, self.checking)
        lo, hi = self.measure.ends()
        self._push(lo, hi, np.zeros(len(lo), dtype=bool))

    @property
    def left(self) -> list[Cell]:
        """What is not settled."""
        return [*self.open, *self.stuck]

    @property
    def lower(self) -> Fraction:
        return self.biased / (1 - self.nobody) if self.nobody < 1 else Fraction(0)

    @property
    def upper(self) -> Fraction:
        most = 1 - self.nobody - self.fair
        return most / (most + self.valid) if most + self.valid else Fraction(1)

    def run(self, *, width: float, seconds: float) -> None:
        """Until the bracket is so narrow, or so many seconds (of the budget) have passed."""
        budget = Until(self.judging.budget, self.judging.budget.elapsed + seconds)
        with budget.stopped():
            self.judging.prepared.problem.oracle.warm_up()
        pace = Pace(budget, first=1, most=BATCH)
        while self.open and self.upper - self.lower > width and pace.fits(1):
            batch = [heapq.heappop(self.open) for _ in range(min(pace.size, len(self.open)))]
            count = len(batch)
            with suppress(OutOfTime), budget.watched():
                self._work(batch)
            for cell in batch:  # what there was no time for
                heapq.heappush(self.open, cell)
            pace.done(count)
            self.judging.tell(
                "settling cells",
                lower=float(self.lower),
                upper=float(self.upper),
                closed=self.cells,
                open=len(self.open),
            )

    def _work(self, batch: list[Cell]) -> None:
        """Settle or cut cells and take them out of the batch, one after another; those that are left when the time is over have not been counted."""
        known = self._fair(batch)
        while batch:
            look_at_clock()
            self._settle(batch[0], fair=known[-len(batch)])
            self.cells += 1
            del batch[0]

    def _settle(self, cell: Cell, *, fair: bool) -> None:
        """Count a cell, or cut it."""
        if self.certificates is not None and self._look_through(cell):  # cheaper than a certificate
            return
        stands = standing(self.judging.pairs.constraints, cell.lo, cell.hi)
        if fair and not cell.fair:
            fair = stands != "none" and self._certified(cell)
        if fair and not cell.fair:
            self.fair += cell.mass
            cell.fair = True
        if stands == "none":
            self.nobody += cell.mass
            self.fair -= cell.mass if cell.fair else 0
        elif fair and stands == "all":
            self.valid += cell.mass
        elif stands == "all" and self._everybody_biased(cell):
            self.biased += cell.mass
        elif not self._look_through(cell):
            self._split(cell)

    # -- fair -----------------------------------------------------------------------------------------------

    def _fair(self, batch: list[Cell]) -> list[bool]:
        """Which cells one line closes, in both orders, or closed before they were cut."""
        open_ = [cell for cell in batch if not cell.fair]
        closed = iter(self._lines(open_) if open_ else ())
        return [cell.fair or next(closed) for cell in batch]

    def _lines(self, batch: list[Cell]) -> list[bool]:
        if self.certificates is not None:
            found = []
            for cell in batch:
                look_at_clock()
                fair = not self._witnessed(cell) and self.certificates.looks_fair(cell.lo, cell.hi)
                found.append(fair)
            return found
        settled = [self._closed(batch, first=True)]
        if any(relation.kind in ("within", "pairs") for relation in self.judging.asked.pairs.relations):
            settled.append(self._closed(batch, first=False))
        return [all(flags) for flags in zip(*settled, strict=True)]

    def _closed(self, batch: list[Cell], *, first: bool) -> list[bool]:
        oracle, question = self.judging.prepared.problem.oracle, self.judging.question
        cells = [self._pair_cell(cell, first=first) for cell in batch]
        lo, hi = np.stack([low for low, _ in cells]), np.stack([high for _, high in cells])
        closed = [False] * len(batch)
        look_at_clock()
        leans = LEANS if isinstance(question, DecisionQuestion) else question.leans()
        for lean in leans:
            left = [i for i, done in enumerate(closed) if not done]
            if not left:
                break
            tried = np.full(len(left), lean)
            bounds = oracle.bound(lo[left], hi[left], tried, question.threshold(tried))
            close = bounds.upper <= question.threshold(tried) + bounds.noise
            close = close if bounds.closes is None else bounds.closes
            for place, i in enumerate(left):
                look_at_clock()
                hints = () if bounds.hints is None else bounds.hints[place]
                leaf = Leaf(rule=oracle.rule, lean=snap(lean), hints=hints)
                closed[i] = bool(close[place]) and self._proved(lo[i], hi[i], leaf, question)
        return closed

    def _proved(self, lo: Floats, hi: Floats, leaf: Leaf, question: Question) -> bool:
        oracle = self.judging.prepared.problem.oracle
        return not oracle.exact or oracle.prove(lo, hi, leaf, question) is not None

    def _witnessed(self, cell: Cell) -> bool:
        """Whether float64 sees somebody in the cell, one of a few, who is treated differently at two settings: then it is not put to the proof."""
        settings, free = self._settings()
        if not len(settings):
            return False
        lo, hi = (np.repeat(end[None], LOOKED_AT, axis=0) for end in (cell.lo, cell.hi))
        rows = self.measure.drawn(self.judging.random, lo, hi, np.zeros(lo.shape, dtype=bool))
        rows = np.repeat(rows, len(settings), axis=0)
        rows[:, free] = np.tile(settings, (LOOKED_AT, 1))
        scores = self.judging.prepared.problem.scores(rows).reshape(LOOKED_AT, -1)
        return bool((self.judging.question.margin(scores.max(axis=1), scores.min(axis=1)) > 0).any())

    def _certified(self, cell: Cell) -> bool:
        return self.certificates is None or self.certificates.fair(cell.lo, cell.hi)

    def _pair_cell(self, cell: Cell, *, first: bool) -> tuple[Floats, Floats]:
        """The pairs of the cell's individuals, each on one side, with everybody who is similar to one of them."""
        pairs = self.judging.asked.pairs
        lo, hi = root_cell(pairs)
        mine, others = (pairs.first, pairs.second) if first else (pairs.second, pairs.first)
        for k, relation in enumerate(pairs.relations):
            lo[mine[k]], hi[mine[k]] = cell.lo[k], cell.hi[k]
            if relation.kind == "within":
                ends = windows(pairs, k, np.array([cell.lo[k], cell.hi[k]]))
                low, high = float(ends[0][0]), float(ends[1][1])
                if not pairs.variables[pairs.first[k]].discrete:  # outwards: the true end may be no double
                    low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
                lo[others[k]], hi[others[k]] = max(lo[others[k]], low), min(hi[others[k]], high)
        return lo, hi

    # -- biased ---------------------------------------------------------------------------------------------

    def _everybody_biased(self, cell: Cell) -> bool:
        """Two settings of the free features with opposite decisions all over the cell."""
        question = self.judging.question
        if not isinstance(question, DecisionQuestion) or question.level != 0:
            return False
        settings, free = self._settings()
        if len(settings) < 2:
            return False
        rows = np.repeat((cell.lo / 2 + cell.hi / 2)[None], len(settings), axis=0)
        discrete = [self.judging.asked.pairs.variables[v].discrete for v in self.judging.asked.pairs.first]
        rows = np.where(discrete, np.floor(rows), rows)
        rows[:, free] = settings
        scores = self.judging.prepared.problem.scores(rows)
        high, low = int(scores.argmax()), int(scores.argmin())
        if not scores[high] > 0 >= scores[low]:
            return False
        if not (
            self._one_sided(cell, free, settings[high], lean=0)
            and self._one_sided(cell, free, settings[low], lean=1)
        ):
            return False
        return self.certificates is None or self.certificates.biased(
            cell.lo, cell.hi, free, settings[high], settings[low]
        )

    def _one_sided(self, cell: Cell, free: list[int], setting: Floats, *, lean: int) -> bool:
        """f > 0 (lean 0) or f <= 0 (lean 1) all over the cell, at one setting of the free features."""
        oracle, question = self.judging.prepared.problem.oracle, DecisionQuestion(level=Fraction(0))
        pairs = self.judging.asked.pairs
        lo, hi = self._pair_cell(cell, first=True)
        for k in range(len(cell.lo)):
            lo[pairs.second[k]], hi[pairs.second[k]] = cell.lo[k], cell.hi[k]
        for k, code in zip(free, setting.tolist(), strict=True):
            for v in (pairs.first[k], pairs.second[k]):
                lo[v] = hi[v] = code
        for difference in pairs.difference:
            if difference is not None:
                lo[difference] = hi[difference] = 0.0
        tried = np.array([float(lean)])
        bounds = oracle.bound(lo[None], hi[None], tried, question.threshold(tried))
        close = bounds.upper[0] <= bounds.noise[0] if bounds.closes is None else bounds.closes[0]
        hints = () if bounds.hints is None else bounds.hints[0]
        leaf = Leaf(rule=oracle.rule, lean=Fraction(lean), hints=hints)
        return bool(close) and self._proved(lo, hi, leaf, question)

    def _settings(self) -> tuple[Floats, list[int]]:
        """Settings of the free discrete features that matter; the ends of continuous ones."""
        pairs = self.judging.asked.pairs
        free = [k for k in self.judging.asked.moving if pairs.relations[k].kind == "free"]
        choices = []
        for k in free:
            variable = pairs.variables[pairs.first[k]]
            ends = np.array([float(variable.lo), float(variable.hi)])
            if self.judging.asked.settle is not None:  # codes that somebody has
                ends = self.judging.asked.settle(k, ends)
            choices.append(options(pairs, k, 0.0) if variable.discrete else ends.tolist())
        if prod(map(len, choices)) > MOST_SETTINGS:
            choices = [[c[0], c[-1]] for c in choices]
        if not free or prod(map(len, choices)) > MOST_SETTINGS:
            return np.empty((0, len(free))), free
        return np.array(list(product(*choices))), free

    # -- the rest -------------------------------------------------------------------------------------------

    def _look_through(self, cell: Cell) -> bool:
        """Judge the individuals of a small cell; what cannot be judged stays in the bracket."""
        pairs = self.judging.asked.pairs
        variables = [pairs.variables[v] for v in pairs.first]
        if any(not v.discrete and a < b for v, a, b in zip(variables, cell.lo, cell.hi, strict=True)):
            return False
        sizes = [int(b - a) + 1 for a, b in zip(cell.lo, cell.hi, strict=True)]
        if prod(sizes) > FEW:
            return False
        ranges = [np.arange(size) + low for size, low in zip(sizes, cell.lo, strict=True)]
        rows = np.stack([axis.ravel() for axis in np.meshgrid(*ranges, indexing="ij")], axis=1)
        valid = Validity.of_all(pairs).individuals(rows)
        found = judged(self.judging.asked, rows[valid], self.judging.budget)
        if found is None:
            return False
        whole = np.zeros(len(cell.lo), dtype=bool)
        masses = [self.measure.mass(row, row, whole) for row in rows]
        self.fair -= cell.mass if cell.fair else 0
        self.nobody += sum(
            (mass for mass, there in zip(masses, valid, strict=True) if not there), Fraction(0)
        )
        some = (mass for mass, there in zip(masses, valid, strict=True) if there)
        for mass, verdict in zip(some, found.verdict, strict=True):
            self.biased += mass if verdict == BIASED else 0
            self.fair += mass if verdict == FAIR else 0
            self.valid += mass if verdict == FAIR else 0
        return True

    def _split(self, cell: Cell) -> None:
        """Cut the feature that moves a constraint most across the cell, else the score."""
        pairs = self.judging.asked.pairs
        k = loosest(pairs.constraints, cell.lo, cell.hi, self._wide(cell))
        k = self._steepest(cell) if k is None else k
        if k is None:
            self.stuck.append(cell)  # its mass stays in the bracket
            return
        discrete = pairs.variables[pairs.first[k]].discrete
        at = float(cell.lo[k] / 2 + cell.hi[k] / 2)
        at = float(np.floor(at)) if discrete else at
        left_hi, right_lo, right_open = cell.hi.copy(), cell.lo.copy(), cell.open_left.copy()
        left_hi[k] = at
        right_lo[k] = at + 1 if discrete else at
        right_open[k] = not discrete
        self._push(cell.lo, left_hi, cell.open_left, fair=cell.fair)
        self._push(right_lo, cell.hi, right_open, fair=cell.fair)

    def _wide(self, cell: Cell) -> list[int]:
        relations = self.judging.asked.pairs.relations
        return [
            k for k, relation in enumerate(relations) if relation.kind != "free" and cell.lo[k] < cell.hi[k]
        ]

    def _steepest(self, cell: Cell) -> int | None:
        wide = self._wide(cell)
        if not wide:
            return None
        rows = np.repeat((cell.lo / 2 + cell.hi / 2)[None], 2 * len(wide), axis=0)
        discrete = [self.judging.asked.pairs.variables[v].discrete for v in self.judging.asked.pairs.first]
        rows = np.where(discrete, np.floor(rows), rows)
        for i, k in enumerate(wide):
            rows[2 * i, k], rows[2 * i + 1, k] = cell.lo[k], cell.hi[k]
        scores = self.judging.prepared.problem.scores(rows).reshape(-1, 2)
        moved = np.abs(scores[:, 1] - scores[:, 0])
        if not moved.max() > 0:
            return wide[int(np.argmax(cell.hi[wide] - cell.lo[wide]))]
        return wide[int(moved.argmax())]

    def _push(self, lo: Floats, hi: Floats, open_left: NDArray[np.bool_], *, fair: bool = False) -> None:
        mass = self.measure.mass(lo, hi, open_left)
        if mass:
            cell = Cell(-float(mass), next(self._numbers), lo, hi, open_left, mass, fair)
            heapq.heappush(self.open, cell)
