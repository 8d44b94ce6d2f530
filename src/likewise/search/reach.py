"""Reach: how far a sum of one-feature terms can rise, or fall, within a distance of one individual.

Of those who are similar to x the highest score is  max sum_k g_k(x'_k)  with  sum_k cost_k(x_k, x'_k)^power <= bound. For any weight w >= 0

    sum_k max over x'_k ( g_k(x'_k) - g_k(x_k) - w cost_k^power )  +  w bound

is at least what can be gained, one feature at a time; the best w is where what attains it is just as far apart as it may be, and is found by halving, in float64. Its bound is
computed anew in rationals, so it is proved. What attains it is near enough on one side of the best w; what is left of the distance is spent on the features that gain most by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.search.extremes import exact_codes, is_linear, is_separable
from likewise.spec.numbers import double_below

if TYPE_CHECKING:
    from likewise.families.separable import SeparableJudge
    from likewise.search.inquiry import Inquiry
    from likewise.spec.distance import Distance
    from likewise.spec.pairs import PairSpace

DOUBLINGS, HALVINGS = 60, 40  # of the weight
NEARLY_ALL = 1 - 2.0**-40  # of what is left, which is spent: sums of float64 are rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """At most how much a score can gain, and somebody who gains nearly that."""

    most: Fraction
    codes: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberTerm:
    """A linear term of a number: `gain` for each 1 that it moves the right way, up to `most`, at a cost of `each` to the power."""

    feature: int
    code: Fraction
    way: int
    gain: Fraction
    each: Fraction  # what a difference of 1 costs, to the power
    most: Fraction
    whole: bool

    def best(self, weight: Fraction, power: int) -> Fraction:
        """The largest gain less the weighted cost."""
        if not weight:
            return self.gain * self.most
        price = weight * self.each
        if power == 1:
            return max(self.gain - price, Fraction(0)) * self.most
        at = min(self.gain / (2 * price), self.most)
        tried = [at]
        if self.whole:
            tried = [Fraction(math.floor(at)), min(Fraction(math.floor(at) + 1), self.most)]
        return max(self.gain * d - price * d * d for d in tried)

    def move(self, weight: float, power: int) -> float:
        """Where that is, nearly, and no further."""
        gain, price, most = float(self.gain), weight * float(self.each), float(self.most)
        if power == 1 or not price:
            return most if gain > price else 0.0
        at = min(gain / (2 * price), most)
        return float(math.floor(at)) if self.whole else at

    def reach(self, room: Fraction, power: int) -> float:
        """How far it can move if it may cost so much."""
        far = float(room) / float(self.each)
        far = min((far if power == 1 else math.sqrt(far)) * NEARLY_ALL, float(self.most))
        if not self.whole:
            return far
        steps = math.floor(far) + 1  # may be exactly what the room allows
        fits = steps <= self.most and Fraction(steps) ** power * self.each <= room
        return float(steps if fits else steps - 1)

    def at(self, distance: float) -> float:
        """The code so far away, or a double just before it."""
        code = self.code + self.way * Fraction(distance)
        return double_below(code) if self.way > 0 else -double_below(-code)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTerm:
    """A term that is looked up at all codes that may stand beside a row's own: what each gains, and what it costs to the power."""

    feature: int
    codes: list[Fraction]
    gains: list[Fraction]
    costs: list[Fraction]

    def best(self, weight: Fraction) -> Fraction:
        return max(gain - weight * cost for gain, cost in zip(self.gains, self.costs, strict=True))

    def choose(self, weight: float) -> int:
        """The place of the code with the largest gain less the weighted cost; of several, the cheapest."""
        worth = [
            (float(gain) - weight * float(cost), -float(cost))
            for gain, cost in zip(self.gains, self.costs, strict=True)
        ]
        return worth.index(max(worth))


class FeatureReach:
    """What single features can gain, and what that costs, for sums whose differing features no constraint speaks of."""

    def __init__(self, pairs: PairSpace, sums: SeparableJudge, distance: Distance) -> None:
        self.pairs, self.sums, self.distance = pairs, sums, distance

    def part(self, k: int, code: Fraction, sign: int) -> NumberTerm | ListedTerm:
        """One feature."""
        pairs, term, cost = self.pairs, self.sums.score.terms[k], self.distance.costs[k]
        codes = exact_codes(pairs, self.sums, k, code)
        line, relation = is_linear(self.sums, k), pairs.relations[k]
        if line and cost is not None and cost.each is not None and relation.kind != "pairs":
            slope, (low, high) = sign * term.slope, (codes[0], codes[-1])
            return NumberTerm(
                feature=k,
                code=code,
                way=1 if slope >= 0 else -1,
                gain=abs(slope),
                each=cost.each**self.distance.power,
                most=high - code if slope >= 0 else code - low,
                whole=pairs.variables[pairs.first[k]].discrete,
            )
        if line and cost is not None:  # levels whose term is a line
            variable = pairs.variables[pairs.first[k]]
            every = (Fraction(at) for at in range(int(variable.lo), int(variable.hi) + 1))
            codes = [other for other in every if relation.allows(code, other)]
        here = term.exact(code)
        return ListedTerm(
            feature=k,
            codes=codes,
            gains=[sign * (term.exact(other) - here) for other in codes],
            costs=[
                Fraction(0) if cost is None else cost.at(code, other) ** self.distance.power
                for other in codes
            ],
        )


class SumReach:
    """The reach of any individual, for sums whose differing features no constraint speaks of."""

    def __init__(self, pairs: PairSpace, sums: SeparableJudge, moving: tuple[int, ...], distance: Distance):
        self.sums, self.moving, self.distance = sums, moving, distance
        self.features = FeatureReach(pairs, sums, distance)

    @classmethod
    def of(cls, inquiry: Inquiry) -> SumReach | None:
        """None where the score is no such sum, or the distance has forms of several features."""
        pairs, sums, moving = inquiry.pairs, inquiry.judge.separable, inquiry.moving
        distance = pairs.distance
        if sums is None or distance is None or distance.forms or inquiry.snap_codes is not None:
            return None
        if not is_separable(pairs, sums, moving):
            return None
        return cls(pairs, sums, moving, distance)

    def reached(self, codes: list[Fraction], sign: int) -> Reached:
        """How far the score of an individual can rise (`sign` 1) or fall (-1)."""
        power, bound = self.distance.power, self.distance.bound
        gained, found = Fraction(0), [float(code) for code in codes]
        numbers: list[NumberTerm] = []
        listed: list[ListedTerm] = []
        for k in self.moving:
            part = self.features.part(k, codes[k], sign)
            if isinstance(part, NumberTerm):
                numbers.append(part)
            elif self.distance.costs[k] is not None:
                listed.append(part)
            else:
                gained += max(part.gains)
                found[k] = representable(part.codes[part.gains.index(max(part.gains))], codes[k])
        weight = Fraction(self._best_weight(numbers, listed))
        most = gained + weight * bound
        most += sum((one.best(weight, power) for one in numbers), Fraction(0))
        most += sum((one.best(weight) for one in listed), Fraction(0))
        self._spend(float(weight), numbers, listed, found)
        return Reached(most=most, codes=found)

    def _best_weight(self, numbers: list[NumberTerm], listed: list[ListedTerm]) -> float:
        """The least weight at which what attains its bound is near enough, nearly."""
        power, bound = self.distance.power, float(self.distance.bound) * NEARLY_ALL
        lines = [(float(one.gain), float(one.each), float(one.most), one.whole) for one in numbers]
        tables = [[(float(g), float(c)) for g, c in zip(one.gains, one.costs, strict=True)] for one in listed]

        def near(weight: float) -> bool:
            spent = sum(max((g - weight * c, -c) for g, c in table)[1] for table in tables)
            spent = -spent
            for gain, each, most, whole in lines:
                if power == 1 or not weight:
                    spent += each * most**power if gain > weight * each else 0.0
                else:
                    at = min(gain / (2 * weight * each), most)
                    spent += each * (math.floor(at) if whole else at) ** 2
            return spent <= bound

        if near(0.0):
            return 0.0
        low, high = 0.0, 1.0
        for _ in range(DOUBLINGS):
            if near(high):
                break
            low, high = high, 2 * high
        for _ in range(HALVINGS):
            middle = low / 2 + high / 2
            low, high = (low, middle) if near(middle) else (middle, high)
        return high

    def _spend(
        self, weight: float, numbers: list[NumberTerm], listed: list[ListedTerm], found: list[float]
    ) -> None:
        """Move what pays at this weight, then what is left, the best first. What is spent is counted exactly: whole numbers and levels may use up all of it."""
        power, left = self.distance.power, self.distance.bound
        for one in listed:
            place = one.choose(weight)
            left -= one.costs[place]
            found[one.feature] = float(one.codes[place])
        moves = {}
        for number in numbers:
            moves[number.feature] = number.move(weight, power)
            left -= Fraction(moves[number.feature]) ** power * number.each
        for number in sorted(numbers, key=lambda one: -one.gain / one.each):
            before = moves[number.feature]
            room = left + Fraction(before) ** power * number.each
            far = max(number.reach(max(room, Fraction(0)), power), before)
            left = room - Fraction(far) ** power * number.each
            found[number.feature] = number.at(far)


def representable(code: Fraction, own: Fraction) -> float:
    """A code, or the double next to it on the side of a row's own."""
    return double_below(code) if code >= own else -double_below(-code)
