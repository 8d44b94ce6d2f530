"""Memory that is left over: many verifies in one process, and one long search.

    python -m benchmarks memory [--verifies 500] [--families NAME ...] [--search SECONDS]

Every family's claim is verified so many times, a fresh model each time, and the process's memory is looked at after the first tenth, when everything is loaded and compiled, and at the end:
what is between is growth, of which "a verify" is one verify's part. With `--search`, one `measure` that cannot close runs for so long, and its memory is looked at ten times: open cells take some,
so that it may grow with them, but no faster.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

import likewise as lw
from benchmarks._standardised import standardised
from benchmarks.rbf import machine

VERIFIES, BUDGET = 500, 5.0
SETTLED_SHARE = 0.1  # of the verifies, after which all is loaded
LOOKS = 10  # at the memory of a long search
SPACE = lw.Space({"a": lw.Integer(0, 5), "b": lw.Categorical([0, 1, 2]), "c": lw.Continuous(0, 1)})
FAMILIES: dict[str, Callable[[int], Any]] = {
    "linear": lambda seed: LogisticRegression(C=1.0 + seed / 1000),
    "rbf": lambda seed: SVC(gamma=0.2 + seed / 10000),
    "polynomial": lambda seed: SVC(kernel="poly", degree=2, coef0=1.0, C=1.0 + seed / 1000),
    "forest": lambda seed: RandomForestClassifier(10, max_depth=4, random_state=seed),
    "network": lambda seed: MLPClassifier((6,), max_iter=60, random_state=seed),
}


def resident_bytes() -> int:
    """What this process has in memory now; after garbage was collected."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def rows(seed: int, count: int = 60) -> tuple[pd.DataFrame, Any]:
    """Individuals over numbers only, and labels."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": random.integers(0, 6, count),
            "b": random.choice([0, 1, 2], count),
            "c": random.uniform(0, 1, count),
        }
    )
    return X, (X["a"] + 2 * X["b"] + 3 * X["c"] > 5 + random.normal(0, 0.3, count)).astype(int)


def verify_one(name: str, seed: int) -> str:
    """One verify of a fresh model; its verdict."""
    X, y = rows(seed)
    model = FAMILIES[name](seed).fit(X.to_numpy(dtype=float), y)
    found = lw.verify(model, SPACE, lw.Similarity(free=["b"]), X=X, budget=BUDGET)
    return str(found.verdict)


def repeated(families: Sequence[str], verifies: int) -> Table:
    """Memory after the first tenth of the verifies, and after all."""
    table = Table(title=f"{verifies} verifies of each family in one process, {machine()}")
    for column in ("family", "settled MiB", "end MiB", "growth MiB", "kB a verify", "CPU s"):
        table.add_column(column, justify="left" if column == "family" else "right")
    settled_at = max(1, int(SETTLED_SHARE * verifies))
    for name in families:
        began = time.process_time()
        for seed in range(settled_at):
            verify_one(name, seed)
        settled = resident_bytes()
        for seed in range(settled_at, verifies):
            verify_one(name, seed)
        end, took = resident_bytes(), time.process_time() - began
        each = (end - settled) / max(verifies - settled_at, 1)
        figures = (settled / 2**20, end / 2**20, (end - settled) / 2**20, each / 1e3, took)
        table.add_row(name, *(f"{figure:,.1f}" for figure in figures))
        print(name, *(f"{figure:,.1f}" for figure in figures), file=sys.stderr, flush=True)
    return table


def searched(seconds: float) -> Table:
    """Memory of one search that does not end by itself."""
    case = standardised("german", gamma_times=4.0)
    table = Table(title=f"measure of German, RBF at 4 times the default gamma, {machine()}")
    for column in ("seconds", "MiB", "closed", "open"):
        table.add_column(column, justify="right")
    looked = [0.0]

    def listen(snapshot: Any) -> None:
        if snapshot.seconds < looked[-1] + seconds / LOOKS or not (snapshot.open or snapshot.closed):
            return
        looked.append(snapshot.seconds)
        figures = (
            f"{snapshot.seconds:.0f}",
            f"{resident_bytes() / 2**20:,.0f}",
            f"{snapshot.closed:,}",
            f"{snapshot.open:,}",
        )
        table.add_row(*figures)
        print(*figures, file=sys.stderr, flush=True)

    lw.measure(case.model, case.space, case.similar, X=case.X, budget=seconds, progress=listen)
    return table


def run(
    families: Sequence[str] = tuple(FAMILIES), verifies: int = VERIFIES, search: float | None = None
) -> None:
    """Print the tables."""
    console = Console(width=140)
    if verifies:
        console.print(repeated(families, verifies))
    if search is not None:
        console.print(searched(search))


def main(arguments: list[str]) -> None:
    """Run with options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks memory")
    parser.add_argument("--verifies", type=int, default=VERIFIES)
    parser.add_argument("--families", nargs="*", choices=sorted(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--search", type=float, default=None)
    given = parser.parse_args(arguments)
    run(given.families, given.verifies, given.search)
