"""The rule `kernel` in cells of two copies, and differences as variables of a cell."""

import random
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    checked,
    constraint,
    continuous,
    decision,
    integer,
    line,
    number,
    ordinal,
    probability,
    proof,
    score,
    within,
)
from tests.check.kernels import (
    Kernel,
    boxes,
    claim_of,
    decimal,
    hint_count,
    random_cell,
    random_kernel,
    rbf,
    sloped,
    tabled,
)
from tests.check.section7 import Bound, chord_of, is_fixed, is_paired, limits

from likewise_check.cells import LeafRefused, Tree
from likewise_check.fields import Rejected
from likewise_check.rules.cubics import CUBIC, EXPONENT, GRID, SLACK, chord, shifted
from likewise_check.rules.kernel import Kernel as Rule
from likewise_check.rules.separable import read_way


def drawn_interval(rng, feature, place: Fraction, width: float):
    """An interval around the place, or the place alone."""
    lo, hi = Fraction(feature["lo"]), Fraction(feature["hi"])
    if rng.random() < 0.15:
        return place, place
    if feature["kind"] == "integer":
        return max(lo, place - rng.randint(0, 2)), min(hi, place + rng.randint(0, 2))
    size = Fraction(width) * (hi - lo)
    return max(lo, place - size * Fraction(rng.random())), min(hi, place + size * Fraction(rng.random()))


def drawn(seed: int, most_terms: int = 10):
    """A random model with features that are paired, a cell of two copies that is not empty, hints and a tangent."""
    rng = random.Random(seed)
    sorts = rng.choices("cithhl", k=rng.randint(0, 3)) + rng.choices("CI", k=rng.randint(1, 2))
    sorts += rng.choices("HTL", k=rng.randint(0, 1))
    rng.shuffle(sorts)
    kernel = random_kernel(rng, sorts, rng.randint(1, most_terms), thirds=seed % 5 == 0)
    width = rng.choice([1e-12, 0.003, 0.05, 0.3])
    cell = random_cell(rng, kernel, width=width)
    paired = [k for k, sort in enumerate(sorts) if sort in "CI"]
    for n, k in enumerate(paired):
        feature, whole = kernel.features[k], sorts[k] == "I"
        x, other = cell[k][0][0], cell[k][1][0]
        if rng.random() < 0.5:  # near each other
            other = x if whole else min(Fraction(feature["hi"]), x + Fraction(width * rng.random()))
        if n or rng.random() < 0.9:
            tolerance = Fraction(rng.randint(1, 3)) if whole else Fraction(rng.randint(1, 9), 3)
            tolerance = max(tolerance, abs(other - x))
            kernel.relations[k] = within(tolerance)
            low = Fraction(rng.randint(0, 2)) if whole else Fraction(width * rng.random())
            high = Fraction(rng.randint(0, 2)) if whole else Fraction(width * rng.random())
            ends = max(-tolerance, other - x - low), min(tolerance, other - x + high)
            limit = [rng.choice([(-tolerance, tolerance), ends, (other - x, other - x)])]
        else:
            kernel.relations[k], limit = FREE, []
        intervals = [drawn_interval(rng, feature, place, width) for place in (x, other)]
        cell[k] = intervals + limit
    if all(is_fixed(cell[k]) for k in paired):
        lo, hi = kernel.features[paired[0]]["lo"], kernel.features[paired[0]]["hi"]
        cell[paired[0]][0] = Fraction(lo), Fraction(hi)
    count = hint_count(kernel, cell)
    hints = [rng.randint(-64, 64) for _ in range(count)]
    if rng.random() < 0.5:
        hints = [0] * count
    return rng, kernel, cell, hints, rng.choice([0, 3, 100, 1024, 3000])


def posed(rng, kernel):
    """A claim about the kernel, and a way."""
    kind = rng.choice([decision, score, probability])
    zero = rng.choice(["lower", "upper"])
    if kind is decision:
        way, prop = Fraction(rng.randint(0, 8), 8), decision(Fraction(rng.randint(-9, 9), 10))
    elif kind is score:
        way, prop = Fraction(1, 2), score(Fraction(rng.randint(0, 9), 10))
    else:
        delta = Fraction(rng.randint(1, 9), 10)
        way, prop = (1 - delta) * Fraction(rng.randint(1, 63), 64), probability(delta)
    return claim_of(kernel.features, kernel.relations, prop, kernel.model(zero=zero)), way


def sampled(rng, kernel: Kernel, cell):
    """A pair of the cell."""
    x, other = [], []
    for feature, relation, intervals in zip(kernel.features, kernel.relations, cell, strict=True):
        discrete = feature["kind"] != "continuous"

        def draw(lo, hi, discrete=discrete):
            if discrete:
                return Fraction(rng.randint(int(lo), int(hi)))
            return lo + (hi - lo) * rng.choice([Fraction(0), Fraction(1), Fraction(rng.random())])

        code = draw(*intervals[0])
        if relation == SAME:
            again = code
        elif not is_paired(feature, relation, intervals):
            again = intervals[1][0]
        else:
            (lo, hi), (low, high) = intervals[:2]
            p, q = intervals[2] if len(intervals) == 3 else (low - hi, high - lo)
            gap = draw(max(p, low - hi), min(q, high - lo))
            code = draw(max(lo, low - gap), min(hi, high - gap))
            again = code + gap
        x.append(code)
        other.append(again)
    return x, other


@pytest.mark.parametrize("seed", range(250))
def test_the_bound_is_that_of_the_specification_and_holds_for_every_pair(seed: int) -> None:
    rng, kernel, cell, hints, tangent = drawn(seed)
    claim, way = posed(rng, kernel)
    a, b, threshold = read_way(number(way), claim.asked)
    bound, bits = Rule(claim).bound(["kernel", number(way), hints, tangent], boxes(cell))
    true = Bound(kernel, cell, hints)
    expected, room = true.phi(claim.sign, a, b, threshold, tangent)
    with localcontext() as context:
        context.prec = 60
        found = decimal(Fraction(bound, 2**bits))
        # Loads are rounded either way, by which the formula may fall a little; what counts is that no pair is above it.
        assert expected - room / 64 <= found <= expected + room
        for _ in range(30):
            x, other = sampled(rng, kernel, cell)
            s, again = (claim.sign * kernel.score(codes) for codes in (x, other))
            beyond = decimal(a) * s - decimal(b) * again - decimal(threshold)
            assert decimal(true.gamma_r(x, other)).exp() * beyond <= found
