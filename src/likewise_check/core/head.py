"""The head of a model (section 2): what is made of its scores. Here that of one score and two labels; heads of more classes are a pack's.

A head divides a claim into cases, each to be shown by a tree of cells of its own. Two labels are one case: x gets the label with g > 0, x' the other.
g = slope f + offset is f itself; -f for decisions of a model whose zero belongs to the upper label; the link's for probabilities.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from likewise_check.core.body import Body
from likewise_check.core.fields import Rejected, anything, array_of, choice, record
from likewise_check.core.lemma import Lemma, Outcome
from likewise_check.core.numbers import number, readable_number
from likewise_check.core.properties import Property
from likewise_check.core.registry import CORE

if TYPE_CHECKING:
    from likewise_check.core.claim import Claim

Leaf: TypeAlias = list[object]
EXPONENTIAL = (Fraction(0), Fraction(0))  # a link that no probability has: its slope is 0


class Task(NamedTuple):
    """What a leaf is about: `key` tells its lemma from others of its case; `leaf` is what the rule reads."""

    key: object
    leaf: Leaf
    lemma: Callable[[], Lemma]


class Case(Protocol):
    """One part of a claim; a value that can be hashed."""

    @property
    def classes(self) -> tuple[int, int] | None:
        """The labels that x and x' have, by their places, if the case is about all that have them."""

    def task(self, claim: "Claim", leaf: Leaf) -> Task:
        """What a leaf of its tree has to show."""


class Head(Protocol):
    """What is made of scores."""

    @property
    def packs(self) -> frozenset[str]: ...
    @property
    def count(self) -> int:
        """How many labels there are."""

    @property
    def scores(self) -> int | None:
        """How many scores there must be; None: one, and coefficients are no arrays."""

    def cases(self, node: Leaf, asked: Property) -> tuple[bool, Iterator[Case]]:
        """Whether the first node of a proof does nothing but open its cases, and the cases."""

    def outcome(self, body: Body, asked: Property) -> Outcome | None:
        """What pairs come to, if W does not tell it."""

    def in_words(self, asked: Property) -> tuple[str, bool]:
        """For people, what every two similar individuals get, or (False) what no two of them get."""

    def adds_up(self, asked: Property) -> bool:
        """Whether the property is about scores, not about what a program makes of them in ways that are not described."""

    def gauge(self, asked: Property) -> tuple[Fraction, Fraction]:
        """slope and offset of g."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyCase:
    """All of a claim about one score; the label of x is the one with g > 0."""

    classes: tuple[int, int]

    def task(self, claim: "Claim", leaf: Leaf) -> Task:
        """The claim itself."""
        return Task(None, leaf, claim.lemma)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Two labels, or none; which of them a score of 0 has; the link: probabilities are sigma(slope f + offset), or predictions are exp(f)."""

    upper_at_zero: bool = False
    link: tuple[Fraction, Fraction] | None = None  # of probabilities

    @property
    def packs(self) -> frozenset[str]:
        return frozenset({CORE})

    @property
    def count(self) -> int:
        return 2

    @property
    def scores(self) -> None:
        return None

    def cases(self, _node: Leaf, _asked: Property) -> tuple[bool, Iterator[Case]]:
        """The one case, which no node opens."""
        first = int(not self.upper_at_zero)
        return False, iter([OnlyCase(classes=(first, 1 - first))])

    def outcome(self, _body: Body, _asked: Property) -> None:
        """W tells all."""

    def in_words(self, asked: Property) -> tuple[str, bool]:
        """What every two similar individuals get, or what no two of them get."""
        margin = readable_number(asked.bound)
        if asked.kind != "decision":
            what = {"score": "scores", "prediction": "predictions"}.get(asked.kind, "probabilities")
            return f"{what} {gap_in_words(asked)}", True
        if asked.one_way:
            return self._order_in_words(asked), False
        if not asked.bound:
            at_zero = "upper" if self.upper_at_zero else "lower"
            return f"the same decision (a score of 0 gives the {at_zero} label)", True
        contrary = readable_number(-asked.bound)
        sides = f"one above {margin} and the other at most {contrary}"
        if self.upper_at_zero:
            sides = f"one below {contrary} and the other at least {margin}"
        if asked.bound < 0:
            return f"scores of which {sides} (a margin below 0: also where the decision is the same)", False
        return (
            f"different decisions with both scores at least {margin} from the threshold ({sides})",
            False,
        )

    def _order_in_words(self, asked: Property) -> str:
        """What no first and second of a pair get."""
        margin, contrary = readable_number(asked.bound), readable_number(-asked.bound)
        labels = "the upper label for the first and the lower one for the second"
        scores = f"one above {margin} for the first and at most {contrary} for the second"
        if self.upper_at_zero:
            labels = "the lower label for the first and the upper one for the second"
            scores = f"one below {contrary} for the first and at least {margin} for the second"
        return f"{labels} (scores: {scores})"

    def adds_up(self, asked: Property) -> bool:
        """How a program rounds sigma or exp is not described."""
        return asked.kind not in ("probability", "prediction")

    def gauge(self, asked: Property) -> tuple[Fraction, Fraction]:
        """slope and offset of g."""
        if asked.kind == "probability" and self.link:
            return self.link
        return Fraction(-1 if asked.kind == "decision" and self.upper_at_zero else 1), Fraction(0)


def gap_in_words(asked: Property) -> str:
    """How far two numbers of a pair are apart."""
    by = f"at most {readable_number(asked.bound)}"
    if asked.allowance is not None:
        by = f"at most {asked.allowance.in_words()}{f' + {readable_number(asked.bound)}' if asked.bound else ''}"
    return f"of which the first is {by} above the second" if asked.one_way else f"that differ by {by}"


def read_labels(head: object, asked: Property) -> Labels:
    """The head of a model of one score; it must have what the property speaks of."""
    if asked.allowance is not None and type(head) is dict and head.get("link") == "exponential":
        raise Rejected("a model with the exponential link has no scores that are compared with a distance")
    if asked.of_classes:
        raise Rejected("the property has a class, but the model has none")
    labels, zero, link = record(
        head, "the head", labels=anything, zero=choice("lower", "upper"), link=_read_link
    )
    if labels is not None:
        array_of(_check_label, 2)(labels, "the labels")
    elif asked.kind == "decision":
        raise Rejected("a decision needs a model with labels")
    if asked.kind == "probability" and (link is None or link == EXPONENTIAL):
        raise Rejected("a probability needs a model with the logistic link")
    if (asked.kind == "prediction") > (link == EXPONENTIAL) or (link == EXPONENTIAL and labels is not None):
        raise Rejected("a prediction needs a model with the exponential link, and that has no labels")
    return Labels(upper_at_zero=zero == "upper", link=None if link == EXPONENTIAL else link)


def _check_label(item: object, what: str) -> None:
    if type(item) not in (str, bool, int):
        record(item, what, number=number)


def _read_link(item: object, what: str) -> tuple[Fraction, Fraction] | None:
    if item == "exponential":
        return EXPONENTIAL
    if type(item) is not list:
        return choice("logistic", None)(item, what) and (Fraction(1), Fraction(0))
    name, slope, offset = array_of(anything, 3)(item, what)
    choice("logistic")(name, what)
    link = number(slope, f"{what}, slope"), number(offset, f"{what}, offset")
    if link[0] == 0:
        raise Rejected(f"{what} must have a slope other than 0")
    return link
