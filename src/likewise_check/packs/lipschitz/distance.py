"""The allowance L e(x, x') of a property `lipschitz` (section 21): e of two individuals, the least e of a cell, and what numbers y of the dual unit ball take from a line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from likewise_check.core.cells import Box, Cell
from likewise_check.core.fields import Rejected, anything, array_of, record
from likewise_check.core.lemma import Lemma
from likewise_check.core.maxima import table_maximum
from likewise_check.core.numbers import Exact, int_if_whole, lower_root, readable_number
from likewise_check.core.space import Relation, Space
from likewise_check.packs.distance.cost import Cost, Each, limits_of_difference
from likewise_check.packs.distance.limit import MOST_FORMS, Form, read_forms, read_terms
from likewise_check.packs.distance.penalty import Penalty
from likewise_check.packs.lipschitz.rules import prepare_eased

Norm = int | str
HOW = {1: "the sum of", 2: "the root of the sum of the squares of", "max": "the largest of"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """L times a norm of costs and forms."""

    constant: Fraction
    norm: Norm
    costs: dict[int, Cost]  # of power 1
    forms: tuple[Form, ...]
    levels: tuple[int, ...]  # of the features: how many

    def in_words(self) -> str:
        """What is added to delta."""
        return f"{readable_number(self.constant)} times their distance (see the details)"

    def details(self, names: Sequence[str]) -> str:
        """The distance, term by term."""
        parts = [cost.in_words(names[k]) for k, cost in self.costs.items()]
        parts += [f"the root of {form.in_words(names)}" for form in self.forms]
        return f"{HOW[self.norm]} {', '.join(parts)}"

    def square(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        """(L e)^2 of two individuals."""
        costs = [Fraction(cost.powered(x[k], other[k])) for k, cost in self.costs.items()]
        return self._square(costs, [form.square(x, other) for form in self.forms])

    def _square(self, costs: Sequence[Fraction], squares: Sequence[Fraction]) -> Fraction:
        if self.norm == 1:
            return (self.constant * sum(costs)) ** 2
        if self.norm == "max":
            return (self.constant * max(costs)) ** 2
        return self.constant**2 * (sum(cost * cost for cost in costs) + sum(squares, Fraction(0)))

    def least(self, cell: Cell, similarity: Sequence[Relation]) -> Fraction | None:
        """A number that L e is not below at any pair of a cell; None if there is none."""
        costs, squares = [], []
        for k, cost in self.costs.items():
            nothing: list[Exact] = [0] * max(1, self.levels[k])
            best: Exact | None = 0
            if similarity[k].kind != "same":
                best = cost.largest(nothing, nothing, 1, cell[k], similarity[k])
            if best is None:
                return None
            costs.append(Fraction(-best))
        for form in self.forms:
            ends = [
                self._form_range(form, k, cell[k], similarity[k])
                for k in form.alpha
                if similarity[k].kind != "same"
            ]
            if any(end is None for end in ends):
                return None
            low, high = (sum((end[side] for end in ends if end), Fraction(0)) for side in (0, 1))
            nearest = max(low, -high, Fraction(0))
            squares.append(form.weight * nearest * nearest)
        return lower_root(self._square(costs, squares))

    def _form_range(
        self, form: Form, k: int, box: Box, relation: Relation
    ) -> tuple[Fraction, Fraction] | None:
        """The least and the largest alpha_k(x') - alpha_k(x) of a box; None without codes."""
        values = form.alpha[k]
        if k in form.linear:
            least, most = limits_of_difference(box, relation)
            found = [Fraction(values[0] * least), Fraction(values[0] * most)] if least <= most else []
        else:
            negative = [-a for a in values]
            fall = table_maximum(values, negative, box, relation)
            rise = table_maximum(negative, values, box, relation)
            found = [] if fall is None or rise is None else [Fraction(-fall), Fraction(rise)]
        return (min(found), max(found)) if found else None

    def dual(self, y: Sequence[Fraction]) -> bool:
        """Whether numbers, one a term and one a form, are in the dual unit ball: e is at least their sum with costs and forms."""
        own, formed = y[: len(self.costs)], y[len(self.costs) :]
        if min(own, default=0) < 0:
            return False
        if self.norm == 1:
            return max(own) <= 1
        if self.norm == "max":
            return sum(own) <= 1
        weighed = (z * z / form.weight for z, form in zip(formed, self.forms, strict=True))
        return sum(z * z for z in own) + sum(weighed, Fraction(0)) <= 1

    def penalty(self, y: Sequence[Fraction], scale: Exact) -> Penalty:
        """What such numbers take from a line, half of L times their sum, in units of 1 / scale."""
        half = self.constant * scale / 2
        costs = {
            k: cost.times(int_if_whole(half * z))
            for (k, cost), z in zip(self.costs.items(), y[: len(self.costs)], strict=True)
            if z
        }
        sides: dict[int, list[Exact]] = {}
        for form, z in zip(self.forms, y[len(self.costs) :], strict=True):
            for k, values in form.alpha.items():
                old = sides.get(k, [0] * len(values))
                sides[k] = [a + int_if_whole(half * z * b) for a, b in zip(old, values, strict=True)]
        return Penalty(weight=1, constant=0, sides=sides, costs=costs)

    def steepest(self, slopes: dict[int, Fraction]) -> bool:
        """Whether a score whose derivatives are at most these in size changes no faster than L e (rule `slope`)."""
        shares = []
        for k, slope in slopes.items():
            cost = self.costs.get(k)
            if slope and not (isinstance(cost, Each) and cost.each):
                return False
            if slope and isinstance(cost, Each):
                shares.append(slope / cost.each)
        if self.norm == 1:
            return max(shares, default=Fraction(0)) <= self.constant
        if self.norm == "max":
            return sum(shares, Fraction(0)) <= self.constant
        return sum((share * share for share in shares), Fraction(0)) <= self.constant**2

    def prepared(self, name: str, rule: Callable[[Lemma], Any], lemma: Lemma) -> Any:
        """A rule, told by how much scores may be apart."""
        return prepare_eased(self, name, rule, lemma)


def read_allowance(constant: Fraction, item: object, space: Space) -> Distance:
    """The constant and the distance of a property line."""
    norm, terms, forms = record(
        item,
        "the distance",
        norm=_read_norm,
        terms=array_of(anything),
        forms=array_of(array_of(anything, 2)),
    )
    if constant < 0 or not (terms or forms) or len(forms) > MOST_FORMS or (forms and norm != 2):
        raise Rejected(
            "a distance has terms, or forms with norm 2, not too many, and a constant of at least 0"
        )
    return Distance(
        constant=constant,
        norm=norm,
        costs=read_terms(terms, space, 1),
        forms=read_forms(forms, space),
        levels=tuple(feature.levels for feature in space.features),
    )


def _read_norm(item: object, what: str) -> Norm:
    if type(item) is int and item in (1, 2):
        return item
    if item != "max":
        raise Rejected(f'{what} must be 1, 2 or "max"')
    return "max"
