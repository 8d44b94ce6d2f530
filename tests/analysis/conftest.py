"""What tests of analyses share."""

import pytest
from tests.analysis.clocks import Clock

from likewise import clock


@pytest.fixture
def clock_of_looks(monkeypatch):
    """As many draws on a busy machine as on an idle one. On the real clock a sample is another one each time, and one in a hundred misses what it is to hold."""
    monkeypatch.setattr(clock, "now", Clock(3e-4).now)
