"""Run: with what a question is answered. How long it may take, in how many processes, from which seed, and who is told of the progress.

Every public function takes the same keyword arguments for that; `open_run` checks them and makes the one `Run` of them that all parts of the answer
share. What an analysis consists of has a part of it (`Run.part`), so that the whole ends in time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likewise.errors import SpecError
from likewise.progress import Listener, Snapshot, ignore_progress, terminal_listener
from likewise.search.blas_threads import one_blas_thread
from likewise.search.budget import IMPORT_SECONDS, Budget, budget_of
from likewise.search.checkpoint import Checkpoint
from likewise.search.workers import Workers

Seed = int | np.random.Generator | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The budget, `jobs` processes or an executor to do what can be done elsewhere, the seed, and the listener."""

    budget: Budget
    jobs: int = 1
    executor: Executor | None = None
    workers: Workers | None = None  # the same, for searches
    checkpoint: Checkpoint | None = None  # of the one search that this run is about
    seed: Seed = 0
    listener: Listener = ignore_progress

    def part(self, share: float) -> Run:
        """The same with this share of what is left of the budget."""
        return replace(self, budget=self.budget.part(share))

    def random(self) -> np.random.Generator:
        """Random numbers from the seed on; from a generator, its next ones."""
        return np.random.default_rng(self.seed)

    def tell(self, stage: str, **more: Any) -> None:
        """Report to whoever listens."""
        self.listener(Snapshot(stage=stage, seconds=self.budget.elapsed, **more))


@contextmanager
def open_run(
    *,
    budget: float | Budget = 60,
    import_budget: float = IMPORT_SECONDS,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: Seed = 0,
    progress: bool | Listener = False,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Iterator[Run]:
    """The run that these arguments ask for; refuses what is none of them. A budget that runs already goes on."""
    jobs, seed, clock = (
        _check_jobs(n_jobs, executor),
        _check_seed(random_state),
        budget_of(budget, import_budget),
    )
    workers = Workers(jobs, executor) if jobs > 1 or executor is not None else None
    try:
        with (
            one_blas_thread(),
            open_listener(progress) as listener,
            _open_checkpoint(checkpoint, resume) as kept,
        ):
            yield Run(
                budget=clock,
                jobs=jobs,
                executor=executor,
                workers=workers,
                checkpoint=kept,
                seed=seed,
                listener=listener,
            )
    finally:
        if workers is not None:
            workers.close()


def _open_checkpoint(
    path: str | os.PathLike[str] | None, resume: bool
) -> AbstractContextManager[Checkpoint | None]:
    if path is None and resume:
        raise SpecError("resume needs the checkpoint to go on from", hint='checkpoint="FILE"')
    return nullcontext() if path is None else Checkpoint(path, resume=resume).held()


@contextmanager
def open_listener(progress: bool | Listener) -> Iterator[Listener]:
    """The listener that `progress` asks for."""
    if callable(progress):
        yield progress
    elif progress:
        with terminal_listener() as listener:
            yield listener
    else:
        yield ignore_progress


def _check_jobs(n_jobs: int, executor: Executor | None) -> int:
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or (n_jobs < 1 and n_jobs != -1):
        raise SpecError(f"n_jobs must be a whole number of processes or -1 for all cores, not {n_jobs!r}")
    if executor is not None and not hasattr(executor, "submit"):
        raise SpecError(
            f"executor must be a concurrent.futures.Executor, not {executor!r}",
            hint="for instance ProcessPoolExecutor()",
        )
    return usable_cores() if n_jobs == -1 else n_jobs


def usable_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _check_seed(random_state: Seed) -> Seed:
    try:
        np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise SpecError(
            f"random_state must be a whole number from 0 on, a numpy Generator or None, not {random_state!r}"
        ) from error
    return random_state
