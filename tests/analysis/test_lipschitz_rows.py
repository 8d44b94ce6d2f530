"""Audits of Lipschitz claims: each row beside everybody similar, compared with brute force; scores and distances are computed here anew, in rationals where the model has them."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor
from tests.tiers import ALL, some

import likewise as lw
from likewise.analysis.row_steepness import SteepRow
from likewise.errors import SpecError
from likewise.search import steep_rows

SPACE = lw.Space({"g": lw.Categorical([0, 1, 2]), "a": lw.Integer(0, 5), "b": lw.Integer(0, 4)})
EVERYBODY = [
    dict(zip("gab", values, strict=True)) for values in itertools.product(range(3), range(6), range(5))
]
FRAME = pd.DataFrame(EVERYBODY)
ROWS = FRAME[::7].reset_index(drop=True)
WEIGHTS, G_COST = {"a": Fraction(1, 2), "b": Fraction(3, 4)}, Fraction(5, 4)
MARGIN = Fraction(1, 10**9)  # of programs that compute in doubles
FORM = np.array([[2.0, 1.0], [1.0, 2.0]])


def metric(kind):
    if kind == "matrix":
        return lw.Mahalanobis(FORM, columns=["a", "b"])
    return lw.Metric(kind, weights={k: str(v) for k, v in WEIGHTS.items()}, costs={"g": str(G_COST)})


def square(kind, x, y):
    """The distance squared."""
    if kind == "matrix":
        d = [Fraction(int(x[k] - y[k])) for k in "ab"]
        return 2 * d[0] ** 2 + 2 * d[0] * d[1] + 2 * d[1] ** 2
    costs = [w * abs(int(x[k]) - int(y[k])) for k, w in WEIGHTS.items()]
    costs.append(G_COST * (x["g"] != y["g"]))
    if kind == "l1":
        return sum(costs) ** 2
    if kind == "linf":
        return max(costs) ** 2
    return sum(c**2 for c in costs)


def exceeds(gap, constant, kind, x, y, slack=Fraction(0)):
    """Whether gap > constant * distance + slack. Exact."""
    return gap > slack and (gap - slack) ** 2 > constant**2 * square(kind, x, y)


def others(kind, x):
    return [y for y in EVERYBODY if y != x and (kind != "matrix" or y["g"] == x["g"])]


def expected(values, constant, kind, slack=Fraction(0), margin=Fraction(0)):
    """For each row: True, False, or None where doubles are too near to tell."""
    of = {tuple(one.values()): value for one, value in zip(EVERYBODY, values, strict=True)}
    found = []
    for x in ROWS.to_dict("records"):
        gaps = [(abs(of[tuple(x.values())] - of[tuple(y.values())]), y) for y in others(kind, x)]
        surely = any(exceeds(gap - margin, constant, kind, x, y, slack) for gap, y in gaps)
        maybe = any(exceeds(gap + margin, constant, kind, x, y, slack) for gap, y in gaps)
        found.append(surely if surely == maybe else None)
    return found


def audited(model, asked, rows=ROWS, space=SPACE, similar=None, **more):
    given = (asked,) if similar is None else (similar, asked)
    found = lw.audit(model, space, *given, X=rows, budget=30, **more)
    return found, found.rows.sort_values("row").reset_index(drop=True)


def check(frame, wanted):
    for row, answer in zip(frame.to_dict("records"), wanted, strict=True):
        if answer is not None:
            assert not pd.isna(row["biased"]), row
            assert bool(row["biased"]) == answer, row


def linear(weights, bias=0.0):
    model = LinearRegression().fit(FRAME, np.arange(len(FRAME)))
    model.coef_, model.intercept_ = np.array(weights, dtype=float), bias
    return model


ALL_WEIGHTS = [(0.5, 1.0, -0.5), (0.0, 0.75, 0.75), (2.0, 0.25, 1.0)]


@pytest.mark.draw(3)
@pytest.mark.parametrize(
    ("kind", "constant", "weights"),
    [  # any two of the three occur together
        (kind, constant, ALL_WEIGHTS[(i + j) % 3])
        for i, kind in enumerate(["l1", "l2", "linf", "matrix"])
        for j, constant in enumerate([0.5, 1.0, 1.5, 2.5])
    ],
)
def test_rows_of_linear_models_are_told_exactly(kind, constant, weights):
    model = linear(weights)
    values = [sum(Fraction(w) * v for w, v in zip(weights, one.values(), strict=True)) for one in EVERYBODY]
    for slack in (0.0, 0.75):
        found, frame = audited(model, lw.Lipschitz(constant, metric(kind), slack=slack))
        check(frame, expected(values, Fraction(constant), kind, Fraction(slack)))
        assert found.undecided == 0
        for row in frame[frame["biased"].astype(bool)].to_dict("records"):
            x = {k: row[k] for k in "gab"}
            y = {k: row.get(f"counterpart_{k}", row[k]) for k in "gab"}
            gap = abs(sum(Fraction(w) * (int(x[k]) - int(y[k])) for w, k in zip(weights, "gab", strict=True)))
            assert exceeds(gap, Fraction(constant), kind, x, y, Fraction(slack))


def fitted_network(layers, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MLPRegressor(hidden_layer_sizes=layers, max_iter=60, random_state=1, solver="lbfgs").fit(X, y)


def families():
    y = np.sin(np.arange(len(FRAME)) * 0.37) + FRAME["a"].to_numpy() * 0.4
    yield "tree", DecisionTreeRegressor(max_depth=4, random_state=0).fit(FRAME, y)
    yield "forest", RandomForestRegressor(5, max_depth=4, random_state=0).fit(FRAME, y)
    yield "boosting", GradientBoostingRegressor(n_estimators=8, random_state=0).fit(FRAME, y)
    yield "kernel", SVR(gamma=0.2).fit(FRAME, y)
    yield "polynomial", SVR(kernel="poly", degree=2, gamma=0.3, coef0=1.0).fit(FRAME, y)
    yield "products", make_pipeline(PolynomialFeatures(2), LinearRegression()).fit(FRAME, y)
    yield "network", fitted_network((5,), FRAME, y)
    yield (
        "vote",
        VotingRegressor([("l", LinearRegression()), ("t", DecisionTreeRegressor(max_depth=3))]).fit(FRAME, y),
    )


@pytest.fixture(scope="module")
def models():
    return dict(families())


@pytest.mark.some_days
@pytest.mark.parametrize(
    "name", ["tree", "forest", "boosting", "kernel", "polynomial", "products", "network", "vote"]
)
def test_rows_of_every_family_are_those_of_brute_force(models, name):
    for kind in some(["l1", "l2", "linf"], 1, name):
        check_family(models[name], kind)


def check_family(model, kind):
    values = [Fraction(float(v)) for v in model.predict(FRAME)]
    rates = sorted(
        max(
            float(abs(values[i] - values[j])) / math.sqrt(square(kind, EVERYBODY[i], EVERYBODY[j]))
            for j in range(len(EVERYBODY))
            if i != j
        )
        for i in range(0, len(EVERYBODY), 7)
    )
    for constant in (rates[len(rates) // 2] * 1.001, rates[-1] * 1.01):
        found, frame = audited(model, lw.Lipschitz(constant, metric(kind)))
        check(frame, expected(values, Fraction(constant), kind, margin=MARGIN))
        assert found.undecided == 0


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("name", ["kernel", "polynomial", "network", "tree", "boosting"])
def test_rows_that_are_searched_one_by_one_get_the_same_verdicts(models, name, monkeypatch):
    """No list of settings: every row has a frontier of its own, or the claim a proof."""
    monkeypatch.setattr("likewise.search.counterparts._by_settings", lambda _: False)
    model = models[name]
    values = [Fraction(float(v)) for v in model.predict(FRAME)]
    constant = 0.8
    found, frame = audited(model, lw.Lipschitz(constant, metric("l1")))
    wanted = expected(values, Fraction(constant), "l1", margin=MARGIN)
    for row, answer in zip(frame.to_dict("records"), wanted, strict=True):
        if answer is not None and not pd.isna(row["biased"]):
            assert bool(row["biased"]) == answer, row
    assert found.undecided <= len(ROWS) // 4


def test_several_classes():
    X, y = FRAME, np.digitize(FRAME["a"] + FRAME["g"], [2, 5])
    model = LogisticRegression(C=0.5, max_iter=500).fit(X, y)
    scores = [[Fraction(float(v)) for v in row] for row in model.decision_function(FRAME)]
    constant = 1.0
    wanted = []
    for x in ROWS.to_dict("records"):
        own = scores[EVERYBODY.index(x)]
        pairs = [
            (max(abs(a - b) for a, b in zip(own, scores[EVERYBODY.index(y)], strict=True)), y)
            for y in others("l1", x)
        ]
        surely = any(exceeds(gap - MARGIN, Fraction(1), "l1", x, y) for gap, y in pairs)
        maybe = any(exceeds(gap + MARGIN, Fraction(1), "l1", x, y) for gap, y in pairs)
        wanted.append(surely if surely == maybe else None)
    found, frame = audited(model, lw.Lipschitz(constant, metric("l1")))
    check(frame, wanted)
    assert found.undecided == 0


# -- continuous numbers -------------------------------------------------------------------------------------------

WIDE = lw.Space({"g": lw.Categorical([0, 1]), "v": lw.Continuous(0, 10), "w": lw.Continuous(0, 10)})
SAMPLE = pd.DataFrame(
    {
        "g": np.random.default_rng(1).integers(0, 2, 60),
        "v": np.random.default_rng(2).uniform(0, 10, 60).round(2),
        "w": np.random.default_rng(3).uniform(0, 10, 60).round(2),
    }
)
WIDE_METRIC = lw.Metric("l1", weights={"v": 1, "w": 2})


def wide_distance(x, others):
    return np.abs(others[:, 1] - x[1]) + 2 * np.abs(others[:, 2] - x[2])


@pytest.mark.parametrize(
    "make",
    [
        lambda: DecisionTreeRegressor(max_depth=4),
        lambda: GradientBoostingRegressor(n_estimators=6, random_state=0),
    ],
)
def test_trees_over_continuous_numbers_are_told_by_the_nearest_codes(make):
    """Between thresholds the nearest double counts: brute force over all thresholds and the doubles beside them."""
    target = SAMPLE["v"] * 0.3 + (SAMPLE["w"] > 4) + SAMPLE["g"] * 0.5
    model = make().fit(SAMPLE, target)
    trees = [model] if hasattr(model, "tree_") else [t for (t,) in model.estimators_]
    cuts = {k: set() for k in (1, 2)}
    for tree in trees:
        inner = tree.tree_
        for feature, threshold in zip(inner.feature, inner.threshold, strict=True):
            if feature in cuts:
                cuts[int(feature)].add(float(threshold))
    rows = SAMPLE[:25]

    def around(k, code):
        below, above = [], []
        for cut in sorted(cuts[k]):
            # scikit-learn compares single precision: the first double above, and the last one below, by its own word
            below += [float(np.nextafter(np.float32(cut), np.float32(-np.inf))), cut]
            above += [
                float(np.nextafter(np.float32(cut), np.float32(np.inf))),
                float(np.nextafter(cut, np.inf)),
            ]
        return [c for c in {code, *below, *above} if 0 <= c <= 10]

    constant, slack = 0.4, 0.05
    found, frame = audited(model, lw.Lipschitz(constant, WIDE_METRIC, slack=slack), rows, WIDE)
    assert found.undecided == 0
    for row in frame.to_dict("records"):
        x = np.array([row["g"], row["v"], row["w"]])
        tried = np.array([[row["g"], v, w] for v in around(1, row["v"]) for w in around(2, row["w"])])
        values = model.predict(pd.DataFrame(np.vstack([x, tried]), columns=list("gvw")))
        excess = np.abs(values[1:] - values[0]) - constant * wide_distance(x, tried) - slack
        if excess.max() > 1e-5:
            assert row["biased"], row
        if row["biased"]:
            y = np.array([[row["g"], row.get("counterpart_v", row["v"]), row.get("counterpart_w", row["w"])]])
            pair = model.predict(pd.DataFrame(np.vstack([x, y]), columns=list("gvw")))
            assert abs(pair[0] - pair[1]) > constant * wide_distance(x, y)[0] + slack
        else:
            assert excess.max() < 1e-5


def smooth_models():
    target = np.sin(SAMPLE["v"]) + 0.2 * SAMPLE["w"] + 0.3 * SAMPLE["g"]
    return {
        "kernel": SVR(gamma=0.05).fit(SAMPLE, target),
        "polynomial": SVR(kernel="poly", degree=2, gamma=0.05, coef0=1.0).fit(SAMPLE, target),
        "network": fitted_network((4,), SAMPLE, target),
        "linear": LinearRegression().fit(SAMPLE, target),
    }


@pytest.fixture(scope="module")
def smooth():
    return smooth_models()


@pytest.mark.some_days
@pytest.mark.parametrize("name", ["kernel", "polynomial", "network", "linear"])
def test_rows_beside_continuous_numbers_are_never_wrong(smooth, name):
    """Whoever is not biased has nobody among thousands who breaks the claim; whoever is biased has a counterpart who does. measure is never below what rows show."""
    for kind in some(["l1", "l2", "linf"], 1, name):
        check_smooth(smooth[name], kind)


def check_smooth(model, kind):
    rows, asked = SAMPLE[:3], lw.Metric(kind, weights={"v": 1, "w": 2})
    random = np.random.default_rng(0)
    tried = np.column_stack([np.zeros(4000), random.uniform(0, 10, (4000, 2))])

    def distance(x, y):
        parts = np.stack([np.abs(y[:, 1] - x[1]), 2 * np.abs(y[:, 2] - x[2])])
        return {"l1": parts.sum(axis=0), "l2": np.sqrt((parts**2).sum(axis=0)), "linf": parts.max(axis=0)}[
            kind
        ]

    gradients = []
    for step in (1e-4, 1e-2, 1.0):
        gradients += [
            (step, 0),
            (-step, 0),
            (0, step),
            (0, -step),
            (step, step),
            (-step, step),
            (step, -step),
        ]
    near = np.array([[0.0, *g] for g in gradients])
    measured = lw.measure(model, WIDE, lw.Lipschitz(0.0, asked), of="lipschitz", budget=0.3)
    decided = 0
    for constant in (0.15, 0.6, 5.0):
        _, frame = audited(model, lw.Lipschitz(constant, asked), rows, WIDE)
        for row in frame.to_dict("records"):
            x = np.array([row["g"], row["v"], row["w"]], dtype=float)
            everybody = np.vstack([np.column_stack([np.full(len(tried), x[0]), tried[:, 1:]]), x + near])
            everybody = everybody[((everybody[:, 1:] >= 0) & (everybody[:, 1:] <= 10)).all(axis=1)]
            values = model.predict(pd.DataFrame(np.vstack([x, everybody]), columns=list("gvw")))
            gaps, apart = np.abs(values[1:] - values[0]), distance(x, everybody)
            biased = None if pd.isna(row["biased"]) else bool(row["biased"])
            decided += biased is not None
            if (gaps - constant * apart > 1e-7).any():
                assert biased is not False, (constant, row)
            if biased:
                y = np.array(
                    [[row["g"], row.get("counterpart_v", row["v"]), row.get("counterpart_w", row["w"])]]
                )
                pair = model.predict(pd.DataFrame(np.vstack([x, y]), columns=list("gvw")))
                gap, far = abs(pair[0] - pair[1]), float(distance(x, y)[0])
                assert gap > constant * far
                assert measured.upper >= gap / far * (1 - 1e-6)
                assert measured.upper > constant
    assert decided >= 3 * len(rows) * 0.7


@pytest.mark.some_days
@pytest.mark.parametrize("name", ["kernel", "network", "linear"])
def test_what_is_called_fair_does_not_rest_on_pairs_that_were_tried(smooth, name, monkeypatch):
    """Without them a proof that shows too much would call rows fair that are not: every constant just below a row's own rate is refuted, or left open."""
    monkeypatch.setattr(SteepRow, "_broken_among", lambda *_: False)
    model, random = smooth[name], np.random.default_rng(0)
    rows = SAMPLE[:2]
    for place in some(range(len(rows)), 1, name):
        x = rows.iloc[place].to_numpy(float)
        tried = np.column_stack([np.full(6000, x[0]), random.uniform(0, 10, (6000, 2))])
        tried[3000:, 1:] = np.clip(x[1:] + random.normal(0, 0.05, (3000, 2)), 0, 10)
        values = model.predict(pd.DataFrame(np.vstack([x, tried]), columns=list("gvw")))
        rate = (np.abs(values[1:] - values[0]) / wide_distance(x, tried)).max()
        asked = lw.Lipschitz(float(rate) * 0.97, WIDE_METRIC)
        found = lw.audit(model, WIDE, asked, X=rows[place : place + 1], budget=1)
        assert found.biased + found.undecided == 1
        room = 3 if ALL else 6  # what leaves less takes longer
        fair = lw.audit(model, WIDE, lw.Lipschitz(float(rate) * room, WIDE_METRIC), X=rows[place : place + 1])
        assert (fair.biased, fair.undecided) == (0, 0)


def test_the_whole_claim_is_proved_once_where_it_can_be(smooth):
    found, frame = audited(smooth["kernel"], lw.Lipschitz(50.0, WIDE_METRIC), SAMPLE, WIDE)
    assert (found.biased, found.undecided, found.proved) == (0, 0, True)
    assert not frame["biased"].any()


def test_a_wrong_allowance_is_noticed(monkeypatch):
    """What the tests above would miss if distances were not counted: every row with another score is biased then."""
    model = linear((0.5, 1.0, -0.5))
    right, _ = audited(model, lw.Lipschitz(2.5, metric("l2")))
    whole = steep_rows.allowed_of_settings
    monkeypatch.setattr(steep_rows, "allowed_of_settings", lambda *a: tuple(0 * one for one in whole(*a)))
    wrong, _ = audited(model, lw.Lipschitz(2.5, metric("l2")))
    assert right.biased == 0
    # The program is asked with the distance, so nothing is claimed; but nobody is called not biased either.
    assert wrong.biased == 0
    assert wrong.undecided > 0


def test_shares_of_rows_and_of_a_space():
    model = linear((0.5, 1.0, -0.5))
    values = [Fraction(1, 2) * x["g"] + x["a"] - Fraction(1, 2) * x["b"] for x in EVERYBODY]
    asked = lw.Lipschitz(1.5, metric("linf"))
    of_rows = lw.share(model, SPACE, asked, over=ROWS)
    wanted = expected(values, Fraction(3, 2), "linf")
    assert of_rows.lower == of_rows.upper == sum(wanted) / len(wanted)
    sampled = lw.share(model, SPACE, asked, budget=20)
    everybody = [
        any(
            exceeds(abs(values[i] - values[j]), Fraction(3, 2), "linf", EVERYBODY[i], EVERYBODY[j])
            for j in range(len(EVERYBODY))
        )
        for i in range(len(EVERYBODY))
    ]
    share = sum(everybody) / len(everybody)
    assert sampled.lower - 0.01 <= share <= sampled.upper + 0.01
    with pytest.raises(SpecError, match="method='exact' for a Lipschitz claim"):
        lw.share(model, SPACE, asked, method="exact")


def test_claims_in_one_direction_are_refused():
    asked = lw.Lipschitz(1.0, metric("l1"))
    with pytest.raises(SpecError, match="in one direction"):
        lw.audit(linear((0.5, 1.0, -0.5)), SPACE, lw.Similarity(order={"a": "up"}), asked, X=ROWS)


def test_classifiers_have_decisions_and_groups():
    y = (FRAME["a"] + FRAME["b"] > 4).to_numpy()
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(FRAME, y)
    found, frame = audited(model, lw.Lipschitz(0.2, metric("l1")))
    assert {"decision", "counterpart_decision"} <= set(frame.columns)
    assert found.by("g")["biased"].sum() == found.biased > 0
