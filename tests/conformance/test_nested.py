"""Trees behind columns that mix features, and medians of trees: as their own programs say, brute force, verdicts."""

from fractions import Fraction
from io import BytesIO
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, FastICA, TruncatedSVD
from sklearn.ensemble import (
    AdaBoostRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeRegressor
from tests.conformance.agreement import import_quietly

import likewise as lw
from likewise_check import check

SPACE = lw.Space(
    {
        "age": lw.Integer(0, 6),
        "debt": lw.Continuous(0, 5),
        "job": lw.Categorical(["x", "y", "z"]),
        "sex": lw.Categorical(["f", "m"]),
    }
)
LISTED = SPACE.replace({"debt": lw.Ordinal([0.0, 1.5, 2.0, 4.25])})
SEX = lw.Similarity(free=["sex"])
GENERATOR = np.random.default_rng(5)
X = pd.DataFrame(
    {
        "age": GENERATOR.integers(0, 7, 200),
        "debt": GENERATOR.choice([0.0, 1.5, 2.0, 4.25], 200),
        "job": GENERATOR.choice(["x", "y", "z"], 200),
        "sex": GENERATOR.choice(["f", "m"], 200),
    }
)
TARGET = X.age - X.debt + (X.job == "y") + 2.0 * (X.sex == "m") + GENERATOR.normal(0, 0.5, 200)
LABELS = np.digitize(TARGET, [1.0, 3.5])


def columns(numbers=("age", "debt"), words=("job", "sex")):
    return make_column_transformer(
        (StandardScaler(), list(numbers)), (OneHotEncoder(sparse_output=False), list(words))
    )


def pipeline(mixer, final, y=TARGET, words=("job", "sex")):
    return make_pipeline(columns(words=words), mixer, final).fit(X, y)


MODELS = {
    "forest": lambda: pipeline(PCA(2), RandomForestClassifier(4, max_depth=3, random_state=0), LABELS),
    "bins": lambda: pipeline(
        TruncatedSVD(2, random_state=0), HistGradientBoostingClassifier(max_iter=3), TARGET > 2
    ),
    "boosting": lambda: pipeline(
        FastICA(2, random_state=0), GradientBoostingRegressor(n_estimators=4, max_depth=2)
    ),
    "products": lambda: pipeline(PolynomialFeatures(2), DecisionTreeRegressor(max_depth=3)),
    "median": lambda: make_pipeline(columns(), AdaBoostRegressor(n_estimators=7, random_state=0)).fit(
        X, TARGET
    ),
}


def everybody(space=LISTED):
    levels = [space[name] for name in space.names]
    codes = [range(f.lo, f.hi + 1) if isinstance(f, lw.Integer) else range(f.size) for f in levels]
    return np.array([*product(*codes)], dtype=float)


def accepted(certificate):
    return check(BytesIO(certificate.content)).accepted


def exact_scores(imported):
    rows = imported.recoding.coded(everybody()).tolist()
    return np.array([[float(s) for s in imported.model.exact([Fraction(c) for c in row])] for row in rows])


@pytest.mark.parametrize("name", MODELS)
def test_the_import_says_what_the_program_says(name):
    """Of everybody, but for those that the program rounds to the other side of a test."""
    model = MODELS[name]()
    imported = import_quietly(model, LISTED, X)
    theirs = imported.replay.scores(imported.recoding.coded(everybody()))
    off = (np.abs(exact_scores(imported) - theirs) > 1e-9).any(axis=1)
    assert off.mean() < 0.02


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.slow] if one == "products" else []) for one in MODELS]
)
def test_the_largest_gap_is_that_of_brute_force_and_certified(name):
    model = MODELS[name]()
    imported = import_quietly(model, LISTED, X)
    of = "probability" if name == "forest" else "score"
    scores = exact_scores(imported)
    women, men = scores[0::2], scores[1::2]
    found = lw.measure(model, LISTED, SEX, of=of, X=X, budget=60, certify=True)
    assert found.lower == pytest.approx(np.abs(women - men).max(), abs=1e-9)
    assert found.upper == pytest.approx(found.lower, abs=1e-5)
    assert found.certificate is not None
    assert accepted(found.certificate)


@pytest.mark.parametrize("name", ["bins", "median"])
def test_what_does_not_see_sex_is_fair_and_what_sees_it_is_not(name):
    final = (
        HistGradientBoostingClassifier(max_iter=3) if name == "bins" else AdaBoostRegressor(random_state=0)
    )
    seen = {"bins": TARGET > 2, "median": TARGET}[name]
    mixer = PCA(2) if name == "bins" else "passthrough"
    claim = lw.SameDecision() if name == "bins" else lw.ScoreGap(0.25)
    blind = pipeline(mixer, final, seen, words=("job",))
    assert lw.verify(blind, SPACE, SEX, claim, X=X, budget=60).verdict == "FAIR"
    biased = lw.verify(pipeline(mixer, final, seen), SPACE, SEX, claim, X=X, budget=60)
    assert biased.verdict == "BIASED"
    assert accepted(biased.certificate)


def test_a_gap_of_continuous_numbers_is_proved_by_cells():
    model = pipeline(PCA(2), RandomForestClassifier(3, max_depth=2, random_state=0), TARGET > 2)
    found = lw.measure(model, SPACE, SEX, of="probability", X=X, budget=60, certify=True)
    assert found.certificate is not None
    assert accepted(found.certificate)
    assert found.lower <= found.upper < 1


def test_the_weight_of_one_member_is_enough_where_it_is_half():
    """The lower median: ties go to the smaller number, as in the program."""
    model = AdaBoostRegressor(DecisionTreeRegressor(max_depth=1), n_estimators=2, random_state=0)
    model.fit(X[["age", "debt"]].to_numpy(), TARGET)
    model.estimator_weights_ = np.array([0.5, 0.5])
    space = lw.Space({"age": lw.Integer(0, 6), "debt": lw.Continuous(0, 5)})
    frame = X[["age", "debt"]].rename(columns=str)
    imported = import_quietly(model, space, frame)
    rows = space.encode(frame)[:50]
    ours = [float(imported.model.exact([Fraction(c) for c in row])[0]) for row in rows.tolist()]
    assert ours == model.predict(rows).tolist()


def test_what_adds_up_such_models_is_not_read():
    voted = VotingRegressor([("median", AdaBoostRegressor(n_estimators=3)), ("line", LinearRegression())])
    model = make_pipeline(columns(), voted).fit(X, TARGET)
    with pytest.raises(lw.UnsupportedModel, match="is a median"):
        import_quietly(model, SPACE, X)
