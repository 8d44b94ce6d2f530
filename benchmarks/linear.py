"""Linear models: the paper's eight and two hard cases, the exact engine beside a MILP solver.

    python -m benchmarks linear [--data german adult fraud credit]

Each row decides "the same decision" twice in one process on one thread: by `likewise.verify` (the time
includes importing the model and its self-check) and by one program of HiGHS that maximises the margin
min(s, -s'). A margin above zero is a flip; HiGHS allows errors of 1e-6, so a margin closer to zero than
that tells it nothing: masked models come out as 0 or -1e-7, a flip of 1e-9 looks the same. Models ending in 1 are fitted plainly, those in 2 with the protected columns set
to zero in training.
"""

import argparse
import platform
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import likewise as lw
from likewise.datasets import paper_problem
from likewise.families.scored_model import only_score
from likewise.paper.milp import propose_pair
from likewise.problem import make_claim, prepare
from likewise.run import Run
from likewise.search.budget import Budget
from likewise.spec.terms import Separable
from likewise.verifying.posed_problem import pose

PAPER_DATA = Path(__file__).parents[2] / "shared" / "data" / "paper"
SETS = (("german", "German"), ("adult", "Adult"), ("fraud", "Fraud"), ("credit", "Credit"))
NAMES = tuple(name for name, _ in SETS)
SPLIT = {"test_size": 0.25, "random_state": 42}
HIGHS_TOLERANCE = 1e-6  # its default for feasibility and integrality
PAPER_SAYS = {"1": "BIASED", "2": "FAIR"}


def fitted(data: Any, *, masked: bool) -> Any:
    """The paper's linear model of a data set."""
    X = data.X.copy()
    if masked:
        X[list(data.protected)] = 0
    train, _, labels, _ = train_test_split(X, data.y, stratify=data.y, **SPLIT)
    return LogisticRegression(solver="liblinear").fit(train, labels)


def paper_cases(names: Sequence[str]) -> list[tuple[str, Any, Any, Any, str]]:
    """Name, model, space, similarity and the paper's verdict; Fraud only where its file is."""
    cases = []
    for name, title in SETS:
        if name not in names:
            continue
        try:
            data = paper_problem(name, PAPER_DATA, frame="pandas")
        except lw.DataError as error:
            Console(stderr=True).print(f"left out: {title} ({error})")
            continue
        similar = lw.Similarity(free=list(data.protected))
        for number, expected in PAPER_SAYS.items():
            model = fitted(data, masked=number == "2")
            cases.append((f"{title} Linear{number}", model, data.space, similar, expected))
    return cases


def with_weights(weights: list[float], bias: float, names: list[str]) -> Any:
    """A LogisticRegression that has exactly these weights."""
    rows = pd.DataFrame(np.array([[0.0] * len(names), [1.0] * len(names)]), columns=names)
    model = LogisticRegression().fit(rows, [0, 1])
    model.coef_, model.intercept_ = np.array([weights]), np.array([bias])
    return model


def narrow_flip() -> tuple[str, Any, Any, Any, str]:
    """One assignment of eight integers has scores 1e-9 on either side of zero; all others are far away."""
    random = np.random.default_rng(1)
    weights = random.integers(100, 1000, 8).astype(float) / 8
    target = random.integers(0, 6, 8)
    names = [*(f"f{k}" for k in range(8)), "sex"]
    space = lw.Space({**{n: lw.Integer(0, 5) for n in names[:-1]}, "sex": lw.Integer(0, 1)})
    model = with_weights([*weights.tolist(), 2e-9], -float(weights @ target) - 1e-9, names)
    return "flip of 1e-9", model, space, lw.Similarity(free=["sex"]), "BIASED"


def parity() -> tuple[str, Any, Any, Any, str]:
    """Odd whole scores and a free weight of 3/4: fair, but no single line shows it."""
    names = [*(f"f{k}" for k in range(14)), "sex"]
    weights = [2.0 * (-1) ** k * (1 + k % 3) for k in range(14)]
    space = lw.Space({name: lw.Integer(0, 1) for name in names})
    return "parity", with_weights([*weights, 0.75], 1.0, names), space, lw.Similarity(free=["sex"]), "FAIR"


def by_milp(model: Any, space: Any, similar: Any) -> tuple[float, float]:
    """The largest margin that HiGHS reports, and its seconds."""
    run = Run(budget=Budget(60))
    prepared = pose(prepare(make_claim(model, space, similar), run), run)
    score = only_score(prepared.imported.model, len(space))
    assert isinstance(score, Separable)
    started = time.perf_counter()
    proposed = propose_pair(score, prepared.pairs, "margin")
    seconds = time.perf_counter() - started
    return (float("nan") if proposed is None else proposed.value), seconds


def in_words(margin: float) -> str:
    """What can be concluded from a value that may be wrong by the tolerance."""
    if abs(margin) <= HIGHS_TOLERANCE:
        return "cannot tell"
    return "flip" if margin > 0 else "no flip"


def main(arguments: list[str]) -> None:
    """With options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks linear")
    parser.add_argument("--data", nargs="+", choices=NAMES, default=NAMES)
    run(parser.parse_args(arguments).data)


def run(names: Sequence[str] = NAMES) -> None:
    """Print the table."""
    table = Table(title=f"same decision, {platform.machine()}, {platform.system()}, {date.today()}")
    for column in (
        "model",
        "expected",
        "verdict",
        "engine",
        "cells",
        "seconds",
        "MILP margin",
        "MILP says",
        "MILP seconds",
    ):
        table.add_column(
            column, justify="right" if column in ("cells", "seconds", "MILP seconds") else "left"
        )
    cases = [*paper_cases(names), narrow_flip(), parity()]
    _, model, space, similar, _ = cases[0]
    lw.verify(model, space, similar)  # imports and caches are paid for once, before anything is timed
    by_milp(model, space, similar)
    for name, model, space, similar, expected in cases:
        result = lw.verify(model, space, similar)
        margin, seconds = by_milp(model, space, similar)
        mark = "" if result.verdict == expected else "  (!)"
        table.add_row(
            name,
            expected,
            f"{result.verdict}{mark}",
            result.stats["engine"],
            f"{result.stats['cells']:,}",
            f"{result.stats['seconds']:.3f}",
            f"{margin:.3g}",
            in_words(margin),
            f"{seconds:.3f}",
        )
    Console(width=130).print(table)
