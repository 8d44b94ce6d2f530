"""Pipelines in single precision: casts and encoders of float32 are read, with an error that counts every rounding of single precision; what is stated of it holds on rows chosen to break it."""

import functools
import io
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from tests.tiers import some

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.families.program_rounding import error_bound
from likewise.families.scored_model import Scores, program_parts
from likewise.importers.imported_model import import_model

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": RANDOM.uniform(0, 9, 150),
        "income": RANDOM.uniform(0, 1, 150),
        "job": RANDOM.choice([*"abc"], 150),
        "sex": RANDOM.choice([*"fm"], 150),
    }
)
Y = X.age / 9 + X.income + 0.2 * (X.sex == "m") > 1
SPACE = lw.Space(
    {
        "age": lw.Continuous(0, 9),
        "income": lw.Continuous(0, 1),
        "job": lw.Categorical([*"abc"]),
        "sex": lw.Categorical([*"fm"]),
    }
)
FREE = lw.Similarity(free=["sex"])
WORDS = ("words", OneHotEncoder(dtype=np.float32, sparse_output=False), ["job", "sex"])
NUMBERS = ("numbers", StandardScaler(), ["age", "income"])
CAST = FunctionTransformer(np.float32)


def all_single(*numbers):
    """Columns that are all float32: words, and numbers through these steps."""
    return ColumnTransformer([("numbers", make_pipeline(*numbers), ["age", "income"]), WORDS])


# -- rows of a frame in single precision, which the model is asked about in double precision ----------------------


@pytest.mark.some_days
@pytest.mark.parametrize("final", [LogisticRegression(), SVC(gamma=0.1)], ids=["linear", "kernel"])
def test_models_fitted_on_single_precision_are_read_as_they_answer_doubles(final):
    rows = X.astype({"age": "float32", "income": "float32"})
    model = make_pipeline(ColumnTransformer([NUMBERS, WORDS]), final).fit(rows, Y)
    imported = import_model(model, SPACE, rows=SPACE.encode(rows), like=rows)
    assert not imported.program.large
    found = lw.verify(model, SPACE, FREE, lw.ScoreGap(5.0), X=rows, budget=60)
    assert found.verdict == "FAIR"
    assert found.stats["single_precision"] == ["age", "income"]


# -- what is stated of the program holds ------------------------------------------------------------------------------


FRONTS = {
    "cast": lambda: all_single(CAST),
    "cast, then scaled": lambda: all_single(CAST, StandardScaler()),
    "scaled, then cast": lambda: all_single(StandardScaler(), FunctionTransformer(np.asarray, kw_args={"dtype": "float32"})),
    "cast between": lambda: all_single(MinMaxScaler(), CAST, RobustScaler()),
    "words alone": lambda: ColumnTransformer([WORDS]),
}  # fmt: skip
STATED = {
    "logistic": LogisticRegression(),
    "linear": LinearRegression(),
    "gradient descent": SGDClassifier(random_state=0),
    "discriminant": LinearDiscriminantAnalysis(),
    "bayes": GaussianNB(),
    "libsvm, linear": SVC(kernel="linear"),
    "libsvm, rbf": SVC(gamma=0.5),
    "libsvm, poly": SVR(kernel="poly", degree=2),
    "network": MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=3000, random_state=0),
}
COMPARED = {
    "quadratic": QuadraticDiscriminantAnalysis(reg_param=0.5),
    "ridge, rbf": KernelRidge(kernel="rbf", gamma=0.3),
    "ridge, poly": KernelRidge(kernel="poly", degree=2),
    "exponential": PoissonRegressor(max_iter=300),
}


def far_rows(space, count, seed=0):
    """Codes of random individuals, and of some beside the numbers of single precision, halves between them among those."""
    random = np.random.default_rng(seed)
    rows = np.empty((count, len(space)))
    for k, name in enumerate(space.names):
        lo, hi = space[name].code_range
        if isinstance(space[name], lw.Continuous):
            values = random.uniform(lo, hi, count)
            near = values.astype(np.float32).astype(np.float64)
            rows[:, k] = np.where(random.random(count) < 0.5, values, near)
            halves = (near + np.nextafter(near.astype(np.float32), np.float32(np.inf))) / 2
            rows[:, k] = np.clip(np.where(random.random(count) < 0.3, halves, rows[:, k]), lo, hi)
        else:
            rows[:, k] = random.integers(int(lo), int(hi) + 1, count)
    return rows


def largest_errors(imported, codes):
    """How far the program's own scores are from the exact ones, by score."""
    theirs = imported.replay.scores(codes)
    parts = Scores(imported.model, len(imported.space)).parts
    off = []
    for part, given in zip(parts, theirs.T, strict=True):
        exact = [part.enclose([Fraction(c) for c in row], 80).middle for row in codes.tolist()]
        off.append(max(abs(Fraction(a) - b) for a, b in zip(given.tolist(), exact, strict=True)))
    return off


def read(model, space, frame):
    return import_model(model, space, rows=space.encode(frame), like=frame)


def fitted(front, final):
    regresses = type(final).__name__.endswith(("Regressor", "Regression", "SVR", "Ridge"))
    target = X.age / 9 + X.income if regresses and "Logistic" not in type(final).__name__ else Y
    return make_pipeline(front, final).fit(X, target)


@pytest.mark.draw(5)
@pytest.mark.parametrize("final", STATED)
@pytest.mark.parametrize("front", FRONTS)
def test_no_row_exceeds_the_stated_error(front, final):
    imported = read(fitted(FRONTS[front](), STATED[final]), SPACE, X)
    codes = far_rows(SPACE, 60)
    for part, seen in zip(program_parts(imported.model), largest_errors(imported, codes), strict=True):
        stated = error_bound(part, imported.space)
        assert stated is not None
        assert seen <= stated
        assert stated < 1  # and it is of use


@pytest.mark.parametrize("final", COMPARED)
def test_models_whose_error_is_not_stated_are_compared(final):
    imported = read(fitted(all_single(CAST, StandardScaler()), COMPARED[final]), SPACE, X)
    assert final == "exponential" or imported.program.error is None


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("cancels", [1e3, 1e5, 1e6])
@pytest.mark.parametrize("final", [LogisticRegression(), GaussianNB(), SVC(gamma=0.5), SVC(kernel="linear")])
def test_the_error_grows_with_what_cancels(final, cancels):
    """Numbers far from zero, a few units wide: single precision has few digits left of them."""
    frame = X.assign(age=X.age + cancels)
    space = SPACE.replace({"age": lw.Continuous(cancels, cancels + 9)})
    model = make_pipeline(all_single(CAST, StandardScaler()), final).fit(frame, Y)
    imported = read(model, space, frame)
    (seen,) = largest_errors(imported, far_rows(space, 80))
    stated = error_bound(imported.model, imported.space)
    assert seen <= stated
    assert seen > 2.0**-24 * cancels / 1e4  # so that the test has something to find


def test_many_classes_have_an_error_each():
    classes = (X.age // 3).astype(int)
    model = make_pipeline(all_single(CAST, StandardScaler()), LogisticRegression()).fit(X, classes)
    imported = read(model, SPACE, X)
    errors = largest_errors(imported, far_rows(SPACE, 60))
    assert len(errors) == 3
    for part, seen in zip(program_parts(imported.model), errors, strict=True):
        assert seen <= error_bound(part, imported.space)


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("front", ["cast", "cast, then scaled", "scaled, then cast"])
def test_decisions_are_those_of_the_score_but_for_the_stated_error(front):
    """On the border as the program has it, and one number of single precision to either side."""
    model = fitted(FRONTS[front](), LogisticRegression())
    imported = read(model, SPACE, X)
    stated = error_bound(imported.model, imported.space)
    score = Scores(imported.model, len(SPACE)).parts[0]
    for row in some(far_rows(SPACE, 12, seed=3), 4):
        lo, hi = np.float32(0), np.float32(9)
        if len({model.predict(SPACE.decode(_with(row, 0, end), like=X))[0] for end in (lo, hi)}) < 2:
            continue
        while np.nextafter(lo, hi) < hi:
            middle = np.float32((lo + hi) / 2)
            same = (
                model.predict(SPACE.decode(_with(row, 0, middle), like=X))[0]
                == model.predict(SPACE.decode(_with(row, 0, lo), like=X))[0]
            )
            lo, hi = (middle, hi) if same and middle != lo else (lo, middle)
        for value in (np.nextafter(lo, np.float32(-1)), lo, hi, np.nextafter(hi, np.float32(10))):
            codes = _with(row, 0, value)
            said = bool(model.predict(SPACE.decode(codes, like=X))[0])
            exact = score.exact([Fraction(c) for c in codes[0].tolist()])
            assert said == (exact > 0) or abs(exact) <= stated


def _with(row, k, value):
    changed = row[None].copy()
    changed[0, k] = float(value)
    return changed


# -- what a proof says of the program ----------------------------------------------------------------------------------


def planted(front, weights, bias=0.0):
    """A linear regression of what reaches it, with these weights."""
    model = make_pipeline(front, LinearRegression()).fit(PEOPLE, np.zeros(len(PEOPLE)))
    model[-1].coef_, model[-1].intercept_ = np.array(weights, dtype=np.float32), np.float32(bias)
    return model


PEOPLE = pd.DataFrame({"wealth": [0.0, 1e6, 5e5, 2.5], "sex": [0, 1, 0, 1]})
RICH = lw.Space({"wealth": lw.Continuous(0, 1e6), "sex": lw.Integer(0, 1)})


def test_a_flip_of_single_precision_is_not_said_to_be_covered():
    """A gap that the claim allows by a hair: the program in single precision goes beyond it, that in double precision does not."""
    gap = float(np.float32(0.04))
    claim = lw.ScoreGap(1.001 * gap)
    single, double = planted(CAST, [1.0, 0.04]), planted(FunctionTransformer(np.float64), [1.0, 0.04])
    wealth = np.linspace(9e5, 1e6, 2001)
    apart = [
        single.predict(pd.DataFrame({"wealth": wealth, "sex": np.full(len(wealth), sex)})) for sex in (0, 1)
    ]
    assert np.abs(apart[1].astype(float) - apart[0]).max() > claim.delta
    found = [lw.verify(one, RICH, FREE, claim, X=PEOPLE, budget=20) for one in (single, double)]
    assert found[0].verdict != "FAIR" or not found[0].covers_floating_point
    assert found[1].verdict == "FAIR"
    assert found[1].covers_floating_point


def test_a_gap_with_room_is_covered_and_its_certificate_accepted():
    model = planted(CAST, [1.0, 0.01])
    found = lw.verify(model, RICH, FREE, lw.ScoreGap(40.0), X=PEOPLE, budget=20)
    assert found.verdict == "FAIR"
    assert found.covers_floating_point
    report = lw.check(io.BytesIO(found.certificate.content))
    assert report.accepted
    assert report.covers_floating_point
    near = lw.verify(model, RICH, FREE, lw.ScoreGap(0.02), X=PEOPLE, budget=20)
    assert near.verdict != "FAIR" or not near.covers_floating_point


def test_planted_bias_is_shown_by_the_program_itself():
    model = planted(CAST, [0.0, 3.0], bias=-1.0)
    found = lw.verify(model, RICH, FREE, lw.ScoreGap(2.0), X=PEOPLE, budget=20)
    assert found.verdict == "BIASED"
    assert abs(np.diff(model.predict(found.pair)))[0] > 2


@pytest.mark.parametrize(
    "encoder", [OneHotEncoder(dtype=np.float32, sparse_output=False), OrdinalEncoder(dtype=np.float32)]
)
def test_encoders_of_single_precision_are_read_alone(encoder):
    model = make_pipeline(make_column_transformer((encoder, ["job", "sex"])), LogisticRegression()).fit(X, Y)
    claim = lw.ScoreGap(5.0)
    found = lw.verify(model, SPACE, FREE, claim, X=X, budget=20)
    assert found.verdict == "FAIR"
    assert found.covers_floating_point
    assert found.stats.get("black_box") is None
    scores = model.decision_function(
        pd.DataFrame([(0.0, 0.0, job, sex) for job in "abc" for sex in "fm"], columns=X.columns)
    )
    gap = float(np.abs(np.diff(scores.reshape(3, 2), axis=1)).max())
    assert lw.verify(model, SPACE, FREE, lw.ScoreGap(gap / 2), X=X, budget=20).verdict == "BIASED"


# -- which casts are read -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("func", "arguments"),
    [
        (np.float32, None),
        (np.single, None),
        (np.asarray, {"dtype": np.float32}),
        (np.array, {"dtype": "float32", "copy": True}),
        (np.ascontiguousarray, {"dtype": np.dtype(np.float32)}),
        (pd.DataFrame.astype, {"dtype": "float32"}),
        (functools.partial(np.asarray, dtype=np.float32), None),
    ],
)
def test_functions_that_cast_are_read(func, arguments):
    numbers = X[["age", "income"]]
    model = make_pipeline(FunctionTransformer(func, kw_args=arguments), LogisticRegression()).fit(numbers, Y)
    space = lw.Space({"age": lw.Continuous(0, 9), "income": lw.Continuous(0, 1)})
    imported = read(model, space, numbers)
    (seen,) = largest_errors(imported, far_rows(space, 40))
    assert 0 < seen <= error_bound(imported.model, space)
    assert imported.program.bits == 24


def test_casts_to_double_precision_round_nothing():
    numbers = X[["age", "income"]]
    space = lw.Space({"age": lw.Continuous(0, 9), "income": lw.Continuous(0, 1)})
    for func in (np.float64, np.asarray):
        model = make_pipeline(FunctionTransformer(func), LogisticRegression()).fit(numbers, Y)
        assert error_bound(read(model, space, numbers).model, space) < 1e-12


@pytest.mark.parametrize(
    ("front", "said", "hint"),
    [
        (FunctionTransformer(lambda frame: np.asarray(frame, dtype=np.float32)), "a lambda", "numpy.float32"),
        (FunctionTransformer(np.float16), "casts numbers to float16", "float32 and float64"),
        (FunctionTransformer(np.asarray, kw_args={"dtype": int}), "casts numbers to int", "float32 and float64"),
        (make_pipeline(CAST, FunctionTransformer(np.log1p)), "in single precision by then", "behind it"),
        (make_pipeline(PolynomialFeatures(2), CAST), "casts mixed columns", "before the step"),
    ],
)  # fmt: skip
def test_other_casts_are_refused_with_a_way_out(front, said, hint):
    numbers = X[["age", "income"]]
    model = make_pipeline(front, LogisticRegression(max_iter=1000)).fit(numbers, Y)
    with pytest.raises(UnsupportedModel, match=said) as refusal:
        read(model, lw.Space({"age": lw.Continuous(0, 9), "income": lw.Continuous(0, 1)}), numbers)
    assert hint in refusal.value.hint


def test_numbers_beyond_single_precision_are_refused():
    rows = pd.DataFrame({"wealth": [0.0, 1e30, 2e30, 3e30]})
    model = make_pipeline(CAST, MinMaxScaler(), LogisticRegression()).fit(rows, [0, 0, 1, 1])
    with pytest.raises(UnsupportedModel, match="too large or too small"):
        read(model, lw.Space({"wealth": lw.Continuous(0, 1e39)}), rows)


@pytest.mark.parametrize(
    "final", [NearestCentroid(), MLPClassifier((3,), solver="lbfgs", max_iter=3000, random_state=0)]
)
def test_what_calculates_in_its_own_way_is_asked(final):
    front = make_pipeline(CAST, PCA(2)) if isinstance(final, MLPClassifier) else CAST
    numbers = X[["age", "income"]]
    model = make_pipeline(front, final).fit(numbers, Y)
    with pytest.raises(UnsupportedModel, match="single precision"):
        read(model, lw.Space({"age": lw.Continuous(0, 9), "income": lw.Continuous(0, 1)}), numbers)


# -- steps, trees, mixes and votes behind a cast ---------------------------------------------------------------------------


def test_bins_begin_at_the_doubles_at_which_the_cast_numbers_do():
    numbers = X[["age"]]
    bins = KBinsDiscretizer(
        5, encode="onehot-dense", strategy="quantile", quantile_method="averaged_inverted_cdf"
    )
    model = make_pipeline(CAST, bins, LogisticRegression()).fit(numbers, Y)
    space = lw.Space({"age": lw.Continuous(0, 9)})
    imported = read(model, space, numbers)
    cuts = sorted({float(c) for column in imported.model.embedding for c in column.pieces.cuts})
    assert len(cuts) == 4
    codes = np.array([[v] for cut in cuts for v in (np.nextafter(cut, 0), cut, np.nextafter(cut, 9))])
    (seen,) = largest_errors(imported, codes)
    assert seen <= error_bound(imported.model, imported.space)
    beside = np.array([[float(np.nextafter(np.float32(c), np.float32(to)))] for c in cuts for to in (0, 9)])
    (seen,) = largest_errors(imported, beside)
    assert seen <= error_bound(imported.model, imported.space)


def test_trees_behind_a_cast_are_read_to_the_last_double():
    model = make_pipeline(
        all_single(CAST, StandardScaler()), RandomForestClassifier(5, max_depth=4, random_state=0)
    ).fit(X, Y)
    imported = read(model, SPACE, X)
    ensemble = imported.model.bodies[0].ensemble
    rows = []
    for k in (0, 1):
        for cut in ensemble.thresholds(k):
            row = far_rows(SPACE, 3, seed=k)
            row[:, k] = np.clip(
                [np.nextafter(cut, -1), cut, np.nextafter(cut, 10)], *SPACE[SPACE.names[k]].code_range
            )
            rows.append(row)
    assert len(rows) > 20
    assert max(largest_errors(imported, np.concatenate(rows))) < 1e-9


def test_mixes_of_cast_columns_state_an_error_that_holds():
    numbers = X[["age", "income"]]
    space = lw.Space({"age": lw.Continuous(0, 9), "income": lw.Continuous(0, 1)})
    beside = ColumnTransformer(
        [("mixed", make_pipeline(CAST, PCA(2)), ["age", "income"]), ("plain", "passthrough", ["age"])]
    )
    for front in (make_pipeline(CAST, StandardScaler(), PCA(2)), beside):
        imported = read(make_pipeline(front, Ridge()).fit(numbers, X.age + X.income), space, numbers)
        (seen,) = largest_errors(imported, far_rows(space, 60))
        assert 0 < seen <= error_bound(imported.model, space)


def test_votes_of_models_in_single_precision_state_an_error_that_holds():
    votes = VotingClassifier(
        [("a", LogisticRegression()), ("b", make_pipeline(StandardScaler(), LogisticRegression(C=0.1)))],
        voting="soft",
    )
    imported = read(make_pipeline(all_single(CAST), votes).fit(X, Y), SPACE, X)
    assert imported.program.bits == 24
    for part, seen in zip(
        program_parts(imported.model), largest_errors(imported, far_rows(SPACE, 40)), strict=True
    ):
        stated = error_bound(part, imported.space)
        assert stated is None or seen <= stated


def test_counts_in_single_precision_are_read():
    counts = pd.DataFrame(RANDOM.integers(0, 5, (80, 3)), columns=[*"abc"])
    model = make_pipeline(CAST, MultinomialNB()).fit(counts, counts.a > counts.b)
    space = lw.Space(dict.fromkeys("abc", lw.Integer(0, 4)))
    imported = read(model, space, counts)
    (seen,) = largest_errors(imported, far_rows(space, 60))
    assert seen <= error_bound(imported.model, space)


def test_libsvm_behind_a_mix_counts_what_the_mix_rounds():
    """libsvm calculates in double precision, PCA in front of it does not."""
    far = X[["age", "income"]].assign(age=X.age + 1e4)
    space = lw.Space({"age": lw.Continuous(1e4, 1e4 + 9), "income": lw.Continuous(0, 1)})
    model = make_pipeline(CAST, PCA(2), SVC(kernel="linear")).fit(far, Y)
    plain = make_pipeline(CAST, StandardScaler(), SVC(kernel="linear")).fit(far, Y)
    mixed, alone = (read(one, space, far) for one in (model, plain))
    assert mixed.program.bits == 24
    assert alone.program.bits == 53
    for imported in (mixed, alone):
        (seen,) = largest_errors(imported, far_rows(space, 60))
        assert 0 < seen <= error_bound(imported.model, space)


@pytest.mark.parametrize("through", [False, True])
def test_stacks_of_models_in_single_precision_state_an_error_that_holds(through):
    stack = StackingClassifier(
        [("a", LogisticRegression()), ("b", make_pipeline(StandardScaler(), LogisticRegression(C=0.1)))],
        final_estimator=LogisticRegression(),
        passthrough=through,
    )
    imported = read(make_pipeline(all_single(CAST), stack).fit(X, Y), SPACE, X)
    for part, seen in zip(
        program_parts(imported.model), largest_errors(imported, far_rows(SPACE, 40)), strict=True
    ):
        stated = error_bound(part, imported.space)
        assert stated is None or seen <= stated


@pytest.mark.parametrize("final", [LogisticRegression(), SVC(kernel="poly", degree=2), SVC(gamma=0.5)])
def test_means_that_components_of_single_precision_are_multiplied_with_are_counted(final):
    """PCA that was fitted on float32 rows, and is asked about doubles: it multiplies its means with its components in single precision."""
    rows = (X[["age", "income"]] + 100).astype(np.float32)
    space = lw.Space({"age": lw.Continuous(100, 109), "income": lw.Continuous(100, 101)})
    model = make_pipeline(PCA(2), final).fit(rows, Y)
    imported = import_model(model, space, rows=space.encode(rows), like=rows)
    (seen,) = largest_errors(imported, far_rows(space, 60))
    stated = error_bound(imported.model, space)
    assert stated is None or Fraction(1, 10**9) < seen <= stated  # doubles are off by less
    assert stated is not None or not isinstance(final, LogisticRegression)
