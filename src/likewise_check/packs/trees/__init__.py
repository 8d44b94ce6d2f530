"""The pack `trees`: sums of decision trees (section 9).

`body` is the body, `rule` the rule. Its bound is the sum of one maximum a tree (`forest`) over the pairs of leaves that are together possible in a cell: `sides` says what
that means of one feature, `leaf_pairs` keeps the pairs from cell to cell, `ladders` those that numbers leave possible.
"""

from likewise_check.core.body import Family
from likewise_check.packs.trees.body import read_one_score, read_scores
from likewise_check.packs.trees.rule import FormMaxima, TreeSums

BODIES = {"trees": Family(read_one_score, read_scores)}
RULES = {"trees": TreeSums}
MAXIMA = {"trees": FormMaxima}
