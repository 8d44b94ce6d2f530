"""Random polynomials and exact points of cubes, for the tests of sums of squares."""

from fractions import Fraction

import numpy as np
from flint import fmpq

from likewise.families.polynomial.sos import Cube
from likewise.families.polynomial.sos.cube import graded_monomials, value_at
from likewise.model.witness_set import Direction


def random_polynomial(rng, dimension, degree, scale=1.0):
    return {m: Fraction(float(rng.normal() * scale)) for m in graded_monomials(dimension, degree)}


def exact(numbers):
    return [fmpq(*float(number).as_integer_ratio()) for number in numbers]


def random_points(rng, cube: Cube, count):
    """Points of the cube, corners and inner ones; groups with places at their places."""
    points = []
    for k in range(count):
        point = [fmpq(0)] * cube.dimension
        for group in cube.groups:
            if group.places is not None:
                values = group.places[rng.integers(len(group.places))]
            else:
                values = exact([rng.uniform(-1, 1) if k % 2 else rng.choice([-1, 1])])
            for axis, value in zip(group.axes, values, strict=True):
                point[axis] = value
        points.append(point)
    return points


def largest_at(terms, points):
    return max(value_at(terms, point) for point in points)


def fixed(a=1, b=0, threshold=0):
    """A fixed direction: with a = 1, b = 0 the first polynomial itself is bounded."""
    return Direction(a=Fraction(a), b=Fraction(b), threshold=Fraction(threshold), attained=False)


def places(count):
    """Equally spaced values of an axis from -1 to 1."""
    return [Fraction(2 * k, count - 1) - 1 for k in range(count)]


def grid(dimension, count):
    axes = [np.linspace(-1, 1, count)] * dimension
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dimension)
