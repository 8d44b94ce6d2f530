"""interpret's explainable boosting machines: its own answers on and beside every cut, for every level, missing and unknown values; verdicts; refusals."""

import itertools
import warnings
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from tests.conformance.tree_agreement import assert_agrees, body_of, import_quietly

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.importers.files import load_model
from likewise_check import check

glassbox = pytest.importorskip("interpret.glassbox", reason="interpret is not installed")

SPACE = lw.Space(
    {
        "income": lw.Continuous(-2.5, 40.0),
        "debt": lw.Continuous(-1.0, 1.0, missing=True),
        "age": lw.Integer(18, 60, missing=True),
        "city": lw.Categorical(["berlin", "oslo", "rome", "turin", "york", None]),
        "rooms": lw.Integer(1, 3),
        "member": lw.Categorical(["no", "yes"]),
    }
)
QUICK = {"n_jobs": 1, "outer_bags": 1, "max_rounds": 150, "max_bins": 40, "max_interaction_bins": 6}


@pytest.fixture(scope="module")
def people():
    """Nobody lives in york: that is a category that a machine has never seen."""
    random, n = np.random.default_rng(0), 300
    X = pd.DataFrame(
        {
            "income": random.uniform(-2.5, 40, n),
            "debt": np.where(random.uniform(size=n) < 0.1, np.nan, random.uniform(-1, 1, n)),
            "age": np.where(random.uniform(size=n) < 0.1, np.nan, random.integers(18, 61, n)),
            "city": random.choice(["berlin", "oslo", "rome", "turin", None], n),
            "rooms": random.integers(1, 4, n),
            "member": random.choice(["no", "yes"], n),
        }
    )
    target = 0.1 * X.income + X.debt.fillna(0.3) - 0.02 * X.age.fillna(70) + (X.city == "rome") * X.rooms
    return X, (target + 0.5 * (X.member == "yes") * (X.income > 20) + random.normal(0, 0.2, n)).to_numpy()


def labels_of(target, classes):
    return np.searchsorted(np.quantile(target, np.arange(1, classes) / classes), target)


def fit(kind, X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(glassbox, f"ExplainableBoosting{kind}")(**{**QUICK, **settings}).fit(X, y)


@pytest.fixture(scope="module")
def machine(people):
    X, target = people
    return fit("Classifier", X, np.where(target > np.median(target), "good", "bad"))


def test_tables_of_one_feature_and_of_two(machine, people):
    assert any(len(features) == 2 for features in machine.term_features_)
    assert any(len(levels) == 2 for levels in machine.bins_), "bins of their own for pairs"
    imported, _ = assert_agrees(machine, SPACE, people[0])
    assert len(body_of(imported.model).trees) == len(machine.term_features_)


def test_numbers_that_are_told_apart_by_name(people):
    X, target = people
    types = ["continuous", "continuous", "continuous", "nominal", "nominal", "nominal"]
    model = fit("Classifier", X, labels_of(target, 2), feature_types=types)
    imported, _ = assert_agrees(model, SPACE, X)
    assert isinstance(imported.space["rooms"], lw.Ordinal)


def test_ordered_categories_and_groups_of_them(people):
    X, target = people
    order = [
        "continuous",
        "continuous",
        "continuous",
        ["turin", "rome", "oslo", "berlin"],
        "continuous",
        "nominal",
    ]
    assert_agrees(fit("Classifier", X, labels_of(target, 2), feature_types=order), SPACE, X)


def test_three_features_together(people):
    X, target = people
    model = fit("Regressor", X, target, interactions=[("income", "city", "member"), ("age", "rooms")])
    assert max(map(len, model.term_features_)) == 3
    assert_agrees(model, SPACE, X)


def test_several_classes(people):
    X, target = people
    model = fit("Classifier", X, labels_of(target, 3), interactions=0)
    imported, _ = assert_agrees(model, SPACE, X)
    assert imported.model.n_scores == 3


def test_fitted_on_an_array(people):
    X, target = people
    columns = ["income", "debt", "age", "rooms"]
    space = lw.Space({name: SPACE[name] for name in columns})
    model = fit("Regressor", X[columns].to_numpy(), target)
    imported = import_quietly(model, space, X[columns])
    assert imported.space.names == tuple(columns)


def test_behind_a_pipeline(people):
    X, target = people
    columns = make_column_transformer(
        (StandardScaler(), ["income", "debt"]),
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["city", "member"]),
        remainder="passthrough",
    )
    model = glassbox.ExplainableBoostingClassifier(**QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = make_pipeline(columns, model).fit(X, labels_of(target, 2))
    assert_agrees(pipeline, SPACE, X)


def test_a_skops_file_needs_no_trust(machine, people, tmp_path):
    io = pytest.importorskip("skops.io", reason="skops is not installed")
    io.dump(machine, tmp_path / "machine.skops")
    again = load_model(tmp_path / "machine.skops")
    assert_agrees(again, SPACE, people[0])


@pytest.mark.parametrize("objective", ["gamma_deviance", "rmse_log"])
def test_predictions_through_the_exponential_function(people, objective):
    X, target = people
    model = fit("Regressor", X, np.exp(target / 4), objective=objective, interactions=2, max_rounds=40)
    imported, _ = assert_agrees(model, SPACE, X)
    assert imported.model.head.link == "exponential"
    codes = SPACE.encode(X)
    assert np.array_equal(
        imported.replay.predictions(codes)[:, 0], model.predict(SPACE.decode(codes, like=X))
    )


# -- verdicts ----------------------------------------------------------------------------------------------

SMALL = lw.Space(
    {
        "score": lw.Integer(0, 9),
        "sex": lw.Categorical(["f", "m"]),
        "city": lw.Categorical(["berlin", "oslo", "rome"]),
        "rooms": lw.Integer(1, 4),
    }
)


@pytest.fixture(scope="module")
def applicants():
    random, n = np.random.default_rng(3), 500
    X = pd.DataFrame(
        {
            "score": random.integers(0, 10, n),
            "sex": random.choice(["f", "m"], n),
            "city": random.choice(["berlin", "oslo", "rome"], n),
            "rooms": random.integers(1, 5, n),
        }
    )
    y = (
        0.5 * X.score + (X.sex == "m") * (X.city == "rome") * 1.5 + 0.3 * X.rooms + random.normal(0, 0.5, n)
        > 3.2
    )
    return X, y.to_numpy().astype(int)


def everybody(space):
    rows = itertools.product(
        *(range(int(f.code_range[0]), int(f.code_range[1]) + 1) for f in space.features.values())
    )
    return space.decode(np.array(list(rows), dtype=float), like=pd.DataFrame())


def largest_gap(model, space, free, verb):
    frame = everybody(space)
    values = model.predict_proba(frame)[:, 1] if verb == "probability" else model.decision_function(frame)
    groups = pd.Series(values).groupby([frame[name] for name in frame.columns if name not in free])
    return float((groups.max() - groups.min()).max())


@pytest.fixture(scope="module")
def lender(applicants):
    return fit("Classifier", *applicants, interactions=5)


@pytest.mark.draw(1)
@pytest.mark.parametrize("verb", ["score", "probability"])
@pytest.mark.parametrize("free", [["sex"], ["sex", "city"]])
def test_the_largest_gap_is_that_of_brute_force(lender, applicants, verb, free):
    found = lw.measure(lender, SMALL, lw.Similarity(free=free), of=verb, X=applicants[0])
    assert found.upper - found.lower <= 2e-6
    assert found.lower - 1e-9 <= largest_gap(lender, SMALL, free, verb) <= found.upper + 1e-9


def test_a_biased_machine_and_the_features_of_its_pair(lender, applicants):
    free = ["sex", "city"]
    gap = largest_gap(lender, SMALL, free, "score") * (1 - 1e-9)
    result = lw.verify(lender, SMALL, lw.Similarity(free=free), lw.ScoreGap(gap), X=applicants[0])
    assert result.verdict == "BIASED"
    assert np.ptp(lender.decision_function(result.pair)) > gap
    parts = {part.feature: part.average for part in result.contributions.parts}
    assert set(parts) == {"sex", "city"}
    assert abs(sum(parts.values()) - result.contributions.gap) < 1e-9


def test_a_machine_whose_table_of_the_feature_is_flat_is_fair(applicants):
    model = fit("Classifier", *applicants, interactions=[("score", "city")])
    similar = lw.Similarity(free=["sex"])
    assert lw.verify(model, SMALL, similar, X=applicants[0]).verdict == "BIASED"
    model.scale("sex", 0.0)
    assert lw.verify(model, SMALL, similar, X=applicants[0]).verdict == "FAIR"


def test_gaps_of_predictions_through_the_exponential(applicants):
    X, _ = applicants
    amount = np.exp(0.2 * X.score + 0.4 * (X.sex == "m") * (X.city == "rome") + 0.1 * X.rooms)
    model = fit("Regressor", X, amount, objective="gamma_deviance", max_rounds=60)
    frame, similar = everybody(SMALL), lw.Similarity(free=["sex"])
    groups = pd.Series(model.predict(frame)).groupby([frame[name] for name in ("score", "city", "rooms")])
    largest = float((groups.max() - groups.min()).max())
    fair = lw.verify(model, SMALL, similar, lw.ScoreGap(largest * 1.001), X=X)
    assert fair.verdict == "FAIR"
    assert check(BytesIO(fair.certificate.content)).accepted
    assert lw.verify(model, SMALL, similar, lw.ScoreGap(largest * 0.999), X=X).verdict == "BIASED"
    model.term_scores_ = [
        scores if "sex" not in name else np.zeros_like(scores)
        for name, scores in zip(model.term_names_, model.term_scores_, strict=True)
    ]
    assert lw.verify(model, SMALL, similar, lw.ScoreGap(1e-9), X=X).verdict == "FAIR"


def test_a_small_gap_is_proved_and_accepted(lender, applicants):
    gap, similar = largest_gap(lender, SMALL, ["sex"], "score"), lw.Similarity(free=["sex"])
    above, below = (lw.ScoreGap(gap * (1 + room)) for room in (1e-9, -1e-9))
    result = lw.verify(lender, SMALL, similar, above, X=applicants[0])
    assert result.verdict == "FAIR"
    assert result.certificate is not None
    assert lw.verify(lender, SMALL, similar, below, X=applicants[0]).verdict == "BIASED"


# -- refusals ----------------------------------------------------------------------------------------------


def refusal(model, space, X):
    with pytest.raises(UnsupportedModel) as caught:
        import_quietly(model, space, X)
    return str(caught.value)


def test_a_number_that_is_one_of_its_categories(people):
    X, target = people
    types = ["continuous", "continuous", "continuous", "nominal", "nominal", "nominal"]
    model = fit("Classifier", X, labels_of(target, 2), feature_types=types)
    space = SPACE.replace({"rooms": lw.Continuous(1, 3)})
    assert "'rooms'" in refusal(model, space, X)


def test_tables_that_do_not_fit_their_bins(machine, people):
    model = machine.copy()
    model.term_scores_[0] = model.term_scores_[0][:-1]
    assert "bins" in refusal(model, SPACE, people[0])


def test_a_machine_that_is_not_fitted(people):
    assert "not fitted" in refusal(glassbox.ExplainableBoostingClassifier(), SPACE, people[0])
