"""Relaxations: which generators a sum of squares may use.

A bound of a polynomial S over the cube is shown by  S + sum over generators of generator * (mu + squares) = constant.
A relaxation lists the generators with squares, each with the degree of the polynomials that are squared, and those
with a number mu >= 0 alone. Names are a base and additions, joined by +:

    shor       squares of degree 1; (1 + y)(1 - y)                                         order 1, for degree 2
    rlt        shor and the products of two bounds, (1 +- y_i)(1 +- y_j)
    d3         squares of degree 1; (1 +- y_i) times squares of degree 1; products of bounds        for degree 3
    o2         squares of degree 2; (1 + y)(1 - y) times squares of degree 1               order 2, for degree 4
    o3, ...    squares of degree r; (1 + y)(1 - y) times squares of degree r - 1           order r, for degree 2 r
    +rlt       products of two bounds
    +int       (y_i - c_j)(y_i - c_(j+1)) for neighbouring places

Constraints h_j <= 0 of the cube take part by -h_j, times squares of the same degree as the boxes; with +rlt (and in
rlt and d3) by -h_j (1 +- y_i) as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations

from likewise.errors import InternalError
from likewise.families.polynomial.sos.cube import Cube, Generator

RELAXATION_NAME = re.compile(r"(shor|rlt|d3|o[2-8])((?:\+(?:rlt|int))*)")
# More neighbouring places than these make no useful cuts: the parabolas between them are too shallow.
MOST_CUTS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxation:
    """`blocks`: generators with the degree of the squares they multiply; `multipliers`: generators with a number."""

    blocks: tuple[tuple[Generator, int], ...]
    multipliers: tuple[Generator, ...]


def make_relaxation(name: str, cube: Cube) -> Relaxation:
    """The relaxation of that name for a cube."""
    found = RELAXATION_NAME.fullmatch(name)
    if found is None:
        raise InternalError(f"no relaxation {name!r}")
    base, additions = found[1], set(found[2].split("+"))
    axes = range(cube.dimension)
    boxes: list[Generator] = [(i + 1, -(i + 1)) for i in axes]
    # One that is zero all over the cell says nothing.
    constraints: list[Generator] = [((-1, j),) for j, terms in cube.constraints.items() if terms]
    blocks: list[tuple[Generator, int]] = [((), 1)]
    multipliers: list[Generator] = []
    if base == "d3":
        blocks += [((sign * (i + 1),), 1) for i in axes for sign in (1, -1)]
        multipliers += constraints
    elif base in ("shor", "rlt"):
        multipliers += boxes + constraints
    else:
        order = int(base[1:])
        blocks = [((), order)]
        blocks += [(generator, order - 1) for generator in boxes + constraints]
    if base in ("rlt", "d3") or "rlt" in additions:
        multipliers += _product_generators(cube)
    if "int" in additions:
        multipliers += _cut_generators(cube)
    return Relaxation(blocks=tuple(blocks), multipliers=tuple(multipliers))


def _product_generators(cube: Cube) -> list[Generator]:
    signs = (1, -1)
    bounds: list[Generator] = [
        (s * (i + 1), t * (j + 1))
        for i, j in combinations(range(cube.dimension), 2)
        for s in signs
        for t in signs
    ]
    bounds += [((-1, j), s * (i + 1)) for j in cube.constraints for i in range(cube.dimension) for s in signs]
    return bounds


def _cut_generators(cube: Cube) -> list[Generator]:
    return [
        ((axis, j),)
        for axis, values in enumerate(cube.places())
        if values is not None and len(values) <= MOST_CUTS
        for j in range(len(values) - 1)
    ]
