"""Models that are asked and not read: pairs are found and replayed, rows are looked at as brute force looks at them, and nothing is ever FAIR."""

import json
import pickle
import re
import sys
import time
from itertools import product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from likewise.cli.app import cli
from likewise.importers import black_box

SPACE = lw.Space({"sex": lw.Categorical([0, 1]), "age": lw.Integer(0, 5), "job": lw.Categorical([0, 1, 2])})
NAMES = list(SPACE.names)
SIMILAR = lw.Similarity(free=["sex"], within={"age": 1})
EVERYBODY = pd.DataFrame(list(product(range(2), range(6), range(3))), columns=NAMES)


def rows(seed=0, n=60):
    random = np.random.default_rng(seed)
    X = EVERYBODY.iloc[random.integers(0, len(EVERYBODY), n)].reset_index(drop=True)
    y = (X.age + 2 * X.sex + random.normal(0, 1, n) > 3).astype(int)
    return X, y


def classes(y, seed=0):
    return np.array(["low", "middle", "high"])[(y + np.random.default_rng(seed).integers(0, 2, len(y)))]


MODELS = {
    "neighbours": lambda X, y: KNeighborsClassifier(3).fit(X, y),
    "neighbours, three classes": lambda X, y: KNeighborsClassifier(3).fit(X, classes(y)),
    "centroids": lambda X, y: NearestCentroid(metric="manhattan").fit(X, y),
    "hard votes": lambda X, y: VotingClassifier(
        [
            ("a", LogisticRegression()),
            ("b", DecisionTreeClassifier(max_depth=2)),
            ("c", KNeighborsClassifier(3)),
        ]
    ).fit(X, y),
    "behind a normalizer": lambda X, y: make_pipeline(Normalizer(), LogisticRegression()).fit(X + 1, y),
}
REGRESSORS = {
    "Gaussian process": lambda X, y: GaussianProcessRegressor(Matern(), alpha=0.5).fit(X, y),
    "neighbours": lambda X, y: KNeighborsRegressor(4).fit(X, y + X.age),
}


def similar_pairs():
    """By brute force: places in EVERYBODY of all similar pairs."""
    people = EVERYBODY.to_numpy()
    return [
        (i, j)
        for i, a in enumerate(people)
        for j, b in enumerate(people)
        if a[2] == b[2] and abs(a[1] - b[1]) <= 1
    ]


def flips(model):
    said = model.predict(EVERYBODY)
    return {(i, j) for i, j in similar_pairs() if said[i] != said[j]}


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_not_read_is_asked(name, seed):
    X, y = rows(seed)
    model = MODELS[name](X, y)
    broken = flips(model)
    found = lw.verify(model, SPACE, SIMILAR, X=X, budget=20 if broken else 0.5)
    assert found.verdict == ("BIASED" if broken else "UNKNOWN")
    assert found.certificate is None
    assert re.search("not supported|depends on all features", found.stats["black_box"])
    if broken:
        one, other = model.predict(found.pair[NAMES])
        assert one != other
    audit = lw.audit(model, SPACE, SIMILAR, X=X, budget=60)
    hit = {i for i, _ in broken}
    places = {tuple(row): i for i, row in enumerate(EVERYBODY.to_numpy().tolist())}
    expected = [places[tuple(row)] in hit for row in X.to_numpy().tolist()]
    assert audit.biased == sum(expected)
    assert audit.undecided == 0
    assert audit.proved is False or audit.biased == audit.total


@pytest.mark.some_days
@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers_have_a_lower_end_alone(name):
    X, y = rows(1)
    model = REGRESSORS[name](X, y)
    said = model.predict(EVERYBODY)
    largest = max(abs(said[i] - said[j]) for i, j in similar_pairs())
    found = lw.measure(model, SPACE, SIMILAR, X=X, budget=2)
    assert 0 < found.lower <= largest * (1 + 1e-12)
    assert found.lower == pytest.approx(largest)  # the space is small
    assert found.upper == np.inf
    assert not found.proved
    assert lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(0.9 * largest), X=X, budget=20).verdict == "BIASED"
    assert lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(1.1 * largest), X=X, budget=0.5).verdict == "UNKNOWN"


@pytest.mark.some_days
def test_probabilities_have_a_lower_end_and_are_never_proved():
    X, y = rows(2)
    model = KNeighborsClassifier(9).fit(X, y)
    said = model.predict_proba(EVERYBODY)[:, 1]
    largest = max(abs(said[i] - said[j]) for i, j in similar_pairs())
    found = lw.measure(model, SPACE, SIMILAR, of="probability", X=X, budget=2)
    assert found.lower == pytest.approx(largest)
    assert (found.upper, found.proved) == (1.0, False)


@pytest.mark.some_days
@pytest.mark.parametrize("space", [SPACE, lw.Space({"sex": lw.Categorical([0, 1]), "age": lw.Integer(0, 5)})])
def test_nothing_is_fair_however_small_the_space_is(space):
    box = lw.BlackBox(lambda people: np.zeros(len(people), dtype=int), labels=[0, 1])
    found = lw.verify(box, space, lw.Similarity(free=["sex"]), budget=0.3)
    assert found.verdict == "UNKNOWN"
    assert "can only be asked" in found.reason
    assert "individuals were asked about" in found.reason
    gap = lw.verify(
        lw.BlackBox(lambda people: np.zeros(len(people))),
        space,
        lw.Similarity(free=["sex"]),
        lw.ScoreGap(1),
        budget=0.3,
    )
    assert gap.verdict == "UNKNOWN"


@pytest.mark.some_days
def test_commands_agree_about_a_black_box():
    X, y = rows(4)
    model = NearestCentroid(metric="manhattan").fit(X, y)
    audit = lw.audit(model, SPACE, SIMILAR, X=X, budget=60)
    assert audit.biased
    over_rows = lw.share(model, SPACE, SIMILAR, X=X, over=X, budget=60)
    assert over_rows.lower == over_rows.upper == audit.biased / audit.total
    assert over_rows.proved is False
    everybody = lw.share(model, SPACE, SIMILAR, X=X, method="sampled", budget=5, confidence=1 - 1e-9)
    hit = len({i for i, _ in flips(model)}) / len(EVERYBODY)
    assert everybody.lower <= hit <= everybody.upper
    assert lw.radius(model, SPACE, SIMILAR, X=X, budget=1).proved is None
    assert "NearestCentroid" in audit.stats["black_box"]


class Tuned(BaseEstimator, ClassifierMixin):
    """Decides by another threshold than its probabilities do."""

    def fit(self, X, y):
        self.inside_ = GaussianNB().fit(X, y)
        self.classes_ = self.inside_.classes_
        return self

    def predict_proba(self, X):
        return self.inside_.predict_proba(X)

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.8).astype(int)]


def test_decisions_are_those_of_predict_also_where_probabilities_say_otherwise():
    X, y = rows(5)
    model = Tuned().fit(X, y)
    audit = lw.audit(model, SPACE, SIMILAR, X=X, budget=60)
    hit = {i for i, _ in flips(model)}
    places = {tuple(row): i for i, row in enumerate(EVERYBODY.to_numpy().tolist())}
    assert audit.biased == sum(places[tuple(row)] in hit for row in X.to_numpy().tolist())
    with pytest.raises(lw.SpecError, match="agree with its decisions"):
        lw.verify(model, SPACE, SIMILAR, lw.ProbabilityGap(0.1), X=X)


def test_scores_are_moved_to_the_decision_by_ties_only():
    scores = np.array([[0.5, 0.5], [0.25, 0.75], [0.5, 0.5]])
    assert black_box._agree(scores, [1, 1, 0]).argmax(axis=1).tolist() == [1, 1, 0]
    assert np.abs(black_box._agree(scores, [1, 1, 0]) - scores).max() < 1e-15
    below_zero = np.array([[-3.0, -2.0, -2.0]])
    assert black_box._agree(below_zero, [2]).argmax(axis=1).tolist() == [2]
    assert np.abs(black_box._agree(below_zero, [2]) - below_zero).max() < 1e-15
    by_sign = black_box._agree_by_sign(np.array([[0.0], [1e-9], [-2.0]]), [True, False, False])
    assert (by_sign[:, 0] > 0).tolist() == [True, False, False]


class Tied(BaseEstimator, ClassifierMixin):
    """Gives everybody both classes by half, and decides by sex."""

    n_features_in_ = 3
    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)


def test_gaps_are_those_of_the_models_own_numbers():
    """Scores that are moved to agree with decisions make nobody biased by that."""
    assert lw.verify(Tied(), SPACE, SIMILAR, budget=20).verdict == "BIASED"
    for gap in (lw.ScoreGap(0.0), lw.ProbabilityGap(0.0)):
        assert lw.verify(Tied(), SPACE, SIMILAR, gap, budget=0.3).verdict == "UNKNOWN"


# -- functions --------------------------------------------------------------------------------------------


def approve(people):
    return np.where(2 * people["age"] + 3 * people["sex"] > 6, "yes", "no")


def test_a_function_is_asked_in_batches_and_no_more_often_than_it_may_be():
    sizes = []

    def counted(people):
        sizes.append(len(people))
        return np.zeros(len(people))

    box = lw.BlackBox(counted, batch_size=7, max_calls=40)
    found = lw.verify(box, SPACE, SIMILAR, lw.ScoreGap(1), budget=600)
    assert found.verdict == "UNKNOWN"
    assert "as often as it may be" in found.reason
    assert box.calls <= 45
    assert max(sizes[3:]) <= 7


def test_a_function_is_called_no_faster_than_it_may_be(monkeypatch):
    now, slept = [0.0], []
    monkeypatch.setattr(black_box.time, "monotonic", lambda: now[0])

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(black_box.time, "sleep", sleep)
    box = lw.BlackBox(lambda people: np.zeros(len(people)), calls_per_second=4)
    for _ in range(3):
        box.predict(EVERYBODY)
    assert slept == [0.25, 0.25]


def test_labels_are_those_that_turn_up_or_those_that_are_named():
    assert lw.verify(lw.BlackBox(approve), SPACE, SIMILAR, X=EVERYBODY, budget=20).verdict == "BIASED"
    assert (
        lw.verify(lw.BlackBox(approve, labels=["no", "yes"]), SPACE, SIMILAR, budget=20).verdict == "BIASED"
    )
    with pytest.raises(lw.LikewiseError, match="none of"):
        lw.verify(lw.BlackBox(approve, labels=["no", "maybe"]), SPACE, SIMILAR, budget=20)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: lw.BlackBox("model"), lw.SpecError),
        (lambda: lw.BlackBox(len, predict_proba=len), lw.SpecError),
        (lambda: lw.BlackBox(len, batch_size=0), lw.SpecError),
        (lambda: lw.BlackBox(len, max_calls="many"), lw.SpecError),
    ],
)
def test_black_boxes_that_cannot_be(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    "predict",
    [
        lambda people: np.full(len(people), np.nan),
        lambda people: np.zeros((len(people), 2)),
        lambda people: np.zeros(len(people) + 1),
        lambda people: people["wage"],
        lambda people: None,
    ],
)
def test_answers_that_are_none_are_said(predict):
    with pytest.raises(lw.LikewiseError):
        lw.verify(lw.BlackBox(predict), SPACE, SIMILAR, lw.ScoreGap(1), budget=5)


def test_what_cannot_be_asked_either_is_refused_as_before():
    with pytest.raises(lw.UnsupportedModel, match="no predict"):
        lw.verify(object(), SPACE, SIMILAR)
    with pytest.raises(lw.UnsupportedModel, match="is a class"):
        lw.verify(KNeighborsClassifier, SPACE, SIMILAR)
    X, y = rows()
    model = KNeighborsClassifier().fit(X, y)
    with pytest.raises(lw.UnsupportedModel, match="can only be asked"):
        lw.regions(model, SPACE, SIMILAR, X=X, budget=5)


# -- on the command line ----------------------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # the folder joins it
    X, y = rows(3)
    X.assign(y=y).to_csv("people.csv", index=False)
    (tmp_path / "service_of_ours.py").write_text(
        "import likewise as lw\n"
        "def premium(people):\n    return 300.0 + 25 * people['sex']\n"
        "box = lw.BlackBox(lambda people: (people['age'] + 3 * people['sex'] > 4).astype(int), labels=[0, 1])\n"
    )
    yield tmp_path
    sys.modules.pop("service_of_ours", None)


def run(*words):
    found = CliRunner().invoke(cli, [*map(str, words)])
    return found.exit_code, found.output


@pytest.mark.some_days
def test_a_function_is_named_on_the_command_line(desk):
    claim = ("--data", "people.csv", "--label", "y", "--free", "sex")
    code, told = run(
        "verify", "--model", "service_of_ours:premium", *claim, "--property", "score:20", "--budget", 20
    )
    assert code == 1
    assert "asked, not read" in " ".join(told.split())
    assert "likewise repair" not in told
    code, told = run("verify", "--model", "service_of_ours:box", *claim, "--budget", 20)
    assert code == 1
    code, told = run("measure", "--model", "service_of_ours:premium", *claim, "--budget", 1)
    assert code == 3
    assert "25" in told
    code, told = run("audit", "--model", "service_of_ours:box", *claim, "--json")
    assert code == 0
    assert json.loads(told)["proved"] is False
    for name in ("service_of_ours:nothing", "no_such_module_here:f"):
        code, told = run("verify", "--model", name, *claim)
        assert code == 2
        assert name.partition(":")[0] in told


def test_a_claim_file_runs_no_code(desk):
    (desk / "claim.toml").write_text(
        '[model]\npath = "service_of_ours:premium"\n[data]\npath = "people.csv"\nlabel = "y"\nfeatures = "observed"\n'
        '[similarity]\nfree = ["sex"]\n[property]\nkind = "score"\ndelta = 20\n'
    )
    code, told = run("verify", "claim.toml")
    assert code == 2
    assert "no such model file" in told
    assert "service_of_ours" not in sys.modules
    code, told = run("init", "people.csv", "--model", "service_of_ours:premium", "--label", "y")
    assert code == 2
    assert "no code to run" in told
    code, told = run("verify", "claim.toml", "--model", "service_of_ours:premium", "--budget", 20)
    assert code == 1


def test_calls_that_are_limited_are_counted_in_one_process():
    box = lw.BlackBox(approve, labels=["no", "yes"], max_calls=100)
    with pytest.raises(TypeError, match="one process"):
        pickle.dumps(box)
    assert (
        pickle.loads(pickle.dumps(lw.BlackBox(approve))).predict(EVERYBODY).tolist()
        == approve(EVERYBODY).tolist()
    )


class NeverAlone(BaseEstimator, ClassifierMixin):
    """Squeezes its columns, and so fails on a single row, as SparsePCA does."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.inside_ = KNeighborsClassifier(3).fit(np.asarray(X), y)
        return self

    def predict(self, X):
        return self.inside_.predict(np.squeeze(np.asarray(X)))

    def predict_proba(self, X):
        return self.inside_.predict_proba(np.squeeze(np.asarray(X)))


@pytest.mark.parametrize("named", [True, False])
def test_what_fails_on_one_row_is_asked_about_it_twice(named):
    X, y = rows()
    given = X if named else X.to_numpy()
    model, sound = NeverAlone().fit(given, y), KNeighborsClassifier(3).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="2D"):
        model.predict(given[:1])
    found = lw.verify(model, SPACE, SIMILAR, X=X, budget=20)
    assert found.verdict == "BIASED"
    pair = found.pair[NAMES].to_numpy().astype(float)
    assert len(set(sound.predict(pair))) == 2
    audited = lw.audit(model, SPACE, SIMILAR, X=X[:5], budget=20)
    assert audited.total == 5


class SlowToStart(BaseEstimator):
    """A call takes as long for many rows as for one, as pipelines nearly do."""

    def fit(self, X, y):
        self.n_features_in_, self.calls, self.rows = X.shape[1], 0, 0
        return self

    def predict(self, X):
        time.sleep(0.02)
        self.calls, self.rows = self.calls + 1, self.rows + len(X)
        return np.zeros(len(X))


@pytest.mark.some_days
def test_what_takes_long_for_any_call_is_asked_about_many_at_a_time():
    """By how many rows a second it said of the first ones, batches would stay as small as those."""
    X, y = rows()
    space = lw.Space({name: lw.Integer(0, 40) for name in NAMES})
    model = SlowToStart().fit(X, y)
    lw.measure(model, space, lw.Similarity(free=["sex"]), X=X, budget=1)
    assert model.rows > 300 * model.calls


def test_what_cannot_be_taken_apart_is_asked_too():
    """Columns by name are known of what a reader refuses already while it is taken apart."""
    X, y = rows()
    inner = CalibratedClassifierCV(LogisticRegression(), ensemble=False)
    model = CalibratedClassifierCV(inner, ensemble=False).fit(X, y)
    result = lw.verify(model, SPACE, SIMILAR, X=X, budget=60)
    assert result.verdict == "BIASED"
    assert "calibrates probabilities" in result.stats["black_box"]
