"""What a first day asks: brackets of forests beside an audit of the rows, and claims about a kernel model that leave room.

    python -m benchmarks first_day [--forests german one-hot mortgages] [--seconds 10 60] [--levels 4 2]

Forests of full depth on German credit, once as a library makes them and once with 60 trees behind one column a level, and on made-up applications for mortgages (`_lending`) with race, sex and ethnicity free: the largest gap that an audit of the rows
shows, and the bracket that `measure` has within a budget. The same applications and an `SVC` behind standardised columns, with race free: the bracket, and `verify` of
claims above it, with what search and checker took. Budgets are CPU seconds, so that another program on the machine changes nothing.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
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
    """Forests and budgets of their brackets, and levels of claims about the kernel model."""

    forests: tuple[str, ...] = ("german", "one-hot", "mortgages")
    seconds: tuple[float, ...] = (10.0, 60.0)
    levels: tuple[float, ...] = (4.0, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A forest, and who is asked about."""

    model: Any
    X: Any
    space: lw.Space
    similar: lw.Similarity


def german_forest() -> Asked:
    """100 trees as a library makes them, of ordinal codes."""
    data = load_german(frame="pandas")
    similar = lw.Similarity(free=list(data.protected))
    return Asked(model=fitted("rf", data), X=data.X, space=data.space, similar=similar)


def one_hot_forest() -> Asked:
    """60 trees behind one column a level."""
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
    model = make_pipeline(columns, RandomForestClassifier(60, random_state=0)).fit(data.X, target)
    similar = lw.Similarity(free=list(data.protected))
    return Asked(model=model, X=data.X, space=data.space, similar=similar)


def mortgage_forest() -> Asked:
    """100 trees about made-up applications, behind one column a level; three features are free."""
    from sklearn.ensemble import RandomForestClassifier

    data = lending()
    model = behind_columns(RandomForestClassifier(random_state=0), data)
    return Asked(model=model, X=data.X, space=data.space, similar=data.similar)


FORESTS: dict[str, tuple[str, Callable[[], Asked]]] = {
    "german": ("German, 100 trees, ordinal codes", german_forest),
    "one-hot": ("German, 60 trees, one-hot", one_hot_forest),
    "mortgages": ("mortgages, 100 trees, one-hot", mortgage_forest),
}


def forest_lines(options: Options) -> list[list[str]]:
    """One line a forest and budget."""
    lines = []
    for name, make in (FORESTS[chosen] for chosen in options.forests):
        asked = make()
        about, known = (asked.model, asked.space, asked.similar), {"X": asked.X}
        audited = lw.audit(*about, lw.ProbabilityGap(0.0), budget=AUDIT_SECONDS, **known)
        gap = float(np.asarray(audited.rows["gap"]).max())
        for seconds in options.seconds:
            found = lw.measure(*about, of="probability", budget=seconds, **known)
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
    parser.add_argument("--forests", choices=list(FORESTS), nargs="+", default=list(Options().forests))
    parser.add_argument("--seconds", type=float, nargs="+", default=list(Options().seconds))
    parser.add_argument("--levels", type=float, nargs="+", default=list(Options().levels))
    given = parser.parse_args(arguments)
    run(Options(forests=tuple(given.forests), seconds=tuple(given.seconds), levels=tuple(given.levels)))
