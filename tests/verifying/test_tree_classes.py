"""Forests and boosters of several scores: verdicts and brackets against looking at every pair of a small space."""

from __future__ import annotations

import gzip
import io
import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier
from tests.certificate.mutants import packed, sealed

from likewise import (
    Categorical,
    Continuous,
    Integer,
    ProbabilityGap,
    SameDecision,
    ScoreGap,
    Similarity,
    Space,
    measure,
    verify,
)
from likewise.spec.numbers import format_number
from likewise_check import check

SPACE = Space({"a": Integer(0, 5), "b": Integer(-2, 2), "s": Categorical([0, 1, 2])})
GRID = pd.DataFrame(list(product(range(6), range(-2, 3), range(3))), columns=["a", "b", "s"])
CODES = GRID.to_numpy()
SIMILARITIES = {"free": Similarity(free=["s"]), "within": Similarity(free=["s"], within={"a": 1})}
APART = np.abs(CODES[:, None] - CODES[None])
PAIRS = {
    name: np.array(np.nonzero((APART[..., 0] <= reach) & (APART[..., 1] == 0)))
    for name, reach in (("free", 0), ("within", 1))
}
ROUNDING = 1e-9


def forest(classes, seed, touched=True):
    random, n = np.random.default_rng(seed), 150
    rows = GRID.sample(n, random_state=seed, replace=True)
    weights = random.normal(size=(classes, 3)) * [0.8, 0.8, 0.8 * touched]
    labels = (rows.to_numpy() @ weights.T + random.gumbel(size=(n, classes)) * 0.5).argmax(axis=1)
    labels[:classes] = range(classes)
    return RandomForestClassifier(5, max_depth=3, random_state=seed).fit(
        rows, np.array(list("pqrtuv"))[labels]
    )


def grown(family, seed, classes=3):
    rows = GRID.sample(150, random_state=seed, replace=True)
    like = forest(classes, seed)
    labels = like.predict(rows)
    if family == "tree":
        return DecisionTreeClassifier(max_depth=4, random_state=seed).fit(rows, labels)
    return GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=seed).fit(rows, labels)


def largest(model, of, similar):
    """The largest value of a pair, by the library's own numbers."""
    first, second = PAIRS[similar]
    scores = model.predict_proba(GRID) if of != "score" or not hasattr(model, "staged_predict") else None
    if scores is None:
        scores = model.decision_function(GRID)
    if of != "margin":
        return float((scores[first] - scores[second]).max())
    ahead = np.stack(
        [scores[:, i] - np.delete(scores, i, axis=1).max(axis=1) for i in range(scores.shape[1])], axis=1
    )
    values = np.minimum(ahead[first][:, :, None], ahead[second][:, None, :])
    values[:, range(scores.shape[1]), range(scores.shape[1])] = -np.inf
    return float(values.max())


def accepted(certificate):
    return check(io.BytesIO(certificate.content)).accepted


@pytest.mark.some_days
@pytest.mark.parametrize("similar", SIMILARITIES)
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_forests_are_measured_as_by_everybody(classes, similar):
    model = forest(classes, classes)
    for of in ("score", "probability", "margin"):
        found = measure(model, SPACE, SIMILARITIES[similar], of=of, tolerance=0, certify=True)
        assert found.lower == pytest.approx(largest(model, of, similar), abs=ROUNDING)
        assert found.lower <= found.upper <= found.lower + 1e-15
        assert found.proved
        if found.lower >= 0:
            assert accepted(found.certificate)


@pytest.mark.some_days
@pytest.mark.parametrize("similar", SIMILARITIES)
def test_verdicts_are_those_of_everybody(similar):
    seen = set()
    for seed in range(2):
        for model in (forest(2, seed), forest(3, seed), grown("tree", seed), grown("boosted", seed)):
            decided, (first, second) = model.predict(GRID), PAIRS[similar]
            differs = (decided[first] != decided[second]).any()
            result = verify(model, SPACE, SIMILARITIES[similar])
            assert result.verdict == ("BIASED" if differs else "FAIR")
            seen.add(result.verdict)
            score = largest(model, "score", similar)
            fair = verify(model, SPACE, SIMILARITIES[similar], ScoreGap(score + 1e-6))
            assert (fair.verdict, fair.covers_floating_point) == ("FAIR", True)
            assert accepted(fair.certificate)
            if score > 1e-3:
                assert verify(model, SPACE, SIMILARITIES[similar], ScoreGap(score - 1e-6)).verdict == "BIASED"
    assert "BIASED" in seen


def test_one_class_may_be_asked_about():
    model = forest(3, 1)
    scores, (first, second) = model.predict_proba(GRID), PAIRS["free"]
    for place, label in enumerate("pqr"):
        decided = model.predict(GRID) == label
        result = verify(model, SPACE, SIMILARITIES["free"], SameDecision(class_of_interest=label))
        assert result.verdict == ("BIASED" if (decided[first] != decided[second]).any() else "FAIR")
        found = measure(model, SPACE, SIMILARITIES["free"], of="probability", class_of_interest=label)
        assert found.lower == pytest.approx((scores[first] - scores[second])[:, place].max(), abs=ROUNDING)


def test_margins_prove_decisions_with_room_for_rounding():
    for classes in (2, 3):
        model = forest(classes, 7)
        margin = measure(model, SPACE, SIMILARITIES["free"], of="margin", tolerance=0).upper
        result = verify(model, SPACE, SIMILARITIES["free"], SameDecision(max(margin, 0) + 1e-3))
        assert (result.verdict, result.covers_floating_point) == ("FAIR", True)
        report = check(io.BytesIO(result.certificate.content))
        assert report.accepted
        assert 0 < report.clearance <= 1e-3


@pytest.mark.some_days
@pytest.mark.parametrize("similar", SIMILARITIES)
def test_probabilities_by_softmax_are_those_of_everybody(similar):
    for seed, classes in ((0, 3), (1, 3), (2, 4)):
        model = grown("boosted", seed, classes)
        most = largest(model, "probability", similar)
        found = measure(
            model, SPACE, SIMILARITIES[similar], of="probability", tolerance=1e-4, certify=seed == 0
        )
        assert found.lower <= most + ROUNDING
        assert most - 1e-4 <= found.upper <= most + 2e-4
        assert seed or accepted(found.certificate)
        fair = verify(model, SPACE, SIMILARITIES[similar], ProbabilityGap(most + 1e-4))
        assert (fair.verdict, fair.covers_floating_point) == ("FAIR", False)
        less = ProbabilityGap(max(most - 1e-4, 0))
        assert verify(model, SPACE, SIMILARITIES[similar], less).verdict == (
            "BIASED" if most > 1e-4 else "FAIR"
        )


@pytest.mark.parametrize("family", ["forest", "boosted"])
def test_a_proof_does_not_prove_less_room_or_without_a_leaf(family):
    model = forest(3, 2) if family == "forest" else grown("boosted", 0)
    gap = largest(model, "probability", "free")
    result = verify(model, SPACE, SIMILARITIES["free"], ProbabilityGap(gap + 1e-6))
    lines = [json.loads(line) for line in gzip.decompress(result.certificate.content).splitlines()]
    assert check(io.BytesIO(packed(sealed(lines)))).accepted
    rule = "trees" if family == "forest" else "softmax"
    leaves = [i for i, line in enumerate(lines) if isinstance(line, list) and line[0] == rule]
    assert leaves
    assert not check(io.BytesIO(packed(sealed([*lines[: leaves[-1]], *lines[leaves[-1] + 1 :]])))).accepted
    lines[3]["property"]["delta"] = format_number(gap - 1e-6)
    assert not check(io.BytesIO(packed(sealed(lines)))).accepted


def test_continuous_features_and_parts_of_a_space():
    random = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"x": random.uniform(0, 1, 300), "y": random.uniform(0, 1, 300), "s": random.integers(0, 2, 300)}
    )
    labels = np.digitize(rows.x + 0.3 * rows.s * (rows.y > 0.5), [0.4, 0.8])
    model = RandomForestClassifier(6, max_depth=4, random_state=0).fit(rows, labels)
    features = {"x": Continuous(0, 1), "s": Categorical([0, 1])}
    similar = Similarity(free=["s"])
    whole = Space({"x": features["x"], "y": Continuous(0, 1), "s": features["s"]})
    assert verify(model, whole, similar).verdict == "BIASED"
    verdicts = []
    for low in (0.05, 0.95):
        part = Space({"x": Continuous(low, low + 0.04), "y": Continuous(0, 0.45), "s": features["s"]})
        verdicts.append(verify(model, part, similar).verdict)
    assert "FAIR" in verdicts


def test_missing_numbers_of_several_classes():
    random = np.random.default_rng(3)
    rows = pd.DataFrame({"a": random.integers(0, 6, 200).astype(float), "s": random.integers(0, 2, 200)})
    labels = (rows.a + 2 * rows.s * (rows.a > 3)).to_numpy() // 3
    rows.loc[random.uniform(size=200) < 0.2, "a"] = np.nan
    model = HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=4, min_samples_leaf=5).fit(rows, labels)
    space = Space({"a": Integer(0, 5, missing=True), "s": Categorical([0, 1])})
    grid = pd.DataFrame(list(product([*range(6), np.nan], range(2))), columns=["a", "s"])
    scores = model.decision_function(grid).reshape(7, 2, -1)
    found = measure(model, space, Similarity(free=["s"]), of="score", tolerance=0, certify=True)
    assert found.lower == pytest.approx(np.abs(scores[:, 0] - scores[:, 1]).max(), abs=ROUNDING)
    assert found.upper <= found.lower + 1e-15
    assert accepted(found.certificate)
    similar = Similarity(free=["s"], within={"a": 1})  # what is missing is beside itself only
    near = [abs(scores[i, s] - scores[j, t]).max() for i, j in product(range(7), range(7)) for s, t in product(range(2), range(2))
            if (i == j or max(i, j) < 6) and abs(i - j) <= 1]  # fmt: skip
    found = measure(model, space, similar, of="score", tolerance=0, certify=True)
    assert found.lower == pytest.approx(max(near), abs=ROUNDING)
    assert accepted(found.certificate)


def test_similarity_is_recoded_for_several_classes_too():
    random = np.random.default_rng(4)
    rows = pd.DataFrame({"pay": random.uniform(1, 100, 90), "s": random.integers(0, 2, 90)})
    model = make_pipeline(
        make_column_transformer((FunctionTransformer(np.log), ["pay"]), remainder="passthrough"),
        LogisticRegression(),
    ).fit(rows, np.digitize(rows.pay, [10, 50]))
    space = Space({"pay": Continuous(1, 100), "s": Categorical([0, 1])})
    near = verify(model, space, Similarity(free=["s"], within={"pay": 1}), budget=10)
    assert near.verdict == "BIASED"
    assert "black_box" not in near.stats
    assert near.pair["pay"].diff().abs().max() <= 1
    result = verify(model, space, Similarity(free=["s"]))
    if result.verdict == "BIASED":
        assert result.pair["pay"].between(1, 100).all()


def test_softmax_proofs_have_cells_without_a_pair():
    """A missing number is beside itself only, so cells with the missing one on one side hold nobody."""
    random = np.random.default_rng(2)
    values = [*range(-1, 5), np.nan]
    grid = pd.DataFrame(list(product(values, range(-2, 3), range(3))), columns=["a", "b", "s"])
    rows = grid.iloc[random.integers(0, len(grid), 120)].reset_index(drop=True)
    labels = pd.qcut(rows.a.fillna(1) + 0.7 * rows.b + rows.s + random.normal(0, 0.6, 120), 3, labels=False)
    model = HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=5, min_samples_leaf=3).fit(rows, labels)
    space = Space({"a": Integer(-1, 4, missing=True), "b": Integer(-2, 2), "s": Integer(0, 2)})
    chances = model.predict_proba(grid).reshape(7, 15, 3)
    near = [(i, i) for i in range(7)] + [(i, i + 1) for i in range(5)]
    most = max(np.abs(chances[i] - chances[j]).max() for i, j in near)
    for share, verdict in ((0.99, "BIASED"), (1.01, "FAIR")):
        result = verify(model, space, Similarity(within={"a": 1}), ProbabilityGap(float(most) * share))
        assert (result.verdict, result.reason) == (verdict, None)
