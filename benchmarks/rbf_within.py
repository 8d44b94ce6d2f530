"""Kernel models under tolerances: brackets of the largest difference of scores, by the package's own search.

    python -m benchmarks.rbf_within [credit-age] [credit-limit] [credit-both] [german-age] [--budget 90]

Standardised Credit and German, `SVC(C=1, gamma="scale")` on 75% of the rows; numbers through `StandardScaler`,
categories one-hot, folded into the space by hand; the space is the ranges and levels that occur in the data. The
protected features are free and one or two numbers are `within`. Prints the bracket that the search reaches, cells,
and CPU seconds, compilation left aside (set OMP_NUM_THREADS=1: threads of BLAS that wait count too; `python -m
benchmarks rbf_within` does). The upper ends are the search's own (float64): no certificate is written. After an edit
of `likewise.bounds.rbf`, set NUMBA_CACHE_DIR to an empty folder.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

import likewise
from likewise.analysis.climbing import Climb
from likewise.bounds.families import oracle_of
from likewise.datasets import load_credit, load_german
from likewise.importers.imported import Imported
from likewise.model.body import RbfSum
from likewise.model.embedding import Column
from likewise.model.gauge import Gauge
from likewise.model.head import Head
from likewise.model.kernel import KernelScore
from likewise.model.scored import KernelRounding, Model, score_of
from likewise.search.budget import Budget
from likewise.search.problem import Problem
from likewise.spec.pairs import pair_space, with_differences
from likewise.spec.space import Space
from likewise.verifying.preparing import Prepared

LOADERS = {"credit": load_credit, "german": load_german}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is asked of which data: tolerances, and how narrow the bracket is to be."""

    data: str
    within: dict[str, int | float | str]
    gap: float


CASES = {
    "credit-age": Case(data="credit", within={"age": 2}, gap=0.05),
    "credit-limit": Case(data="credit", within={"limit": "5%"}, gap=0.05),
    "credit-both": Case(data="credit", within={"limit": "5%", "income": "5%"}, gap=0.05),
    "german-age": Case(data="german", within={"age": 2}, gap=0.05),
}


def trained(name: str) -> tuple[Any, Space, Any, Model]:
    """Data, space, codes, and the model over the space's own features."""
    data = LOADERS[name]()
    found = Space.from_data(data.X)
    space = Space(
        {
            n: likewise.Categorical(found[n].levels) if hasattr(found[n], "levels") else found[n]
            for n in found.names
        }
    )
    codes = space.encode(data.X)
    target = (np.asarray(data.y) == data.positive).astype(int)
    rows, _ = train_test_split(np.arange(len(codes)), test_size=0.25, stratify=target, random_state=42)
    columns, values = [], []
    for k, feature in enumerate(space.features.values()):
        if hasattr(feature, "levels"):
            for level in range(len(feature.levels)):
                own = tuple(Fraction(int(i == level)) for i in range(len(feature.levels)))
                columns.append(Column(feature=k, table=own))
                values.append((codes[:, k] == level).astype(float))
        else:
            mean, deviation = codes[rows, k].mean(), codes[rows, k].std()
            columns.append(
                Column(feature=k, slope=Fraction(1 / deviation), offset=Fraction(-mean / deviation))
            )
            values.append(codes[:, k] / deviation - mean / deviation)
    embedded = np.stack(values, axis=1)[rows]
    model = SVC(C=1.0, gamma=1 / (embedded.shape[1] * embedded.var())).fit(embedded, target[rows])
    body = RbfSum(
        gamma=float(model._gamma),
        bias=float(model.intercept_[0]),
        coefficients=model.dual_coef_[0].astype(float),
        centres=np.asarray(model.support_vectors_, dtype=float),
    )
    head = Head(labels=(0, 1), zero_is_upper=True)
    rounding = KernelRounding(expanded=False)
    return (
        data,
        space,
        codes,
        Model(family="SVC", rounding=rounding, embedding=tuple(columns), body=body, head=head),
    )


def prepared(case: Case, budget: float) -> Prepared:
    """The problem as `measure` would pose it."""
    data, space, codes, model = trained(case.data)
    similar = likewise.Similarity(free=data.protected, within=case.within)
    pairs = with_differences(pair_space(space, similar))
    score = score_of(model, len(space))
    if not isinstance(score, KernelScore):
        raise TypeError("the model is no kernel model")
    problem = Problem(
        pairs=pairs,
        oracle=oracle_of(score, pairs),
        question=Gauge(of="score").question(Fraction(0)),
        scores=score.scores,
        replay=_Silent(),
        budget=Budget(budget),
        random=np.random.default_rng(0),
        rows=np.concatenate([codes, score.landmarks(space)]),
        cost=score.cost,
    )
    imported = Imported(model=model, replay=_Silent())
    return Prepared(imported=imported, pairs=pairs, problem=problem, mirrored=False, like=None)


class _Silent:
    """A disparity needs no replay."""

    def confirms(self, *_: Any) -> bool:
        return True


def run(names: Sequence[str] = tuple(CASES), *, budget: float = 90.0) -> None:
    """Print one line a case."""
    print(f"{'case':14} {'terms':>5} {'lower':>8} {'upper':>8} {'cells':>8} {'CPU s':>7} {'us/cell':>8}")
    for name in names:
        case = CASES[name]
        posed = prepared(case, budget)
        posed.problem.oracle.warm_up()
        posed.problem.budget = Budget(budget)
        start = time.process_time()
        climb = Climb(posed, Gauge(of="score"), Fraction(case.gap))
        climb.run()
        seconds = time.process_time() - start
        cells = 1 if climb.search is None else len(climb.search.proof.nodes)
        print(
            f"{name:14} {posed.problem.cost:5} {float(climb.lower):8.4f} {climb.upper:8.4f} {cells:8} {seconds:7.2f} "
            f"{1e6 * seconds / cells:8.0f}",
            flush=True,
        )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Kernel models under tolerances.")
    parser.add_argument("names", nargs="*", default=list(CASES), help=", ".join(CASES))
    parser.add_argument("--budget", type=float, default=90.0)
    run(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
