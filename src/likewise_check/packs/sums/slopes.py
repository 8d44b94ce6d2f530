"""Derivatives of sums of scores over boxes of individuals (section 21): those of the parts, times the slopes of their links."""

from collections.abc import Sequence
from fractions import Fraction

from likewise_check.core.fields import Rejected
from likewise_check.core.registry import find_entry, known_names
from likewise_check.packs.intervals import Derivatives, IndividualBox, Interval, enclose, plus, times
from likewise_check.packs.sums.body import Sum
from likewise_check.packs.sums.links import Logistic


def sum_slopes(body: Sum, features: Sequence[int]) -> Derivatives:
    """What has them by these features, all of them numbers."""
    parts = []
    for part, weight in zip(body.parts, body.weights, strict=True):
        if not weight:
            continue
        if part.link is not None and not isinstance(part.link, Logistic):
            raise Rejected("slope: a link that is a table or a chain has no slopes")
        steepest = Fraction(1) if part.link is None else part.link.slope / 4
        factor = enclose(weight) if part.link is None else _sorted_ends(weight * steepest)
        if part.body.kind not in known_names("SLOPES"):
            raise Rejected(f"slope: a part of the sum is of the kind {part.body.kind}")
        parts.append((factor, find_entry("SLOPES", part.body.kind)(part.body, features)))

    def added(box: IndividualBox) -> list[Interval]:
        total = [(0, 0)] * len(features)
        for factor, of in parts:
            own = [times(factor, value) for value in of(box)]
            total = [plus(one, other) for one, other in zip(total, own, strict=True)]
        return total

    return added


def _sorted_ends(end: Fraction) -> Interval:
    """From 0 to a number, whichever is less first."""
    return enclose(min(end, Fraction(0)), max(end, Fraction(0)))
