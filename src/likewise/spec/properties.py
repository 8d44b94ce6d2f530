"""The properties: what similar individuals must share.

With f the score, p the probability of the upper class, and (x, x') a pair of similar individuals:

===================  =================================================  =====================
property             a pair is a witness against it when                spelled
===================  =================================================  =====================
`SameDecision`       f(x) > margin and f(x') <= -margin                 ``decision:MARGIN``
`ScoreGap`           f(x) - f(x') > delta                               ``score:DELTA``
`ProbabilityGap`     p(x) - p(x') > delta                               ``probability:DELTA``
===================  =================================================  =====================

Margin 0 is scikit-learn's own rule: the upper class is decided when the score is above 0, and a
score of exactly 0 belongs to the lower class. Classifiers of libsvm (SVC, NuSVC) put 0 into the upper
class; for them the strict side is the other one: f(x) >= margin and f(x') < -margin. Pairs are ordered, but similarity is symmetric, so
every unordered pair is judged both ways round. All numbers are doubles and are taken exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from likewise.errors import SpecError, closest
from likewise.spec.numbers import as_double, number_text, shown


@dataclass(frozen=True, slots=True)
class SameDecision:
    """Similar individuals get the same decision.

    A witness is a pair with score(x) > margin and score(x') <= -margin. With ``margin=0`` that is any
    pair the model decides differently; a larger margin asks only about decisions that are clear on
    both sides. (For libsvm's classifiers: score(x) >= margin and score(x') < -margin.)
    """

    margin: float = 0.0

    kind: ClassVar[Literal["decision"]] = "decision"

    def __post_init__(self) -> None:
        object.__setattr__(self, "margin", _not_negative(self.margin, "margin"))

    def describe(self) -> str:
        """In words: ``get the same decision``."""
        if self.margin == 0:
            return "get the same decision"
        return f"get the same decision wherever both scores are at least {number_text(self.margin)} from 0"

    def spell(self) -> str:
        """The text `parse_property` reads back: ``decision`` or ``decision:0.1``."""
        return "decision" if self.margin == 0 else f"decision:{number_text(self.margin)}"


@dataclass(frozen=True, slots=True)
class ScoreGap:
    """Scores of similar individuals are at most `delta` apart; a witness has score(x) - score(x') > delta."""

    delta: float

    kind: ClassVar[Literal["score"]] = "score"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", _not_negative(self.delta, "delta"))

    def describe(self) -> str:
        """In words: ``get scores at most 0.5 apart``."""
        return f"get scores at most {number_text(self.delta)} apart"

    def spell(self) -> str:
        """The text `parse_property` reads back: ``score:0.5``."""
        return f"score:{number_text(self.delta)}"


@dataclass(frozen=True, slots=True)
class ProbabilityGap:
    """Probabilities of similar individuals are at most `delta` apart; a witness has p(x) - p(x') > delta."""

    delta: float

    kind: ClassVar[Literal["probability"]] = "probability"

    def __post_init__(self) -> None:
        delta = _not_negative(self.delta, "delta")
        if delta >= 1:
            raise SpecError(
                f"delta = {number_text(delta)}: probabilities are never more than 1 apart",
                hint="give a delta from 0 up to, not including, 1; 10 percent is 0.1",
            )
        object.__setattr__(self, "delta", delta)

    def describe(self) -> str:
        """In words: ``get probabilities at most 0.1 apart``."""
        return f"get probabilities at most {number_text(self.delta)} apart"

    def spell(self) -> str:
        """The text `parse_property` reads back: ``probability:0.1``."""
        return f"probability:{number_text(self.delta)}"


Property = SameDecision | ScoreGap | ProbabilityGap

KINDS = ("decision", "score", "probability")


def parse_property(text: str) -> Property:
    """The property spelled by `text`: ``decision``, ``decision:0.1``, ``score:0.5``, ``probability:0.1``."""
    if not isinstance(text, str):
        raise SpecError(f"a property is spelled as text, got {shown(text)}", hint=_SPELLINGS)
    kind, colon, number = (part.strip() for part in text.partition(":"))
    if kind not in KINDS:
        raise SpecError(f"unknown property {shown(text)}{closest(kind, KINDS)}", hint=_SPELLINGS)
    if not colon and kind == "decision":
        return SameDecision()
    if not number:
        raise SpecError(f"property {shown(text)} lacks its number", hint=f"for instance {kind}:0.1")
    try:
        amount = float(number)
    except ValueError:
        raise SpecError(f"property {shown(text)}: {shown(number)} is not a number", hint=_SPELLINGS) from None
    try:
        return make_property(kind, amount)
    except SpecError as error:
        raise error.located(f"property {shown(text)}") from None


def make_property(kind: str, amount: float) -> Property:
    """The property of this kind with this margin or delta."""
    if kind == "decision":
        return SameDecision(amount)
    if kind == "score":
        return ScoreGap(amount)
    if kind == "probability":
        return ProbabilityGap(amount)
    raise SpecError(f"unknown property kind {shown(kind)}{closest(kind, KINDS)}", hint=_SPELLINGS)


_SPELLINGS = "decision, decision:0.1, score:0.5 or probability:0.1"


def _not_negative(value: object, what: str) -> float:
    number = as_double(value, what)
    if number < 0:
        raise SpecError(f"{what} must not be negative, got {number_text(number)}")
    return number
