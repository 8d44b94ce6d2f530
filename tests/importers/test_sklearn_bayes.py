"""scikit-learn's naive Bayes: imported exactly and compared with the original, on and beside decisions; small spaces by brute force; planted verdicts; refusals."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
    StandardScaler,
)

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.families.scored_model import Scores
from likewise.importers.imported_model import import_model

RANDOM = np.random.default_rng(0)
COUNT = 150
X = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, COUNT),
        "income": RANDOM.uniform(0, 90, COUNT),
        "job": RANDOM.choice(["none", "some", "much"], COUNT),
        "sex": RANDOM.choice(["f", "m"], COUNT),
    }
)
Y = {
    2: np.where((X.income > 40) ^ (X.sex == "m"), "yes", "no"),
    3: np.array(["a", "b", "c"])[((X.income > 40).astype(int) + (X.sex == "m"))],
}
SPACE = lw.Space(
    {
        "age": lw.Integer(18, 80),
        "income": lw.Continuous(0, 90),
        "job": lw.Categorical(["none", "some", "much"]),
        "sex": lw.Categorical(["f", "m"]),
    }
)
NAMES = list(X.columns)


def columns(numbers):
    return ColumnTransformer(
        [("words", OneHotEncoder(), ["job", "sex"]), ("numbers", numbers, ["age", "income"])]
    )


def numbered():
    words = OrdinalEncoder(categories=[["none", "some", "much"], ["f", "m"]])
    bins = KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf")
    return ColumnTransformer([("words", words, ["job", "sex"]), ("bins", bins, ["age", "income"])])


MODELS = {
    "gaussian": lambda: make_pipeline(columns(StandardScaler()), GaussianNB()),
    "gaussian-splines": lambda: make_pipeline(columns(SplineTransformer(4, degree=2)), GaussianNB()),
    "multinomial": lambda: make_pipeline(columns("passthrough"), MultinomialNB()),
    "complement": lambda: make_pipeline(columns("passthrough"), ComplementNB()),
    "complement-norm": lambda: make_pipeline(columns("passthrough"), ComplementNB(norm=True)),
    "bernoulli": lambda: make_pipeline(columns("passthrough"), BernoulliNB(binarize=44.5)),
    "bernoulli-scaled": lambda: make_pipeline(columns(StandardScaler()), BernoulliNB()),
    "categorical": lambda: make_pipeline(numbered(), CategoricalNB()),
    "categorical-cut": lambda: make_pipeline(
        columns(MinMaxScaler((-0.5, 4.5))),
        CategoricalNB(),
    ),
}


def likelihoods(model, rows):
    """The scores as the import has them, by the program itself."""
    scores = model[-1].predict_joint_log_proba(model[:-1].transform(rows))
    return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores


def exact_scores(imported, codes):
    parts = Scores(imported.model, codes.shape[1]).parts
    return np.array(
        [[float(part.exact([Fraction(c) for c in row])) for part in parts] for row in codes.tolist()]
    )


def near_decisions(model, rows):
    """Incomes on and beside those at which the decision changes, of each row."""
    found = []
    for _, row in rows.iterrows():

        def decided(income, row=row):
            return model.predict(pd.DataFrame([{**row, "income": income}]))[0]

        low, high = 0.0, 90.0
        first = decided(low)
        if decided(high) == first:
            continue
        while np.nextafter(low, high) < high:
            middle = (low + high) / 2
            if decided(middle) == first:
                low = middle
            else:
                high = middle
        found += [{**row, "income": income} for income in (low, high, np.nextafter(high, 99))]
    return pd.DataFrame(found, columns=NAMES)


@pytest.mark.some_days
@pytest.mark.draw(5)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_the_imported_model_is_the_original(name, classes):
    model = MODELS[name]().fit(X, Y[classes])
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    rows = pd.concat([X[:60], near_decisions(model, X[:1])], ignore_index=True)
    codes = imported.recoding.coded(SPACE.encode(rows))
    ours, theirs = exact_scores(imported, codes), likelihoods(model, rows)
    assert np.allclose(ours, theirs, rtol=1e-10, atol=1e-10)
    assert np.array_equal(imported.replay.scores(codes), theirs)
    decided = [imported.model.head.decide([Fraction(s) for s in row]) for row in theirs.tolist()]
    assert decided == model.predict(rows).tolist()
    lead = np.sort(ours, axis=1)[:, -1] - np.sort(ours, axis=1)[:, -2] if classes > 2 else np.abs(ours[:, 0])
    clear = lead > 1e-9
    ours_decided = np.array([imported.model.head.decide([Fraction(s) for s in row]) for row in ours.tolist()])
    assert clear.sum() >= 60
    assert (ours_decided == model.predict(rows))[clear].all()
    shares = (
        1 / (1 + np.exp(-ours)) if classes == 2 else np.exp(ours) / np.exp(ours).sum(axis=1, keepdims=True)
    )
    given = model.predict_proba(rows)
    assert np.allclose(shares, given[:, 1:] if classes == 2 else given, atol=1e-9)
    known = imported.program.error  # nothing is known of how splines are rounded
    assert (known is None) == ("splines" in name)
    assert known is None or imported.program.observed.error <= known


# -- brute force ----------------------------------------------------------------------------------------------

SMALL = {
    "gaussian": (
        GaussianNB,
        {"a": lw.Integer(-2, 3), "b": lw.Categorical([0.5, 2.0, 7.0]), "c": lw.Integer(0, 3)},
    ),
    "multinomial": (
        MultinomialNB,
        {"a": lw.Integer(0, 4), "b": lw.Categorical([0, 2, 7]), "c": lw.Integer(0, 3)},
    ),
    "complement": (
        ComplementNB,
        {"a": lw.Integer(0, 4), "b": lw.Categorical([0, 2, 7]), "c": lw.Integer(0, 3)},
    ),
    "bernoulli": (BernoulliNB, {"a": lw.Integer(-1, 2), "b": lw.Categorical([0, 1]), "c": lw.Integer(0, 1)}),
    "categorical": (
        CategoricalNB,
        {"a": lw.Integer(0, 4), "b": lw.Categorical([2, 0, 1]), "c": lw.Integer(0, 2)},
    ),
}


def small_model(name, classes, seed):
    kind, features = SMALL[name]
    space, random = lw.Space(features), np.random.default_rng(seed)
    domains = {n: values(f) for n, f in features.items()}
    rows = pd.DataFrame(
        {
            n: random.choice(domain, 40).tolist() + domain[:] + [domain[0]] * (8 - len(domain))
            for n, domain in domains.items()
        }
    )
    labels = np.arange(len(rows)) % classes
    labels[:20] = (rows[:20].sum(axis=1) > rows.sum(axis=1).median()).astype(int)
    return kind().fit(rows, labels), space, domains


def values(feature):
    return (
        list(range(feature.lo, feature.hi + 1)) if isinstance(feature, lw.Integer) else list(feature.levels)
    )


def formula(name, model, row):
    """The scores of all classes in rationals, from the stored numbers and logarithms of them."""
    scores = []
    for i in range(len(model.classes_)):
        if name == "gaussian":
            score = Fraction(float(np.log(model.class_prior_[i])))
            score += Fraction(float(-0.5 * np.sum(np.log(2.0 * np.pi * model.var_[i]))))
            for x, mean, variance in zip(row, model.theta_[i].tolist(), model.var_[i].tolist(), strict=True):
                score -= (Fraction(x) - Fraction(mean)) ** 2 / Fraction(variance) / 2
        elif name == "categorical":
            score = Fraction(float(model.class_log_prior_[i]))
            score += sum(
                Fraction(float(t[i, int(x)])) for x, t in zip(row, model.feature_log_prob_, strict=True)
            )
        elif name == "bernoulli":
            absent = np.log(1 - np.exp(model.feature_log_prob_))
            score = Fraction(float(model.class_log_prior_[i])) + Fraction(float(absent.sum(axis=1)[i]))
            weights = (model.feature_log_prob_ - absent)[i].tolist()
            score += sum(Fraction(w) for x, w in zip(row, weights, strict=True) if x > 0)
        else:
            score = Fraction(0 if name == "complement" else float(model.class_log_prior_[i]))
            weights = model.feature_log_prob_[i].tolist()
            score += sum(Fraction(w) * Fraction(x) for x, w in zip(row, weights, strict=True))
        scores.append(score)
    return scores


def worst(name, model, domains, kind):
    """The largest gap of similar individuals: a is free, b the same, c within one."""
    people = {row: formula(name, model, row) for row in itertools.product(*domains.values())}
    largest = 0
    for (x, mine), (y, theirs) in itertools.combinations(people.items(), 2):
        if x[1] != y[1] or abs(x[2] - y[2]) > 1:
            continue
        if kind == "decision":
            largest = max(largest, mine.index(max(mine)) != theirs.index(max(theirs)))
        elif kind == "score":
            gaps = (
                [mine[1] - mine[0] - theirs[1] + theirs[0]]
                if len(mine) == 2
                else [a - b for a, b in zip(mine, theirs, strict=True)]
            )
            largest = max(largest, *map(abs, gaps))
        else:
            largest = max(largest, *(abs(a - b) for a, b in zip(shares(mine), shares(theirs), strict=True)))
    return largest


def shares(scores):
    powers = [math.exp(float(score - max(scores))) for score in scores]
    return [power / sum(powers) for power in powers]


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", SMALL)
def test_small_spaces_by_brute_force(name, classes):
    similar = lw.Similarity(free=["a"], within={"c": 1})
    for seed in (0,):
        model, space, domains = small_model(name, classes, seed)
        expected = worst(name, model, domains, "decision")
        found = lw.verify(model, space, similar, budget=60)
        assert found.verdict == ("BIASED" if expected else "FAIR"), (name, classes, seed)
        for make, kind in ((lw.ScoreGap, "score"), (lw.ProbabilityGap, "probability")):
            largest = float(worst(name, model, domains, kind))
            assert lw.verify(model, space, similar, make(largest * 1.001 + 1e-9), budget=60).verdict == "FAIR"
            assert (
                lw.verify(model, space, similar, make(largest * 0.999 - 1e-9), budget=60).verdict == "BIASED"
            )


# -- planted ----------------------------------------------------------------------------------------------------


def numbers_and_sex(fair, classes=2):
    random = np.random.default_rng(3)
    sex, x = random.integers(0, 2, 400), random.normal(0, 1, 400)
    label = np.digitize(x if fair else x + 2 * sex, [0.3] if classes == 2 else [-0.5, 0.8])
    if fair:  # the same number of either sex in every class, so that sex says nothing
        sex, x, label = np.tile([0, 1], 400), np.repeat(x, 2), np.repeat(label, 2)
    return pd.DataFrame({"x": x, "sex": sex}), label


@pytest.mark.parametrize("classes", [2, 3])
def test_a_planted_model_gets_its_verdict(classes, tmp_path):
    from likewise_check import check

    space = lw.Space({"x": lw.Continuous(-3, 3), "sex": lw.Categorical([0, 1])})
    similar = lw.Similarity(free=["sex"])
    rows, labels = numbers_and_sex(fair=False, classes=classes)
    biased = lw.verify(GaussianNB().fit(rows, labels), space, similar, budget=60)
    assert biased.verdict == "BIASED"
    rows, labels = numbers_and_sex(fair=True, classes=classes)
    fair = lw.verify(GaussianNB().fit(rows, labels), space, similar, budget=60)
    assert fair.verdict == "FAIR"
    fair.certificate.save(tmp_path / "fair.lw")
    assert check(tmp_path / "fair.lw").accepted


def test_a_disparity_is_exact():
    rows, labels = numbers_and_sex(fair=False)
    space = lw.Space({"x": lw.Continuous(-3, 3), "sex": lw.Categorical([0, 1])})
    model = GaussianNB().fit(rows, labels)
    found = lw.measure(model, space, lw.Similarity(free=["sex"]), of="probability", budget=60)
    grid = np.linspace(-3, 3, 20001)
    apart = [model.predict_proba(pd.DataFrame({"x": grid, "sex": sex}))[:, 1] for sex in (0, 1)]
    assert found.lower <= found.upper <= found.lower + 1e-3
    assert found.upper >= np.abs(apart[0] - apart[1]).max() - 1e-9
    assert found.lower <= np.abs(apart[0] - apart[1]).max() + 1e-6


def test_a_threshold_moves_the_score():
    model = MODELS["gaussian"]().fit(X, Y[2])
    moved = FixedThresholdClassifier(FrozenEstimator(model), threshold=0.7, pos_label="yes").fit(X, Y[2])
    imported = import_model(moved, SPACE, rows=SPACE.encode(X), like=X)
    decided = [imported.model.decide([Fraction(c) for c in row]) for row in imported.rows.tolist()]
    assert decided == moved.predict(X).tolist() != model.predict(X).tolist()


def test_a_repaired_model_is_fair():
    rows = X.drop(columns="age")
    space = lw.Space({name: SPACE[name] for name in rows})
    model = make_pipeline(
        ColumnTransformer([("words", OneHotEncoder(), ["job", "sex"])], remainder="passthrough"), GaussianNB()
    ).fit(rows, Y[2])
    assert lw.verify(model, space, lw.Similarity(free=["sex"]), X=rows, budget=60).verdict == "BIASED"
    repaired = lw.repair(model, space, lw.Similarity(free=["sex"]), X=rows, budget=60)
    assert lw.verify(repaired.model, space, lw.Similarity(free=["sex"]), X=rows, budget=60).verdict == "FAIR"


# -- refused ----------------------------------------------------------------------------------------------------


def refused(model, match, space=SPACE):
    with pytest.raises(UnsupportedModel, match=match):
        import_model(model, space, rows=np.empty((0, len(space))))


def test_what_is_refused_names_the_reason():
    counts = lw.Space({"a": lw.Integer(0, 3), "b": lw.Integer(0, 3)})
    rows, labels = np.array([[1, 0], [0, 2], [3, 0], [0, 1]]), [0, 1, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused(MultinomialNB(alpha=0).fit(rows, labels), "probability of zero", counts)
        refused(BernoulliNB(alpha=0).fit(rows, labels), "probability of zero", counts)
    refused(GaussianNB(var_smoothing=0).fit(rows, [0, 0, 0, 1]), "variance", counts)
    refused(GaussianNB(), "not fitted", counts)
    refused(GaussianNB().fit(rows, [1] * 4), "one class", counts)
    refused(CategoricalNB().fit(rows, labels), "never seen some of the values of the space", counts)
    allowed = CategoricalNB(min_categories=4).fit(rows, labels)
    assert import_model(allowed, counts, rows=np.empty((0, 2))).model.family == "CategoricalNB"
    below = lw.Space({"a": lw.Integer(-1, 3), "b": lw.Integer(0, 2)})
    refused(CategoricalNB().fit(rows, labels), "never seen some of the values", below)
    refused(make_pipeline(columns(SplineTransformer()), GaussianNB()).fit(X, Y[2]), "squares splines")


def test_decisions_and_probabilities_of_a_calibrated_probability_are_read():
    inner = FrozenEstimator(MODELS["gaussian"]().fit(X, Y[2]))
    model = CalibratedClassifierCV(inner, ensemble=False).fit(X, Y[2])
    assert lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X, budget=60).verdict in ("FAIR", "BIASED")
    similar = lw.Similarity(free=["sex"])
    gap = lw.measure(model, SPACE, similar, of="probability", X=X, tolerance=1e-2, budget=60)
    assert gap.upper - gap.lower < 0.011
    shown = model.predict_proba(gap.pair)[:, 1]
    assert abs(np.ptp(shown) - gap.lower) < 1e-6
