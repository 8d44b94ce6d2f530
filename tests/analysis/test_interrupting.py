"""Ctrl-C inside of an analysis that searches several times: one is enough, and the answer has what was known by then."""

import os
import signal

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.search.budget import Budget, interruptible

SIZE = 44


@pytest.fixture(scope="module")
def hard():
    """A subset sum: even weights, and half a step between the two sums that would break the claim."""
    random = np.random.default_rng(0)
    names = [*(f"b{i}" for i in range(SIZE)), "sex"]
    rows = pd.DataFrame(random.integers(0, 2, (40, SIZE + 1)), columns=names)
    weights = 2.0 * random.integers(2**40, 2**41, SIZE)
    model = LogisticRegression(solver="liblinear").fit(rows, rows["sex"])
    model.coef_ = np.append(weights, 1.0)[None, :]
    model.intercept_ = np.array([-weights[: SIZE // 2].sum() - 1.0])
    return model, lw.Space({name: lw.Integer(0, 1) for name in names}), lw.Similarity(free=["sex"])


@pytest.fixture
def ctrl_c():
    """A listener that interrupts once; `after` counts what it is told afterwards."""

    def listener(snapshot):
        if "branch and bound" not in snapshot.stage:
            return
        if listener.after is None:
            listener.after = 0
            os.kill(os.getpid(), signal.SIGINT)
        else:
            listener.after += 1

    listener.after = None
    return listener


def test_compare_ends_with_all_its_searches(hard, ctrl_c):
    model, *claim = hard
    found = lw.compare(model, model, *claim, of="margin", budget=3600, progress=ctrl_c)
    assert ctrl_c.after is not None
    assert [str(result.verdict) for result in found.results] == ["UNKNOWN", "UNKNOWN"]
    assert all(result.reason.startswith("interrupted") for result in found.results)
    assert all(np.isfinite(disparity.upper) for disparity in found.disparities)
    assert found.change == "undecided"


def test_a_radius_asks_no_further_level(hard, ctrl_c):
    """Level 0 needs no search, as nobody is similar to anybody else; level 1 is hard."""
    model, space, _ = hard
    found = lw.radius(model, space, lw.Similarity(within={"sex": 1}), budget=3600, progress=ctrl_c)
    assert ctrl_c.after is not None
    assert found.proved == 0
    assert found.refuted is None
    assert "interrupted after" in found.reason
    assert [verdict for _, verdict, _ in found.history] == ["UNKNOWN"]


def test_budgets_inside_of_one_another():
    outer, inner, later = Budget(60), Budget(60), Budget(60)
    with interruptible(outer):
        with interruptible(inner):
            os.kill(os.getpid(), signal.SIGINT)
        assert inner.interrupted
        assert outer.interrupted
        with interruptible(later):
            assert later.over
    assert later.reason.startswith("interrupted")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interruption_between_two_searches_reaches_the_next():
    outer, inner = Budget(60), Budget(60)
    with interruptible(outer):
        os.kill(os.getpid(), signal.SIGINT)
        with interruptible(inner):
            assert inner.over
