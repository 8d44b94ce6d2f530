"""A claim with names that are markup, its answers, and documents of all analyses about it."""

import numpy as np
import pandas as pd
import pytest
from tests.report.samples import JOB, LEVELS, SEX, fitted, region

import likewise as lw


@pytest.fixture(scope="session")
def claim():
    space = lw.Space(
        {
            SEX: lw.Categorical([0, 1]),
            JOB: lw.Categorical(LEVELS),
            "age": lw.Integer(18, 69),
            "income": lw.Continuous(0.0, 100.0),
        },
        constraints=["age <= 68"],
    )
    random = np.random.default_rng(0)
    n = 90
    X = pd.DataFrame(
        {
            SEX: random.integers(0, 2, n),
            JOB: random.choice(LEVELS, n),
            "age": random.integers(18, 68, n),
            "income": random.uniform(0, 100, n).round(1),
        }
    )
    y = np.where(X.income + 20 * X[SEX] + X.age / 4 + random.normal(0, 5, n) > 65, "<b>yes</b>", "no")
    return space, X, y


@pytest.fixture(scope="session")
def biased(claim):
    space, X, y = claim
    return lw.verify(fitted(X, y), space, lw.Similarity(free=[SEX], within={"age": 5}), X=X, budget=20)


@pytest.fixture(scope="session")
def fair(claim):
    space, X, y = claim
    return lw.verify(fitted(X.assign(**{SEX: 0}), y), space, lw.Similarity(free=[SEX]), budget=20)


@pytest.fixture(scope="session")
def analyses():
    """Documents of every analysis, as their `to_dict` makes them."""
    rows = [
        {
            "row": i,
            "biased": (True, None, False)[i % 3],
            "gap": None if i % 3 == 1 else 0.5 + ((7 * i) % 40) / 100,
            "decision": "<b>yes</b>",
            "counterpart_decision": "no",
            "proved": True,
            f"counterpart_{SEX}": i % 2,
            "counterpart_age": 20 + (i if i % 3 == 1 else i % 10),  # no two rows are equal
        }
        for i in range(40)
    ]
    return {
        "disparity": {
            "of": "score",
            "lower": 1.0,
            "upper": 1.5,
            "history": [[0.0, 0.5, None], [0.1, 0.8, 3.0], [0.4, 1.0, 1.5]],
            "proved": False,
            "reason": "the budget of 1 s is used up",
        },
        "margins": {
            "of": "margin",
            "points": [
                [0.0, -0.5, -0.4, True],
                [1.0, -0.1, 0.3, False],
                [2.0, 0.2, 0.5, False],
                [4.0, 0.2, None, False],
            ],
            "reason": "the budget <b> is used up",
        },
        "radius": {
            "of": "age",
            "proved": 1.0,
            "refuted": 3.0,
            "largest": 51.0,
            "history": [[51.0, "BIASED", 0.1], [1.0, "FAIR", 0.2], [2.0, "UNKNOWN", 0.5]],
            "reason": "undecided at 2: the budget is used up",
        },
        "share": {
            "lower": 0.1,
            "upper": 0.25,
            "method": "sampled",
            "confidence": 0.99,
            "over": "all individuals",
            "proved": True,
            "reason": None,
        },
        "groups": {
            "by": ["sex & more"],
            "favourable": "<granted>",
            "over": "the 40 rows of the data",
            "groups": [
                {"values": [value], "share": 0.5, "selection_rate": rate}
                for value, rate in (
                    (
                        "f",
                        {
                            "lower": 0.25,
                            "upper": 0.25,
                            "method": "exact",
                            "hits": 5,
                            "count": 20,
                            "interval": [0.07, 0.52],
                        },
                    ),
                    (
                        None,
                        {
                            "lower": 0.5,
                            "upper": 0.5,
                            "method": "exact",
                            "hits": 10,
                            "count": 20,
                            "interval": [0.2, 0.8],
                        },
                    ),
                )
            ],
            "differences": {"selection_rate": [0.25, 0.25]},
            "ratios": {"selection_rate": [0.5, 0.5]},
            "equalized_odds": None,
            "four_fifths": False,
            "confidence": 0.99,
            "proved": True,
            "reason": None,
        },
        "audit": {
            "total": 40,
            "biased": 14,
            "undecided": 13,
            "share": 0.35,
            "share_at_most": 0.675,
            "proved": True,
            "reasons": {"the budget & more": 13},
            "rows": rows,
        },
        "regions": {
            "fair": [region("fair", "income <= 20", {"income": [0.0, 20.0]}, 0.2)],
            "biased": [
                region(
                    "biased",
                    f"{JOB} and income > 20",
                    {"income": [20.0, 100.0], JOB: LEVELS[:2]},
                    0.8 * 2 / 3,
                )
            ],
            "undecided": [
                region(
                    "undecided",
                    "age <= 42",
                    {"income": [20.0, 100.0], JOB: LEVELS[2:], "age": [18, 42]},
                    0.8 / 3 * 25 / 52,
                )
            ],
            "empty": [
                region(
                    "empty",
                    "age >= 43",
                    {"income": [20.0, 100.0], JOB: LEVELS[2:], "age": [43, 69]},
                    0.8 / 3 * 27 / 52,
                )
            ],
            "shares": {
                "fair": 0.2,
                "biased": 1.6 / 3,
                "undecided": 0.8 / 3 * 25 / 52,
                "empty": 0.8 / 3 * 27 / 52,
            },
            "around": None,
            "reason": None,
        },
        "repair": {
            "method": "average",
            "settings": 2,
            "kept": None,
            "threshold": None,
            "rows": 1200,
            "changed": 30,
            "measure": "accuracy",
            "before": 0.7625,
            "after": 0.75,
            "features": [SEX],
            "how": f"the mean score over all settings of {SEX} (2)",
            "result": {"verdict": "FAIR", "reason": None, "certified": True},
        },
    }


@pytest.fixture(scope="session")
def page(biased, analyses, tmp_path_factory):
    """The report with everything in it."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    return biased.report(path, **analyses, command="likewise report <claim>.toml -o report.html")
