"""What a first day asks: brackets of forests beside an audit of the rows, and claims about a kernel model that leave room.

    python -m benchmarks first_day [--forests german one-hot mortgages] [--seconds 10 60] [--kernels mortgages german] [--times 6 3 1.5 1.05] [--levels ...]

Forests of full depth on German credit, once as a library makes them and once with 60 trees behind one column a level, and on made-up applications for mortgages (`_lending`) with race, sex and ethnicity free: the largest gap that an audit of the rows
shows, and the bracket that `measure` has within a budget. The same applications and German credit with an `SVC` behind standardised and one-hot columns, with race, or the protected feature, free: the bracket, and `verify` of
claims at several times its upper end, and at levels that are given, with what search and checker took and the leaves by rule. Budgets are CPU seconds, so that another program on the machine changes nothing.
"""

from __future__ import annotations

import argparse
import io
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
from likewise_check import check

AUDIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Forests and budgets of their brackets, kernel models, and claims about these: at so many times the bracket, and at levels."""

    forests: tuple[str, ...] = ("german", "one-hot", "mortgages")
    seconds: tuple[float, ...] = (10.0, 60.0)
    kernels: tuple[str, ...] = ("mortgages", "german")
    times: tuple[float, ...] = (6.0, 3.0, 1.5, 1.05)
    levels: tuple[float, ...] = ()


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


def mortgage_kernel() -> Asked:
    """An SVC about made-up applications; race is free."""
    from sklearn.svm import SVC

    data = lending()
    model, similar = behind_columns(SVC(), data), lw.Similarity(free=["race"])
    return Asked(model=model, X=data.X, space=data.space, similar=similar)


def german_kernel() -> Asked:
    """An SVC behind one column a level and standardised numbers."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import SVC

    data = load_german(frame="pandas")
    levels = {
        name: list(feature.levels)
        for name, feature in data.space.features.items()
        if isinstance(feature, (lw.Categorical, lw.Ordinal))
    }
    numbers = [name for name in data.space.names if name not in levels]
    coding = OneHotEncoder(categories=list(levels.values()))
    columns = make_column_transformer((coding, list(levels)), (StandardScaler(), numbers))
    target = np.asarray(data.y) == sorted(set(np.asarray(data.y).tolist()))[-1]
    model = make_pipeline(columns, SVC()).fit(data.X, target)
    similar = lw.Similarity(free=list(data.protected))
    return Asked(model=model, X=data.X, space=data.space, similar=similar)


KERNELS: dict[str, Callable[[], Asked]] = {"mortgages": mortgage_kernel, "german": german_kernel}


def kernel_lines(options: Options) -> list[list[str]]:
    """The brackets of SVCs, and one line a claim."""
    lines, budget = [], max(options.seconds)
    for name in options.kernels:
        asked = KERNELS[name]()
        about = asked.model, asked.space, asked.similar
        found = lw.measure(*about, X=asked.X, budget=budget)
        bracket = f"[{found.lower:.4g}, {found.upper:.4g}]"
        lines.append(
            [name, "measure", f"{found.stats['seconds']:.1f}", bracket, f"{found.stats['cells']:,}", "", ""]
        )
        claims = [(f"{times:g} x the bracket", times * found.upper) for times in options.times]
        claims += [(f"gaps up to {level:g}", level) for level in options.levels]
        for words, level in claims:
            result = lw.verify(*about, lw.ScoreGap(level), X=asked.X, budget=budget)
            stats = result.stats
            checked = f"{stats['check_seconds']:.1f}" if "check_seconds" in stats else ""
            said = f"{result.verdict} {'' if result.reason is None else f'({result.reason})'}".strip()
            spent = f"{stats['seconds']:.1f}"
            lines.append([name, words, spent, said, f"{stats['cells']:,}", checked, _leaves(result)])
    return lines


def _leaves(result: lw.Result) -> str:
    """How many leaves of its proof each rule has."""
    if result.certificate is None:
        return ""
    rules = check(io.BytesIO(result.certificate.content)).rules
    return ", ".join(f"{count:,} {rule}" for rule, count in sorted(rules.items()))


def run(options: Options | None = None) -> None:
    """Print both tables."""
    chosen, console = options or Options(), Console(width=140)
    machine = platform.processor() or platform.machine()
    console.print(f"{machine}, Python {platform.python_version()}, {date.today()}, CPU seconds of one core")
    before, clock.now = clock.now, time.process_time
    try:
        for headings, lines in (
            (("forest", "audited gap", "seconds", "largest gap", "cells"), forest_lines(chosen)),
            (
                ("kernel", "asked", "seconds", "answer", "cells", "check", "leaves"),
                kernel_lines(chosen),
            ),
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
    parser.add_argument("--kernels", choices=list(KERNELS), nargs="+", default=list(Options().kernels))
    parser.add_argument("--times", type=float, nargs="*", default=list(Options().times))
    parser.add_argument("--levels", type=float, nargs="*", default=list(Options().levels))
    given = parser.parse_args(arguments)
    run(
        Options(
            forests=tuple(given.forests),
            seconds=tuple(given.seconds),
            kernels=tuple(given.kernels),
            times=tuple(given.times),
            levels=tuple(given.levels),
        )
    )
