"""The body `sum` (section 17): f(x) = bias + sum_k weight_k lambda_k(s_k(x)), s_k the scores of other bodies, lambda_k links.

It is constant in a feature if all parts with a weight are. Its score is rational if theirs are and no link is logistic. Several scores share their parts.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from likewise_check.core.body import Body, Codes, Ends, Form, read_no_rounding
from likewise_check.core.fields import Reader, Rejected, anything, array_of, record, text
from likewise_check.core.numbers import number
from likewise_check.core.registry import read_body
from likewise_check.core.space import Space
from likewise_check.packs.sums.chains import Link, read_link

MOST_PARTS = 10_000
KINDS = (
    "affine",
    "rbf",
    "mixed",
    "polynomial",
    "trees",
    "network",
)  # whose rules a line of a part may be shown by


@dataclass(frozen=True, slots=True)
class Part:
    """A score and its link."""

    body: Body
    link: Link | None

    def at(self, codes: Codes, bits: int) -> Ends:
        """lambda(s), enclosed."""
        (score,) = self.body.ends(codes, bits)
        return score if self.link is None else self.link.at(score, bits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """One sum of the parts."""

    kind: ClassVar[str] = "sum"
    clears: ClassVar[bool] = False

    parts: tuple[Part, ...]
    weights: tuple[Fraction, ...]
    bias: Fraction

    @property
    def bodies(self) -> tuple[Body, ...]:
        return tuple(part.body for part in self.parts)

    @property
    def packs(self) -> frozenset[str]:
        return frozenset({"sums"}).union(*(part.body.packs for part in self.parts))

    @property
    def rational(self) -> bool:
        return all(part.body.rational and (part.link is None or part.link.rational) for part in self.parts)

    @property
    def knows_missing(self) -> bool:
        return all(part.body.knows_missing for part in self.parts)

    def steady(self, k: int) -> bool:
        """Whether no part that counts depends on this feature."""
        return all(part.body.steady(k) for part, w in zip(self.parts, self.weights, strict=True) if w)

    def ends(self, codes: Codes, bits: int) -> list[Ends]:
        """The score, enclosed."""
        more = bits + int(sum(map(abs, self.weights))).bit_length() + 2
        low = high = self.bias
        for part, weight in zip(self.parts, self.weights, strict=True):
            if weight:
                ends = sorted(weight * end for end in part.at(codes, more))
                low, high = low + ends[0], high + ends[1]
        return [(low, high)]

    def read_rounding(self, item: object) -> None:
        """Is not described."""
        read_no_rounding(item)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Several sums of the same parts."""

    kind: ClassVar[str] = "sum"
    clears: ClassVar[bool] = False

    scores: tuple[Sum, ...]

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.scores

    @property
    def packs(self) -> frozenset[str]:
        return self.scores[0].packs

    @property
    def rational(self) -> bool:
        return self.scores[0].rational

    @property
    def knows_missing(self) -> bool:
        return self.scores[0].knows_missing

    def steady(self, k: int) -> bool:
        """Whether no score depends on this feature."""
        return all(score.steady(k) for score in self.scores)

    def ends(self, codes: Codes, bits: int) -> list[Ends]:
        """All scores."""
        return [score.ends(codes, bits)[0] for score in self.scores]

    def form(self, alpha: Form) -> Sum:
        """The sum whose weights are those sums of theirs."""
        columns = zip(*(score.weights for score in self.scores), strict=True)
        weights = tuple(sum((f * column[c] for c, f in alpha), Fraction(0)) for column in columns)
        bias = sum((f * self.scores[c].bias for c, f in alpha), Fraction(0))
        return replace(self.scores[0], weights=weights, bias=bias)

    def read_rounding(self, item: object) -> None:
        """Is not described."""
        read_no_rounding(item)


def read_sum(item: object, space: Space, _coefficient: Reader) -> Sum:
    """A body of one score."""
    parts, weights, bias = _read_parts(item, space, number)
    return Sum(parts=parts, weights=tuple(weights), bias=bias)


def read_sums(item: object, space: Space, scores: int) -> Sums:
    """A body of several, whose numbers are arrays."""
    parts, rows, biases = _read_parts(item, space, array_of(number, scores))
    first = Sum(parts=parts, weights=tuple(row[0] for row in rows), bias=biases[0])
    others = [replace(first, weights=tuple(row[c] for row in rows), bias=biases[c]) for c in range(1, scores)]
    return Sums(scores=(first, *others))


def _read_parts(item: object, space: Space, coefficient: Reader) -> tuple[tuple[Part, ...], list[Any], Any]:
    _, bias, items = record(item, "the body", kind=text, bias=coefficient, parts=array_of(anything))
    if not 1 <= len(items) <= MOST_PARTS:
        raise Rejected(f"a sum must have from 1 to {MOST_PARTS} parts")
    parts, weights = [], []
    for i, given in enumerate(items):
        weight, link, inside = record(
            given, f"part {i} of the body", weight=coefficient, link=read_link, body=anything
        )
        if type(inside) is not dict or inside.get("kind") not in KINDS:
            raise Rejected(f"part {i} of the body must be an object of one of the kinds {', '.join(KINDS)}")
        parts.append(Part(read_body(inside, f"part {i} of the body", space, None), link))
        weights.append(weight)
    return tuple(parts), weights, bias
