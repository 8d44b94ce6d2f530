"""RBF models: imported exactly and compared with the original; other kernels are refused by name."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

import likewise as lw
from likewise.families.scored_model import only_score
from likewise.importers.imported_model import import_model

RANDOM = np.random.default_rng(0)
X = pd.DataFrame({"a": RANDOM.integers(0, 9, 50), "b": RANDOM.uniform(-2, 2, 50)})
Y = (X.a + X.b > 4).astype(int)
SPACE = lw.Space({"a": lw.Integer(0, 8), "b": lw.Continuous(-2, 2)})
NOBODY = np.empty((0, 2))


def fitted(kind, **options):
    return kind(**options).fit(X, Y if kind in (SVC, NuSVC) else X.a * X.b)


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
@pytest.mark.parametrize("kind", [SVC, NuSVC, SVR, NuSVR])
def test_libsvm(kind, gamma):
    check(fitted(kind, gamma=gamma))


@pytest.mark.parametrize(
    "options", [{"kernel": "rbf"}, {"kernel": "rbf", "gamma": 0.2}, {"kernel": "linear"}]
)
def test_kernel_ridge(options):
    check(fitted(KernelRidge, **options))


def check(model):
    score = only_score(import_model(model, SPACE, rows=NOBODY).model, 2)
    rows = np.column_stack([RANDOM.integers(0, 9, 40), RANDOM.uniform(-2, 2, 40)]).astype(float)
    frame = pd.DataFrame(rows, columns=["a", "b"])
    theirs = model.decision_function(frame) if hasattr(model, "decision_function") else model.predict(frame)
    assert score.scores(rows) == pytest.approx(theirs, abs=1e-9)
    for row, given in list(zip(rows.tolist(), theirs, strict=True))[:5]:
        enclosure = score.enclose([Fraction(c) for c in row], 128)
        assert enclosure.lo <= enclosure.hi
        assert enclosure.hi - enclosure.lo <= Fraction(1, 2**90)
        assert float(enclosure.middle) == pytest.approx(given, abs=1e-9)


@pytest.mark.parametrize("kernel", ["sigmoid"])
def test_other_kernels_are_refused_by_name(kernel):
    with pytest.raises(lw.UnsupportedModel, match=f"kernel='{kernel}'"):
        import_model(fitted(SVC, kernel=kernel), SPACE, rows=NOBODY)


def test_precomputed_kernels_are_refused_with_the_reason():
    model = SVC(kernel="precomputed").fit(X.to_numpy() @ X.to_numpy().T, Y)
    space = lw.Space({f"x{i}": lw.Continuous(0, 1) for i in range(50)})
    with pytest.raises(lw.UnsupportedModel, match="not a function of the columns"):
        import_model(model, space, rows=np.empty((0, 50)))


def test_unfitted_models_are_refused():
    with pytest.raises(lw.UnsupportedModel, match="not fitted"):
        import_model(SVC(), SPACE, rows=NOBODY)


def test_two_outputs_are_refused():
    with pytest.raises(lw.UnsupportedModel, match="2 outputs"):
        import_model(KernelRidge(kernel="rbf").fit(X, np.column_stack([X.a, X.b])), SPACE, rows=NOBODY)


def test_a_changed_model_is_refused():
    model = fitted(SVC)
    model.decision_function = lambda rows: np.zeros(len(rows))
    with pytest.raises(lw.UnsupportedModel, match="disagrees"):
        import_model(model, SPACE, rows=NOBODY)
