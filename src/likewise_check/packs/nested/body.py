"""The body `nested` (section 24): f(x) = outer(s_0(x), s_1(x), ...), s_k the rational scores of inner bodies; outer is a body of trees, or a median.

Outer trees are read over a space of their own, with one number for each inner body.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast

from likewise_check.core.body import Body, Codes, Ends, Form, Scores, read_no_rounding
from likewise_check.core.cells import Quantity
from likewise_check.core.fields import Reader, Rejected, anything, array_of, kind, record, text, whole
from likewise_check.core.numbers import number
from likewise_check.core.registry import read_body
from likewise_check.core.space import Feature, Space
from likewise_check.packs.nested.median import Median, read_median

MOST_INNER = 10_000
KINDS = ("affine", "polynomial", "trees", "network")  # of inner bodies
USUAL_BITS = 4096  # of numbers of the outer space, where nothing larger occurs


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    """The inner bodies, and what is made of their scores: a median, or trees of one score or of several."""

    kind: ClassVar[str] = "nested"
    rational: ClassVar[bool] = True
    clears: ClassVar[bool] = False

    inner: tuple[Body, ...]
    outer: Any  # Median or a body `trees`, which a pack of its own knows

    @property
    def median(self) -> Median | None:
        """The outer function, if it is one."""
        return self.outer if isinstance(self.outer, Median) else None

    @property
    def packs(self) -> frozenset[str]:
        outer: frozenset[str] = frozenset() if self.median else self.outer.packs
        return frozenset({"nested"}).union(outer, *(body.packs for body in self.inner))

    @property
    def knows_missing(self) -> bool:
        return all(body.knows_missing for body in self.inner)

    def steady(self, k: int) -> bool:
        """Whether no inner body that counts depends on this feature."""
        return all(
            body.steady(k) or (not self.median and self.outer.steady(place))
            for place, body in enumerate(self.inner)
        )

    def ends(self, codes: Codes, bits: int) -> list[Ends]:
        """All scores, which are exact."""
        inner = [body.ends(codes, bits)[0][0] for body in self.inner]
        if self.median is None:
            found: list[Ends] = list(self.outer.ends(inner, bits))
            return found
        score = self.median.offset + self.median.slope * self.median.at(inner)
        return [(score, score)]

    def form(self, alpha: Form) -> "Nested":
        """The body of one score, alpha . f."""
        return Nested(inner=self.inner, outer=cast(Scores, self.outer).form(alpha))

    def read_rounding(self, item: object) -> None:
        """Is not described."""
        read_no_rounding(item)


def read_nested(item: object, space: Space, _coefficient: Reader) -> Nested:
    """A body of one score."""
    inner, outer = _read_inner_bodies(item, space)
    if kind(outer, "the outer function", "trees", "median") == "median":
        return Nested(inner=inner, outer=read_median(outer, len(inner)))
    return Nested(inner=inner, outer=read_body(outer, "the outer body", outer_space(len(inner)), None))


def read_several(item: object, space: Space, scores: int) -> Nested:
    """A body of several, which are those of its trees."""
    inner, outer = _read_inner_bodies(item, space)
    kind(outer, "the outer body of several scores", "trees")
    return Nested(inner=inner, outer=read_body(outer, "the outer body", outer_space(len(inner)), scores))


def _read_inner_bodies(item: object, space: Space) -> tuple[tuple[Body, ...], object]:
    _, items, outer = record(item, "the body", kind=text, inner=array_of(anything), outer=anything)
    if not 1 <= len(items) <= MOST_INNER:
        raise Rejected(f"a nested body must have from 1 to {MOST_INNER} inner bodies")
    inner = []
    for place, given in enumerate(items):
        what = f"inner body {place}"
        kind(given, what, *KINDS)
        body = read_body(given, what, space, None)
        if not body.rational:
            raise Rejected(f"{what} must have rational scores")
        inner.append(body)
    return tuple(inner), outer


def outer_space(inner: int, bits: int = USUAL_BITS) -> Space:
    """The space of the scores of so many inner bodies. They are of any size: whoever looks at cells must take more bits than limits and tests have."""
    end = Fraction(1 << bits)
    features = (Feature(name=str(k), kind="continuous", lo=-end, hi=end) for k in range(inner))
    return Space(features=tuple(features), constraints=())


def read_inner(node: list[object], body: Body) -> tuple[Quantity, Fraction]:
    """The quantity that a node splits, the score of an inner body at x or x', and where."""
    if not isinstance(body, Nested):
        raise Rejected("an inner node needs a nested body")
    _, place, copy, at = array_of(anything, 4)(node, "an inner node")
    quantity = (
        whole(0, len(body.inner) - 1)(place, "the inner body of an inner node"),
        whole(0, 1)(copy, "the copy of an inner node"),
    )
    return quantity, number(at, "the place of an inner node")
