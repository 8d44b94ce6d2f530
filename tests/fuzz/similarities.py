"""Similarities: who may stand beside whom, drawn, and tested value by value from the definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from tests.fuzz.choices import Choices, chance, one_of
from tests.fuzz.populations import Attribute, Population

import likewise as lw


@dataclass(frozen=True)
class Weighed:
    """A distance: what a difference of one counts, of numbers and steps, and what two different levels cost."""

    kind: str
    weights: Mapping[str, Fraction]
    levels: tuple[str, ...]  # of the names in weights, those whose levels have a cost
    radius: Fraction

    def declared(self) -> dict[str, Any]:
        said = {name: str(amount) for name, amount in self.weights.items()}
        costs = {name: said.pop(name) for name in self.levels}
        return {"metric": lw.Metric(self.kind, weights=said, costs=costs), "radius": str(self.radius)}

    def near(self, population: Population, person: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        amounts = [Fraction(0)]
        for attribute, value, second in zip(population.attributes, person, other, strict=True):
            if attribute.name in self.weights:
                amounts.append(self.weights[attribute.name] * self._difference(attribute, value, second))
        if self.kind == "l1":
            return sum(amounts) <= self.radius
        if self.kind == "l2":
            return sum(amount**2 for amount in amounts) <= self.radius**2
        return max(amounts) <= self.radius

    def _difference(self, attribute: Attribute, value: Any, other: Any) -> Fraction:
        if attribute.name in self.levels:
            return Fraction(value != other)
        if attribute.kind == "ordinal":
            return Fraction(abs(attribute.values.index(value) - attribute.values.index(other)))
        return abs(Fraction(value) - Fraction(other))


@dataclass(frozen=True)
class Following:
    """A feature that changes along with another one, by so much from one value of that to another; back again by as much less."""

    name: str
    leader: str
    shifts: Mapping[tuple[Any, Any], int]
    room: int

    def declared(self) -> dict[str, Any]:
        return {self.name: lw.Along(self.leader, dict(self.shifts))}

    def fits(self, population: Population, person: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        led, at = (population.names.index(name) for name in (self.leader, self.name))
        shift = self.shifts.get((person[led], other[led]), -self.shifts.get((other[led], person[led]), 0))
        values = [side[at] for side in (person, other)]
        attribute = population.attributes[at]
        if attribute.kind == "ordinal":
            values = [attribute.values.index(value) for value in values]
        return abs(values[1] - values[0] - shift) <= self.room


@dataclass(frozen=True)
class Similar:
    """What is said of each feature; nothing is said of those that must be the same."""

    free: tuple[str, ...] = ()
    within: Mapping[str, Any] = field(default_factory=dict)
    pairs: Mapping[str, tuple[tuple[Any, Any], ...]] = field(default_factory=dict)
    grouped: bool = False
    metric: Weighed | None = None
    follows: Following | None = None
    order: Mapping[str, str] = field(default_factory=dict)  # what the second has more of ("up"), or less

    @property
    def names(self) -> tuple[str, ...]:
        joint = self.metric.weights if self.metric else ()
        follows = (self.follows.name,) if self.follows else ()
        return (*self.free, *self.within, *self.pairs, *joint, *self.order, *follows)

    def declared(self) -> Any:
        if self.grouped:
            groups = [([name], math.inf) for name in self.free]
            return lw.Similarity.groups([*groups, *(([name], t) for name, t in self.within.items())])
        joint = {} if self.metric is None else self.metric.declared()
        if self.order:
            joint["order"] = dict(self.order)
        if self.follows is not None:
            joint["along"] = self.follows.declared()
        return lw.Similarity(free=list(self.free), within=dict(self.within), pairs=dict(self.pairs), **joint)

    def replaced(self, name: str, tolerance: Any) -> Similar:
        """The same with another tolerance of one feature; none at all if it is zero."""
        within = {k: t for k, t in self.within.items() if k != name}
        if tolerance:
            within[name] = tolerance
        return Similar(
            tuple(n for n in self.free if n != name),
            within,
            {n: p for n, p in self.pairs.items() if n != name},
            metric=self.metric,
            follows=self.follows,
            order={n: way for n, way in self.order.items() if n != name},
        )

    def alike(self, attribute: Attribute, value: Any, other: Any) -> bool:
        """Whether two values of a feature may stand beside each other, in this order."""
        if value == other or (value is None and other is None) or attribute.name in self.free:
            return True
        if self.follows is not None and attribute.name == self.follows.name:
            return True  # together with the one that it follows
        if attribute.name in self.order:
            steps = attribute.kind == "ordinal"
            low, high = map(attribute.values.index, (value, other)) if steps else (value, other)
            if (low > high) == (self.order[attribute.name] == "up"):
                return False
            if attribute.name not in self.within:
                return True
        if self.metric is not None and attribute.name in self.metric.weights:
            return True  # together with the others, by the distance
        if attribute.name in self.pairs:
            return {value, other} in [set(pair) for pair in self.pairs[attribute.name]]
        if attribute.name not in self.within or value is None or other is None:
            return False
        tolerance = self.within[attribute.name]
        if attribute.kind == "ordinal":
            return abs(attribute.values.index(value) - attribute.values.index(other)) <= tolerance
        if isinstance(tolerance, str):
            span = Fraction(attribute.values[-1]) - Fraction(attribute.values[0])
            reach = Fraction(tolerance.rstrip("%")) / 100 * span
        else:
            reach = Fraction(tolerance)
        return abs(Fraction(value) - Fraction(other)) <= reach

    def similar(self, population: Population, person: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        near = self._together(population, person, other)
        return near and all(map(self.alike, population.attributes, person, other))

    def _together(self, population: Population, person: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        """What no feature tells by itself."""
        near = self.metric is None or self.metric.near(population, person, other)
        return near and (self.follows is None or self.follows.fits(population, person, other))

    def matrix(self, population: Population) -> Any:
        """Which two of the listed people are similar."""
        found = np.ones((len(population.people),) * 2, dtype=bool)
        for k, attribute in enumerate(population.attributes):
            values = attribute.all_values
            at = np.array([values.index(person[k]) for person in population.people])
            table = np.array([[self.alike(attribute, v, w) for w in values] for v in values])
            found &= table[at][:, at]
        if self.metric is not None or self.follows is not None:
            for i, j in np.argwhere(found):
                found[i, j] = self._together(population, population.people[i], population.people[j])
        return found


def drawn_similarity(choices: Choices, population: Population) -> Similar:
    """At least one feature with more than one value may differ."""
    free: list[str] = []
    within: dict[str, Any] = {}
    pairs: dict[str, Any] = {}
    metric = _weighed(choices, population) if chance(choices, 20) else None
    order: dict[str, str] = {}
    ordered = [a for a in population.attributes if a.kind != "categorical" and not a.missing]
    if metric is None and ordered and chance(choices, 15):
        order = {one_of(choices, ordered).name: one_of(choices, ("up", "down"))}
    follows = None
    if metric is None and not order and chance(choices, 10):
        follows = _following(choices, population)
    for attribute in population.attributes:
        if follows is not None and attribute.name == follows.leader:
            free.append(attribute.name)
            continue
        if follows is not None and attribute.name == follows.name:
            if follows.room:
                within[attribute.name] = follows.room
            continue
        if attribute.name in order:
            if chance(choices, 50):
                within[attribute.name] = _tolerance(choices, attribute)
            continue
        if metric is not None and attribute.name in metric.weights:
            continue
        said = one_of(choices, ("same", "same", "free", "within", "pairs"))
        if said == "within" and attribute.kind != "categorical":
            within[attribute.name] = _tolerance(choices, attribute)
        elif said == "pairs" and attribute.kind in ("categorical", "ordinal"):
            every = list(itertools.combinations(attribute.all_values, 2))
            pairs[attribute.name] = tuple(
                dict.fromkeys(one_of(choices, every) for _ in range(choices.whole(1, 3)))
            )
        elif said == "free":
            free.append(attribute.name)
    if not free and not within and not pairs and metric is None and not order:
        free.append(population.attributes[-1].name)
    plain = metric is None and follows is None and not order and not pairs
    plain = plain and all(not isinstance(t, str) for t in within.values())
    return Similar(
        tuple(free),
        within,
        pairs,
        grouped=plain and chance(choices, 15),
        metric=metric,
        follows=follows,
        order=order,
    )


def _following(choices: Choices, population: Population) -> Following | None:
    """One feature with steps that goes along with levels."""
    leaders = [a for a in population.attributes if a.kind in ("categorical", "ordinal") and not a.missing]
    steps = [a for a in population.attributes if a.kind in ("integer", "ordinal") and not a.missing]
    if not leaders or not steps:
        return None
    leader, name = one_of(choices, leaders), one_of(choices, steps)
    if leader.name == name.name:
        return None
    every = list(itertools.combinations(leader.values, 2))
    count = choices.whole(1, 2)
    shifts = {one_of(choices, every): one_of(choices, (-2, -1, 1, 2, 3)) for _ in range(count)}
    return Following(name.name, leader.name, shifts, one_of(choices, (0, 0, 1)))


def _weighed(choices: Choices, population: Population) -> Weighed | None:
    """A distance over some features, with a radius that a few steps reach."""
    fit = [a for a in population.attributes if not a.missing]
    taken = [a for a in fit if chance(choices, 60)] or fit[:1]
    if not taken:
        return None
    weights, levels = {}, []
    for attribute in taken:
        weights[attribute.name] = Fraction(choices.whole(1, 6), choices.whole(1, 4))
        if attribute.kind == "categorical" or (attribute.kind == "ordinal" and chance(choices, 30)):
            levels.append(attribute.name)
        elif attribute.kind == "continuous":
            weights[attribute.name] /= Fraction(attribute.values[1]) - Fraction(attribute.values[0])
    radius = max(weights.values()) * Fraction(choices.whole(1, 5), choices.whole(1, 3))
    return Weighed(one_of(choices, ("l1", "l2", "linf")), weights, tuple(levels), radius)


def _tolerance(choices: Choices, attribute: Attribute) -> Any:
    if attribute.kind == "ordinal":
        return choices.whole(1, 2)
    if attribute.kind == "integer":
        span = attribute.values[-1] - attribute.values[0]
        percent = f"{one_of(choices, (20, 33.5, 60))}%"
        return percent if span > 3 and chance(choices, 20) else one_of(choices, (1, 2, 1.5, 3))
    span = attribute.values[-1] - attribute.values[0]
    return one_of(choices, ("30%", span / 4, span / 6, 0.1))
