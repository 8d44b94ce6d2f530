"""Monotone functions of continuous numbers: the model of u = g(x) is the original, and so are its verdicts."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from tests.conformance.agreement import assert_agrees

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.importers.imported_model import import_model
from likewise.importers.transformers.monotone import (
    EXACT_FUNCTIONS,
    MONOTONE_FUNCTIONS,
    ROOM_UNITS,
    MonotoneMap,
)

RANGES = {
    **dict.fromkeys(MONOTONE_FUNCTIONS, (0.125, 9.5)),
    **dict.fromkeys(("arcsin", "arccos", "arctanh"), (-0.875, 0.9375)),
    **dict.fromkeys(("exp", "exp2", "expm1", "sinh", "cbrt", "arctan", "arcsinh", "tanh"), (-3.5, 5.25)),
    "arccosh": (1.0, 30.0),
    "square": (-7.0, -0.25),
    "reciprocal": (-3.0, -0.0625),
}


def bend(name, lo=None, hi=None):
    lo, hi = RANGES[name] if lo is None else (lo, hi)
    return MonotoneMap(operations=(), function=getattr(np, name), lo=lo, hi=hi)


# -- functions as numpy computes them ---------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(MONOTONE_FUNCTIONS))
def test_every_value_lies_between_the_ends(name):
    """Neighbouring doubles at the ends and all over, in vectors of any length and one by one."""
    one, random = bend(name), np.random.default_rng(0)
    inside = one.range()
    near = [np.float64(one.lo), np.float64(one.hi)]
    for _ in range(500):
        near += [np.nextafter(near[-2], np.inf), np.nextafter(near[-1], -np.inf)]
    numbers = np.concatenate([near, random.uniform(one.lo, one.hi, 5000)])
    for values in (getattr(np, name)(numbers), getattr(np, name)(numbers[::3]), one.of(numbers[:200])):
        assert inside.lo <= values.min()
        assert values.max() <= inside.hi


@pytest.mark.parametrize("name", sorted(MONOTONE_FUNCTIONS))
def test_neighbours_do_not_turn_back_by_more_than_the_room(name):
    one, random = bend(name), np.random.default_rng(1)
    for start in random.uniform(one.lo, one.hi, 40):
        walk = np.array([start + i * np.spacing(np.abs(start)) for i in range(64)])
        values = getattr(np, name)(np.clip(walk, one.lo, one.hi))
        steps = np.diff(values) * np.sign(one.computed(one.hi) - one.computed(one.lo))
        back = 0 if name in EXACT_FUNCTIONS else ROOM_UNITS
        assert steps.min() >= -back * np.spacing(np.abs(values).max())


@pytest.mark.parametrize("name", sorted(MONOTONE_FUNCTIONS))
def test_the_way_back(name):
    one, random = bend(name), np.random.default_rng(2)
    numbers = random.uniform(one.lo, one.hi, 50)
    reached = one.of(numbers)
    assert (one.of(one.nearest(reached)) == reached).all()
    ends = one.of(one.nearest(np.array(one.range().code_range)))
    assert ends.tolist() == sorted((one.computed(one.lo), one.computed(one.hi)))


# -- models -----------------------------------------------------------------------------------------------

SPACE = lw.Space(
    {
        "income": lw.Continuous(0.0, 1e5),
        "debt": lw.Continuous(0.5, 40.0),
        "age": lw.Integer(18, 30),
        "sex": lw.Categorical([0, 1]),
    }
)


def people(seed=0, rows=60):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": random.uniform(0, 1e5, rows),
            "debt": random.uniform(0.5, 40, rows),
            "age": random.integers(18, 31, rows),
            "sex": random.integers(0, 2, rows),
        }
    )
    target = np.log1p(X.income) - 0.5 * np.sqrt(X.debt) + 0.3 * X.sex + random.normal(0, 0.5, rows)
    return X, target, np.where(target > np.median(target), "yes", "no")


X, TARGET, LABELS = people()
LOG, ROOT = FunctionTransformer(np.log1p), FunctionTransformer(np.sqrt)
COLUMNS = {
    "plain": make_column_transformer((LOG, ["income"]), (ROOT, ["debt"]), remainder="passthrough"),
    "scaled": make_pipeline(
        make_column_transformer((LOG, ["income"]), (ROOT, ["debt"]), remainder="passthrough"),
        StandardScaler(),
    ),
    "nested": make_column_transformer(
        (
            make_pipeline(MinMaxScaler((1, 2)), FunctionTransformer(np.log), StandardScaler()),
            ["income", "debt"],
        ),
        remainder=StandardScaler(),
    ),
    "twice": FeatureUnion(
        [
            ("one", make_column_transformer((make_pipeline(LOG, StandardScaler()), ["income"]))),
            (
                "two",
                make_column_transformer((LOG, ["income"]), (FunctionTransformer(np.reciprocal), ["debt"])),
            ),
        ]
    ),
}


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_linear_models(name):
    model = make_pipeline(COLUMNS[name], LogisticRegression(solver="liblinear")).fit(X, LABELS)
    imported = assert_agrees(model, SPACE, X)
    assert imported.space.names[0] == ("log(scaled income)" if name == "nested" else "log1p(income)")
    assert imported.space["age"] == SPACE["age"]


@pytest.mark.parametrize(
    "final", [SVC(gamma=0.2), SVR(kernel="poly", degree=2, gamma=0.1)], ids=["rbf", "poly"]
)
def test_kernel_models(final):
    model = make_pipeline(COLUMNS["scaled"], final).fit(X, LABELS if isinstance(final, SVC) else TARGET)
    assert_agrees(model, SPACE, X)


@pytest.mark.parametrize(
    "after", [PolynomialFeatures(2), MinMaxScaler((0, 0.5), clip=True)], ids=["products", "clip"]
)
def test_products_and_pieces_of_a_function(after):
    imported = assert_agrees(make_pipeline(COLUMNS["plain"], after, Ridge()).fit(X, TARGET), SPACE, X)
    assert imported.space.names[:2] == ("log1p(income)", "sqrt(debt)")


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["plain", "scaled", "nested"])
def test_fair_with_a_certificate_and_biased_on_replay(name, tmp_path):
    """Linear in log1p(income): the largest gap in sex is its weight, in income the whole range."""
    model = make_pipeline(COLUMNS[name], LinearRegression()).fit(X, TARGET)
    gap = np.ptp(model.predict(pd.DataFrame({"income": 5.0, "debt": 1.0, "age": 20, "sex": [0, 1]})))
    sex = lw.Similarity(free=["sex"])
    fair = lw.verify(model, SPACE, sex, lw.ScoreGap(gap * 1.001), X=X)
    assert fair.verdict == "FAIR"
    assert lw.check(fair.certificate.save(tmp_path / "c.likewise")).accepted
    biased = lw.verify(model, SPACE, sex, lw.ScoreGap(gap * 0.999), X=X)
    assert biased.verdict == "BIASED"
    assert list(biased.pair.columns) == list(SPACE.names)
    assert biased.pair.income.between(0, 1e5).all()
    assert np.ptp(model.predict(biased.pair)) > gap * 0.999


def test_free_numbers_reach_both_ends():
    model = make_pipeline(COLUMNS["plain"], LinearRegression()).fit(X, TARGET)
    ends = pd.DataFrame({"income": [0.0, 1e5], "debt": 1.0, "age": 20, "sex": 0})
    gap, free = np.ptp(model.predict(ends)), lw.Similarity(free=["income"])
    assert lw.verify(model, SPACE, free, lw.ScoreGap(gap * (1 + 1e-9)), X=X).verdict == "FAIR"
    biased = lw.verify(model, SPACE, free, lw.ScoreGap(gap * (1 - 1e-9)), X=X)
    assert biased.verdict == "BIASED"
    assert sorted(biased.pair.income) == pytest.approx([0.0, 1e5])
    measured = lw.measure(model, SPACE, free, X=X)
    assert measured.lower == pytest.approx(gap)
    assert measured.upper == pytest.approx(gap)


def test_decisions_of_a_kernel_model():
    """A kernel model of log1p(income), biased in sex: the pair is one of raw incomes, and predict agrees."""
    model = make_pipeline(COLUMNS["scaled"], SVC(gamma=0.3)).fit(X, LABELS)
    result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X)
    assert result.verdict == "BIASED"
    assert set(model.predict(result.pair)) == {"yes", "no"}
    small = make_pipeline(LOG, StandardScaler(), SVR(gamma=0.3)).fit(X[["income", "debt"]], TARGET)
    fair = lw.verify(
        small,
        lw.Space({n: SPACE[n] for n in ("income", "debt")}),
        lw.Similarity(free=["debt"]),
        lw.ScoreGap(20.0),
        X=X,
    )
    assert fair.verdict == "FAIR"


def test_the_codes_of_a_witness_are_what_the_program_computes():
    model = make_pipeline(COLUMNS["plain"], LogisticRegression(solver="liblinear")).fit(X, LABELS)
    result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X)
    assert result.verdict == "BIASED"
    with gzip.open(io.BytesIO(result.certificate.content), "rt") as lines:
        *claim, witness, _ = (json.loads(line) for line in lines)
    assert claim[1]["space"]["features"][0]["name"] == "log1p(income)"
    codes = [float.fromhex(witness["witness"][side][0]) for side in ("x", "other")]
    assert codes == [float(np.log1p(x)) for x in result.pair.income]


def test_missing_values_before_the_function():
    frame = X.copy()
    frame.loc[::4, "income"] = np.nan
    space = SPACE.replace(income=lw.Continuous(0, 1e5, missing=True))
    columns = ColumnTransformer(
        [("income", make_pipeline(SimpleImputer(), LOG), ["income"])], remainder="passthrough"
    )
    model = make_pipeline(columns, LogisticRegression(solver="liblinear")).fit(frame, LABELS)
    imported = assert_agrees(model, space, frame)
    assert "missing income is treated as" in imported.recoding.notes[0]


# -- refusals ---------------------------------------------------------------------------------------------


def fitted(columns, names=("income", "debt")):
    return make_pipeline(columns, LogisticRegression(solver="liblinear")).fit(X[list(names)], LABELS)


RANKS = QuantileTransformer(n_quantiles=20)
TWO = lw.Space({name: SPACE[name] for name in ("income", "debt")})


@pytest.mark.some_days
@pytest.mark.parametrize(
    ("columns", "space", "said"),
    [
        (FunctionTransformer(np.sin), TWO, "takes numpy.sin"),  # turns too often
        (FunctionTransformer(np.log), TWO, "takes numpy.log"),  # of 0
        (make_pipeline(LOG, RANKS), TWO, "puts quantiles in place of numbers"),
        (make_pipeline(RANKS, FunctionTransformer(np.tan)), TWO, "takes numpy.tan"),
        (make_pipeline(LOG, KBinsDiscretizer(2, strategy="uniform")), TWO, "cuts numbers into bins"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_refused(columns, space, said):
    frame = X[["income", "debt"]] if "sqrt" not in said else X
    model = fitted(columns)
    with pytest.raises(UnsupportedModel) as caught:
        import_model(model, space, rows=np.empty((0, 2)), like=frame)
    assert said in str(caught.value)


def test_a_tolerance_of_what_is_too_steep():
    """How far the inverse sine moves next to 1 is not known, so that nothing is proved: the model is asked. (Of log1p and quantiles it is: test_curve_pieces, test_quantile_pieces.)"""
    shares, space = X[["debt"]] / 40, lw.Space({"debt": lw.Continuous(0.0, 1.0)})
    model = make_pipeline(FunctionTransformer(np.arcsin), LogisticRegression()).fit(shares, LABELS)
    result = lw.verify(model, space, lw.Similarity(within={"debt": 0.1}), X=shares, budget=60)
    assert result.verdict == "BIASED"
    assert np.ptp(result.pair["debt"]) <= 0.1
    assert "the model sees arcsin(debt)" in result.stats["black_box"]


# -- fitted functions -------------------------------------------------------------------------------------

FITTED = {
    "yeo-johnson": PowerTransformer(),
    "yeo-johnson as it is": PowerTransformer(standardize=False),
    "box-cox": PowerTransformer(method="box-cox"),
    "uniform": QuantileTransformer(n_quantiles=20),
    "normal": QuantileTransformer(n_quantiles=30, output_distribution="normal"),
}
DRAWN = np.random.default_rng(5)
SAMPLES = {
    "positive": DRAWN.lognormal(3, 2, 200),
    "skewed to the left": 40 - DRAWN.exponential(3, 200),
    "with ties": np.maximum(DRAWN.normal(5, 4, 200).round(), 1.0),
    "both signs": DRAWN.normal(-2, 30, 200),
}


def fitted_bends(name, sample):
    """The function that is read of a fitted transformer, and the transformer."""
    numbers = SAMPLES[sample]
    if name == "box-cox":
        numbers = numbers - min(numbers.min(), 0) + 0.5
    frame = pd.DataFrame({"x": numbers})
    transformer = FITTED[name].fit(frame)
    lo = numbers.min() / 2 if name == "box-cox" else numbers.min() - 1
    space = lw.Space({"x": lw.Continuous(float(lo), float(numbers.max() + 1))})
    model = make_pipeline(transformer, LinearRegression().fit(transformer.transform(frame), numbers))
    return import_model(model, space, rows=space.encode(frame)).recoding.parts[0].bend, transformer


@pytest.mark.draw(3)
@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", FITTED)
def test_fitted_functions_are_the_transformers_own(name, sample):
    one, transformer = fitted_bends(name, sample)
    inside, numbers = one.range(), DRAWN.uniform(one.lo, one.hi, 400)
    ends = [one.lo, one.hi]
    for _ in range(100):
        ends += [np.nextafter(ends[-2], np.inf), np.nextafter(ends[-1], -np.inf)]
    at = getattr(one.function, "quantiles", ())
    places = [
        q for q in at for q in (np.nextafter(q, -np.inf), q, np.nextafter(q, np.inf), q - 1e-7, q + 1e-7)
    ]
    numbers = np.array([*numbers, *ends, *(q for q in places if one.lo <= q <= one.hi)])
    theirs = transformer.transform(pd.DataFrame({"x": numbers}))[:, 0]
    assert inside.lo <= theirs.min()
    assert theirs.max() <= inside.hi
    line = one.line()
    allowed = float(2 * line.roundings * 2.0**-53) * (np.abs(theirs) + float(line.slack))
    assert (np.abs(one.of(numbers) - theirs) <= allowed).all()
    back = np.minimum.accumulate(theirs[np.argsort(numbers)][::-1])[::-1]
    assert (theirs[np.argsort(numbers)] - back <= one.function.room(one.lo, one.hi)).all()


@pytest.mark.draw(3)
@pytest.mark.parametrize("name", FITTED)
def test_the_way_back_from_fitted_functions(name):
    one, _ = fitted_bends(name, "positive")
    reached = one.of(DRAWN.uniform(one.lo, one.hi, 30))
    assert (one.of(one.nearest(reached)) == reached).all()


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    "final",
    [LogisticRegression(), SVC(gamma=0.2), make_pipeline(PCA(3), Ridge())],
    ids=["linear", "rbf", "components"],
)
@pytest.mark.parametrize("name", ["yeo-johnson", "normal"])
def test_models_behind_fitted_functions(name, final):
    columns = make_column_transformer((FITTED[name], ["income", "debt"]), remainder="passthrough")
    labels = LABELS if not hasattr(final, "steps") else TARGET
    imported = assert_agrees(make_pipeline(columns, final).fit(X, labels), SPACE, X)
    kind = "power" if name == "yeo-johnson" else "quantile"
    assert imported.space.names[:2] == (f"{kind}(income)", f"{kind}(debt)")


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["box-cox", "uniform"])
def test_verdicts_behind_fitted_functions(name):
    """Linear in what is seen of the debt: the largest gap in sex is its weight, that in debt what its ends are apart."""
    columns = make_column_transformer((FITTED[name], ["debt"]), ("passthrough", ["sex"]))
    model = make_pipeline(columns, LinearRegression()).fit(X, TARGET)
    base = pd.DataFrame({"income": 5.0, "debt": 1.0, "age": 20, "sex": [0, 1]})
    gap = np.ptp(model.predict(base))
    sex = lw.Similarity(free=["sex"])
    fair = lw.verify(model, SPACE, sex, lw.ScoreGap(gap * 1.001), X=X)
    assert fair.verdict == "FAIR"
    assert lw.verify(model, SPACE, sex, lw.ScoreGap(gap * 0.999), X=X).verdict == "BIASED"
    whole = np.ptp(model.predict(base.assign(debt=[0.5, 40.0], sex=0)))
    found = lw.measure(model, SPACE, lw.Similarity(free=["debt"]), of="score", X=X)
    assert found.lower == pytest.approx(whole, rel=1e-6)
    assert found.upper == pytest.approx(whole, rel=1e-6)
    near = lw.verify(model, SPACE, lw.Similarity(within={"debt": 1.0}), lw.ScoreGap(1e-4), X=X, budget=60)
    assert near.verdict == "BIASED"
    assert np.ptp(near.pair["debt"]) <= 1.0
