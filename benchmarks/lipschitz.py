"""How fast scores change: the least Lipschitz constant as a bracket, beside a sample of slopes and, of networks, the product of the norms of their layers.

    python -m benchmarks lipschitz [--seconds 20] [--models linear polynomial ...] [--kinds l2 ...]

Credit: a rating of 0 to 1 from five numbers, each divided by its spread in the rows. Ours is `measure(of="lipschitz")`, in CPU seconds of one core with reading the model: its lower end is a pair, its upper end a proof that the checker accepted. `sampled` is the steepest of so many random pairs near each other,
`norms` what is known of a network without a search: the product of its layers' norms. A sample above the upper end ends the run.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import likewise as lw
from benchmarks.rbf import machine

Array = np.ndarray[Any, Any]
COLUMNS = ("Income", "Limit", "Rating", "Age", "Education")
NORMS = {"l1": 1, "l2": 2, "linf": np.inf}
PAIRS, NEAR = 200_000, 0.02  # the share of their spreads that pairs are apart
HEADINGS = ("model", "metric", "least L", "CPU s", "proof", "sampled", "norms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run; `seconds` is the budget of each bracket."""

    seconds: float = 20.0
    models: tuple[str, ...] = ("linear", "polynomial", "rbf", "network", "tree, whole numbers")
    kinds: tuple[Any, ...] = ("l1", "l2", "linf")


def models() -> dict[str, Any]:
    """One a family."""
    network = MLPRegressor(hidden_layer_sizes=(6, 6), max_iter=2000, random_state=0)
    return {
        "linear": make_pipeline(StandardScaler(), LinearRegression()),
        "polynomial": make_pipeline(StandardScaler(), SVR(kernel="poly", degree=2, coef0=1, gamma=0.1)),
        "rbf": make_pipeline(StandardScaler(), SVR(gamma=0.02)),
        "network": make_pipeline(StandardScaler(), network),
        "tree, whole numbers": DecisionTreeRegressor(max_depth=4, random_state=0),
    }


def product_of_norms(model: Any, kind: str, spreads: Array) -> float:
    """An upper end for a network: each layer's operator norm, from the metric's own norm to the largest, and from there on."""
    layers = [weights.T for weights in model[-1].coefs_]
    first = layers[0] / model[0].scale_ * spreads  # per spread of each feature
    dual = {"l1": np.inf, "l2": 2, "linf": 1}[kind]
    found = float(np.linalg.norm(first, ord=dual, axis=1).max())  # to the largest of all neurons
    for weights in layers[1:]:
        found *= float(np.abs(weights).sum(axis=1).max())
    return found


def sampled(model: Any, X: Any, ends: Array, spreads: Array, kind: str, *, whole: bool) -> float:
    """The steepest of random pairs near each other."""
    random = np.random.default_rng(0)
    rows = X.to_numpy(float)[random.integers(len(X), size=PAIRS)]
    moved = rows + random.normal(size=rows.shape) * spreads * NEAR * random.uniform(size=(PAIRS, 1))
    moved = np.clip(np.round(moved) if whole else moved, *ends)
    apart = np.linalg.norm((moved - rows) / spreads, ord=NORMS[kind], axis=1)
    gaps = np.abs(
        model.predict(X.__class__(rows, columns=X.columns))
        - model.predict(X.__class__(moved, columns=X.columns))
    )
    return float(np.max(gaps[apart > 0] / apart[apart > 0], initial=0.0))


def run(options: Options | None = None) -> None:
    """Print the table."""
    chosen = options or Options()
    data = lw.datasets.load_credit(coded=True)
    X = data.X[list(COLUMNS)].astype(float)
    spreads = X.to_numpy().std(axis=0)
    rating = X.Rating / X.Rating.max() + 0.05 * np.sin(X.Age / 9) * (X.Income / X.Income.max())
    ends = np.stack([X.to_numpy().min(axis=0), X.to_numpy().max(axis=0)])
    table = Table(*HEADINGS, title=machine())
    for name, model in models().items():
        if name not in chosen.models:
            continue
        whole = name.endswith("whole numbers")
        given = X.round() if whole else X
        feature: Any = lw.Integer if whole else lw.Continuous
        space = lw.Space({c: feature(*_ends(given[c], whole=whole)) for c in COLUMNS})
        model.fit(given, rating)
        for kind in chosen.kinds:
            weights = {c: f"{1 / spread:.6g}" for c, spread in zip(COLUMNS, spreads, strict=True)}
            started = time.process_time()
            metric = lw.Metric(kind, weights=weights)
            found = lw.measure(model, space, of="lipschitz", metric=metric, X=given, budget=chosen.seconds)
            seconds = time.process_time() - started
            steepest = sampled(model, given, ends.round() if whole else ends, spreads, kind, whole=whole)
            if steepest > found.upper * (1 + 1e-4):
                raise SystemExit(f"{name}, {kind}: a pair has {steepest}, above the proved {found.upper}")
            norms = f"{product_of_norms(model, kind, spreads):.4g}" if name == "network" else ""
            bracket, proof = f"[{found.lower:.4g}, {found.upper:.4g}]", "yes" if found.certificate else "no"
            table.add_row(name, kind, bracket, f"{seconds:.2f}", proof, f"{steepest:.4g}", norms)
    Console(file=sys.stdout, width=120).print(table)


def _ends(column: Any, *, whole: bool) -> tuple[Any, Any]:
    return (int(column.min()), int(column.max())) if whole else (float(column.min()), float(column.max()))


def main(arguments: list[str]) -> None:
    """The same from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks lipschitz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=Options().seconds)
    parser.add_argument("--models", nargs="+", default=Options().models)
    parser.add_argument("--kinds", nargs="+", default=Options().kinds)
    given = parser.parse_args(arguments)
    run(Options(seconds=given.seconds, models=tuple(given.models), kinds=tuple(given.kinds)))
