"""The pack `network`: feed-forward networks (section 15). `body` is the body, `activation` what its layers do to their sums."""

from likewise_check.core.body import Family
from likewise_check.packs.network.body import read_network

BODIES = {"network": Family(read_network)}
