"""The same claim said in two ways: a constraint for a range, all pairs for free, levels for whole numbers, columns in another order. Verdicts and
brackets are the same, and neither way costs much more than the other."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.tiers import some

import likewise as lw
from likewise.repaired.estimators import SettledClassifier

TOLERANCE = 0.005
# Cells of one way for each of the other, and those that a proof begins with: two for each end of a range at x and at x', for each case.
TIMES, MORE = 2, 16

A, B, C = lw.Continuous(0, 10), lw.Integer(0, 3), lw.Categorical([0, 1, 2])
LEVELS = lw.Ordinal([0, 1, 2, 3])


def space(*texts, a=A, b=B, c=C):
    made = lw.Space({"a": a, "b": b, "c": c})
    for text in texts:
        made = made.where(text)
    return made


NEAR, FREE_A, FREE_B, FREE_C = (
    lw.Similarity(within={"a": 1}),
    lw.Similarity(free=["a"]),
    lw.Similarity(free=["b"]),
    lw.Similarity(free=["c"]),
)
ALL_PAIRS = lw.Similarity(pairs={"c": [(0, 1), (0, 2), (1, 2)]})
EQUAL = {
    "a bound": [
        (space(a=lw.Continuous(0, 7.5)), NEAR),
        (space("a <= 7.5"), NEAR),
        (space("2*a <= 15"), NEAR),
    ],
    "both ends": [
        (space(a=lw.Continuous(2.3, 7.7)), FREE_A),
        (space("2.3 <= a <= 77/10", a=lw.Continuous(0, 1000)), FREE_A),
    ],
    "a bound of what is shared": [(space(a=lw.Continuous(0, 5)), FREE_C), (space("5 >= a"), FREE_C)],
    "whole numbers": [(space(b=lw.Integer(1, 2)), FREE_C), (space("1/2 <= b <= 2.5"), FREE_C)],
    "one value": [
        (space(b=lw.Integer(2, 2)), NEAR),
        (space("b == 2"), NEAR),
        (space("b <= 2", "b >= 2"), NEAR),
    ],
    "true of everybody": [(space(), FREE_C), (space("a + b <= 100"), FREE_C), (space("a <= 10"), FREE_C)],
    "an equality": [(space("b + c == 2"), NEAR), (space("b + c <= 2", "b + c >= 2"), NEAR)],
    "a scaled half-plane": [(space("a + 2*b <= 8"), NEAR), (space("a/2 + b <= 4", "3*a + 6*b <= 24"), NEAR)],
    "all pairs": [(space(), FREE_C), (space(), ALL_PAIRS)],
    "all of a range": [(space(), FREE_A), (space(), lw.Similarity(within={"a": 10}))],
    "all whole numbers": [(space(), FREE_B), (space(), lw.Similarity(within={"b": 3}))],
    "levels that are numbers": [
        (space(), lw.Similarity(within={"b": 1})),
        (space(b=LEVELS), lw.Similarity(within={"b": 1})),
    ],
    "free levels that are numbers": [(space(), FREE_B), (space(b=LEVELS), FREE_B)],
    "an implication": [
        (space(b=LEVELS, c=lw.Categorical([0, 1])), FREE_C),
        (space("if b in {0, 1, 2, 3} then c != 2", b=LEVELS), FREE_C),
    ],
    "an implication about a level between others": [
        (space(b=LEVELS, c=lw.Categorical([0, 2])), FREE_C),
        (space("if b in {0, 1, 2, 3} then c != 1", b=LEVELS), FREE_C),
    ],
}
FAMILIES = {
    "affine": (LogisticRegression, 2),
    "rbf": (lambda: SVC(gamma=0.1), 2),
    "polynomial": (lambda: SVC(kernel="poly", degree=2, gamma=0.1, coef0=1, C=0.5), 2),
    "trees": (lambda: GradientBoostingClassifier(n_estimators=6, max_depth=3, random_state=0), 2),
    "affine, three classes": (LogisticRegression, 3),
    "trees, three classes": (
        lambda: GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0),
        3,
    ),
    "a forest": (lambda: RandomForestClassifier(n_estimators=4, max_depth=3, random_state=0), 2),
}


def rows_and_labels(classes, seed):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "a": random.uniform(0, 10, 24).round(1),
            "b": random.integers(0, 4, 24),
            "c": random.integers(0, 3, 24),
        }
    )
    score = 0.3 * rows.a - 0.5 * rows.b + 0.6 * rows.c * (rows.b > 1) + random.normal(0, 0.7, 24)
    return rows, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def fitted(family, seed):
    make, classes = FAMILIES[family]
    return make().fit(*rows_and_labels(classes, seed))


def compared(ways):
    """Ask the same of (model, space, similarity) in each way: how large the gap is, whether it may be a little more or a little less, and
    about decisions. Returns the verdicts."""
    found = [lw.measure(*way, of="score", tolerance=TOLERANCE, budget=30) for way in ways]
    for other in found[1:]:
        assert other.upper - other.lower <= TOLERANCE + 1e-9
        assert other.lower <= found[0].upper + 1e-9
        assert found[0].lower <= other.upper + 1e-9
    gap, verdicts = float(found[0].lower), set()
    claims = lw.ScoreGap(gap + 2 * TOLERANCE), lw.ScoreGap(max(gap - 2 * TOLERANCE, 0)), lw.SameDecision()
    for claim in claims:
        results = [lw.verify(*way, claim, budget=30) for way in ways]
        assert len({result.verdict for result in results}) == 1, [result.reason for result in results]
        verdicts.add(results[0].verdict)
        costs, cases = [result.stats["cells"] for result in results], results[-1].stats.get("cases", 1)
        assert max(costs) <= TIMES * min(costs) + MORE * cases, costs
    return verdicts


# Every family in every way of one model, and of five other models each with every family and with every way.
CASES = [
    (family, way, seed)
    for i, family in enumerate(FAMILIES)
    for j, way in enumerate(EQUAL)
    for seed in (0, 1 + (i + j) % 5)
]


@pytest.mark.some_days
@pytest.mark.draw(6)
@pytest.mark.parametrize(("family", "way", "seed"), CASES)
def test_two_ways_to_say_a_claim_have_one_answer(family, way, seed):
    model = fitted(family, seed)
    assert "UNKNOWN" not in compared([(model, *claim) for claim in EQUAL[way]])


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("family", ["affine", "rbf", "polynomial", "affine, three classes"])
@pytest.mark.parametrize("text", ["a <= 20", "a <= 7.5"])
def test_columns_in_another_order_have_one_answer(family, text):
    make, classes = FAMILIES[family]
    rows, labels = rows_and_labels(classes, 0)
    turned = lw.Space({"c": C, "a": A, "b": B}).where(text)
    straight = make().fit(rows, labels), space(text), NEAR
    compared([straight, (make().fit(rows[["c", "a", "b"]], labels), turned, NEAR)])


def test_trees_over_columns_in_another_order_have_one_answer():
    random = np.random.default_rng(0)
    rows = pd.DataFrame(random.uniform(0, [10, 3, 2], (300, 3)), columns=["a", "b", "c"])
    labels = (rows.a - 2 * rows.b * rows.c + random.normal(0, 2, 300) > 2).to_numpy()
    turned = rows[["c", "a", "b"]]
    models = [DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, labels) for X in (rows, turned)]
    assert np.array_equal(models[0].predict_proba(rows), models[1].predict_proba(turned))
    b, c = lw.Continuous(0, 3), lw.Continuous(0, 2)
    other = lw.Space({"c": c, "a": A, "b": b})
    for similar, text in some(list(product((NEAR, FREE_C), ("a <= 20", "a + b <= 5"))), 1, "trees"):
        straight = models[0], space(text, b=b, c=c), similar
        compared([straight, (models[1], other.where(text), similar)])


def test_one_hot_columns_and_one_number_for_two_levels_have_one_answer():
    rows, labels = rows_and_labels(2, 0)
    rows = rows.assign(c=rows.c % 2)
    plain = LogisticRegression().fit(rows, labels)
    columns = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    encoded = make_pipeline(columns, LogisticRegression()).fit(rows, labels)
    a, b, c = plain.coef_[0]
    encoded[-1].coef_, encoded[-1].intercept_ = np.array([[0.0, c, a, b]]), plain.intercept_
    for similar, texts in some(list(product((FREE_C, NEAR), ((), ("a <= 7.5",)))), 2, "one-hot"):
        over = space(*texts, c=lw.Categorical([0, 1]))
        compared([(plain, over, similar), (encoded, over, similar)])


def test_combined_scores_are_looked_through_where_constraints_leave_few_pairs():
    rows, labels = rows_and_labels(2, 0)
    inside = FrozenEstimator(SVC(gamma=0.1).fit(rows.assign(a=rows.a.round()), labels))
    model = SettledClassifier(inside, features=["c"], settings=[[0], [1], [2]], how="max").fit(rows, labels)
    similar = lw.Similarity(within={"a": 1})
    spaces = space(a=lw.Integer(0, 9)), space("a <= 9.5", a=lw.Integer(0, 2000))
    for gap, verdict in ((0.1, "BIASED"), (3.0, "FAIR")):
        for over in spaces:
            assert lw.verify(model, over, similar, lw.ScoreGap(gap), budget=30).verdict == verdict


@pytest.mark.parametrize("family", ["affine", "rbf", "trees"])
def test_pairs_are_found_in_the_small_part_that_a_constraint_leaves(family):
    model = fitted(family, 0)
    wide, narrow = lw.Continuous(-1e6, 1e6), lw.Continuous(2.3, 7.7)
    results = [
        lw.verify(model, over, FREE_A, lw.ScoreGap(0.2))
        for over in (space(a=narrow), space("2.3 <= a <= 7.7", a=wide))
    ]
    assert [result.verdict for result in results] == ["BIASED", "BIASED"]
    assert results[0].stats["engine"] == results[1].stats["engine"] == "falsification"
