"""The compiled oracle equals its twin, and no point of a cell ever exceeds a bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.families.kernel.rbf.twin import phi, random_cell, random_points, random_sum, values
from tests.tiers import examples

from likewise.families.kernel.rbf import NO_HINT, OneHotAxis, bound_cells
from likewise.families.kernel.rbf.cell_bounds import FARTHEST_REACH, room_for_rounding
from likewise.families.kernel.rbf.local_terms import farthest_reach, localise

CELLS = 60  # a problem


def thresholds(problem, lo, hi, rng):
    """Some below, some above what is seen in the cell; of both signs."""
    seen = values(problem, random_points(problem, lo, hi, rng, 30))
    spread = np.ptp(seen) + 0.05 * np.abs(seen).max() + 1e-3
    return rng.choice([seen.max(), seen.mean(), 0.0, -0.1]) + rng.normal() * spread


def cells_of(problem, rng, count=CELLS):
    cells = [random_cell(problem, rng) for _ in range(count)]
    lo, hi = np.array([c[0] for c in cells]), np.array([c[1] for c in cells])
    U = np.array([thresholds(problem, *cell, rng) for cell in cells])
    return lo, hi, U


def random_hints(rng, lo):
    return rng.integers(-64, 65, size=lo.shape), rng.integers(0, 4 ** rng.integers(1, 11), size=len(lo))


def bounded(problem, lo, hi, U, **options):
    return bound_cells(problem.terms, problem.coefficients[None], lo=lo, hi=hi, threshold=U, **options)


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", range(40))
def test_equals_the_twin_at_the_hints_it_returns(seed):
    rng = np.random.default_rng(seed)
    assert_equal_to_the_twin(random_sum(rng, 1 + seed % 8), rng)


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(30))
def test_equals_the_twin_with_grouped_levels(seed):
    rng = np.random.default_rng([20, seed])
    assert_equal_to_the_twin(random_sum(rng, seed % 4, grouped=1 + seed % 3), rng)


def assert_equal_to_the_twin(problem, rng):
    lo, hi, U = cells_of(problem, rng, 4)
    for rounds in (1, 8):
        e, r = random_hints(rng, lo)
        found = bounded(problem, lo, hi, U, e=e, r=r, rounds=rounds)
        for n in range(len(lo)):
            farthest = farthest_reach(problem.terms, lo[n], hi[n])
            if farthest > FARTHEST_REACH or found.width[n] != NO_HINT:  # closed by chords
                continue
            cell = localise(problem.terms, lo[n], hi[n], problem.coefficients)
            room = room_for_rounding(cell, farthest, int((hi[n] > lo[n]).sum()))
            twin = phi(problem, lo[n], hi[n], U[n], found.e[n], found.r[n])
            assert found.excess[n] - room == pytest.approx(twin, rel=1e-9, abs=room + 1e-12)


@pytest.mark.draw(40)
@pytest.mark.parametrize("seed", range(200))
def test_no_point_exceeds_the_bound(seed):
    """12,000 cells, with no hints, with arbitrary ones, and with few and many rounds."""
    rng = np.random.default_rng([1, seed])
    assert_no_point_exceeds(random_sum(rng, 1 + seed % 8), rng, seed)


@pytest.mark.draw(20)
@pytest.mark.parametrize("seed", range(80))
def test_no_point_exceeds_the_bound_with_grouped_levels(seed):
    rng = np.random.default_rng([21, seed])
    assert_no_point_exceeds(random_sum(rng, seed % 4, grouped=1 + seed % 3), rng, seed)


def assert_no_point_exceeds(problem, rng, seed):
    lo, hi, U = cells_of(problem, rng)
    e, r = random_hints(rng, lo)
    if seed % 3 == 0:
        r = np.full_like(r, NO_HINT)
    found = bounded(problem, lo, hi, U, e=e, r=r, rounds=1 + seed % 9)
    small = 1e-12 * np.abs(problem.coefficients).sum()
    for n in range(CELLS):
        points = random_points(problem, lo[n], hi[n], rng, 100)
        most = values(problem, np.vstack([points, found.point[n]])).max()
        assert most <= found.upper[n] + small
        if found.excess[n] <= 0:
            assert most <= U[n]


def test_something_is_closed_and_something_is_not():
    """Otherwise the test above would say little."""
    rng = np.random.default_rng(2)
    closed = []
    for seed in range(20):
        problem = random_sum(rng, 1 + seed % 8)
        lo, hi, U = cells_of(problem, rng)
        closed.append((bounded(problem, lo, hi, U).excess <= 0).mean())
    assert 0.1 < np.mean(closed) < 0.9


@pytest.mark.parametrize("seed", range(20))
def test_what_it_returns_lies_in_the_cell(seed):
    rng = np.random.default_rng([3, seed])
    problem = random_sum(rng, 1 + seed % 8)
    lo, hi, U = cells_of(problem, rng)
    found = bounded(problem, lo, hi, U)
    open_ = lo < hi
    assert np.all((lo <= found.point) & (found.point <= hi))
    assert np.all((lo <= found.cut) & (found.cut < hi) | ~open_)
    assert np.all(np.isfinite(found.loss) & (found.loss >= 0))
    assert np.all(found.loss[~open_] == 0)
    assert np.all((np.abs(found.e) <= 64) & (found.r >= 0)[:, None] & (found.r <= 2**20)[:, None])


@examples(60, deadline=None)
@given(seed=st.integers(0, 2**32), axes=st.integers(1, 8), shrink=st.floats(0.001, 0.1))
def test_tight_in_the_limit(seed, axes, shrink):
    """In a small cell the bound is its value, up to the square of its size."""
    rng = np.random.default_rng(seed)
    problem = random_sum(rng, axes)
    lo, hi = random_cell(problem, rng)
    for k, axis in enumerate(problem.axes):
        if isinstance(axis, OneHotAxis) or lo[k] == np.round(lo[k]):
            hi[k] = lo[k]
        else:
            hi[k] = lo[k] + shrink * (hi[k] - lo[k])
    points = random_points(problem, lo, hi, rng, 400)
    seen = values(problem, points)
    found = bounded(problem, lo[None], hi[None], np.array([seen.max()]))
    width = np.abs(problem.coefficients).sum()
    assert found.upper[0] <= seen.max() + np.ptp(seen) + 200 * width * shrink**2 * (1 + problem.gamma) ** 2


def test_thresholds_and_rows_are_by_cell():
    rng = np.random.default_rng(4)
    problem = random_sum(rng, 5)
    lo, hi, U = cells_of(problem, rng, 6)
    rows = np.array([0, 1, 2, 0, 1, 2])
    coefficients = np.array(
        [problem.coefficients, -problem.coefficients, np.zeros_like(problem.coefficients)]
    )
    together = bound_cells(problem.terms, coefficients, lo=lo, hi=hi, threshold=U, row=rows)
    for n in range(6):
        alone = bound_cells(
            problem.terms,
            coefficients[rows[n]][None],
            lo=lo[n : n + 1],
            hi=hi[n : n + 1],
            threshold=U[n : n + 1],
        )
        assert alone.excess[0] == together.excess[n]
        assert alone.upper[0] == together.upper[n]


def test_given_hints_are_left_alone():
    rng = np.random.default_rng(5)
    problem = random_sum(rng, 4)
    lo, hi, U = cells_of(problem, rng, 8)
    e, r = random_hints(rng, lo)
    kept = e.copy(), r.copy()
    bounded(problem, lo, hi, U, e=e, r=r)
    assert np.array_equal(e, kept[0])
    assert np.array_equal(r, kept[1])


def test_huge_cells_have_a_finite_bound():
    """Where the exponentials overflow, the coarse bound is left."""
    rng = np.random.default_rng(6)
    for _ in range(40):
        problem = random_sum(rng, 6)
        lo, hi = problem.lo.copy(), problem.hi.copy()
        for k, axis in enumerate(problem.axes):
            if not isinstance(axis, OneHotAxis) and hasattr(axis, "whole"):
                lo[k], hi[k] = -1e4, 1e4
        found = bounded(problem, np.array([lo, lo]), np.array([hi, hi]), np.array([0.5, -0.5]))
        points = random_points(problem, lo, hi, rng, 200)
        assert np.all(values(problem, points).max() <= found.upper + 1e-12)
        assert np.all(found.upper <= np.maximum(problem.coefficients, 0).sum() + 1e-9)
        assert np.all(np.isfinite(found.loss))
