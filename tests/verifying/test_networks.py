"""Claims about neural networks end to end: proofs by cells that the checker accepts, brackets of disparities beside brute force, decisions, probabilities and classes."""

import gzip
import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor
from tests.check.builder import joined

import likewise as lw
from likewise.families.network.bounder import NetworkBounder
from likewise_check import check

SPACE = lw.Space({"age": lw.Integer(0, 9), "income": lw.Continuous(-2.0, 2.0), "sex": lw.Categorical([0, 1])})
SIMILAR = lw.Similarity(free=["sex"])


def people(seed=0, rows=300):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 10, rows),
            "income": rng.uniform(-2, 2, rows),
            "sex": rng.integers(0, 2, rows),
        }
    )
    signal = frame["age"] / 5 - 1 + frame["income"] + 0.3 * frame["sex"] * (frame["income"] > 0)
    return frame, signal


def fitted(kind, hidden, target, seed=0, **options):
    frame, signal = people(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return kind(hidden_layer_sizes=hidden, max_iter=150, random_state=seed, **options).fit(
            frame, target(signal)
        ), frame


def classifier(hidden, seed=0, **options):
    return fitted(MLPClassifier, hidden, lambda s: (s > 0).astype(int), seed, **options)


def largest_gap(model, frame, steps=2001):
    """Of scores, on a fine grid of incomes."""
    ages, incomes = np.arange(10), np.linspace(-2, 2, steps)
    grid = pd.DataFrame(list(itertools.product(ages, incomes)), columns=["age", "income"])
    scores = []
    for sex in (0, 1):
        rows = grid.assign(sex=sex)[list(frame.columns)]
        odds = model.predict_proba(rows)[:, 1]
        scores.append(np.log(odds) - np.log1p(-odds))
    return float(np.abs(scores[0] - scores[1]).max())


@pytest.mark.parametrize("hidden", [(6,), (5, 4)])
def test_brackets_hold_the_largest_gap(hidden):
    model, frame = classifier(hidden)
    found = lw.measure(model, SPACE, SIMILAR, X=frame, budget=30, tolerance=0.02)
    true = largest_gap(model, frame)
    assert found.lower - 1e-9 <= found.upper
    assert found.upper >= true - 1e-9
    assert found.upper <= true + 0.03


@pytest.mark.parametrize("hidden", [(6,), (5, 4)])
def test_claims_with_room_are_proved(hidden):
    model, frame = classifier(hidden)
    true = largest_gap(model, frame)
    fair = lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(1.1 * true), X=frame, budget=30)
    assert fair.verdict == "FAIR"
    assert fair.stats["checked"]
    rules = fair.certificate.outline().rules
    assert rules.get("network")
    biased = lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(0.9 * true), X=frame, budget=30)
    assert biased.verdict == "BIASED"


def cut_by_neurons(monkeypatch):
    """Cuts of codes are taken to be worth next to nothing."""
    made = NetworkBounder.__init__

    def start(bounder, *args):
        made(bounder, *args)
        bounder.lasting = 1e-9

    monkeypatch.setattr(NetworkBounder, "__init__", start)
    monkeypatch.setattr(NetworkBounder, "_learn", lambda *_: None)


def test_the_sums_of_neurons_are_cut_and_lies_about_them_are_refused(monkeypatch, tmp_path):
    cut_by_neurons(monkeypatch)
    model, frame = classifier((5, 4))
    true = largest_gap(model, frame)
    fair = lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(1.02 * true), X=frame, budget=60)
    assert fair.verdict == "FAIR"
    lines = gzip.decompress(fair.certificate.content).splitlines()
    nodes = [json.loads(raw) for raw in lines]
    assert any(isinstance(node, list) and node[0] == "neuron" for node in nodes)
    leaves = [n for n, node in enumerate(nodes) if isinstance(node, list) and node[0] == "network"][:10]
    for n in leaves:
        bits, alpha = nodes[n][2], nodes[n][3]
        wrong = [*nodes[n][:3], [a + (64 << bits) for a in alpha], nodes[n][4]]
        changed = [*lines[:n], json.dumps(wrong, separators=(",", ":")).encode(), *lines[n + 1 :]]
        path = tmp_path / "changed"
        path.write_bytes(gzip.compress(joined(changed)))
        assert not check(path).accepted


def test_decisions_and_probabilities():
    frame, signal = people()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        alike = MLPClassifier((5,), max_iter=200, random_state=1).fit(
            frame.assign(sex=0), (signal > 0).astype(int)
        )
    alike.coefs_[0][2] *= 1e-6  # sex hardly matters
    wide = lw.verify(alike, SPACE, SIMILAR, lw.ProbabilityGap(0.01), X=frame, budget=30)
    assert wide.verdict == "FAIR"
    assert wide.certificate.outline().rules.get("network")
    never, _ = classifier((5,))
    never.intercepts_[-1] -= 50
    same = lw.verify(never, SPACE, SIMILAR, lw.SameDecision(), X=frame, budget=30)
    assert same.verdict == "FAIR"


def test_three_classes():
    model, frame = fitted(MLPClassifier, (4,), lambda s: np.digitize(s, [-0.5, 0.5]), 2)
    model.coefs_[0][2] *= 1e-3
    found = lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(0.2), X=frame, budget=30)
    assert found.verdict == "FAIR"
    assert found.stats["checked"]


def test_numbers_within_a_tolerance_and_constraints():
    model, frame = fitted(MLPRegressor, (5, 3), lambda s: s, 3)
    similar = lw.Similarity(within={"age": 1, "income": 0.25})
    space = SPACE.where("age + income <= 9")
    frame = frame[frame["age"] + frame["income"] <= 9]
    bracket = lw.measure(model, space, similar, X=frame, budget=20, tolerance=0.02, certify=True)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "age": rng.integers(0, 9, 4000),
            "income": rng.uniform(-2, 1.7, 4000),
            "sex": rng.integers(0, 2, 4000),
        }
    )
    rows = rows[rows["age"] + rows["income"] <= 7.7]
    near = rows.assign(age=rows["age"] + 1, income=rows["income"] + 0.25)
    gaps = np.abs(model.predict(rows) - model.predict(near))
    assert bracket.upper >= gaps.max() - 1e-9
    assert bracket.upper <= bracket.lower + 0.3 * (1 + bracket.lower)


def test_smooth_activations_are_proved():
    model, frame = classifier((4,), activation="tanh")
    found = lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(50.0), X=frame, budget=10)
    assert found.verdict == "FAIR"
    assert found.certificate.outline().rules == {"network": 1}


def test_a_gap_of_nothing_is_proved():
    """Whatever may differ reaches neurons only that are never active: the bound is 0, and so is the level."""
    model, frame = classifier((5,))
    model.coefs_[0][2], model.intercepts_[0][:2] = [0.5, 0.5, 0, 0, 0], -1000
    fair = lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(0), X=frame, budget=60)
    assert fair.verdict == "FAIR"
    assert fair.stats["checked"]
    assert fair.stats["cells"] == 1
