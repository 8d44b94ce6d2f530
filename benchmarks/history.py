"""Today's sources beside those of an older commit: 25 fixed questions, CPU seconds as ratios, cells and brackets.

    python -m benchmarks history --base COMMIT [--rows TEXT ...] [--seconds 30]

Each question is asked of both in turn, in processes of their own with one thread, on the packages of this environment.
A process asks twice, and the second time counts, when loops are compiled and modules loaded. COMMIT is checked out
into a temporary folder. The questions use public names only, so that older commits answer them too.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def questions(seconds: float) -> dict[str, Callable[[], Any]]:
    """By name: fits a model, and returns what asks about it."""
    import numpy as np
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
        VotingClassifier,
    )
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    import likewise as lw

    loaded = {
        name: getattr(lw.datasets, f"load_{name}")(frame="pandas") for name in ("german", "credit", "adult")
    }

    def asked(command: str, data: str, estimator: Any, *more: Any, rows: int = 2000, **options: Any) -> Any:
        d = loaded[data]
        numbers = [name for name in d.X if d.X[name].dtype.kind in "if"]
        columns = make_column_transformer(
            (StandardScaler(), numbers), remainder=OneHotEncoder(sparse_output=False, handle_unknown="ignore")
        )
        y = (np.asarray(d.y) == d.positive).astype(int) if options.pop("two", True) else d.y
        model = make_pipeline(columns, estimator).fit(d.X[:rows], y[:rows])
        similar = lw.Similarity(free=list(d.protected), within=options.pop("within", None))
        if command == "groups":
            return lambda: lw.groups(model, d.X, by=list(d.protected)[:1], budget=seconds)
        call, frame = getattr(lw, command), d.X[:rows] if command == "audit" else d.X
        return lambda: call(model, d.space, similar, *more, X=frame, budget=seconds, **options)

    linear, forest = (
        LogisticRegression(max_iter=1000),
        RandomForestClassifier(30, max_depth=6, random_state=0),
    )
    network = MLPClassifier((16,), random_state=0, max_iter=60)
    vote = VotingClassifier([("line", linear), ("forest", forest), ("bayes", GaussianNB())], voting="soft")
    probability: dict[str, Any] = {"of": "probability"}
    return {
        "verify linear adult": lambda: asked("verify", "adult", linear, lw.SameDecision()),
        "measure linear german": lambda: asked("measure", "german", linear, **probability),
        "audit linear adult": lambda: asked("audit", "adult", linear),
        "share linear adult": lambda: asked("share", "adult", linear, lw.SameDecision()),
        "regions linear german": lambda: asked("regions", "german", linear, lw.SameDecision()),
        "radius linear german": lambda: asked("radius", "german", linear, "age", lw.SameDecision()),
        "groups linear adult": lambda: asked("groups", "adult", linear),
        "repair linear german": lambda: asked("repair", "german", linear, lw.SameDecision()),
        "measure ridge adult": lambda: asked("measure", "adult", Ridge(), of="score"),
        "verify polynomial credit": lambda: asked(
            "verify", "credit", SVC(kernel="poly", degree=2), lw.SameDecision()
        ),
        "measure squares german": lambda: asked(
            "measure", "german", make_pipeline(PolynomialFeatures(2), linear)
        ),
        "measure rbf credit": lambda: asked("measure", "credit", SVC(), tolerance=0.01),
        "measure rbf credit age 2": lambda: asked(
            "measure", "credit", SVC(), tolerance=0.05, within={"age": 2}
        ),
        "measure rbf german": lambda: asked("measure", "german", SVC(), tolerance=0.05),
        "verify rbf credit": lambda: asked("verify", "credit", SVC(), lw.ScoreGap(3.0)),
        "audit rbf credit": lambda: asked("audit", "credit", SVC(), rows=1000),
        "measure forest german": lambda: asked("measure", "german", forest, **probability),
        "audit forest adult": lambda: asked("audit", "adult", forest),
        "verify boosting adult": lambda: asked(
            "verify", "adult", GradientBoostingClassifier(), lw.SameDecision()
        ),
        "measure bins adult": lambda: asked("measure", "adult", HistGradientBoostingRegressor(), of="score"),
        "regions tree german": lambda: asked(
            "regions", "german", DecisionTreeClassifier(max_depth=6), lw.SameDecision()
        ),
        "measure network german": lambda: asked("measure", "german", network, of="score"),
        "verify softmax credit": lambda: asked("verify", "credit", linear, lw.SameDecision(), two=False),
        "measure vote german": lambda: asked("measure", "german", vote, **probability),
        "measure calibrated adult": lambda: asked(
            "measure", "adult", CalibratedClassifierCV(linear), **probability
        ),
    }


def ask(name: str, seconds: float) -> None:
    """Ask twice, and print what the second answer took."""
    warnings.simplefilter("ignore")
    call = questions(seconds)[name]()
    call()
    began = time.process_time()
    found = call()
    took = time.process_time() - began
    stats = getattr(found, "stats", None) or {}
    says = [getattr(found, end) for end in ("verdict", "lower", "upper", "total") if hasattr(found, end)]
    print(
        "\n"
        + json.dumps({"cpu": took, "cells": stats.get("cells"), "says": [str(each)[:12] for each in says]})
    )


def answer(name: str, source: Path, seconds: float) -> dict[str, Any]:
    """What the sources in this folder answer."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.history", "--ask", name, "--seconds", str(seconds)],
        env={**os.environ, **threads, "PYTHONPATH": str(source / "src")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stdout.strip().splitlines()[-1:] or done.stderr.strip().splitlines()[-1:]
    return json.loads(last[0]) if not done.returncode else {"cpu": None, "cells": None, "says": last}


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks history")
    parser.add_argument("--base", default="HEAD", help="the older commit")
    parser.add_argument("--rows", nargs="*", default=[""])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.ask:
        ask(given.ask, given.seconds)
        return
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, {date.today()}")
    print(f"load {os.getloadavg()[0]:.1f}; python -m benchmarks history {' '.join(arguments)}\n")
    print(f"{'question':<26} {'before':>8} {'now':>8} {'ratio':>6}  cells before -> now; answers")
    with tempfile.TemporaryDirectory(prefix="likewise-history-") as folder:
        subprocess.run(["git", "worktree", "add", "--detach", "-q", folder, given.base], cwd=ROOT, check=True)
        try:
            for name in questions(given.seconds):
                if any(text in name for text in given.rows):
                    _print_row(
                        name, answer(name, Path(folder), given.seconds), answer(name, ROOT, given.seconds)
                    )
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)


def _print_row(name: str, before: dict[str, Any], now: dict[str, Any]) -> None:
    cpu = [f"{each['cpu']:.2f}" if each["cpu"] is not None else "failed" for each in (before, now)]
    ratio = f"{now['cpu'] / before['cpu']:.2f}" if before["cpu"] and now["cpu"] else ""
    says = " ".join(before["says"])
    says += "" if before["says"] == now["says"] else f" -> {' '.join(now['says'])}"
    print(
        f"{name:<26} {cpu[0]:>8} {cpu[1]:>8} {ratio:>6}  {before['cells']} -> {now['cells']}; {says}",
        flush=True,
    )


def run() -> None:
    """Beside the last commit."""
    main([])


if __name__ == "__main__":
    main(sys.argv[1:])
