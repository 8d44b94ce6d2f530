"""The compiled bounds of two copies equal their twin, and no pair of a cell ever exceeds a bound."""

import numpy as np
import pytest
from scipy.special import iv
from tests.families.kernel.rbf.twin import random_cell
from tests.families.kernel.rbf.twin_copies import (
    boxes,
    difference,
    gaps,
    no_pair,
    phi_copies,
    random_copies,
    random_pairs,
    random_twin_cell,
)

from likewise.families.kernel.rbf import NO_HINT, bound_copies, shared_terms
from likewise.families.kernel.rbf.cell_bounds import FARTHEST_REACH, room_for_rounding
from likewise.families.kernel.rbf.copies import localise_copies, pair_intervals
from likewise.families.kernel.rbf.cubics import bessel, difference_cubic

CELLS = 40  # a problem


def posed(rng, shared, paired, count=CELLS):
    problem = random_copies(rng, shared, paired)
    cells = [
        random_twin_cell(problem, random_cell(problem.side(problem.here), rng), rng) for _ in range(count)
    ]
    U = []
    for cell in cells:
        seen = gaps(problem, random_pairs(problem, cell, rng, 60))
        if not len(seen):
            seen = np.zeros(1)
        spread = np.ptp(seen) + 0.05 * np.abs(seen).max() + 1e-3
        U.append(rng.choice([seen.max(), seen.mean(), 0.0, -0.1]) + rng.normal() * spread)
    return problem, cells, np.array(U)


def bounded(problem, cells, U, **options):
    terms = shared_terms(gamma=problem.gamma, axes=problem.axes, terms=len(problem.here))
    row = np.zeros(len(cells), dtype=np.int64)
    return bound_copies(
        terms,
        boxes(cells),
        here=problem.here[None],
        there=problem.there[None],
        threshold=U,
        row=row,
        **options,
    )


def sizes(seed):
    return seed % 6, 1 + seed % 3


def room_of(problem, cell):
    """The room for rounding and the farthest reach of a cell that has pairs."""
    terms = shared_terms(gamma=problem.gamma, axes=problem.axes, terms=len(problem.here))
    S = problem.shared
    pairings = np.empty((len(cell.low), 4))
    for j in range(len(pairings)):
        pair_intervals(
            cell.lo[S + j],
            cell.hi[S + j],
            cell.second_lo[j],
            cell.second_hi[j],
            cell.low[j],
            cell.high[j],
            pairings[j],
        )
    seen = localise_copies(terms, S, cell.lo[:S], cell.hi[:S], pairings, problem.here, problem.there)
    farthest = seen.reach.max()
    axes = int((cell.hi[:S] > cell.lo[:S]).sum()) + 3 * len(pairings)
    return room_for_rounding(seen, farthest, axes), farthest


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", range(48))
def test_equals_the_twin_at_the_hints_it_returns(seed):
    rng = np.random.default_rng([10, seed])
    problem, cells, U = posed(rng, *sizes(seed), count=4)
    columns = problem.shared + 3 * len(problem.tolerance)
    for rounds in (1, 8):
        e = rng.integers(-64, 65, size=(len(cells), columns))
        r = rng.integers(0, 4 ** rng.integers(1, 11), size=len(cells))
        found = bounded(problem, cells, U, e=e, r=r, rounds=rounds)
        for n, cell in enumerate(cells):
            if no_pair(problem, cell):
                assert found.excess[n] == -np.inf or not no_pair(problem, cell, by=1e-9)
                continue
            room, farthest = room_of(problem, cell)
            if farthest > FARTHEST_REACH or found.width[n] != NO_HINT:  # closed by chords
                continue
            twin = phi_copies(problem, cell, U[n], found.e[n], found.r[n])
            assert found.excess[n] - room == pytest.approx(twin, rel=1e-8, abs=room + 1e-11)


@pytest.mark.draw(30)
@pytest.mark.parametrize("seed", range(90))
def test_no_pair_exceeds_the_bound(seed):
    """3,600 cells of continuous and whole numbers within tolerances or free, beside shared features of all sorts."""
    rng = np.random.default_rng([11, seed])
    problem, cells, U = posed(rng, *sizes(seed))
    columns = problem.shared + 3 * len(problem.tolerance)
    hints = {}
    if seed % 3:
        hints = {
            "e": rng.integers(-64, 65, size=(len(cells), columns)),
            "r": rng.integers(0, 4 ** rng.integers(1, 11), size=len(cells)),
        }
    found = bounded(problem, cells, U, rounds=1 + seed % 9, **hints)
    small = 1e-12 * (np.abs(problem.here).sum() + np.abs(problem.there).sum())
    for n, cell in enumerate(cells):
        points = random_pairs(problem, cell, rng, 120)
        if not len(points):
            continue
        most = gaps(problem, points).max()
        assert most <= found.upper[n] + small
        if found.excess[n] <= 0:
            assert most <= U[n]


def test_some_cells_are_closed_some_are_not_and_some_are_empty():
    """Otherwise the tests above would say little."""
    rng = np.random.default_rng(12)
    excess = []
    for seed in range(30):
        problem, cells, U = posed(rng, *sizes(seed))
        excess.append(bounded(problem, cells, U).excess)
    excess = np.concatenate(excess)
    assert 0.01 < np.mean(excess == -np.inf) < 0.5
    assert 0.1 < np.mean(excess[excess > -np.inf] <= 0) < 0.9


@pytest.mark.parametrize("seed", range(12))
def test_what_it_returns_lies_in_the_cell(seed):
    rng = np.random.default_rng([13, seed])
    problem, cells, U = posed(rng, *sizes(seed))
    found = bounded(problem, cells, U)
    axes = len(problem.axes)
    for n, cell in enumerate(cells):
        if no_pair(problem, cell):
            continue
        point = found.point[n]
        assert np.all((cell.lo <= point[:axes]) & (point[:axes] <= cell.hi))
        assert np.all((cell.second_lo <= point[axes:]) & (point[axes:] <= cell.second_hi))
    assert np.all(np.isfinite(found.loss) & (found.loss >= 0))
    assert np.all((np.abs(found.e) <= 64) & (found.r >= 0)[:, None] & (found.r <= 2**20)[:, None])


@pytest.mark.parametrize("h", [1 / 1024, 0.01, 0.3, 1.0, 2.5, 7.0, 20.0, 30.0])
def test_the_cubic_of_differences(h):
    p1, p2, p3, eps = difference_cubic(h)
    assert [bessel(k, h) for k in range(6)] == pytest.approx(iv(np.arange(6), h), rel=1e-12)
    assert eps == pytest.approx(difference(h)[1], rel=1e-12)
    assert eps == pytest.approx(np.exp(h) - iv(0, h) - 2 * iv(1, h) - 2 * iv(2, h), rel=1e-6, abs=1e-14)
    L = np.linspace(-h, h, 2001)
    apart = np.exp(L) - (p1 + 2 * p2 * L + 3 * p3 * L**2)
    assert np.abs(apart).max() <= eps + 1e-14 * np.exp(h)
    assert np.abs(apart).max() >= 0.99 * eps - 1e-14 * np.exp(h)
