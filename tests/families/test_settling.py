"""Settled scores are what their definition says, in exact arithmetic: for columns of all sorts and every family."""

import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC

import likewise as lw
from likewise.families.combined.body import Combined, combine_scores
from likewise.families.scored_model import only_score
from likewise.families.settings import Settings
from likewise.importers.imported_model import import_model
from likewise.importers.settled_estimators import settle_model

SPACE = lw.Space(
    {
        "sex": lw.Categorical(["f", "m"]),
        "grade": lw.Ordinal(["low", "mid", "high"]),
        "age": lw.Integer(18, 40),
        "income": lw.Continuous(0, 3),
    }
)
PINNED = (0, 2, 3)


def people():
    numbers = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "sex": numbers.choice(["f", "m"], 60),
            "grade": numbers.choice(["low", "mid", "high"], 60),
            "age": numbers.integers(18, 41, 60),
            "income": numbers.uniform(0, 3, 60),
        }
    )
    return X, X.income + (X.sex == "m") + X.age / 40 > 2.4


def curves():
    return make_column_transformer(
        (OneHotEncoder(), ["sex", "grade"]),
        (KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), ["age"]),
        (SplineTransformer(n_knots=3, degree=2, extrapolation="constant"), ["income"]),
    )


def columns():
    return make_column_transformer((OneHotEncoder(), ["sex", "grade"]), (StandardScaler(), ["age", "income"]))


MODELS = {
    "pieces": lambda: make_pipeline(curves(), LogisticRegression()),
    "affine": lambda: make_pipeline(columns(), LogisticRegression()),
    "products": lambda: make_pipeline(columns(), PolynomialFeatures(3), LogisticRegression(max_iter=1000)),
    "polynomial": lambda: make_pipeline(columns(), SVC(kernel="poly", degree=3, coef0=0.5)),
    "rbf": lambda: make_pipeline(columns(), SVC(gamma=0.3)),
}


def codes(rng):
    return [
        Fraction(rng.randrange(2)),
        Fraction(rng.randrange(3)),
        Fraction(rng.randint(18, 40)),
        Fraction(rng.uniform(0, 3)),
    ]


@pytest.mark.some_days
@pytest.mark.draw(5)
@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize(
    ("how", "keep"),
    [("mean", Fraction(0)), ("mean", Fraction(3, 8)), ("max", Fraction(0)), ("min", Fraction(0))],
)
def test_the_score_is_that_of_the_definition(family, how, keep):
    X, y = people()
    imported = import_model(MODELS[family]().fit(X, y), SPACE, rows=SPACE.encode(X))
    if family == "pieces":  # bins of whole numbers are tables, of a feature that is an ordinal one then
        assert imported.space["age"].kind in ("integer", "ordinal")
    rng, model, count = random.Random(family + how), imported.model, len(SPACE)
    shift = 18 if imported.space["age"].kind == "ordinal" else 0
    weights = [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]

    def drawn():
        found = codes(rng)
        found[2] -= shift
        return found

    places = [drawn() for _ in weights]
    settings = Settings(
        how=how, codes=tuple({k: at[k] for k in PINNED} for at in places), weights=tuple(weights), keep=keep
    )
    made = settle_model(model, settings)
    assert isinstance(made.body, Combined) == (how != "mean" or family == "rbf")
    score, new = only_score(model, count), only_score(made, count)
    assert [new.depends(k) for k in range(count)] == [bool(keep), True, bool(keep), bool(keep)]
    for _ in range(5):
        x = drawn()
        rows = [[at[k] if k in PINNED else x[k] for k in range(count)] for at in places]
        own, ends = score.enclose(x, 200), [score.enclose(row, 200) for row in rows]
        given = new.enclose(x, 200)
        low = keep * own.lo + (1 - keep) * combine_scores(how, weights, [end.lo for end in ends])
        high = keep * own.hi + (1 - keep) * combine_scores(how, weights, [end.hi for end in ends])
        assert low <= given.hi
        assert given.lo <= high
        if family != "rbf":
            assert given.lo == given.hi == low
        near = new.scores(np.array([[float(c) for c in x]]))[0]
        assert near == pytest.approx(float(given.lo), rel=1e-9, abs=1e-9)
