"""Where two probabilities are further apart than a limit: sure intervals lie within, possible ones hold all of it."""

import random
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from likewise.analysis.probability_intervals import EVERYWHERE, NOWHERE, possible_interval, sure_interval
from likewise.model.witness_set import ProbabilitySet


def gap(m, high, low, line):
    """With 60 digits."""
    with localcontext() as context:
        context.prec = 60
        found = []
        for end in (high, low):
            score = line.slope * (Fraction(m) + Fraction(end)) + line.offset
            found.append(1 / (1 + (-Decimal(score.numerator) / score.denominator).exp()))
        return found[0] - found[1] - Decimal(line.delta.numerator) / line.delta.denominator


@pytest.mark.parametrize("seed", range(60))
def test_intervals_hold_what_they_say(seed):
    rng = random.Random(seed)
    line = ProbabilitySet(
        delta=Fraction(rng.uniform(0.001, 0.9)),
        slope=Fraction(rng.choice((1, 1, Fraction(1, 3), 2.5))),
        offset=Fraction(rng.choice((0, rng.gauss(0, 2)))),
    )
    low = rng.gauss(0, 3)
    high = low + rng.choice((rng.expovariate(1), rng.expovariate(0.05), -1.0, 0.0))
    sure, possible = sure_interval(high, low, line), possible_interval(high, low, line)
    places = [rng.uniform(-40, 40) for _ in range(60)]
    for ends in (sure, possible):
        if ends not in (NOWHERE, EVERYWHERE):
            places += [*ends, *(end + d for end in ends for d in (-1e-7, 1e-7))]
    for m in places:
        if sure[0] < m <= sure[1]:
            assert gap(m, high, low, line) > 0
        if not possible[0] < m <= possible[1]:
            assert gap(m, high, low, line) <= 0
    if sure != NOWHERE:
        assert possible[0] <= sure[0] < sure[1] <= possible[1]
        assert max(sure[0] - possible[0], possible[1] - sure[1]) < 1e-6 * (1 + abs(sure[0]) + abs(sure[1]))


def test_what_is_not_known_is_possible():
    line = ProbabilitySet(delta=Fraction(1, 5))
    assert possible_interval(float("inf"), 0.0, line) == EVERYWHERE
    assert sure_interval(float("inf"), 0.0, line) == NOWHERE
    assert sure_interval(5.0, -5.0, line) != NOWHERE
