"""Pieces of work by a clock that is set by hand: none is begun that cannot be ended, and few cost more by themselves than by what they do."""

from types import SimpleNamespace

import pytest

from likewise import clock as clocks
from likewise.search.budget import Budget
from likewise.search.pace import Pace


@pytest.fixture
def clock(monkeypatch):
    hand = SimpleNamespace(now=100.0)
    monkeypatch.setattr(clocks, "now", lambda: hand.now)
    return hand


def worked(clock, budget, *, own, each, units):
    """The sizes of all pieces of so many units of work, and when they ended."""
    pace, sizes = Pace(budget, first=10, most=1_000_000), []
    while sum(sizes) < units and pace.fits(1):
        sizes.append(min(pace.size, units - sum(sizes)))
        clock.now += own + each * sizes[-1]
        pace.done(sizes[-1])
    return sizes


@pytest.mark.parametrize(("own", "each"), [(0.0, 1e-3), (0.05, 1e-4), (0.3, 1e-6), (0.0, 0.3)])
def test_the_clock_is_looked_at_often_and_in_time(clock, own, each):
    budget = Budget(10)
    sizes = worked(clock, budget, own=own, each=each, units=10**9)
    assert budget.elapsed <= 10 + own + 10 * each  # the first piece is a guess, the others are known
    for size in sizes[1:]:
        assert own + each * size <= max(0.5, 2 * own, each) * 1.001
    assert budget.elapsed > 9 - own - each


def test_a_piece_that_would_end_too_late_is_not_begun(clock):
    budget = Budget(10)
    pace = Pace(budget, first=1, most=100)
    clock.now += 4
    pace.done(1)
    assert pace.fits(1)
    clock.now += 4
    pace.done(1)
    assert not pace.fits(1)
    assert not budget.over


def test_what_pieces_cost_by_themselves_does_not_make_them_smaller(clock):
    """Predictions of a pipeline: a tenth of a second a question, next to nothing a row."""
    sizes = worked(clock, Budget(1000), own=0.6, each=1e-6, units=100_000)
    assert sum(sizes) == 100_000
    assert len(sizes) < 12


def test_nothing_is_begun_without_a_budget(clock):
    assert worked(clock, Budget(0), own=0.1, each=0.1, units=5) == []
