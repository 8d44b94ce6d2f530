"""XGBoost and LightGBM from model or file to verdict: on spaces small enough to ask the library about every pair."""

import sys

import numpy as np
import pandas as pd
import pytest

import likewise as lw
from likewise.importers.files import load_model

xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")

SPACE = lw.Space(
    {
        "age": lw.Integer(20, 44, missing=True),
        "debt": lw.Ordinal([-0.5, 0.0, 0.1, 0.7]),
        "city": lw.Categorical(["oslo", "rome", "turin"]),
        "sex": lw.Categorical(["f", "m"]),
    }
)
SIMILAR = lw.Similarity(free=["sex"])


def people(bias, seed=0):
    random, n = np.random.default_rng(seed), 300
    X = pd.DataFrame(
        {
            "age": np.where(random.uniform(size=n) < 0.1, np.nan, random.integers(20, 45, n)),
            "debt": random.choice([-0.5, 0.0, 0.1, 0.7], n),
            "city": pd.Categorical(
                random.choice(["turin", "oslo", "rome"], n), categories=["turin", "oslo", "rome"]
            ),
            "sex": pd.Categorical(random.choice(["m", "f"], n), categories=["m", "f"]),
        }
    )
    score = 0.1 * X.age.fillna(40) + X.debt + (X.city == "rome") + bias * (X.sex == "m") - 4
    return X, (score + random.normal(0, 0.3, n) > 0).astype(int)


def fitted(library, bias, seed=0):
    X, y = people(bias, seed)
    if library == "xgboost":
        model = xgboost.XGBClassifier(n_estimators=8, max_depth=3, enable_categorical=True, n_jobs=1)
    else:
        model = lightgbm.LGBMClassifier(n_estimators=8, num_leaves=6, n_jobs=1, verbose=-1)
    return model.fit(X, y)


def everybody():
    """Frames of all individuals of one sex and of the other, in the same order."""
    ages = [np.nan, *range(20, 45)]
    rows = [
        (age, debt, city)
        for age in ages
        for debt in (-0.5, 0.0, 0.1, 0.7)
        for city in ("oslo", "rome", "turin")
    ]
    frame = pd.DataFrame(rows, columns=["age", "debt", "city"])
    return [
        frame.assign(
            city=pd.Categorical(frame.city, categories=["turin", "oslo", "rome"]),
            sex=pd.Categorical([sex] * len(frame), categories=["m", "f"]),
        )
        for sex in ("f", "m")
    ]


def gaps(model, library):
    """The largest gap of margins, and whether some decision differs, of the library's own answers."""
    asked = {"output_margin": True} if library == "xgboost" else {"raw_score": True}
    first, second = everybody()
    margins = np.abs(model.predict(first, **asked).astype(float) - model.predict(second, **asked))
    return margins.max(), bool((model.predict(first) != model.predict(second)).any())


@pytest.mark.draw(2)
@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("bias", [0.0, 0.4])
def test_verdicts_are_those_of_asking_about_everybody(library, bias):
    for seed in range(3):
        model = fitted(library, bias, seed)
        largest, differs = gaps(model, library)
        assert lw.verify(model, SPACE, SIMILAR).verdict == ("BIASED" if differs else "FAIR")
        assert lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(float(largest) + 1e-4)).verdict == "FAIR"
        if largest > 1e-3:
            assert lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(float(largest) - 1e-4)).verdict == "BIASED"


@pytest.mark.parametrize("slope", [0.5, 3.0])
def test_probabilities_of_a_multiple_of_the_score(slope):
    """A certificate states by how much sigma's argument may move, not the score."""
    model = fitted("lightgbm", 1.5).set_params(sigmoid=slope).fit(*people(1.5))
    first, second = everybody()
    gap = np.abs(model.predict_proba(first) - model.predict_proba(second)).max()
    assert gap > 1e-3
    assert lw.verify(model, SPACE, SIMILAR, lw.ProbabilityGap(float(gap) + 1e-3)).verdict == "FAIR"
    assert lw.verify(model, SPACE, SIMILAR, lw.ProbabilityGap(float(gap) - 1e-4)).verdict == "BIASED"


@pytest.mark.parametrize(
    ("library", "suffix"), [("xgboost", "json"), ("xgboost", "ubj"), ("lightgbm", "txt")]
)
def test_a_file_without_its_library_gets_the_same_verdict(library, suffix, tmp_path, monkeypatch):
    model = fitted(library, 1.5)
    path = tmp_path / f"model.{suffix}"
    (model if library == "xgboost" else model.booster_).save_model(path)
    monkeypatch.setitem(sys.modules, library, None)
    result = lw.verify(load_model(path), SPACE, SIMILAR)
    assert result.verdict == "BIASED"
    assert "not installed" in result.stats["replay"]
    assert not result.covers_floating_point
    first, second = (result.pair.assign(**{
        name: pd.Categorical(result.pair[name], categories=levels)
        for name, levels in {"city": ["turin", "oslo", "rome"], "sex": ["m", "f"]}.items()
    }).iloc[[i]] for i in (0, 1))  # fmt: skip
    assert model.predict(first)[0] != model.predict(second)[0]
    largest, _ = gaps(model, library)
    fair = lw.verify(load_model(path), SPACE, SIMILAR, lw.ScoreGap(float(largest) + 1e-4))
    assert fair.verdict == "FAIR"
    assert fair.covers_floating_point


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_the_pair_has_the_categories_of_the_rows_and_the_model_takes_it_as_it_is(library):
    model, (X, _) = fitted(library, 1.5), people(1.5)
    result = lw.verify(model, SPACE, SIMILAR, X=X)
    assert result.verdict == "BIASED"
    assert (result.pair.dtypes[["city", "sex"]] == X.dtypes[["city", "sex"]]).all()
    assert tuple(model.predict(result.pair)) == result.decisions
    measured = lw.measure(model, SPACE, SIMILAR, X=X)
    assert np.ptp(model.predict_proba(measured.pair)[:, 1]) > 0
