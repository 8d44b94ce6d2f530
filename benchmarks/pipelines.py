"""Whole pipelines through the command line: a claim file with raw columns, verdict, disparities, certificates.

German, Adult and Credit; numbers scaled and categories one-hot; each estimator as it is, and in three ways that can be fair:
without the protected columns, fitted on protected columns that were masked by a constant, and on a sub-space around a row.

    python -m benchmarks pipelines [--data german] [--model svc-rbf] [--budget 60] [--tolerance 0.01]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from likewise import datasets

ROWS = 3000  # of Adult that kernel machines are fitted on
MODELS: dict[str, Any] = {
    "logistic": LogisticRegression(max_iter=2000),
    "svc-rbf": SVC(),
    "svc-poly2": SVC(kernel="poly", degree=2, coef0=1.0),
    "svc-poly3": SVC(kernel="poly", degree=3, coef0=1.0),
    "kernel-ridge": KernelRidge(kernel="rbf", alpha=1.0),
    "multinomial": LogisticRegression(max_iter=2000),  # of three classes of balance: Credit only
}
LOGISTIC = ("logistic", "multinomial")
WAYS = ("as it is", "dropped", "masked", "sub-space")
NEAR = 0.02  # of a number's range to each side of the row that a sub-space is around


def run() -> None:
    """Everything."""
    main([])


def main(arguments: list[str]) -> None:
    """What the options choose."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pipelines")
    parser.add_argument("--data", action="append", choices=["german", "adult", "credit"])
    parser.add_argument("--model", action="append", choices=list(MODELS))
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--tolerance", type=float, default=0.01)
    options = parser.parse_args(arguments)
    print(
        f"{'data':<8}{'model':<14}{'way':<11}{'verdict':<9}{'s':>6}  {'score gap':<22}{'s':>6}  probability gap"
    )
    with tempfile.TemporaryDirectory() as folder:
        for data in options.data or ["german", "adult", "credit"]:
            for model in options.model or list(MODELS):
                if model == "multinomial" and data != "credit":
                    continue
                for way in options.way or WAYS:
                    row(data, model, way, Path(folder), options.budget, options.tolerance)


def row(data: str, model: str, way: str, folder: Path, budget: float, tolerance: float) -> None:
    """Fit, write model, data and spec, ask the command line, print a line."""
    spec, certificate = prepared(data, model, way, folder), folder / "proof.likewise"
    verdict, seconds = asked("verify", spec, "--budget", str(budget), "--certificate", str(certificate))
    if verdict["verdict"] != "UNKNOWN":
        subprocess.run(
            [sys.executable, "-m", "likewise_check", str(certificate)], check=True, stdout=subprocess.DEVNULL
        )
    line = f"{data:<8}{model:<14}{way:<11}{verdict['verdict']:<9}{seconds:6.1f}  "
    scales = ("score", "probability") if model in LOGISTIC else ("score",)
    for of in scales:
        found, seconds = asked(
            "measure", spec, "--of", of, "--budget", str(budget), "--tolerance", str(tolerance)
        )
        line += f"[{found['lower']:.4f}, {found['upper']:.4f}]".ljust(22) + f"{seconds:6.1f}  "
    print(line, flush=True)


def asked(command: str, spec: Path, *more: str) -> tuple[Any, float]:
    """What a command answers, and how long it takes in all."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "likewise", command, str(spec), "--json", *more],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"likewise {command} ended with {done.returncode}:\n{done.stderr}{done.stdout}")
    return json.loads(done.stdout), time.perf_counter() - start


def prepared(name: str, model: str, way: str, folder: Path) -> Path:
    """The claim file of a case; model and data lie beside it."""
    more = {"classes": 3} if model == "multinomial" else {}
    data = getattr(datasets, f"load_{name}")(frame="pandas", **more)
    X, label = data.X, np.asarray(data.y)
    if model != "multinomial":
        label = (label == data.positive).astype(int)
    rows = np.random.default_rng(0).permutation(len(X))[: None if model in LOGISTIC else ROWS]
    seen = X.copy()
    if way == "masked":
        for column in data.protected:
            seen[column] = min(seen[column])
    pipeline = make_pipeline(columns_of(X, data.protected, way), MODELS[model])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline.fit(seen.iloc[rows], label[rows].astype(float) if model == "kernel-ridge" else label[rows])
    skops.io.dump(pipeline, folder / "model.skops")
    shown = X.assign(label=label)
    shown.to_csv(folder / "data.csv", index=False)
    lines = ["[model]", 'path = "model.skops"']
    lines += (
        near(X, data.protected) if way == "sub-space" else ["[data]", 'path = "data.csv"', 'label = "label"']
    )
    lines += ["[similarity]", f"free = {json.dumps(list(data.protected))}", "[property]"]
    lines += ['kind = "score"', "delta = 0.05"] if model == "kernel-ridge" else ['kind = "decision"']
    spec = folder / "claim.toml"
    spec.write_text("\n".join(lines) + "\n")
    return spec


def near(X: pd.DataFrame, protected: Any) -> list[str]:
    """The features of a sub-space: numbers near the first row's, its categories, every level of what is protected."""
    lines = []
    for name in X.columns:
        lines.append(f"[features.{json.dumps(name)}]")
        column, value = X[name], X[name].iloc[0]
        if pd.api.types.is_numeric_dtype(column):
            reach = NEAR * (column.max() - column.min())
            lo, hi = max(column.min(), value - reach), min(column.max(), value + reach)
            whole = pd.api.types.is_integer_dtype(column)
            lo, hi = (int(np.ceil(lo)), int(np.floor(hi))) if whole else (float(lo), float(hi))
            lines += [f'kind = "{"integer" if whole else "continuous"}"', f"lo = {lo}", f"hi = {hi}"]
        else:
            levels = sorted(column.unique()) if name in protected else [value]
            lines += ['kind = "categorical"', f"levels = {json.dumps(levels)}"]
    return lines


def columns_of(X: pd.DataFrame, protected: Any, way: str) -> ColumnTransformer:
    """Numbers scaled, categories one-hot. A masked column has nothing but zeros: its first level is the one left out."""
    numbers = [n for n in X.columns if pd.api.types.is_numeric_dtype(X[n])]
    words = [n for n in X.columns if n not in numbers and n not in protected]
    parts = [("numbers", StandardScaler(), numbers), ("words", OneHotEncoder(), words)]
    if way != "dropped":
        levels = [sorted(X[n].unique()) for n in protected]
        encoder = OneHotEncoder(categories=levels, drop="first" if way == "masked" else None)
        parts.append(("protected", encoder, list(protected)))
    return ColumnTransformer(parts)


if __name__ == "__main__":
    main(sys.argv[1:])
