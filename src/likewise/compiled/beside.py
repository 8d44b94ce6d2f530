"""Compilation beside the main thread, so that Ctrl-C is obeyed meanwhile: LLVM works for seconds without looking up.

Where Ctrl-C is taken for the end of a budget, the work that needs the loop is left (`OutOfTime`); else KeyboardInterrupt passes. What is being compiled goes on then, and is there for the
next call. An interpreter that ends waits for it, because LLVM must not lose what it works on; a program that has nothing else to lose may leave at once (`still_compiling`).
"""

from __future__ import annotations

import atexit
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from likewise.clock import OutOfTime, has_limit
from likewise.errors import LikewiseError
from likewise.gc_pause import without_collector
from likewise.progress import announce

STACK_BYTES = 64 * 2**20  # LLVM recurses deeper than a thread's usual stack allows on some systems
LOOK_SECONDS = 0.05  # between two looks whether compilation is done
WORTH_TELLING = 1.0  # seconds

ROOM = 400 * 2**20  # bytes of addresses that numba, a compilation and its thread take, rounded up

_RUNNING: set[threading.Thread] = set()


def need_memory() -> None:
    """Refuse to begin where a limit of the process (RLIMIT_AS) leaves less than that: LLVM answers a lack
    of memory by ending the program ("bad_alloc")."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # systems without such limits, or that do not say what is taken
        return
    if limit != resource.RLIM_INFINITY and limit - taken < ROOM:
        raise LikewiseError(
            f"the memory limit of this process, {limit / 2**20:,.0f} MiB, is too small to compile: {taken / 2**20:,.0f} MiB are in use, and {ROOM / 2**20:,.0f} more are needed",
            hint="raise the limit (ulimit -v, or RLIMIT_AS) to 2 GiB",
        )


def still_compiling() -> bool:
    """Whether something is being compiled that nobody waits for any more."""
    return any(thread.is_alive() for thread in _RUNNING)


def compile_beside(work: Callable[[], Any], expected_seconds: Callable[[], float]) -> Any:
    """What `work` returns, done in a thread of its own; how long it takes is told once it is known to."""
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            failure.append(error)

    need_memory()
    thread = _start(run)
    told = False
    # A search that was ended by Ctrl-C uses the loops that are there, and waits for no other.
    asked_before = getattr(signal.getsignal(signal.SIGINT), "asked", False)
    with _interrupts() as asked, without_collector():
        while thread.is_alive():
            thread.join(LOOK_SECONDS)
            if not told and expected_seconds() >= WORTH_TELLING:
                told = True
                announce(f"compiling once, about {expected_seconds():.0f} s")
            if asked or (expected_seconds() > 0 and asked_before):
                raise OutOfTime if has_limit() else KeyboardInterrupt
    _RUNNING.discard(thread)
    if failure:
        raise failure[0]
    return outcome[0]


def _start(run: Callable[[], None]) -> threading.Thread:
    before = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=run, name="likewise compiles", daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    _RUNNING.add(thread)
    return thread


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Ctrl-C as it was handled before, which is noted down."""
    asked: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):  # ignored, or none of Python's business
        yield asked
        return

    def handle(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, handle)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


@atexit.register
def _wait() -> None:
    for thread in list(_RUNNING):
        thread.join()
