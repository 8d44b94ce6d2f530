"""Polynomial kernels: imported exactly, compared with the original, and refused where they are no polynomials."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

import likewise as lw
from likewise.families.scored_model import only_score
from likewise.importers.imported_model import import_model
from likewise.model.question import question_of

# What is imported is the fitted model, converged or not.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(
    {"a": RANDOM.integers(0, 9, 50), "b": RANDOM.uniform(-2, 2, 50), "c": RANDOM.integers(0, 2, 50)}
)
Y = (X.a + X.b > 4).astype(int)
SPACE = lw.Space({"a": lw.Integer(0, 8), "b": lw.Continuous(-2, 2), "c": lw.Categorical([0, 1])})
NOBODY = np.empty((0, 3))


def fitted(kind, **options):
    return kind(kernel="poly", **options).fit(X, Y if kind in (SVC, NuSVC) else X.a * X.b)


@pytest.mark.draw(16)
@pytest.mark.parametrize("options", [{}, {"gamma": "auto"}, {"gamma": 0.3, "coef0": 1.0}, {"coef0": -2.5}])
@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("kind", [SVC, SVR])
def test_libsvm(kind, degree, options):
    check(fitted(kind, degree=degree, max_iter=2000, **options) if degree else degenerate(kind, options))


@pytest.mark.parametrize("kind", [NuSVC, NuSVR])
def test_the_nu_variants(kind):
    check(fitted(kind, degree=2, nu=0.3))


@pytest.mark.parametrize("kernel", ["poly", "polynomial"])
@pytest.mark.parametrize(
    "options", [{}, {"gamma": 0.2, "coef0": 0.0}, {"degree": 5, "coef0": 0.5}, {"gamma": 0.0}]
)
def test_kernel_ridge(kernel, options):
    check(KernelRidge(kernel=kernel, **options).fit(X, X.a * X.b))


@pytest.mark.parametrize("seed", range(12))
def test_random_models_over_wide_ranges(seed):
    """Kernel values of 1e20 that nearly cancel are compared within what rounding allows, and no more."""
    random = np.random.default_rng(seed)
    scale = 10.0 ** random.integers(-2, 4, 3)
    rows = pd.DataFrame(random.normal(size=(40, 3)) * scale, columns=list("abc"))
    space = lw.Space({n: lw.Continuous(-9 * s, 9 * s) for n, s in zip("abc", scale, strict=True)})
    degree = int(random.integers(2, 6))
    model = SVR(kernel="poly", degree=degree, coef0=float(random.choice([0, 1])), max_iter=500)
    model.fit(rows, random.normal(size=40))
    import_model(model, space, rows=rows.to_numpy())


def degenerate(kind, options):
    """libsvm does not converge on a constant kernel; any coefficients will do."""
    model = fitted(kind, degree=1, **options)
    model.degree = 0
    return model


def check(model):
    score = only_score(import_model(model, SPACE, rows=NOBODY).model, 3)
    rows = np.column_stack([RANDOM.integers(0, 9, 40), RANDOM.uniform(-2, 2, 40), RANDOM.integers(0, 2, 40)])
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    theirs = model.decision_function(frame) if hasattr(model, "decision_function") else model.predict(frame)
    size = 1 + np.abs(theirs).max()
    assert score.scores(rows) == pytest.approx(theirs, abs=1e-8 * size)
    for row, given in list(zip(rows.tolist(), theirs, strict=True))[:5]:
        enclosure = score.enclose([Fraction(c) for c in row], 128)
        assert enclosure.lo == enclosure.hi
        assert float(enclosure.lo) == pytest.approx(given, abs=1e-8 * size)


def test_a_coefficient_that_is_off_by_little_is_noticed():
    model = fitted(SVC, degree=3, coef0=1.0)
    model.dual_coef_ = model.dual_coef_ * (1 + 1e-7)
    with pytest.raises(lw.UnsupportedModel, match="disagrees"):
        import_model(model, SPACE, rows=NOBODY)


def test_a_score_of_zero_is_the_upper_label_as_in_libsvm():
    """f = x^2 - 4 on whole numbers: 2 is on the border, and its neighbours one ulp beside are not."""
    model = SVC(kernel="poly", degree=2, gamma=1.0).fit(pd.DataFrame({"x": [0.0, 4.0]}), [0, 1])
    model.support_vectors_ = np.array([[0.0], [1.0]])
    model.dual_coef_, model.intercept_ = np.array([[-1.0, 1.0]]), np.array([-4.0])
    model._dual_coef_, model._intercept_ = -model.dual_coef_, -model.intercept_
    space = lw.Space({"x": lw.Continuous(0, 4)})
    imported = import_model(model, space, rows=np.empty((0, 1)))
    head, score = imported.model.head, only_score(imported.model, 1)
    for x, label in ((2.0, 1), (np.nextafter(2.0, 0), 0), (np.nextafter(2.0, 4), 1)):
        assert head.decide([score.exact([Fraction(x)])]) == label
        assert imported.replay.decisions(np.array([[x]]))[0] == label
    below = float(np.nextafter(2.0, 0))
    question = question_of(lw.SameDecision(), head, "model")
    assert imported.replay.confirms([below], [2.0], question)
    assert not imported.replay.confirms([2.0], [2.0], question)


def test_masked_columns_do_not_matter_and_others_do():
    model = SVC(kernel="poly", degree=2).fit(X.assign(c=0), Y)
    score = only_score(import_model(model, SPACE, rows=NOBODY).model, 3)
    assert [score.depends(k) for k in range(3)] == [True, True, False]


def test_powers_that_are_no_polynomials_are_refused():
    model = KernelRidge(kernel="poly", degree=2.5, coef0=1.0).fit(X[["a", "c"]], X.a)
    space = lw.Space({"a": lw.Integer(0, 8), "c": lw.Integer(0, 1)})
    with pytest.raises(lw.UnsupportedModel, match=r"degree 2\.5"):
        import_model(model, space, rows=np.empty((0, 2)))


def test_too_many_products_are_refused_by_number():
    rows = pd.DataFrame(RANDOM.normal(size=(20, 40)), columns=[f"x{i}" for i in range(40)])
    model = SVR(kernel="poly", degree=5, coef0=1.0).fit(rows, rows.x0)
    space = lw.Space({name: lw.Continuous(-1, 1) for name in rows})
    with pytest.raises(lw.UnsupportedModel, match="1,221,759 products"):
        import_model(model, space, rows=np.empty((0, 40)))
