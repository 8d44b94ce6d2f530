"""Gaussian processes: means and decisions compared with the original; small spaces by brute force; planted verdicts; refusals."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw
from likewise.errors import SpecError, UnsupportedModel
from likewise.families.scored_model import only_score
from likewise.importers.imported_model import import_model
from likewise_check import check

RANDOM = np.random.default_rng(0)
COUNT = 60
X = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, COUNT),
        "income": RANDOM.uniform(0, 90, COUNT),
        "sex": RANDOM.choice(["f", "m"], COUNT),
    }
)
MERIT = X.income / 30 + (X.sex == "m") + np.sin(X.age / 15) + RANDOM.normal(0, 0.3, COUNT)
SPACE = lw.Space(
    {"age": lw.Integer(18, 80), "income": lw.Continuous(0, 90), "sex": lw.Categorical(["f", "m"])}
)
KERNELS = {
    "rbf": RBF(1.3),
    "scaled": ConstantKernel(2.3) * RBF(0.7),
    "anisotropic": 1.7 * RBF([0.9, 1.1, 2.0, 3.0]) + WhiteKernel(0.1),
    "moved": ConstantKernel(1.5) * RBF(1.1) + ConstantKernel(0.4),
    "dot": DotProduct(0.8),
    "scaled dot": 0.3 * DotProduct(0.8) + WhiteKernel(0.2) + ConstantKernel(0.1),
    "square": DotProduct(0.8) ** 2,
    "rbf and dot": 1.5 * RBF(1.3) + 0.2 * DotProduct(0.8) + ConstantKernel(0.3) + WhiteKernel(0.1),
    "two scales": RBF(0.8) + 0.5 * RBF([3.0, 3.0, 5.0, 5.0]),
    "rbf and square": RBF(2.0) + 0.1 * DotProduct(0.5) ** 2,
}


def pipeline(model):
    words = ("words", OneHotEncoder(), ["sex"])
    return make_pipeline(ColumnTransformer([words, ("numbers", StandardScaler(), ["age", "income"])]), model)


def fitted(model, x=X, y=MERIT):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(x, y)


@pytest.mark.some_days
@pytest.mark.draw(6)
@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_means_are_those_of_the_original(name, normalised):
    model = fitted(
        pipeline(GaussianProcessRegressor(KERNELS[name], alpha=0.2, optimizer=None, normalize_y=normalised))
    )
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    score = only_score(imported.model, 3)
    codes = SPACE.encode(X)[:30]
    ours = [float(score.enclose([Fraction(c) for c in row], 80).middle) for row in codes.tolist()]
    assert np.allclose(ours, model.predict(X[:30]), rtol=1e-9, atol=1e-9)
    assert imported.program.error is not None
    assert imported.program.observed.error <= imported.program.error


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("name", KERNELS)
def test_decisions_are_those_of_the_original(name):
    labels = np.where(MERIT.median() < MERIT, "yes", "no")
    model = fitted(pipeline(GaussianProcessClassifier(KERNELS[name], optimizer=None)), y=labels)
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    score = only_score(imported.model, 3)
    codes = SPACE.encode(X)[:30]
    ours = [score.enclose([Fraction(c) for c in row], 80).middle for row in codes.tolist()]
    latent = model[-1].latent_mean_and_variance(model[:-1].transform(X[:30]))[0]
    assert np.allclose([float(s) for s in ours], latent, rtol=1e-9, atol=1e-9)
    assert [imported.model.head.decide([s]) for s in ours] == model.predict(X[:30]).tolist()
    with pytest.raises(SpecError, match="integrates its probabilities"):
        lw.verify(model, SPACE, lw.Similarity(free=["sex"]), lw.ProbabilityGap(0.1), X=X)


SMALL = lw.Space({"a": lw.Integer(-2, 2), "b": lw.Categorical([0.0, 1.0]), "c": lw.Integer(0, 2)})
PEOPLE = list(itertools.product(range(-2, 3), (0.0, 1.0), range(3)))
PAIRS = [
    (i, j)
    for (i, x), (j, y) in itertools.combinations(enumerate(PEOPLE), 2)
    if x[0] == y[0] and abs(x[2] - y[2]) <= 1
]
SIMILAR = lw.Similarity(free=["b"], within={"c": 1})
SMALL_KERNELS = {
    "rbf": 1.5 * RBF([1.5, 2.0, 3.0]) + WhiteKernel(0.1),
    "dot": 0.5 * DotProduct(0.5),
    "both": 1.5 * RBF([1.5, 2.0, 3.0]) + 0.2 * DotProduct(0.5),
}


@pytest.mark.parametrize("name", SMALL_KERNELS)
def test_small_spaces_by_brute_force(name, tmp_path):
    rows = pd.DataFrame(PEOPLE, columns=["a", "b", "c"])
    random = np.random.default_rng(2)
    y = rows.a + 0.4 * rows.b + 0.2 * rows.c + random.normal(0, 0.3, len(rows))
    model = fitted(GaussianProcessRegressor(SMALL_KERNELS[name], alpha=0.5, optimizer=None), rows, y)
    said = model.predict(rows)
    largest = max(abs(said[i] - said[j]) for i, j in PAIRS)
    assert lw.verify(model, SMALL, SIMILAR, lw.ScoreGap(0.999 * largest), budget=60).verdict == "BIASED"
    fair = lw.verify(model, SMALL, SIMILAR, lw.ScoreGap(1.001 * largest), budget=60)
    assert fair.verdict == "FAIR"
    fair.certificate.save(tmp_path / "fair.lw")
    assert check(tmp_path / "fair.lw").accepted
    label = (y > 0.3).astype(int)
    decider = fitted(GaussianProcessClassifier(SMALL_KERNELS[name], optimizer=None), rows, label)
    decided = decider.predict(rows)
    broken = any(decided[i] != decided[j] for i, j in PAIRS)
    assert lw.verify(decider, SMALL, SIMILAR, budget=60).verdict == ("BIASED" if broken else "FAIR")


def test_a_sum_of_kernels_is_proved_about_on_continuous_numbers(tmp_path):
    random = np.random.default_rng(4)
    rows = pd.DataFrame({"x": random.uniform(-2, 2, 20), "sex": random.integers(0, 2, 20)})
    space = lw.Space({"x": lw.Continuous(-2, 2), "sex": lw.Categorical([0, 1])})
    kernel = RBF(2.0) + 0.1 * DotProduct(1.0)
    model = GaussianProcessRegressor(kernel, alpha=0.3, optimizer=None).fit(
        rows, np.sin(rows.x) + rows.sex / 4
    )
    similar = lw.Similarity(free=["sex"])
    gap = np.abs(np.diff([model.predict(rows.assign(sex=sex)) for sex in (0, 1)], axis=0)).max()
    assert lw.verify(model, space, similar, lw.ScoreGap(0.9 * gap), X=rows, budget=60).verdict == "BIASED"
    fair = lw.verify(model, space, similar, lw.ScoreGap(1.5 * gap), X=rows, budget=60)
    assert fair.verdict == "FAIR"
    fair.certificate.save(tmp_path / "fair.lw")
    report = check(tmp_path / "fair.lw")
    assert report.accepted
    assert {"sums", "kernel"} <= set(report.packs)


def test_a_planted_model_gets_its_verdict():
    random = np.random.default_rng(4)
    rows = pd.DataFrame({"x": random.uniform(-2, 2, 40), "sex": random.integers(0, 2, 40)})
    space = lw.Space({"x": lw.Continuous(-2, 2), "sex": lw.Categorical([0, 1])})
    similar = lw.Similarity(free=["sex"])
    blind = GaussianProcessRegressor(RBF([1.0, 1e5]), alpha=0.1, optimizer=None).fit(rows, np.sin(rows.x))
    assert lw.verify(blind, space, similar, lw.ScoreGap(1e-6), budget=60).verdict == "FAIR"
    seeing = GaussianProcessRegressor(RBF([1.0, 1.0]), alpha=0.1, optimizer=None).fit(
        rows, np.sin(rows.x) + rows.sex
    )
    assert lw.verify(seeing, space, similar, lw.ScoreGap(0.5), budget=60).verdict == "BIASED"


def test_what_is_refused_names_the_reason():
    numbers, y = X[["age", "income"]] / 50, MERIT
    space = lw.Space({"age": lw.Continuous(0.3, 1.7), "income": lw.Continuous(0, 2)})

    def refused(model, match):
        with pytest.raises(UnsupportedModel, match=match):
            import_model(model, space, rows=np.empty((0, 2)))

    def regressor(kernel):
        return fitted(GaussianProcessRegressor(kernel, alpha=0.2, optimizer=None), numbers, y)

    refused(GaussianProcessRegressor(), "not fitted")
    refused(regressor(Matern()), "Matern")
    refused(regressor(RBF(1.0) * DotProduct()), "multiplies two kernels")
    refused(fitted(GaussianProcessRegressor(RBF()), numbers, np.stack([y, y], axis=1)), "several outputs")
    classes = np.digitize(y, [1.5, 2.5])
    refused(
        fitted(GaussianProcessClassifier(RBF(), optimizer=None), numbers, classes), "of 3 classes decides by"
    )
