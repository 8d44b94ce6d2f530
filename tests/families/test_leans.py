"""Lines of one lean: the same as those of arrays of leans."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from likewise.families.leans import line_at
from likewise.model.witness_set import GapSet, ProbabilitySet

SHARES = st.floats(1e-9, 1 - 1e-9)


@pytest.mark.some_days
@given(
    lean=st.floats(0, 1),
    delta=SHARES,
    slope=st.fractions(Fraction(1, 8), 8, max_denominator=64),
    offset=st.fractions(-4, 4, max_denominator=64),
)
@example(lean=0.5, delta=0.25, slope=Fraction(1), offset=Fraction(0))
@example(lean=0.5, delta=0.75, slope=Fraction(2), offset=Fraction(1))
@example(lean=1e-12, delta=0.5, slope=Fraction(1), offset=Fraction(0))
@example(lean=1.0, delta=1e-9, slope=Fraction(1), offset=Fraction(0))
def test_the_line_of_one_lean_is_that_of_arrays(lean, delta, slope, offset):
    asked = ProbabilitySet(delta=Fraction(delta), slope=slope, offset=offset)
    one = np.array([lean])
    threshold, balance = line_at(asked, lean)
    assert threshold == pytest.approx(float(asked.threshold(one)[0]), rel=1e-9, abs=1e-9)
    assert balance == pytest.approx(float(asked.balance(one)[0]), rel=1e-9, abs=1e-9)


def test_lines_of_polygons_are_their_own():
    asked = GapSet(delta=Fraction(1, 3))
    threshold, balance = line_at(asked, 0.5)
    assert threshold == float(asked.threshold(np.array([0.5]))[0])
    assert balance == float(asked.balance(np.array([0.5]))[0])
