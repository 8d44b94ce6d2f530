"""What certificates cost: bytes and checking time per cell, and checking over proving time, for linear proofs.

    python -m benchmarks certificates [--cells 10 1000 10000 100000] [--looked-through]

The models are fair through a gap between integers (even weights, an odd bound), so that the number of cells
grows with the number of features. With --looked-through all features are discrete and most leaves are
`enumerated`, the dearest rule; without, all are `separable`.
"""

import argparse
import io
import os
import platform
import time

import numpy as np
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.spec import Feature
from likewise_check import check

JOBS = (1, 2)
SIZES = {10: (4, 30), 1_000: (10, 1_000), 10_000: (13, 4_000), 100_000: (17, 40_000)}
LOOKED_THROUGH = {10: (7, 40), 1_000: (13, 2_000)}


def problem(
    size: int, largest: int, *, continuous: bool
) -> tuple[LogisticRegression, lw.Space, lw.Similarity]:
    """A subset sum that never comes out, with `size` binary features."""
    weights = 2.0 * np.random.default_rng(0).integers(largest // 2, largest, size)
    features: dict[str, Feature] = {f"b{i}": lw.Integer(0, 1) for i in range(size)}
    tail = [0.25, 0.5] if continuous else [0.5]
    if continuous:
        features["age"] = lw.Continuous(0, 1)
    space = lw.Space({**features, "sex": lw.Categorical([0, 1])})
    rows = np.array([[0.0] * len(space), [1.0] * len(space)])
    model = LogisticRegression().fit(rows, [0, 1])
    model.coef_ = np.array([[*weights, *tail]])
    model.intercept_ = np.array([-weights[: size // 2].sum() - 1])
    return model, space, lw.Similarity(free=["sex"])


def row(cells: int, *, continuous: bool, budget: float) -> str:
    """One line of the table: a proof of about so many cells, checked by one and by two processes."""
    size, largest = (SIZES if continuous else LOOKED_THROUGH)[cells]
    result = lw.verify(*problem(size, largest, continuous=continuous), budget=budget)
    if result.certificate is None:
        return f"{cells:>8}  {result.verdict}: {result.reason}"
    content, nodes = result.certificate.content, result.stats["cells"]
    proving = result.stats["seconds"] - result.stats["check_seconds"]
    parts = [f"{nodes:>8,} {len(content) / nodes:>12.1f} {proving:>10.2f}"]
    for jobs in JOBS:
        started = time.perf_counter()
        assert check(io.BytesIO(content), jobs=jobs).accepted
        seconds = time.perf_counter() - started
        parts.append(f"{seconds:>8.3f} {1e6 * seconds / nodes:>10.1f} {seconds / proving:>9.2f}")
    return " ".join(parts)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks certificates")
    parser.add_argument("--cells", type=int, nargs="*", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--looked-through", action="store_true")
    parser.add_argument("--budget", type=float, default=300)
    options = parser.parse_args(arguments)
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load}, Python {platform.python_version()}")
    checks = " ".join(f"{f'check {j} s':>8} {'us/cell':>10} {'/proving':>9}" for j in JOBS)
    print(f"{'cells':>8} {'bytes/cell':>12} {'proving s':>10} {checks}")
    for cells in options.cells:
        if not options.looked_through or cells in LOOKED_THROUGH:
            print(row(cells, continuous=not options.looked_through, budget=options.budget), flush=True)


def run() -> None:
    """Both tables, for `python -m benchmarks certificates`."""
    main([])
    main(["--looked-through"])


if __name__ == "__main__":
    main()
