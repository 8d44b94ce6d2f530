"""Rule `["enumerated"]`: every point of the cell is looked at.

Each feature offers the codes (x_k, x'_k) of its box that satisfy its relation; each adds to the sums (g(x), g(x'), h_1(x), ...,
h_J(x), h_1(x'), ..., h_J(x')). The sums of some features are kept in a short list, so that most points cost one addition of two
vectors. Points that break a constraint are no pairs. As W and the clearance are monotone in (s, -s'), only the pairs that no
other exceeds in both are judged: for each s' the largest s, and of those, by rising s', the ones whose s exceeds all before.

Scores of other bodies than affine ones are no sums over features: there, pair by pair is looked at (kernel bodies: by enclosures, as scores are
irrational), and the clearance counts as 0, except for trees. Models with
classes are looked at in the same way.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product
from operator import add
from typing import TypeAlias

from likewise_check.core.affine import Affine
from likewise_check.core.cells import Box, Cell, Holds, LeafRefused
from likewise_check.core.claim import Claim
from likewise_check.core.fields import Rejected
from likewise_check.core.line import Terms
from likewise_check.core.numbers import Exact
from likewise_check.packs.classes.outcomes import Outcomes
from likewise_check.packs.classes.scores import Several
from likewise_check.packs.combined.body import Combined, enclosed
from likewise_check.packs.kernel.body import Rbf, breaks
from likewise_check.packs.trees.body import Trees

MOST_POINTS = 1 << 20
_SHORT = 1 << 10

Codes: TypeAlias = tuple[Fraction, ...]
Sums: TypeAlias = tuple[Exact, ...]
Options: TypeAlias = tuple[int, list[tuple[Exact, Exact]]]  # a feature and its pairs of codes


class Enumerated:
    """The rule, prepared for one claim."""

    def __init__(self, claim: Claim) -> None:
        self._claim, self._terms = claim, Terms(claim)
        body = claim.model.body
        if isinstance(body, Several):
            self._outcomes = Outcomes(claim.asked, body)

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether no point of the cell is a witness."""
        if len(leaf) != 1:
            raise Rejected('an enumerated leaf is ["enumerated"]')
        points = 1
        for feature, box in zip(self._claim.space.features, cell, strict=True):
            for lo, hi in box.intervals:
                if lo != hi and not feature.discrete:
                    raise LeafRefused("enumerated: a continuous variable is not down to one value")
                points *= int(hi - lo) + 1
                if points > MOST_POINTS:
                    raise LeafRefused(f"enumerated: more than {MOST_POINTS} points")
        body = self._claim.model.body
        if isinstance(body, Trees):
            return Holds(clearance=self._judge(self._largest_of_trees(cell, body), 1), points=points)
        if not isinstance(body, Affine):
            return Holds(clearance=self._look(cell), points=points)
        return Holds(clearance=self._judge(self._largest(cell), self._terms.scale), points=points)

    def _valid(self, cell: Cell) -> Iterator[tuple[Codes, Codes]]:
        """The pairs of the cell."""
        satisfied = self._claim.space.satisfied_by
        for chosen in product(*(self._pairs(k, box) for k, box in enumerate(cell))):
            x, other = (tuple(Fraction(codes[side]) for codes in chosen) for side in (0, 1))
            if satisfied(x) and satisfied(other):
                yield x, other

    def _largest_of_trees(self, cell: Cell, body: Trees) -> dict[Exact, Exact]:
        """For each s' the largest s, over the pairs of the cell."""
        gauge = cache(lambda x: self._claim.gauge(body.score(x)))
        largest: dict[Exact, Exact] = {}
        for x, other in self._valid(cell):
            s, after = gauge(x), gauge(other)
            largest[after] = max(s, largest.get(after, s))
        return largest

    def _look(self, cell: Cell) -> Fraction | None:
        """Looks at every pair; 0, or None if there are none; refuses a witness."""
        found = None
        for x, other in self._valid(cell):
            if self._broken_by(x, other):
                raise LeafRefused("enumerated: the cell holds a witness")
            found = Fraction(0)
        return found

    def _broken_by(self, x: Codes, other: Codes) -> bool:
        asked, gauge, body = self._claim.asked, self._claim.gauge, self._claim.model.body
        if isinstance(body, Several):
            return self._outcomes.broken_by(x, other, self._claim.case)
        if isinstance(body, Rbf | Combined):
            return breaks(asked, gauge, partial(enclosed, body), x, other)
        return asked.broken_by(gauge(body.score(x)), gauge(body.score(other)))

    def _largest(self, cell: Cell) -> dict[Exact, Exact]:
        """For each s' the largest s, over the pairs of the cell."""
        options = sorted(
            ((k, self._pairs(k, box)) for k, box in enumerate(cell)), key=lambda option: len(option[1])
        )
        constant, bounds = self._terms.first.constant, self._terms.bounds
        start: Sums = (constant, constant, *(-bound for bound in bounds * 2))
        short, cut, size = [start], 0, 1
        while cut < len(options) and size * len(options[cut][1]) <= _SHORT:
            size *= len(options[cut][1])
            cut += 1
        short = list(self._sums(options[:cut], start))
        largest: dict[Exact, Exact] = {}
        for rest in self._sums(options[cut:], (0,) * len(start)):
            for sums in short:
                s, other, *constraints = map(add, sums, rest)
                if all(h <= 0 for h in constraints) and (other not in largest or s > largest[other]):
                    largest[other] = s
        return largest

    def _pairs(self, k: int, box: Box) -> list[tuple[Exact, Exact]]:
        relation = self._claim.similarity[k]
        codes = [[lo] if lo == hi else range(int(lo), int(hi) + 1) for lo, hi in box.intervals]
        pairs = ((x, x) for x in codes[0]) if relation.kind == "same" else product(*codes)
        return [(x, other) for x, other in pairs if relation.allows(Fraction(x), Fraction(other))]

    def _sums(self, options: list[Options], start: Sums) -> Iterator[Sums]:
        """What each choice of codes for these features adds, one choice after the other."""
        features = [k for k, _ in options]
        for chosen in product(*(pairs for _, pairs in options)):
            sums = list(start)
            for k, codes in zip(features, chosen, strict=True):
                for side, code in enumerate(codes):
                    self._add(sums, k, side, code)
            yield tuple(sums)

    def _add(self, sums: list[Exact], k: int, side: int, code: Exact) -> None:
        terms = self._terms
        gauge, linear, pieces = terms.first.tables[k], terms.linear[k], terms.first.pieces[k]
        sums[side] += pieces.at(code) if pieces else gauge[0] * code if linear else gauge[int(code)]
        for values, weights in terms.weights[k]:
            value = code if linear else values[int(code)]
            for j, weight in weights:
                sums[2 + side * len(terms.bounds) + j] += weight * value

    def _judge(self, largest: dict[Exact, Exact], scale: int) -> Fraction | None:
        """The smallest clearance of the pairs, or None if there are none; refuses a witness. Scores carry a scale."""
        asked = self._claim.asked
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
