"""The body `combined` (section 11): f(x) is the weighted mean of the scores of other bodies, or the largest or the smallest of them.

It is constant in a feature if all of them are. Its score is rational if theirs are; else enclosures of theirs give one that is no wider: a mean of intervals no wider than w,
or their largest or smallest ends, are at most w apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from likewise_check.core.affine import Affine, read_affine
from likewise_check.core.fields import Reader, Rejected, anything, array_of, choice, kind, record, text
from likewise_check.core.numbers import number
from likewise_check.core.space import Space
from likewise_check.packs.kernel.body import Rbf, read_rbf
from likewise_check.packs.polynomial.body import Polynomial, read_polynomial
from likewise_check.packs.trees.body import Trees, read_trees

MOST_BODIES = 10_000

Simple: TypeAlias = Affine | Rbf | Polynomial | Trees  # these of one score
Ends: TypeAlias = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """The bodies, and what is made of their scores: `weights` of a mean, else none."""

    how: str
    weights: tuple[Fraction, ...]
    bodies: tuple[Simple, ...]

    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""
        return not any(isinstance(body, Rbf) for body in self.bodies)

    def steady(self, k: int) -> bool:
        """Whether no score of the bodies depends on this feature."""
        return all(body.steady(k) for body in self.bodies)

    def ends(self, codes: Sequence[Fraction], bits: int) -> Ends:
        """f(x), enclosed by two rationals at most 2^-bits apart; the two are equal where scores are rational."""
        found = [enclosed(body, codes, bits) for body in self.bodies]
        low, high = ([ends[side] for ends in found] for side in (0, 1))
        return self._made_of(low), self._made_of(high)

    def _made_of(self, scores: list[Fraction]) -> Fraction:
        if self.how == "mean":
            parts = zip(self.weights, scores, strict=True)
            return sum((weight * score for weight, score in parts), Fraction(0))
        return max(scores) if self.how == "max" else min(scores)


Scored: TypeAlias = Simple | Combined  # a body of one score


def rational(body: Scored) -> bool:
    """Whether scores are known exactly."""
    return body.rational if isinstance(body, Combined) else not isinstance(body, Rbf)


def enclosed(body: Scored, codes: Sequence[Fraction], bits: int) -> Ends:
    """f(x), enclosed by two rationals at most 2^-bits apart; the two are equal where scores are rational."""
    if isinstance(body, Combined):
        return body.ends(codes, bits)
    return body.score(codes, bits) if isinstance(body, Rbf) else (body.score(codes),) * 2


def _alone(trees: Trees) -> Trees:
    """The trees, which must have one score."""
    if trees.several:
        raise Rejected("a body of several scores needs a head of classes, and the other way round")
    return trees


def read_combined(
    item: object, space: Space, coefficient: Reader = number, one: Callable[[Trees], Trees] = _alone
) -> Combined:
    """The body of a model line; `coefficient` reads the coefficients of the bodies in it, `one` takes one score of trees."""
    how = choice("mean", "max", "min")(item.get("how") if type(item) is dict else None, "the body, how")
    more: dict[str, Reader] = {"weights": array_of(number)} if how == "mean" else {}
    _, _, *weights, items = record(item, "the body", kind=text, how=text, **more, of=array_of(anything))
    if not 1 <= len(items) <= MOST_BODIES:
        raise Rejected(f"a combined body must have at least one body and at most {MOST_BODIES}")
    for given in weights:
        if len(given) != len(items) or min(given) < 0 or sum(given) != 1:
            raise Rejected("the weights must be one a body, at least 0, with the sum 1")
    bodies = [
        _body(inside, f"body {i} of the body", space, coefficient, one) for i, inside in enumerate(items)
    ]
    return Combined(how=how, weights=tuple(*weights), bodies=tuple(bodies))


def _body(
    item: object, what: str, space: Space, coefficient: Reader, one: Callable[[Trees], Trees]
) -> Simple:
    sort = kind(item, what, "trees", *_READERS)
    return one(read_trees(item, space)) if sort == "trees" else _READERS[sort](item, space, coefficient)


_READERS: dict[str, Callable[[object, Space, Reader], Simple]] = {
    "affine": read_affine,
    "rbf": read_rbf,
    "polynomial": read_polynomial,
}
