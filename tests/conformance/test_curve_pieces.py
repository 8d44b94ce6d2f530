"""Functions of continuous numbers in pieces: next to the function everywhere, and proofs about them are about the original.

Enclosures are compared with decimal arithmetic of fifty digits, models with their own predict, verdicts with pairs looked through one by one.
"""

import decimal
import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, PowerTransformer, StandardScaler
from sklearn.svm import SVR
from tests.conformance.agreement import assert_agrees

import likewise as lw
from likewise.importers.transformers.curve_pieces import CLOSENESS, curve_in_pieces
from likewise.importers.transformers.fitted_curves import FittedPower
from likewise.importers.transformers.function_series import Link
from likewise.importers.transformers.traced_columns import Arithmetic, Line, Operation

DIGITS = decimal.Context(prec=60)


@pytest.fixture(autouse=True)
def digits():
    with decimal.localcontext(DIGITS):
        yield


def number(value):
    return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def natural(x):
    return x.ln(DIGITS)


EXACT = {
    "log": natural,
    "log1p": lambda x: natural(DIGITS.add(x, 1)),
    "log10": lambda x: x.log10(DIGITS),
    "exp": lambda x: x.exp(DIGITS),
    "expm1": lambda x: DIGITS.subtract(x.exp(DIGITS), 1),
    "sqrt": lambda x: x.sqrt(DIGITS),
    "square": lambda x: DIGITS.multiply(x, x),
    "reciprocal": lambda x: DIGITS.divide(1, x),
    "absolute": abs,
    "tanh": lambda x: DIGITS.subtract(1, DIGITS.divide(2, DIGITS.add((2 * x).exp(DIGITS), 1))),
    "cbrt": lambda x: DIGITS.copy_sign(DIGITS.divide(natural(abs(x)), 3).exp(DIGITS), x) if x else x,
    "arcsinh": lambda x: DIGITS.copy_sign(
        natural(DIGITS.add(abs(x), DIGITS.add(DIGITS.multiply(x, x), 1).sqrt(DIGITS))), x
    ),
}
RANGES = {
    **dict.fromkeys(EXACT, (0.125, 1e4)),
    "exp": (-3.5, 5.25),
    "expm1": (-3.5, 5.25),
    "sqrt": (0.0, 40.0),
    "square": (-7.0, 3.0),
    "absolute": (-7.0, 3.0),
    "tanh": (-3.0, 20.0),
    "cbrt": (-3.5, 5.25),
    "arcsinh": (-100.0, 300.0),
    "log1p": (0.0, 1e5),
    "reciprocal": (-3.0, -0.0625),
}


def places(curve, lo, hi, seed=0):
    """Cuts, the doubles beside them, both ends, and numbers all over, on several scales."""
    random = np.random.default_rng(seed)
    cuts = [float(cut) for cut in curve.cuts]
    beside = [math.nextafter(cut, to) for cut in cuts for to in (-math.inf, math.inf)]
    small = lo + (hi - lo) * 10.0 ** random.uniform(-30, 0, 100)
    found = [lo, hi, *cuts, *beside, *random.uniform(lo, hi, 200), *small]
    return [float(x) for x in found if lo <= x <= hi]


@pytest.mark.draw(1)
@pytest.mark.parametrize("scaled", [False, True], ids=["as it is", "scaled"])
@pytest.mark.parametrize("name", sorted(EXACT))
def test_pieces_are_next_to_the_function(name, scaled):
    lo, hi = RANGES[name]
    steps = (Operation("plus", Fraction(-3)), Operation("over", Fraction(7))) if scaled else ()
    if scaled and name in ("sqrt", "log", "log1p", "log10", "reciprocal", "cbrt"):
        steps = (Operation("plus", Fraction(1)), Operation("times", Fraction(3, 8)))
        lo, hi = 0.5, 40.0
    line = Arithmetic(steps).on(Line())
    found = curve_in_pieces((Link(line=line, function=getattr(np, name)),), lo, hi)
    size = 0
    for x in places(found.pieces, lo, hi):
        exact = EXACT[name](number(line.offset + line.slope * Fraction(x)))
        off = abs(DIGITS.subtract(exact, number(found.pieces.exact(Fraction(x)))))
        assert off <= number(found.distance) + Decimal("1e-45"), x
        size = max(size, abs(exact))
        # What the program computes is as far from the polynomials as its line says.
        with np.errstate(all="ignore"):
            theirs = Fraction(float(getattr(np, name)(line.computed(x))))
        allowed = found.line.roundings * Fraction(1, 2**53) * (abs(theirs) + found.line.slack)
        assert abs(theirs - found.pieces.exact(Fraction(x))) <= allowed
    assert number(found.distance) <= number(2 * CLOSENESS) * size


@pytest.mark.draw(3)
@pytest.mark.parametrize("power", [-1.3, 0.0, 0.4, 2.0, 2.7])
@pytest.mark.parametrize("sides", [(-4.0, 9.0), (0.0, 9.0), (-4.0, -0.25)])
def test_fitted_powers_on_both_sides_of_zero(power, sides):
    one = FittedPower(method="yeo-johnson", power=power, mean=0.25, scale=1.5)
    found = curve_in_pieces((Link(line=Line(), function=one),), *sides)
    for x in places(found.pieces, *sides):
        rising, by = x >= 0, Decimal(power if x >= 0 else 2 - power)
        z = natural(DIGITS.add(1, abs(Decimal(x))))
        bent = z if not by else DIGITS.divide(DIGITS.subtract(DIGITS.multiply(by, z).exp(DIGITS), 1), by)
        exact = DIGITS.divide(DIGITS.subtract(bent if rising else -bent, Decimal("0.25")), Decimal("1.5"))
        assert abs(DIGITS.subtract(exact, number(found.pieces.exact(Fraction(x))))) <= number(found.distance)


def test_a_function_of_a_function():
    """sqrt(1 + log1p(x)), as the program computes it and in decimals."""
    chain = (
        Link(line=Line(), function=np.log1p),
        Link(line=Arithmetic((Operation("plus", Fraction(1)),)).on(Line()), function=np.sqrt),
    )
    found = curve_in_pieces(chain, 0.0, 500.0)
    for x in places(found.pieces, 0.0, 500.0):
        exact = DIGITS.add(1, EXACT["log1p"](Decimal(x))).sqrt(DIGITS)
        assert abs(DIGITS.subtract(exact, number(found.pieces.exact(Fraction(x))))) <= number(found.distance)
        theirs = Fraction(float(np.sqrt(1 + np.log1p(x))))
        allowed = found.line.roundings * Fraction(1, 2**53) * (abs(theirs) + found.line.slack)
        assert abs(theirs - found.pieces.exact(Fraction(x))) <= allowed


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    ("name", "lo", "hi"),
    [("log", 0.0, 1.0), ("sin", 0.0, 1e5), ("arcsin", -1.0, 1.0), ("floor", 0.0, 3.0), ("tan", 0.0, 1.0)],
)
def test_no_pieces(name, lo, hi):
    """Not finite at an end; too many of them; too steep at an end; functions without a series."""
    assert curve_in_pieces((Link(line=Line(), function=getattr(np, name)),), lo, hi) is None


# -- models -----------------------------------------------------------------------------------------------

SPACE = lw.Space({"income": lw.Continuous(0.0, 200.0), "sex": lw.Categorical([0, 1])})


def people(rows=80, seed=3):
    random = np.random.default_rng(seed)
    X = pd.DataFrame({"income": random.uniform(0, 200, rows), "sex": random.integers(0, 2, rows)})
    target = 2 * np.log1p(X.income) - 0.02 * X.income + 0.3 * X.sex + random.normal(0, 0.1, rows)
    return X, target, np.where(target > np.median(target), "yes", "no")


X, TARGET, LABELS = people()
LOG = FunctionTransformer(np.log1p)
BESIDE = make_column_transformer(
    (FeatureUnion([("raw", StandardScaler()), ("log", make_pipeline(LOG, StandardScaler()))]), ["income"]),
    remainder="passthrough",
)
ONLY = make_column_transformer((LOG, ["income"]), remainder="passthrough")
COLUMNS = {
    "beside": BESIDE,
    "two functions": make_column_transformer(
        (FeatureUnion([("root", FunctionTransformer(np.sqrt)), ("log", LOG)]), ["income"]),
        remainder="passthrough",
    ),
    "of a function": make_column_transformer(
        (make_pipeline(LOG, StandardScaler(), FunctionTransformer(np.exp)), ["income"]),
        remainder="passthrough",
    ),
    "turns": make_column_transformer(
        (make_pipeline(StandardScaler(), FunctionTransformer(np.square)), ["income"]), remainder="passthrough"
    ),
    "sine": make_column_transformer(
        (make_pipeline(StandardScaler(), FunctionTransformer(np.sin)), ["income"]), remainder="passthrough"
    ),
    "powers beside": make_column_transformer(
        (FeatureUnion([("raw", StandardScaler()), ("power", PowerTransformer())]), ["income"]),
        remainder="passthrough",
    ),
}


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_linear_models(name):
    imported = assert_agrees(
        make_pipeline(COLUMNS[name], LogisticRegression(max_iter=1000)).fit(X, LABELS), SPACE, X
    )
    assert imported.space.names == SPACE.names
    assert "is taken in polynomials" in imported.recoding.notes[0]


def test_a_kernel_model_of_both():
    assert_agrees(make_pipeline(BESIDE, SVR(gamma=0.3)).fit(X, TARGET), SPACE, X)


def within_gap(model, tolerance, steps=4000):
    """The largest difference of predictions of two incomes that are at most so far apart, on a grid that has the tolerance as a multiple of its step."""
    grid = np.linspace(0, 200, steps + 1)
    apart = round(tolerance / (grid[1] - grid[0]))
    by_sex = [model.predict(pd.DataFrame({"income": grid, "sex": s})) for s in (0, 1)]
    found = 0.0
    for first, second in itertools.product(by_sex, by_sex):
        for shift in range(apart + 1):
            found = max(found, np.abs(first[: steps + 1 - shift] - second[shift:]).max(initial=0.0))
    return found


@pytest.mark.draw(1)
@pytest.mark.parametrize("columns", [BESIDE, ONLY], ids=["beside", "only"])
def test_tolerances_are_of_the_number_itself(columns, tmp_path):
    """log1p(income) alone, or beside the income, within 10 of it: the largest gap is that of a fine grid, and a certificate says so."""
    model = make_pipeline(columns, LinearRegression()).fit(X, TARGET)
    similar = lw.Similarity(free=["sex"], within={"income": 10})
    gap = within_gap(model, 10)
    fair = lw.verify(model, SPACE, similar, lw.ScoreGap(gap * 1.01), X=X, budget=60)
    assert fair.verdict == "FAIR", fair.reason
    assert not fair.covers_floating_point
    assert lw.check(fair.certificate.save(tmp_path / "c.likewise")).accepted
    biased = lw.verify(model, SPACE, similar, lw.ScoreGap(gap * 0.99), X=X, budget=60)
    assert biased.verdict == "BIASED"
    assert np.ptp(model.predict(biased.pair)) > gap * 0.99
    assert np.ptp(biased.pair.income) <= 10


def test_decisions_beside_each_other(tmp_path):
    """A planted bias in sex is found; without a weight of sex, and with income the same, everybody is treated alike."""
    model = make_pipeline(BESIDE, LogisticRegression(max_iter=1000)).fit(X, LABELS)
    result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X)
    assert result.verdict == "BIASED"
    assert set(model.predict(result.pair)) == {"yes", "no"}
    model[-1].coef_[0, -1] = 0.0
    fair = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X)
    assert fair.verdict == "FAIR"
    assert lw.check(fair.certificate.save(tmp_path / "c.likewise")).accepted


def test_constraints_speak_of_the_number_itself():
    """Only incomes up to 100 for one sex: the largest gap in sex, with income within 5, is found under the constraint."""
    space = SPACE.where("income <= 100")
    model = make_pipeline(ONLY, LinearRegression()).fit(X, TARGET)
    free = lw.Similarity(free=["sex", "income"])
    ends = pd.DataFrame({"income": [0.0, 100.0], "sex": [0, 1]})
    gap = np.ptp(model.predict(ends))
    assert lw.verify(model, space, free, lw.ScoreGap(gap * 1.001), X=X[X.income <= 100]).verdict == "FAIR"
    biased = lw.verify(model, space, free, lw.ScoreGap(gap * 0.999), X=X[X.income <= 100])
    assert biased.verdict == "BIASED"
    assert biased.pair.income.max() <= 100


def test_trees_of_a_function_within_a_tolerance():
    """Boosting on log1p(income) beside the income: tests are of curves, and the pair that is shown is the program's."""
    model = make_pipeline(BESIDE, GradientBoostingRegressor(n_estimators=3, max_depth=2, random_state=0)).fit(
        X, TARGET
    )
    result = lw.measure(model, SPACE, lw.Similarity(free=["sex"], within={"income": 10}), X=X, budget=20)
    gap = within_gap(model, 10)
    assert result.lower >= gap * (1 - 1e-9)
    assert result.upper >= result.lower
