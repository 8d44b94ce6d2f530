"""The pack `mixed`: kernel models of sums of columns (section 23).

`body` is the body `mixed`, `rule` the rule `mixed`: a cell is a cube (`cubes`), `bumps` makes polynomials of degree 2 in its axes of the terms, and their separable majorant is that of section 8.
"""

from likewise_check.core.body import Family
from likewise_check.packs.mixed.body import read_mixed
from likewise_check.packs.mixed.rule import MixedKernel

BODIES = {"mixed": Family(read_mixed)}
RULES = {"mixed": MixedKernel}
