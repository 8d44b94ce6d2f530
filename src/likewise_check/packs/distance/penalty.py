"""Penalty: what a leaf takes from its line because pairs are near each other, lambda times (d - bound) or less, feature by feature (section 19)."""

from collections.abc import Callable
from dataclasses import dataclass

from likewise_check.core.cells import Box, LeafRefused
from likewise_check.core.numbers import Exact
from likewise_check.core.space import Relation
from likewise_check.packs.distance.cost import Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalty:
    """lambda, what is added to the line's constant, what forms add to u and take from v, and the costs; all in the unit of the line."""

    weight: Exact
    constant: Exact
    sides: dict[int, list[Exact]]
    costs: dict[int, Cost]

    def beside(self, other: "Penalty | None") -> "Penalty":
        """Both together, of features that do not cost something in both."""
        if other is None:
            return self
        if twice := sorted(self.costs.keys() & other.costs.keys()):
            raise LeafRefused(f"feature {twice[0]} costs something in two distances")
        sides = dict(self.sides)
        for k, more in other.sides.items():
            sides[k] = [a + b for a, b in zip(sides.get(k, [0] * len(more)), more, strict=True)]
        costs = {k: cost.times(of.weight) for of in (self, other) for k, cost in of.costs.items()}
        return Penalty(weight=1, constant=self.constant + other.constant, sides=sides, costs=costs)

    def moved(self, k: int, side: list[Exact], sign: int) -> list[Exact]:
        """u_k or v_k (sign 1 or -1) with what forms add to it."""
        more = self.sides.get(k)
        return side if more is None else [a + sign * b for a, b in zip(side, more, strict=True)]

    def maximum(
        self,
        k: int,
        u: list[Exact],
        v: list[Exact],
        relation: Relation,
        curved: Callable[[Box], Exact | None] | None,
    ) -> Callable[[Box], Exact | None] | None:
        """The maximum of feature k over a box, less its cost; None where it costs nothing. `curved` is what it is without the cost, where it is in pieces: then the least cost is taken from that."""
        cost = self.costs.get(k)
        if cost is None or relation.kind == "same":
            return None
        if curved is None:
            return lambda box: cost.largest(u, v, self.weight, box, relation)
        nothing: list[Exact] = [0]

        def less_cost(box: Box) -> Exact | None:
            highest, least = curved(box), cost.largest(nothing, nothing, self.weight, box, relation)
            return None if highest is None or least is None else highest + least

        return less_cost
