"""Clock: how late it is, and whether the work at hand still has time, asked from wherever the work is done.

What takes long lies far below what knows the budget: leaves proved in exact arithmetic, the elements of a tree, a comparison of a million
thresholds. Such loops call `look_at_clock` between two pieces of work. Whoever began the work has said when its time is over (`limited`; of several such
blocks the innermost counts), and catches `OutOfTime`. Work that was left that way has proved nothing and is begun anew, or not at all.

All times come from `now`, so that one patch puts another clock in its place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class OutOfTime(Exception):
    """There is no time for the rest of a piece of work."""


def _never() -> bool:
    return False


_OVER: ContextVar[Callable[[], bool]] = ContextVar("over", default=_never)


def now() -> float:
    """Seconds on a clock that only goes forward."""
    return time.perf_counter()


@contextmanager
def limited(over: Callable[[], bool]) -> Iterator[None]:
    """Work that is to be left once `over` says so."""
    token = _OVER.set(over)
    try:
        yield
    finally:
        _OVER.reset(token)


def look_at_clock() -> None:
    """Raise `OutOfTime` where the time of the work at hand is over."""
    if _OVER.get()():
        raise OutOfTime
