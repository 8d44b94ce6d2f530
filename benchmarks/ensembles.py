"""A vote of three models beside each of them, boosters of one size beside each other, and an explainable boosting machine: the largest gap, and what it takes.

    python -m benchmarks ensembles [--seconds 20] [--trees 20] [--bags 14]

German, prepared as usual; what may differ are the protected features. CPU seconds of one core on a second call, with loops compiled: `read` is reading the model and comparing it with the original, `measure` what is
beyond that. The row of the vote is to be held against the sum of its parts, CatBoost against LightGBM (as many trees of the same depth; but the two models are not the same, and take as many `cells` as their gaps do), and the machine's exact gap of scores against a tenth of a second.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
import warnings
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw
from likewise.datasets import load_german

HEADINGS = ("model", "read", "of", "largest gap", "cells", "measure")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run; `seconds` is the budget of each call."""

    seconds: float = 20.0
    trees: int = 20
    bags: int = 14


def models(trees: int) -> dict[str, Any]:
    """Three that are read by different families, and their vote."""
    parts: dict[str, Any] = {
        "logistic regression": LogisticRegression(max_iter=1000),
        "random forest": RandomForestClassifier(trees, max_depth=3, random_state=0),
        "gradient boosting": GradientBoostingClassifier(n_estimators=trees, max_depth=2, random_state=0),
    }
    return {**parts, "vote of the three": VotingClassifier(list(parts.items()), voting="soft")}


def boosters(trees: int) -> dict[str, Any]:
    """Two libraries with as many trees of the same depth."""
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier

    grown: dict[str, Any] = {"n_estimators": trees, "max_depth": 4, "random_state": 0}
    return {
        "LightGBM": LGBMClassifier(num_leaves=16, n_jobs=1, verbose=-1, **grown),
        "CatBoost": CatBoostClassifier(thread_count=1, verbose=0, allow_writing_files=False, **grown),
    }


def row(name: str, model: Any, options: Options) -> list[str]:
    """One line of the table."""
    data = load_german(frame="pandas")
    y = np.asarray(data.y)
    words = make_column_selector(dtype_exclude=np.number)
    prepared = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words), remainder=StandardScaler()
    )
    fitted = make_pipeline(prepared, model).fit(data.X, y == sorted(set(y.tolist()))[-1])
    return _timed(name, fitted, "probability", data, data.X, options.seconds)


def machine_row(options: Options) -> list[str]:
    """The line of an explainable boosting machine on raw columns, without rows to begin with."""
    from interpret.glassbox import ExplainableBoostingClassifier

    data = load_german(frame="pandas")
    y = np.asarray(data.y)
    machine = ExplainableBoostingClassifier(n_jobs=1, outer_bags=options.bags)
    machine.fit(data.X, y == sorted(set(y.tolist()))[-1])
    return _timed("explainable boosting", machine, "score", data, data.X.head(2), options.seconds)


def _timed(
    name: str, fitted: Any, of: Literal["score", "probability"], data: Any, rows: Any, seconds: float
) -> list[str]:
    """What reading takes, and what measuring takes beyond it; a second time, with all loops compiled."""
    from likewise.importers.imported_model import import_model

    similar, read, taken = lw.Similarity(free=list(data.protected)), 0.0, 0.0
    for _ in range(2):
        started = time.process_time()
        import_model(fitted, data.space, rows=data.space.encode(rows), like=rows)
        read = time.process_time() - started
        started = time.process_time()
        found = lw.measure(fitted, data.space, similar, of=of, X=rows, budget=seconds)
        taken = time.process_time() - started - read
    cells = f"{found.stats['cells']:,}"
    return [name, f"{read:.2f}", of, f"[{found.lower:.6f}, {found.upper:.6f}]", cells, f"{taken:.2f}"]


def run(options: Options | None = None) -> None:
    """Print the table."""
    chosen = options or Options()
    table = Table(*HEADINGS, title=f"{date.today()}, {platform.machine()}, {chosen.trees} trees each")
    for name, model in {**models(chosen.trees), **boosters(chosen.trees)}.items():
        table.add_row(*row(name, model, chosen))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table.add_row(*machine_row(chosen))
    Console(file=sys.stdout, width=120).print(table)


def main(arguments: list[str]) -> None:
    """The same from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks ensembles", description=__doc__)
    parser.add_argument("--seconds", type=float, default=Options().seconds)
    parser.add_argument("--trees", type=int, default=Options().trees)
    parser.add_argument("--bags", type=int, default=Options().bags)
    given = parser.parse_args(arguments)
    run(Options(seconds=given.seconds, trees=given.trees, bags=given.bags))
