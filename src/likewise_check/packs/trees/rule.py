"""Rule `["trees", way]` (section 9): a g(x) - b g(x') <= B on the cell, the sum of one maximum a tree; it holds if B <= T (B < T where a = 0 in a decision)."""

from fractions import Fraction

from likewise_check.core.cells import Cell, Holds, LeafRefused
from likewise_check.core.claim import Claim
from likewise_check.core.fields import Rejected
from likewise_check.core.numbers import shown
from likewise_check.core.separable import read_way
from likewise_check.packs.trees.body import Trees
from likewise_check.packs.trees.forest import Forest

KEPT = 10_000  # ways; dropped beyond, which changes nothing but time


class TreeSums:
    """The rule, prepared for one claim."""

    def __init__(self, claim: Claim) -> None:
        first, second = claim.bodies
        if not isinstance(first, Trees) or not isinstance(second, Trees):
            raise Rejected("trees: the body has no trees")
        self._claim = claim
        self._first = _gauge(claim, first)
        self._second = self._first if second is first else _gauge(claim, second)
        self._forest = forest_of(claim, self._first)
        self._ways: dict[str, tuple[Fraction, Fraction, Fraction]] = {}

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell is a witness."""
        a, b, threshold = self._way(leaf)
        bound = self._forest.maximum(cell, self._first, self._second, a, b)
        if bound is None:
            return Holds(clearance=None)
        if bound > threshold or (bound == threshold and self._claim.closed(a, b)):
            raise LeafRefused(
                f"trees: the bound exceeds T by {shown(bound - threshold)}, or is T where it must be below"
            )
        return Holds(clearance=(threshold - bound) / self._claim.spread(a, b))

    def _way(self, leaf: list[object]) -> tuple[Fraction, Fraction, Fraction]:
        if len(leaf) != 2 or type(leaf[1]) is not str:
            raise Rejected('a trees leaf is ["trees", way]')
        if leaf[1] not in self._ways:
            if len(self._ways) >= KEPT:
                self._ways.clear()
            self._ways[leaf[1]] = read_way(leaf[1], self._claim.asked)
        return self._ways[leaf[1]]


def forest_of(claim: Claim, body: Trees) -> Forest:
    """The trees ready for cells: once for all lemmas of a claim, whose bodies differ in values only."""
    if "forest" not in claim.shared:
        claim.shared["forest"] = Forest(claim.space.features, claim.similarity, body)
    found: Forest = claim.shared["forest"]
    return found


def _gauge(claim: Claim, body: Trees) -> Trees:
    """The body of g."""
    return body if claim.slope == 1 and claim.offset == 0 else body.form([claim.slope], claim.offset)
