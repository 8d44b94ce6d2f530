"""radius: both ends of the bracket are true, and next to each other where tolerances are whole."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

import likewise as lw
from likewise.analysis.margins import margins
from likewise.errors import SpecError

SPACE = lw.Space({"a": lw.Integer(0, 6), "b": lw.Integer(0, 4), "c": lw.Categorical(["u", "v"])})
EVERYBODY = pd.DataFrame(list(itertools.product(range(7), range(5), [0, 1])), columns=["a", "b", "c"])


def fitted(kind, seed):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, len(EVERYBODY))
    model = LogisticRegression(C=10.0) if kind == "linear" else SVC(gamma=0.1)
    return model.fit(EVERYBODY.to_numpy(), y)


def numbers():
    return lw.Space({"a": lw.Integer(0, 6), "b": lw.Integer(0, 4), "c": lw.Integer(0, 1)})


def broken_at(model, tolerances, free=()):
    """Whether two individuals within these tolerances get different decisions, by looking at all of them."""
    rows, decided = EVERYBODY.to_numpy(), model.predict(EVERYBODY.to_numpy())
    apart = np.abs(rows[:, None] - rows[None])
    similar = np.ones(apart.shape[:2], dtype=bool)
    for k, name in enumerate(EVERYBODY.columns):
        similar &= apart[:, :, k] <= (99 if name in free else tolerances.get(name, 0))
    return bool((similar & (decided[:, None] != decided[None])).any())


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_the_tolerance_of_one_feature_equals_brute_force(kind, seed):
    model = fitted(kind, seed)
    found = lw.radius(model, numbers(), lw.Similarity(free=["c"]), feature="a")
    fair = [t for t in range(7) if not broken_at(model, {"a": t}, free=["c"])]
    biased = [t for t in range(7) if t not in fair]
    assert found.reason is None
    assert found.proved == (max(fair) if fair else None)
    assert found.refuted == (min(biased) if biased else None)
    if fair and found.proved > 0:
        assert found.certificate is not None
    if biased:
        first, second = model.predict(found.pair.to_numpy())
        assert first != second
        assert abs(found.pair["a"].iloc[0] - found.pair["a"].iloc[1]) <= found.refuted


@pytest.mark.draw(2)
@pytest.mark.parametrize("seed", range(4))
def test_a_common_factor_equals_brute_force(seed):
    model = fitted("linear", seed)
    found = lw.radius(model, numbers(), lw.Similarity(within={"a": 2, "b": 1}))

    def broken(factor):
        return broken_at(model, {"a": int(2 * factor), "b": int(factor)})

    levels = [i / 2 for i in range(1, 13)]
    fair = [level for level in levels if not broken(level)]
    biased = [level for level in levels if broken(level)]
    # What changes nothing counts as proved: levels are compared by what they allow.
    assert found.proved == pytest.approx(max(fair, default=0.0))
    assert found.refuted == (min(biased) if biased else None)


def test_continuous_tolerances_are_bracketed():
    space = lw.Space({"x": lw.Continuous(0, 1), "y": lw.Continuous(0, 1)})
    rows = np.random.default_rng(0).uniform(size=(80, 2))
    model = LogisticRegression(C=100.0).fit(rows, rows.sum(axis=1) > 1)
    found = lw.radius(model, space, lw.Similarity(), lw.ScoreGap(1.5), feature="x")
    true = 1.5 / abs(model.coef_[0, 0])  # a gap of scores is the slope times the difference
    assert found.proved <= true <= found.refuted <= found.proved * 1.002
    assert "proved up to" in str(found)
    assert found.to_dict()["certified"]


def test_nothing_is_proved_where_a_free_feature_breaks_it():
    model = LogisticRegression().fit(EVERYBODY.to_numpy(), EVERYBODY["c"])
    found = lw.radius(model, numbers(), lw.Similarity(free=["c"]), feature="a")
    assert (found.proved, found.refuted) == (None, 0.0)


def test_everything_is_proved_where_nothing_depends_on_it():
    model = LogisticRegression().fit(EVERYBODY.to_numpy(), EVERYBODY["c"])
    model.coef_[0, 0] = 0.0
    found = lw.radius(model, numbers(), lw.Similarity(), feature="a")
    assert (found.proved, found.refuted) == (6.0, None)
    assert str(found).startswith("every tolerance of a is proved  (for predict itself up to rounding of ")


def test_a_budget_that_ends_leaves_a_bracket():
    found = lw.radius(
        fitted("kernel", 0), numbers(), lw.Similarity(), lw.ScoreGap(0.01), feature="a", budget=1e-9
    )
    assert found.refuted is None or found.proved < found.refuted


def test_what_is_asked_must_make_sense():
    model = fitted("linear", 0)
    for similar, feature, word in (
        (lw.Similarity(), "z", "no feature 'z'"),
        (lw.Similarity(free=["a"]), "a", "free already"),
        (lw.Similarity(free=["a"]), None, "no tolerance"),
    ):
        with pytest.raises(SpecError, match=word):
            lw.radius(model, numbers(), similar, feature=feature)
    with pytest.raises(SpecError, match="categorical"):
        lw.radius(model, SPACE, lw.Similarity(), feature="c")


@pytest.mark.draw(1)
@pytest.mark.parametrize("seed", range(3))
def test_a_factor_multiplies_what_was_said_and_not_the_whole_number_below(seed):
    """A quarter of 0..6 is 1.5, and twice that is 3, not twice 1."""
    model = fitted("linear", seed)
    found = lw.radius(model, numbers(), lw.Similarity(within={"a": "25%", "b": 0.8}))

    def broken(factor):
        return broken_at(model, {"a": int(1.5 * factor), "b": int(0.8 * factor + 1e-12)})

    assert found.reason is None
    assert found.refuted is None or broken(found.refuted)
    assert not broken(found.proved)
    higher = [factor for factor in np.arange(0, 6, 0.01) if factor > found.proved + 1e-9]
    assert found.refuted is None or all(broken(f) for f in higher if f >= found.refuted)


@pytest.mark.some_days
def test_a_factor_is_put_on_levels_of_which_one_is_missing_as_well():
    """Scores hang on the size alone: at no factor from 1 on is it left out of what may differ."""
    space = lw.Space({"a": lw.Integer(0, 6), "size": lw.Ordinal(["s", "m", "l", None])})
    rows = pd.DataFrame(itertools.product(range(7), ["s", "m", "l", np.nan]), columns=["a", "size"])
    columns = make_column_transformer(
        (OneHotEncoder(categories=[["s", "m", "l", np.nan]]), ["size"]), remainder="passthrough"
    )
    model = make_pipeline(columns, LogisticRegression(C=100.0)).fit(rows, rows["size"] == "l")
    similar = lw.Similarity(within={"a": 1, "size": 1})
    assert lw.verify(model, space, similar, X=rows).verdict == "BIASED"
    found = lw.radius(model, space, similar, X=rows)
    assert found.proved < found.refuted == 1
    factors = {point.factor: point for point in margins(model, space, similar, X=rows, budget=20).points}
    assert factors[1].lower > 1 > factors[0].upper


@pytest.mark.draw(3)
@pytest.mark.parametrize("shift", [(-3, -3), ("-7/2", "-3/2")])
@pytest.mark.parametrize("gap", [5.5, 9, 13, 14, 15])
def test_room_around_a_shift_equals_brute_force(shift, gap):
    """Where a shift leads down by 3, a tolerance of 10 does not reach the highest income from the lowest: one of 13 does."""
    space = lw.Space({"income": lw.Integer(0, 10), "sex": lw.Categorical([0, 1])})
    people = list(itertools.product(range(11), range(2)))
    rows = pd.DataFrame(people, columns=["income", "sex"])
    model = LinearRegression().fit(rows, rows["income"])
    model.coef_, model.intercept_ = np.array([1.0, 5.0]), 0.0
    low, high = map(Fraction, shift)
    bands = {-1: (-high, -low), 0: (Fraction(0), Fraction(0)), 1: (low, high)}

    def room_of(x, other):
        grown, (least, most) = other[0] - x[0], bands[other[1] - x[1]]
        return max(least - grown, grown - most, 0)

    needed = [
        room_of(x, other)
        for x, other in itertools.product(people, repeat=2)
        if abs(other[0] - x[0] + 5 * (other[1] - x[1])) > gap
    ]
    similar = lw.Similarity(free=["sex"], along={"income": lw.Along("sex", {(0, 1): shift})})
    found = lw.radius(model, space, similar, lw.ScoreGap(gap), feature="income")
    assert found.reason is None
    assert found.refuted == min(needed, default=None)
    assert found.largest == 10 - low
    below = found.largest if not needed else max((n for n in range(20) if n < min(needed)), default=None)
    assert found.proved == below
