"""Rows that are the same are told apart from others by whole numbers, in the order of a sort of rows."""

import numpy as np
import pytest

from likewise.search import neighbours


@pytest.mark.parametrize("most", [2**62, 50])
def test_distinct_rows_are_those_of_a_sort(monkeypatch, most):
    monkeypatch.setattr(neighbours, "MOST_KEYS", most)
    random = np.random.default_rng(0)
    for columns in (1, 5):
        rows = random.integers(-2, 2, (200, columns)) / 3
        _, first, back = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        found = neighbours.distinct_rows(rows)
        assert found[0].tolist() == first.tolist()
        assert found[1].tolist() == back.ravel().tolist()
