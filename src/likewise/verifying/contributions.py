"""Contributions: which of the features in which a pair differs makes how much of its gap.

Let x and x' be the pair, s the score, and let x[k <- x'] be x with the value that x' has of feature k. Of a feature k in which the two differ

    from_first  = s(x) - s(x[k <- x'])         what x loses by that feature alone
    from_second = s(x'[k <- x]) - s(x')        what x' gains by it alone

Of a sum of functions of one feature each the two are the same number, the difference of the feature's terms, and they add up to the gap
s(x) - s(x'): `additive`. Of any other score they are two looks at it, one feature at a time; what they miss of the gap is owed to features
together. All of it is the exact difference of exact scores (of enclosures of 128 bits, where scores are irrational), rounded once.

For decisions among several classes there is no one score whose gap it would be, and so there are no contributions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.model.body import Affine
from likewise.model.cases import DecisionCase
from likewise.model.enclosure import FIRST_BITS
from likewise.spec.terms import nearest

if TYPE_CHECKING:
    from likewise.search.problem import Witness
    from likewise.verifying.classes import PreparedClasses
    from likewise.verifying.preparing import Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one feature makes of the gap, taken out of the first individual and put into the second."""

    feature: str
    from_first: float
    from_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributions:
    """Of every feature in which a pair differs; `gap` is the difference of the two scores."""

    gap: float
    additive: bool
    parts: tuple[Contribution, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        parts = [
            {"feature": part.feature, "from_first": part.from_first, "from_second": part.from_second}
            for part in self.parts
        ]
        return {"gap": self.gap, "additive": self.additive, "parts": parts}


def contributions_of(prepared: Prepared, witness: Witness) -> Contributions:
    """Of a model of one score, in the order and the sense of `Prepared.ordered`."""
    (first, _), (second, _) = prepared.ordered(witness)
    sign = -1 if prepared.mirrored else 1

    def score(codes: Sequence[Fraction]) -> Fraction:
        return sign * prepared.problem.oracle.enclose(codes, FIRST_BITS).middle

    return _between(
        score, first, second, prepared.pairs.space.names, isinstance(prepared.imported.model.body, Affine)
    )


def class_contributions_of(prepared: PreparedClasses, witness: Witness) -> Contributions | None:
    """Of the class whose gap is too large; None for decisions."""
    case = witness.case
    if case is None or isinstance(case, DecisionCase):
        return None

    def score(codes: Sequence[Fraction]) -> Fraction:
        return case.signal(prepared.oracles.enclose(codes, FIRST_BITS)).middle

    bodies = prepared.imported.model.bodies
    additive = isinstance(bodies, tuple) and all(isinstance(body, Affine) for body in bodies)
    return _between(score, witness.x, witness.other, prepared.pairs.space.names, additive)


def _between(
    score: Callable[[Sequence[Fraction]], Fraction],
    first: Sequence[float],
    second: Sequence[float],
    names: Sequence[str],
    additive: bool,
) -> Contributions:
    one, two = [Fraction(code) for code in first], [Fraction(code) for code in second]
    high, low = score(one), score(two)
    parts = [
        Contribution(
            feature=name,
            from_first=nearest(high - score([*one[:k], two[k], *one[k + 1 :]])),
            from_second=nearest(score([*two[:k], one[k], *two[k + 1 :]]) - low),
        )
        for k, name in enumerate(names)
        if one[k] != two[k]
    ]
    return Contributions(gap=nearest(high - low), additive=additive or len(parts) == 1, parts=tuple(parts))
