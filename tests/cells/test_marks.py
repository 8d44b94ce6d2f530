"""Features in pieces: where they are highest over cells is never below what the rule takes, also between whole numbers, which it does not tell from others."""

from fractions import Fraction

import numpy as np
import pytest

from likewise.cells.feature_maxima import Marks
from likewise.spec.pieces import PiecewisePolynomial

# x (3 - x) up to 4, which turns at 3/2; then (x - 13/2)^2, which turns at 13/2.
CURVE = PiecewisePolynomial(
    cuts=(Fraction(4),),
    polynomials=((Fraction(0), Fraction(3), Fraction(-1)), (Fraction(169, 4), Fraction(-13), Fraction(1))),
)


@pytest.mark.parametrize(("factor", "lo", "hi", "value"), [
    (1.0, 0, 3, 9 / 4), (1.0, 2, 3, 2.0), (1.0, 0, 1, 2.0), (-1.0, 5, 9, 0.0), (-1.0, 7, 9, -1 / 4), (-2.0, 4, 9, 8.0), (1.0, 5, 9, 25 / 4),
])  # fmt: skip
def test_integers_are_as_high_as_numbers_between_them(factor, lo, hi, value):
    for whole in (True, False):
        if lo == 5 and not whole:
            continue  # just after the cut
        marks = Marks(CURVE, 0.0, 9.0, whole=whole, apart=None)
        found, code = marks.highest(np.array([factor]), np.array([float(lo)]), np.array([float(hi)]))
        assert found[0] == pytest.approx(value)
        assert lo <= code[0] <= hi
        assert not whole or code[0] == np.floor(code[0])
