"""Plausible pairs: how near to the data are the pairs that are shown, and which rules do the rows obey?

    python -m benchmarks plausible [--models 8] [--rows 1000] [--budget 20]

Models of four families, fitted on several samples of German and of made data with the columns that recidivism scores are told on (raw columns through a pipeline). Each claim that is BIASED has a pair: found without the data, with
it, with `like_data=True` and with `like_data="frequent"`. A pair is as far from the data as the nearer of its two individuals is from its nearest row, by Gower's distance, computed here anew; beside it stands how many pairs are nearer than two rows are to each other half of the time,
and of how many rows the rarer of the two is more frequent, by the product of the shares of rows with the same values or in the same tenth of a range, computed here anew too.
The second table has the rules that `mine_rules` finds, and how many of the pairs that were found without the data break one of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import likewise as lw
from benchmarks.rbf import machine
from benchmarks.regions import recidivism

MODELS, ROWS, BUDGET = 8, 1000, 20.0
SAMPLED = 4_000  # pairs of rows
WAYS = ("without data", "with data", "nearest", "frequent")
MOST_VALUES, BINS, UNSEEN = 20, 10, 0.5  # of marginals, as the guide says them


@dataclass(slots=True, kw_only=True)
class Found:
    """Distances of the pairs of one data set, by how they were found."""

    usual: float
    distances: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})
    rarer: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})  # shares of rows
    pairs: list[Any] = field(default_factory=list)
    claims: int = 0


def last_steps(seed: int) -> Iterator[Any]:
    """Small models of four families."""
    yield LogisticRegression(max_iter=1000)
    yield SVC(gamma=0.05)
    yield RandomForestClassifier(20, max_depth=5, random_state=seed)
    yield GradientBoostingClassifier(n_estimators=20, random_state=seed)


def fitted(X: pd.DataFrame, y: Any, last: Any) -> Any:
    """Raw columns through a pipeline."""
    levels = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    numbers = [name for name in X if name not in levels]
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), levels), (StandardScaler(), numbers)
    )
    return make_pipeline(columns, last).fit(X, y)


def parts(one: pd.DataFrame, other: pd.DataFrame, spread: pd.Series) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Gower's distances of the rows of two frames, each row from its own."""
    total = np.zeros(len(one))
    for name in one:
        if name in spread:
            apart = np.abs(one[name].to_numpy(float) - other[name].to_numpy(float)) / spread[name]
            total += np.minimum(apart, 1.0)
        else:
            total += one[name].astype(str).to_numpy() != other[name].astype(str).to_numpy()
    found: np.ndarray[Any, np.dtype[np.float64]] = total / one.shape[1]
    return found


def distance(pair: pd.DataFrame, rows: pd.DataFrame, spread: pd.Series) -> float:
    """Of the nearer of the two from its nearest row."""
    both = (
        parts(rows, pd.concat([pair[i : i + 1]] * len(rows), ignore_index=True), spread).min()
        for i in range(2)
    )
    return float(min(both))


def frequencies(people: pd.DataFrame, rows: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The logarithms of the products of shares of rows, feature by feature."""
    total = np.zeros(len(people))
    for name in rows:
        own, known = people[name], rows[name]
        if pd.api.types.is_numeric_dtype(known) and known.nunique() > MOST_VALUES:
            edges = np.linspace(known.min(), known.max(), BINS + 1)
            own, known = (
                pd.Series(np.clip(np.searchsorted(edges, one.to_numpy(float), "right") - 1, 0, BINS - 1))
                .where(one.between(edges[0], edges[-1]).to_numpy(), -1)
                .astype(str)
                for one in (own, known)
            )
        elif pd.api.types.is_numeric_dtype(known):
            own, known = own.astype(float), known.astype(float)
        else:
            own, known = own.astype(str), known.astype(str)
        counts = known.value_counts()
        shares = own.map(counts).astype(float).fillna(UNSEEN) / len(rows)
        total += np.log(shares.to_numpy())
    return total


def look(X: pd.DataFrame, y: Any, space: lw.Space, free: list[str], models: int, budget: float) -> Found:
    """Pairs of so many models."""
    numbers = [name for name in X if pd.api.types.is_numeric_dtype(X[name])]
    spread = (X[numbers].max() - X[numbers].min()).replace(0, 1).astype(float)
    random = np.random.default_rng(0)
    first, second = random.integers(0, len(X), (2, SAMPLED))
    kept = first != second
    pairs = parts(
        X.iloc[first[kept]].reset_index(drop=True), X.iloc[second[kept]].reset_index(drop=True), spread
    )
    found = Found(usual=float(np.median(pairs)))
    rows = X.reset_index(drop=True)
    usual = frequencies(rows, rows)
    for seed in range((models + 3) // 4):
        sample = random.permutation(len(X))[: len(X) // 2]
        for last in list(last_steps(seed))[: models - 4 * seed]:
            model = fitted(X.iloc[sample], np.asarray(y)[sample], last)
            found.claims += 1
            asked = (model, space, lw.Similarity(free=free))
            results = [
                lw.verify(*asked, budget=budget),
                lw.verify(*asked, X=X, budget=budget),
                lw.verify(*asked, X=X, like_data="nearest", budget=budget),
                lw.verify(*asked, X=X, like_data="frequent", budget=budget),
            ]
            if any(result.verdict != "BIASED" for result in results):
                continue
            for way, result in zip(WAYS, results, strict=True):
                pair = pd.DataFrame(result.pair)[list(X)].reset_index(drop=True)
                found.distances[way].append(distance(pair, rows, spread))
                found.rarer[way].append(float((usual < frequencies(pair, rows).min() - 1e-9).mean()))
            found.pairs.append(results[0].pair)
    return found


def run(models: int = MODELS, rows: int = ROWS, budget: float = BUDGET) -> None:
    """Print both tables."""
    german, offenders = lw.datasets.load_german(), recidivism(rows)
    console = Console(width=150)
    table = Table(title=f"pairs that are shown ({machine()})")
    for heading in (
        "data",
        "claims",
        "pairs",
        "two rows, median",
        "found",
        "nearer than that",
        "distance, median",
        "largest",
        "more frequent than, median",
    ):
        table.add_column(heading, justify="left" if heading in ("data", "found") else "right")
    rules = Table(title="rules that all rows obey")
    for heading in ("data", "rule", "rows", "expected to break it", "pairs that break it"):
        rules.add_column(heading, justify="left" if heading in ("data", "rule") else "right")
    for name, data, free in (
        ("German", german, ["sex-marital-status", "foreign-worker"]),
        ("Offenders", offenders, ["race", "sex"]),
    ):
        X = pd.DataFrame(data.X)[:rows]
        space = data.space.widen(X)
        found = look(X, data.y[:rows], space, free, models, budget)
        for way in WAYS:
            apart = found.distances[way]
            nearer = sum(one < found.usual for one in apart)
            told = (
                (f"{np.median(apart):.3f}", f"{max(apart):.3f}", f"{np.median(found.rarer[way]):.0%} of rows")
                if apart
                else ("-",) * 3
            )
            first = (
                (name, str(found.claims), str(len(apart)), f"{found.usual:.3f}")
                if way == WAYS[0]
                else ("",) * 4
            )
            table.add_row(*first, way, f"{nearer} of {len(apart)}", *told)
        for rule in lw.mine_rules(space, X):
            obeyed = space.where(rule.rule)
            broken = sum(not obeyed.admit(pair).kept.all() for pair in found.pairs)
            rules.add_row(
                name, rule.rule, f"{rule.rows:,}", f"{rule.expected:.0f}", f"{broken} of {len(found.pairs)}"
            )
    console.print(table)
    console.print(rules)


def main(arguments: list[str]) -> None:
    """Run with options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks plausible")
    parser.add_argument("--models", type=int, default=MODELS)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--budget", type=float, default=BUDGET)
    given = parser.parse_args(arguments)
    run(given.models, given.rows, given.budget)
