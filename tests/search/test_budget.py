"""Budgets by a clock that is set by hand, and by one that only moves when it is looked at."""

from types import SimpleNamespace

import pytest

from likewise.search import budget as budgets
from likewise.search.budget import Budget, Until


@pytest.fixture
def clock(monkeypatch):
    hand = SimpleNamespace(now=100.0)
    monkeypatch.setattr(budgets, "time", SimpleNamespace(perf_counter=lambda: hand.now))
    return hand


def test_a_check_has_what_is_left_and_the_grace(clock):
    budget = Budget(10)
    assert budget.for_checking == 10 + 0.2 * 10 + 1
    clock.now += 9
    assert not budget.over
    assert budget.for_checking == pytest.approx(4)
    clock.now += 2
    assert budget.over
    assert budget.for_checking == pytest.approx(2)
    clock.now += 5
    assert budget.for_checking == 0


def test_the_grace_begins_with_an_interruption(clock):
    budget = Budget(10)
    clock.now += 4
    budget.interrupt()
    assert budget.over
    assert budget.end == 4
    assert budget.for_checking == pytest.approx(3)
    assert budget.reason.startswith("interrupted after 4.0")


def test_an_earlier_end_is_on_the_same_clock(clock):
    whole = Budget(10)
    clock.now += 1
    part = Until(whole, 4)
    assert (part.elapsed, part.seconds) == (1, 4)
    with part.stopped():
        clock.now += 50
    assert (part.elapsed, whole.elapsed) == (1, 1)
    assert not part.over
    clock.now += 3
    assert part.over
    assert not whole.over
    assert part.for_checking == whole.for_checking == pytest.approx(9)


def test_an_interruption_ends_what_searches_but_not_what_settles(clock):
    whole = Budget(10)
    searching, settling = Until(whole, 4), Until(whole, 11, settling=True)
    whole.interrupt()
    assert searching.over
    assert not settling.over
    assert searching.reason == settling.reason == whole.reason
    clock.now += 11
    assert settling.over
