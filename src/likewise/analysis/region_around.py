"""Around: one fair box, as large as it can be made, around a person or a rule; around a person who is treated differently, a biased one.

The start is the person's own values, or the rule's box; features that may differ freely take all their values. Then, those that move the
score least first: a feature is released altogether if the box is still fair, else widened as far as bisection finds it fair, a number
upwards and then downwards, levels one by one. The search says so for every step; the last box gets its certificate, and if the checker
does not accept that, the step before it, and so on. A checkpoint has what was found out about boxes: the same steps are gone again without a search, and the last box is proved again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.partition.cuts import Cutter
from likewise.analysis.partition.engine import Weights
from likewise.analysis.partition.seeds import Seeder
from likewise.analysis.partition.translator import Translator
from likewise.analysis.region_merge import Piece
from likewise.analysis.region_result import Regions, make_region
from likewise.analysis.region_state import SavedGrowth
from likewise.clock import OutOfTime
from likewise.errors import DataError, LikewiseError, SpecError
from likewise.progress import Snapshot
from likewise.spec.boxes import Box, full_part, parse_box
from likewise.spec.features import Categorical, Integer, Ordinal

if TYPE_CHECKING:
    from likewise.analysis.partition.changes import Counterpart
    from likewise.analysis.partition.judge import BoxJudge
    from likewise.analysis.partition.proofs import BoxProver
    from likewise.certificate.certificate import Certificate
    from likewise.progress import Listener
    from likewise.search.checkpoint import Checkpoint
    from likewise.spec.boxes import FeaturePart
    from likewise.spec.features import Feature
    from likewise.spec.space import Space

STEP_CELLS = 512  # of one step
MOST_HALVINGS = 8  # of the way to the end of a continuous number


class BoxGrowth:
    """The largest fair box around a person or a rule, in the making."""

    def __init__(
        self,
        judge: BoxJudge,
        prover: BoxProver,
        around: Any,
        listener: Listener,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.judge, self.prover, self.listener, self.checkpoint = judge, prover, listener, checkpoint
        start = _start_box(prover.space, around)
        for k, relation in enumerate(prover.relations):
            if relation.kind == "free":
                start = start.with_part(k, full_part(start.space[start.space.names[k]]))
        self.start = start
        self._looked: dict[tuple[FeaturePart, ...], bool] = {}

    @property
    def state(self) -> SavedGrowth:
        """What it can be taken up from again."""
        return SavedGrowth(looked=tuple(self._looked.items()), certificates=dict(self.prover.known))

    def restore(self, state: SavedGrowth) -> None:
        """Go on from there: what was found out is not searched again, and what it comes to is proved."""
        self._looked.update(state.looked)
        self.prover.known.update(state.certificates)

    def run(self) -> Regions:
        """The largest one that is found."""
        prover, start = self.prover, self.start
        steps = self._grown()
        fair, reason = [], None
        for box in reversed(steps):
            certificate = prover.fair(box)
            if certificate is not None:
                fair.append(make_region(Piece(kind="fair", box=box, share=box.share), [certificate]))
                break
        if prover.budget.over:
            reason = prover.budget.reason
        elif not fair:
            reason = "not proved to be fair itself"
        biased = [] if fair else _biased_pieces(self.judge, prover, start)
        if self.checkpoint is not None:
            self.checkpoint.end()
        return Regions(
            fair=fair,
            biased=[make_region(piece, certificates) for piece, certificates in biased],
            undecided=[],
            around=start.rule,
            reason=None if biased else reason,
            stats={**prover.budget.stats, "steps": len(steps)},
        )

    def _grown(self) -> list[Box]:
        """Larger and larger boxes from the start on; none where that is not fair."""
        judge, prover, start = self.judge, self.prover, self.start
        if not self.looks_fair(start):
            return []
        steps, order = [start], [int(k) for k in judge.cut]
        with suppress(OutOfTime), prover.budget.watched():
            spreads = np.argsort(_make_cutter(judge, prover).spreads(judge.lo, judge.hi), kind="stable")
            order = [int(k) for k in spreads if int(k) in judge.cut]
        for box in _widen_box(self, start, order):
            steps.append(box)
            self.listener(
                Snapshot(
                    stage="widening",
                    seconds=prover.budget.elapsed,
                    closed=len(steps),
                    share=float(box.share),
                )
            )
        return steps

    def looks_fair(self, box: Box) -> bool:
        """Whether a short search proves a box; what it says when time is over is not written down."""
        if box.parts not in self._looked:
            found = self.prover.looks_fair(box, STEP_CELLS)
            if self.late and not found:
                return False
            self._looked[box.parts] = found
            if self.checkpoint is not None:
                self.checkpoint.look()
        return self._looked[box.parts]

    @property
    def late(self) -> bool:
        """Whether time is over."""
        return self.prover.budget.over


def _start_box(space: Space, around: Any) -> Box:
    if isinstance(around, str):
        return parse_box(around, space)
    parts = []
    values = _person_values(space, around)
    for name, feature in space.features.items():
        try:
            parts.append(_single_value(feature, values[name]))
        except LikewiseError as error:
            raise error.located(f"around: feature {name!r}") from None
    for constraint in space.constraints:
        if not constraint.holds(values):
            raise DataError(f"around: the person breaks the constraint {constraint.text}")
    return Box(space, tuple(parts))


def _person_values(space: Space, around: Any) -> dict[str, Any]:
    """The values of a mapping, or of a frame of one row."""
    missing = [name for name in space.names if name not in around]
    if missing:
        raise SpecError(
            f"around: the person has no {missing[0]!r}", hint="give a frame of one row, a mapping, or a rule"
        )
    if isinstance(around, Mapping):
        return {name: around[name] for name in space.names}
    if len(around) != 1:
        raise SpecError(f"around: one person is needed, not {len(around)}", hint="for instance X[:1]")
    values = {name: next(iter(around[name])) for name in space.names}
    return {name: value.item() if hasattr(value, "item") else value for name, value in values.items()}


def _single_value(feature: Feature, value: Any) -> tuple[float, ...]:
    if isinstance(feature, (Categorical, Ordinal)):
        return (feature.position(value),)
    if not feature.contains(value):
        raise DataError(f"{value!r} is not in {feature.describe()}")
    number = int(value) if isinstance(feature, Integer) else float(value)
    return (number, number)


def _widen_box(growth: BoxGrowth, box: Box, order: list[int]) -> Iterator[Box]:
    """Larger and larger boxes, each of them fair as far as the search can tell."""
    narrow = []
    for k in order:
        wide = box.with_part(k, full_part(box.space[box.space.names[k]]))
        if wide == box:
            continue
        if growth.late:
            return
        if growth.looks_fair(wide):
            box = wide
            yield box
        else:
            narrow.append(k)
    for k in narrow:
        feature = box.space[box.space.names[k]]
        grow = _widen_levels if isinstance(feature, (Categorical, Ordinal)) else _widen_number
        for wider in grow(growth, box, k):
            box = wider
            yield box


def _widen_levels(growth: BoxGrowth, box: Box, k: int) -> Iterator[Box]:
    for place in full_part(box.space[box.space.names[k]]):
        if place in box.parts[k] or growth.late:
            continue
        wider = box.with_part(k, tuple(sorted((*box.parts[k], place))))
        if growth.looks_fair(wider):
            box = wider
            yield box


def _widen_number(growth: BoxGrowth, box: Box, k: int) -> Iterator[Box]:
    """Both ends of a number, each moved as far as bisection finds it fair."""
    limits = full_part(box.space[box.space.names[k]])
    whole = isinstance(box.space[box.space.names[k]], Integer)
    for end in (1, 0):
        known, beyond = box.parts[k][end], limits[end]
        candidate = beyond  # the end of the feature first, then the middle between what is fair and what is not known to be
        for _ in range(64 if whole else MOST_HALVINGS):
            if candidate == known or growth.late:
                break
            part = (box.parts[k][0], candidate) if end else (candidate, box.parts[k][1])
            if growth.looks_fair(box.with_part(k, part)):
                box, known = box.with_part(k, part), candidate
                yield box
            else:
                beyond = candidate
            candidate = _midpoint(known, beyond, whole=whole)


def _midpoint(known: float, beyond: float, *, whole: bool) -> float:
    """The middle, `known` where nothing lies between."""
    if whole:
        return known + int((beyond - known) / 2)
    return float((Fraction(known) + Fraction(beyond)) / 2)


def _biased_pieces(
    judge: BoxJudge, prover: BoxProver, start: Box
) -> list[tuple[Piece, tuple[Certificate, ...]]]:
    """A box around the start, if that is a person, or the start itself, if everybody there is proved to be treated differently."""
    for box, counterparts in _propose_boxes(judge, prover, start):
        certificates = prover.biased(box, counterparts)
        if certificates:
            piece = Piece(kind="biased", box=box, share=box.share, counterparts=counterparts)
            return [(piece, certificates)]
    return []


def _propose_boxes(
    judge: BoxJudge, prover: BoxProver, start: Box
) -> Iterator[tuple[Box, tuple[Counterpart, ...]]]:
    """The largest boxes first."""
    cutter = _make_cutter(judge, prover)
    ends = cutter.user.codes(start)
    if ends is None or not judge.asks_decisions:
        return
    lo, hi = ends
    found = []
    with suppress(OutOfTime), prover.budget.watched():
        if (lo == hi)[judge.cut].all():
            grown = Seeder(cutter, prover.relations).grown(lo, judge.lo, judge.hi, prover.budget)
            if grown is not None:
                found.append((cutter.user.box(grown.lo, grown.hi), grown.changes))
        best = judge.best_changes(lo, hi)
        if best is not None and judge.are_opposed(lo, hi, best, prover.budget):
            found.append((start, best))
    for box, changes in found:
        yield box, cutter.user.counterparts(changes, mirrored=judge.prepared.mirrored)


def _make_cutter(judge: BoxJudge, prover: BoxProver) -> Cutter:
    user = Translator(prover.space, judge)
    return Cutter(judge, user, Weights(measures=(user,), weights=(1.0,)))
