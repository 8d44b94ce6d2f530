"""What a leaf has to show: a lemma, that no pair of its cell has (g(x), g(x')) in W (section 2).

g = slope F + offset at x and slope G + offset at x', F and G two bodies of one score each. In a model with one score both are its body: the lemma is the
whole claim. In the cases of a model with classes (section 10) they differ, and may have other conditions than s > margin and s' <= -margin strict.
A lemma about all scores of a model at once has an `outcome` of its own in the place of W.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from likewise_check.core.body import Body, Codes, Ends
from likewise_check.core.fields import Rejected
from likewise_check.core.properties import Property
from likewise_check.core.space import Relation, Space

# Beyond the last of these, enclosures that still do not decide are given up.
_PRECISIONS = (64, 256, 1024)


class Outcome(Protocol):
    """What a pair comes to."""

    def broken_by(self, x: Codes, other: Codes) -> bool:
        """Whether the pair is a witness."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lemma:
    """F and G, how g is made of them, and the property whose W counts."""

    space: Space
    similarity: tuple[Relation, ...]
    first: Body  # gives the score of x
    second: Body  # and of x': the same object where F = G
    asked: Property
    slope: Fraction = Fraction(1)  # not 0
    offset: Fraction = Fraction(0)
    strict: tuple[bool, bool] = (True, False)  # which of the two conditions of a decision are
    steps: tuple[int, int] = (1, 1)  # how far F(x) and G(x') move where each score moves by 1
    outcome: Outcome | None = None  # of all scores at once

    def gauge(self, score: Fraction) -> Fraction:
        """g at an individual with this score."""
        return self.slope * score + self.offset

    def closed(self, a: Fraction, b: Fraction) -> bool:
        """Whether a witness may have a g(x) - b g(x') = T and not more: neither of its conditions that count is strict."""
        return not ((a > 0 and self.strict[0]) or (b > 0 and self.strict[1]))

    def spread(self, a: Fraction, b: Fraction) -> Fraction:
        """How far a g(x) - b g(x') moves at most where each score moves by 1."""
        return a * self.steps[0] + b * self.steps[1]

    def broken_by(self, x: Codes, other: Codes) -> bool:
        """Whether a pair is a witness."""
        if self.outcome:
            return self.outcome.broken_by(x, other)
        if x == other and self.asked.bound >= 0:
            return False  # no (s, s) is in W
        asked = self.asked.at_pair(x, other)
        for bits in _PRECISIONS:
            known = self._broken_between(asked, self.first.ends(x, bits)[0], self.second.ends(other, bits)[0])
            if known is not None:
                return known
        raise Rejected(f"two scores are on the border of a witness as far as {_PRECISIONS[-1]} bits can tell")

    def _broken_between(self, asked: Property, first: Ends, second: Ends) -> bool | None:
        """The same from enclosures of the scores, None if they do not tell: as W is monotone, by their worst and their best corner."""
        low, high = sorted(map(self.gauge, first))
        low_other, high_other = sorted(map(self.gauge, second))
        if asked.broken_by(low, high_other):
            return True
        told = low == high and low_other == high_other
        return None if not told and asked.broken_by(high, low_other) else False
