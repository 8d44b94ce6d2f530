"""Similarities with allowed pairs of levels, and constraints between levels: kernel models against exhaustion."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

import likewise as lw

JOBS = ("none", "unskilled", "skilled", "management")
HOUSING = ("own", "rent", "free")
SPACE = lw.Space(
    {
        "job": lw.Categorical(JOBS),
        "housing": lw.Ordinal(HOUSING),
        "age": lw.Integer(0, 4),
        "sex": lw.Categorical(["f", "m"]),
    }
)
SIMILARITIES = [
    lw.Similarity(pairs={"job": [("unskilled", "skilled")]}),
    lw.Similarity(pairs={"job": [("unskilled", "skilled"), ("management", "skilled")]}),
    lw.Similarity(pairs={"job": [("none", "management")], "housing": [("free", "own")]}),
    lw.Similarity(free=["sex"], within={"age": 1}, pairs={"job": [("skilled", "none")]}),
]
MODELS = {
    "linear": LogisticRegression,
    "rbf": lambda: SVC(gamma=0.5, C=3.0),
    "poly": lambda: SVC(kernel="poly", degree=2, coef0=1.0, gamma=0.5),
}


def people(space):
    return pd.DataFrame(itertools.product(JOBS, HOUSING, range(5), "fm"), columns=list(space.names))


def fitted(kind, seed):
    random = np.random.default_rng(seed)
    everybody = people(SPACE)
    rows = everybody.iloc[random.permutation(len(everybody))[:60]]
    score = (
        rows["job"].map(dict(zip(JOBS, random.normal(size=4), strict=True)))
        + rows["housing"].map(dict(zip(HOUSING, random.normal(size=3), strict=True)))
        + rows["age"] * random.normal() / 2
        + random.normal(size=len(rows)) / 2
    )
    coded = ColumnTransformer(
        [("levels", OneHotEncoder(), ["job", "housing", "sex"])], remainder="passthrough"
    )
    return make_pipeline(coded, MODELS[kind]()).fit(rows, (score > score.median()).astype(int))


def alike(similar, name, first, second):
    if first == second or name in similar.free:
        return True
    if name in similar.pairs:
        return {first, second} in [set(pair) for pair in similar.pairs[name]]
    return name in similar.within and abs(first - second) <= similar.within[name]


def gaps(model, similar, valid=lambda _: True):
    """Scores of both individuals of every similar pair of valid ones."""
    everybody = people(SPACE)
    scores = model.decision_function(everybody)
    rows = [
        (row, float(score))
        for row, score in zip(everybody.to_dict("records"), scores, strict=True)
        if valid(row)
    ]
    return [
        (a, b)
        for (x, a), (y, b) in itertools.product(rows, repeat=2)
        if all(alike(similar, name, x[name], y[name]) for name in SPACE.names)
    ]


def check(model, space, similar, valid=lambda _: True):
    """Verdicts a little above and below the largest gap, about decisions, and that certificates are accepted."""
    pairs = gaps(model, similar, valid)
    largest = max(a - b for a, b in pairs)
    for factor, verdict in ((1.001, "FAIR"), (0.999, "BIASED")):
        result = lw.verify(model, space, similar, lw.ScoreGap(largest * factor), budget=60)
        assert result.verdict == verdict
        assert result.certificate is not None
    flips = any(a > 1e-9 and b < -1e-9 for a, b in pairs)
    result = lw.verify(model, space, similar, budget=60)
    assert result.verdict == ("BIASED" if flips else "FAIR")
    assert result.certificate is not None


@pytest.mark.some_days
@pytest.mark.parametrize("similar", SIMILARITIES)
@pytest.mark.parametrize("kind", MODELS)
def test_verdicts_on_allowed_pairs_are_those_of_exhaustion(kind, similar):
    check(fitted(kind, SIMILARITIES.index(similar)), SPACE, similar)


@pytest.mark.parametrize("kind", MODELS)
def test_the_largest_gap_of_allowed_pairs_is_bracketed(kind):
    model, similar = fitted(kind, 7), SIMILARITIES[1]
    largest = max(a - b for a, b in gaps(model, similar))
    found = lw.measure(model, SPACE, similar, tolerance=0.01, budget=60, certify=True)
    assert found.lower - 1e-9 <= largest <= found.upper + 1e-9
    assert found.certificate is not None


def test_levels_that_no_pair_names_do_not_differ():
    """Only housing may differ, and the model looks at the job alone."""
    model = fitted("linear", 1)
    similar = lw.Similarity(pairs={"job": [("skilled", "unskilled")]})
    wider = lw.Similarity(free=["job"])
    narrow, wide = (lw.measure(model, SPACE, s, tolerance=1e-6) for s in (similar, wider))
    assert narrow.upper < wide.lower


def test_all_pairs_are_as_good_as_free():
    every = list(itertools.combinations(HOUSING, 2))
    similar = lw.Similarity(pairs={"housing": every})
    assert similar.resolve(SPACE) == lw.Similarity(free=["housing"]).resolve(SPACE)


RULES = {
    "if housing == own then job != none": lambda row: row["housing"] != "own" or row["job"] != "none",
    "if sex == f and job in {none, unskilled} then housing not in {rent, free}": lambda row: (
        row["sex"] != "f" or row["job"] not in ("none", "unskilled") or row["housing"] == "own"
    ),
}


@pytest.mark.some_days
@pytest.mark.parametrize("similar", [lw.Similarity(free=["job"]), SIMILARITIES[3]])
@pytest.mark.parametrize("kind", MODELS)
def test_verdicts_under_implications_are_those_of_exhaustion(kind, similar):
    check(
        fitted(kind, 3), SPACE.where(*RULES), similar, lambda row: all(rule(row) for rule in RULES.values())
    )


def test_an_implication_can_make_a_model_fair():
    """Whoever owns a house is employed, and jobs differ among the employed alike: no pair is left but by housing."""
    model, similar = fitted("linear", 3), lw.Similarity(free=["job"])
    rules = [
        f"if job == {job} then housing == {where}"
        for job, where in zip(JOBS, ["own", "rent", "own", "rent"], strict=True)
    ]
    assert lw.verify(model, SPACE, similar, lw.ScoreGap(1e-3)).verdict == "BIASED"
    only = SPACE.where(
        *rules, "if job in {none, unskilled} then sex == f", "if job not in {none, unskilled} then sex == m"
    )
    result = lw.verify(model, only, similar, lw.ScoreGap(1e-3))
    assert result.verdict == "FAIR"
    assert result.certificate is not None


def test_a_space_that_rules_leave_empty_is_refused():
    space = SPACE.where("if sex == f then sex == m", "if sex == m then sex == f")
    with pytest.raises(lw.SpecError, match="no individual"):
        lw.verify(fitted("linear", 3), space, lw.Similarity(free=["job"]))
