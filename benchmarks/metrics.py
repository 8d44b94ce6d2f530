"""Claims within a metric: the largest gap of pairs that are at most a radius apart, as a bracket, beside the exact optimum of linear models or a sample.

    python -m benchmarks metrics [--seconds 20] [--data credit german] [--models linear forest ...] [--kinds l1 l2 ...]

Five numbers of each data set share a radius of 1, weighted by one over their spread in the rows (a Mahalanobis distance has the inverse of their covariance, `fair` is `fair_metric` of all columns); one protected feature is free besides. Ours is `measure`, in CPU seconds of one core with reading the model. Of a linear model the optimum is that of
HiGHS over whole numbers (squares by tangents, cut until the point found is within the radius); of other models it is the largest gap of so many random pairs within the radius. A sample beyond a bracket ends the run.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import likewise as lw
from benchmarks.rbf import machine

Array = np.ndarray[Any, Any]
KINDS = ("l1", "l2", "linf", "mahalanobis", "fair")
PAIRS = 200_000
MOST_CUTS, CLOSE = 200, 1e-7  # tangents of a square, and where they are near enough
NAMES = {
    "credit": (("Income", "Limit", "Rating", "Age", "Education"), "Ethnicity"),
    "german": (
        ("duration_months", "credit_amount", "installment_fraction", "present_residence_period", "age"),
        "sex_marital_status",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run; `seconds` is the budget of each bracket."""

    seconds: float = 20.0
    data: tuple[str, ...] = ("credit", "german")
    models: tuple[str, ...] = ("linear", "forest", "rbf", "network")
    kinds: tuple[str, ...] = KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Who is similar on a data set: M of squares, or weights (rows of `forms`), over the features at these places."""

    space: lw.Space
    X: Any
    places: list[int]
    free: int
    similar: lw.Similarity
    forms: Array  # a difference d has the numbers forms @ d
    power: float  # of their norm

    def size(self, apart: Array) -> Array:
        """How far pairs (rows) with these differences are apart."""
        sizes: Array = np.linalg.norm(apart @ self.forms.T, ord=self.power, axis=1)
        return sizes


def models() -> dict[str, Any]:
    """One a family."""
    return {
        "linear": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "forest": RandomForestClassifier(20, max_depth=5, random_state=0),
        "rbf": make_pipeline(StandardScaler(), SVC(gamma=0.02)),
        "network": make_pipeline(StandardScaler(), MLPClassifier((6,), max_iter=2000, random_state=0)),
    }


def case_of(data: str, kind: Any) -> tuple[Case, Any]:
    """The similarity of a data set by a kind of distance, and its labels."""
    loaded = (lw.datasets.load_credit if data == "credit" else lw.datasets.load_german)(coded=True)
    names, free = NAMES[data]
    space, columns = loaded.space, list(names)
    numbers = loaded.X[columns].to_numpy(float)
    weights = {name: f"{1 / spread:.3g}" for name, spread in zip(names, numbers.std(axis=0), strict=True)}
    forms, power = (
        np.diag([float(w) for w in weights.values()]),
        {"l1": 1, "l2": 2, "linf": np.inf}.get(kind, 2),
    )
    metric: Any
    if kind in ("l1", "l2", "linf"):
        metric = lw.Metric(kind, weights=weights)
    elif kind == "mahalanobis":
        matrix = np.linalg.inv(np.cov(numbers.T))
        entries = [[f"{value:.6g}" for value in line] for line in ((matrix + matrix.T) / 2).tolist()]
        metric, forms = lw.Mahalanobis(entries, columns=columns), _root(entries)
    else:
        metric = lw.fair_metric(loaded.X, space, protected=[free])
        columns, forms = list(metric.names), _root(metric.to_dict()["matrix"])
    case = Case(
        space=space,
        X=loaded.X,
        places=[space.names.index(name) for name in columns],
        free=space.names.index(free),
        similar=lw.Similarity(free=[free], metric=metric, radius=1),
        forms=forms,
        power=power,
    )
    return case, np.asarray(loaded.y)


def _root(entries: Any) -> Array:
    """F with F^T F = M."""
    from fractions import Fraction

    matrix = np.array([[float(Fraction(str(value))) for value in line] for line in entries])
    values, vectors = np.linalg.eigh(matrix)
    root: Array = (np.sqrt(np.maximum(values, 0)) * vectors).T
    return root


def scores(name: str, model: Any, rows: Array, columns: list[str]) -> Array:
    """What the brackets are about."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=columns)
    if name in ("linear", "rbf"):
        return np.asarray(model.decision_function(frame))
    upper = np.asarray(model.predict_proba(frame))[:, 1]
    return np.log(upper) - np.log1p(-upper) if name == "network" else upper


def sampled(name: str, model: Any, case: Case) -> float:
    """The largest gap of random pairs within the radius."""
    random, space = np.random.default_rng(0), case.space
    rows = case.X.to_numpy(float)[random.integers(len(case.X), size=PAIRS)]
    apart = random.normal(size=(PAIRS, len(case.places))) / np.maximum(np.abs(case.forms).sum(axis=0), 1e-12)
    apart *= random.random((PAIRS, len(case.places))) < 2 / len(case.places)  # few at a time reach further
    apart *= (random.uniform(0.5, 1, PAIRS) / np.maximum(case.size(apart), 1e-12))[:, None]
    others = rows.copy()
    others[:, case.places] += apart
    for k, feature in enumerate(space.features.values()):
        others[:, k] = np.clip(others[:, k], *feature.code_range)
        if feature.kind == "integer":
            others[:, k] = np.where(others[:, k] > rows[:, k], np.floor(others[:, k]), np.ceil(others[:, k]))
    near = case.size(others[:, case.places] - rows[:, case.places]) <= 1
    lo, hi = space[space.names[case.free]].code_range
    others[:, case.free] = random.integers(int(lo), int(hi) + 1, PAIRS)
    columns = list(case.X.columns)
    one, other = (scores(name, model, some[near], columns) for some in (rows, others))
    return float(np.abs(one - other).max(initial=0.0))


def optimum(model: Any, case: Case) -> tuple[float, bool]:
    """The largest gap of a linear score: only differences count, and they are few. False where tangents were not near enough."""
    scaler, line = model[0], model[-1]
    slopes = line.coef_[0] / scaler.scale_
    ranges = [feature.code_range for feature in case.space.features.values()]
    width = np.array([hi - lo for lo, hi in ranges])[case.places]
    whole = [feature.kind == "integer" for feature in case.space.features.values()]
    n, forms = len(case.places), case.forms
    lo, hi = ranges[case.free]
    free = abs(slopes[case.free]) * (hi - lo)
    # Variables: differences d, then sizes t of the forms of them.
    rows = [LinearConstraint(np.hstack([s * forms, -np.eye(len(forms))]), -np.inf, 0) for s in (1, -1)]
    if case.power == 1:
        rows.append(LinearConstraint(np.hstack([np.zeros(n), np.ones(len(forms))])[None], -np.inf, 1))
    most = np.full(len(forms), np.inf if case.power == 1 else 1.0)
    goal = np.concatenate([-slopes[case.places], np.zeros(len(forms))])
    integral = np.concatenate([np.array(whole)[case.places], np.zeros(len(forms))])
    for _ in range(MOST_CUTS):
        bounds = Bounds(np.concatenate([-width, np.zeros(len(forms))]), np.concatenate([width, most]))
        found = milp(
            goal, constraints=rows, bounds=bounds, integrality=integral, options={"mip_rel_gap": 1e-9}
        )
        point = found.x[:n] @ forms.T
        length = float(np.linalg.norm(point))
        if case.power != 2 or length <= 1 + CLOSE:
            return free - float(found.fun), True
        rows.append(
            LinearConstraint(np.concatenate([point @ forms / length, np.zeros(len(forms))])[None], -np.inf, 1)
        )
    return free - float(found.fun), False


def line_of(data: str, kind: str, name: str, seconds: float) -> list[str]:
    """One line of the table."""
    case, y = case_of(data, kind)
    model = models()[name].fit(case.X, y)
    began = time.process_time()
    found = lw.measure(model, case.space, case.similar, of="score", X=case.X, budget=seconds)
    took = time.process_time() - began
    began = time.process_time()
    beside, exact = optimum(model, case) if name == "linear" else (sampled(name, model, case), False)
    beside_took = time.process_time() - began
    slack = 1e-6 * (1 + abs(beside))
    wrong = beside < found.lower - slack if name == "linear" else beside > found.upper + slack
    if wrong or (exact and beside > found.upper + slack):
        raise SystemExit(f"{data}, {kind}, {name}: {beside} is beyond [{found.lower}, {found.upper}]")
    sign = "=" if exact else "<=" if name == "linear" else ">="
    digits = 4 if not found.upper or abs(math.log10(found.upper)) < 4 else 6
    bracket = f"{found.lower:.{digits}f} to {found.upper:.{digits}f}"
    return [data, kind, name, bracket, f"{took:.1f}", f"{sign} {beside:.{digits}f}", f"{beside_took:.1f}"]


def run(options: Options | None = None) -> None:
    """Print the table."""
    chosen = options or Options()
    table = Table(title=f"largest gap of scores within a radius of 1, {machine()}")
    for heading in ("data", "metric", "model", "ours", "CPU s", "optimum or sample", "CPU s"):
        table.add_column(heading, justify="left" if heading in ("data", "metric", "model") else "right")
    for data in chosen.data:
        for name in chosen.models:
            for kind in chosen.kinds:
                table.add_row(*line_of(data, kind, name, chosen.seconds))
    Console(file=sys.stdout, width=120).print(table)


def main(arguments: list[str]) -> None:
    """The same from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks metrics", description=__doc__)
    parser.add_argument("--seconds", type=float, default=Options().seconds)
    parser.add_argument("--data", nargs="+", choices=tuple(NAMES), default=Options().data)
    parser.add_argument("--models", nargs="+", choices=Options().models, default=Options().models)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    given = parser.parse_args(arguments)
    run(
        Options(
            seconds=given.seconds,
            data=tuple(given.data),
            models=tuple(given.models),
            kinds=tuple(given.kinds),
        )
    )
