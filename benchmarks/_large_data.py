"""Many rows of Adult's shape in a file, and an audit of them in a process of its own, so that its memory can be told.

    python -m benchmarks._large_data FILE PROCESSES BUDGET [OUTPUT]

prints what one audit took: seconds, CPU seconds, the largest memory of this process and of its workers, rows, biased, undecided.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw

CHUNK = 250_000
NUMBERS = ["age", "hours-per-week"]
FREE = ["race", "sex"]


def adult() -> tuple[Any, lw.Space, pd.DataFrame]:
    """A logistic model of Adult, its space and its rows."""
    data = lw.datasets.load_adult(frame="pandas")
    levels = [name for name in data.X if name not in NUMBERS]
    columns = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), levels))
    model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(data.X, data.y)
    return model, lw.Space.from_data(data.X), data.X


def write_rows(file: Path, count: int) -> None:
    """So many rows with the marginals of Adult, as .parquet or .csv, some at a time: every column is drawn by itself, so that few rows are the same."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    _, _, X = adult()
    random, writer = np.random.default_rng(0), None
    for start in range(0, count, CHUNK):
        size = min(CHUNK, count - start)
        frame = pd.DataFrame({name: random.choice(X[name].to_numpy(), size) for name in X})
        if file.suffix == ".csv":
            frame.to_csv(file, mode="w" if start == 0 else "a", header=start == 0, index=False)
            continue
        table = pa.Table.from_pandas(frame, preserve_index=False)
        writer = pq.ParquetWriter(file, table.schema) if writer is None else writer
        writer.write_table(table)
    if writer is not None:
        writer.close()


def audit_in_process(file: Path, processes: int, budget: float, output: Path | None = None) -> dict[str, Any]:
    """What an audit of a file took, in a process of its own."""
    line = [sys.executable, "-m", "benchmarks._large_data", str(file), str(processes), str(budget)]
    done = subprocess.run(
        [*line, *([] if output is None else [str(output)])], check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(arguments: list[str]) -> None:
    """One audit."""
    file, processes, budget, *output = arguments
    model, space, _ = adult()
    began = time.perf_counter()
    found = lw.audit(
        model, space, lw.Similarity(free=FREE), X=file, budget=float(budget), n_jobs=int(processes)
    )
    if output:
        found.save(output[0])
    seconds = time.perf_counter() - began
    own, children = (resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(
        json.dumps(
            {
                "seconds": seconds,
                "judging": found.stats["seconds"],
                "cpu": own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
                "memory": own.ru_maxrss * 1024,
                "worker memory": children.ru_maxrss * 1024,
                "rows": found.total,
                "biased": found.biased,
                "undecided": found.undecided,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
