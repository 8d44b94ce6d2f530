"""Ctrl-C while something is compiled, and what is told meanwhile."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable

import pytest

from likewise.clock import OutOfTime, time_limit
from likewise.compiled import compiled
from likewise.compiled.beside import compile_beside, still_compiling
from likewise.progress import announcing
from likewise.search.budget import Budget, interruptible


def blocked() -> tuple[Callable[[], None], threading.Event]:
    """Compilation that lasts until it is let go."""
    done = threading.Event()
    return lambda: (done.wait(60), None)[1], done


def ctrl_c() -> float:
    """Asked how long compilation takes, somebody loses patience."""
    signal.raise_signal(signal.SIGINT)
    return 0.0


def test_what_is_compiled_comes_back() -> None:
    assert compile_beside(lambda: 7, lambda: 0.0) == 7


def test_errors_are_raised_where_it_was_waited_for() -> None:
    def fail() -> None:
        raise ValueError("no such type")

    with pytest.raises(ValueError, match="no such type"):
        compile_beside(fail, lambda: 0.0)


def test_ctrl_c_does_not_wait_for_compilation() -> None:
    work, done = blocked()
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        compile_beside(work, ctrl_c)
    assert still_compiling()
    assert signal.getsignal(signal.SIGINT) is before
    done.set()


def test_where_ctrl_c_ends_a_budget_the_work_is_left() -> None:
    work, done = blocked()
    budget = Budget(60)
    with interruptible(budget), time_limit(lambda: 60.0), pytest.raises(OutOfTime):
        compile_beside(work, ctrl_c)
    assert budget.interrupted
    done.set()


def test_how_long_it_takes_is_told_once() -> None:
    told: list[str] = []
    with announcing(told.append):
        compile_beside(lambda: time.sleep(0.2), lambda: 7.4)
    assert told == ["compiling once, about 7 s"]


@compiled
def _steps(x: float, count: int) -> float:
    for _ in range(count):
        x = x * 0.999 + 0.5
    return x


def test_other_threads_run_while_a_loop_does() -> None:
    """Those that send work to other processes and take it back need Python's lock."""
    _steps(0.0, 1)
    ticks: list[float] = []
    over = threading.Event()

    def tick() -> None:
        while not over.wait(0.001):
            ticks.append(time.perf_counter())

    other = threading.Thread(target=tick)
    other.start()
    began = time.perf_counter()
    _steps(0.0, 200_000_000)
    ended = time.perf_counter()
    over.set()
    other.join()
    assert sum(began < at < ended for at in ticks) >= 3  # one may have run before the loop began
