"""The lower weighted median of several scores (section 24), and by how much it can rise or fall where limits of the scores are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from likewise_check.core.fields import Rejected, array_of, record, text
from likewise_check.core.numbers import number


class Limits(NamedTuple):
    """Of one score at x and at x', and what it falls and rises by at most from x to x', where that is known."""

    low: Fraction
    high: Fraction
    other_low: Fraction
    other_high: Fraction
    fall: Fraction | None
    rise: Fraction | None
    opened: tuple[bool, bool] = (False, False)  # whether the lower limits themselves are left out

    @property
    def ends(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """What the score is between."""
        return self.low, self.high, self.other_low, self.other_high

    def turned(self) -> "Limits":
        """With x and x' in each other's places."""
        return Limits(
            self.other_low, self.other_high, self.low, self.high, self.rise, self.fall, self.opened[::-1]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Median:
    """offset + slope M(z)."""

    weights: tuple[Fraction, ...]
    slope: Fraction
    offset: Fraction

    def at(self, values: Sequence[Fraction]) -> Fraction:
        """M itself: the smallest value up to which there is half of the weight."""
        weight = Fraction(0)
        half = sum(self.weights, Fraction(0)) / 2
        order = sorted(range(len(values)), key=values.__getitem__)
        for k in order:
            weight += self.weights[k]
            if weight >= half:
                return values[k]
        return values[order[-1]]

    def largest(self, a: Fraction, b: Fraction, limits: Sequence[Limits]) -> Fraction:
        """At least a M(z) - b M(z'), a and b not negative."""
        both = min(a, b)
        top, bottom = self.at([one.high for one in limits]), self.at([one.other_low for one in limits])
        return both * self._fall(limits, top - bottom) + (a - both) * top - (b - both) * bottom

    def _fall(self, limits: Sequence[Limits], apart: Fraction) -> Fraction:
        """At least M(z) - M(z'), which is at most `apart`: both medians are those of scores that are clipped to where medians can be."""
        least = min(self.at([one.low for one in limits]), self.at([one.other_low for one in limits]))
        most = max(self.at([one.high for one in limits]), self.at([one.other_high for one in limits]))
        falls = []
        for one in limits:
            fall = min(max(one.high, least), most) - min(max(one.other_low, least), most)
            falls.append(fall if one.fall is None else min(fall, max(Fraction(0), one.fall)))
        return min(apart, max(falls))


def read_median(item: object, inner: int) -> Median:
    """The outer function of so many scores."""
    _, weights, slope, offset = record(
        item,
        "the outer function",
        kind=text,
        weights=array_of(number, inner),
        slope=number,
        offset=number,
    )
    if any(weight <= 0 for weight in weights) or slope == 0:
        raise Rejected("a median must have weights above 0, and a slope other than 0")
    return Median(weights=tuple(weights), slope=slope, offset=offset)
