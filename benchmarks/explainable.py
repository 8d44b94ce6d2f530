"""Explainable boosting machines with their library's default settings: the largest gap, exactly, and how long it takes.

    python -m benchmarks explainable [--data adult german] [--seconds 20] [--bags 14]

Raw columns of Adult and German; what may differ is race, and sex with marital status. CPU seconds of one core: `read` is reading the machine and comparing it with the original, `score` and `probability` what
`measure` takes beyond that, on a second call, with loops compiled and what the machine was fitted on looked at; `alone` the same of scores without any rows.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
import warnings
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import likewise as lw
from likewise.datasets import load_adult, load_german

LOADERS = {"adult": load_adult, "german": load_german}
HEADINGS = (
    *("data", "terms", "entries", "read", "gap of scores", "score", "alone"),
    *("gap of probabilities", "probability", "verdict", "verify"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run; `seconds` is the budget of each call, `bags` (of fitting) are 14 by default."""

    data: tuple[str, ...] = tuple(LOADERS)
    seconds: float = 20.0
    bags: int = 14


def row(name: str, options: Options) -> list[str]:
    """One line of the table."""
    from interpret.glassbox import ExplainableBoostingClassifier

    data = LOADERS[name](frame="pandas")
    y = np.asarray(data.y)
    machine = ExplainableBoostingClassifier(n_jobs=1, outer_bags=options.bags)
    machine.fit(data.X, y == sorted(set(y.tolist()))[-1])
    similar, budget = lw.Similarity(free=list(data.protected)), options.seconds
    few = data.X.head(2)
    lw.measure(machine, data.space, similar, X=data.X, budget=budget)
    score, scored, read = _measured(machine, data.space, similar, X=data.X, budget=budget)
    _, alone, _ = _measured(machine, data.space, similar, X=few, budget=budget)
    share, shared, _ = _measured(machine, data.space, similar, of="probability", X=data.X, budget=budget)
    started = time.process_time()
    result = lw.verify(machine, data.space, similar, X=data.X, budget=budget)
    verified = time.process_time() - started - read
    return [
        name,
        str(len(machine.term_scores_)),
        f"{sum(table.size for table in machine.term_scores_):,}",
        f"{read:.2f}",
        f"[{score.lower:.6g}, {score.upper:.6g}]",
        f"{scored:.2f}",
        f"{alone:.2f}",
        f"[{share.lower:.6g}, {share.upper:.6g}]",
        f"{shared:.2f}",
        str(result.verdict),
        f"{verified:.2f}",
    ]


def _measured(
    machine: Any, space: lw.Space, similar: lw.Similarity, **known: Any
) -> tuple[Any, float, float]:
    """The bracket, the seconds that it took beyond reading, and those of reading."""
    from likewise.importers.imported_model import import_model

    started = time.process_time()
    import_model(machine, space, rows=space.encode(known["X"]), like=known["X"])
    read = time.process_time()
    found = lw.measure(machine, space, similar, **known)
    return found, time.process_time() - read - (read - started), read - started


def run(options: Options | None = None) -> None:
    """Print the table, each line also as soon as it is known."""
    chosen = options or Options()
    console, table = Console(width=160), Table(*HEADINGS)
    machine = platform.processor() or platform.machine()
    console.print(f"{machine}, Python {platform.python_version()}, {date.today()}, one core")
    for name in chosen.data:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            line = row(name, chosen)
        print(" | ".join(line), file=sys.stderr, flush=True)
        table.add_row(*line)
    console.print(table)


def main(arguments: list[str]) -> None:
    """With options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks explainable")
    parser.add_argument("--data", nargs="+", default=list(LOADERS), choices=list(LOADERS))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--bags", type=int, default=14)
    given = parser.parse_args(arguments)
    run(Options(data=tuple(given.data), seconds=given.seconds, bags=given.bags))
