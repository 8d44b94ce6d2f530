"""Rates of groups: proved brackets beside a sample, over data sets' marginals and over small populations with normal distributions.

    python -m benchmarks groups [--samples 10000000] [--budget 30]

Populations are products of the columns of the data, and of two small programs in the style of papers on probabilistic verification: *hiring* is the introductory example of FairSquare (Albarghouthi et al., 2017: college rank
and years of experience are normal, ranks of a minority are 5 worse; hired is who has a rank of at most 5, or years of experience of more than the rank less 5), *income* is a linear model and a tree over age, capital gain and capital loss.
Normal distributions are tables of intervals of a fiftieth of a standard deviation. Each line has the difference of the selection rates: ours, with its method and time, and that of so many draws from the same population by the model's own predict, with three standard errors, and the time they took.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from benchmarks.rbf import machine

SAMPLES, BUDGET = 10_000_000, 30.0
BATCH = 200_000
REACH, PIECES = 5, 500  # standard deviations on both sides, and intervals that they are cut into
Pieces = list[tuple[float, float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A model, and who people are."""

    name: str
    model: Any
    space: lw.Space
    by: str
    over: Any
    X: Any = None


def normal(mean: float, deviation: float) -> Pieces:
    """A normal distribution as intervals with weights, cut off five standard deviations away."""
    edges = np.linspace(mean - REACH * deviation, mean + REACH * deviation, PIECES + 1)
    below = [0.5 * (1 + math.erf((edge - mean) / (deviation * math.sqrt(2)))) for edge in edges.tolist()]
    pairs = zip(edges.tolist(), edges.tolist()[1:], below, below[1:], strict=False)
    return [(lo, hi, high - low) for lo, hi, low, high in pairs]


def hiring() -> Case:
    """hired = rank <= 5 or experience - rank > -5, which is 5 - rank + max(experience, 0) > 0 but for a border."""
    rank, more, years = normal(25, 10), normal(30, 10), normal(10, 5)
    space = lw.Space(
        {
            "minority": lw.Categorical([0, 1]),
            "rank": lw.Continuous(rank[0][0], more[-1][1]),
            "years": lw.Continuous(years[0][0], years[-1][1]),
        }
    )
    shift = -rank[0][0]  # so that a rank passes through a relu
    model = MLPClassifier((2,), max_iter=2, random_state=0)
    frame = pd.DataFrame([[0, 0.0, 0.0], [1, 40.0, 20.0]], columns=list(space.names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its weights are replaced
        model.fit(frame, [0, 1])
    model.coefs_ = [np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([[-1.0], [1.0]])]
    model.intercepts_ = [np.array([shift, 0.0]), np.array([5.0 + shift])]
    share = 0.5 * (1 - math.erf(1 / math.sqrt(2)))  # of those with an ethnicity above 10, of N(0, 10)
    people = lw.Population(
        {"minority": {0: 1 - share, 1: share}, "rank": {0: rank, 1: more}, "years": years},
        given={"rank": "minority"},
    )
    return Case(name="hiring, network of 2", model=model, space=space, by="minority", over=people)


def income(name: str) -> Case:
    """Age, capital gain and loss, of which men gain more."""
    age, loss = normal(38.6, 13.6), normal(87.3, 403.0)
    gain = {0: normal(568.4, 4924.0), 1: normal(1329.4, 8326.0)}
    ends = [(age[0][0], age[-1][1]), (gain[1][0][0], gain[1][-1][1]), (loss[0][0], loss[-1][1])]
    names = ("age", "gain", "loss")
    space = lw.Space(
        {
            "sex": lw.Categorical([0, 1]),
            **{n: lw.Continuous(*end) for n, end in zip(names, ends, strict=True)},
        }
    )
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": random.integers(0, 2, 4_000),
            "age": random.normal(38.6, 13.6, 4_000),
            "gain": random.normal(1000, 7000, 4_000),
            "loss": random.normal(87, 400, 4_000),
        }
    )
    for n, (lo, hi) in zip(names, ends, strict=True):
        frame[n] = frame[n].clip(lo, hi)
    label = (frame["gain"] / 7000 + (frame["age"] - 38) / 40 + random.normal(0, 0.3, 4_000) > 1).astype(int)
    models = {
        "linear": make_pipeline(StandardScaler(), LogisticRegression()),
        "tree": DecisionTreeClassifier(max_leaf_nodes=14, random_state=0),
        "network": make_pipeline(StandardScaler(), MLPClassifier((2,), max_iter=2000, random_state=1)),
    }
    people = lw.Population(
        {"sex": {0: 0.3307, 1: 0.6693}, "age": age, "gain": gain, "loss": loss}, given={"gain": "sex"}
    )
    return Case(
        name=f"income, {name}", model=models[name].fit(frame, label), space=space, by="sex", over=people
    )


def german() -> list[Case]:
    """All features of German as its columns are, by sex and marital status."""
    data = lw.datasets.load_german(coded=True)
    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "forest 50 x 5": RandomForestClassifier(50, max_depth=5, random_state=0),
        "boosting 30 x 3": HistGradientBoostingClassifier(max_iter=30, max_depth=3, random_state=0),
        "network of 16": make_pipeline(
            StandardScaler(), MLPClassifier((16,), max_iter=2000, random_state=0, alpha=1)
        ),
        "SVC": make_pipeline(StandardScaler(), SVC()),
    }
    return [
        Case(
            name=f"German, {name}",
            model=model.fit(data.X, data.y),
            space=data.space,
            by="sex_marital_status",
            over="marginals",
            X=data.X,
        )
        for name, model in models.items()
    ]


def draw(case: Case, value: Any, count: int, random: np.random.Generator) -> pd.DataFrame:
    """People of a group, by the tables or the columns themselves: nothing of the package is used."""
    columns = {}
    for name in case.space.names:
        if name == case.by:
            columns[name] = np.full(count, value)
        elif case.X is not None:
            columns[name] = random.choice(np.asarray(case.X[name]), count)
        else:
            table = case.over.tables[name]
            pieces = np.array(table[value] if name in case.over.given else table)
            weights = pieces[:, 2] / pieces[:, 2].sum()
            at = random.choice(len(pieces), count, p=weights)
            columns[name] = random.uniform(pieces[at, 0], pieces[at, 1])
    return pd.DataFrame(columns)


def sampled(case: Case, values: list[Any], samples: int) -> tuple[float, float]:
    """The difference of the rates of draws, and three standard errors of it."""
    random, rates = np.random.default_rng(1), []
    favourable = case.model.classes_[1]
    each = samples // len(values)
    for value in values:
        hits = 0
        for start in range(0, each, BATCH):
            people = draw(case, value, min(BATCH, each - start), random)
            hits += int((case.model.predict(people) == favourable).sum())
        rates.append(hits / each)
    error = 3 * math.sqrt(sum(rate * (1 - rate) / each for rate in (max(rates), min(rates))))
    return max(rates) - min(rates), error


def run(samples: int = SAMPLES, budget: float = BUDGET) -> None:
    """Print the table."""
    table = Table(title=f"difference of selection rates, {machine()}")
    for column in ("claim", "ours", "method", "seconds", f"{samples:,} draws", "seconds"):
        table.add_column(column, justify="left" if column in ("claim", "method") else "right")
    cases = [hiring(), *(income(name) for name in ("linear", "tree", "network")), *german()]
    for case in cases:
        began = time.perf_counter()
        found = lw.groups(case.model, case.space, case.by, over=case.over, X=case.X, budget=budget)
        took = time.perf_counter() - began
        low, high = found.difference()
        methods = {group.rates["selection_rate"].method for group in found.groups}
        began = time.perf_counter()
        values = [group.values[0] for group in found.groups]
        apart, error = sampled(case, values, samples)
        table.add_row(
            case.name,
            f"{low:.6f} to {high:.6f}",
            ", ".join(sorted(methods)),
            f"{took:.1f}",
            f"{apart:.6f} +- {error:.6f}",
            f"{time.perf_counter() - began:.1f}",
        )
        if apart + 2 * error < low or apart - 2 * error > high:
            raise SystemExit(f"{case.name}: the sample is far from the bracket")
    Console(width=150).print(table)


def main(arguments: list[str]) -> None:
    """Run with options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks groups")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--budget", type=float, default=BUDGET)
    given = parser.parse_args(arguments)
    run(given.samples, given.budget)
