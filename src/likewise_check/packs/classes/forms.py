"""Maxima over cells of forms of the scores at x and at x', for the rules of softmax probabilities (section 10): as in `separable` and `trees`.

d_1, ..., d_m are the f_k - f_c of the classes k other than the case's c.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias, cast

from likewise_check.core.affine import Affine
from likewise_check.core.cells import Cell
from likewise_check.core.claim import Claim
from likewise_check.core.fields import Rejected
from likewise_check.core.line import Line, Terms
from likewise_check.core.model import Model
from likewise_check.core.separable import KEPT
from likewise_check.packs.classes.head import Form
from likewise_check.packs.classes.scores import Several
from likewise_check.packs.trees.body import Trees
from likewise_check.packs.trees.rule import forest_of

Alpha: TypeAlias = Mapping[int, Fraction]  # factors of scores


class NoPair(Exception):
    """No points of the cell satisfy the relations."""


class Forms:
    """The forms of one case over cells; `gaps` are d_1, ..., d_m."""

    def __init__(self, claim: Claim, rule: str) -> None:
        body, case = claim.model.body, claim.case
        asked = claim.asked.kind == "probability" and claim.model.classes
        if case is None or not isinstance(body, Several) or not asked or asked.link != "softmax":
            raise Rejected(f"{rule}: only for cases of probabilities with the softmax link")
        if not isinstance(body.bodies[0], Affine | Trees):
            raise Rejected(f"{rule}: only for bodies that are affine or trees")
        others = (k for k in range(body.classes.count) if k != case.i)
        self.gaps: list[Alpha] = [{k: Fraction(1), case.i: Fraction(-1)} for k in others]
        self._claim, self._body = claim, body
        self.multipliers = 0 if isinstance(body.bodies[0], Trees) else 2 * len(claim.space.constraints)
        self._lines: dict[object, Line] = {}
        self._kept = 0

    def largest(
        self, first: Alpha, second: Alpha, cell: Cell, multipliers: Sequence[Fraction] = ()
    ) -> Fraction:
        """The maximum over the cell of the first form at x plus the second at x', less multiples of the constraints."""
        key = tuple(first.items()), tuple((c, -factor) for c, factor in second.items()), tuple(multipliers)
        if isinstance(self._body.bodies[0], Trees):
            found = self._of_trees(*key[:2], cell)
        else:
            found = self._of_line(key, cell)
        if found is None:
            raise NoPair
        return found

    def _of_trees(self, first: Form, opposite: Form, cell: Cell) -> Fraction | None:
        own, other = (cast(Trees, self._body.form(form)) for form in (first, opposite))
        return forest_of(self._claim, own).maximum(cell, own, other, Fraction(1), Fraction(1))

    def _of_line(self, key: tuple[Form, Form, tuple[Fraction, ...]], cell: Cell) -> Fraction | None:
        if self._kept > KEPT:
            self._lines, self._kept = {}, 0
        if key not in self._lines:
            own, other = self._body.form(key[0]), self._body.form(key[1])
            terms = Terms(replace(self._claim, model=Model(body=own), other=other))
            zeros = [Fraction(0)] * self.multipliers
            self._lines[key] = Line(terms, Fraction(1), Fraction(1), list(key[2]) or zeros)
        line = self._lines[key]
        self._kept -= line.kept
        maximum = line.maximum(cell)
        self._kept += line.kept
        return None if maximum is None else Fraction(maximum) / line.scale


def combined(factors: Sequence[Fraction], forms: Sequence[Alpha]) -> Alpha:
    """The sum of factor * form, without what is 0."""
    total: dict[int, Fraction] = {}
    for factor, form in zip(factors, forms, strict=True):
        for c, amount in form.items():
            total[c] = total.get(c, Fraction(0)) + factor * amount
    return {c: total[c] for c in sorted(total) if total[c]}
