"""Rule `["independent"]`: g does not depend on any feature that may differ, so g(x) = g(x') for every pair.

No (s, s) is in W: s > margin >= 0 >= -margin >= s is impossible, and 0 > delta is false as delta >= 0.
"""

from fractions import Fraction

from likewise_check.cells import Cell
from likewise_check.claim import Claim
from likewise_check.errors import LeafRefused, Rejected
from likewise_check.rules.holding import Holds


class Independent:
    """The rule, prepared for one claim: it holds in every cell or in none."""

    def __init__(self, claim: Claim) -> None:
        shapes = zip(claim.similarity, claim.model.body.shapes, strict=True)
        self._steady = all(relation.kind == "same" or shape.constant for relation, shape in shapes)
        self._apt = claim.asked.kind != "decision" or claim.asked.bound >= 0

    def __call__(self, leaf: list[object], _cell: Cell) -> Holds:
        """Whether the score is the same at both individuals of every pair."""
        if len(leaf) != 1:
            raise Rejected('an independent leaf is ["independent"]')
        if not self._apt:
            raise LeafRefused("independent: a decision with a margin below 0")
        if not self._steady:
            raise LeafRefused("independent: the score depends on a feature that may differ")
        return Holds(clearance=Fraction(0))
