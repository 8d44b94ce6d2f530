"""Regions: how much of a space is proved fair or biased within a budget, and in how many boxes.

Logistic regression, boosting, XGBoost, LightGBM, forests and RBF machines on Credit, Adult and data as of recidivism; raw columns through
a pipeline. The share that is treated differently is an estimate from 3,000 random individuals, put to the models' own predict; "confirmed" is
how many sampled members of the biased boxes get two decisions from it, of how many. Under fair, biased and undecided: of the space, and of the rows.

    python -m benchmarks regions [--budget 20] [--only NAME]
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from xgboost import XGBClassifier

import likewise as lw
from likewise.analysis.region_merge import RegionKind
from likewise.figures import percent_text

SAMPLE, SAMPLE_OF_ONE = 3000, 25
FIVE = ["income", "limit", "cards", "student", "gender"]
KINDS: tuple[RegionKind, ...] = ("fair", "biased", "undecided")


def run() -> None:
    """With the usual budget."""
    main([])


def main(arguments: list[str]) -> None:
    """A line a model."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks regions")
    parser.add_argument("--budget", type=float, default=20)
    parser.add_argument("--only", default="", help="models with this in their name")
    asked = parser.parse_args(arguments)
    print(
        f"{'model':<20}{'differently':>12}"
        + "".join(f"{f'{kind}, of rows':>27}" for kind in KINDS)
        + f"{'confirmed':>14}{'CPU s':>7}"
    )
    for name, made in cases().items():
        if asked.only in name:
            print(line(made(), asked.budget), flush=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A fitted model, whom it is about, and what is free."""

    name: str
    model: Any
    space: lw.Space
    X: pd.DataFrame
    free: list[str]


def line(case: Case, budget: float) -> str:
    """What regions say of one model."""
    model, space, free = case.model, case.space, case.free
    started = time.process_time()
    found = lw.regions(model, space, lw.Similarity(free=free), X=case.X, budget=budget)
    seconds = time.process_time() - started
    if sum(region.measure for region in found) != 1:
        raise AssertionError(f"{case.name}: the shares do not add up to one")
    shares = []
    for kind in KINDS:
        boxes = getattr(found, kind)
        rows = np.zeros(len(case.X), dtype=bool)
        for region in boxes:
            rows |= within(case.X, region.box)
        shares.append(f"{percent_text(found.share(kind))}, {100 * rows.mean():.1f}% in {len(boxes)}")
    differently = f"{100 * float(flipped(model, people(space), space, free).mean()):.1f}%"
    told = [flipped(model, people(space, region.box, SAMPLE_OF_ONE), space, free) for region in found.biased]
    confirmed = f"{sum(int(t.sum()) for t in told)} of {sum(map(len, told))}"
    return (
        f"{case.name:<20}{differently:>12}"
        + "".join(f"{text:>27}" for text in shares)
        + f"{confirmed:>14}{seconds:>7.1f}"
    )


def within(X: pd.DataFrame, box: dict[str, list[Any]]) -> np.ndarray:
    """Which rows lie in a box."""
    inside = np.ones(len(X), dtype=bool)
    for name, part in box.items():
        column = X[name]
        numbers = len(part) == 2 and not isinstance(part[0], str)
        inside &= np.asarray(column.between(*part) if numbers else column.isin(part))
    return inside


def cases() -> dict[str, Callable[[], Case]]:
    """All of them by name, each fitted when it is called for."""
    kinds = {
        "logistic": LogisticRegression(max_iter=2000),
        "XGBoost": XGBClassifier(n_estimators=50, max_depth=4, n_jobs=1),
        "LightGBM": LGBMClassifier(n_estimators=50, num_leaves=15, n_jobs=1, verbose=-1),
    }
    credit, adult, offenders = lw.datasets.load_credit(), lw.datasets.load_adult(), recidivism()
    adult = replace(adult, y=(adult.y == adult.positive).astype(int))
    listed = [
        ("Credit, logistic", kinds["logistic"], credit),
        ("Adult, logistic", kinds["logistic"], adult),
        ("Credit, boosting", boosting(20, 3), credit),
        ("Adult, boosting", boosting(60, 4), adult),
        ("Credit, forest", forest(10, 4), credit),
        *(
            (f"{name}, {kind}", kinds[kind], data)
            for name, kind, data in (
                ("Offenders", "logistic", offenders),
                ("Offenders", "XGBoost", offenders),
                ("Offenders", "LightGBM", offenders),
                ("Adult", "XGBoost", adult),
                ("Adult", "LightGBM", adult),
            )
        ),
    ]
    found: dict[str, Callable[[], Case]] = {
        name: partial(case_of, name, last, data) for name, last, data in listed
    }
    found["Credit of five, RBF"] = partial(case_of, "Credit of five, RBF", SVC(), credit, FIVE, 200)
    found["Offenders, RBF"] = partial(case_of, "Offenders, RBF", SVC(), offenders, offenders.space.names, 300)
    return found


def case_of(
    name: str,
    last: Any,
    data: lw.datasets.Dataset,
    columns: Sequence[str] | None = None,
    count: int | None = None,
) -> Case:
    """A model fitted on some columns of so many rows."""
    space = data.space if columns is None else lw.Space({column: data.space[column] for column in columns})
    X = data.X[list(space.names)]
    some = X if count is None else X.sample(count, random_state=0)
    model = piped(last, space).fit(some, data.y.loc[some.index])
    free = [column for column in data.protected if column in space]
    return Case(name=name, model=model, space=space, X=X, free=free)


def recidivism(count: int = 6000) -> lw.datasets.Dataset:
    """Made data with the columns of those that recidivism scores are told on: young people with many priors come back more often."""
    random = np.random.default_rng(0)
    age = np.clip(18 + random.gamma(2.0, 8.5, count), 18, 80).astype(int)
    priors = np.minimum(random.negative_binomial(0.6, 0.16, count), 38)
    young = {name: np.minimum(random.poisson(0.08, count), 5) for name in ("felonies", "misdemeanours")}
    race = random.choice(["african", "caucasian", "hispanic", "other"], count, p=[0.5, 0.34, 0.1, 0.06])
    X = pd.DataFrame(
        {
            "age": age,
            "priors": priors,
            **young,
            "charge": random.choice(["felony", "misdemeanour"], count, p=[0.64, 0.36]),
            "sex": random.choice(["female", "male"], count, p=[0.2, 0.8]),
            "race": race,
        }
    )
    lean = 0.14 * X.priors - 0.045 * (X.age - 32) + 0.35 * (X.sex == "male") + 0.25 * (X.charge == "felony")
    lean += 0.5 * X.felonies + 0.3 * X.misdemeanours + 0.25 * (X.race == "african") - 0.9
    y = pd.Series((lean + random.logistic(size=count) > 0).astype(int), index=X.index)
    space = lw.Space(
        {
            "age": lw.Integer(18, 96),
            "priors": lw.Integer(0, 38),
            "felonies": lw.Integer(0, 20),
            "misdemeanours": lw.Integer(0, 13),
            "charge": lw.Categorical(["felony", "misdemeanour"]),
            "sex": lw.Categorical(["female", "male"]),
            "race": lw.Categorical(["african", "caucasian", "hispanic", "other"]),
        }
    )
    return lw.datasets.Dataset(
        name="offenders",
        X=X,
        y=y,
        label="recidivism",
        positive=1,
        protected=("race",),
        space=space,
        description="made data",
    )


def fitted(last: Any, data: lw.datasets.Dataset) -> tuple[Any, lw.Space]:
    """The pipeline on all rows, and the space of the data."""
    return piped(last, data.space).fit(data.X, data.y), data.space


def piped(last: Any, space: lw.Space) -> Any:
    """Levels one-hot, numbers scaled."""
    levels = [name for name in space.names if space[name].kind in ("categorical", "ordinal")]
    encoder = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(
        make_column_transformer((encoder, levels), remainder=StandardScaler(), sparse_threshold=0), last
    )


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
