"""Lines of scores inside of a body (section 17): `[T, rule, ...]` shows way h(x) - (1 - way) h(x') <= T on a cell, h the score or its negation, by a rule of the score's own body.

What sums and nested bodies have in common.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from likewise_check.core.body import Body
from likewise_check.core.bound import LINE, line_text
from likewise_check.core.cells import NO_PAIR, Cell, Holds
from likewise_check.core.fields import Rejected
from likewise_check.core.lemma import Lemma
from likewise_check.core.numbers import number
from likewise_check.core.registry import find_entry

RULES = (
    "separable",
    "kernel",
    "chords",
    "mixed",
    "polynomial",
    "trees",
    "network",
)  # that lines are shown by


class NoPair(Exception):
    """A line shows that the cell holds no pair."""


class Lines:
    """The rules of the scores inside, prepared for the pairs of one lemma."""

    def __init__(self, lemma: Lemma, bodies: Sequence[Body]) -> None:
        self._lemma, self._bodies = lemma, bodies
        self._rules: dict[tuple[int, str, int], Callable[[list[object], Cell], Holds]] = {}

    def show(self, k: int, sign: int, way: Fraction, item: object, cell: Cell) -> Fraction:
        """T of a line [T, rule, ...]: that way h(x) - (1 - way) h(x') <= T at every pair of the cell, h score k times the sign, is shown by the rule."""
        if type(item) is not list or len(item) < 2 or item[1] not in RULES:
            raise Rejected(f"a line of a part is [T, rule, ...], its rule one of {', '.join(RULES)}")
        threshold, name = number(item[0], "the T of a line"), str(item[1])
        key = k, name, sign
        if key not in self._rules:
            self._rules[key] = find_entry("RULES", name)(self._lemma_of(self._bodies[k], sign))
        holds = self._rules[key]([name, line_text(way, threshold), *item[2:]], cell)
        if holds is NO_PAIR:
            raise NoPair
        return threshold

    def _lemma_of(self, body: Body, sign: int) -> Lemma:
        return Lemma(
            space=self._lemma.space,
            similarity=self._lemma.similarity,
            first=body,
            second=body,
            asked=LINE,
            slope=Fraction(sign),
            strict=(True, True),
        )
