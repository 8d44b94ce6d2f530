"""Rates of groups against counting everybody, in rationals and by the model's own predict; nothing of the package is used for what is expected."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from likewise.errors import DataError, SpecError, UnsupportedModel

SPACE = lw.Space(
    {
        "sex": lw.Categorical([0, 1]),
        "job": lw.Ordinal([0, 1, 2]),
        "age": lw.Integer(0, 6),
        "debts": lw.Integer(0, 4),
    }
)
MODELS = {
    "linear": LogisticRegression(C=5),
    "rbf": SVC(gamma=0.3),
    "poly": SVC(kernel="poly", degree=2, coef0=1),
    "forest": RandomForestClassifier(8, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0),
    "network": MLPClassifier((5,), max_iter=400, random_state=0, tol=0.1),
    "sum": VotingClassifier(
        [("one", LogisticRegression()), ("two", DecisionTreeClassifier(max_depth=3, random_state=0))],
        voting="soft",
    ),
}


def everybody(space=SPACE):
    ranges = [range(f.lo, f.hi + 1) if f.kind == "integer" else f.levels for f in space.features.values()]
    return pd.DataFrame(list(itertools.product(*ranges)), columns=list(space.names))


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(3)
    count = 300
    sex = (random.random(count) < 0.4).astype(int)
    job = np.minimum(2, random.poisson(0.8 + 0.6 * sex))
    age, debts = random.integers(0, 7, count), np.minimum(4, random.poisson(1.2, count))
    frame = pd.DataFrame({"sex": sex, "job": job, "age": age, "debts": debts})
    label = (0.9 * job + 0.3 * age - debts + 0.5 * sex + random.normal(0, 1, count) > 1).astype(int)
    return frame, label.to_numpy() if hasattr(label, "to_numpy") else label


@pytest.fixture(scope="module")
def fitted(rows):
    from sklearn.base import clone

    return {name: clone(model).fit(*rows) for name, model in MODELS.items()}


def weighted_rates(model, weight, by, space=SPACE, valid=None):
    """By groups: the weight of those who are decided 1, divided by that of all."""
    people = everybody(space)
    decided = model.predict(people)
    hit, total = {}, {}
    for row, decision in zip(people.to_dict("records"), decided.tolist(), strict=True):
        if valid is not None and not valid(row):
            continue
        key, mass = tuple(row[name] for name in by), weight(row)
        total[key] = total.get(key, Fraction(0)) + mass
        hit[key] = hit.get(key, Fraction(0)) + (mass if decision == 1 else 0)
    return {key: hit[key] / total[key] for key in total if total[key]}


def assert_holds(found, expected, width=1e-8):
    assert {group.values for group in found.groups} == set(expected)
    for group in found.groups:
        rate = group.rates["selection_rate"]
        assert Fraction(rate.lower) <= expected[group.values] <= Fraction(rate.upper)
        assert rate.upper - rate.lower <= width
    rates = list(expected.values())
    low, high = found.difference()
    assert Fraction(low) <= max(rates) - min(rates) <= Fraction(high)
    if max(rates):
        low, high = found.ratio()
        assert low <= float(min(rates) / max(rates)) * (1 + 1e-12)
        assert high >= float(min(rates) / max(rates)) * (1 - 1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_everybody_alike(name, fitted):
    expected = weighted_rates(fitted[name], lambda row: Fraction(1), ("sex",))
    found = lw.groups(fitted[name], SPACE, "sex", over="uniform")
    assert_holds(found, expected, 2e-4)


@pytest.mark.parametrize("name", MODELS)
def test_distributed_as_the_columns(name, fitted, rows):
    frame, _ = rows
    shares = {
        column: {value: Fraction(int(count)) for value, count in frame[column].value_counts().items()}
        for column in frame.columns
    }

    def weight(row):
        mass = Fraction(1)
        for column, counts in shares.items():
            mass *= counts.get(row[column], Fraction(0))
        return mass

    expected = weighted_rates(fitted[name], weight, ("sex", "job"))
    found = lw.groups(fitted[name], SPACE, ["sex", "job"], over="marginals", X=frame)
    assert_holds(found, expected, 2e-4)


@pytest.mark.parametrize("name", ["linear", "forest", "rbf"])
def test_constraints_leave_people_out(name, fitted):
    space = SPACE.where("debts <= age")
    expected = weighted_rates(
        fitted[name], lambda row: Fraction(1), ("sex",), valid=lambda row: row["debts"] <= row["age"]
    )
    assert_holds(lw.groups(fitted[name], space, "sex", over="uniform"), expected)


@pytest.mark.parametrize("name", ["linear", "boosting", "network"])
def test_features_that_depend_on_others(name, fitted, rows):
    """sex -> job -> debts, from tables and from the data."""
    frame, _ = rows
    sex = {0: Fraction(1, 4), 1: Fraction(3, 4)}
    job = {0: {0: 2, 1: 1, 2: 1}, 1: {0: 1, 1: 0, 2: 3}}
    population = lw.Population(
        {"sex": {0: 0.25, 1: 0.75}, "job": job, "age": dict.fromkeys(range(7), 1)},
        given={"job": "sex", "debts": "job"},
    )

    def weight(row):
        chosen = frame[frame["job"] == row["job"]]["debts"]
        debts = Fraction(int((chosen == row["debts"]).sum()), len(chosen))
        return sex[row["sex"]] * Fraction(job[row["sex"]][row["job"]], 4) * debts

    expected = weighted_rates(fitted[name], weight, ("sex",))
    assert_holds(lw.groups(fitted[name], SPACE, "sex", over=population, X=frame), expected, 2e-4)
    expected = weighted_rates(fitted[name], weight, ("job",))
    assert_holds(lw.groups(fitted[name], SPACE, "job", over=population, X=frame), expected, 2e-4)


def test_rows_are_counted_by_predict(fitted, rows):
    frame, label = rows
    model = fitted["forest"]
    found = lw.groups(model, SPACE, "sex", X=frame, y=label)
    decided = model.predict(frame)
    for group in found.groups:
        here = (frame["sex"] == group.values[0]).to_numpy()
        for metric, some in (
            ("selection_rate", here),
            ("true_positive_rate", here & (label == 1)),
            ("false_positive_rate", here & (label == 0)),
        ):
            rate = group.rates[metric]
            assert (rate.hits, rate.count) == (int(decided[some].sum()), int(some.sum()))
            assert Fraction(rate.lower) <= Fraction(rate.hits, rate.count) <= Fraction(rate.upper)
            assert rate.interval[0] <= rate.hits / rate.count <= rate.interval[1]
    odds = found.equalized_odds
    assert odds[1] >= max(
        found.difference("true_positive_rate")[0], found.difference("false_positive_rate")[0]
    )


def test_rows_by_a_column_that_is_no_feature(fitted, rows):
    frame, _ = rows
    frame = frame.assign(town=np.where(np.arange(len(frame)) % 3, "A", "B"))
    found = lw.groups(fitted["linear"], SPACE, "town", X=frame)
    decided = fitted["linear"].predict(frame[list(SPACE.names)])
    for group in found.groups:
        here = (frame["town"] == group.values[0]).to_numpy()
        assert group.rates["selection_rate"].hits == int(decided[here].sum())


def test_agrees_with_fairlearn_on_rows(fitted, rows):
    metrics = pytest.importorskip("fairlearn.metrics", reason="fairlearn is not installed")
    frame, label = rows
    decided = fitted["boosting"].predict(frame)
    theirs = metrics.MetricFrame(
        metrics={
            "selection_rate": metrics.selection_rate,
            "true_positive_rate": metrics.true_positive_rate,
            "count": metrics.count,
        },
        y_true=label,
        y_pred=decided,
        sensitive_features=frame["sex"],
    )
    ours = lw.groups(fitted["boosting"], SPACE, "sex", X=frame, y=label)
    for metric in ("selection_rate", "true_positive_rate"):
        low, high = ours.difference(metric)
        assert low - 1e-12 <= theirs.difference()[metric] <= high + 1e-12
    taken = lw.Groups.from_metric_frame(theirs)
    for mine, read in zip(ours.groups, taken.groups, strict=True):
        assert (mine.values, mine.share) == (read.values, read.share)
        assert mine.rates["selection_rate"].hits == read.rates["selection_rate"].hits
    assert "selected" in str(taken)
    assert "true positives" in taken._repr_html_()


def test_a_linear_score_of_continuous_numbers(monkeypatch):
    """Uniform x, y in the unit square and x + y > 1 + sex / 4: the area is that of a triangle."""
    space = lw.Space({"sex": lw.Categorical([0, 1]), "x": lw.Continuous(0, 1), "y": lw.Continuous(0, 1)})
    model = LogisticRegression().fit([[0, 0, 0], [1, 1, 1]], [0, 1])
    model.coef_, model.intercept_ = np.array([[-0.25, 1.0, 1.0]]), np.array([-1.0])
    monkeypatch.setattr("likewise.analysis.decision_rates.NARROW_ENOUGH", 2e-3)
    found = lw.groups(model, space, "sex", over="uniform")
    expected = {(0,): Fraction(1, 2), (1,): Fraction(9, 32)}
    assert_holds(found, expected, 2e-3)
    assert all(group.rates["selection_rate"].method == "certified" for group in found.groups)


def test_intervals_of_a_continuous_number():
    """A histogram with a gap in it, in front of a line and of a step."""
    space = lw.Space({"sex": lw.Categorical([0, 1]), "x": lw.Continuous(0, 10)})
    population = lw.Population({"sex": {0: 1, 1: 1}, "x": [(0, 2, 1), (2, 4, 0), (4, 5, 2), (8, 10, 1)]})
    model = LogisticRegression().fit([[0, 0], [1, 10]], [0, 1])
    model.coef_, model.intercept_ = np.array([[1.0, 1.0]]), np.array([-9.0])
    found = lw.groups(model, space, "sex", over=population)
    assert_holds(found, {(0,): Fraction(1, 8), (1,): Fraction(1, 4)}, 1e-3)
    tree = RandomForestClassifier(1, bootstrap=False, max_depth=2, random_state=0)
    frame = pd.DataFrame({"sex": [0, 0, 1, 1], "x": [1.0, 9.0, 4.0, 5.0]})
    tree.fit(frame, [0, 1, 0, 1])
    thresholds = [t for t, k in zip(tree[0].tree_.threshold, tree[0].tree_.feature, strict=True) if k == 1]
    found = lw.groups(tree, space, "sex", over=population)

    def below(value):
        pieces = ((0, 2, 1), (2, 4, 0), (4, 5, 2), (8, 10, 1))
        parts = ((min(max(value, lo), hi) - lo) / (hi - lo) * weight for lo, hi, weight in pieces)
        return sum(parts) / 4

    for group in found.groups:
        ends = sorted({0.0, 10.0, *thresholds})
        middle = [(a + b) / 2 for a, b in itertools.pairwise(ends)]
        decided = tree.predict(pd.DataFrame({"sex": group.values[0], "x": middle}))
        share = sum(
            below(b) - below(a)
            for (a, b), one in zip(itertools.pairwise(ends), decided.tolist(), strict=True)
            if one
        )
        rate = group.rates["selection_rate"]
        # A tree rounds x to float32 before it compares: what is a little above a threshold goes the other way.
        assert rate.lower - 1e-6 <= share <= rate.upper + 1e-6
        assert rate.upper - rate.lower < 1e-9


@pytest.mark.some_days
@pytest.mark.usefixtures("clock_of_looks")
def test_a_sample_holds_what_boxes_and_sums_do_not_tell(fitted, monkeypatch):
    """Where nobody can be looked at one by one, boxes and a sample of what they leave hold the rate."""
    from likewise.analysis import decision_rates

    monkeypatch.setattr(decision_rates, "MOST_INDIVIDUALS", 0)
    for name in ("forest", "rbf", "network"):
        expected = weighted_rates(fitted[name], lambda row: Fraction(1), ("sex",))
        found = lw.groups(fitted[name], SPACE, "sex", over="uniform", budget=6, confidence=0.999999)
        assert_holds(found, expected, 0.2)


def test_a_favourable_label_of_several(rows):
    frame, label = rows
    several = label + (frame["job"] == 2).to_numpy()
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(frame, several)
    with pytest.raises(SpecError, match="which one is favourable"):
        lw.groups(model, SPACE, "sex", over="uniform")
    people = everybody()
    decided = model.predict(people)
    found = lw.groups(model, SPACE, "sex", over="uniform", favourable=2)
    for group in found.groups:
        here = (people["sex"] == group.values[0]).to_numpy()
        rate = group.rates["selection_rate"]
        assert rate.lower <= np.mean(decided[here] == 2) <= rate.upper
        assert rate.upper - rate.lower < 1e-8


def test_the_four_fifths_rule():
    from likewise.analysis.groups_result import Group, Groups, Rate

    def with_rates(*ends):
        made = tuple(
            Group(
                values=(n,),
                share=0.5,
                rates={"selection_rate": Rate(lower=a, upper=b, method="certified")},
            )
            for n, (a, b) in enumerate(ends)
        )
        return Groups(by=("sex",), groups=made, favourable=1, over="all individuals")

    assert with_rates((0.5, 0.5), (0.4, 0.4)).four_fifths is True
    assert with_rates((0.5, 0.5), (0.39, 0.399)).four_fifths is False
    assert with_rates((0.5, 0.5), (0.39, 0.41)).four_fifths is None
    assert with_rates((0.0, 0.0), (0.0, 0.0)).four_fifths is True
    assert with_rates((0.2, 0.3), (0.25, 0.4)).difference() == (0.0, pytest.approx(0.2))


@pytest.mark.parametrize(
    ("population", "message"),
    [
        (lw.Population({"sexx": {0: 1}}), "did you mean 'sex'"),
        (lw.Population({"sex": {2: 1}}), "value that it does not have"),
        (lw.Population({"sex": {0: -1, 1: 2}}), "must not be negative"),
        (lw.Population(given={"job": "debts", "debts": "job"}), "depends on itself"),
        (lw.Population({"sex": {0: 1}}), "no table for"),
        (
            lw.Population({"sex": {0: 1}, "job": {0: 1}, "age": [(0, 3, 1)]}),
            "intervals are for continuous features",
        ),
    ],
)
def test_populations_that_do_not_fit(population, message, fitted):
    with pytest.raises(SpecError, match=message):
        lw.groups(fitted["linear"], SPACE, "sex", over=population)


def test_what_cannot_be_asked(fitted, rows):
    frame, label = rows
    with pytest.raises(SpecError, match="no feature 'town'"):
        lw.groups(fitted["linear"], SPACE, "town", over="uniform")
    with pytest.raises(DataError, match="no column 'town'"):
        lw.groups(fitted["linear"], SPACE, "town", X=frame)
    with pytest.raises(DataError, match="299 labels for 300 rows"):
        lw.groups(fitted["linear"], SPACE, "sex", X=frame, y=label[:-1])
    with pytest.raises(UnsupportedModel, match="predicts numbers"):
        lw.groups(LinearRegression().fit(frame, label), SPACE, "sex", X=frame)
    with pytest.raises(SpecError, match="no label"):
        lw.groups(fitted["linear"], SPACE, "sex", X=frame, favourable=7)


def test_a_population_in_a_claim_file(tmp_path):
    from likewise.spec.claim import WrittenClaim
    from likewise.spec.file import read_spec, write_spec

    population = lw.Population({"sex": {"0": 0.25, "1": 0.75}, "age": {"3": 1}}, given={"job": "sex"})
    claim = WrittenClaim(SPACE, lw.Similarity(free=["sex"]), lw.SameDecision(), population=population)
    write_spec(claim, tmp_path / "claim.toml")
    assert read_spec(tmp_path / "claim.toml").population == population


def test_the_next_step_frees_features_only(fitted, rows):
    """Where a claim does not say what may differ, the feature that tells the groups may; a column that is no feature is no answer to that."""
    from types import SimpleNamespace

    from likewise.answers.audience import Audience
    from likewise.answers.groups import groups_answer

    frame, _ = rows
    told = []
    telling = Audience(speak=lambda question, **options: told.append((question, options)) or "said")
    about = SimpleNamespace(similarity=SimpleNamespace(names=()), space=SPACE)
    for by in ("sex", "town"):
        found = lw.groups(fitted["linear"], SPACE, by, X=frame.assign(town="A"))
        groups_answer(found, about, telling)
    assert told == [("verify", {"free": ("sex",)})]
