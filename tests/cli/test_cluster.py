"""``--cluster``: a stand-in for Dask, whose workers are threads of this process; and without Dask."""

import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest

asked: list[object] = []


class Client:
    """As much of distributed.Client as is used."""

    def __init__(self, address, timeout):
        if address != "tcp://here:8786":
            raise OSError("nobody answers")
        asked.append(address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        asked.append("closed")

    def nthreads(self):
        return {"tcp://one": 1, "tcp://two": 1}

    def get_executor(self, **_):
        pool = ThreadPoolExecutor(2)
        submit = pool.submit
        pool.submit = lambda work, *more: asked.append(work.__name__) or submit(work, *more)
        return pool


@pytest.fixture
def dask(monkeypatch):
    module = ModuleType("distributed")
    module.Client = Client
    monkeypatch.setitem(sys.modules, "distributed", module)
    asked.clear()


@pytest.mark.some_days
def test_a_cluster_searches_and_checks(run, on_data, dask):
    done = run(f"verify --model fair.skops {on_data} --free sex --cluster tcp://here:8786")
    assert done.exit_code == 0, done.output
    assert asked[0] == "tcp://here:8786"
    assert asked[-1] == "closed"
    assert "check_bytes" in asked
    asked.clear()
    done = run("verify --model s.skops --data s.csv --free sex --budget 1.5 --cluster tcp://here:8786")
    assert done.exit_code == 3, done.output
    assert "run_part" in asked


def test_a_cluster_that_does_not_answer(run, on_data, dask):
    done = run(f"verify --model fair.skops {on_data} --free sex --cluster tcp://nowhere:1")
    assert done.exit_code == 2
    assert "cannot be reached" in done.output


def test_without_dask(run, on_data, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = run(f"verify --model fair.skops {on_data} --free sex --cluster tcp://here:8786")
    assert done.exit_code == 2
    assert "likewise[dask]" in done.output
