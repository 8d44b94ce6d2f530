"""Budgets by a clock that is set by hand, and by one that only moves when it is looked at."""

import math
from types import SimpleNamespace

import pytest

from likewise import clock as clocks
from likewise.errors import BudgetError
from likewise.search.budget import Budget, BudgetPart, BudgetUntil


@pytest.fixture
def clock(monkeypatch):
    hand = SimpleNamespace(now=100.0)
    monkeypatch.setattr(clocks, "now", lambda: hand.now)
    return hand


def test_a_check_has_what_is_left_and_the_grace(clock):
    budget = Budget(10)
    assert budget.checking_seconds == 10 + 0.2 * 10 + 1
    clock.now += 9
    assert not budget.over
    assert budget.checking_seconds == pytest.approx(4)
    clock.now += 2
    assert budget.over
    assert budget.checking_seconds == pytest.approx(2)
    clock.now += 5
    assert budget.checking_seconds == 0


def test_the_grace_begins_with_an_interruption(clock):
    budget = Budget(10)
    clock.now += 4
    budget.interrupt()
    assert budget.over
    assert budget.end == 4
    assert budget.checking_seconds == pytest.approx(3)
    assert budget.reason.startswith("interrupted after 4.0")


def test_an_earlier_end_is_on_the_same_clock(clock):
    whole = Budget(10)
    clock.now += 1
    part = BudgetUntil(whole, 4)
    assert (part.elapsed, part.seconds) == (1, 4)
    with part.stopped():
        clock.now += 50
    assert (part.elapsed, whole.elapsed) == (1, 1)
    assert not part.over
    clock.now += 3
    assert part.over
    assert not whole.over
    assert part.checking_seconds == whole.checking_seconds == pytest.approx(9)


def test_an_interruption_ends_what_searches_but_not_what_settles(clock):
    whole = Budget(10)
    searching, settling = BudgetUntil(whole, 4), BudgetUntil(whole, 11, settling=True)
    whole.interrupt()
    assert searching.over
    assert not settling.over
    assert searching.reason == settling.reason == whole.reason
    clock.now += 11
    assert settling.over


def test_parts_share_what_is_left_and_the_grace(clock):
    whole = Budget(10)
    clock.now += 2
    first = whole.part(1 / 4)
    assert first.seconds == pytest.approx(2)
    assert first.checking_seconds == pytest.approx(2 + 3 / 4)
    clock.now += 2
    assert first.over
    assert not whole.over
    clock.now += 10
    assert whole.checking_seconds == first.checking_seconds == 0
    late = whole.part(1 / 2)
    assert (late.seconds, late.checking_seconds) == (0, 0)


def test_no_part_outlives_the_whole(clock):
    whole = Budget(10)
    part = BudgetPart(whole, 100)
    clock.now += 9.5
    assert part.left == pytest.approx(0.5)
    assert part.checking_seconds == pytest.approx(3.5) == whole.checking_seconds
    whole.interrupt()
    assert part.over
    assert part.left == 0


def test_parts_of_an_infinite_budget_are_infinite(clock):
    part = Budget(math.inf).part(1 / 2)
    clock.now += 1e9
    assert not part.over
    assert part.checking_seconds == math.inf


def test_a_budget_of_nothing_is_over_at_once_and_has_its_grace(clock):
    budget = Budget(0)
    assert budget.over
    assert budget.checking_seconds == 1


def test_reading_models_is_on_another_clock_with_a_limit_of_its_own(clock):
    budget = Budget(10, 5)
    part = budget.part(1 / 2)
    with part.importing():
        clock.now += 3
        clocks.check_clock()
    assert (budget.elapsed, part.elapsed) == (0, 0)
    assert budget.stats["import_seconds"] == part.stats["import_seconds"] == 3

    def read_another():
        with budget.importing():
            clock.now += 3
            clocks.check_clock()

    with pytest.raises(BudgetError, match=r"(?s)longer than the 5 s.*import_budget"):
        read_another()
    assert budget.elapsed == 0


def test_work_looks_at_the_innermost_limit(clock):
    budget = Budget(10)
    clock.now += 10.5
    with budget.grace_watched():
        clocks.check_clock()
        with budget.watched(), pytest.raises(clocks.OutOfTime):
            clocks.check_clock()
        clocks.check_clock()
    clocks.check_clock()
