"""measure, verify and radius against audit: what a look at the rows shows, no other command falls behind, whichever family the model is of."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import likewise as lw
from likewise.analysis import disparity_problem
from likewise.clock import OutOfTime
from likewise.search import portfolio

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LEVELS = {"job": ("none", "some", "own"), "race": ("a", "b", "c", "d"), "region": tuple("nesw")}
SPACE = lw.Space(
    {
        "income": lw.Continuous(0, 100),
        "debt": lw.Continuous(0, 50),
        "age": lw.Integer(18, 80),
        **{name: lw.Categorical(levels) for name, levels in LEVELS.items()},
    }
)
FREE = lw.Similarity(free=["race"])
WIDE = lw.Similarity(free=["race", "region"], within={"age": 6})  # 208 counterparts a row


def people(count=160, seed=0):
    random = np.random.default_rng(seed)
    frame = {
        "income": np.round(random.gamma(4, 9, count).clip(0, 100), 1),
        "debt": np.round(random.gamma(2, 6, count).clip(0, 50), 1),
        "age": random.integers(18, 81, count),
        **{name: random.choice(levels, count) for name, levels in LEVELS.items()},
    }
    return pd.DataFrame(frame)


X = people()
HEIGHT = X.income - 0.8 * X.debt + 6 * (X.race == "b") - 4 * (X.region == "n") + 0.2 * X.age
NOISE = np.random.default_rng(5).normal(0, 12, len(X))
TARGETS = {
    "two": (HEIGHT + NOISE > 30).to_numpy(),
    "three": np.digitize(HEIGHT + NOISE, (22, 38)),
    "number": (HEIGHT + NOISE).to_numpy(),
}
FOREST = {"n_estimators": 12, "random_state": 0}
# estimator, what it is fitted to, the scales that it is measured on
MODELS = {
    "linear": (LogisticRegression(), "two", ("score", "probability")),
    "linear classes": (LogisticRegression(), "three", ("probability",)),
    "ridge": (Ridge(), "number", ("score",)),
    "kernel": (SVC(), "two", ("score", "margin")),
    "kernel regression": (SVR(C=5), "number", ("score",)),
    "polynomial": (SVC(kernel="poly", degree=2), "two", ("score",)),
    "forest": (RandomForestClassifier(**FOREST), "two", ("probability",)),
    "forest classes": (RandomForestClassifier(**FOREST), "three", ("probability",)),
    "forest regression": (RandomForestRegressor(**FOREST), "number", ("score",)),
    "boosted": (GradientBoostingClassifier(n_estimators=20), "two", ("score", "probability", "margin")),
    "network": (MLPClassifier((6,), solver="lbfgs", max_iter=60, random_state=0), "two", ("score",)),
    "network classes": (
        MLPClassifier((6,), solver="lbfgs", max_iter=60, random_state=0),
        "three",
        ("score",),
    ),
}
CASES = [(name, of) for name, (_, _, scales) in MODELS.items() for of in scales if of != "margin"]
PROPERTIES = {"score": lw.ScoreGap, "probability": lw.ProbabilityGap}


@pytest.fixture(scope="module")
def fitted():
    made = {}

    def fit(name):
        if name not in made:
            estimator, target, _ = MODELS[name]
            coding = OneHotEncoder(categories=[list(levels) for levels in LEVELS.values()])
            numbers = (StandardScaler(), ["income", "debt", "age"])
            columns = make_column_transformer(numbers, (coding, list(LEVELS)))
            made[name] = make_pipeline(columns, estimator).fit(X, TARGETS[target])
        return made[name]

    return fit


def audited_gap(model, similar, of):
    found = lw.audit(model, SPACE, similar, PROPERTIES[of](0.0), X=X, budget=60)
    gaps = found.rows["gap"].to_numpy(dtype=float)
    assert np.isfinite(gaps).all()
    assert gaps.max() > 0
    return gaps.max() - 2 * found.stats["gap_error"]


@pytest.fixture
def without_search(monkeypatch):
    """No cell is looked at: what is found is found by looking at individuals."""

    def no_time(*_args, **_kwargs):
        raise OutOfTime

    monkeypatch.setattr(disparity_problem, "begin_frontiers", no_time)
    monkeypatch.setattr(disparity_problem, "enumerate_space", lambda *_args, **_kwargs: None)
    monkeypatch.setattr(portfolio, "begin_frontiers", no_time)
    monkeypatch.setattr(portfolio, "enumerate_space", lambda *_args, **_kwargs: None)


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.usefixtures("without_search")
@pytest.mark.parametrize("similar", [FREE, WIDE], ids=["few", "many"])
@pytest.mark.parametrize(("name", "of"), CASES)
def test_the_lower_end_is_not_below_the_audited_gap(fitted, name, of, similar):
    model = fitted(name)
    least = audited_gap(model, similar, of)
    found = lw.measure(model, SPACE, similar, of=of, X=X, budget=60)
    assert found.lower >= least - 1e-6 / 16  # a pair counts as better from this part of the tolerance on


@pytest.mark.draw(1)
@pytest.mark.usefixtures("without_search")
@pytest.mark.parametrize(("name", "of"), CASES)
def test_a_claim_that_a_row_breaks_is_biased_without_a_search(fitted, name, of):
    model = fitted(name)
    gap = audited_gap(model, WIDE, of)
    result = lw.verify(model, SPACE, WIDE, PROPERTIES[of](0.999 * gap), X=X, budget=60)
    assert result.verdict == "BIASED"
    assert result.stats["engine"] == "falsification"
    assert result.certificate is not None


@pytest.mark.usefixtures("without_search")
@pytest.mark.parametrize("name", [name for name, (_, _, scales) in MODELS.items() if "margin" in scales])
def test_the_margin_is_not_below_that_of_the_rows(fitted, name):
    model = fitted(name)
    found = lw.measure(model, SPACE, FREE, of="margin", X=X, budget=60)
    scores = [model.decision_function(X.assign(race=level)) for level in LEVELS["race"]]
    margins = np.minimum(np.max(scores, axis=0), -np.min(scores, axis=0))
    assert margins.max() > 0
    assert found.lower >= margins.max() - 1e-6


@pytest.mark.slow
@pytest.mark.usefixtures("without_search")
def test_compare_does_not_fall_behind_the_rows_of_either_model(fitted):
    models = fitted("forest"), fitted("boosted")
    found = lw.compare(*models, SPACE, WIDE, lw.ProbabilityGap(0.01), X=X, of="probability", budget=60)
    for model, disparity in zip(models, found.disparities, strict=True):
        assert disparity.lower >= audited_gap(model, WIDE, "probability") - 1e-3 / 16


@pytest.mark.slow
def test_the_radius_is_refuted_by_a_row(fitted, monkeypatch):
    """At the largest tolerance, where a row has 63 counterparts of its age, of which the first look takes one."""
    monkeypatch.setattr(portfolio, "falsify", lambda _problem: None)
    model = fitted("forest")
    similar = lw.Similarity(within={"age": 6})
    gap = audited_gap(model, similar, "probability")
    found = lw.radius(model, SPACE, similar, lw.ProbabilityGap(0.99 * gap), feature="age", X=X, budget=60)
    assert found.refuted is not None
    assert found.refuted <= 6


def test_more_rows_than_there_is_time_for_are_no_error(fitted):
    found = lw.measure(fitted("forest"), SPACE, WIDE, of="probability", X=X, budget=0)
    assert 0 <= found.lower <= found.upper
