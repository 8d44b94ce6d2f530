"""Sums of squares: exact bounds of the largest margin of polynomial models, and how far each relaxation goes.

    python -m benchmarks sos [--parts paper cubic sizes] [--data FOLDER]

paper   the paper's unmasked degree-2 models over the continuous domain: largest margin over all values of the protected
        features, one program (Shor) for each ordered pair of values. Fraud is read from FOLDER, ../shared/data/paper unless told.
cubic   degree 3 on standardised Credit and German, over the ranges in the data: relaxations with a constant and a linear lean.
sizes   random polynomials of the degree that fits the relaxation, with more and more axes, until one takes too long.

"bound" is the exact bound of the content, "lower" what local search attains: the truth lies between. Seconds are CPU
seconds of one thread: making the program, solving it, the exact bound. Fitted models are kept in the system's folder for
temporary files.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks._polynomials import Polynomial, best_margin, columns_of, expanded
from likewise.datasets import paper_problem
from likewise.errors import DataError
from likewise.families.polynomial.sos import FreeLean, Proposal, cube_of, propose
from likewise.families.polynomial.sos.cube import graded_monomials
from likewise.spec import Categorical, Feature, Ordinal

PARTS = ("paper", "cubic", "sizes")
PAPER = ("adult", "credit", "fraud", "german")
DATA = Path(__file__).parents[2] / "shared" / "data" / "paper"
STARTS = 6  # of local search, beside the first moments
TOO_LONG = 30.0  # seconds for one program of `sizes`
LADDERS = {
    "shor": ("clarabel", 2, (5, 10, 20, 30, 40, 60)),
    "rlt": ("clarabel", 2, (5, 10, 20, 30)),
    "d3": ("clarabel", 3, (4, 6, 8, 10, 12, 15)),
    "d3 scs": ("scs", 3, (8, 12, 19)),
    "o2": ("clarabel", 4, (3, 4, 5, 6, 8, 10)),
    "o2 scs": ("scs", 4, (6, 8, 10)),
    "o3": ("clarabel", 6, (2, 3, 4)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One exact score for each combination of protected values, in the axes of all other features."""

    axes: int
    values: list[tuple[float, ...]]
    scores: list[Polynomial]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Ordered pairs of values."""
        return itertools.permutations(range(len(self.values)), 2)


def kept(name: str, model: SVC, X: Any, y: Any) -> SVC:
    """The fitted model: from the folder for temporary files, if these settings and rows have been fitted before."""
    key = joblib.hash((model.get_params(), np.asarray(X), np.asarray(y)))
    file = Path(tempfile.gettempdir()) / "likewise-benchmarks" / f"sos-{name}-{key}.joblib"
    if file.exists():
        return joblib.load(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = model.fit(X, y)
    file.parent.mkdir(exist_ok=True)
    joblib.dump(model, file)
    return model


def training_rows(data: Any) -> tuple[Any, Any]:
    """The paper's 75%."""
    X, y = data.X.to_numpy(dtype=float), data.y.to_numpy()
    rows, _, labels, _ = train_test_split(X, y, test_size=0.25, stratify=y, random_state=42)
    return rows, labels


def problem(
    model: SVC, lo: Sequence[float], hi: Sequence[float], protected: dict[int, Sequence[float]]
) -> Problem:
    """Expand the model for every combination of protected values."""
    values = list(itertools.product(*protected.values()))
    scores = [expanded(model, columns_of(lo, hi, dict(zip(protected, v, strict=True)))) for v in values]
    return Problem(axes=len(lo) - len(protected), values=values, scores=scores)


def paper_model(name: str, folder: Path) -> Problem:
    """The paper's Poly model on all columns, over its domain."""
    data = paper_problem(name, folder, frame="pandas")
    settings = SVC(kernel="poly", degree=2, C=1.0, gamma=0.001, coef0=0.0, cache_size=500, max_iter=10_000)
    model = kept(name, settings, *training_rows(data))
    lo, hi = zip(*(_ends(feature) for feature in data.space.features.values()), strict=True)
    places = [data.space.names.index(column) for column in data.protected]
    return problem(model, lo, hi, {k: [float(v) for v in range(int(lo[k]), int(hi[k]) + 1)] for k in places})


def _ends(feature: Feature) -> tuple[float, float]:
    if isinstance(feature, (Categorical, Ordinal)):
        raise TypeError("the paper's columns are numbers")
    return feature.lo, feature.hi


def cubic_model(name: str) -> Problem:
    """Degree 3 on standardised columns, over the ranges that occur."""
    data = paper_problem(name, frame="pandas")
    rows, labels = training_rows(data)
    scaler = StandardScaler().fit(rows)
    model = kept(f"cubic-{name}", SVC(kernel="poly", degree=3, coef0=1.0), scaler.transform(rows), labels)
    every = scaler.transform(data.X.to_numpy(dtype=float))
    places = [data.space.names.index(column) for column in data.protected]
    return problem(
        model, every.min(axis=0), every.max(axis=0), {k: np.unique(every[:, k]).tolist() for k in places}
    )


def attained(posed: Problem, i: int, j: int, found: Proposal, seed: int = 0) -> float:
    """The best margin of local search from the first moments and from random points."""
    rng = np.random.default_rng(seed)
    starts = [found.point, *rng.uniform(-1, 1, (STARTS, posed.axes))]
    return best_margin(posed.scores[i], posed.scores[j], starts)[0]


def run_paper(folder: Path) -> None:
    """One line a model."""
    print(
        f"{'model':8} axes pairs  largest margin <=        >=   {'build':>7} {'solve':>7} {'check':>7}  ms a pair (most)"
    )
    for name in PAPER:
        try:
            posed = paper_model(name, folder)
        except DataError as error:
            print(f"{name:8} left out: {error.message}")
            continue
        cube = cube_of([None] * posed.axes)
        found = {
            (i, j): propose(posed.scores[i], posed.scores[j], cube, FreeLean()) for i, j in posed.pairs()
        }
        best = max(found, key=lambda pair: found[pair].bound)
        lower = max(attained(posed, *pair, found[pair]) for pair in found)
        seconds = np.array([(p.seconds.build, p.seconds.solve, p.seconds.check) for p in found.values()])
        times = " ".join(f"{1000 * value:7.2f}" for value in seconds.mean(axis=0))
        print(
            f"{name:8} {posed.axes:4} {len(found):5} {float(found[best].bound):17.8f} {lower:11.8f} {times}  "
            f"{1000 * seconds.sum(axis=1).mean():.1f} ({1000 * seconds.sum(axis=1).max():.1f})",
            flush=True,
        )


def run_cubic() -> None:
    """One line a pair of values and relaxation."""
    credit = [("d3", False), ("o2", False), ("o2", True), ("o2+rlt", True)]
    for name, pairs, kinds in (("credit", 3, credit), ("german", 1, [("d3", False)])):
        posed = cubic_model(name)
        cube = cube_of([None] * posed.axes)
        print(f"cubic {name}, {posed.axes} axes")
        print("pair  relaxation    margin <=    lower   gap %   seconds  status")
        for (i, j), (kind, linear) in itertools.product(itertools.islice(posed.pairs(), pairs), kinds):
            found = propose(posed.scores[i], posed.scores[j], cube, FreeLean(linear=linear), kind=kind)
            lower = attained(posed, i, j, found)
            bound = float(found.bound)
            print(
                f"{i} {j}   {kind + (' linear' if linear else ''):13} {bound:9.6f} {lower:9.6f} "
                f"{100 * (bound - lower) / abs(lower):6.2f} {_total(found):8.2f}  {found.status}",
                flush=True,
            )


def run_sizes() -> None:
    """One line a relaxation and number of axes; the next relaxation as soon as one takes too long."""
    print("relaxation  axes    build    solve    check  loss by rounding, of the bound")
    rng = np.random.default_rng(0)
    for name, (solver, degree, ladder) in LADDERS.items():
        for axes in ladder:
            first, second = (
                {m: Fraction(float(v)) for m, v in zip(basis, rng.normal(size=len(basis)), strict=True)}
                for basis in [graded_monomials(axes, degree)] * 2
            )
            found = propose(
                first,
                second,
                cube_of([None] * axes),
                FreeLean(),
                kind=name.split()[0],
                solver=solver,  # type: ignore[arg-type]
                time_limit=TOO_LONG,
            )
            loss = (float(found.bound) - found.float_bound) / abs(found.float_bound)
            s = found.seconds
            print(
                f"{name:10} {axes:5} {s.build:8.3f} {s.solve:8.3f} {s.check:8.3f}  {loss:8.1e}  {found.status}",
                flush=True,
            )
            if _total(found) > TOO_LONG:
                break


def _total(found: Proposal) -> float:
    return found.seconds.build + found.seconds.solve + found.seconds.check


def run(parts: Sequence[str] = PARTS, *, data: Path = DATA) -> None:
    """Print the tables."""
    if "paper" in parts:
        run_paper(data)
    if "cubic" in parts:
        run_cubic()
    if "sizes" in parts:
        run_sizes()


def main(arguments: list[str] | None = None) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks sos")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--data", type=Path, default=DATA)
    run(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
