"""When a check has to end: long loops look at the clock. Each thread has a deadline of its own."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import local
from time import perf_counter
from typing import NoReturn


class OutOfTime(Exception):
    """The time given was over: nothing is known of the rest."""

    reason = "the time given was over before all of it was looked at"


class _Deadline(local):
    until: float = inf


_deadline = _Deadline()


@contextmanager
def deadline_at(until: float) -> Iterator[None]:
    """From here on `look_at_clock` gives up at this time, by `perf_counter`, in this thread."""
    before, _deadline.until = _deadline.until, until
    try:
        yield
    finally:
        _deadline.until = before


def look_at_clock() -> None:
    """Gives up where the time is over."""
    if perf_counter() > _deadline.until:
        raise OutOfTime(OutOfTime.reason)


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Gives up after so many seconds wherever the program is then, if the system has alarms; for a process of its own, in its main thread."""
    if seconds == inf or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _give_up(*_: object) -> NoReturn:
    raise OutOfTime(OutOfTime.reason)
