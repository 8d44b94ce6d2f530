"""Proof power of the kernel oracle alone: largest difference of scores over all values of the protected features.

    python -m benchmarks rbf_cells [--data credit german] [--limit 60] [--gamma-times 4] [--order influence] [--keep-hints]

Standardised Credit and German, `SVC(C=1, gamma="scale")` on 75% of the rows; numbers through `StandardScaler`,
categories one-hot; the cells are the ranges and levels that occur in the data. D* = max f(v, z) - f(v', z) over all
pairs of values v, v' of the protected features and all z is enclosed to `--gap` by best-first branch and bound
with nothing but `bound_cells`: no cell is closed by anything but the rule of the certificate, and none is shrunk.
Prints CPU seconds of one core. After an edit of `likewise.families.kernel.rbf`, set NUMBA_CACHE_DIR to an empty folder: numba
does not see that a function in another file has changed.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from likewise.datasets import load_credit, load_german
from likewise.families.kernel.rbf import NO_HINT, OneHotAxis, SlopedAxis, Terms, bound_cells, shared_terms
from likewise.families.kernel.rbf.terms import CONTINUOUS, ONE_HOT, Axis

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
LOADERS = {"credit": load_credit, "german": load_german}
BATCH = 128  # cells split at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Shared axes, coefficients of each ordered pair of protected values, and the whole cell."""

    terms: Terms
    coefficients: Floats
    lo: Floats
    hi: Floats


def problem(name: str, *, gamma_times: float = 1.0, order: str = "given") -> Problem:
    """Train the model and fold its protected features by hand."""
    data = LOADERS[name](frame="pandas")
    X = data.X
    codes = {column: _codes(X[column]) for column in X.columns}
    target = (np.asarray(data.y) == data.positive).astype(int)
    rows, _ = train_test_split(np.arange(len(X)), test_size=0.25, stratify=target, random_state=42)
    embedded = {}
    for column, (values, levels) in codes.items():
        if levels:
            embedded[column] = (values[:, None] == np.arange(levels)).astype(float)
        else:
            embedded[column] = ((values - values[rows].mean()) / values[rows].std())[:, None]
    Z = np.hstack(list(embedded.values()))[rows]
    gamma = gamma_times / (Z.shape[1] * Z.var())
    model = SVC(C=1.0, gamma=gamma).fit(Z, target[rows])
    support, weights = rows[model.support_], model.dual_coef_[0]
    shared = [column for column in X.columns if column not in data.protected]
    axes = [_axis(codes[c], rows, support, weights, order) for c in shared]
    return Problem(
        terms=shared_terms(gamma=gamma, axes=axes, terms=len(support)),
        coefficients=_pair_coefficients([codes[c] for c in data.protected], support, weights, gamma),
        lo=np.array([codes[c][0].min() for c in shared], dtype=float),
        hi=np.array([codes[c][0].max() for c in shared], dtype=float),
    )


def _codes(column: Any) -> tuple[Floats, int]:
    """Values and 0, or positions and the number of levels."""
    if column.dtype.kind in "if":
        return np.asarray(column, dtype=float), 0
    levels, positions = np.unique(np.asarray(column, dtype=str), return_inverse=True)
    return positions.astype(float), len(levels)


def _axis(
    codes: tuple[Floats, int],
    rows: NDArray[np.int64],
    support: NDArray[np.int64],
    weights: Floats,
    order: str,
) -> Axis:
    values, levels = codes
    if levels:
        places = values[support].astype(np.int64)
        if order == "influence":
            influence = np.bincount(places, weights=np.abs(weights), minlength=levels)
            places = np.argsort(np.argsort(-influence))[places]
        return OneHotAxis(distance=2.0, places=places)
    mean, deviation = values[rows].mean(), values[rows].std()
    return SlopedAxis(
        slopes=np.array([1 / deviation]),
        offsets=np.array([-mean / deviation]),
        centres=((values[support] - mean) / deviation)[:, None],
        whole=bool(np.all(values == np.round(values))),
    )


def _pair_coefficients(
    protected: list[tuple[Floats, int]], support: NDArray[np.int64], weights: Floats, gamma: float
) -> Floats:
    own = np.column_stack([values[support] for values, _ in protected])
    choices = itertools.product(*[range(levels) for _, levels in protected])
    factors = [np.exp(-2 * gamma * (own != np.array(choice)).sum(axis=1)) for choice in choices]
    return np.array([weights * (a - b) for a, b in itertools.permutations(factors, 2)])


def values_at(problem: Problem, points: Floats, row: NDArray[np.int64]) -> Floats:
    """F at points (codes), each with its own row of coefficients."""
    terms = problem.terms
    distance = np.tile(terms.gamma * terms.rest, (len(points), 1))
    for k in range(len(terms.kind)):
        if terms.kind[k] == ONE_HOT:
            distance += terms.zeta[k] * (points[:, [k]] != terms.place[k])
        else:
            distance += terms.gamma * (terms.scale[k] * points[:, [k]] - terms.centre[k]) ** 2
    values: Floats = np.sum(problem.coefficients[row] * np.exp(-distance), axis=1)
    return values


def climbed(problem: Problem, starts: int, seed: int = 0) -> float:
    """A good value of F: coordinate search from random points."""
    rng = np.random.default_rng(seed)
    best = 0.0
    for row in itertools.islice(itertools.cycle(range(len(problem.coefficients))), starts):
        point = _random_points(problem, rng, 1)[0]
        value, improved = -np.inf, True
        while improved:
            improved = False
            for k in range(len(point)):
                moves = np.repeat(point[None], 33, axis=0)
                moves[:, k] = np.linspace(problem.lo[k], problem.hi[k], 33)
                if problem.terms.kind[k] != CONTINUOUS:
                    moves[:, k] = np.round(moves[:, k])
                found = values_at(problem, moves, np.full(33, row))
                if found.max() > value + 1e-9:
                    value, point, improved = float(found.max()), moves[found.argmax()], True
        best = max(best, value)
    return best


def _random_points(problem: Problem, rng: np.random.Generator, count: int) -> Floats:
    points = problem.lo + rng.random((count, len(problem.lo))) * (problem.hi - problem.lo)
    return np.where(problem.terms.kind == CONTINUOUS, points, np.round(points))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Enclosure of D*, and what it took."""

    best: float
    upper: float
    cells: int
    seconds: float
    still_open: int


@dataclass(slots=True)
class Cells:
    """Cells that are still open, as arrays with one row a cell."""

    lo: Floats
    hi: Floats
    row: NDArray[np.int64]
    upper: Floats
    e: NDArray[np.int64]
    r: NDArray[np.int64]
    axis: NDArray[np.int64]
    cut: Floats

    def take(self, which: Any) -> Cells:
        return Cells(*(getattr(self, name)[which] for name in self.__slots__))

    def joined(self, other: Cells) -> Cells:
        return Cells(
            *(np.concatenate([getattr(self, name), getattr(other, name)]) for name in self.__slots__)
        )


def enclose(problem: Problem, gap: float, *, best: float, limit: float, keep_hints: bool = False) -> Outcome:
    """Best-first branch and bound until upper <= best + gap, or `limit` seconds have passed."""
    start = time.process_time()
    rows = len(problem.coefficients)
    whole = (np.tile(problem.lo, (rows, 1)), np.tile(problem.hi, (rows, 1)), np.arange(rows))
    hints = (np.zeros_like(whole[0], dtype=np.int64), np.full(rows, NO_HINT))
    cells = 0
    fresh, best = _bounded(problem, *whole, np.full(rows, np.inf), *hints, best, gap)
    cells, heap = cells + rows, fresh
    while len(heap.upper) and time.process_time() - start < limit:
        heap = heap.take(heap.upper > best + gap)
        order = np.argsort(-heap.upper, kind="stable")
        now, heap = heap.take(order[:BATCH]), heap.take(order[BATCH:])
        if not len(now.upper):
            continue
        parts = _split(problem, now, keep_hints=keep_hints)
        fresh, best = _bounded(problem, *parts, best, gap)
        cells += len(parts[0])
        heap = heap.joined(fresh)
    return Outcome(
        best=best,
        upper=float(heap.upper.max(initial=best + gap)),
        cells=cells,
        seconds=time.process_time() - start,
        still_open=len(heap.upper),
    )


def _bounded(
    problem: Problem,
    lo: Floats,
    hi: Floats,
    row: NDArray[np.int64],
    upper: Floats,
    e: NDArray[np.int64],
    r: NDArray[np.int64],
    best: float,
    gap: float,
) -> tuple[Cells, float]:
    """Cells that stay open after bounding, and the best value seen."""
    threshold = np.full(len(lo), best + gap)
    found = bound_cells(
        problem.terms, problem.coefficients, lo=lo, hi=hi, threshold=threshold, row=row, e=e, r=r
    )
    best = max(best, float(values_at(problem, found.point, row).max()))
    axis = found.loss.argmax(axis=1)
    cut = found.cut[np.arange(len(lo)), axis]
    upper = np.minimum(upper, found.upper)
    # A cell with no axis left is a single point, and its value has been seen.
    kept = (found.excess > 0) & (found.loss.max(axis=1) > 0)
    return Cells(lo, hi, row, upper, found.e, found.r, axis, cut).take(kept), best


def _split(
    problem: Problem, now: Cells, *, keep_hints: bool
) -> tuple[Floats, Floats, Whole, Floats, Whole, Whole]:
    """Both halves of every cell: lo, hi, row, upper, e, r."""
    every = np.arange(len(now.upper))
    left_hi, right_lo = now.hi.copy(), now.lo.copy()
    left_hi[every, now.axis] = now.cut
    right_lo[every, now.axis] = now.cut + (problem.terms.kind[now.axis] != CONTINUOUS)
    e, r = now.e, now.r
    if not keep_hints:
        e, r = np.zeros_like(e), np.full_like(r, NO_HINT)
    return (
        np.concatenate([now.lo, right_lo]),
        np.concatenate([left_hi, now.hi]),
        np.concatenate([now.row, now.row]),
        np.concatenate([now.upper, now.upper]),
        np.concatenate([e, e]),
        np.concatenate([r, r]),
    )


def run(
    names: Sequence[str] = tuple(LOADERS),
    *,
    gamma_times: float = 1.0,
    order: str = "given",
    limit: float = 60.0,
    keep_hints: bool = False,
) -> None:
    """Print one line a problem and gap."""
    for name, gap in (("credit", 0.01), ("german", 0.05), ("german", 0.01)):
        if name not in names:
            continue
        posed = problem(name, gamma_times=gamma_times, order=order)
        enclose(posed, gap, best=0.0, limit=0.0)  # compiles
        best = climbed(posed, 4 * len(posed.coefficients))
        done = enclose(posed, gap, best=best, limit=limit, keep_hints=keep_hints)
        print(
            f"{name:8} gap {gap}: D* in [{done.best:.4f}, {done.upper:.4f}], {done.cells} cells, "
            f"{done.seconds:.2f} CPU s, {1e6 * done.seconds / done.cells:.0f} us a cell, {done.still_open} open",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks rbf_cells")
    parser.add_argument("--data", dest="names", nargs="+", choices=LOADERS, default=list(LOADERS))
    parser.add_argument("--gamma-times", type=float, default=1.0)
    parser.add_argument("--order", choices=["given", "influence"], default="given")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--keep-hints", action="store_true")
    run(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
