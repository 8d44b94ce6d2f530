"""The pack `network`: feed-forward networks (section 15).

`body` is the body, `activation` what its layers do to their sums; `rule` is the rule, for which `limits` has what the sums of a cell's pairs are between, and `neuron` the maximum of one of them, `curve` that of one whose activation is smooth.
"""

from likewise_check.core.body import Family
from likewise_check.packs.network.body import read_network
from likewise_check.packs.network.rule import Multipliers, read_neuron
from likewise_check.packs.network.slopes import network_slopes

BODIES = {"network": Family(read_network)}
RULES = {"network": Multipliers}
NODES = {"neuron": read_neuron}
SLOPES = {"network": network_slopes}
