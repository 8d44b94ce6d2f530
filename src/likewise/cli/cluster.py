"""``--cluster ADDRESS``: the workers of a Dask cluster instead of processes of this machine. The only place that imports Dask (extra ``likewise[dask]``)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from likewise.errors import SpecError

CONNECT_SECONDS = 30.0


@contextmanager
def connect(address: str) -> Iterator[tuple[Executor, int]]:
    """The executor of a cluster by the address of its scheduler, and how many threads its workers have."""
    try:
        from distributed import Client
    except ImportError:
        raise SpecError("--cluster needs Dask", hint="python -m pip install 'likewise[dask]'") from None
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise SpecError(f"--cluster {address}: cannot be reached: {error}") from None
    with client:
        threads = sum(client.nthreads().values())
        # The same part sent twice is two pieces of work: where one was lost, the other is to be done.
        yield client.get_executor(pure=False, retries=0), max(int(threads), 1)
