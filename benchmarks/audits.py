"""Audits of every row of Adult, and shares of individuals with a differently treated counterpart.

    python -m benchmarks audits [--budget 30]

Adult (32,561 rows) and German through `StandardScaler` and one-hot columns; the data set's protected features are free. "CPU s" is one core; shares of
German's models are over all 3e17 individuals of its space, sampled at 99% within the budget, and for the linear model proved as well.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import likewise as lw
from benchmarks._standardised import Case, standardised
from benchmarks.rbf import ADULT_ROWS, machine
from likewise.analysis.share_result import ShareMethod

BUDGET = 30.0
ASKED: tuple[tuple[str, int | None, ShareMethod, tuple[str, ...]], ...] = (
    ("adult", ADULT_ROWS, "exact", ("RBF",)),
    ("german", None, "certified", ("logistic",)),
    ("german", None, "sampled", ("logistic", "RBF", "polynomial, degree 2")),
)


def models(name: str, rows: int | None) -> tuple[Case, dict[str, Any]]:
    """The data set's RBF model as in `benchmarks.rbf`, and others on the same columns, fitted on all rows."""
    case = standardised(name, rows=rows)
    data = getattr(lw.datasets, f"load_{name}")(frame="pandas")
    y = (np.asarray(data.y) == data.positive).astype(int)
    columns = case.model[0]
    made = {"logistic": make_pipeline(clone(columns), LogisticRegression(max_iter=1000)).fit(data.X, y)}
    made["RBF"] = case.model
    if name == "adult":
        for depth in (6, None):
            forest = RandomForestClassifier(100, max_depth=depth, random_state=0)
            made[f"forest of 100, {f'depth {depth}' if depth else 'whole'}"] = make_pipeline(
                clone(columns), forest
            ).fit(data.X, y)
        several = make_pipeline(clone(columns), LogisticRegression(max_iter=1000))
        made["logistic, 3 classes"] = several.fit(data.X, y + (data.X["hours-per-week"] > 40))
    if rows is None:
        quadratic = SVC(kernel="poly", degree=2, coef0=1.0)
        made["polynomial, degree 2"] = make_pipeline(clone(columns), quadratic).fit(data.X, y)
    return case, made


def audits() -> Table:
    """Every row of Adult."""
    table = Table(title=f"every row of Adult, race free, {machine()}")
    for column in ("model", "rows", "biased", "share", "redone exactly", "CPU s"):
        table.add_column(column, justify="left" if column == "model" else "right")
    case, made = models("adult", ADULT_ROWS)
    for name, model in made.items():
        started = time.process_time()
        found = lw.audit(model, case.space, case.similar, X=case.X, budget=300)
        seconds = time.process_time() - started
        table.add_row(
            name,
            f"{found.total:,}",
            f"{found.biased:,}",
            f"{found.share:.3%}",
            f"{found.stats['redone_exactly']:,}",
            f"{seconds:.1f}",
        )
    return table


def shares(budget: float) -> Table:
    """All individuals of Adult's grid and of German's space."""
    table = Table(title=f"shares over all individuals, {machine()}")
    for column in ("model", "method", "share", "width, pp", "looked at", "CPU s"):
        table.add_column(column, justify="left" if column in ("model", "method") else "right")
    for data, rows, method, names in ASKED:
        case, made = models(data, rows)
        for name in names:
            limit = 300.0 if method == "exact" else budget
            started = time.process_time()
            found = lw.share(made[name], case.space, case.similar, X=case.X, method=method, budget=limit)
            seconds = time.process_time() - started
            looked_at = found.stats.get("individuals", found.stats.get("samples"))
            row = [
                f"{data}, {name}",
                found.method if found.confidence is None else f"{found.method}, {found.confidence:.0%}",
                f"{found.lower:.4%} to {found.upper:.4%}",
                f"{100 * (found.upper - found.lower):.2g}",
                "" if looked_at is None else f"{looked_at:,}",
                f"{seconds:.1f}",
            ]
            table.add_row(*row)
            print("  ".join(row), file=sys.stderr, flush=True)
    return table


def run(budget: float = BUDGET) -> None:
    """Print both tables."""
    console = Console(width=140)
    console.print(audits())
    console.print(shares(budget))


def main(arguments: list[str]) -> None:
    """Run with options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks audits")
    parser.add_argument("--budget", type=float, default=BUDGET)
    run(parser.parse_args(arguments).budget)
