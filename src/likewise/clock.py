"""Clock: how late it is, and whether the work at hand still has time, asked from wherever the work is done.

What takes long lies far below what knows the budget: leaves proved in exact arithmetic, the elements of a tree, a comparison of a million
thresholds. Such loops call `check_clock` between two pieces of work, with what the next piece takes where that is known: what cannot be finished is not begun. Whoever began the
work has said how much time it has (`time_limit`; of several such blocks the innermost counts), and catches `OutOfTime`. Work that was left that way has
proved nothing.

All times come from `now`, so that one patch puts another clock in its place.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class OutOfTime(Exception):
    """There is no time for the rest of a piece of work."""


def _unlimited() -> float:
    return math.inf


_SECONDS_LEFT: ContextVar[Callable[[], float]] = ContextVar("left", default=_unlimited)


def now() -> float:
    """Seconds on a clock that only goes forward."""
    return time.perf_counter()


@contextmanager
def time_limit(left: Callable[[], float]) -> Iterator[None]:
    """Work that is left once it has no seconds `left`."""
    token = _SECONDS_LEFT.set(left)
    try:
        yield
    finally:
        _SECONDS_LEFT.reset(token)


def seconds_left() -> float:
    """What time the work at hand has."""
    return _SECONDS_LEFT.get()()


def check_clock(seconds: float = 0.0) -> None:
    """Raise `OutOfTime` where the work at hand has no time left, or less than its next piece takes."""
    left = seconds_left()
    if left <= 0 or left < seconds:
        raise OutOfTime


def has_limit() -> bool:
    """Whether somebody has set a limit, and catches `OutOfTime`."""
    return _SECONDS_LEFT.get() is not _unlimited
