"""The rules that leaves may use (section 4), one file each.

A rule is prepared once for a claim and then called for each leaf that names it. It returns how well the leaf `Holds`, raises
`LeafRefused` if it does not hold in the cell, or `Rejected` if the leaf is malformed. A later model family adds a file here
and a line to RULES.
"""

from collections.abc import Callable
from typing import TypeAlias

from likewise_check.cells import Cell, Holds
from likewise_check.claim import Claim
from likewise_check.rules.enumerated import Enumerated
from likewise_check.rules.independent import Independent
from likewise_check.rules.kernel import Kernel
from likewise_check.rules.odds import Odds
from likewise_check.rules.polynomial import Polynomials
from likewise_check.rules.separable import Empty, Separable
from likewise_check.rules.softmax import Softmax
from likewise_check.rules.sos import Squares
from likewise_check.rules.trees import TreeSums

Rule: TypeAlias = Callable[[list[object], Cell], Holds]

RULES: dict[str, Callable[[Claim], Rule]] = {
    "separable": Separable,
    "empty": Empty,
    "enumerated": Enumerated,
    "independent": Independent,
    "kernel": Kernel,
    "polynomial": Polynomials,
    "sos": Squares,
    "trees": TreeSums,
    "softmax": Softmax,
    "odds": Odds,
}
