"""Proposals: never below a value that occurs, tight where the relaxation is exact, sound whatever the solver did."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import fmpq
from tests.families.polynomial.sos.points import (
    exact,
    fixed,
    grid,
    largest_at,
    places,
    random_points,
    random_polynomial,
)

from likewise.errors import InternalError
from likewise.families.polynomial.sos import (
    Block,
    Cube,
    FreeLean,
    Group,
    cube_of,
    exact_bound,
    excess_for,
    propose,
    solvers,
)
from likewise.families.polynomial.sos.cube import to_fmpq, to_fraction, to_polynomial, value_at
from likewise.families.polynomial.sos.rounding import round_way

KINDS = ["shor", "rlt", "d3", "o2", "o2+rlt", "o3"]


def at(terms, points):
    """Float values at many points."""
    return sum(float(v) * points[:, list(m)].prod(axis=1) for m, v in terms.items())


def margins(first, second, point):
    return min(value_at(to_polynomial(first), point), -value_at(to_polynomial(second), point))


@pytest.mark.draw(8)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_never_below_a_value(kind, degree, seed):
    """Also where the polynomial has monomials that the relaxation does not know."""
    rng = np.random.default_rng(seed)
    cube = cube_of([None] * 3)
    first, second = (random_polynomial(rng, 3, degree, scale) for scale in (1.0, 100.0))
    points = random_points(rng, cube, 40)
    found = propose(first, second, cube, fixed(Fraction(1, 3), Fraction(2, 7), Fraction(1, 9)), kind=kind)
    values = [
        value_at(to_polynomial(first), y) / 3 - value_at(to_polynomial(second), y) * 2 / 7 - fmpq(1, 9)
        for y in points
    ]
    assert to_fmpq(found.bound) >= max(values)
    # What the relaxation does not know costs at most what the program was told, often less.
    assert float(found.bound) <= found.float_bound + 1e-4 * abs(found.float_bound)


@pytest.mark.draw(3)
@pytest.mark.parametrize(("kind", "accuracy"), [("shor", 1e-6), ("rlt", 1e-6), ("o2", 1e-5)])
@pytest.mark.parametrize("seed", range(3))
def test_concave_parabolas_are_exact(kind, accuracy, seed):
    """The maximum of c - |A (y - z)|^2 with z inside is c."""
    rng = np.random.default_rng(seed)
    matrix, z = rng.normal(size=(5, 4)), rng.uniform(-0.9, 0.9, 4)
    square = matrix.T @ matrix
    terms = {(): 2.0 - z @ square @ z}
    for i in range(4):
        terms[(i,)] = 2 * square[i] @ z
        for j in range(i, 4):
            terms[(i, j)] = -square[i, j] * (1 if i == j else 2)
    terms = {m: Fraction(float(v)) for m, v in terms.items()}
    found = propose(terms, {}, cube_of([None] * 4), fixed(), kind=kind)
    assert float(found.bound) == pytest.approx(2.0, abs=accuracy)
    assert found.point == pytest.approx(z, abs=1e-3)
    assert found.bound >= to_fraction(value_at(to_polynomial(terms), exact(z)))


@pytest.mark.draw(4)
@pytest.mark.parametrize(("kind", "degree"), [("shor", 2), ("d3", 3), ("o2", 4), ("o3", 6)])
@pytest.mark.parametrize("seed", range(5))
def test_one_variable_is_exact(kind, degree, seed):
    rng = np.random.default_rng(seed)
    terms = random_polynomial(rng, 1, degree)
    found = propose(terms, {}, cube_of([None]), fixed(), kind=kind)
    values = at(terms, np.linspace(-1, 1, 100_001)[:, None])
    assert float(found.bound) == pytest.approx(values.max(), abs=1e-6)


@pytest.mark.draw(2)
@pytest.mark.parametrize("seed", range(5))
def test_best_lean_in_one_variable(seed):
    """Shor is exact for each lean, so the bound is the minimum over leans of the maximum over points."""
    rng = np.random.default_rng(seed)
    first, second = random_polynomial(rng, 1, 2), random_polynomial(rng, 1, 2, scale=30.0)
    margin = Fraction(1, 8)
    found = propose(first, second, cube_of([None]), FreeLean(threshold=margin))
    points = np.linspace(-1, 1, 4001)[:, None]
    f, g = at(first, points), at(second, points)
    leans = np.linspace(0, 1, 20_001)[:, None]
    best = min((lean * f - (1 - lean) * g).max() for lean in leans) - float(margin)
    assert float(found.bound) <= best + 1e-6
    assert float(found.bound) >= (np.minimum(f, -g)).max() - float(margin)
    assert float(found.bound) == pytest.approx(best, abs=2e-3)


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("kind", "degree"), [("shor", 2), ("d3", 3), ("o2", 3)])
def test_decisions(kind, degree, seed):
    """Margins of exact points are below; a linear lean is never worse, and never leaves [0, 1]."""
    rng = np.random.default_rng(seed)
    first, second = (random_polynomial(rng, 4, degree, scale) for scale in (1.0, 1.0))
    cube = cube_of([None] * 4)
    constant = propose(first, second, cube, FreeLean(threshold=Fraction(1, 4)), kind=kind)
    points = [*random_points(rng, cube, 60), exact(constant.point)]
    reached = max(margins(first, second, y) for y in points) - fmpq(1, 4)
    assert to_fmpq(constant.bound) >= reached
    if kind != "o2":
        return
    linear = propose(first, second, cube, FreeLean(threshold=Fraction(1, 4), linear=True), kind=kind)
    assert to_fmpq(linear.bound) >= reached
    assert linear.bound <= constant.bound + Fraction(1, 10_000)
    way = linear.content.way
    assert len(way) == 5
    assert abs(2 * way[0] - 1) + 2 * sum(map(abs, way[1:])) <= 1


def test_linear_leans_help():
    """f = y and f' = y (so no pair at all has two signs apart): at a = (1 - y)/2 it is -(1 - a) y + a y = -y^2."""
    f = {(0,): Fraction(1)}
    shifted = {(0,): Fraction(1), (): Fraction(-1, 10), (0, 0): Fraction(1, 20)}
    constant = propose(f, f, cube_of([None]), FreeLean(), kind="o2")
    linear = propose(shifted, shifted, cube_of([None]), FreeLean(linear=True), kind="o2")
    assert float(constant.bound) == pytest.approx(0.0, abs=1e-8)
    assert float(linear.bound) <= 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_more_generators_are_not_worse(seed):
    rng = np.random.default_rng(seed)
    terms = random_polynomial(rng, 5, 2)
    cube = cube_of([places(count) for count in (2, 3, 4, 5, 2)])
    bound = {
        k: float(propose(terms, {}, cube, fixed(), kind=k).bound)
        for k in ("shor", "rlt", "rlt+int", "o2+int", "o2")
    }
    everywhere = [[to_fmpq(v) for v in values] for values in product(*[places(c) for c in (2, 3, 4, 5, 2)])]
    true = float(largest_at(to_polynomial(terms), everywhere))
    slack = 1e-5
    assert true <= bound["rlt+int"] <= bound["rlt"] + slack <= bound["shor"] + 2 * slack
    assert true <= bound["o2+int"] <= bound["o2"] + slack <= bound["shor"] + 2 * slack


def test_integer_cuts_help():
    """-(y0 - y1/2)^2 + y1/8, largest at y0 = y1/2, between the places of y0."""
    terms = {(0, 1): Fraction(1), (0, 0): Fraction(-1), (1, 1): Fraction(-1, 4)}
    shifted = {**terms, (1,): Fraction(1, 8)}
    cube = cube_of([[-1, 0, 1], [-1, 1]])
    without = propose(shifted, {}, cube, fixed(), kind="rlt")
    cut = propose(shifted, {}, cube, fixed(), kind="rlt+int")
    true = max(value_at(to_polynomial(shifted), exact(y)) for y in product([-1, 0, 1], [-1, 1]))
    assert float(true) <= float(cut.bound) < float(without.bound) - 0.04
    assert any(isinstance(factor, tuple) for block in cut.content.blocks for factor in block.generator)


@pytest.mark.parametrize("kind", ["shor", "rlt", "o2", "d3"])
def test_constraints_take_part(kind):
    """y0 + y1 <= 1/2: the maximum of y0 + y1 - y2^2 is 1/2 rather than 2."""
    cube = cube_of([None] * 3, {1: {(0,): 1, (1,): 1, (): Fraction(-1, 2)}})
    terms = {(0,): Fraction(1), (1,): Fraction(1), (2, 2): Fraction(-1)}
    found = propose(terms, {}, cube, fixed(), kind=kind)
    assert float(found.bound) == pytest.approx(0.5, abs=1e-6)
    assert found.bound >= Fraction(1, 2)
    assert any((-1, 1) in block.generator for block in found.content.blocks)


def test_levels_share_a_group():
    """Three levels, one-hot: at most one of three columns is up. Cuts use the places of each axis."""
    rows = tuple(tuple(fmpq(1 if i == j else -1) for j in range(3)) for i in range(3))
    cube = Cube(groups=(Group(axes=(0, 1, 2), places=rows), Group(axes=(3,))), constraints={})
    rng = np.random.default_rng(3)
    terms = random_polynomial(rng, 4, 2)
    points = [[*row, fmpq(k, 50)] for row in rows for k in range(-50, 51)]
    for kind in ("shor", "rlt+int", "o2+int"):
        assert to_fmpq(propose(terms, {}, cube, fixed(), kind=kind).bound) >= largest_at(
            to_polynomial(terms), points
        )


def test_no_axes():
    found = propose({(): Fraction(3)}, {(): Fraction(1)}, cube_of([]), fixed(1, 2, Fraction(1, 2)))
    assert found.bound == Fraction(1, 2)
    assert propose({(): Fraction(-3)}, {(): Fraction(1)}, cube_of([]), FreeLean()).bound <= -1


def test_equal_and_opposite_scores():
    """f = f': the gap vanishes; f = -f': the mean does. Both are decided by the other part."""
    rng = np.random.default_rng(0)
    terms = random_polynomial(rng, 3, 2)
    opposite = {m: -v for m, v in terms.items()}
    cube = cube_of([None] * 3)
    assert propose(terms, terms, cube, FreeLean()).bound <= 0
    assert propose(terms, terms, cube, FreeLean(threshold=Fraction(1, 7))).bound <= Fraction(-1, 7)
    positive = {**terms, (): Fraction(100)}
    assert propose(positive, positive, cube, FreeLean()).bound < -50
    found = propose(terms, opposite, cube, FreeLean())
    assert float(found.bound) == pytest.approx(float(propose(terms, {}, cube, fixed()).bound), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1e-4, 1e6, 1e14, 1e200])
def test_any_scale(scale):
    """Bits follow the size of the coefficients."""
    rng = np.random.default_rng(2)
    first, second = random_polynomial(rng, 4, 2, scale), random_polynomial(rng, 4, 2, scale)
    found = propose(first, second, cube_of([None] * 4), FreeLean())
    assert float(found.bound) == pytest.approx(found.float_bound, rel=1e-7)
    assert max(abs(x) for b in found.content.blocks for s in b.squares for x in s) < max(2**48, scale)


@pytest.mark.parametrize(("gap", "mean"), [(1e-30, 1.0), (1.0, 1e-30), (1e-9, 1.0), (1.0, 1e-9)])
def test_gap_and_mean_of_any_size(gap, mean):
    """f = mean + gap and f' = mean - gap, orders of magnitude apart: a bound without a lean at hand is attained at least."""
    rng = np.random.default_rng(3)
    middle, half = random_polynomial(rng, 3, 2, mean), random_polynomial(rng, 3, 2, gap)
    first = {m: middle[m] + half[m] for m in middle}
    second = {m: middle[m] - half[m] for m in middle}
    cube = cube_of([None] * 3)
    found = propose(first, second, cube, FreeLean())
    points = random_points(rng, cube, 50)
    assert to_fmpq(found.bound) >= max(margins(first, second, y) for y in points)
    even = propose(first, second, cube, fixed(Fraction(1, 2), Fraction(1, 2)))
    assert float(found.bound) <= float(even.bound) + 1e-6 * abs(float(even.bound))


def test_scs_agrees_with_clarabel():
    rng = np.random.default_rng(4)
    first, second = random_polynomial(rng, 4, 3), random_polynomial(rng, 4, 3)
    cube = cube_of([None] * 4)
    ours = propose(first, second, cube, FreeLean(), kind="d3")
    other = propose(first, second, cube, FreeLean(), kind="d3", solver="scs")
    assert float(other.bound) == pytest.approx(float(ours.bound), rel=1e-3)


@pytest.mark.some_days
def test_large_programs_go_to_scs_if_it_is_there(monkeypatch):
    rng = np.random.default_rng(7)
    terms = random_polynomial(rng, 10, 3)
    cube = cube_of([None] * 10)
    with_scs = propose(terms, {}, cube, fixed(), kind="o2", time_limit=0.2)
    monkeypatch.setattr(solvers, "scs_installed", lambda: False)
    without = propose(terms, {}, cube, fixed(), kind="o2", time_limit=0.2)
    assert with_scs.status != without.status
    small = propose(terms, {}, cube, fixed(), kind="shor")
    assert small.status in ("Solved", "AlmostSolved")
    highest = largest_at(to_polynomial(terms), random_points(rng, cube, 50))
    assert to_fmpq(min(with_scs.bound, without.bound, small.bound)) >= highest


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
@pytest.mark.parametrize("time_limit", [0.0, 1e-3])
def test_unfinished_solutions_are_sound(solver, time_limit):
    """Out of time: the iterate, whatever it is, still gives a bound, not worse than the majorant of S alone."""
    rng = np.random.default_rng(5)
    first, second = random_polynomial(rng, 6, 3), random_polynomial(rng, 6, 3)
    cube = cube_of([None] * 6)
    found = propose(first, second, cube, FreeLean(), kind="o2", solver=solver, time_limit=time_limit)
    assert not found.solved
    points = random_points(rng, cube, 50)
    assert to_fmpq(found.bound) >= max(margins(first, second, y) for y in points)
    bare = replace(found.content, blocks=())
    excess = excess_for(FreeLean(), bare.way, to_polynomial(first), to_polynomial(second))
    assert to_fmpq(found.bound) <= exact_bound(bare, excess, cube)


def corrupted(rng, content, dimension):
    """One to five random changes of squares, multipliers, generators, bits or the way."""
    blocks = [[b.generator, b.mu, [list(s) for s in b.squares]] for b in content.blocks]
    way, bits = content.way, content.bits
    for _ in range(rng.integers(1, 6)):
        block = blocks[rng.integers(len(blocks))]
        change = rng.integers(6)
        if change == 0 and block[2]:
            square = block[2][rng.integers(len(block[2]))]
            k = rng.integers(len(square))
            square[k] = (
                -square[k] if rng.random() < 0.3 else square[k] + int(rng.normal() * 2.0 ** rng.integers(60))
            )
        elif change == 1 and block[2]:
            block[2].pop(rng.integers(len(block[2])))
        elif change == 2:
            block[1] = int(block[1] * rng.uniform(0, 2)) + int(2.0 ** rng.integers(100))
        elif change == 3:
            block[0] = tuple(
                int(rng.choice([-1, 1]) * rng.integers(1, dimension + 1)) for _ in range(rng.integers(3))
            )
        elif change == 4:
            bits = max(0, bits + int(rng.integers(-3, 4)))
        elif isinstance(way, tuple):
            way = (way[0], *(-p for p in way[1:]))
        else:
            way = Fraction(int(rng.integers(0, 2**20 + 1)), 2**20)
    made = tuple(Block(generator=g, mu=mu, squares=tuple(map(tuple, squares))) for g, mu, squares in blocks)
    return replace(content, way=way, bits=bits, blocks=made)


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize(
    ("kind", "degree", "linear"), [("shor", 2, False), ("rlt", 2, False), ("o2", 3, True)]
)
def test_corrupted_contents_never_lie(kind, degree, linear):
    """1,000 in all: what is corrupted loses its value, not its truth."""
    rng = np.random.default_rng(6)
    cube = cube_of([None] * 3)
    first, second = random_polynomial(rng, 3, degree), random_polynomial(rng, 3, degree)
    asked = FreeLean(linear=linear)
    found = propose(first, second, cube, asked, kind=kind)
    p, q = to_polynomial(first), to_polynomial(second)
    points = [exact(y) for y in grid(3, 9)]
    points.sort(key=lambda y: margins(first, second, y))
    points = [*points[-20:], exact(found.point)]
    worse = 0
    for _ in range(334):
        content = corrupted(rng, found.content, 3)
        excess = excess_for(asked, content.way, p, q)
        bound = exact_bound(content, excess, cube)
        assert bound >= largest_at(excess, points)
        assert bound >= max(margins(first, second, y) for y in points)
        worse += to_fraction(bound) > found.bound
    assert worse > 300


@pytest.mark.parametrize("axes", [0, 1, 7])
def test_rounded_leans_stay_inside(axes):
    """abs(theta_0) + sum abs(theta_i) <= 1 exactly, whatever the solver says, and near it where that is inside."""
    rng = np.random.default_rng(axes)
    for k in range(200):
        theta = rng.normal(size=axes + 1)
        theta *= (1.0, 1.0 + 1e-9, 0.5, 3.0)[k % 4] / np.abs(theta).sum()
        way = round_way(theta, 40)
        leans = way if isinstance(way, tuple) else (way,)
        found = [2 * leans[0] - 1, *(2 * lean for lean in leans[1:])]
        assert sum(map(abs, found)) <= 1
        assert np.array(found, dtype=float) == pytest.approx(theta / max(1.0, np.abs(theta).sum()), abs=1e-8)


def test_leans_outside_are_refused():
    for way in (Fraction(-1, 100), Fraction(101, 100), (Fraction(1, 2), Fraction(51, 100))):
        with pytest.raises(InternalError):
            excess_for(FreeLean(), way, {}, {})


def test_unknown_names_are_refused():
    with pytest.raises(InternalError):
        propose({(0,): Fraction(1)}, {}, cube_of([None]), fixed(), kind="o2+everything")
    with pytest.raises(InternalError):
        propose({(0,): Fraction(1)}, {}, cube_of([None]), fixed(), solver="simplex")
