"""Kernel models behind what mixes or bends columns: as the program on and beside every threshold, and proved about."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.families.registry import score_judge_of
from likewise.importers.imported_model import import_model
from likewise_check import check

RANDOM = np.random.default_rng(4)
ROWS = 60
X = pd.DataFrame(
    {
        "income": RANDOM.uniform(0, 10, ROWS),
        "debt": RANDOM.uniform(0, 5, ROWS),
        "sex": RANDOM.choice(["f", "m"], ROWS),
    }
)
MERIT = X.income / 4 - X.debt / 3
SPACE = lw.Space(
    {"income": lw.Continuous(0, 10), "debt": lw.Continuous(0, 5), "sex": lw.Categorical(["f", "m"])}
)
SEX = lw.Similarity(free=["sex"])
WITH_GAPS = X.assign(income=X.income.where(RANDOM.random(ROWS) > 0.2))
GAPS = SPACE.replace({"income": lw.Continuous(0, 10, missing=True)})


def columns(numbers, *, blind=False):
    sex = [] if blind else [("sex", OneHotEncoder(), ["sex"])]
    return ColumnTransformer([("income", numbers, ["income"]), ("debt", StandardScaler(), ["debt"]), *sex])


def bins(encode):
    return KBinsDiscretizer(4, encode=encode, quantile_method="averaged_inverted_cdf")


FRONTS = {
    "bins": lambda **more: [columns(bins("onehot-dense"), **more)],
    "ordinal bins": lambda **more: [columns(bins("ordinal"), **more)],
    "bins of a scaled number": lambda **more: [
        columns(make_pipeline(StandardScaler(), bins("onehot-dense")), **more)
    ],
    "splines": lambda **more: [columns(SplineTransformer(4, degree=3), **more)],
    "straight splines": lambda **more: [columns(SplineTransformer(4, degree=1), **more)],
    "clipped": lambda **more: [columns(MinMaxScaler((0.2, 0.8), clip=True), **more)],
    "two components": lambda **more: [columns(StandardScaler(), **more), PCA(2)],
    "one component": lambda **more: [columns(StandardScaler(), **more), TruncatedSVD(1)],
    "components of bins": lambda **more: [columns(bins("onehot-dense"), **more), PCA(2)],
}
MODELS = {
    "machine": lambda: SVR(gamma=0.2),
    "ridge": lambda: KernelRidge(kernel="rbf", gamma=0.2, alpha=1.0),
    "laplacian": lambda: KernelRidge(kernel="laplacian", gamma=0.2, alpha=1.0),
}


def fitted(front, model, *, rows=X, target=MERIT, blind=False):
    return make_pipeline(*FRONTS[front](blind=blind), MODELS[model]()).fit(rows, target)


def beside(numbers):
    """Numbers and the doubles next to them."""
    return [v for n in numbers for v in (np.nextafter(n, -np.inf), n, np.nextafter(n, np.inf))]


@pytest.mark.draw(9)
@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("model", MODELS)
def test_scores_are_those_of_the_program_on_and_beside_every_threshold(front, model):
    original = fitted(front, model)
    imported = import_model(original, SPACE, rows=SPACE.encode(X), like=X)
    assert imported.model.body.family == "mixed"
    cuts = [float(c) for one in imported.model.embedding if one.pieces is not None for c in one.pieces.cuts]
    incomes = [n for n in (*beside(sorted(set(cuts))), *np.linspace(0, 10, 7)) if 0 <= n <= 10]
    asked = pd.DataFrame(
        list(itertools.product(incomes, [0.0, 2.3, 5.0], ["f", "m"])), columns=["income", "debt", "sex"]
    )
    score = imported.model.body.score(imported.model.embedding, 3)
    codes = imported.space.encode(asked)
    expected = original.predict(asked)
    assert np.abs(score.scores(codes) - expected).max() < 1e-9 * (1 + np.abs(expected).max())
    for i in range(0, len(codes), 11):
        enclosed = score.enclose([Fraction(c) for c in codes[i].tolist()], 128)
        assert abs(float(enclosed.middle) - expected[i]) < 1e-9 * (1 + abs(expected[i]))
    grid = score_judge_of(score).cross(codes, [2], np.array([[0.0], [1.0]]))
    assert (np.abs(grid.values[:, 0] - score.scores(with_sex(codes, 0))) <= grid.error[:, 0] + 1e-12).all()
    assert grid.error.max() < 1e-9


def with_sex(codes, sex):
    changed = codes.copy()
    changed[:, 2] = sex
    return changed


def largest_gap(model, space=SPACE, missing=False):
    """By asking the program about a grid."""
    incomes = [*np.linspace(0, 10, 81), *([np.nan] if missing else [])]
    grid = pd.DataFrame(list(itertools.product(incomes, np.linspace(0, 5, 41))), columns=["income", "debt"])
    one, other = (model.predict(grid.assign(sex=sex)) for sex in ("f", "m"))
    return float(np.abs(one - other).max())


@pytest.mark.draw(2)
@pytest.mark.parametrize(
    ("front", "model"),
    [
        ("bins", "machine"),
        ("ordinal bins", "ridge"),
        ("clipped", "machine"),
        ("two components", "machine"),
        pytest.param("one component", "machine", marks=pytest.mark.slow),
        ("components of bins", "machine"),
        pytest.param("splines", "machine", marks=pytest.mark.slow),
        pytest.param("straight splines", "machine", marks=pytest.mark.slow),
        pytest.param("bins", "laplacian", marks=pytest.mark.slow),
    ],
)
def test_gaps_are_proved_and_refuted(front, model, tmp_path):
    original = fitted(front, model)
    largest = largest_gap(original)
    fair = lw.verify(original, SPACE, SEX, lw.ScoreGap(2.5 * largest), budget=120)
    assert fair.verdict == "FAIR", fair
    fair.certificate.save(tmp_path / "fair.lw")
    assert check(tmp_path / "fair.lw").accepted
    biased = lw.verify(original, SPACE, SEX, lw.ScoreGap(0.9 * largest), budget=120)
    assert biased.verdict == "BIASED"
    biased.certificate.save(tmp_path / "biased.lw")
    assert check(tmp_path / "biased.lw").accepted
    said = original.predict(biased.pair)
    assert abs(said[0] - said[1]) > 0.9 * largest


@pytest.mark.parametrize("front", FRONTS)
def test_a_model_that_does_not_see_is_fair(front):
    blind = fitted(front, "machine", blind=True)
    assert lw.verify(blind, SPACE, SEX, lw.ScoreGap(0), budget=60).verdict == "FAIR"


def test_decisions_of_a_machine_that_looks_at_sex():
    model = make_pipeline(columns(StandardScaler()), PCA(2), SVC(gamma=0.3))
    model.fit(X, (X.income + 6 * (X.sex == "m") > 8).astype(int))
    result = lw.verify(model, SPACE, SEX, budget=60)
    assert result.verdict == "BIASED"
    assert len(set(model.predict(result.pair))) == 2


def indicated(model):
    """Numbers with an indicator of what is missing."""
    front = columns(make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()))
    return make_pipeline(front, model).fit(WITH_GAPS, MERIT)


@pytest.mark.some_days
def test_what_is_missing_is_told_from_numbers_and_proved(tmp_path):
    model = indicated(SVR(gamma=0.2))
    largest = largest_gap(model, missing=True)
    fair = lw.verify(model, GAPS, SEX, lw.ScoreGap(2.5 * largest), X=WITH_GAPS, budget=120)
    assert fair.verdict == "FAIR", fair
    fair.certificate.save(tmp_path / "fair.lw")
    assert check(tmp_path / "fair.lw").accepted
    free = lw.Similarity(free=["income"])
    asked = pd.DataFrame({"income": [np.nan, *np.linspace(0, 10, 201)], "debt": 2.5, "sex": "f"})
    said = model.predict(asked)
    apart = np.abs(said - said[0]).max()
    biased = lw.verify(model, GAPS, free, lw.ScoreGap(0.9 * apart), X=WITH_GAPS, budget=120)
    assert biased.verdict == "BIASED"


def test_a_missing_number_that_makes_all_the_difference_is_found():
    target = np.where(WITH_GAPS.income.isna(), 5.0, 0.0)
    front = columns(make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()))
    model = make_pipeline(front, SVR(gamma=0.2)).fit(WITH_GAPS, target)
    found = lw.verify(model, GAPS, lw.Similarity(free=["income"]), lw.ScoreGap(3), X=WITH_GAPS, budget=60)
    assert found.verdict == "BIASED"
    assert found.pair.income.isna().sum() == 1


def test_constraints_and_tolerances_speak_of_the_number_itself():
    model = fitted("bins", "machine")
    ruled = lw.Space(dict(SPACE.features), constraints=["debt <= income"])
    near = lw.Similarity(free=["sex"], within={"debt": 0.5})
    result = lw.verify(model, ruled, near, lw.ScoreGap(4), budget=60)
    assert result.verdict == "FAIR"


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            lambda: make_pipeline(columns(bins("onehot-dense")), SVR(kernel="poly", degree=2)),
            "bins or splines",
        ),
        (
            lambda: make_pipeline(columns(StandardScaler()), PCA(2), FunctionTransformer(np.sin), SVR()),
            "sin|function",
        ),
    ],
)
def test_what_is_not_taken_names_the_reason(model, reason):
    with pytest.raises(UnsupportedModel, match=reason):
        import_model(model().fit(X, MERIT), SPACE, rows=SPACE.encode(X), like=X)
