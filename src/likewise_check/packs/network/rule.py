"""Rule `["network", way, bits, [int, ...], [int, ...]]` and node `["neuron", l, i, copy, at]` (section 15).

At every pair the equations of both copies hold, so the sum of their multiples is 0; added to the line, it falls apart into one function a neuron and one of the inputs, and the bound is the sum of their
maxima. The groups (`core.bound`) are the neurons and the features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import lcm
from operator import add, mul
from typing import cast

from likewise_check.core.body import Body, Scores
from likewise_check.core.bound import Way, conclude, read_way
from likewise_check.core.cells import NO_PAIR, Box, Cell, Holds, LeafRefused, Quantity
from likewise_check.core.fields import Rejected, anything, array_of, whole
from likewise_check.core.lemma import Lemma
from likewise_check.core.maxima import linear_apart, table_maximum
from likewise_check.core.numbers import Exact, number
from likewise_check.core.space import Relation
from likewise_check.packs.network.body import Network
from likewise_check.packs.network.limits import Contribution, Sums, close_codes
from likewise_check.packs.network.neuron import GRID

MOST_BITS = 1000
LARGEST = (1 << 256) - 1  # multiplier, times 2^bits
WAYS = 1024  # that are kept; dropped beyond, which changes nothing but time
_PARTS = 5  # of a leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """The line that is bounded: A and C of the last layer as ints over `unit`, a constant, and what the bound is compared with."""

    first: list[int]
    second: list[int]
    unit: int
    constant: Fraction
    way: Way | None  # None: there is no line, and no pair if the bound is below 0
    scale: Fraction  # of the bound, to compare it with T
    shift: Fraction


class Multipliers:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        first, second = lemma.first, lemma.second
        if not isinstance(first, Network) or not isinstance(second, Network):
            raise Rejected("network: the body is no network")
        if first.layers != second.layers or first.columns != second.columns:
            raise Rejected("network: the two bodies do not share their layers")
        self._lemma, self._first, self._second = lemma, first, second
        self._sums = Sums(lemma.space, lemma.similarity, first)
        self._objective = lru_cache(WAYS)(self._read)

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell is a witness, or that there is none."""
        if len(leaf) != _PARTS or not (leaf[1] is None or type(leaf[1]) is str):
            raise Rejected(
                'a network leaf is ["network", way, bits, [int, ...], [int, ...]], its way a number or null'
            )
        objective, bits = self._objective(leaf[1]), whole(0, MOST_BITS)(leaf[2], "the bits")
        alpha, gamma = self._multipliers(leaf[3], "at x"), self._multipliers(leaf[4], "at x'")
        bound = self._bound(objective, bits, alpha, gamma, cell)
        if bound is None:
            return NO_PAIR
        way = objective.way
        if way is None:
            if bound >= 0:
                raise LeafRefused(
                    "network: the multipliers do not exclude all pairs, their bound is not below 0"
                )
            return NO_PAIR
        reached = objective.scale * bound + objective.shift
        closed = self._lemma.closed(way.a, way.b)
        return conclude("network", reached, way.threshold, closed=closed, side=way.side)

    def _read(self, text: str | None) -> Objective:
        lemma, first, second = self._lemma, self._first, self._second
        if text is None:
            nothing = [0] * len(first.weights)
            return Objective(
                first=nothing, second=nothing, unit=1, constant=Fraction(0), way=None, scale=Fraction(1), shift=Fraction(0)
            )  # fmt: skip
        way = read_way(text, lemma.asked)
        total, sign = way.a + way.b, 1 if lemma.slope > 0 else -1
        a, b = sign * way.a / total, sign * way.b / total
        here, there = [a * weight for weight in first.weights], [-b * weight for weight in second.weights]
        unit = lcm(*(weight.denominator for weight in (*here, *there)))
        return Objective(
            first=[int(weight * unit) for weight in here],
            second=[int(weight * unit) for weight in there],
            unit=unit,
            constant=a * first.bias - b * second.bias,
            way=way,
            scale=abs(lemma.slope) * total,
            shift=(way.a - way.b) * lemma.offset,
        )

    def _multipliers(self, items: object, what: str) -> list[list[int]]:
        """One a neuron, by layer."""
        widths = [len(layer.biases) for layer in self._first.layers]
        flat = iter(array_of(whole(-LARGEST, LARGEST), sum(widths))(items, f"the multipliers {what}"))
        return [list(islice(flat, width)) for width in widths]

    def _bound(
        self, objective: Objective, bits: int, alpha: list[list[int]], gamma: list[list[int]], cell: Cell
    ) -> Fraction | None:
        """B; None if there is no pair in the cell."""
        polygons, layers = self._sums.limits(cell), self._first.layers
        inputs = None if polygons is None else self._inputs(alpha[0], gamma[0], cell)
        if polygons is None or inputs is None:
            return None
        total = objective.constant + inputs / (1 << bits)
        A, C, unit = objective.first, objective.second, objective.unit
        for place in range(len(layers) - 1, -1, -1):
            layer, bend, a, c = layers[place], self._sums.bends[place], alpha[place], gamma[place]
            largest = sum(
                bend.maximum(A[i] << bits, C[i] << bits, a[i] * unit, c[i] * unit, polygon)
                for i, polygon in enumerate(polygons[place])
            )
            total += Fraction(largest, (unit * bend.fine * bend.fine) << (bits + GRID))
            if place:
                total += Fraction(sum(map(mul, map(add, a, c), layer.biases)), layer.unit << bits)
                columns = list(zip(*layer.weights, strict=True))
                A, C = ([sum(map(mul, row, column)) for column in columns] for row in (a, c))
                unit = layer.unit << bits
        return total

    def _inputs(self, alpha: Sequence[int], gamma: Sequence[int], cell: Cell) -> Fraction | None:
        """I * 2^bits; None if there is no pair."""
        both, inputs = list(map(add, alpha, gamma)), self._sums.inputs
        total = sum((factor * base for factor, base in zip(both, inputs.base, strict=True)), Fraction(0))
        for part, box, relation in zip(inputs.parts, cell, self._lemma.similarity, strict=True):
            largest = _largest(part, box, relation, alpha, gamma, both)
            if largest is None:
                return None
            total += Fraction(largest) / part.unit
        return total


def _largest(
    part: Contribution,
    box: Box,
    relation: Relation,
    alpha: Sequence[int],
    gamma: Sequence[int],
    both: Sequence[int],
) -> Exact | None:
    """The largest alpha . C(x) + gamma . C(x') of a feature, times its unit; None if no codes satisfy its relation."""
    if relation.kind == "same":
        lo, hi = box.intervals[0]
        if part.table:
            some = part.rows[int(lo) : int(hi) + 1]
            return max((sum(map(mul, both, row)) for row in some), default=0)
        slope = _weigh(both, part)[0]
        return slope * (hi if slope > 0 else lo)
    u, v = _weigh(alpha, part), _weigh(gamma, part)
    if part.table:
        if not part.rows:
            u = v = [0] * (1 + max(int(hi) for _, hi in box.intervals))
        return table_maximum(u, v, box, relation)
    closed = close_codes(box)
    return None if closed is None else linear_apart(u[0], v[0], *closed)


def _weigh(multipliers: Sequence[int], part: Contribution) -> list[int]:
    return [sum(map(mul, multipliers, row)) for row in part.rows] or [0]


def read_neuron(node: list[object], body: Body) -> tuple[Quantity, Fraction]:
    """The quantity that a node splits, and where."""
    if body.kind != Network.kind:
        raise Rejected("a neuron node needs a network")
    one = body if isinstance(body, Network) else cast(Scores, body).form(((0, Fraction(1)),))
    layers = cast(Network, one).layers
    _, layer, index, copy, at = array_of(anything, 5)(node, "a neuron node")
    place: int = whole(0, len(layers) - 1)(layer, "the layer of a neuron node")
    neuron: int = whole(0, len(layers[place].biases) - 1)(index, "the neuron of a neuron node")
    return (place, neuron, whole(0, 2)(copy, "the copy of a neuron node")), number(
        at, "the place of a neuron node"
    )
