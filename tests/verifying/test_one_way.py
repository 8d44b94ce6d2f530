"""Claims about ordered pairs (more of a feature never hurts), for every family: the verdict is that of looking at every pair, and certificates are accepted."""

import functools
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from likewise.families.scored_model import scores_of
from likewise.importers.imported_model import import_model
from likewise.problem import make_claim, prepare
from likewise.run import open_run
from likewise.spec.enclosure import as_several
from likewise.verifying.certification import problem_lines

RANGES = {"income": range(6), "age": range(4), "sex": range(2)}
EVERYBODY = pd.DataFrame(list(product(*RANGES.values())), columns=list(RANGES)).astype(float)
SPACE = lw.Space({name: lw.Integer(codes[0], codes[-1]) for name, codes in RANGES.items()})


def labels(seed: int, classes: int = 2) -> np.ndarray:
    """Of everybody: rising with income, more or less, but for some."""
    random = np.random.default_rng(seed)
    worth = EVERYBODY.income + 0.3 * EVERYBODY.age + random.normal(scale=1.5, size=len(EVERYBODY))
    return np.digitize(worth, np.quantile(worth, np.linspace(0, 1, classes + 1)[1:-1]))


MODELS = {
    "affine": LogisticRegression,
    "affine in pieces": GaussianNB,
    "kernel": lambda: SVC(gamma=0.3, C=5.0),
    "polynomial": lambda: SVC(kernel="poly", degree=2, coef0=1.0),
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": lambda: RandomForestClassifier(5, max_depth=3, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2),
    "monotone boosting": lambda: HistGradientBoostingClassifier(
        max_iter=5, min_samples_leaf=2, monotonic_cst=[1, 0, 0]
    ),
    "network": lambda: make_pipeline(
        StandardScaler(), MLPClassifier((4,), max_iter=2000, tol=1e-2, random_state=0)
    ),
    "sum": lambda: VotingClassifier(
        [("one", LogisticRegression()), ("two", DecisionTreeClassifier(max_depth=3, random_state=0))],
        voting="soft",
    ),
}


@functools.cache
def fitted(name: str, seed: int):
    return MODELS[name]().fit(EVERYBODY, labels(seed))


@functools.cache
def exact_scores(model) -> tuple[list[Fraction], list[Fraction], bool]:
    """The score of everybody as the model was read, and what decides: more of it is the upper class; irrational ones to 200 bits. Then whether zero belongs to that."""
    imported = import_model(model, SPACE, rows=EVERYBODY.to_numpy(), like=EVERYBODY)
    score = scores_of(imported.model, len(SPACE))
    coded = imported.recoding.coded(EVERYBODY.to_numpy())
    ends = [as_several(score.enclose([Fraction(c) for c in row], 200)) for row in coded.tolist()]
    found = [[(end.lo + end.hi) / 2 for end in several] for several in ends]
    if len(found[0]) == 2:  # a score a class
        return (
            [one[1] for one in found],
            [one[1] - one[0] for one in found],
            imported.model.head.zero_is_upper,
        )
    return [one for (one,) in found], [one for (one,) in found], imported.model.head.zero_is_upper


def breaks(of: str, first: Fraction, second: Fraction, at_most: Fraction, zero_is_upper: bool) -> bool:
    """Whether the second, who must not be worse off, is."""
    if of == "decision":
        upper = [s >= 0 if zero_is_upper else s > 0 for s in (first, second)]
        return upper == [True, False]
    if of == "probability":
        first, second = (1 / (1 + exp(-float(s))) for s in (first, second))
    return first - second > at_most


def truth(model, feature: str, direction: int, of: str, at_most=0, also=()) -> bool:
    """Whether no ordered pair breaks the claim, by looking at all of them."""
    scores, leads, zero_is_upper = exact_scores(model)
    scores = leads if of == "decision" else scores
    people = EVERYBODY.to_dict("records")
    for i, j in product(range(len(people)), repeat=2):
        x, other = people[i], people[j]
        if all(x[k] == other[k] for k in x if k != feature and k not in also):
            step = (other[feature] - x[feature]) * direction
            if step >= 0 and i != j and breaks(of, scores[i], scores[j], Fraction(at_most), zero_is_upper):
                return False
    return True


@pytest.mark.some_days
@pytest.mark.draw(6)
@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("of", ["score", "decision"])
def test_the_verdict_is_that_of_looking_at_every_pair(name, of, tmp_path):
    model = fitted(name, 0)
    seen = set()
    for feature, direction in product(("income", "age"), (1, -1)):
        result = lw.verify(model, SPACE, lw.Monotone(feature, direction, of=of), X=EVERYBODY, budget=60)
        assert result.verdict == ("FAIR" if truth(model, feature, direction, of) else "BIASED"), (
            feature,
            direction,
        )
        result.certificate.save(tmp_path / "it.likewise")
        assert lw.check(tmp_path / "it.likewise").accepted
        if result.pair is not None:
            rows = result.pair.to_dict("records")
            assert {k for k in rows[0] if rows[0][k] != rows[1][k]} == {feature}
        seen.add(result.verdict)
    assert "BIASED" in seen


def test_monotone_boosting_is_proved_at_the_root():
    result = lw.verify(fitted("monotone boosting", 0), SPACE, lw.Monotone("income"), budget=60)
    assert result.verdict == "FAIR"
    assert result.stats["cells"] == 1


@pytest.mark.draw(2)
@pytest.mark.parametrize("at_most", [0.02, 0.2])
@pytest.mark.parametrize("name", ["affine", "boosting", "network"])
def test_falls_of_probabilities(name, at_most):
    model = fitted(name, 1)
    for feature, direction in product(("income", "age"), (1, -1)):
        claim = lw.Monotone(feature, direction, of="probability", at_most=at_most)
        expected = "FAIR" if truth(model, feature, direction, "probability", at_most) else "BIASED"
        assert lw.verify(model, SPACE, claim, budget=60).verdict == expected


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["affine", "kernel", "boosting"])
def test_what_else_may_differ(name):
    """Whoever has at least as much income is compared, also with somebody of the other sex who has the same."""
    model = fitted(name, 0)
    for direction in (1, -1):
        claim, beside = lw.Monotone("income", direction, of="decision"), lw.Similarity(free=["sex"])
        expected = "FAIR" if truth(model, "income", direction, "decision", also=("sex",)) else "BIASED"
        assert lw.verify(model, SPACE, beside, claim, budget=60).verdict == expected


def test_the_class_of_interest_turns_the_claim_round():
    model = fitted("affine", 0)
    for of in ("score", "decision", "probability"):
        up, down = (
            lw.verify(model, SPACE, lw.Monotone("income", way, of=of, class_of_interest=0)).verdict
            for way in (1, -1)
        )
        assert (up, down) == ("BIASED", "FAIR")


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize(
    "model", [LogisticRegression(), RandomForestClassifier(3, max_depth=3, random_state=0), SVC()]
)
def test_of_several_classes_one_is_named(model):
    model.fit(EVERYBODY, labels(0, classes=3))
    with pytest.raises(lw.SpecError, match="who is better off is not said"):
        lw.verify(model, SPACE, lw.Monotone("income", of="decision"))
    got = model.predict(EVERYBODY)
    for direction, place in product((1, -1), range(3)):
        claim = lw.Monotone("income", direction, of="decision", class_of_interest=place)
        result = lw.verify(model, SPACE, claim, X=EVERYBODY, budget=60)
        steps = [
            (i, j)
            for i, j in product(range(len(got)), repeat=2)
            if (EVERYBODY.income[j] - EVERYBODY.income[i]) * direction > 0
            and (EVERYBODY.age[i], EVERYBODY.sex[i]) == (EVERYBODY.age[j], EVERYBODY.sex[j])
        ]
        broken = any(got[i] == place != got[j] for i, j in steps)
        assert result.verdict == ("BIASED" if broken else "FAIR"), (direction, place)


def test_on_continuous_numbers():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"income": random.uniform(0, 9, 200), "age": random.uniform(18, 60, 200)})
    y = X.income - 0.05 * X.age + random.normal(size=200)
    space = lw.Space({"income": lw.Continuous(0, 9), "age": lw.Continuous(18, 60)})
    linear = LinearRegression().fit(X, y)
    assert lw.verify(linear, space, lw.Monotone("income")).verdict == "FAIR"
    assert lw.verify(linear, space, lw.Monotone("age")).verdict == "BIASED"
    assert lw.verify(linear, space, lw.Monotone("age", -1)).verdict == "FAIR"
    boosted = GradientBoostingRegressor(n_estimators=8, max_depth=3, random_state=0).fit(X, y)
    fall = lw.measure(boosted, space, lw.Monotone("age"), X=X, budget=60, tolerance=0)
    assert 0 < fall.lower <= fall.upper < 1.0001 * fall.lower
    for at_most, verdict in ((fall.upper, "FAIR"), (0.99 * fall.lower, "BIASED")):
        claim = lw.Monotone("age", at_most=at_most)
        assert lw.verify(boosted, space, claim, X=X, budget=60).verdict == verdict


NAMED = [
    (lw.Influence("income", at_most=2.5), lw.Similarity(free=["income"]), lw.ScoreGap(2.5)),
    (lw.Rounding("age", 1), lw.Similarity(within={"age": 1}), lw.SameDecision()),
    (
        lw.Monotone("income", -1, of="probability", at_most=0.1),
        lw.Similarity(free=["income"], order={"income": -1}),
        lw.ProbabilityGap(0.1),
    ),
]


@pytest.mark.parametrize(("claim", "similar", "asked"), NAMED)
def test_two_ways_of_writing_are_one_claim(claim, similar, asked):
    model = fitted("affine", 0)
    with open_run() as run:
        lines = [
            problem_lines(prepare(make_claim(model, SPACE, *written), run))
            for written in ((claim,), (similar, asked))
        ]
    assert lines[0] == lines[1]
    assert lw.verify(model, SPACE, claim).verdict == lw.verify(model, SPACE, similar, asked).verdict


def test_two_named_levels_are_allowed_pairs():
    space = lw.Space({"job": lw.Categorical(["a", "b", "c"]), "age": lw.Integer(0, 3)})
    claim = lw.SameTreatment("job", "c", "a")
    assert claim.similarity() == lw.Similarity(pairs={"job": [("a", "c")]})
    assert claim.similarity(lw.Similarity(free=["age", "job"])) == lw.Similarity(
        free=["age"], pairs={"job": [("a", "c")]}
    )
    assert claim.similarity().resolve(space)[0].allowed == ((0, 2),)


def test_what_has_no_direction_is_refused():
    model = fitted("affine", 0)
    space = SPACE.replace({"sex": lw.Categorical([0, 1])})
    with pytest.raises(lw.SpecError, match="its levels have no order"):
        lw.verify(model, space, lw.Monotone("sex"))
    with pytest.raises(lw.SpecError, match="neither more nor less"):
        lw.Similarity(order={"age": "up"}).resolve(lw.Space({"age": lw.Integer(0, 3, missing=True)}))
    claim = lw.Monotone("income")
    for ask in (lw.regions, lw.repair):
        with pytest.raises(lw.SpecError, match="in one direction"):
            ask(model, SPACE, claim, X=EVERYBODY)
    with pytest.raises(lw.SpecError, match="says itself what they must share"):
        lw.verify(model, SPACE, claim, lw.SameDecision())


def test_constraints_and_computed_columns_go_with_an_order():
    """Everybody is kept, though nobody is paired with themselves."""
    X = pd.DataFrame({"debts": [0.0, 1, 2, 3, 0, 1, 2] * 3, "city": [0, 0, 0, 0, 1, 1, 1] * 3})
    space = lw.Space(
        {"debts": lw.Integer(0, 3), "city": lw.Integer(0, 1)}, constraints=["debts + 3 * city <= 5"]
    )
    bins = KBinsDiscretizer(2, encode="ordinal", strategy="uniform")
    columns = make_column_transformer((bins, ["city"]), remainder="passthrough")
    model = make_pipeline(columns, LinearRegression()).fit(X, X.debts - X.city)
    for way, verdict in (("up", "FAIR"), ("down", "BIASED")):
        result = lw.verify(model, space, lw.Similarity(order={"debts": way}), lw.ScoreGap(1e-6), X=X)
        assert result.verdict == verdict
