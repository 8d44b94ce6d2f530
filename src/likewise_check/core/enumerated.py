"""Rule `["enumerated"]` (section 4): every point of the cell is looked at.

Each feature offers the codes (x_k, x'_k) of its box that satisfy its relation; points that break a constraint are no pairs. As W and the clearance are monotone in
(s, -s'), only the pairs that no other exceeds in both are judged: for each s' the largest s, and of those, by rising s', the ones whose s exceeds all before.

Scores of affine bodies add up over the features: points are put together feature by feature, from the sums (s', h_1(x), ..., h_J(x), h_1(x'), ..., h_J(x')) of which only
the largest s counts. Other bodies are asked pair by pair, and so are all where features keep a limit together; where they have no clearance, or there is more than one score, whether the pair is a witness.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from operator import add
from typing import TypeAlias

from likewise_check.core.affine import Affine
from likewise_check.core.body import Body
from likewise_check.core.cells import Box, Cell, Holds, LeafRefused
from likewise_check.core.deadline import look_at_clock
from likewise_check.core.fields import Rejected
from likewise_check.core.lemma import Lemma
from likewise_check.core.line import Terms
from likewise_check.core.numbers import Exact
from likewise_check.core.space import are_near, joint_limit

MOST_POINTS = 1 << 20
MOST_TERMS = 1 << 20  # points times terms, where scores are irrational
MOST_SUMS = 1 << 22  # of constraints at points, which are kept while a cell is looked at
MOST_INDIVIDUALS = 1 << 14  # whose scores are kept within a cell

Codes: TypeAlias = tuple[Fraction, ...]
Sums: TypeAlias = tuple[Exact, ...]  # s', then h_1(x), ..., h_J(x')
Largest: TypeAlias = dict[Exact, Exact]  # for each s' the largest s


class Enumerated:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        self._lemma, self._terms = lemma, Terms(lemma)

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether no point of the cell is a witness."""
        if len(leaf) != 1:
            raise Rejected('an enumerated leaf is ["enumerated"]')
        points = 1
        for feature, box in zip(self._lemma.space.features, cell, strict=True):
            for lo, hi in box.intervals:
                if lo != hi and not feature.discrete:
                    raise LeafRefused("enumerated: a continuous variable is not down to one value")
                points *= int(hi - lo) + 1
                if points > MOST_POINTS:
                    raise LeafRefused(f"enumerated: more than {MOST_POINTS} points")
        if not self._lemma.first.rational and points * _count_terms(self._lemma.first) > MOST_TERMS:
            raise LeafRefused(f"enumerated: more than {MOST_TERMS} terms of scores at all points")
        if self._lemma.outcome or not self._lemma.first.clears:
            clearance = self._look(cell)
        elif self._lemma.asked.allowance is not None:
            clearance = self._judge_pairs(cell)
        elif (
            isinstance(self._lemma.first, Affine)
            and joint_limit(self._lemma.similarity) is None
            and points * len(self._terms.bounds) <= MOST_SUMS
        ):
            clearance = self._judge(self._add_up(cell), self._terms.scale)
        else:
            clearance = self._judge(self._evaluate(cell), 1)
        return Holds(clearance=clearance, points=points)

    def _pairs_of_codes(self, k: int, box: Box) -> list[tuple[Exact, Exact]]:
        relation = self._lemma.similarity[k]
        codes = [[lo] if lo == hi else range(int(lo), int(hi) + 1) for lo, hi in box.intervals]
        pairs = ((x, x) for x in codes[0]) if relation.kind == "same" else product(*codes)
        return [(x, other) for x, other in pairs if relation.allows(Fraction(x), Fraction(other))]

    def _pairs(self, cell: Cell) -> Iterator[tuple[Codes, Codes]]:
        satisfied, similarity = self._lemma.space.satisfied_by, self._lemma.similarity
        for chosen in product(*(self._pairs_of_codes(k, box) for k, box in enumerate(cell))):
            look_at_clock()
            x, other = (tuple(Fraction(codes[side]) for codes in chosen) for side in (0, 1))
            if satisfied(x) and satisfied(other) and are_near(similarity, x, other):
                yield x, other

    def _look(self, cell: Cell) -> Fraction | None:
        """Looks at every pair; 0, or None if there are none; refuses a witness."""
        found = None
        for x, other in self._pairs(cell):
            if self._lemma.broken_by(x, other):
                raise LeafRefused("enumerated: the cell holds a witness")
            found = Fraction(0)
        return found

    def _evaluate(self, cell: Cell) -> Largest:
        """From the scores of every pair, which are rational."""
        lemma, largest = self._lemma, dict[Exact, Exact]()
        here, there = (
            lru_cache(MOST_INDIVIDUALS)(lambda x, body=body: lemma.gauge(body.ends(x, 0)[0][0]))
            for body in (lemma.first, lemma.second)
        )
        for x, other in self._pairs(cell):
            s, after = here(x), there(other)
            largest[after] = max(s, largest.get(after, s))
        return largest

    def _judge_pairs(self, cell: Cell) -> Fraction | None:
        """The smallest clearance, pair by pair, as what is asked depends on the pair (section 21)."""
        lemma, smallest = self._lemma, None
        for x, other in self._pairs(cell):
            asked, scores = (
                lemma.asked.at_pair(x, other),
                (lemma.first.ends(x, 0), lemma.second.ends(other, 0)),
            )
            s, after = (lemma.gauge(ends[0][0]) for ends in scores)
            if asked.broken_by(s, after):
                raise LeafRefused("enumerated: the cell holds a witness")
            clearance = asked.clearance(s, after)
            smallest = clearance if smallest is None else min(smallest, clearance)
        return smallest

    def _add_up(self, cell: Cell) -> Largest:
        """From the sums of all points, times the terms' scale; features with many codes come last, to keep few sums for long."""
        terms = self._terms
        parts = sorted((self._parts(k, box) for k, box in enumerate(cell)), key=len)
        start: Sums = (terms.second.constant, *(-bound for bound in terms.bounds * 2))
        found: dict[Sums, Exact] = {start: terms.first.constant}
        for added in parts[:-1]:
            look_at_clock()
            found = self._largest_sums(found, added)
        largest: Largest = {}
        for sums, s in found.items():
            look_at_clock()
            for more, gain in parts[-1]:
                other, *constraints = map(add, sums, more)
                if all(h <= 0 for h in constraints) and (other not in largest or s + gain > largest[other]):
                    largest[other] = s + gain
        return largest

    def _largest_sums(self, found: dict[Sums, Exact], added: list[tuple[Sums, Exact]]) -> dict[Sums, Exact]:
        largest: dict[Sums, Exact] = {}
        for sums, s in found.items():
            look_at_clock()
            for more, gain in added:
                key = tuple(map(add, sums, more))
                if key not in largest or s + gain > largest[key]:
                    largest[key] = s + gain
        return largest

    def _parts(self, k: int, box: Box) -> list[tuple[Sums, Exact]]:
        """What each pair of codes of a feature adds: to the sums, and to s."""
        parts = []
        for codes in self._pairs_of_codes(k, box):
            scores: list[Exact] = []
            constraints: list[list[Exact]] = []
            for code, score in zip(codes, (self._terms.first, self._terms.second), strict=True):
                linear, table, curve = self._terms.linear[k], score.tables[k], score.curves[k]
                scores.append(curve.at(code) if curve else table[0] * code if linear else table[int(code)])
                constraints.append([0] * len(self._terms.bounds))
                for values, weights in self._terms.weights[k]:
                    value = code if linear else values[int(code)]
                    for j, weight in weights:
                        constraints[-1][j] += weight * value
            parts.append(((scores[1], *constraints[0], *constraints[1]), scores[0]))
        return parts

    def _judge(self, largest: Largest, scale: int) -> Fraction | None:
        """The smallest clearance of the pairs, or None if there are none; refuses a witness. Scores carry a scale."""
        asked = self._lemma.asked
        smallest: Fraction | None = None
        top: Exact | None = None
        for scaled_other in sorted(largest):
            look_at_clock()
            if top is not None and largest[scaled_other] <= top:
                continue
            top = largest[scaled_other]
            s, other = Fraction(top) / scale, Fraction(scaled_other) / scale
            if asked.broken_by(s, other):
                raise LeafRefused("enumerated: the cell holds a witness")
            clearance = asked.clearance(s, other)
            smallest = clearance if smallest is None else min(smallest, clearance)
        return smallest


def _count_terms(body: Body) -> int:
    """How many exponentials a score of a body takes that is a sum of them, or is made of such bodies."""
    parts: Sequence[Body] = getattr(body, "bodies", ())
    return sum(map(_count_terms, parts)) if parts else len(getattr(body, "coefficients", ()))
