"""How long is the way of `verify`: modules of likewise that are passed, those of its checker, links between them, and seconds of a fresh process to the verdict.

    python -m benchmarks walk [--models logistic rbf xgboost] [--processes 3]

A module is passed if one of its Python functions runs between the call of `verify` and the verdict, whether it was loaded before or not; a
link is an ordered pair of modules, a function of one of which calls one of the other. The claim is about the shipped Credit data with `Ethnicity` free. To
compare with another version, run it there: `PYTHONPATH=OTHER/src python -m benchmarks walk`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

PACKAGE, CHECKER = "likewise", "likewise_check"
PROCESSES = 3


def logistic(X: Any, y: Any) -> Any:
    """A logistic regression."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="liblinear").fit(X, y)


def rbf(X: Any, y: Any) -> Any:
    """A machine with Gaussian kernels."""
    from sklearn.svm import SVC

    return SVC(gamma=1e-6).fit(X, y)


def xgboost(X: Any, y: Any) -> Any:
    """Ten shallow trees."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=10, max_depth=3, n_jobs=1).fit(X, y)


MODELS: dict[str, Callable[[Any, Any], Any]] = {"logistic": logistic, "RBF": rbf, "XGBoost": xgboost}


class Walk:
    """A profiler that keeps the modules passed, and which of them call which."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.links: set[tuple[str, str]] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        here = frame.f_globals.get("__name__", "")
        if event != "call" or not here.startswith(PACKAGE):
            return
        self.passed.add(here)
        caller = frame.f_back
        there = "" if caller is None else caller.f_globals.get("__name__", "")
        if there.startswith(PACKAGE) and there != here:
            self.links.add((there, here))


def walked(name: str) -> dict[str, Any]:
    """One model in this process: the way of the second call, and the seconds of the first."""
    import likewise as lw

    credit = lw.datasets.load_credit(coded=True)
    model, similar = MODELS[name](credit.X, credit.y), lw.Similarity(free=["Ethnicity"])
    started = time.perf_counter()
    result = lw.verify(model, credit.space, similar, X=credit.X, budget=60)
    seconds, walk = time.perf_counter() - started, Walk()
    sys.setprofile(walk)
    lw.verify(model, credit.space, similar, X=credit.X, budget=60)
    sys.setprofile(None)
    return {
        "verdict": str(result.verdict),
        "modules": sum(not module.startswith(CHECKER) for module in walk.passed),
        "checker": sum(module.startswith(CHECKER) for module in walk.passed),
        "links": len(walk.links),
        "loaded": sum(module.startswith(PACKAGE) for module in sys.modules),
        "seconds": seconds,
    }


def run() -> None:
    """All models."""
    main([])


def main(arguments: list[str]) -> None:
    """Print a line a model."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks walk")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument(
        "--processes", type=int, default=PROCESSES, help="fresh ones, of which the fastest counts"
    )
    chosen = parser.parse_args(arguments)
    print(
        f"{'model':<10} {'verdict':<8} {'modules':>8} {'checker':>8} {'links':>6} {'loaded':>7} {'seconds':>8}"
    )
    for name in chosen.models:
        found = [_in_a_process(name) for _ in range(chosen.processes)]
        best = min(found, key=lambda one: float(one["seconds"]))
        print(
            f"{name:<10} {best['verdict']:<8} {best['modules']:>8} {best['checker']:>8} {best['links']:>6} {best['loaded']:>7} {best['seconds']:>8.2f}"
        )


def _in_a_process(name: str) -> dict[str, Any]:
    command = [sys.executable, "-c", f"from benchmarks.walk import tell; tell({name!r})"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def tell(name: str) -> None:
    """What a fresh process finds, for the one that started it."""
    print(json.dumps(walked(name)))
