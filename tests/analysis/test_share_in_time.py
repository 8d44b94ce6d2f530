"""share within its budget, whatever its method: on clocks that work moves by what it is said to take, and on one that every look moves."""

from concurrent.futures import Executor, Future
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from tests.analysis.brute import MODELS, SIMILAR, SPACE, Truth, everybody, fitted
from tests.analysis.clocks import Clock
from tests.analysis.test_audit_in_time import three_classes
from tests.posing import judged

import likewise as lw
from likewise import clock
from likewise.analysis import row_pieces, share_bracket
from likewise.analysis import share_enumeration as counting
from likewise.families.kernel.judge import KernelJudge
from likewise.families.trees.bounder import TreeBounder
from likewise.search import workers

BUDGET = 2.0
AT_MOST = 1.2 * BUDGET + 1
LOOKS = 15  # at the clock after its end: those are no work


@pytest.fixture
def hand(monkeypatch):
    hand = SimpleNamespace(now=100.0)
    monkeypatch.setattr(clock, "now", lambda: hand.now)
    return hand


def slowed(monkeypatch, hand, owner, name, seconds):
    """A method that takes so many seconds for what it is asked."""
    method = getattr(owner, name)

    def slowly(self, *asked):
        hand.now += seconds(*asked)
        return method(self, *asked)

    monkeypatch.setattr(owner, name, slowly)


def forest():
    return RandomForestClassifier(6, max_depth=4, random_state=0)


def test_counting_ends_with_the_budget_though_the_judge_is_slower_than_it_says(monkeypatch, hand):
    model, similar = fitted(MODELS["rbf"]), SIMILAR["free"]
    true = Truth(model, SPACE, similar).biased(lw.SameDecision()).mean()
    monkeypatch.setattr(counting, "ROWS_AT_A_TIME", 9)
    monkeypatch.setattr(KernelJudge, "pace", 400.0)
    slowed(
        monkeypatch, hand, KernelJudge, "cross", lambda rows, _, settings: 0.05 * len(rows) * len(settings)
    )
    found = lw.share(model, SPACE, similar, method="exact", budget=BUDGET)
    assert found.stats["seconds"] <= AT_MOST
    assert 0 < found.stats["individuals"] < len(everybody())
    assert 0 < found.lower <= true <= found.upper
    assert found.reason is not None


def test_a_pilot_leaves_time_for_the_sample(monkeypatch, hand):
    model, similar = fitted(MODELS["rbf"]), SIMILAR["free"]
    true = Truth(model, SPACE, similar).biased(lw.SameDecision()).mean()
    slowed(monkeypatch, hand, KernelJudge, "cross", lambda rows, *_: 0.02 * len(rows))
    found = lw.share(model, SPACE, similar, method="sampled", budget=BUDGET)
    assert found.stats["seconds"] <= AT_MOST
    assert found.stats["samples"] >= 30
    assert 0 < found.lower <= true <= found.upper


@pytest.mark.draw(1)
@pytest.mark.parametrize("method", ["certified", "sampled"])
def test_cells_end_with_the_budget(monkeypatch, hand, method):
    model, similar = fitted(forest), SIMILAR["free and within"]
    true = share_by_predictions(model, similar)
    monkeypatch.setattr(
        share_bracket, "FEW_INDIVIDUALS", 3
    )  # the free feature's levels: nobody is looked through before that
    slowed(monkeypatch, hand, TreeBounder, "bound", lambda lo, *_: 0.03 * len(lo))
    slowed(monkeypatch, hand, TreeBounder, "prove", lambda *_: 0.03)
    found = lw.share(model, SPACE, similar, method=method, budget=8)
    assert found.stats["seconds"] <= 1.2 * 8 + 1
    assert found.lower <= true <= found.upper
    if method == "certified":
        assert found.upper - found.lower < 1  # what was reached is not lost


def share_by_predictions(model, similar):
    """The share by predict alone."""
    people = everybody()
    codes, decided = people.to_numpy(), model.predict(people)
    near = np.abs(codes[:, None] - codes)
    reach = {"free": [0, 0, 9, 0], "free and within": [1, 0, 0, 9]}[
        next(name for name, known in SIMILAR.items() if known is similar)
    ]
    return ((near <= reach).all(axis=2) & (decided[:, None] != decided)).any(axis=1).mean()


FAMILIES = {
    "linear": MODELS["linear"],
    "rbf": MODELS["rbf"],
    "polynomial": MODELS["polynomial"],
    "forest": forest,
    "three classes": lambda: three_classes(lambda: SVC(gamma=0.2)),
}


@pytest.mark.draw(2)
@pytest.mark.parametrize("name", FAMILIES)
def test_every_method_holds_the_share_however_fast_the_clock_goes(monkeypatch, name):
    model, similar = fitted(FAMILIES[name]), SIMILAR["free and within"]
    true = share_by_predictions(model, similar)
    for step in (1e-3, 3e-2, 0.2):
        for method in ("auto", "exact", "certified", "sampled"):
            if (name, method) == ("three classes", "certified"):
                continue
            monkeypatch.setattr(clock, "now", Clock(step).now)
            found = lw.share(model, SPACE, similar, method=method, budget=BUDGET)
            assert found.lower <= true <= found.upper, (method, step)
            assert found.stats["seconds"] <= AT_MOST + LOOKS * step, (method, step)


@pytest.mark.draw(6)
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("method", ["auto", "exact", "sampled"])
def test_without_a_budget_there_is_the_whole_range(name, method):
    found = lw.share(fitted(FAMILIES[name]), SPACE, SIMILAR["free"], method=method, budget=0)
    assert (found.lower, found.upper) == (0, 1)
    assert found.reason is not None


@pytest.fixture(scope="module")
def searched():
    """A kernel model and a similarity that takes a search of its own for each row."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(0, 1, (40, 3)), columns=["x", "y", "z"])
    model = SVC(gamma=2.0).fit(X, X["x"] + X["y"] > 1)
    return model, X, lw.Space.from_data(X), lw.Similarity(within={"x": 0.05, "y": 0.05})


class Silent(Executor):
    """Takes work and never answers."""

    def submit(self, *_, **__):
        return Future()


def test_an_executor_that_does_not_answer_is_not_waited_for(searched):
    model, X, space, similar = searched
    found = lw.audit(model, space, similar, X=X, budget=0.1, executor=Silent())
    assert found.total == len(X)  # it came back; rows that there was time for were judged here
    assert sum(found.reasons.values()) == found.undecided
    assert all("used up" in reason or "not enough" in reason for reason in found.reasons)


def test_processes_are_not_started_for_a_few_seconds(monkeypatch, searched):
    model, X, space, similar = searched

    def refused(_count):
        raise AssertionError("a process for next to no time")

    monkeypatch.setattr(workers, "_start_pool", refused)
    found = lw.audit(model, space, similar, X=X[:4], budget=2, n_jobs=2)
    assert found.total == 4
    monkeypatch.setattr(row_pieces, "STARTING_SECONDS", 0.0)
    with pytest.raises(AssertionError, match="process"):
        lw.audit(model, space, similar, X=X[:4], budget=600, n_jobs=2)


def test_processes_are_not_started_for_a_little_work(searched):
    model, X, space, similar = searched
    problem = judged(model, space, similar, X=X, budget=600)
    for seconds, rows, worth in (
        (0.001, 100, False),
        (0.001, 1_000_000, True),
        (10.0, 100, True),
        (None, 1_000_000, False),  # the first rows are judged here
    ):
        assert row_pieces._worth_processes(problem, seconds, rows) == worth


@pytest.mark.some_days
def test_searches_for_single_rows_end_with_the_budget(monkeypatch, hand, searched):
    model, X, space, similar = searched
    slowed(monkeypatch, hand, KernelJudge, "enclose", lambda *_: 0.3)
    found = lw.audit(model, space, similar, X=X, budget=20)
    assert found.stats["seconds"] <= 1.2 * 20 + 1
    assert 5 < found.undecided < len(X)
    decided = found.rows[found.rows["biased"].notna()]
    whole = lw.audit(model, space, similar, X=X.iloc[decided["row"]]).rows.sort_values("row")
    assert decided["biased"].tolist() == whole["biased"].tolist()


@pytest.mark.some_days
def test_sums_that_end_early_hold_those_that_do_not(monkeypatch):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(0, 1, (200, 5)), columns=list("abcde")).assign(
        s=random.integers(0, 2, 200)
    )
    model = LogisticRegression().fit(X, X.sum(axis=1) + random.normal(size=200) > 3)
    space, similar = lw.Space.from_data(X), lw.Similarity(free=["s"])
    whole = lw.share(model, space, similar, method="certified", budget=60)
    widths = []
    for step in (1e-4, 1e-3, 0.1):
        monkeypatch.setattr(clock, "now", Clock(step).now)
        cut = lw.share(model, space, similar, method="certified", budget=BUDGET)
        assert cut.lower <= whole.lower <= whole.upper <= cut.upper
        assert cut.stats["seconds"] <= AT_MOST
        widths.append(cut.upper - cut.lower)
    assert widths == sorted(widths)
    assert widths[0] < 0.1
    assert widths[-1] == 1
