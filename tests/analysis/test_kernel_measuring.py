"""measure on kernel models: brackets against exhaustion, better pairs below the tolerance, the history."""

import gzip
import itertools
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC
from tests.posing import posed

import likewise as lw
from likewise.analysis import disparity_search
from likewise.families.leans import BatchTrial
from likewise.families.oracle import Bounds
from likewise.search.falsification import climb_from
from likewise.search.frontier import Frontier

SHARED = ("a", "b", "c")


def smooth_case(seed, *, continuous=False):
    """Three shared numbers of seven values each (or continuous ones), a protected feature of three levels, an SVC."""
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({name: random.integers(0, 7, 40) for name in SHARED})
    rows["group"] = random.integers(0, 3, 40)
    score = rows.to_numpy() @ random.normal(size=4) + random.normal(size=40)
    model = SVC(C=3.0, gamma=0.1).fit(rows, (score > np.median(score)).astype(int))
    number = lw.Continuous if continuous else lw.Integer
    features = {name: number(0, 6) for name in SHARED}
    return model, lw.Space({**features, "group": lw.Categorical([0, 1, 2])}), lw.Similarity(free=["group"])


def largest(model, of):
    """By exhaustion of the whole numbers."""
    values = [*[range(7)] * len(SHARED), range(3)]
    frame = pd.DataFrame(list(itertools.product(*values)), columns=[*SHARED, "group"])
    scores = model.decision_function(frame).reshape(-1, 3)
    highest, lowest = scores.max(axis=1), scores.min(axis=1)
    return float((np.minimum(highest, -lowest) if of == "margin" else highest - lowest).max())


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("of", ["margin", "score"])
def test_the_bracket_holds_what_exhaustion_finds_and_is_certified(of, seed):
    model, space, similar = smooth_case(seed)
    found = lw.measure(model, space, similar, of=of, tolerance=0.02, budget=60, certify=True)
    assert found.lower - 1e-9 <= largest(model, of) <= found.upper + 1e-9
    assert found.upper - found.lower <= 0.02 + 1e-12
    assert found.certificate is not None


def test_leans_that_are_not_even_are_written_and_accepted():
    model, space, similar = smooth_case(1, continuous=True)
    found = lw.measure(model, space, similar, of="margin", tolerance=0.05, budget=60, certify=True)
    assert found.certificate is not None
    lines = [json.loads(line) for line in gzip.decompress(found.certificate.content).splitlines()]
    leans = {line[1] for line in lines if isinstance(line, list) and line[0] == "kernel"}
    assert len(leans) > 3
    assert max(map(len, leans)) <= len("0x3ffp-10")


def test_a_better_pair_counts_although_it_gains_less_than_the_tolerance():
    model, space, similar = smooth_case(2)
    found = lw.measure(model, space, similar, tolerance=1.0, budget=60)
    assert found.lower == pytest.approx(largest(model, "score"), rel=0.05)


def test_a_pair_is_judged_by_the_question_that_is_wanted():
    model, space, similar = smooth_case(3)
    prepared = posed(model, space, similar, budget=20)
    problem, gauge = prepared.task, prepared.gauge
    start = np.array([[3.0, 3.0, 3.0, 0.0]])
    problem.question = gauge.question(Fraction(100))
    assert climb_from(problem, start) is None
    problem.wanted = gauge.question(Fraction(-100))
    witness = climb_from(problem, start)
    assert witness is not None
    assert gauge.value_of(witness) <= largest(model, "margin") + 1e-9
    assert problem.referee(witness.x, witness.other) is not None
    problem.wanted = None
    assert problem.referee(witness.x, witness.other) is None


# -- history ------------------------------------------------------------------------------------------


def test_the_history_goes_on_while_only_the_upper_end_moves(monkeypatch):
    monkeypatch.setattr(disparity_search, "HISTORY_GROWTH", 1.0)
    monkeypatch.setattr(disparity_search, "HISTORY_SECONDS", 0.0)
    model, space, similar = smooth_case(1, continuous=True)
    found = lw.measure(model, space, similar, tolerance=0.005, budget=60)
    assert found.history[-1][1:] == (found.lower, found.upper)
    seconds, lower, upper = (list(column) for column in zip(*found.history, strict=True))
    assert seconds == sorted(seconds)
    assert lower == sorted(lower)
    assert upper == sorted(upper, reverse=True)
    moves = zip(found.history, found.history[1:], strict=False)
    assert sum(a[1] == b[1] and a[2] > b[2] for a, b in moves) >= 3
    assert found.to_dict()["history"] == [list(point) for point in found.history]


def test_every_entry_of_the_history_holds_the_truth(monkeypatch):
    monkeypatch.setattr(disparity_search, "HISTORY_GROWTH", 1.0)
    monkeypatch.setattr(disparity_search, "HISTORY_SECONDS", 0.0)
    model, space, similar = smooth_case(4)
    for of in ("score", "margin"):
        found = lw.measure(model, space, similar, of=of, tolerance=0.01, budget=60)
        truth = largest(model, of)
        assert all(lower - 1e-9 <= truth <= upper + 1e-9 for _, lower, upper in found.history)


# -- the trials of a batch ----------------------------------------------------------------------------


def trial(cell, excess, closes):
    rows = len(cell)
    return BatchTrial(
        cell=np.array(cell),
        lean=np.arange(rows) / 8,
        excess=np.array(excess),
        bounds=Bounds(
            upper=np.array(excess),
            first=np.zeros(rows),
            second=np.zeros(rows),
            points=np.arange(rows, dtype=float)[:, None],
            noise=np.zeros(rows),
            closes=np.array(closes),
            hints=[(row,) for row in range(rows)],
        ),
        view=np.zeros(rows, dtype=np.intp),
    )


def test_the_best_of_several_trials_closes_or_comes_closest():
    first = trial([0, 1, 2], [3.0, 2.0, 1.0], [False, False, True])
    second = trial([1, 0], [1.5, 4.0], [False, True])
    best = BatchTrial.joined([first, second]).best()
    assert best.cell.tolist() == [0, 1, 2]
    assert best.excess.tolist() == [4.0, 1.5, 1.0]  # a lean that closes wins over a smaller excess
    assert best.bounds.hints == [(1,), (0,), (2,)]
    assert best.bounds.points.ravel().tolist() == [1.0, 0.0, 2.0]
    assert best.bounds.loss is None


def test_only_open_cells_are_tried_again():
    model, space, similar = smooth_case(5)
    problem = posed(model, space, similar, lw.SameDecision(0.01), budget=20).task
    search, asked = Frontier(task=problem), []
    bound = problem.bounder.bound
    problem.bounder.bound = lambda lo, *rest: asked.append(len(lo)) or bound(lo, *rest)
    lo, hi = (np.stack([np.array(end)] * 2) for end in ([0, 0, 0, 0, 1], [6, 6, 6, 0, 1]))
    hi[1] = lo[1] = [0, 0, 0, 0, 0]  # an individual and itself: closed at once
    tried = search.oracle._separate(
        0, lo, hi, search, [None, None], np.array([0.5, 0.5]), np.array([0.05, 0.05])
    )
    assert asked == [2, 1]
    assert tried.cell.tolist() == [0, 1, 0]
    assert abs(tried.lean[2] - 0.5) == pytest.approx(0.05, abs=0.001)
