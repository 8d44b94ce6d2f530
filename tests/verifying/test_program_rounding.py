"""What answers say of the program's own rounding, against brute force over the program itself on small spaces."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC
from tests.families.test_program_error import conflicting, gaussian_score

import likewise as lw

SPACE = lw.Space({"a": lw.Integer(0, 5), "b": lw.Integer(0, 5)})
NEIGHBOURS = lw.Similarity(within={"b": 1})


def grid(space):
    values = [range(int(feature.lo), int(feature.hi) + 1) for feature in space.features.values()]
    return pd.DataFrame(list(product(*values)), columns=list(space.names))


def similar_places(people):
    """Places of all pairs that differ by at most 1 in b."""
    rows = people.to_numpy()
    near = (rows[:, None, 0] == rows[None, :, 0]) & (np.abs(rows[:, None, 1] - rows[None, :, 1]) <= 1)
    return np.nonzero(near)


def shown_gaps(answers, people):
    """Gaps that the program shows of all similar pairs, by its answers to all rows at once and one by one."""
    alone = np.concatenate([answers(people.iloc[[i]]) for i in range(len(people))])
    first, second = similar_places(people)
    return [
        np.abs(given[first].astype(np.float64) - given[second].astype(np.float64))
        for given in (answers(people), alone)
    ]


def cubic():
    """A cubic kernel on columns of thousands."""
    random = np.random.default_rng(9)
    frame = pd.DataFrame({"a": random.integers(0, 4, 60) * 5000, "b": random.integers(18, 70, 60)})
    y = (frame["b"] + random.normal(0, 10, 60) > 45).astype(int)
    model = SVC(kernel="poly", degree=3, gamma=1e-4, C=100, coef0=1, max_iter=20_000)
    space = lw.Space({"a": lw.Ordinal([0, 5000, 10_000, 15_000]), "b": lw.Integer(18, 69)})
    people = pd.DataFrame(list(product(range(0, 20_000, 5000), range(18, 70))), columns=["a", "b"])
    return model.fit(frame, y), frame, space, people


def boosted(**more):
    """Boosted trees, which XGBoost adds up in float32."""
    xgboost = pytest.importorskip("xgboost")
    people = grid(SPACE)
    y = ((people["a"] * 7 + people["b"] * 3) % 5 > 2).astype(int)
    return xgboost.XGBClassifier(n_estimators=40, max_depth=3, **more).fit(people, y), people


# -- cancellation -------------------------------------------------------------------------------------------


def assert_no_contradiction(model, space, frame, people):
    """Gap claims between what is proved and what the program shows are not FAIR, those beyond the program's bracket are."""
    found = lw.measure(model, space, NEIGHBOURS, X=frame, certify=True)
    shown = max(gaps.max() for gaps in shown_gaps(model.decision_function, people))
    assert found.program_upper >= shown
    assert found.stats["program_rounding"]["large"]
    for level in (found.upper, (found.upper + shown) / 2, found.program_upper - 1e-3):
        answer = lw.verify(model, space, NEIGHBOURS, lw.ScoreGap(level), X=frame)
        assert answer.verdict != "FAIR"
    answer = lw.verify(model, space, NEIGHBOURS, lw.ScoreGap(found.upper * (1 + 1e-6)), X=frame)
    assert answer.verdict == "UNKNOWN"
    assert answer.reason.startswith("rounding: proved of the model as mathematics")
    assert answer.bounds[1] == answer.claimed.property.delta  # what is proved is said
    beyond = lw.verify(model, space, NEIGHBOURS, lw.ScoreGap(found.program_upper + 1), X=frame)
    assert beyond.verdict == "FAIR"
    assert beyond.program_upper == beyond.claimed.property.delta
    assert "covers the rounding of predict" in " ".join(str(beyond).split())
    return found


@pytest.mark.some_days
def test_coefficients_that_cancel():
    model, frame, space = conflicting()
    found = assert_no_contradiction(model, space, frame, grid(space))
    assert found.program_upper - found.upper > 1e-3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_cubic_kernel_on_columns_that_are_not_scaled():
    model, frame, space, people = cubic()
    assert_no_contradiction(model, space, frame, people)


@pytest.mark.some_days
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_answer_says_it():
    model, frame, space, _ = cubic()
    gap = lw.ScoreGap(0.1)
    answers = [
        lw.verify(model, space, NEIGHBOURS, gap, X=frame),
        lw.verify(model, space, NEIGHBOURS, lw.ScoreGap(1.0), X=frame),
        lw.measure(model, space, NEIGHBOURS, X=frame),
        lw.radius(model, space, lw.Similarity(), lw.ScoreGap(0.3), feature="b", X=frame),
        lw.audit(model, space, NEIGHBOURS, gap, X=frame),
        lw.share(model, space, NEIGHBOURS, gap),
        lw.regions(model, space, NEIGHBOURS, budget=0.5),
        lw.compare(model, model, space, NEIGHBOURS, gap, X=frame),
        lw.repair(model, space, lw.Similarity(free=["a"]), X=frame),
    ]
    for answer in answers:
        assert "the program's own rounding may move scores by" in str(answer)
        assert '"program_rounding": {"bound": 0.0' in json.dumps(answer.to_dict())
    assert "the program's own rounding may move scores by" in answers[0].model_card()
    assert all(len(line) <= 80 for line in str(answers[0]).splitlines())


def test_what_is_not_read_stays_fair():
    """Where no column reads what may differ, the program is asked about the same numbers for both."""
    model, frame, _ = conflicting()
    kept = ColumnTransformer([("kept", "passthrough", ["a", "b"])])
    wide = frame.assign(c=np.arange(len(frame)) % 3)
    pipeline = make_pipeline(kept, clone(model)).fit(wide, np.arange(len(frame)) % 2)
    space = lw.Space({"a": lw.Integer(0, 5), "b": lw.Integer(0, 5), "c": lw.Integer(0, 2)})
    for asked in (lw.ScoreGap(0.0), lw.SameDecision()):
        answer = lw.verify(pipeline, space, lw.Similarity(free=["c"]), asked, X=wide)
        assert answer.stats["program_rounding"]["large"]
        assert answer.verdict == "FAIR"


def test_decisions_that_the_program_itself_turns_round_are_not_fair():
    """A border between the real score of somebody and the one that the program computes: both neighbours lie below it in exact arithmetic."""
    model, _, space = conflicting()
    people = grid(space)
    shown = model.decision_function(people)
    exact = np.array([float(gaussian_score(model, row)) for row in people.to_numpy(dtype=float).tolist()])
    places = [(i, i + 1) for i in range(len(people) - 1) if people["a"][i] == people["a"][i + 1]]
    high, low = max(
        ((i, j) for pair in places for i, j in (pair, pair[::-1]) if exact[j] < exact[i]),
        key=lambda pair: shown[pair[0]] - exact[pair[0]],
    )
    assert shown[high] - exact[high] > 1e-4  # or this is no example
    border = (shown[high] + exact[high]) / 2
    model.intercept_ = model.intercept_ - border
    model._intercept_ = -model.intercept_
    two = people.iloc[[min(high, low), max(high, low)]]
    assert len(set(model.predict(two).tolist())) == 2
    narrow = lw.Space(
        {
            "a": lw.Integer(*[int(two["a"].iloc[0])] * 2),
            "b": lw.Integer(int(two["b"].min()), int(two["b"].max())),
        }
    )
    answer = lw.verify(model, narrow, NEIGHBOURS, X=two)
    assert answer.verdict == "UNKNOWN"
    assert "its own program shows a similar pair that breaks the claim" in answer.reason


# -- gaps at the scale of rounding --------------------------------------------------------------------------


def test_float32_brackets():
    model, people = boosted()

    def margins(frame):
        return model.predict(frame, output_margin=True)

    found = lw.measure(model, SPACE, NEIGHBOURS, X=people)
    shown = max(gaps.max() for gaps in shown_gaps(margins, people))
    assert found.program_upper >= shown
    assert found.program_upper > found.upper
    pair = margins(found.pair[["a", "b"]]).astype(np.float64)
    assert found.program_lower == pytest.approx(abs(pair[0] - pair[1]), rel=1e-12)
    assert found.program_lower <= shown


def test_a_gap_that_only_rounding_makes():
    """Two columns of one feature whose weights cancel: equal scores in exact arithmetic, and not for the program."""
    people = grid(SPACE)
    twice = FeatureUnion([("once", "passthrough"), ("again", "passthrough")])
    model = make_pipeline(twice, LogisticRegression()).fit(people, (people["a"] > 2).astype(int))
    model[-1].coef_ = np.array([[0.3, 0.1, 0.7, -0.1]])
    found = lw.measure(model, SPACE, NEIGHBOURS, X=people)
    shown = max(gaps.max() for gaps in shown_gaps(model.decision_function, people))
    assert (found.lower, found.upper) == (0.0, 0.0)
    assert 0 < shown <= found.program_upper < 1e-13
    answer = lw.verify(model, SPACE, NEIGHBOURS, lw.ScoreGap(0.0), X=people)
    assert answer.verdict == "FAIR"
    assert "for predict itself up to rounding of" in " ".join(str(answer).split())
    assert answer.program_upper == found.program_upper


MODELS = {
    "logistic": lambda X, y: LogisticRegression().fit(X, y),
    "scaled": lambda X, y: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y),
    "products": lambda X, y: make_pipeline(PolynomialFeatures(2), LogisticRegression(max_iter=5000)).fit(
        X, y
    ),
    "rbf": lambda X, y: SVC(gamma=0.3, C=10).fit(X, y),
    "nu": lambda X, y: NuSVC(gamma=0.1).fit(X, y),
    "cubic": lambda X, y: SVC(kernel="poly", coef0=1.0).fit(X, y),
    "regression": lambda X, y: SVR(gamma=0.2).fit(X, y),
    "forest": lambda X, y: RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y),
}


@pytest.mark.parametrize("name", MODELS)
def test_no_gap_that_the_program_shows_is_above_its_bracket(name):
    people = grid(SPACE)
    model = MODELS[name](people, ((people["a"] * 7 + people["b"] * 3) % 5 > 2).astype(int))
    scales = {}
    if name == "regression":
        scales["score"] = model.predict
    elif name == "forest":
        scales["probability"] = lambda frame: model.predict_proba(frame)[:, 1]
    else:
        scales["score"] = model.decision_function
        if hasattr(model, "predict_proba"):
            scales["probability"] = lambda frame: model.predict_proba(frame)[:, 1]
    for of, answers in scales.items():
        found = lw.measure(model, SPACE, NEIGHBOURS, of=of, X=people)
        gaps = shown_gaps(answers, people)
        assert max(given.max() for given in gaps) <= found.program_upper
        pair = found.pair[["a", "b"]]
        asked = [answers(pair), np.concatenate([answers(pair.iloc[[0]]), answers(pair.iloc[[1]])])]
        assert found.program_lower in [abs(float(one[0]) - float(one[1])) for one in asked]


def test_probabilities_in_float32():
    model, people = boosted()
    found = lw.measure(model, SPACE, NEIGHBOURS, of="probability", X=people)
    shown = max(gaps.max() for gaps in shown_gaps(lambda frame: model.predict_proba(frame)[:, 1], people))
    assert found.program_lower <= shown <= found.program_upper
    assert found.program_upper - found.upper < 1e-3


def test_several_classes():
    people = grid(SPACE)
    model = LogisticRegression(max_iter=1000).fit(people, (people["a"] + people["b"]) % 3)
    for of, answers in (("score", model.decision_function), ("probability", model.predict_proba)):
        found = lw.measure(model, SPACE, NEIGHBOURS, of=of, X=people)
        first, second = similar_places(people)
        given = answers(people)
        assert np.abs(given[first] - given[second]).max() <= found.program_upper
        pair = answers(found.pair[["a", "b"]])
        assert found.program_lower <= np.abs(pair[0] - pair[1]).max() + 1e-15


def test_margins():
    people = grid(SPACE)
    model = SVC(gamma=0.3, C=10).fit(people, ((people["a"] * 7 + people["b"] * 3) % 5 > 2).astype(int))
    found = lw.measure(model, SPACE, NEIGHBOURS, of="margin", X=people)
    first, second = similar_places(people)
    given = model.decision_function(people)
    assert np.minimum(given[first], -given[second]).max() <= found.program_upper
    pair = model.decision_function(found.pair[["a", "b"]])
    assert found.program_lower == pytest.approx(min(pair.max(), -pair.min()), rel=1e-12)


def test_radius_says_up_to_which_rounding():
    model, people = boosted()
    found = lw.measure(model, SPACE, NEIGHBOURS, X=people)
    level = lw.ScoreGap(found.upper)  # the program shows more than that, or may
    answer = lw.radius(model, SPACE, lw.Similarity(), level, feature="b", X=people)
    assert answer.proved >= 1
    assert answer.program_proved < answer.proved
    assert "for predict itself up to rounding of" in " ".join(str(answer).split())
    assert answer.to_dict()["program_proved"] == answer.program_proved
    wide = lw.radius(model, SPACE, lw.Similarity(), lw.ScoreGap(found.upper + 1.0), feature="b", X=people)
    assert wide.program_proved >= 1


def test_text_and_json_agree():
    model, people = boosted()
    found = lw.measure(model, SPACE, NEIGHBOURS, X=people)
    answer = lw.verify(model, SPACE, NEIGHBOURS, lw.ScoreGap(found.upper), X=people)
    moves = answer.to_dict()["stats"]["program_rounding"]["moves"]
    text = " ".join(str(answer).split())
    said = float(text.rpartition("up to rounding of ")[2].split()[0])
    assert moves <= said <= 2 * moves
    assert answer.to_dict()["program_upper"] == answer.program_upper
    assert answer.program_upper - found.upper == pytest.approx(moves, rel=1e-6)
    assert found.to_dict()["program_upper"] == found.program_upper
    assert f"{found.program_upper:.6g}" in str(found)
