"""Cubes: which votes make a class win, as few conditions as possible at a time.

A cube fixes some votes and leaves the others open; every way of giving votes that leads to a class satisfies a cube of it, and here
no cube of a class contains a way that leads to another one. Each is as large as it can be (a prime implicant); enough are taken,
greedily, to cover the class.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from likewise.model.head import most_voted, vote_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

Cube = tuple[tuple[int, bool], ...]  # (score, whether it is > 0), by score
MOST_CLASSES = 5  # beyond this the cases of two cubes are more than ten thousand: nothing is proved
CUBES_TRIED = 8  # cubes tried for each that is taken


@cache
def vote_cubes(classes: int) -> tuple[tuple[Cube, ...], ...]:
    """The cubes of each class."""
    ways, won = all_votes(classes), vote_winners(classes)
    return tuple(tuple(_cover_ways(ways, won == i)) for i in range(classes))


def all_votes(classes: int) -> NDArray[np.bool_]:
    """Every way of giving votes, one a row: whether each score is > 0."""
    count = len(vote_pairs(classes))
    found: NDArray[np.bool_] = (np.arange(2**count)[:, None] >> np.arange(count)) % 2 == 1
    return found


def vote_winners(classes: int) -> NDArray[np.intp]:
    """The class that each way of giving votes leads to."""
    counts = np.zeros((2 ** len(vote_pairs(classes)), classes), dtype=np.intp)
    ways = all_votes(classes)
    for s, (first, second) in enumerate(vote_pairs(classes)):
        counts[:, first] += ways[:, s]
        counts[:, second] += ~ways[:, s]
    return np.array([most_voted(count) for count in counts.tolist()], dtype=np.intp)


def _cover_ways(ways: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> list[Cube]:
    """Cubes until nothing is missing: of a few that are tried the one that covers most of it."""
    random = np.random.default_rng(0)  # the same cubes every time
    missing, found = wanted.copy(), []
    while missing.any():
        seeds = random.choice(np.flatnonzero(missing), CUBES_TRIED)
        tried = [
            _enlarge_cube(ways[seed], random.permutation(ways.shape[1]).tolist(), ways, wanted)
            for seed in seeds
        ]
        best = max(tried, key=lambda cube: (int(missing[_ways_inside(cube, ways)].sum()), -len(cube)))
        found.append(best)
        missing &= ~_ways_inside(best, ways)
    return found


def _enlarge_cube(
    seed: NDArray[np.bool_], order: list[int], ways: NDArray[np.bool_], wanted: NDArray[np.bool_]
) -> Cube:
    """Leave out conditions, one by one in this order, as long as all ways inside stay wanted."""
    cube = {s: bool(up) for s, up in enumerate(seed)}
    for s in order:
        fewer = {kept: up for kept, up in cube.items() if kept != s}
        if wanted[_ways_inside(tuple(fewer.items()), ways)].all():
            cube = fewer
    return tuple(cube.items())


def _ways_inside(cube: Cube, ways: NDArray[np.bool_]) -> NDArray[np.bool_]:
    inside = np.ones(len(ways), dtype=bool)
    for s, up in cube:
        inside &= ways[:, s] == up
    return inside
