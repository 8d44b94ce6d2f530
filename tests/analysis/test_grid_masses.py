"""Probabilities of sums of independent numbers: bounds on a grid hold the exact ones."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from likewise.analysis.grid_masses import count_masses


def bounds(places, levels, atoms, lo, hi, open_left, terms, intervals):
    """Below and above of intervals that are sure and possible at once."""
    starts = np.cumsum([0, *(len(own) for own in atoms)]).astype(np.int64)
    codes = np.array([code for own in atoms for code, _ in own], dtype=float)
    counts = np.array([count for own in atoms for _, count in own], dtype=np.int64)
    ends = np.array([intervals], dtype=float)
    below, above = np.zeros(ends.shape[:2]), np.ones(ends.shape[:2])
    count_masses(
        np.array(places, dtype=np.int64),
        np.array(levels),
        starts,
        codes,
        counts,
        np.array([lo], dtype=float),
        np.array([hi], dtype=float),
        np.array([open_left]),
        np.array([terms], dtype=float),
        ends,
        ends,
        below,
        above,
    )
    return below[0], above[0]


@pytest.mark.some_days
@pytest.mark.draw(6)
@pytest.mark.parametrize("seed", range(60))
def test_probabilities_of_atoms_are_held(seed):
    rng = random.Random(seed)
    atoms = [
        [(float(code), rng.randint(1, 9)) for code in range(rng.randint(2, 6))],
        [(code, rng.randint(1, 3)) for code in sorted(rng.uniform(-4, 9) for _ in range(5))],
        [(float(code), 1) for code in range(4)],
    ]
    tables = (
        [rng.gauss(0, 2) for _ in range(6)],
        [rng.gauss(0, 1)],
        [rng.choice((0.0, 1.5)) for _ in range(4)],
    )
    terms = [*tables[0], *tables[1], *tables[2]]
    places, levels = [0, 6, 7], [True, False, True]
    lo = [own[rng.randrange(2)][0] for own in atoms]
    hi = [own[-1 - rng.randrange(2)][0] for own in atoms]
    hi = [max(a, b) for a, b in zip(lo, hi, strict=True)]
    open_left = [rng.random() < 0.3 and lo[k] < hi[k] for k in range(3)]
    inside = [
        [(c, n) for c, n in own if (c > lo[k] if open_left[k] else c >= lo[k]) and c <= hi[k]]
        for k, own in enumerate(atoms)
    ]
    value = [
        lambda c: Fraction(tables[0][int(c)]),
        lambda c: Fraction(tables[1][0]) * Fraction(c),
        lambda c: Fraction(tables[2][int(c)]),
    ]
    sums = [
        (sum(value[k](c) for k, (c, _) in enumerate(some)), np.prod([n for _, n in some]))
        for some in itertools.product(*inside)
    ]
    everybody = sum(int(n) for _, n in sums)
    at = [float(total) for total, _ in sums]  # ends on values, and beside them
    ends = [
        sorted((rng.choice([*at, rng.uniform(-9, 9)]), rng.choice([*at, rng.uniform(-9, 9)]))) for _ in "1234"
    ]
    below, above = bounds(places, levels, atoms, lo, hi, open_left, terms, ends)
    for (a, b), low, high in zip(ends, below, above, strict=True):
        exact = Fraction(sum(int(n) for total, n in sums if Fraction(a) < total <= Fraction(b)), everybody)
        assert Fraction(low) <= exact <= Fraction(high)


@pytest.mark.parametrize("slope", [0.3, -2.0, 1e-3])
def test_probabilities_of_uniform_numbers_are_held_and_close(slope):
    # The sum of slope * uniform on [1, 3] and of slope * uniform on [0, 2]: a triangle.
    none = [[], []]
    middle, reach = 3 * slope, 2 * abs(slope)
    ends = [(middle - reach / 2, middle + reach / 2), (middle - 9, middle), (middle + 3 * reach, middle + 9)]
    below, above = bounds([0, 1], [False, False], none, [1, 0], [3, 2], [False] * 2, [slope, slope], ends)
    for low, exact, high in zip(below, (0.75, 0.5, 0.0), above, strict=True):
        assert low <= exact <= high
        assert high - low < 5e-3
