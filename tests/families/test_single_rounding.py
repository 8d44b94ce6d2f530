"""Roundings of single precision in sums of weighted columns: sizes that grow in the place of operations say no less than the operations would."""

from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

from likewise.families.affine.rounding import AffineRounding
from likewise.families.family import AffineMap
from likewise.families.program_rounding import SINGLE_AS_DOUBLE

COLUMNS = (Fraction(3), Fraction(1, 7))


def growth(roundings, bits):
    """(1 + 2^-bits)^roundings - 1, in balls."""
    with ctx.workprec(400):
        return (arb(roundings) * (1 + arb(2) ** -bits).log()).exp() - 1


def size(sizes, constant):
    return constant + sum(s * c for s, c in zip(sizes, COLUMNS, strict=True))


def ball(value):
    return arb(fmpq(value.numerator, value.denominator))


KNOWN = [
    AffineRounding(sizes=(Fraction(2), Fraction(5)), constant=Fraction(1, 3), operations=6),
    AffineRounding(sizes=(Fraction(0), Fraction(0)), constant=Fraction(1), operations=1),
    AffineRounding(sizes=(Fraction(1), Fraction(9)), constant=Fraction(0), operations=4000),
]


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("more", [0, 7, SINGLE_AS_DOUBLE, 5 * SINGLE_AS_DOUBLE + 3, 2**42])
def test_more_roundings_are_counted(known, more):
    found = known.with_roundings(more)
    with ctx.workprec(400):
        least = growth(known.operations + more, 53) * ball(size(known.sizes, known.constant))
        assert least * (1 - arb(2) ** -300) <= ball(found.error(COLUMNS))  # equal where operations are added
        assert ball(found.error(COLUMNS)) <= arb("1.01") * least + arb(2) ** -900
    assert found.described


@pytest.mark.parametrize("known", KNOWN)
def test_a_program_in_single_precision_has_every_operation_counted(known):
    found = known.in_single_precision()
    assert found.bits == 24
    for more in (0, 1, 3 * SINGLE_AS_DOUBLE):
        longer = found.with_roundings(more)
        count = known.operations - (-more // SINGLE_AS_DOUBLE)
        least = growth(count, 24) * ball(size(known.sizes, known.constant))
        assert least <= ball(longer.error(COLUMNS))
    assert all(
        large >= SINGLE_AS_DOUBLE * small for large, small in zip(found.sizes, known.sizes, strict=True)
    )


def test_what_is_added_to_a_single_score_is_rounded_like_it():
    known = KNOWN[0].in_single_precision()
    moved = known.rescaled(
        AffineMap(slope=Fraction(2), offset=Fraction(1000), size=Fraction(1000), operations=1)
    )
    assert moved.error(COLUMNS) >= Fraction(1000, 2**24)
    assert not moved.described


def test_too_many_roundings_are_not_described():
    found = KNOWN[0].with_roundings(2**50)
    assert not found.described
    assert not found.bounded
