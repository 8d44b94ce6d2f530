"""Small data of every kind of feature, and the pipelines that the conformance tests fit on them."""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import likewise as lw

ROWS = 48
SPACE = lw.Space(
    {
        "age": lw.Integer(18, 30),
        "income": lw.Continuous(-2.5, 40.0),
        "wealth": lw.Continuous(10, 13),
        "city": lw.Categorical(["berlin", "oslo", "rome"]),
        "rooms": lw.Categorical([1, 2, 5]),
        "grade": lw.Ordinal(["low", "middle", "high"]),
        "stars": lw.Ordinal([0.5, 1.0, 2.5, 4.0]),
        "children": lw.Integer(0, 4),
    }
)
NUMBERS = ["age", "income", "wealth", "rooms", "stars", "children"]
LINES = ["income", "wealth"]  # continuous: only arithmetic is exact on them
COUNTED = ["age", "children", "rooms", "stars"]
WORDS = ["city", "grade"]


def people(seed=0, rows=ROWS):
    """Rows that take every discrete feature through all its values, and a label that depends on most."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": random.integers(18, 31, rows),
            "income": random.uniform(-2.5, 40, rows),
            "wealth": 10 + random.uniform(0, 3, rows),
            "city": random.choice(["berlin", "oslo", "rome"], rows),
            "rooms": random.choice([1, 2, 5], rows),
            "grade": random.choice(["low", "middle", "high"], rows),
            "stars": random.choice([0.5, 1.0, 2.5, 4.0], rows),
            "children": random.integers(0, 5, rows),
        }
    )
    for name in ("age", "city", "rooms", "grade", "stars", "children"):
        feature = SPACE[name]
        levels = range(feature.lo, feature.hi + 1) if isinstance(feature, lw.Integer) else feature.levels
        X.loc[: len(levels) - 1, name] = list(levels)
    target = 0.2 * X.age - 0.1 * X.income + (X.city == "oslo") + 0.3 * X.rooms + random.normal(0, 1, rows)
    return X, np.asarray(target), np.where(target > np.median(target), "yes", "no")


def quick_logistic():
    """Fitted in next to no time, also on numbers that nobody scaled."""
    return LogisticRegression(solver="liblinear")
