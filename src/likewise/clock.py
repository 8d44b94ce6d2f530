"""Clock: how late it is, and whether the work at hand still has time, asked from wherever the work is done.

What takes long lies far below what knows the budget: leaves proved in exact arithmetic, the elements of a tree, a comparison of a million
thresholds. Such loops call `look_at_clock` between two pieces of work, with what the next piece takes where that is known: what cannot be finished is not begun. Whoever began the
work has said how much time it has (`limited`; of several such blocks the innermost counts), and catches `OutOfTime`. Work that was left that way has
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


def _always() -> float:
    return math.inf


_LEFT: ContextVar[Callable[[], float]] = ContextVar("left", default=_always)


def now() -> float:
    """Seconds on a clock that only goes forward."""
    return time.perf_counter()


@contextmanager
def limited(left: Callable[[], float]) -> Iterator[None]:
    """Work that is left once it has no seconds `left`."""
    token = _LEFT.set(left)
    try:
        yield
    finally:
        _LEFT.reset(token)


def look_at_clock(seconds: float = 0.0) -> None:
    """Raise `OutOfTime` where the work at hand has no time left, or less than its next piece takes."""
    left = _LEFT.get()()
    if left <= 0 or left < seconds:
        raise OutOfTime
