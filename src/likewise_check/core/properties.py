"""The properties (section 2) and their witness sets W, in terms of the gauge values s = g(x), s' = g(x').

    decision      s > margin and s' <= -margin
    score         s - s' > delta
    probability   sigma(s) - sigma(s') > delta
    prediction    exp(s) - exp(s') > delta

Scores that may be further apart the further the two individuals are (section 21) are a score with an `allowance`; at one pair that is a `square` of a number that s - s' may exceed delta by.

If (s, s') is in W, so is every (t, t') with t >= s and t' <= s': W is monotone. The clearance of a pair outside W (section 6)
is monotone too: it does not grow with s nor with -s'.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from likewise_check.core.fields import Reader, Rejected, anything, kind, record, text
from likewise_check.core.logarithm import exp_minus, sigma_bounds
from likewise_check.core.numbers import lower_root, number
from likewise_check.core.registry import find_entry
from likewise_check.core.space import Space

# Neither sigma(s) - sigma(s') = delta > 0 nor exp(s) - exp(s') = delta > 0 has a rational solution, so enough bits decide; beyond these the checker gives up.
_PRECISIONS = (64, 256, 1024, 4096, 16384, 65536)
_CLEARANCE_BITS = 256
LIPSCHITZ = "lipschitz"


class Allowance(Protocol):
    """By how much more than delta two scores may be apart, of a pack that knows it."""

    def in_words(self) -> str:
        """What is added to delta."""

    def details(self, names: Sequence[str]) -> str:
        """The distance, with what the features are called."""

    def square(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        """The square of the allowance of two individuals."""

    def prepared(self, name: str, rule: Callable[[Any], Any], lemma: Any) -> Any:
        """A rule of leaves, prepared for a lemma about scores with this allowance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """What a witness breaks; `bound` is the margin of a decision, else delta; `of` a class, or None for all where it speaks `of_classes`."""

    kind: str
    bound: Fraction
    of_classes: bool = False
    of: int | None = None
    one_way: bool = False  # who is x and who is x' matters (section 18)
    allowance: Allowance | None = None  # of scores (section 21)
    square: Fraction = Fraction(0)  # of what the allowance is at one pair

    def at_pair(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> "Property":
        """What is asked of two individuals."""
        if self.allowance is None:
            return self
        return replace(self, allowance=None, square=self.allowance.square(x, other))

    def exceeded_by(self, gap: Fraction) -> bool:
        """Whether a gap is more than delta and the allowance of the pair."""
        more = gap - self.bound
        return more > 0 and more * more > self.square

    def broken_by(self, s: Fraction, other: Fraction) -> bool:
        """Whether (s, s') is in W, exactly."""
        if self.kind == "decision":
            return s > self.bound and other <= -self.bound
        if self.kind == "score":
            return self.exceeded_by(s - other)
        if self.bound == 0 or s <= other:
            return s > other
        for bits in _PRECISIONS:
            low, high = self._excess(s, other, bits)
            if low > 0:
                return True
            if high <= 0:
                return False
        raise Rejected(f"two {self._numbers} differ by delta as far as {_PRECISIONS[-1]} bits can tell")

    @property
    def _numbers(self) -> str:
        return "predictions" if self.kind == "prediction" else "probabilities"

    def _excess(self, s: Fraction, other: Fraction, bits: int) -> tuple[Fraction, Fraction]:
        """By how much s > s' exceed delta, enclosed; of predictions divided by exp(s) where s > 0, which leaves the sign."""
        if self.kind == "probability":
            low, high = _sigma_gap(s, other, bits)
            return low - self.bound, high - self.bound
        scale = max(s, Fraction(0))
        first, second, bound = (exp_minus(y, bits) for y in (scale - s, scale - other, scale))
        low = first[0] - second[1] - self.bound * bound[1]
        return low, first[1] - second[0] - self.bound * bound[0]

    def clearance(self, s: Fraction, other: Fraction) -> Fraction:
        """How far g may move at both without making (s, s'), outside W, a witness; for probabilities a lower bound."""
        if self.kind == "decision":
            return max(self.bound - s, other + self.bound)
        if self.kind == "score":
            return (self.bound + lower_root(self.square) - (s - other)) / 2
        if self.kind == "prediction":
            return Fraction(0)
        _, high = _sigma_gap(s, other, _CLEARANCE_BITS)
        return max(Fraction(0), 2 * (self.bound - high))


def read_property(line: object, space: Space, *, one_way: bool = False) -> Property:
    """The property of a certificate's fourth line; `one_way` where similarity is not symmetric."""
    (content,) = record(line, "the line", property=anything)
    sort = kind(content, "the property", "decision", "score", "probability", "prediction", LIPSCHITZ)
    bounded = "margin" if sort == "decision" else "delta"
    of_classes = type(content) is dict and "class" in content
    more: dict[str, Reader] = {"class": _read_class} if of_classes else {}
    if sort == LIPSCHITZ:
        _, constant, distance, bound, *of = record(
            content,
            "the property",
            kind=text,
            constant=number,
            distance=anything,
            delta=number,
            **more,
        )
        allowance: Allowance = find_entry("PROPERTIES", LIPSCHITZ)(constant, distance, space)
        if bound < 0:
            raise Rejected("delta must be at least 0")
        of = of or [None]
        return Property(
            kind="score",
            bound=bound,
            of_classes=of_classes,
            of=of[0],
            one_way=one_way,
            allowance=allowance,
        )
    _, bound, *of = record(content, "the property", kind=text, **{bounded: number}, **more)
    if sort != "decision" and (bound < 0 or (sort == "probability" and bound >= 1)):
        raise Rejected("delta must be at least 0, and below 1 for a probability")
    if one_way and sort == "decision" and (bound < 0 or of == [None]):
        raise Rejected(
            "who is x matters: the margin must be at least 0, and a decision between classes about one of them"
        )
    return Property(kind=sort, bound=bound, of_classes=of_classes, of=of[0] if of else None, one_way=one_way)


def _read_class(item: object, what: str) -> int | None:
    if item is not None and type(item) is not int:
        raise Rejected(f"{what} must be a whole number or null")
    return item


def _sigma_gap(s: Fraction, other: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """sigma(s) - sigma(s'), enclosed."""
    low, high = sigma_bounds(s, bits)
    low_other, high_other = sigma_bounds(other, bits)
    return low - high_other, high - low_other
