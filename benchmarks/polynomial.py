"""Polynomial kernels: the paper's eight models, decided, and how unfair the plain ones are at most.

    python -m benchmarks polynomial [--data german adult fraud credit] [--budget 600]

`SVC(kernel="poly", degree=2, C=1, gamma=0.001, coef0=0, max_iter=10000)` as fitted, converged or not; models ending in 1
plainly, those in 2 with the protected columns set to zero in training. Every verdict and every upper end has a certificate
that the checker has accepted; its time is included. Brackets are of the largest difference of scores of a similar pair
and of the largest margin min(s, -s') of a flip, to 1e-6. CPU seconds of one core, without compiling and fitting.
"""

import argparse
import platform
import time
import warnings
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

import likewise as lw
from benchmarks.linear import NAMES, PAPER_DATA, PAPER_SAYS, SETS, SPLIT
from likewise.datasets import paper_problem

BUDGET = 600
COLUMNS = ("model", "expected", "verdict", "CPU s", "of", "lower", "upper", "cells", "CPU s ")


def fitted(data: Any, *, masked: bool) -> Any:
    """The paper's polynomial model of a data set."""
    X = data.X.copy()
    if masked:
        X[list(data.protected)] = 0
    train, _, labels, _ = train_test_split(X, data.y, stratify=data.y, **SPLIT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(kernel="poly", degree=2, C=1, gamma=0.001, coef0=0, max_iter=10000)
        return model.fit(train, labels)


def timed(work: Callable[[], Any]) -> tuple[Any, str]:
    """What it gives and its CPU seconds."""
    started = time.process_time()
    return work(), f"{time.process_time() - started:.2f}"


def compile_bounds(model: Any, data: Any, similar: Any) -> None:
    """Once, before anything is timed."""
    lw.measure(model, data.space, similar, budget=1e-3)


def main(arguments: list[str]) -> None:
    """With options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks polynomial")
    parser.add_argument("--data", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--budget", type=float, default=BUDGET)
    given = parser.parse_args(arguments)
    run(given.data, budget=given.budget)


def run(names: Sequence[str] = NAMES, *, budget: float = BUDGET) -> None:
    """Print the table."""
    table = Table(title=f"polynomial kernels, {platform.machine()}, {platform.system()}, {date.today()}")
    for column in COLUMNS:
        table.add_column(column.strip(), justify="left" if column in COLUMNS[:3] else "right")
    compiled = False
    for name, title in SETS:
        if name not in names:
            continue
        try:
            data = paper_problem(name, PAPER_DATA, frame="pandas")
        except lw.DataError as error:
            Console(stderr=True).print(f"left out: {title} ({error})")
            continue
        similar = lw.Similarity(free=list(data.protected))
        for number, expected in PAPER_SAYS.items():
            model = fitted(data, masked=number == "2")
            if not compiled:
                compile_bounds(model, data, similar)
                compiled = True
            add_rows(table, f"{title} Poly{number}", expected, model, data.space, similar, budget)
    Console(width=130).print(table)


def add_rows(
    table: Table, name: str, expected: str, model: Any, space: Any, similar: Any, budget: float
) -> None:
    """The verdict, and for a biased model both brackets."""
    result, seconds = timed(lambda: lw.verify(model, space, similar, budget=budget))
    mark = "" if result.verdict == expected else "  (!)"
    start = (name, expected, f"{result.verdict}{mark}", seconds)
    if result.verdict != "BIASED":
        table.add_row(*start)
        return
    for of in ("score", "margin"):
        found, seconds = timed(partial(lw.measure, model, space, similar, of=of, budget=budget, certify=True))
        upper = f"{found.upper:.7g}" + ("" if found.proved else " (not proved)")
        table.add_row(*start, of, f"{found.lower:.7g}", upper, f"{found.stats['cells']:,}", seconds)
        start = ("", "", "", "")
