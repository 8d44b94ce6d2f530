"""The pack `sums`: sums of scores of other bodies, some of them through an increasing function (section 17).

links   the functions, and lines above and below them
chains  two of them, one after the other
body    the body `sum`
rule    the rule `sum`
"""

from likewise_check.core.body import Family
from likewise_check.packs.sums.body import read_sum, read_sums
from likewise_check.packs.sums.rule import SumOfLines
from likewise_check.packs.sums.slopes import sum_slopes

BODIES = {"sum": Family(read_sum, read_sums)}
RULES = {"sum": SumOfLines}
SLOPES = {"sum": sum_slopes}
