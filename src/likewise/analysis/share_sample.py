"""Sampling: individuals drawn from a measure, or from the cells that a bracket has left open, each judged exactly.

With masses B of biased cells, O of those that are not settled and R of individuals who could not be judged, all known exactly, the share lies between B + O p and
B + R + O p, where p is the share among individuals drawn from the cells that are not settled: an interval around p is one around the share. Rare flips so get
intervals that are as narrow as O is small.

An interval holds what it says only if the number of draws does not depend on what they come to. So a first small sample, which is thrown away,
settles it: by its pace, what is left of the budget, and the width that is aimed at. A machine that gets slower than that pace ends the budget before
all are judged. What was judged by then is not lost: intervals of the first n, n / 2, n / 4, ... draws hold the share all at once (`intervals`), draws are
judged in the order in which they were drawn, and the narrowest of those intervals is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.intervals import SampleRung, clopper_pearson, draws_needed, sample_ladder
from likewise.analysis.row_claim import RowClaim
from likewise.analysis.row_pieces import DrawnVerdicts, Told, is_worth_starting, judge_drawn
from likewise.errors import SpecError
from likewise.search.checkpoint import INTERVAL, SavedArray
from likewise.search.judgement import BIASED, UNDECIDED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.measures import Measure
    from likewise.analysis.partition.engine import CodeBox

    Floats = NDArray[np.float64]
    Verdicts = NDArray[np.int8]

AIMED_WIDTH = 0.0015  # the interval that a sample aims at
AIMED_RELATIVE_WIDTH = 0.02  # or this part of the share, where that is less
LEAST_WIDTH = 2e-5
FEWEST_DRAWS, PILOT_DRAWS = 32, 4_000
BATCH_DRAWS = 65_536  # drawn at a time
MOST_DRAWS = 20_000_000
PILOT_SHARE = 0.1  # of what is left of the budget
DRAW_SHARE = 0.8  # of what is left then, by the pilot's pace
HELP_SHARE = 0.75  # of what this process draws, that each of the others is expected to


class NobodyDrawn(SpecError):
    """Constraints refuse nearly everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareSample:
    """Draws, hits and those that could not be judged, of `planned` ones; `reason` where there are fewer than were aimed at."""

    draws: int
    hits: int
    unjudged: int
    planned: int
    interval: tuple[float, float]
    proved: bool = True
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSample:
    """A sample as a checkpoint has it: how many are to be drawn, which does not depend on what they come to, what the first of them came to, and where the random numbers are."""

    draws: int
    reason: str | None
    pace: float | None
    verdict: SavedArray
    proved: bool
    random: dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Sampler:
    """A way to draw individuals, and the mass that they stand for."""

    judging: RowClaim
    draw: Callable[[int], Floats]
    mass: float
    settled: float
    confidence: float
    pace: float | None = None  # seconds for one draw, by the sample that is thrown away
    begun: SavedSample | None = None  # before
    keep: Callable[[SavedSample | None], None] | None = (
        None  # writes down how far it is; None once it is done
    )
    hit: Callable[[Floats], Verdicts] | None = None  # of individuals, where that is not who has a counterpart
    _drawn: int = 0
    _random_after: dict[int, dict[str, Any]] = field(default_factory=dict)  # by how many were drawn

    def run(self) -> ShareSample:
        """Settle the numbers of draws, then draw."""
        draws, reason = self._size() if self.begun is None else (self.begun.draws, self.begun.reason)
        rungs, budget = sample_ladder(draws, self.confidence, FEWEST_DRAWS), self.judging.budget
        verdict, proved = np.full(draws, UNDECIDED, dtype=np.int8), True
        done = 0
        if self.begun is not None:
            known = self.begun.verdict.array
            verdict[: len(known)], done, proved, self.pace = (
                known,
                len(known),
                self.begun.proved,
                self.begun.pace,
            )
            self.judging.random.bit_generator.state = self.begun.random
        self._drawn = done
        self._random_after.clear()
        if done < draws and budget.over:
            reason = budget.reason
        else:
            for some in self._judge(
                self.judging, self._batches(done, rungs), partial(self._tell, done, draws)
            ):
                verdict[done : done + len(some.verdict)] = some.verdict
                proved = proved and some.proved
                done += len(some.verdict)
                if not budget.over:
                    self._write_down(draws, reason, verdict[:done], proved=proved)
                elif done < draws:
                    reason = budget.reason
                    break
        samples = (_summarize_draws(verdict, rung) for rung in rungs)
        best = min(samples, key=lambda sample: sample.interval[1] - sample.interval[0])
        return replace(best, proved=proved, reason=reason)

    def _batches(self, done: int, rungs: Sequence[SampleRung]) -> list[int]:
        """How many are drawn at a time, up to each rung; fewer where that would take longer than from one writing down to the next."""
        most = BATCH_DRAWS
        if self.keep is not None and self.pace is not None:
            most = int(min(max(INTERVAL / self.pace, 1), BATCH_DRAWS))
        found: list[int] = []
        for rung in sorted(rung.draws for rung in rungs):
            while done < rung:
                found.append(min(most, rung - done))
                done += found[-1]
        return found

    def _tell(self, before: int, draws: int, done: int, processes: int) -> None:
        where = f" in {processes} processes" if processes > 1 else ""
        done += before
        self.judging.tell(f"{done:,} of {draws:,} samples{where}", share=done / draws)

    def _write_down(self, draws: int, reason: str | None, verdict: NDArray[np.int8], *, proved: bool) -> None:
        """How far it is, where all of a batch are judged: the random numbers may be those of later ones by now."""
        random = self._random_after.pop(len(verdict), None)
        if self.keep is None or random is None:
            return
        so_far = SavedSample(
            draws=draws,
            reason=reason,
            pace=self.pace,
            verdict=SavedArray.of(verdict),
            proved=proved,
            random=random,
        )
        self.keep(so_far if len(verdict) < draws else None)

    def _size(self) -> tuple[int, str | None]:
        """How many to draw, and why that is less than aimed at."""
        budget = self.judging.budget
        pace, about = self._measure_pace(FEWEST_DRAWS)
        if budget.over:
            return 1, budget.reason
        if (
            FEWEST_DRAWS * pace <= PILOT_SHARE * budget.left
        ):  # time to do better: what is done once is not the pace
            pace, _ = self._measure_pace(FEWEST_DRAWS)
            count = int(min(max(PILOT_SHARE * budget.left / pace, FEWEST_DRAWS), PILOT_DRAWS))
            pace, about = self._measure_pace(count)
        self.pace = pace
        whole = self.settled + self.mass * about
        width = max(min(AIMED_WIDTH, AIMED_RELATIVE_WIDTH * whole), LEAST_WIDTH)
        wanted, enough = (self._draws(about, width), self._draws(about, AIMED_WIDTH))
        affordable = int(DRAW_SHARE * self._hands * budget.left / pace)
        draws = max(min(wanted, affordable), 1)
        # Once within the absolute aim, nobody minds that the relative one would take longer.
        return draws, f"the budget allowed {draws:,} draws" if draws < min(wanted, enough) else None

    def _draws(self, about: float, width: float) -> int:
        return min(draws_needed(about, min(width / self.mass, 1.0), self.confidence), MOST_DRAWS)

    def _judge(
        self, judging: RowClaim, counts: Sequence[int], told: Told | None = None
    ) -> Iterator[DrawnVerdicts]:
        """Batches of so many, in pieces: who is a hit (BIASED) and who is not, and whether that is proved of those who are not."""
        if self.hit is None:
            yield from judge_drawn(judging, counts, self._draw_noted, seconds_a_row=self.pace, told=told)
            return
        done = 0
        for count in counts:
            yield DrawnVerdicts(verdict=self.hit(self._draw_noted(count)), proved=True)
            done += count
            if told is not None:
                told(done, 1)

    def _draw_noted(self, count: int) -> Floats:
        """Draw, and take note of where the random numbers are then."""
        rows, generator = self.draw(count), self.judging.random.bit_generator
        self._drawn += count
        if self.keep is not None and isinstance(
            generator, np.random.PCG64
        ):  # others' states are no plain values
            self._random_after[self._drawn] = dict(generator.state)
        return rows

    def _measure_pace(self, count: int) -> tuple[float, float]:
        """Seconds for one draw, and about the share of hits, of a sample that is thrown away."""
        budget = self.judging.budget
        started = budget.elapsed
        here = replace(self.judging, run=replace(self.judging.run, jobs=1, executor=None, workers=None))
        verdict = np.concatenate([some.verdict for some in self._judge(here, [count])])
        pace = max(budget.elapsed - started, 1e-6) / max(int((verdict != UNDECIDED).sum()), 1)
        return pace, (float((verdict == BIASED).sum()) + 1) / (count + 2)

    @property
    def _hands(self) -> float:
        """How many times as fast as this process alone all of them are expected to draw."""
        workers = self.judging.run.workers
        if self.hit is not None or workers is None:
            return 1.0
        if not workers.given and not is_worth_starting(DRAW_SHARE * self.judging.budget.left):
            return 1.0
        return 1 + HELP_SHARE * (workers.count - 1)


def _summarize_draws(verdict: NDArray[np.int8], rung: SampleRung) -> ShareSample:
    """The first so many draws by themselves."""
    first = verdict[: rung.draws]
    hits, unjudged = int((first == BIASED).sum()), int((first == UNDECIDED).sum())
    return ShareSample(
        draws=rung.draws,
        hits=hits,
        unjudged=unjudged,
        planned=len(verdict),
        interval=clopper_pearson(hits, rung.draws, rung.confidence, unjudged=unjudged),
    )


def make_draw(
    judging: RowClaim, measure: Measure, cells: Sequence[CodeBox] | None
) -> Callable[[int], Floats]:
    """Draws individuals from the measure, or from these cells."""
    random = judging.random
    if cells is None:

        def everywhere(count: int) -> Floats:
            rows = measure.individuals(random, count)
            if rows is None:
                raise NobodyDrawn(
                    "nearly nobody satisfies the constraints, so that no sample can be drawn",
                    hint="method='exact' if the space is discrete, or narrow the features",
                )
            return rows

        return everywhere
    choose = _MassChoice([cell.mass for cell in cells])
    lo, hi = np.stack([cell.lo for cell in cells]), np.stack([cell.hi for cell in cells])
    open_left = np.stack([cell.open_left for cell in cells])

    def from_cells(count: int) -> Floats:
        at = choose(random, count)
        return measure.drawn(random, lo[at], hi[at], open_left[at])

    return from_cells


class _MassChoice:
    """Draws places by their masses, rounded to the 53 bits of a uniform number: off by less than 2^-52 a place."""

    def __init__(self, masses: list[Fraction]) -> None:
        total, cumulated = sum(masses, Fraction(0)), Fraction(0)
        ends = []
        for mass in masses:
            cumulated += mass
            ends.append(float(cumulated / total))
        self.ends = np.array(ends)

    def __call__(self, random: np.random.Generator, count: int) -> NDArray[np.intp]:
        at = np.searchsorted(self.ends, random.uniform(0, 1, count), side="right")
        return np.minimum(at, len(self.ends) - 1)
