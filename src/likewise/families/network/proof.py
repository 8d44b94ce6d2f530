"""Proof: the bound that a leaf's multipliers give, in whole numbers, as the certificate's rule `network` defines it (spec/certificate-v1.md, section 15).

Limits of neurons are whole multiples of 2^-60, rounded outwards; weights are whole numbers over powers of two, multipliers over 2^bits, and all the rest is exact. Products with weights are those of
flint's matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from flint import fmpz_mat

from likewise.families.network.body import COPIES
from likewise.families.network.curve_proof import GRID, Curve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from likewise.families.network.activation import Activation
    from likewise.families.network.body import Layer
    from likewise.families.network.inputs import Part
    from likewise.families.network.score import NetworkScore
    from likewise.spec.pairs import PairSpace

EXTENTS = 1 << 14  # of features over intervals that are kept

Exact = TypeVar("Exact", int, Fraction)
Limits = list[list[int]]  # lo, hi, lo', hi', least, most: by neuron
Multipliers = tuple[int, ...]  # of all neurons, layer by layer, in units of 2^-bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """An activation in whole numbers: breaks and slopes over `fine`, and the value at the first break over its square."""

    breaks: tuple[int, ...]
    slopes: tuple[int, ...]
    value: int
    fine: int

    @staticmethod
    def of(activation: Activation) -> Pieces:
        """Of a piecewise linear one."""
        fine = math.lcm(*(number.denominator for number in activation.parameters))
        if activation.kind == "clip":
            low, high = (int(limit * fine) for limit in activation.parameters)
            return Pieces(breaks=(low, high), slopes=(0, fine, 0), value=low * fine, fine=fine)
        before = int(activation.parameters[0] * fine) if activation.kind == "leaky_relu" else 0
        return Pieces(breaks=(0,), slopes=(before, fine), value=0, fine=fine)

    def on_grid(self) -> tuple[tuple[int, ...], Callable[[int], int]]:
        """The breaks in units of 2^-60 / fine, and the activation of numbers in these units, in units of 2^-60 / fine^2."""
        breaks = tuple(t << GRID for t in self.breaks)
        first, last, start = breaks[0], breaks[-1], self.value << GRID
        before, between, *after = self.slopes
        if not after:
            return breaks, lambda y: start + (between if y > first else before) * (y - first)
        top = start + between * (last - first)

        def of_three(y: int) -> int:
            if y > last:
                return top + after[0] * (y - last)
            return start + (between if y > first else before) * (y - first)

        return breaks, of_three


class PairProof:
    """Two copies of a network over the pairs of a space, ready to prove cells."""

    def __init__(self, first: NetworkScore, second: NetworkScore, pairs: PairSpace) -> None:
        self.first, self.second, self.pairs = first, second, pairs
        self.layers = [ExactLayer(layer) for layer in first.body.hidden]
        self.features = [k for k, part in enumerate(first.first.parts) if part is not None]
        self.parts = [part for part in first.first.parts if part is not None]
        self.base = first.first.base
        rows = [row for part in self.parts for row in part.numerators.tolist()]
        self.rows = (
            fmpz_mat(len(rows), self.layers[0].width, [n for row in rows for n in row]) if rows else None
        )
        self.inner = len(pairs.variables)
        self.extent = lru_cache(EXTENTS)(self._extent)

    def bound(
        self,
        lo: Sequence[float],
        hi: Sequence[float],
        a: Fraction,
        b: Fraction,
        bits: int,
        multipliers: Multipliers,
    ) -> Fraction | None:
        """An upper bound of a f(x) - b f'(x') over a cell; None where it holds no pair. The first half of the multipliers is of x."""
        limits = self.limits(lo, hi)
        if limits is None:
            return None
        half = len(multipliers) // 2
        here, there = self._by_layer(multipliers[:half]), self._by_layer(multipliers[half:])
        inputs = self._inputs(lo, hi, here[0], there[0])
        if inputs is None:
            return None
        total = a * self.first.body.bias - b * self.second.body.bias + inputs / (1 << bits)
        weights = [a * w for w in self.first.body.weights], [-b * w for w in self.second.body.weights]
        below = math.lcm(*(w.denominator for row in weights for w in row))
        A, C = ([w.numerator * (below // w.denominator) for w in row] for row in weights)
        for layer, known, own, other in zip(
            reversed(self.layers), reversed(limits), reversed(here), reversed(there), strict=True
        ):
            total += Fraction(
                layer.maxima([n << bits for n in A], [n << bits for n in C], own, other, below, known),
                (below * layer.pieces.fine**2) << (bits + GRID),
            )
            if layer is not self.layers[0]:
                sums = zip(own, other, layer.biases, strict=True)
                total += Fraction(sum((p + q) * c for p, q, c in sums), 1 << (bits + layer.exponent))
                A, C = layer.handed_down(own, other)
                below = 1 << (bits + layer.exponent)
        return total

    def limits(self, lo: Sequence[float], hi: Sequence[float]) -> list[Limits] | None:
        """Of every layer's neurons over a cell; None where it holds no pair."""
        found: list[Limits] = []
        place = self.inner
        for n, layer in enumerate(self.layers):
            known = (
                self._first_limits(lo, hi) if n == 0 else layer.passed(self.layers[n - 1].pieces, found[-1])
            )
            if known is None or not _meet(known, lo, hi, place):
                return None
            place += COPIES * layer.width
            found.append(known)
        return found

    def _by_layer(self, multipliers: Multipliers) -> list[Multipliers]:
        found, start = [], 0
        for layer in self.layers:
            found.append(multipliers[start : start + layer.width])
            start += layer.width
        return found

    def _first_limits(self, lo: Sequence[float], hi: Sequence[float]) -> Limits | None:
        unit = self.base.denominator
        base = self.base.numerators[0].tolist()
        low, high = [(n << GRID) // unit for n in base], [-((-n << GRID) // unit) for n in base]
        known = [low, high, low, high, [0] * len(low), [0] * len(low)]
        for n, k in enumerate(self.features):
            added = self._added(n, k, lo, hi)
            if added is None:
                return None
            known = [
                [p + q for p, q in zip(old, new, strict=True)] for old, new in zip(known, added, strict=True)
            ]
        return known

    def _added(
        self, n: int, k: int, lo: Sequence[float], hi: Sequence[float]
    ) -> Sequence[Sequence[int]] | None:
        """What a feature adds to each of the six limits."""
        one, two = self.pairs.first[k], self.pairs.second[k]
        if one == two:
            own = self.extent(n, lo[one], hi[one])
            nothing = [0] * self.layers[0].width
            return (*own, *own, nothing, nothing)
        if self.parts[n].is_table:
            own, other = self.extent(n, lo[one], hi[one]), self.extent(n, lo[two], hi[two])
            least = [p - q for p, q in zip(other[0], own[1], strict=True)]
            most = [p - q for p, q in zip(other[1], own[0], strict=True)]
            return (*own, *other, least, most)
        codes = self._codes(k, lo, hi)
        if codes is None:
            return None
        return tuple(row for ends in (codes[:2], codes[2:4], codes[4:]) for row in self.extent(n, *ends))

    def _codes(self, k: int, lo: Sequence[float], hi: Sequence[float]) -> list[Fraction] | None:
        """The closed intervals of a number's codes and of their difference."""
        one, two = self.pairs.first[k], self.pairs.second[k]
        ends = [Fraction(end) for end in (lo[one], hi[one], lo[two], hi[two])]
        apart = self.pairs.difference[k] if self.pairs.difference else None
        ends += (
            [ends[2] - ends[1], ends[3] - ends[0]]
            if apart is None
            else [Fraction(lo[apart]), Fraction(hi[apart])]
        )
        return close_limits(ends)

    def _extent(self, n: int, low: Fraction, high: Fraction) -> tuple[list[int], list[int]]:
        """The smallest and the largest that a feature adds to each neuron, over an interval of codes."""
        part = self.parts[n]
        if part.is_table:
            some = part.numerators[int(low) : int(high) + 1]
            least, most = some.min(axis=0).tolist(), some.max(axis=0).tolist()
            unit = part.denominator
            return [(n << GRID) // unit for n in least], [-((-n << GRID) // unit) for n in most]
        unit = math.lcm(Fraction(low).denominator, Fraction(high).denominator)
        start, end = int(Fraction(low) * unit), int(Fraction(high) * unit)
        below = part.denominator * unit
        ends = [sorted((n * start, n * end)) for n in part.numerators[0].tolist()]
        return [(p << GRID) // below for p, _ in ends], [-((-q << GRID) // below) for _, q in ends]

    def _inputs(
        self, lo: Sequence[float], hi: Sequence[float], here: Multipliers, there: Multipliers
    ) -> Fraction | None:
        """max over the cell of here . y_0(x) + there . y_0(x'), times 2^bits."""
        base = zip(here, there, self.base.numerators[0].tolist(), strict=True)
        total = Fraction(sum((p + q) * n for p, q, n in base), self.base.denominator)
        if self.rows is None:
            return total
        products = self.rows * fmpz_mat(
            len(here), 2, [n for pair in zip(here, there, strict=True) for n in pair]
        )
        entries, start = [int(n) for n in products.entries()], 0
        for part, k in zip(self.parts, self.features, strict=True):
            end = start + 2 * len(part.numerators)
            top = self._largest(part, k, entries[start:end:2], entries[start + 1 : end : 2], lo, hi)
            if top is None:
                return None
            total += top / part.denominator
            start = end
        return total

    def _largest(
        self, part: Part, k: int, u: list[int], v: list[int], lo: Sequence[float], hi: Sequence[float]
    ) -> Fraction | None:
        """The largest u(x) + v(x') of one feature: its levels' values, or slopes."""
        one, two = self.pairs.first[k], self.pairs.second[k]
        if part.is_table:
            first = range(int(lo[one]), int(hi[one]) + 1)
            if one == two:
                return Fraction(max(u[i] + v[i] for i in first))
            second, relation = range(int(lo[two]), int(hi[two]) + 1), self.pairs.relations[k]
            if relation.kind == "free":
                return Fraction(max(u[i] for i in first) + max(v[j] for j in second))
            sums = [u[i] + v[j] for i in first for j in second if relation.allows(Fraction(i), Fraction(j))]
            return Fraction(max(sums)) if sums else None
        if one == two:
            slope = u[0] + v[0]
            return slope * Fraction(hi[one] if slope > 0 else lo[one])
        codes = self._codes(k, lo, hi)
        if codes is None:
            return None
        start, end, low, high, least, most = codes
        places = [x for x in (start, end, low - least, high - most) if start <= x <= end]
        return max(
            u[0] * x + v[0] * (min(high, x + most) if v[0] > 0 else max(low, x + least)) for x in places
        )


class ExactLayer:
    """One layer, its weights ready for products from both sides."""

    def __init__(self, layer: Layer) -> None:
        self.exponent = max(layer.weights.exponent, layer.biases.exponent)
        self.biases: list[int] = layer.biases.over(self.exponent).tolist()
        weights = layer.weights.over(self.exponent)
        self.width, inputs = weights.shape
        flat = weights.ravel().tolist()
        self.weights = fmpz_mat(self.width, inputs, flat)
        self.positive = fmpz_mat(self.width, inputs, [max(n, 0) for n in flat])
        self.negative = fmpz_mat(self.width, inputs, [min(n, 0) for n in flat])
        bend = layer.activation
        self.pieces = Pieces.of(bend) if bend.rational else Curve(bend)

    def handed_down(self, here: Multipliers, there: Multipliers) -> tuple[list[int], list[int]]:
        """weights^T of the multipliers of both copies."""
        products = fmpz_mat(2, self.width, [*here, *there]) * self.weights
        entries = [int(n) for n in products.entries()]
        half = len(entries) // 2
        return entries[:half], entries[half:]

    def passed(self, pieces: Pieces | Curve, known: Limits) -> Limits:
        """Limits of the layer's sums from those of the layer before, whose activation is given."""
        low: list[int] = []
        high: list[int] = []
        for ends in zip(*known, strict=True):
            least, most = pieces.image(ends) if isinstance(pieces, Curve) else _image(pieces, ends)
            low += least
            high += most
        inputs = len(known[0])
        lowest, highest = fmpz_mat(inputs, COPIES, low), fmpz_mat(inputs, COPIES, high)
        least_sums = (self.positive * lowest + self.negative * highest).tolist()
        most_sums = (self.positive * highest + self.negative * lowest).tolist()
        found: Limits = [[] for _ in range(2 * COPIES)]
        for bias, lows, highs in zip(self.biases, least_sums, most_sums, strict=True):
            for copy in range(COPIES):
                start = bias << GRID if copy < COPIES - 1 else 0
                found[2 * copy].append((start + int(lows[copy])) >> self.exponent)
                found[2 * copy + 1].append(-(-(start + int(highs[copy])) >> self.exponent))
        return found

    def maxima(
        self, A: list[int], C: list[int], here: Multipliers, there: Multipliers, below: int, known: Limits
    ) -> int:
        """The sum over the neurons of their polygons' maxima; A and C are over 2^bits times `below`, multipliers over 2^bits."""
        if isinstance(self.pieces, Curve):
            rows = zip(A, C, here, there, zip(*known, strict=True), strict=True)
            return sum(self.pieces.maximum(a, c, p * below, q * below, ends) for a, c, p, q, ends in rows)
        fine = self.pieces.fine
        breaks, act = self.pieces.on_grid()
        factor, total = below * fine, 0
        for a, c, p, q, ends in zip(A, C, here, there, zip(*known, strict=True), strict=True):
            total += _maximum(a, c, p * factor, q * factor, [fine * end for end in ends], breaks, act)
        return total


def close_limits(ends: list[Exact]) -> list[Exact] | None:
    """Each of lo, hi, lo', hi', least, most sharpened by the others; None where nothing satisfies all of them."""
    lo, hi, low, high, least, most = ends
    least, most = max(least, low - hi), min(most, high - lo)
    low, high = max(low, lo + least), min(high, hi + most)
    lo, hi = max(lo, low - most), min(hi, high - least)
    return None if lo > hi or low > high or least > most else [lo, hi, low, high, least, most]


def _meet(known: Limits, lo: Sequence[float], hi: Sequence[float], place: int) -> bool:
    """Sharpen limits by what splits say of the neurons, in place; False where one has nothing left."""
    for i in range(len(known[0])):
        ends = [row[i] for row in known]
        for copy in range(COPIES):
            low, high = lo[place + COPIES * i + copy], hi[place + COPIES * i + copy]
            if low > -math.inf:
                ends[2 * copy] = max(ends[2 * copy], math.floor(Fraction(low) * (1 << GRID)))
            if high < math.inf:
                ends[2 * copy + 1] = min(ends[2 * copy + 1], math.ceil(Fraction(high) * (1 << GRID)))
        closed = close_limits(ends)
        if closed is None:
            return False
        for row, end in zip(known, closed, strict=True):
            row[i] = end
    return True


def _image(pieces: Pieces, ends: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The smallest and the largest value of an activation at x, at x', and of their difference, from the six limits of its argument."""
    lo, hi, low, high, least, most = ends
    if pieces.slopes == (0, 1):
        one, two, three, four = max(lo, 0), max(hi, 0), max(low, 0), max(high, 0)
        if lo >= 0 and low >= 0 and (hi > 0 or high > 0):
            down, up = least, most
        elif hi <= 0 and high <= 0 and (lo < 0 or low < 0):
            down, up = 0, 0
        else:
            down, up = min(least, 0), max(most, 0)
        return (one, three, max(down, three - two)), (two, four, min(up, four - one))
    (one, two), (three, four) = _values(pieces, lo, hi), _values(pieces, low, high)
    flat, steep = _steepness(pieces, min(lo, low) * pieces.fine, max(hi, high) * pieces.fine)
    products = flat * least, steep * least, flat * most, steep * most
    down, up = min(products) // pieces.fine, -(-max(products) // pieces.fine)
    return (one, three, max(down, three - two)), (two, four, min(up, four - one))


def _values(pieces: Pieces, low: int, high: int) -> tuple[int, int]:
    breaks, act = pieces.on_grid()
    low, high, unit = low * pieces.fine, high * pieces.fine, pieces.fine**2
    found = [act(low), act(high), *(act(t) for t in breaks if low < t < high)]
    return min(found) // unit, -(-max(found) // unit)


def _steepness(pieces: Pieces, low: int, high: int) -> tuple[int, int]:
    """Over an interval in units of 2^-60 / fine: of the pieces that it shares more than a point with."""
    ends = [None, *(t << GRID for t in pieces.breaks), None]
    some = [
        slope
        for slope, start, end in zip(pieces.slopes, ends, ends[1:], strict=False)
        if (low if start is None else max(low, start)) < (high if end is None else min(high, end))
    ] or pieces.slopes
    return min(some), max(some)


def _maximum(
    A: int, C: int, a: int, c: int, ends: list[int], breaks: tuple[int, ...], act: Callable[[int], int]
) -> int:
    """max of A act(y) + C act(y') - a y - c y' over a closed polygon."""
    lo, hi, low, high, least, most = ends
    best = None
    for y in {lo, hi, low - least, high - most, *(t - d for t in breaks for d in (0, least, most))}:
        if lo <= y <= hi:
            left, right = max(low, y + least), min(high, y + most)
            above = max(C * act(left) - c * left, C * act(right) - c * right)
            for t in breaks:
                if left < t < right:
                    above = max(above, C * act(t) - c * t)
            value = A * act(y) - a * y + above
            if best is None or value > best:
                best = value
    if best is None:
        raise ValueError("a polygon without points")
    return best
