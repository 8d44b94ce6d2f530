"""The distance of a similarity line: sums of costs of single features and of squares of forms, and the bound that pairs keep (section 19)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from likewise_check.core.fields import Rejected, anything, array_of, record, whole
from likewise_check.core.numbers import Exact, int_if_whole, number, readable_number
from likewise_check.core.space import Feature, Space
from likewise_check.packs.distance.cost import Cost, Each, Table, Unequal
from likewise_check.packs.distance.penalty import Penalty

MOST_FORMS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """weight * (sum of alpha_k(x'_k) - alpha_k(x_k))^2; alpha by feature: a slope, or one number a level."""

    weight: Fraction
    alpha: dict[int, tuple[Exact, ...]]
    linear: frozenset[int]

    def in_words(self, names: Sequence[str]) -> str:
        """What is squared, for people."""
        of = [
            f"{readable_number(Fraction(values[0]))} {names[k]}"
            if k in self.linear
            else f"a number for each level of {names[k]}"
            for k, values in self.alpha.items()
        ]
        return f"{readable_number(self.weight)} times the square of the difference in ({' + '.join(of)})"

    def square(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        """What the form adds to the distance."""
        z = Fraction(0)
        for k, values in self.alpha.items():
            z += (
                values[0] * (other[k] - x[k])
                if k in self.linear
                else values[int(other[k])] - values[int(x[k])]
            )
        return self.weight * z * z


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """d(x, x') <= bound."""

    costs: dict[int, Cost]
    forms: tuple[Form, ...]
    bound: Fraction

    @property
    def pack(self) -> str:
        return "distance"

    def parts(self) -> None:
        """A proof is about all pairs at once."""

    @property
    def numbers(self) -> int:
        """How many numbers a leaf may have besides the multipliers of constraints."""
        return 1 + len(self.forms)

    def in_words(self, names: Sequence[str]) -> str:
        """The sum that pairs keep, term by term."""
        parts = [cost.in_words(names[k]) for k, cost in self.costs.items()]
        parts += [form.in_words(names) for form in self.forms]
        return f"{' + '.join(parts)} <= {readable_number(self.bound)}"

    def allows(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
        """Whether two individuals are near enough."""
        total = sum((cost.powered(x[k], other[k]) for k, cost in self.costs.items()), Fraction(0))
        return total + sum(form.square(x, other) for form in self.forms) <= self.bound

    def penalty(self, numbers: Sequence[Fraction], scale: int) -> Penalty | None:
        """What the numbers of a leaf take from its line, in units of 1 / scale; None for nothing."""
        if not numbers or not numbers[0]:
            return None
        weight = int_if_whole(numbers[0] * scale)
        constant = weight * self.bound
        sides: dict[int, list[Exact]] = {}
        for form, y in zip(self.forms, numbers[1:], strict=True):
            constant += weight * form.weight * y * y
            factor = 2 * weight * form.weight * y
            for k, values in form.alpha.items():
                old = sides.get(k, [0] * len(values))
                sides[k] = [a + int_if_whole(factor * b) for a, b in zip(old, values, strict=True)]
        return Penalty(weight=weight, constant=int_if_whole(constant), sides=sides, costs=self.costs)


def read_distance(item: object, space: Space) -> Distance:
    """The distance of a similarity line."""
    power, terms, forms, bound = record(
        item,
        "the distance",
        power=whole(1, 2),
        terms=array_of(anything),
        forms=array_of(array_of(anything, 2)),
        bound=number,
    )
    if bound < 0 or not (terms or forms) or len(forms) > MOST_FORMS:
        raise Rejected("a distance has terms or forms, not too many, and a bound of at least 0")
    return Distance(costs=read_terms(terms, space, power), forms=read_forms(forms, space), bound=bound)


def read_terms(terms: Sequence[object], space: Space, power: int) -> dict[int, Cost]:
    """The costs of single features, to a power."""
    costs = [_read_term(term, f"term {i} of the distance", space, power) for i, term in enumerate(terms)]
    _require_rising([k for k, _ in costs], "the terms of the distance")
    return dict(costs)


def read_forms(forms: Sequence[Sequence[object]], space: Space) -> tuple[Form, ...]:
    """The forms whose squares are added up."""
    return tuple(
        _read_form(weight, entries, f"form {j} of the distance", space)
        for j, (weight, entries) in enumerate(forms)
    )


def _require_rising(features: Sequence[int], what: str) -> None:
    if any(late <= early for early, late in pairwise(features)):
        raise Rejected(f"{what}: the features must be strictly increasing")


def _read_feature(index: object, what: str, space: Space) -> tuple[int, Feature]:
    k: int = whole(0, len(space.features) - 1)(index, f"{what}, the feature")
    feature = space.features[k]
    if feature.missing is not None:
        raise Rejected(f"{what}: feature {k} has missing values")
    return k, feature


def _read_term(item: object, what: str, space: Space, power: int) -> tuple[int, Cost]:
    sort = next((key for key in ("each", "unequal", "table") if type(item) is dict and key in item), "each")
    reader = number if sort != "table" else array_of(array_of(number))
    index, found = record(item, what, feature=anything, **{sort: reader})
    k, feature = _read_feature(index, what, space)
    if (feature.kind == "categorical") if sort == "each" else not feature.levels:
        raise Rejected(f"{what}: not a cost of a feature that is {feature.kind}")
    if sort == "table":
        if [len(row) for row in found] != list(range(1, feature.levels)):
            raise Rejected(f"{what}: row i of the table must have i entries, for all levels but the first")
        _require_costs([entry for row in found for entry in row], what)
        return k, Table(tuple(tuple(int_if_whole(entry**power) for entry in row) for row in found))
    _require_costs([found], what)
    if sort == "unequal":
        return k, Unequal(int_if_whole(found**power))
    return k, Each(int_if_whole(found**power), power, feature.levels > 0)


def _require_costs(found: Sequence[Fraction], what: str) -> None:
    if min(found, default=0) < 0:
        raise Rejected(f"{what}: a cost is negative")


def _read_form(weight: object, entries: object, what: str, space: Space) -> Form:
    found: list[list[Any]] = array_of(array_of(anything, 2))(entries, what)
    size = number(weight, f"{what}, the weight")
    if size <= 0 or not found:
        raise Rejected(f"{what} must have a weight above 0 and at least one feature")
    alpha: dict[int, tuple[Exact, ...]] = {}
    linear = set()
    for index, values in found:
        k, feature = _read_feature(index, what, space)
        _require_rising([*alpha, k], what)
        if type(values) is list:
            if not feature.levels:
                raise Rejected(f"{what}: feature {k} has no levels")
            alpha[k] = tuple(map(int_if_whole, array_of(number, feature.levels)(values, what)))
            continue
        if feature.kind == "categorical":
            raise Rejected(f"{what}: the levels of feature {k} have no order")
        slope = int_if_whole(number(values, what))
        if feature.levels:  # as a table, which bounds of levels are made of
            alpha[k] = tuple(slope * level for level in range(feature.levels))
        else:
            alpha[k] = (slope,)
            linear.add(k)
    return Form(weight=size, alpha=alpha, linear=frozenset(linear))
