"""A paired feature of the rule `kernel`: its two copies x, x' in coordinates that they share (section 7, "two copies").

    u = (x + x')/2 = u_0 + w_u y_u,     d = (x' - x)/2 = d_0 + w_d y_d,     x = u - d,     x' = u + d,     y_p = y_u y_d,

    D_t(x)  = D_t(x_0)  + 2 (A x_0  - B_t) (w_u y_u - w_d y_d) + A (w_u^2 y_u^2 + w_d^2 y_d^2) - 2 A w_u w_d y_p,     x_0  = u_0 - d_0,
    D_t(x') = D_t(x'_0) + 2 (A x'_0 - B_t) (w_u y_u + w_d y_d) + A (w_u^2 y_u^2 + w_d^2 y_d^2) + 2 A w_u w_d y_p,     x'_0 = u_0 + d_0.

The intervals of u and d: `paired`. All of this is exact; D_t and each load are rounded down to exponent units, so that an exponent is off by
at most 4 of them (`kernel`, step 7).
"""

from dataclasses import dataclass
from fractions import Fraction

from likewise_check.core.cells import Box
from likewise_check.packs.axes import coordinates
from likewise_check.packs.kernel.axes import Axis, Numeric
from likewise_check.packs.kernel.cubics import EXPONENT, WEIGHT


@dataclass(frozen=True, slots=True, kw_only=True)
class Couple:
    """What a paired feature adds in a box: to e~_t and h~_t of both copies, to g~_t, and its axes u, d, p where they exist."""

    decays: tuple[list[int], list[int]]
    heights: tuple[list[int], list[int]]
    apart: list[int]
    axes: tuple[Axis | None, Axis | None, Axis | None]


def make_couple(feature: Numeric, box: Box) -> Couple:
    """The couple of a feature in a box that is not empty."""
    (u, width), (d, gap) = ((Fraction(lo + hi) / 2, Fraction(hi - lo) / 2) for lo, hi in coordinates(box))
    at_u = at_d = at_p = None
    if width and not feature.flat:
        loads = feature.loads(u - d, width) + feature.loads(u + d, width)
        at_u = Axis(loads=loads, curve=feature.curve(width, width, WEIGHT))
    if gap and not feature.flat:
        loads = feature.loads(u - d, -gap) + feature.loads(u + d, gap)
        at_d = Axis(loads=loads, curve=feature.curve(gap, gap, WEIGHT))
    terms = feature.terms
    if at_u and at_d:
        load, _ = feature.curve(2 * width, gap, EXPONENT)
        at_p = Axis(loads=[load] * terms + [-load] * terms, is_product=True)
    sizes = [0] * (2 * terms)
    apart = [0] * terms
    for axis in filter(None, (at_u, at_d, at_p)):
        sizes = [old + abs(load) for old, load in zip(sizes, axis.loads, strict=True)]
        pairs = zip(axis.loads[:terms], axis.loads[terms:], strict=True)
        apart = [old + abs(load - other) for old, (load, other) in zip(apart, pairs, strict=True)]
    return Couple(
        decays=(feature.falls(u - d), feature.falls(u + d)),
        heights=(sizes[:terms], sizes[terms:]),
        apart=apart,
        axes=(at_u, at_d, at_p),
    )
