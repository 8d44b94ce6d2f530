"""Missing values in front of models: the imported model is the original, and verdicts are those of exhaustion."""

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from tests.conformance.agreement import assert_agrees

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.importers.imported_model import import_model
from likewise.importers.transformers import model_space

SPACE = lw.Space(
    {
        "age": lw.Integer(18, 30, missing=True),
        "income": lw.Continuous(-2.5, 40.0, missing=True),
        "city": lw.Categorical(["berlin", "oslo", "rome", None]),
        "stars": lw.Ordinal([0.5, 1.0, 4.0, None]),
    }
)
NUMBERS = ["age", "income", "stars"]


def gappy(seed=0, rows=60, make=pd.DataFrame):
    random = np.random.default_rng(seed)
    full = {
        "age": random.integers(18, 31, rows),
        "income": random.uniform(-2.5, 40, rows),
        "city": random.choice(["berlin", "oslo", "rome"], rows),
        "stars": random.choice([0.5, 1.0, 4.0], rows),
    }
    target = (
        0.1 * full["age"] - 0.05 * full["income"] + (full["city"] == "oslo") + random.normal(0, 0.5, rows)
    )
    holes = {name: random.random(rows) < 0.2 for name in full}
    columns = {
        name: [None if hole else value for value, hole in zip(values.tolist(), holes[name], strict=True)]
        for name, values in full.items()
    }
    target = target + 2 * holes["income"]
    return make(columns), target, np.where(target > np.median(target), "yes", "no")


X, TARGET, LABELS = gappy()

WORDS = ("words", OneHotEncoder(), ["city"])
IMPUTED = {
    "mean": SimpleImputer(),
    "median": SimpleImputer(strategy="median"),
    "frequent": SimpleImputer(strategy="most_frequent"),
    "outside": SimpleImputer(strategy="constant", fill_value=-99.0),
    "marked": SimpleImputer(add_indicator=True),
    "marked-outside": SimpleImputer(strategy="constant", fill_value=99.0, add_indicator=True),
    "scaled-before": make_pipeline(StandardScaler(), SimpleImputer()),
    "scaled-after": make_pipeline(SimpleImputer(), StandardScaler(), SimpleImputer(add_indicator=True)),
    "beside": FeatureUnion([("numbers", SimpleImputer()), ("gaps", MissingIndicator(features="all"))]),
    "binned": make_pipeline(SimpleImputer(), KBinsDiscretizer(3, encode="ordinal", strategy="uniform")),
}


def piped(numbers, model, frame=X, answers=LABELS):
    columns = ColumnTransformer([("numbers", numbers, NUMBERS), WORDS])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(columns, model).fit(frame, answers)


@pytest.mark.draw(3)
@pytest.mark.parametrize("name", sorted(IMPUTED))
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_linear_models(name, make):
    frame, _, labels = gappy(make=make)
    model = piped(IMPUTED[name], LogisticRegression(solver="liblinear"), frame, labels)
    imported = assert_agrees(model, SPACE, frame)
    told = name in ("outside", "marked", "marked-outside", "scaled-before", "beside")
    assert imported.space["income"].hi == (SPACE["income"].missing_code if told else 40.0)


@pytest.mark.draw(3)
@pytest.mark.parametrize(
    "model", [SVC(gamma=0.1), SVR(kernel="poly", degree=2, gamma=0.05)], ids=["rbf", "poly"]
)
@pytest.mark.parametrize("name", ["mean", "frequent", "scaled-after"])
def test_kernel_models(name, model):
    numbers = make_pipeline(IMPUTED[name], StandardScaler())
    assert_agrees(piped(numbers, model, answers=LABELS if isinstance(model, SVC) else TARGET), SPACE, X)


@pytest.mark.draw(7)
@pytest.mark.parametrize(
    "words",
    [
        OneHotEncoder(drop="first"),
        OneHotEncoder(handle_unknown="ignore", min_frequency=10),
        OrdinalEncoder(encoded_missing_value=-7),
        make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
        make_pipeline(SimpleImputer(strategy="constant", fill_value="nowhere"), OneHotEncoder()),
        make_pipeline(OrdinalEncoder(), SimpleImputer()),
    ],
    ids=["one-hot", "infrequent", "ordinal", "frequent", "nowhere", "numbered"],
)
@pytest.mark.parametrize("marker", [None, np.nan], ids=["None", "NaN"])
def test_levels_that_may_be_missing(words, marker):
    frame = X[["city"]].astype(object)
    frame[frame.isna()] = marker
    space = lw.Space({"city": SPACE["city"]})
    if marker is None and "SimpleImputer" in repr(words) and "OrdinalEncoder" not in repr(words):
        words = clone_with(words, None)
    assert_agrees(make_pipeline(words, LogisticRegression()).fit(frame, LABELS), space, frame)


def clone_with(pipeline, marker):
    from sklearn.base import clone

    return clone(pipeline).set_params(simpleimputer__missing_values=marker)


def test_a_feature_that_nobody_looks_at_may_be_missing():
    columns = ColumnTransformer([("age", SimpleImputer(), ["age"])])
    model = make_pipeline(columns, LogisticRegression()).fit(X, LABELS)
    imported = assert_agrees(model, SPACE, X)
    assert imported.space["income"] == lw.Continuous(-2.5, 40.0)
    assert imported.recoding.notes == ()


def test_the_claim_says_what_missing_is_treated_as():
    model = piped(SimpleImputer(strategy="constant", fill_value=20.0), LogisticRegression(solver="liblinear"))
    result = lw.verify(model, SPACE, lw.Similarity(free=["city"]), X=X)
    assert "missing income is treated as 20, which is in the space" in result.claimed.in_words()
    assert "missing age is treated as 20" in str(result).replace("\n", " ").replace("         ", "")


# -- verdicts by exhaustion -------------------------------------------------------------------------------

SMALL = lw.Space(
    {
        "age": lw.Integer(1, 5, missing=True),
        "shoes": lw.Integer(0, 2, missing=True),
        "grade": lw.Ordinal(["low", "mid", "high", None]),
    }
)


def everybody():
    values = [[1, 2, 3, 4, 5, None], [0, 1, 2, None], ["low", "mid", "high", None]]
    rows = list(itertools.product(*values))
    return pd.DataFrame(rows, columns=list(SMALL.names)).astype({"age": float, "shoes": float}), rows


def similar(x, other, within):
    """By the definition: a value is beside itself; missing is beside nothing else unless free."""
    order = {"low": 0, "mid": 1, "high": 2}
    for name, a, b in zip(SMALL.names, x, other, strict=True):
        if a == b or name == "shoes":
            continue
        if name not in within or a is None or b is None:
            return False
        apart = abs(order[a] - order[b]) if name == "grade" else abs(a - b)
        if apart > within[name]:
            return False
    return True


def models(seed):
    random = np.random.default_rng(seed)
    frame, _ = everybody()
    target = random.normal(0, 1, len(frame)) + frame.age.fillna(random.choice([0, 3, 9])) * random.choice(
        [0.0, 1.0]
    )
    return frame, target


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    ("family", "imputer", "seed"),
    [
        *itertools.product(["affine", "polynomial"], ["inside", "mean", "marked"], [0, 1]),
        ("rbf", "inside", 0),
        ("rbf", "mean", 1),
        pytest.param("rbf", "marked", 0, marks=pytest.mark.slow),
        pytest.param("rbf", "marked", 1, marks=pytest.mark.slow),
    ],
)
def test_gaps_are_those_of_exhaustion(family, imputer, seed):
    """The largest gap of predictions over all similar pairs, found by looking at every one."""
    frame, target = models(seed)
    _, rows = everybody()
    numbers = {
        "inside": SimpleImputer(strategy="constant", fill_value=2.0),
        "mean": SimpleImputer(),
        "marked": SimpleImputer(add_indicator=True),
    }[imputer]
    final = {
        "affine": LinearRegression(),
        "rbf": SVR(gamma=0.4, C=5.0),
        "polynomial": SVR(kernel="poly", degree=2, gamma=0.3, coef0=1.0),
    }[family]
    columns = make_column_transformer(
        (numbers, ["age", "shoes"]), (OrdinalEncoder(encoded_missing_value=-1), ["grade"])
    )
    model = make_pipeline(columns, final).fit(frame, target)
    within = {"age": 1 + seed, "grade": 1}
    scores = model.predict(frame)
    largest = max(
        abs(scores[i] - scores[j])
        for (i, x), (j, other) in itertools.combinations(enumerate(rows), 2)
        if similar(x, other, within)
    )
    how = lw.Similarity(free=["shoes"], within=within)
    above = lw.verify(model, SMALL, how, lw.ScoreGap(largest * 1.001 + 1e-9), X=frame)
    assert above.verdict == "FAIR"
    below = lw.verify(model, SMALL, how, lw.ScoreGap(largest * 0.999 - 1e-9), X=frame)
    assert below.verdict == "BIASED"
    x, other = ([None if v != v else v for v in row] for row in below.pair.to_numpy(dtype=object).tolist())
    assert similar(x, other, within)


def test_missing_continuous_numbers_that_are_free():
    """An indicator and a fill outside of the range: the gap is between missing and some number."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"income": random.uniform(0, 10, 80), "age": random.integers(20, 40, 80)})
    frame.loc[::5, "income"] = np.nan
    target = frame.income.fillna(30) + 0.1 * frame.age
    columns = make_column_transformer(
        (SimpleImputer(strategy="constant", fill_value=-5.0, add_indicator=True), ["income"]),
        remainder="passthrough",
    )
    model = make_pipeline(columns, LinearRegression()).fit(frame, target)
    space = lw.Space({"income": lw.Continuous(0, 10, missing=True), "age": lw.Integer(20, 39)})
    predicted = model.predict(pd.DataFrame({"income": [0.0, 10.0, np.nan], "age": [30] * 3}))
    largest = predicted.max() - predicted.min()
    assert largest == abs(predicted[2] - predicted[:2]).max()
    how = lw.Similarity(free=["income"])
    assert lw.verify(model, space, how, lw.ScoreGap(largest + 1e-6), X=frame).verdict == "FAIR"
    biased = lw.verify(model, space, how, lw.ScoreGap(largest - 1e-6), X=frame)
    assert biased.verdict == "BIASED"
    assert biased.pair.income.isna().sum() == 1
    same = lw.verify(model, space, lw.Similarity(free=["age"]), lw.ScoreGap(2.0), X=frame)
    assert same.verdict == "FAIR"
    near = lw.verify(
        model, space, lw.Similarity(within={"income": 1.0}), lw.ScoreGap(1e-4), X=frame, budget=60
    )
    assert "tells a missing 'income' from every number" in near.stats["black_box"]  # so it is asked
    assert near.verdict == "BIASED"
    assert near.pair.income.notna().all()
    assert np.ptp(near.pair.income) <= 1.0


def test_missing_continuous_numbers_within_a_tolerance():
    """Treated as a number of the range: missing beside missing is that number beside itself."""
    frame = pd.DataFrame({"income": [1.0, 2.0, np.nan, 6.0, 3.0], "age": [1, 2, 3, 4, 5]})
    model = make_pipeline(SimpleImputer(), LinearRegression()).fit(frame, [1.0, 2.0, 2.5, 6.0, 3.5])
    space = lw.Space({"income": lw.Continuous(0, 10, missing=True), "age": lw.Integer(1, 5)})
    weight = abs(model[-1].coef_[0])
    how = lw.Similarity(within={"income": 2})
    assert lw.verify(model, space, how, lw.ScoreGap(2.001 * weight), X=frame).verdict == "FAIR"
    assert lw.verify(model, space, how, lw.ScoreGap(1.999 * weight), X=frame).verdict == "BIASED"
    wide = lw.Similarity(within={"income": 100})
    assert lw.verify(model, space, wide, lw.ScoreGap(10.001 * weight), X=frame).verdict == "FAIR"
    assert lw.verify(model, space, wide, lw.ScoreGap(9.999 * weight), X=frame).verdict == "BIASED"


@pytest.mark.parametrize("unknown", ["ignore", "error"])
def test_none_and_nan_are_told_apart_by_the_rows(unknown):
    """Without rows that are missing nothing says which of them the encoder will see: refused, not guessed."""
    frame = pd.DataFrame({"city": pd.Series(["oslo", "rome", None] * 20, dtype=object)})
    space = lw.Space({"city": lw.Categorical(["oslo", "rome", None])})
    model = make_pipeline(OneHotEncoder(handle_unknown=unknown), LogisticRegression()).fit(frame, LABELS)
    assert_agrees(model, space, frame)
    both = frame.copy()
    both.loc[2, "city"] = np.nan
    for like in (None, frame[frame.city.notna()], both):
        with pytest.raises(UnsupportedModel, match="tells None from NaN in 'city'"):
            import_model(model, space, rows=np.empty((0, 1)), like=like)
    either = make_pipeline(
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), LogisticRegression()
    ).fit(frame[frame.city.notna()], LABELS[frame.city.notna()])
    import_model(either, space, rows=np.empty((0, 1)))


# -- refusals ---------------------------------------------------------------------------------------------


def refused(model, space, frame, said):
    with pytest.raises(UnsupportedModel) as caught:
        import_model(model, space, rows=space.encode(frame), like=frame)
    assert said in str(caught.value)


def test_models_that_take_no_missing_values():
    space = lw.Space({"age": SPACE["age"]})
    frame = X[["age"]].fillna(20.0)
    for model in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        refused(
            model.fit(frame, LABELS), space, X[["age"]], "'age' may be missing, and no step puts a number"
        )
    codes = lw.Space({"stars": SPACE["stars"]})
    stars = X[["stars"]].fillna(1.0)
    refused(LogisticRegression().fit(stars, LABELS), codes, X[["stars"]], "'stars' may be missing")


def test_imputers_that_mix_features():
    model = make_pipeline(KNNImputer(), LogisticRegression()).fit(X[["age", "income"]], LABELS)
    space = lw.Space({"age": SPACE["age"], "income": SPACE["income"]})
    refused(model, space, X[["age", "income"]], "fills a gap from the other columns")


def test_kernels_of_numbers_that_are_told_from_missing():
    for imputer in (SimpleImputer(add_indicator=True), SimpleImputer(strategy="constant", fill_value=99.0)):
        bent = make_pipeline(imputer, SVC(kernel="poly")).fit(X[["income"]], LABELS)
        refused(bent, lw.Space({"income": SPACE["income"]}), X[["income"]], "tells a missing 'income'")
        assert_agrees(
            make_pipeline(imputer, SVC()).fit(X[["income"]], LABELS),
            lw.Space({"income": SPACE["income"]}),
            X[["income"]],
        )


def test_what_missing_is_said_to_be_treated_as_is_put_to_the_program(monkeypatch):
    monkeypatch.setattr(
        model_space, "_missing_as_number", lambda feature, _: (feature.missing_code, float(feature.lo))
    )
    model = make_pipeline(SimpleImputer(), LogisticRegression()).fit(X[["income"]], LABELS)
    refused(
        model, lw.Space({"income": SPACE["income"]}), X[["income"]], "where 'income' is missing, and -2.5"
    )


def test_too_many_values_to_list(monkeypatch):
    monkeypatch.setattr(model_space, "MOST_LEVELS", 10)
    model = make_pipeline(SimpleImputer(add_indicator=True), LogisticRegression()).fit(X[["age"]], LABELS)
    refused(model, lw.Space({"age": SPACE["age"]}), X[["age"]], "too many values to list")


def test_functions_before_the_imputer():
    model = make_pipeline(FunctionTransformer(np.arcsinh), SimpleImputer(), LogisticRegression())
    model.fit(X[["income"]], LABELS)
    refused(
        model,
        lw.Space({"income": SPACE["income"]}),
        X[["income"]],
        "impute a number between its bounds first",
    )


@pytest.mark.draw(3)
@pytest.mark.parametrize("step", range(5))
def test_imputed_whole_numbers_in_tables_are_within_reach_of_each_other_to_the_last(step):
    X = pd.DataFrame({"a": [0, 1, 2, 3, 4, 5] * 3})
    make = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=2),
        OneHotEncoder(sparse_output=False),
        LogisticRegression(C=100),
    )
    model = make.fit(X, X["a"] > step)
    space = lw.Space({"a": lw.Integer(0, 5, missing=True)})
    found = lw.verify(model, space, lw.Similarity(within={"a": 1}), X=X)
    assert found.verdict == lw.Verdict.BIASED
    assert sorted(found.pair["a"]) == [step, step + 1]
