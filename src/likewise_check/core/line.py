"""A line and its maximum over cells: the B of the rules `separable` and `empty` (section 4).

    a g(x) - b g(x') - sum_j m_j h_j(x) - sum_j m_(J+j) h_j(x')  =  constant + sum_k u_k(x_k) + v_k(x'_k)

The groups are the features. Values carry a positive scale that makes them ints where denominators are small: it saves time and changes nothing else. The
maxima of one feature: `maxima`, or those of its curves.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, TypeAlias

from likewise_check.core.affine import Affine, Curve, zero_body
from likewise_check.core.bound import sum_maxima
from likewise_check.core.cells import Box, Cell
from likewise_check.core.deadline import look_at_clock
from likewise_check.core.lemma import Lemma
from likewise_check.core.maxima import linear_maximum, table_maximum
from likewise_check.core.numbers import Exact, common_scale, int_if_whole
from likewise_check.core.space import joint_limit

MOST_BOXES = (
    1 << 16
)  # whose maxima a line keeps, as neighbouring cells share most boxes; dropped beyond, which changes nothing but time
MOST_LINES = 16  # that a rule keeps: leaves of a proof share a few

Weighed: TypeAlias = tuple[tuple[Exact, ...], list[tuple[int, Exact]]]
_CODE_ITSELF = (1,)  # of linear features: what their slope multiplies


@dataclass(frozen=True, slots=True, kw_only=True)
class _Score:
    """constant + the sum of what features add: one value a level, or a slope, or a curve in its place."""

    constant: Exact
    tables: list[list[Exact]]
    curves: list[Curve | None]

    @classmethod
    def of(cls, body: Affine, slope: Fraction, offset: Fraction) -> "_Score":
        """slope * f + offset."""
        return cls(
            constant=slope * body.constant + offset,
            tables=[[slope * entry for entry in table] for table in body.tables],
            curves=[curve and curve.times(slope) for curve in body.curves],
        )

    def numbers(self) -> Iterator[Exact]:
        return chain([self.constant], *self.tables, *(curve.numbers() for curve in self.curves if curve))

    def times(self, scale: int) -> "_Score":
        return _Score(
            constant=int_if_whole(scale * self.constant),
            tables=[[int_if_whole(scale * entry) for entry in table] for table in self.tables],
            curves=[curve and curve.times(scale) for curve in self.curves],
        )


class Terms:
    """g and the constraints' h of one lemma, feature by feature, times one scale; shared by all lines."""

    def __init__(self, lemma: Lemma) -> None:
        features, constraints = lemma.space.features, lemma.space.constraints
        first, second = lemma.first, lemma.second
        if not isinstance(first, Affine) or not isinstance(second, Affine):
            first = second = zero_body(lemma.space)  # only constraints are looked at
        bodies = [first] if second is first else [first, second]
        self.relations, self.linear = lemma.similarity, first.linear
        self.limit = joint_limit(lemma.similarity)
        # For each feature: values of its codes, shared by all that have the same, and who weighs them: constraint, weight.
        shared: list[dict[int, Weighed]] = [{} for _ in features]
        for j, constraint in enumerate(constraints):
            for term in constraint.terms:
                values = term.values or _CODE_ITSELF
                _, members = shared[term.feature].setdefault(id(values), (values, []))
                members.append((j, term.weight))
        weighed = [list(known.values()) for known in shared]
        products = (
            Fraction(1, weight.denominator * scale)
            for values, members in chain(*weighed)
            for scale in [common_scale(values)]
            for _, weight in members
        )
        scores = [_Score.of(body, lemma.slope, lemma.offset) for body in bodies]
        numbers = chain(*(score.numbers() for score in scores), products, (c.bound for c in constraints))
        self.scale = scale = common_scale(numbers)
        scores = [score.times(scale) for score in scores]
        self.first, self.second = scores[0], scores[-1]  # of x and of x'
        self.bounds = [int_if_whole(scale * constraint.bound) for constraint in constraints]
        self.weights: list[list[Weighed]] = [
            [
                (values, [(j, int_if_whole(scale * weight)) for j, weight in members])
                for values, members in known
            ]
            for known in weighed
        ]


class Line:
    """One choice of a, b and multipliers, and of what an allowance takes off, made for a scale (section 21); `maximum` over a cell is in units of 1 / scale."""

    def __init__(
        self,
        terms: Terms,
        a: Fraction,
        b: Fraction,
        multipliers: list[Fraction],
        allowed: Callable[[int], Any] | None = None,
    ) -> None:
        own = multipliers[: 2 * len(terms.bounds)]
        factor = common_scale([a, b, *own])
        factors = [int_if_whole(factor * m) for m in own]
        half = len(factors) // 2
        self._terms = terms
        self._at_x = int_if_whole(factor * a), factors[:half]
        self._at_other = int_if_whole(-factor * b), factors[half:]
        self._constant = self._at_x[0] * terms.first.constant + self._at_other[0] * terms.second.constant
        self._constant += sum(m * bound for m, bound in zip(factors, terms.bounds * 2, strict=True))
        self._largest: dict[int, Callable[[Box], Exact | None]] = {}
        self._known: list[dict[object, Exact | None]] = [{} for _ in terms.linear]
        self._kept = 0
        self.scale = terms.scale * factor
        joint = multipliers[len(own) :]
        self._penalty = terms.limit.penalty(joint, self.scale) if terms.limit and joint else None
        if allowed is not None:
            self._penalty = allowed(self.scale).beside(self._penalty)
        if self._penalty is not None:
            self._constant += self._penalty.constant

    def maximum(self, cell: Cell) -> Exact | None:
        """B * scale over the cell; None for minus infinity: no points satisfy the relations."""
        return sum_maxima(self._constant, map(self._feature_maximum, range(len(cell)), cell, self._known))

    def _feature_maximum(self, k: int, box: Box, known: dict[object, Exact | None]) -> Exact | None:
        key = box.key if self._penalty is None else (box.key, box.difference)
        if key not in known:
            look_at_clock()
            self._kept += 1
            if self._kept % MOST_BOXES == 0:
                self._known = [{} for _ in self._known]
            if k not in self._largest:
                self._largest[k] = self._prepared(k)
            known[key] = self._largest[k](box)
        return known[key]

    def _prepared(self, k: int) -> Callable[[Box], Exact | None]:
        """The maximum of u_k + v_k, less what the joint limit takes, as a function of a box."""
        terms, relation, penalty = self._terms, self._terms.relations[k], self._penalty
        u = self._side(k, terms.first.tables[k], *self._at_x)
        v = self._side(k, terms.second.tables[k], *self._at_other)
        if penalty is not None:
            u, v = penalty.moved(k, u, 1), penalty.moved(k, v, -1)
        curve, other, curved = terms.first.curves[k], terms.second.curves[k], None
        if curve and other and (self._at_x[0] or self._at_other[0]):
            curved = curve.beside(other, relation, (self._at_x[0], u[0]), (self._at_other[0], v[0]))
        less: Callable[[Box], Exact | None] | None = (
            None if penalty is None else penalty.maximum(k, u, v, relation, curved)
        )
        if less is not None:
            return less
        if curved is not None:
            return curved
        if terms.linear[k]:
            return lambda box: linear_maximum(u[0], v[0], box, relation)
        return lambda box: table_maximum(u, v, box, relation)

    def _side(self, k: int, table: list[Exact], factor: Exact, multipliers: list[Exact]) -> list[Exact]:
        """u_k or v_k: the slope of a linear feature, or one value a level."""
        side = [factor * entry for entry in table]
        for values, members in self._terms.weights[k]:
            weight: Exact = sum(multipliers[j] * w for j, w in members)
            if weight:
                side = [int_if_whole(old - weight * value) for old, value in zip(side, values, strict=True)]
        return side
