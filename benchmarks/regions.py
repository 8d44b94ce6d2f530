"""Regions: how much of a space is proved fair or biased within a budget, and in how many boxes.

Logistic regression, boosting and a forest on Credit and Adult, an RBF machine on five features of Credit; raw columns through a pipeline.
The share that is treated differently is an estimate from 3,000 random individuals, put to the models' own predict; "confirmed" is how many
sampled members of the biased boxes get two decisions from it, of how many.

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
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import likewise as lw
from likewise.analysis.exploring import Kind
from likewise.analysis.region_result import share_text

SAMPLE, SAMPLE_OF_ONE = 3000, 25
FIVE = ["income", "limit", "cards", "student", "gender"]
KINDS: tuple[Kind, ...] = ("fair", "biased", "undecided")


def run() -> None:
    """With the usual budget."""
    main([])


def main(arguments: list[str]) -> None:
    """A line a model."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks regions")
    parser.add_argument("--budget", type=float, default=20)
    budget = parser.parse_args(arguments).budget
    print(
        f"{'model':<20}{'differently':>12}"
        + "".join(f"{kind:>19}" for kind in KINDS)
        + f"{'confirmed':>13}{'CPU s':>8}"
    )
    for name, model, space, free in cases():
        started = time.process_time()
        found = lw.regions(model, space, lw.Similarity(free=free), budget=budget)
        seconds = time.process_time() - started
        if sum(region.measure for region in found) != 1:
            raise AssertionError(f"{name}: the shares do not add up to one")
        shares = [f"{share_text(found.share(kind))} in {len(getattr(found, kind))}" for kind in KINDS]
        differently = f"{100 * float(flipped(model, people(space), space, free).mean()):.1f}%"
        told = [
            flipped(model, people(space, region.box, SAMPLE_OF_ONE), space, free) for region in found.biased
        ]
        confirmed = f"{sum(int(t.sum()) for t in told)} of {sum(map(len, told))}"
        print(
            f"{name:<20}{differently:>12}"
            + "".join(f"{text:>19}" for text in shares)
            + f"{confirmed:>13}{seconds:>8.1f}"
        )


def cases() -> list[tuple[str, Any, lw.Space, list[str]]]:
    """Names, fitted models, spaces and what is free."""
    credit, adult = lw.datasets.load_credit(), lw.datasets.load_adult()
    five = lw.Space({name: credit.space[name] for name in FIVE})
    rows = credit.X[FIVE].sample(200, random_state=0)
    return [
        ("Credit, logistic", *fitted(LogisticRegression(max_iter=2000), credit), list(credit.protected)),
        ("Adult, logistic", *fitted(LogisticRegression(max_iter=2000), adult), list(adult.protected)),
        ("Credit, boosting", *fitted(boosting(20, 3), credit), list(credit.protected)),
        ("Adult, boosting", *fitted(boosting(60, 4), adult), list(adult.protected)),
        ("Credit, forest", *fitted(forest(10, 4), credit), list(credit.protected)),
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


def boosting(trees: int, depth: int) -> Any:
    """A small one."""
    return GradientBoostingClassifier(n_estimators=trees, max_depth=depth, random_state=0)


def forest(trees: int, depth: int) -> Any:
    """A small one."""
    return RandomForestClassifier(trees, max_depth=depth, random_state=0)


def people(space: lw.Space, box: dict[str, list[Any]] | None = None, count: int = SAMPLE) -> pd.DataFrame:
    """Random individuals of a space, or of a box of it."""
    random, known = np.random.default_rng(0), box or {}
    columns: dict[str, Any] = {}
    for name, feature in space.features.items():
        if isinstance(feature, lw.Integer | lw.Continuous):
            lo, hi = known.get(name, [feature.lo, feature.hi])
            whole = isinstance(feature, lw.Integer)
            columns[name] = (
                random.integers(lo, hi + 1, count)
                if whole
                else np.clip(random.uniform(lo, hi, count), lo, hi)
            )
        else:
            columns[name] = random.choice(np.array(known.get(name, feature.levels), dtype=object), count)
    return pd.DataFrame(columns)


def flipped(model: Any, rows: pd.DataFrame, space: lw.Space, free: list[str]) -> np.ndarray:
    """Whose decision changes with what is free."""
    settings = itertools.product(*(space[name].levels for name in free))  # type: ignore[union-attr]
    decided = np.array(
        [model.predict(rows.assign(**dict(zip(free, values, strict=True)))) for values in settings]
    )
    changed: np.ndarray = (decided != decided[0]).any(axis=0)
    return changed
