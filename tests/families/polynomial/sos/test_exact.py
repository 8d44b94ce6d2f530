"""The exact bound follows the rule to the letter, and is a bound whatever the content."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from tests.families.polynomial.sos.points import places, random_points, random_polynomial

from likewise.errors import InternalError
from likewise.families.polynomial.sos import Block, Content, Cube, Group, cube_of, exact_bound
from likewise.families.polynomial.sos.cube import graded_monomials, to_fraction, to_polynomial, value_at
from likewise.families.polynomial.sos.exact import add_squares, bound_polynomial, cubic_maximum

ROWS = [
    ({(): 3}, 3),
    ({(0, 1): 4}, 4),  # 2 y0^2 + 2 y1^2
    ({(0, 1): -4}, 4),
    ({(0, 1): 4, (0, 0): -2, (1, 1): -3}, 0),
    ({(0, 0, 1, 1): 6}, 6),
    ({(0, 0, 1, 1): 6, (0, 0): -5}, 3),  # 3 y0^2 + 3 y1^2
    ({(0, 0, 1, 1): -6}, 0),
    ({(0, 0, 1): 4, (1,): -2}, 2),  # 2 y1 and 2
    ({(0, 0, 1): -4, (1,): 2}, 2),
    ({(0, 0, 1, 1, 1): 4, (1,): 1}, 5),
    ({(0, 1, 2): 6, (0, 0): -2, (1, 1): -2, (2, 2): -2}, 0),
    ({(0, 0, 0, 1): -2, (0, 0): -1, (1, 1): -1}, 0),
    ({(0, 0, 1, 2): 2, (0, 0): 1, (1, 1): -1, (2, 2): -1}, 1),  # nothing for y0
    ({(0, 0, 0, 0): 2, (0, 0): -2}, 0),
    ({(0, 0, 0, 0): -2, (0, 0): 1}, 1),
    ({(0,) * 5: 2, (0,): -1}, 1),
    ({(0,) * 7: -2, (0,): 3}, 3),
    ({(0,): 1, (0, 0): -1}, Fraction(1, 4)),
]


@pytest.mark.parametrize(("terms", "expected"), ROWS)
def test_rows_of_the_majorant(terms, expected):
    assert to_fraction(bound_polynomial(to_polynomial(terms), cube_of([None] * 3))) == expected


def test_places_instead_of_intervals():
    terms = to_polynomial({(0,): 1, (0, 0): -1})
    assert bound_polynomial(terms, cube_of([[-1, 0, 1]])) == 0
    assert bound_polynomial(terms, cube_of([[-1, Fraction(1, 3), 1]])) == fmpq(2, 9)
    # Products of two groups end at the places as well: 2 y0^2 + 2 y1^2 with abs(y0) = 1/2.
    assert bound_polynomial(
        to_polynomial({(0, 1): 4}), cube_of([[Fraction(-1, 2), Fraction(1, 2)], None])
    ) == fmpq(5, 2)


def test_axes_of_one_group_are_kept_together():
    one_hot = Group(axes=(0, 1), places=((fmpq(1), fmpq(-1)), (fmpq(-1), fmpq(1)), (fmpq(-1), fmpq(-1))))
    cube = Cube(groups=(one_hot, Group(axes=(2,))), constraints={})
    assert (
        bound_polynomial(to_polynomial({(0, 1): 4, (0,): 1, (2,): 1}), cube) == 4
    )  # 4 - 1 + 1: never both up
    assert cube.places()[:2] == [(fmpq(-1), fmpq(1))] * 2


def test_broken_cubes_are_refused():
    with pytest.raises(InternalError):
        Cube(groups=(Group(axes=(0, 1)),), constraints={})
    with pytest.raises(InternalError):
        Cube(groups=(Group(axes=(1,)),), constraints={})


def local_maximum(n1, n2, n3):
    """Where the cubic has its local maximum, to 60 digits."""
    with localcontext() as context:
        context.prec = 120
        n1, n2, n3 = (Decimal(x.numerator) / Decimal(x.denominator) for x in (n1, n2, n3))
        squared = n2 * n2 - 3 * n1 * n3
        if squared < 0:
            return None
        return Fraction(-(n2 + squared.sqrt()) / (3 * n3))


def test_maximum_of_cubics():
    rng = np.random.default_rng(1)
    inside = 0
    for k in range(3000):
        sizes = 10.0 ** rng.uniform(-9, 3, 3) if k % 2 else np.ones(3)
        n = [Fraction(float(value)) for value in rng.normal(size=3) * sizes]
        if k % 10 == 0:  # the top is nearly at an end
            n[0] = -2 * n[1] - 3 * n[2] + Fraction(int(rng.integers(-2, 3)), 2 ** int(rng.integers(20, 140)))
        if k % 10 == 1:  # the top is nearly the inflection
            n[0] = n[1] * n[1] / (3 * n[2]) + Fraction(
                int(rng.integers(-2, 3)), 2 ** int(rng.integers(20, 140))
            )
        places = [Fraction(1), Fraction(-1), *(Fraction(float(y)) for y in rng.uniform(-1, 1, 5))]
        top = local_maximum(*n)
        if top is not None and abs(top) <= 1:
            places.append(top)
            inside += 1
        values = [y * (n[0] + y * (n[1] + y * n[2])) for y in places]
        bound = to_fraction(cubic_maximum(*(fmpq(x.numerator, x.denominator) for x in n)))
        # `top` has 60 digits at least, so the last comparison allows for their square.
        assert bound >= max(values)
        assert bound <= max(values) + sum(map(abs, n)) / 2**60
    assert inside > 300


def test_top_within_rounding_of_the_end():
    """p' = -3 (y + 1)(y - b), b = -1 + 2^-97: rounded down, b is the local minimum -1, where p' vanishes as well."""
    b = fmpq(-1) + fmpq(1, 2**97)
    n1, n2, n3 = 3 * b, 3 * (b - 1) / 2, fmpq(-1)
    highest = b * (n1 + b * (n2 + b * n3))
    assert highest > n2 - n1 - n3  # p(-1)
    assert cubic_maximum(n1, n2, n3) >= highest
    assert cubic_maximum(-n1, n2, -n3) >= highest


def random_content(rng, cube, blocks=6):
    """Generators of all kinds, squares of random lengths."""
    cuts = [(axis, j) for axis, values in enumerate(cube.places()) if values for j in range(len(values) - 1)]
    factors = [s * (i + 1) for i in range(cube.dimension) for s in (1, -1)] + cuts
    factors += [(-1, j) for j in cube.constraints]
    bits = int(rng.integers(0, 12))
    made = []
    for _ in range(blocks):
        generator = tuple(factors[k] for k in rng.integers(len(factors), size=rng.integers(0, 4)))
        lengths = rng.integers(1, len(graded_monomials(cube.dimension, 2)) + 1, size=rng.integers(0, 3))
        squares = tuple(tuple(int(x) for x in rng.integers(-20, 21, size=size)) for size in lengths)
        made.append(Block(generator=generator, mu=int(rng.integers(0, 400)), squares=squares))
    return Content(way=Fraction(1, 2), bits=bits, blocks=tuple(made))


def added(content, cube, point):
    """sum of generator * (mu + squares) at a point, straight from its definition."""
    total = fmpq(0)
    for block in content.blocks:
        value = fmpq(block.mu, 4**content.bits)
        for square in block.squares:
            basis = graded_monomials(cube.dimension, 3)[: len(square)]
            root = sum((value_at({m: fmpq(x)}, point) for m, x in zip(basis, square, strict=True)), fmpq(0))
            value += root * root / 4**content.bits
        for factor in block.generator:
            value *= factor_at(factor, cube, point)
        total += value
    return total


def factor_at(factor, cube, point):
    if isinstance(factor, int):
        y = point[abs(factor) - 1]
        return 1 + y if factor > 0 else 1 - y
    axis, j = factor
    if axis < 0:
        return -value_at(cube.constraints[j], point)
    here, there = cube.places()[axis][j : j + 2]
    return (point[axis] - here) * (point[axis] - there)


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(20))
def test_any_content_bounds(seed):
    """V is what the definition says, the bound is above V, and V above S wherever the constraint holds."""
    rng = np.random.default_rng(seed)
    one_hot = Group(axes=(2, 3), places=((fmpq(1), fmpq(-1)), (fmpq(-1), fmpq(1)), (fmpq(-1), fmpq(-1))))
    numbers = Group(axes=(1,), places=tuple((fmpq(*p.as_integer_ratio()),) for p in places(4)))
    constraint = to_polynomial({(): Fraction(-1, 3), (0,): Fraction(1), (1,): Fraction(1, 2)})
    cube = Cube(groups=(Group(axes=(0,)), numbers, one_hot), constraints={3: constraint})
    excess = to_polynomial(random_polynomial(rng, 4, 4, scale=10.0))
    content = random_content(rng, cube)
    total = add_squares(content, excess, cube)
    bound = exact_bound(content, excess, cube)
    feasible = 0
    for point in random_points(rng, cube, 60):
        value = value_at(total, point)
        assert value == value_at(excess, point) + added(content, cube, point)
        assert bound >= value
        if value_at(constraint, point) <= 0:
            feasible += 1
            assert value >= value_at(excess, point)
    assert feasible


def test_negative_multipliers_prove_nothing():
    content = Content(way=Fraction(1, 2), bits=4, blocks=(Block(generator=(), mu=-1, squares=()),))
    with pytest.raises(InternalError):
        exact_bound(content, {(): fmpq(1)}, cube_of([None]))


def test_cuts_need_places():
    content = Content(way=Fraction(1, 2), bits=4, blocks=(Block(generator=((0, 0),), mu=1, squares=()),))
    with pytest.raises(InternalError):
        exact_bound(content, {(): fmpq(1)}, cube_of([None]))
