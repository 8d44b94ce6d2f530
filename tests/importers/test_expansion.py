"""Sums of powers multiplied out: equal to the sum itself, exactly, at random points."""

from fractions import Fraction

import numpy as np
import pytest

import likewise as lw
from likewise.importers.expansion import PowerSum, expand_powers


def drawn(seed):
    random = np.random.default_rng(seed)
    count, columns = int(random.integers(1, 9)), int(random.integers(1, 6))
    centres = random.normal(size=(count, columns)) * 10.0 ** random.integers(-3, 4, columns)
    if seed % 3 == 0:
        centres = np.round(centres)
    if seed % 4 == 0:
        centres[:, 0] = 0.0
    return PowerSum(
        coefficients=random.normal(size=count),
        centres=centres,
        gamma=float(random.choice([0.0, 0.3, 1.0, 1e-3])) if seed % 5 else 0.1,
        coef0=float(random.choice([0.0, 1.0, -0.7])),
        degree=seed % 7,
        bias=float(random.normal()),
    )


def by_definition(powers, x):
    total = Fraction(powers.bias)
    for a, centre in zip(powers.coefficients.tolist(), powers.centres.tolist(), strict=True):
        inner = sum((Fraction(s) * v for s, v in zip(centre, x, strict=True)), Fraction(0))
        inner = Fraction(powers.gamma) * inner + Fraction(powers.coef0)
        total += Fraction(a) * inner**powers.degree
    return total


@pytest.mark.parametrize("seed", range(56))
def test_the_sum_of_products_is_the_sum_of_powers(seed):
    powers = drawn(seed)
    body = expand_powers(powers, "SVC")
    random = np.random.default_rng(seed)
    for _ in range(4):
        x = [Fraction(v) for v in random.normal(size=powers.centres.shape[1]).tolist()]
        assert body.exact(x) == by_definition(powers, x)
        assert body.negated().exact(x) == -by_definition(powers, x)
    assert len(set(body.products)) == len(body.products)
    assert all(list(product) == sorted(product) for product in body.products)


def test_columns_that_are_zero_in_training_vanish():
    powers = drawn(4)
    assert not powers.centres[:, 0].any()
    assert all(0 not in product for product in expand_powers(powers, "SVC").products)


@pytest.mark.parametrize(
    ("degree", "columns", "match"), [(17, 1, "degree 17"), (6, 30, "products of columns")]
)
def test_what_is_too_large_is_refused_before_it_is_multiplied_out(degree, columns, match):
    powers = PowerSum(
        coefficients=np.ones(2), centres=np.ones((2, columns)), gamma=1.0, coef0=1.0, degree=degree, bias=0.0
    )
    with pytest.raises(lw.UnsupportedModel, match=match):
        expand_powers(powers, "SVC")
