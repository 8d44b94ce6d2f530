"""The search for regions, in rounds.

The partition is cut further, biased boxes are grown (`partition.seeds`), what was found is merged and proved (`partition.proofs`), again and again
until the time is over. Merged pieces are proved largest first, a biased one after some of the others. What is not proved is put to the proof again
in the parts it was merged from; what is left then, or comes after there are enough boxes of its kind, is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.partition.constraints import excludes_box
from likewise.analysis.partition.cuts import Cutter
from likewise.analysis.partition.engine import BoxVerdict, Partition, SavedBox, Weights
from likewise.analysis.partition.proofs import budget_slice
from likewise.analysis.partition.seeds import Seeder
from likewise.analysis.partition.translator import Translator
from likewise.analysis.region_merge import SPACE_WEIGHT, Piece, reduce_pieces
from likewise.analysis.region_result import Region, Regions, make_region
from likewise.analysis.region_state import SavedPiece, SavedRegions
from likewise.clock import OutOfTime, check_clock
from likewise.progress import Listener, Snapshot
from likewise.search.frontier import LOWER, UPPER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.partition.changes import Change
    from likewise.analysis.partition.engine import CodeBox, Cut
    from likewise.analysis.partition.judge import BoxJudge
    from likewise.analysis.partition.people import People
    from likewise.analysis.partition.proofs import BoxProver
    from likewise.analysis.partition.seeds import GrownBox
    from likewise.analysis.region_merge import RegionKind
    from likewise.certificate.certificate import Certificate
    from likewise.search.budget import Budget
    from likewise.search.checkpoint import Checkpoint

    Floats = NDArray[np.float64]

LEAST_WEIGHT = 1e-9  # lighter boxes are not cut any further
BATCH = 8  # boxes that are bounded together
FAIR_CELLS, SLOW_FAIR_CELLS = (
    96,
    32,
)  # spent on one box before it is cut; fewer where a bound is more than a sum
EXPLORE_SHARE = 0.35  # of the time that is left, in every round
GROW_SHARE = 0.06  # the same of biased boxes; the rest is for proofs
MOST_SEEDS = 96  # around which boxes are grown, before the largest of them are taken
MOST_GROWN = 24  # boxes that are grown around individuals who are treated differently
PROVED_BEFORE_BIASED = 3  # pieces that are proved before each biased one
NEAR_FACTOR = 2.0  # times as far as a search is worth it, bounds of parts are
MOST_FAILED_SEARCHES = 20  # searches of pairs without any that closes before they are given up
FIRST_LIMIT, LEAST_LIMIT, LIMIT_GROWTH, LIMIT_DECAY = 1.0, 0.2, 1.25, 0.95  # of `SearchLimit`
LEAST_SCALE = 1e-12  # of scores
LAST_ROUND_SHARE = 0.05  # of the budget: less is not worth another round
MOST_BOXES = 20_000
BOXES_A_REGION = 40  # that are looked for before they are merged


@dataclass(slots=True)
class SearchLimit:
    """Up to where a short search is worth it: a bound that is so far from what it should be, by the scale of scores. Learnt from those that close."""

    limit: float = FIRST_LIMIT

    def learn(self, far: float, *, closed: bool) -> None:
        """What became of a search."""
        self.limit = (
            max(self.limit, LIMIT_GROWTH * far) if closed else max(LIMIT_DECAY * self.limit, LEAST_LIMIT)
        )


class RegionSearch:
    """A partition in the making: rounds of cutting, growing and proving, until the budget is over or there are enough boxes."""

    def __init__(
        self,
        judge: BoxJudge,
        prover: BoxProver,
        people: People | None,
        listener: Listener,
        max_boxes: int | None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.judge, self.prover, self.people, self.listener = judge, prover, people, listener
        self.checkpoint = checkpoint
        self.most = math.inf if max_boxes is None else max_boxes
        self.user = user = Translator(prover.space, judge)
        self.weights = (
            Weights(measures=(user,), weights=(1.0,))
            if people is None
            else Weights(measures=(people, user), weights=(float(1 - SPACE_WEIGHT), float(SPACE_WEIGHT)))
        )
        self.rows = judge.prepared.imported.rows if people is not None else np.empty((0, len(judge.lo)))
        self.partition = Partition(judge.lo, judge.hi, self.weights, self.rows)
        self.cutter = Cutter(judge, user, self.weights)
        self.order = list(range(len(judge.lo)))
        with suppress(OutOfTime), prover.budget.watched():
            self.order = [int(k) for k in np.argsort(self.cutter.spreads(judge.lo, judge.hi), kind="stable")]
        self.proved: dict[RegionKind, list[Region]] = {"fair": [], "biased": []}
        self.taken: list[Piece] = []  # what these were made of
        self.waiting: list[Piece] = []  # for their proof
        self.late: list[Piece] = []  # of those, what there was no time for
        self.empty: list[Piece] = []
        self.left: list[Piece] = []
        self.boxes = self.grown = 0
        self.worth, self.tried_pairs, self.closed_pairs = SearchLimit(), 0, 0
        self.settled = 0.0  # of all weight

    def run(self) -> Regions:
        """All rounds."""
        budget = self.prover.budget
        with suppress(OutOfTime), budget.watched():
            if self.judge.independent and self.partition.boxes:
                self.waiting.append(self._piece(self.partition.pop(), "fair"))
        self._prove_waiting()
        while self._continues:
            remaining = budget.seconds - budget.elapsed
            found = self.explore(budget_slice(budget, EXPLORE_SHARE * remaining))
            most = int(min(self.most, MOST_GROWN)) - self.grown
            grown = self.grow(budget_slice(budget, GROW_SHARE * remaining), most)
            self.boxes += len(found) + len(grown)
            self.grown += len(grown)
            self.waiting = list(interleave_biased(reduce_pieces([*found, *grown], self.order)))
            self._prove_waiting()
        if self.checkpoint is not None:
            self.checkpoint.end()
        self.left += [*self.late, *(self._piece(box, "undecided") for box in self.partition.boxes.values())]
        return Regions(
            fair=sorted(self.proved["fair"], key=_size_key),
            biased=sorted(self.proved["biased"], key=_size_key),
            undecided=self._unproved_regions(self.left),
            empty=self._unproved_regions(self.empty),
            over=None if self.people is None else self.people.words,
            reason=self._reason(),
            stats={**budget.stats, "boxes": self.boxes + len(self.partition.boxes)},
        )

    def _prove_waiting(self) -> None:
        """Put what waits to the proof, one piece after another; what there was no time for waits on, should the search be taken up again."""
        waiting, late = self.waiting, []
        while waiting:
            left, taken = len(self.left), len(self.taken)
            self._take(waiting[0])
            if self.prover.budget.over:
                late.append(waiting[0])
                self.late += self.left[left:]
                del self.left[left:], self.taken[taken:]
            del waiting[0]
            if self.checkpoint is not None and not late:
                self.checkpoint.look()
        self.waiting = late

    @property
    def state(self) -> SavedRegions:
        """What the search can be taken up from again."""
        return SavedRegions(
            boxes=tuple(map(SavedBox.of, self.partition.boxes.values())),
            proved=tuple(map(SavedPiece.of, self.taken)),
            waiting=tuple(map(SavedPiece.of, self.waiting)),
            left=tuple(map(SavedPiece.of, self.left)),
            empty=tuple(map(SavedPiece.of, self.empty)),
            certificates=dict(self.prover.known),
            counted=(self.boxes, self.grown, self.settled),
        )

    def restore(self, state: SavedRegions) -> None:
        """Go on from there: what was proved is put to the proof first, as certificates are known."""
        space, people = self.prover.space, self.people
        self.partition.restore(state.boxes)
        self.waiting = [piece.piece(space, people) for piece in (*state.proved, *state.waiting)]
        self.left = [piece.piece(space, people) for piece in state.left]
        self.empty = [piece.piece(space, people) for piece in state.empty]
        self.prover.known.update(state.certificates)
        self.boxes, self.grown, self.settled = state.counted

    def _unproved_regions(self, pieces: Sequence[Piece]) -> list[Region]:
        return sorted((make_region(piece, ()) for piece in reduce_pieces(pieces, self.order)), key=_size_key)

    @property
    def _continues(self) -> bool:
        budget = self.prover.budget
        return (
            bool(self.partition.boxes)
            and budget.seconds - budget.elapsed > LAST_ROUND_SHARE * budget.seconds
            and not budget.over
            and len(self.proved["fair"]) < self.most
        )

    def _reason(self) -> str | None:
        """Why the partition is not what it could be."""
        budget = self.prover.budget
        if budget.over:
            return budget.reason
        if any(len(proved) >= self.most for proved in self.proved.values()) and self.left:
            return f"there are no more than {self.most} boxes of a kind (max_boxes)"
        return f"the budget of {budget.seconds:g} s is used up" if self.partition.boxes else None

    def _piece(self, box: CodeBox, kind: RegionKind, verdict: BoxVerdict | None = None) -> Piece:
        changes = () if verdict is None else verdict.changes
        mirrored = self.judge.prepared.mirrored
        return Piece(
            kind=kind,
            box=self.user.box(box.lo, box.hi),
            share=box.masses[-1],
            crowd=None if self.people is None else self.people.crowd(box),
            counterparts=self.user.counterparts(changes, mirrored=mirrored) if changes else (),
        )

    def _report(self, stage: str, closed: int, open_: int, share: float | None = None) -> None:
        seconds = self.prover.budget.elapsed
        self.listener(Snapshot(stage=stage, seconds=seconds, closed=closed, open=open_, share=share))

    # -- proposals ----------------------------------------------------------------------------------------

    def explore(self, budget: Budget) -> list[Piece]:
        """What is found within the budget: what boxes look like, or that they can be cut no further."""
        found: list[Piece] = []
        self.waiting = found
        most, partition = min(BOXES_A_REGION * self.most, MOST_BOXES), self.partition
        while partition.boxes and not budget.over and len(found) < most:
            for box, verdict in partition.step(partial(self.propose, budget), budget, BATCH):
                found.append(self._piece(box, _KIND_OF_VERDICT[verdict.kind], verdict))
                self.settled += self.weights.of(box)
                self._report("looking for regions", len(found), len(partition.boxes), min(self.settled, 1.0))
            if self.checkpoint is not None:
                self.checkpoint.look()
        return found

    def propose(self, budget: Budget, boxes: Sequence[CodeBox]) -> Iterator[BoxVerdict]:
        """What boxes look like, by float64 and short searches."""
        alike, beyond = np.zeros(len(boxes), dtype=bool), np.zeros((2, len(boxes)))
        if self.judge.asks_decisions:
            reached = [self.judge.reached(box.lo, box.hi) for box in boxes]
            for lean in (UPPER, LOWER):
                closed, beyond[lean] = self.judge.bound_decisions(reached, lean)
                alike |= closed
        for i, box in enumerate(boxes):
            if self.prover.space.constraints and excludes_box(self.user.box(box.lo, box.hi)):
                yield BoxVerdict(kind="empty")
            elif alike[i]:
                yield BoxVerdict(kind="fair")
            else:
                yield self._proposed(box, budget, beyond[:, i])

    def _proposed(self, box: CodeBox, budget: Budget, beyond: Floats) -> BoxVerdict:
        """Where some of those who are looked at are treated differently and some are not, there is nothing to prove. `beyond` are the bounds of both
        sides: searches and bounds of parts are not worth it where they are far from 0."""
        lo, hi, judge = box.lo, box.hi, self.judge
        sample = judge.sample(lo, hi, self.rows[box.rows])
        if len(sample.rows) and sample.differently.all():
            if not judge.asks_decisions:
                return BoxVerdict(kind="open")
            changes = self._find_opposed(lo, hi, budget)
            if changes is not None:
                return BoxVerdict(kind="biased", changes=changes)
        far = beyond / max(sample.scale, LEAST_SCALE)
        if not sample.differently.any() and self._looks_fair(box, set(sample.treated.tolist()), far, budget):
            return BoxVerdict(kind="fair")
        if self.weights.of(box) <= LEAST_WEIGHT:
            return BoxVerdict(kind="open")
        near = bool(far.min() <= NEAR_FACTOR * self.worth.limit) or bool(sample.differently.any())
        return BoxVerdict(kind="open", cut=self.cutter.place(box, sample, near=near))

    def _looks_fair(self, box: CodeBox, treated: set[int], far: Floats, budget: Budget) -> bool:
        """Whether a short search shows that everybody similar to somebody in the box gets one decision, where those who are looked
        at do; else whether it closes all their pairs."""
        lo, hi, judge = box.lo, box.hi, self.judge
        cells = FAIR_CELLS if judge.sums else SLOW_FAIR_CELLS
        if judge.asks_decisions and len(treated) == 1:
            lean = UPPER if 1 in treated else LOWER
            if far[lean] <= self.worth.limit:
                closed = judge.decides(*judge.reached(lo, hi), lean, budget, cells)
                self.worth.learn(float(far[lean]), closed=closed)
                if closed:
                    return True
            if not judge.exact:
                return False
        rarely = MOST_FAILED_SEARCHES * (self.closed_pairs + 1) < self.tried_pairs
        if judge.unproved is not None or (judge.asks_decisions and rarely):
            return False
        self.tried_pairs += 1
        closed = judge.closes_pairs(lo, hi, budget, cells)
        self.closed_pairs += closed
        return closed

    def _find_opposed(self, lo: Floats, hi: Floats, budget: Budget) -> tuple[Change, Change] | None:
        """Changes of everybody in the box with different decisions, as far as short searches can tell."""
        best = self.judge.best_changes(lo, hi)
        if best is None:
            return None
        box = self.user.box(lo, hi)
        counterparts = self.user.counterparts(best, mirrored=self.judge.prepared.mirrored)
        if not all(counterpart.exists(box) for counterpart in counterparts):
            return None
        return best if self.judge.are_opposed(lo, hi, best, budget) else None

    # -- biased boxes that are grown ----------------------------------------------------------------------

    def grow(self, budget: Budget, most: int) -> list[Piece]:
        """At most so many biased boxes, the largest of those that are grown in open boxes within the budget: they lie in a thin layer along
        the border of the decision, and are small, so that no order by weight comes to them."""
        partition, seeder = self.partition, Seeder(self.cutter, self.prover.relations)
        if not self.judge.asks_decisions or most <= 0 or not partition.boxes or budget.over:
            return []
        best: dict[int, tuple[float, GrownBox]] = {}
        with suppress(OutOfTime), budget.watched():
            seeds = seeder.seeds()[: min(MOST_SEEDS, 4 * most)]
            for seed, number in zip(seeds, partition.boxes_holding(seeds), strict=True):
                if number is None:
                    continue
                check_clock()
                box = partition.boxes[number]
                grown = seeder.grown(seed, box.lo, box.hi, budget)
                size = 0.0 if grown is None else self._size(box, grown)
                if grown is not None and (number not in best or size > best[number][0]):
                    best[number] = size, grown
        found = []
        for number in sorted(best, key=lambda number: -best[number][0])[:most]:
            grown = best[number][1]
            inside, around = self._cut_out(partition.boxes.pop(number), grown)
            found.append(self._piece(inside, "biased", BoxVerdict(kind="biased", changes=grown.changes)))
            self.settled += self.weights.of(inside)
            for box in around:
                partition.push(box)
        return found

    def _size(self, box: CodeBox, grown: GrownBox) -> float:
        """About the weight of a box that is grown in another one."""
        size = float(self.user.box(grown.lo, grown.hi).share)
        if not len(self.rows):
            return size
        rows = self.rows[box.rows]
        inside = ((grown.lo <= rows) & (rows <= grown.hi)).all(axis=1).sum()
        return float(SPACE_WEIGHT) * size + float(1 - SPACE_WEIGHT) * float(inside) / len(self.rows)

    def _cut_out(self, box: CodeBox, grown: GrownBox) -> tuple[CodeBox, list[CodeBox]]:
        """The grown box and what surrounds it in an open one: the cut that takes off most of the space comes first."""
        cuts, around = list(grown.cuts), []

        def parted(cut: Cut) -> list[CodeBox]:
            return sorted(self.partition.divided(box, cut), key=partial(_lies_outside, grown))

        while cuts:
            cut = max(cuts, key=lambda cut: parted(cut)[1].masses[-1])
            box, outside = parted(cut)
            around.append(outside)
            cuts.remove(cut)
        return box, around

    # -- proofs -------------------------------------------------------------------------------------------

    def _take(self, piece: Piece) -> None:
        """Put what can be proved of a piece with the regions that are, and the rest with what is left."""
        if piece.kind not in self.proved:
            (self.empty if piece.kind == "empty" else self.left).append(piece)
            return
        proved = self.proved[piece.kind]
        if len(proved) >= self.most:
            self.left.append(as_undecided(piece))
            return
        for part, certificates in self._certified(piece):
            if certificates and len(proved) < self.most:
                proved.append(make_region(part, certificates))
                self.taken.append(part)
            else:
                self.left.append(as_undecided(part))
        self._report("proving regions", sum(map(len, self.proved.values())), len(self.left))

    def _certified(self, piece: Piece) -> Iterator[tuple[Piece, tuple[Certificate, ...]]]:
        """The piece with its certificates, or its parts with theirs, or pieces without any: those are undecided."""
        certificates: tuple[Certificate, ...] = ()
        if not self.prover.budget.over:
            certificates = (
                self.prover.biased(piece.box, piece.counterparts)
                if piece.kind == "biased"
                else tuple(filter(None, [self.prover.fair(piece.box)]))
            )
        if certificates or not piece.parts:
            yield piece, certificates
            return
        for part in piece.parts:
            yield from self._certified(part)


_KIND_OF_VERDICT: dict[str, RegionKind] = {
    "fair": "fair",
    "biased": "biased",
    "empty": "empty",
    "open": "undecided",
}


def interleave_biased(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """A biased one after some of the others: biased boxes are small, and would never have their turn."""
    biased = iter([piece for piece in pieces if piece.kind == "biased"])
    others = iter([piece for piece in pieces if piece.kind != "biased"])
    while some := [*islice(others, PROVED_BEFORE_BIASED), *islice(biased, 1)]:
        yield from some


def as_undecided(piece: Piece) -> Piece:
    """The piece, of which nothing is said."""
    return replace(piece, kind="undecided", counterparts=(), parts=())


def _lies_outside(grown: GrownBox, box: CodeBox) -> bool:
    """Whether the grown box, which lies on one side of every cut of its own, is not in this one."""
    return bool((grown.lo < box.lo).any() or (grown.hi > box.hi).any())


def _size_key(region: Region) -> tuple[Fraction, Fraction, str]:
    return -region.weight, -region.measure, region.rule
