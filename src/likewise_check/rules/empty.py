"""Rule `["empty", [m, ...]]`: no pair lies in the cell.

At a pair every h_j <= 0, so minus the sum of m_j h_j, m >= 0, is at least 0 there; if its maximum over the cell is below 0, there is no pair.
"""

from fractions import Fraction

from likewise_check.cells import Cell
from likewise_check.claim import Claim
from likewise_check.errors import LeafRefused, Rejected
from likewise_check.rules.holding import NO_PAIR, Holds
from likewise_check.rules.line import Line, Terms, read_multipliers


class Empty:
    """The rule, prepared for one claim."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._terms = Terms(claim)

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the multipliers show that the cell holds no pair."""
        if len(leaf) != 2:
            raise Rejected('an empty leaf is ["empty", [multipliers]]')
        line = Line(self._terms, Fraction(0), Fraction(0), read_multipliers(leaf[1], self._claim))
        maximum = line.maximum(cell)
        if maximum is not None and maximum >= 0:
            raise LeafRefused("empty: the multipliers do not show that the cell holds no pair")
        return NO_PAIR
