"""Trees over continuous features under linear constraints: decided without cutting cells for ever, as a grid decides it.

Thresholds are multiples of 1/2, coefficients 1 or -1, bounds and tolerances multiples of 1/4. What they make of pairs of individuals is polyhedra with vertices on
a grid of 1/8, and each of them that is not empty has a point on a grid of 1/64, so looking at that grid decides a claim about all real numbers.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.tree import DecisionTreeClassifier

import likewise as lw

STEP, TOP = 1 / 64, 2.0
GRID = np.arange(0, TOP + STEP / 2, STEP)
RULES = {
    "one bound": (["a <= 1.25"], lambda a, b: a <= 1.25),
    "a half-plane": (["a + b <= 1.75"], lambda a, b: a + b <= 1.75),
    "a band": (["a - b >= -1/4", "a - b <= 1/4"], lambda a, b: abs(a - b) <= 0.25),
    "a triangle": (
        ["a + b >= 1.25", "a <= 3/4", "a >= b - 1"],
        lambda a, b: (a + b >= 1.25) & (a <= 0.75) & (a >= b - 1),
    ),
}


def fitted(seed):
    """Trees with thresholds at multiples of 1/2, and their scores on the grid as the library gives them."""
    random = np.random.default_rng(seed)
    at = np.arange(0.25, TOP, 0.5)
    rows = pd.DataFrame([(a, b) for a in at for b in at], columns=["a", "b"])
    target = random.integers(-4, 5, len(rows)).astype(float)
    model = GradientBoostingRegressor(n_estimators=3, max_depth=3, learning_rate=0.5, random_state=0)
    model.fit(rows, target)
    every = pd.DataFrame([(a, b) for a in GRID for b in GRID], columns=["a", "b"])
    return model, model.predict(every).reshape(len(GRID), len(GRID))


def largest_gap(scores, holds, reach):
    """The largest difference of two valid individuals that share b and have a at most `reach` steps apart."""
    valid = holds(GRID[:, None], GRID[None, :])
    scores = np.where(valid, scores, np.nan)
    best = 0.0
    for shift in range(reach + 1):
        gaps = np.abs(scores[shift:] - scores[: len(scores) - shift])
        best = max(best, np.nanmax(gaps, initial=0.0))
    return best


SIMILAR = {"free": ({"free": ["a"]}, len(GRID) - 1), "within": ({"within": {"a": 0.75}}, 48)}


@pytest.mark.some_days
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("similar", SIMILAR)
@pytest.mark.parametrize("seed", [0, 1])
def test_claims_below_and_above_the_largest_gap_get_their_verdict_in_few_cells(rule, similar, seed):
    model, scores = fitted(seed)
    (texts, holds), (how, reach) = RULES[rule], SIMILAR[similar]
    gap = largest_gap(scores, holds, reach)
    assert gap > 0.1
    space = lw.Space({"a": lw.Continuous(0, TOP), "b": lw.Continuous(0, TOP)})
    for text in texts:
        space = space.where(text)
    for share, verdict in ((0.999, "BIASED"), (1.001, "FAIR")):
        claim = lw.ScoreGap(float(gap * share))
        result = lw.verify(model, space, lw.Similarity(**how), claim, budget=20)
        assert result.verdict == verdict
        assert result.stats["cells"] <= 400


@pytest.mark.parametrize("seed", [0, 1])
def test_individuals_on_a_line_are_found_although_hardly_any_doubles_lie_on_it(seed):
    model, scores = fitted(seed)
    space = lw.Space({"a": lw.Continuous(0, TOP), "b": lw.Continuous(0, TOP)}).where("a + b == 1.75")
    on_it = scores[GRID[:, None] + GRID[None, :] == 1.75]
    gap = on_it.max() - on_it.min()
    for share, verdict in ((0.999, "BIASED"), (1.001, "FAIR")):
        claim = lw.ScoreGap(float(gap * share))
        result = lw.verify(model, space, lw.Similarity(free=["a", "b"]), claim, budget=20)
        assert result.verdict == verdict
        assert result.stats["cells"] <= 400


def test_a_bound_in_a_constraint_is_as_good_as_one_in_the_space():
    model, scores = fitted(2)
    similar = lw.Similarity(within={"a": 0.75})
    gap = largest_gap(scores, RULES["one bound"][1], 48)
    for share in (0.999, 1.001):
        claim = lw.ScoreGap(float(gap * share))
        narrow = lw.Space({"a": lw.Continuous(0, 1.25), "b": lw.Continuous(0, TOP)})
        wide = lw.Space({"a": lw.Continuous(0, TOP), "b": lw.Continuous(0, TOP)})
        spaces = narrow, wide.where("a <= 1.25"), wide.where("4*a <= 5")
        results = [lw.verify(model, space, similar, claim) for space in spaces]
        assert len({result.verdict for result in results}) == 1
        cells = [result.stats["cells"] for result in results]
        assert max(cells) <= cells[0] + 4  # the two sides of the two cells that the bound cuts off


@pytest.mark.parametrize("seed", [9, 12, 14])
@pytest.mark.parametrize("classifier", [DecisionTreeClassifier, GradientBoostingClassifier])
def test_decisions_under_a_bound_are_told_although_scores_tie(classifier, seed):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({"a": random.uniform(0, 10, 60).round(2), "b": random.integers(0, 4, 60)})
    target = (random.normal(0, 1, 60) + 0.3 * rows.a * (rows.b > random.integers(0, 3)) > 1).astype(int)
    ensemble = {} if classifier is DecisionTreeClassifier else {"n_estimators": 1}
    model = classifier(max_depth=2, random_state=0, **ensemble).fit(rows, target)
    every = np.concatenate([np.linspace(2.5, 10, 2001), np.arange(2.505, 10, 0.005)])
    decisions = [model.predict(pd.DataFrame({"a": every, "b": b})) for b in range(4)]
    expected = "FAIR" if all(len(set(of_b)) == 1 for of_b in decisions) else "BIASED"
    space = lw.Space({"a": lw.Continuous(0, 10), "b": lw.Integer(0, 3)}).where("a >= 2.5")
    result = lw.verify(model, space, lw.Similarity(free=["a"]), lw.SameDecision(), budget=10)
    assert result.verdict == expected
    assert result.stats["cells"] <= 60


def test_measure_closes_on_the_largest_gap_of_a_half_plane():
    model, scores = fitted(3)
    space = lw.Space({"a": lw.Continuous(0, TOP), "b": lw.Continuous(0, TOP)}).where("a + b <= 1.75")
    found = lw.measure(model, space, lw.Similarity(free=["a"]), of="score", tolerance=1e-6)
    gap = largest_gap(scores, RULES["a half-plane"][1], len(GRID) - 1)
    assert found.lower == pytest.approx(gap, abs=1e-9)
    assert found.lower <= found.upper <= found.lower + 1e-6
