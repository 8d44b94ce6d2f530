"""The one-sided cubics are one-sided, also for a larger h than needed, and equal their definition."""

import numpy as np
import pytest
from tests.families.kernel.rbf.twin import cubic

from likewise.families.kernel.rbf.cubics import SERIES_LIMIT, lower_cubic, upper_cubic

REACHES = [
    0.0,
    1e-8,
    1e-3,
    0.1,
    0.7,
    SERIES_LIMIT,
    1.001 * SERIES_LIMIT,
    2 * SERIES_LIMIT,
    2.002 * SERIES_LIMIT,
    3.0,
    6.0,
    12.0,
]


def at(p, L):
    return p[0] + L * (p[1] + L * (p[2] + L * p[3]))


@pytest.mark.draw(9)
@pytest.mark.parametrize("h", REACHES)
@pytest.mark.parametrize("times", [1.0, 1.1, 3.0])
def test_one_sided_for_any_larger_reach(h, times):
    L = np.linspace(-h, h, 2001)
    rounding = 1e-13 * np.exp(times * h)
    assert np.all(at(upper_cubic(times * h), L) >= np.exp(L) - rounding)
    assert np.all(at(lower_cubic(times * h), L) <= np.exp(L) + rounding)


@pytest.mark.parametrize("h", REACHES[3:])
def test_upper_grows_with_the_reach(h):
    L = np.linspace(-h, h, 2001)
    assert np.all(at(upper_cubic(1.2 * h), L) >= at(upper_cubic(h), L) - 1e-13 * np.exp(h))


@pytest.mark.parametrize("h", REACHES[4:])
def test_contacts(h):
    assert at(upper_cubic(h), np.array([-h, 0.0, h])) == pytest.approx(
        np.exp([-h, 0.0, h]), rel=1e-12, abs=1e-13 * np.exp(h)
    )
    half = np.array([-h / 2, h / 2])
    assert at(lower_cubic(h), half) == pytest.approx(np.exp(half), rel=1e-12, abs=1e-13 * np.exp(h))


@pytest.mark.parametrize("h", [0.5, 0.9, 1.1, 1.9, 2.1, 5.0])
def test_series_and_closed_form_agree(h):
    assert upper_cubic(h) == pytest.approx(cubic(h, True), rel=1e-11)
    assert lower_cubic(h) == pytest.approx(cubic(h, False), rel=1e-11)


@pytest.mark.parametrize("h", [1e-160, 1e-200, 1e-300, 5e-324])
def test_an_interval_whose_square_is_no_double_has_the_cubic_of_a_point(h):
    assert upper_cubic(h) == pytest.approx((1.0, 1.0, 0.5, 1 / 6))
