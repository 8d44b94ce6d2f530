"""The rules that leaves may use (section 4), one file each.

A rule is prepared once for a claim and then called for each leaf that names it. It returns how well the leaf `Holds`, raises
`LeafRefused` if it does not hold in the cell, or `Rejected` if the leaf is malformed. A later model family adds a file here
and a line to RULES.
"""

from collections.abc import Callable
from typing import TypeAlias

from likewise_check.core.cells import Cell, Holds
from likewise_check.core.claim import Claim
from likewise_check.core.enumerated import Enumerated
from likewise_check.core.independent import Independent
from likewise_check.core.separable import Empty, Separable
from likewise_check.packs.classes.odds import Odds
from likewise_check.packs.classes.softmax import Softmax
from likewise_check.packs.kernel.rule import Kernel
from likewise_check.packs.polynomial.rule import Polynomials
from likewise_check.packs.polynomial.squares import Squares
from likewise_check.packs.trees.rule import TreeSums

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
