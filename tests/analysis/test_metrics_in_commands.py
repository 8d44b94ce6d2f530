"""Pairs within a distance of several features together, in every command: beside looking at everybody, or refused in plain words."""

import itertools

import numpy as np
import pandas as pd
import pytest
import skops.io
from click.testing import CliRunner
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import likewise as lw
from likewise.cli.app import cli
from likewise.errors import SpecError

NAMES = ["a", "b", "c"]
SPACE = lw.Space({"a": lw.Integer(0, 5), "b": lw.Integer(0, 5), "c": lw.Categorical([0, 1, 2])})
EVERYBODY = pd.DataFrame(list(itertools.product(range(6), range(6), range(3))), columns=NAMES)
METRIC = lw.Metric("l1", weights={"a": 1, "b": 2}, costs={"c": 3})
SIMILAR = lw.Similarity(metric=METRIC, radius=3)
MODELS = {
    "linear": LogisticRegression(),
    "rbf": SVC(gamma=0.1),
    "forest": RandomForestClassifier(5, max_depth=3, random_state=0),
    "neighbours": KNeighborsClassifier(3),
}


def fitted(name):
    random = np.random.default_rng(2)
    labels = EVERYBODY["a"] + EVERYBODY["b"] + (EVERYBODY["c"] == 1) + random.normal(0, 1, len(EVERYBODY)) > 5
    return MODELS[name].fit(EVERYBODY, labels.astype(int))


def alike(x, other):
    """Written anew: nothing of the package."""
    return abs(x[0] - other[0]) + 2 * abs(x[1] - other[1]) + 3 * (x[2] != other[2]) <= 3


def treated_differently(model):
    people = list(map(tuple, EVERYBODY.to_numpy().tolist()))
    decided = dict(zip(people, model.predict(EVERYBODY).tolist(), strict=True))
    return [any(alike(x, y) and decided[x] != decided[y] for y in people) for x in people]


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("name", MODELS)
def test_an_audit_finds_those_and_only_those_who_are_treated_differently(name):
    model = fitted(name)
    found = lw.audit(model, SPACE, SIMILAR, X=EVERYBODY)
    truth = treated_differently(model)
    assert 0 < sum(truth) < len(truth)
    judged = dict(zip(found.rows["row"].tolist(), found.rows["biased"].tolist(), strict=True))
    for row, differently in enumerate(truth):
        assert judged[row] is None or judged[row] == differently
    if name != "neighbours":
        assert found.undecided == 0
        assert found.biased == sum(truth)


@pytest.mark.draw(2)
@pytest.mark.parametrize("name", MODELS)
def test_pairs_of_verify_and_measure_are_within_the_distance(name):
    model = fitted(name)
    result = lw.verify(model, SPACE, SIMILAR, X=EVERYBODY[::5], budget=20)
    assert result.verdict == "BIASED"
    assert alike(*result.pair[NAMES].to_numpy().tolist())
    liked = lw.verify(model, SPACE, SIMILAR, X=EVERYBODY[::5], like_data=True, budget=20)
    assert alike(*liked.pair[NAMES].to_numpy().tolist())


@pytest.mark.parametrize("name", ["linear", "forest"])
def test_shares_of_rows_are_those_of_the_audit(name):
    model = fitted(name)
    found = lw.share(model, SPACE, SIMILAR, over=EVERYBODY)
    assert found.lower == found.upper == sum(treated_differently(model)) / len(EVERYBODY)


@pytest.mark.parametrize("name", ["linear", "forest"])
def test_shares_of_a_space_are_sampled(name):
    model = fitted(name)
    found = lw.share(model, SPACE, SIMILAR, budget=1)
    assert found.method == "sampled"
    assert found.lower <= sum(treated_differently(model)) / len(EVERYBODY) <= found.upper


@pytest.mark.parametrize("name", ["linear", "forest", "rbf"])
def test_the_gaps_of_an_audit_are_the_largest(name):
    model = fitted(name)
    found = lw.audit(model, SPACE, SIMILAR, X=EVERYBODY)
    people = list(map(tuple, EVERYBODY.to_numpy().tolist()))
    numbers = (
        model.predict_proba(EVERYBODY)[:, 1] - 0.5 if name == "forest" else model.decision_function(EVERYBODY)
    )
    for row, gap in zip(found.rows["row"].tolist(), found.rows["gap"].tolist(), strict=True):
        x = people[row]
        largest = max(abs(n - numbers[row]) for n, y in zip(numbers, people, strict=True) if alike(x, y))
        assert gap == pytest.approx(largest, rel=2e-3, abs=1e-6)


@pytest.mark.some_days
def test_compare_and_radius_keep_to_the_distance():
    model, other = fitted("linear"), LogisticRegression(C=0.01).fit(EVERYBODY, EVERYBODY["a"] > 2)
    found = lw.compare(model, other, SPACE, SIMILAR, X=EVERYBODY, budget=20)
    for result in found.results:
        if result.verdict == "BIASED":
            assert alike(*result.pair[NAMES].to_numpy().tolist())


def test_what_is_not_told_of_distances_is_refused():
    model = fitted("linear")
    for ask in (
        lambda: lw.regions(model, SPACE, SIMILAR),
        lambda: lw.share(model, SPACE, SIMILAR, method="exact"),
        lambda: lw.near(model, SPACE, SIMILAR, X=EVERYBODY),
    ):
        with pytest.raises(SpecError, match="within a distance"):
            ask()


def test_the_same_claim_by_flags_and_by_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    skops.io.dump(fitted("linear"), "m.skops")
    EVERYBODY.assign(c=EVERYBODY["c"].astype(int)).to_csv("d.csv", index=False)
    flags = ["--model", "m.skops", "--data", "d.csv", "--metric", "l1:a=1,b=2", "--metric-radius", "3"]
    by_flags = CliRunner().invoke(cli, ["verify", *flags, "--certificate", "a.likewise"])
    assert by_flags.exit_code == 1, by_flags.output
    (tmp_path / "claim.toml").write_text(
        '[model]\npath = "m.skops"\n[data]\npath = "d.csv"\nfeatures = "observed"\n'
        '[similarity]\nradius = 3\n[similarity.metric]\nkind = "l1"\nweights = { a = 1, b = 2 }\n'
    )
    by_file = CliRunner().invoke(cli, ["verify", "claim.toml", "--certificate", "b.likewise"])
    assert by_file.exit_code == 1, by_file.output
    one, other = lw.check("a.likewise"), lw.check("b.likewise")
    assert one.accepted
    assert one.digests == other.digests
    assert "differ only by at most 3 in 1 a + 2 b" in " ".join(by_file.output.split())
    audited = CliRunner().invoke(cli, ["audit", "claim.toml", "--json"])
    assert audited.exit_code in (0, 1), audited.output
