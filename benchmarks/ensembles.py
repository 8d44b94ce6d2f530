"""Votes of three models beside each of them, boosters of one size beside each other, and explainable boosting machines: the largest gap, and what it takes.

    python -m benchmarks ensembles [--data adult german] [--seconds 20] [--trees 20] [--bags 14]

Adult and German, prepared as usual; what may differ are the protected features. CPU seconds of one core on a second call, with loops compiled: `read` is reading the model and comparing it with the original, `measure` what is
beyond that. The row of a vote is to be held against the sum of its parts, which is the row above it, CatBoost against LightGBM (as many trees of the same depth; but the two models are not the same, and take as many `cells` as their gaps do), and a machine's exact gap of scores against a tenth of a second, once with
two rows to begin with and once with all that it was fitted on.
"""

from __future__ import annotations

import argparse
import math
import platform
import sys
import time
import warnings
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw
from likewise.datasets import load_adult, load_german

LOADERS = {"adult": load_adult, "german": load_german}
HEADINGS = ("data", "model", "read", "of", "largest gap", "cells", "measure")
Of = Literal["score", "probability"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run; `seconds` is the budget of each call."""

    data: tuple[str, ...] = tuple(LOADERS)
    seconds: float = 20.0
    trees: int = 20
    bags: int = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a line of the table says."""

    read: float
    taken: float
    bracket: str
    cells: int

    def line(self, data: str, name: str, of: Of) -> list[str]:
        return [data, name, f"{self.read:.2f}", of, self.bracket, f"{self.cells:,}", f"{self.taken:.2f}"]


def members(trees: int) -> dict[str, Any]:
    """Classifiers that are read by different families."""
    return {
        "logistic regression": LogisticRegression(max_iter=1000),
        "random forest": RandomForestClassifier(trees, max_depth=3, random_state=0),
        "gradient boosting": GradientBoostingClassifier(n_estimators=trees, max_depth=2, random_state=0),
        "naive Bayes": GaussianNB(),
    }


VOTES = (
    ("logistic regression", "random forest", "gradient boosting"),
    ("logistic regression", "random forest", "naive Bayes"),
)


def regressors(trees: int) -> dict[str, Any]:
    """The same of regressors."""
    return {
        "ridge": Ridge(),
        "forest of numbers": RandomForestRegressor(trees, max_depth=3, random_state=0),
        "boosting of numbers": GradientBoostingRegressor(n_estimators=trees, max_depth=2, random_state=0),
    }


def boosters(trees: int) -> dict[str, Any]:
    """Two libraries with as many trees of the same depth."""
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier

    grown: dict[str, Any] = {"n_estimators": trees, "max_depth": 4, "random_state": 0}
    return {
        "LightGBM": LGBMClassifier(num_leaves=16, n_jobs=1, verbose=-1, **grown),
        "CatBoost": CatBoostClassifier(thread_count=1, verbose=0, allow_writing_files=False, **grown),
    }


def prepared(model: Any, data: Any) -> Any:
    """The model behind one column a level and standardised numbers, fitted."""
    words = make_column_selector(dtype_exclude=np.number)
    coding = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((coding, words), remainder=StandardScaler())
    return make_pipeline(columns, model).fit(data.X, _target(data))


def vote_lines(name: str, data: Any, options: Options) -> list[list[str]]:
    """Members alone, then votes of three of them below the sum of these."""
    kinds: list[tuple[dict[str, Any], tuple[tuple[str, ...], ...], Any, Of]] = [
        (members(options.trees), VOTES, VotingClassifier, "probability"),
        (regressors(options.trees), (tuple(regressors(1)),), VotingRegressor, "score"),
    ]
    lines = []
    for alone, votes, kind, of in kinds:
        known = {
            member: _timed(prepared(model, data), of, data, data.X, options.seconds)
            for member, model in alone.items()
        }
        lines += [one.line(name, member, of) for member, one in known.items()]
        for chosen in votes:
            parts = [(member, alone[member]) for member in chosen]
            vote = kind(parts, voting="soft") if kind is VotingClassifier else kind(parts)
            read, taken = (sum(getattr(known[m], what) for m in chosen) for what in ("read", "taken"))
            cells = sum(known[m].cells for m in chosen)
            lines.append(
                Answer(read=read, taken=taken, bracket="", cells=cells).line(name, "sum of parts", of)
            )
            said = " + ".join(member.split()[0] for member in chosen)
            found = _timed(prepared(vote, data), of, data, data.X, options.seconds)
            lines.append(found.line(name, f"vote: {said}", of))
    return lines


def booster_lines(name: str, data: Any, options: Options) -> list[list[str]]:
    """Two libraries."""
    return [
        _timed(prepared(model, data), "probability", data, data.X, options.seconds).line(
            name, library, "probability"
        )
        for library, model in boosters(options.trees).items()
    ]


def machine_lines(name: str, data: Any, options: Options) -> list[list[str]]:
    """An explainable boosting machine on raw columns, with two rows to begin with and with all of them."""
    from interpret.glassbox import ExplainableBoostingClassifier

    machine = ExplainableBoostingClassifier(n_jobs=1, outer_bags=options.bags)
    machine.fit(data.X, _target(data))
    rows = {"two rows": data.X.head(2), "all rows": data.X}
    return [
        _timed(machine, "score", data, known, options.seconds).line(name, f"EBM, {how}", "score")
        for how, known in rows.items()
    ]


def _target(data: Any) -> Any:
    y = np.asarray(data.y)
    return y == sorted(set(y.tolist()))[-1]


def _timed(fitted: Any, of: Of, data: Any, rows: Any, seconds: float) -> Answer:
    """What reading takes, and what measuring takes beyond it: the least of two calls each, as the first one compiles loops."""
    from likewise.importers.imported_model import import_model

    similar, read, whole = lw.Similarity(free=list(data.protected)), math.inf, math.inf
    for _ in range(2):
        started = time.process_time()
        import_model(fitted, data.space, rows=data.space.encode(rows), like=rows)
        read = min(read, time.process_time() - started)
        started = time.process_time()
        found = lw.measure(fitted, data.space, similar, of=of, X=rows, budget=seconds)
        whole = min(whole, time.process_time() - started)
    bracket = f"[{found.lower:.6f}, {found.upper:.6f}]"
    return Answer(read=read, taken=whole - read, bracket=bracket, cells=int(found.stats["cells"]))


def run(options: Options | None = None) -> None:
    """Print the table, each line also as soon as it is known."""
    chosen = options or Options()
    table = Table(*HEADINGS, title=f"{date.today()}, {platform.machine()}, {chosen.trees} trees each")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in chosen.data:
            data = LOADERS[name](frame="pandas")
            for lines in (vote_lines, booster_lines, machine_lines):
                for line in lines(name, data, chosen):
                    print(" | ".join(line), file=sys.stderr, flush=True)
                    table.add_row(*line)
    Console(file=sys.stdout, width=140).print(table)


def main(arguments: list[str]) -> None:
    """The same from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks ensembles", description=__doc__)
    parser.add_argument("--data", nargs="+", default=list(LOADERS), choices=list(LOADERS))
    parser.add_argument("--seconds", type=float, default=Options().seconds)
    parser.add_argument("--trees", type=int, default=Options().trees)
    parser.add_argument("--bags", type=int, default=Options().bags)
    given = parser.parse_args(arguments)
    run(Options(data=tuple(given.data), seconds=given.seconds, trees=given.trees, bags=given.bags))
