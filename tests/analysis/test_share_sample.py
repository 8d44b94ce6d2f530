"""Sampled shares: intervals hold the share as often as they say, also where the time ends when the outcomes would have it so."""

from types import SimpleNamespace

import numpy as np
import pytest

from likewise.analysis import share_sample
from likewise.analysis.intervals import clopper_pearson, sample_ladder
from likewise.analysis.share_sample import Sampler
from likewise.search.counterparts import BIASED, FAIR, UNDECIDED

PLANNED, CONFIDENCE = 2_048, 0.9


@pytest.mark.parametrize("draws", [1, 31, 64, 1_000, 20_000_000])
def test_errors_of_a_ladder_add_up_to_no_more_than_there_is(draws):
    rungs = sample_ladder(draws, 0.99, 32)
    assert rungs[0].draws == draws
    assert sum(1 - rung.confidence for rung in rungs) <= 0.01 * (1 + 1e-9)
    assert all(rung.draws >= min(32, draws) for rung in rungs)
    assert [rung.draws for rung in rungs[1:]] == [rung.draws // 2 for rung in rungs[:-1]]


class Clock:
    """Over when `stop` says so of the outcomes judged so far."""

    seconds, elapsed, reason = 1.0, 0.5, "the clock of a test"

    def __init__(self, stop):
        self.stop, self.seen = stop, np.empty(0)

    @property
    def over(self):
        return self.stop(self.seen)


@pytest.fixture
def run(monkeypatch):
    """A sample of outcomes that are planted, ended by a clock that sees them."""

    def judge(judging, rows, **_):
        judging.budget.seen = np.concatenate([judging.budget.seen, rows])
        verdict = np.select([rows == 1, rows == 0], [BIASED, FAIR], UNDECIDED).astype(np.int8)
        return SimpleNamespace(verdict=verdict, proved=np.ones(len(rows), dtype=bool))

    monkeypatch.setattr(share_sample, "judge_all_rows", judge)
    monkeypatch.setattr(Sampler, "_size", lambda _: (PLANNED, None))

    def sampled(draw, stop):
        judging = SimpleNamespace(budget=Clock(stop), tell=lambda *_, **__: None)
        work = Sampler(judging=judging, draw=draw, mass=1.0, settled=0.0, confidence=CONFIDENCE)
        return work.run()

    return sampled


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_intervals_hold_the_share_whenever_outcomes_end_the_time(run, share):
    """The clock ends the run as soon as the interval of what was judged, taken by itself, does not hold the share."""
    random, held, held_naively, runs = np.random.default_rng(0), 0, 0, 300

    def misses(seen):
        lower, upper = (0, 1) if not len(seen) else clopper_pearson(int(seen.sum()), len(seen), CONFIDENCE)
        return not lower <= share <= upper

    for _ in range(runs):
        naively = []

        def stop(seen, naively=naively):
            naively.append(misses(seen))
            return naively[-1]

        found = run(lambda count: (random.random(count) < share).astype(float), stop)
        held += found.interval[0] <= share <= found.interval[1]
        held_naively += not any(naively)
    assert held >= 0.87 * runs  # more than one deviation below the 90 percent that are promised
    assert held_naively < 0.85 * runs  # such a clock does refute intervals that know nothing of it


def test_a_run_that_is_cut_off_in_the_middle_is_narrow(run):
    random = np.random.default_rng(0)
    whole = run(lambda count: (random.random(count) < 0.3).astype(float), lambda _: False)
    cut = run(
        lambda count: (random.random(count) < 0.3).astype(float), lambda seen: len(seen) >= PLANNED // 2
    )
    assert (whole.draws, whole.reason) == (PLANNED, None)
    assert (cut.draws, cut.planned, cut.unjudged) == (PLANNED // 2, PLANNED, 0)
    assert cut.reason == "the clock of a test"
    assert cut.interval[0] < 0.3 < cut.interval[1]
    width, half = (found.interval[1] - found.interval[0] for found in (whole, cut))
    assert half < 2.5 * width


def test_few_who_cannot_be_judged_count_as_either(run):
    random = np.random.default_rng(0)
    found = run(lambda count: np.where(random.random(count) < 0.01, 0.5, 0.0), lambda _: False)
    assert found.draws == PLANNED
    assert found.unjudged > 0
    assert found.interval[0] == 0
    assert found.interval[1] > found.unjudged / PLANNED


def test_nothing_judged_is_nothing_known(run):
    found = run(np.zeros, lambda _: True)
    assert found.interval == (0.0, 1.0)
    assert found.reason is not None
