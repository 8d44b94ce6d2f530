"""Whether a pair breaks a property of a model with classes (section 10), from enclosures of its scores that are narrowed until they decide.

Rational scores are their own enclosures, so one look decides decisions and gaps. P_c = exp(f_c) / sum_k exp(f_k) is irrational in general. With d_k = f_k - f_c, m
of them, and S = sum_k exp(d_k), P_c = 1 / (1 + S), and P_c(x) - P_c(x') = delta means that

    (1 - delta) sum exp(d'_k)  -  (1 + delta) sum exp(d_k)  -  delta sum exp(d_k + d'_l)  -  delta  =  0.

Exponentials of different rationals are linearly independent over the rationals (Lindemann and Weierstrass): for rational scores all factors of one exponential add up to 0, so all of
them do: -delta (1 + m)^2 = 0. So delta = 0, and the d_k and d'_k are the same numbers, perhaps in another order, which is looked for first; enough precision decides all else.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TypeAlias

from likewise_check.core.body import Body, Codes, Ends
from likewise_check.core.fields import Rejected
from likewise_check.core.logarithm import exp_minus
from likewise_check.core.properties import Property
from likewise_check.packs.classes.classes import Classes

_PRECISIONS = (64, 256, 1024)
MOST_INDIVIDUALS = (
    1 << 12
)  # whose scores are kept between pairs; dropped beyond, which changes nothing but time

AllEnds: TypeAlias = Sequence[Ends]  # an enclosure a score


class ClassOutcome:
    """What pairs come to, under one body and property; `only` are the classes i and j of a case, if one is asked about."""

    def __init__(
        self, classes: Classes, body: Body, asked: Property, only: tuple[int, int] | None = None
    ) -> None:
        self.classes, self.body, self.asked, self.only = classes, body, asked, only
        self._ends = lru_cache(MOST_INDIVIDUALS)(body.ends)

    def broken_by(self, x: Codes, other: Codes) -> bool:
        """Whether the pair breaks the property, or what the case has of it."""
        if x == other:
            return False
        asked = self.asked.at_pair(x, other)
        for bits in _PRECISIONS:
            known = self._decide(asked, self._ends(tuple(x), bits), self._ends(tuple(other), bits), bits)
            if known is not None:
                return known
        raise Rejected(f"scores are on the border of a witness as far as {_PRECISIONS[-1]} bits can tell")

    def _decide(self, pair: Property, first: AllEnds, second: AllEnds, bits: int) -> bool | None:
        """Whether a pair with these scores is a witness; None if the enclosures do not tell."""
        of, everyone = self.asked.of, range(self.classes.count)
        if self.asked.kind == "decision":
            own = [i for i in everyone if self.only is None or i == self.only[0]]
            others = [j for j in everyone if self.only is None or j == self.only[1]]
            at_x, at_other = self._members(first, own), self._members(second, others)
            pairs = product(at_x.items(), at_other.items())
            either = not self.asked.one_way
            found = [
                sure and so
                for (i, sure), (j, so) in pairs
                if i != j and (of in (None, i) or (either and of == j))
            ]
        else:
            asked = [c for c in everyone if of in (None, c) and (self.only is None or c == self.only[0])]
            gaps = [self._are_apart(pair, first, second, c, bits) for c in asked]
            found = [sure is True for sure in gaps if sure is not False]
        return any(found) or (None if found else False)

    def _members(self, ends: AllEnds, classes: Sequence[int]) -> dict[int, bool]:
        """Which of these classes the individual may have, with the margin, and whether it surely has."""
        if self.classes.voting:
            ways = [[0, 1] if low <= 0 < high else [int(low > 0)] for low, high in ends]
            won = {self.classes.winner(_vote_number(votes)) for votes in product(*ways)}
            return {i: len(won) == 1 for i in classes if i in won}
        found: dict[int, bool] = {}
        for i in classes:
            sure = self._leads(ends, i)
            if sure is not False:
                found[i] = sure is True
        return found

    def _leads(self, ends: AllEnds, i: int) -> bool | None:
        """Whether all conditions of class i hold, with the margin."""
        margin, (low, high), sure = self.asked.bound, ends[i], True
        for k, (low_other, high_other) in enumerate(ends):
            least, most = low - high_other, high - low_other
            if k != i and (most < margin or (most == margin and k < i)):
                return False
            sure = sure and (k == i or least > margin or (least == margin and k > i))
        return sure or None

    def _are_apart(self, pair: Property, first: AllEnds, second: AllEnds, c: int, bits: int) -> bool | None:
        """Whether the scores or probabilities of class c are more than delta apart, and than the pair is allowed."""
        (low, high), (low_other, high_other) = first[c], second[c]
        if self.asked.kind == "probability" and self.classes.link == "softmax":
            if _same_gaps(first, second, c):
                return False
            (low, high), (low_other, high_other) = (softmax_ends(ends, c, bits) for ends in (first, second))
        if pair.exceeded_by(low - high_other):
            return True
        return None if pair.exceeded_by(high - low_other) else False


def _vote_number(votes: Sequence[int]) -> int:
    return sum(up << s for s, up in enumerate(votes))


def _same_gaps(first: AllEnds, second: AllEnds, c: int) -> bool:
    """Whether all scores are rational and the f_k - f_c are the same numbers on both sides."""
    if any(low != high for low, high in [*first, *second]):
        return False
    gaps = (sorted(low - ends[c][0] for low, _ in ends) for ends in (first, second))
    return next(gaps) == next(gaps)


def softmax_ends(ends: AllEnds, c: int, bits: int) -> tuple[Fraction, Fraction]:
    """P_c, enclosed: it grows with f_c and falls with the other scores."""
    lowest = [high if k != c else low for k, (low, high) in enumerate(ends)]
    highest = [low if k != c else high for k, (low, high) in enumerate(ends)]
    return _softmax_share(lowest, c, bits)[0], _softmax_share(highest, c, bits)[1]


def _softmax_share(scores: Sequence[Fraction], c: int, bits: int) -> tuple[Fraction, Fraction]:
    """exp(f_c) / sum_k exp(f_k), enclosed; the largest exponential counts as 1."""
    top = max(scores)
    parts = [exp_minus(top - score, bits) for score in scores]
    low, high = parts[c]
    rest_low = sum(below for k, (below, _) in enumerate(parts) if k != c)
    rest_high = sum(above for k, (_, above) in enumerate(parts) if k != c)
    return low / (low + rest_high), high / (high + rest_low)
