"""The bound of the program's rounding holds: |program - exact| <= bound, exact scores by Fractions and balls that share no code with the bound."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from flint import arb, ctx
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC

import likewise as lw
from likewise.importers.imported_model import import_model

WIDE = lw.Space({"a": lw.Continuous(-3.0, 5e4), "b": lw.Integer(0, 60), "c": lw.Continuous(0.0, 1e-3)})
NEAR = lw.Space({"a": lw.Continuous(-2.0, 2.0), "b": lw.Integer(-3, 3), "c": lw.Continuous(0.0, 1.0)})


def people(space, count=40, seed=0):
    random = np.random.default_rng(seed)
    columns = {
        name: random.integers(feature.lo, feature.hi + 1, count)
        if isinstance(feature, lw.Integer)
        else random.uniform(feature.lo, feature.hi, count)
        for name, feature in space.features.items()
    }
    return pd.DataFrame(columns)


def extremes(space, count=60):
    """Random rows, rows on the ends of ranges, and rows beside them."""
    frame = people(space, count, seed=1)
    random = np.random.default_rng(2)
    for name, feature in space.features.items():
        ends = random.choice([feature.lo, feature.hi], count)
        frame[name] = np.where(random.uniform(size=count) < 0.4, ends, frame[name])
    return frame


def gaussian_score(model, row):
    """Of a fitted SVC, SVR, NuSVC or KernelRidge with an RBF kernel, in balls."""
    ridge = isinstance(model, KernelRidge)
    centres = model.X_fit_ if ridge else model.support_vectors_
    coefficients = np.ravel(model.dual_coef_)
    gamma = model.gamma if ridge else float(model._gamma)
    with ctx.workprec(400):
        total = arb(0.0 if ridge else float(model.intercept_[0]))
        for coefficient, centre in zip(coefficients.tolist(), np.asarray(centres).tolist(), strict=True):
            apart = arb(0)
            for here, there in zip(row, centre, strict=True):
                apart += (arb(here) - arb(there)) ** 2
            total += arb(coefficient) * (-arb(gamma) * apart).exp()
        if abs(total) < arb(2) ** -2000:  # far below what a double holds, and slow as a fraction
            return Fraction(0)
        return Fraction(*map(int, (total.mid().fmpq().p, total.mid().fmpq().q)))


def power_score(model, row):
    """The same with a polynomial kernel, in rationals."""
    ridge = isinstance(model, KernelRidge)
    centres = model.X_fit_ if ridge else model.support_vectors_
    gamma, coef0 = Fraction(model.gamma if ridge else float(model._gamma)), Fraction(model.coef0)
    total = Fraction(0 if ridge else float(model.intercept_[0]))
    pairs = zip(np.ravel(model.dual_coef_).tolist(), np.asarray(centres).tolist(), strict=True)
    for coefficient, centre in pairs:
        inner = sum((Fraction(x) * Fraction(s) for x, s in zip(row, centre, strict=True)), Fraction(0))
        total += Fraction(coefficient) * (gamma * inner + coef0) ** model.degree
    return total


def linear_score(model, row):
    weights = np.ravel(model.coef_).tolist()
    return Fraction(float(np.ravel(model.intercept_)[0])) + sum(
        (Fraction(w) * x for w, x in zip(weights, map(Fraction, row), strict=True)), Fraction(0)
    )


def scaled(scaler, row):
    """What a scaler does to a row, in rationals of its stored doubles."""
    row = [Fraction(x) for x in row]
    if isinstance(scaler, StandardScaler):
        return [
            (x - Fraction(m)) / Fraction(s) for x, m, s in zip(row, scaler.mean_, scaler.scale_, strict=True)
        ]
    if isinstance(scaler, RobustScaler):
        return [
            (x - Fraction(m)) / Fraction(s)
            for x, m, s in zip(row, scaler.center_, scaler.scale_, strict=True)
        ]
    return [x * Fraction(s) + Fraction(m) for x, s, m in zip(row, scaler.scale_, scaler.min_, strict=True)]


def program_scores(model, frame):
    return model.predict(frame) if not hasattr(model, "decision_function") else model.decision_function(frame)


def imported(model, space, frame):
    return import_model(model, space, rows=space.encode(frame), like=frame)


def largest_error(model, exact, frame):
    """What the program is off by on these rows, asked about all of them and about each alone."""
    rows = [[float(x) for x in row] for row in frame.to_numpy().tolist()]
    values = [exact(row) for row in rows]
    together = program_scores(model, frame).tolist()
    alone = [float(program_scores(model, frame.iloc[[i]])[0]) for i in range(len(frame))]
    return max(
        abs(Fraction(given) - value)
        for scores in (together, alone)
        for given, value in zip(scores, values, strict=True)
    )


def conflicting(seed=53, draws=4, gamma=0.01):
    """Rows that no Gaussians of this width tell apart: NuSVC finds coefficients of 10^13 that cancel."""
    random = np.random.default_rng(seed)
    for _ in range(draws):
        rows = np.stack([random.integers(0, 6, 20), random.integers(0, 6, 20)], axis=1)
    frame = pd.DataFrame(rows, columns=["a", "b"])
    model = NuSVC(gamma=gamma, nu=0.5, tol=1e-12).fit(frame, np.arange(20) % 2)
    return model, frame, lw.Space({"a": lw.Integer(0, 5), "b": lw.Integer(0, 5)})


def test_coefficients_that_cancel():
    model, frame, space = conflicting()
    found = imported(model, space, frame).program
    grid = pd.DataFrame([(a, b) for a in range(6) for b in range(6)], columns=["a", "b"])
    error = largest_error(model, lambda row: gaussian_score(model, row), grid)
    assert error > Fraction(1, 10_000)  # or this is no example
    assert found.error is not None
    assert error <= found.error
    assert found.large
    assert 0 < found.observed.error <= error


GAUSSIANS = {
    "SVC": lambda X, y: SVC(gamma=0.3).fit(X, y),
    "SVC, hard": lambda X, y: SVC(gamma=2.0, C=1e6).fit(X, y),
    "SVR": lambda X, y: SVR(gamma=0.05, C=100).fit(X, y),
    "KernelRidge": lambda X, y: KernelRidge(kernel="rbf", gamma=0.2, alpha=0.1).fit(X, y),
    "KernelRidge, hardly regular": lambda X, y: KernelRidge(kernel="rbf", gamma=1e-3, alpha=1e-9).fit(X, y),
}


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize("name", GAUSSIANS)
@pytest.mark.parametrize("space", [NEAR, WIDE], ids=["near", "wide"])
def test_gaussians(name, space):
    frame = people(space)
    model = GAUSSIANS[name](frame, (frame["a"] > frame["a"].median()).astype(int))
    found = imported(model, space, frame).program
    error = largest_error(model, lambda row: gaussian_score(model, row), extremes(space))
    assert found.error is not None
    assert error <= found.error


@pytest.mark.parametrize("scaler", [StandardScaler, MinMaxScaler, RobustScaler])
def test_gaussians_behind_a_scaler(scaler):
    frame = people(WIDE)
    model = make_pipeline(scaler(), SVC(gamma=1.5)).fit(frame, (frame["b"] > 30).astype(int))
    found = imported(model, WIDE, frame).program

    def exact(row):
        first, last = model[0], model[1]
        values = scaled(first, row)
        with ctx.workprec(400):
            total = arb(float(last.intercept_[0]))
            pairs = zip(last.dual_coef_[0].tolist(), last.support_vectors_.tolist(), strict=True)
            for coefficient, centre in pairs:
                apart = sum(
                    ((x - Fraction(s)) ** 2 for x, s in zip(values, centre, strict=True)), Fraction(0)
                )
                power = arb(apart.numerator) / arb(apart.denominator)
                total += arb(coefficient) * (-arb(float(last._gamma)) * power).exp()
            middle = total.mid().fmpq()
            return Fraction(int(middle.p), int(middle.q))

    assert largest_error(model, exact, extremes(WIDE)) <= found.error


POWERS = {
    "cubic, columns as they are": (WIDE, lambda X, y: SVC(kernel="poly", gamma=1e-4, C=100, coef0=1.0, max_iter=5000).fit(X, y)),
    "cubic": (NEAR, lambda X, y: SVC(kernel="poly", degree=3, gamma=0.5, coef0=1.0).fit(X, y)),
    "degree 5": (NEAR, lambda X, y: SVR(kernel="poly", degree=5, gamma=1.0, coef0=2.0).fit(X, y)),
    "KernelRidge": (WIDE, lambda X, y: KernelRidge(kernel="poly", degree=3, gamma=1e-6, coef0=1.0, alpha=0.1).fit(X, y)),
}  # fmt: skip


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::scipy.linalg.LinAlgWarning"
)
@pytest.mark.parametrize("name", POWERS)
def test_powers(name):
    space, fit = POWERS[name]
    frame = people(space)
    model = fit(frame, (frame["b"] > frame["b"].median()).astype(int))
    found = imported(model, space, frame).program
    error = largest_error(model, lambda row: power_score(model, row), extremes(space))
    assert found.error is not None
    assert error <= found.error


@pytest.mark.parametrize("scaler", [None, StandardScaler, MinMaxScaler])
@pytest.mark.parametrize("space", [NEAR, WIDE], ids=["near", "wide"])
def test_linear(scaler, space):
    frame = people(space)
    y = (frame["b"] > frame["b"].median()).astype(int)
    model = (
        LogisticRegression().fit(frame, y)
        if scaler is None
        else make_pipeline(scaler(), LogisticRegression()).fit(frame, y)
    )
    found = imported(model, space, frame).program

    def exact(row):
        return linear_score(model, row) if scaler is None else linear_score(model[-1], scaled(model[0], row))

    assert largest_error(model, exact, extremes(space)) <= found.error
    assert not found.large


def test_products():
    frame = people(WIDE)
    model = make_pipeline(StandardScaler(), PolynomialFeatures(3), LinearRegression()).fit(
        frame, frame["a"] * frame["b"]
    )
    found = imported(model, WIDE, frame).program

    def exact(row):
        values = scaled(model[0], row)
        products = [
            np.prod([x ** int(k) for x, k in zip(values, powers, strict=True)], initial=Fraction(1))
            for powers in model[1].powers_
        ]
        return linear_score(model[2], products)

    assert largest_error(model, exact, extremes(WIDE, 20)) <= found.error


BOOSTED = {
    "forest": lambda X, y: RandomForestClassifier(n_estimators=30, random_state=0).fit(X, y),
    "gradient boosting": lambda X, y: GradientBoostingClassifier(n_estimators=30).fit(X, y),
    "hist gradient boosting": lambda X, y: HistGradientBoostingClassifier(max_iter=30, min_samples_leaf=3).fit(X, y),
    "xgboost": lambda X, y: pytest.importorskip("xgboost").XGBClassifier(n_estimators=60, learning_rate=0.7).fit(X, y),
    "xgboost, regression": lambda X, y: pytest.importorskip("xgboost").XGBRegressor(n_estimators=60).fit(X, 1e4 * y + X["a"]),
    "lightgbm": lambda X, y: pytest.importorskip("lightgbm").LGBMClassifier(
        n_estimators=30, min_child_samples=3, verbose=-1
    ).fit(X, y),
}  # fmt: skip


@pytest.mark.some_days
@pytest.mark.parametrize("name", BOOSTED)
def test_trees(name):
    """Their sums are exact in `Model.exact`, which has been compared with the libraries leaf by leaf."""
    frame = people(NEAR, 80)
    model = BOOSTED[name](frame, (frame["a"] * frame["b"] > 0).astype(int))
    found = imported(model, NEAR, frame)
    rows = found.recoding.coded(NEAR.encode(extremes(NEAR)))
    given = found.replay.scores(rows)
    for row, scores in zip(rows.tolist(), given.tolist(), strict=True):
        exact = found.model.exact([Fraction(c) for c in row])
        off = [abs(Fraction(score) - value) for score, value in zip(scores, exact, strict=True)]
        assert max(off) <= found.program.error


def test_several_classes():
    frame = people(NEAR, 80)
    y = np.digitize(frame["a"], [-0.5, 0.8])
    model = OneVsRestClassifier(SVC(gamma=0.4)).fit(frame, y)
    found = imported(model, NEAR, frame).program
    assert len(found.bounds) == 3
    rows = extremes(NEAR, 30)
    for k, inside in enumerate(model.estimators_):
        given = model.decision_function(rows)[:, k].tolist()
        exact = [gaussian_score(inside, row) for row in rows.to_numpy().tolist()]
        assert max(abs(Fraction(g) - e) for g, e in zip(given, exact, strict=True)) <= found.bounds[k]


def test_a_program_that_is_not_described_has_no_bound():
    from sklearn.preprocessing import FunctionTransformer

    space = lw.Space({"a": lw.Continuous(1.0, 9.0)})
    frame = people(space)
    model = make_pipeline(FunctionTransformer(np.log), SVC()).fit(frame, (frame["a"] > 4).astype(int))
    found = imported(model, space, frame).program
    assert found.error is None
    assert found.moved("score", imported(model, space, frame).model.head) is None
