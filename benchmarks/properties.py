"""Claims in one direction: does more of a feature ever hurt, by how much, and what does the answer take?

    python -m benchmarks properties [--seconds 20] [--models logistic boosting ...]

German: the score must not fall with the duration of a credit going down, everything else being the same. Of each model the verdict on `Monotone`, and the largest fall of the probability as a bracket, in CPU seconds of one core with the model's
reading; `sampled` is the largest fall among that many random pairs, which is what one has without a proof. `boosting, told` was fitted with a monotonic constraint.

A second table has counterfactual pairs: the largest gap of the probability between people who differ in being a foreign worker, with everything else the same, and with an amount of credit that changes along, as a made-up equation says; and with a job that
changes along by a table, and an amount that does so for some kinds of housing only.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.datasets import load_german
from likewise.spec.pairs import pair_space

HEADINGS = ("model", "verdict", "cells", "CPU s", "largest fall of P", "CPU s", "sampled")
FEATURE, PAIRS = "duration_months", 20_000
DIFFERS, FOLLOWS, BY = "is_foreign_worker", "credit_amount", -1000
JOB, JOBS = "job_status", {4: 3, 3: [2, 3]}  # of a foreign worker, by a made-up table
HOUSING, OWNERS = "housing_type", {"from": 2, "to": 2}
ALONG_HEADINGS = (
    "model",
    "same",
    "CPU s",
    "amount along",
    "CPU s",
    "cells",
    "table, where",
    "CPU s",
    "cells",
    "parts",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run; `seconds` is the budget of each call."""

    seconds: float = 20.0
    models: tuple[str, ...] = ()


def models(place: int, count: int) -> dict[str, Any]:
    """One a family; the constraint is on the feature at this place."""
    told = [-1 if k == place else 0 for k in range(count)]
    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "boosting": HistGradientBoostingClassifier(max_iter=40, random_state=0),
        "boosting, told": HistGradientBoostingClassifier(max_iter=40, monotonic_cst=told, random_state=0),
        "forest": RandomForestClassifier(20, max_depth=5, random_state=0),
        "network": make_pipeline(StandardScaler(), MLPClassifier((6,), max_iter=2000, random_state=0)),
    }


def sampled_fall(model: Any, X: Any, place: int, codes: np.ndarray[Any, Any]) -> float:
    """The largest fall of random pairs of rows that differ in the feature alone."""
    random = np.random.default_rng(0)
    rows = X.iloc[random.integers(len(X), size=PAIRS)].reset_index(drop=True)
    low, high = np.sort(random.choice(codes, (2, PAIRS)), axis=0)
    name = X.columns[place]
    falls = [model.predict_proba(rows.assign(**{name: side}))[:, 1] for side in (high, low)]
    return float(np.max(falls[0] - falls[1]))


def row(name: str, model: Any, data: Any, seconds: float) -> list[str]:
    """One line of the table."""
    place = list(data.X.columns).index(FEATURE)
    claim = lw.Monotone(FEATURE, -1)
    started = time.process_time()
    result = lw.verify(model, data.space, claim, X=data.X, budget=seconds)
    verified = time.process_time() - started
    started = time.process_time()
    fall = lw.measure(model, data.space, claim, of="probability", X=data.X, budget=seconds)
    measured = time.process_time() - started
    sampled = sampled_fall(model, data.X, place, data.X[FEATURE].to_numpy())
    bracket = f"[{fall.lower:.4f}, {fall.upper:.4f}]"
    cells = str(result.stats.get("cells", ""))
    return [
        name,
        str(result.verdict),
        cells,
        f"{verified:.2f}",
        bracket,
        f"{measured:.2f}",
        f"{max(sampled, 0):.4f}",
    ]


def along_claims(space: lw.Space) -> list[tuple[lw.Space, lw.Similarity]]:
    """Foreign workers beside others: who are the same, with an amount along, and with a job by a table and an amount under a condition."""
    levels = space.replace({DIFFERS: lw.Categorical([0, 1]), JOB: lw.Categorical([1, 2, 3, 4])})
    told = {
        JOB: lw.Along(DIFFERS, table={(0, 1): JOBS}),
        FOLLOWS: lw.Along(DIFFERS, {(0, 1): BY}, where={HOUSING: OWNERS}),
    }
    return [
        (space, lw.Similarity(free=[DIFFERS])),
        (space, lw.Similarity(free=[DIFFERS], along={FOLLOWS: lw.Along(DIFFERS, rate=BY)})),
        (levels, lw.Similarity(free=[DIFFERS], along=told)),
    ]


def along_row(name: str, model: Any, data: Any, seconds: float) -> list[str]:
    """One line of the table of counterfactual pairs."""
    told = [name]
    for n, (space, similar) in enumerate(along_claims(data.space)):
        started = time.process_time()
        found = lw.measure(model, space, similar, of="probability", X=data.X, budget=seconds)
        told += [f"[{found.lower:.4f}, {found.upper:.4f}]", f"{time.process_time() - started:.2f}"]
        if n:
            told.append(str(found.stats["cells"]))
    return [*told, str(len(pair_space(space, similar).branches))]


def run(options: Options | None = None) -> None:
    """Print the table."""
    chosen = options or Options()
    data = load_german(coded=True)
    y = np.asarray(data.y)
    place = list(data.X.columns).index(FEATURE)
    table = Table(
        *HEADINGS, title=f"{date.today()}, {platform.machine()}, German, less {FEATURE} never hurts"
    )
    along = Table(
        *ALONG_HEADINGS,
        title=f"largest gap of P by {DIFFERS}; with {FOLLOWS} {BY} along with it; with {JOB} by a table and {FOLLOWS} of owners",
    )
    for name, model in models(place, data.X.shape[1]).items():
        if not chosen.models or name in chosen.models:
            fitted = model.fit(data.X, y == sorted(set(y.tolist()))[0])
            table.add_row(*row(name, fitted, data, chosen.seconds))
            along.add_row(*along_row(name, fitted, data, chosen.seconds))
    console = Console(file=sys.stdout, width=140)
    console.print(table)
    console.print(along)


def main(arguments: list[str]) -> None:
    """The same from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks properties", description=__doc__)
    parser.add_argument("--seconds", type=float, default=Options().seconds)
    parser.add_argument("--models", nargs="+", default=())
    given = parser.parse_args(arguments)
    run(Options(seconds=given.seconds, models=tuple(given.models)))
