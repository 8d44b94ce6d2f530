"""Budget: how long a search may take, and Ctrl-C turned into an orderly end.

The first Ctrl-C ends the search at its next look at the clock, with the best bounds so far, and with it whatever the search is a
part of: the levels of a radius, the claims of a run. Handlers can be set in the main thread only, elsewhere KeyboardInterrupt passes as usual.

When a budget is over no search goes on. What was found by then is proved and checked within a grace: a fifth of the budget and a second more. An analysis
has one budget, and what it consists of has parts of it, each with its part of the grace; so the whole ends in time however many parts there are.

Reading the model comes before: the clock stands still meanwhile, and another one runs (`importing`), which
has a limit of its own. Reading rows is on the budget's time (`reading`).
"""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from likewise import clock
from likewise.errors import BudgetError

GRACE, GRACE_SECONDS = 0.2, 1.0  # of the budget, and besides: for checking what was found when it ends
READING_MOMENT = 0.5  # seconds that reading rows may take besides
IMPORT_SECONDS = 600.0  # that reading a model may take


class Budget:
    """A clock that runs from its creation; `reason` says why it is over."""

    def __init__(self, seconds: float, import_seconds: float = IMPORT_SECONDS) -> None:
        self.seconds = _check_seconds("budget", seconds)
        self.most_for_import = _check_seconds("import_budget", import_seconds)
        self.started = clock.now()
        self.import_seconds = 0.0  # that reading models took so far
        self.reading_seconds = 0.0  # that reading rows took so far, where that was more than a moment
        self.compile_seconds = 0.0  # that compiling loops took so far
        self.interrupted = False
        self.interrupted_at = math.inf
        self.given_up: str | None = None  # why, where that was not the user

    def restart(self) -> None:
        """Let the clock run from now on: of what was done before, reading rows alone is on the budget's
        time."""
        self.started = clock.now() - self.reading_seconds

    def carry_on(self, import_seconds: float, reading_seconds: float) -> None:
        """Go on from a clock by which the claim was read."""
        self.import_seconds, self.reading_seconds = import_seconds, reading_seconds
        self.restart()

    def interrupt(self) -> None:
        """End it now, if that was not said before."""
        if self.interrupted:
            return
        self.interrupted, self.interrupted_at = True, self.elapsed

    def give_up(self, why: str) -> None:
        """End it now: there is nobody to go on."""
        self.given_up = why
        self.interrupt()

    @property
    def elapsed(self) -> float:
        return clock.now() - self.started

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stand still while loops are compiled, and for nothing else."""
        began = clock.now()
        try:
            with self.halted():
                yield
        finally:
            self.compile_seconds += clock.now() - began

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Read rows meanwhile: what takes longer than a moment is on the budget's time, and ends in a
        BudgetError where it takes longer than that."""
        began, most = clock.now(), self.seconds + READING_MOMENT
        try:
            with clock.time_limit(lambda: 0.0 if self.interrupted else most - (clock.now() - began)):
                yield
        except clock.OutOfTime:
            raise BudgetError(
                f"{what}: reading the rows takes longer than the budget of {self.seconds:g} s",
                hint=f"give it more time, budget={max(60.0, 4 * self.seconds):g}, or fewer rows",
            ) from None
        taken = clock.now() - began
        if taken > READING_MOMENT:
            self.reading_seconds += taken
        else:
            self.started += taken

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Stand still while something is done that is not on the budget's time."""
        stopped = clock.now()
        try:
            yield
        finally:
            self.started += clock.now() - stopped

    @contextmanager
    def importing(self) -> Iterator[None]:
        """Read a model meanwhile: on a clock of its own, the same one for all models of an analysis, which ends in a BudgetError."""
        began = clock.now() - self.import_seconds
        try:
            with (
                self.halted(),
                clock.time_limit(lambda: self.most_for_import - (clock.now() - began)),
            ):
                yield
        except clock.OutOfTime:
            raise BudgetError(
                f"reading the model and comparing it with the original takes longer than the {self.most_for_import:g} s that it may take",
                hint=f"give it more time, import_budget={2 * self.most_for_import:g}, or verify a smaller model",
            ) from None
        finally:
            self.import_seconds = clock.now() - began

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Work that is left (`OutOfTime`) once the budget is over."""
        with clock.time_limit(lambda: 0.0 if self.over else self.left):
            yield

    @contextmanager
    def grace_watched(self) -> Iterator[None]:
        """Work that is left once the grace is over: what is due at the end."""
        with clock.time_limit(lambda: self.checking_seconds):
            yield

    @property
    def over(self) -> bool:
        return self.interrupted or self.elapsed >= self.seconds

    @property
    def left(self) -> float:
        """Seconds until it is over."""
        return max(self.end - self.elapsed, 0.0)

    @property
    def end(self) -> float:
        """When it ends, on this clock."""
        return min(self.seconds, self.interrupted_at)

    @property
    def grace_end(self) -> float:
        """The end of the grace."""
        return self.end + GRACE * self.seconds + GRACE_SECONDS

    @property
    def checking_seconds(self) -> float:
        """Seconds that a check may take from now on."""
        return max(self.grace_end - self.elapsed, 0.0)

    def later(self, share: float) -> BudgetUntil:
        """The same clock, that ends when this share of the grace is over as well: for what an answer should not be without."""
        grace = share * max(self.grace_end - self.end, 0.0) if self.seconds < math.inf else 0.0
        return BudgetUntil(self, self.end + grace, settling=True)

    def part(self, share: float) -> BudgetPart:
        """This share of what is left, and of what is left of the grace."""
        grace = self.grace_end - max(self.end, self.elapsed) if self.seconds < math.inf else math.inf
        return BudgetPart(self, share * self.left, grace=share * max(grace, 0.0))

    @property
    def stats(self) -> dict[str, Any]:
        """What an answer tells of the time it took."""
        return {
            "seconds": self.elapsed,
            "import_seconds": self.import_seconds,
            "compile_seconds": self.compile_seconds,
        }

    @property
    def reason(self) -> str:
        if self.given_up is not None:
            return f"{self.given_up} (after {self.elapsed:.1f} s)"
        if self.interrupted:
            return f"interrupted after {self.elapsed:.1f} s"
        return f"the budget of {self.seconds:g} s is used up"


def _check_seconds(name: str, seconds: float) -> float:
    if not isinstance(seconds, (int, float)) or math.isnan(seconds) or seconds < 0:
        raise BudgetError(f"{name} must be a number of seconds from 0 on, not {seconds!r}")
    return float(seconds)


def budget_of(budget: float | Budget, import_budget: float = IMPORT_SECONDS) -> Budget:
    """A new clock of so many seconds, or the one that runs already: that of the analysis which this is a part of."""
    return budget if isinstance(budget, Budget) else Budget(budget, import_budget)


class BudgetUntil(Budget):
    """The same clock with another end: an earlier one leaves time for what comes next. With `settling` it is for what is due when the whole budget
    is over, and goes on then."""

    def __init__(self, whole: Budget, end: float, *, settling: bool = False) -> None:
        super().__init__(max(end, 0.0))
        self.whole, self.settling = whole, settling

    def give_up(self, why: str) -> None:
        self.whole.give_up(why)

    @property
    def elapsed(self) -> float:
        return self.whole.elapsed

    @contextmanager
    def stopped(self) -> Iterator[None]:
        with self.whole.stopped():
            yield

    @contextmanager
    def importing(self) -> Iterator[None]:
        with self.whole.importing():
            yield

    @property
    def stats(self) -> dict[str, Any]:
        return self.whole.stats

    @property
    def over(self) -> bool:
        return self.elapsed >= self.seconds or (self.whole.over and not self.settling)

    @property
    def grace_end(self) -> float:
        return self.whole.grace_end

    @property
    def reason(self) -> str:
        return self.whole.reason


class BudgetPart(Budget):
    """A part of a budget: over with it, and after its own seconds. Its grace is its own as well, and ends with that of the whole."""

    def __init__(self, whole: Budget, seconds: float, *, grace: float | None = None) -> None:
        super().__init__(seconds)
        self.whole = whole
        self.grace = GRACE * self.seconds + GRACE_SECONDS if grace is None else grace

    def give_up(self, why: str) -> None:
        self.whole.give_up(why)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        with self.whole.stopped(), super().stopped():
            yield

    @contextmanager
    def importing(self) -> Iterator[None]:
        with self.halted(), self.whole.importing():
            yield

    @property
    def over(self) -> bool:
        return self.whole.over or super().over

    @property
    def end(self) -> float:
        return min(super().end, self.elapsed + self.whole.end - self.whole.elapsed)

    @property
    def grace_end(self) -> float:
        return min(self.end + self.grace, self.elapsed + self.whole.grace_end - self.whole.elapsed)

    @property
    def stats(self) -> dict[str, Any]:
        return {**self.whole.stats, "seconds": self.elapsed}

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
    outer = before if isinstance(before, _InterruptHandler) else None
    if outer is not None and outer.budget.interrupted:
        budget.interrupt()
    signal.signal(signal.SIGINT, _InterruptHandler(budget, outer))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _InterruptHandler:
    """What Ctrl-C does inside of `interruptible`."""

    def __init__(self, budget: Budget, outer: _InterruptHandler | None) -> None:
        self.budget = budget
        self.outer = outer

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        if self.budget.interrupted:  # asked twice: the search does not look at the clock, so leave at once
            raise KeyboardInterrupt
        self.end()

    @property
    def asked(self) -> bool:
        """Whether Ctrl-C was pressed before."""
        return self.budget.interrupted

    def end(self) -> None:
        self.budget.interrupt()
        if self.outer is not None:
            self.outer.end()
