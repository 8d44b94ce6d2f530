"""Bins, thresholds and splines of continuous features: the import agrees at every cut and one ulp to either side."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC
from tests.conformance.agreement import assert_agrees, import_quietly
from tests.conformance.people import LINES, SPACE, WORDS, people, quick_logistic
from tests.tiers import examples

import likewise as lw

X, TARGET, LABELS = people()
QUANTILES = {"strategy": "quantile", "quantile_method": "averaged_inverted_cdf"}
STEPS = {
    "bins": KBinsDiscretizer(4, **QUANTILES),
    "bins-dense": KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
    "bins-ordinal": KBinsDiscretizer(5, encode="ordinal", strategy="uniform"),
    "above": Binarizer(threshold=0.3),
    "bins-of-bins": make_pipeline(KBinsDiscretizer(5, encode="ordinal", strategy="uniform"), OneHotEncoder(), StandardScaler(with_mean=False)),
    "steps": SplineTransformer(4, degree=0, extrapolation="continue"),
    "above-and-itself": FeatureUnion([("bins", KBinsDiscretizer(3, strategy="uniform")), ("above", Binarizer(threshold=0.1)), ("itself", "passthrough")]),
}  # fmt: skip
SPLINES = {
    "cubic": SplineTransformer(4),
    "cubic-linear": SplineTransformer(4, extrapolation="linear"),
    "quadratic-continued": SplineTransformer(3, degree=2, extrapolation="continue"),
    "lines": SplineTransformer(5, degree=1, include_bias=False),
    "quintic": SplineTransformer(3, degree=5, knots="quantile"),
    "sparse": SplineTransformer(3, degree=2, sparse_output=True),
    "scaled-after": make_pipeline(SplineTransformer(4), StandardScaler()),
    "clipped": MinMaxScaler((0.25, 0.75), clip=True),
    "clipped-maxabs": MaxAbsScaler(clip=True),
}
BEFORE = {
    "raw": "passthrough",
    "standard": StandardScaler(),
    "minmax": MinMaxScaler((-1, 2)),
    "robust-maxabs": make_pipeline(RobustScaler(), MaxAbsScaler()),
    "mirrored": make_pipeline(StandardScaler(), FunctionTransformer(np.negative)),
}


def fitted(columns, final):
    words = ("words", OneHotEncoder(), WORDS)
    model = Pipeline([("columns", ColumnTransformer([("numbers", columns, LINES), words])), ("final", final)])
    return model.fit(X, LABELS if hasattr(final, "decision_function") else TARGET)


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("name", [*STEPS, *SPLINES])
def test_pieces_after_scalers(before, name):
    transformer = {**STEPS, **SPLINES}[name]
    final = quick_logistic() if name in STEPS else Ridge()
    imported = assert_agrees(fitted(make_pipeline(BEFORE[before], transformer), final), SPACE, X)
    assert any(column.pieces is not None for column in imported.model.embedding)
    assert imported.model.rounding.described == (name in STEPS)


@examples(25, suppress_health_check=list(HealthCheck))
@given(
    before=st.sampled_from(sorted(set(BEFORE) - {"raw"})),
    bins=st.integers(2, 9),
    scale=st.floats(1e-3, 1e3),
    shift=st.floats(-1e3, 1e3),
    seed=st.integers(0, 99),
)
def test_thresholds_are_exact_in_raw_doubles(before, bins, scale, shift, seed):
    """Columns themselves, not only scores: at each cut and one double beside it they are what the program says."""
    random = np.random.default_rng(seed)
    given = shift + scale * random.normal(size=(60, 1))
    space = lw.Space({"x": lw.Continuous(float(given.min()), float(given.max()))})
    steps = make_pipeline(BEFORE[before], KBinsDiscretizer(bins, encode="ordinal", strategy="uniform"))
    model = Pipeline([("bins", steps), ("final", LinearRegression())]).fit(given, random.normal(size=60))
    imported = import_quietly(model, space, pd.DataFrame({"x": given[:, 0]}))
    (column,) = imported.model.embedding
    assert len(column.pieces.cuts) == steps[-1].n_bins_[0] - 1
    for cut in map(float, column.pieces.cuts):
        places = np.array([np.nextafter(cut, -np.inf), cut, np.nextafter(cut, np.inf)])
        assert column.pieces.values(places).tolist() == steps.transform(places[:, None])[:, 0].tolist()
        left, _, right = column.pieces.values(places)
        assert left != right


REFUSED = {
    "polynomial kernel": (SplineTransformer(3), SVC(kernel="poly"), "products or distances"),
    "periodic": (SplineTransformer(5, extrapolation="periodic"), Ridge(), "periodically"),
    "degree": (SplineTransformer(3, degree=6), Ridge(), "degree 6"),
    "bins of splines": (make_pipeline(SplineTransformer(3), Binarizer(threshold=0.2)), Ridge(), "exact on discrete features only"),
    "linear lines": (SplineTransformer(3, degree=1, extrapolation="linear"), Ridge(), "otherwise than the first"),
    "beyond": (make_pipeline(SplineTransformer(3, extrapolation="error")), Ridge(), "beyond its knots"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_exact_is_refused(name):
    transformer, final, words = REFUSED[name]
    with pytest.raises(lw.UnsupportedModel, match=words) as caught:
        import_quietly(fitted(transformer, final), SPACE, X)
    assert caught.value.hint


@pytest.mark.draw(1)
@pytest.mark.parametrize("transformer", [STEPS["bins"], SPLINES["cubic"]])
def test_verdict_and_disparity_of_a_pipeline(transformer):
    model = fitted(make_pipeline(StandardScaler(), transformer), quick_logistic())
    similar = lw.Similarity(
        free=["city"], within={"income": 2} if isinstance(transformer, KBinsDiscretizer) else {}
    )
    found = lw.measure(model, SPACE, similar, of="score", tolerance=1e-3, X=X, certify=True)
    assert found.certificate is not None, found.reason
    result = lw.verify(model, SPACE, similar, lw.ScoreGap(found.upper + 1e-3), X=X)
    assert result.verdict == "FAIR", result.reason
    result = lw.verify(model, SPACE, similar, lw.ScoreGap(found.lower - 1e-3), X=X)
    assert result.verdict == "BIASED", result.reason
    assert (
        lw.measure(model, SPACE, similar, of="probability", tolerance=1e-3, X=X).upper
        <= found.upper / 4 + 2e-3
    )
