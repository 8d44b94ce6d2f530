"""Damaged files of every format are refused, or say to Likewise what they say to the library."""

import warnings

import pytest
from tests.fuzz.files import BAD, FORMATS, run


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_mutants_are_refused_or_read_alike(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counts = run(name, 60, seed=1)
    assert not any(counts[outcome] for outcome in BAD), counts
    assert counts["refused"] > 15
