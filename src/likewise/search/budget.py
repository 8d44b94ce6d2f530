"""Budget: how long a search may take, and Ctrl-C turned into an orderly end.

The first Ctrl-C ends the search at its next look at the clock, with the best bounds so far, and with it whatever the search is a
part of: the levels of a radius, the claims of a run. Handlers can be set in the main thread only, elsewhere KeyboardInterrupt passes as usual.

When a budget is over no search goes on. What was found by then is proved and checked within a grace: a fifth of the budget and a second more.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from likewise.errors import BudgetError

GRACE, GRACE_SECONDS = 0.2, 1.0  # of the budget, and besides: for checking what was found when it ends


class Budget:
    """A clock that runs from its creation; `reason` says why it is over."""

    def __init__(self, seconds: float) -> None:
        if not isinstance(seconds, (int, float)) or math.isnan(seconds) or seconds <= 0:
            raise BudgetError(f"budget must be a positive number of seconds, not {seconds!r}")
        self.seconds = float(seconds)
        self.started = time.perf_counter()
        self.interrupted = False
        self.interrupted_at = math.inf

    def interrupt(self) -> None:
        """End it now."""
        self.interrupted, self.interrupted_at = True, self.elapsed

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.started

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stand still meanwhile."""
        stopped = time.perf_counter()
        try:
            yield
        finally:
            self.started += time.perf_counter() - stopped

    @property
    def over(self) -> bool:
        return self.interrupted or self.elapsed >= self.seconds

    @property
    def end(self) -> float:
        """When it ends, on this clock."""
        return min(self.seconds, self.interrupted_at)

    @property
    def last_moment(self) -> float:
        """The end of the grace."""
        return self.end + GRACE * self.seconds + GRACE_SECONDS

    @property
    def for_checking(self) -> float:
        """Seconds that a check may take from now on."""
        return max(self.last_moment - self.elapsed, 0.0)

    @property
    def reason(self) -> str:
        if self.interrupted:
            return f"interrupted after {self.elapsed:.1f} s"
        return f"the budget of {self.seconds:g} s is used up"


class Until(Budget):
    """The same clock with another end: an earlier one leaves time for what comes next. With `settling` it is for what is due when the whole budget
    is over, and goes on then."""

    def __init__(self, whole: Budget, end: float, *, settling: bool = False) -> None:
        super().__init__(max(end, math.ulp(0.0)))
        self.whole, self.settling = whole, settling

    @property
    def elapsed(self) -> float:
        return self.whole.elapsed

    @contextmanager
    def stopped(self) -> Iterator[None]:
        with self.whole.stopped():
            yield

    @property
    def over(self) -> bool:
        return self.elapsed >= self.seconds or (self.whole.over and not self.settling)

    @property
    def last_moment(self) -> float:
        return self.whole.last_moment

    @property
    def reason(self) -> str:
        return self.whole.reason


class Part(Budget):
    """A part of a budget: over with it, and after its own seconds."""

    def __init__(self, whole: Budget, seconds: float) -> None:
        super().__init__(seconds)
        self.whole = whole

    @contextmanager
    def stopped(self) -> Iterator[None]:
        with self.whole.stopped(), super().stopped():
            yield

    @property
    def over(self) -> bool:
        return self.whole.over or super().over

    @property
    def reason(self) -> str:
        return self.whole.reason if self.whole.over else f"{self.seconds:.3g} s were not enough"


@contextmanager
def interruptible(budget: Budget) -> Iterator[None]:
    """Let Ctrl-C end the budget instead of the program, and with it those around it; at once if one of them has ended so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    outer = before if isinstance(before, _Ending) else None
    if outer is not None and outer.budget.interrupted:
        budget.interrupt()
    signal.signal(signal.SIGINT, _Ending(budget, outer))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Ending:
    """What Ctrl-C does inside of `interruptible`."""

    def __init__(self, budget: Budget, outer: _Ending | None) -> None:
        self.budget = budget
        self.outer = outer

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        if self.budget.interrupted:  # asked twice: the search does not look at the clock, so leave at once
            raise KeyboardInterrupt
        self.end()

    def end(self) -> None:
        self.budget.interrupt()
        if self.outer is not None:
            self.outer.end()
