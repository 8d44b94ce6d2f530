"""Audits, shares, regions and radii under constraints, against looking at everybody with the model's own `predict` and `decision_function`: nothing
of the package is used to say who is valid, who is similar and who is treated differently."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import likewise as lw

ALL = pd.DataFrame(itertools.product(range(9), range(6), range(3)), columns=["a", "b", "c"])
SPACE = lw.Space({"a": lw.Integer(0, 8), "b": lw.Integer(0, 5), "c": lw.Categorical([0, 1, 2])})
RULES = {
    "a bound": (["a <= 13/2"], ALL.a <= 6),
    "half-planes": (["2*a + b <= 12", "a >= b - 3"], (2 * ALL.a + ALL.b <= 12) & (ALL.a >= ALL.b - 3)),
    "a line": (["a + b == 5"], ALL.a + ALL.b == 5),
}
SIMILAR = {
    "free": (lw.Similarity(free=["c"]), lambda x, y: (x[:2] == y[:2]).all()),
    "near": (lw.Similarity(within={"a": 1, "b": 1}), lambda x, y: (abs(x - y) <= [1, 1, 0]).all()),
}
MODELS = {
    "affine": lambda: LogisticRegression(C=10),
    "rbf": lambda: SVC(gamma=0.05),
    "polynomial": lambda: SVC(kernel="poly", degree=2, gamma=0.1, coef0=1),
    "trees": lambda: GradientBoostingClassifier(n_estimators=4, max_depth=3, random_state=0),
}


def fitted(name):
    random = np.random.default_rng(1)
    score = 0.5 * ALL.a - 0.6 * ALL.b + 0.5 * ALL.c * (ALL.a > 3) + random.normal(0, 1, len(ALL))
    return MODELS[name]().fit(ALL, (score > 0.5).astype(int))


def people(rule):
    texts, valid = RULES[rule]
    space = SPACE
    for text in texts:
        space = space.where(text)
    return space, ALL[valid].reset_index(drop=True)


def treated_differently(model, rows, alike):
    """One flag a row: whether a similar valid individual gets another decision."""
    decisions, codes = model.predict(rows), rows.to_numpy()
    found = np.zeros(len(rows), dtype=bool)
    for i, j in itertools.combinations(range(len(rows)), 2):
        if decisions[i] != decisions[j] and alike(codes[i], codes[j]):
            found[i] = found[j] = True
    return found


CLAIMS = [(m, s, r) for m in MODELS for s in SIMILAR for r in RULES]


@pytest.mark.some_days
@pytest.mark.draw(8)
@pytest.mark.parametrize(("name", "similar", "rule"), CLAIMS)
def test_audits_and_shares_count_those_who_are_treated_differently(name, similar, rule):
    model, (space, rows) = fitted(name), people(rule)
    similarity, alike = SIMILAR[similar]
    truth = treated_differently(model, rows, alike)
    audited = lw.audit(model, space, similarity, X=rows)
    assert audited.rows.set_index("row").biased.sort_index().tolist() == truth.tolist()
    found = lw.share(model, space, similarity)
    assert found.lower - 1e-12 <= truth.mean() <= found.upper + 1e-12
    assert found.upper - found.lower <= 1e-9
    assert lw.verify(model, space, similarity).verdict == ("BIASED" if truth.any() else "FAIR")


def test_an_audit_of_continuous_rows_is_that_of_a_grid_with_all_ends_on_it():
    """Thresholds, bounds and tolerance are multiples of 1/4 and rows of 1/64, so whoever is near a row has somebody like them on that grid."""
    random = np.random.default_rng(0)
    at = np.arange(0.25, 2, 0.5)
    centres = pd.DataFrame(itertools.product(at, at), columns=["a", "b"])
    labels = random.integers(0, 2, len(centres))
    model = GradientBoostingClassifier(n_estimators=2, learning_rate=1, random_state=0).fit(centres, labels)
    grid = np.arange(129) / 64
    rows = pd.DataFrame({"a": random.choice(grid, 60), "b": random.choice(grid, 60)})
    rows = rows[rows.a + rows.b <= 1.75].reset_index(drop=True)
    truth = []
    for row in rows.itertuples():
        near = grid[(abs(grid - row.a) <= 0.75) & (grid + row.b <= 1.75)]
        decisions = model.predict(pd.DataFrame({"a": near, "b": row.b}))
        truth.append(len(set(decisions)) > 1)
    space = lw.Space({"a": lw.Continuous(0, 2), "b": lw.Continuous(0, 2)}).where("a + b <= 1.75")
    audited = lw.audit(model, space, lw.Similarity(within={"a": 0.75}), X=rows)
    assert 0 < sum(truth) < len(truth)
    assert audited.rows.set_index("row").biased.sort_index().tolist() == truth


@pytest.mark.draw(2)
@pytest.mark.parametrize("name", ["affine", "trees"])
@pytest.mark.parametrize("rule", RULES)
def test_regions_hold_nobody_who_is_treated_otherwise(name, rule):
    model, (space, rows) = fitted(name), people(rule)
    similarity, alike = SIMILAR["free"]
    truth = treated_differently(model, rows, alike)
    found = lw.regions(model, space, similarity, budget=10)
    seen = np.zeros(len(rows), dtype=int)
    for kind, boxes in (("fair", found.fair), ("biased", found.biased), ("rest", found.undecided)):
        for region in boxes:
            inside = np.ones(len(rows), dtype=bool)
            for feature, part in region.box.items():
                values = rows[feature]
                inside &= values.isin(part) if feature == "c" else values.between(part[0], part[1])
            seen += inside
            assert kind == "rest" or (truth[inside] == (kind == "biased")).all()
    assert (seen >= 1).all()


@pytest.mark.parametrize("name", MODELS)
def test_a_radius_lies_between_a_pair_and_the_proof_below_it(name):
    model, (space, rows) = fitted(name), people("half-planes")
    decisions, codes = model.predict(rows), rows.to_numpy()
    apart = [
        abs(codes[i, 0] - codes[j, 0])
        for i, j in itertools.combinations(range(len(rows)), 2)
        if decisions[i] != decisions[j] and (codes[i, 1:] == codes[j, 1:]).all()
    ]
    found = lw.radius(model, space, lw.Similarity(within={"a": 1}), feature="a")
    assert found.refuted == min(apart)
    assert found.proved == min(apart) - 1
