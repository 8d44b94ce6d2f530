"""What holds for all tests: nothing fails because the machine is busy, or because Ctrl-C was ignored where the run was started."""

import signal

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "unhurried", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """Ctrl-C is Python's own while a test runs, and no test leaves it otherwise."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    left = signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)
    assert left is signal.default_int_handler
