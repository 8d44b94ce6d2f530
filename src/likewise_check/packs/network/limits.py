"""What the sums of a network's neurons are between over the pairs of a cell (section 15, "Limits"), layer by layer, rounded outwards to multiples of 2^-60."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm
from operator import add, mul, sub
from typing import NamedTuple

from likewise_check.core.cells import Box, Cell, Interval, Limits, Quantity, limits_of
from likewise_check.core.space import Relation, Space
from likewise_check.packs.network.body import Layer, Network
from likewise_check.packs.network.curve import Curve
from likewise_check.packs.network.neuron import GRID, Bend, Ends, Polygon, round_down, round_up

EXTENTS = 1 << 16  # of features over intervals that are kept; dropped beyond, which changes nothing but time
_COPIES = 3


class Contribution(NamedTuple):
    """What a feature adds to the sums of layer 0: one row a level, or one of slopes; ints over `unit`."""

    rows: tuple[tuple[int, ...], ...]
    unit: int
    table: bool


class Inputs:
    """Layer 0 over codes, prepared for the columns of one body."""

    def __init__(self, space: Space, body: Network) -> None:
        layer = body.layers[0]
        self.parts = [_contribution(k, body, feature.levels) for k, feature in enumerate(space.features)]
        self.base = [Fraction(bias, layer.unit) for bias in layer.biases]
        for c, (_, column) in enumerate(body.columns):
            if column.table is None and column.offset:
                step = column.offset / layer.unit
                self.base = [old + step * row[c] for old, row in zip(self.base, layer.weights, strict=True)]
        fine = [b * (1 << GRID) for b in self.base]
        self._base = [round_down(b) for b in fine], [round_up(b) for b in fine]
        self._extent = lru_cache(EXTENTS)(self._extent_of)

    def limits(self, cell: Cell, relations: Sequence[Relation]) -> list[list[int]] | None:
        """lo, hi, lo', hi', p and q of every neuron of layer 0, as codes have them; None if a feature has no codes."""
        low, high = self._base
        nothing = [0] * len(low)
        ends = [low, high, low, high, nothing, nothing]
        for k, (box, relation) in enumerate(zip(cell, relations, strict=True)):
            if not self.parts[k].rows:
                continue
            if relation.kind == "same":
                own = self._extent(k, box.intervals[0])
                added: Sequence[Sequence[int]] = (*own, *own, nothing, nothing)
            elif self.parts[k].table:
                one, other = (self._extent(k, interval) for interval in box.intervals)
                added = (*one, *other, list(map(sub, other[0], one[1])), list(map(sub, other[1], one[0])))
            else:
                closed = close_codes(box)
                if closed is None:
                    return None
                added = tuple(row for interval in closed for row in self._extent(k, interval))
            ends = [list(map(add, old, new)) for old, new in zip(ends, added, strict=True)]
        return ends

    def _extent_of(self, k: int, interval: Interval) -> tuple[list[int], list[int]]:
        """The smallest and the largest that a feature adds to each neuron, over an interval of codes."""
        part = self.parts[k]
        if part.table:
            some = part.rows[int(interval[0]) : int(interval[1]) + 1]
            least, most = map(min, zip(*some, strict=True)), map(max, zip(*some, strict=True))
            return (
                [(n << GRID) // part.unit for n in least],
                [-((-n << GRID) // part.unit) for n in most],
            )
        lo, hi = (Fraction(end) * Fraction(1 << GRID, part.unit) for end in interval)
        ends = [(n * lo, n * hi) if n >= 0 else (n * hi, n * lo) for n in part.rows[0]]
        return [round_down(low) for low, _ in ends], [round_up(high) for _, high in ends]


def close_codes(box: Box) -> tuple[Interval, Interval, Interval] | None:
    """The intervals of a number's codes at x, at x' and of their difference, each sharpened by the others; None if nothing satisfies all."""
    (lo, hi), (low, high) = box.intervals
    p, q = box.difference[0] if box.difference else (low - hi, high - lo)
    p, q = max(p, low - hi), min(q, high - lo)
    low, high = max(low, lo + p), min(high, hi + q)
    lo, hi = max(lo, low - q), min(hi, high - p)
    return None if lo > hi or low > high or p > q else ((lo, hi), (low, high), (p, q))


class Sums:
    """All layers, prepared for one body; bodies that differ in their last row have the same."""

    def __init__(self, space: Space, relations: Sequence[Relation], body: Network) -> None:
        self.inputs, self.relations, self.layers = Inputs(space, body), relations, body.layers
        bends = [layer.activation for layer in body.layers]
        self.bends = [Bend.of(bend) if bend.rational else Curve(bend) for bend in bends]

    def limits(self, cell: Cell) -> list[list[Polygon]] | None:
        """A closed polygon a neuron, by layer; None if the cell holds no pair."""
        ends, known = self.inputs.limits(cell, self.relations), limits_of(cell)
        found: list[list[Polygon]] = []
        for place, layer in enumerate(self.layers):
            if place:
                ends = _through(layer, [self.bends[place - 1].passed(polygon) for polygon in found[-1]])
            if ends is None:
                return None
            met = _meet(map(Polygon, *ends), place, known)
            if met is None:
                return None
            found.append(met)
        return found


def _contribution(k: int, body: Network, levels: int) -> Contribution:
    layer = body.layers[0]
    own = [(c, column) for c, (feature, column) in enumerate(body.columns) if feature == k]
    if not own:
        return Contribution((), 1, bool(levels))
    values = [column.table or (column.slope,) for _, column in own]
    fine = lcm(*(value.denominator for row in values for value in row))
    rows = []
    for entries in zip(*values, strict=True):
        factors = [(c, int(entry * fine)) for (c, _), entry in zip(own, entries, strict=True)]
        rows.append(tuple(sum(weights[c] * factor for c, factor in factors) for weights in layer.weights))
    return Contribution(tuple(rows), layer.unit * fine, bool(levels))


def _through(layer: Layer, passed: Sequence[tuple[Ends, Ends, Ends]]) -> list[list[int]]:
    """lo, hi, lo', hi', p and q of a layer's sums, from what the layer before leaves of values and differences."""
    ends: list[list[int]] = [[] for _ in range(2 * _COPIES)]
    columns = [list(zip(*copy, strict=True)) for copy in zip(*passed, strict=True)]
    for weights, bias in zip(layer.weights, layer.biases, strict=True):
        positive = [max(weight, 0) for weight in weights]
        negative = [min(weight, 0) for weight in weights]
        for copy, (low, high) in enumerate(columns):
            start = bias << GRID if copy < _COPIES - 1 else 0
            least = start + sum(map(mul, positive, low)) + sum(map(mul, negative, high))
            most = start + sum(map(mul, positive, high)) + sum(map(mul, negative, low))
            ends[2 * copy].append(least // layer.unit)
            ends[2 * copy + 1].append(-(-most // layer.unit))
    return ends


def _meet(polygons: Iterable[Polygon], layer: int, known: Mapping[Quantity, Limits]) -> list[Polygon] | None:
    """The polygons met with what the cell says of their quantities; None if one has no points."""
    found = []
    for i, polygon in enumerate(polygons):
        met = polygon.met(tuple(known.get((layer, i, copy)) for copy in range(_COPIES)))
        if met is None:
            return None
        found.append(met)
    return found
