"""near beside looking at everybody: what is proved has no pair, what is refuted has one at that distance."""

import io
import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from likewise.errors import SpecError

NAMES = ["a", "b", "s"]
SPACE = lw.Space({"a": lw.Integer(0, 8), "b": lw.Integer(0, 8), "s": lw.Categorical([0, 1])})
EVERYBODY = pd.DataFrame(list(itertools.product(range(9), range(9), (0, 1))), columns=NAMES)
SIMILAR = {
    "free": lw.Similarity(free=["s"]),
    "within": lw.Similarity(within={"a": 2}),
    "both": lw.Similarity(free=["s"], within={"b": 1}),
}
MODELS = {
    "linear": LogisticRegression(),
    "rbf": SVC(gamma=0.05),
    "polynomial": SVC(kernel="poly", degree=2, coef0=1),
    "forest": RandomForestClassifier(6, max_depth=4, random_state=1),
    "network": MLPClassifier((4,), solver="lbfgs", max_iter=2000, random_state=0),
    "sum": VotingClassifier(
        [("one", LogisticRegression()), ("two", DecisionTreeClassifier(max_depth=3, random_state=0))],
        voting="soft",
    ),
}


def fitted(name):
    random = np.random.default_rng(4)
    rows = EVERYBODY.sample(100, random_state=7)
    labels = (rows["a"] + rows["b"] + 2 * rows["s"] + random.normal(0, 1, len(rows)) > 9).astype(int)
    return MODELS[name].fit(rows, labels)


def some_rows():
    """People whose decision is clear, so that pairs that break the claim are some way off."""
    return pd.DataFrame({"a": [0, 1, 0, 8, 8, 7], "b": [0, 0, 2, 8, 7, 8], "s": [0, 1, 0, 1, 0, 0]})


def brute(model, similar, rows):
    """The smallest distance from the rows of an individual who is in a pair that breaks the claim; nothing of the package."""
    decided = dict(
        zip(map(tuple, EVERYBODY.to_numpy().tolist()), model.predict(EVERYBODY).tolist(), strict=True)
    )
    counted = [k for k, name in enumerate(NAMES) if name not in similar.free]
    spans = [8, 8, None]
    best = None
    for x, other in itertools.product(decided, repeat=2):
        alike = all(
            name in similar.free or abs(x[k] - other[k]) <= similar.within.get(name, 0)
            for k, name in enumerate(NAMES)
        )
        if not alike or decided[x] == decided[other]:
            continue
        for row in set(map(tuple, rows.to_numpy().tolist())):
            parts = [
                Fraction(x[k] != row[k]) if spans[k] is None else Fraction(abs(x[k] - row[k]), spans[k])
                for k in counted
            ]
            best = max(parts) if best is None else min(best, max(parts))
    return best


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("linear", "within"),
        ("linear", "free"),
        ("rbf", "free"),
        ("polynomial", "both"),
        ("forest", "both"),
        ("network", "both"),
        ("sum", "free"),
    ],
)
def test_the_bracket_holds_what_looking_at_everybody_finds(name, kind):
    model, similar = fitted(name), SIMILAR[kind]
    rows = some_rows()
    found, true = lw.near(model, SPACE, similar, X=rows, budget=120), brute(model, similar, rows)
    if true is None:
        assert found.proved == 1
        return
    assert found.refuted is not None
    assert Fraction(found.refuted) >= true
    assert found.proved is None or Fraction(found.proved) < true
    asked = SPACE.near(rows, found.refuted)
    free = [k for k, feature in enumerate(NAMES) if feature in similar.free]
    assert any(asked.leaving_out(free).contains(found.pair) if free else asked.contains(found.pair))
    for certificate in found.certificates:
        assert lw.check(io.BytesIO(certificate.content)).accepted


@pytest.mark.parametrize("name", ["linear", "forest"])
def test_a_distance_below_the_nearest_pair_is_fair_and_its_own_is_biased(name):
    model, similar = fitted(name), SIMILAR["free"]
    rows = some_rows()
    true = brute(model, similar, rows)
    assert true is not None
    assert true > Fraction(1, 6)
    below = lw.near(model, SPACE.near(rows, float(true) - 0.01), similar, budget=120)
    assert below.verdict == "FAIR"
    assert below.certificates
    assert all(lw.check(io.BytesIO(certificate.content)).accepted for certificate in below.certificates)
    at = lw.near(model, SPACE, similar, X=rows, distance=float(true) + 1e-9, budget=120)
    assert at.verdict == "BIASED"
    assert "BIASED within" in str(at)
    assert at.to_dict()["row"] is not None


def test_a_fair_model_is_proved_for_everybody():
    model = LogisticRegression().fit(EVERYBODY[["a", "b", "s"]], EVERYBODY["a"] > 5)
    model.coef_[0, 2] = 0.0
    found = lw.near(model, SPACE, SIMILAR["free"], X=EVERYBODY[:5])
    assert (found.proved, found.refuted, found.reason) == (1.0, None, None)
    assert "for everybody" in str(found)


def test_a_row_that_is_itself_treated_differently():
    model = fitted("linear")
    found = lw.near(model, SPACE, SIMILAR["free"], X=EVERYBODY)
    assert found.refuted == 0
    assert found.proved is None
    assert lw.near(model, SPACE, SIMILAR["free"], X=EVERYBODY, distance=0).verdict == "BIASED"


def test_nothing_is_proved_about_a_black_box():
    model = KNeighborsClassifier(1).fit(EVERYBODY, EVERYBODY["a"] > 6)
    found = lw.near(model, SPACE, SIMILAR["free"], X=EVERYBODY[:3], distance=0.1, budget=2)
    assert found.verdict != "FAIR"
    assert found.certificates == ()


def test_pairs_that_are_not_said_feature_by_feature_are_refused():
    model = fitted("linear")
    together = lw.Similarity(metric=lw.Metric("l1", weights={"a": 1, "b": 1}), radius=2)
    with pytest.raises(SpecError, match="within a distance"):
        lw.near(model, SPACE, together, X=EVERYBODY)
    with pytest.raises(SpecError, match="in one direction"):
        lw.near(model, SPACE, lw.Similarity(order={"a": "up"}), X=EVERYBODY)


def test_bad_input():
    model = fitted("linear")
    with pytest.raises(SpecError, match="needs the data"):
        lw.near(model, SPACE, SIMILAR["free"])
    with pytest.raises(SpecError, match="from 0 to 1"):
        lw.near(model, SPACE, SIMILAR["free"], X=EVERYBODY, distance=2)
    with pytest.raises(SpecError, match=r"those of space\.near"):
        lw.near(model, SPACE.near(EVERYBODY, 0.1), SIMILAR["free"], distance=0.1)


def test_a_level_that_constraints_take_away_brings_nobody_nearer():
    """With b taken away from everybody of a kind, a and c are neighbours in the part of the space that is looked at, but two steps apart in the claim."""
    space = lw.Space(
        {"kind": lw.Categorical([0, 1]), "grade": lw.Ordinal([0, 1, 2, 3])},
        constraints=["if kind == 0 then grade != 1"],
    )
    people = [(kind, grade) for kind in (0, 1) for grade in range(4) if (kind, grade) != (0, 1)]
    frame = pd.DataFrame(people, columns=["kind", "grade"])
    model = DecisionTreeClassifier(random_state=0).fit(frame, frame["grade"] > 1)
    similar = lw.Similarity(within={"grade": 1})
    assert lw.verify(model, space, similar).verdict == "BIASED"  # of the other kind
    rows = pd.DataFrame({"kind": [0], "grade": [0]})
    for distance in (0.0, 0.4):  # at 0.4 b would be near, and there is none; c is further away
        assert lw.near(model, space, similar, X=rows, distance=distance).verdict != "BIASED"
    assert lw.near(model, space, similar, X=rows).refuted == 1
