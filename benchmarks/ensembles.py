"""Votes of three models beside each of them, boosters of one size beside each other, and explainable boosting machines: the largest gap, and what it takes.

    python -m benchmarks ensembles [--data adult german] [--seconds 20] [--trees 20] [--bags 14]

Adult and German, prepared as usual; what may differ are the protected features. CPU seconds of one core on a second call, with loops compiled: `read` is reading the model and comparing it with the original, `measure` what is
beyond that. The row of a vote is to be held against the sum of its parts, which is the row above it, and a machine's exact gap of scores against a tenth of a second, once with
two rows to begin with and once with all that it was fitted on. CatBoost is to be held against LightGBM: as many trees of the same depth, each grown by its own library, which are different models and take as many `cells` as their gaps do; and then the very trees of CatBoost written down as LightGBM's, over
numbers of levels, which both libraries take.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import sys
import time
import warnings
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import pandas as pd
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
SAME = 1e-12  # of probabilities: sums of leaves are rounded in another order
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
    """Two libraries, with trees of their own and with the same trees."""
    found = {
        library: _timed(prepared(model, data), "probability", data, data.X, options.seconds)
        for library, model in boosters(options.trees).items()
    }
    names = list(data.space.names)
    coded = replace(
        data,
        X=pd.DataFrame(data.space.encode(data.X), columns=names),
        space=lw.Space({one: _numbers(data.space[one]) for one in names}),
    )
    grown = boosters(options.trees)["CatBoost"].fit(coded.X, _target(data))
    written = in_lightgbm(grown, names)
    if np.abs(written.predict(coded.X) - grown.predict_proba(coded.X)[:, 1]).max() > SAME:
        raise SystemExit("LightGBM says something else of the trees that CatBoost has grown")
    for library, model in (("LightGBM", written), ("CatBoost", grown)):
        found[f"{library}, same trees"] = _timed(model, "probability", coded, coded.X, options.seconds)
    return [one.line(name, library, "probability") for library, one in found.items()]


def _numbers(feature: Any) -> Any:
    """A feature of the numbers of levels."""
    levels = getattr(feature, "levels", None)
    return feature if levels is None else lw.Integer(0, len(levels) - 1)


def in_lightgbm(model: Any, columns: list[str]) -> Any:
    """A CatBoost classifier of numbers as LightGBM has it: tests of a level of an oblivious tree are all the same."""
    from lightgbm import Booster

    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save_model(str(file), format="json")
        known = json.loads(file.read_text())
    (bias,) = known["scale_and_bias"][1]
    trees = [
        _tree_in_lightgbm(
            number, tree["splits"], [value + (bias if number == 0 else 0.0) for value in tree["leaf_values"]]
        )
        for number, tree in enumerate(known["oblivious_trees"])
    ]
    head = {
        "version": "v4",
        "num_class": 1,
        "num_tree_per_iteration": 1,
        "label_index": 0,
        "max_feature_idx": len(columns) - 1,
        "objective": "binary sigmoid:1",
        "feature_names": " ".join(columns),
        "feature_infos": " ".join("[0:1000000]" for _ in columns),
        "tree_sizes": " ".join(str(len(tree)) for tree in trees),
    }
    told = "tree\n" + "".join(f"{key}={value}\n" for key, value in head.items())
    return Booster(
        model_str=told + "\n" + "".join(trees) + "end of trees\n\nparameters:\n\nend of parameters\n"
    )


def _tree_in_lightgbm(number: int, splits: list[dict[str, Any]], values: list[float]) -> str:
    """Nodes level by level; leaf number n has passed the border of the splits whose bits are set in n."""
    depth = len(splits)
    nodes = [(level, passed) for level in range(depth) for passed in range(2**level)]

    def child(level: int, passed: int) -> int:
        return ~passed if level == depth else 2**level - 1 + passed

    lines = {
        "num_leaves": [2**depth],
        "num_cat": [0],
        "split_feature": [splits[level]["float_feature_index"] for level, _ in nodes],
        "split_gain": [1 for _ in nodes],
        "threshold": [repr(splits[level]["border"]) for level, _ in nodes],
        "decision_type": [2 for _ in nodes],
        "left_child": [child(level + 1, passed) for level, passed in nodes],
        "right_child": [child(level + 1, passed | 1 << level) for level, passed in nodes],
        "leaf_value": [repr(value) for value in values],
        "shrinkage": [1],
    }
    return (
        f"Tree={number}\n"
        + "".join(f"{key}={' '.join(map(str, line))}\n" for key, line in lines.items())
        + "\n\n"
    )


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
