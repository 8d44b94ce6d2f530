"""Counterfactual pairs (what depends on a feature changes along with it), for every family: verdicts and brackets are those of looking at every pair, and certificates are accepted."""

import functools
import math
from fractions import Fraction
from itertools import product

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
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.tiers import some

import likewise as lw
from likewise.errors import SpecError
from likewise.families.scored_model import scores_of
from likewise.importers.imported_model import import_model
from likewise.problem import make_claim, prepare
from likewise.run import open_run
from likewise.search.frontiers import make_frontiers
from likewise.search.parted_search import TravellingTask, branches_of
from likewise.spec.enclosure import as_several
from likewise.spec.pairs import pair_space
from likewise.verifying.posed_problem import pose

RANGES = {"income": range(6), "age": range(4), "sex": range(3)}
EVERYBODY = pd.DataFrame(list(product(*RANGES.values())), columns=list(RANGES)).astype(float)
SPACE = lw.Space(
    {"income": lw.Integer(0, 5), "age": lw.Integer(0, 3), "sex": lw.Categorical([0.0, 1.0, 2.0])}
)
PEOPLE = [tuple(map(int, row)) for row in EVERYBODY.to_numpy()]

MODELS = {
    "affine": LogisticRegression,
    "affine in pieces": GaussianNB,
    "kernel": lambda: SVC(gamma=0.3, C=5.0),
    "polynomial": lambda: SVC(kernel="poly", degree=2, coef0=1.0),
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": lambda: RandomForestClassifier(5, max_depth=3, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2),
    "network": lambda: make_pipeline(
        StandardScaler(), MLPClassifier((4,), max_iter=2000, tol=1e-2, random_state=0)
    ),
    "sum": lambda: VotingClassifier(
        [("one", LogisticRegression()), ("two", DecisionTreeClassifier(max_depth=3, random_state=0))],
        voting="soft",
    ),
}

SHIFT = lw.Along("sex", {(0.0, 1.0): -1, (1.0, 2.0): (1, 2)})
CLAIMS = {
    "a shift": lw.Similarity(free=["sex"], along={"income": SHIFT}),
    "a shift with room": lw.Similarity(free=["sex"], within={"income": 1}, along={"income": SHIFT}),
    "a shift and a tolerance": lw.Similarity(free=["sex"], within={"age": 1}, along={"income": SHIFT}),
    "two shifts": lw.Similarity(
        pairs={"sex": [(0.0, 1.0)]}, along={"income": SHIFT, "age": lw.Along("sex", {(0.0, 1.0): 1})}
    ),
    "a rate": lw.Similarity(free=["sex"], within={"age": 1}, along={"income": lw.Along("age", rate=2)}),
}


def shifted(claim: str, x: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two are similar, written down by hand."""
    (i, a, s), (i2, a2, s2) = x, other
    band = {(0, 1): (-1, -1), (1, 0): (1, 1), (1, 2): (1, 2), (2, 1): (-2, -1)}.get((s, s2), (0, 0))
    low, high = band
    if claim == "a shift":
        return a == a2 and low <= i2 - i <= high
    if claim == "a shift with room":
        return a == a2 and low - 1 <= i2 - i <= high + 1
    if claim == "a shift and a tolerance":
        return abs(a - a2) <= 1 and low <= i2 - i <= high
    if claim == "two shifts":
        return {s, s2} != {2, 0} and {s, s2} != {1, 2} and low <= i2 - i <= high and a2 - a == s2 - s
    return abs(a - a2) <= 1 and i2 - i == 2 * (a2 - a)


PAIRS = {
    name: [(i, j) for i, j in product(range(len(PEOPLE)), repeat=2) if shifted(name, PEOPLE[i], PEOPLE[j])]
    for name in CLAIMS
}


def labels(seed: int, classes: int = 2) -> np.ndarray:
    random = np.random.default_rng(seed)
    worth = EVERYBODY.income + 0.3 * EVERYBODY.age + random.normal(scale=0.8, size=len(EVERYBODY))
    worth = worth + 0.8 * (EVERYBODY.sex == 1) - 0.7 * (EVERYBODY.sex == 2)
    return np.digitize(worth, np.quantile(worth, np.linspace(0, 1, classes + 1)[1:-1]))


def exact_scores(model) -> tuple[list[list[Fraction]], bool]:
    """All scores of everybody as the model was read, irrational ones to 200 bits; and whether zero belongs to the upper label."""
    imported = import_model(model, SPACE, rows=EVERYBODY.to_numpy(), like=EVERYBODY)
    score = scores_of(imported.model, len(SPACE))
    codes = imported.recoding.coded(SPACE.encode(EVERYBODY))
    ends = [as_several(score.enclose([Fraction(c) for c in row], 200)) for row in codes.tolist()]
    return [[(end.lo + end.hi) / 2 for end in several] for several in ends], imported.model.head.zero_is_upper


def decision(scores: list[Fraction], zero_is_upper: bool) -> int:
    if len(scores) > 1:
        return scores.index(max(scores))
    return int(scores[0] >= 0 if zero_is_upper else scores[0] > 0)


@functools.cache
def known(name: str, seed: int, classes: int = 2):
    """A fitted model, the exact scores of everybody, and how everybody is decided."""
    model = MODELS[name]().fit(EVERYBODY, labels(seed, classes))
    scores, zero_is_upper = exact_scores(model)
    return model, scores, [decision(one, zero_is_upper) for one in scores]


def largest_gap(scores, claim: str) -> Fraction:
    return max(a - b for i, j in PAIRS[claim] for a, b in zip(scores[i], scores[j], strict=True))


def is_pair(claim: str, frame) -> bool:
    one, two = (tuple(map(int, row)) for row in frame[list(RANGES)].to_numpy())
    return shifted(claim, one, two)


@pytest.mark.draw(4)
@pytest.mark.parametrize("name", list(MODELS))
def test_decisions_are_those_of_looking_at_every_pair(name, tmp_path):
    model, _, decided = known(name, 0)
    for claim in some(list(CLAIMS), 2, name):
        result = lw.verify(model, SPACE, CLAIMS[claim], X=EVERYBODY, budget=60)
        expected = any(decided[i] != decided[j] for i, j in PAIRS[claim])
        assert result.verdict == ("BIASED" if expected else "FAIR"), (claim, result.reason)
        result.certificate.save(tmp_path / "it.likewise")
        assert lw.check(tmp_path / "it.likewise").accepted
        if expected:
            assert is_pair(claim, result.pair)
            assert len(set(model.predict(result.pair[list(RANGES)]))) == 2


@pytest.mark.draw(4)
@pytest.mark.parametrize("name", list(MODELS))
def test_gaps_are_those_of_looking_at_every_pair(name, tmp_path):
    model, scores, _ = known(name, 1)
    claims = list(CLAIMS)[:: 1 if name in ("affine", "tree", "boosting") else 2]
    for claim in some(claims, 1, f"gaps of {name}"):
        truth = largest_gap(scores, claim)
        found = lw.measure(model, SPACE, CLAIMS[claim], X=EVERYBODY, budget=60, certify=True)
        assert found.reason is None, claim
        assert found.lower <= truth <= found.upper <= truth + Fraction(1, 10**5), claim
        assert is_pair(claim, found.pair)
        found.certificate.save(tmp_path / "it.likewise")
        assert lw.check(tmp_path / "it.likewise").accepted
        room = lw.verify(model, SPACE, CLAIMS[claim], lw.ScoreGap(found.upper), budget=60)
        assert room.verdict == "FAIR", (claim, room.reason)
        if truth > 1e-3:
            broken = lw.verify(model, SPACE, CLAIMS[claim], lw.ScoreGap(float(truth) * 0.9), budget=60)
            assert broken.verdict == "BIASED", claim


@pytest.mark.draw(2)
@pytest.mark.parametrize("name", ["affine", "tree", "boosting"])
def test_margins_and_probabilities(name, tmp_path):
    model, scores, _ = known(name, 2)
    for claim, of in some(list(product(("a shift", "a rate"), ("margin", "probability"))), 2, name):
        found = lw.measure(model, SPACE, CLAIMS[claim], of=of, X=EVERYBODY, budget=60, certify=True)
        if found.upper < 1 or of == "margin":  # that nothing exceeds 1 needs no certificate
            found.certificate.save(tmp_path / "it.likewise")
            assert lw.check(tmp_path / "it.likewise").accepted
        if of == "margin":
            of_pair = [min(x, -y) for i, j in PAIRS[claim] for x, y in [_leads(scores[i], scores[j])]]
            truth = float(max(of_pair))
        else:
            chances = [_chances(one) for one in scores]
            truth = max(abs(chances[i] - chances[j]) for i, j in PAIRS[claim])
        assert found.lower - 1e-9 <= truth <= found.upper + 1e-9, (claim, of)


def _leads(first: list[Fraction], second: list[Fraction]) -> tuple[Fraction, Fraction]:
    """What decides, of two who are decided one way and the other."""
    one, two = (s[0] if len(s) == 1 else s[1] - s[0] for s in (first, second))
    return one, two


def _chances(scores: list[Fraction]) -> float:
    return float(scores[1]) if len(scores) > 1 else 1 / (1 + math.exp(-float(scores[0])))


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["affine", "tree", "boosting"])
def test_several_classes(name):
    model, scores, decided = known(name, 3, 3)
    for claim in some(list(CLAIMS), 1, f"classes of {name}"):
        expected = any(decided[i] != decided[j] for i, j in PAIRS[claim])
        result = lw.verify(model, SPACE, CLAIMS[claim], X=EVERYBODY, budget=60)
        assert result.verdict == ("BIASED" if expected else "FAIR"), (claim, result.reason)
        assert result.certificate is not None
        gap = largest_gap(scores, claim)
        room = lw.verify(model, SPACE, CLAIMS[claim], lw.ScoreGap(float(gap) + 1e-6), budget=60)
        assert room.verdict == "FAIR", (claim, room.reason)


@pytest.mark.parametrize("name", ["linear", "trees"])
def test_regressors_with_a_continuous_feature(name):
    """The largest gap of a linear model is known; that of trees is found by looking at all numbers beside thresholds."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"wage": random.uniform(0, 10, 300).round(2), "sex": random.integers(0, 2, 300)})
    y = X.wage * 2 + 3 * X.sex + random.normal(size=300)
    model = (
        LinearRegression() if name == "linear" else GradientBoostingRegressor(n_estimators=5, max_depth=2)
    ).fit(X, y)
    space = lw.Space({"wage": lw.Continuous(0, 10), "sex": lw.Categorical([0, 1])})
    similar = lw.Similarity(free=["sex"], along={"wage": lw.Along("sex", {(0, 1): -1.5})})
    found = lw.measure(model, space, similar, X=X, budget=60, certify=True)
    assert found.certificate is not None
    assert found.upper - found.lower <= 2e-6
    grid = np.unique(np.concatenate([np.linspace(1.5, 10, 2000), X.wage[X.wage >= 1.5]]))
    gaps = [
        model.predict(pd.DataFrame({"wage": grid, "sex": 0}))
        - model.predict(pd.DataFrame({"wage": grid - 1.5, "sex": 1}))
    ]
    assert np.abs(gaps).max() <= found.upper + 1e-9
    assert np.abs(gaps).max() >= found.lower - (1e-9 if name == "linear" else 0.5)
    one, two = found.pair.to_dict("records")
    assert abs(one["wage"] - two["wage"]) == 1.5
    assert one["sex"] != two["sex"]


def test_nobody_leaves_the_range():
    """A shift by the whole range has one pair a level: from the one end to the other."""
    model = LogisticRegression().fit(EVERYBODY, labels(0))
    similar = lw.Similarity(pairs={"sex": [(0.0, 1.0)]}, along={"income": lw.Along("sex", {(0.0, 1.0): -5})})
    found = lw.measure(model, SPACE, similar, budget=60)
    assert sorted(found.pair["income"]) == [0, 5]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"along": {"income": SHIFT}}, "which is the same"),
        ({"free": ["sex", "income"], "along": {"income": SHIFT}}, "is free"),
        ({"free": ["sex"], "along": {"income": SHIFT}, "order": {"age": "up"}}, "order or a metric"),
        ({"free": ["sex"], "along": {"income": lw.Along("sex", {(0.0, 1.0): -6})}}, "out of its range"),
        ({"free": ["sex"], "along": {"income": lw.Along("sex", {(0.0, 1.0): 0.5})}}, "cannot change by"),
        ({"free": ["sex"], "along": {"income": lw.Along("sex", {(0.0, 9.0): 1})}}, "unknown level"),
        ({"free": ["sex"], "along": {"income": lw.Along("sex", rate=1)}}, "within a tolerance"),
        ({"within": {"age": 1}, "along": {"income": lw.Along("age", {(0, 1): 1})}}, "has no levels"),
        ({"free": ["sex"], "along": {"income": lw.Along("sex", {(0.0, 1.0): 0})}}, "never changes"),
    ],
)
def test_what_is_refused(arguments, words):
    with pytest.raises(SpecError) as refused:
        lw.Similarity(**arguments).resolve(SPACE)
    assert words in f"{refused.value}", refused.value


def test_shifts_of_what_the_model_has_a_table_of():
    """Where a shift leads out of the range there is nobody, and no entry of the table."""
    rows = pd.DataFrame([(v, s) for v in range(6) for s in range(2)] * 3, columns=["pay", "sex"])
    columns = make_column_transformer((SplineTransformer(n_knots=3), ["pay"]), remainder="passthrough")
    model = make_pipeline(columns, LinearRegression()).fit(rows, (rows.pay - 2) ** 2 + rows.sex)
    space = lw.Space({"pay": lw.Integer(0, 5), "sex": lw.Categorical([0, 1])})
    similar = lw.Similarity(free=["sex"], along={"pay": lw.Along("sex", {(0, 1): -2})})
    scores = dict(zip(rows.itertuples(index=False, name=None), model.predict(rows), strict=True))
    largest = max(abs(scores[pay, 0] - scores[pay - 2, 1]) for pay in range(2, 6))
    for factor, verdict in ((0.99, "BIASED"), (1.01, "FAIR")):
        assert lw.verify(model, space, similar, lw.ScoreGap(factor * largest), X=rows).verdict == verdict


def test_shifts_that_contradict_each_other_are_refused():
    assert lw.Along("sex", {("m", "f"): -3, ("f", "m"): 3}) == lw.Along("sex", {("m", "f"): -3})
    with pytest.raises(SpecError, match="contradict"):
        lw.Along("sex", {("m", "f"): -3, ("f", "m"): -3})


def test_words_and_round_trips():
    similar = CLAIMS["a shift with room"]
    said = "differ only in sex, and along with sex in income (-1 from 0 to 1, 1 to 2 from 1 to 2, give or take 1)"
    assert similar.describe(SPACE) == said
    assert lw.Similarity.from_dict(similar.to_dict()) == similar
    assert repr(similar).endswith("along={'income': Along('sex', {(0.0, 1.0): -1, (1.0, 2.0): (1, 2)})})")
    assert hash(similar) == hash(similar.replace())


def test_workers_search_the_part_that_they_are_sent():
    """Or what they close would be closed by the relations of another part."""
    model = MODELS["tree"]().fit(EVERYBODY, labels(0))
    with open_run(budget=60, random_state=0) as run:
        posed = pose(prepare(make_claim(model, SPACE, CLAIMS["a shift"], lw.ScoreGap(0.5)), run), run)
        frontiers = make_frontiers(posed.task)
        arrived = TravellingTask.of(frontiers.all[0].task, branches_of(frontiers)).arrive()
        for n, frontier in enumerate(frontiers.all):
            task = arrived.ask(frontier.task.question, None, run.budget, n)
            assert task.pairs.relations == frontier.pairs.relations
            assert task.oracles.pairs is task.pairs
    assert len({frontier.pairs.relations for frontier in frontiers.all}) == 7


@pytest.mark.draw(4)
@pytest.mark.parametrize("room", [0.5, 1, 1.5, "50%"])
@pytest.mark.parametrize(
    ("along", "leader"),
    [
        (lw.Along("age", rate="1/2"), {"within": {"age": 2}}),
        (lw.Along("sex", {(0.0, 1.0): "1/2", (1.0, 2.0): ("-3/2", "1/2")}), {"free": ["sex"]}),
    ],
    ids=["rate", "levels"],
)
def test_room_around_a_shift_that_is_not_whole(along, leader, room):
    """1/2 give or take 1.5 is from -1 to 2, of whole numbers too: not from 0 to 1, which the whole part of 1.5 leaves."""
    similar = lw.Similarity(
        free=leader.get("free", []),
        within={**leader.get("within", {}), "income": room},
        along={"income": along},
    )
    reach = Fraction(5, 2) if room == "50%" else Fraction(room)
    half = Fraction(1, 2)
    shifts = {
        (0, 1): (half, half),
        (1, 0): (-half, -half),
        (1, 2): (-3 * half, half),
        (2, 1): (-half, 3 * half),
    }

    def alike(x, other):
        (i, a, s), (i2, a2, s2) = x, other
        low = high = half * (a2 - a)
        if along.rate is None:
            low, high = shifts.get((s, s2), (0, 0))
        near = abs(a2 - a) <= 2 and s == s2 if along.rate is not None else a == a2
        return near and low - reach <= i2 - i <= high + reach

    pairs = pair_space(SPACE, similar)
    for x, other in product(some(PEOPLE, 6, f"{room} {leader}"), PEOPLE):
        assert pairs.valid([*map(Fraction, x)], [*map(Fraction, other)]) == alike(x, other)
    model = LinearRegression().fit(EVERYBODY, EVERYBODY["income"])
    model.coef_, model.intercept_ = np.array([1.0, 0.0, 0.0]), 0.0
    widest = max(abs(other[0] - x[0]) for x, other in product(PEOPLE, repeat=2) if alike(x, other))
    assert lw.verify(model, SPACE, similar, lw.ScoreGap(widest)).verdict == "FAIR"
    assert lw.verify(model, SPACE, similar, lw.ScoreGap(widest - 0.5)).verdict == "BIASED"


def test_a_missing_level_has_two_spellings_and_one_shift():
    space = lw.Space({"sex": lw.Categorical(["f", "m", None]), "income": lw.Integer(0, 9)})
    shifts = {("f", None): -1, ("f", math.nan): -5}
    with pytest.raises(SpecError, match="contradict each other"):
        lw.Similarity(free=["sex"], along={"income": lw.Along("sex", shifts)}).resolve(space)
    metric = lw.Metric("l1", weights={"income": 1}, costs={"sex": {("f", None): 1, (math.nan, "f"): 5}})
    with pytest.raises(SpecError, match="two costs"):
        lw.Similarity(metric=metric, radius=3).resolve(space)


@pytest.mark.parametrize("slopes", [(1, 1), (0.5, -1), (-2, 1)])
@pytest.mark.parametrize("bias", [0, -6.5, 20])
def test_parts_that_constraints_leave_nobody_in(slopes, bias):
    """Of the last level nobody has so little that the constraint is satisfied: the parts from it and to it have no pairs."""
    levels = (3, 2, 0, 5)
    space = lw.Space(
        {"sex": lw.Categorical(levels), "income": lw.Integer(5, 8)},
        constraints=["2 * income + 3 * sex <= 21"],
    )
    frame = pd.DataFrame(list(product(levels, range(5, 9))), columns=["sex", "income"])
    model = LogisticRegression().fit(frame, frame["income"] > 6)
    model.coef_, model.intercept_ = np.array([slopes], dtype=float), np.array([float(bias)])
    allowed = {frozenset(pair) for pair in [(5, 0), (0, 2), (5, 2), (2, 3), (0, 3)]}
    along = {"income": lw.Along("sex", {(3, 0): -2, (2, 3): 2, (0, 2): ("-3/2", 2), (5, 3): -2})}
    similar = lw.Similarity(pairs={"sex": [tuple(pair) for pair in allowed]}, along=along)
    bands = {(3, 0): (-2, -2), (2, 3): (2, 2), (0, 2): (-1.5, 2), (5, 3): (-2, -2)}
    bands |= {(b, a): (-high, -low) for (a, b), (low, high) in bands.items()}
    people = [(s, i) for s, i in product(levels, range(5, 9)) if 2 * i + 3 * s <= 21]
    upper = {(s, i): slopes[0] * s + slopes[1] * i + bias > 0 for s, i in people}
    broken = any(
        upper[x] != upper[other]
        for x, other in product(people, repeat=2)
        if x[0] == other[0] or frozenset((x[0], other[0])) in allowed
        for low, high in [bands.get((x[0], other[0]), (0, 0))]
        if low <= other[1] - x[1] <= high
    )
    assert lw.verify(model, space, similar).verdict == ("BIASED" if broken else "FAIR")


@pytest.mark.parametrize("of", ["score", "probability"])
def test_a_part_that_constraints_leave_nobody_in(of):
    """Incomes are at most 2 there, and the shift is 3: only pairs of other levels are left."""
    model = MODELS["affine"]().fit(EVERYBODY, labels(3, 3))
    similar = lw.Similarity(free=["sex"], along={"income": lw.Along("sex", {(0.0, 1.0): 3})})
    found = lw.measure(model, SPACE.where("income <= 2"), similar, of=of, budget=10)
    assert found.upper >= found.lower > 0
    assert set(found.pair["sex"]) != {0.0, 1.0}
