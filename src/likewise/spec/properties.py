"""The properties: what similar individuals must share.

With f the score, p the probability of the upper class, and (x, x') a pair of similar individuals:

===================  =================================================  =====================
property             a pair is a witness against it when                spelled
===================  =================================================  =====================
`SameDecision`       f(x) > margin and f(x') <= -margin                 ``decision:MARGIN``
`ScoreGap`           f(x) - f(x') > delta                               ``score:DELTA``
`ProbabilityGap`     p(x) - p(x') > delta                               ``probability:DELTA``
`Lipschitz`          f(x) - f(x') > L d(x, x') + slack                  ``lipschitz:L,SLACK``
===================  =================================================  =====================

Margin 0 is scikit-learn's own rule: the upper class is decided when the score is above 0, and a
score of exactly 0 belongs to the lower class. Classifiers of libsvm (SVC, NuSVC) put 0 into the upper
class; for them the strict side is the other one: f(x) >= margin and f(x') < -margin. Pairs are ordered, but similarity is symmetric, so
every unordered pair is judged both ways round. All numbers are doubles and are taken exactly.

A model of more than two classes has a score (and a probability) f_c a class. Then a witness is a pair

`SameDecision`       with two classes, each leading every other one by more than the margin (at least the margin over later classes)
`ScoreGap`           with f_c(x) - f_c(x') > delta for some class c, `ProbabilityGap` likewise

and the *class of interest* narrows the claim to one class c: one of the two gets it and the other does not; the gap is one of f_c. A
binary model has either label for it, which changes nothing: what is true of one is true of the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from likewise.errors import SpecError, suggest_name
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.numbers import as_double, number_text, python_scalar, short_repr

Label = str | int | float | bool


@dataclass(frozen=True, slots=True)
class SameDecision:
    """Similar individuals get the same decision.

    A witness is a pair with score(x) > margin and score(x') <= -margin. With ``margin=0`` that is any
    pair the model decides differently; a larger margin asks only about decisions that are clear on
    both sides. (For libsvm's classifiers: score(x) >= margin and score(x') < -margin.)

    Parameters
    ----------
    margin : float
        How clear both decisions must be.
    class_of_interest : label, optional
        Of more than two classes, only pairs count of which one individual gets this one.
    """

    margin: float = 0.0
    class_of_interest: Label | None = field(default=None, kw_only=True)

    kind: ClassVar[Literal["decision"]] = "decision"

    def __post_init__(self) -> None:
        object.__setattr__(self, "margin", _check_not_negative(self.margin, "margin"))
        object.__setattr__(self, "class_of_interest", _python_label(self.class_of_interest))

    def describe(self, *, one_way: bool = False) -> str:
        """In words: ``get the same decision``, ``are alike in whether they get the class 'high'``; of ordered pairs what the second gets."""
        if one_way:
            wanted = (
                "upper class"
                if self.class_of_interest is None
                else f"class {short_repr(self.class_of_interest)}"
            )
            clear = f" wherever both decisions are clear by a margin of {number_text(self.margin)}"
            return f"get the {wanted} as the second wherever they get it as the first{clear if self.margin else ''}"
        shared = "get the same decision"
        if self.class_of_interest is not None:
            shared = f"are alike in whether they get the class {short_repr(self.class_of_interest)}"
        if self.margin == 0:
            return shared
        return f"{shared} wherever both decisions are clear by a margin of {number_text(self.margin)}"

    def spell(self) -> str:
        """The text `parse_property` reads back, but for the class: ``decision`` or ``decision:0.1``."""
        return "decision" if self.margin == 0 else f"decision:{number_text(self.margin)}"


@dataclass(frozen=True, slots=True)
class ScoreGap:
    """Scores of similar individuals are at most `delta` apart; a witness has score(x) - score(x') > delta.

    Parameters
    ----------
    delta : float
        How far apart scores may be.
    class_of_interest : label, optional
        Of more than two classes, only the score of this one counts; without, that of any.
    """

    delta: float
    class_of_interest: Label | None = field(default=None, kw_only=True)

    kind: ClassVar[Literal["score"]] = "score"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", _check_not_negative(self.delta, "delta"))
        object.__setattr__(self, "class_of_interest", _python_label(self.class_of_interest))

    def describe(self, *, one_way: bool = False) -> str:
        """In words: ``get scores at most 0.5 apart``."""
        if one_way:
            return f"get scores{_class_text(self.class_of_interest)} of which the second is {_fall_text(self.delta)}"
        return f"get scores{_class_text(self.class_of_interest)} at most {number_text(self.delta)} apart"

    def spell(self) -> str:
        """The text `parse_property` reads back, but for the class: ``score:0.5``."""
        return f"score:{number_text(self.delta)}"


@dataclass(frozen=True, slots=True)
class ProbabilityGap:
    """Probabilities of similar individuals are at most `delta` apart; a witness has p(x) - p(x') > delta.

    Parameters
    ----------
    delta : float
        How far apart probabilities may be, below 1.
    class_of_interest : label, optional
        Of more than two classes, only the probability of this one counts; without, that of any.
    """

    delta: float
    class_of_interest: Label | None = field(default=None, kw_only=True)

    kind: ClassVar[Literal["probability"]] = "probability"

    def __post_init__(self) -> None:
        delta = _check_not_negative(self.delta, "delta")
        if delta >= 1:
            raise SpecError(
                f"delta = {number_text(delta)}: probabilities are never more than 1 apart",
                hint="give a delta from 0 up to, not including, 1; 10 percent is 0.1",
            )
        object.__setattr__(self, "delta", delta)
        object.__setattr__(self, "class_of_interest", _python_label(self.class_of_interest))

    def describe(self, *, one_way: bool = False) -> str:
        """In words: ``get probabilities at most 0.1 apart``."""
        if one_way:
            whose = _class_text(self.class_of_interest)
            return f"get probabilities{whose} of which the second is {_fall_text(self.delta)}"
        return (
            f"get probabilities{_class_text(self.class_of_interest)} at most {number_text(self.delta)} apart"
        )

    def spell(self) -> str:
        """The text `parse_property` reads back, but for the class: ``probability:0.1``."""
        return f"probability:{number_text(self.delta)}"


Property = SameDecision | ScoreGap | ProbabilityGap | Lipschitz

PROPERTY_KINDS = ("decision", "score", "probability")


def parse_property(text: str) -> Property:
    """The property spelled by `text`: ``decision``, ``decision:0.1``, ``score:0.5``, ``probability:0.1``."""
    if not isinstance(text, str):
        raise SpecError(f"a property is spelled as text, got {short_repr(text)}", hint=_SPELLINGS)
    kind, colon, number = (part.strip() for part in text.partition(":"))
    if kind == Lipschitz.kind:
        return _parse_lipschitz(text, number)
    if kind not in PROPERTY_KINDS:
        raise SpecError(
            f"unknown property {short_repr(text)}{suggest_name(kind, PROPERTY_KINDS)}", hint=_SPELLINGS
        )
    if not colon and kind == "decision":
        return SameDecision()
    if not number:
        raise SpecError(f"property {short_repr(text)} lacks its number", hint=f"for instance {kind}:0.1")
    try:
        amount = float(number)
    except ValueError:
        raise SpecError(
            f"property {short_repr(text)}: {short_repr(number)} is not a number", hint=_SPELLINGS
        ) from None
    try:
        return make_property(kind, amount)
    except SpecError as error:
        raise error.located(f"property {short_repr(text)}") from None


def _parse_lipschitz(text: str, numbers: str) -> Lipschitz:
    """``lipschitz:0.5``, or with a slack ``lipschitz:0.5,0.1``; its metric is said elsewhere."""
    try:
        constant, *slack = (float(number) for number in numbers.split(","))
        if len(slack) > 1:
            raise ValueError
    except ValueError:
        raise SpecError(
            f"property {short_repr(text)}: expected a constant, and perhaps a slack",
            hint="lipschitz:0.5 or lipschitz:0.5,0.1",
        ) from None
    try:
        return Lipschitz(constant, slack=slack[0] if slack else 0.0)
    except SpecError as error:
        raise error.located(f"property {short_repr(text)}") from None


def make_property(kind: str, amount: float, class_of_interest: Label | None = None) -> Property:
    """The property of this kind ("decision", "score" or "probability") with this margin or delta, of one class if that is given."""
    if kind == "decision":
        return SameDecision(amount, class_of_interest=class_of_interest)
    if kind == "score":
        return ScoreGap(amount, class_of_interest=class_of_interest)
    if kind == "probability":
        return ProbabilityGap(amount, class_of_interest=class_of_interest)
    raise SpecError(
        f"unknown property kind {short_repr(kind)}{suggest_name(kind, PROPERTY_KINDS)}", hint=_SPELLINGS
    )


def property_level(property: Property) -> float:
    """The margin or the gap that a property is about."""
    return property.margin if isinstance(property, SameDecision) else property.delta


def class_index(wanted: Label | None, labels: Sequence[object] | None, family: str) -> int | None:
    """Which one of a model's labels (None: a regressor) the class of interest is; None if none is of interest."""
    if wanted is None:
        return None
    if labels is None:
        raise SpecError(
            f"{family} is a regressor: there is no class {short_repr(wanted)}",
            hint="leave class_of_interest out",
        )
    for place, label in enumerate(labels):
        # 1 and True are equal to Python, and two labels to people.
        if label == wanted and isinstance(label, bool) == isinstance(wanted, bool):
            return place
    raise SpecError(
        f"{family} has no class {short_repr(wanted)}{suggest_name(wanted, labels)}",
        hint=f"its classes are {', '.join(short_repr(label) for label in labels[:12])}"
        f"{', ...' if len(labels) > 12 else ''}",
    )


_SPELLINGS = "decision, decision:0.1, score:0.5, probability:0.1 or lipschitz:0.5"


def _check_not_negative(value: object, what: str) -> float:
    number = as_double(value, what)
    if number < 0:
        raise SpecError(f"{what} must not be negative, got {number_text(number)}")
    return number


def _python_label(value: object) -> Label | None:
    """A label as Python's own value."""
    label = python_scalar(value)
    if label is None or (isinstance(label, Label) and not (isinstance(label, float) and math.isnan(label))):
        return label
    raise SpecError(
        f"class_of_interest must be one of the model's labels, got {short_repr(value)}",
        hint="a text, a number, True or False, as in the column that the model was fitted on",
    )


def _fall_text(delta: float) -> str:
    return f"at most {number_text(delta)} lower" if delta else "not lower"


def _class_text(label: Label | None) -> str:
    return "" if label is None else f" of the class {short_repr(label)}"
