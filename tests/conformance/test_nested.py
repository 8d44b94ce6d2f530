"""Trees behind columns that mix features, and medians of trees: as their own programs say, brute force, verdicts."""

import warnings
from fractions import Fraction
from io import BytesIO
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, FastICA, TruncatedSVD
from sklearn.ensemble import (
    AdaBoostRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeRegressor
from tests.conformance.agreement import import_quietly

import likewise as lw
from likewise_check import check

SPACE = lw.Space(
    {
        "age": lw.Integer(0, 6),
        "debt": lw.Continuous(0, 5),
        "job": lw.Categorical(["x", "y", "z"]),
        "sex": lw.Categorical(["f", "m"]),
    }
)
LISTED = SPACE.replace({"debt": lw.Ordinal([0.0, 1.5, 2.0, 4.25])})
SEX = lw.Similarity(free=["sex"])
GENERATOR = np.random.default_rng(5)
X = pd.DataFrame(
    {
        "age": GENERATOR.integers(0, 7, 200),
        "debt": GENERATOR.choice([0.0, 1.5, 2.0, 4.25], 200),
        "job": GENERATOR.choice(["x", "y", "z"], 200),
        "sex": GENERATOR.choice(["f", "m"], 200),
    }
)
TARGET = X.age - X.debt + (X.job == "y") + 2.0 * (X.sex == "m") + GENERATOR.normal(0, 0.5, 200)
LABELS = np.digitize(TARGET, [1.0, 3.5])


def columns(numbers=("age", "debt"), words=("job", "sex")):
    return make_column_transformer(
        (StandardScaler(), list(numbers)), (OneHotEncoder(sparse_output=False), list(words))
    )


def pipeline(mixer, final, y=TARGET, words=("job", "sex")):
    return make_pipeline(columns(words=words), mixer, final).fit(X, y)


MODELS = {
    "forest": lambda: pipeline(PCA(2), RandomForestClassifier(4, max_depth=3, random_state=0), LABELS),
    "bins": lambda: pipeline(
        TruncatedSVD(2, random_state=0), HistGradientBoostingClassifier(max_iter=3), TARGET > 2
    ),
    "boosting": lambda: pipeline(
        FastICA(2, random_state=0), GradientBoostingRegressor(n_estimators=4, max_depth=2)
    ),
    "products": lambda: pipeline(PolynomialFeatures(2), DecisionTreeRegressor(max_depth=3)),
    "median": lambda: make_pipeline(columns(), AdaBoostRegressor(n_estimators=7, random_state=0)).fit(
        X, TARGET
    ),
}


def everybody(space=LISTED):
    levels = [space[name] for name in space.names]
    codes = [range(f.lo, f.hi + 1) if isinstance(f, lw.Integer) else range(f.size) for f in levels]
    return np.array([*product(*codes)], dtype=float)


def accepted(certificate):
    return check(BytesIO(certificate.content)).accepted


def exact_scores(imported):
    rows = imported.recoding.coded(everybody()).tolist()
    return np.array([[float(s) for s in imported.model.exact([Fraction(c) for c in row])] for row in rows])


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", MODELS)
def test_the_import_says_what_the_program_says(name):
    """Of everybody, but for those that the program rounds to the other side of a test."""
    model = MODELS[name]()
    imported = import_quietly(model, LISTED, X)
    theirs = imported.replay.scores(imported.recoding.coded(everybody()))
    off = (np.abs(exact_scores(imported) - theirs) > 1e-9).any(axis=1)
    assert off.mean() < 0.02


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.slow] if one == "products" else []) for one in MODELS]
)
def test_the_largest_gap_is_that_of_brute_force_and_certified(name):
    model = MODELS[name]()
    imported = import_quietly(model, LISTED, X)
    of = "probability" if name == "forest" else "score"
    scores = exact_scores(imported)
    women, men = scores[0::2], scores[1::2]
    found = lw.measure(model, LISTED, SEX, of=of, X=X, budget=60, certify=True)
    assert found.lower == pytest.approx(np.abs(women - men).max(), abs=1e-9)
    assert found.upper == pytest.approx(found.lower, abs=1e-5)
    assert found.certificate is not None
    assert accepted(found.certificate)


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["bins", "median"])
def test_what_does_not_see_sex_is_fair_and_what_sees_it_is_not(name):
    final = (
        HistGradientBoostingClassifier(max_iter=3) if name == "bins" else AdaBoostRegressor(random_state=0)
    )
    seen = {"bins": TARGET > 2, "median": TARGET}[name]
    mixer = PCA(2) if name == "bins" else "passthrough"
    claim = lw.SameDecision() if name == "bins" else lw.ScoreGap(0.25)
    blind = pipeline(mixer, final, seen, words=("job",))
    assert lw.verify(blind, SPACE, SEX, claim, X=X, budget=60).verdict == "FAIR"
    biased = lw.verify(pipeline(mixer, final, seen), SPACE, SEX, claim, X=X, budget=60)
    assert biased.verdict == "BIASED"
    assert accepted(biased.certificate)


def test_a_gap_of_continuous_numbers_is_proved_by_cells():
    model = pipeline(PCA(2), RandomForestClassifier(3, max_depth=2, random_state=0), TARGET > 2)
    found = lw.measure(model, SPACE, SEX, of="probability", X=X, budget=60, certify=True)
    assert found.certificate is not None
    assert accepted(found.certificate)
    assert found.lower <= found.upper < 1


def test_the_weight_of_one_member_is_enough_where_it_is_half():
    """The lower median: ties go to the smaller number, as in the program."""
    model = AdaBoostRegressor(DecisionTreeRegressor(max_depth=1), n_estimators=2, random_state=0)
    model.fit(X[["age", "debt"]].to_numpy(), TARGET)
    model.estimator_weights_ = np.array([0.5, 0.5])
    space = lw.Space({"age": lw.Integer(0, 6), "debt": lw.Continuous(0, 5)})
    frame = X[["age", "debt"]].rename(columns=str)
    imported = import_quietly(model, space, frame)
    rows = space.encode(frame)[:50]
    ours = [float(imported.model.exact([Fraction(c) for c in row])[0]) for row in rows.tolist()]
    assert ours == model.predict(rows).tolist()


def test_what_adds_up_such_models_is_not_read():
    voted = VotingRegressor([("median", AdaBoostRegressor(n_estimators=3)), ("line", LinearRegression())])
    model = make_pipeline(columns(), voted).fit(X, TARGET)
    with pytest.raises(lw.UnsupportedModel, match="is a median"):
        import_quietly(model, SPACE, X)


# -- functions, splines and bins of a continuous number --------------------------------------------------------------


BENDS = {
    "function": FunctionTransformer(np.log1p),
    "power": PowerTransformer(),
    "quantiles": QuantileTransformer(n_quantiles=20),
    "bins": KBinsDiscretizer(4, strategy="uniform", encode="onehot-dense"),
    "splines": SplineTransformer(4),
}


def bent(name, y, words=("job", "sex")):
    columns = make_column_transformer(
        (BENDS[name], ["debt"]),
        (StandardScaler(), ["age"]),
        (OneHotEncoder(sparse_output=False), list(words)),
    )
    forest = RandomForestClassifier(3, max_depth=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(columns, forest).fit(X, y)


def bent_people(debts):
    return np.array([*product([0, 3, 6], debts, range(3), range(2))], dtype=float)


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("name", BENDS)
def test_trees_behind_curves_say_what_the_program_says(name):
    """Also beside every place where the program's answer changes; on the place itself where the program does not round."""
    model = bent(name, TARGET > 2)
    places = jumps(model)
    near = np.concatenate([places - 1e-9, places + 1e-9, places if name == "bins" else []])
    imported, codes = import_quietly(model, SPACE, X), bent_people([*np.linspace(0, 5, 20), *near])
    codes = codes[:: 25 if name == "splines" else 7]
    assert len(places)
    theirs = model.predict_proba(SPACE.decode(codes, like=X))[:, 1]
    rows = imported.recoding.coded(codes).tolist()
    ours = np.array([float(imported.model.exact([Fraction(c) for c in row])[1]) for row in rows])
    assert np.abs(ours - theirs).max() <= 1e-9


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("name", BENDS)
def test_trees_behind_curves_get_their_verdicts(name):
    found = lw.verify(bent(name, TARGET > 2), SPACE, SEX, X=X, budget=60)
    assert found.verdict == "BIASED"
    assert accepted(found.certificate)
    blind = lw.verify(bent(name, TARGET > 2, ("job",)), SPACE, SEX, X=X, budget=60)
    assert blind.verdict == "FAIR"
    assert not blind.covers_floating_point


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["function", "bins"])
def test_gaps_of_trees_behind_curves_are_those_of_brute_force(name):
    model = bent(name, TARGET > 2)
    codes = bent_people([*np.linspace(0, 5, 40), *jumps(model)])
    theirs = model.predict_proba(SPACE.decode(codes, like=X))[:, 1]
    largest = np.abs(theirs[0::2] - theirs[1::2]).max()
    measured = lw.measure(model, SPACE, SEX, of="probability", X=X, budget=60)
    assert measured.lower >= largest - 1e-9
    assert measured.upper == pytest.approx(measured.lower, abs=1e-5)


def jumps(model):
    """Debts on both sides of places where the answer for somebody changes."""
    codes = np.array([*product([0.0, 3.0, 6.0], [0.0], range(3), range(2))])

    def said(debts):
        rows = np.repeat(codes, len(debts), axis=0)
        rows[:, 1] = np.tile(debts, len(codes))
        answers = model.predict_proba(SPACE.decode(rows, like=X))[:, 1].reshape(len(codes), -1)
        return [tuple(column) for column in answers.T]

    grid = np.linspace(0, 5, 60)
    values = said(grid)
    places = [k for k in range(59) if values[k] != values[k + 1]]
    low, high = grid[places], grid[[k + 1 for k in places]]
    for _ in range(55):
        middle = (low + high) / 2
        same = np.array([one == values[k] for one, k in zip(said(middle), places, strict=True)], dtype=bool)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.concatenate([low, high])
