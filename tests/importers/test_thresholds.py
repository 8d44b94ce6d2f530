"""Thresholds on probabilities: what is said of a model with a threshold is what `predict_proba(x)[1] >= threshold` says of everybody."""

import io
import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import likewise as lw
from likewise.importers.imported_model import import_model
from likewise.importers.thresholded import with_threshold

AGES, INCOMES = range(18, 26), range(5)
SPACE = lw.Space({"age": lw.Integer(18, 25), "sex": lw.Integer(0, 1), "income": lw.Integer(0, 4)})
PEOPLE = pd.DataFrame(list(product(AGES, range(2), INCOMES)), columns=["age", "sex", "income"])
SIMILAR = lw.Similarity(free=["sex"])
N = 200


def rows(seed: int = 0) -> pd.DataFrame:
    return PEOPLE.sample(N, replace=True, random_state=seed, ignore_index=True)


def labels(X: pd.DataFrame) -> Any:
    noise = np.random.default_rng(0).normal(0, 3, len(X))
    return np.where(X.age + 2 * X.income + 1.5 * X.sex + noise > 27, "paid", "late")


def logistic() -> Any:
    return LogisticRegression(max_iter=2000)


def forest(**settings: Any) -> Any:
    return RandomForestClassifier(5, random_state=0, **settings)


def xgboost(X: pd.DataFrame, y: Any) -> Any:
    made = pytest.importorskip("xgboost").XGBClassifier(n_estimators=6, max_depth=3)
    return made.fit(X, (y == "paid").astype(int))


def asked_only(X: pd.DataFrame, y: Any) -> Any:
    inside = logistic().fit(X, y)
    return lw.BlackBox(inside.predict, predict_proba=inside.predict_proba, labels=["late", "paid"])


MODELS: dict[str, Any] = {
    "logistic": lambda X, y: logistic().fit(X, y),
    "forest": lambda X, y: forest(max_depth=4).fit(X, y),
    "xgboost": xgboost,
    "booster": lambda X, y: xgboost(X, y).get_booster(),
    "bayes": lambda X, y: GaussianNB().fit(X, y),
    "calibrated": lambda X, y: CalibratedClassifierCV(logistic(), ensemble=False, cv=2).fit(X, y),
    "isotonic": lambda X, y: CalibratedClassifierCV(LinearSVC(), method="isotonic", cv=2).fit(X, y),
    "not read": lambda X, y: KNeighborsClassifier(7).fit(X, y),
    "black box": asked_only,
}


def chances_of(model: Any) -> Any:
    """The original program's own probabilities of everybody."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(PEOPLE))[:, 1]
    return model.inplace_predict(PEOPLE)


def widest(values: Any) -> float:
    """The largest difference between two people who differ in sex alone."""
    apart = pd.Series(np.asarray(values, dtype=float)).groupby([PEOPLE.age, PEOPLE.income])
    return float((apart.max() - apart.min()).max())


def broken_of(decided: Any) -> Any:
    return pd.Series(decided).groupby([PEOPLE.age, PEOPLE.income]).transform("nunique").to_numpy() > 1


@pytest.mark.draw(2)
@pytest.mark.parametrize("threshold", [0.2, 0.45, 0.97])
@pytest.mark.parametrize("kind", MODELS)
def test_everybody_is_as_the_original_program_says(kind: str, threshold: float) -> None:
    """Verdict, audit, share, largest gap of probabilities and groups."""
    X = rows()
    model = MODELS[kind](X, labels(X))
    chances, proved = chances_of(model), kind not in ("not read", "black box")
    decided = chances >= threshold
    broken = broken_of(decided)
    said: dict[str, Any] = {"X": X, "threshold": threshold, "budget": 5 if proved else 0.5}
    result = lw.verify(model, SPACE, SIMILAR, **said)
    assert result.verdict == ("BIASED" if broken.any() else "FAIR" if proved else "UNKNOWN")
    assert result.stats["threshold"]["level"] == threshold
    assert f"where its probability is at least {threshold}" in " ".join(str(result).split())
    audit = lw.audit(model, SPACE, SIMILAR, **said)
    known = dict(zip(map(tuple, PEOPLE.to_numpy().tolist()), broken.tolist(), strict=True))
    assert audit.rows.sort_values("row")["biased"].tolist() == [known[tuple(row)] for row in X.to_numpy()]
    share = lw.share(model, SPACE, SIMILAR, **said)
    assert share.lower - 1e-12 <= broken.mean() <= share.upper + 1e-12
    gap = lw.measure(model, SPACE, SIMILAR, of="probability", **said)
    assert gap.lower == pytest.approx(widest(chances), abs=1e-5)
    assert gap.upper >= gap.lower
    assert proved == math.isfinite(gap.upper)
    parted = lw.groups(model, SPACE, "sex", over="rows", **said)
    taken = dict(zip(map(tuple, PEOPLE.to_numpy().tolist()), decided.tolist(), strict=True))
    own = pd.Series([taken[tuple(row)] for row in X.to_numpy()]).groupby(X.sex).mean()
    for group in parted.groups:
        assert group.rates["selection_rate"].lower == pytest.approx(own[group.values[0]])


def wrapped(kind: str, X: pd.DataFrame, y: Any) -> Any:
    if kind == "tuned":
        return TunedThresholdClassifierCV(logistic(), cv=2, random_state=0).fit(X, y == "paid")
    inside = forest(max_depth=3) if kind == "forest" else logistic()
    positive = "late" if kind == "lower class" else None
    return FixedThresholdClassifier(inside, threshold=0.2, pos_label=positive).fit(X, y)


@pytest.mark.parametrize("kind", ["fixed", "forest", "lower class", "tuned"])
def test_probabilities_behind_thresholds_of_scikit_learn(kind: str) -> None:
    X = rows()
    model = wrapped(kind, X, labels(X))
    gap = lw.measure(model, SPACE, SIMILAR, of="probability", X=X, budget=5)
    true = widest(model.predict_proba(PEOPLE)[:, 1])
    assert gap.lower - 1e-9 <= true <= gap.upper + 1e-9
    assert gap.upper - gap.lower < 1e-5
    for delta, verdict in ((true + 0.01, "FAIR"), (true - 0.01, "BIASED")):
        result = lw.verify(model, SPACE, SIMILAR, lw.ProbabilityGap(delta), X=X, budget=5)
        assert result.verdict == verdict
        assert result.certificate is None or lw.check(io.BytesIO(result.certificate.content)).accepted
    decided = model.predict(PEOPLE)
    verdict = lw.verify(model, SPACE, SIMILAR, X=X, budget=5).verdict
    assert verdict == ("BIASED" if broken_of(decided).any() else "FAIR")


@pytest.mark.parametrize("threshold", [0.2, 0.4, 0.6])
def test_votes_that_meet_the_threshold_are_decided_as_the_program_divides_them(threshold: float) -> None:
    """One vote of five is less than the double 0.2 in exact arithmetic, and equal to it in the program."""
    X = PEOPLE.copy()
    y = np.random.default_rng(3).permutation(labels(X))
    model = forest(bootstrap=False, max_features=1).fit(X, y)
    for place, tree in enumerate(model.estimators_):
        tree.tree_.value[:] = 0
        tree.tree_.value[:, 0, int(place < 5 * threshold - 0.5)] = 1
    assert (model.predict_proba(PEOPLE)[:, 1] == threshold).all()
    for above, label in ((threshold, "paid"), (math.nextafter(threshold, 1), "late")):
        imported = import_model(with_threshold(model, SPACE, above), SPACE, rows=np.empty((0, 3)))
        score = imported.model.exact([Fraction(18), Fraction(0), Fraction(0)])
        assert imported.model.head.decide(score) == label
        assert set(imported.replay.decisions(PEOPLE.to_numpy(dtype=float)).tolist()) == {label}


@pytest.mark.draw(3)
@pytest.mark.parametrize("kind", ["logistic", "forest", "bayes", "xgboost"])
def test_people_at_the_threshold_and_one_step_from_it_are_never_fair_wrongly(kind: str) -> None:
    """The threshold is the program's own probability of somebody, or a neighbour of that."""
    X = rows()
    model = MODELS[kind](X, labels(X))
    chances = chances_of(model)
    for place in (3, 40):
        met = float(chances[place])
        for threshold in (math.nextafter(met, 0), met, math.nextafter(met, 1)):
            broken = broken_of(chances >= threshold)
            verdict = lw.verify(model, SPACE, SIMILAR, threshold=threshold, budget=5).verdict
            assert verdict in (("BIASED", "UNKNOWN") if broken.any() else ("FAIR", "UNKNOWN"))


def fitted(model: Any, target: Any = None) -> Any:
    X = rows()
    return model.fit(X, labels(X) if target is None else target)


@pytest.mark.parametrize("threshold", [0, 1, -0.1, 1.5, math.nan, "0.2", True])
def test_thresholds_outside_of_0_to_1_are_refused(threshold: Any) -> None:
    with pytest.raises(lw.SpecError, match="threshold must be a number between 0 and 1"):
        lw.verify(fitted(logistic()), SPACE, SIMILAR, threshold=threshold)


@pytest.mark.parametrize(
    ("model", "target", "message"),
    [
        (LinearSVC(), None, "needs a classifier with predict_proba, and LinearSVC has none"),
        (LinearRegression(), np.arange(N), "needs a classifier with predict_proba, and LinearRegression has"),
        (logistic(), np.arange(N) % 3, "needs two classes, and LogisticRegression has 3"),
    ],
)
def test_what_has_no_two_probabilities_is_refused(model: Any, target: Any, message: str) -> None:
    with pytest.raises(lw.UnsupportedModel, match=message):
        lw.verify(fitted(model, target), SPACE, SIMILAR, threshold=0.2)


def test_a_threshold_given_twice_is_refused() -> None:
    inside = FrozenEstimator(fitted(logistic()))
    for model in (fitted(FixedThresholdClassifier(inside)), with_threshold(inside, SPACE, 0.3)):
        with pytest.raises(lw.SpecError, match="threshold is given twice"):
            lw.verify(model, SPACE, SIMILAR, threshold=0.2)


def test_claim_files_and_flags_say_the_threshold(tmp_path: Any) -> None:
    import json

    import joblib
    from click.testing import CliRunner

    from likewise.cli.app import cli
    from likewise.spec.file import read_spec
    from likewise.spec.toml_writer import spec_text

    X = rows()
    y = labels(X)
    model = logistic().fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    claim = tmp_path / "claim.toml"
    text = '[model]\npath = "model.joblib"\nthreshold = 0.2\n[data]\npath = "rows.csv"\nlabel = "y"\n'
    claim.write_text(text + '[similarity]\nfree = ["sex"]\n', encoding="utf-8")
    assert read_spec(claim).reading.threshold == 0.2
    assert "threshold = 0.2" in spec_text(read_spec(claim))
    for flags, level in (((), 0.2), (("--threshold", "0.9"), 0.9)):
        done = CliRunner().invoke(
            cli, ["verify", str(claim), "--allow-pickle", "--budget", "5", "--json", *flags]
        )
        said = json.loads(done.stdout)
        assert said["stats"]["threshold"] == {"level": level, "label": "paid"}
        expected = "BIASED" if broken_of(chances_of(model) >= level).any() else "FAIR"
        assert said["verdict"] == expected
    claim.write_text(claim.read_text(encoding="utf-8").replace("0.2", "2"), encoding="utf-8")
    done = CliRunner().invoke(cli, ["verify", str(claim), "--allow-pickle"])
    assert done.exit_code == 2
    assert "threshold must be a number between 0 and 1" in done.output
