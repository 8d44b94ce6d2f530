"""What a first day asks: brackets of forests beside an audit of the rows, and claims about a kernel model that leave room.

    python -m benchmarks first_day [--seconds 10 60] [--levels 4 2]

Forests of full depth on German credit, once as a library makes them and once with 60 trees behind one column a level: the largest gap that an audit of the rows
shows, and the bracket that `measure` has within a budget. Made-up applications for mortgages (`_lending`) and an `SVC` behind standardised columns: the bracket, and `verify` of
claims above it, with what search and checker took. Budgets are CPU seconds, so that another program on the machine changes nothing.
"""

from __future__ import annotations

import argparse
import platform
import time
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import likewise as lw
from benchmarks._lending import behind_columns, lending
from benchmarks.defaults import fitted
from likewise import clock
from likewise.datasets import load_german

AUDIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Budgets of the brackets, and levels of claims about the kernel model."""

    seconds: tuple[float, ...] = (10.0, 60.0)
    levels: tuple[float, ...] = (4.0, 2.0)


def forests() -> dict[str, tuple[Any, Any]]:
    """German credit and the forests that it is asked about."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    data = load_german(frame="pandas")
    levels = {
        name: list(feature.levels)
        for name, feature in data.space.features.items()
        if isinstance(feature, (lw.Categorical, lw.Ordinal))
    }
    coding = OneHotEncoder(categories=list(levels.values()))
    columns = make_column_transformer((coding, list(levels)), remainder="passthrough")
    target = np.asarray(data.y) == sorted(set(np.asarray(data.y).tolist()))[-1]
    one_hot = make_pipeline(columns, RandomForestClassifier(60, random_state=0)).fit(data.X, target)
    return {"100 trees, ordinal codes": (data, fitted("rf", data)), "60 trees, one-hot": (data, one_hot)}


def forest_lines(options: Options) -> list[list[str]]:
    """One line a forest and budget."""
    lines = []
    for name, (data, model) in forests().items():
        similar, known = lw.Similarity(free=list(data.protected)), {"X": data.X}
        audited = lw.audit(model, data.space, similar, lw.ProbabilityGap(0.0), budget=AUDIT_SECONDS, **known)
        gap = float(np.asarray(audited.rows["gap"]).max())
        for seconds in options.seconds:
            found = lw.measure(model, data.space, similar, of="probability", budget=seconds, **known)
            bracket = f"[{found.lower:.4g}, {found.upper:.4g}]"
            lines.append([name, f"{gap:.4g}", f"{seconds:g}", bracket, f"{found.stats['cells']:,}"])
    return lines


def kernel_lines(options: Options) -> list[list[str]]:
    """The bracket of an SVC, and one line a claim."""
    from sklearn.svm import SVC

    data, similar = lending(), lw.Similarity(free=["race"])
    model, budget = behind_columns(SVC(), data), max(options.seconds)
    found = lw.measure(model, data.space, similar, X=data.X, budget=budget)
    lines = [["measure", f"{budget:g}", f"[{found.lower:.4g}, {found.upper:.4g}]", "", ""]]
    for level in options.levels:
        result = lw.verify(model, data.space, similar, lw.ScoreGap(level), X=data.X, budget=budget)
        stats = result.stats
        checked = f"{stats['check_seconds']:.1f}" if "check_seconds" in stats else ""
        said = f"{result.verdict} {'' if result.reason is None else f'({result.reason})'}".strip()
        lines.append(
            [f"gaps up to {level:g}", f"{stats['seconds']:.1f}", said, f"{stats['cells']:,}", checked]
        )
    return lines


def run(options: Options | None = None) -> None:
    """Print both tables."""
    chosen, console = options or Options(), Console(width=140)
    machine = platform.processor() or platform.machine()
    console.print(f"{machine}, Python {platform.python_version()}, {date.today()}, CPU seconds of one core")
    before, clock.now = clock.now, time.process_time
    try:
        for headings, lines in (
            (("forest", "audited gap", "seconds", "largest gap", "cells"), forest_lines(chosen)),
            (("kernel", "seconds", "answer", "cells", "check"), kernel_lines(chosen)),
        ):
            table = Table(*headings)
            for line in lines:
                table.add_row(*line)
            console.print(table)
    finally:
        clock.now = before


def main(arguments: list[str]) -> None:
    """With options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks first_day")
    parser.add_argument("--seconds", type=float, nargs="+", default=list(Options().seconds))
    parser.add_argument("--levels", type=float, nargs="+", default=list(Options().levels))
    given = parser.parse_args(arguments)
    run(Options(seconds=tuple(given.seconds), levels=tuple(given.levels)))
