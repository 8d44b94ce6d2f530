"""What a rule answers for a leaf that holds."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """The leaf's clearance (None: infinite, the cell holds no pair) and how many points were looked at."""

    clearance: Fraction | None
    points: int = 0


NO_PAIR = Holds(clearance=None)
