"""Claims about pairs within a distance, beside every pair one by one in exact arithmetic, for every family; certificates are accepted."""

from __future__ import annotations

import functools
import io
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from tests.posing import posed
from tests.tiers import some

import likewise as lw
from likewise.spec.enclosure import decide
from likewise_check import check

SPACE = lw.Space(
    {
        "age": lw.Integer(0, 5),
        "rank": lw.Ordinal(["low", "middle", "high"]),
        "job": lw.Categorical(["a", "b", "c"]),
        "sex": lw.Categorical(["f", "m"]),
    }
)
ENCODED = ["rank", "job", "sex"]


@functools.cache
def people() -> pd.DataFrame:
    rows = list(product(range(6), ["low", "middle", "high"], ["a", "b", "c"], ["f", "m"]))
    return pd.DataFrame(rows, columns=["age", "rank", "job", "sex"])


@functools.cache
def labels(classes: int) -> np.ndarray:
    frame, random = people(), np.random.default_rng(3)
    score = (
        frame.age
        + 1.3 * frame["rank"].map({"low": 0, "middle": 1, "high": 3})
        + frame.job.map({"a": 0, "b": 1.5, "c": -1})
        + 0.7 * (frame.sex == "m")
    )
    cuts = np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1])
    return np.searchsorted(cuts, score + random.normal(scale=0.7, size=len(frame)))


def behind_columns(model):
    return make_pipeline(make_column_transformer((OneHotEncoder(), ENCODED), remainder="passthrough"), model)


MODELS = {
    "affine": (LogisticRegression(max_iter=2000), 2),
    "classes": (LogisticRegression(max_iter=2000), 3),
    "rbf": (SVC(kernel="rbf", C=3), 2),
    "polynomial": (SVC(kernel="poly", degree=2, C=3, coef0=1), 2),
    "trees": (GradientBoostingClassifier(n_estimators=8, max_depth=3, random_state=0), 2),
    "forest classes": (RandomForestClassifier(n_estimators=4, max_depth=4, random_state=0), 3),
    "network": (MLPClassifier((6,), solver="lbfgs", max_iter=5000, random_state=0), 2),
    "sums": (
        VotingClassifier(
            [
                ("line", LogisticRegression(max_iter=2000)),
                ("forest", RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0)),
            ],
            voting="soft",
        ),
        2,
    ),
}


QUICK = ("affine", "trees", "polynomial")  # by a matrix; the others take some seconds


@functools.cache
def fitted(name: str):
    model, classes = MODELS[name]
    return behind_columns(model).fit(people(), labels(classes))


def metric(kind: str) -> lw.Metric:
    return lw.Metric(
        kind, weights={"age": "1/3", "rank": 0.5}, costs={"job": {("a", "b"): 0.75, ("b", "c"): "1/4"}}
    )


def similar(kind: str, radius) -> lw.Similarity:
    return lw.Similarity(free=["sex"], metric=metric(kind), radius=radius)


def distance_by_hand(kind: str, x, other) -> Fraction | None:
    """The distance as the page of the guide says it, to the power that makes it rational; None where two levels may not differ."""
    costs = {frozenset("ab"): Fraction(3, 4), frozenset("bc"): Fraction(1, 4)}
    ranks = ["low", "middle", "high"]
    if x.job != other.job and frozenset(x.job + other.job) not in costs:
        return None
    parts = [
        abs(x.age - other.age) * Fraction(1, 3),
        abs(ranks.index(x.rank) - ranks.index(other.rank)) * Fraction(1, 2),
        Fraction(0) if x.job == other.job else costs[frozenset(x.job + other.job)],
    ]
    return {"l1": sum(parts), "l2": sum(p * p for p in parts), "linf": max(parts)}[kind]


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("kind", ["l1", "l2", "linf"])
@pytest.mark.parametrize("radius", [1, "3/4", 0.25])
def test_pairs_are_those_within_the_distance(kind, radius):
    pairs = posed(fitted("affine"), SPACE, similar(kind, radius)).pairs
    frame = people()
    codes = [[Fraction(c) for c in row] for row in SPACE.encode(frame).tolist()]
    rows = list(frame.itertuples())
    bound = Fraction(radius) ** (2 if kind == "l2" else 1)
    everybody = list(zip(rows, codes, strict=True))
    for (x, one), (other, two) in product(some(everybody, 10, f"{kind} {radius}"), everybody):
        distance = distance_by_hand(kind, x, other)
        assert pairs.valid(one, two) == (distance is not None and distance <= bound)


def accepted(result) -> bool:
    return check(io.BytesIO(result.certificate.content)).accepted


def breaks(posing) -> bool:
    """Whether any pair breaks the property, looking at all of them."""
    pairs, task = posing.pairs, posing.task
    everybody = [[Fraction(c) for c in row] for row in SPACE.encode(people()).tolist()]
    question, enclose = task.question, functools.cache(task.oracles.enclose)

    def enclosed(codes, bits):
        return enclose(tuple(codes), bits)

    return any(
        decide(question, enclosed, x, other)[0]
        for x, other in product(everybody, repeat=2)
        if x != other and pairs.valid(x, other)
    )


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("kind", ["l1", "l2"])
@pytest.mark.parametrize("name", MODELS)
def test_verdict_is_that_of_all_pairs(name, kind):
    model, seen = fitted(name), set()
    cases = [("1/4", lw.SameDecision()), ("1", lw.SameDecision(margin=0.5))]
    if MODELS[name][1] == 2 and name not in ("sums",):
        cases.append(("3/4", lw.ScoreGap(0.4 if name in ("trees",) else 1.5)))
    for radius, asked in cases:
        claim = similar(kind, radius)
        if name in ("forest classes",) and asked != lw.SameDecision():
            asked = lw.SameDecision()
        result = lw.verify(model, SPACE, claim, asked, budget=60)
        truth = breaks(posed(model, SPACE, claim, asked))
        assert result.verdict == ("BIASED" if truth else "FAIR"), (radius, asked, result.reason)
        assert accepted(result)
        seen.add(result.verdict)


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["affine", "trees", "network"])
def test_the_largest_gap_is_that_of_all_pairs(name):
    claim = similar("l1", 1)
    found = lw.measure(fitted(name), SPACE, claim, of="score", budget=60, certify=True)
    posing = posed(fitted(name), SPACE, claim, lw.ScoreGap(0.0))
    everybody = [[Fraction(c) for c in row] for row in SPACE.encode(people()).tolist()]
    scores = [posing.task.oracles.enclose(x, 80)[0].middle for x in everybody]
    gaps = [
        abs(a - b)
        for (x, a), (other, b) in product(zip(everybody, scores, strict=True), repeat=2)
        if posing.pairs.valid(x, other)
    ]
    assert found.lower <= float(max(gaps)) * (1 + 1e-12)
    assert float(max(gaps)) <= found.upper * (1 + 1e-12)
    assert found.upper - found.lower <= 1e-5
    assert accepted(found)


MATRIX = [["1/4", "-1/10", 0, 0], ["-1/10", "1/2", 0, 0.125], [0, 0, 1, 0.25], [0, 0.125, 0.25, 1]]
COLUMNS = ["age", "rank", ("job", "a"), ("job", "b")]


def by_matrix(radius) -> lw.Similarity:
    return lw.Similarity(free=["sex"], metric=lw.Mahalanobis(MATRIX, columns=COLUMNS), radius=radius)


@pytest.mark.some_days
def test_pairs_are_those_within_the_distance_of_a_matrix():
    pairs = posed(fitted("affine"), SPACE, by_matrix("1")).pairs
    matrix = [[Fraction(entry) for entry in row] for row in MATRIX]
    everybody = SPACE.encode(people()).tolist()
    for x, other in product(some(everybody, 10), everybody):
        d = [
            Fraction(other[0] - x[0]),
            Fraction(other[1] - x[1]),
            Fraction(int(other[2] == 0) - int(x[2] == 0)),
            Fraction(int(other[2] == 1) - int(x[2] == 1)),
        ]
        square = sum(a * m * b for a, row in zip(d, matrix, strict=True) for m, b in zip(row, d, strict=True))
        one, two = ([Fraction(c) for c in codes] for codes in (x, other))
        assert pairs.valid(one, two) == (square <= 1)


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MODELS],
)
def test_verdict_by_a_matrix_is_that_of_all_pairs(name):
    model = fitted(name)
    for radius, margin in (("1/2", 0), ("1", 0.5)):
        asked = lw.SameDecision(margin=0 if name == "forest classes" else margin)
        claim = by_matrix(radius)
        result = lw.verify(model, SPACE, claim, asked, budget=60)
        truth = breaks(posed(model, SPACE, claim, asked))
        assert result.verdict == ("BIASED" if truth else "FAIR"), (radius, asked, result.reason)
        assert accepted(result)


@pytest.mark.parametrize(("budget", "width"), [(0.5, 5), pytest.param(60, 1.01e-3, marks=pytest.mark.slow)])
def test_linear_gap_by_a_matrix_is_that_of_cauchy_and_schwarz(budget, width):
    space = lw.Space({"a": lw.Continuous(0, 100), "b": lw.Continuous(0, 100)})
    model = LinearRegression().fit(np.eye(2), [1, 2])
    model.coef_, model.intercept_ = np.array([0.5, 2.0]), 1.0
    near = lw.Mahalanobis([[1, 0.5], [0.5, 1]], columns=["a", "b"])
    similar = lw.Similarity(metric=near, radius=5)
    found = lw.measure(model, space, similar, of="score", tolerance=1e-3, budget=budget, certify=True)
    exact = 5 * (model.coef_ @ np.linalg.inv([[1, 0.5], [0.5, 1]]) @ model.coef_) ** 0.5
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower < width
    assert accepted(found)


@pytest.mark.parametrize(
    "matrix", [[[1, 2], [2, 1]], [[1, 0.5], [0.25, 1]], [[0, 1], [1, 0]], [[-1, 0], [0, 1]]]
)
def test_what_is_no_square_of_a_distance_is_refused(matrix):
    with pytest.raises(lw.SpecError):
        lw.Mahalanobis(matrix, columns=["a", "b"])


def test_a_fair_metric_ignores_what_stands_in_for_sex():
    random = np.random.default_rng(0)
    sex = random.integers(0, 2, 400)
    frame = pd.DataFrame(
        {"height": 165 + 12 * sex + random.normal(size=400), "skill": random.normal(size=400) * 5, "sex": sex}
    )
    space = lw.Space(
        {"height": lw.Continuous(150, 190), "skill": lw.Continuous(-25, 25), "sex": lw.Categorical([0, 1])}
    )
    near = lw.fair_metric(frame, space, protected=["sex"])
    pairs = posed(
        fitted_line(space, frame),
        space,
        lw.Similarity(free=["sex"], metric=near, radius="1/2"),
        lw.ScoreGap(1),
    ).pairs
    tall, small = [Fraction(176), Fraction(0), Fraction(1)], [Fraction(166), Fraction(0), Fraction(0)]
    skilled = [Fraction(166), Fraction(10), Fraction(0)]
    assert pairs.valid(tall, small)
    assert not pairs.valid(skilled, small)


def fitted_line(space, frame):
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough"), LinearRegression()
    )
    return model.fit(frame, frame.skill + frame.height / 10)
