"""Many rows of Adult's shape in a file, and an audit of them in a process of its own, so that its memory can be told.

    python -m benchmarks._large_data FILE PROCESSES BUDGET [--dask] [--output FILE]

With `--dask` the processes are workers of a cluster on this machine, which are started before. It prints what one audit took: seconds, CPU seconds, the largest memory of this process and of its workers, rows, biased, undecided.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw
from benchmarks._clusters import dask_workers

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


def audit_in_process(
    file: Path, processes: int, budget: float, output: Path | None = None, *, dask: bool = False
) -> dict[str, Any]:
    """What an audit of a file took, in a process of its own."""
    line = [sys.executable, "-m", "benchmarks._large_data", str(file), str(processes), str(budget)]
    options = ["--dask"] * dask + ([] if output is None else ["--output", str(output)])
    done = subprocess.run([*line, *options], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class WorkerWatch(threading.Thread):
    """Looks at the processes that this one has started: they are ended, and not waited for, so that the system does not tell what they took."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seconds: dict[str, float] = {}
        self.memory = 0

    def run(self) -> None:
        """Until the program ends."""
        while True:
            for task in Path("/proc/self/task").iterdir():
                with suppress(OSError):
                    for pid in (task / "children").read_text().split():
                        self._look(pid)
            time.sleep(0.1)

    def _look(self, pid: str) -> None:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            self.seconds[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            self.memory = max(self.memory, int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))


def main(arguments: list[str]) -> None:
    """One audit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks._large_data")
    parser.add_argument("file")
    parser.add_argument("processes", type=int)
    parser.add_argument("budget", type=float)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--output")
    given = parser.parse_args(arguments)
    model, space, _ = adult()
    with dask_workers(given.processes if given.dask else 0) as executor:
        workers = WorkerWatch()
        workers.start()
        began = time.perf_counter()
        found = lw.audit(
            model,
            space,
            lw.Similarity(free=FREE),
            X=given.file,
            budget=given.budget,
            n_jobs=given.processes,
            executor=executor,
        )
        if given.output:
            found.save(given.output)
        seconds = time.perf_counter() - began
    own = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "seconds": seconds,
                "judging": found.stats["seconds"],
                "cpu": own.ru_utime + own.ru_stime + sum(workers.seconds.values()),
                "memory": own.ru_maxrss * 1024,
                "worker memory": workers.memory,
                "rows": found.total,
                "biased": found.biased,
                "undecided": found.undecided,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
