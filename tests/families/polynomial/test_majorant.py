"""The compiled bound of polynomials: equal to the rule in rationals, and above every pair of its cell."""

from fractions import Fraction

import numpy as np
import pytest
from tests.families.polynomial.reference import axes_of, majorant, random_case, random_cell, random_pairs
from tests.tiers import ALL, some

from likewise.families.polynomial.bounder import PolynomialBounder
from likewise.families.polynomial.majorant import bound_cells

CASES = {1: 160, 2: 170, 3: 160, 4: 80, 5: 40}  # by degree; five cells each: 3,050
CELLS = 5


def bounded(oracle, lo, hi, lean, threshold):
    """One cell bounded, with the hints of all its axes whether it is closed or not."""
    lo, hi = np.array([lo]), np.array([hi])
    found = oracle.bound(lo, hi, np.array([lean]), np.array([threshold]))
    boxes = oracle.boxes(lo, hi)
    e = bound_cells(oracle.tables, *boxes[:4], np.array([lean]), np.array([threshold]))[4][0]
    return found, oracle._hints(lo[0], hi[0], e)


@pytest.mark.some_days
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_the_bound_is_that_of_the_rule_and_holds_for_every_pair(degree):
    random = np.random.default_rng(degree)
    pairs_seen = attained = 0
    for _ in some(range(CASES[degree]), CASES[degree] // 8):
        score, pairs = random_case(random, degree)
        oracle = PolynomialBounder(score, pairs)
        for _ in range(CELLS):
            lo, hi = random_cell(random, pairs)
            lean, threshold = float(random.choice([0.0, 0.25, 0.5, 1.0])), float(random.normal())
            found, hints = bounded(oracle, lo, hi, lean, threshold)
            upper = float(found.upper[0])
            a, b = Fraction(lean), 1 - Fraction(lean)
            exact = (
                majorant(score, pairs, lo, hi, a, b, Fraction(threshold), hints) if upper > -np.inf else None
            )
            assert (exact is None) == axes_of(score, pairs, lo, hi).empty
            if exact is None:
                assert not random_pairs(random, pairs, lo, hi, 10)
                continue
            size = 1e-9 * (1 + abs(exact) + abs(threshold))
            size += 1e-10 * float(sum(map(abs, oracle.tables.first))) + 1e-10 * float(
                sum(map(abs, oracle.tables.second))
            )
            assert upper - threshold == pytest.approx(exact, abs=size)
            if found.closes[0]:
                assert exact < 0
            for x, other in random_pairs(random, pairs, lo, hi, 10):
                value = float(a * score.exact(x) - b * score.exact(other))
                assert value <= upper + size
                pairs_seen += 1
                attained += value >= upper - size
    assert pairs_seen > (500 if ALL else 50)
    assert attained > (
        10 if ALL else 0
    )  # the bound is no gift: cells of one point, and linear ones, attain it


def test_points_of_the_relaxation_lie_in_the_cell():
    random = np.random.default_rng(7)
    for _ in range(100):
        score, pairs = random_case(random, 3)
        oracle = PolynomialBounder(score, pairs)
        lo, hi = (np.array([v]) for v in random_cell(random, pairs))
        for points in (oracle.bound(lo, hi, np.array([0.5]), np.zeros(1)).points, oracle.candidates(lo, hi)):
            ordinary = [v.side != "difference" for v in pairs.variables]
            assert (points >= lo)[:, ordinary].all()
            assert (points <= hi)[:, ordinary].all()
            assert (points[:, oracle.discrete] % 1 == 0).all()


def test_cells_are_split_until_they_are_points():
    random = np.random.default_rng(8)
    for _ in range(100):
        score, pairs = random_case(random, 2)
        oracle = PolynomialBounder(score, pairs)
        lo, hi = (np.array([v]) for v in random_cell(random, pairs))
        loss = oracle.bound(lo, hi, np.array([0.5]), np.zeros(1)).loss
        for known in (loss, None):
            variable, at = oracle.branch(lo, hi, known)
            if variable[0] < 0:
                assert (lo == hi)[0].all()
            else:
                assert lo[0, variable[0]] <= at[0] <= hi[0, variable[0]]
                assert lo[0, variable[0]] < hi[0, variable[0]]
