"""Derivatives of affine scores: their slopes, wherever one is (section 21). They are rounded where a sum takes them for one of its parts; the rule itself reads `exact_slopes`."""

from collections.abc import Sequence
from fractions import Fraction

from likewise_check.core.affine import Affine
from likewise_check.core.fields import Rejected
from likewise_check.packs.intervals import Derivatives, enclose


def exact_slopes(body: Affine, features: Sequence[int]) -> list[Fraction]:
    """The derivatives by these features, all of them numbers."""
    if any(body.curves):
        raise Rejected("slope: the score is in pieces")
    return [Fraction(body.tables[k][0]) for k in features]


def affine_slopes(body: Affine, features: Sequence[int]) -> Derivatives:
    """The same as intervals."""
    found = [enclose(slope) for slope in exact_slopes(body, features)]
    return lambda _: found
