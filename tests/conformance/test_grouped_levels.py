"""Kernel machines behind one-hot columns with a dropped, an infrequent or an unknown level, and behind bins of whole numbers: brute force on small spaces, certificates, verdicts."""

import gzip
import io
import itertools
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from sklearn.svm import SVC, SVR
from tests.certificate.mutants import packed, sealed

import likewise as lw
from likewise_check import check

JOBS = [*"abcde"]
RANDOM = np.random.default_rng(5)
COUNT = 90
X = pd.DataFrame(
    {
        "age": RANDOM.integers(0, 6, COUNT),
        "job": RANDOM.choice([*"aaabbbbccde"], COUNT),
        "city": RANDOM.choice([*"xyz"], COUNT),
        "sex": RANDOM.integers(0, 2, COUNT),
    }
)
MERIT = X.age / 3 + (X.job == "b") - 0.5 * (X.job == "a") + 0.3 * X.sex * (X.city == "x")
MERIT += RANDOM.normal(0, 0.2, COUNT)
SPACE = lw.Space(
    {
        "age": lw.Integer(0, 5),
        "job": lw.Categorical(JOBS),
        "city": lw.Categorical([*"xyz"]),
        "sex": lw.Categorical([0, 1]),
    }
)
PEOPLE = pd.DataFrame(
    list(itertools.product(range(6), JOBS, "xyz", (0, 1))), columns=["age", "job", "city", "sex"]
)
ENCODERS = {
    "dropped": OneHotEncoder(drop="first"),
    "dropped in the middle": OneHotEncoder(drop=["b", "y"]),
    "infrequent": OneHotEncoder(min_frequency=0.15),
    "dropped and infrequent": OneHotEncoder(drop="first", min_frequency=0.15),
    "unknown": OneHotEncoder(handle_unknown="ignore"),
    "unknown is infrequent": OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=0.15),
}
BINS = KBinsDiscretizer(3, strategy="uniform", encode="onehot-dense")


def fitted(encoder, model, *, bins=False):
    rows, y = X, MERIT
    if getattr(encoder, "handle_unknown", "error") != "error":
        seen = X.job != "d"
        rows, y = X[seen], MERIT[seen]
    parts = [("words", encoder, ["job", "city"]), ("numbers", BINS if bins else "passthrough", ["age"])]
    pipeline = make_pipeline(ColumnTransformer(parts, remainder="passthrough"), model)
    return pipeline.fit(rows, y > y.median() if isinstance(model, SVC) else y)


def similar_pairs(tolerance):
    """Rows of people who are similar: sex free, age within the tolerance."""
    by_words = PEOPLE.groupby(["job", "city"]).indices.values()
    return [
        (i, j)
        for rows in by_words
        for i, j in itertools.product(rows, rows)
        if abs(PEOPLE.age[i] - PEOPLE.age[j]) <= tolerance
    ]


def largest_gap(model, tolerance):
    said = model.predict(PEOPLE)
    return max(abs(said[i] - said[j]) for i, j in similar_pairs(tolerance))


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        *((name, 0) for name in ENCODERS),
        ("dropped and infrequent", 1),
        *(
            pytest.param(name, 1, marks=pytest.mark.slow)
            for name in ENCODERS
            if name != "dropped and infrequent"
        ),
    ],
)
def test_the_largest_gap_is_that_of_brute_force(name, tolerance, tmp_path):
    model = fitted(ENCODERS[name], SVR(gamma=0.3, C=2.0))
    similar = lw.Similarity(free=["sex"], within={"age": 1} if tolerance else {})
    largest = largest_gap(model, tolerance)
    assert lw.verify(model, SPACE, similar, lw.ScoreGap(0.999 * largest), budget=60).verdict == "BIASED"
    fair = lw.verify(model, SPACE, similar, lw.ScoreGap(1.02 * largest), budget=60, certify=True)
    assert fair.verdict == "FAIR"
    found = lw.measure(model, SPACE, similar, budget=60)
    assert found.lower <= largest * (1 + 1e-9)
    assert found.upper >= largest * (1 - 1e-9)
    fair.certificate.save(tmp_path / "fair.lw")
    assert check(tmp_path / "fair.lw").accepted


def test_bins_of_whole_numbers_are_groups():
    model = fitted(ENCODERS["dropped"], KernelRidge(kernel="rbf", gamma=0.3, alpha=0.5), bins=True)
    similar = lw.Similarity(free=["sex"])
    largest = largest_gap(model, 0)
    assert lw.verify(model, SPACE, similar, lw.ScoreGap(0.999 * largest), budget=60).verdict == "BIASED"
    assert lw.verify(model, SPACE, similar, lw.ScoreGap(1.02 * largest), budget=60).verdict == "FAIR"


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ENCODERS)
def test_decisions_are_those_of_brute_force(name):
    for C in (0.02, 3.0):
        model = fitted(ENCODERS[name], SVC(gamma=0.2, C=C))
        decided = model.predict(PEOPLE)
        broken = any(decided[i] != decided[j] for i, j in similar_pairs(0))
        found = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), budget=60)
        assert found.verdict == ("BIASED" if broken else "FAIR")


MANY = 9


def test_many_dropped_levels_take_few_cells():
    """Before groups were known to the rule, all levels that are shared were fixed one by one: 4 ** 9 cells."""
    random = np.random.default_rng(3)
    names = [f"word{k}" for k in range(MANY)]
    rows = pd.DataFrame(random.choice([*"abcd"], (200, MANY)), columns=names).assign(
        sex=random.integers(0, 2, 200)
    )
    y = sum((rows[name] == "a") for name in names) + 0.2 * rows.sex
    columns = ColumnTransformer([("words", OneHotEncoder(drop="first"), names)], remainder="passthrough")
    model = make_pipeline(columns, SVR(gamma=0.02, C=1.0)).fit(rows, y)
    space = lw.Space({**dict.fromkeys(names, lw.Categorical([*"abcd"])), "sex": lw.Categorical([0, 1])})
    found = lw.verify(model, space, lw.Similarity(free=["sex"]), lw.ScoreGap(0.5), budget=60)
    assert found.verdict == "FAIR"
    assert check(io.BytesIO(found.certificate.content)).cells < 1000


def test_the_certificate_says_that_groups_are_meant_and_is_refused_without():
    model = fitted(ENCODERS["dropped"], SVR(gamma=0.3, C=2.0))
    similar = lw.Similarity(free=["sex"])
    near = (
        1.05 * lw.measure(model, SPACE, similar, budget=60).upper
    )  # with more room chords would do, which ask for no groups
    fair = lw.verify(model, SPACE, similar, lw.ScoreGap(near), budget=60)
    lines = [json.loads(line) for line in gzip.decompress(fair.certificate.content).splitlines()]
    assert check(io.BytesIO(packed(sealed(lines)))).accepted
    (model_line,) = (line for line in lines if isinstance(line, dict) and "model" in line)
    assert model_line["model"]["body"].pop("grouped") is True
    assert not check(io.BytesIO(packed(sealed(lines)))).accepted
