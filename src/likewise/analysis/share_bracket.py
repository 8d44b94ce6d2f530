"""A proved bracket of the share, by a partition of the individuals (`partition.engine`) in which every counted mass is proved.

A box holds free features whole. It is counted

- fair, where no pair with one individual in the box breaks the property: the cell of pair space (the other side widened by what may differ) is
  closed by one line, in both orders; of several scores, all cases are closed by a short search;
- biased, where two settings v, w of the free features get opposite decisions all over the box, f(v, .) above the margin and f(w, .)
  below it: then everybody in the box has one of the two, or both at margin 0, as a counterpart (of one score);
- looked through, where it has few individuals.

Of a score that is nearly linear over a box, masses of its biased and of its fair individuals are known without knowing who they are (`form_masses`): they count at once, and the box is cut on
for what is left. That takes the place of the first two where a family has such forms.

Lines are proved in exact arithmetic: by the oracle, or where its bounds are float64 and only propose (kernel and polynomial scores), by certificates of the box that
the checker accepts (`partition.proofs`). Otherwise the box is cut in two. Masses of biased boxes add up to the lower end, masses of all but the fair ones to the upper end.

Constraints: of a box all individuals satisfy them, none, or some (`partition.constraints`). Boxes of nobody are left out; only a box of valid individuals is counted
biased (it holds both settings, so that the counterparts are valid too). What is fair and holds some is cut on, as the mass of its valid individuals is not
known: with masses E of nobody, B of biased, F of fair boxes and V of those fair ones in which all are valid, the biased ones have a mass b with
B <= b <= 1 - E - F, the fair ones at least V and all together at most 1 - E, so that B / (1 - E) <= share <= b / (b + V) at the largest b.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.form_masses import FormMasses
from likewise.analysis.partition.constraints import constraint_status, most_moving_feature
from likewise.analysis.partition.engine import BoxCount, BoxVerdict, Cut, Partition, SavedBox, Weights
from likewise.analysis.partition.judge import BoxJudge
from likewise.analysis.partition.proofs import MANY_BOXES_SHARE, CodeProver, budget_slice
from likewise.clock import check_clock
from likewise.search.budget import BudgetUntil
from likewise.search.judgement import BIASED, FAIR
from likewise.search.pace import Pace
from likewise.search.validity import Validity
from likewise.verifying.certification import CheckRunner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.measures import Measure
    from likewise.analysis.partition.changes import Change
    from likewise.analysis.partition.engine import CodeBox
    from likewise.analysis.row_claim import RowClaim

    Floats = NDArray[np.float64]

BATCH = 64
FEW_INDIVIDUALS = (
    2_000  # individuals of a box that are looked through, those that differ in free features counted
)
FAIR_CELLS = 64  # of pairs, spent on a box that needs a certificate before it is cut


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedBracket:
    """A bracket as a checkpoint has it."""

    masses: tuple[Fraction, Fraction, Fraction, Fraction]  # biased, fair, valid, nobody
    boxes: int
    certificates: int
    left: tuple[SavedBox, ...]
    stuck: tuple[SavedBox, ...]


@dataclass(slots=True, kw_only=True)
class ShareBracket:
    """Masses counted so far, and the boxes that are left."""

    judging: RowClaim
    measure: Measure
    checking: CheckRunner = field(default_factory=CheckRunner)
    biased: Fraction = Fraction(0)
    fair: Fraction = Fraction(0)
    valid: Fraction = Fraction(0)  # of the fair ones
    nobody: Fraction = Fraction(0)
    stuck: list[CodeBox] = field(default_factory=list)  # that can be neither decided nor cut
    boxes: int = 0
    judge: BoxJudge = field(init=False)
    partition: Partition = field(init=False)
    prover: CodeProver | None = field(init=False)  # where bounds only propose
    forms: FormMasses | None = field(init=False)  # where the score has them

    def __post_init__(self) -> None:
        # Individuals are changed in free features only: their box holds them whole, and so the counterparts, with what they are missing.
        self.judge = BoxJudge(self.judging.posed, only_free=True)
        self.forms = FormMasses.of(self.judging, self.judge, self.measure)
        self.prover = None if self.judge.exact else CodeProver.of(self.judging, self.checking)
        weights = Weights(measures=(self.measure,), weights=(1.0,))
        self.partition = Partition(*self.measure.ends(), weights, np.empty((0, len(self.judge.lo))))

    @property
    def left(self) -> list[CodeBox]:
        """What is not decided."""
        return [*self.partition.boxes.values(), *self.stuck]

    @property
    def settled(self) -> tuple[Fraction, Fraction]:
        """Masses of biased and of fair individuals outside of what is left."""
        known = [box.count for box in self.left if box.count is not None]
        return (
            self.biased - sum((count.biased for count in known), Fraction(0)),
            self.fair - sum((count.fair for count in known), Fraction(0)),
        )

    @property
    def lower(self) -> Fraction:
        return self.biased / (1 - self.nobody) if self.nobody < 1 else Fraction(0)

    @property
    def upper(self) -> Fraction:
        most = 1 - self.nobody - self.fair
        return most / (most + self.valid) if most + self.valid else Fraction(1)

    @property
    def state(self) -> SavedBracket:
        """What it can be taken up from again."""
        return SavedBracket(
            masses=(self.biased, self.fair, self.valid, self.nobody),
            boxes=self.boxes,
            certificates=0 if self.prover is None else self.prover.accepted,
            left=tuple(map(SavedBox.of, self.partition.boxes.values())),
            stuck=tuple(map(SavedBox.of, self.stuck)),
        )

    def restore(self, state: SavedBracket) -> None:
        """Go on from there: masses that were counted are."""
        self.biased, self.fair, self.valid, self.nobody = state.masses
        self.boxes, self.stuck = state.boxes, [one.box for one in state.stuck]
        self.partition.restore(state.left)
        if self.prover is not None:
            self.prover.accepted = state.certificates

    def run(self, *, width: float, seconds: float) -> None:
        """Until the bracket is so narrow, or so many seconds (of the budget) have passed."""
        budget = BudgetUntil(self.judging.budget, self.judging.budget.elapsed + seconds)
        with budget.stopped():
            if self.forms is None:
                self.judge.warm_up()
            else:
                self.forms.warm_up()
        pace = Pace(budget, first=1, most=BATCH)
        while self.partition.boxes and self.upper - self.lower > width and pace.fits(1):
            count = min(pace.size, len(self.partition.boxes))
            for box, verdict in self.partition.step(self._judge, budget, count):
                self._count(box, verdict)
            pace.done(count)
            if self.judging.run.checkpoint is not None:
                self.judging.run.checkpoint.look()
            self.judging.tell(
                "settling cells",
                lower=float(self.lower),
                upper=float(self.upper),
                closed=self.boxes,
                open=len(self.partition.boxes),
            )

    def _count(self, box: CodeBox, verdict: BoxVerdict) -> None:
        """Add the masses of a box that is not cut."""
        if verdict.kind == "open":
            self.stuck.append(box)  # its mass stays in the bracket
            return
        counted = {"biased": box.mass, "fair": box.mass, "empty": box.mass}
        biased, fair, nobody = (
            verdict.counted
            if verdict.kind == "counted"
            else (
                counted[kind] if verdict.kind == kind else Fraction(0) for kind in ("biased", "fair", "empty")
            )
        )
        self.fair += fair - (box.mass if box.fair else 0)
        self.valid += fair
        self.biased += biased
        self.nobody += nobody
        if box.count is not None:
            self._add(box.count, -1)

    def _add(self, count: BoxCount, sign: int = 1) -> None:
        """What is known of a box that is left, all of whose individuals are valid."""
        self.biased += sign * count.biased
        self.fair += sign * count.fair
        self.valid += sign * count.fair

    def _judge(self, boxes: Sequence[CodeBox]) -> Iterator[BoxVerdict]:
        """Decide or cut boxes, one after another; fair ones that were found before they were cut are known."""
        if self.forms is not None:
            yield from self._judge_by_forms(boxes, self.forms)
            return
        asked = [box for box in boxes if box.mass and not box.fair]
        by_lines = bool(asked) and not self._searches
        lines = iter(self.judge.closed_by_lines(asked) if by_lines else [False] * len(asked))
        for box in boxes:
            check_clock()
            if not box.mass:
                yield BoxVerdict(kind="empty")
                continue
            yield self._verdict(box, fair=box.fair or next(lines))
            self.boxes += 1

    def _judge_by_forms(self, boxes: Sequence[CodeBox], forms: FormMasses) -> Iterator[BoxVerdict]:
        """Cut boxes, and count their parts. Of boxes in which not everybody is valid only those without a biased individual are told from the others."""
        fresh = [box for box in boxes if box.count is None and box.mass and not box.fair]
        counts = {id(box): box.count for box in boxes if box.count is not None}
        if fresh:
            counts.update(zip(map(id, fresh), forms.counted(fresh), strict=True))
        constraints = self.judging.pairs.constraints
        found = [
            self._form_verdict(
                box,
                counts.get(id(box)),
                constraint_status(constraints, box.lo, box.hi) == "all",
            )
            for box in boxes
        ]
        parts = [
            () if verdict is None or verdict.cut is None or not box.mass else self._parts(box, verdict)
            for box, verdict in zip(boxes, found, strict=True)
        ]
        every = [part for some in parts for part in some]
        known = iter(forms.counted(every) if every else ())
        for box, verdict, some in zip(boxes, found, parts, strict=True):
            self.boxes += 1
            if verdict is None:
                check_clock()
                yield self._verdict(box, fair=box.fair or counts[id(box)].fair == box.mass)
            elif not some:
                yield verdict
            else:
                yield replace(verdict, parts=self._left_parts(box, [(part, next(known)) for part in some]))

    def _form_verdict(self, box: CodeBox, count: BoxCount | None, valid: bool) -> BoxVerdict | None:
        """Of a box of valid individuals: counted, where that is all, looked through, where it is small, or cut. None for others, and for those that are known to be fair."""
        if not box.mass:
            return BoxVerdict(kind="empty")
        if count is None or not valid:
            return None
        everything = BoxVerdict(kind="counted", counted=(count.biased, count.fair, Fraction(0)))
        if count.mass == box.mass:
            return everything
        found = self._enumerate_box(box)
        if found is not None or count.feature is None:
            return found or everything
        return BoxVerdict(kind="open", cut=self.judge.middle_cut(box.lo, box.hi, count.feature))

    def _parts(self, box: CodeBox, verdict: BoxVerdict) -> list[CodeBox]:
        if verdict.cut is None:
            return []
        return [part for part in self.partition.divided(box, verdict.cut) if part.mass]

    def _left_parts(self, box: CodeBox, parts: list[tuple[CodeBox, BoxCount]]) -> tuple[CodeBox, ...]:
        """Count the parts in the place of the box; those of which not everybody is known."""
        if box.count is not None:
            self._add(box.count, -1)
        for _, count in parts:
            self._add(count)
        return tuple(replace(part, count=count) for part, count in parts if count.mass < part.mass)

    @property
    def _searches(self) -> bool:
        """Whether fair boxes are found by searches: of several scores, and where bounds only propose; else by one line each."""
        return self.prover is not None or self.judging.posed.several

    def _verdict(self, box: CodeBox, *, fair: bool) -> BoxVerdict:
        if self._searches and (counted := self._enumerate_box(box)) is not None:
            return counted  # cheaper than a search
        stands = constraint_status(self.judging.pairs.constraints, box.lo, box.hi)
        if stands == "none":
            return BoxVerdict(kind="empty")
        fair = fair or self._searched(box)
        if stands == "all":
            if fair:
                return BoxVerdict(kind="fair")
            changes = self._find_opposed(box)
            if changes is not None:
                return BoxVerdict(kind="biased", changes=changes)
        counted = self._enumerate_box(box)
        if counted is not None:
            return counted
        cut = self._cut(box)
        if (
            fair and not box.fair
        ):  # counted once, after all that may run out of time; its parts are cut on, to learn how many of them are valid
            self.fair += box.mass
        return BoxVerdict(kind="open", cut=cut, proved_fair=fair)

    def _searched(self, box: CodeBox) -> bool:
        """Whether all pairs are closed by a short search, where nobody is seen to be treated differently: for several scores, and where bounds only
        propose. Then a certificate has to be accepted as well."""
        if not self._searches or self.judge.unproved is not None:
            return False
        if self.judge.sample(box.lo, box.hi).differently.any():
            return False
        budget = self.judging.budget
        short = budget_slice(budget, MANY_BOXES_SHARE * (budget.seconds - budget.elapsed))
        if not self.judge.closes_pairs(box.lo, box.hi, short, FAIR_CELLS):
            return False
        return self.prover is None or self.prover.fair(box.lo, box.hi)

    def _find_opposed(self, box: CodeBox) -> tuple[Change, Change] | None:
        """Two settings of the free features with opposite decisions all over the box."""
        if not self.judge.asks_decisions:
            return None
        changes = self.judge.best_changes(box.lo, box.hi)
        if changes is None or not self.judge.are_opposed(box.lo, box.hi, changes, self.judging.budget):
            return None
        if self.prover is not None and not self.prover.biased(box.lo, box.hi, changes):
            return None
        return changes

    def _enumerate_box(self, box: CodeBox) -> BoxVerdict | None:
        """The individuals of a small box, one by one; what cannot be judged stays in the bracket."""
        discrete = self.judge.discrete
        if (~discrete & (box.lo < box.hi)).any():
            return None
        sizes = [int(b - a) + 1 for a, b in zip(box.lo, box.hi, strict=True)]
        if prod(sizes) > FEW_INDIVIDUALS:
            return None
        ranges = [np.arange(size) + low for size, low in zip(sizes, box.lo, strict=True)]
        rows = np.stack([axis.ravel() for axis in np.meshgrid(*ranges, indexing="ij")], axis=1)
        valid = Validity.of_all(self.judging.pairs).individuals(rows)
        found = self.judging.judge_together(rows[valid])
        if found is None:
            return None
        whole = np.zeros(len(box.lo), dtype=bool)
        masses = np.array([self.measure.mass(row, row, whole) for row in rows], dtype=object)
        some = masses[valid]
        groups = some[found.verdict == BIASED], some[found.verdict == FAIR], masses[~valid]
        biased, fair, nobody = (sum(group.tolist(), Fraction(0)) for group in groups)
        return BoxVerdict(kind="counted", counted=(biased, fair, nobody))

    def _cut(self, box: CodeBox) -> Cut | None:
        """In the middle of the feature that moves a constraint most across the box, else the score."""
        features = self.judge.cut if self.forms is None else self.forms.shared
        wide = [k for k in features if box.lo[k] < box.hi[k]]
        k = most_moving_feature(self.judging.pairs.constraints, box.lo, box.hi, wide)
        k = self.judge.steepest_feature(box.lo, box.hi, wide) if k is None else k
        return None if k is None else self.judge.middle_cut(box.lo, box.hi, k)
