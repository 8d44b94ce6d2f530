"""Every transformer in front of every importer: the imported model is the original, whatever the composition."""

import itertools
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    SequentialFeatureSelector,
    VarianceThreshold,
)
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, SVR, LinearSVC
from tests.conformance.agreement import assert_agrees
from tests.conformance.people import COUNTED, LINES, NUMBERS, SPACE, WORDS, people, quick_logistic
from tests.tiers import examples

import likewise as lw

X, TARGET, LABELS = people()

# On any number, continuous ones included.
ARITHMETIC = {
    "standard": StandardScaler(),
    "centred": StandardScaler(with_std=False),
    "divided": StandardScaler(with_mean=False),
    "idle": StandardScaler(with_mean=False, with_std=False),
    "minmax": MinMaxScaler((-1, 2)),
    "maxabs": MaxAbsScaler(),
    "robust": RobustScaler(),
    "robust-scale": RobustScaler(with_centering=False),
    "negative": FunctionTransformer(np.negative),
    "nothing": FunctionTransformer(),
    "imputer": SimpleImputer(),
    "imputer-indicator": SimpleImputer(add_indicator=True),
    "polynomial-1": PolynomialFeatures(1),
    "variance": VarianceThreshold(),
    "twice": make_pipeline(StandardScaler(), MinMaxScaler()),
    "passthrough": "passthrough",
    "union": make_union(StandardScaler(), MaxAbsScaler()),
}
# On numbers with few values.
TABLES = {
    "clipped": MinMaxScaler((0.25, 0.75), clip=True),
    "bins": KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    "bins-ordinal": KBinsDiscretizer(2, encode="ordinal", strategy="uniform"),
    "bins-dense": KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
    "binary": Binarizer(threshold=2),
    "log1p": FunctionTransformer(np.log1p),
    "sqrt": FunctionTransformer(np.sqrt, validate=True),
    "square": FunctionTransformer(np.square),
    "exp": make_pipeline(MaxAbsScaler(), FunctionTransformer(np.exp)),
    "splines": SplineTransformer(n_knots=3),
    "splines-less": SplineTransformer(n_knots=4, degree=2, include_bias=False, extrapolation="linear"),
    "splines-sparse": SplineTransformer(n_knots=3, sparse_output=True),
    "power": PowerTransformer(),
    "quantile": QuantileTransformer(n_quantiles=10),
    "one-hot": OneHotEncoder(),
    "positions": OrdinalEncoder(),
    "other-missing": SimpleImputer(missing_values=2),
    "scaled-bins": make_pipeline(KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), StandardScaler()),
}
# On words.
CODES = {
    "one-hot": OneHotEncoder(),
    "one-hot-dense": OneHotEncoder(sparse_output=False),
    "one-hot-first": OneHotEncoder(drop="first"),
    "one-hot-if-binary": OneHotEncoder(drop="if_binary"),
    "one-hot-array": OneHotEncoder(drop=["oslo", "high"]),
    "one-hot-ignore": OneHotEncoder(handle_unknown="ignore", categories=[["oslo", "rome"], ["low", "middle"]]),
    "one-hot-rare": OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=18),
    "one-hot-few": OneHotEncoder(handle_unknown="warn", max_categories=2),
    "one-hot-rare-first": OneHotEncoder(drop="first", max_categories=2),
    "positions": OrdinalEncoder(),
    "positions-unknown": OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-7, categories=[["oslo", "rome"], ["low", "high"]]
    ),
    "positions-rare": OrdinalEncoder(max_categories=2, encoded_missing_value=-1),
    "means": TargetEncoder(random_state=0),
    "imputed": make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
    "imputed-constant": make_pipeline(SimpleImputer(strategy="constant", fill_value="rome"), OneHotEncoder()),
    "scaled": make_pipeline(OneHotEncoder(), StandardScaler(with_mean=False)),
    "selected": make_pipeline(OneHotEncoder(), SelectKBest(k=3)),
}  # fmt: skip
FINALS = {
    "logistic": quick_logistic(),
    "rbf": SVC(gamma=0.1),
}
MORE_FINALS = {
    "kernel-ridge": KernelRidge(kernel="rbf", gamma=0.05),
    "linear-svc": LinearSVC(),
    "regression": LinearRegression(),
    "linear-kernel": SVC(kernel="linear"),
    "poly": SVC(kernel="poly", degree=2, gamma=0.1, coef0=1.0),
    "cubic-svr": SVR(kernel="poly", degree=3, gamma=0.05),
    "svr": SVR(),
    "ridge": Ridge(),
    "lasso": Lasso(alpha=0.01),
    "ridge-classifier": RidgeClassifier(),
    "sgd": SGDClassifier(loss="log_loss", random_state=0),
    "linear-kernel-ridge": KernelRidge(kernel="linear"),
}


def quietly_fitted(model, X=X, labels=LABELS, target=TARGET):
    final = model
    while hasattr(final, "steps"):
        final = final.steps[-1][1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, labels if hasattr(final, "classes_") or _classifies(final) else target)


def _classifies(final):
    from sklearn.base import is_classifier

    return is_classifier(final)


def pipeline(parts, final, **options):
    return make_pipeline(ColumnTransformer(parts, **options), final)


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("final", FINALS)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name, final):
    rest = [("tables", StandardScaler(), COUNTED)] if name != "passthrough" else []
    parts = [("numbers", ARITHMETIC[name], LINES), *rest]
    imported = assert_agrees(quietly_fitted(pipeline(parts, FINALS[final])), SPACE, X)
    assert imported.space == SPACE  # nothing but lines: integer features stay integers


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("final", FINALS)
@pytest.mark.parametrize("name", TABLES)
def test_tables_of_counted_features(name, final):
    parts = [("tables", TABLES[name], COUNTED), ("numbers", StandardScaler(), LINES)]
    imported = assert_agrees(quietly_fitted(pipeline(parts, FINALS[final])), SPACE, X)
    assert isinstance(imported.space["age"], lw.Ordinal) == (name != "other-missing")
    assert imported.space["age"].size == SPACE["age"].size


@pytest.mark.draw(3)
@pytest.mark.parametrize("final", FINALS)
@pytest.mark.parametrize("name", CODES)
def test_codes_of_words(name, final):
    parts = [("words", CODES[name], WORDS), ("numbers", StandardScaler(), NUMBERS)]
    assert_agrees(quietly_fitted(pipeline(parts, FINALS[final])), SPACE, X)


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("final", MORE_FINALS)
def test_every_sort_at_once(final):
    parts = [
        ("words", OneHotEncoder(), WORDS),
        ("numbers", StandardScaler(), LINES),
        ("bins", TABLES["bins"], ["age"]),
        ("splines", TABLES["splines"], ["stars"]),
    ]
    assert_agrees(quietly_fitted(pipeline(parts, MORE_FINALS[final], remainder="passthrough")), SPACE, X)


SELECTORS = {
    "best": SelectKBest(k=3),
    "percentile": SelectPercentile(percentile=50),
    "model": SelectFromModel(quick_logistic()),
    "recursive": RFE(quick_logistic(), n_features_to_select=3),
    "sequential": SequentialFeatureSelector(quick_logistic(), n_features_to_select=2, cv=2),
}


@pytest.mark.draw(2)
@pytest.mark.parametrize("name", SELECTORS)
def test_selectors(name):
    scaled = ColumnTransformer([("n", StandardScaler(), NUMBERS), ("w", OneHotEncoder(), WORDS)])
    model = quietly_fitted(make_pipeline(scaled, SELECTORS[name], quick_logistic()))
    assert_agrees(model, SPACE, X)


SELECTIONS = {
    "names": NUMBERS,
    "indices": [0, 1, 2, 4, 6, 7],
    "negative": [-8, -7, -6, -4, -2, -1],
    "slice": slice(0, 3),
    "labels": slice("age", "wealth"),
    "mask": [True, True, True, False, True, False, True, True],
    "callable": lambda frame: [name for name in frame.columns if name in NUMBERS],
    "dtype": make_column_selector(dtype_include=np.number),
    "pattern": make_column_selector("^(age|income)$"),
    "one": ["income"],
}


REMAINDERS = ["drop", "passthrough", MinMaxScaler()]


@pytest.mark.draw(3)
@pytest.mark.parametrize(
    ("name", "remainder"), list(zip(SELECTIONS, itertools.cycle(REMAINDERS), strict=False))
)
def test_column_selections(name, remainder):
    words = ("words", OneHotEncoder(), WORDS)
    model = pipeline(
        [("n", StandardScaler(), SELECTIONS[name]), words], quick_logistic(), remainder=remainder
    )
    assert_agrees(quietly_fitted(model), SPACE, X)


COMPOSITIONS = {
    "dropped step": pipeline([("n", StandardScaler(), NUMBERS), ("w", "drop", WORDS)], quick_logistic()),
    "weights": pipeline(
        [("n", StandardScaler(), NUMBERS), ("w", OneHotEncoder(), WORDS)],
        quick_logistic(),
        transformer_weights={"n": 0.3, "w": 2},
    ),
    "empty selection": pipeline([("n", StandardScaler(), NUMBERS), ("w", OneHotEncoder(), [])], quick_logistic()),
    "one feature twice": pipeline(
        [("n", StandardScaler(), NUMBERS), ("b", TABLES["bins"], ["age"]), ("c", OneHotEncoder(), ["age"])],
        quick_logistic(),
    ),
    "steps that do nothing": Pipeline(
        [("a", "passthrough"), ("b", None), ("c", pipeline([("n", StandardScaler(), NUMBERS)], quick_logistic()))]
    ),
    "second column transformer": make_pipeline(
        make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(sparse_output=False), WORDS)),
        make_column_transformer((MinMaxScaler(), [0, 2]), remainder="passthrough"),
        quick_logistic(),
    ),
    "frames all the way": make_pipeline(
        make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(sparse_output=False), WORDS)).set_output(
            transform="pandas"
        ),
        make_column_transformer((MinMaxScaler(), ["standardscaler__age"]), remainder="passthrough"),
        quick_logistic(),
    ),
    "union with weights": make_pipeline(
        make_column_transformer(("passthrough", NUMBERS)),
        FeatureUnion([("a", StandardScaler()), ("b", "passthrough"), ("c", "drop")], transformer_weights={"a": 0.5}),
        quick_logistic(),
    ),
    "sparse to a kernel": make_pipeline(
        ColumnTransformer([("n", StandardScaler(), ["age"]), ("w", OneHotEncoder(), WORDS)], sparse_threshold=1),
        SVC(),
    ),
}  # fmt: skip


@pytest.mark.draw(2)
@pytest.mark.parametrize("name", COMPOSITIONS)
def test_compositions(name):
    assert_agrees(quietly_fitted(COMPOSITIONS[name]), SPACE, X)


def test_arrays_take_the_names_of_the_space():
    columns = [("n", StandardScaler(), [0, 1]), ("w", OneHotEncoder(), [3, 5])]
    model = quietly_fitted(pipeline(columns, quick_logistic()), X.to_numpy())
    result = lw.verify(model, SPACE, lw.Similarity(free=["city"]), lw.ScoreGap(1e-6), X=X)
    assert result.verdict == "BIASED"
    assert set(result.pair["city"]) <= {"berlin", "oslo", "rome"}


def test_polars_frames():
    frame = pl.DataFrame({name: X[name].to_list() for name in X.columns})
    parts = [("n", StandardScaler(), NUMBERS), ("w", OneHotEncoder(), WORDS), ("b", TABLES["bins"], ["age"])]
    model = quietly_fitted(pipeline(parts, quick_logistic()), frame)
    result = lw.verify(model, SPACE, lw.Similarity(within={"age": 3}), lw.ScoreGap(1e-6), X=frame)
    assert result.verdict == "BIASED"
    assert isinstance(result.pair, pl.DataFrame)
    assert result.pair["age"].dtype == pl.Int64
    assert 18 <= result.pair["age"][0] <= 30


# -- drawn ------------------------------------------------------------------------------------------------


@st.composite
def drawn_parts(draw):
    """A column transformer over some features, each with a fitting transformer, in some order."""
    names = draw(st.lists(st.sampled_from(sorted(SPACE.names)), min_size=1, unique=True))
    parts = []
    for name in names:
        if name in WORDS:
            kinds = {k: v for k, v in CODES.items() if k not in ("one-hot-array", "one-hot-ignore", "positions-unknown", "selected")}  # fmt: skip
        elif name in LINES:
            kinds = ARITHMETIC
        else:
            kinds = {**ARITHMETIC, **TABLES}
        parts.append((name, kinds[draw(st.sampled_from(sorted(kinds)))], [name]))
    return parts


@pytest.mark.some_days
@examples(40, suppress_health_check=list(HealthCheck))
@given(
    parts=drawn_parts(),
    final=st.sampled_from(sorted({**FINALS, **MORE_FINALS})),
    after=st.sampled_from([None, StandardScaler(with_mean=False), MaxAbsScaler(), "passthrough"]),
    seed=st.integers(0, 5),
)
def test_any_column_transformer_in_front_of_any_model(parts, final, after, seed):
    X, target, labels = people(seed)
    steps = [("columns", ColumnTransformer(parts)), ("after", after)]
    model = Pipeline([*steps, ("final", {**FINALS, **MORE_FINALS}[final])])
    assert_agrees(quietly_fitted(model, X, labels, target), SPACE, X)
