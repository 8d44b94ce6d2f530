"""Contributions: which of the features in which a pair differs makes how much of its gap.

Let x and x' be the pair, s the score, and let x[k <- x'] be x with the value that x' has of feature k. Of a feature k in which the two differ

    from_first  = s(x) - s(x[k <- x'])         what x loses by that feature alone
    from_second = s(x'[k <- x]) - s(x')        what x' gains by it alone

Of a sum of functions of one feature each the two are the same number, the difference of the feature's terms, and they add up to the gap
s(x) - s(x'): `additive`. Of any other score they are two looks at it, one feature at a time; what they miss of the gap is owed to features
together. All of it is the exact difference of exact scores (of enclosures of 128 bits, where scores are irrational), rounded once.

For decisions among several classes there is no one score whose gap it would be, and so there are no contributions.

They take two exact scores a feature, more than the verdict itself may have taken: so a `ComparedPair` keeps what is needed, and looks when asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.families.registry import family_of
from likewise.families.scored_model import Model, Scores
from likewise.spec.enclosure import FIRST_BITS
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from likewise.model.cases import Witness
    from likewise.verifying.posed_problem import PosedProblem

Codes = tuple[float, ...]


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
    high, low = score(one), score(two)
    parts = [
        Contribution(
            feature=name,
            from_first=nearest_double(high - score([*one[:k], two[k], *one[k + 1 :]])),
            from_second=nearest_double(score([*two[:k], one[k], *two[k + 1 :]]) - low),
        )
        for k, name in enumerate(names)
        if one[k] != two[k]
    ]
    return Contributions(
        gap=nearest_double(high - low), additive=additive or len(parts) == 1, parts=tuple(parts)
    )
