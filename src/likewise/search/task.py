"""Search task: everything a search needs, and the referee that turns points into witnesses.

A point that looks like a witness in float64 is one only if, in exact arithmetic, it is a similar pair of
valid individuals whose scores answer the question with yes, and if the model's own prediction agrees
(`Replay`). Points that pass the first test but not the second are counted: a proof of FAIR does not exist
then, and the verdict is UNKNOWN because of rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from likewise.cells.nearness import nearness_of
from likewise.cells.presolve import tighten_ranges
from likewise.clock import check_clock
from likewise.model.cases import Witness
from likewise.progress import Listener, ignore_progress
from likewise.spec.enclosure import as_several, decide

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import Climber
    from likewise.families.kernel.products import ProductSum
    from likewise.families.oracle import Bounder
    from likewise.families.oracles import Oracles
    from likewise.families.slopes import Slopes
    from likewise.model.cases import Case
    from likewise.model.question import Question
    from likewise.model.witness_set import WitnessSet
    from likewise.search.budget import Budget
    from likewise.search.checkpoint import Checkpoint
    from likewise.search.workers import Workers
    from likewise.spec.enclosure import Enclosures
    from likewise.spec.pairs import PairSpace, Variable

    Floats = NDArray[np.float64]

ROWS_OF_SCORES = (
    2_000_000  # kernel values that are computed between two looks at the clock: some hundredths of a second
)
MOST_NUDGES = 8  # attempts at moving a rounded point back into the tolerance
NUDGE = 2.0**-48  # of a difference: by how much two who are too far apart are moved together


class Replay(Protocol):
    """The model's own prediction on a pair."""

    def confirms(self, x: Sequence[float], other: Sequence[float], question: Any) -> bool:
        """Whether the original model treats the two differently, as the question says."""


@dataclass(slots=True, kw_only=True)
class SearchTask:
    """What is asked of which model over which pairs; `rows` are known individuals to start from.

    `question` is what a proof answers with no. A search for the largest value takes pairs that answer the
    weaker question `wanted`: each better pair is one, although the proof leaves a tolerance above it.
    """

    pairs: PairSpace
    oracles: Oracles
    question: Question
    scores: Callable[[Floats], Floats]
    replay: Replay
    budget: Budget
    random: np.random.Generator
    rows: Floats
    products: Callable[[], ProductSum] | None = None  # of a kernel model on a discrete space
    climber: Callable[[], Climber] | None = (
        None  # what improves pairs by loops of its own, where a family has that
    )
    cost: int = 1  # of one score, in kernel values: how many rows the search can afford
    listener: Listener = ignore_progress
    unreplayed: list[Witness] = field(default_factory=list)
    wanted: Question | None = None
    marks: dict[int, Floats] = field(
        default_factory=dict
    )  # codes of a feature in pieces that are worth trying
    snap_codes: Callable[[Floats], Floats] | None = (
        None  # codes nearby that individuals really have; None: all are
    )
    workers: Workers | None = None  # where parts of a search run besides here (`parted_search`)
    slopes: Slopes | None = None  # derivatives of the only score, where a claim is about how fast it changes
    checkpoint: Checkpoint | None = None  # the file that its state is written to, and taken up from
    parts: tuple[SearchTask, ...] = ()  # one a part of the pairs, where these fall into parts (`spec.along`)

    _ranges: tuple[Variable, ...] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def ranges(self) -> tuple[Variable, ...]:
        """By feature: the codes that constraints leave to an individual, each feature taken by itself."""
        if self._ranges is None:
            left, pairs = tighten_ranges(self.pairs), self.pairs
            self._ranges = tuple(
                replace(pairs.variables[v], lo=left.lo[v], hi=left.hi[v]) for v in pairs.first
            )
        return self._ranges

    @property
    def speed(self) -> float:
        """How many times as fast as here open nodes are looked at where there are workers: half of their number, as what they are sent has to be found out anew."""
        return 1.0 if self.workers is None else max(1.0, self.workers.count / 2)

    @property
    def bounder(self) -> Bounder:
        """What bounds the only score over cells."""
        return self.oracles.one

    @property
    def sought(self) -> Question:
        """What a witness has to answer with yes."""
        return self.question if self.wanted is None else self.wanted

    @property
    def case(self) -> Case:
        """The only case of the question."""
        (case,) = self.question.cases()
        return case

    @property
    def sought_case(self) -> Case:
        """The only case of what is sought."""
        (case,) = self.sought.cases()
        return case

    def scored(self, codes: Floats) -> Floats:
        """The scores of many individuals in float64, some at a time, with a look at the clock in between."""
        some = max(1, ROWS_OF_SCORES // self.cost)
        if len(codes) <= some:
            check_clock()
            return self.scores(codes)
        found = []
        for first in range(0, len(codes), some):
            check_clock()
            found.append(self.scores(codes[first : first + some]))
        return np.concatenate(found)

    def signals(self, codes: Floats) -> list[tuple[WitnessSet, Floats, Floats]]:
        """For each case of the question its set, and what individuals count as x and as x' in it, in float64."""
        return self.sought.signals(self.scored(codes))

    def each(self) -> tuple[SearchTask, ...]:
        """The same for each part of the pairs, asked what is asked now; the task itself where there are none."""
        if not self.parts:
            return (self,)
        return tuple(
            replace(
                part,
                question=self.question,
                wanted=self.wanted,
                budget=self.budget,
                rows=self.rows,
                random=self.random,
                replay=self.replay,
                listener=self.listener,
                unreplayed=self.unreplayed,
                checkpoint=self.checkpoint,
            )
            for part in self.parts
        )

    def referee(self, x: Sequence[float], other: Sequence[float]) -> Witness | None:
        """The witness at this pair, if it is one exactly and on replay."""
        if self.parts:
            return next(filter(None, (part.referee(x, other) for part in self.each())), None)
        witness = exact_witness(self, x, other)
        if witness is None:
            return None
        if self.replay.confirms(witness.x, witness.other, sought_of_pair(self, witness.x, witness.other)):
            return witness
        if len(self.unreplayed) < MOST_NUDGES:
            self.unreplayed.append(witness)
        return None


def sought_of_pair(task: SearchTask, x: Sequence[float], other: Sequence[float]) -> Question:
    """What a witness has to answer with yes, of one pair: where scores may be apart because individuals are, by more than is possibly allowed."""
    allowance = task.pairs.allowance
    if allowance is None:
        return task.sought
    return task.sought.eased(allowance.ends([*map(Fraction, x)], [*map(Fraction, other)])[1])


def exact_witness(task: SearchTask, x: Sequence[float], other: Sequence[float]) -> Witness | None:
    """Exact validity and exact scores; a pair that misses its tolerance by rounding is nudged back."""
    if not all(map(math.isfinite, (*x, *other))):
        return None  # proposed by an overflow: nobody
    if task.snap_codes is not None:
        found = task.snap_codes(np.array([x, other]))
        if not (task.snap_codes(found) == found).all():
            return None
        x, other = found.tolist()
    if not are_far_apart(task.pairs, x, other):
        return _nudged_witness(task, x, list(other))
    pulled = _nudged_witness(task, x, pull_together(task.pairs, x, other))
    return pulled or _nudged_witness(task, other, pull_together(task.pairs, other, x))


def _nudged_witness(task: SearchTask, x: Sequence[float], other: list[float]) -> Witness | None:
    """The witness at a pair, whose second individual may be moved back by rounding errors."""
    pairs, second_try = task.pairs, other
    for _ in range(MOST_NUDGES):
        codes, codes2 = [Fraction(c) for c in x], [Fraction(c) for c in second_try]
        if not pairs.valid(codes, codes2):
            second_try = nudge_pair(pairs, x, second_try)
            continue
        sought = sought_of_pair(task, x, second_try)
        answer, first, second = decide(sought, task.oracles.enclose, codes, codes2)
        if not answer:
            return None
        one, two = (tuple(x), as_several(first)), (tuple(second_try), as_several(second))
        return _order_pair(sought, one, two)
    return None


def _order_pair(
    question: Question,
    one: tuple[tuple[float, ...], Enclosures],
    two: tuple[tuple[float, ...], Enclosures],
) -> Witness | None:
    """A pair that breaks a case, in the order in which the case has it."""
    found = question.broken(one[1], two[1])
    if found is None:
        return None
    case, swapped = found
    (x, first), (other, second) = (two, one) if swapped else (one, two)
    return Witness(x=x, other=other, scores=(first, second), case=case)


def are_far_apart(pairs: PairSpace, x: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two are further apart than a distance lets them be, by more than rounding."""
    nearness = nearness_of(pairs)
    return nearness is not None and bool(nearness.at(_point(pairs, x, other))[0] > nearness.bound)


def pull_together(pairs: PairSpace, x: Sequence[float], other: Sequence[float]) -> list[float]:
    """x' moved towards x until the two are within the distance, as far as float64 tells."""
    nearness = nearness_of(pairs)
    if nearness is None:
        return list(other)
    pulled: list[float] = nearness.pulled(_point(pairs, x, other))[0, list(pairs.second)].tolist()
    return pulled


def _point(pairs: PairSpace, x: Sequence[float], other: Sequence[float]) -> Floats:
    point = np.zeros((1, len(pairs.variables)))
    point[0, list(pairs.first)] = x
    point[0, list(pairs.second)] = other
    return point


def nudge_pair(pairs: PairSpace, x: Sequence[float], other: Sequence[float]) -> list[float]:
    """Move x' one ulp towards x wherever a tolerance is exceeded, or towards the limit that it misses, and a little more where a distance is."""
    moved = list(other)
    for k, relation in enumerate(pairs.relations):
        if relation.tolerance is None or (
            relation.missing is not None and relation.missing in (x[k], moved[k])
        ):
            continue
        low, high = relation.apart
        difference = Fraction(moved[k]) - Fraction(x[k])
        if not low <= difference <= high:
            moved[k] = float(np.nextafter(moved[k], -math.inf if difference > high else math.inf))
    if pairs.distance is not None and not pairs.distance.allows([*map(Fraction, x)], [*map(Fraction, moved)]):
        for k in pairs.distance.features:
            if moved[k] != x[k] and not pairs.variables[pairs.first[k]].discrete:
                moved[k] = float(np.nextafter(x[k] + (moved[k] - x[k]) * (1 - NUDGE), x[k]))
    return moved
