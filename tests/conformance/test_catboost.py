"""CatBoost: the imported trees say what the library says, bit by bit, on and beside every border, for every category and statistic; files; verdicts; refusals."""

import importlib.util
import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from tests.conformance.tree_agreement import adversarial_rows, import_quietly, recoded, split_rows

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.importers.catboost.answers import StoredAnswers
from likewise.importers.catboost.model_file import StatisticSplit
from likewise.importers.catboost.reading import read_model
from likewise.importers.files import load_model
from likewise.importers.trees.tree_check import tree_sum_of_model

catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")

SPACE = lw.Space(
    {
        "income": lw.Continuous(-2.5, 40.0),
        "debt": lw.Continuous(-1.0, 1.0, missing=True),
        "age": lw.Integer(18, 60, missing=True),
        "city": lw.Categorical(["berlin", "oslo", "rome", "turin", "york"]),
        "rooms": lw.Integer(1, 3),
        "sex": lw.Categorical(["f", "m"]),
    }
)
WORDS = ["city", "rooms", "sex"]
QUICK = {"iterations": 25, "depth": 4, "thread_count": 1, "verbose": 0, "allow_writing_files": False}


@pytest.fixture(scope="module")
def people():
    """Nobody lives in york: that is a category that a model has never seen."""
    random, n = np.random.default_rng(0), 600
    X = pd.DataFrame(
        {
            "income": random.uniform(-2.5, 40, n),
            "debt": np.where(random.uniform(size=n) < 0.1, np.nan, random.uniform(-1, 1, n)),
            "age": np.where(random.uniform(size=n) < 0.1, np.nan, random.integers(18, 61, n)),
            "city": random.choice(["berlin", "oslo", "rome", "turin"], n),
            "rooms": random.integers(1, 4, n),
            "sex": random.choice(["f", "m"], n),
        }
    )
    target = 0.1 * X.income + X.debt.fillna(0.3) - 0.02 * X.age.fillna(70) + (X.city == "rome") * X.rooms
    return X, (target + 0.7 * (X.sex == "m") * (X.income > 20) + random.normal(0, 0.2, n)).to_numpy()


def labels_of(target, classes):
    return np.searchsorted(np.quantile(target, np.arange(1, classes) / classes), target)


def fit(X, y, kind="Classifier", words=WORDS, **settings):
    made = getattr(catboost, f"CatBoost{kind}")(**{**QUICK, **settings})
    return made.fit(X, y, cat_features=[name for name in words if name in X])


def raw(model, frame):
    given = model.predict(frame, prediction_type="RawFormulaVal")
    return np.asarray(given).reshape(len(frame), -1)


def assert_same_bits(model, X, space=SPACE, asked=None):
    """Leaves added up tree after tree, and what the file's own splits say, are the library's scores to the last bit; labels and probabilities too."""
    imported = import_quietly(model, space, X)
    given = adversarial_rows(imported, space, X, 800)
    codes, frame = recoded(given, space, imported), space.decode(given, like=X)
    body, head = tree_sum_of_model(imported.model), imported.model.head
    total = np.zeros((len(codes), body.n_scores))
    for tree in body.trees:
        total += float(tree.factor) * tree.values[split_rows(tree, codes, body.missing)]
    ours, library = total + [float(b) for b in body.bias], asked or model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = frame if asked is None else model[:-1].transform(frame)
        theirs = raw(library, before)
        alone = StoredAnswers(read_model(library))
        assert (ours == theirs).all()
        assert (np.asarray(alone.scores(before)).reshape(theirs.shape) == theirs).all()
        if head.labels is not None:
            assert alone.predict(before).tolist() == np.ravel(library.predict(before)).tolist()
            assert imported.replay.decisions(codes).tolist() == alone.predict(before).tolist()
        if head.link is not None:
            assert np.abs(alone.predict_proba(before) - library.predict_proba(before)).max() < 1e-12
    return imported


@pytest.mark.draw(2)
@pytest.mark.parametrize(
    ("kind", "classes", "settings"),
    [
        ("Classifier", 2, {}),
        ("Classifier", 2, {"one_hot_max_size": 10}),
        ("Classifier", 2, {"nan_mode": "Max", "grow_policy": "Lossguide"}),
        ("Classifier", 3, {}),
        ("Classifier", 3, {"loss_function": "MultiClassOneVsAll", "grow_policy": "Depthwise"}),
        ("Regressor", None, {}),
        (
            "Regressor",
            None,
            {
                "loss_function": "MAE",
                "simple_ctr": ["BinarizedTargetMeanValue:Prior=1/1", "Buckets", "Counter"],
            },
        ),
    ],
)
def test_numbers_categories_and_missing_values(people, kind, classes, settings):
    X, target = people
    imported = assert_same_bits(
        fit(X, target if classes is None else labels_of(target, classes), kind, **settings), X
    )
    assert any(tree.levels for tree in tree_sum_of_model(imported.model).trees)
    assert isinstance(imported.space["rooms"], lw.Ordinal), "whole numbers that are categories are levels"


@pytest.mark.draw(5)
@pytest.mark.parametrize(
    ("loss", "classes"),
    [
        *((loss, None) for loss in ("RMSE", "Quantile:alpha=0.3", "Expectile:alpha=0.3", "Huber:delta=1")),
        *((loss, None) for loss in ("MAPE", "Lq:q=3", "LogCosh")),
        *(("Logloss", 2), ("CrossEntropy", 2), ("MultiClass", 3)),
    ],
)
def test_every_loss_that_is_named(people, loss, classes):
    X, target = people
    y = 20 + target if classes is None else labels_of(target, classes)
    kind = "Regressor" if classes is None else "Classifier"
    assert_same_bits(fit(X, y, kind, loss_function=loss, iterations=10), X)


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_statistics_of_several_features_together(people, kind):
    X, target = people
    y = target if kind == "Regressor" else labels_of(target, 2)
    model = fit(X, y, kind, max_ctr_complexity=4, iterations=120, one_hot_max_size=2)
    together = [
        split
        for split in read_model(model).splits
        if isinstance(split, StatisticSplit) and len(split.statistic.columns) + len(split.statistic.parts) > 1
    ]
    assert together
    assert_same_bits(model, X)


def test_names_of_every_length():
    names = [
        "a" * n + "é" for n in (0, 1, 2, 3, 6, 7, 9, 14, 15, 16, 22, 30, 31, 40, 62, 63, 70, 126, 127, 200)
    ]
    random, n = np.random.default_rng(1), 800
    X = pd.DataFrame({"name": random.choice(names, n)})
    worth = dict(zip(names, random.normal(size=len(names)), strict=True))
    y = X.name.map(worth).to_numpy() + random.normal(0, 0.01, n)
    for most in (100, 2):
        model = fit(X, y, "Regressor", words=["name"], one_hot_max_size=most, iterations=60)
        space = lw.Space({"name": lw.Categorical([*names, "other"])})
        imported = assert_same_bits(model, X, space)
        assert len(np.unique(imported.replay.scores(np.arange(21.0)[:, None]))) > 8


@pytest.mark.parametrize("mode", ["Min", "Max", "Forbidden"])
def test_numbers_that_were_never_missing_when_it_was_fitted(people, mode):
    X, target = people
    assert_same_bits(fit(X.fillna({"debt": 0.5, "age": 40}), target, "Regressor", nan_mode=mode), X)


def test_truth_values_and_frames_with_categories(people):
    X, target = people
    frame = pd.DataFrame({"income": X.income, "city": X.city.astype("category"), "member": X.sex == "m"})
    space = lw.Space(
        {
            "income": SPACE["income"],
            "city": lw.Categorical(["berlin", "oslo", "rome", "turin"]),
            "member": lw.Categorical([False, True]),
        }
    )
    assert_same_bits(fit(frame, target, "Regressor", words=["city", "member"]), frame, space)


def test_fitted_on_an_array(people):
    X, target = people
    numbers = ["income", "debt", "age", "rooms"]
    space = lw.Space({name: SPACE[name] for name in numbers})
    model = fit(X[numbers].to_numpy(), target, "Regressor", words=())
    assert import_quietly(model, space, X[numbers]).space.names == tuple(numbers)


def test_behind_a_pipeline(people):
    X, target = people
    columns = make_column_transformer(
        (StandardScaler(), ["income", "debt"]),
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["city", "sex"]),
        remainder="passthrough",
    )
    pipeline = make_pipeline(columns, catboost.CatBoostClassifier(**QUICK)).fit(X, labels_of(target, 2))
    assert_same_bits(pipeline, X, asked=pipeline[-1])


# -- files -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(people, tmp_path_factory):
    X, target = people
    folder = tmp_path_factory.mktemp("models")
    model = fit(X, np.where(target > np.median(target), "good", "bad"))
    model.save_model(str(folder / "model.json"), format="json")
    model.save_model(str(folder / "model.cbm"))
    return folder, model


def without_library(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "catboost" else find(name))


@pytest.mark.parametrize("name", ["model.json", "model.cbm"])
def test_files_are_what_was_saved(saved, people, name):
    """CatBoost does not read every double of JSON as it was written; what it has read is what is imported."""
    folder, model = saved
    answers, kind = load_model(folder / name), name.removeprefix("model.")
    imported = import_quietly(answers, SPACE, people[0])
    again = catboost.CatBoostClassifier().load_model(str(folder / name), format=kind)
    assert imported.model.head.labels == ("bad", "good")
    assert (imported.replay.scores(imported.rows) == raw(again, people[0])).all()
    assert (StoredAnswers(answers.stored).scores(people[0]) == raw(again, people[0])[:, 0]).all()
    assert np.abs(raw(again, people[0]) - raw(model, people[0])).max() < 1e-14
    assert imported.replay.decisions(imported.rows).tolist() == model.predict(people[0]).tolist()
    assert imported.replay.stand_in is None


def test_a_file_needs_no_library_unless_it_is_in_its_own_format(saved, people, monkeypatch):
    folder, model = saved
    without_library(monkeypatch)
    imported = import_quietly(load_model(folder / "model.json"), SPACE, people[0])
    assert "not installed" in imported.replay.stand_in
    assert (
        imported.replay.scores(imported.rows)[:, 0]
        == model.predict(people[0], prediction_type="RawFormulaVal")
    ).all()
    with pytest.raises(UnsupportedModel, match="not installed"):
        load_model(folder / "model.cbm")


def test_a_model_that_is_no_estimator(saved, people):
    model = catboost.CatBoost().load_model(str(saved[0] / "model.cbm"))
    imported = import_quietly(model, SPACE, people[0])
    assert imported.model.head.labels == ("bad", "good")
    assert set(imported.replay.decisions(imported.rows)) == {"bad", "good"}


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


def largest_gap(model, space, free, verb):
    ranges = (f.code_range for f in space.features.values())
    rows = itertools.product(*(range(int(lo), int(hi) + 1) for lo, hi in ranges))
    frame = space.decode(np.array(list(rows), dtype=float), like=pd.DataFrame())
    values = model.predict_proba(frame)[:, 1] if verb == "probability" else raw(model, frame)[:, 0]
    groups = pd.Series(values).groupby([frame[name] for name in frame.columns if name not in free])
    return float((groups.max() - groups.min()).max())


@pytest.mark.draw(1)
@pytest.mark.parametrize("verb", ["score", "probability"])
@pytest.mark.parametrize("most", [1, 4])
def test_the_largest_gap_is_that_of_brute_force(applicants, verb, most):
    X, y = applicants
    model = fit(X, y, words=["sex", "city"], max_ctr_complexity=most, one_hot_max_size=1, iterations=40)
    found = lw.measure(model, SMALL, lw.Similarity(free=["sex"]), of=verb, X=X)
    assert found.upper - found.lower <= 2e-6
    assert found.lower - 1e-9 <= largest_gap(model, SMALL, ["sex"], verb) <= found.upper + 1e-9


def test_a_biased_model_and_one_that_does_not_see_the_feature(applicants):
    X, y = applicants
    biased = fit(X, y, words=["sex", "city"])
    fair = fit(X.assign(sex="f"), y, words=["sex", "city"])
    similar = lw.Similarity(free=["sex"])
    result = lw.verify(biased, SMALL, similar, X=X)
    assert result.verdict == "BIASED"
    assert len(set(biased.predict(result.pair).tolist())) == 2
    assert lw.verify(fair, SMALL, similar, X=X).verdict == "FAIR"


def test_a_small_gap_is_proved_and_accepted(applicants):
    X, y = applicants
    model, similar = fit(X, y, words=["sex", "city"]), lw.Similarity(free=["sex"])
    gap = largest_gap(model, SMALL, ["sex"], "score")
    above, below = (lw.ScoreGap(gap * (1 + room)) for room in (1e-9, -1e-9))
    result = lw.verify(model, SMALL, similar, above, X=X)
    assert result.verdict == "FAIR"
    assert result.certificate is not None
    assert lw.verify(model, SMALL, similar, below, X=X).verdict == "BIASED"


def everybody(space):
    ranges = (f.code_range for f in space.features.values())
    rows = itertools.product(*(range(int(lo), int(hi) + 1) for lo, hi in ranges))
    return space.decode(np.array(list(rows), dtype=float), like=pd.DataFrame())


def told_apart(model, free):
    """How many of those who differ in nothing else are decided differently."""
    frame = everybody(SMALL)
    labels = pd.Series(np.ravel(model.predict(frame)))
    return int((labels.groupby([frame[n] for n in frame.columns if n not in free]).nunique() > 1).sum())


@pytest.mark.draw(2)
@pytest.mark.parametrize("level", [0.2, 0.35, 0.9, 0.999])
def test_a_threshold_of_its_own_moves_the_decision(applicants, tmp_path, monkeypatch, level):
    X, y = applicants
    model = fit(X, y, words=["sex", "city"], iterations=10)
    model.set_probability_threshold(level)
    similar = lw.Similarity(free=["sex"])
    imported = import_quietly(model, SMALL, X)
    frame = everybody(SMALL)
    codes = recoded(SMALL.encode(frame), SMALL, imported)
    scores = tree_scores(imported, codes)
    assert ((scores > 0) == (np.ravel(model.predict(frame)) == 1)).all()
    result = lw.verify(model, SMALL, similar, X=X, budget=60)
    assert result.verdict == ("BIASED" if told_apart(model, ["sex"]) else "FAIR")
    gap = lw.measure(model, SMALL, similar, of="probability", X=X, budget=60)
    frame["chance"] = model.predict_proba(frame)[:, 1]
    apart = frame.groupby([name for name in SMALL.names if name != "sex"], dropna=False)["chance"]
    assert gap.lower - 1e-9 <= (apart.max() - apart.min()).max() <= gap.upper + 1e-9
    model.save_model(str(tmp_path / "model.json"), format="json")
    without_library(monkeypatch)
    alone = import_quietly(load_model(tmp_path / "model.json"), SMALL, X)
    assert alone.replay.decisions(codes).tolist() == np.ravel(model.predict(frame)).tolist()


def tree_scores(imported, codes):
    body = tree_sum_of_model(imported.model)
    total = np.zeros(len(codes))
    for tree in body.trees:
        total += float(tree.factor) * tree.values[split_rows(tree, codes, body.missing), 0]
    return total + float(body.bias[0])


@pytest.mark.parametrize("loss", ["Poisson", "Tweedie:variance_power=1.5"])
def test_gaps_of_predictions_through_the_exponential(applicants, tmp_path, monkeypatch, loss):
    X, _ = applicants
    target = np.random.default_rng(0).poisson(np.exp(0.2 * X.score + 0.5 * (X.sex == "m")))
    model = fit(X, target, "Regressor", words=["sex", "city"], iterations=10, loss_function=loss)
    frame, similar = everybody(SMALL), lw.Similarity(free=["sex"])
    said = pd.Series(model.predict(frame))
    groups = said.groupby([frame[name] for name in frame.columns if name != "sex"])
    gap = float((groups.max() - groups.min()).max())
    found = lw.measure(model, SMALL, similar, X=X, budget=60)
    assert found.lower == pytest.approx(gap, rel=1e-6)
    assert gap * (1 - 1e-9) <= found.upper <= gap * 1.0001
    assert lw.verify(model, SMALL, similar, lw.ScoreGap(1.001 * gap), X=X, budget=60).verdict == "FAIR"
    assert lw.verify(model, SMALL, similar, lw.ScoreGap(0.999 * gap), X=X, budget=60).verdict == "BIASED"
    model.save_model(str(tmp_path / "model.json"), format="json")
    without_library(monkeypatch)
    alone = import_quietly(load_model(tmp_path / "model.json"), SMALL, X)
    codes = recoded(SMALL.encode(frame), SMALL, alone)
    assert alone.replay.predictions(codes)[:, 0] == pytest.approx(said.to_numpy(), rel=1e-12)


@pytest.mark.parametrize(
    "around",
    [
        lambda model: FixedThresholdClassifier(model, threshold=0.3),
        lambda model: CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid"),
    ],
    ids=["threshold", "calibration"],
)
def test_what_stands_around_it(applicants, around):
    """A threshold of its own is without effect inside: scores and probabilities are what is looked at."""
    X, y = applicants
    coded = X.assign(sex=(X.sex == "m").astype(int), city=X.city.map({"berlin": 0, "oslo": 1, "rome": 2}))
    space = lw.Space(
        {
            "score": lw.Integer(0, 9),
            "sex": lw.Integer(0, 1),
            "city": lw.Integer(0, 2),
            "rooms": lw.Integer(1, 4),
        }
    )
    inside = fit(coded, y, words=[], iterations=10)
    inside.set_probability_threshold(0.8)
    model = around(inside).fit(coded, y)
    frame = everybody(space)
    labels = pd.Series(model.predict(frame))
    differ = (labels.groupby([frame[n] for n in frame.columns if n != "sex"]).nunique() > 1).any()
    result = lw.verify(model, space, lw.Similarity(free=["sex"]), X=coded, budget=60)
    assert "black_box" not in result.stats
    assert result.verdict == ("BIASED" if differ else "FAIR")


# -- refusals ----------------------------------------------------------------------------------------------


def refusal(model, X, space=SPACE):
    with pytest.raises(UnsupportedModel) as caught:
        import_quietly(model, space, X)
    return str(caught.value)


def test_losses_of_other_links_are_named(people):
    X, target = people
    assert "'RMSEWithUncertainty'" in refusal(
        fit(X, target, "Regressor", loss_function="RMSEWithUncertainty"), X
    )


def test_a_threshold_that_everybody_is_above_is_named(people):
    X, target = people
    model = fit(X, labels_of(target, 2))
    model.set_probability_threshold(0.0)
    assert "alike for everybody" in refusal(model, X)


def test_missing_categories_are_named(people):
    X, target = people
    space = SPACE.replace({"city": lw.Categorical(["berlin", "oslo", "rome", "turin", None])})
    assert "'city'" in refusal(fit(X, target, "Regressor"), X, space)


def test_a_number_that_is_one_of_its_categories_is_named(people):
    X, target = people
    space = SPACE.replace({"rooms": lw.Continuous(1, 3)})
    assert "'rooms'" in refusal(fit(X, target, "Regressor"), X, space)


def test_text_is_named(people):
    X, target = people
    frame = X.assign(city=[f"{city} is a town" for city in X.city])
    model = catboost.CatBoostRegressor(**QUICK).fit(
        frame, target, text_features=["city"], cat_features=["rooms", "sex"]
    )
    space = SPACE.replace({"city": lw.Categorical(sorted(set(frame.city)))})
    assert "text" in refusal(model, frame, space)


def test_a_model_that_is_not_fitted(people):
    assert "not fitted" in refusal(catboost.CatBoostClassifier(), people[0])


@pytest.mark.parametrize(
    "damage",
    [
        lambda model: model.pop("scale_and_bias"),
        lambda model: model["oblivious_trees"][0]["leaf_values"].pop(),
        lambda model: model["oblivious_trees"][0]["splits"][0].update(split_index=10**6),
        lambda model: model["oblivious_trees"][0]["splits"][0].update(split_index=-3),
        lambda model: model["features_info"]["float_features"][0].update(flat_feature_index=77),
        lambda model: model["features_info"]["float_features"][0].update(nan_value_treatment="AsYouLike"),
        lambda model: model["ctr_data"].clear(),
        lambda model: model["scale_and_bias"].__setitem__(0, float("nan")),
        lambda model: model.update(oblivious_trees=[]),
    ],
)
def test_damaged_files_are_refused(saved, tmp_path, monkeypatch, damage):
    without_library(monkeypatch)
    model = json.loads((saved[0] / "model.json").read_text())
    damage(model)
    (tmp_path / "damaged.json").write_text(json.dumps(model))
    with pytest.raises(UnsupportedModel, match=r"damaged\.json"):
        load_model(tmp_path / "damaged.json")
