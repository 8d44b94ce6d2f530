"""A clear and slow twin of the bounds of two copies, straight from the specification, and random pairs of copies.

As in `twin`: codes, A_k and B_tk, dense arrays. The Bessel functions are SciPy's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import iv
from tests.families.kernel.rbf.twin import (
    Seen,
    Sum,
    cubic,
    distance,
    parabola,
    random_axis,
    rounded_up,
    see,
    separated,
)

from likewise.families.kernel.rbf import Boxes, SlopedAxis
from likewise.families.kernel.rbf.terms import Axis, Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Copies:
    """Shared axes first, then paired ones; c_t and c'_t; for each paired axis its tolerance, infinite if free."""

    gamma: float
    axes: list[Axis]
    shared: int
    here: Floats
    there: Floats
    lo: Floats
    hi: Floats
    tolerance: Floats

    def side(self, coefficients: Floats) -> Sum:
        return Sum(gamma=self.gamma, axes=self.axes, coefficients=coefficients, lo=self.lo, hi=self.hi)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """One cell: x, x' of the paired axes, and their differences."""

    lo: Floats
    hi: Floats
    second_lo: Floats
    second_hi: Floats
    low: Floats
    high: Floats


def boxes(cells: list[Cell]) -> Boxes:
    return Boxes(*(np.array([getattr(cell, name) for cell in cells]) for name in Boxes._fields))


def gaps(problem: Copies, points: Floats) -> Floats:
    """F at points (shared codes, x, x' of the paired axes)."""
    axes, paired = len(problem.axes), len(problem.axes) - problem.shared
    first, second = (
        points[:, :axes],
        np.hstack([points[:, : problem.shared], points[:, axes : axes + paired]]),
    )
    values = []
    for codes, coefficients in ((first, problem.here), (second, problem.there)):
        total = sum(distance(axis, codes[:, k]) for k, axis in enumerate(problem.axes))
        values.append(np.exp(-problem.gamma * total) @ coefficients)
    return values[0] - values[1]


# --- the rule ----------------------------------------------------------------------------------


def pairing(cell: Cell, j: int, shared: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """The intervals of u and d of one paired axis."""
    lo, hi, lo2, hi2 = cell.lo[shared + j], cell.hi[shared + j], cell.second_lo[j], cell.second_hi[j]
    p, q = max(cell.low[j], lo2 - hi), min(cell.high[j], hi2 - lo)
    u = (
        max((lo + lo2) / 2, lo + p / 2, lo2 - q / 2),
        min((hi + hi2) / 2, hi + q / 2, hi2 - p / 2),
    )
    return u, (p / 2, q / 2)


def no_pair(problem: Copies, cell: Cell, by: float = 0.0) -> bool:
    """Whether the cell is empty, by more than `by`."""
    sides = [pairing(cell, j, problem.shared) for j in range(len(cell.low))]
    return any(lo > hi + by for side in sides for lo, hi in side)


@dataclass(slots=True, kw_only=True)
class Expanded:
    """Both copies: the shared part seen by `twin`, E_t and the loads of the paired axes."""

    shared: Seen
    exponents: list[Floats]
    axes: list[int]
    loads: list[list[Floats]]  # [axis][copy]
    bends: list[float]
    products: list[tuple[int, int, int]]


def expand(problem: Copies, cell: Cell) -> Expanded:
    ones = np.ones(len(problem.here))
    S, gamma = problem.shared, problem.gamma
    part = Sum(gamma=gamma, axes=problem.axes[:S], coefficients=ones, lo=problem.lo[:S], hi=problem.hi[:S])
    found = Expanded(
        shared=see(part, cell.lo[:S], cell.hi[:S], 16),
        exponents=[np.zeros(len(ones)), np.zeros(len(ones))],
        axes=[],
        loads=[],
        bends=[],
        products=[],
    )
    for j, axis in enumerate(problem.axes[S:]):
        A, B, C = parabola(axis)
        (ulo, uhi), (dlo, dhi) = pairing(cell, j, S)
        u0, wu, d0, wd = (ulo + uhi) / 2, (uhi - ulo) / 2, (dlo + dhi) / 2, (dhi - dlo) / 2
        at = (u0 - d0, u0 + d0)
        for copy, x0 in enumerate(at):
            found.exponents[copy] -= gamma * (A * x0**2 - 2 * B * x0 + C)
        start = len(found.shared.numeric) + len(found.axes)
        if A > 0 and wu > 0:
            found.axes.append(S + 3 * j)
            found.loads.append([-2 * gamma * wu * (A * x0 - B) for x0 in at])
            found.bends.append(A * wu**2)
        if A > 0 and wd > 0:
            found.axes.append(S + 3 * j + 1)
            found.loads.append([s * 2 * gamma * wd * (A * x0 - B) for s, x0 in zip((1, -1), at, strict=True)])
            found.bends.append(A * wd**2)
        if A > 0 and wu > 0 and wd > 0:
            found.axes.append(S + 3 * j + 2)
            found.loads.append([s * 2 * gamma * A * wu * wd * ones for s in (1, -1)])
            found.bends.append(0.0)
            found.products.append((start, start + 1, start + 2))
    return found


def phi_copies(problem: Copies, cell: Cell, U: float, e: Ints, r: int) -> float:
    """The right side of the rule for two copies."""
    both = expand(problem, cell)
    one = both.shared
    C = problem.here * one.weight * np.exp(both.exponents[0])
    C2 = problem.there * one.weight * np.exp(both.exponents[1])
    reach = [one.reach + sum((np.abs(load[c]) for load in both.loads), np.zeros_like(C)) for c in (0, 1)]
    apart = sum((np.abs(load[0] - load[1]) for load in both.loads), np.zeros_like(C))
    first, second, constant = [], [], 0.0
    for t in range(len(C)):
        h = rounded_up(max(reach[0][t], reach[1][t]))
        m = (C[t] if abs(C[t]) < abs(C2[t]) else C2[t]) if 2 * apart[t] <= h else 0.0
        P, eps = difference(h)
        constant += abs(m) * eps * apart[t]
        rest, rest2 = C[t] - m, -(C2[t] - m)
        first.append(m * P + rest * np.array(cubic(rounded_up(reach[0][t]), rest > 0)))
        second.append(-m * P + rest2 * np.array(cubic(rounded_up(reach[1][t]), rest2 > 0)))
    seen = Seen(
        weight=np.concatenate([C, -C2]),
        offset=np.tile(one.offset, 2),
        reach=np.concatenate(reach),
        numeric=[*one.numeric, *both.axes],
        loads=[*(np.tile(load, 2) for load in one.loads), *(np.concatenate(load) for load in both.loads)],
        bends=[*one.bends, *both.bends],
        grids=[*one.grids, *[None] * len(both.axes)],
        hot=one.hot,
        zetas=one.zetas,
        own=[np.tile(own, (1, 2)) for own in one.own],
        rises=one.rises,
    )
    cubics = np.array([*first, *second])
    return separated(seen, cubics, constant, problem.gamma, U, e, r, tuple(both.products))


def difference(h: float) -> tuple[Floats, float]:
    """P, and eps."""
    if h == 0:
        return np.array([0.0, 1.0, 0.5, 1 / 6]), 0.0
    I0, I1, I2 = iv([0, 1, 2], h)
    eps = 2 * iv(np.arange(3, 80), h).sum()
    return np.array([0.0, I0 - 2 * I2, I1 / h, 4 * I2 / (3 * h**2)]), float(eps)


# --- random problems ---------------------------------------------------------------------------


def random_copies(rng: np.random.Generator, shared: int, paired: int) -> Copies:
    terms = int(rng.integers(1, 14))
    drawn = [random_axis(rng, terms) for _ in range(shared)]
    while len(drawn) < shared + paired:
        one = random_axis(rng, terms)
        if isinstance(one[0], SlopedAxis):
            if rng.random() < 0.1:
                one[0].slopes[:] = 0.0
            drawn.append(one)
    coefficients, lean = (
        rng.normal(size=terms),
        rng.choice([0.5, rng.random(), 0.0, 1.0], p=[0.6, 0.3, 0.05, 0.05]),
    )
    factors = np.exp(-rng.exponential(0.3, size=(2, terms)) * rng.choice([0, 1]))
    tolerance = [
        np.inf if rng.random() < 0.25 else _tolerance(rng, axis, hi - lo) for axis, lo, hi in drawn[shared:]
    ]
    return Copies(
        gamma=float(10 ** rng.uniform(-2, 0.3)),
        axes=[axis for axis, _, _ in drawn],
        shared=shared,
        here=lean * coefficients * factors[0],
        there=(1 - lean) * coefficients * factors[1],
        lo=np.array([lo for _, lo, _ in drawn]),
        hi=np.array([hi for _, _, hi in drawn]),
        tolerance=np.array(tolerance),
    )


def _tolerance(rng: np.random.Generator, axis: Axis, width: float) -> float:
    share = width * 10 ** rng.uniform(-2.5, 0)
    return float(max(np.floor(share), 1)) if isinstance(axis, SlopedAxis) and axis.whole else float(share)


def random_twin_cell(problem: Copies, cell: tuple[Floats, Floats], rng: np.random.Generator) -> Cell:
    """A cell with [lo, hi] at x: x' and the difference are random parts of their ranges, or all of them."""
    lo, hi = cell
    S = problem.shared
    low, high, second_lo, second_hi = [], [], [], []
    for j, tolerance in enumerate(problem.tolerance):
        axis, k = problem.axes[S + j], S + j
        whole = isinstance(axis, SlopedAxis) and axis.whole
        reach = min(tolerance, problem.hi[k] - problem.lo[k])
        ends = [(-reach, reach), (problem.lo[k], problem.hi[k])]
        parts = [_part(rng, *end, whole) if rng.random() < 0.5 else end for end in ends]
        if np.isinf(tolerance):
            parts[0] = (-np.inf, np.inf)
        low.append(parts[0][0])
        high.append(parts[0][1])
        second_lo.append(parts[1][0])
        second_hi.append(parts[1][1])
    return Cell(
        lo=lo,
        hi=hi,
        second_lo=np.array(second_lo),
        second_hi=np.array(second_hi),
        low=np.array(low),
        high=np.array(high),
    )


def _part(rng: np.random.Generator, lo: float, hi: float, whole: bool) -> tuple[float, float]:
    left, right = np.sort(lo + rng.random(2) * (hi - lo))
    if rng.random() < 0.2:
        right = left
    return (float(np.floor(left)), float(np.ceil(right))) if whole else (float(left), float(right))


def random_pairs(problem: Copies, cell: Cell, rng: np.random.Generator, count: int) -> Floats:
    """Pairs of the cell: shared codes, x, x'; many at the ends. None where no draw fits."""
    S, axes = problem.shared, len(problem.axes)
    whole = np.array([not isinstance(axis, SlopedAxis) or axis.whole for axis in problem.axes])
    where = rng.random((count, axes))
    first = cell.lo + rng.random(where.shape) * (cell.hi - cell.lo)
    first = np.where(where < 0.25, cell.lo, np.where(where < 0.5, cell.hi, first))
    first = np.where(whole, np.round(first), first)
    x = first[:, S:]
    left, right = np.maximum(cell.second_lo, x + cell.low), np.minimum(cell.second_hi, x + cell.high)
    where = rng.random(x.shape)
    other = left + rng.random(x.shape) * (right - left)
    other = np.where(where < 0.25, left, np.where(where < 0.5, right, other))
    other = np.where(whole[S:], np.round(other), other)
    fits = ((left <= right) & (left <= other) & (other <= right)).all(axis=1)
    return np.hstack([first, other])[fits]
