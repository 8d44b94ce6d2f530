"""Quadratic discriminant analysis: multiplied out exactly and compared with the original; small spaces by brute force; planted verdicts; refusals."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.families.scored_model import Scores
from likewise.importers.imported_model import import_model
from likewise_check import check

RANDOM = np.random.default_rng(0)
COUNT = 200
X = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, COUNT),
        "income": RANDOM.uniform(0, 90, COUNT),
        "sex": RANDOM.choice(["f", "m"], COUNT),
    }
)
MERIT = X.income + 20 * (X.sex == "m") + RANDOM.normal(0, 20, COUNT)
Y = {2: np.where(MERIT > 50, "yes", "no"), 3: np.array(["a", "b", "c"])[np.digitize(MERIT, [35, 70])]}
SPACE = lw.Space(
    {"age": lw.Integer(18, 80), "income": lw.Continuous(0, 90), "sex": lw.Categorical(["f", "m"])}
)


def pipeline(model):
    words = ("words", OneHotEncoder(drop="first"), ["sex"])
    return make_pipeline(ColumnTransformer([words, ("numbers", StandardScaler(), ["age", "income"])]), model)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"reg_param": 0.1}, {"solver": "eigen", "shrinkage": "auto"}])
def test_the_imported_model_is_the_original(options, classes):
    model = pipeline(QuadraticDiscriminantAnalysis(**options)).fit(X, Y[classes])
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    codes = SPACE.encode(X)
    parts = Scores(imported.model, 3).parts
    ours = np.array([[float(p.exact([Fraction(c) for c in row])) for p in parts] for row in codes.tolist()])
    theirs = np.asarray(model.decision_function(X)).reshape(COUNT, -1)
    assert np.allclose(ours, theirs, rtol=1e-10, atol=1e-10)
    decided = [imported.model.head.decide([Fraction(s) for s in row]) for row in ours.tolist()]
    assert decided == model.predict(X).tolist()
    assert imported.program.observed.error <= imported.program.error
    assert imported.model.head.link == ("logistic" if classes == 2 else "softmax")


def scores_by_formula(model, row):
    """The scores of all classes in rationals, by what is defined."""
    found = []
    for i in range(len(model.classes_)):
        matrix = model.rotations_[i] * (model.scalings_[i] ** (-0.5))
        apart = [Fraction(x) - Fraction(m) for x, m in zip(row, model.means_[i].tolist(), strict=True)]
        norm = sum(
            sum(a * Fraction(v) for a, v in zip(apart, column, strict=True)) ** 2
            for column in matrix.T.tolist()
        )
        constant = Fraction(-0.5 * float(np.sum(np.log(model.scalings_[i])))) + Fraction(
            float(np.log(model.priors_)[i])
        )
        found.append(constant - norm / 2)
    return found


def shares(scores):
    powers = [math.exp(float(score - max(scores))) for score in scores]
    return [power / sum(powers) for power in powers]


@pytest.mark.parametrize("classes", [2, 3])
def test_small_spaces_by_brute_force(classes):
    random = np.random.default_rng(classes)
    rows = pd.DataFrame({"a": random.integers(-2, 3, 60), "b": random.choice([0.5, 2, 7], 60)})
    labels = (rows.a + rows.b + random.normal(0, 1, 60) > 3).astype(int)
    labels[:20] = np.arange(20) % classes
    model = QuadraticDiscriminantAnalysis().fit(rows, labels)
    space = lw.Space({"a": lw.Integer(-2, 2), "b": lw.Categorical([0.5, 2, 7])})
    people = {row: scores_by_formula(model, row) for row in itertools.product(range(-2, 3), (0.5, 2, 7))}
    pairs = [
        (mine, theirs)
        for (x, mine), (y, theirs) in itertools.combinations(people.items(), 2)
        if abs(x[0] - y[0]) <= 1
    ]
    similar = lw.Similarity(free=["b"], within={"a": 1})
    decided = [m.index(max(m)) != t.index(max(t)) for m, t in pairs]
    assert lw.verify(model, space, similar, budget=60).verdict == ("BIASED" if any(decided) else "FAIR")
    if classes == 2:
        gaps = {
            lw.ScoreGap: [float(abs(m[1] - m[0] - t[1] + t[0])) for m, t in pairs],
            lw.ProbabilityGap: [abs(shares(m)[1] - shares(t)[1]) for m, t in pairs],
        }
    else:
        gaps = {lw.ScoreGap: [float(abs(a - b)) for m, t in pairs for a, b in zip(m, t, strict=True)]}
    for make, found in gaps.items():
        assert lw.verify(model, space, similar, make(1.001 * max(found)), budget=60).verdict == "FAIR"
        assert lw.verify(model, space, similar, make(0.999 * max(found)), budget=60).verdict == "BIASED"


def planted(*, fair, classes):
    random = np.random.default_rng(1)
    x = random.normal(0, 1, (300, 2))
    sex = random.integers(0, 2, 300)
    merit = x[:, 0] + 0.3 * x[:, 1] ** 2 + (0 if fair else 2) * sex
    label = np.digitize(merit, [0.2] if classes == 2 else [-0.4, 0.8])
    if fair:  # as many of either sex with each row, so that sex says nothing
        x, sex, label = np.repeat(x, 2, axis=0), np.tile([0, 1], 300), np.repeat(label, 2)
    return pd.DataFrame({"x": x[:, 0], "y": x[:, 1], "sex": sex}), label


@pytest.mark.parametrize("classes", [2, 3])
def test_a_planted_model_gets_its_verdict(classes, tmp_path):
    space = lw.Space({"x": lw.Continuous(-2, 2), "y": lw.Continuous(-2, 2), "sex": lw.Categorical([0, 1])})
    similar = lw.Similarity(free=["sex"])
    biased = QuadraticDiscriminantAnalysis(reg_param=0.01).fit(*planted(fair=False, classes=classes))
    assert lw.verify(biased, space, similar, budget=60).verdict == "BIASED"
    fair = QuadraticDiscriminantAnalysis().fit(*planted(fair=True, classes=classes))
    # Rounding leaves a trace of sex in the stored numbers, so that only a margin of it is fair.
    found = lw.verify(fair, space, similar, lw.ScoreGap(1e-6), budget=60)
    assert found.verdict == "FAIR"
    found.certificate.save(tmp_path / "fair.lw")
    assert check(tmp_path / "fair.lw").accepted


def test_probabilities_of_three_classes_are_searched():
    """Nothing bounds their softmax: a pair that attains the lower end by the program itself, and nothing known of the upper end."""
    space = lw.Space({"x": lw.Integer(-2, 2), "y": lw.Integer(-2, 2), "sex": lw.Categorical([0, 1])})
    model = QuadraticDiscriminantAnalysis(reg_param=0.01).fit(*planted(fair=False, classes=3))
    people = pd.DataFrame(
        [[x, y, sex] for x in range(-2, 3) for y in range(-2, 3) for sex in (0, 1)], columns=["x", "y", "sex"]
    )
    shares = model.predict_proba(people).reshape(-1, 2, 3)
    found = lw.measure(model, space, lw.Similarity(free=["sex"]), of="probability", budget=1)
    assert found.lower == pytest.approx(np.abs(shares[:, 0] - shares[:, 1]).max(), abs=1e-6)
    assert found.upper == 1.0
    assert "softmax" in found.reason
    one, other = model.predict_proba(found.pair[["x", "y", "sex"]])
    assert np.abs(one - other).max() == pytest.approx(found.lower, abs=1e-6)


def test_the_linear_one_of_three_classes_is_affine():
    model = pipeline(LinearDiscriminantAnalysis()).fit(X, Y[3])
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    assert {body.family for body in imported.model.bodies} == {"affine"}
    assert imported.model.head.link == "softmax"


def test_what_is_refused_names_the_reason():
    space = lw.Space({"a": lw.Integer(0, 3), "b": lw.Integer(0, 3)})

    def refused(model, match):
        with pytest.raises(UnsupportedModel, match=match):
            import_model(model, space, rows=np.empty((0, 2)))

    refused(QuadraticDiscriminantAnalysis(), "not fitted")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = QuadraticDiscriminantAnalysis().fit(
            [[0, 1], [1, 0], [1, 1], [2, 2], [3, 1], [3, 3]], [0, 0, 0, 1, 1, 1]
        )
    fitted.scalings_ = [np.array([1.0, 0.0]), fitted.scalings_[1]]
    refused(fitted, "do not spread")
