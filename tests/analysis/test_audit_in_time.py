"""audit, and share over rows, within their budgets: on a clock that only moves when it is looked at, or that work moves by what it would take."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from tests.analysis.brute import MODELS, SIMILAR, SPACE, Truth, everybody, fitted
from tests.analysis.clocks import Clock

import likewise as lw
from likewise import clock
from likewise.analysis.row_claim import RowClaim
from likewise.families.kernel.body import KernelScore
from likewise.families.kernel.judge import KernelJudge
from likewise.families.program_rounding import ObservedError
from likewise.families.score_judge import ScoreGrid
from likewise.importers import self_check
from likewise.search import counterparts, neighbours, pace, replay_queue
from likewise.search.budget import Budget
from likewise.search.judgement import BIASED, FAIR, UNDECIDED, Judgement
from likewise.search.replay_queue import ReplayQueue

LONG = 1e6  # no budget that a test could use up


def three_classes(make):
    def model(X, _y):
        random = np.random.default_rng(0)
        return make().fit(X, np.digitize(X.sum(axis=1) + random.normal(size=len(X)), [6, 8]))

    return SimpleNamespace(fit=model)


FAMILIES = {
    **{name: MODELS[name] for name in ("linear", "rbf", "polynomial")},
    "forest": lambda: RandomForestClassifier(8, max_depth=5, random_state=0),
    "kernels of three classes": lambda: three_classes(lambda: SVC(gamma=0.2)),
    "linear of three classes": lambda: three_classes(LogisticRegression),
}


@pytest.fixture
def one_row_at_a_time(monkeypatch):
    monkeypatch.setattr(pace, "MOST_GROWTH", 1)
    monkeypatch.setattr(neighbours, "FIRST_PIECE_SECONDS", 0.0)
    monkeypatch.setattr(counterparts, "FIRST_ROWS", 1)
    monkeypatch.setattr(replay_queue, "FIRST_PAIRS", 1)


def in_order(found):
    return found.rows.sort_values("row").reset_index(drop=True)


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("similar", ["free", "pairs and within"])
@pytest.mark.parametrize("name", FAMILIES)
def test_pieces_of_any_size_give_the_same(request, name, similar):
    model, X = fitted(FAMILIES[name]), everybody()
    whole = lw.audit(model, SPACE, SIMILAR[similar], X=X, budget=LONG)
    request.getfixturevalue("one_row_at_a_time")
    pieces = lw.audit(model, SPACE, SIMILAR[similar], X=X, budget=LONG)
    assert in_order(pieces)["biased"].tolist() == in_order(whole)["biased"].tolist()
    error = whole.stats["gap_error"] + pieces.stats["gap_error"]
    assert (np.abs(in_order(pieces)["gap"] - in_order(whole)["gap"]) <= error).all()


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.usefixtures("one_row_at_a_time")
@pytest.mark.parametrize("name", FAMILIES)
def test_a_budget_that_ends_leaves_a_part_of_the_whole(monkeypatch, name):
    model, X, similar = fitted(FAMILIES[name]), everybody()[::2], SIMILAR["free and within"]
    whole = in_order(lw.audit(model, SPACE, similar, X=X, budget=LONG))
    decided = []
    for step in (1e-4, 3e-3, 1e-2):
        monkeypatch.setattr(clock, "now", Clock(step).now)
        cut = lw.audit(model, SPACE, similar, X=X, budget=4)
        rows = in_order(cut)
        known = rows["biased"].notna()
        assert rows["biased"][known].tolist() == whole["biased"][known].tolist()
        assert np.allclose(rows["gap"][known].astype(float), whole["gap"][known].astype(float), atol=1e-9)
        assert cut.undecided == (~known).sum()
        assert cut.reasons == ({} if known.all() else {"the budget of 4 s is used up": cut.undecided})
        assert cut.share <= whole["biased"].mean() <= cut.share_at_most
        decided.append(int(known.sum()))
        monkeypatch.setattr(clock, "now", Clock(step).now)
        share = lw.share(model, SPACE, similar, over=X, budget=4)
        assert (share.lower, share.upper) == (cut.share, cut.share_at_most)
    assert decided == sorted(decided, reverse=True)
    assert decided[0] == len(X)
    assert any(0 < count < len(X) for count in decided)


@pytest.mark.parametrize("name", FAMILIES)
def test_without_a_budget_nothing_is_judged_and_nobody_is_enclosed(monkeypatch, name):
    model, X = fitted(FAMILIES[name]), everybody()
    asked = []
    # Reading the model, which has a clock of its own, encloses a few rows to tell the program's rounding.
    monkeypatch.setattr(self_check, "observe_rounding", lambda *_: ObservedError())
    monkeypatch.setattr(KernelScore, "enclose", lambda *_: asked.append(1))
    found = lw.audit(model, SPACE, SIMILAR["free"], X=X, budget=0)
    assert (found.biased, found.undecided) == (0, len(X))
    assert found.reasons == {"the budget of 0 s is used up": len(X)}
    assert not asked
    assert (found.share, found.share_at_most) == (0, 1)
    assert in_order(found)["decision"].tolist() == model.predict(X).tolist()  # these are at hand


def test_what_depends_on_nothing_that_may_differ_needs_no_budget():
    X = everybody()
    model = LogisticRegression().fit(X, X["a"] > 2)
    model.coef_[0, 2] = 0.0
    found = lw.audit(model, SPACE, lw.Similarity(free=["c"]), X=X, budget=0)
    assert (found.biased, found.undecided) == (0, 0)


@pytest.fixture
def hand(monkeypatch):
    hand = SimpleNamespace(now=100.0)
    monkeypatch.setattr(clock, "now", lambda: hand.now)
    return hand


def test_enclosures_end_with_the_budget(monkeypatch, hand):
    """Float64 tells nothing, and an enclosure takes a second: some ten rows of a budget of 30."""
    model, X, similar = fitted(MODELS["rbf"]), everybody(), SIMILAR["free"]
    biased = Truth(model, SPACE, similar).biased(lw.SameDecision())
    crossed, enclosed, count = KernelJudge.cross, KernelJudge.enclose, []

    def vague(self, *asked):
        scored = crossed(self, *asked)
        return ScoreGrid.of(scored.values, np.full(len(scored.values), np.inf))

    def slowly(self, *asked):
        hand.now += 1
        count.append(1)
        return enclosed(self, *asked)

    monkeypatch.setattr(KernelJudge, "cross", vague)
    monkeypatch.setattr(KernelJudge, "enclose", slowly)
    found = lw.audit(model, SPACE, similar, X=X, budget=30)
    rows = in_order(found)
    known = rows["biased"].notna()
    assert 6 <= known.sum() <= 20
    assert rows["biased"][known].tolist() == biased[known].tolist()
    assert len(count) <= 30 + 0.2 * 30 + 1
    assert hand.now - 100 <= 30 + 0.2 * 30 + 1


@pytest.mark.parametrize(("own", "each"), [(0.0, 0.1), (0.4, 0.001), (3.0, 0.0)])
def test_the_original_is_asked_in_time(hand, own, each):
    """Rows are judged in no time, and all of them are biased: those that nobody had time to ask about are not said to be."""
    count, asked = 400, []
    rows, found, budget = np.zeros((count, 1)), Judgement.open(count, 1), Budget(10)
    rows[:, 0] = np.arange(count)
    found.counterpart[:, 0] = -rows[:, 0]

    def confirm(first, second):
        hand.now += own + each * len(first)
        assert (first == -second).all()
        asked.extend(first[:, 0].tolist())
        return first[:, 0] % 3 > 0

    waiting = ReplayQueue(confirm, rows, found, budget)
    for some in np.split(np.arange(count), 100):
        hand.now += 0.01
        if not budget.over:
            found.verdict[some] = BIASED
            waiting.add(some)
    waiting.finish()
    assert asked == list(range(len(asked)))
    assert budget.elapsed <= budget.grace_end
    assert (found.verdict[: len(asked)] == np.where(rows[: len(asked), 0] % 3 > 0, BIASED, UNDECIDED)).all()
    assert (found.verdict[len(asked) :] == UNDECIDED).all()
    assert len(asked) > 60
    assert FAIR not in found.verdict


def test_rows_that_are_the_same_are_judged_once(monkeypatch):
    model, X, similar = fitted(MODELS["rbf"]), everybody(), SIMILAR["free and within"]
    once = in_order(lw.audit(model, SPACE, similar, X=X))
    asked, confirmed, order = (
        [],
        RowClaim.confirmed,
        np.random.default_rng(0).permutation(5 * len(X)) % len(X),
    )

    def counted(self, inquiry, own, other):
        asked.append(len(own))
        return confirmed(self, inquiry, own, other)

    monkeypatch.setattr(RowClaim, "confirmed", counted)
    often = in_order(lw.audit(model, SPACE, similar, X=X.iloc[order]))
    assert often["biased"].tolist() == once["biased"].to_numpy()[order].tolist()
    assert np.allclose(often["gap"], once["gap"].to_numpy()[order], atol=1e-12)
    assert often["decision"].tolist() == once["decision"].to_numpy()[order].tolist()
    assert sum(asked) == once["biased"].sum()  # the original is asked about each of them once
