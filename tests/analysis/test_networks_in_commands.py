"""Networks in every command: what one says of them agrees with what the others say."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw

pytestmark = pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
SPACE = lw.Space(
    {
        "age": lw.Integer(18, 80),
        "income": lw.Continuous(10, 90),
        "job": lw.Categorical(["a", "b", "c"]),
        "sex": lw.Categorical(["f", "m"]),
    }
)
SIMILAR = lw.Similarity(free=["sex"])


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, 400),
            "income": rng.uniform(10, 90, 400).round(1),
            "job": rng.choice(["a", "b", "c"], 400),
            "sex": rng.choice(["f", "m"], 400),
        }
    )


def model_of(people, classes):
    """Slightly unfair to one sex."""
    good = people.age / 30 + people.income / 40 + (people.job == "b") + 0.2 * (people.sex == "m")
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["job", "sex"]), (StandardScaler(), ["age", "income"])
    )
    model = make_pipeline(columns, MLPClassifier((8,), random_state=0, max_iter=150))
    return model.fit(people, np.digitize(good, [3.6] if classes == 2 else [3, 4.2]))


@pytest.fixture(scope="module")
def two(people):
    return model_of(people, 2)


@pytest.fixture(scope="module")
def three(people):
    return model_of(people, 3)


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_the_largest_probability_gap_closes(two, people, seed):
    # The line that closes the last cells is the one that touches at their own pairs, not at better ones elsewhere.
    found = lw.measure(two, SPACE, SIMILAR, of="probability", X=people, budget=60, random_state=seed)
    assert found.reason is None
    assert found.upper - found.lower < 2e-6


def test_verdicts_agree_with_measures(two, people):
    gap = lw.measure(two, SPACE, SIMILAR, X=people, budget=60)
    assert lw.verify(two, SPACE, SIMILAR, lw.ScoreGap(gap.upper * 1.01), X=people).verdict == "FAIR"
    assert lw.verify(two, SPACE, SIMILAR, lw.ScoreGap(gap.lower * 0.99), X=people).verdict == "BIASED"


@pytest.mark.some_days
def test_shares_agree_with_audits(two, people):
    audit = lw.audit(two, SPACE, SIMILAR, X=people)
    assert lw.share(two, SPACE, SIMILAR, over=people).lower == audit.biased / len(people)
    proved = lw.share(two, SPACE, SIMILAR, X=people, method="certified", budget=10)
    sampled = lw.share(two, SPACE, SIMILAR, X=people, method="sampled", confidence=0.9999, budget=1)
    assert proved.upper - proved.lower < 0.01
    assert max(proved.lower, sampled.lower) <= min(proved.upper, sampled.upper)


def test_a_share_of_nobody_is_nothing_at_all(two, people):
    found = lw.share(two, SPACE, SIMILAR, lw.ScoreGap(2.0), X=people, budget=20)
    assert (found.lower, found.upper, found.method) == (0.0, 0.0, "certified")


def test_softmax_probabilities_of_networks_are_searched_and_not_proved(three, people):
    broken = lw.verify(three, SPACE, SIMILAR, lw.ProbabilityGap(0.01), X=people)
    assert broken.verdict == "BIASED"
    unbroken = lw.verify(three, SPACE, SIMILAR, lw.ProbabilityGap(0.5), X=people, budget=5)
    assert unbroken.verdict == "UNKNOWN"
    assert "softmax" in unbroken.reason


def test_networks_of_three_classes_are_compared_by_scores(three, people):
    found = lw.compare(three, three, SPACE, SIMILAR, X=people, budget=20)
    assert found.disparities[0].of == "score"
    assert str(found.change) != "worse"
