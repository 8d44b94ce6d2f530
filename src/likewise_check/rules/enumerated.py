"""Rule `["enumerated"]`: every point of the cell is looked at.

Each feature offers the codes (x_k, x'_k) of its box that satisfy its relation, each with what it adds to the sums
(g(x), g(x'), h_1(x), ..., h_J(x), h_1(x'), ..., h_J(x')). Features are put together in two halves, so that a point costs one addition of
two vectors. Points that break a constraint are no pairs. As W and the clearance are monotone in (s, -s'), only the pairs that no other exceeds
in both have to be judged: for each s' the largest s, and of those, by rising s', the ones whose s exceeds all before.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod
from operator import add
from typing import TypeAlias

from likewise_check.cells import Box, Cell
from likewise_check.claim import Claim
from likewise_check.errors import LeafRefused, Rejected
from likewise_check.numbers import Exact
from likewise_check.rules.holding import Holds
from likewise_check.rules.line import Terms

MOST_POINTS = 1 << 20

Sums: TypeAlias = tuple[Exact, ...]


class Enumerated:
    """The rule, prepared for one claim."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._terms = Terms(claim)

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether no point of the cell is a witness."""
        if len(leaf) != 1:
            raise Rejected('an enumerated leaf is ["enumerated"]')
        points = self._count(cell)
        left, right = self._halves(cell)
        largest: dict[Exact, Exact] = {}  # for each s' the largest s
        for start in left:
            for rest in right:
                s, other, *constraints = map(add, start, rest)
                if all(h <= 0 for h in constraints) and (other not in largest or s > largest[other]):
                    largest[other] = s
        return Holds(clearance=self._judge(largest), points=points)

    def _count(self, cell: Cell) -> int:
        points = 1
        for feature, box in zip(self._claim.space.features, cell, strict=True):
            for lo, hi in box.intervals:
                if lo != hi and not feature.discrete:
                    raise LeafRefused("enumerated: a continuous variable is not down to one value")
                points *= 1 if lo == hi else int(hi - lo) + 1
                if points > MOST_POINTS:
                    raise LeafRefused(f"enumerated: more than {MOST_POINTS} points")
        return points

    def _halves(self, cell: Cell) -> tuple[list[Sums], list[Sums]]:
        """Two lists of sums; a point is one of the first plus one of the second."""
        terms = self._terms
        start: Sums = (terms.constant, terms.constant, *(-bound for bound in terms.bounds * 2))
        options: list[list[Sums]] = []
        for k, box in enumerate(cell):
            offered = self._options(k, box)
            if len(offered) == 1:
                start = _added(start, offered[0])
            else:
                options.append(offered)
        options.sort(key=len)
        sizes = [len(offered) for offered in options]
        cut = next((n for n in range(len(sizes)) if prod(sizes[:n]) >= prod(sizes[n:])), len(sizes))
        nothing: Sums = (0,) * len(start)
        return _together(start, options[:cut]), _together(nothing, options[cut:])

    def _options(self, k: int, box: Box) -> list[Sums]:
        relation = self._claim.similarity[k]
        codes = [[lo] if lo == hi else range(int(lo), int(hi) + 1) for lo, hi in box.intervals]
        pairs = ((x, x) for x in codes[0]) if relation.kind == "same" else product(*codes)
        return [
            (self._gauge(k, x), self._gauge(k, other), *self._constraints(k, x), *self._constraints(k, other))
            for x, other in pairs
            if relation.allows(Fraction(x), Fraction(other))
        ]

    def _gauge(self, k: int, code: Exact) -> Exact:
        table = self._terms.gauge[k]
        return table[0] * code if self._terms.linear[k] else table[int(code)]

    def _constraints(self, k: int, code: Exact) -> Sequence[Exact]:
        terms = self._terms
        adds: list[Exact] = [0] * len(terms.bounds)
        for j, weight in terms.weights[k]:
            adds[j] = weight * (code if terms.linear[k] else terms.worths[k][int(code)])
        return adds

    def _judge(self, largest: dict[Exact, Exact]) -> Fraction | None:
        """The smallest clearance of the pairs, or None if there are none; refuses a witness."""
        asked, scale = self._claim.asked, self._terms.scale
        smallest: Fraction | None = None
        top: Exact | None = None
        for scaled_other in sorted(largest):
            if top is not None and largest[scaled_other] <= top:
                continue
            top = largest[scaled_other]
            s, other = Fraction(top) / scale, Fraction(scaled_other) / scale
            if asked.broken_by(s, other):
                raise LeafRefused("enumerated: the cell holds a witness")
            clearance = asked.clearance(s, other)
            smallest = clearance if smallest is None else min(smallest, clearance)
        return smallest


def _added(sums: Sums, more: Sums) -> Sums:
    return tuple(map(add, sums, more))


def _together(start: Sums, options: list[list[Sums]]) -> list[Sums]:
    found = [start]
    for offered in options:
        found = [_added(sums, more) for sums in found for more in offered]
    return found
