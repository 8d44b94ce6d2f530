"""Levels within a tolerance: both maxima over windows are those over all pairs of positions."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.tiers import examples

from likewise.cells.feature_maxima import best_levels
from likewise.cells.separable import _levels_maximum
from likewise.spec.similarity import Relation
from likewise.spec.terms import Term

tables = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-4, 4), min_size=n, max_size=n)] * 2)
)


@st.composite
def cases(draw):
    u, v = draw(tables)
    ends = [sorted(draw(st.tuples(*[st.integers(0, len(u) - 1)] * 2))) for _ in range(2)]
    return u, v, ends, draw(st.integers(1, 14))


@examples(300, deadline=None)
@given(case=cases())
def test_windows_find_what_looking_at_all_pairs_finds(case):
    u, v, (here, there), steps = case
    pairs = [
        (i, j)
        for i in range(here[0], here[1] + 1)
        for j in range(there[0], there[1] + 1)
        if abs(i - j) <= steps
    ]
    expected = max((u[i] + v[j] for i, j in pairs), default=None)
    relation = Relation("within", Fraction(steps))
    terms = [Term(table=tuple(Fraction(value) for value in table)) for table in (u, v)]
    assert _levels_maximum(*terms, relation, tuple(here), tuple(there)) == expected
    ends = [(np.array([float(lo)]), np.array([float(hi)])) for lo, hi in (here, there)]
    total, x, y = best_levels(np.array([u], float), np.array([v], float), relation, *ends)
    if expected is None:
        assert total[0] == -np.inf
    else:
        assert total[0] == expected
        assert (int(x[0]), int(y[0])) in pairs
        assert u[int(x[0])] + v[int(y[0])] == expected
