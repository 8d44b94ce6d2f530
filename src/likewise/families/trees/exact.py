"""Exact bounds: the sum over trees of the largest a value - b value', in rational numbers.

Float64 narrows each tree's elements down to those that may be its largest, which are then compared exactly. The float64 bound of T trees
has T products of two on either side and T additions, and values that are sums of n rounded products themselves; so with u = 2^-53 it is
within (T + n + 8) u (1 + 2^-20) times the sum of all absolute values of the exact one, which `rounding_limit` rounds up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.trees.body import TreeScore
from likewise.families.trees.ranking import Ranking, collect_elements, collect_near_best
from likewise.families.trees.tree_pairs import collect_near_best_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.trees.axes import Axes
    from likewise.families.trees.elements import Elements

UNIT_ROUNDOFF = 2.0**-53
MOST_ALIKE = 1024  # sums of two elements that float64 does not tell from the largest
ROUNDING_FACTOR = 1.0 + 2.0**-20


@dataclass(frozen=True, kw_only=True, eq=False)
class ExactValues:
    """Bounds of the score of x and of that of x' over leaves of the same trees."""

    first: TreeScore
    second: TreeScore
    size: tuple[
        float, float
    ]  # sum over trees of the largest absolute value of a leaf, products summed up absolutely

    @classmethod
    def of(cls, first: TreeScore, second: TreeScore) -> ExactValues:
        return cls(first=first, second=second, size=(_largest_size(first), _largest_size(second)))

    def rounding_limit(self, a: float, b: float) -> float:
        """How far a float64 bound of a s - b s', biases left aside, is from the exact one at most."""
        trees, n = len(self.first.body.trees), len(self.first.alpha)
        return (
            (trees + n + 8)
            * UNIT_ROUNDOFF
            * ROUNDING_FACTOR
            * (abs(a) * self.size[0] + abs(b) * self.size[1])
        )

    def bound_in_pairs(
        self,
        elements: Elements,
        axes: Axes,
        whole: Ranking,
        box: NDArray[np.int32],
        a: Fraction,
        b: Fraction,
        pairs: Sequence[int],
    ) -> Fraction | None:
        """The same with trees in pairs, which stand one after another; None where the box has no pair, or too many sums are alike to be compared exactly."""
        kept, places = collect_elements(elements, axes, whole, box)
        if len(places) < len(whole.start):
            return None
        of_tree = [kept[places[t] : places[t + 1]] for t in range(len(places) - 1)]
        near_a, near_b = float(a), float(b)
        room = 2 * self.rounding_limit(near_a, near_b)
        first, second = a * self.first.unit, b * self.second.unit
        unit = Fraction(1, math.lcm(first.denominator, second.denominator))
        scales = (first / unit).numerator, (second / unit).numerator
        cancels = self.first is self.second and a == b

        def value(e: int) -> int:
            leaf, other = int(elements.leaf[e]), int(elements.other[e])
            if cancels and leaf == other:
                return 0
            return scales[0] * self.first.units(leaf) - scales[1] * self.second.units(other)

        found = np.empty((MOST_ALIKE, 2), dtype=np.int32)
        total = 0
        for t, u in zip(pairs[::2], pairs[1::2], strict=True):
            count = collect_near_best_pairs(
                elements, axes, box, near_a, near_b, of_tree[t], of_tree[u], room, found
            )
            if count <= 0:
                return None
            total += max(value(int(e)) + value(int(f)) for e, f in found[:count])
        for t in set(range(len(of_tree))).difference(pairs):
            some = of_tree[t]
            near = near_a * elements.a[some] - near_b * elements.b[some]
            total += max(value(int(e)) for e in some[near >= near.max() - room])
        return a * self.first.bias - b * self.second.bias + unit * total

    def bound(
        self, elements: Elements, axes: Axes, whole: Ranking, box: NDArray[np.int32], a: Fraction, b: Fraction
    ) -> Fraction | None:
        """The bound of a s - b s', biases included; None where the box has no pair. `whole` ranks all elements."""
        found = np.empty(len(whole.order), dtype=np.int32)
        near_a, near_b = float(a), float(b)
        room = 2 * self.rounding_limit(near_a, near_b)
        count = collect_near_best(elements, axes, whole, box, near_a, near_b, room, found)
        if count < 0:
            return None
        first, second = a * self.first.unit, b * self.second.unit
        unit = Fraction(1, math.lcm(first.denominator, second.denominator))
        scale, scale2 = (first / unit).numerator, (second / unit).numerator
        some = found[:count]
        best: dict[int, int] = {}
        leaves = zip(
            elements.tree[some].tolist(),
            elements.leaf[some].tolist(),
            elements.other[some].tolist(),
            strict=True,
        )
        cancels = self.first is self.second and a == b
        for t, leaf, other in leaves:
            value = 0
            if not (cancels and leaf == other):
                value = scale * self.first.units(leaf) - scale2 * self.second.units(other)
            if t not in best or value > best[t]:
                best[t] = value
        return a * self.first.bias - b * self.second.bias + unit * sum(best.values())


def _largest_size(score: TreeScore) -> float:
    sizes = score.sizes @ np.array([abs(float(a)) for a in score.alpha])
    return float(np.maximum.reduceat(sizes, score.nodes.roots).sum()) * ROUNDING_FACTOR
