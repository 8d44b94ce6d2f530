"""Threads of BLAS: one, as long as a question is answered.

A search multiplies small matrices, many times a second. BLAS would spread each over all cores, where its threads wait for the next one by spinning: they take the cores that worker processes are to search on, and gain nothing.
So every process computes with one thread, this one, workers that it starts (`workers.ONE_THREAD`) and those of an executor while they do their part; how many cores are used is what `n_jobs` says.

The number of threads is one of the whole process: it is taken down with the first run that begins, and is what it was before when the last one ends.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Held:
    """How many runs are under way in this process, and what ends the limit."""

    def __init__(self) -> None:
        self.lock, self.runs = threading.Lock(), 0
        self.limits: Any = None

    def take(self) -> None:
        import scipy.linalg  # noqa: F401 - has a BLAS of its own, which compiled loops call
        from threadpoolctl import threadpool_limits

        with self.lock:
            self.runs += 1
            if self.runs == 1:
                self.limits = threadpool_limits(limits=1, user_api="blas")

    def give_back(self) -> None:
        with self.lock:
            self.runs -= 1
            if not self.runs:
                self.limits.restore_original_limits()
                self.limits = None


_HELD = _Held()  # of the process, as the threads are


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS computes with one thread meanwhile."""
    _HELD.take()
    try:
        yield
    finally:
        _HELD.give_back()
