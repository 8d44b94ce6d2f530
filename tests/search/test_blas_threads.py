"""BLAS computes with one thread while a question is answered, and with as many as before afterwards."""

from __future__ import annotations

import pytest
import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits

from likewise.run import open_run
from likewise.search.blas_threads import one_blas_thread


def threads() -> dict[str, int]:
    """Of every BLAS that is loaded, NumPy's, SciPy's and those of other libraries."""
    found = {one["filepath"]: one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
    assert found, f"no BLAS is loaded, but {scipy.linalg.__name__} is"
    return found


def one_each(before: dict[str, int]) -> dict[str, int]:
    """One thread in the place of several, of which there were some."""
    assert max(before.values()) > 1
    return dict.fromkeys(before, 1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_has_one_thread_and_hands_back_the_others(jobs):
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with open_run(n_jobs=jobs):
            assert threads() == one_each(before)
        assert threads() == before


def test_an_error_hands_them_back():
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with pytest.raises(KeyboardInterrupt), open_run():
            raise KeyboardInterrupt
        assert threads() == before


def test_the_last_of_runs_that_overlap_hands_them_back():
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert threads() == one_each(before)
        second.__exit__(None, None, None)
        assert threads() == before
