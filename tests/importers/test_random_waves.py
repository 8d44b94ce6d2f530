"""RBFSampler in front of linear models: its cosines are rows of bumps within a proved distance, and verdicts are those of the original.

Cosines are compared with balls of python-flint, models with their own predict, verdicts with everybody in small spaces.
"""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from flint import arb, ctx, fmpq
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from tests.conformance.agreement import assert_agrees

import likewise as lw
from likewise.importers.imported_model import import_model
from likewise.importers.random_waves import WaveBodies, find_waves
from likewise.model.embedding import Column

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "income": RANDOM.uniform(0, 9, 120),
        "age": RANDOM.integers(20, 30, 120),
        "job": RANDOM.choice([*"abc"], 120),
        "sex": RANDOM.choice([*"fm"], 120),
    }
)
TARGET = np.sin(X.income) + 0.1 * X.age + 0.5 * (X.sex == "m") + RANDOM.normal(0, 0.1, 120)
LABELS = np.where(np.median(TARGET) < TARGET, "yes", "no")
SPACE = lw.Space(
    {
        "income": lw.Continuous(0, 9),
        "age": lw.Integer(20, 29),
        "job": lw.Categorical([*"abc"]),
        "sex": lw.Categorical([*"fm"]),
    }
)
COLUMNS = make_column_transformer(
    (StandardScaler(), ["income", "age"]), (OneHotEncoder(), ["job", "sex"]), sparse_threshold=0
)


def waves(count=12, gamma=0.3, **more):
    return RBFSampler(gamma=gamma, n_components=count, random_state=1, **more)


def test_bumps_are_next_to_the_cosine():
    """At random numbers of the range, at both ends, and where the cosine is largest, zero and smallest."""
    space = lw.Space({"x": lw.Continuous(-30.0, 55.0)})
    model = make_pipeline(waves(6, 4.0), Ridge()).fit(np.linspace(-30, 55, 40)[:, None], np.arange(40))
    found = find_waves(model.steps[:-1], model[-1])
    bodies = WaveBodies(found, (Column(feature=0),), space)
    random = np.random.default_rng(2)
    for i, (one, distance) in enumerate(zip(bodies.models, bodies.distances, strict=True)):
        weight, offset = Fraction(float(found.weights[0, i])), Fraction(float(found.offsets[i]))
        score = one.body.score(one.embedding, 1)
        turns = [(k * np.pi / 2 - float(offset)) / float(weight) for k in range(-40, 40)]
        places = [-30.0, 55.0, *random.uniform(-30, 55, 12), *(x for x in turns if -30 <= x <= 55)][:40]
        for x in map(float, places):
            z = offset + weight * Fraction(x)
            with ctx.workprec(200):
                exact = arb(fmpq(z.numerator, z.denominator)).cos()
                made = score.enclose([Fraction(x)], 120).middle
                off = abs(arb(fmpq(made.numerator, made.denominator)) - exact)
                assert off <= arb(fmpq(distance.numerator, distance.denominator)) + arb(2) ** -100
        assert 0 < distance < Fraction(1, 10**9)


@pytest.mark.some_days
@pytest.mark.parametrize(
    "final", [LogisticRegression(), SGDClassifier(random_state=0)], ids=["logistic", "sgd"]
)
@pytest.mark.parametrize("after", [(), (StandardScaler(),)], ids=["plain", "scaled"])
def test_classifiers_agree(final, after):
    assert_agrees(make_pipeline(COLUMNS, waves(), *after, final).fit(X, LABELS), SPACE, X)


def test_regressors_nested_pipelines_and_bins_agree():
    assert_agrees(make_pipeline(COLUMNS, make_pipeline(waves(), Ridge())).fit(X, TARGET), SPACE, X)
    bins = make_column_transformer(
        (KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf"), ["income", "age"]),
        (OneHotEncoder(), ["job", "sex"]),
        sparse_threshold=0,
    )
    assert_agrees(make_pipeline(bins, waves(), Ridge()).fit(X, TARGET), SPACE, X)


@pytest.mark.some_days
def test_several_classes():
    labels = np.searchsorted(np.quantile(TARGET, [0.3, 0.6]), TARGET)
    model = make_pipeline(COLUMNS, waves(), LogisticRegression()).fit(X, labels)
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    assert imported.model.n_scores == 3
    result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X, budget=20)
    assert result.verdict == "BIASED"
    assert len(set(model.predict(result.pair))) == 2


# -- verdicts ---------------------------------------------------------------------------------------------


def test_planted_bias_is_shown_and_certified(tmp_path):
    model = make_pipeline(COLUMNS, waves(40), LogisticRegression(C=100)).fit(X, LABELS)
    result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X, budget=30)
    assert result.verdict == "BIASED"
    assert "black_box" not in result.stats
    assert set(model.predict(result.pair)) == {"yes", "no"}
    assert lw.check(result.certificate.save(tmp_path / "c.likewise")).accepted


def test_what_is_not_read_makes_no_difference(tmp_path):
    """sex is dropped in front of the cosines: fair, with a certificate, which no black box gets."""
    columns = make_column_transformer(
        (StandardScaler(), ["income", "age"]), (OneHotEncoder(), ["job"]), sparse_threshold=0
    )
    model = make_pipeline(columns, waves(40), LogisticRegression()).fit(X, LABELS)
    fair = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X, budget=30)
    assert fair.verdict == "FAIR"
    assert lw.check(fair.certificate.save(tmp_path / "c.likewise")).accepted


@pytest.mark.slow
def test_small_spaces_by_brute_force(tmp_path):
    """Everybody of 30, with sex free and a within 1."""
    rows = pd.DataFrame([*itertools.product(range(5), range(3), (0, 1))], columns=["a", "b", "sex"])
    target = np.cos(rows.a) + 0.3 * rows.b + 0.2 * rows.sex
    model = make_pipeline(StandardScaler(), waves(3), LinearRegression()).fit(rows, target)
    said = dict(zip(rows.itertuples(index=False, name=None), model.predict(rows), strict=True))
    gap = max(
        abs(said[x] - said[y])
        for x, y in itertools.product(said, said)
        if abs(x[0] - y[0]) <= 1 and x[1] == y[1]
    )
    space = lw.Space({"a": lw.Integer(0, 4), "b": lw.Integer(0, 2), "sex": lw.Categorical([0, 1])})
    similar = lw.Similarity(free=["sex"], within={"a": 1})
    fair = lw.verify(model, space, similar, lw.ScoreGap(gap * (1 + 1e-6)), X=rows, budget=60)
    assert fair.verdict == "FAIR", fair.reason
    assert lw.check(fair.certificate.save(tmp_path / "c.likewise")).accepted
    biased = lw.verify(model, space, similar, lw.ScoreGap(gap * (1 - 1e-6)), X=rows, budget=60)
    assert biased.verdict == "BIASED"
    assert np.ptp(model.predict(biased.pair)) > gap * (1 - 1e-6)


def test_a_continuous_number_is_proved_about(tmp_path):
    """Two cosines of one number and sex: the largest gap in sex over a fine grid has a proof close to it."""
    rows = pd.DataFrame({"x": RANDOM.uniform(-1, 1, 60), "sex": RANDOM.integers(0, 2, 60)})
    model = make_pipeline(waves(2, 0.2), LinearRegression()).fit(rows, rows.x**2 + 0.2 * rows.sex)
    space = lw.Space({"x": lw.Continuous(-1, 1), "sex": lw.Categorical([0, 1])})
    grid = np.linspace(-1, 1, 4001)
    gap = np.abs(np.subtract(*(model.predict(pd.DataFrame({"x": grid, "sex": s})) for s in (0, 1)))).max()
    fair = lw.verify(model, space, lw.Similarity(free=["sex"]), lw.ScoreGap(gap * 1.2), X=rows, budget=60)
    assert fair.verdict == "FAIR", fair.reason
    assert lw.check(fair.certificate.save(tmp_path / "c.likewise")).accepted


def test_behind_what_mixes_columns_it_is_asked():
    model = make_pipeline(COLUMNS, PCA(2), waves(), LogisticRegression()).fit(X, LABELS)
    result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X, budget=5)
    assert "mixes columns" in result.stats["black_box"]
