"""The same with a cluster of Dask on this machine: searched and checked there, and whatever becomes of it, no wrong answer."""

import os
import signal
import sys
import time
from concurrent.futures import Executor, Future
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from tests.search.test_branch_and_bound import parity

import likewise as lw
from likewise.search import parted_search, workers
from likewise.verifying.certification import check_bytes

distributed = pytest.importorskip("distributed")

QUIET = {"dashboard_address": ":0", "silence_logs": 50}


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Parts are sent from the first moment on: the search waits for workers instead of going on alone meanwhile."""
    welcome = workers.Workers.welcome

    def wait(self, *parcel):
        while not welcome(self, *parcel):
            time.sleep(0.01)
        return True

    monkeypatch.setattr(workers.Workers, "welcome", wait)
    monkeypatch.setattr(workers, "ALONE_SECONDS", 0.0)
    monkeypatch.setattr(workers, "SPREAD_SECONDS", 0.0)
    monkeypatch.setattr(parted_search, "LEAST_SECONDS", 0.05)
    monkeypatch.setattr(parted_search, "MOST_SECONDS", 0.2)


@contextmanager
def started():
    """A cluster of two processes; they find what this one finds."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **QUIET) as found:
            yield found


@pytest.fixture(scope="module")
def cluster():
    with started() as found:
        yield found


class Once:
    """A listener that does something when parts are under way, once."""

    def __init__(self, act):
        self.act, self.done = act, False

    def __call__(self, snapshot):
        if not self.done and "in 2 processes" in snapshot.stage:
            self.done = True
            self.act()


def searched(client, size=12, **more):
    model, space, similar = parity(size, 0.75)
    executor = client.get_executor(pure=False, retries=0)
    return lw.verify(model, space, similar, executor=executor, n_jobs=2, **more)


def test_threads_of_a_cluster_search_and_check():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, **QUIET) as found,
        distributed.Client(found) as client,
    ):
        seen = Once(lambda: None)
        result = searched(client, size=10, progress=seen)
    assert result.verdict == "FAIR"
    assert result.stats["checked"]
    assert seen.done


class Raising(Executor):
    """Whatever it is sent comes back as this error."""

    def __init__(self, error):
        self.error = error

    def submit(self, work, *_):
        future = Future()
        if work is check_bytes:
            future.set_exception(self.error)
        return future


def test_a_check_whose_worker_was_killed_is_done_here():
    model, space, similar = parity(4, 0.75)
    error = distributed.KilledWorker("check", None, 3)
    found = lw.verify(model, space, similar, executor=Raising(error), budget=60)
    assert found.verdict == lw.verify(model, space, similar).verdict
    with pytest.raises(ZeroDivisionError):
        lw.verify(model, space, similar, executor=Raising(ZeroDivisionError()), budget=60)


@pytest.mark.slow
def test_processes_of_a_cluster_search_and_check(cluster):
    with distributed.Client(cluster) as client:
        result = searched(client, progress=(seen := Once(lambda: None)))
    alone = lw.verify(*parity(12, 0.75))
    assert result.verdict == alone.verdict == "FAIR"
    assert result.stats["checked"]
    assert result.stats["cells"] == alone.stats["cells"]
    assert seen.done


@pytest.mark.slow
def test_a_cluster_by_its_address(cluster, tmp_path):
    import pandas as pd
    import skops.io
    from sklearn.linear_model import LogisticRegression

    from likewise.cli.app import cli

    X = pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1]})
    X.assign(y=X.a).to_csv(tmp_path / "d.csv", index=False)
    skops.io.dump(LogisticRegression(solver="liblinear").fit(X, X.a), tmp_path / "m.skops")
    line = f"verify --model {tmp_path}/m.skops --data {tmp_path}/d.csv --label y --free b -q"
    done = CliRunner().invoke(cli, [*line.split(), "--cluster", cluster.scheduler_address])
    assert done.stdout == CliRunner().invoke(cli, line.split()).stdout, done.output


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_its_work_alone():
    with started() as found, distributed.Client(found) as client:
        victim = next(iter(client.run(os.getpid).values()))
        result = searched(client, progress=Once(lambda: os.kill(victim, signal.SIGKILL)))
    assert result.verdict == "FAIR"
    assert result.stats["cells"] == lw.verify(*parity(12, 0.75)).stats["cells"]


def shrink(cluster, client):
    """Down to no worker."""
    cluster.scale(0)
    while client.nthreads():
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("end", ["the scheduler", "all workers"])
def test_a_cluster_that_goes_ends_in_unknown(end, monkeypatch):
    monkeypatch.setattr(parted_search, "SILENT_SECONDS", 2.0)
    with started() as found, distributed.Client(found) as client:
        act = found.close if end == "the scheduler" else lambda: shrink(found, client)
        result = searched(client, size=16, progress=(seen := Once(act)), budget=600)
    assert seen.done
    assert result.verdict == "UNKNOWN"
    assert result.reason.startswith("the executor takes no more work")
    assert result.bounds[1] < float("inf")
