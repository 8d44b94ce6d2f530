"""The last step of every rule with a bound: a constant plus the sum of one maximum a group, and what that says of a cell.

A line, or a majorant of it, is a constant plus functions of one *group* of variables each that nothing ties to other groups: a feature (`separable`), an axis or the
axes of a code (`polynomial`, `sos`, `kernel`), a tree. Its maximum over the cell is the constant plus the sum of the groups' maxima; minus infinity (None) if a
group has no point at all. Where that is below what every witness exceeds, there is no witness.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import overload

from likewise_check.core.cells import NO_PAIR, Holds, LeafRefused
from likewise_check.core.numbers import Exact, shown


@overload
def sum_maxima(constant: int, maxima: Iterable[int]) -> int: ...
@overload
def sum_maxima(constant: Exact, maxima: Iterable[Exact]) -> Exact: ...
@overload
def sum_maxima(constant: Exact, maxima: Iterable[Exact | None]) -> Exact | None: ...
def sum_maxima(constant: Exact, maxima: Iterable[Exact | None]) -> Exact | None:
    """The constant plus the maxima of the groups; None if one of them is."""
    total = constant
    for largest in maxima:
        if largest is None:
            return None
        total += largest
    return total


def conclude(
    rule: str,
    bound: Exact | None,
    limit: Exact,
    *,
    closed: bool,
    unit: Exact = 1,
    spread: Fraction | None = None,
    side: str | None = None,
) -> Holds:
    """That a leaf holds if the bound is at most the limit, or below it if `closed`; both are in units of 1 / unit.

    Its clearance is their distance by the spread, how far the line moves where scores move by 1; 0 without one.
    """
    if bound is None:
        return NO_PAIR
    if bound > limit or (closed and bound == limit):
        beyond, border = (shown(Fraction(number) / unit) for number in (bound - limit, limit))
        raise LeafRefused(
            f"{rule}: the line does not separate, its bound is not below {border}: it exceeds it by {beyond}"
        )
    clearance = (limit - bound) / (spread * unit) if spread else Fraction(0)
    return Holds(clearance=clearance, side=side)
