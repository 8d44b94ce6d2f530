"""Verdicts, brackets and margins of small networks beside what everybody beside everybody has, by arithmetic that shares nothing with the package (`true_network`).

Networks of every activation come as ONNX files, those that scikit-learn has also as its estimators; regressors, two classes and three, decisions, scores and probabilities, features that are free, within a tolerance or in
pairs, with constraints and without.
"""

import random
from fractions import Fraction

import flint
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.families.network.true_network import (
    BITS,
    PIECEWISE,
    SMOOTH,
    People,
    apart,
    decided,
    largest_margin,
    probabilities,
    random_network,
)
from tests.onnx_graphs import model

import likewise as lw
from likewise.importers.files import load_model
from likewise.spec.model_reading import LevelColumns, ModelReading

JOBS, SEXES, RANKS = ["x", "y", "z"], ["f", "m"], [1, 2, 3]
CONSTRAINTS = {
    "": lambda row: True,
    "age <= 2 * rank": lambda row: row["age"] <= 2 * row["rank"],
    "age + rank <= 5": lambda row: row["age"] + row["rank"] <= 5,
}
SKLEARN = {"Relu": "relu", "Tanh": "tanh", "Sigmoid": "logistic"}
QUESTIONS = ("score", "decision", "probability", "three decisions", "three scores", "three probabilities")
LABELS = ("low", "middle", "high")
BUDGET = 20
BELOW, ABOVE = Fraction(999, 1000), Fraction(1001, 1000)


def same(*names):
    return lambda one, two: all(one[name] == two[name] for name in names)


SIMILARITIES = (
    (lw.Similarity(free=["sex"]), same("age", "rank", "job")),
    (
        lw.Similarity(free=["sex"], within={"age": 1}),
        lambda one, two: same("rank", "job")(one, two) and abs(one["age"] - two["age"]) <= 1,
    ),
    (
        lw.Similarity(free=["age"], pairs={"job": [("x", "z")]}),
        lambda one, two: (
            same("sex", "rank")(one, two)
            and (one["job"] == two["job"] or {one["job"], two["job"]} == {"x", "z"})
        ),
    ),
    (
        lw.Similarity(within={"age": 2, "rank": 1}),
        lambda one, two: (
            same("sex", "job")(one, two)
            and abs(one["age"] - two["age"]) <= 2
            and abs(one["rank"] - two["rank"]) <= 1
        ),
    ),
    (lw.Similarity(free=["job", "sex"]), same("age", "rank")),
)


def columns(row):
    """What the network sees of an individual."""
    return [
        row["age"],
        row["rank"],
        *(float(row["job"] == job) for job in JOBS),
        *(float(row["sex"] == sex) for sex in SEXES),
    ]


def onnx_file(network, question, folder):
    """The same network as a file."""
    nodes, constants, last = [], {}, "x"
    for n, (weights, biases, kind, numbers) in enumerate(network.hidden):
        constants |= {f"W{n}": np.array(weights).T, f"b{n}": np.array(biases)}
        nodes.append(("Gemm", [last, f"W{n}", f"b{n}"], f"g{n}", {}))
        inputs, more, last = [f"g{n}"], {}, f"h{n}"
        if kind == "Clip":
            constants |= {f"lo{n}": np.float64(numbers[0]), f"hi{n}": np.float64(numbers[1])}
            inputs += [f"lo{n}", f"hi{n}"]
        elif numbers:
            more = dict(zip(("alpha", "beta"), numbers, strict=False))
        nodes.append((kind, inputs, last, more))
    end = None if question == "score" else "Sigmoid" if len(network.last) == 1 else "Softmax"
    constants |= {"V": np.array(network.last).T, "c": np.array(network.biases)}
    nodes.append(("Gemm", [last, "V", "c"], "s" if end else "y", {}))
    if end:
        nodes.append((end, ["s"], "y", {}))
    path = folder / "net.onnx"
    path.write_bytes(model(nodes, constants, dtype=np.float64, width=7).SerializeToString())
    reading = ModelReading(
        inputs={"x": ("age", "rank", LevelColumns("job", tuple(JOBS)), LevelColumns("sex", tuple(SEXES)))},
        labels=None if end is None else LABELS[: max(2, len(network.last))],
    )
    return load_model(path, reading=reading)


def estimator(network, question, frame):
    """The same network as scikit-learn has it."""
    kind = MLPRegressor if question == "score" else MLPClassifier
    widths = tuple(len(biases) for _, biases, _, _ in network.hidden)
    made = kind(hidden_layer_sizes=widths, activation=SKLEARN[network.hidden[0][2]], max_iter=1)
    coder = OneHotEncoder(categories=[JOBS, SEXES], sparse_output=False)
    pipeline = make_pipeline(
        make_column_transformer(("passthrough", ["age", "rank"]), (coder, ["job", "sex"])), made
    )
    target = np.arange(len(frame)) % (3 if len(network.last) == 3 else 2)
    with pytest.warns(ConvergenceWarning):
        pipeline.fit(frame, target.astype(float) if kind is MLPRegressor else target)
    layers = [(weights, biases) for weights, biases, _, _ in network.hidden]
    layers.append((network.last, network.biases))
    made.coefs_ = [np.array(weights).T for weights, _ in layers]
    made.intercepts_ = [np.array(biases) for _, biases in layers]
    return pipeline


class Drawn:
    """One random network with its people and what is asked."""

    def __init__(self, seed, folder):
        rng = random.Random(seed)
        self.question = QUESTIONS[seed % len(QUESTIONS)]
        kinds = PIECEWISE if rng.random() < 0.6 else (*PIECEWISE, *SMOOTH, *SMOOTH)
        oldest = rng.choice((2, 3, 12))
        text, allowed = rng.choice(list(CONSTRAINTS.items()))
        self.similar, alike = rng.choice(SIMILARITIES)
        features = {"age": list(range(oldest + 1)), "rank": RANKS, "job": JOBS, "sex": SEXES}
        people = People(features, allowed, alike)
        self.rows = people.listed()
        self.pairs = people.pairs(self.rows)
        self.space = lw.Space(
            {
                "age": lw.Integer(0, oldest),
                "rank": lw.Ordinal(RANKS),
                "job": lw.Categorical(JOBS),
                "sex": lw.Categorical(SEXES),
            }
        )
        self.space = self.space.where(text) if text else self.space
        known = rng.random() < 0.4
        if known:
            kinds = (rng.choice([kind for kind in kinds if kind in SKLEARN]),)
        self.network = random_network(rng, 7, 3 if self.question.startswith("three") else 1, kinds)
        frame = pd.DataFrame(self.rows)
        self.model = (
            estimator(self.network, self.question, frame)
            if known
            else onnx_file(self.network, self.question, folder)
        )
        self.asked = {"X": frame, "budget": BUDGET}
        self.scores = [self.network.scores(columns(row)) for row in self.rows]

    @property
    def open(self):
        """What may be UNKNOWN instead of FAIR: nothing is promised within the budget where activations are smooth, or of probabilities of several classes."""
        return self.network.smooth or self.question == "three probabilities"

    def verdict(self, claim):
        try:
            return lw.verify(self.model, self.space, self.similar, claim, **self.asked).verdict
        except lw.UnsupportedModel:
            return "refused"

    def told(self, found, truth):
        """Whether a verdict is right, or one that may be left open."""
        return found == truth or (self.open and found in ("UNKNOWN", "refused"))

    def measured(self, of):
        return lw.measure(self.model, self.space, self.similar, of=of, **self.asked)


def check_gap(drawn, of, claim, truth):
    """Verdicts just below and just above the largest gap, and the bracket."""
    low, high = truth
    if low > Fraction(1, 10**6):
        assert drawn.told(drawn.verdict(claim(float(BELOW * low))), "BIASED")
    above = drawn.verdict(claim(float(ABOVE * high) + 1e-9))
    assert drawn.told(above, "FAIR")
    try:
        found = drawn.measured(of)
    except lw.UnsupportedModel:
        assert drawn.open
        return above
    assert Fraction(found.lower) <= high + Fraction(1, 10**12)
    assert Fraction(found.upper) >= low
    if not drawn.open:
        assert found.proved
        assert found.upper - found.lower <= 2e-6
    return above


def check_decisions(drawn):
    classes = [decided(scores) for scores in drawn.scores]
    assert None not in classes
    flips = any(classes[i] != classes[j] for i, j in drawn.pairs)
    found = drawn.verdict(lw.SameDecision())
    assert found == "BIASED" if flips else drawn.told(found, "FAIR")
    margin = largest_margin(drawn.scores, drawn.pairs) if drawn.question == "decision" else None
    if margin is not None:
        check_gap(drawn, "margin", lw.SameDecision, margin)
    return found


def check(seed, folder):
    """What verify, measure and margins say of one random network."""
    with flint.ctx.workprec(BITS):
        drawn = Drawn(seed, folder)
        shown = None if "probab" not in drawn.question else [probabilities(s) for s in drawn.scores]
        truth = apart(drawn.scores if shown is None else shown, drawn.pairs)
    if "decision" in drawn.question:
        return check_decisions(drawn)
    if shown is not None:
        return check_gap(drawn, "probability", lw.ProbabilityGap, truth)
    return check_gap(drawn, "score", lw.ScoreGap, truth)


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", range(160))
def test_small_networks_are_told_right(seed, tmp_path):
    check(seed, tmp_path)
