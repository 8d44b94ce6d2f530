"""What features contribute to a gap, compared with scores of the model itself."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import likewise as lw
from likewise.verifying.contributions import _contributions_between

SPACE = lw.Space({"a": lw.Integer(0, 4), "b": lw.Integer(0, 4), "c": lw.Continuous(0.0, 1.0)})
SIMILAR = lw.Similarity(free=["a", "b"])


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.integers(0, 5, 80), "b": random.integers(0, 5, 80), "c": random.random(80)})
    return X, X.a * X.b + X.c


def changed(pair, feature):
    """Each of the two with the other's value of a feature."""
    swapped = pair.copy()
    swapped[feature] = pair[feature].to_numpy()[::-1]
    return swapped


def looked_up(result, score):
    pair = result.pair
    own = score(pair)
    for part in result.contributions.parts:
        other = score(changed(pair, part.feature))
        assert part.from_first == pytest.approx(own[0] - other[0], abs=1e-9)
        assert part.from_second == pytest.approx(other[1] - own[1], abs=1e-9)
    assert result.contributions.gap == pytest.approx(own[0] - own[1], abs=1e-9)
    differing = [name for name in pair.columns if pair[name].iloc[0] != pair[name].iloc[1]]
    assert [part.feature for part in result.contributions.parts] == differing


@pytest.mark.parametrize("labels", [("no", "yes"), ("yes", "no")])
def test_terms_of_a_linear_model_add_up(rows, labels):
    X, y = rows
    model = LogisticRegression().fit(X, np.where(y > 4, *labels))
    result = lw.verify(model, SPACE, SIMILAR, X=X)
    assert result.contributions.additive
    looked_up(result, model.decision_function)
    total = sum(part.from_first for part in result.contributions.parts)
    assert total == pytest.approx(result.contributions.gap, rel=1e-12)
    assert all(part.from_first == part.from_second for part in result.contributions.parts)


def test_trees_are_looked_at_one_feature_at_a_time(rows):
    X, y = rows
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    result = lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(5.0), X=X)
    looked_up(result, model.predict)
    assert result.contributions.additive == (len(result.contributions.parts) == 1)


def test_a_product_is_no_sum():
    found = _contributions_between(
        lambda codes: codes[0] * codes[1] + codes[2], (3, 2, 1), (1, 1, 1), ("a", "b", "c"), False
    )
    assert not found.additive
    assert [(part.feature, part.from_first, part.from_second) for part in found.parts] == [
        ("a", 4, 2),
        ("b", 3, 1),
    ]
    assert found.gap == 5
    assert [part.average for part in found.parts] == [3, 2]  # (4 + 2) / 2 and (3 + 1) / 2
    assert not found.approximate


@pytest.mark.parametrize("count", [3, 6, 11])
def test_averages_add_up_to_the_gap_whatever_the_score(count):
    def score(codes):
        return max(codes[0] * codes[1] - codes[2], 0) + max(sum(codes) - 7, 0) * codes[-1]

    rng = np.random.default_rng(count)
    first, second = rng.integers(0, 4, count).tolist(), rng.integers(4, 9, count).tolist()
    found = _contributions_between(score, first, second, [f"f{k}" for k in range(count)], False)
    assert sum(part.average for part in found.parts) == pytest.approx(found.gap, rel=1e-12)
    assert found.approximate == (count > 6)
    if count <= 6:
        orders = list(itertools.permutations(range(count)))
        for k, part in enumerate(found.parts):
            total = 0
            for order in orders:
                before = set(order[: order.index(k)])
                old = [second[i] if i in before else first[i] for i in range(count)]
                new = [second[i] if i in before | {k} else first[i] for i in range(count)]
                total += score(old) - score(new)
            assert part.average == pytest.approx(total / len(orders), rel=1e-12, abs=1e-12)


def test_several_classes_have_contributions_to_a_gap_but_not_to_a_decision(rows):
    X, y = rows
    model = LogisticRegression().fit(X, np.digitize(y, [2, 6]))
    assert lw.verify(model, SPACE, SIMILAR, X=X).contributions is None
    result = lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(0.5, class_of_interest=2), X=X)
    assert result.contributions.additive
    looked_up(result, lambda pair: model.decision_function(pair)[:, 2])
