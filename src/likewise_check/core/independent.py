"""Rule `["independent"]` (section 4): g does not depend on any feature that may differ, so g(x) = g(x') for every pair.

No (s, s) is in W: s > margin >= 0 >= -margin >= s is impossible, and 0 > delta is false as delta >= 0.
"""

from fractions import Fraction

from likewise_check.core.cells import Cell, Holds, LeafRefused
from likewise_check.core.fields import Rejected
from likewise_check.core.lemma import Lemma


class Independent:
    """The rule, prepared for one lemma: it holds in every cell or in none."""

    def __init__(self, lemma: Lemma) -> None:
        self._steady = all(
            relation.kind == "same" or lemma.first.steady(k) for k, relation in enumerate(lemma.similarity)
        )
        self._apt = lemma.asked.kind != "decision" or lemma.asked.bound >= 0

    def __call__(self, leaf: list[object], _cell: Cell) -> Holds:
        """Whether the score is the same at both individuals of every pair."""
        if len(leaf) != 1:
            raise Rejected('an independent leaf is ["independent"]')
        if not self._apt or not self._steady:
            raise LeafRefused("independent: the score depends on what may differ, or the margin is below 0")
        return Holds(clearance=Fraction(0))
