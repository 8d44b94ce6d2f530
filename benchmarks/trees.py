"""Tree ensembles: verdict and largest score gap, beside Veritas.

    python -m benchmarks trees [--quick] [--data adult german credit] [--models xgb-100-6 ...] [--seconds 60] [--veritas-seconds 60]

Adult, German and Credit (a balance above the median) through an `OrdinalEncoder` and the ensemble named: family, trees, depth. "CPU s" is one
core: of the search alone, the import and the compilation of the loops left aside. Both programs get the same time; a bracket [lower, upper]
stands where it is over before the largest gap is known.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
import warnings
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import likewise as lw
from benchmarks._veritas import available, by_veritas
from likewise.analysis.disparity_problem import DisparityProblem
from likewise.analysis.disparity_search import DisparitySearch
from likewise.datasets import load_adult, load_credit, load_german
from likewise.families.oracles import Oracles
from likewise.families.trees.body import TreeForm, TreeScore
from likewise.families.trees.bounder import TreeBounder
from likewise.importers.imported_model import import_model
from likewise.model.gauge import Gauge
from likewise.model.head import NUMBER_HEAD
from likewise.model.question import Question
from likewise.search.budget import Budget
from likewise.search.task import SearchTask
from likewise.spec.pairs import pair_space
from likewise.verifying.posed_problem import PosedProblem

LOADERS = {"adult": load_adult, "german": load_german, "credit": load_credit}
PROTECTED = {
    "adult": (("race",), ("race", "sex")),
    "german": (("sex-marital-status",), ("sex-marital-status", "age")),
    "credit": (("gender",), ("ethnicity", "gender")),
}
MODELS = ("rf-100-6", "gb-100-3", "xgb-100-6", "xgb-500-6", "lgbm-500-6", "histgb-100-6", "rf-100-none")
EARLY = 10  # seconds after which a bracket is shown as well
QUICK = ("adult", "xgb-100-6", "rf-100-6", "lgbm-500-6")


class CpuBudget(Budget):
    """A budget in CPU seconds of this process, so that other programs on the machine take nothing of it."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.started = time.process_time()

    @property
    def elapsed(self) -> float:
        return time.process_time() - self.started


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run, and for how many CPU seconds each."""

    data: tuple[str, ...] = tuple(LOADERS)
    models: tuple[str, ...] = MODELS
    seconds: float = 60.0
    veritas_seconds: float = 60.0


def fitted(name: str, data: str) -> tuple[Any, lw.Space]:
    """The ensemble of a name, `family-trees-depth`, fitted on a data set whose levels are coded by their positions."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    loaded = LOADERS[data](frame="pandas")
    levels = {
        n: f.levels for n, f in loaded.space.features.items() if isinstance(f, (lw.Categorical, lw.Ordinal))
    }
    coding = OrdinalEncoder(categories=[list(part) for part in levels.values()])
    y = np.asarray(loaded.y)
    target = (
        y > np.median(y)
        if y.dtype.kind == "f" or len(set(y.tolist())) > 2
        else y == sorted(set(y.tolist()))[-1]
    )
    columns = make_column_transformer((coding, list(levels)), remainder="passthrough")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(columns, _ensemble(name)).fit(loaded.X, target.astype(int))
    return model, loaded.space


def _ensemble(name: str) -> Any:
    import sklearn.ensemble as ensembles

    family, trees, deep = name.split("-")
    depth = None if deep == "none" else int(deep)
    if family == "rf":
        return ensembles.RandomForestClassifier(int(trees), max_depth=depth, n_jobs=1, random_state=0)
    if family == "gb":
        return ensembles.GradientBoostingClassifier(n_estimators=int(trees), max_depth=depth, random_state=0)
    if family == "histgb":
        return ensembles.HistGradientBoostingClassifier(
            max_iter=int(trees), max_depth=depth, random_state=0, early_stopping=False
        )
    if family == "xgb":
        from xgboost import XGBClassifier

        return XGBClassifier(n_estimators=int(trees), max_depth=depth, n_jobs=1, random_state=0)
    from lightgbm import LGBMClassifier

    leaves = min(31, 2 ** (depth or 6))
    return LGBMClassifier(
        n_estimators=int(trees),
        max_depth=depth or -1,
        num_leaves=leaves,
        verbose=-1,
        n_jobs=1,
        random_state=0,
    )


def measured(
    model: Any, space: lw.Space, similar: lw.Similarity, seconds: float
) -> tuple[DisparitySearch, float, str]:
    """The climb to the largest gap, its CPU seconds, and the bracket after 10 s where it took longer."""
    gauge = Gauge(asked=Question(kind="score", level=Fraction(0), head=NUMBER_HEAD))
    prepared = _prepared(model, space, similar, gauge)
    prepared.task.bounder.warm_up()
    _warm(prepared)
    started = time.process_time()
    prepared.task.budget = CpuBudget(seconds)
    climb = DisparitySearch(DisparityProblem(prepared, gauge), Fraction(0))
    climb.run()
    took = time.process_time() - started
    early = [(low, high) for at, low, high in climb.history if at <= EARLY]
    return climb, took, _bracket(*early[-1]) if early and took > EARLY else ""


def _prepared(model: Any, space: lw.Space, similar: lw.Similarity, gauge: Gauge) -> PosedProblem:
    """The problem of an ensemble's score; of the second class's probability where it has one score a class, as forests do."""
    imported = import_model(model, space, rows=np.empty((0, len(space))))
    pairs = pair_space(imported.space, similar)
    body = imported.model.bodies[-1]
    assert isinstance(body, TreeForm)
    score = TreeScore(body=body.ensemble, alpha=body.alpha)
    problem = SearchTask(
        pairs=pairs,
        oracles=Oracles(score, pairs, TreeBounder(score, pairs)),
        question=gauge.question(Fraction(0)),
        scores=score.scores,
        replay=imported.replay,
        budget=Budget(1.0),
        random=np.random.default_rng(0),
        rows=imported.rows,
        cost=score.cost,
    )
    return PosedProblem(
        imported=imported,
        pairs=pairs,
        task=problem,
        mirrored=False,
        gauge=gauge,
        like=None,
    )


def _warm(prepared: Any) -> None:
    """Have everything compiled that the exact proofs need."""
    oracle = prepared.task.bounder
    memory = oracle.memory(
        *([float(getattr(v, end)) for v in oracle.pairs.variables] for end in ("lo", "hi"))
    )
    half = Fraction(1, 2)
    oracle.values.bound(oracle.elements, oracle.axes, oracle.whole, memory.box, half, half)
    oracle.score.enclose(
        [Fraction(v.lo) for v in (oracle.pairs.variables[i] for i in oracle.pairs.first)], 53
    )


def _bracket(lower: float, upper: float) -> str:
    if not np.isfinite(lower):
        return f"none to {upper:.5g}"
    return f"{lower:.6g}" if upper - lower <= 1e-9 * (1 + abs(lower)) else f"[{lower:.5g}, {upper:.5g}]"


def table(options: Options) -> Table:
    """One row a data set, ensemble and set of features that may differ."""
    found = Table(
        "data",
        "ensemble",
        "free",
        "verdict",
        "CPU s",
        "largest gap",
        "after 10 s",
        "CPU s",
        "cells",
        "Veritas",
        "CPU s",
    )
    for data in options.data:
        for name in options.models:
            model, space = fitted(name, data)
            for free in PROTECTED[data]:
                found.add_row(*row(data, name, model, space, free, options))
    return found


def row(
    data: str, name: str, model: Any, space: lw.Space, free: tuple[str, ...], options: Options
) -> list[str]:
    """One line of the table, also printed on its own as soon as it is known."""
    similar = lw.Similarity(free=free)
    started = time.process_time()
    try:
        verdict = str(lw.verify(model, space, similar, budget=options.seconds).verdict)
    except lw.UnsupportedModel:
        verdict = "-"
    asked = time.process_time() - started
    climb, seconds, early = measured(model, space, similar, options.seconds)
    gap = _bracket(float(climb.lower), climb.upper)
    cells = 1 if climb.search is None else climb.search.cells
    line = [
        data,
        name,
        ", ".join(free),
        verdict,
        f"{asked:.2f}",
        gap,
        early,
        f"{seconds:.3f}",
        f"{cells:,}",
    ]
    if options.veritas_seconds and available():
        oracle = climb.problem.bounder
        assert isinstance(oracle, TreeBounder)
        theirs = by_veritas(oracle, options.veritas_seconds)
        line += [_bracket(theirs.lower, theirs.upper), f"{theirs.seconds:.1f}"]
    else:
        line += ["", ""]
    print(" | ".join(line), file=sys.stderr, flush=True)
    return line


def run(options: Options | None = None) -> None:
    """Print the table."""
    console = Console(width=180)
    console.print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, {date.today()}, one core"
    )
    console.print(table(options or Options()))


def main(arguments: list[str]) -> None:
    """With options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks trees")
    parser.add_argument("--quick", action="store_true", help="Adult and three ensembles only")
    parser.add_argument("--data", nargs="+", choices=LOADERS, default=list(LOADERS))
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--veritas-seconds", type=float, default=60.0, help="0: without Veritas")
    given = parser.parse_args(arguments)
    data, models = (QUICK[:1], QUICK[1:]) if given.quick else (given.data, given.models)
    run(
        Options(
            data=tuple(data),
            models=tuple(models),
            seconds=given.seconds,
            veritas_seconds=given.veritas_seconds,
        )
    )


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(sys.argv[1:])
