"""Merging and absorbing: the same individuals, in fewer boxes that do not overlap."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import likewise as lw
from likewise.analysis.region_merge import Piece, absorb_pieces, merge_pieces, reduce_pieces
from likewise.spec.boxes import Box, parse_box

SPACE = lw.Space(
    {"age": lw.Integer(0, 5), "job": lw.Categorical(["a", "b", "c"]), "rank": lw.Ordinal([1, 2, 3, 4])}
)
EVERYBODY = list(itertools.product(range(6), range(3), range(4)))


def piece(rule, kind="fair"):
    box = parse_box(rule, SPACE)
    return Piece(kind=kind, box=box, share=box.share)


def rules(pieces):
    return {one.box.rule for one in pieces}


def test_a_box_across_two_others_is_divided_among_them():
    across = piece("2 <= age <= 3 and job in {a, b} and rank == 1")
    upper, lower = piece("age >= 4 and job == a and rank == 1"), piece("age <= 1 and job == b and rank == 1")
    found = absorb_pieces([across, upper, lower])
    assert rules(found) == {"age >= 2 and job == a and rank == 1", "age <= 3 and job == b and rank == 1"}
    assert sum(one.share for one in found) == across.share + upper.share + lower.share


def test_what_is_left_over_keeps_the_box_as_it_is():
    across = piece("2 <= age <= 3 and rank == 1")
    upper, lower = piece("age >= 4 and job == a and rank == 1"), piece("age <= 1 and job == b and rank == 1")
    assert rules(absorb_pieces([across, upper, lower])) == rules([across, upper, lower])


def test_other_kinds_take_in_nothing():
    across = piece("2 <= age <= 3 and job in {a, b} and rank == 1")
    upper = piece("age >= 4 and job == a and rank == 1", "undecided")
    lower = piece("age <= 1 and job == b and rank == 1", "undecided")
    assert rules(absorb_pieces([across, upper, lower])) == rules([across, upper, lower])


def cut_up(random, box, kinds, depth):
    """A partition by random cuts."""
    k = int(random.integers(3))
    part = box.parts[k]
    values = list(part) if k else list(range(part[0], part[1] + 1))
    if not depth or len(values) < 2:
        return [Piece(kind=str(random.choice(kinds)), box=box, share=box.share)]
    at = int(random.integers(1, len(values)))
    left, right = values[:at], values[at:]
    if not k:
        left, right = [left[0], left[-1]], [right[0], right[-1]]
    return [
        one
        for values in (left, right)
        for one in cut_up(random, box.with_part(k, tuple(values)), kinds, depth - 1)
    ]


@pytest.mark.parametrize("seed", range(40))
def test_everybody_stays_where_they_are(seed):
    random = np.random.default_rng(seed)
    pieces = cut_up(random, Box.whole(SPACE), ["fair", "biased", "undecided"][: seed % 3 + 1], 6)
    order = random.permutation(3).tolist()
    found = reduce_pieces(pieces, order)
    assert len(found) <= len(merge_pieces(pieces, order)) <= len(pieces)
    assert sum((one.share for one in found), Fraction(0)) == 1
    assert all(one.share == one.box.share for one in found)
    kinds = {person: one.kind for one in pieces for person in EVERYBODY if one.box.holds(person)}
    seen = Counter()
    for one in found:
        inside = [person for person in EVERYBODY if one.box.holds(person)]
        seen.update(inside)
        assert {kinds[person] for person in inside} == {one.kind}
        of_parts = [person for part in one.parts for person in EVERYBODY if part.box.holds(person)]
        assert not one.parts or sorted(of_parts) == sorted(inside)
    assert seen == Counter(EVERYBODY)
