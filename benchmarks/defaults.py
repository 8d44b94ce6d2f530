"""Ensembles with their libraries' default settings: verdict and largest gap of probabilities, reading the model included.

    python -m benchmarks defaults [--data adult german] [--models rf et ...] [--seconds 20]

Adult and German through an `OrdinalEncoder` and the estimator as its library makes it; `rf-blind` is a random forest that does not see what may
differ, `catboost100` has the size of `lgbm`, 100 trees of 32 leaves. Everything is CPU seconds of one core: `import` reading the model and comparing it with the original, `verify` and `measure` the whole
calls, import, compiled loops from the disk and checker included.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import likewise as lw
from likewise.datasets import load_adult, load_german
from likewise.importers.imported_model import import_model

LOADERS = {"adult": load_adult, "german": load_german}
MODELS = ("dt", "rf", "rf-blind", "et", "gb", "histgb", "xgb", "lgbm", "catboost", "catboost100")
HEADINGS = ("data", "model", "leaves", "import", "verdict", "verify", "largest gap", "measure")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run; `seconds` is the budget of each call."""

    data: tuple[str, ...] = tuple(LOADERS)
    models: tuple[str, ...] = MODELS
    seconds: float = 20.0


def fitted(name: str, data: Any) -> Any:
    """The estimator of a name behind an encoder, on the data's raw columns."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    family, _, blind = name.partition("-")
    unseen = list(data.protected) if blind else []
    levels = {
        name: list(feature.levels)
        for name, feature in data.space.features.items()
        if isinstance(feature, (lw.Categorical, lw.Ordinal)) and name not in unseen
    }
    coding = OrdinalEncoder(categories=list(levels.values()))
    columns = make_column_transformer((coding, list(levels)), ("drop", unseen), remainder="passthrough")
    y = np.asarray(data.y)
    return make_pipeline(columns, estimator(family)).fit(data.X, y == sorted(set(y.tolist()))[-1])


def estimator(family: str) -> Any:
    """With the settings that its library has chosen; only what it prints and which random numbers it takes is said."""
    import sklearn.ensemble as ensembles
    from sklearn.tree import DecisionTreeClassifier

    made = {
        "dt": DecisionTreeClassifier,
        "rf": ensembles.RandomForestClassifier,
        "et": ensembles.ExtraTreesClassifier,
        "gb": ensembles.GradientBoostingClassifier,
        "histgb": ensembles.HistGradientBoostingClassifier,
    }
    if family in made:
        return made[family](random_state=0)
    if family == "xgb":
        from xgboost import XGBClassifier

        return XGBClassifier(n_jobs=1)
    if family.startswith("catboost"):
        from catboost import CatBoostClassifier

        size = {"iterations": 100, "depth": 5} if family.endswith("100") else {}
        return CatBoostClassifier(**size, thread_count=1, verbose=0, allow_writing_files=False)
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1)


def row(name: str, model: str, options: Options) -> list[str]:
    """One line of the table."""
    data = LOADERS[name](frame="pandas")
    made, similar = fitted(model, data), lw.Similarity(free=list(data.protected))
    known: dict[str, Any] = {"X": data.X, "budget": options.seconds}
    started = time.process_time()
    imported = import_model(made, data.space, rows=data.space.encode(data.X), like=data.X)
    read = time.process_time()
    result = lw.verify(made, data.space, similar, **known)
    decided = time.process_time()
    gap = lw.measure(made, data.space, similar, of="probability", **known)
    measured = time.process_time()
    return [
        name,
        model,
        f"{_leaves(imported.model):,}",
        f"{read - started:.1f}",
        str(result.verdict),
        f"{decided - read:.1f}",
        f"[{gap.lower:.4g}, {gap.upper:.4g}]",
        f"{measured - decided:.1f}",
    ]


def _leaves(model: Any) -> int:
    trees = model.bodies[0].ensemble.trees
    return sum(len(tree.feature) // 2 + 1 for tree in trees)


def run(options: Options | None = None) -> None:
    """Print the table, each line also as soon as it is known."""
    chosen = options or Options()
    console, table = Console(width=140), Table(*HEADINGS)
    machine = platform.processor() or platform.machine()
    console.print(f"{machine}, Python {platform.python_version()}, {date.today()}, one core")
    for name in chosen.data:
        for model in chosen.models:
            line = row(name, model, chosen)
            print(" | ".join(line), file=sys.stderr, flush=True)
            table.add_row(*line)
    console.print(table)


def main(arguments: list[str]) -> None:
    """With options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks defaults")
    parser.add_argument("--data", nargs="+", default=list(LOADERS), choices=list(LOADERS))
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args(arguments)
    run(Options(data=tuple(given.data), models=tuple(given.models), seconds=given.seconds))
