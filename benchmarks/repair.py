"""What repairing costs: logistic pipelines on the shipped data sets, fitted on 70 % of the rows, looked at on the others.

Run with `python -m benchmarks repair`. Nobody knows the protected columns' values after an average, the largest or smallest score over them, or one reference; every
verdict is `verify`'s, about all individuals of the space, with a certificate that the checker has accepted.
"""

from __future__ import annotations

import time

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw

METHODS = ("average", "max", "min", "reference")


def run() -> None:
    """Print the table."""
    print(
        "| data | may differ | method | settings | accuracy before | after | decisions changed | verdict | CPU s |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for load in (lw.datasets.load_german, lw.datasets.load_adult, lw.datasets.load_credit):
        data = load(frame="pandas")
        X, test, y, labels = train_test_split(data.X, data.y, test_size=0.3, random_state=0)
        columns = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
            (StandardScaler(), make_column_selector(dtype_include="number")),
        )
        model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X, y)
        similar = lw.Similarity(free=data.protected)
        for method in METHODS:
            start = time.process_time()
            new = lw.repair(model, data.space, similar, method=method, X=test, y=labels)
            seconds = time.process_time() - start
            share = 100 * new.changed / new.rows
            print(
                f"| {data.name} | {', '.join(data.protected)} | {method} | {new.settings} | {new.before:.4f} | {new.after:.4f} "
                f"| {new.changed:,} of {new.rows:,} ({share:.2f} %) | {new.result.verdict} | {seconds:.1f} |",
                flush=True,
            )
