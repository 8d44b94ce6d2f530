"""Cold start: CPU seconds of a first run, with nothing compiled yet, beside a second one.

    python -m benchmarks cold [--families linear polynomial rbf trees network]

Each row is a process of its own that fits a model of German and brackets its largest score gap for one second; "first" begins with an empty folder of
compiled loops (`NUMBA_CACHE_DIR`), "again" finds what the first has left there. CPU seconds are user and system time of the process, Python's start and the
fitting of the model included; "compiling" is how much more the first one took.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import warnings
from datetime import date

FAMILIES = ("linear", "polynomial", "rbf", "trees", "network")


def ask(family: str) -> None:
    """Fit a model of this family and bracket its largest score gap."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import SVC

    import likewise as lw

    warnings.simplefilter("ignore")  # a network that has not converged is as slow to compile
    model = {
        "linear": LogisticRegression(max_iter=500),
        "polynomial": SVC(kernel="poly", degree=2),
        "rbf": SVC(),
        "trees": RandomForestClassifier(10, max_depth=4, random_state=0),
        "network": MLPClassifier((8,), random_state=0, max_iter=50),
    }[family]
    data = lw.datasets.load_german(frame="pandas")
    numbers = [name for name in data.X if data.X[name].dtype.kind in "if"]
    columns = make_column_transformer(
        (StandardScaler(), numbers), remainder=OneHotEncoder(handle_unknown="ignore")
    )
    fitted = make_pipeline(columns, model).fit(data.X, data.y)
    print(lw.measure(fitted, data.space, lw.Similarity(free=list(data.protected)), X=data.X, budget=1))


def cpu_seconds(family: str, folder: str) -> float:
    """What a process takes that keeps what it compiles in this folder."""
    before = os.times()
    subprocess.run(
        [sys.executable, "-m", "benchmarks.cold", "--ask", family],
        env={**os.environ, "NUMBA_CACHE_DIR": folder},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks cold")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--ask", choices=FAMILIES, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.ask:
        ask(options.ask)
        return
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, load {load}, Python {platform.python_version()}, {date.today()}"
    )
    print(f"{'family':<12} {'first, CPU s':>13} {'again, CPU s':>13} {'compiling':>10}")
    for family in options.families:
        with tempfile.TemporaryDirectory() as folder:
            first, again = cpu_seconds(family, folder), cpu_seconds(family, folder)
        print(f"{family:<12} {first:>13.1f} {again:>13.1f} {first - again:>10.1f}", flush=True)


def run() -> None:
    """For `python -m benchmarks cold`."""
    main([])


if __name__ == "__main__":
    main()
