"""Contributions: which of the features in which a pair differs makes how much of its gap.

Let x and x' be the pair, s the score, and let x[k <- x'] be x with the value that x' has of feature k. Of a feature k in which the two differ

    from_first  = s(x) - s(x[k <- x'])         what x loses by that feature alone
    from_second = s(x'[k <- x]) - s(x')        what x' gains by it alone

Of a sum of functions of one feature each the two are the same number, the difference of the feature's terms, and they add up to the gap
s(x) - s(x'): `additive`. Of any other score they are two looks at it, one feature at a time; what they miss of the gap is owed to features
together. All of it is the exact difference of exact scores (of enclosures of 128 bits, where scores are irrational), rounded once.

    average     what the feature changes when it is exchanged after some of the others, on average over all orders in which x becomes x'

adds up to the gap whatever the score is. Up to `EXACT_FEATURES` features that is exact, as every mixture of the two is scored once; of more it is the average over
some orders, each with its reverse, and so an approximation.

For decisions among several classes there is no one score whose gap it would be, and so there are no contributions.

They take two exact scores a feature, more than the verdict itself may have taken: so a `ComparedPair` keeps what is needed, and looks when asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from random import Random
from typing import TYPE_CHECKING, Any

from likewise.families.registry import family_of
from likewise.families.scored_model import Model, Scores
from likewise.spec.enclosure import FIRST_BITS
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from likewise.model.cases import Witness
    from likewise.verifying.posed_problem import PosedProblem

Codes = tuple[float, ...]
EXACT_FEATURES = 6  # in which a pair differs: twice as many mixtures are scored for each more
SOME_ORDERS = 4  # for more of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one feature makes of the gap, taken out of the first individual, put into the second, and on average over orders of exchange."""

    feature: str
    from_first: float
    from_second: float
    average: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributions:
    """Of every feature in which a pair differs; `gap` is the difference of the two scores. `approximate` where averages are over some orders only."""

    gap: float
    additive: bool
    parts: tuple[Contribution, ...]
    approximate: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        parts = [
            {
                "feature": part.feature,
                "from_first": part.from_first,
                "from_second": part.from_second,
                "average": part.average,
            }
            for part in self.parts
        ]
        return {
            "gap": self.gap,
            "additive": self.additive,
            "approximate": self.approximate,
            "parts": parts,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPair:
    """A pair by its codes, the higher score first, under a model; of several classes under the score of one, or none of them."""

    model: Model
    names: tuple[str, ...]
    first: Codes
    second: Codes
    of: int | None = None

    def contributions(self) -> Contributions | None:
        """What each differing feature makes of the gap; None where there is no one score."""
        if self.of is None:
            return None
        score = Scores(self.model, len(self.names)).parts[self.of]
        return _contributions_between(
            lambda codes: score.enclose(codes, FIRST_BITS).middle,
            self.first,
            self.second,
            self.names,
            family_of(score).additive,
        )


def compare_features(posed: PosedProblem, witness: Witness) -> ComparedPair:
    """The pair in the order in which it is shown, of several scores with the class whose gap is too large."""
    (first, _), (second, _) = posed.ordered(witness)
    of = witness.case.of if posed.several else 0  # a case of decisions is about two classes
    model, names = posed.imported.model, posed.pairs.space.names
    return ComparedPair(model=model, names=names, first=first, second=second, of=of)


def _contributions_between(
    score: Callable[[Sequence[Fraction]], Fraction],
    first: Sequence[float],
    second: Sequence[float],
    names: Sequence[str],
    additive: bool,
) -> Contributions:
    one, two = [Fraction(code) for code in first], [Fraction(code) for code in second]
    differing = [k for k in range(len(names)) if one[k] != two[k]]
    mixtures = _Mixtures(score, one, two)
    high, low = mixtures(frozenset()), mixtures(frozenset(differing))
    single = additive or len(differing) == 1
    averages = {} if single else _averages(mixtures, differing)
    parts = []
    for k in differing:
        from_first = high - mixtures(frozenset([k]))
        from_second = mixtures(frozenset(differing) - {k}) - low
        parts.append(
            Contribution(
                feature=names[k],
                from_first=nearest_double(from_first),
                from_second=nearest_double(from_second),
                average=nearest_double(averages.get(k, from_first)),
            )
        )
    return Contributions(
        gap=nearest_double(high - low),
        additive=single,
        parts=tuple(parts),
        approximate=not single and len(differing) > EXACT_FEATURES,
    )


class _Mixtures:
    """Scores of the first individual with some of the second's values, each looked up once."""

    def __init__(
        self, score: Callable[[Sequence[Fraction]], Fraction], one: list[Fraction], two: list[Fraction]
    ) -> None:
        self.score, self.one, self.two = score, one, two
        self.known: dict[frozenset[int], Fraction] = {}

    def __call__(self, exchanged: frozenset[int]) -> Fraction:
        if exchanged not in self.known:
            codes = [self.two[k] if k in exchanged else code for k, code in enumerate(self.one)]
            self.known[exchanged] = self.score(codes)
        return self.known[exchanged]


def _averages(mixtures: _Mixtures, differing: list[int]) -> dict[int, Fraction]:
    """What each feature changes on average over orders; they add up to the gap."""
    n, total = len(differing), dict.fromkeys(differing, Fraction(0))
    if n > EXACT_FEATURES:
        orders = _some_orders(differing)
        for order in orders:
            for place, k in enumerate(order):
                before = frozenset(order[:place])
                total[k] += mixtures(before) - mixtures(before | {k})
        return {k: value / len(orders) for k, value in total.items()}
    for size in range(n):  # so many others come first, in an n-th of all orders
        for some in map(frozenset, combinations(differing, size)):
            weight = Fraction(1, n * comb(n - 1, size))
            for k in differing:
                if k not in some:
                    total[k] += weight * (mixtures(some) - mixtures(some | {k}))
    return total


def _some_orders(features: list[int]) -> list[list[int]]:
    """The same ones every time, each with its reverse."""
    random, orders = Random(0), []
    for _ in range(SOME_ORDERS):
        order = random.sample(features, len(features))
        orders += [order, order[::-1]]
    return orders
