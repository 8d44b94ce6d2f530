"""The pack `nested`: trees and medians of scores of other bodies (section 24).

`body` is the body, `median` the outer function that is no body of its own; `rule` is the rule.
"""

from likewise_check.core.body import Family
from likewise_check.packs.nested.body import read_inner, read_nested, read_several
from likewise_check.packs.nested.rule import NestedLimits

BODIES = {"nested": Family(read_nested, read_several)}
RULES = {"nested": NestedLimits}
NODES = {"inner": read_inner}
