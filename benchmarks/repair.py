"""What repairing costs: pipelines on the shipped data sets, fitted on 70% of the rows, looked at on the others.

    python -m benchmarks repair [--data german adult credit] [--models logistic ...] [--methods average ...]

Nobody knows the protected columns' values after an average, the largest or smallest score over them, or one reference; every
verdict is `verify`'s, about all individuals of the space, with a certificate that the checker has accepted.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

import likewise as lw

DATA = ("german", "adult", "credit")
METHODS = ("average", "max", "min", "reference")
MODELS = {
    "logistic": LogisticRegression(max_iter=1000),
    "XGBoost, 100 trees": XGBClassifier(n_estimators=100, max_depth=4, n_jobs=1),
    "forest, 100 trees": RandomForestClassifier(100, max_depth=8, random_state=0),
}
COLUMNS = ("data", "may differ", "model", "method", "settings", "accuracy before", "after")


def run() -> None:
    """Everything."""
    main([])


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks repair")
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    chosen = parser.parse_args(arguments)
    columns = (*COLUMNS, "decisions changed", "verdict", "certificate", "CPU s")
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    for loaded in chosen.data:
        data = getattr(lw.datasets, f"load_{loaded}")(frame="pandas")
        numbered = np.unique(data.y, return_inverse=True)[1]  # XGBoost takes labels 0 and 1 only
        X, test, y, labels = train_test_split(data.X, numbered, test_size=0.3, random_state=0)
        for name in chosen.models:
            transformed = make_column_transformer(
                (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
                (StandardScaler(), make_column_selector(dtype_include="number")),
                sparse_threshold=0,
            )
            model = make_pipeline(transformed, MODELS[name]).fit(X, y)
            for method in chosen.methods:
                print(_row(data, name, model, method, test, labels), flush=True)


def _row(data: Any, name: str, model: Any, method: Any, test: Any, labels: Any) -> str:
    start = time.process_time()
    similar = lw.Similarity(free=data.protected)
    new = lw.repair(model, data.space, similar, method=method, X=test, y=labels)
    seconds = time.process_time() - start
    assert new.rows
    assert new.changed is not None
    certificate = new.result.certificate
    size = "none" if certificate is None else f"{len(certificate.content) / 1024:,.0f} kB"
    return (
        f"| {data.name} | {', '.join(data.protected)} | {name} | {method} | {new.settings} | {new.before:.4f} | {new.after:.4f} "
        f"| {new.changed:,} of {new.rows:,} ({100 * new.changed / new.rows:.2f}%) | {new.result.verdict} | {size} | {seconds:.1f} |"
    )
