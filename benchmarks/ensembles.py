"""A vote of three models beside each of them: the largest gap of probabilities, and what it takes.

    python -m benchmarks ensembles [--seconds 20] [--trees 20]

German, prepared as usual; what may differ are the protected features. CPU seconds of one core on a second call, with loops compiled: `read` is reading the model and comparing it with the original, `measure` what is
beyond that. The last row is the soft vote of the others, to be held against the sum of its parts.
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
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw
from likewise.datasets import load_german

HEADINGS = ("model", "read", "gap of probabilities", "measure")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run; `seconds` is the budget of each call."""

    seconds: float = 20.0
    trees: int = 20


def models(trees: int) -> dict[str, Any]:
    """Three that are read by different families, and their vote."""
    parts: dict[str, Any] = {
        "logistic regression": LogisticRegression(max_iter=1000),
        "random forest": RandomForestClassifier(trees, max_depth=3, random_state=0),
        "gradient boosting": GradientBoostingClassifier(n_estimators=trees, max_depth=2, random_state=0),
    }
    return {**parts, "vote of the three": VotingClassifier(list(parts.items()), voting="soft")}


def row(name: str, model: Any, options: Options) -> list[str]:
    """One line of the table."""
    from likewise.importers.imported_model import import_model

    data = load_german(frame="pandas")
    y = np.asarray(data.y)
    words = make_column_selector(dtype_exclude=np.number)
    prepared = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words), remainder=StandardScaler()
    )
    fitted = make_pipeline(prepared, model).fit(data.X, y == sorted(set(y.tolist()))[-1])
    similar = lw.Similarity(free=list(data.protected))
    import_model(fitted, data.space, rows=data.space.encode(data.X), like=data.X)
    started = time.process_time()
    import_model(fitted, data.space, rows=data.space.encode(data.X), like=data.X)
    read = time.process_time() - started
    started = time.process_time()
    found = lw.measure(fitted, data.space, similar, of="probability", X=data.X, budget=options.seconds)
    taken = time.process_time() - started - read
    return [name, f"{read:.2f}", f"[{found.lower:.4f}, {found.upper:.4f}]", f"{taken:.2f}"]


def run(options: Options | None = None) -> None:
    """Print the table."""
    chosen = options or Options()
    table = Table(*HEADINGS, title=f"{date.today()}, {platform.machine()}, {chosen.trees} trees each")
    for name, model in models(chosen.trees).items():
        table.add_row(*row(name, model, chosen))
    Console(file=sys.stdout, width=120).print(table)


def main(arguments: list[str]) -> None:
    """The same from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks ensembles", description=__doc__)
    parser.add_argument("--seconds", type=float, default=Options().seconds)
    parser.add_argument("--trees", type=int, default=Options().trees)
    given = parser.parse_args(arguments)
    run(Options(seconds=given.seconds, trees=given.trees))
