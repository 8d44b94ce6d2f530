"""Decision rates: the share of a stratum's individuals who get the favourable decision, by a proved bracket or a sample.

exact      everybody is looked at: features that no score depends on are left out, and values between which no score changes count as one
certified  of a sum of one-feature terms by its distribution (`sum_distribution`); of other scores by boxes all of whose individuals are proved to be decided alike
sampled    what is left is drawn from, each individual decided exactly, and gets a Clopper-Pearson interval (`share_sample`)
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.decision_labels import UNCERTAIN_LABEL, Labeller
from likewise.analysis.partition.constraints import constraint_status
from likewise.analysis.partition.engine import BoxVerdict, Partition, Weights
from likewise.analysis.partition.judge import BoxJudge
from likewise.analysis.share_sample import NobodyDrawn, Sampler, make_draw
from likewise.analysis.sum_distribution import bracket_mass_above
from likewise.clock import OutOfTime, check_clock
from likewise.families.score_judge import rounding_growth
from likewise.search.budget import BudgetUntil
from likewise.search.certainty import ScoreEstimate
from likewise.search.frontier import LOWER, UPPER
from likewise.search.judgement import BIASED, FAIR, UNDECIDED
from likewise.search.neighbours import cuts_of
from likewise.search.pace import Pace
from likewise.search.validity import Validity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from likewise.analysis.measures import FeatureMeasure
    from likewise.analysis.partition.engine import CodeBox
    from likewise.analysis.row_claim import RowClaim
    from likewise.analysis.share_result import ShareMethod
    from likewise.analysis.strata import Stratum

    Floats = NDArray[np.float64]

NARROW_ENOUGH = 1e-4  # a bracket this narrow is narrow enough
ENUMERATION_SHARE = 0.7  # of the time, that looking at everybody may take
BOXES_SHARE = 0.4  # of the time, for boxes, before a sample is drawn from what they leave
MOST_INDIVIDUALS = 100_000_000
PIECE = 65_536  # individuals at a time
VALID_A_SECOND = 1e6  # individuals of whom only that is asked
LARGEST_WHOLE = 2**53  # up to which float64 has all whole numbers
BOXES = 64  # at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumRate:
    """Bounds of the masses, of a stratum, of the individuals who get the favourable decision and of those
    who get another one; and of `valid` ones, who satisfy the constraints, about the
    mass, in truth where it is `counted`."""

    selected: tuple[Fraction, Fraction]
    others: tuple[Fraction, Fraction]
    valid: Fraction = Fraction(1)
    counted: bool = True
    method: ShareMethod = "exact"
    people: int = 0
    reason: str | None = None  # why nothing is known

    @property
    def empty(self) -> bool:
        """Whether nobody satisfies the constraints, for certain."""
        return not (self.selected[1] or self.others[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """Values of a feature that stand for all, and what each of them weighs: whole numbers that add up to
    `total`, or parts of one."""

    codes: Floats
    weights: Floats
    total: int | None = None


@dataclass(slots=True, kw_only=True)
class RateComputation:
    """The rate of one stratum; `place` is that of the favourable class, `confidence` that of a sample."""

    judging: RowClaim
    stratum: Stratum
    place: int
    confidence: float
    labeller: Labeller = field(init=False)

    def __post_init__(self) -> None:
        self.labeller = Labeller(self.judging.posed, self.judging.inquiry)

    def run(self) -> StratumRate:
        """By the best way that the budget allows."""
        axes = self._axes()
        if axes is not None and self._affordable(axes, self.judging.inquiry.judge.pace):
            return self._enumerate(axes)
        summed = self._by_sum()
        if summed is not None:
            return summed
        return self._by_boxes_and_sample()

    # -- everybody ------------------------------------------------------------------------------------------------

    def _axes(self, *, decided: bool = True) -> list[_Axis] | None:
        """The features that matter to who is valid, and to who is `decided` how; None where one has values
        without number."""
        judging, found = self.judging, []
        constraints = judging.pairs.constraints
        for k, spread in enumerate(self.stratum.measure.spreads):
            named = any(not one.terms[k].constant for one in constraints)
            matters = decided and judging.inquiry.judge.depends(k)
            variable = judging.pairs.variables[judging.pairs.first[k]]
            cuts = None if variable.discrete else cuts_of(judging.pairs, judging.inquiry.judge, k)
            axis = _axis(spread, cuts, missing=variable.missing, alone=not (named or matters))
            if axis is None:
                return None
            found.append(axis)
        return found if _whole_mass(found) else [_part_of_one(axis) for axis in found]

    def _affordable(self, axes: Sequence[_Axis], pace: float) -> bool:
        people = prod(len(axis.codes) for axis in axes)
        return people <= MOST_INDIVIDUALS and people / pace <= ENUMERATION_SHARE * self.judging.budget.left

    def _enumerate(self, axes: Sequence[_Axis]) -> StratumRate:
        """Masses as sums of weights: whole numbers where float64 has them all, else each within a rounding
        an operation."""
        people, sums, done = prod(len(axis.codes) for axis in axes), np.zeros(4), 0
        with suppress(OutOfTime), self.judging.budget.watched():
            for rows, weights, valid in self._individuals(axes):
                decided = self.decide(rows[valid])
                kinds = np.full(len(rows), 2)
                kinds[valid] = np.where(decided == BIASED, 0, np.where(decided == FAIR, 1, 3))
                sums += [float(weights[kinds == kind].sum()) for kind in range(4)]
                done += len(rows)
                self.judging.tell(f"{done:,} individuals", share=done / people)
        whole = _whole_mass(axes)
        off = Fraction(0) if whole else Fraction(rounding_growth(people + 4 * len(axes) + 8))
        total = Fraction(whole or 1)
        low = [Fraction(mass) / total / (1 + off) for mass in sums.tolist()]
        high = [Fraction(mass) / total * (1 + off) for mass in sums.tolist()]
        rest = high[3] + (0 if done == people else 1 - min(sum(low, Fraction(0)), Fraction(1)))
        return StratumRate(
            selected=(low[0], high[0] + rest),
            others=(low[1], high[1] + rest),
            valid=(low[0] + high[0] + low[1] + high[1]) / 2 + rest,
            counted=done == people,
            method="certified" if rest else "exact",
            people=done,
        )

    def _individuals(self, axes: Sequence[_Axis]) -> Iterator[tuple[Floats, Floats, NDArray[np.bool_]]]:
        """In pieces: their codes, their weights, and who is valid."""
        sizes, valid_of = [len(axis.codes) for axis in axes], Validity.of_all(self.judging.pairs)
        for start in range(0, prod(sizes), PIECE):
            check_clock()
            places = np.unravel_index(np.arange(start, min(start + PIECE, prod(sizes))), sizes)
            rows = np.stack([axis.codes[at] for axis, at in zip(axes, places, strict=True)], axis=1)
            weights = np.ones(len(rows))
            for axis, at in zip(axes, places, strict=True):
                weights *= axis.weights[at]
            yield rows, weights, valid_of.individuals(rows)

    def _valid_mass(self) -> tuple[Fraction, bool]:
        """The mass of those who satisfy the constraints, and whether it is known: else it is that of a
        sample."""
        judging, measure = self.judging, self.stratum.measure
        if not judging.pairs.constraints:
            return Fraction(1), True
        axes = self._axes(decided=False)
        if axes is not None and self._affordable(axes, VALID_A_SECOND):
            with suppress(OutOfTime), judging.budget.watched():
                parts = (
                    Fraction(float(weights[valid].sum())) for _, weights, valid in self._individuals(axes)
                )
                return sum(parts, Fraction(0)) / (_whole_mass(axes) or 1), True
        lo, hi = measure.ends()
        plain = [c for c in judging.pairs.constraints if all(term.pieces is None for term in c.terms)]
        if constraint_status(plain, lo, hi) == "none":
            return Fraction(0), True
        low, high = (np.repeat(end[None], PIECE, axis=0) for end in (lo, hi))
        rows = measure.drawn(judging.random, low, high, np.zeros(low.shape, dtype=bool))
        return Fraction(int(Validity.of_all(judging.pairs).individuals(rows).sum()), PIECE), False

    def decide(self, rows: Floats) -> NDArray[np.int8]:
        """BIASED stands for the favourable decision, FAIR for another one: what samples call a hit."""
        unknown = ScoreEstimate.unknown(len(rows))
        places = self.labeller.labels(rows, unknown, self.judging.budget)
        verdict = np.where(places == self.place, BIASED, np.where(places == UNCERTAIN_LABEL, UNDECIDED, FAIR))
        return verdict.astype(np.int8)

    # -- sums -----------------------------------------------------------------------------------------------------

    def _by_sum(self) -> StratumRate | None:
        judging, head = self.judging, self.labeller.head
        if head.rule != "sign" or not self.stratum.measure.known:
            return None
        border, rising = self.labeller.border
        found = bracket_mass_above(judging, self.stratum.measure, border, NARROW_ENOUGH)
        if found is None:
            return None
        low, high = found  # of those above the border: of upper decisions where they rise with the score
        if rising != (self.place == 1):
            low, high = 1 - high, 1 - low
        return StratumRate(selected=(low, high), others=(1 - high, 1 - low), method="certified")

    # -- boxes, and a sample of what they leave -------------------------------------------------------------------

    def _by_boxes_and_sample(self) -> StratumRate:
        judging, measure = self.judging, self.stratum.measure
        boxes = None
        one_score = self.labeller.head.rule == "sign" and self.labeller.head.undecided is None
        if judging.proves and one_score and measure.known and not judging.pairs.constraints:
            boxes = _Boxes(self)
            boxes.run(BOXES_SHARE * judging.budget.left)
            if boxes.left <= NARROW_ENOUGH or not boxes.open:
                return boxes.rate
        valid, counted = self._valid_mass()
        nothing = Fraction(0), valid
        rate = StratumRate(selected=nothing, others=nothing, valid=valid, counted=counted, method="sampled")
        if not valid and counted:
            return rate
        known, mass = (rate, Fraction(1)) if boxes is None else (boxes.rate, boxes.left)
        try:
            sample = Sampler(
                judging=judging,
                draw=make_draw(judging, measure, None if boxes is None else boxes.open),
                mass=float(mass),
                settled=float(known.selected[0]),
                confidence=self.confidence,
                hit=self.decide,
            ).run()
        except NobodyDrawn as nobody:  # nothing is known of them, nor whether there are any
            unknown = Fraction(0), Fraction(1)
            return replace(rate, selected=unknown, others=unknown, reason=nobody.message)
        low, high = map(Fraction, sample.interval)
        selected, others = known.selected[0], known.others[0]
        return replace(
            rate,
            selected=(selected + mass * low, selected + mass * high),
            others=(others + mass * (1 - high), others + mass * (1 - low)),
            people=sample.draws,
        )


class _Boxes:
    """Boxes of a stratum's individuals, the heaviest first, until everybody in one is proved to be decided alike."""

    def __init__(self, asked: RateComputation) -> None:
        self.asked, self.judging, measure = asked, asked.judging, asked.stratum.measure
        self.judge = BoxJudge(self.judging.posed)
        lo, hi = (ends.copy() for ends in measure.ends())
        for k, spread in enumerate(measure.spreads):
            if spread.atoms:
                lo[k], hi[k] = spread.atoms[0], spread.atoms[-1]
            elif spread.edges:
                lo[k], hi[k] = spread.edges[0], spread.edges[-1]
        weights = Weights(measures=(measure,), weights=(1.0,))
        self.partition = Partition(lo, hi, weights, np.empty((0, len(lo))))
        self.cut = [k for k in range(len(lo)) if self.judging.inquiry.judge.depends(k)]
        self.masses = {True: Fraction(0), False: Fraction(0)}
        self.stuck: list[CodeBox] = []
        self.boxes = 0

    @property
    def open(self) -> list[CodeBox]:
        return [*self.partition.boxes.values(), *self.stuck]

    @property
    def left(self) -> Fraction:
        return 1 - self.masses[True] - self.masses[False]

    @property
    def rate(self) -> StratumRate:
        selected, others = self.masses[True], self.masses[False]
        return StratumRate(
            selected=(selected, 1 - others),
            others=(others, 1 - selected),
            method="certified",
            people=self.boxes,
        )

    def run(self, seconds: float) -> None:
        budget = BudgetUntil(self.judging.budget, self.judging.budget.elapsed + seconds)
        with budget.stopped():
            self.judge.warm_up()
        pace = Pace(budget, first=1, most=BOXES)
        while self.partition.boxes and self.left > NARROW_ENOUGH and pace.fits(1):
            count = min(pace.size, len(self.partition.boxes))
            for box, verdict in self.partition.step(self._judge, budget, count):
                if verdict.kind == "counted":
                    favourable, other, _ = verdict.counted
                    self.masses[True] += favourable
                    self.masses[False] += other
                elif verdict.kind == "open":
                    self.stuck.append(box)
            pace.done(count)
            self.judging.tell("settling boxes", share=float(1 - self.left))

    def _judge(self, boxes: Sequence[CodeBox]) -> Iterator[BoxVerdict]:
        ends = [(box.lo, box.hi) for box in boxes]
        alike = {lean: self.judge.bound_decisions(ends, lean)[0] for lean in (LOWER, UPPER)}
        for n, box in enumerate(boxes):
            check_clock()
            self.boxes += 1
            sides = [lean for lean in (LOWER, UPPER) if alike[lean][n]]
            if any(self.judge.decides(box.lo, box.hi, lean, self.judging.budget, 1) for lean in sides):
                (decided,) = self.asked.decide(self.judge.middle(box.lo, box.hi)[None])
                if decided != UNDECIDED:
                    masses = (box.mass, Fraction(0)) if decided == BIASED else (Fraction(0), box.mass)
                    yield BoxVerdict(kind="counted", counted=(*masses, Fraction(0)))
                    continue
            wide = [k for k in self.cut if box.lo[k] < box.hi[k]]
            k = self.judge.steepest_feature(box.lo, box.hi, wide)
            cut = None if k is None else self.judge.middle_cut(box.lo, box.hi, k)
            yield BoxVerdict(kind="open", cut=cut)


def _whole_mass(axes: Sequence[_Axis]) -> int | None:
    """What all weigh, in whole numbers, where float64 has every sum of them."""
    totals = [axis.total for axis in axes if axis.total is not None]
    return prod(totals) if len(totals) == len(axes) and prod(totals) <= LARGEST_WHOLE else None


def _part_of_one(axis: _Axis) -> _Axis:
    return _Axis(codes=axis.codes, weights=axis.weights / (axis.total or 1))


def _axis(spread: FeatureMeasure, cuts: Floats | None, *, missing: float | None, alone: bool) -> _Axis | None:
    """Values of a feature that stand for all; one of them, where they are all alike. None where they cannot be listed."""
    if alone:
        first = spread.atoms[0] if spread.atoms else spread.lo
        return _Axis(codes=np.array([first]), weights=np.ones(1), total=1)
    if spread.atoms:
        merged: dict[int, tuple[float, int]] = {}
        places = range(len(spread.atoms)) if cuts is None else np.searchsorted(cuts, spread.atoms).tolist()
        for at, code, count in zip(places, spread.atoms, spread.counts, strict=True):
            at = at if cuts is None or code != missing else -1
            merged[at] = merged.get(at, (code, 0))[0], merged.get(at, (code, 0))[1] + count
        codes, counts = zip(*merged.values(), strict=True)
        if spread.sums[-1] > LARGEST_WHOLE:
            return _Axis(
                codes=np.array(codes), weights=np.array([count / spread.sums[-1] for count in counts])
            )
        return _Axis(codes=np.array(codes), weights=np.array(counts, dtype=np.float64), total=spread.sums[-1])
    if cuts is None or spread.bend is not None:
        return None
    inside = [float(cut) for cut in cuts if spread.lo < cut < spread.hi]
    edges = [spread.lo, *inside, spread.hi]
    masses = [spread.mass(a, b, open_left=False) for a, b in pairwise(edges)]
    kept = [(code, mass) for code, mass in zip(edges[1:], masses, strict=True) if mass]
    return _Axis(
        codes=np.array([code for code, _ in kept]),
        weights=np.array([float(mass) for _, mass in kept]),
    )
