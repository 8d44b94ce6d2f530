"""The pack `combined` (section 11): f(x) is the weighted mean of the scores of other bodies, or the largest or the smallest of them.

It is constant in a feature if all of them are. Its score is rational if theirs are; else enclosures of theirs give one that is no wider: a mean of intervals no wider than w,
or their largest or smallest ends, are at most w apart. A mean may be of several scores: then each body has as many. The bodies are read by their own packs.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, cast

from likewise_check.core.body import Body, Codes, Ends, Family, Form, Scores, read_no_rounding
from likewise_check.core.fields import Reader, Rejected, anything, array_of, choice, record, text
from likewise_check.core.numbers import number
from likewise_check.core.registry import read_body
from likewise_check.core.space import Space

MOST_BODIES = 10_000
APART = ("combined", "nested")  # kinds that are no part of another one


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """The bodies, and what is made of their scores: `weights` of a mean, else none."""

    kind: ClassVar[str] = "combined"
    clears: ClassVar[bool] = False

    how: str
    weights: tuple[Fraction, ...]
    bodies: tuple[Body, ...]

    @property
    def packs(self) -> frozenset[str]:
        return frozenset({"combined"}).union(*(body.packs for body in self.bodies))

    @property
    def rational(self) -> bool:
        return all(body.rational for body in self.bodies)

    @property
    def knows_missing(self) -> bool:
        return all(body.knows_missing for body in self.bodies)

    def steady(self, k: int) -> bool:
        """Whether no score of the bodies depends on this feature."""
        return all(body.steady(k) for body in self.bodies)

    def ends(self, codes: Codes, bits: int) -> list[Ends]:
        """The scores, enclosed."""
        by_score = zip(*(body.ends(codes, bits) for body in self.bodies), strict=True)
        return [
            (
                self._combine_scores([low for low, _ in found]),
                self._combine_scores([high for _, high in found]),
            )
            for found in by_score
        ]

    def _combine_scores(self, scores: list[Fraction]) -> Fraction:
        if self.how == "mean":
            parts = zip(self.weights, scores, strict=True)
            return sum((weight * score for weight, score in parts), Fraction(0))
        return max(scores) if self.how == "max" else min(scores)

    def form(self, alpha: Form) -> "Combined":
        """The mean of the forms of the bodies."""
        return replace(self, bodies=tuple(cast(Scores, body).form(alpha) for body in self.bodies))

    def read_rounding(self, item: object) -> None:
        """Is not described."""
        read_no_rounding(item)


def _read_combined(item: object, space: Space, scores: int | None) -> Combined:
    """The body of a model line."""
    how = choice("mean", "max", "min")(item.get("how") if type(item) is dict else None, "the body, how")
    more: dict[str, Reader] = {"weights": array_of(number)} if how == "mean" else {}
    _, _, *weights, items = record(item, "the body", kind=text, how=text, **more, of=array_of(anything))
    if not 1 <= len(items) <= MOST_BODIES:
        raise Rejected(f"a combined body must have at least one body and at most {MOST_BODIES}")
    for given in weights:
        if len(given) != len(items) or min(given) < 0 or sum(given) != 1:
            raise Rejected("the weights must be one a body, at least 0, with the sum 1")
    if scores is not None and how != "mean":
        raise Rejected("a combined body of several scores must be a mean")
    if any(type(inside) is dict and inside.get("kind") in APART for inside in items):
        raise Rejected(
            f"a body of a combined one must be an object of a known kind other than {', '.join(APART)}"
        )
    bodies = [read_body(inside, f"body {i} of the body", space, scores) for i, inside in enumerate(items)]
    return Combined(how=how, weights=tuple(*weights), bodies=tuple(bodies))


BODIES = {
    "combined": Family(lambda item, space, _coefficient: _read_combined(item, space, None), _read_combined)
}
