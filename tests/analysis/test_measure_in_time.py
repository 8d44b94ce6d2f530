"""measure within its budget, on a clock that only moves with the work that is counted: a cell costs what the test says."""

import math
import os
import signal
from fractions import Fraction
from types import SimpleNamespace

import pytest
from tests.analysis.test_measure import hard_case
from tests.families.trees.forests import all_scores, prepared_of, random_case
from tests.questions import gauged

import likewise as lw
from likewise import clock
from likewise.analysis.disparity_problem import DisparityProblem
from likewise.analysis.disparity_search import DisparitySearch
from likewise.analysis.measure import certify_upper
from likewise.families.memory_oracle import MemoryOracle
from likewise.search.budget import GRACE, GRACE_SECONDS, Budget
from likewise.verifying.certification import CheckRunner

SECONDS = 10.0
FOREST = random_case(5, features=4, trees=14, depth=4)


@pytest.fixture(scope="module")
def largest():
    return max(first - second for *_, first, second in all_scores(FOREST))


def prepared_forest():
    gauge = gauged("score")
    return prepared_of(FOREST, gauge, gauge.question(Fraction(0)))


def climb_by(monkeypatch, prepared, step):
    """A look at a cell takes `step` seconds, and nothing else takes any."""
    hand, look_at = SimpleNamespace(now=0.0), MemoryOracle.look_at

    def costly(self, node, asked):
        hand.now += step
        return look_at(self, node, asked)

    monkeypatch.setattr(clock, "now", lambda: hand.now)
    monkeypatch.setattr(MemoryOracle, "look_at", costly)
    prepared.task.budget = Budget(SECONDS)
    climb = DisparitySearch(DisparityProblem(prepared, gauged("score")), Fraction(0))
    climb.run()
    assert hand.now <= SECONDS + GRACE * SECONDS + GRACE_SECONDS + step
    return climb


@pytest.mark.parametrize("step", [1e-3, 0.5])
def test_whatever_the_clock_says_the_upper_end_is_proved(monkeypatch, largest, step):
    prepared = prepared_forest()
    climb = climb_by(monkeypatch, prepared, step)
    assert climb.proved
    assert climb.lower <= largest <= climb.upper < math.inf
    assert (climb.reason is None) == (step == 1e-3)
    assert (climb.upper == climb.lower) == (step == 1e-3)
    prepared.task.budget = Budget(600)
    certificate, refusal = certify_upper(prepared, climb, "score", SimpleNamespace(check=checked_at_leisure))
    assert certificate is not None, refusal


@pytest.mark.parametrize("step", [3.0, 100.0])
def test_cells_that_take_too_long_leave_a_bracket_that_is_not_proved(monkeypatch, largest, step):
    climb = climb_by(monkeypatch, prepared_forest(), step)
    assert not climb.proved
    assert climb.lower <= largest <= climb.upper
    assert climb.reason == "the budget of 10 s is used up"


def checked_at_leisure(certificate, _seconds):
    return CheckRunner().check(certificate)


def test_settling_that_takes_too_long_gives_way_to_a_shorter_search(monkeypatch, largest):
    prepared = prepared_forest()
    given_up, tried = [], DisparitySearch._close_at_allowed

    def late(self, below=math.inf, **given):
        if not given_up:
            given_up.append(self._searched())
            return False
        return tried(self, below, **given)

    monkeypatch.setattr(DisparitySearch, "_close_at_allowed", late)
    climb = climb_by(monkeypatch, prepared, 0.5)
    assert climb.search is not given_up[0]
    assert climb.proved
    assert largest <= climb.upper < math.inf


def test_an_interruption_leaves_a_proved_bracket():
    model, space, similar = hard_case(60)

    def interrupt(snapshot):
        if snapshot.open > 40 and not sent:
            sent.append(snapshot)
            os.kill(os.getpid(), signal.SIGINT)

    sent = []
    found = lw.measure(model, space, similar, of="margin", tolerance=1e-12, budget=600, progress=interrupt)
    assert found.reason.startswith("interrupted")
    assert found.proved
    assert found.lower <= found.upper < math.inf


def test_a_certificate_that_is_not_checked_in_time_is_none(monkeypatch):
    model, space, similar = hard_case(6)
    monkeypatch.setattr(Budget, "checking_seconds", property(lambda _: 0.0))
    found = lw.measure(model, space, similar, of="margin", certify=True)
    assert found.certificate is None
    assert "checking it takes longer" in found.reason
    verdict = lw.verify(model, space, similar, lw.SameDecision(1.0))
    assert verdict.verdict == "UNKNOWN"
    assert verdict.certificate is None
    assert "checking it takes longer" in verdict.reason
