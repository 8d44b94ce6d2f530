"""Fitted results of statsmodels: of arrays, frames and formulas, compared with what they predict; brute force; planted verdicts; refusals."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.families.scored_model import only_score
from likewise.importers.imported_model import import_model
from likewise_check import check

sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")

RANDOM = np.random.default_rng(0)
COUNT = 240
X = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, COUNT),
        "income": RANDOM.uniform(0, 9, COUNT),
        "sex": RANDOM.choice(["f", "m"], COUNT),
        "job": RANDOM.choice(["none", "some", "much"], COUNT),
    }
)
MERIT = X.age / 40 + X.income / 5 + (X.sex == "m") + RANDOM.normal(0, 1, COUNT)
DATA = X.assign(y=(MERIT > 3).astype(int), amount=MERIT, count=RANDOM.poisson(np.exp(MERIT / 3)))
SPACE = lw.Space(
    {
        "age": lw.Integer(18, 80),
        "income": lw.Continuous(0, 9),
        "sex": lw.Categorical(["f", "m"]),
        "job": lw.Categorical(["none", "some", "much"]),
    }
)
NUMBERS = lw.Space({"age": SPACE["age"], "income": SPACE["income"]})
RIGHT = "age + np.log1p(income) + C(sex) + job"
MODELS = {
    "logit": lambda: smf.logit(f"y ~ {RIGHT}", DATA).fit(disp=0),
    "probit": lambda: smf.probit(f"y ~ {RIGHT}", DATA).fit(disp=0),
    "ols": lambda: smf.ols("amount ~ age + income + C(sex) + job", DATA).fit(),
    "without a constant": lambda: smf.ols("amount ~ age + income + C(sex) + job - 1", DATA).fit(),
    "treatment": lambda: smf.ols("amount ~ income + C(job, Treatment('much')) + age + sex", DATA).fit(),
    "squared": lambda: smf.ols("amount ~ income + I(age**2) + age + sex + job", DATA).fit(),
    "poisson": lambda: smf.poisson(f"count ~ {RIGHT}", DATA).fit(disp=0),
    "binomial": lambda: smf.glm(f"y ~ {RIGHT}", DATA, family=sm.families.Binomial()).fit(),
    "counts": lambda: smf.glm(f"count ~ {RIGHT}", DATA, family=sm.families.Poisson()).fit(),
    "interactions": lambda: smf.logit("y ~ age*C(sex) + np.log1p(income) + job", DATA).fit(disp=0),
    "products": lambda: smf.ols("amount ~ age*income + sex:job + np.log1p(age):sex", DATA).fit(),
    "three together": lambda: smf.ols(
        "amount ~ C(job):C(sex):age + C(job, Treatment('much')):income - 1", DATA
    ).fit(),
    "products of counts": lambda: smf.poisson("count ~ age:sex + income + job", DATA).fit(disp=0),
    "gaussian": lambda: smf.glm(f"amount ~ {RIGHT}", DATA).fit(),
}


def compare(results, space, rows, given):
    imported = import_model(results, space, rows=space.encode(rows), like=rows)
    score = only_score(imported.model, len(space))
    codes = imported.recoding.coded(space.encode(rows))
    sums = np.array([float(score.exact([Fraction(c) for c in row])) for row in codes.tolist()])
    said = np.asarray(results.predict(given))
    head = imported.model.head
    if head.link == "logistic":
        assert np.allclose(1 / (1 + np.exp(-sums)), said, atol=1e-9)
    elif head.link == "exponential":
        assert np.allclose(np.exp(sums), said, rtol=1e-9)
    elif head.labels is not None:
        assert np.allclose([0.5 * math.erfc(-s / math.sqrt(2)) for s in sums], said, atol=1e-9)
    else:
        assert np.allclose(sums, said, rtol=1e-9, atol=1e-9)
    if head.labels is not None:
        assert [head.decide([Fraction(s)]) for s in sums.tolist()] == (said > 0.5).astype(int).tolist()
    return imported


@pytest.mark.some_days
@pytest.mark.draw(5)
@pytest.mark.parametrize("name", MODELS)
def test_formulas_are_read(name):
    imported = compare(MODELS[name](), SPACE, X, X)
    assert {column.feature for column in imported.model.embedding} == {0, 1, 2, 3}


@pytest.mark.parametrize("as_frame", [True, False], ids=["frame", "array"])
@pytest.mark.parametrize("constant", ["first", "last", "none"])
def test_columns_are_read_as_they_are(as_frame, constant):
    columns = X[["age", "income"]]
    rows = columns
    if constant != "none":
        rows = sm.add_constant(columns.astype(float), prepend=constant == "first")
    given = rows if as_frame else rows.to_numpy()
    for results in (
        sm.Logit(DATA.y, given).fit(disp=0),
        sm.Probit(DATA.y, given).fit(disp=0),
        sm.OLS(DATA.amount, given).fit(),
        sm.WLS(DATA.amount, given, weights=1 + DATA.age).fit(),
        sm.GLS(DATA.amount, given, sigma=1 + DATA.age).fit(),
        sm.QuantReg(DATA.amount, given).fit(q=0.3),
        sm.RLM(DATA.amount, given).fit(),
        sm.GLM(DATA.amount + 9, given, family=sm.families.Gamma(sm.families.links.Log())).fit(),
    ):
        compare(results, NUMBERS, columns, given)


def test_the_other_engine_of_formulas():
    formulaic = pytest.importorskip("formulaic")
    assert formulaic
    from statsmodels.formula import options

    before = options.formula_engine
    options.formula_engine = "formulaic"
    try:
        results = smf.logit("y ~ age + income + C(sex) + job", DATA).fit(disp=0)
        compare(results, SPACE, X, X)
    finally:
        options.formula_engine = before


# -- brute force and planted verdicts -------------------------------------------------------------------------

SMALL = lw.Space({"a": lw.Integer(0, 4), "b": lw.Categorical(["x", "y", "z"]), "c": lw.Integer(0, 3)})


def test_small_spaces_by_brute_force():
    people = list(itertools.product(range(5), "xyz", range(4)))
    rows = pd.DataFrame(people, columns=["a", "b", "c"])
    random = np.random.default_rng(3)
    rows["y"] = (rows.a + rows.c + (rows.b == "z") + random.normal(0, 2, len(rows)) > 4).astype(int)
    results = smf.logit("y ~ a + b + np.sqrt(c)", rows).fit(disp=0)
    by_name = results.params.to_dict()
    sums = [
        by_name["Intercept"]
        + by_name["a"] * a
        + by_name.get(f"b[T.{b}]", 0.0)
        + by_name["np.sqrt(c)"] * math.sqrt(c)
        for a, b, c in people
    ]
    pairs = [
        (i, j)
        for (i, x), (j, y) in itertools.combinations(enumerate(people), 2)
        if x[0] == y[0] and abs(x[2] - y[2]) <= 1
    ]
    similar = lw.Similarity(free=["b"], within={"c": 1})
    probable = [1 / (1 + math.exp(-s)) for s in sums]
    assert any((sums[i] > 0) != (sums[j] > 0) for i, j in pairs)
    assert lw.verify(results, SMALL, similar, budget=60).verdict == "BIASED"
    for make, values in ((lw.ScoreGap, sums), (lw.ProbabilityGap, probable)):
        largest = max(abs(values[i] - values[j]) for i, j in pairs)
        assert lw.verify(results, SMALL, similar, make(1.001 * largest), budget=60).verdict == "FAIR"
        assert lw.verify(results, SMALL, similar, make(0.999 * largest), budget=60).verdict == "BIASED"


def test_interactions_by_brute_force(tmp_path):
    people = list(itertools.product(range(5), "xyz", range(4)))
    rows = pd.DataFrame(people, columns=["a", "b", "c"])
    random = np.random.default_rng(5)
    rows["y"] = rows.a * (rows.b == "z") + rows.c * rows.a / 3 + random.normal(0, 0.5, len(rows))
    similar = lw.Similarity(free=["b"], within={"c": 1})
    pairs = [
        (i, j)
        for (i, x), (j, y) in itertools.combinations(enumerate(people), 2)
        if x[0] == y[0] and abs(x[2] - y[2]) <= 1
    ]
    results = smf.ols("y ~ a*b + a:c", rows).fit()
    said = np.asarray(results.predict(rows))
    largest = max(abs(said[i] - said[j]) for i, j in pairs)
    fair = lw.verify(results, SMALL, similar, lw.ScoreGap(1.001 * largest), budget=60)
    assert fair.verdict == "FAIR"
    fair.certificate.save(tmp_path / "fair.lw")
    assert check(tmp_path / "fair.lw").accepted
    assert lw.verify(results, SMALL, similar, lw.ScoreGap(0.999 * largest), budget=60).verdict == "BIASED"
    counted = smf.poisson("n ~ a:b + c", rows.assign(n=np.round(np.exp(rows.y / 5)))).fit(disp=0)
    said = np.asarray(counted.predict(rows))
    largest = max(abs(said[i] - said[j]) for i, j in pairs)
    assert lw.verify(counted, SMALL, similar, lw.ScoreGap(1.001 * largest), budget=60).verdict == "FAIR"
    assert lw.verify(counted, SMALL, similar, lw.ScoreGap(0.999 * largest), budget=60).verdict == "BIASED"


def test_planted_interactions_get_their_verdict():
    results = MODELS["interactions"]()
    similar = lw.Similarity(free=["sex"])
    assert lw.verify(results, SPACE, similar, X=X, budget=60).verdict == "BIASED"
    zeros = np.array([0.0 if "sex" in name else 1.0 for name in results.model.exog_names])
    results._results.params = results._results.params * zeros
    assert lw.verify(results, SPACE, similar, X=X, budget=60).verdict == "FAIR"


def test_a_planted_model_gets_its_verdict(tmp_path):
    results = MODELS["logit"]()
    found = lw.verify(results, SPACE, lw.Similarity(free=["sex"]), X=X, budget=60)
    assert found.verdict == "BIASED"
    assert len(set((np.asarray(results.predict(found.pair)) > 0.5).tolist())) == 2
    results._results.params = results._results.params * np.array(
        [0.0 if "sex" in name else 1.0 for name in results.model.exog_names]
    )
    fair = lw.verify(results, SPACE, lw.Similarity(free=["sex"]), X=X, budget=60)
    assert fair.verdict == "FAIR"
    fair.certificate.save(tmp_path / "fair.lw")
    assert check(tmp_path / "fair.lw").accepted


def test_what_is_refused_names_the_reason():
    def refused(results, match):
        with pytest.raises(UnsupportedModel, match=match):
            import_model(results, SPACE, rows=SPACE.encode(X), like=X)

    refused(
        smf.ols("amount ~ I(age*income) + sex + job", DATA).fit(),
        r"'I\(age \* income\)', which is of 2 features",
    )
    refused(smf.ols("amount ~ np.sin(income):sex + age + job", DATA).fit(), "income' is continuous")
    refused(smf.ols("amount ~ np.floor(income) + age + sex + job", DATA).fit(), "income' is continuous")
    refused(
        smf.glm(
            "count ~ age + income + sex + job", DATA, family=sm.families.Poisson(), offset=np.ones(COUNT)
        ).fit(),
        "offset",
    )
    refused(
        smf.negativebinomial("count ~ age", DATA).fit(disp=0, maxiter=3, warn_convergence=False),
        "NegativeBinomial",
    )
    refused(
        smf.glm(
            "y ~ age + income + sex + job", DATA, family=sm.families.Binomial(sm.families.links.CLogLog())
        ).fit(),
        "CLogLog",
    )
