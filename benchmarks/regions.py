"""Regions: how much of a space is proved fair or biased within a budget, and in how many boxes.

Logistic regression on Credit and Adult, an RBF machine on five features of Credit; raw columns through a pipeline. The share that is
treated differently is an estimate from 3,000 random individuals, put to the models' own predict.

    python -m benchmarks regions [--budget 20]
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import likewise as lw

SAMPLE = 3000
FIVE = ["income", "limit", "cards", "student", "gender"]
KINDS = ("fair", "biased", "undecided")


def run() -> None:
    """With the usual budget."""
    main([])


def main(arguments: list[str]) -> None:
    """A line a model."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks regions")
    parser.add_argument("--budget", type=float, default=20)
    budget = parser.parse_args(arguments).budget
    print(f"{'model':<20}{'differently':>12}" + "".join(f"{kind:>20}" for kind in KINDS) + f"{'CPU s':>8}")
    for name, model, space, free in cases():
        started = time.process_time()
        found = lw.regions(model, space, lw.Similarity(free=free), budget=budget)
        seconds = time.process_time() - started
        shares = [f"{float(100 * found.share(kind)):.3f}% in {len(getattr(found, kind))}" for kind in KINDS]  # type: ignore[arg-type]
        differently = f"{100 * estimate(model, space, free):.1f}%"
        print(f"{name:<20}{differently:>12}" + "".join(f"{text:>20}" for text in shares) + f"{seconds:>8.1f}")


def cases() -> list[tuple[str, Any, lw.Space, list[str]]]:
    """Names, fitted models, spaces and what is free."""
    credit, adult = lw.datasets.load_credit(), lw.datasets.load_adult()
    five = lw.Space({name: credit.space[name] for name in FIVE})
    rows = credit.X[FIVE].sample(200, random_state=0)
    return [
        ("Credit, logistic", *fitted(LogisticRegression(max_iter=2000), credit), list(credit.protected)),
        ("Adult, logistic", *fitted(LogisticRegression(max_iter=2000), adult), list(adult.protected)),
        ("Credit of five, RBF", piped(SVC(), five).fit(rows, credit.y.loc[rows.index]), five, ["gender"]),
    ]


def fitted(last: Any, data: lw.datasets.Dataset) -> tuple[Any, lw.Space]:
    """The pipeline on all rows, and the space of the data."""
    return piped(last, data.space).fit(data.X, data.y), data.space


def piped(last: Any, space: lw.Space) -> Any:
    """Levels one-hot, numbers scaled."""
    levels = [name for name in space.names if space[name].kind in ("categorical", "ordinal")]
    encoder = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(make_column_transformer((encoder, levels), remainder=StandardScaler()), last)


def estimate(model: Any, space: lw.Space, free: list[str]) -> float:
    """The share of random individuals whose decision changes with what is free."""
    random = np.random.default_rng(0)
    columns: dict[str, Any] = {}
    for name, feature in space.features.items():
        if isinstance(feature, lw.Integer):
            columns[name] = random.integers(feature.lo, feature.hi + 1, SAMPLE)
        elif isinstance(feature, lw.Continuous):
            columns[name] = random.uniform(feature.lo, feature.hi, SAMPLE)
        else:
            columns[name] = random.choice(np.array(feature.levels, dtype=object), SAMPLE)
    people = pd.DataFrame(columns)
    settings = itertools.product(*(space[name].levels for name in free))  # type: ignore[union-attr]
    decided = np.array(
        [model.predict(people.assign(**dict(zip(free, values, strict=True)))) for values in settings]
    )
    return float((decided != decided[0]).any(axis=0).mean())
