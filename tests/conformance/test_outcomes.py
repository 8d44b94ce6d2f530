"""Verdicts and disparities of whole pipelines: in raw categories, with accepted certificates, equal to brute force."""

import io
import itertools
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from click.testing import CliRunner
from sklearn.compose import ColumnTransformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC
from tests.conformance.agreement import import_quietly

import likewise as lw
from likewise.cli.app import cli

LOADERS = {
    "german": lw.datasets.load_german,
    "adult": lw.datasets.load_adult,
    "credit": lw.datasets.load_credit,
}
ROWS = 200  # of each data set: enough for every category, and quick to fit
FINALS = {
    "logistic": LogisticRegression(max_iter=500),
    "svc": SVC(),
    "ridge": KernelRidge(kernel="rbf", gamma=0.05),
}


def loaded(name):
    data = LOADERS[name](frame="pandas")
    X, y = data.X.iloc[:ROWS].reset_index(drop=True), data.y.iloc[:ROWS].reset_index(drop=True)
    return data, X, y, lw.Space.from_data(X)


def usual(X, final, *, without=(), encoder=None):
    """Scale numbers, one-hot categories."""
    numbers = [n for n in X.columns if pd.api.types.is_numeric_dtype(X[n])]
    words = [n for n in X.columns if n not in numbers and n not in without]
    columns = [("numbers", StandardScaler(), numbers), ("words", encoder or OneHotEncoder(), words)]
    return make_pipeline(ColumnTransformer(columns), final)


def fitted(model, X, y, data):
    kind = type(model[-1]).__name__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, (y == data.positive).astype(float) if kind == "KernelRidge" else y)


def claimed(final):
    return lw.ScoreGap(0.001) if final == "ridge" else lw.SameDecision()


@pytest.mark.draw(1)
@pytest.mark.parametrize("final", FINALS)
@pytest.mark.parametrize("name", LOADERS)
def test_biased_with_raw_categories_and_fair_without_the_column(name, final):
    data, X, y, space = loaded(name)
    protected = data.protected[0]
    similar = lw.Similarity(free=[protected])
    result = lw.verify(fitted(usual(X, FINALS[final]), X, y, data), space, similar, claimed(final), X=X)
    assert result.verdict == "BIASED"
    values = result.pair[protected].tolist()
    assert set(values) <= set(X[protected])
    assert values[0] != values[1]
    for other in space.names:
        assert other == protected or result.pair[other].nunique() == 1
        assert result.pair[other].dtype.kind == X[other].dtype.kind
    dropped = fitted(usual(X, FINALS[final], without=[protected]), X, y, data)
    fair = lw.verify(dropped, space, similar, claimed(final), X=X)
    assert fair.verdict == "FAIR"
    assert lw.check(io.BytesIO(fair.certificate.content)).accepted


def test_fair_if_masked_by_a_constant():
    """Trained on one value alone, which leaves no column of it behind."""
    data, X, y, space = loaded("german")
    masked = X.assign(**{"sex-marital-status": "male-single"})
    encoder = OneHotEncoder(drop="if_binary", handle_unknown="ignore")
    model = fitted(
        usual(
            masked,
            LogisticRegression(max_iter=500),
            encoder=OneHotEncoder(drop="first", handle_unknown="ignore"),
        ),
        masked,
        y,
        data,
    )
    result = lw.verify(model, space, lw.Similarity(free=["sex-marital-status"]))
    assert result.verdict == "FAIR"
    # With a column of its own, it has a weight like any other, and the masked level is not alone in the space.
    kept = fitted(usual(masked, LogisticRegression(max_iter=500), encoder=encoder), masked, y, data)
    assert lw.verify(kept, space, lw.Similarity(free=["sex-marital-status"])).verdict == "BIASED"


def test_fair_on_a_sub_space_and_covering_the_rounding_of_the_scalers():
    data, X, y, space = loaded("german")
    model = fitted(usual(X, FINALS["logistic"]), X, y, data)
    similar = lw.Similarity(free=["sex-marital-status"], within={"age": 5})
    limit = lw.measure(model, space, similar, of="score").upper
    scores = model.decision_function(X)
    clear = X.iloc[int(np.argmax(np.abs(scores)))]
    narrow = space.replace(
        {
            n: lw.Categorical([clear[n]])
            for n in space.names
            if space[n].kind == "categorical" and n not in similar.free
        }
    )
    assert np.abs(scores).max() > limit
    result = lw.verify(
        model,
        narrow.replace(
            {
                "credit-amount": lw.Integer(*_around(clear, "credit-amount")),
                "duration": lw.Integer(*_around(clear, "duration")),
            }
        ),
        similar,
    )
    assert result.verdict == "FAIR"
    assert result.covers_floating_point


def _around(row, name):
    return int(row[name]), int(row[name]) + 2


def test_the_probability_disparity_of_german_is_exact():
    data = lw.datasets.load_german(frame="pandas")
    model = fitted(usual(data.X, LogisticRegression(max_iter=1000)), data.X, data.y, data)
    space = lw.Space.from_data(data.X)
    similar = lw.Similarity(free=["sex-marital-status"], within={"age": 5})
    gap = lw.measure(model, space, similar, of="probability", certify=True)
    assert gap.upper - gap.lower <= 1e-15
    assert gap.certificate is not None
    assert abs(np.ptp(model.predict_proba(gap.pair)[:, 1]) - gap.lower) < 1e-12


# -- brute force ---------------------------------------------------------------------------------------------

SMALL = lw.Space(
    {
        "age": lw.Integer(20, 27),
        "sex": lw.Categorical(["f", "m", "x"]),
        "debts": lw.Integer(0, 3),
        "city": lw.Ordinal(["a", "b", "c"]),
    },
    constraints=["debts <= age - 20"],
)
EVERYBODY = pd.DataFrame(
    [
        (age, sex, debts, city)
        for age, sex, debts, city in itertools.product(range(20, 28), "fmx", range(4), "abc")
        if debts <= age - 20
    ],
    columns=list(SMALL.names),
)
PARTS = {
    "lines": [("n", StandardScaler(), ["age", "debts"]), ("w", OneHotEncoder(), ["sex", "city"])],
    "bins": [("n", KBinsDiscretizer(3, strategy="uniform"), ["age"]), ("w", OneHotEncoder(drop="first"), ["sex", "city"])],
    "curves": [
        ("n", FunctionTransformer(np.log1p), ["debts"]),
        ("s", SplineTransformer(n_knots=3), ["age"]),
        ("w", OneHotEncoder(), ["sex"]),
    ],
    "both": [("n", StandardScaler(), ["age"]), ("b", KBinsDiscretizer(2, encode="ordinal", strategy="uniform"), ["age"]), ("w", OneHotEncoder(), ["sex"])],
}  # fmt: skip


def largest_gaps(model, free, within):
    """Over all similar pairs, by looking at every one of them, from the original's own answers."""
    scores, probabilities = model.decision_function(EVERYBODY), model.predict_proba(EVERYBODY)[:, 1]
    decisions, best, flips = model.predict(EVERYBODY), [0.0, 0.0], False
    keys = [n for n in SMALL.names if n not in free and n not in within]
    for _, group in EVERYBODY.groupby(keys) if keys else [((), EVERYBODY)]:
        for i, j in itertools.combinations(group.index, 2):
            if all(abs(group[n][i] - group[n][j]) <= t for n, t in within.items()):
                best[0] = max(best[0], abs(scores[i] - scores[j]))
                best[1] = max(best[1], abs(probabilities[i] - probabilities[j]))
                flips |= decisions[i] != decisions[j]
    return best, bool(flips)


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("similar", [(["sex"], {}), ([], {"age": 1}), (["sex"], {"age": 2, "debts": 1})])
def test_gaps_and_verdicts_are_those_of_brute_force(parts, similar):
    random = np.random.default_rng(len(parts))
    labels = random.integers(0, 2, len(EVERYBODY)) | (EVERYBODY.age > 25)
    model = make_pipeline(ColumnTransformer(PARTS[parts]), LogisticRegression()).fit(EVERYBODY, labels)
    (score, probability), flips = largest_gaps(model, *similar)
    claim = lw.Similarity(free=similar[0], within=similar[1])
    for of, expected in (("score", score), ("probability", probability)):
        gap = lw.measure(model, SMALL, claim, of=of, certify=True)
        assert gap.certificate is not None
        assert gap.lower == pytest.approx(expected, abs=1e-12)
        assert expected - 1e-12 <= gap.upper <= expected + 1e-9
    result = lw.verify(model, SMALL, claim)
    assert result.verdict == ("BIASED" if flips else "FAIR")
    if flips:
        assert result.pair["age"].dtype == np.int64
        assert SMALL.encode(result.pair).shape == (2, 4)  # valid individuals of the user's own space


def test_within_counts_the_users_own_numbers_after_a_table():
    """A tolerance of 2.5 years or of 30% is one of whole years, also where the feature became ordinal."""
    model = make_pipeline(ColumnTransformer(PARTS["bins"]), LogisticRegression()).fit(
        EVERYBODY, EVERYBODY.age > 23
    )
    imported = import_quietly(model, SMALL, EVERYBODY)
    assert imported.space["age"] == lw.Ordinal(range(20, 28))
    for tolerance in (2, 2.5, "30%"):
        result = lw.verify(model, SMALL, lw.Similarity(within={"age": tolerance}), lw.ScoreGap(1e-9))
        assert result.verdict == "BIASED"
        assert 0 < abs(np.diff(result.pair["age"])[0]) <= 2
    assert "age" in str(result)
    assert "integer" in repr(result.claimed.space)


def test_a_continuous_feature_of_one_value_may_be_cut_into_bins():
    """A sub-space that fixes an income has a table of it, of one entry."""
    rows = pd.DataFrame({"income": np.linspace(0, 9, 40), "sex": ["f", "m"] * 20})
    parts = [("b", KBinsDiscretizer(3, strategy="uniform"), ["income"]), ("w", OneHotEncoder(), ["sex"])]
    model = make_pipeline(ColumnTransformer(parts), LogisticRegression()).fit(
        rows, (rows.income > 4) & (rows.sex == "f")
    )
    space = lw.Space({"income": lw.Continuous(4.5, 4.5), "sex": lw.Categorical(["f", "m"])})
    gap = lw.measure(
        model, space, lw.Similarity(free=["sex"]), of="score", X=rows.iloc[:0].assign(income=0.0)
    )
    expected = np.ptp(model.decision_function(pd.DataFrame({"income": [4.5, 4.5], "sex": ["f", "m"]})))
    assert gap.lower == pytest.approx(expected, abs=1e-12)
    assert gap.pair["income"].tolist() == [4.5, 4.5]


# -- the command line ----------------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(cli, [str(a) for a in arguments])


@pytest.mark.draw(1)
@pytest.mark.parametrize("final", ["logistic", "ridge"])
def test_the_command_line_from_a_spec_file_with_raw_columns(tmp_path, final):
    data, X, y, _ = loaded("credit")
    X.assign(**{data.label: y}).to_csv(tmp_path / "rows.csv", index=False)
    for name, without in (("all", ()), ("dropped", data.protected)):
        model = fitted(usual(X, FINALS[final], without=without), X, y, data)
        skops.io.dump(model, tmp_path / f"{name}.skops")
    spec = tmp_path / "claim.toml"
    first = run("init", tmp_path / "rows.csv", "--model", tmp_path / "all.skops", "--label", data.label, "--free", data.protected[0], "-o", spec)  # fmt: skip
    assert first.exit_code == 0, first.output
    asked = ["--property", "score:0.001"] if final == "ridge" else []
    biased = run("verify", spec, *asked)
    assert biased.exit_code == 1, biased.output
    assert any(level in biased.output for level in X[data.protected[0]].unique())
    certificate = tmp_path / "fair.likewise"
    fair = run("verify", spec, "--model", tmp_path / "dropped.skops", "--certificate", certificate, *asked)
    assert fair.exit_code == 0, fair.output
    assert lw.check(str(certificate)).accepted


def test_polars_through_and_through():
    data = lw.datasets.load_credit(frame="polars")
    X = data.X
    numbers = [n for n in X.columns if X[n].dtype.is_numeric()]
    words = [n for n in X.columns if n not in numbers]
    columns = ColumnTransformer([("n", StandardScaler(), numbers), ("w", OneHotEncoder(), words)])
    model = make_pipeline(columns, LogisticRegression(max_iter=500)).fit(X, data.y)
    result = lw.verify(model, lw.Space.from_data(X), lw.Similarity(free=["ethnicity"]), X=X)
    assert result.verdict == "BIASED"
    assert isinstance(result.pair, pl.DataFrame)


# -- kernels, proved (compiling their bounds takes a while) ---------------------------------------------------


@pytest.mark.slow
def test_a_kernel_pipeline_is_proved_fair_on_a_sub_space_and_measured():
    data, X, y, space = loaded("credit")
    model = fitted(usual(X, SVC()), X, y, data)
    similar = lw.Similarity(free=["gender"])
    gap = lw.measure(model, space, similar, of="score", tolerance=0.01, budget=120, certify=True)
    assert gap.certificate is not None
    scores = model.decision_function(gap.pair)
    assert abs(np.ptp(scores) - gap.lower) < 1e-9
    limit = lw.verify(
        model, space, similar, lw.ScoreGap(float(Fraction(gap.upper) + Fraction(1, 50))), budget=120
    )
    assert limit.verdict == "FAIR"
    assert lw.check(io.BytesIO(limit.certificate.content)).accepted
