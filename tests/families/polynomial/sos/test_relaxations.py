"""Relaxations: which generators they use."""

from likewise.families.polynomial.sos.cube import cube_of
from likewise.families.polynomial.sos.relaxations import make_relaxation


def test_a_constraint_that_is_zero_all_over_the_cell_is_left_out():
    """An implication whose levels are fixed in a cell may be exactly met there: it says nothing, and has no scale."""
    cube = cube_of([None], constraints={0: {(): 0}, 1: {(0,): 1}})
    for name in ("shor", "d3"):
        used = make_relaxation(name, cube).multipliers
        assert ((-1, 1),) in used
        assert ((-1, 0),) not in used
