"""What the core itself knows of what a certificate may name (sections 2 and 4); a pack has the same tables.

A rule is prepared once for a lemma and then called for each leaf that names it. It returns how well the leaf `Holds`, raises
`LeafRefused` if it does not hold in the cell, or `Rejected` if the leaf is malformed.
"""

from collections.abc import Callable
from typing import TypeAlias

from likewise_check.core.affine import read_affine
from likewise_check.core.body import Family
from likewise_check.core.cells import Cell, Holds
from likewise_check.core.enumerated import Enumerated
from likewise_check.core.head import read_labels
from likewise_check.core.independent import Independent
from likewise_check.core.separable import Empty, Separable

Rule: TypeAlias = Callable[[list[object], Cell], Holds]

BODIES = {"affine": Family(read_affine)}
HEADS = {"labels": read_labels}
RULES = {"separable": Separable, "empty": Empty, "enumerated": Enumerated, "independent": Independent}
