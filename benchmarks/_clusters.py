"""Workers of Dask on this machine, for benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager


@contextmanager
def dask_workers(count: int) -> Iterator[Executor | None]:
    """The executor of a cluster on this machine; None of no worker."""
    if not count:
        yield None
        return
    from distributed import Client, LocalCluster

    with (
        LocalCluster(count, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor(pure=False, retries=0)
