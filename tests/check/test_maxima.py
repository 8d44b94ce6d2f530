"""Maxima of one feature: what brute force finds, and never above the bounds that the search has by other methods."""

import random
from fractions import Fraction
from itertools import product

import pytest

from likewise.cells.curves import band_corners, curve_maximum, polynomial_maximum
from likewise.spec.pieces import PiecewisePolynomial as SearchedPieces
from likewise.spec.similarity import Relation as SearchedRelation
from likewise_check.core.cells import make_box
from likewise_check.core.maxima import linear_apart, linear_maximum, table_maximum
from likewise_check.core.space import Relation
from likewise_check.packs.pieces.columns import Pieces
from likewise_check.packs.pieces.curves import Curves
from likewise_check.packs.pieces.maximum import (
    GRID,
    evaluate_polynomial,
    magnitude_on,
    poly_maximum,
    sign_changes,
    trim_zeros,
)

ROOM = Fraction(1, 2**60)  # of the specification, times the size


def drawn(rng) -> Fraction:
    """Numbers of all sizes, some of them 0."""
    if rng.random() < 0.2:
        return Fraction(0)
    if rng.random() < 0.5:
        return Fraction(rng.randint(-9, 9), rng.choice([1, 1, 2, 7]))
    return Fraction(rng.uniform(-3, 3)) * Fraction(2) ** rng.randint(-30, 30)


def interval(rng, low=-4, high=4, step=1) -> tuple[Fraction, Fraction]:
    ends = sorted(Fraction(rng.randint(low * step, high * step), step) for _ in range(2))
    return ends[0], ends[1]


@pytest.mark.parametrize("seed", range(300))
def test_linear_functions_within_a_tolerance(seed):
    rng = random.Random(seed)
    whole = seed % 2
    first, second = (interval(rng, step=1 if whole else 3) for _ in range(2))
    tolerance = Fraction(rng.randint(1, 6), 1 if whole else 3)
    u, v = drawn(rng), drawn(rng)
    found = linear_apart(u, v, first, second, (-tolerance, tolerance))
    corners = band_corners(first, second, (-tolerance, tolerance))
    assert found == max((u * x + v * y for x, y in corners), default=None)
    assert found == linear_maximum(
        u, v, make_box(first, second), Relation(kind="within", tolerance=tolerance)
    )
    step = Fraction(1) if whole else Fraction(1, 3)  # all corners are on this grid
    grid = [[lo + step * i for i in range(int((hi - lo) / step) + 1)] for lo, hi in (first, second)]
    sums = [u * x + v * y for x, y in product(*grid) if abs(x - y) <= tolerance]
    assert found == max(sums, default=None)


@pytest.mark.parametrize("seed", range(300))
def test_tables(seed):
    rng = random.Random(seed)
    levels = rng.choice([1, 2, 3, 5, 8, 17, 40])
    u, v = ([drawn(rng) for _ in range(levels)] for _ in range(2))
    kind = rng.choice(["within", "within", "within", "pairs", "free", "same"])
    tolerance = Fraction(rng.randint(1, levels + 2)) if kind == "within" else None
    pairs = {tuple(sorted(rng.sample(range(levels), 2))) for _ in range(3)} if levels > 1 else set()
    allowed = frozenset(pairs) if kind == "pairs" else frozenset()
    relation = Relation(kind=kind, tolerance=tolerance, allowed=allowed)
    intervals = [interval(rng, 0, levels - 1) for _ in range(1 if kind == "same" else 2)]
    positions = [range(int(lo), int(hi) + 1) for lo, hi in (intervals[0], intervals[-1])]
    sums = [
        u[i] + v[j]
        for i, j in product(*positions)
        if relation.allows(Fraction(i), Fraction(j)) and (kind != "same" or i == j)
    ]
    assert table_maximum(u, v, make_box(*intervals), relation) == max(sums, default=None)


def random_polynomial(rng, least=3) -> tuple[Fraction, ...]:
    if rng.random() < 0.3:  # whose slope has roots that come twice, and at ends
        roots = [Fraction(rng.randint(-8, 8), 4) for _ in range(rng.randint(1, 2))]
        slope = [Fraction(rng.choice([-1, 1]))]
        for root in (*roots, *roots):
            slope = [a - root * b for a, b in zip([0, *slope], [*slope, 0], strict=True)]
        return trim_zeros([drawn(rng), *(c / (i + 1) for i, c in enumerate(slope))])
    return trim_zeros([drawn(rng) for _ in range(rng.randint(least, 6))])


@pytest.mark.parametrize("seed", range(400))
def test_polynomials_are_bounded_as_the_specification_asks(seed):
    """Above the polynomial everywhere, and by no more than 2^-60 of its size; the search's bound leaves room for that."""
    rng = random.Random(seed)
    poly, lo = random_polynomial(rng), drawn(rng)
    hi = lo + abs(drawn(rng))
    if rng.random() < 0.3:
        lo, hi = interval(rng)
    found = poly_maximum(poly, lo, hi)
    points = [lo + (hi - lo) * Fraction(i, 64) for i in range(65)]
    assert found >= max(evaluate_polynomial(poly, x) for x in points)
    bound = polynomial_maximum(poly, lo, hi)
    assert found <= bound
    # The search adds 2^-60 of the size, and its own error of about 2^-64.
    assert bound - found <= (ROOM + ROOM / 8) * magnitude_on(poly, lo, hi)


@pytest.mark.parametrize("seed", range(200))
def test_between_turns_the_sign_is_kept(seed):
    rng = random.Random(seed)
    p = [rng.randint(-(10 ** rng.randint(0, 20)), 10 ** rng.randint(0, 20)) for _ in range(rng.randint(1, 6))]
    found = sign_changes(p)
    assert all(0 <= end - start <= 1 and 0 <= start <= 1 << GRID for start, end in found)
    ends = [0, *(end for turn in found for end in turn), 1 << GRID]
    assert ends == sorted(ends)
    for start, end in zip(ends[::2], ends[1::2], strict=True):
        places = [Fraction(start + (end - start) * i // 16, 1 << GRID) for i in range(17)]
        values = [evaluate_polynomial(tuple(map(Fraction, p)), z) for z in places]
        assert min(values) >= 0 or max(values) <= 0


@pytest.mark.parametrize("seed", range(150))
def test_curves_never_exceed_the_bound_of_the_search(seed):
    rng = random.Random(seed)
    whole, kind = rng.random() < 0.4, rng.choice(["same", "free", "within", "within"])
    cuts = sorted({Fraction(rng.randint(-8, 8), 2) for _ in range(rng.randint(0, 4))})
    linear = rng.random() < 0.4
    polys = [
        trim_zeros([drawn(rng) for _ in range(2)]) if linear else random_polynomial(rng, 1)
        for _ in range(len(cuts) + 1)
    ]
    column = Pieces(cuts=tuple(cuts), polys=tuple(polys), whole=whole)
    tolerance = Fraction(rng.randint(1, 6), 1 if whole else 4) if kind == "within" else None
    intervals = [interval(rng, step=1 if whole else 4) for _ in range(1 if kind == "same" else 2)]
    factors = Fraction(rng.randint(0, 4)), -Fraction(rng.randint(0, 4))
    found = Curves(column, (factors[0], 0), (factors[1], 0)).maximum(
        make_box(*intervals), Relation(kind=kind, tolerance=tolerance)
    )
    u, v = (
        SearchedPieces(
            cuts=tuple(cuts), polynomials=tuple(trim_zeros(factor * c for c in poly) for poly in polys)
        )
        for factor in factors
    )
    relation = SearchedRelation(kind=kind, tolerance=tolerance)
    bound = curve_maximum(u, v, relation, intervals[0], intervals[-1], whole=whole)
    assert (found is None) == (bound is None)
    if found is not None and bound is not None:
        assert found <= bound
        if linear:
            assert found == bound
