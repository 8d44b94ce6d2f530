"""QuantileTransformer of continuous numbers in pieces: next to the function on, beside and between all quantiles, and proofs about it are about the original.

Shares are compared with scikit-learn's formula in fractions, normal quantiles with the normal distribution in decimals of sixty digits, models with their own predict, verdicts with pairs at and beside all breaks.
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
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, QuantileTransformer, StandardScaler
from sklearn.svm import SVR
from tests.conformance.agreement import assert_agrees

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.importers.imported_model import import_model
from likewise.importers.transformers.curve_pieces import CLOSENESS, curve_in_pieces
from likewise.importers.transformers.fitted_curves import FittedQuantiles
from likewise.importers.transformers.function_series import Link
from likewise.importers.transformers.traced_columns import Arithmetic, Line, Operation

DIGITS = decimal.Context(prec=60)
DRAWN = np.random.default_rng(7)
SAMPLES = {
    "all different": DRAWN.normal(-2, 30, 200),
    "skewed": DRAWN.lognormal(8, 2, 300),
    "with ties": np.maximum(DRAWN.normal(5, 4, 200).round(), 1.0),
    "mostly zero": np.where(DRAWN.random(300) < 0.8, 0.0, DRAWN.lognormal(8, 1, 300)),
    "equally far apart": np.arange(0.0, 100.0),
    "next to each other": DRAWN.uniform(0.3, 0.3 + 1e-5, 100),
    "large": DRAWN.uniform(1e10, 2e10, 100),
    "three": np.array([1.0, 2.0, 2.0, 4.0]),
    "one": np.full(8, 3.0),
}
KINDS = ("uniform", "normal")
SCALED = Arithmetic((Operation("plus", Fraction(-3)), Operation("over", Fraction(-7)))).on(Line())


@pytest.fixture(autouse=True)
def digits():
    with decimal.localcontext(DIGITS):
        yield


def fitted_quantiles(numbers, kind, count=25):
    transformer = QuantileTransformer(n_quantiles=min(count, len(numbers)), output_distribution=kind)
    transformer.fit(numbers[:, None])
    one = FittedQuantiles(
        quantiles=tuple(transformer.quantiles_[:, 0].tolist()),
        references=tuple(transformer.references_.tolist()),
        normal=kind == "normal",
    )
    return transformer, one


def beside(places, lo, hi):
    """The places and the doubles next to them, between lo and hi."""
    near = [math.nextafter(at, to) for at in places for to in (-math.inf, math.inf)]
    return sorted({float(at) for at in (*places, *near) if lo <= at <= hi})


def places_of(quantiles, cuts, lo, hi):
    """Quantiles, cuts, where normal quantiles are cut off, numbers in between, and what is next to all of them."""
    edges = [q + off for q in (quantiles[0], quantiles[-1]) for off in (-1e-7, 1e-7)]
    middles = [a + (b - a) * part for a, b in itertools.pairwise(quantiles) for part in (1e-6, 0.3, 0.5, 0.9)]
    return beside([lo, hi, *quantiles, *map(float, cuts), *edges, *middles], lo, hi)


def interpolated(x, points):
    """numpy.interp, exactly: of equal places the last one."""
    if x < points[0][0]:
        return points[0][1]
    (left, low), *after = next(points[i:] for i in reversed(range(len(points))) if points[i][0] <= x)
    if left == x or not after:
        return low
    right, high = after[0]
    return low + (high - low) * (x - left) / (right - left)


def exact_share(x, one):
    """What scikit-learn's transform says it computes."""
    points = [(Fraction(q), Fraction(r)) for q, r in zip(one.quantiles, one.references, strict=True)]
    back = [(-q, -r) for q, r in reversed(points)]
    share = (interpolated(Fraction(x), points) - interpolated(-Fraction(x), back)) / 2
    at_top, at_bottom = x == one.quantiles[-1], x == one.quantiles[0]
    if one.normal:
        at_top, at_bottom = x + 1e-7 > one.quantiles[-1], x - 1e-7 < one.quantiles[0]
    share = Fraction(0) if at_bottom else Fraction(1) if at_top else share
    edge = 1e-7 - np.spacing(1)
    return min(max(share, Fraction(edge)), Fraction(1 - edge)) if one.normal else share


def number(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


def normal_share(y):
    """The normal distribution below y: 1/2 + phi(y) (y + y^3/3 + y^5/15 + ...)."""
    y = number(y)
    total, term, k = Decimal(0), y, 1
    while abs(term) > Decimal("1e-50"):
        total += term
        k += 2
        term *= y * y / k
    root = (2 * Decimal("3.14159265358979323846264338327950288419716939937510582097494459")).sqrt()
    return Decimal("0.5") + (-y * y / 2).exp() / root * total


def is_next_to(value, x, one, distance):
    """Whether a value is at most so far from the exact function."""
    share = exact_share(x, one)
    if not one.normal:
        return abs(value - share) <= distance
    spare = Decimal("1e-45")
    return normal_share(value - distance) - spare <= number(share) <= normal_share(value + distance) + spare


@pytest.mark.draw(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_pieces_are_next_to_the_function(sample, kind):
    """On, one ulp beside and between all quantiles, exactly and as scikit-learn computes it."""
    numbers = SAMPLES[sample]
    transformer, one = fitted_quantiles(numbers, kind)
    lo, hi = float(numbers.min() - 1), float(numbers.max() + 1)
    found = curve_in_pieces((Link(line=Line(), function=one),), lo, hi)
    places = places_of(one.quantiles, found.pieces.cuts if len(found.pieces.cuts) < 100 else (), lo, hi)
    theirs = transformer.transform(np.array(places)[:, None])[:, 0]
    for x, value in zip(places, theirs.tolist(), strict=True):
        ours = found.pieces.exact(Fraction(x))
        assert is_next_to(ours, x, one, found.distance), x
        allowed = found.line.roundings * Fraction(1, 2**53) * (abs(ours) + found.line.slack)
        assert abs(Fraction(value) - ours) <= allowed, x
        assert allowed < 1e-7
    assert found.distance <= 2 * CLOSENESS * (6 if one.normal else 1)


@pytest.mark.draw(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_pieces_of_a_scaled_number(sample, kind):
    """The program rounds when it scales: on which side of a jump somebody is, is what it makes of that."""
    numbers = SAMPLES[sample]
    scaled = np.array([SCALED.computed(x) for x in numbers])
    transformer, one = fitted_quantiles(scaled, kind)
    lo, hi = float(numbers.min() - 1), float(numbers.max() + 1)
    found = curve_in_pieces((Link(line=SCALED, function=one),), lo, hi)
    places = beside([lo, hi, *numbers, *found.pieces.cuts, *DRAWN.uniform(lo, hi, 200)], lo, hi)
    theirs = transformer.transform(np.array([SCALED.computed(x) for x in places])[:, None])[:, 0]
    for x, value in zip(places, theirs.tolist(), strict=True):
        ours = found.pieces.exact(Fraction(x))
        allowed = found.line.roundings * Fraction(1, 2**53) * (abs(ours) + found.line.slack)
        assert abs(Fraction(value) - ours) <= allowed, x
        assert allowed < 1e-6


@pytest.mark.some_days
def test_quantiles_that_differ_in_their_last_digits():
    """[1, 2, 2, 4], scaled: the second and the third quantile of four are an ulp or two apart, and the share rises by a third between them. Nothing of that is lost."""
    numbers = np.array([1.0, 2.0, 2.0, 4.0])
    line = Arithmetic(
        (Operation("plus", Fraction(-2.25)), Operation("over", Fraction(1.0897247358851685)))
    ).on(Line())
    transformer, one = fitted_quantiles(np.array([line.computed(x) for x in numbers]), "normal")
    assert 0 < one.quantiles[2] - one.quantiles[1] < 1e-15
    found = curve_in_pieces((Link(line=line, function=one),), 0.0, 5.0)
    around = [2.0]
    for _ in range(20):
        around = [math.nextafter(around[0], 0), *around, math.nextafter(around[-1], 5)]
    theirs = transformer.transform(np.array([line.computed(x) for x in around])[:, None])[:, 0]
    assert np.ptp(theirs) > 0.8
    assert [float(found.pieces.exact(Fraction(x))) for x in around] == pytest.approx(theirs, abs=1e-9)


def test_quantiles_on_one_line_are_one_piece():
    """Equally far apart, with the references that scikit-learn has: 0, a line, 1."""
    _, one = fitted_quantiles(np.arange(0.0, 1000.0), "uniform", count=1000)
    found = curve_in_pieces((Link(line=Line(), function=one),), -5.0, 2000.0)
    assert [len(p) for p in found.pieces.polynomials] == [0, 2, 1]
    assert found.pieces.cuts == (0, 999)
    assert 0 < found.distance < Fraction(1, 2**49)


def test_a_jump_in_between_is_no_line():
    """A tie, and a bend that is hardly one, are kept."""
    references = tuple(np.linspace(0, 1, 5).tolist())
    one = FittedQuantiles(quantiles=(0.0, 1.0, 1.0, 3.0, 4.0), references=references, normal=False)
    found = curve_in_pieces((Link(line=Line(), function=one),), 0.0, 4.0)
    assert [found.pieces.exact(Fraction(x)) for x in (1 - 2.0**-53, 1.0)] == [
        Fraction(1, 4) - Fraction(1, 2**55),
        Fraction(3, 8),
    ]
    assert found.pieces.exact(Fraction(1 + 2.0**-52)) == Fraction(1, 2) + Fraction(1, 2**55)
    bent = FittedQuantiles(quantiles=(0.0, 1.0, 2.0 + 1e-12, 3.0, 4.0), references=references, normal=False)
    kept = curve_in_pieces((Link(line=Line(), function=bent),), 0.0, 4.0)
    assert kept.pieces.cuts == (0, 1, Fraction(2.0 + 1e-12), 3)


@pytest.mark.parametrize("quantiles", [(0.0, 5e-324, 1.0), (-1.7e308, 0.0, 1.7e308)])
def test_quantiles_beyond_doubles(quantiles):
    """numpy's slopes between them are infinite, or zero."""
    one = FittedQuantiles(quantiles=quantiles, references=(0.0, 0.5, 1.0), normal=False)
    assert curve_in_pieces((Link(line=Line(), function=one),), 0.0, 1.0) is None


# -- models -----------------------------------------------------------------------------------------------

SPACE = lw.Space({"income": lw.Continuous(0.0, 200.0), "sex": lw.Categorical([0, 1])})


def people(rows=90, seed=3):
    """A third of them have an income of 0, others one of few."""
    random = np.random.default_rng(seed)
    income = np.where(random.random(rows) < 0.3, 0.0, random.uniform(0, 200, rows))
    income = np.where(random.random(rows) < 0.4, (income / 20).round() * 20, income)
    X = pd.DataFrame({"income": income, "sex": random.integers(0, 2, rows)})
    target = 2 * np.log1p(X.income) - 0.02 * X.income + 0.3 * X.sex + random.normal(0, 0.1, rows)
    return X, target, np.where(target > np.median(target), "yes", "no")


X, TARGET, LABELS = people()


def ranks(kind, count=12):
    return QuantileTransformer(n_quantiles=count, output_distribution=kind)


def beside_number(kind):
    both = FeatureUnion([("raw", StandardScaler()), ("rank", ranks(kind))])
    return make_column_transformer((both, ["income"]), remainder="passthrough")


def alone(kind):
    return make_column_transformer((ranks(kind), ["income"]), remainder="passthrough")


COLUMNS = {
    "uniform beside": beside_number("uniform"),
    "normal beside": beside_number("normal"),
    "both": make_column_transformer(
        (FeatureUnion([(kind, ranks(kind)) for kind in KINDS]), ["income"]), remainder="passthrough"
    ),
    "scaled before and after": make_column_transformer(
        (
            FeatureUnion(
                [
                    ("raw", "passthrough"),
                    ("rank", make_pipeline(StandardScaler(), ranks("uniform"), StandardScaler())),
                ]
            ),
            ["income"],
        ),
        remainder="passthrough",
    ),
    "a function of it": make_column_transformer(
        (make_pipeline(ranks("uniform"), FunctionTransformer(np.exp)), ["income"]), remainder="passthrough"
    ),
}


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_linear_models(name):
    model = make_pipeline(COLUMNS[name], LogisticRegression(max_iter=1000)).fit(X, LABELS)
    imported = assert_agrees(model, SPACE, X)
    assert imported.space.names == SPACE.names
    assert "is taken in polynomials" in imported.recoding.notes[0]


def test_a_kernel_model_of_both():
    assert_agrees(make_pipeline(beside_number("uniform"), SVR(gamma=0.3)).fit(X, TARGET), SPACE, X)


def within_gap(model, tolerance):
    """The largest difference of predictions of two incomes at most so far apart, at and beside all breaks and as far from them as may be. Between these both are lines."""
    quantiles = model[0].transformers_[0][1]
    quantiles = quantiles if hasattr(quantiles, "quantiles_") else quantiles.transformer_list[1][1]
    places = beside([0.0, 200.0, *quantiles.quantiles_[:, 0]], 0.0, 200.0)
    moved = [at + off for at in places for off in (-tolerance, tolerance) if 0 <= at + off <= 200]
    places = np.unique([*places, *moved])
    apart = np.abs(places[:, None] - places[None, :]) <= tolerance
    by_sex = [model.predict(pd.DataFrame({"income": places, "sex": s})) for s in (0, 1)]
    return max(
        np.abs(first[:, None] - second[None, :])[apart].max()
        for first, second in itertools.product(by_sex, by_sex)
    )


@pytest.mark.parametrize("columns", [beside_number, alone])
def test_tolerances_are_of_the_number_itself(columns, tmp_path):
    """Shares alone, or beside the income, within 10 of it: the largest gap is at a jump, and a certificate says so."""
    model = make_pipeline(columns("uniform"), LinearRegression()).fit(X, TARGET)
    similar = lw.Similarity(free=["sex"], within={"income": 10})
    gap = within_gap(model, 10)
    fair = lw.verify(model, SPACE, similar, lw.ScoreGap(gap * 1.0001), X=X, budget=60)
    assert fair.verdict == "FAIR", fair.reason
    assert not fair.covers_floating_point
    assert lw.check(fair.certificate.save(tmp_path / "c.likewise")).accepted
    biased = lw.verify(model, SPACE, similar, lw.ScoreGap(gap * 0.9999), X=X, budget=60)
    assert biased.verdict == "BIASED"
    assert np.ptp(model.predict(biased.pair)) > gap * 0.9999
    assert np.ptp(biased.pair.income) <= 10


@pytest.mark.slow
def test_normal_quantiles_within_a_tolerance(tmp_path):
    """The bracket holds the largest gap of a fine grid with all breaks, and is hardly wider."""
    model = make_pipeline(alone("normal"), LinearRegression()).fit(X, TARGET)
    similar = lw.Similarity(free=["sex"], within={"income": 10})
    found = lw.measure(model, SPACE, similar, of="score", X=X, budget=60)
    grid = np.linspace(0, 200, 2001)
    by_sex = [model.predict(pd.DataFrame({"income": grid, "sex": s})) for s in (0, 1)]
    pairs = itertools.product(by_sex, by_sex, range(101))
    gap = max(np.abs(a[: 2001 - shift] - b[shift:]).max() for a, b, shift in pairs)
    gap = max(gap, within_gap(model, 10))
    assert gap <= found.upper <= gap * 1.001
    assert found.lower == pytest.approx(gap, rel=1e-3)
    fair = lw.verify(model, SPACE, similar, lw.ScoreGap(gap * 1.01), X=X, budget=60)
    assert fair.verdict == "FAIR", fair.reason
    assert lw.check(fair.certificate.save(tmp_path / "c.likewise")).accepted


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("kind", KINDS)
def test_decisions_beside_each_other(kind, tmp_path):
    """A planted bias in sex is found; without a weight of sex, and with income the same, everybody is treated alike."""
    model = make_pipeline(beside_number(kind), LogisticRegression(max_iter=1000)).fit(X, LABELS)
    result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X)
    assert result.verdict == "BIASED"
    assert set(model.predict(result.pair)) == {"yes", "no"}
    model[-1].coef_[0, -1] = 0.0
    fair = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X)
    assert fair.verdict == "FAIR"
    assert lw.check(fair.certificate.save(tmp_path / "c.likewise")).accepted


def test_constraints_speak_of_the_number_itself():
    """Only incomes from 0.5 to 100: nobody is at the jump at 0, nor beyond the end."""
    space = SPACE.where("income <= 100").where("income >= 0.5")
    model = make_pipeline(alone("uniform"), LinearRegression()).fit(X, TARGET)
    free, rows = lw.Similarity(free=["sex", "income"]), X[X.income.between(0.5, 100)]
    ends = pd.DataFrame({"income": [0.5, 100.0] * 2, "sex": [0, 0, 1, 1]})
    gap = np.ptp(model.predict(ends))
    assert lw.verify(model, space, free, lw.ScoreGap(gap * 1.001), X=rows).verdict == "FAIR"
    biased = lw.verify(model, space, free, lw.ScoreGap(gap * 0.999), X=rows)
    assert biased.verdict == "BIASED"
    assert biased.pair.income.between(0.5, 100).all()


def test_trees_within_a_tolerance():
    """Boosting on shares beside the income: tests are of curves, and the bracket holds what is found at and beside all breaks."""
    trees = GradientBoostingRegressor(n_estimators=3, max_depth=2, random_state=0)
    model = make_pipeline(beside_number("uniform"), trees).fit(X, TARGET)
    result = lw.measure(model, SPACE, lw.Similarity(free=["sex"], within={"income": 10}), X=X, budget=20)
    assert "black_box" not in result.stats
    assert result.upper >= within_gap(model, 10) * (1 - 1e-9)
    assert result.upper >= result.lower > 0


@pytest.mark.some_days
def test_zeros_of_a_sparse_matrix():
    """scikit-learn leaves them alone, whatever the normal quantile of 0 is: refused."""
    codes = make_column_transformer(
        (OneHotEncoder(), ["sex"]), ("passthrough", ["income"]), sparse_threshold=1.0
    )
    model = make_pipeline(codes, ranks("normal"), LogisticRegression()).fit(X, LABELS)
    measured = frozenset([SPACE.names.index("income")])
    with pytest.raises(UnsupportedModel) as caught:
        import_model(model, SPACE, rows=np.empty((0, 2)), like=X, measured=measured)
    assert "makes 0.0 of 'income' = 0.0" in str(caught.value)
    codes.set_params(sparse_threshold=0)
    import_model(model.fit(X, LABELS), SPACE, rows=np.empty((0, 2)), like=X, measured=measured)


def test_too_many_quantiles():
    """More pieces than are taken: refused, with a way out."""
    rows = people(rows=2600)[0].assign(income=np.random.default_rng(0).uniform(0, 200, 2600))
    both = FeatureUnion([("raw", FunctionTransformer()), ("rank", ranks("uniform", count=2500))])
    columns = make_column_transformer((both, ["income"]), remainder="passthrough")
    model = make_pipeline(columns, LinearRegression()).fit(rows, rows.income)
    with pytest.raises(UnsupportedModel) as caught:
        import_model(model, SPACE, rows=np.empty((0, 2)), like=rows)
    assert "quantile(income) takes more than 2,000 polynomials" in str(caught.value)
    assert "n_quantiles=500" in caught.value.hint
