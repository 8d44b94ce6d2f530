"""Maxima over cells of forms of the scores at x and at x', for the rules of softmax probabilities (section 10): as in `separable` (here) and in `trees`.

d_1, ..., d_m are the f_k - f_c of the classes k other than the case's c. Which bodies have such maxima the registry knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, cast

from likewise_check.core.body import Form, Scores
from likewise_check.core.cells import Cell
from likewise_check.core.fields import Rejected
from likewise_check.core.lemma import Lemma
from likewise_check.core.line import MOST_LINES, Line, Terms
from likewise_check.core.registry import find_entry, known_names
from likewise_check.packs.classes.outcome import ClassOutcome

Alpha: TypeAlias = Mapping[int, Fraction]  # factors of scores


class NoPair(Exception):
    """No points of the cell satisfy the relations."""


class Forms:
    """The forms of one case over cells; `gaps` are d_1, ..., d_m, `multipliers` how many a bound may have."""

    def __init__(self, lemma: Lemma, rule: str) -> None:
        outcome = lemma.outcome
        if not isinstance(outcome, ClassOutcome) or outcome.only is None or outcome.classes.link != "softmax":
            raise Rejected(f"{rule}: only for cases of probabilities with the softmax link")
        if lemma.asked.kind != "probability":
            raise Rejected(f"{rule}: only for cases of probabilities with the softmax link")
        if lemma.first.kind not in known_names("MAXIMA"):
            raise Rejected(f"{rule}: only for bodies that are {' or '.join(known_names('MAXIMA'))}")
        c, others = outcome.only[0], (k for k in range(outcome.classes.count) if k != outcome.only[0])
        self.gaps: list[Alpha] = [{k: Fraction(1), c: Fraction(-1)} for k in others]
        self._maxima = find_entry("MAXIMA", lemma.first.kind)(lemma, cast(Scores, lemma.first))
        self.multipliers: int = self._maxima.multipliers

    def largest(
        self, first: Alpha, second: Alpha, cell: Cell, multipliers: Sequence[Fraction] = ()
    ) -> Fraction:
        """The maximum over the cell of the first form at x plus the second at x', less multiples of the constraints."""
        opposite = tuple((c, -factor) for c, factor in second.items())
        found: Fraction | None = self._maxima.largest(
            tuple(first.items()), opposite, cell, tuple(multipliers)
        )
        if found is None:
            raise NoPair
        return found


def combine_forms(factors: Sequence[Fraction], forms: Sequence[Alpha]) -> Alpha:
    """The sum of factor * form, without what is 0."""
    total: dict[int, Fraction] = {}
    for factor, form in zip(factors, forms, strict=True):
        for c, amount in form.items():
            total[c] = total.get(c, Fraction(0)) + factor * amount
    return {c: total[c] for c in sorted(total) if total[c]}


class LineMaxima:
    """Maxima over cells of one form of the scores of an affine body at x less another at x', less multiples of the constraints."""

    def __init__(self, lemma: Lemma, body: Scores) -> None:
        self.multipliers = 2 * len(lemma.space.constraints)
        self._lemma, self._body = lemma, body
        self._line = lru_cache(MOST_LINES)(self._make_line)

    def largest(
        self, first: Form, second: Form, cell: Cell, multipliers: tuple[Fraction, ...]
    ) -> Fraction | None:
        """The maximum, or None for minus infinity."""
        line = self._line(first, second, multipliers)
        maximum = line.maximum(cell)
        return None if maximum is None else Fraction(maximum) / line.scale

    def _make_line(self, first: Form, second: Form, multipliers: tuple[Fraction, ...]) -> Line:
        lemma = replace(self._lemma, first=self._body.form(first), second=self._body.form(second))
        zeros = [Fraction(0)] * self.multipliers
        return Line(Terms(lemma), Fraction(1), Fraction(1), list(multipliers) or zeros)
